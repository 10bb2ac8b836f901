"""`hipgemm opt` without --passes: what it finds is faster by the clock and proved, and what gains nothing stays."""

import contextlib
import dataclasses
import json
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner
from verbs import invoked

from hipgemm.cli import main, progress
from hipgemm.judge import proving
from hipgemm.kernels import stages
from hipgemm.kernels.object import Kernel
from hipgemm.optimise import clock as opt_clock
from hipgemm.optimise import rewriting
from hipgemm.optimise import search as optimise
from isa import toolchain
from isa.asm.emit import emit
from isa.asm.parse import parse
from isa.asm.program import Program
from isa.errors import IsaError
from isa.object import bundle
from isa.object.code_object import load
from isa.object.to_text import text_of
from isa.timing.machine import cards

CASES = Path(__file__).parents[1] / "isa" / "passes" / "cases" / "any"
FOOTER = (CASES.parents[1] / "footer.s").read_text()
WMMA = Path(__file__).with_name("sources").joinpath("optimise_wmma.s").read_text()
STILL = opt_clock.Clock("still", lambda p: 1.0, lambda p: 1.0)
"""Likes nothing better."""


@pytest.fixture
def files(tmp_path: Path) -> tuple[Path, Path]:
    """A kernel, and where it is written to."""
    file, out = tmp_path / "w.s", tmp_path / "o.s"
    file.write_text(WMMA + FOOTER)
    return file, out


def marks(program: Program) -> str:
    """What `marking` left, in its order of now."""
    return "".join(line[2:] for line in emit(program).splitlines() if line[:2] == "; " and len(line) == 3)


def marking(program: Program, passes: str, **_: object) -> Iterator[tuple[str, Program]]:
    """In the place of a pipeline: a comment with its name."""
    yield passes, parse(f"; {passes}\n{emit(program)}")


def test_matrix_operands_leave_the_bank_that_they_share(files: tuple[Path, Path]) -> None:
    file, out = files
    done = invoked(["opt", str(file), "-o", str(out), "--explain"])
    assert "by the code alone: loops run up to 12 iterations" in done.stderr
    assert "rename-banks" in done.stderr
    before, after = (stages.figures(parse(f.read_text()), "k") for f in (file, out))
    assert (before.matrix, after.matrix) == (4, 0)
    assert after.vgprs <= 96


def test_a_proof_names_what_was_written(files: tuple[Path, Path]) -> None:
    """And the reasons why passes do not take a kernel stand once each."""
    file, out = files
    done = CliRunner().invoke(main, ["opt", str(file), "-o", str(out), "--prove"])
    assert f"proved: {out} computes what {file} does" in done.stderr
    reasons = [line.rpartition(": ")[2] for line in done.stderr.splitlines() if line.startswith("  unroll")]
    assert reasons
    assert len(set(reasons)) == len(reasons)


def test_a_proof_is_no_part_of_the_budget(files: tuple[Path, Path], monkeypatch: pytest.MonkeyPatch) -> None:
    """It is made whole, however long it takes, and said to be what takes so long."""
    monkeypatch.setattr(progress, "FIRST_S", 0.2)
    same = proving.same

    def slowly(*words: Any, **more: Any) -> Any:
        time.sleep(0.5)
        return same(*words, **more)

    monkeypatch.setattr(proving, "same", slowly)
    done = invoked(["opt", str(files[0]), "-o", str(files[1]), "--budget", "0", "--prove"])
    assert "... proving k, after the budget (0.2 s)\n" in done.stderr
    assert "proved: " in done.stderr


def test_json_says_what_the_table_says(files: tuple[Path, Path]) -> None:
    """A named pass needs no search; stdout holds the objects alone."""
    searched, named = (
        json.loads(CliRunner().invoke(main, ["opt", str(files[0]), "--json", *more]).stdout)
        for more in (["--prove"], ["--passes", "rename-banks"])
    )
    assert searched["kernel"] == named["kernel"] == "k"
    assert searched["proof"]["verdict"] == "proved"
    assert [step["matrix"] for step in searched["steps"]] == [4, 0]
    assert 0 < searched["gain"] < 0.5
    assert named["proof"] is None
    assert "steps" not in named


def test_what_gains_nothing_stays() -> None:
    """Under a clock that likes nothing better, reads that collide part, since that costs nothing, and no more is done;
    where none collide, the very program comes back. A pass's refusal is told."""
    parted = optimise.optimise(parse(WMMA + FOOTER), "k", STILL)
    assert [step.passes for step in parted.steps] == ["unchanged", "rename-banks"]
    found = optimise.optimise(parted.program, "k", STILL)
    assert found.program is parted.program
    assert len(found.steps) == 1
    assert found.tried > 0
    assert "unroll" in found.refused
    assert "no gain" in optimise.table(found, "k")[-1]


