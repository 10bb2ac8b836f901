"""Kernels are built for every target that can be chosen, lint finds no fault in them, and the rewritten and generated
ones are right; any other target is rejected with an error that names it.

The simulator's card is a gfx1100; the instructions of the other targets are the same, scalar floats of gfx115x apart,
which the simulator runs too. What differs is where a launch puts its workgroup's numbers (LLVM:
FeatureUserSGPRInit16Bug of gfx1100 and gfx1102) and what the compiler makes of it.
"""

import struct

import numpy as np
import pytest

from hipgemm.kernels.build import build, readable
from hipgemm.kernels.files import read_kernel
from hipgemm.kernels.ladder import LADDER, rung
from hipgemm.launch.problem import Problem
from isa.analysis.resources import waves_by_vgprs
from isa.asm.emit import emit
from isa.asm.parse import parse
from isa.asm.program import Program
from isa.gemm.names import name_of
from isa.gemm.vector.generate import generate
from isa.gemm.vector.parameters import Parameters
from isa.lint.lint import lint_code_object, lint_program
from isa.lint.vopd import PARITY
from isa.sim.run.card import Card
from isa.targets import target
from isa.toolchain import ARCHS, UnsupportedArch

# Kernels of the ladder one by one, and generated ones of other shapes.
SKINNY = Parameters(16, 32, 16, thread_rows=4, thread_columns=4, width_a=4, width_b=4)
TRANSPOSED = Parameters(64, 64, thread_columns=8, lane_rows=8, stages=1, trans_a=True, trans_b=True)
EACH = [*LADDER, name_of(SKINNY), name_of(TRANSPOSED)]
QUICK = [("kernel8", "gfx1101"), ("kernel8", "gfx1150"), ("kernel8", "gfx1201"), (name_of(SKINNY), "gfx1151")]
COMPILED = ("kernel1", "kernel2", "kernel3", "kernel4", "kernel5")
REWRITTEN = ["kernel6", "kernel7", "kernel8", "kernel9", name_of(SKINNY)]
PAIRS = [(kernel, arch) for kernel in REWRITTEN for arch in ARCHS]


@pytest.mark.parametrize(
    ("kernel", "arch"), [pair if pair in QUICK else pytest.param(*pair, marks=pytest.mark.slow) for pair in PAIRS]
)
def test_a_rewritten_kernel_is_right_for_each_target(kernel: str, arch: str) -> None:
    row, problem, card = rung(kernel), Problem(128, 256, 24, 1.5, -0.5), Card(baseline=True)
    made = build(row, arch=arch)
    code = made.code_object()
    assert code.arch == arch
    assert next(stage for stage in made.stages if stage.name == "prove").note.startswith("proved")
    drawn = problem.matrices()
    addresses = [card.memory.allocate(x.nbytes) for x in drawn]
    for address, x in zip(addresses, drawn, strict=True):
        memory(address, x.shape)[:] = x
    kernarg = struct.pack("<QQQiiiff", *addresses, problem.m, problem.n, problem.k, problem.alpha, problem.beta)
    loaded = card.load(made.hsaco.read_bytes()).kernels[kernel]
    card.launch(loaded, row.grid(problem.m, problem.n), row.block, kernarg)
    verdict = problem.judge(*drawn, memory(addresses[2], drawn[2].shape))
    assert verdict.correct, verdict


@pytest.mark.parametrize(
    ("arch", "kernels"),
    [
        ("gfx1151", ["kernel1", "kernel8", name_of(TRANSPOSED)]),
        ("gfx1201", ["kernel6", "kernel7", "kernel8"]),
        *(pytest.param(a, EACH, marks=pytest.mark.slow) for a in ARCHS),
    ],
)
def test_lint_finds_no_fault_for_any_target(arch: str, kernels: list[str]) -> None:
    for kernel in kernels:
        made = build(rung(kernel), arch=arch)
        found = lint_code_object(made.code_object(), kernel)
        assert [f for f in found if f.severity == "fault"] == [], kernel
        # What the passes and the generator write is free of this note, which compilers let through.
        assert PARITY.name not in {f.rule for f in found} or kernel in COMPILED, kernel


@pytest.mark.parametrize("arch", ARCHS)
def test_the_target_decides_how_many_waves_fit(arch: str) -> None:
    """72 VGPRs: 1536 in granules of 24 hold 21 of them, of which 16 have a slot; 1024 in granules of 16 hold 12."""
    assert waves_by_vgprs(72, target(arch)) == (16 if target(arch).vgprs == 1536 else 12)


def test_too_few_sgprs_at_the_start_are_a_fault_where_the_hardware_needs_sixteen() -> None:
    for arch in ARCHS:
        text = emit(generate(Parameters(), "gemm", arch=arch)).replace("user_sgpr_count 14", "user_sgpr_count 13")
        found = [str(f) for f in lint_program(parse(text)) if "initialises" in f.message]
        assert len(found) == (arch in ("gfx1100", "gfx1102"))
        assert all("FeatureUserSGPRInit16Bug" in f and "at least 16" in f for f in found)


def memory(address: int, shape: tuple[int, ...]) -> np.ndarray:
    """Device memory of the simulated card, which is the host's at the same address."""
    interface = {"data": (address, False), "shape": shape, "typestr": "<f4", "version": 3}
    return np.asarray(type("Memory", (), {"__array_interface__": interface})())


@pytest.mark.parametrize("arch", ["gfx1030", "gfx1152", "gfx1250", "gfx942"])
def test_any_other_target_is_refused_by_name(arch: str) -> None:
    with pytest.raises(UnsupportedArch, match=arch):
        build("kernel8", arch=arch)


@pytest.mark.parametrize(("text", "arch", "says"), [
    ("s_barrier_signal -1\n\ts_barrier_wait -1", "gfx1100", "s_barrier_signal is an instruction of gfx1200 and later"),
    ("s_barrier_signal -1\n\ts_barrier_wait -1", "gfx1201", ""),
    (".macro both\n\ts_barrier_signal -1\n\ts_barrier_wait -1\n\t.endm\n\tboth", "gfx1201", ""),
    ("s_barrier", "gfx1100", ""),
    ("s_barrier", "gfx1201", "s_barrier is an instruction of targets before gfx1200"),
])  # fmt: skip
def test_text_that_names_no_target_is_for_the_one_asked_for(text: str, arch: str, says: str) -> None:
    descriptor = "\n\ts_endpgm\n\t.amdhsa_kernel f\n\t.amdhsa_next_free_vgpr 1\n\t.amdhsa_next_free_sgpr 1\n"
    kernel = read_kernel(f"f:\n\t{text}{descriptor}\t.end_amdhsa_kernel\n", arch=arch)
    program = readable(kernel, arch=arch)
    assert isinstance(program, Program)
    assert program.target == target(arch)
    assert says in " ".join(finding.message for finding in lint_program(program))
