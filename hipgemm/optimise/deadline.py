"""A timeout: runs a block of code, and leaves it when its time is up (POSIX alarm).

`within(seconds)` is a block of code: what runs in it when the time is up is left by an exception that no handler of
errors catches, and the block ends there. `Deadline.passed` says so. Seconds are the clock's, or of processor time. It
is the alarm of POSIX: it works in a process's main thread, and between two steps of Python: a call into native code
ends first. Elsewhere the block runs to its end.

Only for work without effects: what it was about to do is not done.
"""

from __future__ import annotations

import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from types import FrameType


@dataclass
class Deadline:
    """passed: whether the block was left because its time was up."""

    passed: bool = False


class _TimeUp(BaseException):
    pass


@contextmanager
def within(seconds: float, processor: bool = False) -> Iterator[Deadline]:
    deadline, running = Deadline(), True

    def ring(_: int, __: FrameType | None) -> None:
        if running:
            raise _TimeUp

    if threading.current_thread() is not threading.main_thread() or not hasattr(signal, "setitimer"):
        yield deadline
        return
    timer, alarm = (signal.ITIMER_PROF, signal.SIGPROF) if processor else (signal.ITIMER_REAL, signal.SIGALRM)
    before = signal.signal(alarm, ring)
    try:
        signal.setitimer(timer, max(seconds, 0.01))
        yield deadline
        running = False
    except _TimeUp:
        deadline.passed = True
    finally:
        running = False
        signal.setitimer(timer, 0)
        signal.signal(alarm, before)
