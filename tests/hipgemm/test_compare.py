"""What `compare` says two kernels differ by, for pairs whose difference is known by how they are written."""

from pathlib import Path

import pytest
from test_gains import CASES, CLOCK, OTHERS, launched, made
from verbs import invoked

from hipgemm.judge import gains, timeline
from hipgemm.judge.comparison import Comparison, compared
from hipgemm.judge.memory_use import memory_use, named
from hipgemm.judge.predict import Prediction
from hipgemm.launch.launch import Launch
from isa import toolchain

pytestmark = pytest.mark.skipif(not list(toolchain.available()), reason="no compiler for gfx11 here")
PAIRS = {
    "column": "LDS bank conflicts",
    "strided": "access that is not coalesced",
    "single": "instructions that could be issued in pairs",
    "gather": "the occupancy's limit by LDS",
    "indexed": "scratch: spills or arrays that a variable indexes",
    "spilled": "scratch: spills or arrays that a variable indexes",
    "layout": "access that is not coalesced",
    "lanes": "paths that lanes of a wave take in turn",
}


def compared_pair(case: str, sides: tuple[int, int] = (1, 0)) -> Comparison:
    """The kernel without its inefficiency against the one with it."""
    predictions, prepared = [], []
    for side in sides:
        asked = launched(case, side)
        ready, timing = asked.prepared, asked.estimate(CLOCK)
        places = made().places(ready.cfg.instructions)
        where = named(ready.cfg, places)
        predictions.append(
            Prediction(
                asked.name, Launch(asked.grid, asked.block, ()), timing, memory_use(ready, timing, where),
                gains=tuple(gains.gains(ready, CLOCK, where)), lines=timeline.profile(ready, CLOCK, places),
            )
        )  # fmt: skip
        prepared.append(ready)
    return compared(("A", "B"), prepared, predictions)


@pytest.mark.parametrize("case", PAIRS)
def test_the_first_cause_is_what_the_kernels_differ_by(case: str) -> None:
    found = compared_pair(case)
    assert found.first == PAIRS[case] == (CASES | OTHERS)[case][3]
    assert found.b_ms > found.a_ms


def test_parts_add_up_and_a_faster_kernel_is_one_by_the_same_cause() -> None:
    found = compared_pair("column", (0, 1))
    assert found.first == PAIRS["column"]
    more = found.b_ms - found.a_ms
    assert more < 0
    for parts in (found.cycles, found.loops, found.lines):
        assert sum(part.more_ms for part in parts) == pytest.approx(more, abs=0.05 * found.a_ms)
    line = min(found.lines, key=lambda part: part.more_ms)
    assert "gains.hip" in line.what


def test_a_kernel_and_itself_differ_by_nothing() -> None:
    found = compared_pair("column", (1, 1))
    assert (found.first, found.causes, found.cycles, found.loops, found.lines) == ("", (), (), (), ())


def test_the_verb() -> None:
    file = str(Path(__file__).with_name("gains.hip"))
    words = "--kernel strided_good --kernel-b strided_bad --grid 96 --block 256".split()
    arguments = "--arg buffer:16777216 --arg buffer:16777216 --arg i32:0".split()
    assert "mostly for access that is not coalesced" in invoked(["compare", file, file, *words, *arguments]).stdout


def test_hip_and_triton(tmp_path: Path) -> None:
    """The same sums, by a kernel in Triton whose lanes walk rows."""
    (tmp_path / "b.toml").write_text(
        'grid = 96\nblock = 256\nargs = ["buffer:536870912", "buffer:536870912", "i32:24608", "buffer:4", "buffer:4"]\n'
    )
    here = Path(__file__).parent
    files = str(here / "gains.hip"), str(here / "sources" / "compare_triton.s")
    words = "--kernel layout_good --kernel-b layout --grid 96 --block 256 --launch-b".split()
    arguments = "--arg buffer:536870912 --arg buffer:536870912 --arg i32:24608".split()
    done = invoked(["compare", *files, *words, str(tmp_path / "b.toml"), *arguments])
    assert "mostly for access that is not coalesced" in done.stdout
