"""What the tests of hipgemm share: a way to run a program in its own process, and a strict reader of pages.

hip-python holds one HIP library for as long as a process lives, so what goes through hip-python runs in a child.
"""

import subprocess
import sys
from collections.abc import Callable
from html.parser import HTMLParser
from pathlib import Path

import pytest

HERE = Path(__file__).parent
TIMEOUT_S = 600
"""Only what hangs is to be stopped: on a busy machine with cold caches an honest program takes minutes."""


@pytest.fixture
def run_program(tmp_path: Path) -> Callable[..., subprocess.CompletedProcess[str]]:
    """Runs Python text in a process that can import `small_card`; fails with its stderr unless `code` comes back."""

    def run(text: str, *arguments: str, code: int = 0) -> subprocess.CompletedProcess[str]:
        file = tmp_path / "program.py"
        file.write_text(f"import sys; sys.path[:0] = [{str(HERE)!r}, {str(HERE.parents[1])!r}]\n{text}")
        done = subprocess.run(
            [sys.executable, str(file), *arguments], capture_output=True, text=True, timeout=TIMEOUT_S, check=False
        )
        assert done.returncode == code, done.stderr + done.stdout
        return done

    return run


VOID = {"meta", "link", "br", "img", "hr", "input"}


class Page(HTMLParser):
    """Fails on tags that do not nest and on ids used twice; collects what a page would ask a server for, its classes
    and its words."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.open: list[str] = []
        self.requests: list[str] = []
        self.classes: list[str] = []
        self.words: list[str] = []
        self.ids: list[str] = []
        self.links: list[str] = []
        self.feed(text)
        assert not self.open
        assert len(self.ids) == len(set(self.ids))
        assert set(self.links) <= set(self.ids)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.open += [] if tag in VOID else [tag]
        given = dict(attrs)
        self.classes += (given.get("class") or "").split()
        self.ids += [given["id"]] if given.get("id") else []
        for name in ("src", "href"):
            value = given.get(name) or ""
            if value.startswith("#"):
                self.links.append(value[1:])
            elif value and not value.startswith("data:"):
                self.requests.append(value)

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.handle_starttag(tag, attrs)
        if tag not in VOID:
            self.handle_endtag(tag)

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        self.words += [data.strip()] if data.strip() else []
        if "url(http" in data or "@import" in data:
            self.requests.append(data)


@pytest.fixture
def read_page() -> Callable[[str], Page]:
    """Reads a page that a verb wrote."""
    return Page
