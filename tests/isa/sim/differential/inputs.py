"""What a case begins with: registers, memory and EXEC, drawn from a seed.

What lies in a register follows from the role of the operand that names it: for floats both zeros, denormals, the
largest and smallest numbers, infinities, quiet and signalling NaNs with payloads; for integers the ends of each width
and the shift amounts around it; random bits; and repeats of what another operand has in the same lane, so that
comparisons meet equals and sums cancel; an atomic's data is at times what its place in memory holds. Registers that
address memory get addresses inside of it. All other registers hold random bits, which must stay as they are.
"""

from __future__ import annotations

import dataclasses
import functools
import random
from collections.abc import Callable
from dataclasses import dataclass

import descriptors
import numpy as np
from assembly import Case
from forms import GLOBAL_OFFSET

from isa.registers import Reg
from isa.semantics.instruction import Instruction, Modified, Operand, Role, Special, lookup, width
from isa.sim.run.interpret import PRIVATE_BASE, SHARED_BASE

LANES = 32
GLOBAL_BYTES, LDS_BYTES, SCRATCH_BYTES = 4096, 4096, 192
EDGES = {
    "f16": (0, 0x8000, 0x3C00, 0xBC00, 0x3800, 0x3E00, 0x4100, 1, 0x8001, 0x03FF, 0x83FF, 0x0400, 0x7BFF, 0xFBFF,
            0x7C00, 0xFC00, 0x7E00, 0xFE00, 0x7C01, 0xFC55, 0x7F2A, 0x6400, 0x6C01, 0x77FF, 0x3555, 0x3BFF),
    "f32": (0, 0x80000000, 0x3F800000, 0xBF800000, 0x3F000000, 0xBF000000, 0x3FC00000, 0x40200000, 1, 0x80000001,
            0x7FFFFF, 0x807FFFFF, 0x800000, 0x80800000, 0x7F7FFFFF, 0xFF7FFFFF, 0x7F800000, 0xFF800000, 0x7FC00000,
            0xFFC00000, 0x7F800001, 0xFF812345, 0x7FD5AA55, 0x477FE000, 0x477FF000, 0x38800000, 0x33000000, 0x33000001,
            0x4F000000, 0xCF000000, 0x4F800000, 0x4EFFFFFF, 0x3F7FFFFF, 0x3EAAAAAB, 0x3EFFFFFF, 0x4B000001, 0x4B800001,
            0x42FE0000, 0xC2FC0000, 0xC3150000, 0x5F000000, 0x1F000000),
    "f64": (0, 1 << 63, 0x3FF << 52, 0xBFF << 52, 0x3FE << 52, 0x3FF8 << 48, 0x4004 << 48, 1, (1 << 63) + 1,
            (1 << 52) - 1, 1 << 52, 0x801 << 52, 0x7FEFFFFFFFFFFFFF, 0xFFEFFFFFFFFFFFFF, 0x7FF << 52, 0xFFF << 52,
            0x7FF8 << 48, 0xFFF8 << 48, (0x7FF << 52) + 1, 0xFFF123456789ABCD, 0x7FFDEADBEEF01234, 0x41E << 52,
            0x41DFFFFFFFC00000, 0xC1E << 52, 0x41EFFFFFFFE00000, 0x47EFFFFFE0000000, 0x47EFFFFFF0000000,
            0x3810000000000000, 0x36A0000000000000, 0x3690000000000001, 0x433 << 52, 0x3FEFFFFFFFFFFFFF,
            0x3FD5555555555555),
    8: (0, 1, 0x7F, 0x80, 0x81, 0xFF),
    16: (0, 1, 2, 7, 8, 15, 16, 31, 0x7F, 0x80, 0xFF, 0x100, 0x7FFF, 0x8000, 0x8001, 0xFFFE, 0xFFFF, 0xAAAA, 0x5555),
    32: (0, 1, 2, 3, 7, 8, 15, 16, 24, 30, 31, 32, 33, 63, 64, 0x7F, 0x80, 0xFF, 0x100, 0x7FFF, 0x8000, 0xFFFF, 0x10000,
         0x7FFFFF, 0x800000, 0xFFFFFF, 0x1000000, 0x7FFFFFFE, 0x7FFFFFFF, 0x80000000, 0x80000001, 0xFFFFFFFE,
         0xFFFFFFFF, 0xFFFFFFE0, 0xAAAAAAAA, 0x55555555, 0x00200000, 0x001F0000, 0x00200005, 0x0007001C),
    64: (0, 1, 2, 31, 32, 63, 64, 0x7FFFFFFF, 0x80000000, 0xFFFFFFFF, 1 << 32, (1 << 63) - 1, 1 << 63, (1 << 64) - 1,
         (1 << 64) - 2, 0xAAAAAAAAAAAAAAAA, 0x5555555555555555, 0xFFFFFFFF00000000),
}  # fmt: skip
EXECS: dict[str, Callable[[random.Random], int]] = {
    "full": lambda chosen: 0xFFFFFFFF,
    "empty": lambda chosen: 0,
    "alternating": lambda chosen: chosen.choice((0x55555555, 0xAAAAAAAA)),
    "one lane": lambda chosen: 1 << chosen.randrange(32),
    "first and last": lambda chosen: chosen.choice((1, 0x80000000, 0x80000001)),
    "halves": lambda chosen: chosen.choice((0xFFFF, 0xFFFF0000, 0x00FF00FF)),
    "random": lambda chosen: chosen.getrandbits(32),
    "dense": lambda chosen: chosen.getrandbits(32) | chosen.getrandbits(32) | chosen.getrandbits(32),
}


