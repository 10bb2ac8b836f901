"""Operations of atomics: (value in memory, data ...) -> new value. RDNA3 ISA guide 16.15, 16.17."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from isa.instructions.words import maximum, minimum
from isa.semantics.values import Value, select


def _inc(old: Value, limit: Value) -> Value:
    return select(old >= limit, old & 0, old + 1)


def _dec(old: Value, limit: Value) -> Value:
    return select((old == 0) | (old > limit), limit, old - 1)


def _csub(old: Value, data: Value) -> Value:
    return select(old < data, old & 0, old - data)


def _cmpswap(old: Value, new: Value, expected: Value) -> Value:
    return select(old == expected, new, old)


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
    yield "csub_u32", "u32", 1, _csub
    yield "add_f32", "f32", 1, lambda old, data: old + data
    yield "min_f32", "f32", 1, fmin
    yield "max_f32", "f32", 1, fmax
    yield "cmpswap_f32", "f32", 2, _cmpswap


# (name after `global_atomic_`, element, data operands packed in one register run, body)
INTEGER_ATOMICS = tuple(_integer_atomics())
