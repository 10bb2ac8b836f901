"""Vector integer arithmetic, bits and moves (VOP1, VOP2, VOP3, VOPD): RDNA3 ISA guide 7 and 16.7 to 16.12."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from isa.instructions.words import bitmask, field, maximum, minimum, ones, sign_extend
from isa.semantics.instruction import inst
from isa.semantics.values import Number, Value, select

# --- moves
inst("v_mov_b32 =v.b32, a.b32", lambda a: a, sched="valu", vopd="xy", copy=True)
inst("v_mov_b16 =v.b16, a.b16", lambda a: a, sched="valu", copy=True)
inst("v_cndmask_b32 =v.b32, a.b32, a.b32, m", lambda a, b, m: select(m, b, a), sched="valu", vopd="xy")
inst("v_cndmask_b16 =v.b16, a.b16, a.b16, m", lambda a, b, m: select(m, b, a), sched="valu")
inst("v_swap_b32 +v.b32, +v.b32", lambda a, b: (b, a), sched="valu")
inst("v_swap_b16 +v.b16, +v.b16", lambda a, b: (b, a), sched="valu")
inst("v_movrels_b32 =v.b32, v.b32", lambda a: a, sched="valu", reads="m0", relative=(1,))
inst("v_movreld_b32 =v.b32, a.b32", lambda a: a, sched="valu", reads="m0", relative=(0,))
inst("v_movrelsd_b32 =v.b32, v.b32", lambda a: a, sched="valu", reads="m0", relative=(0, 1))
inst("v_movrelsd_2_b32 =v.b32, v.b32", lambda a: a, sched="valu", reads="m0", relative=(0, 1), two_offsets=True)
inst("v_swaprel_b32 +v.b32, +v.b32", lambda a, b: (b, a), sched="valu", reads="m0", relative=(0, 1), two_offsets=True)
inst("v_nop", sched="valu", words="nothing")
inst("v_pipeflush", sched="pipeflush", words="the cache of the vector ALU's destinations is emptied")

# --- addition; clamp saturates


def _range(type_: str) -> tuple[int, int]:
    size = int(type_[1:])
    return (0, (1 << size) - 1) if type_[0] == "u" else (-(1 << (size - 1)), (1 << (size - 1)) - 1)


def saturate(exact: Value, type_: str) -> Value:
    """A 64-bit signed result as the nearest number of `type_`."""
    low, high = _range(type_)
    return minimum(maximum(exact, low), high).to(type_)


def clamped(f: Callable[..., Value]) -> Callable[..., Value]:
    """`f` in the type of its operands, or, with the clamp modifier, exactly and then saturated to that type."""

    def body(*arguments: Any) -> Value:
        *values, clamp = arguments
        if not clamp:
            return f(*values)
        return saturate(f(*(v.to("i64") for v in values)), values[0].type)

    return body


_SUMS: dict[str, Callable[[Value, Value], Value]] = {
    "add_nc": lambda a, b: a + b,
    "sub_nc": lambda a, b: a - b,
    "subrev_nc": lambda a, b: b - a,
}
for op, f in _SUMS.items():
    inst(
        f"v_{op}_u32 =v.u32, a.u32, a.u32", clamped(f), sched="valu", fields="clamp", vopd="y" if op == "add_nc" else ""
    )
for op in ("add_nc", "sub_nc"):
    for kind in ("i32", "u16", "i16"):
        inst(f"v_{op}_{kind} =v.{kind}, a.{kind}, a.{kind}", clamped(_SUMS[op]), sched="valu", fields="clamp")


def _add_carry(a: Value, b: Value, *rest: Any) -> tuple[Value, Value]:
    *carry, clamp = rest
    part = a + b
    total = part + carry[0].to("u32") if carry else part
    out = (part < a) | (total < part)
    return (select(out, 0xFFFFFFFF, total) if clamp else total), out


def _sub_borrow(a: Value, b: Value, *rest: Any) -> tuple[Value, Value]:
    *borrow, clamp = rest
    result = a - b - borrow[0].to("u32") if borrow else a - b
    out = (b > a) | ((b == a) & borrow[0]) if borrow else b > a
    return (select(out, 0, result) if clamp else result), out


for op, f2 in (("add", _add_carry), ("sub", _sub_borrow), ("subrev", lambda a, b, *c: _sub_borrow(b, a, *c))):
    inst(f"v_{op}_co_u32 =v.u32, =m, a.u32, a.u32", f2, sched="valu", fields="clamp")
    inst(f"v_{op}_co_ci_u32 =v.u32, =m, a.u32, a.u32, m", f2, sched="valu", fields="clamp")
inst("v_add3_u32 =v.u32, a.u32, a.u32, a.u32", lambda a, b, c: a + b + c, sched="valu")

# --- multiplication


def _mad64(kind: str) -> Callable[[Value, Value, Value], tuple[Value, Value]]:
    """a * b + c in 65 bits: the carry out of (or the sign above) bit 63 goes to the mask."""

    def body(a: Value, b: Value, c: Value) -> tuple[Value, Value]:
        product = a.to(f"{kind}64") * b.to(f"{kind}64")
        total = product + c
        if kind == "u":
            return total, total < product
        wraps = ((product ^ total) & (total ^ c)) < 0
        return total, (total < 0) ^ wraps

    return body


for op, f in (
    ("mul_lo_u32", lambda a, b: a * b),
    ("mul_hi_u32", lambda a, b: a.mulhi(b)),
    ("mul_hi_i32", lambda a, b: a.mulhi(b)),
):
    inst(f"v_{op} =v.{op[-3:]}, a.{op[-3:]}, a.{op[-3:]}", f, sched="int_quarter_rate")
inst("v_mad_u64_u32 =v.u64, =m, a.u32, a.u32, a.u64", _mad64("u"), sched="int_quarter_rate")
inst("v_mad_i64_i32 =v.i64, =m, a.i32, a.i32, a.i64", _mad64("i"), sched="int_quarter_rate")
inst("v_mul_lo_u16 =v.u16, a.u16, a.u16", lambda a, b: a * b, sched="valu")
inst("v_mad_u16 =v.u16, a.u16, a.u16, a.u16", clamped(lambda a, b, c: a * b + c), sched="valu", fields="clamp")
inst("v_mad_i16 =v.i16, a.i16, a.i16, a.i16", clamped(lambda a, b, c: a * b + c), sched="valu", fields="clamp")


def _u24(a: Value) -> Value:
    return a & 0xFFFFFF


def _i24(a: Value) -> Value:
    return (a << 8) >> 8


def _wide(f: Callable[[Value], Value], a: Value) -> Value:
    return f(a).to("u64" if a.type == "u32" else "i64")


for kind, cut in (("u32", _u24), ("i32", _i24)):
    three = f"=v.{kind}, a.{kind}, a.{kind}"
    name = f"{kind}_{kind[0]}24"
    inst(
        f"v_mul_{name} {three}",
        lambda a, b, clamp, cut=cut: clamped(lambda x, y: x * y)(cut(a), cut(b), clamp),
        sched="valu",
        fields="clamp",
    )
    inst(
        f"v_mul_hi_{name} {three}",
        lambda a, b, cut=cut: ((_wide(cut, a) * _wide(cut, b)) >> 32).to(a.type),
        sched="valu",
    )

    def _mad24(a: Value, b: Value, c: Value, clamp: bool, cut: Callable[[Value], Value] = cut) -> Value:
        """a * b of their low 24 bits, and c; clamp saturates."""
        if clamp:
            return saturate(cut(a).to("i64") * cut(b).to("i64") + c.to("i64"), c.type)
        return cut(a) * cut(b) + c

    inst(f"v_mad_{name} {three}, a.{kind}", _mad24, sched="valu", fields="clamp")
for wide, narrow in (("u32", "u16"), ("i32", "i16")):

    def _mad16(a: Value, b: Value, c: Value, clamp: bool) -> Value:
        """a * b + c in the type of c; clamp saturates."""
        if clamp:
            return saturate(a.to("i64") * b.to("i64") + c.to("i64"), c.type)
        return a.to(c.type) * b.to(c.type) + c

    inst(f"v_mad_{wide}_{narrow} =v.{wide}, a.{narrow}, a.{narrow}, a.{wide}", _mad16, sched="valu", fields="clamp")

# --- minimum, maximum, median


def _med3(a: Value, b: Value, c: Value) -> Value:
    return maximum(minimum(a, b), minimum(maximum(a, b), c))


for kind in ("i32", "u32", "i16", "u16"):
    three, four = f"=v.{kind}, a.{kind}, a.{kind}", f"=v.{kind}, a.{kind}, a.{kind}, a.{kind}"
    inst(f"v_min_{kind} {three}", minimum, sched="valu")
    inst(f"v_max_{kind} {three}", maximum, sched="valu")
    # What clamp asks of these is so already: they give one of their operands.
    inst(f"v_min3_{kind} {four}", lambda a, b, c, _: minimum(minimum(a, b), c), sched="valu", fields="clamp")
    inst(f"v_max3_{kind} {four}", lambda a, b, c, _: maximum(maximum(a, b), c), sched="valu", fields="clamp")
    inst(f"v_med3_{kind} {four}", lambda a, b, c, _: _med3(a, b, c), sched="valu", fields="clamp")
    if kind.endswith("32"):
        inst(f"v_maxmin_{kind} {four}", lambda a, b, c: minimum(maximum(a, b), c), sched="valu")
        inst(f"v_minmax_{kind} {four}", lambda a, b, c: maximum(minimum(a, b), c), sched="valu")

# --- logic and shifts
_LOGIC: dict[str, Callable[[Value, Value], Value]] = {
    "and": lambda a, b: a & b,
    "or": lambda a, b: a | b,
    "xor": lambda a, b: a ^ b,
    "xnor": lambda a, b: ~(a ^ b),
}
for op, f in _LOGIC.items():
    inst(f"v_{op}_b32 =v.b32, a.b32, a.b32", f, sched="valu", vopd="y" if op == "and" else "")
    if op != "xnor":
        inst(f"v_{op}_b16 =v.b16, a.b16, a.b16", f, sched="valu")
for name, f3 in (
    ("and_or_b32", lambda a, b, c: (a & b) | c),
    ("or3_b32", lambda a, b, c: a | b | c),
    ("xor3_b32", lambda a, b, c: a ^ b ^ c),
    ("xad_u32", lambda a, b, c: (a ^ b) + c),
    ("lshl_or_b32", lambda a, b, c: (a << (b & 31)) | c),
    ("lshl_add_u32", lambda a, b, c: (a << (b & 31)) + c),
    ("add_lshl_u32", lambda a, b, c: (a + b) << (c & 31)),
    ("bfi_b32", lambda a, b, c: (a & b) | (~a & c)),
    ("bfe_u32", lambda a, b, c: (a >> (b & 31)) & ones(c & 31, "u32")),
):
    inst(f"v_{name} =v.u32, a.u32, a.u32, a.u32", f3, sched="valu")
inst(
    "v_bfe_i32 =v.u32, a.u32, a.u32, a.u32",
    lambda a, b, c: sign_extend(((a.bits("i32") >> (b & 31).bits("i32")).bits("u32")) & ones(c & 31, "u32"), c & 31),
    sched="valu",
)
inst("v_bfm_b32 =v.b32, a.u32, a.u32", bitmask(32), sched="valu")
inst("v_not_b32 =v.b32, a.b32", lambda a: ~a, sched="valu")
inst("v_not_b16 =v.b16, a.b16", lambda a: ~a, sched="valu")
inst("v_bfrev_b32 =v.b32, a.b32", lambda a: a.bitreverse(), sched="valu")
inst("v_bcnt_u32_b32 =v.u32, a.u32, a.u32", lambda a, b: a.popcount() + b, sched="valu")
inst("v_clz_i32_u32 =v.u32, a.u32", lambda a: select(a == 0, 0xFFFFFFFF, a.clz()), sched="valu")
inst("v_ctz_i32_b32 =v.u32, a.u32", lambda a: select(a == 0, 0xFFFFFFFF, a.ctz()), sched="valu")


def _cls(a: Value) -> Value:
    turned = (a ^ (a >> 31)).bits("u32")
    return select(turned == 0, 0xFFFFFFFF, turned.clz())


inst("v_cls_i32 =v.u32, a.i32", _cls, sched="valu")
_SHIFTS: tuple[tuple[str, str, Callable[[Value, Value], Value]], ...] = (
    ("lshlrev", "b", lambda n, a: a << n),
    ("lshrrev", "b", lambda n, a: a >> n),
    ("ashrrev", "i", lambda n, a: a >> n),
)
for op, letter, shift in _SHIFTS:
    for size in (16, 32, 64):
        kind = f"{letter}{size}"

        def _shift(n: Value, a: Value, f: Callable[[Value, Value], Value] = shift, last: int = size - 1) -> Value:
            return f((n & last).to(a.type), a)

        inst(
            f"v_{op}_{kind} =v.{kind}, a.{'u16' if size == 16 else 'u32'}, a.{kind}",
            _shift,
            sched="valu_64" if size == 64 else "valu",
            vopd="y" if (op, size) == ("lshlrev", 32) else "",
        )


def _align(a: Value, b: Value, n: Value) -> Value:
    return (((a.to("u64") << 32) | b.to("u64")) >> n.to("u64")).to("u32")


inst("v_alignbit_b32 =v.b32, a.u32, a.u32, a.u16", lambda a, b, n: _align(a, b, n & 31), sched="valu")
inst("v_alignbyte_b32 =v.b32, a.u32, a.u32, a.u16", lambda a, b, n: _align(a, b, (n & 3) << 3), sched="valu")


def _perm(a: Value, b: Value, selector: Value) -> Value:
    """Each byte of the result: one of eight bytes, the sign of one, 0 or 0xff (V_PERM_B32)."""
    both = (a.to("u64") << 32) | b.to("u64")
    result = (a & 0).to("u32")
    for i in range(4):
        s = field(selector, 8 * i, 8)
        byte = ((both >> ((s & 7) << 3).to("u64")) & 0xFF).to("u32")
        # 8 to 11: the sign of byte 1, 3, 5, 7, all over.
        sign = ((both >> ((((s & 3) << 4) + 15) & 63).to("u64")) & 1).to("u32") * 0xFF
        byte = select(s > 12, 0xFF, select(s == 12, 0, select(s > 7, sign, byte)))
        result = result | (byte << (8 * i))
    return result


inst("v_perm_b32 =v.b32, a.u32, a.u32, a.u32", _perm, sched="valu")

# --- sums of absolute differences


def _difference(a: Value, b: Value) -> Value:
    return maximum(a, b) - minimum(a, b)


def _sad(a: Value, b: Value, count: int, skip: bool = False) -> Value:
    """The sum over fields of 32/count bits; with skip those where b's field is 0 are left out."""
    size = 32 // count
    total = a & 0
    for i in range(count):
        x, y = field(a, size * i, size), field(b, size * i, size)
        d = _difference(x, y)
        total = total + (select(y == 0, 0, d) if skip else d)
    return total


