"""`hipgemm opt FILE`: the passes for any kernel in the order and with the options that the cycle model likes best.

In: a program, one of its kernels, a clock. Out: `Optimised`: the program with that kernel rewritten, and what each step
gave. The search is greedy with one step of foresight: every pass, and every pair of passes that is known to work
together, is tried on the best program so far; the best result is kept if it gains `LEAST`; then again, until nothing
gains or the budget is spent. Each candidate has been verified by the pipeline, and its lint finds nothing that was not
there. What rests on more than a pass can see (`ASSUMING`: that addresses do not wrap) is tried where the caller has a
proof, and kept where it holds. At the end `rename-banks` is kept where fewer reads collide and it costs nothing. Where
the whole prediction, with all members of its ensemble, says that the end is slower than the beginning, the beginning
stays.

The clock is a prediction of a launch, where one is known; else `isa.timing.without_launch`, which counts the same for
both texts but is no time.

Limits: the cycle model says what is better, and no card has. Gains below 1 % mean nothing (docs/timing.md).
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any

from hipgemm.deadline import within
from hipgemm.linting import lint
from isa.analysis import banks, cfg, dependences, inner
from isa.analysis.cfg import Cfg
from isa.asm.emit import emit
from isa.asm.program import Instruction, Program
from isa.errors import IsaError
from isa.passes import dual_issue, run_pipeline
from isa.semantics.describe import base_name
from isa.timing import bank_rules

if TYPE_CHECKING:
    from hipgemm.launch import Launch
    from isa.timing.cards import Card
    from isa.timing.ensemble import Timing

# Alone, and where one makes room for the other.
CANDIDATES = (
    "rename-banks", "pair", "schedule", "relax-waits", "rename-banks,pair", "pair,rename-banks", "unroll,pair",
    "schedule,pair", "cu-mode", "spread-loads,schedule", "unroll,spread-loads,schedule", "pair{latency=false}",
    "rename-pairs,pair{latency=false}", "rename-pairs,schedule",
)  # fmt: skip
ASSUMING = (
    "unroll,batch-loads{bases},pair", "unroll,batch-loads{bases},spread-loads,schedule", "batch-loads{bases},pair",
)  # fmt: skip
"""Candidates that are kept only where they are proved."""
LEAST = 0.001
"""Of the time, that a step must gain."""
_LAST_S = 1.0
"""How long the end's `rename-banks` may take where the budget is spent."""
OnStep = Callable[[str], None]
Same = Callable[[Program], bool]
"""Whether a program is proved to compute what the one that was given does."""


@dataclass(frozen=True)
class Clock:
    """What a program costs. what: what is counted; quick, whole: seconds, of a cheap prediction and a whole one."""

    what: str
    quick: Callable[[Program], float]
    whole: Callable[[Program], float]


@dataclass(frozen=True)
class Figures:
    """What is counted of a kernel. pairs: dual instructions; eligible: what a VOPD can hold, each half one; conflicts:
    cycles that operand reads cost beyond one; matrix: matrix products on one bank. `loop`: the same within loops."""

    vgprs: int
    instructions: int
    pairs: int
    eligible: int
    conflicts: int
    matrix: int
    loop: Mapping[str, int]


@dataclass(frozen=True)
class Step:
    """A step of the search: the passes, what is counted after them, seconds."""

    passes: str
    figures: Figures
    seconds: float


@dataclass(frozen=True)
class Optimised:
    """program: the best found, the very one that was given where nothing gained. steps: from the one that was given.
    tried: how many candidates; refused: passes that do not take the kernel, and why."""

    program: Program
    clock: str
    steps: tuple[Step, ...]
    tried: int
    refused: Mapping[str, str]
    took_s: float

    @property
    def gain(self) -> float:
        """Of the time."""
        return 1 - self.steps[-1].seconds / self.steps[0].seconds

    def to_dict(self) -> dict[str, Any]:
        """All but the program."""
        steps = [{"passes": s.passes, "seconds": s.seconds, **asdict(s.figures)} for s in self.steps]
        tried = {"tried": self.tried, "refused": dict(self.refused), "took_s": self.took_s}
        return {"clock": self.clock, "gain": self.gain, "steps": steps, **tried}


def of_launch(name: str, launch: Launch, on: Card) -> Clock:
    """A clock by the prediction of a launch; nothing is assembled."""
    from hipgemm.predict import timed
    from isa.object.from_text import TextCode

    def seconds(program: Program, how: str) -> float:
        ready = timed(TextCode.of(program, on.arch), name, launch, on)
        found: Timing = getattr(ready, how)()
        return found.time_s

    return Clock(
        "predicted for its launch", lambda p: seconds(p, "estimate"), lambda p: seconds(p, "timing")
    )  # fmt: skip


