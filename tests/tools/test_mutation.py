"""A sample of the mutation table; `python tools/mutate.py` makes all of it."""

from pathlib import Path

import pytest
from click.testing import CliRunner

from hipgemm.judge.checking import first_fault
from hipgemm.kernels.build import assembled, build
from hipgemm.kernels.ladder import rung
from hipgemm.launch.gemm import launch_of
from isa.asm.parse import parse
from tools.mutate import command, written
from tools.mutation import Outcome, Table, study
from tools.mutation.study import CUS, SCHEDULES, Built, problems, slower


def test_a_sample_is_found_or_proved_equivalent() -> None:
    table = study(["kernel5", "kernel8"], vopds=4, sample=4, checks="none", jobs=2)
    assert len(table.outcomes) > 6
    assert not table.survivors
    assert {o.verdict for o in table.outcomes} <= {"found", "equivalent"}
    assert all(statement.startswith("proved: ") for statement in table.proofs.values())


def test_most_of_a_generated_kernel_are_found() -> None:
    """A change of what no element of C is made of survives; its reason is what is proved."""
    table = study(["kernel9"], vopds=4, sample=4, checks="none", jobs=1)
    assert len(table.outcomes) > 2
    assert sum(o.verdict == "found" for o in table.outcomes) > len(table.survivors)
    assert all("by definition" in o.reason for o in table.survivors)
    assert table.faults["kernel9"] == {}
    assert "by definition" in table.proofs["kernel9"]


def test_the_first_judge_that_finds_one_is_enough() -> None:
    table, first = (
        study(["kernel5"], sample=4, kinds=["wait removed"], checks="none", first=f, jobs=1) for f in (False, True)
    )
    assert [o.verdict for o in first.outcomes] == [o.verdict for o in table.outcomes]
    assert any(None in (o.lint, o.proof) for o in first.outcomes)


def test_launches_find_them_too() -> None:
    table = study(["kernel5"], vopds=4, sample=3, jobs=2)
    assert table.checks == {"kernel5": ""}
    found = [o for o in table.outcomes if o.verdict == "found" and o.kind not in ("count shrunk", "metadata")]
    assert all(o.check for o in found)
    assert not any(o.check for o in table.outcomes if o.reason)


@pytest.mark.slow
def test_the_clock_tells_of_what_is_only_slower() -> None:
    """Loads one by one at each edge, where only those of lines that are no whole loads need it; and a change of order,
    which the clock has nothing to say of."""
    made = build("kernel11")
    first = made.folder / made.stages[0].file
    built = Built("kernel11", first, made.assembly, 0, ())
    text = made.assembly.read_text()
    slow = text.replace("s_and_b32 s29, s13, 3\n", "s_or_b32 s29, s13, 3\n", 1)
    same = text.replace(
        "s_lshl_b32 s21, s14, 1\n\ts_lshl_b32 s22, s13, 1\n", "s_lshl_b32 s22, s13, 1\n\ts_lshl_b32 s21, s14, 1\n", 1
    )
    assert text not in (slow, same)
    assert slower(built, parse(slow)) == "slower by the clock at 128 x 100 x 4096"
    assert slower(built, parse(same)) == ""


def test_launches_of_kernel10_do_tiles_whole_and_in_pieces() -> None:
    for problem in problems(rung("kernel10")):
        work = launch_of(rung("kernel10"), problem.m, problem.n, problem.k, CUS).work
        assert work is not None
        parts = [len(work.parts(tile)) for tile in range(work.tiles)]
        assert (min(parts), max(parts)) == (1, 3)
        # A workgroup with pieces of two tiles, and one with a tile from its first to its last K block.
        assert any(len({tile for tile, _, _ in work.pieces(group)}) > 1 for group in range(work.groups))
        assert work.dealt == 4


@pytest.mark.slow
def test_a_launch_finds_that_sums_are_counted_before_they_are_stored() -> None:
    """Neither linter nor proof know of what a workgroup publishes."""
    text = build("kernel10").assembly.read_text()
    wait = "\ts_waitcnt_vscnt null, 0x0\n"
    assert text.count(wait) == 1
    for line, found in (("\n", "memory race"), (wait, "")):
        mutant = assembled(parse(text.replace(wait, line), "kernel10.s"))
        assert first_fault(rung("kernel10"), mutant, problems(rung("kernel10")), SCHEDULES, CUS) == found


def test_the_command(tmp_path: Path) -> None:
    out = tmp_path / "docs" / "mutations.md"
    arguments = ("kernel5 --vopds 1 --sample 5 --check missed --jobs 1 -o " + str(out)).split()
    result = CliRunner().invoke(command, arguments)
    assert result.exit_code == 0, result.output
    assert "| **kernel5** | **all** |" in out.read_text()
    assert "`python tools/mutate.py kernel5 --vopds 1 --sample 5 --check missed`" in out.read_text()


def test_survivors_are_a_rate_and_a_sample() -> None:
    some = tuple(
        Outcome("kernel9", "LDS offset", i, f"a{i} -> b", "survived" if i % 2 else "found", "", "", "", f"why {i}")
        for i in range(100)
    )
    page = written(Table(some, {"kernel9": {}}, {"kernel9": "proved"}, {}), "command")
    assert "## Survivors\n\n50 of 100; 17 of them:\n" in page
    assert page.count(": why ") == 17
    assert "| **kernel9** | **all** | 100 | 0 | 0 | 0 | 50 | 0 | 50 |" in page


@pytest.mark.slow
def test_all_of_the_rewritten_kernels() -> None:
    assert not study(["kernel5", "kernel6", "kernel7", "kernel8"], jobs=2, checks="missed").survivors
