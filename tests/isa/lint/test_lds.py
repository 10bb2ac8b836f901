"""Races in LDS: the numbers that the rule computes with against the reference engine's."""

from collections.abc import Callable

import numpy as np
import pytest

from isa.lint.lds.footprint import Footprint, footprint
from isa.lint.lds.values import MODE, Numbers
from isa.semantics.reference.values import NumpyValue
from isa.semantics.values import Value

OPERATIONS: dict[str, Callable[..., Value]] = {
    "add": lambda a, b: a + b, "sub": lambda a, b: a - b, "mul": lambda a, b: a * b, "and": lambda a, b: a & b,
    "or": lambda a, b: a | b, "xor": lambda a, b: a ^ b, "not": lambda a, b: ~a, "and number": lambda a, b: a & 0xFF,
    "shift left": lambda a, b: a << (b & 7), "shift right": lambda a, b: a >> (b & 7),
    "shift left by 3": lambda a, b: a << 3, "shift right by 3": lambda a, b: a >> 3, "equal": lambda a, b: a == b,
    "less": lambda a, b: a < b, "select": lambda a, b: (a < b).select(a, b), "to u64": lambda a, b: a.to("u64"),
    "to i64": lambda a, b: a.to("i64"), "to u16": lambda a, b: a.to("u16"), "to i16": lambda a, b: a.to("i16"),
    "bits": lambda a, b: a.bits(("i" if a.type[0] == "u" else "u") + a.type[1:]), "popcount": lambda a, b: a.popcount(),
}  # fmt: skip


def random_bits(random: np.random.Generator, size: int) -> np.ndarray:
    return random.integers(0, 256, (2, 32 * size), dtype=np.uint8).view(f"u{size}")


@pytest.mark.parametrize("type_", ["u32", "i32", "u16", "i16", "u64"])
def test_what_is_known_holds_whatever_the_rest_is(type_: str) -> None:
    random = np.random.default_rng(0)
    size = int(type_[1:]) // 8
    dtype = f"{type_[0]}{size}"
    seen = dict.fromkeys(OPERATIONS, 0)
    for round_ in range(40):
        numbers = [random_bits(random, size) for _ in range(2)]
        masks = [random_bits(random, size) for _ in range(2)]
        for mask in masks:  # many numbers are known whole, often all of one operand
            mask[random.random(mask.shape) < 0.5] = ~mask.dtype.type(0)
        if round_ % 4 < 2:
            masks[round_ % 2][:] = ~masks[0].dtype.type(0)
        operands = [Numbers.of(type_, n.view(dtype), m) for n, m in zip(numbers, masks, strict=True)]
        for name, operation in OPERATIONS.items():
            result = operation(*operands)
            assert isinstance(result, Numbers)
            if result.known is False:
                continue
            seen[name] += 1
            for _ in range(3):
                filled = [
                    NumpyValue(type_, (n & m | random_bits(random, size) & ~m).view(dtype), MODE)
                    for n, m in zip(numbers, masks, strict=True)
                ]
                expected = operation(*filled)
                assert isinstance(expected, NumpyValue)
                wrong = np.broadcast_to(result.a != expected.a, np.shape(expected.a))
                if result.known is not True and result.known.dtype == np.bool_:
                    wrong = wrong & result.known
                elif result.known is not True:
                    wrong = ((result.a ^ expected.a).view(result.known.dtype) & result.known) != 0
                assert not wrong.any(), name
    assert min(seen.values()) > 5, seen


def reach(size: int, **by_wave: list[int]) -> Footprint:
    pairs = [(at, int(wave[1:])) for wave, those in by_wave.items() for at in those]
    addresses, waves = (np.array(x, np.uint32) for x in zip(*pairs, strict=True))
    found = footprint(addresses, waves, size)
    assert found is not None
    return found


def test_footprints_meet_where_two_waves_reach_a_byte() -> None:
    words = reach(4, w0=[0, 4], w1=[8, 12])
    assert words.meets(words) is None
    assert words.meets(reach(4, w0=[8])) == (8, 1, 0)
    assert words.meets(reach(4, w1=[8], w0=[4])) is None
    assert words.meets(reach(1, w0=[11])) == (11, 1, 0)
    assert words.meets(reach(2, w1=[3])) == (3, 0, 1)
    assert words.meets(reach(4, w2=[16])) is None
    assert reach(4, w0=[0], w1=[0]).meets(reach(4, w0=[0])) == (0, 1, 0)
    assert footprint(np.array([65533]), np.array([0]), 4) is None


def test_a_footprint_is_as_large_as_what_is_reached() -> None:
    ends = footprint(np.array([0, 65532, 0xFFFFFFFC], np.uint32), np.array([0, 1, 2]), 4)
    assert ends is not None
    assert ends.units.tolist() == [0, 16383]
    assert ends.meets(reach(4, w3=[65532])) == (65532, 1, 3)
    assert footprint(np.array([0xFFFFFFFC], np.uint32), np.array([0]), 4) is None
    assert ends.without(1).meets(reach(4, w3=[0])) is None
    assert ends.parted_by(4)
    assert not ends.parted_by(0)
