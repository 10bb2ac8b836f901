"""Generated GEMM kernels: what parameters make, that lint has nothing to say, and what each computes at odd sizes."""

from __future__ import annotations

import ctypes
import dataclasses
import itertools
import struct
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from isa import toolchain
from isa.analysis import cfg as flow_graph
from isa.analysis import inner
from isa.check import lint
from isa.emit import emit
from isa.gemm.generate import generate
from isa.gemm.parameters import ParameterError, Parameters
from isa.program import Program
from isa.registers import Reg
from isa.sim.card import Card

VARIANTS = {
    "two steps, two buffers": Parameters(),
    "one step, one buffer": Parameters(group=1, stages=1),
    "lanes 8 x 4": Parameters(lane_rows=8),
    "thread tile 16 x 8": Parameters(thread_rows=16, thread_columns=8),
    "two waves": Parameters(rows=64),
    "half the columns": Parameters(columns=64, lane_rows=8),
    "256 threads": Parameters(thread_rows=8, thread_columns=8),
    "columns before threads": Parameters(rows=64, columns=128, lane_rows=8),
    "A transposed": Parameters(trans_a=True, thread_columns=8),
    "B transposed": Parameters(trans_b=True, rows=64, thread_columns=8),
    "both transposed": Parameters(trans_a=True, trans_b=True, columns=64, thread_columns=8, lane_rows=8),
}


def program(p: Parameters) -> Program:
    return generate(p, "gemm")


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("gemm")


def image(name: str, folder: Path) -> bytes:
    """The code object of a variant."""
    source, obj, hsaco = (folder / f"{name}.{end}" for end in ("s", "o", "hsaco"))
    if not hsaco.exists():
        tools = toolchain.find()
        source.write_text(emit(program(VARIANTS[name])))
        tools.assemble(source, obj, arch="gfx1100")
        tools.link([obj], hsaco)
    return hsaco.read_bytes()


def gemm(name: str, folder: Path, m: int, n: int, k: int, alpha: float, beta: float) -> tuple[np.ndarray, ...]:
    """(C, what it should be in float64, |A||B|). Matrices stand at the end of their allocations."""
    p = VARIANTS[name]
    rng = np.random.default_rng(m * 1009 + n * 31 + k)
    a = rng.uniform(-1, 1, (m, k)).astype(np.float32)
    b = rng.uniform(-1, 1, (k, n)).astype(np.float32)
    c = rng.uniform(-1, 1, (m, n)).astype(np.float32) if beta else np.full((m, n), np.nan, np.float32)
    card = Card()
    addresses = [card.memory.allocate(max(x.nbytes, 4)) for x in (a, b, c)]
    stored = a.T if p.trans_a else a, b.T if p.trans_b else b, c
    for address, x in zip(addresses, map(np.ascontiguousarray, stored), strict=True):
        ctypes.memmove(address, x.ctypes.data, x.nbytes)
    kernarg = struct.pack("<QQQiiiff", *addresses, m, n, k, alpha, beta)
    grid = -(-n // p.columns), -(-m // p.rows), 1
    card.launch(card.load(image(name, folder)).kernels["gemm"], grid, (p.threads, 1, 1), kernarg)
    got = np.empty_like(c)
    ctypes.memmove(got.ctypes.data, addresses[2], c.nbytes)
    expected = alpha * (a.astype(np.float64) @ b.astype(np.float64)) + (beta * c.astype(np.float64) if beta else 0.0)
    return got, expected, np.abs(a) @ np.abs(b)


@pytest.mark.parametrize("name", VARIANTS)
def test_the_main_loop_is_dual_and_its_banks_never_collide(name: str) -> None:
    p = VARIANTS[name]
    control = flow_graph.of_kernel(program(p).kernel("gemm"))
    main = inner.main_loop(control)
    assert main is not None
    body = list(inner.body(control, main))
    counts = [inner.fmas(inst) for inst in body]
    assert counts.count(2) == p.thread_rows * p.thread_columns // 2 * p.depth * p.stages
    assert counts.count(1) == 0
    for inst in (inst for inst in body if inner.fmas(inst)):
        sources = [op for half in inst.halves for op in half.operands[1:3] if isinstance(op, Reg)]
        assert sorted(reg.bank for reg in sources) == [0, 1, 2, 3]
    other = [inst for inst in body if inst.desc.unit in ("valu", "trans") and not inner.fmas(inst)]
    assert other == []


@pytest.mark.parametrize("name", VARIANTS)
def test_lint_finds_nothing(name: str) -> None:
    assert lint.lint_program(program(VARIANTS[name])) == []


SIZES = [(128, 128, 32), (130, 70, 21), (1, 129, 8), (33, 1, 1)]
# Each variant is translated anew for the simulator, which takes seconds.
QUICK = ["two steps, two buffers", "one step, one buffer", "both transposed"]


@pytest.mark.parametrize("name", [n if n in QUICK else pytest.param(n, marks=pytest.mark.slow) for n in VARIANTS])
@pytest.mark.parametrize("size", SIZES, ids=str)
def test_it_is_right_at_any_size(folder: Path, name: str, size: tuple[int, int, int]) -> None:
    for alpha, beta in ((1.0, 0.0), (1.5, -0.5)):
        got, expected, bound = gemm(name, folder, *size, alpha, beta)
        assert np.all(np.abs(got - expected) <= 2.0**-24 * (size[2] + 2) * (abs(alpha) * bound + 1))


def test_without_k_only_beta_counts(folder: Path) -> None:
    name = next(iter(VARIANTS))
    got, expected, _ = gemm(name, folder, 129, 3, 0, 2.0, 0.5)
    assert got.tobytes() == expected.astype(np.float32).tobytes()
    assert not np.any(gemm(name, folder, 5, 130, 0, 2.0, 0.0)[0])


_CHOICES = {
    "rows": [32, 64, 128, 256, 96], "columns": [32, 64, 128, 256], "thread_rows": [4, 8, 16],
    "thread_columns": [8, 16, 12], "lane_rows": [1, 2, 4, 8, 16, 3], "group": [1, 2, 4, 3], "stages": [1, 2, 3],
    "trans_a": [False, True], "trans_b": [False, True],
}  # fmt: skip


@given(st.fixed_dictionaries({name: st.sampled_from(values) for name, values in _CHOICES.items()}))
@settings(max_examples=25, deadline=None)
def test_parameters_make_a_clean_kernel_or_are_refused(chosen: dict[str, Any]) -> None:
    try:
        made = program(Parameters(**chosen))
    except ParameterError:
        return
    assert lint.lint_program(made) == []


@pytest.mark.parametrize(
    ("change", "expected"),
    [
        ({"depth": 12}, "8"),
        ({"stages": 3}, "1 or 2"),
        ({"thread_columns": 12}, "multiple of 8"),
        ({"rows": 96}, "power of two"),
        ({"rows": 48}, "32 x 128"),
        ({"group": 4}, "at most 256"),
    ],
)
def test_what_cannot_be_is_refused(change: dict[str, int], expected: str) -> None:
    with pytest.raises(ParameterError) as caught:
        program(dataclasses.replace(Parameters(), **change))
    assert expected in str(caught.value)


def test_each_accumulator_has_a_register_of_its_own() -> None:
    from isa.gemm.registers import Registers

    r = Registers.of(Parameters())
    held = [*r.accumulators.values()]
    for side in (r.a, r.b):
        held += [*itertools.chain(*side.pairs), *side.fetched, *side.offset, side.read, side.write]
    units = [unit for reg in held for unit in reg.units()]
    assert len(units) == len(set(units))
    assert max(unit.index for unit in units) < r.count
