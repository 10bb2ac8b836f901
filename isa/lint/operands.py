"""Operands: an instruction -> the rules that one of its operands breaks.

Kind, width and alignment come from the description's roles (`isa.semantics.instruction`): a `v` is as many VGPRs as its
type is wide; a run of SGPRs starts at an even number, from four on at a multiple of four (RDNA3 ISA guide 3.4.1); a
vector address is a pair where the scalar one is `off`. Then what an encoding cannot hold: the ranges of immediate
offsets, the number of scalar values that a VALU instruction reads (two, one for 64-bit shifts; ISA guide 7.2 "Scalar
inputs", LLVM GCNSubtarget.h `getConstantBusLimit`), and that the 32-bit encoding has a VGPR for its second source.

The two halves of a VOPD are each looked at here; what they share is in `isa.lint.vopd`.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from isa.asm.encoding import LITERAL_AT, is_literal, literal_value, number_text
from isa.display import number_of
from isa.errors import Finding
from isa.instructions.lds import swizzle_code
from isa.lint.names import register
from isa.lint.registry import RULES
from isa.registers import VCC_LO, Reg
from isa.semantics.instruction import (
    Description,
    Fields,
    Imm,
    Instruction,
    Modified,
    Operand,
    Role,
    Special,
    Symbol,
    bare,
    base_name,
    width,
)

KIND = RULES["OPD001"]
WIDTH = RULES["OPD002"]
ALIGNMENT = RULES["OPD003"]
OFFSET = RULES["OPD004"]
SCALARS = RULES["OPD005"]
LITERALS = RULES["OPD006"]
SECOND = RULES["OPD007"]
DPP = RULES["OPD008"]

_PATTERNS = {
    "quad_perm": 3, "dpp8": 7, "row_shl": 15, "row_shr": 15, "row_ror": 15, "row_share": 15, "row_xmask": 15,
    "row_mirror": None, "row_half_mirror": None,
}  # fmt: skip
"""What DPP can do -> the largest number that it takes, None where it takes none."""
_NO_DPP = re.compile(
    r"v_(div_(fixup|fmas|scale)_f32|dot[48]_.*|dot2acc_f32_bf16|fma[am]k_.*|fma[a-z]*_dx9_zero_f32|interp_.*|nop"
    r"|mul_(hi|lo)_[iu]32|permlane.*|pipeflush|pk_.*|read.*lane_b32|swap.*|writelane_b32)"
)
_ONE_SCALAR = frozenset({"v_lshlrev_b64", "v_lshrrev_b64", "v_ashrrev_i64"})
_NAMES = {
    "v": "VGPRs",
    "a": "a vector source: VGPRs, SGPRs or a constant",
    "s": "SGPRs or a number",
    "m": "a lane mask: one SGPR or vcc_lo",
    "i": "a number",
    "l": "a label",
    "va": "a vector address",
    "sa": "a scalar address: SGPRs or off",
    "vb": "an index (idxen), an offset (offen), both, or off",
    "rs": "four SGPRs",
    "f": "fields, each a name with its value in parentheses",
}
# Kind -> (register files, what else it may be).
_NUMBER = (Imm, Special, Symbol)
_READ: dict[str, tuple[tuple[str, ...], tuple[type | str, ...]]] = {
    "v": (("v",), ()),
    "a": (("v", "s", "scc"), _NUMBER),
    "s": (("s", "scc"), _NUMBER),
    "m": (("s",), ()),
    "i": ((), (Imm, Symbol, Fields)),
    "l": ((), (Symbol, Imm)),
    "va": (("v",), ("off",)),
    "sa": (("s",), ("off",)),
    "vb": (("v",), ("off",)),
    "rs": (("s",), ()),
    "f": ((), (Fields, Imm)),
}
_WRITTEN: dict[str, tuple[tuple[str, ...], tuple[type | str, ...]]] = {"a": (("v",), ()), "s": (("s",), ())}


def check(inst: Instruction, wave64: bool = False) -> Iterator[Finding]:
    """What is wrong with the operands of one instruction. wave64: its lane masks have 64 bits. IsaError where it is not
    described or has too many."""
    for half in inst.halves:
        desc = half.desc
        rows = desc.roles_of(half)
        for number, (role, operand) in enumerate(rows):
            yield from _operand(half, number, role, operand, rows, wave64)
        if inst.pair is None and desc.is_valu:
            yield from _scalars(half, desc, rows)
        if half.dpp or any(name.startswith("wave_") for name, _ in half.modifiers):
            yield from _dpp(half, desc, rows)
        if desc.is_salu:
            yield from _one_literal(half, rows)
    yield from _offsets(inst)


def _operand(
    inst: Instruction, number: int, role: Role, operand: Operand, rows: list[tuple[Role, Operand]], wave64: bool
) -> Iterator[Finding]:
    reg = register(operand)
    files, others = _WRITTEN.get(role.kind, _READ[role.kind]) if role.written else _READ[role.kind]
    if reg.file not in files if reg is not None else not _is_other(operand, others):
        yield KIND.broken(
            inst,
            f"operand {number + 1} of {inst.mnemonic} cannot be {operand}",
            operand=number,
            expected="SGPRs" if role.written and role.kind == "s" else _NAMES[role.kind],
            got=str(operand),
        )
        return
    if role.kind == "i" and isinstance(operand, Imm) and role.type in ("i16", "u16"):
        if not isinstance(operand.value, int) or not -0x8000 <= operand.value <= 0xFFFF:
            yield OFFSET.broken(
                inst, "the number does not fit 16 bits", operand=number, expected="-32768 to 65535", got=str(operand)
            )
        return
    if role.kind == "vb":
        yield from _buffer_address(inst, number, reg)
        return
    if reg is None or reg.is_null or role.kind in ("l", "f", "i"):
        return
    count = 2 if wave64 and role.kind == "m" else _width(inst, role, rows)
    if wave64 and inst.desc.is_matrix and (number in (0, 3) or not inst.family.factors_twice):
        count = max(1, count // 2)
    if reg.count != count:
        yield WIDTH.broken(
            inst,
            f"operand {number + 1} of {inst.mnemonic} takes {number_of(count, 'register')}",
            operand=number,
            expected=str(Reg(reg.file, reg.index, count)),
            got=str(operand),
        )
    grain = 4 if count > 2 else count
    if reg.file == "s" and count > 1 and reg.index % grain:
        yield ALIGNMENT.broken(
            inst,
            f"a group of {count} SGPRs must start at a multiple of {grain}",
            operand=number,
            expected=f"such as {Reg('s', reg.index // grain * grain, count)}",
            got=str(operand),
        )


def _buffer_address(inst: Instruction, number: int, reg: Reg | None) -> Iterator[Finding]:
    """As many VGPRs as idxen and offen say."""
    named = [name for name in ("idxen", "offen") if inst.has(name)]
    if (reg.count if reg is not None else 0) != len(named):
        yield WIDTH.broken(
            inst,
            f"operand {number + 1} of {inst.mnemonic} takes {('no VGPR', '1 VGPR', '2 VGPRs')[len(named)]}",
            operand=number,
            expected=f"{' and '.join(named)}: {len(named)} of them" if named else "off, or offen or idxen after it",
            got=str(inst.operands[number]),
        )


def _is_other(operand: Operand, others: tuple[type | str, ...]) -> bool:
    """Whether an operand that names no register is of one of these types, or the special source of this name."""
    if isinstance(operand, Modified):
        operand = operand.operand
    return any(isinstance(operand, kind) if isinstance(kind, type) else str(operand) == kind for kind in others)


def _width(inst: Instruction, role: Role, rows: list[tuple[Role, Operand]]) -> int:
    if role.kind not in ("va", "sa"):
        return width(role.type)
    scratch = inst.desc.space == "scratch"
    if role.kind == "sa":
        return 1 if scratch else 2
    off = any(r.kind == "sa" and isinstance(o, Special) for r, o in rows)
    return 2 if off and not scratch else 1


def scalars(
    inst: Instruction, rows: list[tuple[Role, Operand]], mask: Reg | None = None
) -> list[tuple[Operand | float, int]]:
    """The scalar values that an instruction reads, literals as numbers, each with its operand's number. mask: what a
    lane mask counts as."""
    found: list[tuple[Operand | float, int]] = []
    for number, (role, operand) in enumerate(rows):
        if not role.read or role.kind == "i":
            continue
        source = bare(operand)
        if isinstance(source, Special) or (isinstance(source, Reg) and not source.is_vgpr and not source.is_null):
            found.append(((role.kind == "m" and mask) or source, number))
        elif not isinstance(source, Reg) and (
            is_literal(operand, role.type) or LITERAL_AT.get(inst.desc.name) == number - 1
        ):
            found.append((literal_value(operand), number))
    return found


def _scalars(inst: Instruction, desc: Description, rows: list[tuple[Role, Operand]]) -> Iterator[Finding]:
    read = scalars(inst, rows)
    last = read[-1][1] if read else -1
    registers: set[Operand] = {one for one, _ in read if not isinstance(one, int | float)}
    literals = {one for one, _ in read if isinstance(one, int | float)}
    if "vcc" in desc.implicit_reads:
        registers.add(VCC_LO)
    name = base_name(inst.mnemonic)
    limit = 1 if name in _ONE_SCALAR else 2
    if len(literals) > 1:
        yield LITERALS.broken(
            inst, "an instruction can have one literal", operand=last, expected="one", got=f"{len(literals)}"
        )
    elif len(registers) + len(literals) > limit:
        what = sorted(map(str, registers)) + [number_text(n) for n in literals]
        yield SCALARS.broken(
            inst,
            f"{name} reads at most {number_of(limit, 'scalar value')}",
            operand=last,
            expected=f"{limit} of SGPRs, VCC and literals",
            got=", ".join(what),
            hint="move one of them to a VGPR first",
        )
    if inst.mnemonic.endswith("_e32") or name in LITERAL_AT:
        sources = [(n, r, o) for n, (r, o) in enumerate(rows) if r.read and not r.written and r.kind in "av"]
        for k, (number, _, operand) in list(enumerate(sources))[1:]:
            reg = register(operand)
            if LITERAL_AT.get(name) == k:
                if isinstance(bare(operand), Reg | Special):
                    yield LITERALS.broken(inst, f"{name} has a literal here", operand=number, got=str(operand))
            elif reg is None or not reg.is_vgpr:
                yield SECOND.broken(
                    inst,
                    "the second source of the 32-bit encoding is a VGPR",
                    operand=number,
                    expected="a VGPR, or the _e64 encoding",
                    got=str(operand),
                )


def _dpp(inst: Instruction, desc: Description, rows: list[tuple[Role, Operand]]) -> Iterator[Finding]:
    """Of an instruction with DPP: the first two sources are VGPRs, the third may be a scalar too, and none a literal;
    64-bit values and some instructions do not have it (as LLVM's assembler takes them for gfx1100)."""
    if _NO_DPP.fullmatch(base_name(inst.mnemonic)) or any(width(role.type) > 1 for role, _ in rows):
        yield DPP.broken(inst, f"{base_name(inst.mnemonic)} has no DPP", expected="v_mov_b32_dpp before it")
        return
    sources = [(n, r, o) for n, (r, o) in enumerate(rows) if r.read and not r.written and r.kind in "av"]
    for k, (number, role, operand) in enumerate(sources):
        reg = register(operand)
        if (reg is None or not reg.is_vgpr) and (k < 2 or is_literal(operand, role.type)):
            expected = "a VGPR" if k < 2 else "a register, or a constant that is no literal"
            yield DPP.broken(
                inst, f"source {k} of an instruction with DPP cannot be {operand}", operand=number, expected=expected,
                got=str(operand),
            )  # fmt: skip
    for name, value in inst.modifiers:
        if name.startswith(("row_", "wave_")) and name not in ("row_mask", *_PATTERNS):
            yield DPP.broken(
                inst, f"GFX11 has no {name}", expected=", ".join(_PATTERNS), got=name,
                hint="lanes of other rows: v_permlanex16_b32, v_readlane_b32, or ds_bpermute_b32",
            )  # fmt: skip
        elif (most := _PATTERNS.get(name)) is not None:
            numbers = value if isinstance(value, tuple) else (value,)
            low = int(name in ("row_shl", "row_shr", "row_ror"))
            if any(not isinstance(n, int) or not low <= n <= most for n in numbers):
                yield DPP.broken(
                    inst, f"a number of {name} does not fit", expected=f"{low} to {most}",
                    got=", ".join(map(str, numbers)),
                )  # fmt: skip


def _one_literal(inst: Instruction, rows: list[tuple[Role, Operand]]) -> Iterator[Finding]:
    literals = {literal_value(o) for r, o in rows if r.kind == "s" and register(o) is None and is_literal(o, r.type)}
    if len(literals) > 1:
        yield LITERALS.broken(inst, "an instruction can have one literal", expected="one", got=f"{len(literals)}")


def _offsets(inst: Instruction) -> Iterator[Finding]:
    access, unit = inst.desc.access, inst.desc.unit
    ranges: dict[str, tuple[int, int]] = {}
    if unit == "lds":
        pair = access is not None and access.pair
        ranges = dict.fromkeys(("offset0", "offset1"), (0, 255)) if pair else {"offset": (0, 0xFFFF)}
    elif unit == "vmem" and access is not None:
        ranges = {"offset": _ends(inst.family.offsets["buffer" if access.buffer else access.space])}
    elif unit == "smem":
        low, high = _ends(inst.family.offsets["scalar buffer" if access and access.buffer else "scalar"])
        ranges = {"offset": (low, high)}
        third = inst.operands[2] if len(inst.operands) > 2 else None
        if isinstance(third, Imm) and isinstance(third.value, int) and not low <= third.value <= high:
            yield OFFSET.broken(
                inst,
                f"the offset does not fit {high.bit_length() + 1} bits",
                operand=2,
                expected=f"{low} to {high}",
                got=str(third),
            )
    for name, value in inst.modifiers:
        if not name.startswith("offset") or not ranges:
            continue
        if name not in ranges:
            yield OFFSET.broken(
                inst, f"{inst.mnemonic} has no {name}", expected=" and ".join(ranges), got=f"{name}:{value}"
            )
        elif isinstance(value, str) and inst.desc.name == "ds_swizzle_b32":
            yield from _swizzle(inst, value)
        elif not isinstance(value, int) or not ranges[name][0] <= value <= ranges[name][1]:
            low, high = ranges[name]
            yield OFFSET.broken(
                inst,
                f"the offset of {inst.mnemonic} does not fit its field",
                expected=f"{name} from {low} to {high}",
                got=str(value),
                hint="add the rest to the address register",
            )


def _ends(numbers: range) -> tuple[int, int]:
    return numbers[0], numbers[-1]


def _swizzle(inst: Instruction, pattern: str) -> Iterator[Finding]:
    try:
        swizzle_code(pattern)
    except ValueError as error:
        yield OFFSET.broken(inst, f"{pattern} is not a lane pattern", expected=str(error), got=f"offset:{pattern}")
