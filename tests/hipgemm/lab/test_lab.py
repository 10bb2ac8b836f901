"""The lab's experiments at a small size: what they must show, whatever the machine numbers are."""

import json
from collections.abc import Callable
from math import gcd
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import numpy as np
import pytest
from verbs import Run, invoked

from hipgemm.kernels.build import build
from hipgemm.lab import EXPERIMENTS, banks, experiment, ilp, micro, registers
from hipgemm.lab.banks import PATTERNS, by_rules
from hipgemm.lab.bench import LaunchPaths
from hipgemm.lab.coalescing import CASES
from hipgemm.lab.frame import Column, Plot, Study
from hipgemm.lab.gemms import Tiled
from hipgemm.lab.lds import closed_form
from hipgemm.report import lab, svg
from isa import toolchain
from isa.timing.machine import bank_rules, coalescing, rdna3
from isa.timing.machine.cards import card

needs_compiler = pytest.mark.skipif(not list(toolchain.available()), reason="no compiler for gfx11 here")


@pytest.fixture
def study(run_program: Run) -> Callable[[str, str, int | None], dict[str, Any]]:
    """Runs an experiment, written as Python, in a process of its own."""

    def run(module: str, expression: str, *sizes: int) -> dict[str, Any]:
        done = run_program(
            f"import json; from hipgemm.measure.device import Device; from hipgemm.lab.{module} import *\n"
            "from hipgemm.lab.frame import study\n"
            f"print(json.dumps(study({expression}, Device.open('simulated'), *{sizes}).to_dict()))"
        )
        found: dict[str, Any] = json.loads(done.stdout)
        assert found["correct"]
        assert {row["time_kind"] for row in found["rows"]} == {"predicted"}
        keys = {column["key"] for column in found["columns"]}
        assert all(keys <= set(row) for row in found["rows"])
        return found

    return run


def column(found: dict[str, Any], key: str) -> list[Any]:
    return [row[key] for row in found["rows"]]


@needs_compiler
def test_larger_tiles_do_more_with_what_they_load(study: Callable[..., dict[str, Any]]) -> None:
    found = study("tiles", "Tiles(((1, 1), (4, 4), (8, 8)), (8,))", 128)
    assert column(found, "intensity") == [4, 16, 32]
    assert column(found, "fmas") == [1, 16, 64]
    assert column(found, "lds_loads") == sorted(column(found, "lds_loads"))
    each = [loads / fmas for loads, fmas in zip(column(found, "lds_loads"), column(found, "fmas"), strict=True)]
    assert each == sorted(each, reverse=True)
    assert column(found, "waves")[0] == 16
    assert column(found, "lds") == [4 * 8 * (16 * 2 * t + 4) for t in (1, 4, 8)]


@needs_compiler
def test_sizes_are_a_column(study: Callable[..., dict[str, Any]]) -> None:
    """A tile that does not divide a size has no row of that size."""
    found = study("tiles", "Tiles(((1, 1), (2, 2), (16, 8)), (8,))", 64, 32)
    assert [(row["n"], row["tile"]) for row in found["rows"]] == [
        (32, "1 x 1"), (32, "2 x 2"), (64, "1 x 1"), (64, "2 x 2")
    ]  # fmt: skip
    assert found["columns"][0]["key"] == "n"
    assert found["conditions"]["size"] == "M = N = K = 32, 64"


def test_a_curve_has_a_line_for_each_name() -> None:
    rows = [{"n": n, "tile": tile, "bk": 8, "tflops": 1.0 + n} for n in (32, 64) for tile in ("1 x 1", "2 x 2")]
    plot = experiment("tiles").bars.curve(rows)
    assert plot.caption == "Speed by thread tile, by size"
    assert plot.drawing.count("<circle") + plot.drawing.count("<rect") >= 4
    assert all(f"{tile}, BK 8" in plot.drawing for tile in ("1 x 1", "2 x 2"))


@needs_compiler
def test_padding_takes_conflicts_away(study: Callable[..., dict[str, Any]]) -> None:
    unpadded, padded = study("steps", "Steps(STEPS[:2])", 128)["rows"]
    assert padded["lds"] - unpadded["lds"] == 8 * 4 * 4
    assert padded["time_ms"] < unpadded["time_ms"]


@needs_compiler
def test_a_falling_cap_first_gives_occupancy_and_then_takes_time(study: Callable[..., dict[str, Any]]) -> None:
    found = study("registers", "Registers((256, 64))", 128)
    assert all(used <= cap for used, cap in zip(column(found, "vgprs"), (256, 64), strict=True))
    assert column(found, "waves") == sorted(column(found, "waves"))
    assert column(found, "scratch")[0] == 0
    assert column(found, "scratch_ops") == sorted(column(found, "scratch_ops"))
    assert column(found, "scratch_ops")[-1] > 50
    assert column(found, "time_ms")[-1] > 5 * column(found, "time_ms")[0]


