"""Operations of atomics: (value in memory, data ...) -> new value. RDNA3 ISA guide 16.15, 16.17."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from isa.instructions.valu_float import max_num, min_num
from isa.instructions.words import maximum, minimum, pack, to_bf16
from isa.semantics.values import Value, select


def _inc(old: Value, limit: Value) -> Value:
    return select(old >= limit, old & 0, old + 1)


def _dec(old: Value, limit: Value) -> Value:
    return select((old == 0) | (old > limit), limit, old - 1)


def cond_sub(old: Value, data: Value) -> Value:
    """Stays where it is less."""
    return select(old < data, old, old - data)


def csub(old: Value, data: Value) -> Value:
    return select(old < data, old & 0, old - data)


def _cmpswap(old: Value, new: Value, expected: Value) -> Value:
    return select(old == expected, new, old)


def num_min(old: Value, data: Value) -> Value:
    """RDNA4's rules, the data as the first operand."""
    return min_num(data, old)


def num_max(old: Value, data: Value) -> Value:
    return max_num(data, old)


def _halves(word: Value) -> tuple[Value, Value]:
    return word & 0xFFFF, word >> 16


def _add_f16(old: Value, data: Value) -> Value:
    x, y = ([part.to("u16").bits("f16") for part in _halves(word)] for word in (old, data))
    return pack(y[0] + x[0], y[1] + x[1])


def _add_bf16(old: Value, data: Value) -> Value:
    """Each sum as f32, then to nearest even (nobody says how a card rounds)."""
    sums = [(b << 16).bits("f32") + (a << 16).bits("f32") for a, b in zip(_halves(old), _halves(data), strict=True)]
    low, high = (to_bf16(x) for x in sums)
    return low | high << 16


PACKED_ADDS: dict[str, Callable[..., Value]] = {"f16": _add_f16, "bf16": _add_bf16}


def fmin(old: Value, data: Value) -> Value:
    return select(data < old, data, old)


def fmax(old: Value, data: Value) -> Value:
    return select(data > old, data, old)


OPERATIONS: dict[str, tuple[str, Callable[..., Value]]] = {
    "add": ("u", lambda old, data: old + data),
    "sub": ("u", lambda old, data: old - data),
    "and": ("b", lambda old, data: old & data),
    "or": ("b", lambda old, data: old | data),
    "xor": ("b", lambda old, data: old ^ data),
    "inc": ("u", _inc),
    "dec": ("u", _dec),
    "min_u": ("u", minimum),
    "max_u": ("u", maximum),
    "min_i": ("i", minimum),
    "max_i": ("i", maximum),
}


def _integer_atomics() -> Iterator[tuple[str, str, int, Callable[..., Value]]]:
    for size in (32, 64):
        for op, (kind, body) in OPERATIONS.items():
            yield f"{op[:3] if '_' in op else op}_{kind}{size}", f"{kind}{size}", 1, body
        yield f"swap_b{size}", f"b{size}", 1, lambda old, data: data
        yield f"cmpswap_b{size}", f"b{size}", 2, _cmpswap
    yield "csub_u32", "u32", 1, csub
    yield "cond_sub_u32", "u32", 1, cond_sub
    yield "add_f32", "f32", 1, lambda old, data: old + data
    yield "min_f32", "f32", 1, fmin
    yield "max_f32", "f32", 1, fmax
    yield "cmpswap_f32", "f32", 2, _cmpswap
    yield "min_num_f32", "f32", 1, num_min
    yield "max_num_f32", "f32", 1, num_max
    for kind, add in PACKED_ADDS.items():
        yield f"pk_add_{kind}", "b32", 1, add


LIVES: dict[str, dict[str, str]] = {
    **{name: {"until": "gfx1200"} for name in ("min_f32", "max_f32", "cmpswap_f32")},
    **{name: {"since": "gfx1200"} for name in "cond_sub_u32 min_num_f32 max_num_f32 pk_add_f16 pk_add_bf16".split()},
}
"""Of these not every target has each."""
# (name after `global_atomic_`, element, data operands packed in one register run, body)
INTEGER_ATOMICS = tuple(_integer_atomics())
