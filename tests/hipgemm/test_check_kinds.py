"""`check` and `lint` on the kernels of kinds.hip: no fault of a right one, each bug named by its rule."""

import functools
import re
import shlex
import tempfile
from pathlib import Path

import programs
import pytest

from hipgemm.judge.checking import Schedules, check
from hipgemm.launch.launch import Launch
from hipgemm.launch.words import argument
from isa.asm.parse import parse
from isa.lint.lint import lint_program
from isa.object import code_object

HERE = Path(__file__).parent
SOURCE = HERE / "kinds.hip"
INCLUDE = HERE.parents[1] / "kernels_hip" / "include"
LAUNCHES = {
    m[3]: (m[1], m[2] or "")
    for m in re.finditer(r"^// (--grid .*?)(?: -> (.*))?\nK\(\d+\) (\w+)\(", SOURCE.read_text(), re.MULTILINE)
}
COMPILED_AWAY: frozenset[tuple[str, str]] = frozenset()
QUICK = ("r_first_or_more", "r_short", "r_struct", "r_dpp_reduce", "b_atomic_unwritten", "b_branch", "b_bits")


@functools.cache
def text(level: str) -> Path:
    compiled = Path(tempfile.mkdtemp()) / "kinds.s"
    programs.toolchain.find().compile(SOURCE, compiled, arch="gfx1100", cu_mode=True, include=INCLUDE, flags=(level,))
    return compiled


@functools.cache
def image(level: str) -> code_object.CodeObject:
    return code_object.load(programs.compiled(SOURCE, (level,), True, INCLUDE))


def findings(level: str, name: str, schedules: int) -> set[str]:
    """The faults' rules."""
    words = shlex.split(LAUNCHES[name][0])
    options = {words[i][2:]: int(words[i + 1]) for i in range(0, len(words), 2) if words[i].startswith("--")}
    given = [word.partition("=")[2] for word in words if "=" in word]
    launch = Launch(
        (options["grid"], 1, 1), (options["block"], 1, 1), tuple(argument(w, i) for i, w in enumerate(given)),
        options.get("dynamic-lds", 0),
    )  # fmt: skip
    found = check(image(level), name, launch, schedules=Schedules(schedules, budget=3_000_000))
    return {f.rule for f in found if f.severity == "fault"}


def wrong(level: str, name: str, schedules: int = 3) -> str:
    rule, faults = LAUNCHES[name][1], findings(level, name, schedules)
    if (name, level) in COMPILED_AWAY:
        return ""
    if rule in faults if rule else not faults:
        return ""
    return f"{name} {level}: {sorted(faults)}, expected {rule or 'none'}"


@pytest.mark.parametrize("name", QUICK)
def test_some(name: str) -> None:
    assert not wrong("-O2", name, 2)


@pytest.mark.parametrize("level", ["-O0", "-O2", "-O3"])
def test_all(level: str) -> None:
    assert not [said for name in LAUNCHES if (said := wrong(level, name))]


@pytest.mark.parametrize("level", ["-O0", "-O2", "-O3"])
def test_lint_has_no_fault_of_right_ones(level: str) -> None:
    program = parse(text(level).read_text(), "kinds.s")
    found = {
        name: [f for f in lint_program(program, name) if f.severity == "fault"] for name in LAUNCHES if name[0] == "r"
    }
    assert not {name: faults for name, faults in found.items() if faults}


def test_each_kernel_has_a_launch() -> None:
    assert set(LAUNCHES) == set(image("-O2").kernels)
    assert sum(name[0] == "r" for name in LAUNCHES) >= 15 <= sum(name[0] == "b" for name in LAUNCHES)
