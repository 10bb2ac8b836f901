"""What the tests of hipgemm share: a small card, and a way to run a program in its own process.

hip-python holds one HIP library for as long as a process lives, so what goes through hip-python runs in a child.
"""

import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

HERE = Path(__file__).parent


@pytest.fixture
def run_program(tmp_path: Path) -> Callable[..., subprocess.CompletedProcess[str]]:
    """Runs Python text in a process that can import `small_card`; fails with its stderr unless `code` comes back."""

    def run(text: str, *arguments: str, code: int = 0) -> subprocess.CompletedProcess[str]:
        file = tmp_path / "program.py"
        file.write_text(f"import sys; sys.path[:0] = [{str(HERE)!r}, {str(HERE.parents[1])!r}]\n{text}")
        done = subprocess.run(
            [sys.executable, str(file), *arguments], capture_output=True, text=True, timeout=120, check=False
        )
        assert done.returncode == code, done.stderr + done.stdout
        return done

    return run
