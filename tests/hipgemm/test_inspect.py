"""`hipgemm inspect`: the facts of a kernel, the same from its text and from its code object."""

import json
import struct
from collections.abc import Callable
from pathlib import Path
from typing import Any, get_args

import pytest
from click.testing import CliRunner
from verbs import invoked

from hipgemm.cli import main
from hipgemm.judge.inspection import _UNITS, KINDS, Inspection, inspect
from hipgemm.kernels.build import Build, build
from hipgemm.report import inspection as shown
from isa import toolchain
from isa.analysis.banks import COLUMNS
from isa.asm.parse import parse
from isa.semantics.scheduling import Unit

pytestmark = pytest.mark.skipif(not list(toolchain.available()), reason="no compiler for gfx11 here")
Read = Callable[[str], Any]


@pytest.fixture(scope="module")
def kernel8() -> Build:
    return build("kernel8")


@pytest.fixture(scope="module")
def found(kernel8: Build) -> Inspection:
    return inspect(parse(kernel8.assembly.read_text(), "kernel8.s"), "kernel8")


def test_kernel8_fits_six_waves_and_says_what_the_seventh_needs(found: Inspection) -> None:
    assert (found.mode, found.threads, found.occupancy.waves) == ("CU", 128, 6)
    assert found.occupancy.binding == ("VGPRs",)
    step = f"at most 192 VGPRs (now {found.vgprs}): 4 workgroups a CU, 8 waves a SIMD"
    assert dict(shown.facts(found))["next step"] == step


def test_every_unit_has_a_kind() -> None:
    assert _UNITS.keys() | {"valu"} == set(get_args(Unit))
    assert set(_UNITS.values()) <= set(KINDS)


def test_kernel8s_main_loop_holds_dual_multiply_adds_only(found: Inspection) -> None:
    assert found.loop is not None
    assert (found.loop.counts["dual FMA"], found.loop.counts["single FMA"], found.loop.fma_share) == (512, 0, 1)
    assert sum(found.loop.counts.values()) == found.loop.total == len(found.rows)
    assert not any(row.clashes or row.faults for row in found.rows)


MATRIX = Path(__file__).with_name("sources").joinpath("inspect_matrix.s").read_text()


def test_the_main_loop_is_where_the_work_is_done() -> None:
    """By the matrix units where there are such instructions, in halves or doubles where there are no fp32 ones."""
    loop = inspect(parse(MATRIX, "k.s"), "k.s").loop
    assert loop is not None
    assert (loop.counts["matrix"], loop.counts["single FMA"], loop.total) == (1, 0, 4)
    vector = MATRIX.replace("v_wmma_f32_16x16x16_f16 v[0:7], v[8:15], v[16:23], v[0:7]", "v_pk_fma_f16 v1, v2, v3, v4")
    loop = inspect(parse(vector, "k.s"), "k.s").loop
    assert loop is not None
    assert (loop.counts["single FMA"], loop.counts["other VALU"]) == (1, 0)
    loop = inspect(parse(vector.replace("v_fmac_f32_e32 v24, v25, v26", "v_mov_b32_e32 v24, v25"), "k.s"), "k.s").loop
    assert loop is not None
    assert (loop.counts["other VALU"], loop.counts["matrix"]) == (1, 0)
    none = MATRIX.replace("v_wmma_f32_16x16x16_f16 v[0:7], v[8:15], v[16:23], v[0:7]", "v_add_nc_u32_e32 v1, v2, v3")
    assert inspect(parse(none.replace("v_fmac_f32_e32", "v_and_b32_e32"), "k.s"), "k.s").loop is None


def test_the_code_object_says_what_the_text_says(kernel8: Build, found: Inspection) -> None:
    binary = inspect(kernel8.code_object(), "kernel8")
    for name in ("vgprs", "sgprs", "lds", "scratch", "mode", "threads", "occupancy", "bank_reads", "cache_reads"):
        assert getattr(binary, name) == getattr(found, name), name
    assert (binary.loop, binary.mix.counts["dual FMA"]) == (found.loop, found.mix.counts["dual FMA"])
    assert [(row.cells, row.kind) for row in binary.rows] == [(row.cells, row.kind) for row in found.rows]


