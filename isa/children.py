"""Processes that a process starts: they end when it does, however that ends, and take no more than they may.

    python(text)            the beginning of a command that runs Python with this project's modules
    run(command, ...)       a program that reads and writes files, as compilers do: in a session of its own, with limits
    attached(command, ...)  a program that has the streams and the terminal of this process, and gets its signals
    die_with_parent()       in a process: it ends when the one that started it does

A shell that runs a program also holds the reading end of a pipe that nobody writes to. The pipe ends with the process
that started it, by whatever signal, and the shell then ends its session: the program and what that has started. SIGTERM
comes a second before SIGKILL, for compilers to delete their temporary files.

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
import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from types import FrameType

tell: Callable[[str], None] | None = None
"""Takes each command that `run` starts, as a shell would."""
LARGEST_TEXT = 1 << 20
"""Bytes of what a program says that are read: more of it is no message."""
_GUARDED = """\
exec 3<&0
ulimit -S -v {kib} 2>/dev/null; ulimit -S -t {seconds} 2>/dev/null; ulimit -S -f {blocks} 2>/dev/null
(trap "" TERM; read -r _ <&3; kill -TERM 0; sleep 1; kill -KILL 0) >/dev/null 2>&1 &
exec 3<&-
"$@" </dev/null
"""
_ROOT = str(Path(__file__).resolve().parents[1])
_PR_SET_PDEATHSIG = 1
ENDING = tuple(getattr(signal, name) for name in ("SIGTERM", "SIGHUP") if hasattr(signal, name))
"""Signals that ask a process to end, beside Ctrl-C."""
_QUIET = (*ENDING, signal.SIGINT, getattr(signal, "SIGPIPE", 0))
"""Signals of which a program may die without a word."""


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


def python(text: str, *options: str) -> tuple[str, ...]:
    """The beginning of a command that runs a text of Python which imports this project's modules. None comes from the
    folder that it runs in, where anybody's files may lie."""
    return sys.executable, *options, "-c", f"import sys; sys.path[0] = {_ROOT!r}; {text}"


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
            with suppress(ProcessLookupError):
                os.killpg(child.pid, signal.SIGKILL)  # the shell that waits
        finally:
            child.stdin.close()  # and with it whatever is left
    text = said.decode(errors="replace")
    status = status if status >= 0 else 128 - status
    ended_by = status - 128 in (signal.SIGXCPU, signal.SIGXFSZ, signal.SIGKILL)
    return Ended(status, text, status != 0 and (ended_by or "out of memory" in text.lower() or "bad_alloc" in text))


def attached(command: Sequence[str], env: Mapping[str, str], stdout: int | None = None) -> int:
    """The status of a program, as shells have it; of what signal it died is said on stderr, as they do. What asks this
    process to end is passed on, for the program to obey or not; a terminal gives Ctrl-C to both. OSError where it does
    not start. stdout: where that of the program goes, if not to this process's."""
    child: subprocess.Popen[bytes] | None = None

    def pass_on(number: int, _: object) -> None:
        if child is None:
            raise KeyboardInterrupt(number)
        if number != signal.SIGINT or not _has_terminal():
            child.send_signal(number)

    with heard(pass_on, signal.SIGINT, *ENDING):
        child = subprocess.Popen(command, env=env, stdout=stdout, preexec_fn=die_with_parent)
        status = child.wait()
    if status < 0 and -status not in _QUIET:
        why = "; Linux kills what needs more memory than there is" if -status == signal.SIGKILL else ""
        print(f"hipgemm: the program has died: {signal.strsignal(-status)} (signal {-status}){why}", file=sys.stderr)
    return status if status >= 0 else 128 - status


def _has_terminal() -> bool:
    """Whether what is typed is for this process and its children."""
    with suppress(OSError), open(os.ctermid(), "rb", buffering=0) as terminal:
        return os.tcgetpgrp(terminal.fileno()) == os.getpgrp()
    return False


@contextmanager
def heard(by: Callable[[int, FrameType | None], object], *numbers: signal.Signals) -> Iterator[None]:
    """Signals go to a function: not those that are ignored, as after nohup, nor where this is not the main thread."""
    here = threading.current_thread() is threading.main_thread()
    before = {n: signal.getsignal(n) for n in numbers if here}
    before = {n: old for n, old in before.items() if old not in (signal.SIG_IGN, None)}
    try:
        for number in before:
            signal.signal(number, by)
        yield
    finally:
        for number, old in before.items():
            signal.signal(number, old)


def obey(*numbers: signal.Signals) -> None:
    """Signals end this process at once again, but for those that are ignored."""
    for number in numbers:
        if signal.getsignal(number) is not signal.SIG_IGN:
            signal.signal(number, signal.SIG_DFL)


def die_with_parent() -> None:
    """This process is killed when the thread that started it ends."""
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, signal.SIGKILL, 0, 0, 0)