@needs_compiler
def test_a_profile_shows_what_fits_what_is_there_and_what_waits(study: Callable[..., dict[str, Any]]) -> None:
    """Tiles as deep as they are wide, as the article Register Tiling has them."""
    one, four, library = study("profile", "Profile(SUBJECTS[1:3])", 256)["rows"]
    assert (one["waves"], four["waves"]) == (16, 8)
    for row in (one, four, library):
        assert 0 < row["eligible"] < row["average"] <= row["waves"]
        assert 0 < row["ipc"] <= 2
    assert four["conflicts"] > 20 > library["conflicts"] == 0
    assert one["queue"] > 2 * four["queue"]
    assert four["of_library"] < library["of_library"] == 100


@needs_compiler
def test_kernel_8_takes_waves_from_its_loads_to_the_waits_for_them(study: Callable[..., dict[str, Any]]) -> None:
    """The study's loads took 48 million cycles before step 8, and less than 2 after it; the waits it does not tell."""
    unrolled, batched, _ = study("profile", "Profile(SUBJECTS[-2:])", 512)["rows"]
    assert unrolled["loads"] > 2 * batched["loads"]
    assert unrolled["load_waits"] < batched["load_waits"]


@needs_compiler
def test_sums_take_registers_and_a_cap_gives_them_back(study: Callable[..., dict[str, Any]]) -> None:
    found = study("blocks", "Blocks(((0, 256, 256), (1, 256, 256), (4, 256, 256), (4, 24, 256), (4, 256, 1024)))")
    plain, chains, sums, capped, large = found["rows"]
    assert plain["vgprs"] == chains["vgprs"] < 24 < sums["vgprs"]
    assert (capped["vgprs"] <= 24, capped["spills"]) == (True, 0)
    assert capped["by_vgprs"] > sums["by_vgprs"]
    assert capped["time_us"] == pytest.approx(sums["time_us"], rel=0.1)
    assert large["average"] < sums["average"] < sums["waves"] == 16


def test_a_drawing_of_cells_has_each_number() -> None:
    drawing = svg.grids((("memory", [[0, 0, 1, 1]]), ("LDS", [[0], [0], [1], [1]])), "who copies what")
    assert drawing.count("<rect") == 8
    assert drawing.count(">1</text>") == 4
    assert "LDS: row 3, column 0: 1" in drawing
    assert svg.listings((("-O1", ["s_nop 0", "a < b"]), ("-O3", [])), "code").count("a &lt; b") == 1


@needs_compiler
@pytest.mark.slow
def test_without_the_optimiser_memory_is_all_that_counts(study: Callable[..., dict[str, Any]]) -> None:
    found = study("ilp", "Ilp(('-O0', '-O1'))", 64)
    rows = {(row["source"], row["level"]): row for row in found["rows"]}
    assert column(found, "fmas") == [8] * 4
    assert rows["nested loops", "-O0"]["lds_loads"] == 16  # what the source says, and no more
    assert rows["registers", "-O0"]["lds_loads"] == 6
    for source in ("nested loops", "registers"):
        assert rows[source, "-O0"]["scratch_ops"] > 100
        assert rows[source, "-O1"]["scratch_ops"] == 0
        assert rows[source, "-O0"]["time_ms"] > 5 * rows[source, "-O1"]["time_ms"]
    assert rows["registers", "-O1"]["lds_loads"] <= 6
    assert rows["nested loops", "-O1"]["time_ms"] > 1.5 * rows["registers", "-O1"]["time_ms"]


@needs_compiler
def test_without_the_optimiser_variables_are_in_memory(monkeypatch: pytest.MonkeyPatch) -> None:
    """What a wave executes for a k, recorded; the times are compared by the slow test above."""
    monkeypatch.setattr(LaunchPaths, "trace", LaunchPaths._recorded)  # following thousands of instructions takes long
    made = {level: ilp.row(False, level) for level in ("-O0", "-O1")}
    counts = {
        level: LaunchPaths(build(row, flags=[level, "-DNESTED=0"]), row).per_step(row.tile[2])
        for level, row in made.items()
    }
    assert [counts[level]["LDS load"] for level in made] == [6, counts["-O1"]["LDS load"]]
    assert counts["-O1"]["LDS load"] <= 6
    assert counts["-O0"]["scratch access"] > 100 > 0 == counts["-O1"]["scratch access"]


