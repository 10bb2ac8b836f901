"""The judgement of a mutant: whether the linter, or the proof that the kernel's build ends with, finds the change.

Input: a mutant (`tools.mutation.mutants`) and a `Judge` that knows the original. Output: a `Judgement`. "found": the
linter reports a fault that it does not report of the original, or the proof does not go through, be it refused, or
over the prover's budget. "equivalent": the proof of a rewritten kernel goes through bit for bit, at all sizes, with
all waits in place (`isa.prove.refine`). "survived": nothing was found, and nothing shows that the two are the
same.

The proof of a generated kernel is by its definition (`isa.prove.definition`): at some M x N, at all edges of a tile,
for every K, and, where nothing was found there, at the far end of a large workspace. It says nothing of sizes beyond
these, so what passes it has survived; most survivors change what no element of C is made of, and a sample of them is
read by hand.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property, partial
from typing import Literal

from isa.asm.program import Program
from isa.errors import Finding, IsaError
from isa.lint import sound
from isa.lint.lint import lint_program
from isa.prove import definition
from isa.prove.definition import EveryK, SymbolicLaunch
from isa.prove.proof import Facts, Proof
from isa.prove.refine import validate
from isa.semantics.instruction import Instruction
from isa.semantics.waits import parse_wait
from tools.mutation.mutants import Mutant


@dataclass(frozen=True)
class Judgement:
    """What became of a mutant. `lint` and `proof` say what they found, "" for nothing, None where they were not asked;
    `reason`: why it is equivalent, or what the proof says of one that survived."""

    verdict: Literal["found", "equivalent", "survived"]
    lint: str | None = ""
    proof: str | None = ""
    reason: str = ""


class Judge(ABC):
    """Holds a mutant against its original, a kernel of a program, by the proof of its build."""

    def __init__(self, original: Program, kernel: str) -> None:
        self.original, self.kernel = original, kernel
        self._known = self._linted(original)

    def _linted(self, program: Program) -> Counter[tuple[str, str]]:
        found = [*lint_program(program, self.kernel, notes=False), *sound.at_risk(program.kernel(self.kernel))]
        return Counter(map(_key, found))

    @abstractmethod
    def prove(self, program: Program, thorough: bool) -> Proof:
        """The proof of the build."""

    def soon(self, program: Program) -> Proof | None:
        """A part of the proof that takes less time than the linter and tells of most mutants, None for nothing."""
        return None

    @abstractmethod
    def unobjected(self, mutant: Mutant, proof: Proof) -> Judgement:
        """Of a mutant in which neither finds anything."""

    def __call__(self, mutant: Mutant, *, first: bool = False) -> Judgement:
        """first: the judges are asked one after another, what takes least first, until one finds the fault."""
        if first:
            try:
                early = self.soon(mutant.program)
            except IsaError as error:
                return Judgement("found", None, f"refused: {error.message}")
            if early is not None and not early.proved:
                return Judgement("found", None, _objection(early))
        try:
            new = self._linted(mutant.program) - self._known
            lint = next((rule for rule, _ in new), "")
        except IsaError as error:
            return Judgement("found", lint=f"refused: {error.message}")
        if first and lint:
            return Judgement("found", lint, None)
        try:
            thorough = mutant.kind == "VOPD sources swapped"  # only there can factors have changed places
            proof = self.prove(mutant.program, thorough)
        except IsaError as error:
            return Judgement("found", lint, f"refused: {error.message}")
        if not proof.proved:
            return Judgement("found", lint, _objection(proof))
        if lint:
            return Judgement("found", lint)
        return self.unobjected(mutant, proof)


class JudgeByOriginal(Judge):
    """For a rewritten kernel; `compiled` is what the compiler wrote."""

    def __init__(self, compiled: Program, original: Program, kernel: str, facts: Facts) -> None:
        super().__init__(original, kernel)
        self._first, self._facts = compiled.kernel(kernel), facts

    def prove(self, program: Program, thorough: bool) -> Proof:
        return validate(self._first, program.kernel(self.kernel), self._facts, liberties=thorough)

    def unobjected(self, mutant: Mutant, proof: Proof) -> Judgement:
        if "bit for bit" in proof.statement:
            return Judgement("equivalent", reason=_reason(mutant, proof))
        return Judgement("survived", reason=proof.statement)


class JudgeByDefinition(Judge):
    """For a generated kernel; launches, edges, every: as the proof of its build has them; far: launches for what the
    others find nothing in. Waits do nothing in any of them but those for stores."""

    def __init__(
        self, original: Program, kernel: str, launches: Sequence[SymbolicLaunch], far: Sequence[SymbolicLaunch] = (),
        edges: Sequence[SymbolicLaunch] = (), every: EveryK | None = None,
    ) -> None:  # fmt: skip
        super().__init__(original, kernel)
        self._far = far
        self._prove = partial(definition.prove, kernel=kernel, explain=False)
        self._whole = partial(self._prove, launches=launches, edges=edges, every=every)
        self._soonest = definition.soonest(launches)
        self._bare = _without_waits(original)

    @cached_property
    def _of_original(self) -> Proof:
        return self._whole(self.original)

    def prove(self, program: Program, thorough: bool) -> Proof:
        return self._of_original if _without_waits(program) == self._bare else self._whole(program)

    def soon(self, program: Program) -> Proof | None:
        same = _without_waits(program) == self._bare
        return None if same else self._prove(program, launches=self._soonest, whole=False)

    def unobjected(self, mutant: Mutant, proof: Proof) -> Judgement:
        far = self._at_far_end(mutant.program) if self._followed else None
        if far is not None and not far.proved:
            return Judgement("found", proof=far.difference.kind if far.difference else f"refused: {far.statement}")
        return Judgement("survived", reason=proof.statement)

    def _at_far_end(self, program: Program) -> Proof:
        return self._prove(program, launches=self._far, whole=False)

    @cached_property
    def _followed(self) -> bool:
        """Whether the original is proved at the far end."""
        return bool(self._far) and self._at_far_end(self.original).proved


def _objection(proof: Proof) -> str:
    """What a proof that does not go through says against a mutant."""
    shown = proof.verdict == "different" or (proof.difference is not None and proof.difference.kind == "budget")
    return proof.difference.kind if shown and proof.difference else f"refused: {proof.statement}"


def _without_waits(program: Program) -> list[str]:
    """The text but for empty lines and waits for what is loaded."""

    def counts(inst: Instruction | None) -> bool:
        return inst is None or not (waited := parse_wait(inst)) or inst.family.raised["global_store"][0] in waited

    return [line.text for line in program.lines if counts(line.instruction) and line.text.strip()]


def _key(finding: Finding) -> tuple[str, str]:
    return finding.rule, finding.message


def _reason(mutant: Mutant, proof: Proof) -> str:
    if mutant.kind.startswith("wait"):
        return "on all paths another wait covers each load before its register is touched, and LDS before a barrier"
    if any("change places" in a for a in proof.assumptions):
        return "only factors of a product changed places"
    return "all addresses, values, branches and barriers are proved the same"
