"""What people bring that cannot be taken: each is refused with status 2 and one message that says what is wrong, and is
the one JSON object on stdout under --json. Never a traceback."""

import json
import shutil
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from click.shell_completion import ShellComplete
from click.testing import CliRunner

from hipgemm.cli import main, progress
from hipgemm.kernels.build import linked, readable
from hipgemm.kernels.files import read_kernel
from isa import toolchain
from isa.asm.emit import emit

needs_compiler = pytest.mark.skipif(not list(toolchain.available()), reason="no compiler for gfx11 here")
OWN = Path(__file__).parent / "own"
LAUNCH = "--grid 4 --block 256"
X, Y = "--arg x=arange:f32:1000", "--arg y=zeros:f32:1000"
N, A = "--arg n=i32:1000", "--arg a=f32:2"
SAXPY = f"{LAUNCH} {N} {A} {X} {Y}"
MACHINES = {"gfx906": 0x2F, "gfx1250": 0x49}
"""EF_AMDGPU_MACH of targets that are not taken."""
KERNEL = 'extern "C" __global__ void'

REFUSED = {
    # no such file, or no kernel in it
    "lint no.hip": "no.hip: No such file",
    "inspect no.s": "no.s: No such file",
    "build no.hip": "no.hip: No such file",
    "opt no.s --passes unroll": "no.s: No such file",
    f"time no.hip {SAXPY}": "no.hip: No such file",
    f"check no.hsaco {LAUNCH}": "no.hsaco: No such file",
    "timeline no.s -o t.html": "no.s: No such file",
    "prove no.s --against saxpy.s": "no.s: No such file",
    "prove saxpy.s --against no.s": "no.s: No such file",
    "run kernel88": "did you mean kernel8?",
    "time kernal5": "did you mean kernel5?",
    "bench kernel99": "there is no kernel 'kernel99'",
    "lint folder": "no kernels in folder",
    "build folder": "folder: Is a directory",
    f"time folder {LAUNCH}": "folder: Is a directory",
    "inspect two.hip --html t.html": "--html is for one kernel, and two.hip has 2",
    f"check two.hip {LAUNCH} --arg zeros:f32:1": "two.hip has several kernels",
    f"check saxpy.hip {SAXPY} --kernel sax": "did you mean saxpy?",
    "inspect saxpy.hsaco --kernel sax": "no kernel 'sax'",
    "lint kernel1 --kernel kernel2": "kernel1 has no kernel 'kernel2'",
    "diff no.s saxpy.s": "no.s: No such file",
    "diff saxpy.s two.hip": "has several kernels",
    f"diff saxpy.s saxpy.s {LAUNCH}": "kernel saxpy takes other arguments",
    # no code
    "lint empty.s": "empty.s has no instructions",
    f"check empty.s {LAUNCH}": "empty.s has no kernel",
    "lint empty.hip": "empty.hip has no kernel",
    f"time empty.hip {LAUNCH}": "empty.hip has no kernel",
    "inspect empty.hsaco": "empty.hsaco has no kernel",
    "lint notes.txt": "unknown kind of file",
    "lint picture.png": "neither text nor a code object",
    f"check picture.png {LAUNCH}": "neither text nor a code object",
    "inspect cut.hsaco": "cut.hsaco",
    f"time cut.hsaco {LAUNCH}": "cut.hsaco",
    "lint garbage.s": "garbage.s:1:1",
    "build garbage.s": "garbage.s:1:1",
    "opt garbage.s --passes unroll": "garbage.s:1:1",
    "lint cut.s": "cut.s: .amdhsa_kernel saxpy has no end",
    "lint broken.hip": "could not compile broken.hip",
    "lint macro.hip": "macro.hip:3:14: error: use of undeclared identifier 'y'",
    "inspect macro.hip": "*x = TWICE(y)",
    "build broken.hip": "could not compile broken.hip",
    "lint saxpy.hip -- --no-such-flag": "could not compile saxpy.hip",
    "lint saxpy.hip --hipcc no-such-program": "no-such-program is not a program that can be run",
    # another target
    "lint saxpy.hip --arch gfx906": "no target 'gfx906'",
    "build saxpy.hip --arch gfx1250": "no target 'gfx1250'",
    "build saxpy.hip --arch gfx1152": "cannot build for 'gfx1152'",
    f"check saxpy.s {SAXPY} --arch gfx1250": "no target 'gfx1250'",
    "lint gfx906.s": "gfx906 (Vega), which is not supported",
    "inspect gfx906.hsaco": "gfx906 (Vega), which is not supported",
    f"time gfx906.hsaco {LAUNCH}": "gfx906 (Vega), which is not supported",
    f"check gfx1250.s {LAUNCH}": "gfx1250 (after RDNA4), which is not supported",
    "lint gfx1250.hsaco": "gfx1250 (after RDNA4), which is not supported",
    "opt gfx1250.s --passes unroll": "gfx1250 (after RDNA4), which is not supported",
    "prove gfx1250.s --against saxpy.s": "gfx1250 (after RDNA4), which is not supported",
    # what a verb does not take
    "build saxpy.hsaco": "saxpy.hsaco is a code object, which is built already",
    "prove saxpy.hip": "what is saxpy to compute?",
    # sizes
    "run kernel1 -n 0": "n must be at least 1",
    "time kernel1 -n -5": "n must be at least 1",
    "check kernel8 -n 100": "multiple of",
    "check kernel1 -n 100000": "has not enough memory for",
    "prove kernel9 -n 0": "N of at least 1",
    "explain 0 64 64": "'M'",
    "inspect kernel1 --threads 100000": "'--threads'",
    "timeline kernel1 -n 0 -o t.html": "n must be at least 1",
    f"check saxpy.hip --grid 0 --block 256 {N} {A} {X} {Y}": "'--grid'",
    f"time saxpy.hip --grid 4 --block -5 {N} {A} {X} {Y}": "'--block'",
    f"check saxpy.hip --grid 4 --block 100000 {N} {A} {X} {Y}": "kernel saxpy cannot have workgroups of 100000",
    f"time saxpy.hip --grid 4 --block 100000 {N} {A} {X} {Y}": "kernel saxpy cannot have workgroups of 100000",
    # launches
    "check saxpy.hip": "the launch of saxpy is not known",
    "time saxpy.hip": "the launch of saxpy is not known",
    "timeline saxpy.hip -o t.html": "the launch of saxpy is not known",
    f"check saxpy.hip {LAUNCH} {N} {A} {X}": "kernel saxpy takes other arguments",
    f"check saxpy.hip {LAUNCH} {N} {A} {X} --arg z=zeros:f32:1": "kernel saxpy has no argument 'z'",
    f"check saxpy.hip {LAUNCH} --arg f64:1 {A} {X} {Y}": "argument 0 (n) of kernel saxpy has another",
    f"check saxpy.hip {LAUNCH} --arg i32:many": "'i32:many' is not an argument",
    f"check saxpy.hip {LAUNCH} --arg i32:4294967296": "4294967296 is not a valid i32",
    f"check saxpy.hip {LAUNCH} --arg random:f33:8": "'random:f33:8' is not an argument",
    f"check saxpy.hip {LAUNCH} --arg zeros:f32:-5": "'zeros:f32:-5' is not an argument",
    f"check saxpy.hip {LAUNCH} --arg file:none.npy": "none.npy: No such file",
    f"check saxpy.hip {LAUNCH} --arg file:saxpy.hip": "saxpy.hip: this is not an array",
    f"check saxpy.hip {LAUNCH} {N} {A} --arg xs=zeros:f32:1 {Y}": "did you mean x?",
    f"check saxpy.hip {SAXPY} --expect q=y.npy": "there is no array 'q'",
    f"check saxpy.hip {SAXPY} --expect y=short.npy": "short.npy does not fit y",
    f"check saxpy.hip --block 32 {N} {A} {X} {Y}": "a launch needs both --grid and --block",
    "check saxpy.hip --launch none.toml": "none.toml: No such file",
    f"check saxpy.hip {SAXPY} --launch none.toml": "none.toml: No such file",
    f"check saxpy.hip {SAXPY} --arg n=i32:5": "argument 'n' of kernel saxpy is given twice",
    f"run saxpy.hip {LAUNCH} {N} {A} {X} --arg y=zeros:f32:99999999999": "has no room for 399999999996 bytes more",
    f"run saxpy.hip {SAXPY} --dynamic-lds 70000": "cannot have 70000 bytes of LDS a workgroup",
    "check saxpy.hip --launch saxpy.hip": "saxpy.hip is not TOML",
    "check saxpy.hip --launch odd.toml": "a launch has no 'gird'",
    f"check kernel1 {LAUNCH}": "kernel1 has its own launch",
    f"time saxpy.hip {SAXPY} --tolerance -1": "'--tolerance'",
    "check saxpy.hip --launch others.toml": "others.toml has no launch of saxpy",
    "check saxpy.hip --launch true.toml": "true.toml: grid = True",
    "check saxpy.hip --launch less.toml": "less.toml: tolerance and dynamic_lds are numbers of at least 0",
    f"check saxpy.hip {SAXPY} --tolerance nan": "'--tolerance'",
    f"check saxpy.hip --grid 99999999999 --block 256 {N} {A} {X} {Y}": "a grid cannot have 99999999999 x 1 x 1",
    f"time saxpy.hip --grid 1,70000 --block 256 {N} {A} {X} {Y}": "a grid cannot have 1 x 70000 x 1 workgroups",
    f"check saxpy.hip --grid 16777216 --block 256 {N} {A} {X} {Y}": "fewer than 2^32 work-items",
    f"check saxpy.hip {SAXPY} --dynamic-lds 70000": "cannot have 70000 bytes of LDS a workgroup",
    f"check saxpy.hip {LAUNCH} {N} {A} --arg inside:q+4 {Y}": "there is no array 'q'",
    f"check saxpy.hip {LAUNCH} {N} {A} --arg buffer:64:zeroes {Y}": "'buffer:64:zeroes' is not an argument",
    "audit notes.txt": "unknown kind of file",
    "audit no.so": "no.so: No such file",
    "lint saxpy.hip -O 99": "'99' is not one of",
    # where the answer goes: tried before the work
    "timeline kernel1 -n 128 -o saxpy.s/t.html": "cannot write saxpy.s/t.html",
    "timeline kernel1 -n 128 -o t.pdf": "unknown format",
    "inspect kernel1 --html saxpy.s/t.html": "cannot write saxpy.s/t.html",
    "inspect kernel1 --html folder": "folder",
    "opt kernel1 --passes unroll -o saxpy.s/o.s": "cannot write saxpy.s/o.s",
    "opt kernel1 --passes unroll -o folder": "cannot write folder",
    "build kernel1 -o saxpy.s": "cannot write saxpy.s: File exists",
    "report -o saxpy.s/r.html": "cannot write saxpy.s/r.html",
    "lab banks -o saxpy.s/l.svg": "cannot write saxpy.s/l.svg",
    # names
    "tim kernel1": "did you mean time?",
    "time kernel1 --clok 5": "Did you mean",
    "opt kernel1 --passes unrol": "did you mean unroll?",
    "opt kernel1 --passes pair{": "names with commas between",
    "build kernel1 --passes unrol": "did you mean unroll?",
    "time kernel1 --card 7900XTT": "did you mean 7900 XT?",
    "time kernel1 --bank-rule non": "no bank rule 'non'",
    "lint kernel1 --select LSD": "there is no rule 'LSD'",
    "lab bakns": "did you mean banks?",
    "run kernel1 --device crad": "did you mean card?",
    "lint": "Missing argument",
}


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """saxpy in every form, and all that is wrong with other files."""
    folder = tmp_path_factory.mktemp("refused")
    shutil.copy(OWN / "saxpy.hip", folder)
    kernel = read_kernel(str(folder / "saxpy.hip"))
    text, image = emit(readable(kernel)), linked(kernel).image
    texts = {
        "saxpy.s": text, "notes.txt": "these are notes\n", "odd.toml": "gird = 4\n",
        "others.toml": "[other]\ngrid = 1\n", "true.toml": "grid = true\n", "less.toml": "dynamic_lds = -5\n",
        "empty.s": "", "empty.hip": "", "cut.s": text[: text.index(".end_amdhsa_kernel")],
        "macro.hip": f"#define TWICE(x) (2 * x)\n{KERNEL} f(float *x) {{\n  *x = TWICE(y);\n}}\n",
        "garbage.s": "@@ %% ((\n", "broken.hip": f"{KERNEL} f() {{ nonsense }}\n",
        "two.hip": f"#include <hip/hip_runtime.h>\n{KERNEL} one(float *p) {{ *p = 1; }}\n"
                   f"{KERNEL} two(float *p) {{ *p = 2; }}\n",
    }  # fmt: skip
    data = {
        "saxpy.hsaco": image,
        "cut.hsaco": image[:3000],
        "picture.png": b"\x89PNG\r\n\x1a\n\xff",
        "empty.hsaco": b"",
    }
    for name, machine in MACHINES.items():
        texts[f"{name}.s"] = text.replace("gfx1100", name)
        data[f"{name}.hsaco"] = image[:48] + bytes([machine]) + image[49:]  # e_flags
    for name, held in texts.items():
        (folder / name).write_text(held)
    for name, bits in data.items():
        (folder / name).write_bytes(bits)
    (folder / "folder").mkdir()
    np.save(folder / "y.npy", np.zeros(1000, np.float32))
    np.save(folder / "short.npy", np.zeros(3, np.float32))
    return folder


