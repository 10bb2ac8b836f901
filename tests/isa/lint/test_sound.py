"""No verdict passes over a descriptor that the code does not fit, nor over a missing wait or hazard."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from click.testing import CliRunner
from texts import texts

from hipgemm.cli import main
from hipgemm.judge import proving
from hipgemm.judge.inspection import audit, contents, inspect
from hipgemm.judge.predict import timed
from hipgemm.kernels.files import read_kernel
from hipgemm.kernels.ladder import rung
from hipgemm.launch.launch import Launch
from hipgemm.launch.words import argument
from isa import toolchain
from isa.asm.emit import emit
from isa.asm.parse import parse
from isa.asm.program import Program
from isa.errors import IsaError
from isa.gemm.gemv.generate import generate
from isa.gemm.gemv.parameters import GemvParameters
from isa.lint import sound
from isa.object.code_object import CodeObject, load
from isa.object.from_text import TextCode
from isa.timing.machine.cards import card
from isa.timing.model.predict import TimedLaunch

(TEXT,) = texts(__file__)
FEW = TEXT.replace("next_free_vgpr 48", "next_free_vgpr 32").replace(".vgpr_count:     48", ".vgpr_count:     32")
LAUNCH = "--grid 1 --block 32 --arg arange:f32:32".split()


@pytest.fixture
def files(tmp_path: Path) -> Path:
    (tmp_path / "right.s").write_text(TEXT)
    (tmp_path / "few.s").write_text(FEW)
    return tmp_path


@pytest.mark.parametrize(
    ("words", "code"),
    [
        (["prove", "few.s", "--against", "right.s"], 1), (["prove", "few.s", "--against", "few.s"], 1),
        (["prove", "right.s", "--against", "few.s"], 1), (["diff", "right.s", "few.s"], 1),
        (["time", "few.s", *LAUNCH], 2), (["timeline", "few.s", *LAUNCH, "-o", "page.html"], 2),
        (["opt", "few.s", "--passes", "schedule"], 2),
    ],
)  # fmt: skip
def test_too_few_registers(words: list[str], code: int, files: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(files)
    done = CliRunner().invoke(main, words)
    assert done.exit_code == code, done.output
    assert "the code uses 41 VGPRs, the descriptor gives 32" in done.output
    assert "the same instructions" not in done.output


def test_right_code_is_proved_by_a_judge_that_is_named(files: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(files)
    done = CliRunner().invoke(main, ["prove", "right.s", "--against", "right.s", "--json"])
    assert done.exit_code == 0, done.output
    assert '"judge": "translation validation (isa.prove.refine)"' in done.output


@pytest.mark.parametrize(
    ("edit", "rule"),
    [
        (("\ts_waitcnt vmcnt(0)\n", ""), "WAIT001"),
        (("\ts_waitcnt lgkmcnt(0)\n", ""), "WAIT001"),
        (("\tv_add_f32_e32 v1, v1, v1\n", "\tv_rcp_f32_e32 v1, v1\n\tv_add_f32_e32 v1, v1, v1\n"), "HAZ001"),
    ],
)
def test_faults_of_the_code_itself_are_in_no_proof(edit: tuple[str, str], rule: str, files: Path) -> None:
    """Even where the original has them, too."""
    broken = parse(TEXT.replace(*edit), "broken.s")
    assert [f.id for f in sound.faults(broken.kernel("scale"))] == [rule]
    proof = proving.same(broken, broken, read_kernel(str(files / "right.s")))
    assert not proof.proved
    assert rule in str(proof)


def test_a_generated_kernel_with_a_weaker_wait_is_not_proved() -> None:
    kernel = rung("gemv_f16_f32_1x43_w8")
    assert isinstance(kernel.parameters, GemvParameters)
    right = emit(generate(kernel.parameters, kernel.name))
    weak = right.replace("s_waitcnt lgkmcnt(0)", "s_waitcnt lgkmcnt(4)")
    assert weak != right
    proof = proving.generated(kernel, parse(weak, "weak.s"))
    assert proof.verdict == "unproven"
    assert "WAIT001" in str(proof)


SETTINGS = (
    "ieee_mode 0", "dx10_clamp 0", "memory_ordered 0", "forward_progress 0", "workgroup_processor_mode 1",
    "float_denorm_mode_32 0", "float_round_mode_32 1", "fp16_overflow 1", "system_vgpr_workitem_id 1",
    "wavefront_size32 0", "private_segment_fixed_size 16", "uses_dynamic_stack 1", "exception_int_div_zero 1",
    "unheard_of 1",
)  # fmt: skip


@pytest.mark.parametrize("setting", SETTINGS)
def test_a_generated_kernel_with_another_setting_is_not_proved(setting: str) -> None:
    kernel = rung("gemv_f16_f32_1x43_w8")
    assert isinstance(kernel.parameters, GemvParameters)
    right = emit(generate(kernel.parameters, kernel.name))
    name = setting.partition(" ")[0]
    others = re.sub(rf"^\s*\.amdhsa_{name} .*\n", "", right, flags=re.M)
    text = others.replace("\t.end_amdhsa_kernel", f"\t.amdhsa_{setting}\n\t.end_amdhsa_kernel")
    assert not proving.generated(kernel, parse(text, "other.s"), proving.launches_at(kernel, 1, 43, 64, 1)).proved


@pytest.mark.parametrize(
    ("old", "new", "code"),
    [
        ("next_free_vgpr 48", "next_free_vgpr 0x30", 0),
        (".amdhsa_kernarg_size 8", ".amdhsa_kernarg_size SIZE", 1),
        (".wavefront_size: 32", ".wavefront_size: 32\n    .reqd_workgroup_size:\n      - 64\n      - 1\n      - 1", 1),
        (".vgpr_count:     48", ".vgpr_count:     24", 1),
        (".vgpr_count:     48", ".vgpr_count:     49", 1),
        ("next_free_vgpr 48", "next_free_vgpr 41", 0),  # of which the descriptor holds 48
        (".private_segment_fixed_size: 0", ".private_segment_fixed_size: 64", 1),
        (".group_segment_fixed_size: 0", ".group_segment_fixed_size: 64", 1),
    ],
)
def test_settings(old: str, new: str, code: int, files: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(files)
    (files / "new.s").write_text(TEXT.replace(old, new) + "\t.set SIZE, 12\n")
    done = CliRunner().invoke(main, ["prove", "new.s", "--against", "right.s"])
    assert done.exit_code == code, done.output


MISFITS = {
    "few VGPRs": [("next_free_vgpr 48", "next_free_vgpr 32"), (".vgpr_count:     48", ".vgpr_count:     32")],
    "VGPRs of the metadata": [(".vgpr_count:     48", ".vgpr_count:     32")],
    "LDS of the metadata": [("    .group_segment_fixed_size: 0", "    .group_segment_fixed_size: 1024")],
    "scratch of the metadata": [("    .private_segment_fixed_size: 0", "    .private_segment_fixed_size: 64")],
    "arguments": [(".kernarg_segment_size: 8", ".kernarg_segment_size: 4")],
    "lanes": [(".wavefront_size: 32", ".wavefront_size: 64")],
}


@pytest.mark.parametrize("form", ["text", "object"])
@pytest.mark.parametrize("what", MISFITS)
def test_no_verb_prices_or_praises_what_does_not_fit(what: str, form: str) -> None:
    text = TEXT
    for old, new in MISFITS[what]:
        assert old in text, old
        text = text.replace(old, new)
    program = parse(text, "misfit.s")
    given: Program | CodeObject = program
    code: CodeObject = TextCode.of(program, "gfx1100")
    if form == "object":
        given = code = load(toolchain.find().code_object(text))
        if what == "lanes":
            pytest.skip("only text says what the metadata's lanes are")
    with pytest.raises(IsaError, match=r"CNT00[134]"):
        timed(code, "scale", Launch((1, 1, 1), (32, 1, 1), (argument("arange:f32:32", 0),)), card("7900 XTX"))
    assert inspect(given, "misfit").misfits
    if form == "text" or "VGPRs" not in what:  # of machine code only what is stated
        assert contents(given)[0].misfits
    if form == "object":
        job = audit.Job("misfit", "0", toolchain.find().code_object(text), ("scale",), lint=False)
        assert audit.look(job)[0].faults or audit.look(job)[0].notes


def test_a_launch_whose_lds_is_too_small_has_no_time() -> None:
    text = TEXT.replace("\tv_add_f32_e32 v1, v1, v1\n", "\tds_store_b32 v40, v1 offset:64\n")
    assert text != TEXT
    code = TextCode.of(parse(text, "lds.s"), "gfx1100")

    def launched(lds: int) -> TimedLaunch:
        return TimedLaunch(code, "scale", (1, 1, 1), (32, 1, 1), bytes(8), card("7900 XTX"), dynamic_lds=lds)

    with pytest.raises(IsaError, match="it reaches byte 191 of LDS"):
        _ = launched(191).prepared
    assert launched(192).prepared.resources.lds == 192
