"""Data-parallel primitives: the first source comes from another lane (ISA guide 7.7.2; LLVM's AMDGPUModifierSyntax)."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from isa.semantics.engine import Engine
from isa.semantics.instruction import Instruction
from isa.semantics.values import Value, select


def _quad(lane: Value, pick: tuple[int, ...]) -> Value:
    source = lane & 0
    for i, p in enumerate(pick):
        source = select((lane & 3) == i, p, source)
    return (lane & ~3) | source


def _dpp8(lane: Value, pick: tuple[int, ...]) -> Value:
    source = lane & 0
    for i, p in enumerate(pick):
        source = select((lane & 7) == i, p, source)
    return (lane & ~7) | source


# Modifier -> (lane, its number) -> source lane; rows are 16 lanes. A shift may leave the row: see `Dpp.of`.
_IN_ROW: dict[str, Callable[[Value, int], Value]] = {
    "row_ror": lambda lane, n: (lane & 16) | ((lane - n) & 15),
    "row_share": lambda lane, n: (lane & 16) | n,
    "row_xmask": lambda lane, n: lane ^ n,
    "row_mirror": lambda lane, n: lane ^ 15,
    "row_half_mirror": lambda lane, n: lane ^ 7,
}
_CONTROLS = ("quad_perm", "dpp8", "row_shl", "row_shr", *_IN_ROW)


def has_dpp(inst: Instruction) -> bool:
    return any(name in _CONTROLS for name, _ in inst.modifiers)


@dataclass(frozen=True)
class Dpp:
    """source: the lane that each lane reads. valid: whether there is one that is on. written: lanes that row_mask and
    bank_mask let write. zero_fill: a lane without a valid source reads 0; otherwise it keeps its destination."""

    source: Value
    valid: Value
    written: Value
    zero_fill: bool

    @classmethod
    def of(cls, engine: Engine, inst: Instruction) -> Dpp:
        """The DPP of an instruction that has it."""
        names = dict(inst.modifiers)
        control = next(n for n in _CONTROLS if n in names)
        lane = engine.lane_ids()
        argument = names[control]
        valid = lane >= 0
        if control in ("quad_perm", "dpp8"):
            assert isinstance(argument, tuple)
            source = (_quad if control == "quad_perm" else _dpp8)(lane, argument)
        else:
            n = argument if isinstance(argument, int) else 0
            if control == "row_shl":
                valid, source = (lane & 15) + n < 16, lane + n
            elif control == "row_shr":
                valid, source = (lane & 15) >= n, lane - n
            else:
                source = _IN_ROW[control](lane, n)
        source = source & 31
        on = engine.exec_mask()
        if on is not None and not names.get("fi"):
            # A lane that is off gives nothing.
            valid = valid & (select(on, (lane & 0) + 1, 0).shuffle(source) == 1)
        rows, banks = names.get("row_mask", 15), names.get("bank_mask", 15)
        assert isinstance(rows, int)
        assert isinstance(banks, int)
        allowed = sum(1 << i for i in range(32) if rows >> (i >> 4) & 1 and banks >> (i >> 2 & 3) & 1)
        written = engine.constant("u32", allowed).lanes()
        return cls(source, valid, written, control == "dpp8" or bool(names.get("bound_ctrl")))

    def moved(self, value: Value) -> Value:
        """What each lane reads of a u32 vector."""
        moved = value.shuffle(self.source)
        return select(self.valid, moved, 0) if self.zero_fill else moved

    def mask(self, mask: Value | None) -> Value:
        """The lanes that may write, of those in `mask`."""
        allowed = self.written if self.zero_fill else self.written & self.valid
        return allowed if mask is None else allowed & mask