def takes_json(words: list[str]) -> bool:
    command = main.get_command(None, words[0])  # type: ignore[attr-defined]
    return command is None or any("--json" in parameter.opts for parameter in command.params)


def before_flags(words: list[str], word: str) -> list[str]:
    at = words.index("--") if "--" in words else len(words)
    return [*words[:at], word, *words[at:]]


def test_there_are_enough() -> None:
    assert len(REFUSED) >= 70


@needs_compiler
@pytest.mark.parametrize("line", REFUSED)
def test_what_cannot_be_taken(line: str, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(folder)
    words, says = line.split(), REFUSED[line]
    done = CliRunner().invoke(main, words)
    assert isinstance(done.exception, SystemExit), done.exception
    assert (done.exit_code, done.stdout) == (2, ""), done.output
    assert says in done.stderr
    assert done.stderr.count("hipgemm: ") + done.stderr.count("Error: ") == 1
    if takes_json(words):
        done = CliRunner().invoke(main, before_flags(words, "--json"))
        assert done.exit_code == 2
        assert all(line.startswith("... ") for line in done.stderr.splitlines()), "progress, on a slow machine"
        error = json.loads(done.stdout)["error"]
        assert set(error) == {"message", "place", "assembly", "from", "expected", "found", "help"}
        assert says in " ".join(map(str, error.values())) or says.startswith(f"{(error['place'] or {}).get('file')}:")


@needs_compiler
def test_no_compiler(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """What reads assembly goes on; what compiles says what is missing, once."""
    monkeypatch.chdir(folder)
    monkeypatch.setenv("PATH", str(folder))
    monkeypatch.setattr(toolchain, "available", lambda hipcc=None: iter(()))
    done = CliRunner().invoke(main, ["lint", "saxpy.hip", "--json"])
    assert done.exit_code == 2
    assert json.loads(done.stdout)["error"]["message"] == "no compiler for gfx11 was found"
    assert CliRunner().invoke(main, ["lint", "saxpy.s"]).exit_code == 0
    toolchain._find.cache_clear()


def test_more_than_fits_is_refused_before_it_is_drawn(run_program: Callable[..., Any]) -> None:
    done = run_program("from hipgemm.cli import main\nmain(['run', 'kernel1', '-n', '100000'])", code=2)
    assert "hipgemm: " in done.stderr
    assert "Traceback" not in done.stderr


def test_what_takes_long_says_so_in_lines(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    """Where there is no terminal; none for what is quick, and each after twice the time of the one before."""
    with progress.steps() as step:
        step("building x")
    assert capsys.readouterr().err == ""
    monkeypatch.setattr(progress, "FIRST_S", 0.05)
    said = ""
    with progress.steps() as step:
        step("building x")
        while said.count("building") < 2:
            time.sleep(0.02)
            said += capsys.readouterr().err
        step("timing x")
        while "timing" not in said:
            time.sleep(0.02)
            said += capsys.readouterr().err
    assert said.startswith("... building x (0.05 s)\n... building x (0.1 s)\n")
    step = progress.at_calls()
    time.sleep(0.5)
    step("1 of 2")
    step("2 of 2")
    said = capsys.readouterr().err
    assert said.startswith("... 1 of 2 (")
    assert "2 of 2" not in said


def test_a_scripts_traceback_begins_at_the_script(tmp_path: Path, run_program: Callable[..., Any]) -> None:
    script = tmp_path / "script.py"
    script.write_text("def f():\n    raise ValueError('mine')\nf()\n")
    done = run_program(f"from hipgemm.cli import main\nmain(['simulate', {str(script)!r}])", code=1)
    assert done.stderr.count("  File ") == 2
    assert done.stderr.startswith(f'Traceback (most recent call last):\n  File "{script}", line 3')
    assert done.stderr.endswith("ValueError: mine\n")


@pytest.mark.parametrize(
    ("text", "frames", "code", "end"),
    [
        ("import hipgemm\ndef f():\n    hipgemm.kernel('no.hip')\nf()\n", 2, 1, "isa.errors.IsaError: no.hip"),
        ("import hipgemm\ntry:\n    hipgemm.kernel('no.hip')\nexcept Exception as e:\n    raise ValueError from e\n",
         2, 1, "ValueError"),
        ("raise KeyboardInterrupt\n", 1, 130, "KeyboardInterrupt"),
        ("raise BaseException('all')\n", 1, 1, "BaseException: all"),
        ("import sys\nsys.excepthook = lambda kind, e, frames: print(kind, frames.tb_lineno, file=sys.stderr)\n1 / 0\n",
         0, 1, "<class 'ZeroDivisionError'> 3"),
    ],
)  # fmt: skip
def test_a_scripts_traceback_has_its_own_frames_only(
    tmp_path: Path, run_program: Callable[..., Any], text: str, frames: int, code: int, end: str
) -> None:
    script = tmp_path / "script.py"
    script.write_text(text)
    done = run_program(f"from hipgemm.cli import main\nmain(['simulate', {str(script)!r}])", code=code)
    shown = [line for line in done.stderr.splitlines() if line.startswith("  File ")]
    assert all(line.startswith(f'  File "{script}", line ') for line in shown), done.stderr
    assert len(shown) == frames
    assert any(line.startswith(end) for line in done.stderr.splitlines()), done.stderr


@pytest.mark.parametrize(
    ("words", "begun", "found"),
    [
        ([], "time", {"time", "timeline"}),
        (["run"], "kernel1", {"kernel1", *(f"kernel{n}" for n in range(10, 14))}),
        (["opt", "x.s", "--passes"], "unroll,ba", {"unroll,bank-balance", "unroll,batch-loads"}),
        (["lab"], "b", {"banks"}),
        (["check"], "ke", {f"kernel{n}" for n in range(1, 14)}),
    ],
)
def test_a_shell_completes(words: list[str], begun: str, found: set[str]) -> None:
    items = ShellComplete(main, {}, "hipgemm", "_HIPGEMM_COMPLETE").get_completions(words, begun)
    assert {item.value for item in items if item.type == "plain"} == found
