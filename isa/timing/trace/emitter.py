"""One basic block's slice -> a Python function on NumPy arrays, for all waves that go through it at once.

The needed instructions (`isa.timing.trace.slicing`) are run once through `isa.semantics.execute` on values that write
NumPy source (`isa.timing.trace.arrays`). What the block's memory accesses touch it writes into two arrays, one place
for each access in the order of the code.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from isa.analysis.cfg import Block
from isa.errors import IsaError
from isa.registers import EXEC_LO, VGPR_LIMIT
from isa.semantics import wave64
from isa.semantics.engine import Request
from isa.semantics.execute import execute
from isa.semantics.float_mode import FloatMode
from isa.semantics.instruction import Instruction
from isa.semantics.values import Value
from isa.timing.trace import arrays
from isa.timing.trace.arrays import ArrayValue
from isa.timing.trace.slicing import Slice

_LANES = np.arange(32, dtype=np.uint32)[None, :]
ENTRY, ON = 128, 130
"""Where EXEC at the entry is kept, after the SGPRs, and EXEC as of `Slice.apart`: in two words each."""
_POWERS = (1 << np.arange(32, dtype=np.uint64))[None, :]


class Followed(NamedTuple):
    """go(V, S, F, C, load, A, M) runs a block's slice on registers, scratch, SCC and scalar memory and returns its
    branch's condition. It fills A[k, wave, lane], byte addresses, and M[k, wave], masks, where lanes may be off, for
    the accesses at positions[k]; the two-address LDS forms have two places."""

    go: Callable[..., Any]
    positions: np.ndarray


class Emitter:
    """The engine of `isa.semantics.execute` that writes NumPy source for one block. lds: whether LDS accesses count;
    lanes: of a wave; whole: whether waves begin with all of them on. In a wave of 64 (`isa.semantics.wave64`) each
    half's accesses have places of their own, one after the other, and the upper half's VGPRs stand 256 further."""

    def __init__(self, part: Slice, lds: bool = True, lanes: int = 32, whole: bool = True) -> None:
        self.lds, self.whole = lds, whole
        self.lanes, self.half = lanes, 0
        self.mode = FloatMode.of(0xF0)
        self.code = arrays.Statements()
        self.part = part
        self.position = 0
        self.discard = False
        self.vgprs: dict[int, ArrayValue] = {}
        self.sgprs: dict[int, ArrayValue] = {}
        self.scc: ArrayValue | None = None
        self.written: set[str] = set()
        self.condition: ArrayValue | None = None
        self.positions: list[int] = []

    def run(self, insts: tuple[Instruction, ...], block: Block) -> Followed:
        """The function of a block's slice."""
        apart = self.part.apart.get(block.index)
        for i in block.range:
            inst = insts[i]
            if i == apart:
                for half in range(self.lanes // 32):
                    self.write_sgpr(ON + half, self.read_sgpr(EXEC_LO.index + half))
            if i in self.part.accesses:
                self.position, self.discard = i, i not in self.part.needed
                self._execute(inst)
            elif i in self.part.guards:
                self.position, self.discard = i, False
                self._guard(inst)
            elif i in self.part.needed or (inst.desc.effect == "branch" and i not in self.part.polling):
                self.position, self.discard = i, False
                self._execute(self.part.needed.get(i, inst))
        lines = self.code.lines
        for name in sorted(self.written):
            lines.append(f"{name} = {self._last(name)}")
        lines.append(f"return {self.condition.text if isinstance(self.condition, ArrayValue) else None}")
        source = "def block(V, S, F, C, K, load, A, M):\n    " + "\n    ".join(lines)
        scope: dict[str, Any] = {
            "np": np, "LANES": _LANES, "ONE": np.ones((1, 1), np.uint32), "mask": mask_of, "lane": _lane, "clz": _clz,
            "ctz": _ctz, "bitreverse": _bitreverse,
        }  # fmt: skip
        exec(compile(source, f"<block {block.index}>", "exec"), scope)
        constants = [
            np.full((1, 1), number, eval(arrays._TYPES[type_], {"np": np})) for type_, number in self.code.constants
        ]
        body = scope["block"]
        return Followed(
            lambda v, s, f, c, load, a, m: body(v, s, f, c, constants, load, a, m), np.array(self.positions, np.int64)
        )

    def _execute(self, inst: Instruction) -> None:
        if self.lanes == 32:
            execute(self, inst)
            return
        for step in wave64.steps(inst):
            step(self)

    def _guard(self, inst: Instruction) -> None:
        """A comparison that holds wherever a lane is on."""
        on = ENTRY if self.part.full[self.position] else EXEC_LO.index
        mask = next(reg for reg in inst.writes() if reg.file == "s")
        for half in range(self.lanes // 32):
            self.write_sgpr(mask.index + half, self.read_sgpr(on + half))

    def _last(self, name: str) -> str:
        file, number = name[0], name[2:-1]
        if file == "C":
            assert self.scc is not None
            return self.scc.text
        return (self.vgprs if file == "V" else self.sgprs)[int(number)].text

    # --- isa.semantics.execute.Engine
    def constant(self, type_: str, number: float) -> ArrayValue:
        return self.code.constant(type_, number)

    def lane_ids(self) -> ArrayValue:
        return ArrayValue(self.code, "u32", "LANES" if not self.half else "(LANES + ONE * 32)")

    def exec_mask(self) -> Value | None:
        if self.part.full[self.position]:
            return None if self.whole else self.read_sgpr(ENTRY + self.half).lanes()
        return self.read_sgpr(EXEC_LO.index + self.half).lanes()

    def read_vgpr(self, index: int, relative: Value | None = None) -> ArrayValue:
        self._no_relative(relative)
        index += VGPR_LIMIT * self.half
        if index not in self.vgprs:
            self.vgprs[index] = ArrayValue(self.code, "u32", f"V[{index}]")
        return self.vgprs[index]

    def write_vgpr(self, index: int, value: ArrayValue, mask: ArrayValue | None, relative: Value | None = None) -> None:
        self._no_relative(relative)
        if self.discard:
            return
        if mask is not None:
            old = self.read_vgpr(index)
            value = self.code.value("u32", f"np.where({mask.text}, {value.text}, {old.text})")
        index += VGPR_LIMIT * self.half
        self.vgprs[index] = self._kept(value)
        self.written.add(f"V[{index}]")

    def read_sgpr(self, index: int, relative: Value | None = None) -> ArrayValue:
        self._no_relative(relative)
        if index == 124:
            return self.constant("u32", 0)
        if index not in self.sgprs:
            self.sgprs[index] = ArrayValue(self.code, "u32", f"S[{index}]")
        return self.sgprs[index]

    def write_sgpr(self, index: int, value: ArrayValue, relative: Value | None = None) -> None:
        self._no_relative(relative)
        if self.discard or index == 124:
            return
        self.sgprs[index] = self._kept(value)
        self.written.add(f"S[{index}]")

    def read_scc(self) -> ArrayValue:
        if self.scc is None:
            self.scc = ArrayValue(self.code, "b1", "C[0]")
        return self.scc

    def write_scc(self, value: ArrayValue) -> None:
        self.scc = self._kept(value)
        self.written.add("C[0]")

    def _kept(self, value: ArrayValue) -> ArrayValue:
        """The value under a name of its own: a register read by name would change under it."""
        return ArrayValue(self.code, value.type, self.code.let(value.text)) if "[" in value.text else value

    def _no_relative(self, relative: Value | None) -> None:
        if relative is not None:
            raise IsaError("the tracer does not follow register numbers from M0")

    def special(self, name: str) -> ArrayValue:
        raise IsaError(f"the tracer does not know {name}")

    def offset(self, inst: Instruction, name: str = "offset", type_: str = "u64") -> int:
        return inst.number(name)

    def next_address(self) -> ArrayValue:
        raise IsaError("the tracer does not follow calls")

    def hardware(self, name: str) -> ArrayValue:
        raise IsaError("the tracer does not know what the hardware answers")

    def load(self, at: Request[ArrayValue]) -> tuple[Value, ...]:
        if at.access.space == "scalar":
            name = self.code.let(f"load({at.address.text}, {at.words}, {self.position})")
            return tuple(ArrayValue(self.code, "u32", f"{name}[{k}]") for k in range(at.words))
        self._record(at)
        if self.discard:
            return (self.constant("u32", 0),) * at.words
        return tuple(self.code.value("u32", f"F.get({slot}, LANES)") for slot in self._slots())

    def store(self, at: Request[ArrayValue], values: tuple[ArrayValue, ...]) -> None:
        self._record(at)
        if self.discard:
            return
        for slot, value in zip(self._slots(), values, strict=True):
            text = value.text
            if at.mask is not None:
                text = f"np.where({at.mask.text}, {text}, F.get({slot}, LANES))"
            self.code.lines.append(f"F[{slot}] = {text}")

    def _slots(self) -> list[tuple[int, int]]:
        """Where the half's frame keeps them."""
        return [(slot, self.half) for slot in self.part.slots[self.position]]

    def atomic(self, at: Request[ArrayValue], *rest: object) -> ArrayValue:
        self._record(at)
        return self.constant("u32", 0)

    def _record(self, at: Request[ArrayValue]) -> None:
        if at.rest or (at.access.space == "lds" and not self.lds):
            return
        place = len(self.positions)
        self.positions.append(self.position)
        self.code.lines.append(f"A[{place}] = {at.address.text}")
        if at.mask is not None:
            self.code.lines.append(f"M[{place}] = mask({at.mask.text})[:, 0]")

    def branch(self, inst: Instruction, condition: ArrayValue | None) -> None:
        self.condition = condition

    def jump(self, target: Value) -> None:
        raise IsaError("the tracer does not follow jumps through a register")

    def grid_barrier(self, count: Any) -> None: ...
    def trap(self) -> None:
        raise IsaError("the tracer does not follow traps")

    def end(self) -> None: ...
    def barrier(self) -> None: ...


def mask_of(bits: np.ndarray) -> np.ndarray:
    found: np.ndarray = (np.broadcast_to(bits, (bits.shape[0], 32)) * _POWERS).sum(1, keepdims=True).astype(np.uint32)
    return found


def _lane(values: np.ndarray, index: np.ndarray) -> np.ndarray:
    waves = max(values.shape[0], index.shape[0])
    wide = np.broadcast_to(values, (waves, 32))
    return np.take_along_axis(wide, np.broadcast_to(index & 31, (waves, index.shape[1])).astype(np.int64), 1)


def _clz(values: np.ndarray, bits: int) -> np.ndarray:
    lengths = np.where(values == 0, 0, np.floor(np.log2(np.maximum(values, 1).astype(np.float64))).astype(np.int64) + 1)
    return (bits - lengths).astype(values.dtype)


def _bitreverse(values: np.ndarray, bits: int) -> np.ndarray:
    words = values.view(f"u{values.itemsize}")
    one = words.dtype.type(1)
    turned = sum(
        ((words >> words.dtype.type(i) & one) << words.dtype.type(bits - 1 - i) for i in range(bits)), 0 * words
    )
    return turned.view(values.dtype)


def _ctz(values: np.ndarray, bits: int) -> np.ndarray:
    low = values & (~values + values.dtype.type(1))
    return np.where(values == 0, bits, bits - 1 - _clz(low, bits).astype(np.int64)).astype(values.dtype)
