"""Processes that end with who started them, and take no more than they may."""

import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from isa import children, toolchain
from isa.children import Limits
from isa.toolchain import ToolError

PLENTY = Limits(8 << 30, 60, 1 << 30)
needs_compiler = pytest.mark.skipif(not list(toolchain.available()), reason="no compiler for gfx11 here")


def test_what_a_program_says_and_how_it_ends() -> None:
    assert children.run(["sh", "-c", "echo a; echo b >&2; exit 3"], PLENTY) == children.Ended(3, "a\nb\n", False)
    assert children.run(["sh", "-c", "kill -SEGV $$"], PLENTY).status == 128 + signal.SIGSEGV
    with pytest.raises(OSError, match="no such thing"):
        children.run(["no such thing"], PLENTY)


@pytest.mark.parametrize(
    ("program", "limits"),
    [
        ("while True: pass", Limits(8 << 30, 1, 1 << 30)),
        ("open('large', 'wb').write(bytes(1 << 22))", Limits(8 << 30, 60, 1 << 20)),
        ("import sys\nwhile True: sys.stdout.write('x' * 4096)", PLENTY),
    ],
)
def test_limits(program: str, limits: Limits, tmp_path: Path) -> None:
    done = children.run([sys.executable, "-S", "-c", program], limits, tmp_path)
    assert done.beyond or "File too large" in done.said
    assert len(done.said) <= children.LARGEST_TEXT


@pytest.mark.parametrize("by", [signal.SIGKILL, signal.SIGTERM, signal.SIGHUP])
def test_all_that_was_started_ends_with_who_started_it(by: signal.Signals, tmp_path: Path) -> None:
    """A program and its own child, a compiler's driver and its compiler say; and a worker."""
    program = f"""
import multiprocessing, sys, threading, time
from collections.abc import Callable
from pathlib import Path
from isa import children
from isa.children import Limits
def work():
    children.die_with_parent()
    Path({str(tmp_path)!r}, "worker").touch()
    time.sleep(60)
if __name__ == "__main__":
    multiprocessing.get_context("fork").Process(target=work).start()
    children.run(["sh", "-c", "sleep 60 & echo $! > {tmp_path}/inner; touch {tmp_path}/ready; wait"], Limits(8 << 30, 60, 1 << 30))
"""  # noqa: E501
    starter = subprocess.Popen([sys.executable, "-c", program], cwd=Path(__file__).parents[2])
    _until(lambda: (tmp_path / "ready").exists() and (tmp_path / "worker").exists())
    group = [int((tmp_path / "inner").read_text()), *_children(starter.pid)]
    assert len(group) >= 3
    starter.send_signal(by)
    starter.wait()
    _until(lambda: not any(map(_runs, group)))


@pytest.mark.parametrize("by", [signal.SIGTERM, signal.SIGHUP])
def test_a_verb_that_is_ended_leaves_nothing_half_made(by: signal.Signals, tmp_path: Path) -> None:
    """A compiler that takes long, and deletes its own files on SIGTERM; the folder in the cache; the temporary one."""
    program = """
import signal, sys, tempfile
from isa import cache, children
from hipgemm.kernels import files
from hipgemm.cli import main
signal.signal(signal.SIGHUP, signal.SIG_DFL)  # whoever runs the tests may ignore it, as nohup does
DRIVER = "trap 'rm -f $0; exit' TERM; touch $0; sleep 60 & wait"
def fill(folder):
    with tempfile.TemporaryDirectory():
        children.run(["sh", "-c", DRIVER, f"{tempfile.gettempdir()}/ready"], children.Limits(8 << 30, 60, 1 << 30))
files.read_kernel = lambda *_, **__: cache.make("kind", "name", fill)
main(["check", "x.s"])
"""
    env = {**os.environ, "XDG_CACHE_HOME": str(tmp_path), "TMPDIR": str(tmp_path)}
    root = Path(__file__).parents[2]
    verb = subprocess.Popen([sys.executable, "-c", program], cwd=root, env=env, stderr=subprocess.PIPE)
    _until((tmp_path / "ready").exists)
    verb.send_signal(by)
    assert verb.communicate() == (None, b"hipgemm: interrupted\n")
    assert verb.returncode == 128 + by
    _until(lambda: [p.name for p in tmp_path.rglob("*")] == ["hipgemm", "kind"])


