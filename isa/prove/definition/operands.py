"""Operands and modifiers of an instruction -> how to read and write them; everything unusual is rejected with an
error."""

from __future__ import annotations

import struct
from collections.abc import Callable

import numpy as np

from isa.errors import IsaError
from isa.prove.definition.names import Names
from isa.prove.definition.waves import SCC, Ints, Waves
from isa.registers import Reg
from isa.semantics.instruction import Imm, Instruction, Operand

Read = Callable[[Waves], Names]
ReadInts = Callable[[Waves], Ints]


class Beyond(IsaError):
    """The proof cannot follow this instruction; nothing is said of whether the kernel is right."""


def refused(inst: Instruction, what: str = "") -> Beyond:
    return Beyond(f"the proof by definition does not know {what or inst.mnemonic}", span=inst.span)


def plain(inst: Instruction, *allowed: str) -> None:
    """Rejects modifiers that are not allowed."""
    for name, _ in inst.modifiers:
        if name not in allowed:
            raise refused(inst, f"{name} on {inst.mnemonic}")


def scalar_index(reg: Reg) -> int:
    return SCC if reg.file == "scc" else reg.index


def vgpr(inst: Instruction, operand: Operand) -> int:
    """The number of a VGPR, the first of a run."""
    if isinstance(operand, Reg) and operand.is_vgpr and not operand.half:
        return operand.index
    raise refused(inst, f"{operand} in {inst}")


def sgpr(inst: Instruction, operand: Operand) -> int:
    if isinstance(operand, Reg) and not operand.is_vgpr:
        return scalar_index(operand)
    raise refused(inst, f"{operand} in {inst}")


def bits(inst: Instruction, imm: Imm, width: int = 32) -> int:
    """A constant as the instruction sees it: floats as single precision, integers with their sign."""
    if isinstance(imm.value, float):
        if width != 32:
            raise refused(inst, f"{imm} in {inst}")
        return int(struct.unpack("<I", struct.pack("<f", imm.value))[0])
    return imm.value & (1 << width) - 1


def lanes(inst: Instruction, operand: Operand) -> Read:
    """Names for each lane, (2, waves, 32), or what broadcasts to it."""
    if isinstance(operand, Imm):
        constant = np.array([bits(inst, operand), 0], np.uint64).reshape(2, 1, 1)
        return lambda w: constant
    if isinstance(operand, Reg) and not operand.half:
        index = operand.index
        if operand.is_vgpr:
            return lambda w: w.v[index][:, w.at]
        read = scalar(inst, operand)
        return lambda w: read(w)[:, :, None]
    raise refused(inst, f"{operand} in {inst}")


def lane_ints(inst: Instruction, operand: Operand) -> ReadInts:
    """Constants for each lane, (waves, 32), or what broadcasts to it."""
    read, what = lanes(inst, operand), str(operand)
    return lambda w: w.whole(read(w), what)


def scalar(inst: Instruction, operand: Operand, offset: int = 0) -> Read:
    """Names for each wave, (2, waves) or (2, 1). offset: the how manieth register of a run."""
    if isinstance(operand, Imm):
        wide = bits(inst, operand, 64) if offset else bits(inst, operand)
        constant = np.array([wide >> 32 * offset & 0xFFFFFFFF, 0], np.uint64).reshape(2, 1)
        return lambda w: constant
    if isinstance(operand, Reg) and not operand.is_vgpr:
        if operand.is_null:
            nothing = np.zeros((2, 1), np.uint64)
            return lambda w: nothing
        index = scalar_index(operand) + offset
        return lambda w: w.s[index][:, w.at]
    raise refused(inst, f"{operand} in {inst}")


def scalar_ints(inst: Instruction, operand: Operand) -> ReadInts:
    """Constants of 32 bits for each wave."""
    read, what = scalar(inst, operand), str(operand)
    return lambda w: w.whole(read(w), what)


def scalar_wide(inst: Instruction, operand: Operand) -> ReadInts:
    """Constants of 64 bits for each wave."""
    low, high, what = scalar(inst, operand), scalar(inst, operand, 1), str(operand)
    shift = np.uint64(32)
    return lambda w: w.whole(low(w), what) | w.whole(high(w), what) << shift
