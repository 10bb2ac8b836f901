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
from verbs import invoked

import hipgemm
from hipgemm.cli import main
from hipgemm.kernels.ladder import rung
from hipgemm.launch.elements import Types
from hipgemm.product.choice import choose
from hipgemm.tuning import matrix_field, table, trial
from hipgemm.tuning.choose import chosen_tuned, tuned
from hipgemm.tuning.shapes import Shape
from hipgemm.tuning.table import Entry, Timed, TuningTable
from hipgemm.tuning.trial import Job, TrialTarget
from isa import toolchain
from isa.gemm.matrix.parameters import MatrixParameters
from isa.gemm.names import name_of
from isa.timing.machine.cards import card

pytestmark = pytest.mark.skipif(not list(toolchain.available()), reason="no assembler for gfx11 here")

SHAPE = Shape(64, 64, 64, "nt", types="i8_i32")
KERNEL = "gemm_i8_i32_64x64x32_32x32_s1_nt"


def entry(shape: Shape, kernel: str = KERNEL) -> Entry:
    return Entry(shape, "7900 XTX", 2500, "predicted", (Timed(kernel, 10, 9, 11),), 2, 2)


def test_a_search_writes_a_table_that_explain_takes(tmp_path: Path) -> None:
    (tmp_path / "shapes.txt").write_text("64 64 64 nt\n")
    path = str(tmp_path / "t.json")
    given = ["tune", "--shapes", str(tmp_path / "shapes.txt"), "-o", path, "--jobs", "1", "--candidates", "2"]
    invoked([*given, "--types", "i8_i32"])
    (found,) = table.load(tmp_path / "t.json").entries
    assert found.shape == SHAPE
    assert {rung(t.kernel).types for t in found.kernels} == {Types("i8", "i32")}
    today = choose(64, 64, 96, Types("i8", "i32"), (False, True))
    assert today in [t.kernel for t in found.kernels] or found.kernels[0].us < 0.98 * found.kernels[-1].us
    asked = [
        "explain", "64", "64", "64", "--trans", "nt", "--types", "i8_i32", "--table", path, "--no-predict", "--json",
    ]  # fmt: skip
    said = json.loads(CliRunner().invoke(main, asked).stdout)
    assert (said["kernel"], said["reason"]) == (found.kernels[0].kernel, "this shape is tuned (predicted)")


def test_entries_count_for_their_very_shape_and_what_the_units_take_alike() -> None:
    held = (TuningTable().with_(entry(SHAPE)).with_(entry(dataclasses.replace(SHAPE, types="f32"), "kernel2")),)
    assert len(held[0].entries) == 2

    def found(**other: Any) -> str:
        near = tuned(dataclasses.replace(SHAPE, **other), "7900 XTX", held)
        return near.kernel if near else ""

    assert found() == KERNEL
    others: list[dict[str, Any]] = [
        {"m": 63}, {"m": 65}, {"n": 63}, {"k": 128}, {"trans": "nn"}, {"types": "f16_f32"}
    ]  # fmt: skip
    assert [found(**other) for other in others] == [""] * 6
    assert tuned(SHAPE, "7800 XT", held) is None
    assert not found(types="i8_f32")


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


def test_gemm_takes_what_the_user_s_table_says(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("hipgemm.tuning.choose._default", lambda: (TuningTable().with_(entry(SHAPE)),))
    chosen_tuned.cache_clear()
    asked: list[str] = []
    monkeypatch.setattr("hipgemm.product.gemm.rung", lambda name: asked.append(name) or rung(name))
    a = np.arange(64 * 64, dtype=np.int8).reshape(64, 64)
    try:
        got = hipgemm.gemm(a, a.T, device="simulated")
    finally:
        chosen_tuned.cache_clear()
    assert set(asked) == {KERNEL}
    np.testing.assert_array_equal(got, a.astype(np.int32) @ a.T.astype(np.int32))


@pytest.mark.slow
def test_what_the_shipped_table_chooses_is_not_slower_than_the_rule() -> None:
    """By the model, at the shapes that do not take long; of f16 also for a C of 16 bits, which was not tuned."""
    held, seen = table.shipped(), 0
    for entry in held.entries:
        if entry.shape.types == "f32" or entry.shape.flops > 2**34:
            continue
        on = card(entry.on)
        target = TrialTarget(on.name, on.clock_mhz)
        for types in {"f16_f32": ("f16_f32", "f16_f16")}.get(entry.shape.types, (entry.shape.types,)):
            asked = dataclasses.replace(entry.shape, types=types)
            found = tuned(asked, target.card, (held,))
            flips = asked.trans[0] == "t", asked.trans[1] == "t"
            rule = choose(asked.m, asked.n, on.cus, Types.named(types), flips, card=on.name)
            if found is None or found.kernel == rule:
                continue
            times = [trial.launch(name, asked, target).timing(on.clock_mhz).time_s for name in (found.kernel, rule)]
            assert times[0] <= times[1], (asked, found.kernel, rule)
            seen += 1
    assert seen > 40


def test_what_is_like_the_best_comes_next_and_once() -> None:
    shape = Shape(1024, 1024, 1024, "tn", types="f16_f32")
    field = matrix_field.MatrixField(shape, TrialTarget("7900 XTX", 2500))
    first = [c.kernel for c in field.next(3, {})]
    best = rung(first[1]).parameters
    assert isinstance(best, MatrixParameters)
    like = [dataclasses.replace(best, group=best.group // part) for part in (2, 4)]
    names = [name_of(p) for p in (*like, dataclasses.replace(best, prio=not best.prio))]
    times = {name: 1.0 + abs(i - 1) for i, name in enumerate(first)}
    then = [[c.kernel for c in field.next(5, times)] for _ in range(2)]
    assert then[0][:3] == names
    given = [*first, *then[0], *then[1]]
    assert len(set(given)) == 13


@pytest.mark.parametrize("count", [2, pytest.param(24, marks=pytest.mark.slow)])
def test_no_prediction_is_below_its_bound(count: int) -> None:
    for shape, name in (
        (Shape(512, 768, 160, "tn", types="i8_i32"), "7900 XTX"),
        (Shape(64, 4096, 512, "nt", types="i4_i32"), "7900 XTX"),
        (Shape(512, 768, 192, "nn", types="fp8_f32"), "9070 XT"),
    ):
        on = card(name)
        all_ = matrix_field.kernels(shape.types, shape.trans, on.arch)
        for p, vgprs in random.Random(2).sample(all_, 24)[:count]:
            found = matrix_field.bound(p, vgprs, shape, on, on.clock_mhz)
            if found is None:  # no workgroup fits a CU
                continue
            (outcome,) = trial.run(Job((name_of(p),), shape, "full", TrialTarget(name, on.clock_mhz)))
            assert outcome.low is not None, outcome.why
            assert found.seconds <= outcome.low, f"{name_of(p)}: {found.by}"
