"""Native code for the steps that take most of a proof: what they do to `Waves`, by `native.c`.

A step calls `do`, which says whether all was done. What else is to be said of it, what must be refused, and where the
host has no C compiler, is left to the step's own NumPy, so that this decides nothing: it does what is allowed.
"""

from __future__ import annotations

import ctypes
import functools
from pathlib import Path
from typing import Any, ClassVar, TypeAlias
from weakref import WeakKeyDictionary

import numpy as np
from numpy.typing import NDArray

from isa import native
from isa.prove.definition import names, narrow, pointers
from isa.prove.definition.epilogue import VECTORS
from isa.prove.definition.launch import MATRICES, OPEN
from isa.prove.definition.operands import bits
from isa.prove.definition.waves import STORED, VGPRS, Waves
from isa.prove.definition.weights import WEIGHTS
from isa.registers import LANES, Reg
from isa.semantics.instruction import Imm, Instruction, Operand
from isa.toolchain import ToolchainMissing

FLAGS = (*native.FLAGS, "-O1")
MOVE, ADD, MUL, FMA = range(4)
BESIDE, ALONE = range(2)
CACHES = 3
"""L0 and L1, a bit each."""
_U64, _I64, _I32, _U8 = (native.pointer(f"{name}_t") for name in ("uint64", "int64", "int32", "uint8"))
Number = ctypes.c_int64
Numbers: TypeAlias = ctypes.Array[ctypes.c_int64]
_PAIR = ctypes.c_uint64 * 2
_PLACES = "dwords start line top bottom left right front width".split()


class Buffers(ctypes.Structure):
    """The buffers of one kind, one of each launch: `memory.Places`; with `element` of their bytes, those of
    `narrow.NarrowPlaces`: dwords are bytes then, a line is its pitch, and left is k.

    elsewhere: what is loaded of dwords that are not held, -1 where that is refused. once: nothing is stored twice, or
    loaded after it, or by launches that are not `readable`. shared: by workgroups, so
    that a load is of what is visible. loads, stores: whether they may be, here.
    """

    _fields_: ClassVar[Any] = [
        *((name, _I64) for name in _PLACES), ("readable", _U8), ("low_tag", ctypes.c_uint64),
        ("high_tag", ctypes.c_uint64),
        *((name, Number) for name in "whole elsewhere once shared loads stores element along_k first".split()),
    ]  # fmt: skip


class State(ctypes.Structure):
    """Of `Waves` and their memory, where its arrays lie. numbers, count: of the waves that run; waves: all; found:
    room for two numbers of each lane."""

    _fields_: ClassVar[Any] = [
        *((name, _U64) for name in "v s lds names".split()), *((name, _U8) for name in ("mask", "fresh")),
        *((name, _I64) for name in "numbers group place launch lds_written by found".split()),
        *((name, _I32) for name in "lds_read epoch stored nth stores counted".split()),
        ("buffers", native.pointer("struct buffers")),
        *((name, Number) for name in "plane waves count groups places lds_size lds_bytes".split()),
        *((name, Number) for name in "dwords kinds signless".split()),
        *((name, _PAIR) for name in "factor fma mul add sum open".split()),
    ]  # fmt: skip


