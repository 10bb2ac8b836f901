"""The types of kernels' arguments, which a code object does not have: HIP source that was compiled -> LLVM's types.

A compiler that keeps its temps leaves the bitcode of a source. `write` has it say that as text, of which it keeps the
line that begins each kernel; `types` reads these. Limits: signs are not known (an `int` is i32, as an `unsigned` is),
of structures only that they are passed in memory; where the compiler does not read its bitcode (hipcc), nothing.
"""

from __future__ import annotations

import re
from contextlib import suppress
from pathlib import Path

from isa.toolchain import Toolchain, ToolError

FILE = "signatures.txt"
_TEXT = ("-S", "-emit-llvm", "-Xclang", "-disable-llvm-passes", "-target", "amdgcn-amd-amdhsa", "-nogpulib")
_OPEN, _CLOSED = "([{<", ")]}>"


def write(tools: Toolchain, folder: Path) -> None:
    """Writes FILE into a folder where a source was compiled."""
    lines: list[str] = []
    for bitcode in sorted(folder.glob("*.bc")):
        text = bitcode.with_suffix(".ll")
        with suppress(ToolError, OSError):
            tools.clang([*_TEXT, "-x", "ir", str(bitcode), "-o", str(text)], f"read {bitcode.name}", folder)
            lines += re.findall(r"^define .*\bamdgpu_kernel\b.*$", text.read_text(), re.M)
        text.unlink(missing_ok=True)
    (folder / FILE).write_text("\n".join(lines))


def types(folder: Path, kernel: str) -> list[str]:
    """Of each argument of a kernel, as `i32`, `float` or `ptr`; none where they are not known."""
    try:
        text = (folder / FILE).read_text()
    except OSError:
        return []
    match = re.search(rf'@"?{re.escape(kernel)}"?\((.*)', text)
    if match is None:
        return []
    found, depth = [""], 0
    for letter in match[1]:
        depth += (letter in _OPEN) - (letter in _CLOSED)
        if depth < 0:
            break
        if letter == "," and depth == 0:
            found.append("")
        else:
            found[-1] += letter
    return [one.split()[0] for one in found if one.split()]
