"""Processes that a process starts: they end when it does, however that ends, and take no more than they may.

    run(command, ...)       a program that reads and writes files, as compilers do: in a session of its own, with limits
    die_with_parent()       in a process: it ends when the one that started it does

A shell that runs a program also holds the reading end of a pipe that nobody writes to. The pipe ends with the process
that started it, by whatever signal, and the shell then kills its session: the program and what that has started.

Limits: what moves to a session of its own outlives its parent; die_with_parent is Linux's (prctl) and does nothing
elsewhere, nor for what the process itself has started.
"""

from __future__ import annotations

import ctypes
import os
import shlex
import shutil
import signal
import subprocess
import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

tell: Callable[[str], None] | None = None
"""Takes each command that `run` starts, as a shell would."""
LARGEST_TEXT = 1 << 20
"""Bytes of what a program says that are read: more of it is no message."""
_GUARDED = """\
exec 3<&0
ulimit -S -v {kib} 2>/dev/null; ulimit -S -t {seconds} 2>/dev/null; ulimit -S -f {blocks} 2>/dev/null
(read -r _ <&3; kill -KILL 0) >/dev/null 2>&1 &
exec 3<&-
"$@" </dev/null
"""
_PR_SET_PDEATHSIG = 1


@dataclass(frozen=True, slots=True)
class Limits:
    """For one process. memory: bytes of address space; seconds: of processor time; size: bytes of a file."""

    memory: int
    seconds: int
    size: int

    def __str__(self) -> str:
        size = f"{self.size >> 30} GiB" if self.size >> 30 else f"{self.size >> 20} MiB"
        return f"{self.memory >> 30} GiB of memory, {self.seconds} s of processor time, files of {size}"


@dataclass(frozen=True, slots=True)
class Ended:
    """status: as shells have it, 128 and the signal's number where it died of one. beyond: of its limits."""

    status: int
    said: str
    beyond: bool


def run(command: Sequence[str], limits: Limits, cwd: Path | None = None, env: Mapping[str, str] | None = None) -> Ended:
    """What became of a program, and what it said on either stream. OSError where it does not start."""
    if tell:
        tell(shlex.join(command))
    if shutil.which(command[0]) is None:
        raise FileNotFoundError(f"{command[0]} is not a program that can be run")
    script = _GUARDED.format(kib=limits.memory >> 10, seconds=limits.seconds, blocks=limits.size >> 9)
    with subprocess.Popen(
        ["/bin/sh", "-c", script, "sh", *command], cwd=cwd, env=env, stdin=subprocess.PIPE, stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT, start_new_session=True,
    ) as child:  # fmt: skip
        assert child.stdin is not None
        assert child.stdout is not None
        try:
            said = child.stdout.read(LARGEST_TEXT)
            if len(said) == LARGEST_TEXT:
                os.killpg(child.pid, signal.SIGKILL)
            status = child.wait()
        finally:
            child.stdin.close()  # and with it whatever is left
    text = said.decode(errors="replace")
    status = status if status >= 0 else 128 - status
    ended_by = status - 128 in (signal.SIGXCPU, signal.SIGXFSZ, signal.SIGKILL)
    return Ended(status, text, status != 0 and (ended_by or "out of memory" in text.lower() or "bad_alloc" in text))


def die_with_parent() -> None:
    """This process is killed when the thread that started it ends."""
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, signal.SIGKILL, 0, 0, 0)
