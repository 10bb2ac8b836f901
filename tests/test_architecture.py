"""The arrows of the house: who may import whom. Everything points one way, so a reader can start at the bottom."""

from __future__ import annotations

import ast
from graphlib import CycleError, TopologicalSorter
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]
PACKAGES = ["isa", "kernels_hip", "hipgemm", "tools"]
# Inside isa: a module imports only what stands above it (the same line counts as above). A module that is named stands
# apart from its package: the rules' names are shared by who finds faults without running code and who runs it.
ISA = [
    "errors cache packages display",
    "mangling",
    "targets",
    "registers semantics.values semantics.scheduling semantics.aliases",
    "semantics.describe",
    "instructions",
    "asm.expression asm.program",
    "semantics.wave_start",
    "asm.parse asm.emit asm.encoding",
    "object.descriptor asm.disassembler",
    "object.bundle",
    "toolchain object.code_object object.splice",
    "native",
    "object.metadata",
    "semantics",
    "object.from_text",
    "analysis",
    "object.to_text",
    "check.rules",
    "check.registry check.causes",
    "sim sanitize",
    "outer_product",
    "timing",
    "passes check",
    "gemm",
]


# Circles of types: what a module needs of another one only to say what it takes, and why that other one lies above it.
TYPES = {
    "isa.semantics.describe isa.asm.program": "entries are asked about instructions, which are made of entries",
    "isa.semantics.scheduling isa.asm.program": "the same",
    "isa.instructions isa.asm.program": "the same",
    "isa.sim.dots_llvm isa.sim.llvm_values": "operators of LlvmValue that have files of their own",
    "isa.sim.floats isa.sim.llvm_values": "the same",
    "isa.sim.forms isa.sim.llvm_values": "the same",
    "isa.sim.halves isa.sim.llvm_values": "the same",
    "isa.sim.matrices_llvm isa.sim.llvm_values": "the same",
    "isa.sim.scaled isa.sim.llvm_values": "the same",
    "isa.sim.writer isa.sim.llvm_values": "a writer is what values write themselves to",
    "isa.check.equivalence.terms isa.check.equivalence.bounds": "rules of terms ask for bounds, which are of terms",
    "hipgemm hipgemm.measure": "what the package offers, which comes when it is asked for",
    "hipgemm hipgemm.raw_kernel": "the same",
}


FILES = sorted(p for package in PACKAGES for p in (ROOT / package).rglob("*.py"))
MODULES = {".".join(p.relative_to(ROOT).with_suffix("").parts).removesuffix(".__init__"): p for p in FILES}


def _imports(path: Path, types: bool = False) -> set[str]:
    """Every module that the file imports when it runs, at any depth; `if TYPE_CHECKING` blocks do not run, and count
    only with types=True."""
    tree = ast.parse(path.read_text())
    skipped = {
        id(inner)
        for node in ast.walk(tree)
        if isinstance(node, ast.If) and isinstance(node.test, ast.Name) and node.test.id == "TYPE_CHECKING"
        for inner in ast.walk(node)
        if not types
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
            names = {f"{module}.{a.name}" for a in node.names}
            found |= names if names <= MODULES.keys() else names | {module}
    return found


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
        if names[0] != "isa" or len(names) < 2:
            continue
        assert place(names[1:]) <= place(parts), f"{module} imports {imported}"


def circle(graph: dict[str, set[str]]) -> list[str] | None:
    """Modules of which each imports the one before, the first and the last the same."""
    try:
        TopologicalSorter(graph).prepare()
    except CycleError as error:
        found: list[str] = error.args[1]
        return found
    return None


def _graph(types: bool) -> dict[str, set[str]]:
    return {name: (_imports(path, types) & MODULES.keys()) - {name} for name, path in MODULES.items()}


def test_no_module_imports_itself_in_the_end() -> None:
    """Imports within functions count: what is lazy is still needed."""
    assert circle(_graph(types=False)) is None


def test_circles_of_types_are_those_that_are_listed() -> None:
    graph = _graph(types=True)
    edges = [tuple(edge.split()) for edge in TYPES]
    for user, used in edges:
        graph[user].remove(used)
    assert circle(graph) is None
    for user, used in edges:
        assert circle({**graph, user: graph[user] | {used}}), f"{user} may import {used}"


def test_a_circle_is_found() -> None:
    assert circle({"a": {"b"}, "b": {"c"}, "c": set()}) is None
    assert circle({"a": {"b"}, "b": {"c"}, "c": {"a"}}) is not None


# Their own meaning of instructions is the worth of the first; the others rewrite text, or tell branches on SCC apart.
BY_TEXT = {"isa/check/spec_proof", "isa/check/lds/machine.py"}


@pytest.mark.parametrize("path", FILES, ids=lambda p: str(p.relative_to(ROOT)))
def test_what_an_instruction_is_its_description_says(path: Path) -> None:
    """Nobody but the table and the readers of text groups instructions by the beginning of a mnemonic, by a part of it,
    or by a list of units: `Description.is_valu` and its kind are asked."""
    relative = path.relative_to(ROOT).as_posix()
    if relative.startswith(("tools/", "isa/instructions/", "isa/semantics/", "isa/asm/", *BY_TEXT)):
        return
    found = []
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.Compare) and isinstance(node.ops[0], ast.In | ast.NotIn):
            grouped = isinstance(node.left, ast.Attribute) and node.left.attr == "unit"
            parts = [c for c in node.comparators if isinstance(c, ast.Attribute) and c.attr == "mnemonic"]
            found += [node.lineno] if grouped or parts else []
        elif isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr == "startswith":
            value = node.func.value
            found += [node.lineno] if isinstance(value, ast.Attribute) and value.attr == "mnemonic" else []
    assert not found, f"{relative}: lines {found}"
