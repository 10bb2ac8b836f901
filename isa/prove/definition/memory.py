"""Memory of the proof by definition: the arrays that launches may touch, by name, and their contents as names. Where
buffers lie is not known (`pointers`)."""

from __future__ import annotations

import struct
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from isa.prove.definition.epilogue import VECTORS
from isa.prove.definition.launch import (
    ALPHA,
    BETA,
    ELSEWHERE,
    LINES,
    MATRICES,
    OPEN,
    POINTERS,
    STRIDES,
    UNWRITTEN,
    SymbolicLaunch,
    argument_bytes,
    layout,
)  # fmt: skip
from isa.prove.definition.names import Names
from isa.prove.definition.narrow import BYTES, NarrowPlaces
from isa.prove.definition.pointers import words
from isa.prove.definition.weights import WEIGHTS

_WIDEST = 16
"""Dwords that one load takes at most."""


@dataclass(frozen=True)
class Buffer:
    """A buffer of `dwords`, or of so many elements of 16 bits, of which not all need be held: the first `front`, and in
    lines of `line` dwords the `columns` of the `lines`. In Memory they lie one after the other from `start` on, `held`
    of them. width: dwords of a line that are the matrix's."""

    dwords: int
    start: int
    held: int
    line: int
    lines: range
    columns: range
    front: int = 0
    width: int = 0

    @property
    def whole(self) -> bool:
        return self.held == self.dwords


@dataclass(frozen=True)
class Places:
    """The buffers of one kind, one of each launch: fields of Buffer, lines and columns by the first and the one after
    the last. whole: all are held whole."""

    whole: bool
    dwords: NDArray[np.int64]
    start: NDArray[np.int64]
    line: NDArray[np.int64]
    top: NDArray[np.int64]
    bottom: NDArray[np.int64]
    left: NDArray[np.int64]
    right: NDArray[np.int64]
    front: NDArray[np.int64]
    width: NDArray[np.int64]

    @staticmethod
    def of(buffers: Sequence[Buffer]) -> Places:
        numbers = [
            (
                b.dwords,
                b.start,
                max(1, b.line),
                b.lines.start,
                b.lines.stop,
                b.columns.start,
                b.columns.stop,
                b.front,
                b.width or max(1, b.line),
            )
            for b in buffers
        ]
        return Places(all(b.whole for b in buffers), *np.array(numbers, np.int64).T)


class SymbolicMemory:
    """All dwords that the launches may touch, by name, and what became of each.

    names:  (2, dwords). The last ones, from `elsewhere` on, stand for all that is not held.
    stored: instruction that stored the dword, plus one; 0 where none did.
    by:     the lane that did, counted over all waves.
    nth:    which of its wave's stores that was, from 1.
    places: where the buffers of each kind lie.
    narrow: where the matrices lie whose elements are less than a dword: they are no dwords here.
    halves: the same of which each element has a name here.
    weight_bytes: the most that any launch holds of quantised weights, and of their zero points.
    """

    def __init__(self, launches: Sequence[SymbolicLaunch]) -> None:
        self.launches = launches
        zeros = WEIGHTS[1:] if WEIGHTS[1] in launches[0].arguments else ()
        narrow = ("A", "B", *zeros) if launches[0].narrow else ()
        self.narrow = {kind: NarrowPlaces.of([launch.narrow_matrix(kind) for launch in launches]) for kind in narrow}
        self.halves = ("C",) * launches[0].epilogue.halves + WEIGHTS[:1] * launches[0].grouped
        self.weight_bytes = (0, 0)
        if launches[0].weights:
            first, second = (
                max(launch.narrow_matrix(kind).held_bytes for launch in launches) for kind in ("B", "weight_zeros")
            )
            self.weight_bytes = first, second
        self.buffers: list[dict[str, Buffer]] = []
        parts: list[Names] = []
        start = 0
        for launch in launches:
            mine = {}
            for kind, names in _contents(launch).items():
                mine[kind] = _buffer(launch, kind, start, names.shape[1])
                parts.append(names)
                start += names.shape[1]
            self.buffers.append(mine)
        self.places = {kind: Places.of([mine[kind] for mine in self.buffers]) for kind in self.buffers[0]}
        self.elsewhere = start
        parts.append(np.repeat(ELSEWHERE[:, None], _WIDEST, axis=1))
        self.names = np.concatenate(parts, axis=1)
        self.stored = np.zeros(start + _WIDEST, np.int32)
        self.by = np.zeros(start + _WIDEST, np.int64)
        self.nth = np.zeros(start + _WIDEST, np.int32)
        for launch, mine in zip(launches, self.buffers, strict=True):
            at = mine["arguments"].start
            for offset, name in layout(launch.arguments):
                value = _words(name, launch)
                first = at + offset // 4
                self.names[:, first : first + value.shape[1]] = value

    def of(self, launch: int, kind: str) -> Names:
        """The names in a buffer, (2, dwords that are held)."""
        buffer = self.buffers[launch][kind]
        return self.names[:, buffer.start : buffer.start + buffer.held]

    def in_c(self, launch: int) -> tuple[Names, NDArray[np.int32], NDArray[np.int64]]:
        """Of the elements of C that are held, (rows, columns): their names, who stored them (see `stored`, `by`)."""
        buffer, of = self.buffers[launch]["C"], self.launches[launch]
        here, shape = slice(buffer.start, buffer.start + buffer.held), (len(of.rows), len(of.columns))
        return self.names[:, here].reshape(2, *shape), self.stored[here].reshape(shape), self.by[here].reshape(shape)


