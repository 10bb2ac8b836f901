"""A span never leaves out a number that an operation can give."""

import operator
from collections.abc import Callable

import pytest
from hypothesis import given
from hypothesis import strategies as st

from isa.asm.parse import parse_instruction
from isa.registers import SCC, parse_register, s, v
from tools.mutation.spans import Span, anything, constant, join, written

FULL = 0xFFFFFFFF
WORDS = st.one_of(st.integers(0, FULL), st.integers(0, 4096), st.sampled_from([0, 1, 3, 1 << 31, FULL]))


@st.composite
def spans(draw: st.DrawFn) -> tuple[Span, int]:
    """A span and a number in it."""
    number, other, fixed = draw(WORDS), draw(WORDS), draw(WORDS)
    return Span("u32", min(number, other), max(number, other), fixed, number & fixed), number


def holds(span: Span, number: int) -> bool:
    return span.low <= number <= span.high and number & span.fixed == span.bits_


OPERATIONS: dict[str, Callable] = {
    name: getattr(operator, name) for name in ("add", "sub", "mul", "and_", "or_", "xor", "invert", "neg")
}


@given(spans(), spans(), st.sampled_from(sorted(OPERATIONS)))
def test_arithmetic_and_bits(a: tuple[Span, int], b: tuple[Span, int], name: str) -> None:
    f = OPERATIONS[name]
    arguments = [a] if name in ("invert", "neg") else [a, b]
    assert holds(f(*(span for span, _ in arguments)), f(*(n for _, n in arguments)) & FULL)


@given(spans(), spans())
def test_shifts(a: tuple[Span, int], b: tuple[Span, int]) -> None:
    n = b[0] & 31
    assert holds(n, b[1] & 31)
    assert holds(a[0] << n, a[1] << (b[1] & 31) & FULL)
    assert holds(a[0] >> n, a[1] >> (b[1] & 31))
    signed = a[1] - (a[1] >> 31 << 32)
    assert holds(a[0].bits("i32") >> n, (signed >> (b[1] & 31)) & FULL)


@given(spans(), spans())
def test_halves_and_other_widths(a: tuple[Span, int], b: tuple[Span, int]) -> None:
    whole = a[0].to("u64") | b[0].to("u64") << 32
    number = a[1] | b[1] << 32
    assert holds(whole, number)
    assert holds((whole >> 32).to("u32"), b[1])
    assert holds(a[0].mulhi(b[0]), a[1] * b[1] >> 32)
    assert holds(a[0].to("u16"), a[1] & 0xFFFF)
    assert holds(a[0].bits("i32").to("i64"), (a[1] - (a[1] >> 31 << 32)) & (1 << 64) - 1)


@given(spans(), spans(), st.sampled_from(["lt", "le", "gt", "ge", "eq", "ne"]), st.sampled_from(["u32", "i32"]))
def test_comparisons_and_choice(a: tuple[Span, int], b: tuple[Span, int], name: str, type_: str) -> None:
    f = getattr(operator, name)
    sign = 0 if type_ == "u32" else 1
    true = f(*(n - sign * (n >> 31 << 32) for _, n in (a, b)))
    condition = f(a[0].bits(type_), b[0].bits(type_))
    assert holds(condition, int(true))
    assert holds(condition.select(a[0], b[0]), a[1] if true else b[1])


@given(spans(), spans())
def test_joins(a: tuple[Span, int], b: tuple[Span, int]) -> None:
    either = join(a[0], b[0])
    assert holds(either, a[1])
    assert holds(either, b[1])


@pytest.mark.parametrize(
    ("span", "shown"),
    [
        ((Span("u32", 0, 1023) & 127) * 4 ^ 0x1000, "u32 0x1000..0x11fc (0x1000 of 0xfffffe03)"),
        (constant("u32", -1) >> 4, "u32 0xfffffff..0xfffffff (0xfffffff of 0xffffffff)"),
        (anything("u32") | 1, "u32 0x1..0xffffffff (0x1 of 0x1)"),
        (Span("u32", 0, 127) * 16 + 2080, "u32 0x820..0x1010 (0x0 of 0xffffe00f)"),
        (anything("f32") * anything("f32"), "f32 0x0..0xffffffff (0x0 of 0x0)"),
    ],
)
def test_shown(span: Span, shown: str) -> None:
    assert repr(span) == shown


