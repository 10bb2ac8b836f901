"""Bits of quantised weights: what instructions do with them (`weights`), all of it exact.

A word of weights is four bytes, each a number (`narrow`), or eight *nibbles*: a nibble is a constant below 16, or the
low or high four bits of a byte, by the number that says so. Shifts by whole nibbles, masks of whole nibbles, and bits
put where zeros are move nibbles; a byte of two nibbles that are neither one byte's nor a nibble and 0 is none. Only
words that were shifted may have such: they keep the shift beside their bytes, in the bits that are 0 in other words.
A term that happens to look like a word of bytes is none that the launches hold, but for a chance below 2^-40.

    0x6400 | x    is the f16 1024 + x,  for x from 0 to 1023
    (1024 + x) - (1024 + y)             is x - y without error: |x - y| is below 2048

So `v_pk_add_f16` of such halves, one of them negative, is an integer (`weights.whole`); of all others it is a term of
both.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from isa.prove.definition import halves, narrow, weights
from isa.prove.definition.names import Names
from isa.prove.definition.narrow import FIRST_OF_B, Bytes
from isa.prove.definition.operands import lanes, plain, refused, vgpr
from isa.prove.definition.waves import Step, Waves
from isa.prove.definition.weights import HIGH, LOW, TURNED
from isa.registers import LANES
from isa.semantics.instruction import Instruction

Bools = NDArray[np.bool_]
Found = tuple[Names, Bools]
"""Names, and in which lanes they are what the operation gives."""
_NONE = np.uint64(1 << 42)
_FIRST, _SECOND = np.uint64(1 << 40), np.uint64(1 << 41)
"""Half of a byte that is not described in nibbles."""
_4, _15, _28, _B = np.uint64(4), np.uint64(15), np.uint64(28), np.uint64(FIRST_OF_B)
_KIND = TURNED
_SHIFTS = np.uint64(7)
_MASK32 = np.uint64(0xFFFFFFFF)
_NOTHING = np.uint64(0)


def _split(byte: Bytes) -> tuple[Bytes, Bytes]:
    """Its two nibbles."""
    constant, kind = byte < 256, byte & _KIND
    known = byte >= _B
    plain_, single = known & (kind == 0), known & ((kind == LOW) | (kind == HIGH))
    low = np.where(constant, byte & _15, np.where(plain_, byte | LOW, np.where(single, byte, byte | _FIRST)))
    high = np.where(constant, byte >> _4, np.where(plain_, byte | HIGH, np.where(single, _NOTHING, byte | _SECOND)))
    return low, high


def _join(low: Bytes, high: Bytes) -> tuple[Bytes, Bools]:
    """The byte of two nibbles, and where there is one."""
    constant = (low <= _15) & (high <= _15)
    single = (high == 0) & (low < _FIRST)
    same = (low & ~_FIRST == high & ~_SECOND) & (low & _FIRST != 0) & (high & _SECOND != 0)
    pair = (low >= _B) & (low < _FIRST) & (high < _FIRST) & (low & _KIND == LOW) & (high == low ^ _KIND)
    whole = np.where(same, low & ~_FIRST, low & ~_KIND)
    found = np.where(constant, low | high << _4, np.where(single, low, whole))
    good: Bools = constant | single | same | pair
    return found, good


def _nibbles(names: Names) -> tuple[Bytes, Bools]:
    """Of words, (8, ...), the lowest first, and of which words they are known."""
    low, high = names
    by = np.where(high != 0, low >> _28 & _SHIFTS, _NOTHING)
    bytes_, known = narrow.unpacked(np.stack((low ^ by << _28, high)))
    return _down(np.stack([half for byte in bytes_ for half in _split(byte)]), by), known


def _down(nibbles: Bytes, by: NDArray[np.uint64]) -> Bytes:
    """Shifted right by so many."""
    if not by.any():
        return nibbles
    shape = np.broadcast_shapes(nibbles.shape[1:], by.shape)
    padded = np.concatenate((np.broadcast_to(nibbles, (8, *shape)), np.zeros((8, *shape), np.uint64)))
    places = np.arange(8).reshape(8, *[1] * len(shape)) + np.minimum(by, np.uint64(8)).astype(np.int64)
    return np.take_along_axis(padded, np.broadcast_to(places, (8, *shape)), axis=0)


def _word(nibbles: Bytes) -> Found:
    bytes_, known = _join(nibbles[0::2], nibbles[1::2])
    good: Bools = np.logical_and.reduce(known, axis=0)
    return narrow.packed(np.where(known, bytes_, _NOTHING)), good


def _held(w: Waves, names: Names) -> Bools:
    """Whether all bytes of a word are constants or bytes that the launches hold."""
    low, high = names
    bytes_, _ = narrow.unpacked(np.stack((np.where(high != 0, low & ~(_SHIFTS << _28), low), high)))
    place = (bytes_ & (LOW - np.uint64(1))).astype(np.int64)
    first, zeros = w.memory.weight_bytes
    there = (place < first) | ((place >= weights.ZEROS) & (place < weights.ZEROS + zeros))
    good: Bools = ((bytes_ < 256) | ((bytes_ >= _B) & there)).all(axis=0)
    return good


# --- operations
def _amount(by: Names) -> tuple[NDArray[np.uint64], Bools]:
    """Nibbles that a shift goes over, and where it is one of whole nibbles."""
    bits = by[0] & np.uint64(31)
    whole: Bools = (by[1] == 0) & (bits & np.uint64(3) == 0)
    return bits >> np.uint64(2), whole


def _shifted(by: Names, x: Names) -> Found:
    count, whole = _amount(by)
    nibbles, known = _nibbles(x)
    found, good = _word(_down(nibbles, count))
    # What is left of bytes apart: the word, and the shift beside it.
    before = np.where(x[1] != 0, x[0] >> _28 & _SHIFTS, _NOTHING)
    total = before + count
    apart = np.stack(np.broadcast_arrays(x[0] ^ before << _28 | total << _28, x[1]))
    kept = (x[1] != 0) & (total < 8)
    return np.where(good, found, apart), known & whole & (good | kept)


def _and(a: Bytes, b: Bytes) -> Bytes:
    found = np.where((a <= _15) & (b <= _15), a & b, _NONE)
    return np.where((a == 0) | (b == 0), _NOTHING, np.where(a == _15, b, np.where(b == _15, a, found)))


def _or(a: Bytes, b: Bytes) -> Bytes:
    found = np.where((a <= _15) & (b <= _15), a | b, _NONE)
    return np.where(a == 0, b, np.where(b == 0, a, found))


def _of_nibbles(run: Callable[..., Bytes]) -> Callable[..., Found]:
    def found(*values: Names) -> Found:
        nibbles, known = zip(*map(_nibbles, values), strict=True)
        word, good = _word(run(*nibbles))
        return word, np.logical_and.reduce(np.broadcast_arrays(good, *known))

    return found


def _field(x: Names, first: Names, count: Names) -> Found:
    begin, whole = _amount(first)
    size, also = _amount(count)
    nibbles, known = _nibbles(x)
    moved = _down(nibbles, begin)
    places = np.arange(8, dtype=np.uint64).reshape(8, *[1] * (moved.ndim - 1))
    word, good = _word(np.where(places < size, moved, _NOTHING))
    return word, good & known & whole & also


def _turned(a: Names, b: Names) -> Found:
    """Exclusive or: of the highest bit of a byte."""
    (x, known), (y, also) = narrow.unpacked(a), narrow.unpacked(b)
    top = np.uint64(0x80)
    found = np.where((x < 256) & (y < 256), x ^ y, _NONE)
    for mask, byte in ((x, y), (y, x)):
        can = (mask == top) & (byte >= _B) & ((byte & _KIND == 0) | (byte & _KIND == TURNED))
        found = np.where(mask == 0, byte, np.where(can, byte ^ TURNED, found))
    good = found != _NONE
    return narrow.packed(np.where(good, found, _NOTHING)), good.all(axis=0) & known & also


OPERATIONS: dict[str, Callable[..., Found]] = {
    "v_lshrrev_b32": _shifted,
    "v_and_b32": _of_nibbles(_and),
    "v_or_b32": _of_nibbles(_or),
    "v_and_or_b32": _of_nibbles(lambda a, b, c: _or(_and(a, b), c)),
    "v_xor_b32": _turned,
    "v_bfe_u32": _field,
}


def of_weights(
    inst: Instruction, name: str, otherwise: Callable[[Waves], tuple[int, Names]]
) -> Callable[[Waves], tuple[int, Names]]:
    """The operation in lanes where it is one of bits of weights; `otherwise` in all others."""
    sources, run = [lanes(inst, operand) for operand in inst.operands[1:]], OPERATIONS[name]
    target = vgpr(inst, inst.operands[0])

    def half(w: Waves) -> tuple[int, Names]:
        if not w.launches[0].weights:
            return otherwise(w)
        values = [read(w) for read in sources]
        if not any(value[1].any() for value in values):
            return otherwise(w)
        found, good = run(*values)
        good = np.logical_and.reduce(np.broadcast_arrays(good, *(_held(w, value) for value in values)))
        if (good | ~w.active((len(w.numbers), LANES))).all():
            return target, found
        if not good.any():
            return otherwise(w)
        _, other = otherwise(w)
        if other.ndim == 2:
            other = np.stack((other & _MASK32, np.zeros_like(other)))
        return target, np.where(good, found, other)

    return half


# --- sums of halves
def decode(inst: Instruction) -> Step | None:
    """`v_pk_add_f16`; None for other instructions. Raises Beyond."""
    if inst.mnemonic != "v_pk_add_f16":
        return None
    plain(inst, "op_sel", "op_sel_hi", "neg_lo", "neg_hi")
    target = vgpr(inst, inst.operands[0])
    reads = [lanes(inst, operand) for operand in inst.operands[1:]]
    usual = {"op_sel": (0, 0), "op_sel_hi": (1, 1), "neg_lo": (0, 0), "neg_hi": (0, 0)}
    given = {name: inst.modifier(name, value) for name, value in usual.items()}
    if any(not isinstance(value, tuple) or len(value) != 2 for value in given.values()):
        raise refused(inst, f"these modifiers of {inst}")
    low, high, neg_low, neg_high = given.values()

    def step(w: Waves) -> None:
        shape = (2, len(w.numbers), LANES)
        values = [np.broadcast_to(read(w), shape) for read in reads]
        sums = [_sum(values, selected, negated) for selected, negated in ((low, neg_low), (high, neg_high))]
        w.put(target, w.term("add f16", halves.packed(*sums), tuple(values)))

    return step


def _sum(values: list[Names], selected: object, negated: object) -> halves.Halves:
    """Of one half of each."""
    assert isinstance(selected, tuple)
    assert isinstance(negated, tuple)
    parts = [
        _thousand(value, bool(high), bool(minus)) for value, high, minus in zip(values, selected, negated, strict=True)
    ]
    (x, x_plus, x_minus), (y, y_plus, y_minus) = parts
    first, second = x_plus & y_minus, y_plus & x_minus
    whole = weights.whole(np.where(second, y, x), np.where(second, x, y))
    exact = first | second
    if exact.all():
        return whole
    names = [halves.split(value)[int(high)] for value, high in zip(values, selected, strict=True)]
    other = halves.made(f"add f16 {negated}", *(np.stack((z, np.zeros_like(z))) for z in names))
    return np.where(exact, whole, other)


def _thousand(word: Names, high: bool, negated: bool) -> tuple[Bytes, Bools, Bools]:
    """Of one half: x; whether it is 1024 + x, and whether it is -(1024 + x), for a number x of a byte or one below
    1024."""
    bytes_, known = narrow.unpacked(word)
    first, second = bytes_[2:] if high else bytes_[:2]
    number = first < 256
    some = known & (second < 256) & (second & np.uint64(0x7C) == 0x64)
    some &= number | ((first >= _B) & (second & np.uint64(3) == 0))
    minus = (second & np.uint64(0x80) != 0) ^ negated
    x = np.where(number, first | (second & np.uint64(3)) << np.uint64(8), first)
    return x, some & ~minus, some & minus


def widened(x: Names) -> Names:
    """`v_cvt_f32_f16`: of the low half."""
    return halves.widened("f16", halves.split(x)[0])
