"""A verb in this process: its answer, where it ends as it should; what runs a program in a process of its own."""

import subprocess
from collections.abc import Callable, Sequence

from click.testing import CliRunner, Result

from hipgemm.cli import main

Run = Callable[..., subprocess.CompletedProcess[str]]
"""The fixture `run_program`."""


def invoked(words: Sequence[str], text: str | bytes | None = None, *, code: int = 0) -> Result:
    """`hipgemm WORDS` with the text on stdin; fails unless its exit status is `code`."""
    done = CliRunner().invoke(main, words, text)
    assert done.exit_code == code, done.output
    return done
