"""The arrows of the house: who may import whom. Everything points one way, so a reader can start at the bottom."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterable
from functools import cache
from graphlib import CycleError, TopologicalSorter
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
PACKAGES = ["isa", "kernels_hip", "hipgemm", "tools"]
# Inside isa: a module imports only what stands above it (the same line counts as above). A module that is named stands
# apart from its package: the rules' names are shared by who finds faults without running code and who runs it.
ISA = [
    "errors cache packed children packages display garbage", "llvm", "mangling", "targets",
    "registers semantics.values semantics.scheduling semantics.names", "semantics.instruction", "instructions",
    "asm.expression asm.program", "semantics.wave_start", "asm.parse asm.emit asm.encoding asm.data",
    "object.descriptor asm.disassembler", "object.bundle object.link", "asm.assemble",
    "toolchain object.code_object object.splice", "asm.expand", "native", "object.metadata", "semantics", "algebra",
    "object.from_text object.lines", "analysis", "object.reached object.to_text", "lint.names",
    "lint.registry lint.causes", "sim.ir sim.translate", "sim.run sanitize", "outer_product", "timing.native",
    "timing.machine", "timing.trace timing.card_traces", "timing.workgroups", "timing.model", "passes lint prove",
    "gemm",
]  # fmt: skip


# Circles of types: what a module needs of another one only to say what it takes, and why that other one lies above it.
TYPES = {
    "hipgemm hipgemm.measure.measure": "what the package offers, which comes when it is asked for",
    "hipgemm hipgemm.raw_kernel": "the same",
}


FILES = sorted(p for package in PACKAGES for p in (ROOT / package).rglob("*.py"))
MODULES = {".".join(p.relative_to(ROOT).with_suffix("").parts).removesuffix(".__init__"): p for p in FILES}


@cache
def _nodes(path: Path) -> tuple[ast.AST, ...]:
    """All nodes of a file's syntax tree."""
    return tuple(ast.walk(ast.parse(path.read_text())))


@cache
def _imports(path: Path, types: bool = False) -> frozenset[str]:
    """Every module that the file imports when it runs, at any depth, or by its name; `if TYPE_CHECKING` blocks do not
    run, and count only with types=True."""
    skipped = {
        id(inner)
        for node in _nodes(path)
        if isinstance(node, ast.If) and isinstance(node.test, ast.Name) and node.test.id == "TYPE_CHECKING"
        for inner in ast.walk(node)
        if not types
    }
    found: set[str] = set()
    for node in _nodes(path):
        if id(node) in skipped:
            continue
        if isinstance(node, ast.Import):
            found |= {a.name for a in node.names}
        elif isinstance(node, ast.ImportFrom):
            base = ".".join(path.relative_to(ROOT).parts[: -node.level]) if node.level else ""
            module = ".".join(filter(None, (base, node.module)))
            names = {f"{module}.{a.name}" for a in node.names}
            found |= names if names <= MODULES.keys() else names | {module}
        elif isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr == "import_module":
            found |= {a.value for a in node.args if isinstance(a, ast.Constant)}
    return frozenset(found)


def _wrong_packages(path: Path, imports: Iterable[str]) -> list[str]:
    """Imports of a package that stands to the right of the file's own."""
    mine = path.relative_to(ROOT).parts[0]
    right = PACKAGES[PACKAGES.index(mine) + 1 :]
    return [f"{path.relative_to(ROOT)} imports {m}" for m in sorted(imports) if m.split(".")[0] in right]


def test_packages_import_only_to_the_right() -> None:
    assert [wrong for path in FILES for wrong in _wrong_packages(path, _imports(path))] == []
    assert _wrong_packages(ROOT / "isa" / "cache.py", ["isa.errors", "hipgemm.kernels.build"])


LAYER = {tuple(name.split(".")): i for i, row in enumerate(ISA) for name in row.split()}


def _place(names: tuple[str, ...]) -> int:
    return LAYER.get(names[:2], LAYER.get(names[:1], -1))