@pytest.mark.parametrize(
    ("text", "low", "high"),
    [
        ("v_mbcnt_lo_u32_b32 v1, -1, 0", 0, 32),  # the lane's number, which is not the same in all lanes
        ("v_mbcnt_lo_u32_b32 v1, -1, v2", 0, FULL),
        ("v_permlane16_b32 v1, v2, s0, s1", 0, FULL),
    ],
)
def test_what_an_instruction_takes_from_its_lane_is_that_of_any(text: str, low: int, high: int) -> None:
    (span,) = written(parse_instruction(text), lambda _: anything("u32")).values()
    assert span.low <= low
    assert span.high >= high - 1


@pytest.mark.parametrize(
    ("text", "reg", "shown"),
    [
        # v1 is 0 to 0xff, v2 and s2 are 0x12345678, v3 is anything.
        ("v_add_nc_u16 v4.h, v1.l, 0x10", "v4", "0x100000..0x10fffff (0x0 of 0xfe000000)"),
        ("v_and_b32 v4, v1, v2", "v4", "0x0..0x78 (0x0 of 0xffffff87)"),
        ("v_pk_lshrrev_b16 v4, 4, v2 op_sel_hi:[0,1]", "v4", "0x1230567..0x1230567 (0x1230567 of 0xffffffff)"),
        ("v_cndmask_b32 v4, -v2, |v2|, s5", "v4", "0x12345678..0x92345678 (0x12345678 of 0x7fffffff)"),
        ("v_mov_b32_dpp v4, v1 quad_perm:[1,0,3,2] row_mask:0xf bank_mask:0xf", "v4", "0x0..0xff (0x0 of 0xffffff00)"),
        ("v_mov_b32_dpp v4, v1 row_shr:1 row_mask:0xf bank_mask:0xf", "v4", "0x0..0xffffffff (0x0 of 0x0)"),
        ("v_mov_b32_dpp v2, v1 row_shr:1 row_mask:0xf bank_mask:0xf", "v2", "0x0..0x12345678 (0x0 of 0xedcba900)"),
        ("v_add_nc_u32 v4, v1, v2 clamp", "v4", "0x12345678..0x12345777 (0x12345600 of 0xfffffe00)"),
        ("v_mad_u64_u32 v[4:5], null, s2, 4, v[6:7]", "v4", "0x0..0xffffffff (0x0 of 0x0)"),
        ("s_mul_hi_u32 s4, s2, 0x100", "s4", "0x12..0x12 (0x12 of 0xffffffff)"),
        ("s_lshl_b64 s[4:5], s[2:3], 4", "s4", "0x23456780..0x23456780 (0x23456780 of 0xffffffff)"),
        ("s_cmp_lt_u32 s2, 5", "scc", "0x0..0x0 (0x0 of 0xffffffff)"),
        ("v_cmp_gt_u32 s4, 5, s2", "s4", "0x0..0x0 (0x0 of 0xffffffff)"),  # in no lane
        ("v_cmp_lt_u32 s4, 5, s2", "s4", "0x0..0xffffffff (0x0 of 0x0)"),  # in those that are on
        ("v_movreld_b32 v4, v1", "v4", None),  # which register it is nobody knows
        ("v_mul_f32 v4, -v2, |v2| clamp", "v4", "0x0..0xffffffff (0x0 of 0x0)"),
        ("global_load_b32 v4, v[6:7], off", "v4", "0x0..0xffffffff (0x0 of 0x0)"),
    ],
)
def test_what_registers_can_hold(text: str, reg: str, shown: str | None) -> None:
    given = {v(1): Span("u32", 0, 0xFF), v(2): constant("u32", 0x12345678), s(2): constant("u32", 0x12345678)}
    found = written(parse_instruction(text), lambda unit: given.get(unit, anything("u32")))
    unit = SCC if reg == "scc" else parse_register(reg)
    assert unit is not None
    assert (repr(found[unit]) if unit in found else None) == (shown and f"u32 {shown}")
