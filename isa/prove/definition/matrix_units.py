"""Instructions for matrices of 16-bit and 8-bit elements -> steps on `Waves`: loads of A and B, bytes that change their
places in registers, and products of the matrix units. What a word of such elements is: `narrow`.

Of RDNA3's `v_wmma_*_16x16x16_*` (ISA guide, "Wave Matrix Multiply Accumulate"): lane i, and lane i + 16 the same, has
row i of A, and column i of B, 16 steps of k in ascending registers. RDNA4's lanes 0 to 15 have the first half of the
steps, and the others the second half (`_steps`). Where C and D lie is `_Sums` and `_SplitSums`; lane i % 16 is the
column. EXEC must be all lanes.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from isa.display import number_of
from isa.prove.definition import halves, narrow, native
from isa.prove.definition.launch import OPEN
from isa.prove.definition.names import Names
from isa.prove.definition.narrow import Bytes
from isa.prove.definition.operands import lanes, plain, refused, vgpr
from isa.prove.definition.waves import Fault, Ints, Step, Waves
from isa.registers import LANES, Reg
from isa.semantics.instruction import Imm, Instruction

_PRODUCT = re.compile(r"v_wmma_(f32|i32|f16|bf16)_16x16x(16|32)_(f16|bf16|iu[48]|fp8_fp8|bf8_bf8)$")
_D16 = re.compile(r"global_load_d16_(hi_)?(b16|u8)$")
_SIGNED = (("neg_lo", (1, 1, 0)),)
_UPPER = (("op_sel", (0, 0, 1)),)
_FRAGMENT = 16
_EIGHT = 8
Halves = tuple[bool, int]
"""Of a load into half of a register: whether the high one, and how many bytes."""


def decode(inst: Instruction) -> Step | None:
    """None for other instructions. Raises Beyond."""
    if m := _PRODUCT.match(inst.mnemonic):
        return _product(inst, int(m[2]), m[3].replace("iu", "i").partition("_")[0], half_sums=m[1] == m[3])
    if inst.mnemonic == "v_perm_b32":
        return _permute(inst)
    return None


def half_store(mnemonic: str) -> Halves | None:
    """What `global_store_b16` and the like store; None for other instructions."""
    return {"global_store_b16": (False, 2), "global_store_d16_hi_b16": (True, 2)}.get(mnemonic)


def half_load(mnemonic: str) -> Halves | None:
    """What `global_load_d16_*` loads; None for other instructions."""
    m = _D16.match(mnemonic)
    return (bool(m[1]), 2 if m[2] == "b16" else 1) if m else None


def load(
    w: Waves, kind: str, offset: Ints, active: NDArray[np.bool_], register: int, count: int, half: Halves | None
) -> None:
    """Of A or B: `count` dwords into registers from this one on, or into half of it."""
    mine, places = w.launch[w.at], w.memory.narrow[kind]
    place = np.broadcast_to(offset, active.shape).astype(np.int64)
    bytes_ = half[1] if half else 4 * count
    good = places.holds(mine, place, bytes_)
    if not (good | ~active).all():
        bad = tuple(int(i[0]) for i in np.nonzero(~good & active))
        of = w.launches[mine[bad[0]]].narrow_matrix(kind)
        what = f"loads {number_of(bytes_, 'byte')} at byte {int(place[bad])} of {kind}, which has {of.bytes}"
        if of.pitch != of.width:
            what += f", {of.width * of.element} of each {of.pitch * of.element}"
        raise Fault("outside", what, (int(w.numbers[bad[0]]), bad[1]))
    found = places.at(mine, np.where(good & active, place, 0) + np.arange(bytes_)[:, None, None])
    if half:
        high, _ = half
        before = _bytes(w, w.v[register][:, w.at], str(Reg("v", register)))
        into = np.zeros((2, *active.shape), np.uint64)
        into[:bytes_] = found
        w.put(register, narrow.packed(np.concatenate((before[:2], into) if high else (into, before[2:]))))
        return
    names = narrow.packed(found.reshape(count, 4, *active.shape).swapaxes(0, 1))
    for i in range(count):
        w.put(register + i, names[:, i])


def _bytes(w: Waves, names: Names, what: str) -> Bytes:
    """Of a register in the active lanes; Fault where they are not known one by one."""
    found, known = narrow.unpacked(names)
    open_ = (names == OPEN.reshape(2, *[1] * (names.ndim - 1))).all(axis=0)
    found, known = np.where(open_, np.uint64(narrow.UNKNOWN), found), known | open_
    known = np.broadcast_to(known, np.broadcast_shapes(known.shape, (len(w.numbers), LANES)))
    if not (known | ~w.active(known.shape)).all():
        bad = tuple(int(i[0]) for i in np.nonzero(~known & w.active(known.shape)))
        raise Fault("data", f"bytes are taken of {what}, which is no word of A or B", _lane(w, bad), refused=True)
    return np.where(known, found, np.uint64(0))


def _lane(w: Waves, at: tuple[int, ...]) -> tuple[int, int]:
    return int(w.numbers[at[0]]), at[1]


def _permute(inst: Instruction) -> Step:
    """Bytes of two words by a selector: 0 to 3 are those of the second source, 4 to 7 of the first, 12 is 0."""
    plain(inst)
    target = vgpr(inst, inst.operands[0])
    first, second, selector = (lanes(inst, operand) for operand in inst.operands[1:])
    sources = [native.source_of(inst, operand) for operand in inst.operands[1:]]
    operation = native.numbers(target, *(x for x in sources if x is not None))

    def step(w: Waves) -> None:
        if None not in sources and native.do("permute", w, operation):
            return
        chosen = w.whole(selector(w), str(inst.operands[3]))
        if (chosen != chosen.flat[0]).any():
            raise Fault("data", f"the selector differs between lanes: {inst}", refused=True)
        picks = [int(chosen.flat[0]) >> 8 * i & 255 for i in range(4)]
        words = [read(w) for read in (second, first)]
        whole = _whole_halves(picks)
        known = np.logical_and(*(_known(word) for word in words))
        terms = _moved_halves(words, whole) if whole and not known.all() else None
        if terms is not None:
            words = [np.where(known, word, np.uint64(0)) for word in words]
        from_ = np.concatenate([_bytes(w, word, str(inst.operands[2 - i])) for i, word in enumerate(words)])
        if any(pick > 7 and pick != narrow.ZERO_BYTE for pick in picks):
            raise Fault("data", f"the proof by definition does not know the selector of {inst}", refused=True)
        found = narrow.packed(np.stack([from_[p] if p < 8 else np.zeros_like(from_[0]) for p in picks]))
        w.put(target, found if terms is None else np.where(known, found, terms))

    return step


def _known(names: Names) -> NDArray[np.bool_]:
    """Words whose bytes are known, or are open, one by one."""
    known: NDArray[np.bool_] = narrow.unpacked(names)[1] | (names == OPEN[:, None, None]).all(axis=0)
    return known


def _moved_halves(words: list[Names], places: list[int]) -> Names:
    found = [np.zeros_like(words[0][0]), *(half for word in words for half in halves.split(word))]
    return halves.packed(found[places[0]], found[places[1]])


def _whole_halves(picks: list[int]) -> list[int]:
    """1 to 4 for the halves that a selector takes, those of the second source first; 0 for none."""
    known = {(i, i + 1): i // 2 + 1 for i in (0, 2, 4, 6)} | {(narrow.ZERO_BYTE, narrow.ZERO_BYTE): 0}
    found = [known.get((picks[i], picks[i + 1]), -1) for i in (0, 2)]
    return found if min(found) >= 0 else []


def shifted_or(
    inst: Instruction, otherwise: Callable[[Waves], tuple[int, Names]]
) -> Callable[[Waves], tuple[int, Names]]:
    """`v_lshl_or_b32` of words of A and B by whole bytes; `otherwise` for numbers."""
    target = vgpr(inst, inst.operands[0])
    value, by, more = (lanes(inst, operand) for operand in inst.operands[1:])

    def half(w: Waves) -> tuple[int, Names]:
        a, b = value(w), more(w)
        if not w.memory.narrow or not (a[1].any() or b[1].any()):
            return otherwise(w)
        amount = w.whole(by(w), str(inst.operands[2]))
        if (amount != amount.flat[0]).any() or amount.flat[0] % _EIGHT or amount.flat[0] > 24:
            raise Fault("data", f"bits of A or B are shifted by no whole bytes: {inst}", refused=True)
        shift = int(amount.flat[0]) // _EIGHT
        left, right = _bytes(w, a, str(inst.operands[1])), _bytes(w, b, str(inst.operands[3]))
        left = np.concatenate((np.zeros_like(left[:shift]), left[: 4 - shift]))
        if ((left != 0) & (right != 0) & w.active(left.shape[1:])).any():
            raise Fault("data", f"two bytes meet that are not 0: {inst}", refused=True)
        return target, narrow.packed(np.maximum(left, right))

    return half


def _product(inst: Instruction, depth: int, kind: str, *, half_sums: bool) -> Step:
    modifiers = tuple(inst.modifiers)
    split = not inst.family.factors_twice
    upper = half_sums and not split and modifiers == _UPPER
    if not upper and modifiers != (_SIGNED if kind in narrow.INTEGERS else ()):
        raise refused(inst, f"these modifiers of {inst}")
    target, a, b = (vgpr(inst, operand) for operand in inst.operands[:3])
    from_zero = isinstance(inst.operands[3], Imm) and inst.operands[3].value == 0
    c = target if from_zero else vgpr(inst, inst.operands[3])
    steps = _steps(narrow.BYTES[kind] * depth // narrow.PACK.get(kind, 1) // 4, split)
    sums = _SplitSums(half_sums) if split else _Sums(half_sums, upper)
    words = len(steps)
    free = c == target and all(abs(x - target) >= max(8, words) for x in (a, b))
    operation = (
        native.numbers(target, a, b, -1 if from_zero else c, words) if free and not (split or half_sums) else None
    )
    number = narrow.number_of(kind)

    def step(w: Waves) -> None:
        if w.mask is not None:
            raise Fault("data", f"EXEC is not all lanes at {inst}", refused=True)
        count = len(w.numbers)
        if operation and native.do("matrix_product", w, operation, number):
            w.terms += count * _FRAGMENT * _FRAGMENT * words
            return
        total = sums.read(w, c)
        total = np.zeros_like(total) if from_zero else total
        factors = [_by_halves(w, register) for x in (a, b) for register in range(x, x + 1 + steps[-1][0])]
        rows, columns = factors[: len(factors) // 2], factors[len(factors) // 2 :]
        if not split and any((side[:, :, 0] != side[:, :, 1]).any() for side in factors):
            raise Fault("data", f"lanes 16 to 31 do not hold what lanes 0 to 15 do: {inst}", refused=True)
        for word, lanes_, half in steps:
            left = rows[word][:, :, lanes_].reshape(2, count * _FRAGMENT, 1)
            right = np.repeat(columns[word][:, :, lanes_], _FRAGMENT, axis=1)
            total = (halves if half_sums else narrow).dot(kind, left, right, total, half)
        w.terms += count * _FRAGMENT * _FRAGMENT * len(steps)
        sums.write(w, target, total)

    return step


def _steps(words: int, split: bool) -> list[tuple[int, int, int | None]]:
    """Of a product of factors with so many words along k, in the order in which it adds: (register, half of the wave,
    half of a step of four products)."""
    if not split:
        return [(word, 0, None) for word in range(words)]
    own = words // 2
    order = narrow.QUADS[2] if words == 8 else [(word + half * own, 0) for word in range(own) for half in (0, 1)]
    return [(word % own, word // own, half) for word, half in order]


def _by_halves(w: Waves, register: int) -> Names:
    """A register, (2, waves, half of the wave, 16 lanes)."""
    found: Names = w.v[register][:, w.at].reshape(2, len(w.numbers), 2, _FRAGMENT)
    return found


@dataclass(frozen=True)
class _Sums:
    """C and D in 8 registers: register v has row 2 v in lanes 0 to 15, and row 2 v + 1 in the others. halves: they have
    16 bits, in the upper half of each register or the lower one; the other half stays, of D."""

    halves: bool
    upper: bool

    def read(self, w: Waves, first: int) -> Names:
        """(2, waves x rows, columns)"""
        words = np.stack([_by_halves(w, first + i) for i in range(8)], axis=2)
        total: Names = words.reshape(2, len(w.numbers) * _FRAGMENT, _FRAGMENT)
        return halves.alone(halves.split(total)[self.upper]) if self.halves else total

    def write(self, w: Waves, first: int, total: Names) -> None:
        if self.halves:
            held = np.stack([w.v[first + i][:, w.at] for i in range(8)], axis=2)
            low, high = halves.split(held.reshape(total.shape))
            total = halves.packed(low, total[0]) if self.upper else halves.packed(total[0], high)
        found = total.reshape(2, len(w.numbers), 8, 2 * _FRAGMENT)
        for i in range(8):
            w.put(first + i, found[:, :, i])


@dataclass(frozen=True)
class _SplitSums:
    """C and D of RDNA4: of 8 registers v has row v in lanes 0 to 15, and row v + 8 in the others. halves: of 4
    registers each has two such rows, the first in its lower half."""

    halves: bool

    def read(self, w: Waves, first: int) -> Names:
        """(2, waves x rows, columns)"""
        words = np.stack([_by_halves(w, first + i) for i in range(4 if self.halves else 8)], axis=3)
        shape = 2, len(w.numbers) * _FRAGMENT, _FRAGMENT
        if not self.halves:
            return words.reshape(shape)
        return halves.alone(np.stack(halves.split(words), axis=3).reshape(shape[1:]))

    def write(self, w: Waves, first: int, total: Names) -> None:
        count = len(w.numbers)
        if self.halves:
            rows = total[0].reshape(count, 2, 4, 2, _FRAGMENT)
            total = halves.packed(rows[..., 0, :], rows[..., 1, :])
        found = total.reshape(2, count, 2, -1, _FRAGMENT)
        for i in range(found.shape[3]):
            w.put(first + i, found[:, :, :, i].reshape(2, count, 2 * _FRAGMENT))