@needs_compiler
def test_wider_loads_are_fewer_and_padding_costs_its_copies(study: Callable[..., dict[str, Any]]) -> None:
    found = study("vectors", "Vectors(((1, 1), (4, 4)), tile=4, bk=8)", 128)
    scalar, vector, checked, padded, library = found["rows"]
    assert library["tflops"] > vector["tflops"]
    assert scalar["global_loads"] == 4 * vector["global_loads"]
    assert vector["lds_by"] == "ds_load_b128"
    assert scalar["lds_loads"] > vector["lds_loads"] == 2
    assert vector["time_ms"] < scalar["time_ms"]
    assert checked["n"] == padded["n"] == 125
    assert checked["all"] > vector["all"]
    assert padded["time_ms"] > padded["copies_ms"] > 0 == checked["copies_ms"]


@needs_compiler
def test_conflict_free_pairs_take_one_cycle_and_two_way_ones_two() -> None:
    """What the cycle model says of all patterns."""
    on, cycles = card("7900 XTX"), {}
    for pattern in PATTERNS:
        one = banks.kernel(pattern)
        pairs = len(one.body) * banks.WAVES_A_SIMD
        times = [launch.timing().time_s for launch in micro.timed(one, 0, on)]
        cycles[pattern.name] = micro.of_an_iteration(times, one.iterations) * on.clock_mhz * 1e6 / pairs
        assert cycles[pattern.name] == pytest.approx(by_rules(pattern)[bank_rules.DEFAULT], rel=0.06), pattern.name
    assert min(cycles, key=lambda name: cycles[name]) in ("conflict-free", "same register")
    assert cycles["two-way"] > 1.9 * cycles["conflict-free"]
    assert cycles["reuse of both"] < 1.1


@needs_compiler
@pytest.mark.slow
def test_all_patterns_compute_what_they_should(study: Callable[..., dict[str, Any]]) -> None:
    assert len(study("banks", "EXPERIMENT")["rows"]) == len(PATTERNS)


@needs_compiler
def test_lines_of_one_set_push_each_other_out(study: Callable[..., dict[str, Any]]) -> None:
    """The simulated card goes by a hash: what low bits would serve, it does not, and the other way round."""
    found = study("strides", "Strides(((8192, 80), (129 * 128, 80), (8192 + 128, 80)))")
    assert column(found, "hashed") == [100, 0, 100]
    assert column(found, "plain") == [0, 100, 100]
    spread, together, control = column(found, "cycles")
    assert spread == pytest.approx(control, rel=0.01)
    assert together > control + 20


@needs_compiler
def test_an_lds_load_takes_what_its_stride_says(study: Callable[..., dict[str, Any]]) -> None:
    found = study("lds", "Lds((1, 2, 7, 16, 32), (1, 4))")
    for row in found["rows"]:
        for width in ("b32", "b128"):
            assert row[f"{width}_32"] <= row[width] + 0.01
            if row["stride"] % 2 == 0:  # the LDS alone decides, but for a cycle that its short queue may lose
                assert row[width] <= row[f"{width}_32"] + 1
            assert row[f"{width}_store"] >= row[f"{width}_32"] - 0.01
    assert column(found, "b32_store")[-1] == pytest.approx(32, rel=0.01)
    assert max(column(found, "b32")) == column(found, "b32")[-1] == pytest.approx(32, rel=0.01)
    assert column(found, "b32")[0] == column(found, "b32")[2] < 1.3