def test_the_page_shows_every_pair_in_its_colours_and_asks_nobody(found: Inspection, read_page: Read) -> None:
    page = read_page(shown.page(found))
    assert page.requests == []
    cells = [cell for row in found.rows for cell in row.cells if cell]
    assert page.classes.count("cache") - 1 == sum(cell.startswith("Cache") for cell in cells)  # 1: the legend's
    for bank in range(4):
        assert page.classes.count(f"bank{bank}") - 1 == sum(cell in (f"R{bank}", f"W{bank}") for cell in cells)


def test_every_pair_of_kernel6_reads_four_banks_or_their_caches() -> None:
    told = json.loads(CliRunner().invoke(main, ["inspect", "kernel6", "--json"]).stdout)
    pairs = [row for row in told["rows"] if row["kind"] == "dual FMA"]
    assert len(pairs) == 64
    for row in pairs:
        assert {row["cells"][COLUMNS.index(c)][-1] for c in ("SRC0X", "SRC1X", "SRC0Y", "SRC1Y")} == set("0123"), row


def test_a_notebook_shows_the_same(found: Inspection, read_page: Read) -> None:
    assert read_page(found._repr_html_()).requests == []
    assert "99.6 %" in repr(found)


def test_verbs_text_json_and_file(kernel8: Build, tmp_path: Path) -> None:
    text = CliRunner().invoke(main, ["inspect", str(kernel8.hsaco)])
    assert "next step" in text.stdout
    page = tmp_path / "page.html"
    done = CliRunner().invoke(main, ["inspect", "-", "--html", str(page), "--json"], input=kernel8.assembly.read_text())
    assert json.loads(done.stdout)["occupancy"]["waves"] == 6
    assert page.read_text().startswith("<!doctype html>")


def test_threads_move_the_occupancy(kernel8: Build) -> None:
    done = CliRunner().invoke(main, ["inspect", str(kernel8.hsaco), "--threads", "32", "--json"])
    occupancy = json.loads(done.stdout)["occupancy"]
    assert (occupancy["binding"], occupancy["workgroups"], occupancy["waves"]) == (["LDS"], 7, 3.5)


@pytest.mark.parametrize(
    ("more", "words"),
    [
        (["--kernel", "nobody"], "nobody"),
        (["--html", "/proc/at/all.html"], "cannot write"),
    ],
)
def test_what_cannot_be_done_is_said(kernel8: Build, more: list[str], words: str) -> None:
    assert words in invoked(["inspect", str(kernel8.hsaco), *more], code=2).stderr


def test_wave64(kernel8: Build) -> None:
    """Its waves take twice the registers."""
    text = kernel8.assembly.read_text().replace(".amdhsa_wavefront_size32 1", ".amdhsa_wavefront_size32 0")
    shown, asked = (invoked(["inspect", "-", *words], text).stdout for words in ((), ("--json",)))
    assert "3 of 16 waves a SIMD: 3 workgroups a CU (CU mode, wave64)" in shown
    assert json.loads(asked)["wave"] == 64


def test_a_library_for_the_host(kernel8: Build, tmp_path: Path) -> None:
    """Two code objects in one .so: all are linted and listed, one is chosen by its kernel's name."""
    other = build("kernel1").hsaco.read_bytes()
    file, target = tmp_path / "libtwo.so", b"hipv4-amdgcn-amd-amdhsa--gfx1100"
    with file.open("wb") as out:  # bundles in a row, as in a section .hip_fatbin
        for image in (kernel8.hsaco.read_bytes(), other):
            out.write(b"__CLANG_OFFLOAD_BUNDLE__" + struct.pack("<QQQQ", 1, 88, len(image), 32) + target + image)
    done = CliRunner().invoke(main, ["inspect", str(file), "--json"])
    assert [k["kernel"] for k in json.loads(done.stdout)["kernels"]] == ["kernel8", "kernel1"]
    listed = CliRunner().invoke(main, ["inspect", str(file)]).stdout.splitlines()
    assert listed[1].split() == ["kernel8", *map(str, (202, 57, 8320, 128, 6))]
    chosen = CliRunner().invoke(main, ["inspect", str(file), "--kernel", "kernel8", "--json"])
    assert json.loads(chosen.stdout)["mix"]["counts"]["dual FMA"] > 512
    invoked(["lint", str(file), "--faults-only"])
    for words, said in (
        (["check", str(file)], "has several kernels"),
        (["inspect", str(file), "--kernel", "kernel9"], "did you mean kernel"),
        (["lint", str(file), "--listing", "l.s"], "--listing takes one code object"),
        (["lint", str(file), "--arch", "gfx1101"], "gfx1101"),
    ):
        assert said in invoked(words, code=2).stderr
