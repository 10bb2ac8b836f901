"""Races in LDS as compilers write them: each pattern as it is right, and with what keeps its waves apart left out."""

from collections.abc import Callable
from pathlib import Path

import pytest
from texts import texts

from isa.asm.parse import parse
from isa.errors import Finding
from isa.lint.lint import lint_code_object, lint_program
from isa.object import code_object

Compile = Callable[..., tuple[str, bytes]]
PLACES = [p / "shared" / "kernels" for p in Path(__file__).resolve().parents]
SHARED = next((p for p in PLACES if p.is_dir()), PLACES[0])

SOURCE, FEW, WAVES = texts(__file__)


def faults(found: list[Finding]) -> list[Finding]:
    return [f for f in found if f.severity == "fault" and f.id == "LDS001"]


@pytest.mark.parametrize("level", ["-O0", "-O3"])
def test_each_pattern_is_clean_and_its_race_is_found(level: str, compile_hip: Compile) -> None:
    text, image = compile_hip(SOURCE, flags=(level,))
    program, code = parse(text, "k.s"), code_object.load(image)
    assert len(program.kernels) == 20
    for name in program.kernels:
        in_text = faults(lint_program(program, name, notes=False))
        # At -O0 the size of the workgroup and its parts go through variables on the stack, and in CU mode nothing tells
        # the load of a flag there from any other.
        expected = name.endswith("_race") and (name, level) not in (("size_race", "-O0"), ("handed_race", "-O0"))
        expected |= (name, level) == ("handed", "-O0")
        assert bool(in_text) == expected, [name, *map(str, in_text)]
        if level == "-O3":
            in_code = faults(lint_code_object(code, "k.hsaco", name, notes=False))
            assert [f.got for f in in_code] == [f.got for f in in_text]


@pytest.mark.parametrize("bounds", ["", "__launch_bounds__(128)"])
@pytest.mark.parametrize(
    ("first", "sync", "read", "races"),
    [
        (24, "SYNC", "0", 0),
        (24, 'asm volatile("" ::: "memory")', "0", 1),
        (240, 'asm volatile("" ::: "memory")', "0", 1),
    ],
)
def test_a_guard_that_is_not_known_keeps_waves_inside_of_lds(
    bounds: str, first: int, sync: str, read: str, races: int, compile_hip: Compile
) -> None:
    """Of 128 work-items those beyond 24 would write one array where others read the other one. That all of them read
    what one wrote without a barrier is a race all the same."""
    text, _ = compile_hip(FEW.format(bounds=bounds, first=first, sync=sync, read=read), flags=("-O3",))
    assert len(faults(lint_program(parse(text, "k.s"), "few", notes=False))) == races


needs_shared = pytest.mark.skipif(not SHARED.is_dir(), reason="no folder shared/kernels beside this repository")
RACES = ["b_nosync", "b_nosync_first", "b_war", "b_warpsync_64"]
"""Of bugs.hip the races of LDS whose addresses data does not decide; b_divbar shows only where it is optimised."""


def linted(compile_hip: Compile, name: str, level: str) -> dict[str, tuple[list[Finding], list[Finding]]]:
    """kernel -> its faults as text and in the code object."""
    text, image = compile_hip(SHARED / name, flags=(level, f"-I{SHARED}"))
    program, code = parse(text, "k.s"), code_object.load(image)
    return {
        kernel: (
            faults(lint_program(program, kernel, notes=False)),
            faults(lint_code_object(code, "k.hsaco", kernel, notes=False)),
        )
        for kernel in program.kernels
    }


@needs_shared
@pytest.mark.slow
@pytest.mark.parametrize("level", ["-O0", "-O1", "-O2", "-O3"])
@pytest.mark.parametrize("name", ["good.hip", "sync.hip"])
def test_correct_kernels_have_no_race(name: str, level: str, compile_hip: Compile) -> None:
    found = linted(compile_hip, name, level)
    assert len(found) == {"good.hip": 32, "sync.hip": 20}[name]
    assert not [str(f) for both in found.values() for those in both for f in those]


@needs_shared
@pytest.mark.parametrize("level", ["-O0", "-O3"])
def test_races_of_broken_kernels_are_found(level: str, compile_hip: Compile) -> None:
    found = linted(compile_hip, "bugs.hip", level)
    expected = {*RACES} if level == "-O0" else {*RACES, "b_divbar"}
    assert {kernel for kernel, (text, _) in found.items() if text} == expected
    assert {kernel for kernel, (_, code) in found.items() if code} == expected


@needs_shared
def test_correct_kernels_have_no_race_in_short(compile_hip: Compile) -> None:
    for name in ("good.hip", "sync.hip"):
        program = parse(compile_hip(SHARED / name, flags=("-O3", f"-I{SHARED}"))[0], "k.s")
        for kernel in program.kernels:
            assert not faults(lint_program(program, kernel, notes=False)), kernel


def test_two_waves_are_taken_only_where_the_second_has_room(compile_hip: Compile) -> None:
    text, image = compile_hip(WAVES)
    program, code = parse(text, "k.s"), code_object.load(image)
    for name in program.kernels:
        expected = name != "one"
        assert bool(faults(lint_program(program, name, notes=False))) == expected, name
        assert bool(faults(lint_code_object(code, "k.hsaco", name, notes=False))) == expected, name


FITTING = """
#include <hip/hip_runtime.h>
#define K(name, size, at) extern "C" __global__ void name(float *o, const float *x) { \\
  __shared__ float s[size]; int t = threadIdx.x; s[t] = x[t]; o[t] = s[at]; }
K(reversed, 256, 255 - t)
K(far, 512, t ^ 256)
K(near, 256, t ^ 31)
K(larger, 300, 255 - t)
"""


def test_the_workgroup_that_an_array_was_made_for_is_taken(compile_hip: Compile) -> None:
    """No bounds are said. A larger array may be one of which 32 work-items use a part."""
    program = parse(compile_hip(FITTING)[0], "k.s")
    found = {name for name in program.kernels if faults(lint_program(program, name, notes=False))}
    assert found == {"reversed", "far"}


STACK = """
#include <hip/hip_runtime.h>
extern "C" __global__ void stack(int *out, int depth) {
  __shared__ int st[12][64]; int t = threadIdx.x, top = 0, sum = 0; st[top++][t] = 1;
  while (top) { int v = st[--top][t]; sum += v;
    if (v < (1 << depth) && ((v * 7 + t) & 3)) { st[top++][t] = 2 * v; st[top++][t] = 2 * v + 1; } }
  out[blockIdx.x * 64 + t] = sum; }
"""


def test_an_array_that_several_workgroups_would_fit_is_judged_for_each(compile_hip: Compile) -> None:
    """512 work-items could write all of it, too, and would race; it is right for 64."""
    program = parse(compile_hip(STACK, flags=("-O0",))[0], "k.s")
    assert not faults(lint_program(program, "stack", notes=False))
