"""What people bring that cannot be taken: each is refused with status 2 and one message that says what is wrong, and is
the one JSON object on stdout under --json. Never a traceback."""

import json
import shutil
import time
from collections.abc import Callable
from pathlib import Path
from string import Template
from typing import Any

import numpy as np
import pytest
from click.shell_completion import ShellComplete
from click.testing import CliRunner
from verbs import invoked

from hipgemm.cli import main, progress
from hipgemm.kernels.build import linked, readable
from hipgemm.kernels.files import read_kernel
from isa import toolchain
from isa.asm.emit import emit

needs_compiler = pytest.mark.skipif(not list(toolchain.available()), reason="no compiler for gfx11 here")
OWN = Path(__file__).parent / "own"
WORDS = {"LAUNCH": "--grid 4 --block 256", "X": "--arg x=arange:f32:1000", "Y": "--arg y=zeros:f32:1000"}
WORDS |= {"N": "--arg n=i32:1000", "A": "--arg a=f32:2"}
WORDS["SAXPY"] = " ".join(WORDS[name] for name in ("LAUNCH", "N", "A", "X", "Y"))
MACHINES = {"gfx906": 0x2F, "gfx1250": 0x49}
"""EF_AMDGPU_MACH of targets that are not taken."""
KERNEL = 'extern "C" __global__ void'
GIVEN = Path(__file__).with_name("refused.txt").read_text().splitlines()
REFUSED = dict(Template(line).substitute(WORDS).split(" => ") for line in GIVEN if not line.startswith("# "))
"""A line of `refused.txt` is a command and what is said of it."""


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
        "saxpy.hsaco": image, "cut.hsaco": image[:3000], "picture.png": b"\x89PNG\r\n\x1a\n\xff", "empty.hsaco": b"",
    }  # fmt: skip
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
        done = invoked(before_flags(words, "--json"), code=2)
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
    done = invoked(["lint", "saxpy.hip", "--json"], code=2)
    assert json.loads(done.stdout)["error"]["message"] == "no compiler for gfx11 was found"
    invoked(["lint", "saxpy.s"])
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
        (["lab"], "b", {"banks", "blocks"}),
        (["check"], "ke", {f"kernel{n}" for n in range(1, 14)}),
    ],
)
def test_a_shell_completes(words: list[str], begun: str, found: set[str]) -> None:
    items = ShellComplete(main, {}, "hipgemm", "_HIPGEMM_COMPLETE").get_completions(words, begun)
    assert {item.value for item in items if item.type == "plain"} == found