@pytest.mark.parametrize(("candidates", "tried"), [(9, 9), (None, 12)])
def test_a_budget_of_candidates_finds_the_same_however_long_they_take(candidates: int | None, tried: int) -> None:
    """As on a slower machine; and it is kept, where no budget is given, too."""
    program = parse(WMMA + FOOTER)

    def found(slow: float) -> optimise.Optimised:
        def quick(p: Program) -> float:
            time.sleep(slow)
            return float(len(emit(p)) % 97 + 1)

        return optimise.optimise(program, "k", opt_clock.Clock("length", quick, quick), candidates=candidates)

    fast, slow = found(0.0), found(0.02)
    assert fast.tried == slow.tried == tried
    assert emit(fast.program) == emit(slow.program)
    assert [s.passes for s in fast.steps] == [s.passes for s in slow.steps]


def test_the_budget_holds_within_a_candidate(monkeypatch: pytest.MonkeyPatch) -> None:
    """A pass that does not end is dropped; handlers of errors do not swallow the end of its time."""

    def forever(*_: object, **__: object) -> None:
        while True:  # it waits for nothing: the budget is processor time
            with contextlib.suppress(Exception):
                sum(range(1000))

    monkeypatch.setattr(optimise, "run_pipeline", forever)
    program = parse(WMMA + FOOTER)
    found = optimise.optimise(program, "k", STILL, budget_s=0.2)
    assert found.program is program
    assert optimise.REGISTERS[0] in found.refused  # and what was begun with what little was left
    assert set(found.refused.values()) == {"not done within the budget"}
    assert "no gain" in optimise.table(found, "k")[-1]


@pytest.mark.parametrize("proved", [True, False])
def test_what_rests_on_an_assumption_is_kept_where_it_is_proved(monkeypatch: pytest.MonkeyPatch, proved: bool) -> None:
    """And is not tried where nobody can prove it."""
    monkeypatch.setattr(optimise, "REGISTERS", ())
    monkeypatch.setattr(optimise, "ORDERS", ())
    monkeypatch.setattr(optimise, "ASSUMING", ("rename-banks",))
    program, asked = parse(WMMA + FOOTER), []

    def read(p: Program) -> float:
        return 1.0 + stages.figures(p, "k").matrix

    clock = opt_clock.Clock("banks", read, read)
    found = optimise.optimise(program, "k", clock, same=lambda made: bool(asked.append(made)) or proved)
    assert len(asked) == 1
    assert ("not proved" in found.refused.get("rename-banks", "")) == (not proved)
    assert ("rename-banks" in [step.passes for step in found.steps[1:2]]) or not proved
    alone = optimise.optimise(program, "k", clock)
    assert "not proved to compute the same for all arguments" in alone.refused.values()


@pytest.mark.parametrize(("guilty", "left"), [("a", "bc"), ("b", "ac"), ("c", "ab"), ("none", "abc")])
def test_the_step_that_brings_a_finding_at_the_end_is_left_out(
    monkeypatch: pytest.MonkeyPatch, guilty: str, left: str
) -> None:
    """And no other one: what came after it is made anew."""

    def read(program: Program) -> float:
        return 1 / (1 + len(marks(program)))

    monkeypatch.setattr(optimise, "run_pipeline", marking)
    monkeypatch.setattr(optimise, "_more_faults", lambda new, *_: "LDS001" if guilty in marks(new) else "")
    clock = optimise.Clock("marks", read, read)
    search = optimise._Search(parse(WMMA + FOOTER), "k", clock, 30.0, None, None, False)
    for passes in "abc":
        ((_, made),) = marking(search.made[-1], passes)
        search.made.append(made)
        search.steps.append(dataclasses.replace(search.steps[0], passes=passes, seconds=read(made)))
    program, steps = search.without_faults()
    assert "".join(step.passes for step in steps[1:]) == "".join(sorted(marks(program))) == left
    assert list(search.refused) == [guilty] * (guilty != "none")


@pytest.mark.parametrize("proved", [True, False])
def test_longer_rows_are_tried_where_the_clock_sees_conflicts(monkeypatch: pytest.MonkeyPatch, proved: bool) -> None:
    """And kept where they are proved; once is enough."""
    monkeypatch.setattr(optimise, "REGISTERS", ())
    monkeypatch.setattr(optimise, "ASSUMING", ())
    monkeypatch.setattr(optimise, "ORDERS", ())
    text = WMMA.replace("v_mov_b32_e32 v1, 0", "v_lshlrev_b32_e32 v1, 4, v0")
    program = parse(text + FOOTER.replace("workgroup_size: 64", "workgroup_size: 512"))

    def read(p: Program) -> float:
        return 1.0 if emit(p).count("v_lshrrev_b32") else 2.0

    clock = opt_clock.Clock("rows", read, read, shapes=lambda _: ("pad-lds{row=128}",))
    found = optimise.optimise(program, "k", clock, same=lambda _: proved)
    assert ("pad-lds{row=128}" in [step.passes for step in found.steps]) == proved
    assert ("not proved" in found.refused.get("pad-lds{row=128}", "")) == (not proved)