def test_lanes_that_lie_apart_move_more_than_they_ask_for(study: Callable[..., dict[str, Any]]) -> None:
    found = study("coalescing", "EXPERIMENT")
    for row, (_, dwords, apart, first) in zip(found["rows"], CASES, strict=True):
        asked = {4 * (first + apart * lane) + byte for lane in range(32) for byte in range(4 * dwords)}
        assert (row["asked"], row["sectors"]) == (len(asked), len({byte // 32 for byte in asked}))
        assert row["excess"] == pytest.approx(100 * (32 * row["sectors"] / len(asked) - 1))
        lines = len({byte // 128 for byte in asked})
        assert row["cycles"] >= max(4, lines / rdna3.NUMBERS["l0_tags"].value) - 0.01


def test_a_kernel_that_reads_another_word_is_seen(run_program: Run) -> None:
    """The answers that the experiments on accesses check are those of this stride, place and width, and no other."""
    done = run_program(
        "from functools import partial\nfrom hipgemm.lab import coalescing, lds, micro\n"
        "from hipgemm.lab.bench import Bench\nfrom hipgemm.measure.device import Device\n"
        "bench = Bench(Device.open('simulated'), lambda _: None)\n"
        "print([micro.run(bench, coalescing.kernel(2, 4, 0), 0, partial(coalescing.answer, *case)).correct\n"
        "       for case in ((2, 4, 0), (2, 4, 1), (2, 2, 0), (1, 4, 0))])\n"
        "print([micro.run(bench, lds.kernel(2, True), 3, partial(lds._once, *case)).correct\n"
        "       for case in ((2, 3), (2, 2), (1, 3), (4, 3))])\n"
    )
    assert done.stdout.split("\n")[:2] == ["[True, False, False, False]"] * 2, done.stderr


@pytest.mark.parametrize("tools", list(toolchain.available()), ids=lambda tools: f"{tools.kind} {tools.version[:30]}")
def test_every_compiler_keeps_to_the_cap_and_builds_every_choice(tools: toolchain.Toolchain) -> None:
    capped = build(registers.capped(64), flags=["-O3", "-DVGPRS=64"], tools=tools).stages[0].shape
    assert capped is not None
    assert capped.vgprs <= 64
    assert capped.spills > 50
    assert capped.scratch > 0
    for choice in (Tiled(1, 1), Tiled(16, 8, 32, 4, 4), Tiled(4, 2, 8, 2, 2, guard=True)):
        shape = build(choice.row, flags=choice.flags, tools=tools).stages[0].shape
        assert shape is not None
        assert (shape.lds, shape.scratch) == (choice.lds_bytes, 0)


@pytest.mark.parametrize("dwords", [1, 2, 4])
def test_the_closed_form_is_what_phases_and_banks_give(dwords: int) -> None:
    for stride in range(1, 65):
        addresses = np.arange(32, dtype=np.int64)[None, :] * stride * dwords * 4
        masks = np.array([0xFFFFFFFF], np.int64)
        assert coalescing.lds_cycles(addresses, masks, dwords)[0] == closed_form(stride, dwords)
    assert [closed_form(s, 1) for s in range(1, 33)] == [gcd(s, 32) for s in range(1, 33)]


def test_some_pattern_tells_each_two_bank_rules_apart() -> None:
    rules = [tuple(by_rules(p)[name] for p in PATTERNS) for name in by_rules(PATTERNS[0])]
    assert len(set(rules)) == len(rules)


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["tile"], ", ".join(EXPERIMENTS)), (["banks", "-o", "plot.png"], ".svg or .html"),
        (["banks", "-n", "0"], "-n"), (["banks", "--device", "toaster"], "card:N"), (["banks", "--loud"], "--loud"),
    ],
)  # fmt: skip
def test_a_bad_name_and_bad_options_are_refused_with_what_there_is(arguments: list[str], said: str) -> None:
    assert said in invoked(["lab", *arguments], code=2).output


def test_without_a_name_it_lists_them() -> None:
    assert [line.split()[0] for line in invoked(["lab"]).output.splitlines()] == list(EXPERIMENTS)
    for name in EXPERIMENTS:
        assert experiment(name).name == name


@needs_compiler
def test_the_verb_prints_a_table_and_writes_its_plot(run_program: Run, tmp_path: Path, read_page: Any) -> None:
    verb = (
        "from hipgemm.cli import main; from hipgemm.lab import banks; "
        "banks.EXPERIMENT = banks.Banks(banks.PATTERNS[:2]); "
        "main(['lab', 'banks', *sys.argv[1:], '--device', 'simulated'])"
    )
    done = run_program(verb, "-o", str(tmp_path / "banks.svg"))
    assert "conflict-free" in done.stdout
    assert "times: predicted" in done.stdout
    root = ElementTree.fromstring((tmp_path / "banks.svg").read_text())
    assert root.tag == "{http://www.w3.org/2000/svg}svg"
    run_program(verb, "-o", str(tmp_path / "banks.html"))
    page = read_page((tmp_path / "banks.html").read_text())
    assert page.requests == []
    assert "predicted" in page.words
    assert "has no size" in run_program(verb, "-n", "64", code=2).stderr


def test_a_wrong_answer_is_said() -> None:
    rows = ({"x": 1.25, "correct": False, "time_kind": "predicted"}, {"x": None, "correct": True, "time_kind": "none"})
    drawing = svg.lines([svg.Series("a", [(1, 2.0), (3, 4.0)])], "x", "y", "t")
    found = Study("s", "A study", "Why.", (Column("x", "x", "ms", 1),), rows, (), (Plot("p", drawing),))
    assert not found.correct
    assert "WRONG in 1 of 2 rows" in lab.text(found)
    assert "not known" in lab.text(found)
    assert "1.2" in repr(found)
    assert "<table>" in found._repr_html_()
