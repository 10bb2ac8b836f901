"""The recorded gfx1100 programs: reading them, and running one on the reference engine."""

from __future__ import annotations

import functools
import gzip
import json
from dataclasses import dataclass
from pathlib import Path

from isa.disassembler import disassemble
from isa.parse import parse_disassembly
from isa.program import Instruction
from isa.sim.interpret import Code, Memory, Wave, run_workgroup
from isa.sim.mode import FloatMode

_NAME = Path("shared") / "vectors" / "rdna3_programs.json.gz"
PATH = next((p / _NAME for p in Path(__file__).resolve().parents if (p / _NAME).exists()), None)
LDS_BYTES = SCRATCH_BYTES = 64 << 10
MODE = FloatMode.of(0xC0)
SCALARS = [*(f"s{i}" for i in range(16)), "vcc_lo", "scc", "exec_lo"]


@dataclass(frozen=True)
class Vector:
    """One program and the buffer that it must leave: rows v0 to v15 by lane, then SCALARS, as u32."""

    name: str
    n_lanes: int
    code: bytes
    body: range
    out: bytes

    @functools.cached_property
    def instructions(self) -> list[Instruction]:
        return parse_disassembly(disassemble(self.code), self.name)

    def words(self, out: bytes) -> dict[str, int]:
        """Register (with its lane, for a VGPR) -> value."""
        data = memoryview(out).cast("I")
        table = {f"v[{r}] lane {n}": data[r * self.n_lanes + n] for r in range(16) for n in range(self.n_lanes)}
        return table | dict(zip(SCALARS, data[len(data) - len(SCALARS) :], strict=True))


@functools.cache
def load() -> tuple[Vector, ...]:
    """All vectors; none where the file is not there."""
    if PATH is None:
        return ()
    rows = json.loads(gzip.decompress(PATH.read_bytes()))["vectors"]
    return tuple(
        Vector(
            f"{row['name']}#{row['i']}",
            row["n_lanes"],
            bytes.fromhex(row["code"]),
            range(row["body_off"], row["body_off"] + row["body_len"]),
            bytes.fromhex(row["out"]),
        )
        for row in rows
    )


def run_numpy(vector: Vector) -> bytes:
    """The output buffer that the reference engine leaves."""
    buffer, pointer = 0x7000_0000_0000, 0x7000_1000_0000
    memory = Memory()
    out = bytearray(len(vector.out))
    memory.add(buffer, out)
    memory.add(pointer, bytearray(buffer.to_bytes(8, "little")))
    code = Code(vector.instructions, 0)
    lds = bytearray(LDS_BYTES)
    waves = []
    for first in range(0, vector.n_lanes, 32):
        lanes = range(first, min(first + 32, vector.n_lanes))
        waves.append(
            Wave(
                code,
                memory,
                lds,
                scratch_bytes=SCRATCH_BYTES,
                mode=MODE,
                exec_=(1 << len(lanes)) - 1,
                sgprs={0: pointer & 0xFFFFFFFF, 1: pointer >> 32},
                vgprs={0: list(lanes)},
            )
        )
    run_workgroup(waves)
    return bytes(out)
