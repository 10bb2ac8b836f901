"""What becomes of a mutant: whether the linter and the proof of the build find what was changed.

In: a mutant (`mutants`) and a `Judge` that knows the original. Out: a `Judgement`. Found: the linter has a
fault to report that it does not report of the original, or the proof finds a difference, or a mutant runs over the
prover's budget of instructions where the original does not. Equivalent: the proof goes through, and the linter has
nothing new to say; nobody decides that by hand. Missed: neither. A proof of the original that does not go through for
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
of that proof, which its reason says. So is a comparison that sends more workgroups one way, which is proved with all of
them on it: that they may be slower there is no question of what C is. What is left is missed.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import cache
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
_WAYS = "C is by definition whichever way workgroups go there: proved with all on the other, too, "
_EVERY, _SOME = "at all edges, every K", "at all edges, some K"


@dataclass(frozen=True)
class Judgement:
    """What became of a mutant. `lint` and `proof` say what they found, "" for nothing, None where they were not asked;
    `reason`: why it is equivalent, or what could not be decided."""

    verdict: Literal["found", "equivalent", "missed"]
    lint: str | None = ""
    proof: str | None = ""
    reason: str = ""


@dataclass(frozen=True)
class Judge:
    """Holds a mutant against its original. `prove` is the proof of the build, of a program and whether to be thorough;
    `known` are the faults that the linter finds in the original (rule and message, however often). local: where the
    proof speaks of some sizes only, and not of waits, the original for `peephole_equivalence`. further: the
    proof of further launches, None where it does not go through for the original or there are none. soon: a part of the
    proof that takes less time than the linter and tells of most mutants, None for nothing. unused: whether the proof
    goes through whatever the changed instruction leaves; reach: of that proof."""

    prove: Callable[[Program, bool], Proof]
    kernel: str
    known: Counter[tuple[str, str]]
    local: Local | None = None
    further: Callable[[Program], Proof | None] = lambda _: None
    soon: Callable[[Program], Proof | None] = lambda _: None
    unused: Callable[[Mutant], bool] = lambda _: False
    reach: str = _EVERY

    @staticmethod
    def against(compiled: Program, original: Program, kernel: str, facts: Facts) -> Judge:
        """For a rewritten kernel; `compiled` is what the compiler wrote."""

        first = equivalence.Original(compiled.kernel(kernel), facts)

        def prover(program: Program, thorough: bool) -> Proof:
            return first.prove(program.kernel(kernel), thorough=thorough)

        return Judge._of(prover, original, kernel)

    @staticmethod
    def by_definition(
        original: Program, kernel: str, launches: Sequence[SymbolicLaunch], local: Local,
        far: Sequence[SymbolicLaunch] = (),
        edges: Sequence[SymbolicLaunch] = (), every: EveryK | None = None,
    ) -> Judge:  # fmt: skip
        """For a generated kernel; launches, edges, every: as the proof of its build has them; local: of the original;
        far: launches for what the others find nothing in. Waits do nothing in any of them.
        """
        soonest = spec_proof.soonest(launches)
        bare = _without_waits(original)

        @cache
        def of_original() -> Proof:
            return spec_proof.prove(original, kernel, launches, edges=edges, every=every, explain=False)

        def prover(program: Program, _: bool) -> Proof:
            if _without_waits(program) == bare:
                return of_original()
            return spec_proof.prove(program, kernel, launches, edges=edges, every=every, explain=False)

        def soon(program: Program) -> Proof | None:
            if _without_waits(program) == bare:
                return None
            return spec_proof.prove(program, kernel, soonest, whole=False, explain=False)

        def at_far_end(program: Program) -> Proof:
            return spec_proof.prove(program, kernel, far, whole=False, explain=False)

        @cache
        def followed() -> bool:
            return bool(far) and at_far_end(original).proved

        def further(program: Program) -> Proof | None:
            return at_far_end(program) if followed() else None

        def unused(mutant: Mutant) -> bool:
            inst = original.lines[mutant.line].instruction
            place = [at for at, other in enumerate(local.flow.instructions) if other is inst]
            new = None if mutant.kind == "instruction removed" else mutant.program.lines[mutant.line].instruction
            if inst is None or not place:
                return False
            proof = spec_proof.prove(
                original,
                kernel,
                launches,
                edges=edges,
                every=every,
                explain=False,
                whole=False,
                decode=lambda kernel: differing(DecodedKernel.of(kernel), (place[0], new)),
            )  # the original takes all paths, as its own proof says
            return proof.proved

        found = Judge._of(prover, original, kernel, local, further, soon, unused)
        return found if every else replace(found, reach=_SOME)

    @staticmethod
    def _of(
        prover: Callable[[Program, bool], Proof],
        original: Program,
        kernel: str,
        local: Local | None = None,
        further: Callable[[Program], Proof | None] = lambda _: None,
        soon: Callable[[Program], Proof | None] = lambda _: None,
        unused: Callable[[Mutant], bool] = lambda _: False,
    ) -> Judge:
        known = Counter(map(_key, lint_program(original, kernel, notes=False)))
        return Judge(prover, kernel, known, local, further, soon, unused)

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
            new = Counter(map(_key, lint_program(mutant.program, self.kernel, notes=False))) - self.known
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
        if self.local:
            inst = mutant.program.lines[mutant.line].instruction
            reason = self.local.same(mutant.line, inst) if inst else None
            if mutant.kind == "instruction removed":
                reason = self.local.needless(mutant.line)
            if reason:
                return Judgement("equivalent", reason=reason)
            far = self.further(mutant.program)
            if far is not None and not far.proved:
                return Judgement("found", proof=far.difference.kind if far.difference else f"refused: {far.statement}")
            if self.unused(mutant):
                changed = self.local.flow.instructions[self.local.flow.lines.index(mutant.line)]
                way = changed.mnemonic.startswith(("s_cmp_", "s_cbranch_"))
                return Judgement("equivalent", reason=(_WAYS if way else _UNUSED) + self.reach)
            return Judgement("missed", reason=proof.statement)
        if proof.proved and "bit for bit" in proof.statement:
            return Judgement("equivalent", reason=_reason(mutant, proof))
        return Judgement("missed", reason=proof.statement)


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
