"""The dynamic checker on HIP kernels that others wrote: no fault in correct ones, each known bug found.

The kernels lie in `shared/kernels` beside the repository: 32 in good.hip and 20 in sync.hip are correct, each of
bugs.hip has one bug, which its name tells. The two of good.hip that have no launch there get theirs here.
"""

import functools
import json
from pathlib import Path

import programs
import pytest

from hipgemm.judge.checking import Schedules, check
from hipgemm.kernels.build import assembled
from hipgemm.launch.launch import Launch
from hipgemm.launch.words import argument
from isa.asm.parse import parse
from isa.object import code_object
from isa.object.lines import NO_LINES, Lines

HERE = Path(__file__).parent
INCLUDE = HERE.parents[1] / "kernels_hip" / "include"
FOLDER = next((p / "shared" / "kernels" for p in HERE.parents if (p / "shared" / "kernels").is_dir()), None)
pytestmark = pytest.mark.skipif(FOLDER is None, reason="there is no shared/kernels beside the repository")
LEVELS = ("-O0", "-O1", "-O2", "-O3")
OWN = {
    "b_misaligned": {"grid": [2, 1, 1], "block": [64, 1, 1], "args": ["unwritten:f32:512", "random:f32:516"]},
    "fptr": {"grid": [3, 1, 1], "block": [64, 1, 1], "args": ["buffer:600:unwritten", "i32:150"]},
    "dynlds": {
        "grid": [2, 1, 1], "block": [64, 1, 1], "args": ["buffer:512:unwritten", "buffer:256:random"], "lds": 256,
    },
}  # fmt: skip
FOUND = {
    "b_nosync": "LDS race", "b_nosync_first": "LDS race", "b_oob": "out-of-bounds access",
    "b_uninit_lds": "uninitialized LDS read", "b_wg_race": "memory race", "b_wg_race_store": "memory race",
    "b_nofence": "memory race", "b_relaxed": "memory race", "b_lock_noacq": "memory race",
    "b_divbar": "waves missing at a barrier", "b_uninit_mem": "uninitialized memory read",
    "b_misaligned": "misaligned memory access", "b_war": "LDS race", "b_lds_oob": "out-of-bounds access",
    "b_wave_global": "memory race", "b_lane_race": "lanes store different values to one place",
    "b_uninit_var": "uninitialized register read", "b_inf": "instruction budget exhausted",
    "b_null": "out-of-bounds access", "b_neg": "out-of-bounds access", "b_hist_nonatomic": "LDS race",
    "b_ovf32": "out-of-bounds access", "b_warpsync_64": "LDS race",
    "b_shfl_inactive": "value of a lane that is off",
}  # fmt: skip
"""What is told of each."""
COMPILED_AWAY = frozenset({"b_lane_race", "b_uninit_var", "b_null"})
"""From -O1 on."""
NOTES = {
    "compact": "result depends on the order of atomics",
    "seq_queue": "result depends on the order of atomics",
    "same_value": "same value stored by two waves",
}


@functools.cache
def image(file, level):
    return code_object.load(programs.compiled(FOLDER / f"{file}.hip", (level,), True, INCLUDE))


@functools.cache
def launches():
    return {**json.loads((FOLDER / "launches.json").read_text()), **OWN}


def findings(file, level, name, schedules=3, code=None, lines=NO_LINES):
    said = launches()[name]
    arguments = tuple(argument(text, i) for i, text in enumerate(said["args"]))
    launch = Launch(tuple(said["grid"]), tuple(said["block"]), arguments, said.get("lds", 0))
    limits = Schedules(schedules, budget=3_000_000)
    return check(code or image(file, level), name, launch, lines=lines, schedules=limits)


def judge(file, level, name, found):
    """What is wrong with these findings, "" for nothing."""
    faults = {f.rule for f in found if f.severity == "fault"}
    if file != "bugs":
        notes = {f.rule for f in found} - faults
        wrong = faults or notes != {NOTES[name]} & notes if name in NOTES else faults or notes
        return f"{name}{level}: {found}" if wrong else ""
    here = FOUND.get(name) if level == "-O0" or name not in COMPILED_AWAY else None
    return f"{name}{level}: {sorted(faults)}" if (here not in faults if here else faults) else ""


@pytest.mark.parametrize(
    ("file", "level", "name"),
    [
        ("good", "-O2", "gray"), ("good", "-O1", "wmma"), ("good", "-O1", "calls"), ("good", "-O1", "recursion"),
        ("good", "-O2", "fptr"), ("good", "-O2", "dynlds"), ("sync", "-O2", "spinlock"), ("sync", "-O2", "compact"),
        ("sync", "-O2", "same_value"), ("bugs", "-O2", "b_nofence"), ("bugs", "-O2", "b_lock_noacq"),
        ("bugs", "-O2", "b_wg_race_store"), ("bugs", "-O0", "b_lane_race"), ("bugs", "-O2", "b_hist_nonatomic"),
        ("bugs", "-O2", "b_misaligned"), ("bugs", "-O2", "b_warpsync_64"),
    ],
)  # fmt: skip
def test_some(file, level, name):
    assert not judge(file, level, name, findings(file, level, name, schedules=2))


@pytest.mark.slow
@pytest.mark.parametrize("level", LEVELS)
@pytest.mark.parametrize("file", ["good", "sync", "bugs"])
def test_all(file, level):
    said = (judge(file, level, name, findings(file, level, name)) for name in image(file, level).kernels)
    assert not [text for text in said if text]


@pytest.mark.slow
@pytest.mark.parametrize("level", LEVELS)
def test_text_and_code_object_say_the_same(level, tmp_path):
    """As `hipgemm check FILE.s`: the text as it is read and written again, with lines."""
    for file in ("good", "sync", "bugs"):
        text = tmp_path / f"{file}.s"
        programs.toolchain.find().compile(
            FOLDER / f"{file}.hip", text, arch="gfx1100", cu_mode=True, include=INCLUDE, flags=(level,)
        )
        program = parse(text.read_text(), text.name)
        code = assembled(program)
        lines = Lines(program, code, programs.linked)
        for name in image(file, level).kernels:
            found = findings(file, level, name, 1, code, lines)
            assert [(f.rule, f.severity) for f in found] == [
                (f.rule, f.severity) for f in findings(file, level, name, 1)
            ], name
            assert all(f.span.file == program.file for f in found if f.span), name


def test_the_launches_cover_all_kernels():
    names = [n for file in ("good", "sync", "bugs") for n in image(file, "-O2").kernels]
    assert sorted(names) == sorted(launches())
    assert len(names) == 32 + 20 + 24
    assert {n for n in names if n.startswith("b_")} == FOUND.keys()
