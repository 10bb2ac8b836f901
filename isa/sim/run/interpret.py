"""Reference engine: a workgroup of a launch -> registers and memory after each instruction, on NumPy arrays.

It runs a wave at a time, and is the oracle for engines that compile; who wants to see a wave's registers steps through
it (`hipgemm.workbench.stepping`). A workgroup's waves run one after another, each to its next s_barrier or its end, so
a program whose result depends on how waves interleave between barriers shows one of its results. Memory is exact to the
byte: an access outside of every buffer, of the LDS or of a lane's scratch is an IsaError that names instruction, lane
and address. Nothing here is fast.
"""

from __future__ import annotations

import bisect
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np

from isa.asm.parse import parse_disassembly
from isa.errors import IsaError
from isa.object.code_object import CodeObject, disassemble
from isa.registers import EXEC_LO, LANES, NULL, SGPR_LIMIT, VGPR_LIMIT
from isa.semantics import wave64
from isa.semantics.branches import branch_address
from isa.semantics.engine import Request
from isa.semantics.execute import execute
from isa.semantics.float_mode import FloatMode
from isa.semantics.instruction import Instruction
from isa.semantics.reference.exact import DTYPES
from isa.semantics.reference.values import NumpyValue
from isa.sim.ir.state import PAGE_BYTES, PRIVATE_APERTURE, SHARED_APERTURE
from isa.sim.run import arguments

SHARED_BASE = SHARED_APERTURE << 32
"""Flat addresses from here on mean LDS."""
PRIVATE_BASE = PRIVATE_APERTURE << 32
"""Flat addresses from here on mean scratch."""
_APERTURE = 1 << 32


class Buffers:
    """Global memory: buffers at addresses of the caller's choice."""

    def __init__(self) -> None:
        self._bases: list[int] = []
        self._buffers: dict[int, bytearray] = {}

    def add(self, address: int, buffer: bytearray) -> None:
        """Let programs reach `buffer` from `address` on."""
        bisect.insort(self._bases, address)
        self._buffers[address] = buffer

    def find(self, address: int, count: int) -> tuple[bytearray, int] | None:
        """(buffer, offset) of `count` bytes at `address`; None where they are not all in one buffer."""
        i = bisect.bisect_right(self._bases, address) - 1
        if i < 0:
            return None
        buffer, offset = self._buffers[self._bases[i]], address - self._bases[i]
        return (buffer, offset) if offset + count <= len(buffer) else None


@dataclass
class AddressedCode:
    """A kernel's instructions, with addresses. `entry` is the address where waves begin."""

    instructions: Sequence[Instruction]
    entry: int
    index: Mapping[int, int] = field(init=False)

    def __post_init__(self) -> None:
        self.index = {inst.address: i for i, inst in enumerate(self.instructions) if inst.address is not None}


