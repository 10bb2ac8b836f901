"""Byte flow: an instruction -> the bytes of its sources that each byte of its result follows from.

Compilers take apart and put together what is narrower than a register, or a structure with padding, by shifts, masks
and permutations. What these do to bits is known without values where the distance, mask or selector is a constant:

    v_lshrrev_b32 v0, 16, v1              bytes 0 and 1 of v0 are bytes 2 and 3 of v1, the others are 0
    v_and_b32 v0, 0xff, v1                byte 0 is that of v1
    v_perm_b32 v0, v1, v2, 0x05040100     bytes 0 and 1 are those of v2, 2 and 3 those of v1
    v_or_b32 v0, v1, v2                   each byte is made of the same byte of v1 and of v2

Each bit of a result is followed to the bits of sources that it is made of; a byte is made of all that its bits are.

Of sums and products a bit follows from those below it, so the low half of a result is known where that of the sources
is; of packed numbers each result from its own.

Limits: where the distance, mask or selector is in a register that is no known constant, all of a result follows from
all of its sources. The conjunction of two registers of 16 bits follows from none: code without optimisation makes bit
fields by masks in halves of registers, one after the other, and whoever asks by bytes would miss what both leave.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from isa.registers import Reg
from isa.semantics import halves
from isa.semantics.instruction import Imm, Instruction, Operand, Role, bare, bit_width, lookup

ALL = 0xF
"""All bytes of a register."""
_BYTES_OF = (0x0, 0x3, 0xC, 0xF)
"""Halves, as `halves` counts them -> bytes."""
_PACKED = frozenset({"pkf16", "pku16", "pki16", "pkbf16"})

Bit = frozenset[tuple[int, int]]
"""What a bit is made of: (number of the operand, bit of its registers)."""
Bits = list[Bit]
_NONE: Bit = frozenset()


@dataclass(frozen=True)
class _Source:
    """An operand's value: what its bits are made of, and the value itself where it is a constant."""

    bits: Bits
    constant: int | None

    def __getitem__(self, where: slice) -> Bits:
        return self.bits[where]


def _and(a: _Source, b: _Source) -> Bits:
    return [
        _NONE if _clear(a, i) or _clear(b, i) else x | y for i, (x, y) in enumerate(zip(a.bits, b.bits, strict=True))
    ]


def _and_16(a: _Source, b: _Source) -> Bits:
    return [_NONE] * 16 if a.constant is b.constant is None else _and(a, b)


def _or(a: _Source, b: _Source) -> Bits:
    return [_NONE if _set(a, i) or _set(b, i) else x | y for i, (x, y) in enumerate(zip(a.bits, b.bits, strict=True))]


def _clear(a: _Source, bit: int) -> bool:
    return a.constant is not None and not a.constant >> bit & 1


def _set(a: _Source, bit: int) -> bool:
    return a.constant is not None and bool(a.constant >> bit & 1)


def _number(a: _Source) -> int:
    if a.constant is None:
        raise _Unknown
    return a.constant


class _Unknown(Exception):
    """What decides where bits go is not known."""


def _left(a: Sequence[Bit], n: _Source) -> Bits:
    by = _number(n) % len(a)
    return [_NONE] * by + list(a[: len(a) - by])


def _right(a: Sequence[Bit], n: _Source, sign: bool = False) -> Bits:
    by = _number(n) % len(a)
    return list(a[by:]) + [a[-1] if sign else _NONE] * by


def _field(a: Sequence[Bit], offset: int, width: int, sign: bool) -> Bits:
    taken = list(a[offset : offset + width])
    return taken + [taken[-1] if sign and taken else _NONE] * (len(a) - len(taken))


def _scalar_field(a: _Source, n: _Source, sign: bool) -> Bits:
    size, code = len(a.bits), _number(n)
    return _field(a.bits, code % size, code >> 16 & 0x7F, sign)


def _vector_field(a: _Source, offset: _Source, width: _Source, sign: bool) -> Bits:
    return _field(a.bits, _number(offset) & 31, _number(width) & 31, sign)


def _align(a: _Source, b: _Source, by: int) -> Bits:
    return [*b.bits, *a.bits][by : by + 32]


def _perm(a: _Source, b: _Source, selector: _Source) -> Bits:
    both, codes, found = [*b.bits, *a.bits], _number(selector), list[Bit]()
    for i in range(4):
        code = codes >> 8 * i & 0xFF
        if code < 8:
            found += both[8 * code : 8 * code + 8]
        else:
            found += [both[16 * (code & 3) + 15] if code < 12 else _NONE] * 8
    return found


def _insert(mask: _Source, a: _Source, b: _Source) -> Bits:
    """v_bfi_b32."""
    return [a.bits[i] if _number(mask) >> i & 1 else b.bits[i] for i in range(32)]


def _made(bits: Bits) -> _Source:
    return _Source(bits, None)


def _extended(a: _Source, width: int) -> Bits:
    return _field(a.bits, 0, width, True)