def without_launch(name: str, on: Card) -> Clock:
    """A clock where no launch is known."""
    from isa.object import metadata
    from isa.object.from_text import TextCode
    from isa.timing import ensemble, without_launch
    from isa.timing.predict import resources_of

    rounds: list[int] = []  # the first text's are every text's

    def seconds(program: Program, whole: bool) -> float:
        kernel = program.kernel(name)
        threads = min(metadata.number(kernel, ".max_flat_workgroup_size") or 256, 256)
        resources = resources_of(TextCode.of(program, on.arch).kernel(name))
        flow = cfg.of_kernel(kernel)
        rounds.append(without_launch.rounds_of(flow))
        ready = without_launch.prepare(flow, resources, threads, on, rounds[0])
        return (ensemble.predict if whole else ensemble.quick)(ready).time_s

    what = f"no launch known: loops taken up to {without_launch.ROUNDS} times around, no conflicts, no time"
    return Clock(what, lambda p: seconds(p, False), lambda p: seconds(p, True))


def optimise(
    program: Program,
    name: str,
    clock: Clock,
    budget_s: float = 30.0,
    on_step: OnStep | None = None,
    same: Same | None = None,
) -> Optimised:
    """The best program found within the budget; the clock is read at the beginning and the end beyond that. IsaError
    where it does not take the program."""
    began = time.monotonic()
    faults = _faults(program, name)
    steps = [Step("as it was", figures(program, name), clock.quick(program))]
    best, refused, tried, dead, known = program, {}, 0, set[str](), {emit(program)}

    def left() -> float:
        return budget_s - (time.monotonic() - began)

    def tried_out(passes: str, below: float) -> tuple[float, str, Program] | None:
        """What passes make of the best program, and what it costs; None for what is known, and where that is not below
        what is the best already and a proof would have to be asked for."""
        *_, (_, made) = run_pipeline(best, passes, kernel=name)
        if made is best or (text := emit(made)) in known:
            return None
        known.add(text)
        if worse := sorted(_faults(made, name) - faults):
            raise IsaError(f"{passes} leaves what lint finds: {worse[0][0]}")
        seconds = clock.quick(made)
        if passes in ASSUMING and same is not None:
            if seconds >= below:
                return None
            if not same(made):
                raise IsaError("not proved to compute the same for all arguments")
        return seconds, passes, made

    while left() > 0:
        found: tuple[float, str, Program] | None = None
        for passes in CANDIDATES + (ASSUMING if same is not None else ()):
            if left() <= 0 or passes in dead:
                continue
            if on_step:
                on_step(
                    f"{passes}, {tried + 1}. candidate; best so far {1 - steps[-1].seconds / steps[0].seconds:+.1%}"
                )
            new = None
            try:
                with within(left()) as deadline:
                    new = tried_out(passes, found[0] if found else steps[-1].seconds)
            except IsaError as error:
                refused[passes] = error.message
                dead.add(passes)
            if deadline.passed:
                refused[passes] = "not done within the budget"
            tried += new is not None
            if new is not None and (found is None or new[0] < found[0]):
                found = new
        if found is None or found[0] > steps[-1].seconds * (1 - LEAST):
            break
        best = found[2]
        steps.append(Step(found[1], figures(best, name), found[0]))
    parted = None
    with within(max(left(), min(budget_s, _LAST_S))):
        parted = _parted(best, name, steps[-1], clock, faults)
    if parted is not None:
        best = parted[0]
        steps.append(parted[1])
    ends = (clock.whole(program), clock.whole(best)) if best is not program else (steps[0].seconds,) * 2
    if ends[1] > ends[0] or (ends[1] == ends[0] and not _fewer(steps[-1].figures, steps[0].figures)):
        best, steps = program, steps[:1]
    else:
        steps[0] = Step(steps[0].passes, steps[0].figures, ends[0])
        steps[-1] = Step(steps[-1].passes, steps[-1].figures, ends[1])
    return Optimised(best, clock.what, tuple(steps), tried, refused, time.monotonic() - began)


def _parted(
    best: Program, name: str, last: Step, clock: Clock, faults: set[tuple[str, int]]
) -> tuple[Program, Step] | None:
    """The program with fewer reads that collide, where that costs nothing that the clock can tell: a launch that waits
    for something else does not show what they cost in another one."""
    *_, (_, made) = run_pipeline(best, "rename-banks", kernel=name)
    counted = figures(made, name)
    if not _fewer(counted, last.figures) or _faults(made, name) - faults:
        return None
    seconds = clock.quick(made)
    return (made, Step("rename-banks", counted, seconds)) if seconds <= last.seconds * (1 + LEAST / 2) else None


def _fewer(new: Figures, old: Figures) -> bool:
    """Whether less collides in loops, and in all."""
    return (new.loop["matrix"], new.loop["conflicts"], new.matrix, new.conflicts) < (
        old.loop["matrix"], old.loop["conflicts"], old.matrix, old.conflicts,
    )  # fmt: skip


def _faults(program: Program, name: str) -> set[tuple[str, int]]:
    """Lint's faults, as (rule, which one of that rule)."""
    ids = [f.id for f in lint(program, program.file, name, notes=False)]
    return {(rule, n) for rule in set(ids) for n in range(ids.count(rule))}


