"""Generated GEMM kernels: what parameters make, that lint has nothing to say, and what each computes at odd sizes."""

from __future__ import annotations

import dataclasses
import itertools

import pytest
from launching import assert_right, program

from isa.analysis import cfg as flow_graph
from isa.analysis import inner
from isa.gemm.vector.parameters import ParameterError, Parameters
from isa.lint import lint
from isa.registers import Reg

_SMALL = {"rows": 64, "columns": 64, "thread_rows": 4, "thread_columns": 4}
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
    "small, one step, one buffer": Parameters(**_SMALL, group=1, stages=1),
    "small, both transposed": Parameters(**_SMALL, trans_a=True, trans_b=True),
}


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
    other = [inst for inst in body if inst.desc.is_valu and not inner.fmas(inst)]
    assert other == []


@pytest.mark.parametrize("name", VARIANTS)
def test_lint_finds_nothing(name: str) -> None:
    assert lint.lint_program(program(VARIANTS[name])) == []


SIZES = [(128, 128, 32), (130, 70, 21), (1, 129, 8), (33, 1, 1)]
# Each variant is translated anew for the simulator, which takes seconds.
QUICK = ["two steps, two buffers", "small, one step, one buffer", "small, both transposed"]


@pytest.mark.parametrize("name", [n if n in QUICK else pytest.param(n, marks=pytest.mark.slow) for n in VARIANTS])
@pytest.mark.parametrize("size", SIZES, ids=str)
def test_it_is_right_at_any_size(name: str, size: tuple[int, int, int]) -> None:
    for alpha, beta in ((1.0, 0.0), (1.5, -0.5)):
        assert_right(VARIANTS[name], *size, alpha, beta)


@pytest.mark.parametrize(("m", "n", "beta"), [(129, 3, 0.5), (5, 130, 0.0)])
def test_without_k_only_beta_counts(m: int, n: int, beta: float) -> None:
    assert_right(Parameters(), m, n, 0, 2.0, beta)


@pytest.mark.parametrize(
    ("change", "expected"),
    [
        ({"depth": 12}, "8, 16"), ({"stages": 3}, "1 or 2"), ({"thread_columns": 10}, "multiple of 4"),
        ({"lane_rows": 3}, "divisor of 32"), ({"group": 3}, "divisor of the depth 8"),
        ({"width_a": 3}, "one of (1, 2, 4)"), ({"rows": 32, "columns": 256, "depth": 4, "width_a": 4}, "sweeps"),
        ({"depth": 32}, "at most 65536 bytes"), ({"rows": 96}, "power of two"), ({"rows": 48}, "32 x 128"),
        ({"group": 4}, "at most 256"),
    ],
)  # fmt: skip
def test_what_cannot_be_is_refused(change: dict[str, int], expected: str) -> None:
    with pytest.raises(ParameterError) as caught:
        program(dataclasses.replace(Parameters(), **change))
    assert expected in str(caught.value)


def test_each_accumulator_has_a_register_of_its_own() -> None:
    from isa.gemm.vector.registers import Registers

    r = Registers.of(Parameters())
    held = [*r.accumulators.values()]
    for side in (r.a, r.b):
        held += [*itertools.chain(*side.pairs), *side.fetched, *side.offset, side.read, side.write]
    units = [unit for reg in held for unit in reg.units()]
    assert len(units) == len(set(units))
    assert max(unit.index for unit in units) < r.count
