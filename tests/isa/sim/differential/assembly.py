"""Forms -> cases: what LLVM's assembler takes of them, as instructions with addresses.

Each case ends in an s_endpgm of its own and is entered at its first instruction, so that one piece of code holds
thousands of them.
"""

from __future__ import annotations

import functools
import re
import subprocess
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from forms import ARCH, Form

from isa import toolchain
from isa.asm.parse import parse_disassembly
from isa.object.code_object import disassemble
from isa.semantics.instruction import Instruction


@dataclass(frozen=True)
class Case:
    """A form with its instructions, the last one an s_endpgm."""

    form: Form
    instructions: tuple[Instruction, ...]

    @property
    def address(self) -> int:
        address = self.instructions[0].address
        assert address is not None
        return address

    @property
    def functions(self) -> list[tuple[Instruction, ...]]:
        """What lies between one s_endpgm and the next: a jump may go to the start of each."""
        ends = [i + 1 for i, inst in enumerate(self.instructions) if inst.mnemonic == "s_endpgm"]
        return [self.instructions[a:b] for a, b in zip([0, *ends], ends, strict=False)]

    def __str__(self) -> str:
        return f"{self.form.kind}: " + "; ".join(map(str, self.instructions[:-1]))


def cases(forms: Sequence[Form]) -> tuple[list[Case], list[tuple[Form, str]]]:
    """(cases, (form, what the assembler says against it))."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        refused = _refused(forms, folder)
        kept = [form for form in forms if form not in refused]
        arch = kept[0].arch if kept else ARCH
        rows = parse_disassembly(disassemble(code(kept, folder), arch=arch), "forms", arch)
    found, at = [], 0
    for form in kept:
        count = sum(not line.endswith(":") for line in _lines(form, 0))
        found.append(Case(form, tuple(rows[at : at + count])))
        assert found[-1].instructions[-1].mnemonic == "s_endpgm", form
        at += count
    assert at == len(rows)
    return found, list(refused.items())


def taken(forms: Sequence[Form]) -> list[Form]:
    """Those that the assembler takes."""
    with tempfile.TemporaryDirectory() as name:
        refused = _refused(forms, Path(name))
    return [form for form in forms if form not in refused]


def _lines(form: Form, number: int) -> list[str]:
    return [*form.text.replace("{label}", f"L{number}").split("\n"), "s_endpgm"]


@functools.cache
def assembler() -> toolchain.Toolchain:
    """The newest of this machine's: an older one does not take every form (clang 19 no `v_swap_b16`, and no halves by
    name in `v_fmamk_f16`)."""
    return max(toolchain.available(), key=lambda tools: toolchain._major(tools.version))


def _command(forms: Sequence[Form]) -> list[str]:
    arch = forms[0].arch if forms else ARCH
    return [*assembler().compiler, *toolchain.assembler_options(arch), "-ferror-limit=0", "-c"]


def _refused(forms: Sequence[Form], folder: Path) -> dict[Form, str]:
    lines, owner = [], []
    for number, form in enumerate(forms):
        for line in _lines(form, number):
            lines.append(line)
            owner.append(form)
    (folder / "all.s").write_text("\n".join(lines) + "\n")
    said = subprocess.run([*_command(forms), "all.s", "-o", "all.o"], cwd=folder, capture_output=True, text=True).stderr
    return {owner[int(m[1]) - 1]: m[2] for m in re.finditer(r"all\.s:(\d+):\d+: error: (.*)", said)}


def code(forms: Sequence[Form], folder: Path) -> bytes:
    """The machine code of forms that the assembler takes, an s_endpgm after each."""
    import llvmlite.binding as llvm

    text = "\n".join(line for number, form in enumerate(forms) for line in _lines(form, number))
    (folder / "kept.s").write_text(text + "\n")
    command = [*_command(forms), "-w", "kept.s", "-o", "kept.o"]
    subprocess.run(command, cwd=folder, check=True, stderr=subprocess.DEVNULL)
    object_file = llvm.ObjectFileRef.from_path(str(folder / "kept.o"))
    return next(section.data() for section in object_file.sections() if section.is_text())
