"""The project's C: every compiler takes it without a warning, and lays structures out as ctypes does."""

from __future__ import annotations

import ctypes
import shutil
from pathlib import Path

import pytest

from isa import native as c_code
from isa import toolchain
from isa.prove.definition import native as proofs
from isa.sanitize import hooks
from isa.timing import native
from isa.timing.native import engine_abi

TEXTS = {"timing": (native.source, native.FLAGS), "hooks": (hooks.source, hooks.FLAGS)}
TEXTS["proofs"] = proofs.source, proofs.FLAGS
STRUCTURES = {"timing": [*native.STRUCTURES.values(), engine_abi.Log], "hooks": list(hooks.STRUCTURES)}
STRUCTURES["proofs"] = [proofs.Buffers, proofs.State]
COMPILERS = {name: [path] for name in ("gcc", "clang", "clang-22") if (path := shutil.which(name))}
if zig := toolchain._zig():
    COMPILERS["zig"] = [zig, "cc"]


@pytest.mark.parametrize("which", TEXTS)
@pytest.mark.parametrize("name", COMPILERS)
def test_no_compiler_warns(name: str, which: str, tmp_path: Path) -> None:
    source, flags = TEXTS[which]
    (tmp_path / "text.c").write_text(source())
    command = [*COMPILERS[name], *flags, "-Wall", "-Wextra", "-shared", "-fPIC", str(tmp_path / "text.c")]
    assert toolchain._run([*command, "-o", str(tmp_path / "text.so")], "compile") == ""


@pytest.mark.parametrize("which", TEXTS)
def test_structures_are_those_of_the_header(which: str) -> None:
    """What ctypes lays out is as large as what the C compiler does, and ends in the same field."""
    checks, wanted = [], []
    for struct in STRUCTURES[which]:
        name, last = struct.__name__.lower(), list(struct._fields_)[-1][0]
        checks += [f"sizeof(struct {name})", f"__builtin_offsetof(struct {name}, {last})"]
        wanted += [ctypes.sizeof(struct), getattr(struct, last).offset]
    source, flags = TEXTS[which]
    text = f"{source()}\nEXPORT int64_t sizes[] = {{{', '.join(checks)}}};\n"
    library = c_code.load(f"{which}-sizes", text, flags)
    assert list((ctypes.c_int64 * len(checks)).in_dll(library, "sizes")) == wanted
