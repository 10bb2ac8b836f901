"""Encoding of an instruction: its text and description -> its size in bytes, and which numbers are literals.

An instruction is one word (SOP*, VOP1, VOP2, VOPC) or two (SMEM, DS, FLAT, MUBUF, VOP3, VOP3P, VOPD), followed by one
for its literal, if a source is a number that is no inline constant or the address of something, or by one for DPP
(RDNA3 ISA guide, 15 "Microcode Formats"). A suffix names the encoding of vector instructions that have two; without one
it is the short one where that can hold the operands, as in LLVM.

Two vector sources alone do not tell VOP2 from VOP3, so the opcodes of VOP2 are listed (guide 15.3.3), those of one
family with it. All else follows
from the roles of an entry.

`placed` lays a text out: instructions with addresses, for those who ask where a branch goes that says how far.
"""

from __future__ import annotations

import dataclasses
import struct
from collections.abc import Iterator

from isa import packages
from isa.asm.data import ALIGNS, MAKES_BYTES, TEXTUAL
from isa.asm.emit import instruction_line
from isa.asm.program import Directive, Line, Program
from isa.errors import IsaError
from isa.registers import VCC_LO, Reg
from isa.semantics.instruction import Description, Imm, Instruction, Modified, Operand, Symbol, bare, bit_width

_VOP2 = frozenset(
    "cndmask_b32 dot2acc_f32_f16 dot2c_f32_f16 add_f32 sub_f32 subrev_f32 fmac_dx9_zero_f32 mul_dx9_zero_f32 mul_f32 "
    "mul_i32_i24 mul_hi_i32_i24 mul_u32_u24 mul_hi_u32_u24 min_f32 max_f32 min_i32 max_i32 min_u32 max_u32 lshlrev_b32 "
    "lshrrev_b32 ashrrev_i32 and_b32 or_b32 xor_b32 xnor_b32 add_co_ci_u32 sub_co_ci_u32 subrev_co_ci_u32 add_nc_u32 "
    "sub_nc_u32 subrev_nc_u32 fmac_f32 fmamk_f32 fmaak_f32 cvt_pk_rtz_f16_f32 add_f16 sub_f16 subrev_f16 mul_f16 "
    "fmac_f16 fmamk_f16 fmaak_f16 max_f16 min_f16 ldexp_f16 pk_fmac_f16".split()
)
_SMEM = frozenset(
    "s_dcache_inv s_gl1_inv s_prefetch_inst s_prefetch_data s_prefetch_inst_pc_rel s_prefetch_data_pc_rel "
    "s_buffer_prefetch_data".split()
)
_DPP = ("quad_perm", "row_", "dpp8", "bank_mask", "bound_ctrl", "fi")

# Where FMAMK and FMAAK have their literal among their sources, whatever its value (RDNA3 ISA guide 7.2).
LITERAL_AT = {
    "v_fmamk_f32": 1, "v_fmaak_f32": 2, "v_fmamk_f16": 1, "v_fmaak_f16": 2, "s_fmamk_f32": 1, "s_fmaak_f32": 2,
}  # fmt: skip

# +-0.5, +-1, +-2, +-4 and 1/(2 pi), for operands of so many bits.
_INLINE_BITS = {
    16: {0x3800, 0x3C00, 0x4000, 0x4400, 0xB800, 0xBC00, 0xC000, 0xC400, 0x3118},
    32: {
        0x3F000000, 0x3F800000, 0x40000000, 0x40800000, 0xBF000000, 0xBF800000, 0xC0000000, 0xC0800000, 0x3E22F983,
    },
    64: {
        0x3FE0000000000000, 0x3FF0000000000000, 0x4000000000000000, 0x4010000000000000,
        0xBFE0000000000000, 0xBFF0000000000000, 0xC000000000000000, 0xC010000000000000, 0x3FC45F306DC9C882,
    },
}  # fmt: skip
_FLOATS = {16: "<e", 32: "<f", 64: "<d"}
_NOP = Instruction("s_nop", (Imm(0, "0"),), size=4)


def is_literal(operand: Operand, type_: str = "b32") -> bool:
    """Whether a number takes a literal dword of its own: it is none of the inline constants (RDNA3 ISA guide, table
    "SSRC encoding": -16 to 64, +-0.5, +-1, +-2, +-4, 1/(2 pi)), or `lit()` asks for one."""
    value = bare(operand)
    if not isinstance(value, Imm) or value.text.startswith("lit("):
        return isinstance(value, Imm)
    size = 64 if type_.endswith("64") else 16 if type_.endswith("16") and not type_.startswith("pk") else 32
    number = value.value
    if isinstance(number, float):
        try:
            number = int.from_bytes(struct.pack(_FLOATS[size], number), "little")
        except OverflowError:
            return True
    bits = number & (1 << size) - 1
    return not (bits <= 64 or bits >= (1 << size) - 16) and bits not in _INLINE_BITS[size]


