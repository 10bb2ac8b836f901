"""Runs of multiply-adds between VGPRs as one step, in native code: most of what a GEMM kernel does.

`fused` puts such runs together where that makes no difference: in a VOPD no half writes what the other one reads. The
step does what the single ones do (`names.fma` in each lane); these are taken where some lanes are off, where terms are
traced, where a sum with 0 is none (`narrow`), and where the host has no C compiler.
"""

from __future__ import annotations

import ctypes
import functools
import platform
import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from isa import cache, toolchain
from isa.prove.definition.names import FMA
from isa.prove.definition.waves import Step, Waves
from isa.registers import LANES, Reg
from isa.semantics.instruction import Instruction

assert LANES == 32
_SOURCE = Path(__file__).with_name("fused.c")
_PRELUDE = """\
typedef __INT64_TYPE__ int64_t;
typedef __UINT64_TYPE__ uint64_t;
#define EXPORT __attribute__((visibility("default")))
"""
_FLAGS = ("-std=c11", "-O3", "-ffreestanding", "-nostdlib", "-fvisibility=hidden")
_FEWEST = 4
Steps = tuple[tuple[int, Step], ...]


@dataclass(frozen=True)
class Fused:
    """steps: (position, step) of the single instructions; operations: (target, x, y, z) of each multiply-add."""

    steps: Steps
    operations: NDArray[np.int64]

    def __call__(self, w: Waves) -> None:
        run = _library()
        if w.mask is not None or w.trace is not None or w.memory.narrow or run is None:
            for _, step in self.steps:
                step(w)
            return
        w.terms += len(self.operations) * len(w.numbers) * LANES
        waves = np.ascontiguousarray(w.numbers, np.int64)
        run(
            w.v.ctypes.data, w.v.strides[1] // 8, waves.ctypes.data, len(waves), self.operations.ctypes.data,
            len(self.operations), FMA.ctypes.data,
        )  # fmt: skip


def fused(steps: Sequence[tuple[int, Step]], instructions: Sequence[Instruction]) -> Iterator[tuple[int, Step]]:
    """The same steps, (position, step), with those together that may be."""
    run: list[tuple[int, Step]] = []
    operations: list[tuple[int, ...]] = []
    for position, step in steps:
        found = _operations(instructions[position])
        if found:
            run.append((position, step))
            operations += found
        else:
            yield from _together(run, operations)
            yield position, step
            run, operations = [], []
    yield from _together(run, operations)


def _together(run: list[tuple[int, Step]], operations: list[tuple[int, ...]]) -> Iterator[tuple[int, Step]]:
    if len(run) < _FEWEST:
        yield from run
    else:
        yield run[0][0], Fused(tuple(run), np.array(operations, np.int64))


@functools.lru_cache(1 << 15)
def _operations(inst: Instruction) -> tuple[tuple[int, ...], ...]:
    """(target, x, y, z) of each half; nothing for another instruction."""
    found = []
    for half in inst.halves:
        name = half.mnemonic.removesuffix("_e32").removesuffix("_e64").replace("v_dual_", "v_")
        registers = [x for x in half.operands if isinstance(x, Reg) and x.is_vgpr and x.count == 1 and not x.half]
        number = {"v_fmac_f32": 3, "v_fma_f32": 4}.get(name)
        if len(registers) != number or len(half.operands) != number or half.modifiers:
            return ()
        found.append(tuple(x.index for x in registers) + (registers[0].index,) * (number == 3))
    return tuple(found) if len(found) == 1 or found[0][0] not in found[1][1:] else ()


@functools.cache
def _library() -> ctypes._NamedFuncPointer | None:
    """None where there is no C compiler."""
    text = _PRELUDE + _SOURCE.read_text()

    def fill(folder: Path) -> None:
        (folder / "fused.c").write_text(text)
        toolchain.build_host_library(folder / "fused.c", folder / "fused.so", _FLAGS)

    try:
        folder = cache.make("spec-proof", cache.key(text, *_FLAGS, sys.platform, platform.machine()), fill)
    except toolchain.ToolchainMissing:
        return None
    run = ctypes.CDLL(str(folder / "fused.so")).multiply_adds
    pointer, number = ctypes.c_void_p, ctypes.c_int64
    run.argtypes, run.restype = [pointer, number, pointer, number, pointer, number, pointer], None
    return run