@dataclass
class Inputs:
    """The state before: VGPRs [256, 32] and SGPRs [128] as u32, memories as bytes. outside: an address is no good."""

    vgprs: np.ndarray
    sgprs: np.ndarray
    scc: bool
    memory: bytes
    lds: bytes
    scratch: bytes
    outside: bool = False


def draw(case: Case, seed: int, pattern: str, base: int, outside: bool = False) -> Inputs:
    """Inputs of `case`. base: address of the global buffer. outside: a lane that is on addresses what is not there."""
    return _Drawing(case, seed, base).inputs(EXECS[pattern], outside)


class _Drawing:
    def __init__(self, case: Case, seed: int, base: int) -> None:
        self.case, self.base = case, base
        self.random = random.Random(f"{seed} {case.form.key}")
        bits = np.random.default_rng(self.random.getrandbits(32))
        self.bits = bits
        self.vgprs = bits.integers(0, 1 << 32, (256, LANES), np.uint32)
        self.sgprs = bits.integers(0, 1 << 32, 128, np.uint32)
        self.earlier: dict[int, list[np.ndarray]] = {}  # width -> what operands of it have
        self.places: list[tuple[str, int]] = []  # of each lane: which memory its address is in, and where

    def inputs(self, exec_of: Callable[[random.Random], int], outside: bool) -> Inputs:
        memory, lds, scratch = (self.bits.bytes(n) for n in (GLOBAL_BYTES, LDS_BYTES, SCRATCH_BYTES * LANES))
        desc = self.case.instructions[0].desc
        if desc.relative:
            low, high = (self.random.choice((0, 1, 3, 17)) for _ in range(2))
            self.sgprs[125] = low | high << 16 if desc.two_offsets else low
        elif "m0" in desc.implicit_reads:
            self.sgprs[125] = 4 * self.random.randrange(100)
        for inst in self.case.instructions[:-1]:
            for half in inst.halves:
                self._fill(half)
        exec_ = exec_of(self.random)
        self.sgprs[126] = exec_
        desc = self.case.instructions[0].desc
        if desc.effect == "branch" and "vcc" in desc.implicit_reads and self.random.random() < 0.5:
            self.sgprs[106] = 0
        if desc.access is not None:
            memory, lds = (self._elements(desc.access.element, m) for m in (memory, lds))
            outside = self._addresses(self.case.instructions[0], outside, exec_)
            if desc.access.kind == "atomic" and not desc.access.by_wave:
                memories = {"memory": memory, "lds": lds, "scratch": scratch}
                self._meet(self.case.instructions[0], memories)
        if "pc" in desc.implicit_writes:
            self._put_scalar(self.case.instructions[0].operands[-1], self.case.functions[-1][0].address or 0)
        return Inputs(self.vgprs, self.sgprs, self.random.random() < 0.5, memory, lds, scratch, outside)

    def _elements(self, element: str, memory: bytes) -> bytes:
        """Memory that holds edge values of the accessed type."""
        if width(element) > 2:
            return memory
        size = int(element[1:]) // 8
        numbers = self._numbers(element, len(memory) // size)
        return numbers.astype(f"<u{size}").tobytes()

    # --- values by role

    def _fill(self, inst: Instruction) -> None:
        desc = lookup(inst)
        for role, operand in desc.roles_of(inst):
            reg = operand.operand if isinstance(operand, Modified) else operand
            if not isinstance(reg, Reg) or not role.read or reg.is_null:
                continue
            if reg.is_vgpr:
                self._fill_vgprs(reg.index, role.type)
            elif reg.file == "s" and (reg.index < 106 or reg.index >= 124 or role.kind != "m"):
                words = self._words(role.type, 1)
                if reg.index not in (124, 126, 127) and not (desc.relative and reg.index == 125):
                    for i, row in enumerate(words[: reg.count]):
                        self.sgprs[reg.index + i] = row[0]

    def _fill_vgprs(self, index: int, type_: str) -> None:
        words = self._words(type_, LANES)
        for i, row in enumerate(words):
            if index + i < 256:
                self.vgprs[index + i] = row

    def _words(self, type_: str, count: int) -> list[np.ndarray]:
        """One u32 row a register."""
        n = width(type_)
        if n > 2:
            if type_ == "b256" and self.random.random() < 0.5:  # matrices whose sums are numbers
                return [self._tame(count) for _ in range(n)]
            return [self._halves(self.random.choice(("f16", "b16", "f32")), count) for _ in range(n)]
        if type_.startswith("pk") or type_ in ("mix", "bf16") or (n == 1 and type_ != "mask" and _size(type_) < 32):
            small = type_.removeprefix("pk")
            return [self._halves("f16" if small in ("mix", "f16h") else small, count)]
        numbers = self._numbers(type_, count)
        return [(numbers >> (32 * i)).astype(np.uint32) for i in range(n)]

    def _halves(self, type_: str, count: int) -> np.ndarray:
        if type_ in ("f32", "bf16"):
            return self._numbers("f32", count).astype(np.uint32)
        low, high = (self._numbers(type_, count) for _ in range(2))
        return ((low & 0xFFFF) | (high & 0xFFFF) << 16).astype(np.uint32)

    def _tame(self, count: int) -> np.ndarray:
        """Two numbers a word that are near 1 as f16, and neither huge nor tiny as bf16 or f32."""
        low, high = (self.bits.integers(11, 20, count, np.uint32) << np.uint32(10) for _ in range(2))
        return (low | high << np.uint32(16)) | self.bits.integers(0, 1 << 32, count, np.uint32) & np.uint32(0x83FF83FF)

    def _numbers(self, type_: str, count: int) -> np.ndarray:
        """u64: the bits of `count` values."""
        size, edges = _size(type_), _edges(type_)
        result = self.bits.integers(0, (1 << 64) - 1, count, np.uint64, endpoint=True)
        kind = self.bits.random(count)
        result = np.where(kind < 0.55, edges[self.bits.integers(0, len(edges), count)], result)
        if type_[0] == "f":  # numbers of like size, so that sums round and cancel
            mantissa = {16: 10, 32: 23, 64: 52}[size]
            bias = (1 << size - 2 - mantissa) - 1
            near = self.bits.integers(bias - 4, bias + 5, count, np.uint64) << np.uint64(mantissa)
            near |= result & np.uint64((1 << mantissa) - 1 | 1 << size - 1)
            result = np.where((kind > 0.55) & (kind < 0.75), near, result)
        before = self.earlier.setdefault(size, [])
        if before:
            again = before[self.random.randrange(len(before))]
            if len(again) == count:
                flip = self.bits.integers(0, 2, count, np.uint64) << np.uint64(size - 1)
                result = np.where(kind > 0.88, again ^ flip, result)
        before.append(result)
        if size < 64:
            result = result & np.uint64((1 << size) - 1)
        return result

    # --- addresses

    def _put_scalar(self, operand: object, value: int) -> None:
        assert isinstance(operand, Reg)
        for i in range(operand.count):
            self.sgprs[operand.index + i] = value >> 32 * i & 0xFFFFFFFF

    def _put_vector(self, reg: Reg, values: np.ndarray) -> None:
        for i in range(reg.count):
            self.vgprs[reg.index + i] = (values.astype(np.uint64) >> np.uint64(32 * i)).astype(np.uint32)

    def _addresses(self, inst: Instruction, outside: bool, exec_: int) -> bool:
        """Give the registers of an address what points inside; back whether it points outside all the same."""
        access = inst.desc.access
        assert access is not None
        size = max(1, int(access.element[1:]) // 8)
        grain = size if access.kind == "atomic" else self.random.choice((1, 4))
        roles = [(r, o) for r, o in inst.desc.roles_of(inst) if not r.written]
        if access.buffer:
            return self._buffer(inst, roles, size, outside, exec_)
        if access.space == "scalar":
            offset = 4 * self.random.randrange(100)
            self._put_scalar(roles[0][1], self.base + 4 * self.random.randrange(64, 500))
            if isinstance(roles[1][1], Reg) and not roles[1][1].is_null:
                self._put_scalar(roles[1][1], offset)
            if outside:
                self._put_scalar(roles[0][1], self.base + GLOBAL_BYTES + 64)
            return outside
        if access.by_lane or access.by_wave:
            if access.space == "global":
                self._put_scalar(roles[-1][1], self.base + 64)
            return False
        limit = {"lds": LDS_BYTES - 1536, "scratch": SCRATCH_BYTES - 100}.get(access.space, GLOBAL_BYTES - 300)
        offsets = self.bits.integers(0, (limit - size) // grain, LANES, np.int64) * grain
        if access.kind == "atomic" and self.random.random() < 0.5:
            offsets = offsets % (4 * size) // size * size  # several lanes at one address
        on = [lane for lane in range(LANES) if exec_ >> lane & 1]
        outside = outside and bool(on) and not access.aligned  # of such an address 16 bits count
        if outside:
            offsets[self.random.choice(on)] += 1 << 20
        scalar = next((o for r, o in roles if r.kind == "sa"), None)
        address = next((o for r, o in roles if r.kind in ("va", "v")), None)
        if access.space == "lds":
            assert isinstance(address, Reg)
            if access.pair and access.kind != "load":  # which of two stores to one place stays is nowhere said
                apart = np.arange(LANES) * 4 * size + offsets % (2 * size) // size
                offsets = np.where(offsets < 1 << 20, apart, offsets)
            self._put_vector(address, offsets)
            self.places = [("lds", int(at)) for at in offsets]
        elif access.space == "flat":
            assert isinstance(address, Reg)
            spaces = self.bits.integers(0, 3, LANES)
            small = np.where(spaces == 2, offsets % ((SCRATCH_BYTES - 100) // grain * grain), offsets)
            small = np.where(offsets >= 1 << 20, offsets, small)
            small[spaces == 1] %= 1 << 21
            wide = np.where((spaces == 1) & (small < 1 << 20), small % (LDS_BYTES - 1600) // grain * grain, small)
            bases = np.array([self.base + 64, SHARED_BASE, PRIVATE_BASE], np.uint64)[spaces]
            self._put_vector(address, bases + wide.astype(np.uint64))
            names, starts = ("memory", "lds", "scratch"), (64, 0, 0)
            self.places = [(names[n], starts[n] + int(at)) for n, at in zip(spaces, wide, strict=True)]
        elif access.space == "scratch":
            start = 4 * self.random.randrange(8)
            if isinstance(address, Reg):
                self._put_vector(address, offsets)
            if isinstance(scalar, Reg):
                self._put_scalar(scalar, start + (1 << 20 if outside and not isinstance(address, Reg) else 0))
            return outside and (isinstance(address, Reg) or isinstance(scalar, Reg))
        elif isinstance(scalar, Special):
            assert isinstance(address, Reg)
            self._put_vector(address, offsets.astype(np.uint64) + np.uint64(self.base + 64))
            self.places = [("memory", 64 + int(at)) for at in offsets]
        else:
            assert isinstance(address, Reg)
            self._put_scalar(scalar, self.base + 64)
            self._put_vector(dataclasses.replace(address, count=1), offsets)
            self.places = [("memory", 64 + int(at)) for at in offsets]
        return outside

    def _buffer(
        self, inst: Instruction, roles: list[tuple[Role, Operand]], size: int, outside: bool, exec_: int
    ) -> bool:
        """A descriptor, and an index and an offset of each lane: in range in some and out of range in others."""
        scalar = inst.desc.space == "scalar"
        rules = (descriptors.UNCHECKED,) if outside else ()
        while True:
            found = descriptors.draw(self.random, self.base + 64, size, scalar or inst.has("idxen"))
            if not rules or (found.rule in rules and found.records):
                break
        if outside:
            found = dataclasses.replace(found, base=self.base + (1 << 20))
        for k, word in enumerate(found.words()):
            self.sgprs[next(o.index for r, o in roles if r.kind == "rs") + k] = word
        moved = roles[-1][1]
        start = 0
        if isinstance(moved, Reg) and not moved.is_null:
            start = 8 * self.random.randrange(8) if not scalar else self.random.randrange(700)
            self._put_scalar(moved, start)
        if scalar:
            return outside and self.sgprs[next(o.index for r, o in roles if r.kind == "rs") + 2] > 700
        whole = 16 if size > 8 else size  # which of two stores that overlap stays is nowhere said
        grain = min(size, 4) if inst.desc.access.kind == "load" else whole
        most = 60 if found.stride else 1600
        offsets = self.bits.integers(0, most // grain, LANES, np.int64) * grain
        offsets = np.where(self.bits.random(LANES) < 0.4, offsets % (4 * grain), offsets)
        if found.rule in (descriptors.STRUCTURED, descriptors.RAW):
            far = self.bits.choice(np.array([0x80000000, 0xFFFFFFF8, 0x100000 // grain * grain]), LANES)
            offsets = np.where(self.bits.random(LANES) < 0.2, far, offsets)
        indices = self.bits.integers(0, 24 if found.rule == descriptors.UNCHECKED else 30, LANES, np.int64)
        if found.rule in (descriptors.STRUCTURED, descriptors.INDEXED):
            indices = np.where(self.bits.random(LANES) < 0.1, 0xFFFFFFF0, indices)
        address = next(o for r, o in roles if r.kind == "vb")
        if isinstance(address, Reg):
            given = [values for name, values in (("idxen", indices), ("offen", offsets)) if inst.has(name)]
            for reg, values in zip(address.units(), given, strict=True):
                self._put_vector(reg, values)
        here = found.place(0, 0)
        own = offsets if inst.has("offen") else np.zeros(LANES, np.int64)
        linear = not (inst.has("idxen") or found.by_lane or found.element)
        self.places = [("memory", 64 + start + here + int(at)) for at in own] if linear else []
        return outside and exec_ != 0

    def _meet(self, inst: Instruction, memories: dict[str, bytes]) -> None:
        """In some lanes the last data of an atomic (what cmpswap compares with) is what memory holds there."""
        access, offset = inst.desc.access, inst.modifier("offset", 0)
        assert access is not None
        assert isinstance(offset, int)
        size = int(access.element[1:]) // 8
        data = [o for r, o in inst.desc.roles_of(inst) if r.kind == "v" and r.read][-1]
        assert isinstance(data, Reg)
        first = data.index + data.count - size // 4
        for lane, (name, place) in enumerate(self.places):
            start = place + offset + (SCRATCH_BYTES * lane if name == "scratch" else 0)
            there = memories[name][start : start + size]
            if len(there) == size and self.random.random() < 0.4:
                for i in range(size // 4):
                    self.vgprs[first + i, lane] = int.from_bytes(there[4 * i : 4 * i + 4], "little")


@functools.cache
def _edges(type_: str) -> np.ndarray:
    """Edge values of a type, u64. What may hold numbers of several kinds (b32) has those of all of them."""
    size = _size(type_)
    names: list[object] = [type_] if type_ in EDGES else [size]
    if type_[0] == "b" or type_ in ("mask", "bf16"):
        names = [size, f"f{size}"] if size > 8 else [8]
    return np.array([e for n in names for e in EDGES[n]], np.uint64)  # type: ignore[index]


@functools.cache
def _size(type_: str) -> int:
    """Bits of a number of this type: 8 to 64."""
    if type_ in ("mask", "b1"):
        return 32
    if type_ == "bf16":
        return 16
    digits = "".join(c for c in type_.rstrip("h") if c.isdigit())
    return int(digits) if digits else 32


assert GLOBAL_OFFSET <= 64
