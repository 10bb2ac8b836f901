"""Docstrings: names in backticks exist, and a module's opening names its subject first."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from functools import cache
from pathlib import Path

from test_architecture import FILES, MODULES, PACKAGES, ROOT, _nodes

DOTTED = re.compile(r"`((?:isa|hipgemm|tools|kernels_hip)(?:\.\w+)+)(?:\(\))?`")
A_FILE = re.compile(r"`([\w/]+\.(?:py|ll|c|j2))`")


@cache
def _defined(path: Path) -> dict[str, set[str]]:
    """Top-level names of a module, each with what its class defines."""
    found: dict[str, set[str]] = {}
    module = _nodes(path)[0]
    assert isinstance(module, ast.Module)
    for node in module.body:
        for inner in [node, *(ast.walk(node) if isinstance(node, ast.If | ast.Try) else ())]:
            if isinstance(inner, ast.FunctionDef | ast.ClassDef):
                found[inner.name] = {
                    name for part in (inner.body if isinstance(inner, ast.ClassDef) else ()) for name in names_of(part)
                }
            elif isinstance(inner, ast.Import | ast.ImportFrom):
                found |= {(a.asname or a.name): set() for a in inner.names}
            else:
                found |= {name: set() for name in names_of(inner)}
    return found


def names_of(node: ast.stmt) -> list[str]:
    """What a statement defines or assigns."""
    if isinstance(node, ast.FunctionDef | ast.ClassDef):
        return [node.name]
    if isinstance(node, ast.AnnAssign):
        return [node.target.id] if isinstance(node.target, ast.Name) else []
    if isinstance(node, ast.Assign):
        return [n.id for target in node.targets for n in ast.walk(target) if isinstance(n, ast.Name)]
    return []


def exists(name: str) -> bool:
    """Whether a dotted name is a module, a name in one, or what its class defines."""
    parts = name.split(".")
    for end in range(len(parts), 0, -1):
        module = ".".join(parts[:end])
        if module not in MODULES:
            continue
        rest = parts[end:]
        if not rest:
            return True
        names = _defined(MODULES[module])
        lazily = module == "hipgemm" and rest[0] in _lazy()
        known = lazily or rest[0] in names
        return known and (len(rest) == 1 or not names.get(rest[0]) or rest[1] in names[rest[0]])
    return False


@cache
def _lazy() -> set[str]:
    """What the package offers, which comes when it is asked for."""
    for node in ast.parse(MODULES["hipgemm"].read_text()).body:
        if isinstance(node, ast.Assign) and names_of(node) == ["__all__"]:
            return set(ast.literal_eval(node.value))
    return set()


def _prose(path: Path) -> Iterator[str]:
    """Docstrings, strings that stand alone, and comments."""
    text = path.read_text()
    for node in _nodes(path):
        if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant) and isinstance(node.value.value, str):
            yield node.value.value
    yield from re.findall(r"#.*", text)


def gone(prose: str) -> list[str]:
    """The names in this prose that do not exist."""
    names = [name for name in DOTTED.findall(prose) if not exists(name)]
    return names + [f for f in A_FILE.findall(prose) if not any(file.endswith("/" + f) for file in _files())]


@cache
def _files() -> list[str]:
    """All files of the project, with their paths."""
    folders = [*PACKAGES, "tests"]
    return ["/" + p.relative_to(ROOT).as_posix() for folder in folders for p in (ROOT / folder).rglob("*.*")]


def test_names_in_backticks_exist() -> None:
    wrong = [f"{path.relative_to(ROOT)}: {name}" for path in FILES for prose in _prose(path) for name in gone(prose)]
    assert wrong == []


def test_a_name_that_is_gone_is_found() -> None:
    assert gone("`isa.cache.key`, `isa.asm.program.Program.kernel`, `hipgemm.sgemm`, `isa/cache.py`, `errors.py`") == []
    for name in ("isa.caches", "isa.cache.keys", "isa.asm.program.Program.colour", "hipgemm.qgemm"):
        assert gone(f"`{name}`") == [name]
    assert gone("`cashes.py`") == ["cashes.py"]


RIDDLES = re.compile(r"(What|Which|How|Where|When|Who|Whether|Why|Can|Is)\b")


def riddle(docstring: str) -> bool:
    """Whether a module's opening is none of the form "<noun phrase>: <what it computes from what>"."""
    first = " ".join(docstring.partition("\n\n")[0].split()).partition(". ")[0]
    return bool(first) and (bool(RIDDLES.match(first)) or not re.search(r": |:$| -> ", first))


def test_openings_name_their_subject_first() -> None:
    found = {path.relative_to(ROOT).as_posix(): ast.get_docstring(_nodes(path)[0]) for path in FILES}
    assert [name for name, text in found.items() if riddle(text or "")] == []


def test_a_riddle_is_found() -> None:
    assert riddle("What registers hold, as terms: equal values are one.")
    assert riddle("Options that verbs share.")
    assert not riddle("Liveness: a `Cfg` -> the live registers.")
