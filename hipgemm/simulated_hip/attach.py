"""Attachment: the library's first call in a process that hipgemm did not start -> a runtime.

The library (shim.c) runs `attach` in the Python of its process, or in one that it has started itself. Which card it is
to be, and whether launches are checked, `hipgemm simulate` says by the environment (`environment`).
"""

from __future__ import annotations

import ctypes
import os
import shlex
import shutil
import signal
import sys
import threading
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, NoReturn

from hipgemm import simulated_hip
from hipgemm.simulated_hip import calls, library
from hipgemm.simulated_hip.card import CARD, HipCard
from isa import cache
from isa.sim.ir import jit
from isa.timing.machine import cards

CHECK = "HIPGEMM_CHECK"
"""Names a file: each launch is checked, and a line is added to the file for each fault."""
RECORD = "HIPGEMM_RECORD"
"""Names a folder that keeps each launch."""
BUDGET = "HIPGEMM_BUDGET"
"""Instructions that a workgroup of a launch may run."""
HOST = "HIPGEMM_HOST_FEATURES"
"""What the processor can do (`isa.sim.ir.jit.tell_host_features`)."""
ROOTS = ("ROCM_PATH", "ROCM_HOME", "HIP_PATH")
"""Variables that say where ROCm lies."""
PLUGINS = Path(__file__).with_name("plugins")
"""On the path of a Python, it makes the simulated card a backend of Triton."""
_lock = threading.Lock()


def environment(
    card: str | None,
    faults: Path | None,
    before: Mapping[str, str],
    record: Path | None = None,
    budget: int | None = None,
) -> dict[str, str]:
    """Variables with which a command, and what it starts, finds the simulated card in place of ROCm's. faults: launches
    are checked, and this file gets a line for each fault; record: a folder that keeps each launch; budget: of
    each launch."""
    root, compiler = simulated_hip.rocm_path(), _hipcc(before, cards.card(card or cards.DEFAULT).arch)

    def first(folder: Path, variable: str) -> str:
        return os.pathsep.join(filter(None, (str(folder), before.get(variable))))

    more = {
        CARD: card,
        CHECK: faults and str(faults),
        RECORD: record and str(record.resolve()),
        BUDGET: budget and str(budget),
        HOST: jit.host_features(),
    }
    return {
        **before,
        **dict.fromkeys(ROOTS, str(root)),
        "LD_LIBRARY_PATH": first(root / "lib", "LD_LIBRARY_PATH"),
        "PATH": os.pathsep.join([*map(str, filter(None, [compiler])), first(root / "bin", "PATH")]),
        "PYTHONPATH": first(PLUGINS, "PYTHONPATH"),
        **for_triton(root),
        **{name: value for name, value in more.items() if value},
    }


def _hipcc(before: Mapping[str, str], arch: str) -> Path | None:
    """A folder with a `hipcc` for the command: the one that it would find, in the environment of before, since in that
    of the simulated card it would look for its compiler, and what its own libraries need, in vain. It builds for arch
    where nothing else is asked for. None where there is no hipcc."""
    found = shutil.which("hipcc", path=before.get("PATH"))
    if found is None:
        return None
    given, ours = {"HIP_PLATFORM": "amd", "HCC_AMDGPU_TARGET": arch}, (*ROOTS, "LD_LIBRARY_PATH")
    theirs = given | {name: before[name] for name in (*ours, *given) if name in before}
    words = [*(f"-u {name}" for name in ours), *(f"{name}={shlex.quote(value)}" for name, value in theirs.items())]
    text = f'#!/bin/sh\nexec env {" ".join(words)} {shlex.quote(found)} "$@"\n'

    def fill(folder: Path) -> None:
        (folder / "hipcc").write_text(text)
        (folder / "hipcc").chmod(0o755)

    return cache.make("hipcc", cache.key(text), fill)


def for_triton(root: Path) -> dict[str, str]:
    """Variables with which Triton takes that backend. root: as `simulated_hip.rocm_path`."""
    return {"TRITON_DEFAULT_BACKEND": "hipgemm", "TRITON_LIBHIP_PATH": str(root / library.LIBRARY)}


def attach(contract: str, entries: int, started: int) -> None:
    """Give the library a runtime. contract: of the calls that it was made for; entries: where its own
    lie; started: it started this Python."""
    with _lock:
        if contract != library.contract(calls.CALLS):
            _say(
                "hipgemm: libamdhip64.so belongs to a different hipgemm from the one installed here\n"
                "help: hipgemm simulate --print-path"
            )
            return
        if started:
            sys.stdout = _Stdout()
        if features := os.environ.get(HOST):
            jit.tell_host_features(features)
        if simulated_hip._runtime is None:
            simulated_hip._runtime = simulated_hip.fresh_runtime(_card(), os.environ.get(CARD), _say)
            budget = os.environ.get(BUDGET, "")
            simulated_hip._runtime.budget = int(budget) if budget.isdigit() else None
        simulated_hip.connect(simulated_hip._runtime, entries)


def run_program(library: str, words: Sequence[str]) -> NoReturn:
    """Calls `main` of a library with its arguments, words, in this process, and ends that as a program ends."""
    sys.stdout = _Stdout()
    signal.signal(signal.SIGINT, signal.SIG_DFL)
    c = ctypes.CDLL(None)
    arguments = (ctypes.c_char_p * (len(words) + 1))(*map(os.fsencode, words), None)
    if (main := getattr(ctypes.CDLL(library), "main", None)) is None:
        _say("hipgemm: the sources have no main\nhelp: hipgemm run, check and time take a kernel by itself")
        sys.exit(2)
    c.exit(main(len(words), arguments, ctypes.c_void_p.in_dll(c, "environ")))
    raise AssertionError("exit does not return")


def _card() -> Callable[[], HipCard] | None:
    """Makes a card that checks or records, if the environment asks for one."""
    file = os.environ.get(CHECK)
    if not file:
        folder = os.environ.get(RECORD)
        return simulated_hip.recorder(Path(folder), os.environ.get(CARD)) if folder else None
    from hipgemm.simulated_hip.checked import CheckedCard

    def fault() -> None:
        with open(file, "a") as out:
            out.write("fault\n")

    def make() -> Any:
        return CheckedCard(_say, fault)

    return make


def _say(text: str) -> None:
    sys.stderr.write(text + "\n")


class _Stdout:
    """What kernels print, in the order of what the program prints: by the buffer of C, which is flushed at exit."""

    def __init__(self) -> None:
        self._c = ctypes.CDLL(None)
        self._stream = ctypes.c_void_p.in_dll(self._c, "stdout")

    def write(self, text: str) -> int:
        self._c.fputs(text.encode(errors="replace"), self._stream)
        return len(text)

    def flush(self) -> None:
        self._c.fflush(self._stream)
