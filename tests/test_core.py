"""The core without any extra, on a machine without a compiler: what it does, and what it says of what it cannot do."""

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from hipgemm.kernels.ladder import LADDER
from isa import toolchain
from isa.asm.emit import emit
from isa.gemm.vector.generate import generate

ROOT = Path(__file__).resolve().parents[1]
WITHOUT = """
import sys, importlib.metadata as metadata
sys.modules |= dict.fromkeys('llvmlite hip rocm ziglang distributed'.split())
def version(name, known=metadata.version):
    if name in 'hip-python rocm-llvm-python ziglang dask distributed'.split():
        raise metadata.PackageNotFoundError(name)
    return known(name)
metadata.version = version
"""
STORE = Path(__file__).with_name("sources").joinpath("core_store.s").read_text()
RUN = "from hipgemm.cli import main; main()"


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A GEMM kernel as text, as a code object, and a list of shapes."""
    folder = tmp_path_factory.mktemp("core")
    text = emit(generate(LADDER["kernel9"].parameters, "gemm"))
    (folder / "gemm.s").write_text(text)
    (folder / "gemm.hsaco").write_bytes(toolchain.find().code_object(text))
    (folder / "shapes.txt").write_text("64 64 64\n")
    (folder / "store.s").write_text(STORE)
    (folder / "script.py").touch()
    return folder


def alone(folder: Path, cache: Path, *arguments: str, path: str = "") -> subprocess.CompletedProcess[str]:
    """hipgemm in a process that finds neither the extras nor a compiler nor anything that was made before."""
    environment = {k: v for k, v in os.environ.items() if k != "ROCM_PATH"}
    environment |= {"PATH": path, "XDG_CACHE_HOME": str(cache), "PYTHONPATH": str(ROOT)}
    command = [sys.executable, "-c", WITHOUT + RUN, *arguments]
    return subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True, check=False)


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["list"], "kernel10"),
        (["lint", "gemm.s"], "0 faults"),
        (["inspect", "gemm.s", "--json"], '"occupancy"'),
        (["prove", "store.s", "--against", "store.s"], "proved"),
    ],
)
def test_text_needs_nothing_else(folder: Path, tmp_path: Path, arguments: list[str], said: str) -> None:
    done = alone(folder, tmp_path, *arguments)
    assert done.returncode == 0, done.stdout + done.stderr
    assert said in done.stdout + done.stderr


@pytest.mark.skipif(shutil.which("cc") is None, reason="no C compiler here, which the cycle model is compiled by")
def test_text_is_timed_where_there_is_a_c_compiler(folder: Path, tmp_path: Path) -> None:
    (tmp_path / "cc").write_text(f'#!/bin/sh\nPATH="{os.environ["PATH"]}" exec cc "$@"\n')
    (tmp_path / "cc").chmod(0o755)
    launch = "--grid 1 --block 32 --arg buffer:256".split()
    done = alone(folder, tmp_path, "time", "store.s", *launch, path=str(tmp_path))
    assert done.returncode == 0, done.stdout + done.stderr
    assert "us" in done.stdout


@pytest.mark.parametrize(
    ("arguments", "missing", "extra"),
    [
        (["run", "kernel9", "-n", "64", "--device", "simulated"], "hip-python is not installed", "sim"),
        (["simulate", "script.py"], "hip-python is not installed", "sim"),
        (["lint", "gemm.hsaco"], "rocm-llvm-python is not installed", "sim"),
        (["inspect", "gemm.hsaco"], "rocm-llvm-python is not installed", "sim"),
        (["time", "store.s", *"--grid 1 --block 32 --arg buffer:256".split()], "no C compiler", "toolchain"),
        (["inspect", "kernel9"], "no compiler for gfx11", "toolchain"),
        (
            ["tune", "--shapes", "shapes.txt", "--executor", "dask", "-o", "t.json"],
            "distributed is not installed",
            "dask",
        ),
    ],
)
def test_what_is_missing_is_named_with_what_to_install(
    folder: Path, tmp_path: Path, arguments: list[str], missing: str, extra: str
) -> None:
    done = alone(folder, tmp_path, *arguments)
    assert done.returncode == 2, done.stdout + done.stderr
    assert missing in done.stderr
    bring = {"sim": "hip-python>=", "toolchain": "ziglang>=", "dask": "dask>="}[extra]
    assert re.search(rf"help: .* -m pip install .*'{bring}", done.stderr)
    assert "hipgemm[" not in done.stderr
    assert "Traceback" not in done.stderr


ELSEWHERE = """
import asyncio, concurrent.futures, ctypes, multiprocessing, os, pkgutil, signal, subprocess, sys, tempfile
import numpy, rich.console  # which know of other systems by themselves
sys.modules |= dict.fromkeys('fcntl grp hip llvmlite pty pwd resource rocm termios ziglang'.split())
signals = 'SIGALRM SIGHUP SIGKILL SIGPROF SIGUSR1 setitimer'
calls = 'O_NOCTTY O_NOFOLLOW O_NONBLOCK RTLD_DEEPBIND RTLD_NOW fork geteuid getuid killpg setsid'
for held, names in (signal, signals), (os, calls):
    for name in names.split():
        delattr(held, name)
class Library(ctypes.CDLL):
    def __init__(self, name, *more):
        if name is None:
            raise TypeError('this process is no library')
        super().__init__(name, *more)
ctypes.CDLL = Library
import hipgemm, isa
for package in hipgemm, isa:
    for module in pkgutil.walk_packages(package.__path__, package.__name__ + '.'):
        if '.plugins' not in module.name and not module.name.endswith('__main__'):
            __import__(module.name)
from hipgemm.cli import main
main(sys.argv[1:])
"""


@pytest.mark.parametrize(
    ("arguments", "said"),
    [("lint store.s", "0 faults"), ("inspect store.s", "2 VGPRs"), ("prove store.s --against store.s", "proved")],
)
def test_nothing_of_posix_is_needed_to_read_assembly(arguments: str, said: str, tmp_path: Path) -> None:
    """On a Python without the modules, signals and functions that Windows lacks every module is imported, and works."""
    (tmp_path / "store.s").write_text(STORE)
    there = {**os.environ, "PYTHONPATH": str(ROOT)}
    done = subprocess.run(
        [sys.executable, "-c", ELSEWHERE, *arguments.split()], capture_output=True, text=True, cwd=tmp_path, env=there,
        check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    assert said in done.stdout + done.stderr