@pytest.mark.parametrize(
    ("program", "by", "status"),
    [
        ("trap 'exit 5' TERM; touch ready; while :; do sleep 0.01; done", signal.SIGTERM, 5),
        ("trap '' INT; touch ready; sleep 0.3; exit 6", signal.SIGINT, 6),
        ("touch ready; exec sleep 60", signal.SIGHUP, 128 + signal.SIGHUP),
    ],
)
def test_a_program_gets_the_signals_of_the_one_in_whose_place_it_runs(
    program: str, by: signal.Signals, status: int, tmp_path: Path
) -> None:
    text = (
        "import os, signal, sys; signal.signal(signal.SIGHUP, signal.SIG_DFL); from isa.children import attached; "
        f"sys.exit(attached(['sh', '-c', {program!r}], os.environ))"
    )
    env = {**os.environ, "PYTHONPATH": str(Path(__file__).parents[2])}
    around = subprocess.Popen([sys.executable, "-c", text], cwd=tmp_path, env=env, start_new_session=True)
    _until((tmp_path / "ready").exists)
    around.send_signal(by)
    assert around.wait() == status


@pytest.mark.parametrize(("by", "said"), [("SEGV", "Segmentation fault"), ("KILL", "more memory"), ("PIPE", "")])
def test_it_is_said_of_what_signal_a_program_has_died(by: str, said: str, capsys: pytest.CaptureFixture[str]) -> None:
    status = children.attached(["sh", "-c", f"kill -{by} $$"], os.environ)
    assert status == 128 + signal.Signals[f"SIG{by}"]
    found = capsys.readouterr().err
    assert said in found if said else not found


def test_no_module_comes_from_the_folder_that_python_runs_in(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("isa", "ctypes", "re"):
        (tmp_path / f"{name}.py").write_text("raise SystemExit(9)")
    assert children.run(children.python("import ctypes, re, isa.asm"), PLENTY, tmp_path).status == 0
    monkeypatch.chdir(tmp_path)
    if assembler := toolchain.assembler():
        assert assembler.code_object("s_endpgm\n")


def _children(of: int) -> list[int]:
    return [int(pid) for pid in Path(f"/proc/{of}/task/{of}/children").read_text().split()]


def _runs(pid: int) -> bool:
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except OSError:
        return False


def _until(what: Callable[[], bool]) -> None:
    for _ in range(12_000):  # ten minutes: only what hangs is given up
        if what():
            return
        time.sleep(0.05)
    raise AssertionError("it took too long")


@needs_compiler
@pytest.mark.slow
def test_data_and_alignment_that_take_turns_end_at_the_limit() -> None:
    with pytest.raises(ToolError, match="within its limits") as caught:
        toolchain.find().code_object("f:\n" + ".byte 1\n.balign 2\n" * 3000 + "s_endpgm\n")
    assert "put data into .rodata" in (caught.value.hint or "")


@needs_compiler
@pytest.mark.parametrize(
    "text", [".zero 0x7ffffffff\n", ".macro a\na\na\n.endm\na\n", ".section .data\n.org 1 << 40\n"]
)
def test_assembly_that_stands_for_too_much(text: str) -> None:
    with pytest.raises(ToolError, match=r"within its limits|could not assemble"):
        toolchain.find().code_object(text)


@needs_compiler
@pytest.mark.parametrize(
    "text",
    [
        '.include "FILE"',
        'x: .INCBIN "FILE"',
        '.macro m a b\n\\a\\b "FILE"\n.endm\nm .inc,lude',
        '.macro m a b\n\\a\\b "FILE"\n.endm\nm .,include',
        '.macro m a\n\\a\\()include "FILE"\n.endm\nm .',
        '.macro m a=\n\\a.include "FILE"\n.endm\nm',
        '/*\n;*/ .include "FILE"',
        'x: ;/*\n/* ";" */ .include "FILE"',
        '.macro m a\n\\a\\()clude "FILE"\n.endm\nm .in',
        '.irp x,include\n.\\x "FILE"\n.endr',
        ".altmacro\n.macro m a\n\\a\n.endm\nm <.inc!lude>",
    ],
)
def test_assembly_reads_no_other_file(text: str, tmp_path: Path) -> None:
    file = tmp_path / "other"
    file.write_text("a line of another file\n")
    with pytest.raises(ToolError, match="may not read other files") as refused:
        toolchain.find().code_object(text.replace("FILE", str(file)))
    assert "a line of" not in str(refused.value)


@needs_compiler
def test_an_object_has_the_linker_read_no_other_file(tmp_path: Path) -> None:
    file = tmp_path / "other"
    file.write_text("a line of another file\n")
    text = f'.section .deplibs,"MS",@llvm_dependent_libraries,1\n.asciz "{file}"\n'
    assert toolchain.find().code_object(text).startswith(b"\x7fELF")


@needs_compiler
def test_macros_and_texts_that_are_none_of_this() -> None:
    text = '; %.i\n.set x.i, 1\n.asciz ".include"\n.text ; .include\n'
    text += "\n.macro m op a\n.Lx_\\@:\n\\op\\()_b32 v\\a, v1\n.endm\nm v_mov 3\n"
    assert toolchain.find().code_object(text)
