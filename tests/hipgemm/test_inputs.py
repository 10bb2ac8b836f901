"""What verbs say of input that they cannot take: status 2 and a sentence, never a traceback."""

import os
import subprocess
import sys
import time
from pathlib import Path

import pytest
from click.testing import CliRunner, Result
from verbs import invoked

from hipgemm.cli import main
from hipgemm.kernels.build import build
from isa import toolchain
from isa.object import bundle

ROOT = Path(__file__).parents[2]
needs_compiler = pytest.mark.skipif(not list(toolchain.available()), reason="no compiler for gfx11 here")
LAUNCH = ("--grid", "1", "--block", "32")
BAD = "\t.text\nk:\n\tv_frobnicate v1, v2\n\ts_endpgm\n"
DAMAGED = {
    "empty": b"", "bytes": bytes(range(256)) * 8, "the beginning of an ELF": b"\x7fELF",
    "the beginning of a bundle": b"__CLANG_OFFLOAD_BUNDLE__\x01", "assembly": BAD.encode(),
}  # fmt: skip
TAKE_A_FILE = {
    "inspect": ["inspect", "FILE"],
    "lint": ["lint", "FILE"],
    "check": ["check", "FILE", *LAUNCH],
    "time": ["time", "FILE", *LAUNCH],
    "timeline": ["timeline", "FILE", "-o", "page.html"],
    "prove": ["prove", "kernel6", "--assembly", "FILE"],
    "report": ["report", "FILE"],
    "tune": ["tune", "--shapes", "FILE", "-o", "table.json"],
    "explain": ["explain", "64", "64", "64", "--no-predict", "--table", "FILE"],
    "simulate": ["simulate", "FILE"],
}


def refused(*arguments: str) -> Result:
    done = CliRunner().invoke(main, arguments)
    assert isinstance(done.exception, SystemExit), done.exception
    assert done.exit_code == 2, done.output
    assert done.stdout == ""
    assert "hipgemm: " in done.stderr or "Error: " in done.stderr
    return done


