"""Legality of programs: instructions -> faults against the ISA; run after the compiler and each pass, it says nothing
of what the program computes.

In: a kernel of a Program. Out: nothing, or an IsaError at the first rule that is broken: where, the rule and its
source, what was expected, what was found, what to do. `findings` gives all of them.

Checked: each instruction is described, its operands have the right kind, width and alignment and fit their encoding
(`isa.lint.operands`); VOPD pairs are legal (`isa.lint.vopd`); each wait is for a counter of the target and fits its
field; labels exist, no branch leaves the kernel and no path runs past its end (`isa.analysis.cfg`); register, LDS and
scratch counts of code, descriptor and metadata agree (`isa.lint.rules.counts`), arguments have places of their own
(`isa.lint.rules.arguments`).

Not checked here, because it needs no encoding to be wrong: waits and races (`isa.lint.lint`); the distance of branches
and what only the assembler knows, which it reports itself.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from isa.analysis import cfg
from isa.asm.program import Kernel, Program
from isa.errors import Finding
from isa.lint import operands, vopd
from isa.lint.registry import RULES
from isa.lint.rules import arguments as argument_rules
from isa.lint.rules import counts
from isa.semantics.instruction import Instruction, fact
from isa.semantics.waits import foreign, parse_wait

WAIT = RULES["WAIT003"]


def verify(program: Program, name: str | None = None) -> None:
    """IsaError at the first fault of kernel `name`, or of each kernel there is."""
    for kernel in [program.kernel(name)] if name is not None else program.kernels.values():
        for finding in findings(kernel):
            if finding.severity == "fault":
                raise finding.error()


def findings(kernel: Kernel) -> Iterator[Finding]:
    """Every broken rule of a kernel. IsaError where it cannot be analysed at all: an instruction that is not described,
    a branch to nowhere, code that runs past its end."""
    wave64 = kernel.number("wavefront_size32") == 0
    yield from instructions((inst for _, inst in kernel.instructions()), wave64)
    flow = cfg.of_kernel(kernel)
    yield from counts.check(kernel, flow)
    yield from argument_rules.of_text(kernel)


def instructions(code: Iterable[Instruction], wave64: bool = False) -> Iterator[Finding]:
    """The broken rules of each instruction by itself. wave64: waves of 64 lanes run them, whose masks are pairs."""
    legal = _legal64 if wave64 else _legal
    for inst in code:
        if not legal(inst):
            yield from _broken(inst, wave64)


@fact
def _legal(inst: Instruction) -> bool:
    return next(_broken(inst, False), None) is None


@fact
def _legal64(inst: Instruction) -> bool:
    return next(_broken(inst, True), None) is None


def _broken(inst: Instruction, wave64: bool) -> Iterator[Finding]:
    yield from operands.check(inst, wave64)
    yield from vopd.check(inst)
    if (instead := foreign(inst)) is not None:
        yield WAIT.broken(
            inst, f"{inst.target and inst.target.name} has no such counters", expected=instead or "no wait"
        )
    for counter, number in parse_wait(inst).items():
        largest = (1 << inst.family.counters[counter]) - 1
        if not 0 <= number <= largest:
            yield WAIT.broken(
                inst,
                f"{counter} does not fit its field",
                operand=len(inst.operands) - 1,
                expected=f"0 to {largest}",
                got=str(number),
            )
