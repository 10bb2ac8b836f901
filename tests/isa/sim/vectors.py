"""The recorded gfx1100 and gfx1201 programs: reading them, and running one on each engine.

Two files each: programs whose epilogue stores registers (v0 to v15 by lane, then SCALARS, then nothing), and programs
whose lanes store one word each.
"""

from __future__ import annotations

import ctypes
import functools
import gzip
import json
import struct
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from isa.asm.disassembler import disassemble
from isa.asm.parse import parse_disassembly
from isa.object.code_object import CodeObject, Segment
from isa.object.code_object import DescribedKernel as KernelFacts
from isa.object.descriptor import decode_descriptor
from isa.semantics.float_mode import FloatMode
from isa.semantics.instruction import Instruction
from isa.sim.run.card import Card
from isa.sim.run.compiled import CompiledKernel
from isa.sim.run.interpret import AddressedCode, Buffers, Wave, run_workgroup
from isa.targets import target

_FOLDER = Path("shared") / "vectors"
FOLDER = next((p / _FOLDER for p in Path(__file__).resolve().parents if (p / _FOLDER).is_dir()), None)
FILES = {
    "rdna3_programs.json.gz": ("gfx1100", True), "rdna3_dpp_programs.json.gz": ("gfx1100", False),
    "rdna4_programs.json.gz": ("gfx1201", True), "rdna4_lane_programs.json.gz": ("gfx1201", False),
}  # fmt: skip
"""File -> the target of its programs, whether they store registers."""
LDS_BYTES = SCRATCH_BYTES = 64 << 10
SCALARS = [*(f"s{i}" for i in range(16)), "vcc_lo", "scc", "exec_lo"]


@dataclass(frozen=True)
class Vector:
    """One program and the buffer that it must leave, as u32. by_card: what it stores of VGPRs is a card's result."""

    name: str
    arch: str
    by_card: bool
    dumps_registers: bool
    n_lanes: int
    code: bytes
    body: range
    out: bytes

    @functools.cached_property
    def instructions(self) -> list[Instruction]:
        """Of the body: what stands before it clears registers, and what stands behind it stores them."""
        rows = disassemble(self.code[self.body.start : self.body.stop], self.body.start, self.arch)
        return parse_disassembly(rows, self.name, self.arch)

    @property
    def mode(self) -> FloatMode:
        return FloatMode.of(0xC0, omod=not target(self.arch).family.mode_bits)

    def words(self, out: bytes) -> dict[str, int]:
        """Every word of the buffer: what it holds -> value. The scalars stand right after the VGPRs."""
        data = memoryview(out).cast("I")
        names = [f"lane {n}" for n in range(self.n_lanes)]
        if self.dumps_registers:
            names = [*(f"v[{r}] {lane}" for r in range(16) for lane in names), *SCALARS]
        names += [f"word {i}, after the registers" for i in range(len(names), len(data))]
        return dict(zip(names, data, strict=True))


@functools.cache
def load() -> tuple[Vector, ...]:
    """All vectors; none where the files are not there."""
    if FOLDER is None:
        return ()
    return tuple(
        Vector(
            f"{row['name']}#{row['i']}" if "i" in row else row["name"], arch, row.get("origin") == "hardware",
            registers, row["n_lanes"], bytes.fromhex(row["code"]),
            range(row.get("body_off", 0), row.get("body_off", 0) + row.get("body_len", len(row["code"]))),
            bytes.fromhex(row["out"]),
        )
        for name, (arch, registers) in FILES.items()
        for row in _rows(FOLDER / name)
    )  # fmt: skip


def _rows(path: Path) -> list[dict[str, Any]]:
    read = json.loads(gzip.decompress(path.read_bytes())) if path.exists() else []
    return read["vectors"] if isinstance(read, dict) else read


def run_numpy(vector: Vector) -> bytes:
    """The output buffer that the reference engine leaves. Of a program that stores registers only the body runs,
    with work-items in v255 and the pointer to arguments in s[80:81]; then what they hold is put down."""
    buffer, pointer = 0x7000_0000_0000, 0x7000_1000_0000
    memory = Buffers()
    out = bytearray(len(vector.out))
    memory.add(buffer, out)
    memory.add(pointer, bytearray(buffer.to_bytes(8, "little")))
    code = AddressedCode(vector.instructions, vector.body.start)
    lds = bytearray(LDS_BYTES)
    argument, item = (80, 255) if vector.dumps_registers else (0, 0)
    waves = []
    for first in range(0, vector.n_lanes, 32):
        lanes = range(first, min(first + 32, vector.n_lanes))
        waves.append(
            Wave(
                code, memory, lds, scratch_bytes=SCRATCH_BYTES, mode=vector.mode, exec_=(1 << len(lanes)) - 1,
                sgprs={argument: pointer & 0xFFFFFFFF, argument + 1: pointer >> 32}, vgprs={item: list(lanes)},
            )
        )  # fmt: skip
    if not vector.dumps_registers:
        run_workgroup(waves)
        return bytes(out)
    while any(wave.pc != vector.body.stop for wave in waves):
        for wave in waves:
            wave.waiting = False
            while not wave.waiting and wave.pc != vector.body.stop:
                wave.step()
    first, lanes = waves[0], np.hstack([wave.vgprs[:16] for wave in waves])[:, : vector.n_lanes]
    registers = [*lanes.ravel(), *first.sgprs[:16], first.sgprs[106], first.scc, first.sgprs[126]]
    struct.pack_into(f"<{len(registers)}I", out, 0, *map(int, registers))
    return bytes(out)


def run_jit(vector: Vector) -> bytes:
    """The same from the simulated card, around whose descriptor the program is put.

    Where all lanes are on the fast version runs; it would only hand over to the plain one at once elsewhere.
    """
    card = _card()
    descriptor = decode_descriptor(
        struct.pack(
            "<III4xq20xIIIHH4x",
            LDS_BYTES,
            SCRATCH_BYTES,
            8,
            0,
            0,
            31 | 0xC0 << 12 | 1 << 21 | 1 << 23,  # 256 VGPRs, FLOAT_MODE, DX10_CLAMP, IEEE
            1 | 2 << 1 | 1 << 11,  # scratch, two user SGPRs, work-item ids
            1 << 3 | 1 << 10,  # kernarg pointer, wave32
            0,
        ),
        family=target(vector.arch).family,
    )
    facts = KernelFacts(vector.name, descriptor, (), 256, 32, 0, 0, 1024, len(vector.code), {})
    whole = CodeObject(vector.arch, 5, {}, (Segment(0, len(vector.code), 5, vector.code),), {})
    base = card.memory.allocate(len(vector.code))
    buffer = card.memory.allocate(len(vector.out))
    ctypes.memset(buffer, 0, len(vector.out))
    try:
        kernel = CompiledKernel(facts, whole, base)
        card.launch(kernel, (1, 1, 1), (vector.n_lanes, 1, 1), struct.pack("<Q", buffer), fast=vector.n_lanes % 32 == 0)
        return ctypes.string_at(buffer, len(vector.out))
    finally:
        card.memory.free(base)
        card.memory.free(buffer)


@functools.cache
def _card() -> Card:
    return Card(capacity=1 << 28)
