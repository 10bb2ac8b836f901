"""Inline assembly: comments that begin it in compiled HIP source -> registers that it writes and does not declare.

A statement `asm("v_mov_b32 v5, 1" ::: "v5")` declares what it writes, by its outputs and by clobbers, and the compiler
keeps other values in all other registers. Its assembly alone does not say which of the registers in an operand's place
the compiler chose. So what is compiled here says it, in the comment that begins a statement
(`hipgemm.kernels.compiling.signatures`): the registers that the source names, and those that it declares:

    ;;#ASMSTART names v5 s4 declares memory

A register that is named, or SCC, which is written and not declared is lost to the compiler: a fault where code after
the statement reads it, a note elsewhere. EXEC is left out, since statements set it and put it back.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from isa.asm.program import Program
from isa.errors import Finding
from isa.lint.functions import LintedFunction
from isa.lint.names import called, place
from isa.lint.registry import RULES
from isa.registers import EXEC, SCC, Reg, parse_register

LOST, UNDECLARED = RULES["ASM001"], RULES["ASM002"]
_OPEN = re.compile(r"#ASMSTART names (.*?) ?declares ?(.*)")


def findings(program: Program, f: LintedFunction) -> Iterator[Finding]:
    """Of the statements in a function."""
    places = {line: position for position, line in enumerate(f.flow.lines)}
    first, last = min(places, default=0), max(places, default=0)
    while first and program.lines[first - 1].instruction is None:
        first -= 1
    for start in range(first, last):
        opened = _OPEN.search(program.lines[start].text)
        if opened is None:
            continue
        end = next((n for n in range(start, len(program.lines)) if "#ASMEND" in program.lines[n].text), start)
        inside = [places[n] for n in range(start, end) if n in places]
        named, declared = (_registers(words) for words in opened.groups())
        lost = ({SCC} | named) - declared - set(EXEC.units())
        writes: dict[Reg, list[int]] = {}
        for i in inside:
            for reg in lost & {unit for written in f.flow.instructions[i].writes() for unit in written.units()}:
                writes.setdefault(reg, []).append(i)
        for reg, at in sorted(writes.items(), key=lambda item: (item[1], item[0])):
            later = {n for i in at for n in f.values.chains.uses_of(i, reg)} - {*inside, *f.flow.indirect_jumps}
            inst, name = f.flow.instructions[at[0]], "scc" if reg == SCC else str(reg)
            message = f"inline assembly writes {name}, which it does not declare"
            if later:
                reader = min(later)
                message += (
                    f"; {called(f.flow.instructions[reader])} ({place(f.flow.instructions[reader], reader)}) reads it"
                )
            hint = f'add "{name}" to the clobbers of the asm statement, or write to an operand'
            yield (LOST if later else UNDECLARED).broken(inst, message, hint=hint)


def _registers(words: str) -> set[Reg]:
    found = (parse_register(word) if word != "scc" else SCC for word in words.split())
    return {unit for reg in found if reg is not None for unit in reg.units()}