def _clamped_sum(value: Number, c: Value, clamp: bool) -> Value:
    total = value + c
    return select(total < c, 0xFFFFFFFF, total) if clamp else total


for name, sad in (
    ("sad_u8", lambda a, b: _sad(a, b, 4)),
    ("sad_hi_u8", lambda a, b: _sad(a, b, 4) << 16),
    ("sad_u16", lambda a, b: _sad(a, b, 2)),
    ("sad_u32", _difference),
    ("msad_u8", lambda a, b: _sad(a, b, 4, skip=True)),
):
    inst(
        f"v_{name} =v.u32, a.u32, a.u32, a.u32",
        lambda a, b, c, clamp, sad=sad: _clamped_sum(sad(a, b), c, clamp),
        sched="valu",
        fields="clamp",
    )


def _wide_sad(a: Value, b: Value, skip: bool) -> list[Value]:
    """Four sums, of b's four bytes against those of a from byte 0, 1, 2 and 3 on."""
    return [_sad((a >> (8 * i)).to("u32"), b, 4, skip) for i in range(4)]


def _packed_sads(a: Value, b: Value, c: Value, skip: bool) -> Value:
    """Each sum with its 16 bits of c added, which wrap."""
    total = c & 0
    for i, sad in enumerate(_wide_sad(a, b, skip)):
        total = total | (((sad.to("u64") + (c >> (16 * i))) & 0xFFFF) << (16 * i))
    return total


for name, skip in (("qsad", False), ("mqsad", True)):
    inst(
        f"v_{name}_pk_u16_u8 =v.b64, a.b64, a.b32, a.b64",
        lambda a, b, c, skip=skip: _packed_sads(a, b, c, skip),
        sched="sad_wide",
    )
inst(
    "v_mqsad_u32_u8 =v.b128, a.b64, a.b32, v.b128",
    lambda a, b, c: tuple(sad + part for sad, part in zip(_wide_sad(a, b, True), c, strict=True)),
    sched="sad_wide",
)
inst(
    "v_lerp_u8 =v.u32, a.u32, a.u32, a.u32",
    lambda a, b, c: _lerp(a, b, c),
    sched="valu",
)


def _lerp(a: Value, b: Value, c: Value) -> Value:
    result = a & 0
    for i in range(4):
        mean = (field(a, 8 * i, 8) + field(b, 8 * i, 8) + field(c, 8 * i, 1)) >> 1
        result = result | (mean << (8 * i))
    return result