def test_where_the_first_ones_are_refused_the_next_are_asked(monkeypatch: pytest.MonkeyPatch) -> None:
    """Of six shapes lint takes the one alone that the clock likes least."""

    def read(program: Program) -> float:
        return 1.0 - sum(1 / (1 + "abcdef".index(mark)) for mark in set(marks(program))) / 9

    for name, value in (("REGISTERS", tuple("abcdef")), ("ORDERS", ()), ("ASSUMING", ()), ("run_pipeline", marking)):
        monkeypatch.setattr(optimise, name, value)
    monkeypatch.setattr(optimise, "_faults", lambda program, *_, **__: {(m, 0) for m in marks(program) if m != "f"})
    monkeypatch.setattr(optimise, "_parted", lambda *_: None)
    found = optimise.optimise(parse(WMMA + FOOTER), "k", opt_clock.Clock("marks", read, read, iterations=False))
    assert [step.passes for step in found.steps] == ["unchanged", "f"]
    assert "e results in findings of lint: e" in found.refused.values()


def test_the_whole_prediction_has_the_last_word() -> None:
    program = parse(WMMA + FOOTER)
    readings = iter([1.0] + [0.5] * 99)
    baseline = opt_clock.Clock("baseline", lambda p: next(readings), lambda p: 1.0 if p is program else 1.1)
    assert optimise.optimise(program, "k", baseline).program is program


def test_without_a_launch_more_work_costs_more_and_two_readings_agree() -> None:
    clock = opt_clock.without_launch("k", cards.card("7900 XTX"))
    plain = clock.quick(parse(WMMA + FOOTER))
    assert clock.quick(parse(WMMA + FOOTER)) == plain
    slower = WMMA.replace("\ts_cbranch", "\tv_exp_f32_e32 v2, v24\n\ts_cbranch")
    assert clock.quick(parse(slower + FOOTER)) > plain


def test_an_instruction_without_a_time_is_refused() -> None:
    clock = opt_clock.without_launch("k", cards.card("7900 XTX"))
    with pytest.raises(IsaError, match="the time of v_pipeflush is not known"):
        clock.quick(parse(WMMA.replace("\ts_addk_i32", "\tv_pipeflush\n\ts_addk_i32") + FOOTER))


def linkable(body: str) -> str:
    """A kernel and the footer as LLVM takes them; it wants the metadata's end, and the code in its section."""
    head = '\t.amdgcn_target "amdgcn-amd-amdhsa--gfx1100"\n\t.amdhsa_code_object_version 5\n\t.text\n\t.globl k\n'
    head += "\t.p2align 8\n\t.type k,@function\n"
    size, rodata = ".Lend:\n\t.size k, .Lend-k\n", '\t.section .rodata,"a",@progbits\n\t.p2align 6'
    metadata = FOOTER.replace("amdhsa.kernels:", "---\namdhsa.kernels:")
    metadata = metadata.replace("\t\t.amdhsa_user_sgpr_c", "\t\t.amdhsa_kernarg_size 8\n\t\t.amdhsa_user_sgpr_c")
    metadata = metadata.replace("\t.end_amdgpu_metadata", "amdhsa.version:\n  - 1\n  - 2\n...\n\t.end_amdgpu_metadata")
    return head + body + size + rodata + metadata


def linked(body: str) -> bytes:
    return toolchain.find().code_object(linkable(body))


def test_a_code_object_comes_out_as_one(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Also of a bundle; the proof is of what was disassembled, and finds another product."""
    monkeypatch.chdir(tmp_path)
    image = linked(WMMA)
    Path("k.hsaco").write_bytes(image)
    Path("k.hipfb").write_bytes(bundle.bundled([("hipv4-amdgcn-amd-amdhsa--gfx1100", image)]))
    for end in ("hsaco", "hipfb"):
        done = invoked(["opt", f"k.{end}", "-o", f"o.{end}", "--passes", "rename-banks"])
        assert "k: rewritten, proved" in done.stderr
    made = bundle.unbundle(Path("o.hipfb").read_bytes())
    assert made == Path("o.hsaco").read_bytes() != image
    assert stages.figures(text_of(load(made)), "k").matrix == 0
    proved = CliRunner().invoke(main, ["prove", "o.hsaco", "--against", "k.hsaco"])
    assert proved.stdout.startswith("proved: o.hsaco computes what k.hsaco does")
    Path("k.hsaco").write_bytes(linked(WMMA.replace("v1 offset:48", "v1 offset:32")))
    invoked(["prove", "o.hsaco", "--against", "k.hsaco"], code=1)


def test_what_was_not_proved_stays_out_of_a_code_object(monkeypatch: pytest.MonkeyPatch) -> None:
    image = linked(WMMA)
    search = rewriting.Search(lambda program, name: pytest.fail("no search"), 0, "rename-banks")
    broken = text_of(load(linked(WMMA.replace("offset:48", "offset:32"))))
    kernel = Kernel("k", "k.hsaco", "", "", False, code=image)
    monkeypatch.setattr(rewriting, "run_pipeline", lambda *_, **__: iter([("rename-banks", broken)]))
    made, (outcome,) = rewriting.of_code_object(image, ["k"], search, kernel)
    assert made == image
    assert outcome.line.startswith("k: unchanged: unproven")
