"""What `time` says a change would save, against what the change saves: kernels with one inefficiency each, and the same
without it (gains.hip), both by the cycle model."""

import functools
from pathlib import Path

import pytest

from hipgemm.judge import gains
from hipgemm.judge.memory_use import named
from hipgemm.judge.predict import timed
from hipgemm.kernels.build import Linked, linked
from hipgemm.kernels.files import read_kernel
from hipgemm.launch.launch import Launch
from hipgemm.launch.words import argument
from isa import toolchain
from isa.timing.machine import cards
from isa.timing.model.predict import TimedLaunch

pytestmark = pytest.mark.skipif(not list(toolchain.available()), reason="no compiler for gfx11 here")
M = 1 << 20
CLOCK = 2500
CASES: dict[str, tuple[tuple[int, ...], tuple[int, ...], int, str]] = {
    "column": ((768, 256), (768, 256), 0, "LDS bank conflicts"),
    "transpose": ((1536, 256), (1536, 256), 1536 * 32, "LDS bank conflicts"),
    "strided": ((1536, 256), (1536, 256), 0, "access that is not coalesced"),
    "scattered": ((6144, 256), (6144, 256), 0, "access that is not coalesced"),
    "fields": ((3072, 256), (3072, 256), 0, "access that is not coalesced"),
    "indexed": ((768, 256), (768, 256), 7, "scratch: spills or arrays that a variable indexes"),
    "early": ((192, 32), (192, 32), M, "waits that come too early"),
    "single": ((768, 256), (768, 256), 0, "instructions that could be issued in pairs"),
    "banks": ((768, 256), (768, 256), 0, "reads that meet in a register bank"),
    "gather": ((768, 64, 60000), (768, 64), 1 << 18, "the occupancy's limit by LDS"),
    "work": ((97, 1024), (96, 1024), 0, "a last round that is not full"),
    "few work": ((8, 1024), (256, 32), 0, "units without a workgroup"),
    "lanes": ((768, 256), (768, 256), 0, "paths that lanes of a wave take in turn"),
    "trips": ((768, 256), (768, 256), 0, "paths that lanes of a wave take in turn"),
    "layout": ((96, 256), (96, 256), 24608, "access that is not coalesced"),
    "sevens": ((8192, 256), (8192, 256), 0, "access that is not coalesced"),
    "exact": ((192, 64), (192, 64), M, "waits that come too early"),
    "each": ((192, 64), (192, 64), M, "waits that come too early"),
    "narrow": ((1536, 256), (1536, 256), 0, "narrow access"),
    "rows": ((192, 64), (192, 64), 0, "rows that meet in slices of L2 and channels of memory"),
}
"""Kernel -> workgroups, work-items and bytes of LDS with the inefficiency and without it, n, and the rule."""
OTHERS: dict[str, tuple[tuple[int, ...], tuple[int, ...], int, str]] = {
    "spilled": ((192, 256), (192, 256), 0, "scratch: spills or arrays that a variable indexes"),
}
"""The same, of one with more than one."""


@functools.cache
def made() -> Linked:
    return linked(
        read_kernel(str(Path(__file__).with_name("gains.hip")), "column_bad", ("-gline-tables-only",)), runs=False
    )


def launched(case: str, side: int) -> TimedLaunch:
    first, second, n, _ = (CASES | OTHERS)[case]
    grid, block, *lds = second if side else first
    words = (f"buffer:{1 << 29}", f"buffer:{1 << 29}", f"i32:{n}")
    arguments = tuple(argument(word, i) for i, word in enumerate(words))
    launch = Launch((grid, 1, 1), (block, 1, 1), arguments, *lds)
    name = f"{case.split()[-1]}_{('bad', 'good')[side]}"
    return timed(made().code_object, name, launch, cards.card("7900 XTX"))


def found(case: str, side: int) -> list[gains.Gain]:
    ready = launched(case, side).prepared
    return gains.gains(ready, CLOCK, named(ready.cfg, made().places(ready.cfg.instructions)))


@pytest.mark.parametrize("case", CASES)
def test_the_rule_names_the_cause_first_and_its_gain_is_that_of_the_change(case: str) -> None:
    bad, good = (launched(case, side) for side in (0, 1))
    work = CASES[case][1][0] * CASES[case][1][1] / (CASES[case][0][0] * CASES[case][0][1])
    saved = 1 - good.median(CLOCK).time_s / work / bad.median(CLOCK).time_s
    first = found(case, 0)[0]
    assert first.name == CASES[case][3]
    assert not first.bound
    assert first.part == pytest.approx(saved, abs=0.05)


def test_spills_are_named_first() -> None:
    """What the compiler does in their place is its own: it keeps more loads under way, too."""
    assert found("spilled", 0)[0].name == OTHERS["spilled"][3]


@pytest.mark.parametrize("case", CASES)
def test_without_the_cause_the_rule_says_nothing(case: str) -> None:
    assert CASES[case][3] not in {gain.name for gain in found(case, 1)}
