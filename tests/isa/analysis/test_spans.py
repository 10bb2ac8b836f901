"""A span never leaves out a number that an operation can give."""

import operator
from collections.abc import Callable

import pytest
from hypothesis import given
from hypothesis import strategies as st

from isa.analysis.spans import Span, anything, constant, join, results, widen
from isa.asm.parse import parse_instruction

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
    for either in (join(a[0], b[0]), widen(a[0], b[0])):
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
    ((_, span),) = results(parse_instruction(text), lambda _, type_: anything(type_))
    assert span.low <= low
    assert span.high >= high - 1
