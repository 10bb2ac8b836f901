"""Readers take damaged input: a result or an IsaError, in a process of its own (`tools/fuzz.py`)."""

import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from isa.asm.parse import parse
from isa.errors import IsaError
from tools import fuzz

COUNTS = {
    "assembly": 1200, "code object": 500, "bundle": 1500, "metadata": 1500, "printf": 2000,
    "table": 100, "records": 100, "trace": 100,
}  # fmt: skip
"""The other kinds of files that verbs take are for `make test-all`."""


@pytest.mark.parametrize("reader", COUNTS)
def test_damaged_input(reader):
    found = fuzz.run(reader, seed=1, count=COUNTS[reader])
    assert not found["wrong"], found["wrong"]
    assert found["result"] + found["IsaError"] == COUNTS[reader]
    assert found["result"] > COUNTS[reader] // 20 or reader == "trace", (
        "all of it is refused: the damage is too great to reach much"
    )


@pytest.mark.slow
@pytest.mark.parametrize("reader", fuzz.READERS)
def test_much_damaged_input(reader):
    assert not fuzz.run(reader, seed=2, count=2_000 if reader in fuzz.VERBS else 20_000, jobs=2)["wrong"]


def test_the_same_number_is_the_same_input():
    sound = fuzz.originals("assembly")
    assert fuzz.damaged("assembly", sound, 3, 14) == fuzz.damaged("assembly", sound, 3, 14)
    assert fuzz.damaged("assembly", sound, 3, 14) != fuzz.damaged("assembly", sound, 3, 15)


@pytest.mark.parametrize(
    "reader",
    [
        "raise ValueError",
        "import os; os.abort()",
        "while True: pass",
        "globals().setdefault('kept', []).append(bytearray(1 << 20))",
    ],
)
def test_what_is_wrong_is_found(reader, monkeypatch, tmp_path):
    """A reader that raises, ends the process, never ends, or keeps memory."""
    lines = f"import sys; sys.path.insert(0, {str(fuzz.ROOT)!r})\nfrom tools import fuzz\nfrom pathlib import Path\n"
    lines += f"def bad(_):\n    {reader}\nfuzz.READERS['printf'] = bad\nfuzz.SECONDS = 0.2\n"
    lines += (
        "import json\na = sys.argv[2:]\nprint(json.dumps(fuzz.work(a[0], int(a[1]), int(a[2]), int(a[3]), Path(a[4]))))"
    )
    (tmp_path / "bad.py").write_text(lines)
    monkeypatch.setattr(fuzz, "__file__", str(tmp_path / "bad.py"))
    count = 100 if "bytearray" in reader else 2
    assert fuzz.run("printf", seed=0, count=count)["wrong"]


@pytest.mark.parametrize(
    "line",
    [
        "v_mov_b32 v0, " + "a" * 60 + "!",
        "v_mov_b32 v0, " + "9" * 5000,
        "v_mov_b32 v0, v" + "9" * 5000,
        "v_mov_b32 v0, " + "neg(" * 400 + "v1" + ")" * 400,
        "v_mov_b32 v0, " + "[" * 100_000,
        "global_load_b32 v0, v1, s[0:1] offset:" + "9" * 5000,
    ],
    ids=["backtracking", "number", "register", "nesting", "brackets", "modifier"],
)
def test_hostile_lines_are_refused_at_once(line):
    with pytest.raises(IsaError):
        parse(line)
