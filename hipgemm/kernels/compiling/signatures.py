"""The types of kernels' arguments, which a code object does not have: HIP source that was compiled -> LLVM's types of
numbers, and C's of what pointers point to.

A compiler that keeps its temps leaves the bitcode of a source and the source after its preprocessor. `write` has it say
the bitcode as text, of which the lines that begin kernels have the types. There a pointer is a `ptr`; what to, the name
of a C++ function says (`isa.mangling`). For others the preprocessed source is read again, for debug information.

The same text has what each asm statement declares, which `write` puts into the comment that begins the statement in the
assembly, for `isa.lint.inline`.

Limits: signs of numbers are not known (an `int` is i32, as an `unsigned` is), of structures only that they are passed
in memory; where the compiler does not read its temps (hipcc), nothing.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path

from isa import toolchain
from isa.toolchain import Toolchain, ToolError

FILE = "signatures.json"
_TEXT = ("-S", "-emit-llvm", "-Xclang", "-disable-llvm-passes", "-nogpulib")
_OPEN, _CLOSED = "([{<", ")]}>"
_KERNEL = re.compile(r'^define .*\bamdgpu_kernel\b.*?@"?([^"(]+)"?\((.*)$', re.M)
_NODE = re.compile(r"^(!\d+) = (?:distinct )?(!DI\w+\(.*|!\{.*)$", re.M)
_DEEPEST = 64
_STATEMENT = re.compile(r'\basm (?:[a-z]+ )*"((?:[^"\\]|\\.)*)", "((?:[^"\\]|\\.)*)"')
_OPERAND = re.compile(r"\$(?:\d+|\{[^}]*\})")
_REGISTER = re.compile(r"\b(?:[vs]\d+|[vs]\[\d+:\d+\]|vcc(?:_lo|_hi)?|m0)(?!\w)")
_BLOCK = re.compile(r"#ASMSTART\n(.*?)(?=\n[^\n]*#ASMEND)", re.S)


def write(tools: Toolchain, folder: Path, arch: str) -> None:
    """Writes FILE into a folder where a source was compiled, and what asm statements declare into its assembly."""
    found: dict[str, list[str]] = {}
    for bitcode in sorted(folder.glob("*.bc")):
        text = _read(tools, folder, bitcode, "-x", "ir", "-target", "amdgcn-amd-amdhsa")
        found.update((name, _types(rest)) for name, rest in _KERNEL.findall(text))
        if statements := set(_STATEMENT.findall(text)):
            for file in folder.glob("*.s"):
                file.write_text(_declared(file.read_text(), statements))
    if any("ptr" in types and not name.startswith("_Z") for name, types in found.items()):
        for source in [*folder.glob("*.hipi"), *folder.glob("*.cui")]:
            text = _read(tools, folder, source, *toolchain.FREESTANDING, f"--offload-arch={arch}", "-g")
            for name, types in _described(text).items():
                if len(types) == len(found.get(name, ())):
                    found[name] = [c if llvm == "ptr" else llvm for llvm, c in zip(found[name], types, strict=True)]
    (folder / FILE).write_text(json.dumps(found))


def _read(tools: Toolchain, folder: Path, file: Path, *how: str) -> str:
    """A temp as LLVM's text; "" where the compiler does not read it."""
    text = folder / f"{file.stem}.ll"
    try:
        tools.clang([*_TEXT, *how, str(file), "-o", str(text)], f"read {file.name}", folder)
        return text.read_text(errors="replace")
    except (ToolError, OSError):
        return ""
    finally:
        text.unlink(missing_ok=True)


def types(folder: Path, kernel: str) -> list[str]:
    """Of each argument of a kernel, as `i32`, `float`, `float*` or `ptr`; none where they are not known."""
    with suppress(OSError, ValueError):
        return [str(one) for one in json.loads((folder / FILE).read_text()).get(kernel, ())]
    return []


def _declared(assembly: str, statements: set[tuple[str, str]]) -> str:
    """Assembly whose asm statements say the registers that they name and those that they declare. statements: template
    and constraints of each, as LLVM's text has them."""
    rows = []
    for template, constraints in statements:
        plain = re.sub(r"\\([0-9A-Fa-f]{2})", lambda m: chr(int(m[1], 16)), template)
        words = " ".join(re.findall(r"\{([^}]*)\}", constraints))
        texts = map(re.escape, _OPERAND.sub("\0", plain.replace("$$", "$")).split())
        pattern = re.compile(r"\s+".join(texts).replace("\0", r"\S+?"))
        rows.append(
            (pattern, f"names {' '.join(dict.fromkeys(_REGISTER.findall(_OPERAND.sub(' ', plain))))} declares {words}")
        )

    def said(block: re.Match[str]) -> str:
        fit = {words for pattern, words in rows if pattern.fullmatch(block[1].strip())}
        return f"#ASMSTART {fit.pop()}\n{block[1]}" if len(fit) == 1 else block[0]

    return _BLOCK.sub(said, assembly)


def _types(text: str) -> list[str]:
    """The first word of each parameter. text: what follows the bracket that opens them."""
    found, depth = [""], 0
    for letter in text:
        depth += (letter in _OPEN) - (letter in _CLOSED)
        if depth < 0:
            break
        if letter == "," and depth == 0:
            found.append("")
        else:
            found[-1] += letter
    return [one.split()[0] for one in found if one.split()]


def _described(text: str) -> dict[str, list[str]]:
    """Kernel -> the types of its arguments as debug information has them."""
    nodes = dict(_NODE.findall(text))
    found = {}
    for name, rest in _KERNEL.findall(text):
        function = re.search(r"!dbg (!\d+)", rest)
        routine = nodes.get(_field(nodes.get(function[1], ""), "type"), "") if function else ""
        parameters = re.findall(r"!\d+|null", nodes.get(_field(routine, "types"), ""))
        found[name] = [_called(nodes, one) for one in parameters[1:]]
    return found


def _field(node: str, name: str) -> str:
    match = re.search(rf'\b{name}: (?:"((?:[^"\\]|\\.)*)"|([^,)]+))', node)
    return match[1] or match[2] if match else ""


def _called(nodes: Mapping[str, str], at: str, depth: int = 0) -> str:
    """What C calls a type, without `const` and its kind; "void" for what is none."""
    node = nodes.get(at, "")
    tag, base = _field(node, "tag"), _field(node, "baseType")
    if depth > _DEEPEST or not node:
        return "void"
    if tag in ("DW_TAG_pointer_type", "DW_TAG_reference_type"):
        return f"{_called(nodes, base, depth + 1)}*"
    if tag == "DW_TAG_array_type":
        return f"{_called(nodes, base, depth + 1)} __vector" if "DIFlagVector" in node else "array"
    if tag == "DW_TAG_enumeration_type" or node.startswith("!DIDerivedType"):
        return _called(nodes, base, depth + 1)
    return _field(node, "name") or "struct"
