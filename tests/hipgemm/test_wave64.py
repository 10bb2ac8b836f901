"""Kernels of waves of 64: lint reads assembly and code objects of them, every other verb says what they are."""

from pathlib import Path

import pytest
from click.testing import CliRunner

from hipgemm.cli import main
from isa import toolchain
from isa.asm.disassembler import disassemble

pytestmark = pytest.mark.skipif(not list(toolchain.available()), reason="no compiler for gfx11 here")
LAUNCH = "--grid 4 --block 256 --arg i32:5 --arg f32:3 --arg zeros:f32:1024 --arg zeros:f32:1024"


@pytest.mark.parametrize("verb", ["lint", "inspect", f"check {LAUNCH}", f"time {LAUNCH}", f"run {LAUNCH}"])
def test_source_for_such_waves_is_refused_by_name(verb: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(Path(__file__).parent / "own")
    first, *rest = verb.split()
    done = CliRunner().invoke(main, [first, "saxpy.hip", *rest, "--", "-mwavefrontsize64"])
    assert done.exit_code == 2
    assert "kernel saxpy is compiled for wave64" in done.stderr


def test_masks_of_such_waves_are_pairs() -> None:
    """`v_add_co_ci_u32_e32 v1, vcc, s3, v1, vcc`."""
    code = bytes.fromhex("03020240")
    assert [text for _, _, text in disassemble(code)] == ["v_add_co_ci_u32_e32 v1, vcc_lo, s3, v1, vcc_lo"]
    assert [text for _, _, text in disassemble(code, wave64=True)] == ["v_add_co_ci_u32_e32 v1, vcc, s3, v1, vcc"]