_Flow = Callable[..., Bits]
_PUTS: dict[str, _Flow] = {
    "v_perm_b32": _perm,
    "v_alignbit_b32": lambda a, b, n: _align(a, b, _number(n) & 31),
    "v_alignbyte_b32": lambda a, b, n: _align(a, b, (_number(n) & 3) << 3),
    **dict.fromkeys(("v_bfrev_b32", "s_brev_b32", "s_brev_b64"), lambda a: a.bits[::-1]),
    "v_pack_b32_f16": lambda a, b: [*a.bits, *b.bits],
    "s_pack_ll_b32_b16": lambda a, b: [*a[:16], *b[:16]],
    "s_pack_lh_b32_b16": lambda a, b: [*a[:16], *b[16:]],
    "s_pack_hl_b32_b16": lambda a, b: [*a[16:], *b[:16]],
    "s_pack_hh_b32_b16": lambda a, b: [*a[16:], *b[16:]],
    "v_or_b32": _or,
    "v_or3_b32": lambda a, b, c: _or(_made(_or(a, b)), c),
    "v_and_or_b32": lambda a, b, c: _or(_made(_and(a, b)), c),
    "v_lshl_or_b32": lambda a, n, c: _or(_made(_left(a.bits, n)), c),
    "v_bfi_b32": _insert,
}
"""Those that put bytes elsewhere or together and do nothing else, as moves do."""
_MASKS: dict[str, _Flow] = {
    **dict.fromkeys(("v_and_b32", "s_and_b32", "s_and_b64"), _and),
    "v_and_b16": _and_16,
    **{f"{unit}_or_b{size}": _or for unit, size in (("v", 16), ("s", 32), ("s", 64))},
    "v_bfe_u32": lambda a, n, w: _vector_field(a, n, w, False),
    "v_bfe_i32": lambda a, n, w: _vector_field(a, n, w, True),
    **{f"s_bfe_u{size}": lambda a, n: _scalar_field(a, n, False) for size in (32, 64)},
    **{f"s_bfe_i{size}": lambda a, n: _scalar_field(a, n, True) for size in (32, 64)},
    "s_sext_i32_i8": lambda a: _extended(a, 8),
    "s_sext_i32_i16": lambda a: _extended(a, 16),
    **{f"v_lshlrev_b{size}": lambda n, a: _left(a.bits, n) for size in (16, 32)},
    **{f"v_lshrrev_b{size}": lambda n, a: _right(a.bits, n) for size in (16, 32, 64)},
    **{f"v_ashrrev_i{size}": lambda n, a: _right(a.bits, n, True) for size in (16, 32, 64)},
    "s_lshl_b32": lambda a, n: _left(a.bits, n),
    **{f"s_lshr_b{size}": lambda a, n: _right(a.bits, n) for size in (32, 64)},
    **{f"s_ashr_i{size}": lambda a, n: _right(a.bits, n, True) for size in (32, 64)},
}
"""Those that shift, mask and combine: they compute where nothing of a source is known, else put bytes elsewhere."""


def _carried(*sources: _Source) -> Bits:
    """Sums and products: a bit follows from those below it, too."""
    found, below = [], _NONE
    for bits in zip(*(source.bits for source in sources), strict=True):
        below = below.union(*bits)
        found.append(below)
    return found


def _each(*sources: _Source) -> Bits:
    return [_NONE.union(*bits) for bits in zip(*(source.bits for source in sources), strict=True)]


_COMPUTES: dict[str, _Flow] = {
    **dict.fromkeys(
        (
            "v_add_nc_u32", "v_sub_nc_u32", "v_subrev_nc_u32", "v_add3_u32", "v_mul_lo_u32", "v_mul_u32_u24",
            "v_mul_i32_i24", "v_mad_u32_u24", "v_mad_i32_i24", "v_xad_u32", "s_add_i32", "s_add_u32", "s_sub_i32",
            "s_sub_u32", "s_mul_i32",
        ),
        _carried,
    ),
    **dict.fromkeys(("v_xor_b32", "v_xnor_b32", "v_xor3_b32", "v_not_b32"), _each),
    "v_lshl_add_u32": lambda a, n, c: _carried(_made(_left(a.bits, n)), c),
    "v_add_lshl_u32": lambda a, b, n: _left(_carried(a, b), n),
}  # fmt: skip
"""Those that compute, where lower bits do not follow from higher ones: numbers of 16 bits have nothing above."""


@dataclass(frozen=True)
class Part:
    """One register of a result and one of the sources: `rows[i]` are the bytes of the source that byte i is made of."""

    target: Reg
    source: Reg
    rows: tuple[int, int, int, int]


@dataclass(frozen=True)
class Flow:
    """kind: "puts", "masks" or "computes", as the tables have it; parts: of each register of the result all sources, an
    empty list for one that is made of none."""

    kind: str
    parts: Mapping[Reg, Sequence[Part]]


