"""`hipgemm audit`: all kernels of files and folders, resumed, in other processes, as a page and as JSON."""

import json
import struct
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from click.testing import Result
from verbs import invoked

from hipgemm.judge.inspection import audit
from hipgemm.kernels.build import linked, readable
from hipgemm.kernels.files import read_kernel
from hipgemm.pool import pool
from hipgemm.report.audit import demangled
from isa import toolchain
from isa.asm.emit import emit
from isa.asm.program import Program

pytestmark = pytest.mark.skipif(not list(toolchain.available()), reason="no compiler for gfx11 here")
IMAGE = "image_sample v0, v[0:1], s[0:7], s[8:11] dmask:0x1 dim:SQ_RSRC_IMG_2D"
EF_GFX1101 = 0x46
"""EF_AMDGPU_MACH_AMDGCN_GFX1101."""
OWN = Path(__file__).parent / "own"


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A library with saxpy and softmax, the former once more in a code object, one whose loads nothing waits for, and
    one with an instruction that nobody described; text beside them."""
    folder = tmp_path_factory.mktemp("libraries")
    saxpy, softmax = (linked(read_kernel(str(OWN / f"{name}.hip"))).image for name in ("saxpy", "softmax"))
    target = b"hipv4-amdgcn-amd-amdhsa--gfx1100"
    with (folder / "libboth.so").open("wb") as out:
        for image in (saxpy, softmax):
            out.write(
                b"__CLANG_OFFLOAD_BUNDLE__" + struct.pack("<QQQQ", 1, 88, len(image), len(target)) + target + image
            )
    (folder / "more").mkdir()
    (folder / "more" / "saxpy.hsaco").write_bytes(saxpy)
    program = readable(read_kernel(str(OWN / "saxpy.hip")))
    assert isinstance(program, Program)
    for name, (old, new) in {
        "nowait": ("s_waitcnt vmcnt(0)", "s_nop 0"),
        "unknown": ("s_waitcnt vmcnt(0)", f"s_waitcnt vmcnt(0)\n\t{IMAGE}"),
    }.items():
        (folder / f"{name}.s").write_text(emit(program).replace(old, new))
        image = linked(read_kernel(str(folder / f"{name}.s"))).image
        (folder / f"{name}.hsaco").write_bytes(image.replace(b"saxpy", b"sax" + name[:2].encode()))
        (folder / f"{name}.s").unlink()
    (folder / "notes.txt").write_text("nothing")
    return folder


def test_hip_sources_of_a_folder_are_compiled(tmp_path: Path) -> None:
    """One that does not compile is named and passed over; headers and sources without a kernel are no kernels."""
    sources = tmp_path / "src"
    sources.mkdir()
    for name in ("saxpy", "softmax"):
        (sources / f"{name}.hip").write_text((OWN / f"{name}.hip").read_text().replace("int n", "NUMBER n"))
    (sources / "host.cpp").write_text("int main() { return missing; }")
    (sources / "part.h").write_text("__global__ void part(NUMBER n) { missing }")
    (sources / "broken.hip").write_text("__global__ void broken(NUMBER n) { missing; }")
    done = audited(sources, "-o", tmp_path / "page.html", "--jobs", "1", "--json", "--", "-DNUMBER=int", code=2)
    rows = {Path(row["library"]).name: row["held"]["kernel"] for row in json.loads(done.stdout)["rows"]}
    assert rows == {"saxpy.hip": "saxpy", "softmax.hip": "softmax"}
    assert done.stderr.count("broken.hip:1:") == 1
    assert "1 file could not be read" in done.stderr
    assert "missing" in done.stderr
    assert "host.cpp" not in done.stderr + done.stdout
    (sources / "saxpy.hip").unlink()
    (sources / "softmax.hip").unlink()
    alone = invoked(["audit", str(sources), "-o", str(tmp_path / "page.html"), "--jobs", "1"], code=2)
    assert "no code for gfx11 in" in alone.stderr


def audited(*words: object, code: int = 1) -> Result:
    done = invoked(["audit", *map(str, words)], code=code)
    return done


def test_a_folder(folder: Path, tmp_path: Path, read_page: Callable[[str], Any]) -> None:
    page = tmp_path / "a" / "audit.html"
    said = json.loads(audited(folder, "--jobs", 1, "-o", page, "--json").stdout)
    assert said == json.loads(page.with_suffix(".json").read_text())
    rows = {row["held"]["kernel"]: row for row in said["rows"]}
    assert set(rows) == {"saxpy", "softmax", "saxno", "saxun"}, "each code object once"
    assert said["kernels"] == 4
    assert said["undescribed"] == {"image_sample": 1}
    assert said["described"] == 1 - 1 / said["instructions"]
    faults = {name: {f["id"] for f in row["faults"]} for name, row in rows.items()}
    assert faults == {"saxpy": set(), "softmax": set(), "saxno": {"WAIT001"}, "saxun": {"ANA001"}}
    assert {row["held"]["kernel"] for row in said["rows"][:2]} == {"saxno", "saxun"}, "worst first"
    assert rows["softmax"]["held"]["lds"] > 0
    read = read_page(page.read_text())
    assert not read.requests
    assert {"libboth.so", "image_sample", "WAIT001 load not covered by a wait"} <= set(read.words)


def test_it_goes_on_where_it_was_stopped(folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    page = tmp_path / "audit.html"
    first = audited(folder, "--jobs", 1, "-o", page, "--json").stdout
    state = page.with_suffix(".jsonl")
    lines = state.read_text().splitlines(keepends=True)
    state.write_text("".join(lines[:2]) + lines[2][:50])
    looked: list[str] = []
    look = audit.look
    monkeypatch.setattr(audit, "look", lambda job: looked.extend(job.kernels) or look(job))
    assert audited(folder, "--jobs", 1, "-o", page, "--json").stdout == first
    assert len(looked) == 2
    state.write_text(lines[0].replace('"by": "', '"by": "0') + "".join(lines[1:]))
    assert "1 row of another version" in audited(folder, "--jobs", 1, "-o", page).stderr
    assert len(looked) == 3
    state.write_text("{}\n")
    assert "is no row of an audit" in audited(folder, "-o", page, code=2).stderr


def test_a_sample_and_counts_alone(folder: Path, tmp_path: Path) -> None:
    page = tmp_path / "audit.html"
    shown = audited(
        folder / "libboth.so", folder / "unknown.hsaco", "--no-lint", "--jobs", 1, "-o", page, code=0
    ).stdout
    assert shown.splitlines()[-1].split() == ["not", "described", "image_sample", "(1)"]
    sampled = audited(folder, "--sample", 2, "--no-lint", "--jobs", 1, "-o", page, "--json", code=0).stdout
    assert json.loads(sampled)["kernels"] == 2


def test_a_code_object_for_another_target_than_asked_for(folder: Path, tmp_path: Path) -> None:
    """As the code of a library: passed over in a folder, refused by name."""
    mixed = tmp_path / "mixed"
    mixed.mkdir()
    image = bytearray((folder / "more" / "saxpy.hsaco").read_bytes())
    (mixed / "first.hsaco").write_bytes(image)
    flags = struct.unpack_from("<I", image, 48)[0]
    struct.pack_into("<I", image, 48, flags & ~0xFF | EF_GFX1101)
    (mixed / "second.hsaco").write_bytes(image)
    words = ["--jobs", 1, "--no-lint", "--json", "-o", tmp_path / "page.html"]
    both = json.loads(audited(mixed, *words, code=0).stdout)
    assert both["kernels"] == 2
    one = json.loads(audited(mixed, "--arch", "gfx1101", *words, code=0).stdout)
    assert [Path(row["library"]).name for row in one["rows"]] == ["second.hsaco"]
    refused = audited(mixed / "first.hsaco", "--arch", "gfx1101", *words, code=2).output
    assert "first.hsaco" in refused
    assert "gfx1100" in refused


def test_what_cannot_be_read(folder: Path, tmp_path: Path) -> None:
    page = tmp_path / "audit.html"
    assert "notes.txt:1:1: error: invalid instruction" in audited(folder / "notes.txt", "-o", page, code=2).stderr
    assert "no code for gfx11" in audited(tmp_path, "-o", page, code=2).stderr
    assert "No such file" in audited(folder / "none.so", "-o", page, code=2).stderr
    (tmp_path / "cut.so").write_bytes((folder / "libboth.so").read_bytes()[:3000])
    assert "cut.so" in audited(tmp_path, "-o", page, code=2).stderr
    assert "a scheduler is for" in audited(folder, "--scheduler", "x", "-o", page, code=2).stderr


def test_dask_does_it_too(folder: Path, tmp_path: Path) -> None:
    pytest.importorskip("distributed", reason="dask.distributed is not installed (extra dask)")
    held = audit.sources([folder], None, print)
    wanted = audit.chosen(held, 0, 1)
    with audit.State(tmp_path / "s.jsonl", False, print) as state, pool("dask", 1) as workers:
        audit.run(audit.jobs(held, wanted, False), workers, state, lambda _: None)
        assert set(state.rows) == wanted


def test_names_of_cplusplus() -> None:
    assert demangled("saxpy") == "saxpy"
    assert demangled("_Z5saxpyPfi") in ("saxpy(float*, int)", "_Z5saxpyPfi")


def test_a_file_that_cannot_be_read_is_the_exit_status(tmp_path: Path) -> None:
    (tmp_path / "good.hip").write_text((OWN / "saxpy.hip").read_text())
    (tmp_path / "bad.hip").write_text("#include <hip/hip_runtime.h>\n__global__ void k() { oops; }\n")
    done = invoked(["audit", str(tmp_path), "-o", str(tmp_path / "a.html"), "--no-lint"], code=2)
    assert "'oops'" in done.stderr
    assert "1 file could not be read" in done.stderr
