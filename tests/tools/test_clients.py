"""tools/clients.py: the tables; the clients themselves are no part of the tests."""

from pathlib import Path

import pytest

from tools import clients


def test_a_case_that_is_not_right_has_a_row_of_its_own() -> None:
    rows = [{"case": "sum", "right": True}, {"case": "sort", "right": "AssertionError: 3 of 9 wrong"}]
    table = clients.case_table("CuPy", rows)
    assert table == "CuPy, 2 cases: 1 right.\n\n| case | |\n|---|---|\n| sort | AssertionError: 3 of 9 wrong |\n"
    assert clients.case_table("CuPy", rows[:1]) == "CuPy, 1 cases: 1 right.\n\n"


def test_what_fails_is_told_with_what_tinygrads_cpu_device_does() -> None:
    found = {"t.py::A::one": "PASSED", "t.py::A::two": "FAILED", "t.py::A::three": "FAILED", "t.py::A::four": "SKIPPED"}
    table = clients.tinygrad_table(found, {"t.py::A::two": "FAILED", "t.py::A::three": "PASSED"})
    assert table.startswith("4 tests: 1 passed, 1 skipped by themselves, 2 failed.\n")
    assert table.endswith("| three | passed |\n| two | failed |\n")
    died = clients.tinygrad_table({"t.py::A::one": "DIED"}, {"t.py::A::one": "PASSED"})
    assert died.startswith("1 tests: 0 passed, 0 skipped by themselves, 1 failed.\n")
    assert died.endswith("| one | passed |\n")
    assert clients.tinygrad_table({"t.py::A::one": "PASSED"}, {}).endswith("0 failed.\n")


def test_one_that_cannot_be_run_does_not_stop_the_others(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    def fails(folder: Path) -> tuple[str, bool]:
        raise SystemExit("it left no results")

    monkeypatch.setattr(clients, "CLIENTS", {"a": fails, "b": lambda folder: ("b: 1 case", True)})
    monkeypatch.setattr("sys.argv", ["clients.py", "--folder", str(tmp_path)])
    assert clients.main() == 2
    said = capsys.readouterr()
    assert "a: could not be made to run: it left no results" in said.err
    assert "b: 1 case" in said.out


def test_triton_cases_are_counted_by_kind_and_told_where_wrong_or_at_fault() -> None:
    answers = ("one row", "sums", True, 1.0, 0), ("two", "sums", "3 wrong", 1.0, 0), ("three", "other", True, None, 4)
    cases = [{"case": name, "kind": kind, "right": right, "microseconds": us} for name, kind, right, us, _ in answers]
    checked = {"cases": [{"case": name, "faults": faults} for name, *_, faults in answers]}
    table = clients.triton_table({"triton": "3.9", "cases": cases, "lint": []}, checked)
    assert "3 cases: 2 right, 2 with a predicted time, 2 clean" in table
    assert "| sums | 2 | 1 | 2 | 2 |\n| other | 1 | 1 | 0 | 0 |\n" in table
    assert table.endswith("| two | 3 wrong | 0 |\n| three | right | 4 |\n")