@needs_compiler
@pytest.mark.parametrize("verb", TAKE_A_FILE)
def test_what_is_no_input_is_refused(verb: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    for name, data in DAMAGED.items():
        (tmp_path / name).write_bytes(data)
    (tmp_path / "a cut-off ELF").write_bytes(build("kernel2").hsaco.read_bytes()[:3000])
    (tmp_path / "folder").mkdir()
    names = [*DAMAGED, "a cut-off ELF", "folder", "missing", "-"]
    if verb == "simulate":
        names.remove("empty")  # is a script that does nothing
    for name in names:
        refused(*(name if word == "FILE" else word for word in TAKE_A_FILE[verb]))


@needs_compiler
@pytest.mark.parametrize("verb", ["check", "time"])
def test_the_assembler_speaks_of_the_file_that_was_given(verb: str, tmp_path: Path) -> None:
    file = tmp_path / "bad.s"
    file.write_text(BAD)
    said = refused(verb, str(file), *LAUNCH).stderr
    assert f"\n{file}:3:2: error: invalid instruction" in said
    assert "could not assemble <stdin>" in CliRunner().invoke(main, [verb, "-", *LAUNCH], input=BAD).stderr


@needs_compiler
@pytest.mark.parametrize("verb", ["check", "time"])
def test_assembly_without_a_kernel_has_none(verb: str) -> None:
    assert "<stdin> has no kernel" in CliRunner().invoke(main, [verb, "-", *LAUNCH], input="\ts_endpgm\n").stderr


@pytest.mark.parametrize("clock", ["nan", "inf", "-inf", "0", "1e308", "fast"])
@pytest.mark.parametrize(
    "verb",
    [
        ["time", "kernel1"],
        ["timeline", "kernel1", "-o", "t.html"],
        ["report", "-o", "r.html"],
        ["tune", "--shapes", "-"],
    ],
)
def test_what_is_no_clock_is_refused(verb: list[str], clock: str) -> None:
    assert "'--clock'" in refused(*verb, "--clock", clock).stderr


@pytest.mark.parametrize("grid", ["0", "4,-1", "1,2,3,4", "1,", "x"])
def test_what_is_no_grid_is_refused(grid: str) -> None:
    assert "'--grid'" in refused("time", "-", "--grid", grid, "--block", "32").stderr


@needs_compiler
@pytest.mark.parametrize("verb", ["check", "lint", "inspect"])
def test_a_rung_has_its_own_kernel_only(verb: str) -> None:
    assert "no kernel 'kernel2'" in refused(verb, "kernel1", "--kernel", "kernel2").stderr


def test_what_cannot_be_written_is_refused_before_the_work(tmp_path: Path) -> None:
    shapes = tmp_path / "shapes"
    shapes.write_text("64 64 64\n")
    out = shapes / "no folder" / "out"
    assert f"cannot write {out}" in refused("tune", "--shapes", str(shapes), "-o", str(out)).stderr


def test_too_little_memory_is_said(monkeypatch: pytest.MonkeyPatch) -> None:
    def enormous(*_: object, **__: object) -> None:
        raise MemoryError

    monkeypatch.setattr("isa.asm.expand.read", enormous)
    assert "too little memory" in refused("lint", "-").stderr


def test_ctrl_c_is_one_line_and_the_status_of_shells(monkeypatch: pytest.MonkeyPatch) -> None:
    def pressed(*_: object, **__: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr("hipgemm.kernels.files.read_kernel", pressed)
    for words in (["check", "x.s"], ["time", "x.s", "--json"], ["diff", "x.s", "y.s"]):
        done = CliRunner().invoke(main, words)
        assert (done.exit_code, done.stdout, done.stderr) == (130, "", "hipgemm: interrupted\n")


def test_a_script_that_is_not_python_is_refused_where_it_is_not(tmp_path: Path) -> None:
    script = tmp_path / "script.py"
    script.write_text("import sys\nsys.exit(1 +)\n")
    assert f"{script}:2:13: this is not Python: invalid syntax" in refused("simulate", str(script)).stderr
    script.write_bytes(b"\x7fELF\0")
    said = refused("simulate", str(script)).stderr
    assert "`hipgemm simulate -- COMMAND` runs programs, `hipgemm check` assembly and code objects" in said


@needs_compiler
def test_colours_quiet_and_verbose_before_and_after_the_verb(tmp_path: Path) -> None:
    (tmp_path / "k.hip").write_text("#include <hip/hip_runtime.h>\n__global__ void k(float *x) { *x = 1; }\n")

    def said(*words: str, **more: str) -> tuple[int, str, str]:
        there = {**os.environ, "COLUMNS": "20", **more}
        command = [sys.executable, "-m", "hipgemm", *words]
        done = subprocess.run(command, capture_output=True, text=True, cwd=ROOT, env=there, check=False)
        return done.returncode, done.stdout, done.stderr

    file = str(tmp_path / "k.hip")
    assert "\033[1m" in said("--color", "always", "inspect", file)[1]
    assert "\033" not in said("inspect", file, "--color=never", FORCE_COLOR="1")[1]
    code, _, error = said("inspect", file, "--color=pink")
    assert (code, "expected: auto, always, never" in error) == (2, True)
    assert "+ " in CliRunner().invoke(main, ["lint", file, "-v", "-D", f"X={time.time_ns()}"]).stderr
    opt = ["opt", file, "-o", str(tmp_path / "o.s"), "--passes", "delay-alu"]
    assert "wrote" in CliRunner().invoke(main, opt).stderr
    assert "wrote" not in CliRunner().invoke(main, [*opt, "-q"]).stderr
    for verb in ("list", "example", "cache"):  # which are not about a kernel
        assert CliRunner().invoke(main, [verb, "-q", "-v", "--color=never"]).exit_code == 0


def test_a_device_that_does_not_end(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(bundle, "LARGEST_BUNDLE", 1 << 16)
    assert "/dev/zero does not end" in invoked(["lint", "/dev/zero"], code=2).stderr
