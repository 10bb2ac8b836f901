"""Progress on stderr: what is being done and for how long.

In a terminal it is one line, gone when it is done. Elsewhere, as in a log, nothing is said of what is done within two
seconds; after that there is a line, and further ones when twice the time has passed, so that a log of an hour has a
dozen. They begin with "...", which no result does.
"""

from __future__ import annotations

import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

from hipgemm.cli import is_quiet
from hipgemm.report.terminal import console

if TYPE_CHECKING:
    from rich.progress import Progress, ProgressColumn

FIRST_S = 2.0
"""When the first line comes where there is no terminal."""


@contextmanager
def steps() -> Iterator[Callable[[str], None]]:
    """A function that takes what is being done now, in words."""
    if is_quiet():
        yield lambda what: None
        return
    if not sys.stderr.isatty():
        with _lines() as step:
            yield step
        return
    from rich.progress import Progress, SpinnerColumn, TextColumn, TimeElapsedColumn

    columns = (SpinnerColumn(), TextColumn("{task.description}", markup=False), TimeElapsedColumn())
    with Progress(*columns, console=console(stderr=True), transient=True) as progress:
        task = progress.add_task("starting", total=None)
        yield lambda what: progress.reset(task, description=what, total=None)


def bars(*more: ProgressColumn) -> Progress:
    """How much is done of how much, in a terminal. more: columns after the time."""
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn

    columns = (
        TextColumn("{task.description}", markup=False),
        BarColumn(),
        MofNCompleteColumn(),
        TimeElapsedColumn(),
        *more,
    )
    return Progress(*columns, console=console(stderr=True), transient=True, disable=is_quiet())


def at_calls() -> Callable[[str], None]:
    """Lines as `steps` writes them to what is no terminal, when the function is called and not by a thread: for verbs
    that start processes, and hear from them often."""
    began, due, quiet = time.monotonic(), FIRST_S, is_quiet()

    def step(what: str) -> None:
        nonlocal due
        past = time.monotonic() - began
        if past >= due and not quiet:
            print(f"... {what} ({past:.0f} s)", file=sys.stderr, flush=True)
            due = 2 * past

    return step


@contextmanager
def _lines() -> Iterator[Callable[[str], None]]:
    now, ended, file, began = ["starting"], threading.Event(), sys.stderr, time.monotonic()

    def tell() -> None:
        due = FIRST_S
        while not ended.wait(max(began + due - time.monotonic(), 0)):
            print(f"... {now[0]} ({due:g} s)", file=file, flush=True)
            due *= 2

    def step(what: str) -> None:
        now[0] = what

    teller = threading.Thread(target=tell, daemon=True)
    teller.start()
    try:
        yield step
    finally:
        ended.set()
        teller.join()
