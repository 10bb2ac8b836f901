"""`hipgemm cc`: hipcc's words are understood, its messages and exit status come through, and what is compiled runs.

The hipcc of the fast tests is a script that writes down how it was called, and leaves the assembly that it was told to.
"""

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from click.testing import Result
from test_optimise import WMMA, linkable
from verbs import invoked

from hipgemm.kernels.compiling import command_line, hipcc
from hipgemm.kernels.stages import figures
from isa import toolchain
from isa.object import bundle
from isa.object.code_object import load
from isa.object.to_text import text_of

HIPCC = """#!/bin/sh
echo "$@" >> {folder}/calls
case "$*" in
*refused.hip*) echo "refused.hip:1: error: no" >&2; exit 7;;
*--cuda-device-only*) cp {folder}/k.s "$(echo "$*" | sed 's/.* -o //')";;
*-fcuda-include-gpubinary*)
    cp "$(echo "$*" | sed 's/.*gpubinary -Xclang //; s/ .*//')" "$(echo "$*" | sed 's/.* -o //')";;
esac
"""
ROOT = Path(__file__).parents[2]


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    script = tmp_path / "hipcc"
    script.write_text(HIPCC.format(folder=tmp_path))
    script.chmod(0o755)
    (tmp_path / "k.s").write_text(linkable(WMMA))
    (tmp_path / "a.hip").write_text("")
    monkeypatch.setenv("HIPGEMM_CC", str(script))
    monkeypatch.setattr(hipcc.Driver, "_tools", lambda driver: toolchain.find())
    monkeypatch.chdir(tmp_path)
    return tmp_path


def cc(words: str, *, code: int = 0) -> Result:
    return invoked(["cc", "--hipgemm-budget=1", *words.split()], code=code)


def calls(folder: Path) -> list[str]:
    file = folder / "calls"
    return file.read_text().splitlines() if file.exists() else []


def test_words_are_read_as_hipcc_reads_them() -> None:
    given = "-O3 -x hip a.c -x none -I inc b.cpp c.o -MF d.cpp --offload-arch=gfx906,gfx1100 -o out -DX=1 -L lib -lm"
    found = command_line.read(given.split(), cxx=True)
    assert [str(s) for s in found.sources] == ["a.c", "b.cpp"]
    assert (found.archs, str(found.out), found.compile, found.why) == (["gfx906", "gfx1100"], "out", False, "")
    assert found.rest == ["-O3", 0, "-x", "none", "-I", "inc", 1, "c.o", "-MF", "d.cpp", "-DX=1", "-L", "lib", "-lm"]
    assert [str(s) for s in command_line.read(["b.cpp", "k.hip"], cxx=False).sources] == ["k.hip"]
    assert command_line.read(["-c", "a.hip", "-fgpu-rdc"], cxx=True).why == "-fgpu-rdc"


@pytest.mark.parametrize("option", ["-isystem", "-iquote", "-idirafter"])
def test_a_folder_may_be_a_part_of_its_options_word(option: str) -> None:
    assert command_line.from_anywhere(f"{option}/inc") == command_line.from_anywhere(option, "/inc") == [option, "/inc"]


