"""The size of the house, room by room, in `size.toml`: modules, their public names and lines; lines of tests, and of
the texts that they read; pages and words of documentation.

Growth is a decision: a room with one module or page more, or a twentieth more of the rest, or that nobody has written
down, fails: `pytest --bless` writes the sizes of today, and the commit that carries them says why. What shrinks is
never a failure.
"""

from __future__ import annotations

import ast
from collections import Counter
from collections.abc import Iterator, Mapping
from pathlib import Path

import pytest
import test_architecture as architecture
from plan import ROOT, tomllib
from test_names_in_docstrings import names_of

FILE = Path(__file__).with_name("size.toml")
MAY_GROW = {"modules": 1.0, "pages": 1.0, "names": 1.05, "lines": 1.05, "texts": 1.05, "words": 1.05}
Sizes = Mapping[str, Mapping[str, int]]


def sizes(root: Path) -> Sizes:
    """Room -> how much there is of each unit in it."""
    found: dict[str, Counter[str]] = {}
    for room, path in rooms(root):
        text = path.read_text()
        amount = {"pages": 1, "words": len(text.split())} if path.suffix == ".md" else {"lines": len(text.splitlines())}
        if room.startswith("tests") and path.suffix != ".py":
            amount = {"texts": amount["lines"]}
        if path.suffix == ".py" and not room.startswith("tests"):
            amount |= {"modules": 1, "names": public_names(text)}
        found.setdefault(room, Counter()).update(amount)
    return found


def public_names(text: str) -> int:
    """What the top of a module defines or assigns, without names that begin with an underscore."""
    names = {name for node in ast.parse(text).body for name in names_of(node)}
    return sum(not name.startswith("_") for name in names)


def rooms(root: Path) -> Iterator[tuple[str, Path]]:
    """A file's room is its folder; among the tests, the one below `tests`."""
    for top, suffixes in (
        ("isa", (".py", ".c", ".h", ".ll")), ("hipgemm", (".py",)), ("tools", (".py",)),
        ("tests", (".py", ".s", ".inc", ".hip", ".c", ".h", ".cpp", ".txt")), ("docs", (".md",)),
    ):  # fmt: skip
        for path in sorted((root / top).rglob("*")):
            if path.suffix in suffixes and path.is_file():
                inside = path.relative_to(root).parts[:-1]
                yield "/".join(inside[:2] if top == "tests" else inside), path


SMALL = 120
"""Lines of a module that is as good a part of its only importer."""
ALONE = 25
"""How many such modules there are: it may only fall."""


def alone() -> list[str]:
    """Modules of fewer than SMALL lines that exactly one other imports."""
    importers: Counter[str] = Counter()
    for name, path in architecture.MODULES.items():
        found = {m if m in architecture.MODULES else m.rpartition(".")[0] for m in architecture._imports(path, True)}
        importers.update(found - {name})
    return [
        name
        for name, path in architecture.MODULES.items()
        if importers[name] == 1 and path.name != "__init__.py" and len(path.read_text().splitlines()) < SMALL
    ]


def test_no_more_small_modules_with_one_importer() -> None:
    found = alone()
    assert len(found) <= ALONE, "\n".join(["merge one into its importer:", *found])


def grown(before: Sizes, now: Sizes) -> list[str]:
    """What is larger than it may be, in words."""
    return [
        f"{room}: {now[room][unit]} {unit}, {known} before"
        for room in now
        for unit in now[room]
        if now[room][unit] > MAY_GROW[unit] * (known := before.get(room, {}).get(unit, 0))
    ]


def test_no_room_grew_unseen(request: pytest.FixtureRequest) -> None:
    now = sizes(ROOT)
    if request.config.getoption("--bless"):
        rows = (
            f'["{room}"]\n' + "".join(f"{unit} = {amount}\n" for unit, amount in sorted(now[room].items()))
            for room in sorted(now)
        )
        FILE.write_text("# How much there is in each room: see test_size.py.\n\n" + "\n".join(rows))
    found = grown(tomllib.loads(FILE.read_text()), now)
    assert not found, "\n".join([*found, "run pytest --bless tests/test_size.py and say in the commit why they grew"])


def test_growth_is_seen(tmp_path: Path) -> None:
    (tmp_path / "isa" / "room").mkdir(parents=True)
    (tmp_path / "isa" / "room" / "one.py").write_text("x = 1\n" * 100)
    before = sizes(tmp_path)
    assert before == {"isa/room": {"lines": 100, "modules": 1, "names": 1}}
    (tmp_path / "isa" / "room" / "one.py").write_text("x = 1\n" * 105)
    assert grown(before, sizes(tmp_path)) == []
    (tmp_path / "isa" / "room" / "two.py").write_text("x = 1\n")
    assert grown(before, sizes(tmp_path)) == [
        "isa/room: 106 lines, 100 before",
        "isa/room: 2 modules, 1 before",
        "isa/room: 2 names, 1 before",
    ]
    (tmp_path / "isa" / "other").mkdir()
    (tmp_path / "isa" / "other" / "three.py").write_text("x = 1\n")
    assert "isa/other: 1 lines, 0 before" in grown(before, sizes(tmp_path))