def _buffer(launch: SymbolicLaunch, kind: str, start: int, held: int) -> Buffer:
    if kind in (*MATRICES, *VECTORS, *WEIGHTS):
        count, line, lines, columns = launch.lines(kind)
        pitch = launch.pitch(kind, line) if kind in MATRICES else line
        size = (count - 1) * pitch + line if count and line else 0
        return Buffer(size, start, held, pitch, lines, columns, width=line)
    front, slots = 0, launch.part.slots if launch.part and kind == "workspace" else 0
    if slots:
        front = launch.zeroed
    return Buffer(held + slots, start, held, 1, range(front + slots, held + slots), range(1), front)


def _contents(launch: SymbolicLaunch) -> dict[str, Names]:
    found = launch.stored()
    found["arguments"] = np.zeros((2, -(-argument_bytes(launch.arguments) // 4)), np.uint64)
    slots = launch.part.slots if launch.part else 0
    found["workspace"] = np.repeat(UNWRITTEN[:, None], launch.workspace - slots, axis=1)
    found["workspace"][:, : launch.zeroed] = 0
    return found


def _words(name: str, launch: SymbolicLaunch) -> Names:
    """An argument's one or two dwords."""
    layer = launch.layer
    if name in POINTERS:
        if layer is None or name not in MATRICES:
            return words(name)
        bytes_ = BYTES[launch.factor] if name != "C" else 2 if launch.epilogue.halves else 4
        return words(name, -layer.number * layer.strides[MATRICES.index(name)] * bytes_)
    if layer and name in STRIDES:
        stride = layer.strides[STRIDES.index(name)]
        return np.concatenate([_constant(stride >> shift & 0xFFFFFFFF) for shift in (0, 32)], axis=1)
    if layer and name in LINES:
        return _constant(layer.lines[LINES.index(name)])
    if name == "alpha":
        return ALPHA[:, None]
    if name == "beta":
        if launch.epilogue.result == "i32" and launch.beta != "any":
            return _constant(0)
        if launch.beta == "any":
            return BETA[:, None]
        return _constant(struct.unpack("<I", struct.pack("<f", float(launch.beta)))[0])
    sizes = {"M": launch.m, "N": launch.n, "K": launch.k, **launch.numbers}
    value = sizes[name]
    return OPEN[:, None] if value is None else _constant(value & 0xFFFFFFFF)


def _constant(bits: int) -> Names:
    return np.array([[bits], [0]], np.uint64)