def test_options_for_every_source_are_hipccs_variable(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HIPCC_COMPILE_FLAGS_APPEND", "-DN='1 + 1' -c")
    given: list[list[str]] = []
    monkeypatch.setattr("hipgemm.cli.cc._otherwise", lambda words: given.append(list(words)))
    invoked(["cc", "--hipgemm-alone", "a.o"], code=0)
    assert given == [["a.o", "-DN=1 + 1", "-c"]]


def test_an_object_holds_the_optimised_kernel(folder: Path) -> None:
    done = cc("-O3 -DX -MD -MF a.d --offload-arch=gfx1100 -c a.hip -o out.o -lm --save-temps")
    assert re.search(
        r"hipgemm: a.hip: gfx1100: k: [\d.]+% less cycles predicted, by rename-banks.*; proved", done.stderr
    )
    device, host = calls(folder)
    assert device.startswith("-O3 -DX --offload-arch=gfx1100 --cuda-device-only --no-gpu-bundle-output -S")
    assert host.startswith("-O3 -DX -MD -MF a.d -lm --save-temps --offload-arch=gfx1100 --cuda-host-only")
    cuids = {re.search(r"-cuid=\w{16}", call)[0] for call in (device, host)}  # type: ignore[index]
    assert len(cuids) == 1
    image = bundle.unbundle((folder / "out.o").read_bytes())  # what the script wrote there is the fat binary
    assert figures(text_of(load(image)), "k").matrix == 0
    assert figures(text_of(load(toolchain.find().code_object(linkable(WMMA)))), "k").matrix == 4
    assert (folder / "a-hip-amdgcn-amd-amdhsa-gfx1100.s").read_text() == linkable(WMMA)
    assert (folder / "a-hip-amdgcn-amd-amdhsa-gfx1100.opt.s").exists()


def test_objects_stand_where_sources_stood(folder: Path) -> None:
    (folder / "b.cpp").write_text("")
    cc("x.o a.hip -x hip b.cpp -o prog -lm")
    assert len(calls(folder)) == 5
    assert re.fullmatch(r"x\.o \S+/0-a\.o \S+/1-b\.o -lm --offload-arch=gfx1100 -o prog", calls(folder)[-1])


@pytest.mark.parametrize(
    "words",
    ["--version", "x.o -o prog", "-E a.hip", "-M a.hip", "-c a.hip --offload-arch=gfx906", "-c a.hip -fgpu-rdc",
     "-c a.hip a.hip -o x.o"],
)  # fmt: skip
def test_what_is_not_for_it_is_hipccs(words: str, folder: Path) -> None:
    done = cc(words)
    assert calls(folder) == [words]
    assert ("stays unchanged" in done.stderr) == ("-fgpu-rdc" in words)


def test_hipccs_refusal_is_the_commands(folder: Path, capfd: pytest.CaptureFixture[str]) -> None:
    (folder / "refused.hip").write_text("")
    done = cc("-c refused.hip", code=7)
    assert capfd.readouterr().err == "refused.hip:1: error: no\n"
    assert done.stderr == ""


def test_a_kernel_that_cannot_be_read_is_built_as_it_is(folder: Path) -> None:
    text = linkable(WMMA.replace("s_endpgm", "s_sethalt 0\n\ts_endpgm"))
    (folder / "k.s").write_text(text)
    assert "unchanged" in cc("--genco --no-gpu-bundle-output a.hip -o k.hsaco").stderr
    assert (folder / "k.hsaco").read_bytes() == toolchain.find().code_object(text)


def test_without_hipcc_device_code_alone(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(hipcc, "compiler", list)
    monkeypatch.chdir(tmp_path)
    shutil.copy(Path(__file__).parent / "own" / "saxpy.hip", tmp_path)
    cc("--genco -O3 saxpy.hip -o saxpy.hipfb")
    assert list(load((tmp_path / "saxpy.hipfb").read_bytes()).kernels) == ["saxpy"]
    assert "-S needs hipcc" in cc("-S saxpy.hip", code=1).stderr
    cc("-fgpu-rdc -c saxpy.hip")
    assert (tmp_path / "saxpy.o").read_bytes()[:4] == b"\x7fELF"


def test_without_hipcc_objects_and_libraries_stand_beside_a_source(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(hipcc, "compiler", list)
    monkeypatch.chdir(tmp_path)
    (tmp_path / "a.hip").write_text("__global__ void k(int *x) { *x = 7; }\nint seven() { return 7; }\n")
    (tmp_path / "b.cpp").write_text("int seven();\nint main() { return seven(); }\n")
    cc("--hipgemm-budget=0 -c a.hip")
    cc("--hipgemm-budget=0 a.o -mno-wavefrontsize64 -L elsewhere -l m b.cpp -lm -o p")
    assert (tmp_path / "p").exists()


PROGRAM = Path(__file__).with_name("sources").joinpath("cc_program.hip").read_text()
OTHER = """
#include <hip/hip_runtime.h>
static __device__ float hidden = 5;
__global__ void show(float *x) { *x = hidden; }
float other() {
    float *x, y = 0;
    if (hipMalloc((void **)&x, sizeof y)) return 0;
    show<<<1, 1>>>(x);
    (void)hipMemcpy(&y, x, sizeof y, hipMemcpyDeviceToHost);
    return y;
}
"""


@pytest.mark.slow
def test_a_program_links_and_runs(tmp_path: Path) -> None:
    """By a clang that finds HIP's headers, from two files; each has a static variable of one name on the device, which
    is found by a name that its host and device code must agree on and the other's must not have."""
    from hipgemm.simulated_hip import rocm_path

    clang = next((c for c in ("clang++-22", "clang++-19") if shutil.which(c)), None)
    if clang is None or not Path("/usr/include/hip/hip_runtime.h").exists():
        pytest.skip("needs HIP's headers and clang++ (Debian: apt install libamdhip64-dev clang-19)")
    (tmp_path / "p.hip").write_text(PROGRAM)
    (tmp_path / "q.hip").write_text(OTHER)
    there = {**os.environ, "PYTHONPATH": str(ROOT), "HIPGEMM_CC": f"{clang} --hip-path=/usr --rocm-path=/usr -nogpulib"}
    words = [*"-w -O2 --offload-arch=gfx1100 p.hip q.hip -o p".split(), f"-L{rocm_path() / 'lib'}", "-lamdhip64"]
    run = [sys.executable, "-m", "hipgemm"]
    done = subprocess.run([*run, "cc", *words], cwd=tmp_path, env=there, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert "p.hip: gfx1100: scale" in done.stderr
    done = subprocess.run(
        [*run, "simulate", "--", "./p"], cwd=tmp_path, env=there, capture_output=True, text=True, check=False
    )
    assert (done.returncode, done.stdout) == (0, "right\n"), done.stderr
