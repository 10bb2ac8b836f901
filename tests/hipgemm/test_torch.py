"""What makes the simulated card a device of torch. Most of it is a suite of its own: tools/clients.py."""

import importlib.util
import json
import os
import subprocess
import sys
from importlib.metadata import Distribution
from pathlib import Path

import pytest

from hipgemm.simulated_hip.attach import PLUGINS

ROOT = Path(__file__).parents[2]
FEW = (
    "product",
    "results given a place",
    "the card as torch says it",
    "training of a perceptron",
    "graphs replayed",
    "sparse",
)


def test_torch_finds_it_by_its_entry_point() -> None:
    (found,) = Distribution.discover(path=[str(PLUGINS)], name="hipgemm_torch")
    (point,) = found.entry_points
    assert (point.group, point.name, point.value) == ("torch.backends", "hipgemm", "hipgemm_torch:load")
    assert {p.name for p in (PLUGINS / "hipgemm_torch").iterdir()} >= {"__init__.py", "card.cpp"}


@pytest.mark.parametrize("name", FEW)
def test_the_card_computes_what_the_cpu_computes(name: str, tmp_path: Path) -> None:
    if missing := [m for m in ("torch", "triton") if importlib.util.find_spec(m) is None]:
        pytest.skip(f"{' and '.join(missing)} not installed")
    out = tmp_path / "out.json"
    words = ["-W", "ignore", str(ROOT / "tests" / "clients" / "torch_cases.py"), "--json", str(out), "--only", name]
    command = [sys.executable, "-m", "hipgemm", "simulate", "--", sys.executable, *words]
    there = {**os.environ, "PYTHONPATH": os.pathsep.join((str(ROOT), os.environ.get("PYTHONPATH", "")))}
    done = subprocess.run(command, capture_output=True, text=True, env=there, timeout=600, check=False)
    assert done.returncode == 0, done.stderr
    rows = json.loads(out.read_text())["cases"]
    assert rows
    assert {row["case"]: row["right"] for row in rows} == {row["case"]: True for row in rows}