def _downwards(path: Path, imports: Iterable[str]) -> list[str]:
    """Imports of a module that stands below the file's own in the listing; or that the file is not listed."""
    parts = path.relative_to(ROOT / "isa").with_suffix("").parts
    if parts == ("__init__",):
        return []
    module = "isa." + ".".join(parts)
    if parts[1:] != ("__init__",) and _place(parts) < 0:
        return [f"give {module} a place in the listing"]
    own = [names for m in sorted(imports) if (names := tuple(m.split(".")))[0] == "isa" and len(names) > 1]
    return [f"{module} imports {'.'.join(names)}" for names in own if _place(names[1:]) > _place(parts)]


def test_isa_imports_only_upwards() -> None:
    paths = [path for path in FILES if path.is_relative_to(ROOT / "isa")]
    assert [wrong for path in paths for wrong in _downwards(path, _imports(path))] == []
    assert _downwards(ROOT / "isa" / "asm" / "parse.py", ["isa.errors", "isa.sim.run.card"])


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
BY_TEXT = {"isa/prove/definition", "isa/lint/lds/machine.py"}


def _grouped(nodes: Iterable[ast.AST]) -> list[int]:
    """Lines that group instructions by the beginning of a mnemonic, by a part of it, or by a list of units."""
    found = []
    for node in nodes:
        if isinstance(node, ast.Compare) and isinstance(node.ops[0], ast.In | ast.NotIn):
            grouped = isinstance(node.left, ast.Attribute) and node.left.attr == "unit"
            parts = [c for c in node.comparators if isinstance(c, ast.Attribute) and c.attr == "mnemonic"]
            found += [node.lineno] if grouped or parts else []
        elif isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr == "startswith":
            value = node.func.value
            found += [node.lineno] if isinstance(value, ast.Attribute) and value.attr == "mnemonic" else []
    return found


def test_what_an_instruction_is_its_description_says() -> None:
    """Nobody but the table and the readers of text groups instructions themselves: `Description.is_valu` and its kind
    are asked."""
    readers = ("tools/", "isa/instructions/", "isa/semantics/", "isa/asm/", *BY_TEXT)
    asked = {name: path for path in FILES if not (name := path.relative_to(ROOT).as_posix()).startswith(readers)}
    assert {name: lines for name, path in asked.items() if (lines := _grouped(_nodes(path)))} == {}
    for wrong in ('x.mnemonic.startswith("v_")', '"fma" in x.mnemonic', 'x.unit in ("valu", "trans")'):
        assert _grouped(ast.walk(ast.parse(wrong))) == [1]


# Who may say how a family writes waits, barriers, cache bits and workgroup ids: families, the table, who reads
# the text of all, sources of numbers, and microbenchmarks, whose texts are translated.
OF_FAMILIES = (
    "isa/targets/", "isa/instructions/", "isa/asm/parse.py", "isa/semantics/", "isa/timing/machine/",
    "hipgemm/lab/", "hipgemm/measure/card/calibration.py",
)  # fmt: skip
_FAMILYS = re.compile(
    r"\b(s_wait\w*|s_barrier\w*|buffer_gl\d_inv|global_(inv|wb|wbinv)|(vm|vs|lgkm|load|store|ds|km|sample|bvh)cnt"
    r"|(TH|SCOPE)_\w+|ttmp\d+|(system_sgpr_)?workgroup_id_\w*|[gsd]lc)\b"
)


def _said(path: Path) -> bool:
    """Whether a text that is no docstring has a family's word."""
    prose = {id(node.value) for node in _nodes(path) if isinstance(node, ast.Expr)}
    texts = (n.value for n in _nodes(path) if isinstance(n, ast.Constant) and id(n) not in prose)
    return any(isinstance(text, str) and _FAMILYS.search(text) for text in texts)


def test_families_say_how_waits_barriers_and_cache_bits_are_written() -> None:
    said = [str(path.relative_to(ROOT)) for path in FILES if _said(path)]
    assert [room for room in OF_FAMILIES if not any(name.startswith(room) for name in said)] == []
    assert [name for name in said if not name.startswith(OF_FAMILIES)] == [], (
        "ask the family (`isa.targets`, `isa.semantics.waits`)"
    )
