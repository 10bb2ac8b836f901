"""`hipgemm inspect`: the same facts from a rung, its code object and its assembly."""

import json
from pathlib import Path

import pytest
from click.testing import CliRunner

from hipgemm.build import build
from hipgemm.cli import main
from isa import toolchain

pytestmark = pytest.mark.skipif(not list(toolchain.available()), reason="no compiler for gfx11 here")


def invoke(*arguments: str) -> str:
    result = CliRunner().invoke(main, ["inspect", *arguments])
    assert result.exit_code == 0, result.output
    return result.stdout


def test_rung_code_object_and_assembly_agree() -> None:
    made = build("kernel6")
    rung, code, text = (json.loads(invoke(w, "--json")) for w in ("kernel6", str(made.hsaco), str(made.assembly)))
    assert rung == code
    assert rung["main_loop"] == text["main_loop"]
    assert rung["banks"] == text["banks"]
    assert rung["threads"] == text["threads"] == 128
    assert rung["waves_per_simd"] == text["waves_per_simd"]


def test_every_pair_of_kernel_6_reads_four_banks_or_their_caches() -> None:
    found = json.loads(invoke("kernel6", "--json"))
    pairs = [row for row in found["banks"] if "v_dual_fmac" in row["instruction"]]
    assert len(pairs) == 64
    for row in pairs:
        assert {row[c][-1] for c in ("SRC0X", "SRC1X", "SRC0Y", "SRC1Y")} == set("0123"), row


def test_occupancy_says_what_would_raise_it() -> None:
    found = json.loads(invoke("kernel5", "--json"))
    assert found["binding"] == ["VGPRs"]
    assert any("192 VGPRs would let 4 workgroups in" in advice for advice in found["advice"])


def test_the_page_stands_alone(tmp_path: Path) -> None:
    page = tmp_path / "kernel8.html"
    invoke("kernel8", "--html", str(page))
    html = page.read_text()
    assert html.count("<tr>") > 500
    assert "http" not in html


def test_a_file_that_is_nothing(tmp_path: Path) -> None:
    odd = tmp_path / "odd.bin"
    odd.write_bytes(b"\xff\xfe\x00")
    result = CliRunner().invoke(main, ["inspect", str(odd)])
    assert result.exit_code == 2
    assert "neither assembly nor a code object" in result.output
