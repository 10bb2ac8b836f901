"""A scalar mask that an open loop over strips is still producing: of a comparison, or a carry.

Only one strip's part of it is there. Within the loop that can be turned back into lanes, or written to a register,
which then holds the whole mask after the loop. Whoever needs anything else of it needs the loop to end.
"""

from __future__ import annotations

from isa.semantics.values import Number
from isa.sim.ir.llvm_values import LlvmValue, Writer


class NeedsClosedLoop(Exception):
    """A scalar that the open loop over strips produces is needed before the loop ends."""


class StripMask(LlvmValue):
    """`strip` is the current strip's part, b1."""

    __slots__ = ("strip",)

    def __init__(self, writer: Writer, strip: LlvmValue) -> None:
        super().__init__(writer, "u32", 0, "")
        self.strip = strip

    def lanes(self) -> LlvmValue:
        return self.strip

    def bits(self, type_: str) -> LlvmValue:
        if type_ != "u32":
            raise NeedsClosedLoop
        return self

    def to(self, type_: str) -> LlvmValue:
        return self.bits(type_)

    def _pair(self, other: Number) -> tuple[LlvmValue, LlvmValue]:
        raise NeedsClosedLoop

    def _emit(self, type_: str, lanes: int, form: str, *operands: str | int) -> LlvmValue:
        raise NeedsClosedLoop

    def vector(self, lanes: int) -> LlvmValue:
        raise NeedsClosedLoop
