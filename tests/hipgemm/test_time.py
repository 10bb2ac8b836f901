"""`hipgemm time`: a kernel that was built, through the cycle model, to text and JSON."""

import json
import re
import subprocess
import sys
from collections.abc import Callable
from typing import Any

import pytest
from click.testing import CliRunner

from hipgemm.build import build
from hipgemm.cli import main
from hipgemm.kernels import rung
from hipgemm.predict import Prediction, ready
from hipgemm.report import timing
from isa import toolchain
from isa.timing import cards, model

pytestmark = pytest.mark.skipif(not list(toolchain.available()), reason="no compiler for gfx11 here")


def invoke(*arguments: str) -> str:
    result = CliRunner().invoke(main, ["time", *arguments])
    assert result.exit_code == 0, result.output
    return result.stdout


def test_json_adds_up() -> None:
    found = json.loads(invoke("kernel1", "-n", "256", "--json"))
    assert found["time_kind"] == "predicted"
    assert found["low_ms"] <= found["time_ms"] <= found["high_ms"]
    assert sum(found["causes"].values()) == pytest.approx(1)
    assert found["tflops"] == pytest.approx(2 * 256**3 / (found["time_ms"] * 1e-3) / 1e12)
    assert found["workgroups"] == 256
    assert found["played"] == 1
    assert found["exact"]


def test_a_slower_clock_and_a_smaller_card_take_longer() -> None:
    base = json.loads(invoke("kernel5", "-n", "2048", "--json"))["time_ms"]
    slower = json.loads(invoke("kernel5", "-n", "2048", "--json", "--clock", "1250"))["time_ms"]
    smaller = json.loads(invoke("kernel5", "-n", "2048", "--json", "--card", "7600", "--clock", "2500"))["time_ms"]
    assert 1.5 * base < slower <= 2.05 * base
    assert smaller > 1.5 * base


def test_text_names_what_it_is() -> None:
    text = invoke("kernel1", "-n", "128")
    assert "ms predicted" in text
    assert "where the cycles of a SIMD go" in text


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["kernel1", "--card", "RX 580"], "no card 'RX 580'"),
        (["kernel5", "-n", "100"], "a multiple of 128"),
        (["kernel1", "-n", "64", "--bank-rule", "magic"], "no bank rule 'magic'"),
    ],
)
def test_refusals(arguments: list[str], said: str) -> None:
    result = CliRunner().invoke(main, ["time", *arguments])
    assert result.exit_code == 2
    assert said in result.output


def test_the_simulated_card_keeps_this_time() -> None:
    """`hipgemm run` on the simulated card reports what `hipgemm time` predicts."""
    predicted = json.loads(invoke("kernel5", "-n", "256", "--json"))["time_ms"]
    code = "import hipgemm; r = hipgemm.run('kernel5', n=256, device='simulated'); print(r.time_kind, r.time_ms)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    kind, time_ms = done.stdout.split()
    assert kind == "predicted"
    assert float(time_ms) == pytest.approx(predicted, rel=1e-5)


def test_a_notebook_shows_the_same_rows_and_causes(read_page: Callable[[str], Any]) -> None:
    on = cards.card("7900 XTX")
    prediction = Prediction(rung("kernel1"), 64, 64, 64, model.predict(ready(build("kernel1"), 64, 64, 64, on)))
    page = read_page(prediction._repr_html_())
    assert page.requests == []
    assert {word for row in timing.rows(prediction) for word in row if word} <= set(page.words)
    shares = [float(word.removesuffix(" %")) for word in page.words if re.fullmatch(r"[0-9.]+ %", word)]
    assert sum(shares) == pytest.approx(100, abs=1)
