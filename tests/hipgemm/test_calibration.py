"""Machine numbers found by small kernels: on a card that is the model with other numbers, which the estimators are not
told, and through the command on the simulated one."""

from __future__ import annotations

import json
import math
import random
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

import pytest
from click.testing import CliRunner
from verbs import invoked

from hipgemm.cli import main
from hipgemm.lab.rate_kernels import Case
from hipgemm.measure.card import calibration
from hipgemm.measure.card.calibration import PROBES, Model
from isa import toolchain
from isa.errors import IsaError
from isa.timing.machine import rdna3
from isa.timing.machine.cards import card

pytestmark = pytest.mark.skipif(not list(toolchain.available()), reason="no compiler for gfx11 here")

QUICK = {
    "trans_latency": 12, "salu_latency": 3, "branch_taken": 9, "lds_latency": 33, "valu_to_lds": 21, "l0_latency": 77,
    "l1_latency": 201, "store_ack_ns": 120, "lds_wgp_share": 1.02,
}  # fmt: skip
"""Numbers of the hidden card, some outside of their range in the table."""


@pytest.fixture(scope="module")
def model() -> Model:
    return Model(card("7900 XTX"))


@dataclass
class Hidden:
    """A card that is the model with other numbers. noise: of each repeat, as a part of it."""

    model: Model
    numbers: Mapping[str, float]
    noise: float = 0.0
    repeats: int = 5

    def cycles(self, case: Case) -> list[float]:
        true = self.model.cycles(case, self.numbers)
        dice = random.Random(case.micro.name)
        return [true * (1 + dice.gauss(0, self.noise)) for _ in range(self.repeats if self.noise else 1)]


def probes(*names: str) -> list[calibration.Probe]:
    return [p for p in PROBES if p.number in names]


@pytest.mark.parametrize("noise", [0.0, 0.005])
def test_hidden_numbers_are_found_again(model: Model, noise: float) -> None:
    hidden = Hidden(model, rdna3.values(**QUICK), noise)
    found = calibration.calibrate(model.on, hidden, probes(*QUICK), model=model)
    assert {e.number for e in found} == set(QUICK)
    for e in found:
        assert not e.at_end
        step = 1 if rdna3.NUMBERS[e.number].unit.startswith("cycles") else 0.004 * QUICK[e.number]
        assert e.low - step <= QUICK[e.number] <= e.high + step, e
        assert e.value == pytest.approx(QUICK[e.number], rel=0.02 + 4 * noise, abs=step)


@pytest.mark.slow
@pytest.mark.parametrize("seed", [2, 3])
def test_all_numbers_are_found_at_once(model: Model, seed: int) -> None:
    """Every number that has a probe drawn from its range, and repeats that differ."""
    dice = random.Random(seed)
    true = {p.number: dice.uniform(rdna3.NUMBERS[p.number].low, rdna3.NUMBERS[p.number].high) for p in PROBES}
    true |= {name: float(round(value)) for name, value in true.items() if rdna3.NUMBERS[name].unit == "cycles"}
    found = calibration.calibrate(model.on, Hidden(model, rdna3.values(**true), 0.003), model=model)
    assert [e.number for e in found if not e.low <= true[e.number] <= e.high or e.at_end] == []


@pytest.mark.parametrize("number", ["valu_to_lds", "lds_store_cycles", "ta_lanes"])
@pytest.mark.parametrize("true", [0.03, 0.33, 0.5, 0.71, 0.97])
@pytest.mark.parametrize("sign", [1, -1])
def test_a_prediction_in_steps_leaves_the_whole_step_open(number: str, true: float, sign: int) -> None:
    """Of a kernel whose cycles are whole: some 17 steps over the span, fewer than there are places or more."""
    (probe,) = probes(number)
    low, high = probe.span()
    value = low + true * (high - low)
    for steps in (5, 17, 60):

        def predict(v: float, steps: int = steps) -> float:
            return 100.0 + sign * math.floor(steps * (v - low) / (high - low))

        found = calibration.estimate(probe, [predict(value)], predict)
        assert found.low <= value <= found.high
        assert found.predicted == predict(value)
        assert found.high - found.low < 1.1 * (high - low) / steps + 2


def test_a_kernel_that_is_slow_for_another_reason_is_said_to_be_an_end(model: Model) -> None:
    """LDS is slower than any value of the range: nothing of it may be taken for a number."""
    (probe,) = probes("lds_latency")
    hidden = Hidden(model, rdna3.values(lds_latency=90))
    (found,) = calibration.calibrate(model.on, hidden, [probe], model=model)
    assert found.at_end
    assert "an end" in calibration.text([found])


def test_a_kernel_without_a_slope_is_refused() -> None:
    with pytest.raises(IsaError, match="does not depend on it"):
        calibration.estimate(probes("barrier")[0], [100.0], lambda value: 100.0)


def test_every_number_has_a_range_and_no_two_kernels_one_name() -> None:
    numbers = [p.number for p in PROBES]
    assert len(set(numbers)) == len(numbers)
    assert all(rdna3.NUMBERS[n].low < rdna3.NUMBERS[n].high for n in numbers)
    assert len({p.case(96).micro.name for p in PROBES}) == len(PROBES)


def test_a_card_file_is_what_time_reads(tmp_path: Path) -> None:
    """On the simulated card the model finds itself; a file with other numbers gives another time."""
    file = tmp_path / "card.json"
    page = tmp_path / "card.html"
    invoked(["calibrate", "--device", "simulated", "--number", "lds_latency", "-o", str(file), "--page", str(page)])
    held = json.loads(file.read_text())
    assert held["numbers"]["lds_latency"]["value"] == pytest.approx(rdna3.NUMBERS["lds_latency"].value, abs=1)
    assert "lds_latency" in page.read_text()
    held["numbers"]["lds_latency"].update(value=60.0, low=58.0, high=62.0)
    file.write_text(json.dumps(held))
    plain, other = (
        json.loads(CliRunner().invoke(main, ["time", "kernel5", "-n", "128", "--json", *w]).stdout)["time_ms"]
        for w in ([], ["--card-file", str(file)])
    )
    assert other > plain
    refused = CliRunner().invoke(main, ["time", "kernel5", "--card", "7600", "--card-file", str(file)])
    assert "is of another card" in refused.output


@pytest.mark.parametrize("held", ["", "[]", '{"card": "7900 XTX", "numbers": {"none": {}}}'])
def test_what_is_no_card_file_is_refused(held: str, tmp_path: Path) -> None:
    (tmp_path / "card.json").write_text(held)
    with pytest.raises(IsaError, match="no card file"):
        calibration.read(tmp_path / "card.json")
