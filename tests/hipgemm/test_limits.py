"""What `time` says holds a launch, for kernels whose cause is known by how they are written (limits.hip), and that the
verdict goes away with the cause."""

import functools
from pathlib import Path

import pytest

from hipgemm.judge.memory_use import MemoryUse, memory_use
from hipgemm.judge.predict import timed
from hipgemm.kernels.build import Linked, linked
from hipgemm.kernels.files import read_kernel
from hipgemm.launch.launch import Launch
from hipgemm.launch.words import argument
from hipgemm.report.timing import limit
from isa import toolchain
from isa.timing.machine import cards

pytestmark = pytest.mark.skipif(not list(toolchain.available()), reason="no compiler for gfx11 here")
M = 1 << 20
CASES = {
    "copy": (1 << 16, 256, 0, "memory"),
    "copy4": (1 << 14, 256, 0, "memory"),
    "strided": (1536, 256, 64 * M, "memory: not coalesced"),
    "column_store": (6144, 256, 64 * M, "memory: not coalesced"),
    "sum_l2": (768, 256, 32768, "L2"),
    "sum_l0": (1536, 256, 0, "address unit"),
    "lds_read": (768, 256, 0, "LDS"),
    "lds_read4": (768, 256, 0, "LDS"),
    "lds_column": (768, 256, 0, "LDS: bank conflicts"),
    "lds_scatter": (768, 256, 0, "LDS: bank conflicts"),
    "gather": (192, 1024, 1 << 18, "latency of memory: 16 of 16 waves"),
    "gather with much LDS": (768, 64, 1 << 18, "few waves: 1 of 16 waves"),
    "load_chain": (192, 64, 64 * M, "few waves: GMEM wait"),
    "lds_chain": (384, 32, 0, "few waves: LDS wait"),
    "fma_chain": (384, 64, 0, "dependent instructions"),
    "barriers": (384, 512, 0, "barriers"),
    "fma32": (1536, 256, 0, "VALU: fp32"),
    "fma64": (1536, 256, 0, "VALU: fp64"),
    "div64": (1536, 256, 0, "VALU: fp64"),
    "doubles": (1536, 256, 0, "VALU: fp64"),
    "hash": (1536, 256, 0, "VALU: integer product"),
    "bits": (1536, 256, 0, "VALU: integer"),
    "exponent": (1536, 256, 0, "transcendental unit"),
    "roots": (1536, 256, 0, "VALU: transcendental"),
    "convert": (1536, 256, 0, "VALU: conversion"),
    "wmma_f16": (768, 128, 0, "VALU: matrix f16"),
    "wmma_bf16": (768, 128, 0, "VALU: matrix bf16"),
    "wmma_i8": (768, 128, 0, "VALU: matrix iu8"),
    "wmma_i4": (768, 128, 0, "VALU: matrix iu4"),
    "work in 97 workgroups": (97, 1024, 0, "tail: 97 workgroups on 48"),
    "work in 8 workgroups": (8, 1024, 0, "few workgroups: 8 workgroups on 48"),
    "sum7": (8192, 256, 0, "memory"),
    "put7": (8192, 256, 0, "L2: lanes ask for 16 %"),
    "bytes": (1 << 16, 256, 0, "memory: lanes ask for 12 %"),
    "rows": (192, 64, 0, "memory: rows meet"),
    "halves": (1536, 256, 0, "VALU: f16"),
    "dots": (1536, 256, 0, "VALU: dot product"),
    "atomics": (3072, 256, 0, "L2: not coalesced"),
    "in_l1": (1536, 256, 0, "L1"),
    "uniform": (1536, 256, 5, "scalar unit"),
    "scalar_chain": (96, 256, 512, "latency of scalar instructions: scalar takes"),
    "histogram": (768, 256, 0, "LDS: bank conflicts"),
    "in_l3": (1536, 256, 2 * M, "L3"),
    "shuffle": (768, 256, 0, "LDS"),
    "lds_counts": (768, 256, 0, "store bus of LDS"),
    "long_loop": (384, 64, 0, "instruction fetch"),
    "load_chain once": (96, 32, 64 * M, "few waves: empty SIMDs"),
    "tiny": (1 << 15, 32, 0, "launch"),
    "tiny once": (1, 32, 0, "launch"),
    "spill": (96, 1024, 0, "L3: spills"),
    "indexed": (384, 256, 7, "L3: arrays that a variable indexes"),
}
"""Kernel, and what is special of its launch -> workgroups, work-items, n, and what holds it: detail."""


@functools.cache
def made() -> Linked:
    return linked(read_kernel(str(Path(__file__).with_name("limits.hip")), "copy"), runs=False)


@functools.cache
def use_of(case: str) -> MemoryUse:
    name = case.split()[0]
    grid, block, n, _ = CASES[case]
    words = (f"buffer:{1 << 29}", f"buffer:{1 << 29}", f"i32:{n}")
    arguments = tuple(argument(word, i) for i, word in enumerate(words))
    launch = Launch((grid, 1, 1), (block, 1, 1), arguments, 60000 if "LDS" in case else 0)
    ready = timed(made().code_object, name, launch, cards.card("7900 XTX"))
    return memory_use(ready.prepared, ready.estimate())


@pytest.mark.parametrize("case", CASES)
def test_the_first_line_names_the_cause(case: str) -> None:
    name, _, detail = CASES[case][-1].partition(": ")
    use = use_of(case)
    assert use.limit.name == name, limit(use)
    assert detail in limit(use)
    assert use.limit.share <= 1.02


@pytest.mark.parametrize(
    ("case", "detail"),
    [("copy", "not coalesced"), ("sum7", "not coalesced"), ("lds_read", "conflicts"), ("sum_l2", "scratch")],
)
def test_what_is_not_the_cause_is_not_named(case: str, detail: str) -> None:
    assert detail not in limit(use_of(case))


def test_peaks_are_those_of_the_arithmetic() -> None:
    """A multiply-add is two operations; of a SIMD 2 x 32 lanes in 16 cycles of fp64, 64 x 2 a cycle of fp32, 16 x 16 x
    16 of 16 bits in 32, of 4 bits in 16."""
    clock = 2.5e9 * 192
    for case, operations in {"fma64": 4, "fma32": 128, "wmma_f16": 256, "wmma_i4": 512}.items():
        assert use_of(case).peak == pytest.approx(operations * clock, rel=0.01)
        assert use_of(case).ridge == pytest.approx(operations * clock / 960e9, rel=0.01)