def flow(half: Instruction, constants: Mapping[Reg, int]) -> Flow | None:
    """Where the bytes of a result come from; None where they are computed. constants: what single registers hold."""
    desc = lookup(half)
    kind, rule = next(((kind, table[desc.name]) for kind, table in _KINDS.items() if desc.name in table), ("", None))
    rows = desc.roles_of(half)
    if desc.is_valu and rows and rows[0][0].type in _PACKED and not half.dpp:
        return _packed(half, rows)
    if rule is None or half.dpp or half.modifier("clamp"):
        return None
    sources, at = [_source(half, n, role, o, constants) for n, (role, o) in enumerate(rows) if n], 0
    target = bare(rows[0][1])
    if None in sources or not isinstance(target, Reg) or target.is_null:
        return None
    try:
        bits = rule(*sources)
    except _Unknown:
        return None
    if len(bits) < 32:
        at = 16 if halves.touched(half, target.sub(0))[1] == halves.HIGH else 0
    bits = [*[_NONE] * at, *bits]
    found: dict[Reg, list[Part]] = {}
    for unit in target.units():
        made, bits = bits[:32], bits[32:]
        found[unit] = list(_parts(unit, made, rows))
    return Flow(kind, found)


_KINDS = {"puts": _PUTS, "masks": _MASKS, "computes": _COMPUTES}


def _packed(half: Instruction, rows: Sequence[tuple[Role, Operand]]) -> Flow | None:
    """Of two numbers in each register, those of which the two results are made."""
    target, found = bare(rows[0][1]), list[Part]()
    if not isinstance(target, Reg) or any(role.written for role, _ in rows[1:]):
        return None
    for number, (role, operand) in enumerate(rows):
        reg = bare(operand)
        if role.read and role.type not in _PACKED:
            return None
        if role.read and isinstance(reg, Reg) and not reg.is_null:
            low, high = (half.modifier(field) for field in ("op_sel", "op_sel_hi"))
            first = isinstance(low, tuple) and 0 < number <= len(low) and low[number - 1]
            second = not (isinstance(high, tuple) and 0 < number <= len(high) and high[number - 1] == 0)
            a, b = (_BYTES_OF[halves.HIGH if upper else halves.LOW] for upper in (first, second))
            found.append(Part(target, reg, (a, a, b, b)))
    return Flow("computes", {target: found})


def _parts(unit: Reg, made: Bits, rows: Sequence[tuple[Role, Operand]]) -> list[Part]:
    by_source: dict[Reg, list[int]] = {}
    for i, bit in enumerate(made):
        for number, at in bit:
            reg = bare(rows[number][1])
            assert isinstance(reg, Reg)
            by_source.setdefault(reg.sub(at // 32), [0] * 4)[i // 8] |= 1 << at % 32 // 8
    return [Part(unit, source, (a, b, c, d)) for source, (a, b, c, d) in by_source.items()]


def _source(
    half: Instruction, number: int, role: Role, operand: Operand, constants: Mapping[Reg, int]
) -> _Source | None:
    reg, size = bare(operand), bit_width(role.type)
    if isinstance(reg, Imm):
        value = reg.value
        return _Source([_NONE] * size, value & (1 << size) - 1) if isinstance(value, int) else None
    if not isinstance(reg, Reg) or operand is not reg:
        return None
    first = 16 if size == 16 and needed(half, number, role, operand) == _BYTES_OF[halves.HIGH] else 0
    known = [constants.get(unit) for unit in reg.units()]
    constant = None
    if None not in known:
        constant = sum((value or 0) << 32 * i for i, value in enumerate(known)) >> first & (1 << size) - 1
        return _Source([_NONE] * size, constant)
    return _Source([frozenset({(number, first + i)}) for i in range(size)], None)


def needed(half: Instruction, number: int, role: Role, operand: Operand) -> int:
    """The bytes of each register of an operand that an instruction computes with, or stores."""
    reg, access, name = bare(operand), half.desc.access, lookup(half).name
    if not isinstance(reg, Reg) or not reg.is_vgpr:
        return ALL
    if access is not None:
        part = _BYTES_OF[halves.touched(half, reg.sub(0))[0]] if role.kind == "v" else ALL
        return part & 0x5 if part and part != ALL and bit_width(access.element) == 8 else part or ALL
    if reg.half:
        return _BYTES_OF[halves.LOW if reg.half == "l" else halves.HIGH]
    if name.startswith("v_cvt_f32_ubyte"):
        return 1 << int(name[-1])
    low, high = (half.modifier(field) for field in ("op_sel", "op_sel_hi"))

    def of(field: object) -> int | None:
        return field[number - 1] if isinstance(field, tuple) and 0 < number <= len(field) else None

    if role.type in halves.SIXTEEN:
        return _BYTES_OF[halves.HIGH if of(low) else halves.LOW]
    if role.type in _PACKED:
        return _BYTES_OF[(halves.HIGH if of(low) else halves.LOW) | (halves.LOW if of(high) == 0 else halves.HIGH)]
    if role.type == "mix" and of(high):
        return _BYTES_OF[halves.HIGH if of(low) else halves.LOW]
    return ALL