class Wave:
    """One wave: registers and the engine's view of them (`isa.semantics.execute.Engine`)."""

    def __init__(
        self,
        code: AddressedCode,
        memory: Buffers,
        lds: bytearray,
        *,
        scratch_bytes: int = 0,
        mode: FloatMode | None = None,
        exec_: int = 0xFFFFFFFF,
        halves: int = 1,
        sgprs: Mapping[int, int] | None = None,
        vgprs: Mapping[int, Sequence[int]] | None = None,
    ) -> None:
        self.code, self.memory, self.lds = code, memory, lds
        self.halves, self.half = halves, 0
        self.scratch = [bytearray(scratch_bytes) for _ in range(LANES * halves)]
        self.mode = mode or FloatMode()
        self.vgprs = np.zeros((256 * halves, LANES), np.uint32)
        self.sgprs = np.zeros(128, np.uint32)
        self.scc = False
        for i, word in (sgprs or {}).items():
            self.sgprs[i] = word
        self.sgprs[EXEC_LO.index] = exec_ & 0xFFFFFFFF
        if halves == 2:
            self.sgprs[EXEC_LO.index + 1] = exec_ >> 32
        for i, row in (vgprs or {}).items():
            for half in range(halves):
                part = row[LANES * half : LANES * (half + 1)]
                self.vgprs[i + VGPR_LIMIT * half, : len(part)] = part
        self.pc = code.entry
        self.done = self.waiting = False
        self.executed = 0

    # --- running
    def run(self) -> None:
        """Run to the next barrier or to the end."""
        self.waiting = False
        while not (self.done or self.waiting):
            self.step()

    def step(self) -> None:
        """Run one instruction."""
        i = self.code.index.get(self.pc)
        if i is None:
            raise IsaError(f"the program counter is outside the code: {self.pc:#x}")
        inst = self.code.instructions[i]
        self.pc += inst.size
        self.executed += 1
        if self.halves == 1:
            execute(self, inst)
            return
        for step in wave64.steps(inst):
            step(self)

    # --- registers
    def constant(self, type_: str, number: float) -> NumpyValue:
        return NumpyValue.scalar(type_, number, self.mode)

    def lane_ids(self) -> NumpyValue:
        return NumpyValue("u32", np.arange(LANES, dtype=np.uint32) + LANES * self.half, self.mode)

    def exec_mask(self) -> NumpyValue:
        return self.read_sgpr(EXEC_LO.index + self.half).lanes()

    def _row(self, index: int, relative: NumpyValue | None) -> int:
        return _moved(index, relative, VGPR_LIMIT) + VGPR_LIMIT * self.half

    def read_vgpr(self, index: int, relative: NumpyValue | None = None) -> NumpyValue:
        return NumpyValue("u32", self.vgprs[self._row(index, relative)].copy(), self.mode)

    def write_vgpr(
        self, index: int, value: NumpyValue, mask: NumpyValue | None, relative: NumpyValue | None = None
    ) -> None:
        assert value.type == "u32"
        row = self.vgprs[self._row(index, relative)]
        row[:] = value.a if mask is None else np.where(mask.a, value.a, row)

    def read_sgpr(self, index: int, relative: NumpyValue | None = None) -> NumpyValue:
        return NumpyValue("u32", self.sgprs[_moved(index, relative, SGPR_LIMIT)].copy(), self.mode)

    def write_sgpr(self, index: int, value: NumpyValue, relative: NumpyValue | None = None) -> None:
        assert value.type == "u32"
        assert value.a.ndim == 0, "a vector cannot be written to an SGPR"
        self.sgprs[_moved(index, relative, SGPR_LIMIT)] = value.a

    def read_scc(self) -> NumpyValue:
        return NumpyValue("b1", self.scc, self.mode)

    def write_scc(self, value: NumpyValue) -> None:
        assert value.type == "b1"
        self.scc = bool(value.a)

    def special(self, name: str) -> NumpyValue:
        base = SHARED_BASE if "shared" in name else PRIVATE_BASE
        return self.constant("u64", base if name.endswith("_base") else base + _APERTURE - 1)

    def offset(self, inst: Instruction, name: str = "offset", type_: str = "u64") -> int:
        return inst.number(name)

    def next_address(self) -> NumpyValue:
        return self.constant("u64", self.pc)

    def hardware(self, name: str) -> NumpyValue:
        """Clocks count instructions; the one wave that there is has place 0."""
        return self.constant("u64", self.executed if name in ("cycles", "realtime") else 0)

    # --- control
    def branch(self, inst: Instruction, condition: NumpyValue | None) -> None:
        if condition is None or bool(condition.a):
            self.pc = branch_address(inst)

    def jump(self, target: NumpyValue) -> None:
        self.pc = int(target.a)

    def end(self) -> None:
        self.done = True

    def trap(self) -> None:
        raise IsaError("the kernel traps", got=f"s_trap at {self.pc:#x}")

    def barrier(self) -> None:
        self.waiting = True

    def grid_barrier(self, count: NumpyValue) -> None:
        if int(count.a) != 1:
            raise IsaError(
                "a barrier of the whole grid: the reference engine runs one workgroup after another",
                expected="1 wave", got=f"{int(count.a)}",
            )  # fmt: skip

    # --- memory
    def load(self, at: Request[NumpyValue]) -> tuple[NumpyValue, ...]:
        count, element = at.bytes, at.access.element
        if at.access.space == "scalar" and at.mask is not None and not at.mask.a:
            return (self.constant("u32", 0),) * at.words
        if at.access.space == "scalar":
            read = self._scalar_bytes(at, int(at.address.a))
            if count < 4:
                wide = np.frombuffer(read, DTYPES[element]).astype(np.int64).astype(np.uint32)
                return (self.constant("u32", wide[0]),)
            return tuple(self.constant("u32", w) for w in np.frombuffer(read, np.uint32))
        rows = np.zeros((at.words, LANES), np.uint32)
        for lane, address in self.touched(at):
            data = self._bytes(at, address, count, lane + LANES * self.half)
            if count < 4:
                extended = np.frombuffer(data, DTYPES[element if element[0] != "b" else "u" + element[1:]])
                rows[0, lane] = extended.astype(np.int64).astype(np.uint32)[0]
            else:
                rows[:, lane] = np.frombuffer(data, np.uint32)
        return tuple(NumpyValue("u32", row, self.mode) for row in rows)

    def store(self, at: Request[NumpyValue], values: tuple[NumpyValue, ...]) -> None:
        rows = np.array([np.broadcast_to(v.a, (LANES,)) for v in values], np.uint32)
        for lane, address in self.touched(at):
            place = self._bytes(at, address, at.bytes, lane + LANES * self.half)
            place[:] = rows[:, lane].tobytes()[: at.bytes]

    def atomic(
        self, at: Request[NumpyValue], body: Callable[..., NumpyValue], data: tuple[NumpyValue, ...]
    ) -> NumpyValue:
        type_ = at.access.element.replace("b", "u")
        dtype = DTYPES[type_]
        old = np.zeros(LANES, dtype)
        for lane, address in self.touched(at):
            place = self._bytes(at, address, at.bytes, lane + LANES * self.half)
            old[lane] = np.frombuffer(place, dtype)[0]
            place[:] = body(NumpyValue(type_, old[lane], self.mode), *(d.lane(lane) for d in data)).a.tobytes()
        return NumpyValue(type_, old, self.mode)

    def touched(self, at: Request[NumpyValue]) -> list[tuple[int, int]]:
        """(lane, address) of the lanes that are on."""
        addresses = np.broadcast_to(at.address.a, (LANES,))
        on = np.broadcast_to(at.mask.a, (LANES,)) if at.mask is not None else np.ones(LANES, np.bool_)
        return [(lane, int(addresses[lane])) for lane in range(LANES) if on[lane]]

    def _scalar_bytes(self, at: Request[NumpyValue], address: int) -> bytes:
        """What a scalar load reads; 0 where it may end outside (resolve.ll has the rule)."""
        count, found = at.bytes, self.memory.find(address, 1)
        if found is not None:
            buffer, start = found
            inside = len(buffer) - start
            final = address + inside - 1 | PAGE_BYTES - 1
            if inside < count and address + count - 1 <= final and inside > (count // 2 if count > 4 else 0):
                return bytes(buffer[start:]) + bytes(count - inside)
        return bytes(self._bytes(at, address, count, None))

    def _bytes(self, at: Request[NumpyValue], address: int, count: int, lane: int | None) -> memoryview:
        """`count` bytes that may be read and written. IsaError where they are outside."""
        space = at.access.space
        offset = address
        if space == "flat":
            space = "global"
            for name, base in (("lds", SHARED_BASE), ("scratch", PRIVATE_BASE)):
                moved = at.offset if isinstance(at.offset, int) else int(at.offset.a)
                if base <= address - moved < base + _APERTURE:
                    space, offset = name, address - base
        where: tuple[bytearray, int] | None
        if space == "lds":
            where = (self.lds, offset) if 0 <= offset <= len(self.lds) - count else None
        elif space == "scratch":
            assert lane is not None
            where = (self.scratch[lane], offset) if 0 <= offset <= len(self.scratch[lane]) - count else None
        else:
            where = self.memory.find(address, count)
        if where is None:
            who = "" if lane is None else f" of lane {lane}"
            raise at.inst.error(
                f"{at.access.kind}{who} at {address:#x} ({count} bytes, {space}) is outside every allocation"
            )
        buffer, start = where
        return memoryview(buffer)[start : start + count]


def _moved(index: int, relative: NumpyValue | None, limit: int) -> int:
    """index + relative; a number that is not below `limit` is `index` instead (the card's answer is not defined)."""
    number = index if relative is None else (index + int(relative.a)) & 0xFFFFFFFF
    return number if number < limit else index


_CODE, _ARGUMENTS, _PACKET = 0x1000_0000, 0x6000_0000_0000, 0x6100_0000_0000
_STACK_BYTES = 16 << 10


class ReferenceLaunch:
    """A launch whose workgroups run on this engine. kernarg: the explicit arguments as they lie in the kernarg segment;
    pointers in it are addresses in `memory`, which is added to."""

    def __init__(
        self,
        code_object: CodeObject,
        name: str,
        memory: Buffers,
        grid: tuple[int, int, int],
        block: tuple[int, int, int],
        kernarg: bytes,
        dynamic_lds: int = 0,
        last: tuple[int, int, int] | None = None,
    ) -> None:
        kernel = code_object.kernel(name)
        descriptor = kernel.descriptor
        image = bytearray(code_object.extent)
        for segment in code_object.segments:
            image[segment.address : segment.address + len(segment.data)] = segment.data
        memory.add(_CODE, image)
        self.memory, self.halves = memory, 1 if descriptor.wave32 else 2
        self.code = AddressedCode(_instructions(code_object, name, not descriptor.wave32), _CODE + descriptor.entry)
        self.scratch = descriptor.scratch_bytes + (_STACK_BYTES if descriptor.dynamic_stack else 0)
        self.lds_bytes = descriptor.lds_bytes + dynamic_lds
        given = arguments.kernarg_segment(kernel, kernarg, grid, block, dynamic_lds, last)
        memory.add(_ARGUMENTS, bytearray(given))
        packet = arguments.dispatch_packet(grid, block, self.scratch, self.lds_bytes, _ARGUMENTS, last)
        memory.add(_PACKET, bytearray(packet))
        self._registers, self._ids = arguments.scalar_registers(kernel, _ARGUMENTS, _PACKET, self.scratch)
        self._v0, words, self._kinds = arguments.work_items(kernel, block, last)
        self._grid = grid
        self._execs = [low | high << 32 for low, high in zip(words[::2], words[1::2], strict=True)]
        self._mode = FloatMode.of_descriptor(descriptor)

    def workgroup(self, at: tuple[int, int, int]) -> list[Wave]:
        """The waves of a workgroup, at their beginning, with an LDS of their own."""
        sgprs = dict(enumerate(self._registers))
        *groups, (wave, lowest) = self._ids
        for (sgpr, bit), i in zip(groups, at, strict=True):
            if sgpr != NULL.index:
                sgprs[sgpr] |= i << bit
        lds, lanes = bytearray(self.lds_bytes), LANES * self.halves
        kind = sum((i + 1 == n) << axis for axis, (i, n) in enumerate(zip(at, self._grid, strict=True)))
        first, count = self._kinds[2 * kind : 2 * kind + 2]
        return [
            Wave(
                self.code, self.memory, lds, scratch_bytes=self.scratch, mode=self._mode, exec_=on,
                sgprs=sgprs if wave == NULL.index else sgprs | {wave: sgprs[wave] | i << lowest},
                vgprs={0: self._v0[(first + i) * lanes : (first + i + 1) * lanes]}, halves=self.halves,
            )
            for i, on in enumerate(self._execs[first : first + count])
        ]  # fmt: skip


def _instructions(code_object: CodeObject, name: str, wave64: bool) -> list[Instruction]:
    """The code of a kernel and of all functions beside it, where `ReferenceLaunch` puts it."""
    kernel = code_object.kernel(name)
    pieces = {kernel.descriptor.entry: kernel.code_size}
    pieces |= {s.address: s.size for s in code_object.symbols.values() if s.kind == "func" and s.size}
    found: list[Instruction] = []
    for address, size in sorted(pieces.items()):
        rows = disassemble(code_object.read(address, size), _CODE + address, code_object.arch, wave64=wave64)
        found += parse_disassembly([row for row in rows if not row[2].startswith(".")], name, code_object.arch)
    return found


def run_workgroup(waves: Sequence[Wave]) -> None:
    """Run the waves of one workgroup to their ends."""
    while not all(wave.done for wave in waves):
        for wave in waves:
            if not wave.done:
                wave.run()