def literal_value(operand: Operand) -> int | float:
    """The number itself, for asking whether two operands share one literal."""
    value = bare(operand)
    assert isinstance(value, Imm)
    return value.value & 0xFFFFFFFF if isinstance(value.value, int) else value.value


def number_text(value: int | float) -> str:
    """A literal as the assembler would take it."""
    return hex(value) if isinstance(value, int) else str(value)


def size_of(inst: Instruction) -> int:
    """The bytes of an instruction. IsaError where it is not described."""
    desc = inst.desc
    literal = 4 * any(map(_has_literal, inst.halves))
    if inst.pair is not None:
        return 8 + literal
    if desc.is_valu:
        return (4 if _is_short(inst, desc) else 8) + (4 if inst.dpp else literal)
    if desc.unit == "vmem":
        return inst.family.vector_memory_bytes
    if desc.access is not None or desc.unit == "lds" or desc.name in _SMEM:
        return 8
    return 4 + literal


def _has_literal(half: Instruction) -> bool:
    desc = half.desc
    if desc.name in LITERAL_AT or desc.name == "s_setreg_imm32_b32":
        return True
    sources = [(role.type, bare(operand)) for role, operand in desc.roles_of(half) if role.read and role.kind in "as"]
    if desc.name == "v_pk_fmac_f16" and any(isinstance(x, Imm) and isinstance(x.value, float) for _, x in sources):
        return True  # LLVM writes floats of this one as literals, inline constants too
    return any(isinstance(x, Symbol) or is_literal(x, type_) for type_, x in sources)


def _is_short(inst: Instruction, desc: Description) -> bool:
    """Whether a vector instruction has the encoding of 32 bits."""
    mnemonic = inst.mnemonic
    if "_e64" in mnemonic or "_e32" in mnemonic:
        return "_e32" in mnemonic
    rows = desc.roles_of(inst)
    sources = [(role, operand) for role, operand in rows if role.read and not role.written and role.kind != "m"]
    name = desc.name.removeprefix("v_")
    few = len(sources) < 2 and desc.sched != "trans_scalar"
    short = desc.is_compare or few or name in _VOP2 or name in inst.family.vop2
    if not short or desc.name in LITERAL_AT:
        return short
    if any(not name.startswith(_DPP) for name, _ in inst.modifiers):
        return False
    if any(role.kind == "m" and operand != VCC_LO for role, operand in rows):
        return False
    if any(isinstance(operand, Modified) for _, operand in rows) and not inst.dpp:
        return False
    if any(_is_beyond(operand) and bit_width(role.type) == 16 for role, operand in rows):
        return False
    second = bare(sources[1][1]) if len(sources) > 1 else None
    return second is None or (isinstance(second, Reg) and second.is_vgpr)


def _is_beyond(operand: Operand) -> bool:
    """Whether it is a VGPR whose halves the short encodings have no number for: they use its highest bit."""
    return isinstance(operand, Reg) and operand.is_vgpr and operand.index >= 128


def placed(program: Program, start: int, end: int) -> Iterator[tuple[int, Line]]:
    """Lines of a program with their numbers: instructions with addresses from the first line on and sizes, and the
    `s_nop 0` that a directive of alignment stands for. IsaError where there is data between them."""
    at = 0
    for number in range(start, end):
        line = program.lines[number]
        if isinstance(line.node, Instruction):
            size = size_of(line.node)
            yield number, dataclasses.replace(line, node=dataclasses.replace(line.node, address=at, size=size))
            at += size
            continue
        if isinstance(line.node, Directive):
            for _ in range(_padding(line.node, at, program, number)):
                yield number, instruction_line(dataclasses.replace(_NOP, address=at, span=program.span(number)))
                at += _NOP.size
        yield number, line


def _padding(directive: Directive, at: int, program: Program, number: int) -> int:
    """How many s_nop a directive stands for."""
    if directive.name in TEXTUAL:
        raise IsaError(f"what is assembled is not known, because of {directive.name}", span=program.span(number),
                       hint=packages.install("toolchain"))  # fmt: skip
    if directive.name in MAKES_BYTES:
        raise IsaError("data between instructions: only an assembler knows its size", span=program.span(number),
                       hint=packages.install("toolchain"))  # fmt: skip
    if directive.name not in ALIGNS:
        return 0
    words = [word.strip() for word in directive.args.split(",")]
    try:
        asked = int(words[0], 0)
        missing = -at % (1 << asked if ALIGNS[directive.name][0] else asked)
        most = int(words[2], 0) if len(words) > 2 and words[2] else missing
    except (ValueError, ZeroDivisionError):
        raise IsaError("no alignment", span=program.span(number), expected="a number", got=directive.args) from None
    return missing // _NOP.size if missing <= most else 0
