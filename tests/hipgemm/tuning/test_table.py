"""The table's file: written and read back, damaged, and the one that is shipped."""

import json
import random
from pathlib import Path

import pytest

from hipgemm.judge.checking import Schedules, first_fault
from hipgemm.kernels.build import build
from hipgemm.kernels.ladder import rung
from hipgemm.launch.problem import Problem
from hipgemm.tuning import table
from hipgemm.tuning.shapes import Shape
from hipgemm.tuning.table import Entry, Timed, TuningTable
from isa.asm.parse import parse
from isa.errors import IsaError
from isa.lint.lint import lint_program
from isa.timing.machine.cards import card

NAME = "gemm_128x128x8_8x16_l4_g2_s2_nn"


def entry(m: int, n: int, k: int, trans: str = "nn", on: str = "7900 XTX", kind: str = "predicted") -> Entry:
    return Entry(Shape(m, n, k, trans, "a label"), on, 2500, kind, (Timed(NAME, 10, 9, 11, "VALU busy"),), 500, 20)


def test_written_and_read_back(tmp_path: Path) -> None:
    held = TuningTable().with_(entry(1, 2, 3)).with_(entry(1, 2, 3, "nt")).with_(entry(1, 2, 3, kind="measured"))
    held.save(tmp_path / "t.json")
    assert table.load(tmp_path / "t.json") == held
    assert [e.shape.label for e in held.entries] == ["a label"] * 3
    assert list(tmp_path.iterdir()) == [tmp_path / "t.json"]


def test_a_new_entry_takes_the_old_one_s_place_and_order_does_not_matter() -> None:
    entries = [entry(m, n, k) for m in (1, 2) for n in (3, 4) for k in (5, 6)]
    one, other = TuningTable(), TuningTable()
    for e in entries:
        one = one.with_(e)
    for e in random.Random(1).sample(entries + entries, 16):
        other = other.with_(e)
    assert one.text() == other.text()
    assert len(one.entries) == 8


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("", "not JSON"),
        ("[]", "not a table of a known version"),
        ('{"table": 2, "entries": []}', "not a table of a known version"),
        ('{"table": 1}', "not a table of a known version"),
        ('{"table": 1, "entries": [{}]}', "entry 0 cannot be taken"),
        ('{"table": 1, "entries": [\n {"shape": 1} ]', "not JSON"),
    ],
)
def test_what_is_no_table_is_refused(text: str, says: str, tmp_path: Path) -> None:
    (tmp_path / "t.json").write_text(text)
    with pytest.raises(IsaError, match=says):
        table.load(tmp_path / "t.json")


@pytest.mark.parametrize(
    "damage",
    [
        {"shape": [0, 1, 1, "nn"]}, {"shape": [1, 1, 1, "xx"]}, {"shape": [1, 1]}, {"kind": "guessed"}, {"kernels": []},
        {"kernels": [{"kernel": "kernel8", "us": 1, "low_us": 1, "high_us": 1}]},
        {"kernels": [{"kernel": NAME, "us": 1, "low_us": 2, "high_us": 3}]},
        {"kernels": [{"kernel": NAME, "us": "x", "low_us": 2, "high_us": 3}]}, {"clock_mhz": "fast"},
    ],
    ids=str,
)  # fmt: skip
def test_a_damaged_entry_is_named(damage: dict[str, object], tmp_path: Path) -> None:
    file = tmp_path / "t.json"
    file.write_text(json.dumps({"table": 1, "entries": [table.as_object(entry(1, 1, 1)) | damage]}))
    with pytest.raises(IsaError, match="entry 0"):
        table.load(file)


def test_files_that_cannot_be_read_or_written(tmp_path: Path) -> None:
    with pytest.raises(IsaError, match="No such file"):
        table.load(tmp_path / "none.json")
    (tmp_path / "t.json").write_bytes(b"\xff")
    with pytest.raises(IsaError, match="not text"):
        table.load(tmp_path / "t.json")
    with pytest.raises(IsaError, match="cannot write"):
        TuningTable().save(tmp_path / "none" / "t.json")


def test_the_shipped_tables_are_of_two_cards_and_their_kernels_exist() -> None:
    held = table.shipped()
    assert held.entries
    assert {(e.on, e.kind) for e in held.entries} == {("7900 XTX", "predicted"), ("9070 XT", "predicted")}
    for e in held.entries:
        for timed in e.kernels:
            rung(timed.kernel).check_size(e.shape.m, e.shape.n, e.shape.k)
            assert rung(timed.kernel).trans == e.shape.trans
        assert [t.us for t in e.kernels] == sorted(t.us for t in e.kernels)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("name", "arch"), sorted({(t.kernel, card(e.on).arch) for e in table.shipped().entries for t in e.kernels})
)
def test_each_kernel_of_the_shipped_table_is_clean(name: str, arch: str) -> None:
    """In lint, in the proof that its build ends with, and sanitized at edges: nine tiles, none of the last whole;
    on a card of 4 CUs, so that stream-K kernels have tiles that are whole and others in pieces."""
    kernel = rung(name)
    p = kernel.parameters
    assert p is not None
    built = build(name, arch=arch)
    program = parse(built.assembly.read_text(), f"{name}.s")
    assert not lint_program(program, name, notes=False)
    assert (built.folder / f"{name}.proof.txt").read_text().startswith("proved: ")
    m, n, k = 3 * p.rows - 1, 3 * p.columns - 3, 4 * p.depth - 3 + (256 if p.stream_k else 0)
    alpha, beta = (3.0, -2.0) if kernel.types.integer_scales else (1.5, 0.5)
    k -= k % kernel.tile[2]  # int4 lies in pairs
    problems = [Problem(m, n, k, alpha, b) for b in (0.0, beta)]
    assert first_fault(kernel, built.code_object(), problems, Schedules(2, threads=1), 4) == ""
