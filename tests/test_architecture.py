"""The arrows of the house: who may import whom. Everything points one way, so a reader can start at the bottom."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]
PACKAGES = ["isa", "kernels_hip", "hipgemm", "tools"]
# Inside isa: a module imports only what stands above it (the same line counts as above). A module that is named stands
# apart from its package: the rules' names are shared by who finds faults without running code and who runs it.
ISA = [
    "errors cache packages display",
    "targets",
    "registers semantics.values semantics.scheduling semantics.aliases",
    "semantics.describe",
    "instructions",
    "asm.program",
    "semantics.wave_start",
    "asm.parse asm.emit",
    "object.descriptor asm.disassembler",
    "toolchain object.code_object",
    "native",
    "object.metadata",
    "semantics",
    "analysis",
    "check.rules",
    "check.registry check.causes",
    "sim sanitize",
    "outer_product",
    "passes check",
    "gemm",
    "timing",
]
# Registration: the table of instructions fills itself on first use.
ALLOWED = {("isa.semantics.describe", "isa.instructions")}


def _imports(path: Path) -> set[str]:
    """Every module that the file imports when it runs, at any depth; `if TYPE_CHECKING` blocks do not run."""
    tree = ast.parse(path.read_text())
    skipped = {
        id(inner)
        for node in ast.walk(tree)
        if isinstance(node, ast.If) and isinstance(node.test, ast.Name) and node.test.id == "TYPE_CHECKING"
        for inner in ast.walk(node)
    }
    found: set[str] = set()
    for node in ast.walk(tree):
        if id(node) in skipped:
            continue
        if isinstance(node, ast.Import):
            found |= {a.name for a in node.names}
        elif isinstance(node, ast.ImportFrom):
            base = ".".join(path.relative_to(ROOT).parts[: -node.level]) if node.level else ""
            module = ".".join(filter(None, (base, node.module)))
            found |= {f"{module}.{a.name}" for a in node.names} | {module}
    return found


FILES = sorted(p for package in PACKAGES for p in (ROOT / package).rglob("*.py"))


@pytest.mark.parametrize("path", FILES, ids=lambda p: str(p.relative_to(ROOT)))
def test_packages_import_only_to_the_right(path: Path) -> None:
    mine = path.relative_to(ROOT).parts[0]
    above = PACKAGES[: PACKAGES.index(mine) + 1]
    wrong = {m for m in _imports(path) if m.split(".")[0] in PACKAGES and m.split(".")[0] not in above}
    assert not wrong


@pytest.mark.parametrize("path", [p for p in FILES if p.is_relative_to(ROOT / "isa")], ids=lambda p: p.stem)
def test_isa_imports_only_upwards(path: Path) -> None:
    layer = {tuple(name.split(".")): i for i, row in enumerate(ISA) for name in row.split()}
    parts = path.relative_to(ROOT / "isa").with_suffix("").parts
    if parts == ("__init__",):
        return
    module = "isa." + ".".join(parts)

    def place(names: tuple[str, ...]) -> int:
        return layer.get(names[:2], layer.get(names[:1], -1))

    if parts[1:] != ("__init__",):
        assert place(parts) >= 0, f"give {module} a place in the listing"

    for imported in _imports(path):
        names = tuple(imported.split("."))
        if names[0] != "isa" or len(names) < 2 or (module, ".".join(names[:2])) in ALLOWED:
            continue
        assert place(names[1:]) <= place(parts), f"{module} imports {imported}"