class Arrays:
    """The state of some waves for C, as long as they live."""

    def __init__(self, w: Waves) -> None:
        memory, of = w.memory, self._address
        self._kept: list[Any] = []
        kinds = [self._buffers(w, kind) for kind in {**memory.places, **memory.narrow}]
        buffers = (Buffers * len(kinds))(*kinds)
        self._kept.append(buffers)
        arrays: dict[str, NDArray[Any]] = {
            "s": w.s, "lds": w.lds, "names": memory.names, "fresh": w.fresh, "group": w.group, "place": w.place,
            "launch": w.launch, "lds_written": w.lds_written, "by": memory.by, "lds_read": w.lds_read,
            "epoch": w.epoch, "stored": memory.stored, "nth": memory.nth, "stores": w.stores, "counted": w.counted,
            "found": np.empty(2 * LANES * w.count, np.int64),
        }  # fmt: skip
        terms = dict(zip("factor fma mul add sum open".split(), (*names.NUMBERS, OPEN), strict=True))
        self.state = State(
            **{name: of(array) for name, array in arrays.items()},
            **{name: _PAIR(*map(int, pair.ravel())) for name, pair in terms.items()},
            v=w.v.ctypes.data, plane=w.v.strides[1] // 8, waves=w.count, groups=len(w.ids), places=len(w.lds_read),
            lds_size=w.lds.shape[2], lds_bytes=w.lds_bytes, dwords=memory.names.shape[1], signless=bool(memory.narrow),
            buffers=ctypes.addressof(buffers), kinds=len(kinds),
        )  # fmt: skip
        self._numbers: NDArray[np.intp] | None = None
        self._mask: NDArray[np.bool_] | None = None

    def _address(self, array: NDArray[Any]) -> int:
        """Of an array that does not change its place."""
        assert array.flags.c_contiguous
        self._kept.append(array)
        return int(array.ctypes.data)

    def _buffers(self, w: Waves, kind: str) -> Buffers:
        memory = w.memory
        tags = {"low_tag": int(pointers.LOW[kind]), "high_tag": int(pointers.HIGH[kind])}
        if (bytes_ := memory.narrow.get(kind)) is not None:
            rows = {"dwords": bytes_.bytes, "line": bytes_.pitch, "left": bytes_.k}
            rows |= {"top": bytes_.top, "bottom": bytes_.bottom, "width": bytes_.width}
            places = {name: self._address(np.ascontiguousarray(row)) for name, row in rows.items()}
            return Buffers(
                **places, **tags, loads=1, element=bytes_.element, along_k=bytes_.along_k, first=bytes_.first
            )
        known, dwords = memory.places[kind], kind not in memory.halves
        places = {name: self._address(np.ascontiguousarray(getattr(known, name))) for name in _PLACES}
        readable = [launch.beta == "any" or bool(launch.epilogue.gate) for launch in w.launches]
        return Buffers(
            **places, **tags, readable=self._address(np.array(readable, np.uint8)), whole=known.whole,
            elsewhere=memory.elsewhere if kind in (*MATRICES, *VECTORS, *WEIGHTS) else -1, once=kind == "C",
            shared=kind == "workspace", loads=dwords, stores=dwords and kind in STORED,
        )  # fmt: skip

    def now(self, w: Waves) -> State:
        """With the waves that run and their active lanes."""
        if self._numbers is not w.numbers or self._mask is not w.mask:
            self._numbers, self._mask = w.numbers, w.mask
            self.state.numbers, self.state.count = w.numbers.ctypes.data, len(w.numbers)
            self.state.mask = 0 if w.mask is None else w.mask.ctypes.data
            assert w.numbers.flags.c_contiguous
            assert w.mask is None or w.mask.shape == (len(w.numbers), LANES)
        return self.state


def do(function: str, w: Waves, *operation: Any) -> bool:
    """Whether C has done it. operation: arrays of ctypes, and numbers of it."""
    if (library := _library()) is None:
        return False
    if (arrays := _arrays.get(w)) is None:
        arrays = _arrays[w] = Arrays(w)
    return bool(getattr(library, function)(ctypes.byref(arrays.now(w)), *operation) == 0)


_arrays: WeakKeyDictionary[Waves, Arrays] = WeakKeyDictionary()


def numbers(*values: int) -> Numbers:
    """An operation for C."""
    return (Number * len(values))(*values)


def source_of(inst: Instruction, operand: Operand) -> int | None:
    """How C is told of a source: a VGPR by its number, an SGPR by VGPRS more, a constant by its complement."""
    if isinstance(operand, Imm):
        return ~bits(inst, operand)
    if isinstance(operand, Reg) and operand.count == 1 and not operand.half:
        if operand.is_null:
            return ~0
        if operand.is_vgpr:
            return operand.index
        return VGPRS + operand.index if operand.file == "s" else None
    return None


def source() -> str:
    """The whole C text."""
    numbers_ = {
        "LANES": LANES, "VGPRS": VGPRS, "MOVE": MOVE, "ADD": ADD, "MUL": MUL, "FMA": FMA, "BESIDE": BESIDE,
        "CACHES": CACHES, "BYTES_TAG": int(names.BYTES_TAG), "UNKNOWN": narrow.UNKNOWN,
        "ELSEWHERE_BYTE": narrow.ELSEWHERE, "ZERO_BYTE": narrow.ZERO_BYTE,
    }  # fmt: skip
    return native.text(native.header(numbers_, [Buffers, State]), [Path(__file__).with_name("native.c")])


@functools.cache
def _library() -> ctypes.CDLL | None:
    """None where there is no C compiler."""
    try:
        return native.load("spec-proof", source(), FLAGS)
    except ToolchainMissing:
        return None
