"""One control flow of a kernel and of what it calls: a program -> a `Cfg` in which each call leads to a copy of the
function, and each of the copy's returns to what stands after the call.

In place of an instruction that calls or returns stand two: a copy of the pair of SGPRs that it goes by, at a position
that `Joined` names, and a branch. Which function a pair holds is read back along its definitions as if functions kept
all registers, and a jump for which that finds nothing is taken for a return: both are guesses, which whoever runs the
code holds against what the pair holds (`isa.prove.refine.engine`).

Limits, IsaError with the reason: pointers to functions, recursion, calls that do not come back, copies with more than
`MOST` instructions.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace

from isa.analysis import calls, cfg, defuse
from isa.analysis.calls import Target
from isa.analysis.cfg import Cfg
from isa.asm.parse import parse_instruction
from isa.asm.program import Kernel, Program
from isa.registers import Reg
from isa.semantics.branches import branch_target
from isa.semantics.instruction import Instruction, Symbol

MOST = 20_000


@dataclass(frozen=True)
class Call:
    """symbol: the function; by: the pair of SGPRs with its address, None where the call names it; back: the pair that
    gets the address after the call, None of a jump at a function's end."""

    symbol: str
    by: Reg | None
    back: Reg | None


@dataclass(frozen=True)
class Joined:
    """calls: by position; returns: position -> that of the call after which it goes on; functions: what is called."""

    flow: Cfg
    calls: Mapping[int, Call] = field(default_factory=dict)
    returns: Mapping[int, int] = field(default_factory=dict)
    functions: frozenset[str] = frozenset()


def of_kernel(kernel: Kernel) -> Joined:
    """A kernel with what it calls. IsaError where that cannot be followed."""
    own = cfg.of_kernel(kernel)
    if not own.calls and not own.indirect_jumps:
        return Joined(own)
    joining = _Joining(kernel.program)
    joining.add(own, (), None)
    flow = cfg.built(kernel.name, joining.instructions, joining.lines, joining.labels)
    return Joined(flow, joining.calls, joining.returns, frozenset(c.symbol for c in joining.calls.values()))


class _Joining:
    """The instructions of a kernel and of all copies so far, as of `Cfg`."""

    def __init__(self, program: Program) -> None:
        self.instructions: list[Instruction] = []
        self.lines: list[int] = []
        self.labels: dict[str, int] = {}
        self.calls: dict[int, Call] = {}
        self.returns: dict[int, int] = {}
        self._program = program

    def add(self, flow: Cfg, within: tuple[str, ...], call: int | None) -> None:
        """Adds a copy of a function, and of what it calls. within: the functions that are under way; call: where it was
        called, None for the kernel."""
        targets, later = _targets(flow), list[tuple[str, int, int | None]]()
        mark = f" {len(self.lines)}" if within else ""
        named = {place: [n for n, p in flow.labels.items() if p == place] for place in flow.labels.values()}
        for i, inst in enumerate(flow.instructions):
            self.labels |= {name + mark: len(self.lines) for name in named.get(i, ())}
            if i not in targets:
                self._put(_marked(inst, flow, mark) if mark and inst.desc.is_branch else inst, flow.lines[i])
                continue
            target, last, jumps, here = targets[i], inst.operands[-1], i in flow.indirect_jumps, len(self.lines)
            by = last if isinstance(last, Reg) else None
            back = None if jumps or not isinstance(inst.operands[0], Reg) else inst.operands[0]
            held = back or by
            assert held is not None  # a call writes a pair, a jump reads one
            self._put(replace(_MOVE, operands=(held, by or held), span=inst.span, target=inst.target), flow.lines[i])
            if target is None and jumps and call is not None:
                self.returns[here] = call
                self._branch(inst, f"after {call}", flow.lines[i])
                continue
            if not isinstance(target, str) or target not in self._program.labels:
                raise inst.error(f"cannot follow {inst.mnemonic}: the address is not known here")
            if target in within:
                raise inst.error(f"cannot follow recursion: {target} calls itself")
            if back is not None and i + 1 == len(flow):
                raise inst.error(f"cannot follow {inst.mnemonic}: nothing stands after it")
            self.calls[here] = Call(target, by, back)
            self._branch(inst, f"to {here}", flow.lines[i])
            if back is not None:
                self.labels[f"after {here}"] = len(self.lines)
            later.append((target, here, call if back is None else here))
        for symbol, here, after in later:
            if len(self.lines) > MOST:
                raise flow.instructions[0].error(f"more than {MOST:,} instructions with all that is called")
            self.labels[f"to {here}"] = len(self.lines)
            line = self._program.labels[symbol]
            function = cfg.of_text(self._program, symbol, line, self._program.code_end(line))
            self.add(function, (*within, symbol), after)

    def _put(self, inst: Instruction, line: int) -> None:
        self.instructions.append(inst)
        self.lines.append(line)

    def _branch(self, inst: Instruction, label: str, line: int) -> None:
        self._put(replace(_BRANCH, operands=(Symbol(label),), span=inst.span, target=inst.target), line)


_MOVE, _BRANCH = parse_instruction("s_mov_b64 s[0:1], s[0:1]"), parse_instruction("s_branch there")


def _marked(inst: Instruction, flow: Cfg, mark: str) -> Instruction:
    """A branch to one of the function's own labels as this copy has it."""
    rows = (Symbol(o.text + mark) if isinstance(o, Symbol) and o.text in flow.labels else o for o in inst.operands)
    return replace(inst, operands=tuple(rows))


def _targets(flow: Cfg) -> dict[int, Target | None]:
    """The function after each call and after each jump through a register, as if functions kept all registers; None
    where nothing is known."""
    rows = list(flow.instructions)
    for i in flow.calls:
        first, last = rows[i].operands[0], rows[i].operands[-1]
        rows[i] = replace(_MOVE, operands=(first, last if isinstance(last, Reg) else first))
    plain = replace(flow, instructions=tuple(rows))
    chains = defuse.analyse(plain)
    found: dict[int, Target | None] = {}
    for i in (*flow.calls, *flow.indirect_jumps):
        inst = flow.instructions[i]
        last = inst.operands[-1]
        found[i] = calls.behind(plain, chains, i, last) if isinstance(last, Reg) else branch_target(inst)
    return found
