"""What docs/timing.md shows is what its commands print: each line of a block that is there, in its order.

Blocks whose command needs a file of somebody else's are left out; so are lines that name this machine, and "..." stands
for lines that are not shown. Each command runs in a process of its own, as a reader's does: a process has one simulated
card. The figures are of code that clang 22 makes."""

from __future__ import annotations

import os
import re
import shlex
import subprocess
import sys
from pathlib import Path

import pytest

from isa import toolchain

PAGE = Path(__file__).parents[2] / "docs" / "timing.md"
MACHINE = re.compile(r"^\s*(simulated in|made by)\b")


def blocks() -> list[tuple[str, list[str]]]:
    """(command, what it prints) of each block that begins with a command."""
    found = []
    for text in re.findall(r"^```\n\$ hipgemm (.*?)^```", PAGE.read_text(encoding="utf-8"), re.S | re.M):
        command, _, printed = re.sub(r"\\\n\s*", "", text).partition("\n")
        found.append((command, [line for line in printed.splitlines() if not MACHINE.match(line)]))
    return found


def others(command: str) -> bool:
    return any(re.search(r"\.(s|pkl|hsaco)$", word) for word in shlex.split(command))


def missing(shown: list[str], printed: str) -> list[str]:
    """Lines that are shown and not printed behind the ones before them."""
    lines, at, wrong = [line.rstrip() for line in printed.splitlines()], 0, []
    for line in shown:
        if line.strip() == "..." or not line.strip():
            continue
        if line.rstrip() in lines[at:]:
            at = lines.index(line.rstrip(), at) + 1
        else:
            wrong.append(line)
    return wrong


def test_a_line_that_is_not_printed_is_missed() -> None:
    printed = "kernel\n  time  1 ms\n  band  2\n"
    assert not missing(["kernel", "...", "  band  2"], printed)
    assert missing(["kernel", "  time  1.1 ms"], printed) == ["  time  1.1 ms"]
    assert missing(["  band  2", "  time  1 ms"], printed) == ["  time  1 ms"]
    assert len(blocks()) >= 2
    assert sum(others(command) for command, _ in blocks()) == 1


@pytest.mark.slow
@pytest.mark.skipif(
    not any("22.1" in str(tools) for tools in toolchain.available()), reason="the page's figures are of clang 22's code"
)
@pytest.mark.parametrize(
    ("command", "shown"), [b for b in blocks() if not others(b[0])], ids=lambda b: b if isinstance(b, str) else ""
)
def test_the_page_shows_what_is_printed(command: str, shown: list[str]) -> None:
    words = [sys.executable, "-m", "hipgemm", *shlex.split(command)]
    environment = {**os.environ, "PYTHONPATH": str(PAGE.parents[1])}
    done = subprocess.run(words, env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    assert not missing(shown, done.stdout)
