"""Tuning of kernels of the matrix units: the search, what its table says, and who listens."""

from __future__ import annotations

import dataclasses
import json
import random
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from click.testing import CliRunner

import hipgemm
from hipgemm.cli import main
from hipgemm.elements import Types
from hipgemm.kernels import rung
from hipgemm.matrix_multiply import choose
from hipgemm.tuning import matrix_field, table, trial
from hipgemm.tuning.choose import chosen_tuned, tuned
from hipgemm.tuning.shapes import Shape
from hipgemm.tuning.table import Entry, Timed, TuningTable
from hipgemm.tuning.trial import Job, TrialTarget
from isa import toolchain
from isa.gemm.names import name_of
from isa.timing.cards import card

pytestmark = pytest.mark.skipif(not list(toolchain.available()), reason="no assembler for gfx11 here")

SHAPE = Shape(64, 64, 64, "nt", types="i8_i32")
KERNEL = "gemm_i8_i32_64x64x32_32x32_s1_nt"


def entry(shape: Shape, kernel: str = KERNEL) -> Entry:
    return Entry(shape, "7900 XTX", 2500, "predicted", (Timed(kernel, 10, 9, 11),), 2, 2)


def test_a_search_writes_a_table_that_explain_takes(tmp_path: Path) -> None:
    (tmp_path / "shapes.txt").write_text("64 64 64 nt\n")
    path = str(tmp_path / "t.json")
    given = ["tune", "--shapes", str(tmp_path / "shapes.txt"), "-o", path, "--jobs", "1", "--candidates", "2"]
    done = CliRunner().invoke(main, [*given, "--types", "i8_i32"])
    assert done.exit_code == 0, done.output
    (found,) = table.load(tmp_path / "t.json").entries
    assert found.shape == SHAPE
    assert {rung(t.kernel).types for t in found.kernels} == {Types("i8", "i32")}
    today = choose(64, 64, 96, Types("i8", "i32"), (False, True))
    assert today in [t.kernel for t in found.kernels] or found.kernels[0].us < 0.98 * found.kernels[-1].us
    asked = [
        "explain",
        "64",
        "64",
        "64",
        "--trans",
        "nt",
        "--types",
        "i8_i32",
        "--table",
        path,
        "--no-predict",
        "--json",
    ]
    said = json.loads(CliRunner().invoke(main, asked).stdout)
    assert (said["kernel"], said["reason"]) == (found.kernels[0].kernel, "this shape is tuned (predicted)")


def test_entries_count_for_their_shape_with_a_few_rows_less_and_for_what_the_units_take_alike() -> None:
    held = (TuningTable().with_(entry(SHAPE)).with_(entry(dataclasses.replace(SHAPE, types="f32"), "kernel2")),)
    assert len(held[0].entries) == 2

    def found(**other: Any) -> str:
        near = tuned(dataclasses.replace(SHAPE, **other), "7900 XTX", held)
        return near.kernel if near else ""

    assert found() == found(m=33) == KERNEL
    others: list[dict[str, Any]] = [
        {"m": 32}, {"m": 65}, {"n": 63}, {"k": 128}, {"trans": "nn"}, {"types": "f16_f32"}
    ]  # fmt: skip
    assert [found(**other) for other in others] == [""] * 6
    assert tuned(SHAPE, "7800 XT", held) is None
    assert found(types="i8_f32") == KERNEL.replace("i32", "f32")


def test_f16_serves_bf16_and_another_type_of_c_what_it_can() -> None:
    kernels = "gemm_f16_f32_32x32x64_16x16_s1_nn", "gemm_f16_f32_64x64x32_32x32_s1_nn"
    shape = Shape(64, 64, 64, types="f16_f32")
    timed = tuple(Timed(kernel, us, us, us) for us, kernel in enumerate(kernels, 9))
    held = (TuningTable((dataclasses.replace(entry(shape), kernels=timed),)),)
    wide = tuned(dataclasses.replace(shape, types="bf16_f32"), "7900 XTX", held)
    assert wide is not None
    assert wide.kernel == kernels[0].replace("f16", "bf16")
    narrow = tuned(dataclasses.replace(shape, types="bf16_bf16"), "7900 XTX", held)
    assert narrow is not None
    assert narrow.kernel == kernels[1].replace("f16_f32", "bf16_bf16"), "no wave stores 16 columns of 16 bits"


def test_a_tuned_kernel_takes_its_rows_only() -> None:
    """Where lines or tiles are not whole the fastest is another: what was tuned does not count there. By the model."""
    fast, rule = "gemm_f16_f32_32x64x32_16x64_s1_g32_nt", "gemm_f16_f32_64x64x64_32x32_s1_g16_nt"
    target = TrialTarget("7900 XTX", 2500)

    def seconds(kernel: str, shape: Shape) -> float:
        (outcome,) = trial.run(Job((kernel,), shape, "estimate", target))
        assert outcome.seconds is not None, outcome.why
        return outcome.seconds

    shape = Shape(512, 2304, 768, "nt", types="f16_f32")
    held = (TuningTable((dataclasses.replace(entry(shape), kernels=(Timed(fast, 18, 17, 19),)),)),)
    for m, n, k in ((512, 2304, 768), (497, 2304, 768), (512, 2293, 738)):
        asked = dataclasses.replace(shape, m=m, n=n, k=k)
        assert bool(tuned(asked, "7900 XTX", held)) == (seconds(fast, asked) < seconds(rule, asked))


def test_gemm_takes_what_the_user_s_table_says(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("hipgemm.tuning.choose._default", lambda: (TuningTable().with_(entry(SHAPE)),))
    chosen_tuned.cache_clear()
    asked: list[str] = []
    monkeypatch.setattr("hipgemm.matrix_multiply.rung", lambda name: asked.append(name) or rung(name))
    a = np.arange(64 * 64, dtype=np.int8).reshape(64, 64)
    try:
        got = hipgemm.gemm(a, a.T, device="simulated")
    finally:
        chosen_tuned.cache_clear()
    assert asked == [KERNEL]
    np.testing.assert_array_equal(got, a.astype(np.int32) @ a.T.astype(np.int32))


@pytest.mark.parametrize("count", [2, pytest.param(24, marks=pytest.mark.slow)])
def test_no_prediction_is_below_its_bound(count: int) -> None:
    for shape in (Shape(512, 768, 160, "tn", types="i8_i32"), Shape(64, 4096, 512, "nt", types="i4_i32")):
        all_ = matrix_field.kernels(shape.types, shape.trans)
        for p, vgprs in random.Random(2).sample(all_, 24)[:count]:
            found = matrix_field.bound(p, vgprs, shape, card("7900 XTX"), 2500)
            if found is None:  # no workgroup fits a CU
                continue
            (outcome,) = trial.run(Job((name_of(p),), shape, "full", TrialTarget("7900 XTX", 2500)))
            assert outcome.low is not None, outcome.why
            assert found.seconds <= outcome.low, f"{name_of(p)}: {found.by}"
