"""The types of kernels' arguments, which a code object does not have: HIP source that was compiled -> LLVM's types of
numbers, and C's of what pointers point to.

A compiler that keeps its temps leaves the bitcode of a source and the source after its preprocessor. `write` has it say
the bitcode as text, of which the lines that begin kernels have the types. There a pointer is a `ptr`; what to, the name
of a C++ function says (`isa.mangling`). For others it is what the preprocessed source has, as text.

The same text has what each asm statement declares, which `write` puts into the comment that begins the statement in the
assembly, for `isa.lint.inline`.

Limits: signs of numbers are not known (an `int` is i32, as an `unsigned` is), of structures only that they are passed
in memory; where the compiler does not read its temps (hipcc), nothing. A name of a type that means two things in a
source, in classes or namespaces, stays as it is.
"""

from __future__ import annotations

import json
import re
from contextlib import suppress
from pathlib import Path

from isa.toolchain import Toolchain, ToolError

FILE = "signatures.json"
_TEXT = ("-S", "-emit-llvm", "-Xclang", "-disable-llvm-passes", "-nogpulib")
_OPEN, _CLOSED = "([{<", ")]}>"
_KERNEL = re.compile(r'^define .*\bamdgpu_kernel\b.*?@"?([^"(]+)"?\((.*)$', re.M)
_DEEPEST = 8
"""Names of types that stand for each other."""
_ALIAS = re.compile(r"\btypedef ([\w ]+) (\w+)\s*;|\busing (\w+) = ([\w ]+);")
_QUALIFIER = re.compile(r"[()]|\b(?:const|volatile|__restrict(?:__)?)\b")
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
    for source in [*folder.glob("*.hipi"), *folder.glob("*.cui")]:
        text = re.sub(r"^#.*\n", "", source.read_text(errors="replace"), flags=re.M)
        for name, types in found.items():
            if "ptr" in types and not name.startswith("_Z") and len(said := _said(text, name)) == len(types):
                found[name] = [c if llvm == "ptr" else llvm for llvm, c in zip(types, said, strict=True)]
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
    return [one.split()[0] for one in _split(text) if one.split()]


def _split(text: str) -> list[str]:
    """What commas part, up to the bracket that closes it."""
    found, depth = [""], 0
    for letter in text:
        depth += (letter in _OPEN) - (letter in _CLOSED)
        if depth < 0:
            break
        if letter == "," and depth == 0:
            found.append("")
        else:
            found[-1] += letter
    return found


def _said(text: str, kernel: str) -> list[str]:
    """The types of a kernel's parameters as preprocessed source has them, with what names of types stand for."""
    meant: dict[str, set[str]] = {}
    for old, new, alias, of in _ALIAS.findall(text):
        meant.setdefault(new or alias, set()).add(old or of)

    def resolved(word: re.Match[str]) -> str:
        same = meant.get(word[0], set())
        return next(iter(same)) if len(same) == 1 and word[0] not in " ".join(same).split() else word[0]

    begin = re.search(rf"\b{re.escape(kernel)}\s*\(", text)
    found = []
    for one in _split(text[begin.end() :]) if begin else []:
        one = re.sub(r"\w*\s*\[.*\]$", "*", re.sub(r"\s*=.*", "", one, flags=re.S).replace("&", "*").strip())
        one = re.sub(r"(?<=\W)\w+$", "", _QUALIFIER.sub(" ", one).strip())
        for _ in range(_DEEPEST):
            one = re.sub(r"\w+", resolved, one)
        found.append(re.sub(r"\s*\*", "*", " ".join(one.split())))
    return found
