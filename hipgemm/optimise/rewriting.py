"""Kernels rewritten in builds: optimised, proved, and put back where they came from.

In: assembly, or a code object, and how long to look. Out: the same with each kernel rewritten that got faster by the
cycle model and was proved to compute what it did; and a `Rewritten` a kernel, which says in one line what it gained, or
why it stays as it was. Nothing that could not be proved is put into anybody's program.

Of a code object the proof is about bytes: what was disassembled before against what is disassembled afterwards.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from hipgemm.judge import proving
from hipgemm.kernels.object import Kernel
from hipgemm.optimise import clock as opt_clock
from hipgemm.optimise import search as optimise
from isa import toolchain
from isa.asm.emit import emit
from isa.asm.program import Program
from isa.errors import IsaError
from isa.lint import sound
from isa.mangling import source_name
from isa.object.code_object import CodeObject, load
from isa.object.splice import NewCode, splice
from isa.object.to_text import text_of
from isa.passes import run_pipeline

if TYPE_CHECKING:
    from isa.prove.proof import Proof

ClockOf = Callable[[Program, str], tuple[opt_clock.Clock, str]]
"""A kernel's clock, and why it is one without a launch."""
OnStep = Callable[[str], None]


@dataclass(frozen=True)
class Search:
    """How kernels are rewritten. clock: of a kernel; passes: those to run, None for the best; budget_s, candidates,
    kernels: as of `optimise`."""

    clock: ClockOf
    budget_s: float | None = None
    passes: str | None = None
    candidates: int | None = None
    kernels: int = 1


@dataclass(frozen=True)
class Rewritten:
    """What came of a kernel. found: of the search, where there was one; kept: why it stays as it was, "" where it was
    rewritten."""

    name: str
    found: optimise.Optimised | None = None
    why: str = ""
    proof: Proof | None = None
    kept: str = ""

    @property
    def shown(self) -> str:
        """The kernel as its source calls it."""
        return source_name(self.name)

    @property
    def unproven(self) -> bool:
        """Whether a proof was asked for and could not be had."""
        return self.proof is not None and not self.proof.proved

    def to_dict(self) -> dict[str, Any]:
        """For machines; seconds are predicted, or of a clock without a launch ("no_launch" says why), in which case
        they only compare."""
        proof = self.proof and {"verdict": self.proof.verdict, "statement": self.proof.statement}
        more = {"no_launch": self.why or None, "kept": self.kept or None, "proof": proof}
        return {"kernel": self.name, **(self.found.to_dict() if self.found else {}), **more}

    @property
    def line(self) -> str:
        if self.kept:
            return f"{self.shown}: unchanged: {self.kept}"
        if self.found is None:
            return f"{self.shown}: rewritten, proved"
        first, last = (step.figures for step in (self.found.steps[0], self.found.steps[-1]))
        passes = ", ".join(step.passes for step in self.found.steps[1:])
        what = "cycles" if self.why else "time"
        more = f"; {first.vgprs} -> {last.vgprs} VGPRs" if first.vgprs != last.vgprs else ""
        return f"{self.shown}: {self.found.gain:.1%} less {what} predicted, by {passes}{more}; proved"


def of_program(
    program: Program, names: Sequence[str], search: Search, kernel: Kernel, on_step: OnStep | None = None
) -> tuple[Program, list[Rewritten]]:
    """Assembly with these kernels rewritten. kernel: what the file is called."""
    outcomes = []
    for name in names:
        made, outcome = _one(program, name, search, kernel, on_step)
        if made is not None:
            program = made
        outcomes.append(outcome)
    return program, outcomes


def _one(
    program: Program, name: str, search: Search, kernel: Kernel, on_step: OnStep | None
) -> tuple[Program | None, Rewritten]:
    """None for a kernel that stays as it was."""
    found, why = None, ""
    try:
        sound.checked(program, name)
        if search.passes is not None:
            *_, (_, made) = run_pipeline(program, search.passes, kernel=name)
        else:
            clock, why = search.clock(program, name)
            found = optimise.optimise(
                program, name, clock, search.budget_s, on_step,
                lambda changed: proving.same(program, changed, kernel, name).proved, search.candidates,
                search.kernels,
            )  # fmt: skip
            made = found.program
        if made is program:
            return None, Rewritten(name, found, why, kept="nothing to do" if found is None else "no gain")
        if on_step:
            on_step(f"proving {name}")
        proof = proving.same(program, made, kernel, name)
    except IsaError as error:
        return None, Rewritten(name, found, why, kept=error.message)
    if not proof.proved:
        return None, Rewritten(name, found, why, proof, proof.statement)
    return made, Rewritten(name, found, why, proof)


def of_code_object(
    image: bytes, names: Sequence[str], search: Search, kernel: Kernel, on_step: OnStep | None = None
) -> tuple[bytes, list[Rewritten]]:
    """A code object with these kernels rewritten; all that stays is kept byte for byte. IsaError where there is no
    assembler."""
    code, tools, spliced = load(image, runs=False), toolchain.find(), image
    outcomes, new = [], dict[str, NewCode]()
    for name in names:
        try:
            text = text_of(code, name)
        except IsaError as error:
            outcomes.append(Rewritten(name, kept=error.message))
            continue
        made, outcome = _one(text, name, search, kernel, on_step)
        if made is not None:
            try:
                more = {**new, name: _assembled(code, name, made, tools)}
                together = splice(image, more)
                proof = proving.same(text, text_of(load(together, runs=False), name), kernel, name)
                if not proof.proved:
                    raise IsaError(f"the assembled code is not proved to compute the same: {proof.statement}")
                new, spliced = more, together
            except IsaError as error:
                outcome = Rewritten(name, outcome.found, outcome.why, outcome.proof, error.message)
        outcomes.append(outcome)
    return spliced, outcomes


def _assembled(code: CodeObject, name: str, made: Program, tools: toolchain.Toolchain) -> NewCode:
    built = load(tools.code_object(emit(made), arch=code.arch, name=f"{name}.s"))
    return NewCode.of(built, name, code.kernel(name).descriptor)
