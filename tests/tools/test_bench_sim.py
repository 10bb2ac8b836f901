"""What `python tools/bench_sim.py` shows: figures with their bars, not how fast this machine is."""

import json

import pytest
from click.testing import CliRunner

from tools import bench_sim
from tools.bench_sim import Figure


def asked(*arguments, code=None):
    done = CliRunner().invoke(bench_sim.command, arguments)
    assert code is None or done.exit_code == code, done.output
    return done


@pytest.mark.parametrize(
    ("value", "more", "met", "aim"),
    [(1, False, True, True), (2, False, True, False), (4, False, False, False), (4, True, True, False)],
)
def test_a_bar_and_an_aim(value, more, met, aim):
    figure = Figure("import", "x", value, "s", (3, 5) if more else (3, 1), more)
    assert (figure.met, figure.aim_met) == (met, aim)


def test_a_figure_without_a_bar_misses_nothing():
    assert Figure("growth", "x", 1, "s").met is None


def test_a_part_as_json_and_as_text():
    (line,) = asked("import", "--json").output.splitlines()
    figure = json.loads(line)
    assert figure["part"] == figure["name"].split()[0] == "import"
    assert 0 < figure["value"] < 60
    assert figure["bar"] == [0.15, 0.05]
    assert figure["met"] == (figure["value"] <= 0.15)
    text = asked("import").output
    assert "import hipgemm" in text
    assert "<= 0.15, 0.05" in text


def test_a_missed_bar_is_a_finding(monkeypatch):
    monkeypatch.setattr(bench_sim, "_START", (0.0, 0.0))
    assert "MISSED" in asked("import", code=1).output


def test_quick_sizes_have_no_bars():
    figures = list(bench_sim.figures(["memory", "growth"], quick=True))
    assert [f.name for f in figures if f.part == "growth"] == ["kernel8, n = 512", "kernel8, n = 1024"]
    assert all(f.value > 0 and f.met is None for f in figures)
    assert [f.part for f in figures] == ["memory", "growth", "growth"]


def test_what_is_not_there_is_refused_by_name():
    assert "memory" in asked("nonsense", code=2).output
    assert "native" in asked("import", "--cpu", "nonsense", code=2).output