def figures(program: Program, name: str) -> Figures:
    """What is counted of a kernel."""
    flow = cfg.of_kernel(program.kernel(name))
    inside = {i for loop in flow.loops for i in flow.positions(loop)}
    whole, loop = _count(flow, set(range(len(flow)))), _count(flow, inside)
    vgprs = max(
        (r.index + 1 for inst in flow.instructions for r in inst.reads() | inst.writes() if r.is_vgpr), default=0
    )
    return Figures(vgprs=vgprs, loop=loop, **whole)


def _count(flow: Cfg, of: set[int]) -> dict[str, int]:
    rule = bank_rules.RULES[bank_rules.DEFAULT]
    found = dict.fromkeys(("instructions", "pairs", "eligible", "conflicts", "matrix"), 0)
    for block in flow.blocks:
        before: tuple[banks.Source, ...] = ()
        for i in block.range:
            inst = flow.instructions[i]
            if i not in of or dependences.is_hint(inst):
                continue
            found["instructions"] += 1
            if not inst.desc.is_valu:
                continue
            now = banks.sources(inst)
            found["conflicts"] += rule(before, now)
            before = now
            found["matrix"] += bank_rules.matrix_on_one_bank(inst)
            found["pairs"] += inst.pair is not None
            found["eligible"] += 2 if inst.pair is not None else bool(dual_issue.facts(inst))
    return found


def table(found: Optimised, name: str, why: str = "") -> list[str]:
    """What the search found, as lines to print. why: no launch could be followed."""
    first = found.steps[0]
    timed = "cycles" if why else "time"
    rows = [("step", timed, "change", "VGPRs", "instr.", "pairs", "dual", "conflicts", "WMMA on one bank")]
    for step in found.steps:
        f, loop = step.figures, step.figures.loop
        counted = loop if first.figures.loop["instructions"] else vars(f)
        share = 2 * counted["pairs"] / counted["eligible"] if counted["eligible"] else 0.0
        shown = f"{step.seconds / first.seconds:.4f}" if why else f"{1e3 * step.seconds:.4f} ms"
        rows.append((
            step.passes, shown, f"{step.seconds / first.seconds - 1:+.1%}", str(f.vgprs), str(counted["instructions"]),
            str(counted["pairs"]), f"{share:.0%}", str(counted["conflicts"]), str(counted["matrix"]),
        ))  # fmt: skip
    widths = [max(len(row[k]) for row in rows) for k in range(len(rows[0]))]
    out = [f"{name}: {found.clock}" + (f" ({why})" if why else "")]
    for row in rows:
        cells = [row[0].ljust(widths[0]), *(cell.rjust(width) for cell, width in zip(row[1:], widths[1:], strict=True))]
        out.append("  " + "  ".join(cells))
    out.append(f"  {found.tried} candidates in {found.took_s:.0f} s; counted within loops, where there are any")
    out += [f"  {passes}: {message}" for passes, message in found.refused.items()]
    if len(found.steps) == 1:
        out.append("  nothing gains: it stays as it was")
    return out


def explain(program: Program, name: str) -> list[str]:
    """Why what is single, or collides, in loops is so: lines to print."""
    flow = cfg.of_kernel(program.kernel(name))
    *_, (_, renamed) = run_pipeline(program, "rename-banks")
    parted = cfg.of_kernel(renamed.kernel(name)).instructions
    return [line for loop in flow.loops if not _has_inner(flow, loop) for line in _why(flow, loop, parted)]


def _has_inner(flow: Cfg, loop: cfg.Loop) -> bool:
    return any(other is not loop and other.blocks < loop.blocks for other in flow.loops)


def _why(flow: Cfg, loop: cfg.Loop, parted: Sequence[Instruction]) -> list[str]:
    """parted: the same instructions after `rename-banks`."""
    rule = bank_rules.RULES[bank_rules.DEFAULT]
    out: list[str] = []
    for b in sorted(loop.blocks):
        before: tuple[banks.Source, ...] = ()
        for i in flow.blocks[b].range:
            inst = flow.instructions[i]
            if not inst.desc.is_valu:
                continue
            now, where = banks.sources(inst), inst.span.line if inst.span else i
            if bank_rules.matrix_on_one_bank(inst):
                left = bank_rules.matrix_on_one_bank(parted[i])
                why = "no registers are free for one of them" if left else "rename-banks parts them"
                out.append(f"{where}: {inst}: A, B and C begin on one bank; {why}")
            elif cycles := rule(before, now):
                read = ", ".join(f"{s.reg} (bank {s.reg.bank})" for s in now if s.slot != 2)
                out.append(f"{where}: {inst}: {cycles} cycles more: it reads {read}")
            before = now
            if inst.pair is None and inner.fmas(inst):
                out.append(f"{where}: {inst}: single: {_single(inst)}")
    return out


def _single(inst: Instruction) -> str:
    if dual_issue.facts(inst):
        return "no other that is ready has a destination of other parity and sources on other banks"
    if inst.modifiers or any(str(o)[0] in "-|" for o in inst.operands):
        return "the halves of a VOPD take no modifiers"
    if base_name(inst.mnemonic) == "v_fma_f32":
        return "its addend is not its destination, as FMAC wants it, or src1 is no VGPR"
    return "a VOPD takes a VGPR as src1"
