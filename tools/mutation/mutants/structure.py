"""Structural mutants: waits, barriers and single instructions removed."""

from __future__ import annotations

from collections.abc import Iterator

from isa.asm.parse import parse_line
from isa.asm.program import Kernel
from isa.semantics.instruction import Instruction
from isa.semantics.waits import parse_wait
from tools.mutation.mutants.edit import Mutant, mutant, sample
from tools.mutation.mutants.edit import removed as without


def waits(kernel: Kernel) -> Iterator[Mutant]:
    found = [(n, inst, parse_wait(inst)) for n, inst in kernel.instructions() if parse_wait(inst)]
    for number, _, _ in found:
        yield without(kernel, "wait removed", number)
    for number, inst, counters in found:
        text = kernel.program.lines[number].text
        for counter, limit in counters.items():
            if limit + 1 < 1 << inst.family.counters[counter] and f"{counter}({limit})" in text:
                weaker = text.replace(f"{counter}({limit})", f"{counter}({limit + 1})")
                yield mutant(kernel, "wait weakened", number, parse_line(weaker, kernel.program.file, number))


def barriers(kernel: Kernel) -> Iterator[Mutant]:
    for number, inst in kernel.instructions():
        if inst.desc.effect == "barrier":
            yield without(kernel, "barrier removed", number)


def removed(kernel: Kernel, count: int, seed: int) -> Iterator[Mutant]:
    """count: how many of those are taken that stand in a VOPD, or could (the sums of a main loop)."""
    found = [(n, inst) for n, inst in kernel.instructions() if _does(inst)]
    alike = sample([(n, inst) for n, inst in found if sums(inst)], count, seed)
    for number, _ in sorted([(n, inst) for n, inst in found if not sums(inst)] + alike, key=lambda x: x[0]):
        yield without(kernel, "instruction removed", number)


def sums(inst: Instruction) -> bool:
    """Whether it is one of the many multiplications and additions of floats."""
    return inst.pair is not None or any(inst.mnemonic.startswith(f"v_{op}_f32") for op in ("fmac", "fma", "mul", "add"))


def _does(inst: Instruction) -> bool:
    return not inst.desc.is_hint and inst.desc.effect not in ("wait", "barrier", "end")
