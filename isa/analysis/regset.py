"""Register sets: single registers as the bits of one int, which data-flow analyses join and subtract by thousands.

Bits 0 to 255 are v0 to v255, 256 to 383 the scalar operand space (VCC, M0 and EXEC among it), 384 is SCC.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from functools import lru_cache

from isa.registers import Reg
from isa.semantics.instruction import Instruction, fact

_BASE = {"v": 0, "s": 256, "scc": 384}
_COUNT = 385

VGPRS = (1 << 256) - 1
ALL = (1 << _COUNT) - 1
SCALARS = ALL & ~VGPRS
_TABLE = tuple(
    Reg("v", i) if i < 256 else Reg("s", i - 256) if i < 384 else Reg("scc", 0) for i in range(_COUNT)
)  # fmt: skip


def bit(reg: Reg) -> int:
    """The bit number of a single register."""
    return _BASE[reg.file] + reg.index


def mask(registers: Iterable[Reg]) -> int:
    """The set of registers; runs of several count as each of their units."""
    bits = 0
    for reg in registers:
        bits |= ((1 << reg.count) - 1) << bit(reg)
    return bits


def members(bits: int) -> list[Reg]:
    """The single registers of a set: VGPRs, then scalar ones, each in ascending order."""
    found = []
    while bits:
        low = bits & -bits
        found.append(_TABLE[low.bit_length() - 1])
        bits ^= low
    return found


def numbers(bits: int) -> tuple[int, ...]:
    """The numbers of the bits that are 1, of any int, ascending."""
    return _few(bits) if bits <= ALL else tuple(_numbers(bits))


def _numbers(bits: int) -> Iterator[int]:
    while bits:
        low = bits & -bits
        yield low.bit_length() - 1
        bits ^= low


@lru_cache(1 << 14)
def _few(bits: int) -> tuple[int, ...]:
    return tuple(_numbers(bits))


@fact
def uses(inst: Instruction) -> int:
    """What an instruction reads."""
    return mask(inst.reads())


@fact
def defs(inst: Instruction) -> int:
    """What an instruction writes, perhaps in some lanes only."""
    return mask(inst.writes())


def named(inst: Instruction) -> int:
    """The registers that stand among its operands; where M0 is added to one's number, the one that M0 = 0 gives."""
    operands = (getattr(o, "operand", o) for half in inst.halves for o in half.operands)
    return mask(o for o in operands if isinstance(o, Reg) and not o.is_null)


def across_lanes(inst: Instruction) -> bool:
    """Whether an instruction may read VGPR lanes that EXEC turned off (v_readlane_b32; DPP with `fi`)."""
    return inst.desc.ignores_exec or (bool(inst.modifiers) and inst.modifier("fi") == 1)


def names(bits: int) -> str:
    """The set as text with runs drawn together: `v[0:3] v7 s[4:5] vcc_lo`."""
    words: list[str] = []
    run: list[Reg] = []
    for reg in [*members(bits), None]:
        plain = reg is not None and (reg.file == "v" or (reg.file == "s" and reg.index < 106))
        if run and reg is not None and plain and reg.file == run[0].file and reg.index == run[-1].index + 1:
            run.append(reg)
            continue
        if run:
            words.append(str(Reg(run[0].file, run[0].index, len(run))))
        run = []
        if reg is not None and plain:
            run = [reg]
        elif reg is not None:
            words.append(str(reg))
    return " ".join(words)
