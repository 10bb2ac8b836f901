"""What becomes of a mutant: whether the linter and the proof of the build find what was changed.

In: a mutant (`mutants`) and a `Judge` that knows the original. Out: a `Judgement`. Found: the linter has a
fault to report that it does not report of the original, or the proof finds a difference, or a mutant runs over the
prover's budget of instructions where the original does not. Equivalent: the proof goes through, and the linter has
nothing new to say; that is never decided by hand. Missed: neither. A proof of the original that does not go through for
the mutant is a find too ("refused"): `hipgemm prove` then does not say that it is right.

The proof is the one that the kernel's build ends with. Of a rewritten kernel: that the mutant computes what the
compiler wrote, bit for bit and with all waits in place on all paths (`isa.check.equivalence`). Of a generated one:
that it computes what the definition says, at some M x N and at all edges of a tile, for every K
(`isa.check.spec_proof`). It knows nothing of waits and of other sizes; so what it finds no fault in is equivalent
only if `peephole_equivalence` shows for all sizes that the change makes no difference. If not, launches that
take too long for each build are proved, too, where there are some: at the far end of a large workspace
(`isa.check.spec_proof.far`). And where nothing is found there: if what differs is one register, or what loads bring to
lanes of another mask, the original is proved once more with unknowns in its place (`tools.mutation.changed`).
Then no element of C is made of it, whatever it is, and the change is equivalent, too: at the sizes, edges and every K
of that proof, which its reason says. So is a comparison that sends more workgroups on one path, which is proved with
all of them on it: that they may be slower there is no question of what C is. What is left is missed.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property, partial
from typing import Literal

from isa.asm.program import Program
from isa.check import equivalence, spec_proof
from isa.check.equivalence import Facts, Proof
from isa.check.lint import lint_program
from isa.check.spec_proof import EveryK, SymbolicLaunch
from isa.check.spec_proof.run import DecodedKernel
from isa.errors import Finding, IsaError
from isa.semantics.waits import parse_wait
from tools.mutation.changed import differing
from tools.mutation.mutants import Mutant
from tools.mutation.peephole_equivalence import Local

_UNUSED = "C is by definition whatever it leaves: proved with unknowns in place of what differs, "
_PATHS = "C is by definition whichever path workgroups take there: proved with all on the other, too, "
_EVERY, _SOME = "at all edges, every K", "at all edges, some K"


@dataclass(frozen=True)
class Judgement:
    """What became of a mutant. `lint` and `proof` say what they found, "" for nothing, None where they were not asked;
    `reason`: why it is equivalent, or what could not be decided."""

    verdict: Literal["found", "equivalent", "missed"]
    lint: str | None = ""
    proof: str | None = ""
    reason: str = ""


class Judge(ABC):
    """Holds a mutant against its original, a kernel of a program, by the proof of its build."""

    def __init__(self, original: Program, kernel: str) -> None:
        self.original, self.kernel = original, kernel
        self._known = Counter(map(_key, lint_program(original, kernel, notes=False)))

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
            new = Counter(map(_key, lint_program(mutant.program, self.kernel, notes=False))) - self._known
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
        self._first = equivalence.Original(compiled.kernel(kernel), facts)

    def prove(self, program: Program, thorough: bool) -> Proof:
        return self._first.prove(program.kernel(self.kernel), thorough=thorough)

    def unobjected(self, mutant: Mutant, proof: Proof) -> Judgement:
        if "bit for bit" in proof.statement:
            return Judgement("equivalent", reason=_reason(mutant, proof))
        return Judgement("missed", reason=proof.statement)


class JudgeByDefinition(Judge):
    """For a generated kernel; launches, edges, every: as the proof of its build has them; local: of the original; far:
    launches for what the others find nothing in. Waits do nothing in any of them."""

    def __init__(
        self, original: Program, kernel: str, launches: Sequence[SymbolicLaunch], local: Local,
        far: Sequence[SymbolicLaunch] = (), edges: Sequence[SymbolicLaunch] = (), every: EveryK | None = None,
    ) -> None:  # fmt: skip
        super().__init__(original, kernel)
        self._local, self._far = local, far
        self._prove = partial(spec_proof.prove, kernel=kernel, explain=False)
        self._whole = partial(self._prove, launches=launches, edges=edges, every=every)
        self._soonest = spec_proof.soonest(launches)
        self._bare = _without_waits(original)
        self._reach = _EVERY if every else _SOME

    @cached_property
    def _of_original(self) -> Proof:
        return self._whole(self.original)

    def prove(self, program: Program, thorough: bool) -> Proof:
        return self._of_original if _without_waits(program) == self._bare else self._whole(program)

    def soon(self, program: Program) -> Proof | None:
        same = _without_waits(program) == self._bare
        return None if same else self._prove(program, launches=self._soonest, whole=False)

    def unobjected(self, mutant: Mutant, proof: Proof) -> Judgement:
        inst = mutant.program.lines[mutant.line].instruction
        reason = self._local.same(mutant.line, inst) if inst else None
        if mutant.kind == "instruction removed":
            reason = self._local.needless(mutant.line)
        if reason:
            return Judgement("equivalent", reason=reason)
        far = self._at_far_end(mutant.program) if self._followed else None
        if far is not None and not far.proved:
            return Judgement("found", proof=far.difference.kind if far.difference else f"refused: {far.statement}")
        if self._unused(mutant):
            changed = self._local.flow.instructions[self._local.flow.lines.index(mutant.line)]
            branch = changed.mnemonic.startswith(("s_cmp_", "s_cbranch_"))
            return Judgement("equivalent", reason=(_PATHS if branch else _UNUSED) + self._reach)
        return Judgement("missed", reason=proof.statement)

    def _at_far_end(self, program: Program) -> Proof:
        return self._prove(program, launches=self._far, whole=False)

    @cached_property
    def _followed(self) -> bool:
        """Whether the original is proved at the far end."""
        return bool(self._far) and self._at_far_end(self.original).proved

    def _unused(self, mutant: Mutant) -> bool:
        """Whether the proof goes through whatever the changed instruction leaves."""
        inst = self.original.lines[mutant.line].instruction
        place = [at for at, other in enumerate(self._local.flow.instructions) if other is inst]
        new = None if mutant.kind == "instruction removed" else mutant.program.lines[mutant.line].instruction
        if inst is None or not place:
            return False
        # The original takes all paths, as its own proof says.
        proof = self._whole(
            self.original, whole=False, decode=lambda kernel: differing(DecodedKernel.of(kernel), (place[0], new))
        )
        return proof.proved


def _objection(proof: Proof) -> str:
    """What a proof that does not go through says against a mutant."""
    shown = proof.verdict == "different" or (proof.difference is not None and proof.difference.kind == "budget")
    return proof.difference.kind if shown and proof.difference else f"refused: {proof.statement}"


def _without_waits(program: Program) -> list[str]:
    """The text but for waits and empty lines."""
    lines = (line for line in program.lines if line.instruction is None or not parse_wait(line.instruction))
    return [line.text for line in lines if line.text.strip()]


def _key(finding: Finding) -> tuple[str, str]:
    return finding.rule, finding.message


def _reason(mutant: Mutant, proof: Proof) -> str:
    if mutant.kind.startswith("wait"):
        return "on all paths another wait covers each load before its register is touched, and LDS before a barrier"
    if any("factors" in a for a in proof.assumptions):
        return "only factors of a product changed places"
    return "all addresses, values, branches and barriers are proved the same"
