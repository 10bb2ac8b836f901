"""A kernel and the functions that it reaches: what the rules ask of each.

In: the kernel's control flow, what is set when it starts, and a function that finds a function's code. Out: a
`LintedFunction` for the kernel and for each function after its calls and theirs, each once, the kernel first. Recursion
is no trouble: what a function settles (`isa.analysis.calls.settled`) is the largest answer that all of them agree with.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property, reduce
from operator import or_

from isa.analysis import calls, defuse, exec_mask, lane_view, liveness, regset, waits
from isa.analysis.calls import Target
from isa.analysis.cfg import Cfg
from isa.analysis.defuse import DefUse
from isa.analysis.exec_mask import ExecMask
from isa.analysis.liveness import Liveness
from isa.analysis.waits import InFlight
from isa.errors import IsaError
from isa.lint import known
from isa.lint.known import NOWHERE, Sizes
from isa.lint.lds import needed
from isa.lint.paths import Paths
from isa.targets import Target as Gpu


@dataclass(frozen=True)
class Values:
    """Analyses that rules share. given: registers that are set before the first instruction (`regset`)."""

    given: int
    lanes: ExecMask
    chains: DefUse
    live: Liveness

    @staticmethod
    def of(cfg: Cfg, given: int) -> Values:
        lanes = exec_mask.analyse(cfg)
        return Values(given, lanes, defuse.analyse(cfg, lanes), liveness.analyse(cfg, lanes))

    @cached_property
    def narrowed(self) -> DefUse:
        """The same definitions lane by lane and path by path, for what looks wrong by `chains`."""
        return lane_view.narrowed(self.chains, self.live)


@dataclass(frozen=True, slots=True)
class Start:
    """What is known when a function begins. given: registers that are set (`regset`); threads: the largest workgroup,
    None if not known; dimensions: how many numbers of the work-item v0 holds, 0 where it holds something else;
    wave64: waves of 64 lanes; target: what the code is for, None if not known; sizes: where it finds how large its
    workgroup is; room: bytes of LDS that the kernel itself has, 0 if not known."""

    given: int
    threads: int | None
    dimensions: int
    wave64: bool = False
    target: Gpu | None = None
    sizes: Sizes = NOWHERE
    room: int = 0


@dataclass
class LintedFunction:
    """One function. By position of a call, or of a jump through a register:

    targets: where it goes, None where that is not known.  callees: the code of those that were found.
    unknown: of those that were not, why.  settled: the counters that the function after a call brings to 0.
    written: the registers that it, and what it calls, may write (`regset`).  returns: whether it comes back; False
    only where that is known.
    """

    flow: Cfg
    start: Start
    values: Values
    targets: Mapping[int, Target | None]
    callees: dict[int, Cfg] = field(default_factory=dict)
    unknown: dict[int, str] = field(default_factory=dict)
    settled: dict[int, frozenset[str]] = field(default_factory=dict)
    written: dict[int, int] = field(default_factory=dict)
    returns: dict[int, bool] = field(default_factory=dict)

    @cached_property
    def flight(self) -> InFlight:
        """What may be in flight. IsaError where that is too much."""
        return waits.analyse(self.flow, self.settled)

    @cached_property
    def hopeful(self) -> set[int]:
        """As `needed.hopeful` has it."""
        return needed.hopeful(self.flow, self.values.chains, self.start.dimensions, self.start.sizes)

    @property
    def left_open(self) -> Callable[[], Paths] | None:
        """The paths that branches leave open, followed as they are first asked for; None where they are not known."""
        return None if self.start.wave64 else lambda: self._paths

    @cached_property
    def _paths(self) -> Paths:
        return Paths(self.flow)

    @property
    def called(self) -> bool:
        """Whether it is no kernel."""
        return self.start.given == CALLED.given

    @property
    def name(self) -> str:
        return self.flow.name


CALLED = Start(regset.ALL, None, 0)
"""A function that is no kernel: its caller may have set any register."""


def reach(first: Cfg, start: Start, find: Callable[[Target], Cfg]) -> list[LintedFunction]:
    """All functions from the first on. find: the code after a target; IsaError, whose message says why, where there is
    none."""
    reached = [_function(known.left_by(first, start.sizes), start)]
    by_target: dict[Target, Cfg | str] = {}
    for function in reached:
        for i, target in function.targets.items():
            if target is None:
                if not function.called or i in function.flow.calls:  # else it is the function's return
                    function.unknown[i] = "the address is not known here"
                continue
            if target not in by_target:
                try:
                    by_target[target] = code = find(target)
                    reached.append(
                        _function(code, replace(start, given=CALLED.given, dimensions=CALLED.dimensions, sizes=NOWHERE))
                    )
                except IsaError as error:
                    by_target[target] = error.message
            match by_target[target]:
                case str(why):
                    function.unknown[i] = why
                case code:
                    function.callees[i] = code
    if any(function.targets for function in reached):
        _settle(reached)
    return reached


def _function(flow: Cfg, start: Start) -> LintedFunction:
    values = Values.of(flow, start.given)
    return LintedFunction(flow, start, values, calls.targets(flow, values.chains))


def _settle(reached: list[LintedFunction]) -> None:
    """What calls settle, from the largest answer down, what they write and whether they return, from the smallest up,
    until nothing changes."""
    everything = frozenset(reached[0].flow.family.counters)
    settles = dict.fromkeys((f.name for f in reached), everything)
    writes = {f.name: reduce(or_, f.flow.defs, 0) for f in reached}
    returns = {f.name: False for f in reached}
    changed = True
    while changed:
        changed = False
        for function in reached:
            known = {i: code.name for i, code in function.callees.items()}
            function.settled = {i: settles[known[i]] if i in known else everything for i in function.flow.calls}
            function.written = {i: writes[known[i]] if i in known else regset.ALL for i in function.flow.calls}
            function.returns = {i: returns[known[i]] if i in known else True for i in function.targets}
            its = calls.settled(function.flow, function.settled)
            all_ = reduce(or_, (writes[name] for name in known.values()), writes[function.name])
            all_ = regset.ALL if any(i in function.unknown for i in function.flow.calls) else all_
            back = any(function.returns[i] for b in function.flow.order for i in _jumps(function.flow, b))
            name = function.name
            changed = changed or (its, all_, back) != (settles[name], writes[name], returns[name])
            settles[name], writes[name], returns[name] = its, all_, back


def _jumps(flow: Cfg, block: int) -> list[int]:
    """The jump through a register that ends a block, where one does: a return, or a call at the function's end."""
    last = flow.blocks[block].end - 1
    return [last] if last in flow.indirect_jumps else []
