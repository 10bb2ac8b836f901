"""Programs in Python, each a question that takes a process of its own, since hip-python holds one HIP library for as
long as a process lives: `programs/FOLDER/NAME.txt`. What does not hold fails by its `assert`; below `;; expect` stands
what it prints. Its argument is a folder of its own. Lines of it:

    #include NAME        here stands `programs/FOLDER/NAME.inc`
    # by: simulate ...   it is a script for `hipgemm simulate`
    # says: WORDS        on stderr
    # needs: NAME...     packages, or device_libraries; slow: only `make test-slow` asks it
"""

import importlib.util
import re
from collections.abc import Iterator
from pathlib import Path

import pytest
from verbs import Run

from hipgemm.kernels.compiling import device_libraries

PROGRAMS = Path(__file__).with_name("programs")


def _said(text: str, word: str) -> list[str]:
    """What lines at the top say."""
    return [line.removeprefix(f"# {word}: ") for line in text.splitlines() if line.startswith(f"# {word}: ")]


def _whole(text: str, folder: Path) -> str:
    """With what it includes."""
    return re.sub(
        r"^#include (\w+)$", lambda found: _whole((folder / f"{found[1]}.inc").read_text(), folder), text, flags=re.M
    )


def _is_there(name: str) -> bool:
    if name == "device_libraries":
        return device_libraries.folder() is not None
    return importlib.util.find_spec(name) is not None


def _cases() -> Iterator[object]:
    for path in sorted(PROGRAMS.glob("*/*.txt")):
        needs = " ".join(_said(path.read_text(), "needs")).split()
        marks = [pytest.mark.slow] * ("slow" in needs)
        lacks = [name for name in needs if name != "slow" and not _is_there(name)]
        marks += [pytest.mark.skip(reason=f"{', '.join(lacks)}: not on this machine")] * bool(lacks)
        yield pytest.param(path, id=path.relative_to(PROGRAMS).with_suffix("").as_posix(), marks=marks)


@pytest.mark.parametrize("path", list(_cases()))
def test_it_runs(path: Path, tmp_path: Path, run_program: Run) -> None:
    text, mark, expected = path.read_text().partition(";; expect\n")
    script = _whole(text, path.parent)
    if by := " ".join(_said(text, "by")).split():
        (tmp_path / "script.py").write_text(script)
        done = run_program("from hipgemm.cli import main\nmain(prog_name='hipgemm')\n", *by, tmp_path / "script.py")
    else:
        done = run_program(script, str(tmp_path))
    assert not mark or done.stdout == expected, done.stderr
    assert [words for words in _said(text, "says") if words not in done.stderr] == [], done.stderr
