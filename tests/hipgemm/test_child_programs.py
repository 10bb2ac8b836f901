"""Programs in Python, each a question that takes a process of its own, since hip-python holds one HIP library for as
long as a process lives: `programs/FOLDER/NAME.txt`. What does not hold fails by its `assert`.

Lines at the top: `# after: NAME...` says what stands before it (`programs/FOLDER/NAME.inc`), `# needs: PACKAGE...`
without what it is left out; `# needs: slow` that only `make test-slow` asks it.
"""

import importlib.util
import subprocess
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

PROGRAMS = Path(__file__).with_name("programs")


def _said(text: str, word: str) -> list[str]:
    """What lines at the top say."""
    lines = (line for line in text.splitlines() if line.startswith(f"# {word}: "))
    return next(lines, "").split()[2:]


def _cases() -> Iterator[object]:
    for path in sorted(PROGRAMS.glob("*/*.txt")):
        needs = _said(path.read_text(), "needs")
        marks = [pytest.mark.slow] * ("slow" in needs)
        lacks = [name for name in needs if name != "slow" and importlib.util.find_spec(name) is None]
        marks += [pytest.mark.skip(reason=f"{', '.join(lacks)} is not installed")] * bool(lacks)
        yield pytest.param(path, id=path.relative_to(PROGRAMS).with_suffix("").as_posix(), marks=marks)


@pytest.mark.parametrize("path", list(_cases()))
def test_it_runs(path: Path, run_program: Callable[..., subprocess.CompletedProcess[str]]) -> None:
    text = path.read_text()
    run_program("".join(path.with_name(f"{name}.inc").read_text() for name in _said(text, "after")) + text)
