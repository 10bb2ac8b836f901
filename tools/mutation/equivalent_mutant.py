"""Whether a changed number makes no difference: the original and the mutant are followed side by side.

In: a function, an instruction of it that leaves a number in scalar registers, and the number that a changed one leaves
instead. Out: the instructions that read it before it is written again, if each of them leaves the same in both, None
where that is not seen.

From that instruction on a state says of scalar registers which number each holds, (in the original, in the mutant);
what it says nothing of holds the same in both. An instruction that reads a register in which the two differ must
compute scalars from numbers, which are worked out for both sides (`spans`). What is the same on both sides decides
branches: a path that the numbers rule out is not taken. Where a register differs, paths that meet must agree on
it. A path ends where nothing differs any more.

So a loop's bound that is 1 in place of 0 makes no difference where it is only compared with a 0 that is to be greater.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping

from isa.analysis.cfg import Cfg
from isa.asm.program import Instruction
from isa.instructions import lookup
from isa.registers import SCC, Reg
from tools.mutation.spans import Span, constant, written

Numbers = Mapping[Reg, tuple[int, int]]
Read = Callable[[int, Reg], Span]
"""What a register can hold that the instruction at a position reads."""
_CONDITIONS = {"s_cbranch_scc0": 0, "s_cbranch_scc1": 1}


class _Seen(Exception):
    """It makes a difference, or that is not known."""


def readers(flow: Cfg, position: int, left: Numbers, read: Read) -> list[int] | None:
    """The positions of what reads these numbers; see the module's docstring. left: what `position` leaves."""
    follower = _Follower(flow, position, dict(left), read)
    try:
        follower.run()
    except _Seen:
        return None
    return sorted(follower.met)


class _Follower:
    def __init__(self, flow: Cfg, position: int, left: dict[Reg, tuple[int, int]], read: Read) -> None:
        self.flow, self.position, self.left, self.read = flow, position, left, read
        self.met: set[int] = set()

    def run(self) -> None:
        block = self.flow.block_of(self.position)
        work = self._through(dict(self.left), self.position + 1, block.end)
        entries: dict[int, dict[Reg, tuple[int, int]]] = {}
        while work:
            index, state = work.pop()
            if index in entries:
                state = _met(entries[index], state)
                if state == entries[index]:
                    continue
            entries[index] = state
            block = self.flow.blocks[index]
            work += self._through(dict(state), block.start, block.end)

    def _through(
        self, state: dict[Reg, tuple[int, int]], start: int, end: int
    ) -> list[tuple[int, dict[Reg, tuple[int, int]]]]:
        """The blocks after these instructions, with the state there."""
        for position in range(start, end):
            self._step(state, position)
            if not _apart(state):
                return []
        inst = self.flow.instructions[end - 1]
        block = self.flow.block_of(end - 1)
        successors = list(block.successors)
        if (wanted := _CONDITIONS.get(inst.mnemonic)) is not None and SCC in state and len(successors) == 2:
            successors = successors[1:] if state[SCC][0] == wanted else successors[:1]
        return [(index, dict(state)) for index in successors]

    def _step(self, state: dict[Reg, tuple[int, int]], position: int) -> None:
        inst = self.flow.instructions[position]
        desc = lookup(inst)
        reads, writes = desc.reads(inst), desc.writes(inst)
        if position == self.position:
            state.update(self.left)
            return
        if position in self.flow.calls or (desc.is_branch and desc.effect not in ("branch", "end")):
            raise _Seen
        differs = not _apart(state).isdisjoint(reads)
        sides = [self._results(state, position, inst, side) if desc.is_salu else {} for side in (0, 1)]
        if differs:
            self.met.add(position)
            if desc.access is not None or desc.effect or any(set(side) != writes for side in sides):
                raise _Seen
        for reg in writes:
            state.pop(reg, None)
            if all(reg in side for side in sides):
                state[reg] = sides[0][reg], sides[1][reg]

    def _results(self, state: Numbers, position: int, inst: Instruction, side: int) -> dict[Reg, int]:
        """The numbers that a scalar instruction leaves in the original (0) or in the mutant (1), as far as known."""

        def read(reg: Reg) -> Span:
            return constant("u32", state[reg][side]) if reg in state else self.read(position, reg)

        return {reg: span.number for reg, span in written(inst, read).items() if span.number is not None}


def _apart(state: Numbers) -> set[Reg]:
    return {reg for reg, (a, b) in state.items() if a != b}


def _met(a: dict[Reg, tuple[int, int]], b: dict[Reg, tuple[int, int]]) -> dict[Reg, tuple[int, int]]:
    """What two paths agree on."""
    both = {reg: pair for reg, pair in a.items() if b.get(reg) == pair}
    if _apart(a) | _apart(b) != _apart(both):
        raise _Seen
    return both
