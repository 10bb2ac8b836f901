"""Faults on purpose: a kernel -> copies of it with one thing changed, to see whether the checks find it.

    wait removed, wait weakened     each s_waitcnt; each of its counters allowed one more outstanding access
    barrier removed                 each s_barrier
    VOPD sources swapped            in a sample of VOPDs: source 0, or source 1, between the halves, and the two
                                    sources of one half
    LDS offset                      each offset of each ds_load and ds_store, by one element
    global stride, LDS stride       each number in the instructions that compute a global (an LDS) address, by 1: all
                                    that the data flow leads back to from the addresses of loads and stores
    count shrunk                    each count and size in descriptor and metadata, by 1

A mutant keeps the line numbers of the original; it may be illegal.

A `Judge` says what becomes of one. Found: the linter has a fault to report that it does not report of the original, or
the proof finds a difference, or a mutant runs over the prover's budget of instructions where the original does not.
Equivalent: the proof goes through, and the linter has nothing new to say; nobody decides that by hand. Missed: neither.

The proof is the one that the kernel's build ends with. Of a rewritten kernel: that the mutant computes what the
compiler wrote, bit for bit and with all waits in place on all paths (`isa.check.equivalence`). Of a generated one: that
it computes what the definition says at some sizes (`isa.check.definition`). Where it follows the original but must
refuse the mutant by name (an address that depends on a matrix), that is a find. It knows nothing of waits and of other
sizes; so what it finds no fault in is equivalent only if `isa.check.local` shows for all sizes that the change makes no
difference. If not, launches that take too long for each build are proved, too, where there are some: at the far end of
a large workspace (`isa.check.definition.far`). What is left is missed.
"""

from __future__ import annotations

import dataclasses
import random
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Literal

from isa.analysis import cfg as control_flow
from isa.analysis import defuse
from isa.analysis.waits import BITS, parse_wait
from isa.check import definition, equivalence
from isa.check.definition import Launch
from isa.check.equivalence import Facts, Proof
from isa.check.lint import lint_program
from isa.check.local import Local
from isa.describe import lookup
from isa.emit import instruction_line
from isa.errors import Finding, IsaError
from isa.parse import parse_line
from isa.program import Imm, Instruction, Kernel, Line, Program
from isa.registers import Reg

KINDS = (
    "wait removed",
    "wait weakened",
    "barrier removed",
    "VOPD sources swapped",
    "LDS offset",
    "LDS stride",
    "global stride",
    "count shrunk",
)


@dataclass(frozen=True)
class Mutant:
    """One changed copy. `line` counts from 0; `what` is the line before and after."""

    kind: str
    line: int
    what: str
    program: Program


@dataclass(frozen=True)
class Judgement:
    """What became of a mutant. `lint` and `proof` say what they found, "" for nothing; `reason`: why it is equivalent,
    or what could not be decided."""

    verdict: Literal["found", "equivalent", "missed"]
    lint: str = ""
    proof: str = ""
    reason: str = ""


@dataclass(frozen=True)
class Judge:
    """Holds a mutant against its original. `prove` is the proof of the build, of a program and whether to be thorough;
    `known` are the faults that the linter finds in the original (rule and message, however often). local: where the
    proof speaks of some sizes only, and not of waits, the original for `isa.check.local`. further: the proof of further
    launches, None where it does not go through for the original or there are none."""

    prove: Callable[[Program, bool], Proof]
    kernel: str
    known: Counter[tuple[str, str]]
    local: Local | None = None
    further: Callable[[Program], Proof | None] = lambda _: None

    @staticmethod
    def against(compiled: Program, original: Program, kernel: str, facts: Facts) -> Judge:
        """For a rewritten kernel; `compiled` is what the compiler wrote."""

        def prover(program: Program, thorough: bool) -> Proof:
            return equivalence.prove(compiled, program, kernel, facts=facts, thorough=thorough)

        return Judge._of(prover, original, kernel)

    @staticmethod
    def by_definition(
        original: Program, kernel: str, launches: Sequence[Launch], local: Local, far: Sequence[Launch] = ()
    ) -> Judge:
        """For a generated kernel; local: of the original; far: launches for what the others find nothing in.

        One launch tells of most mutants, in a fraction of the time that all take. Waits do nothing in any of them.
        """
        alike = [launch for launch in launches if launch.order == "together"]
        first = max(alike, key=lambda launch: launch.m * launch.n * launch.k)
        bare = _without_waits(original)

        @cache
        def of_original() -> Proof:
            return definition.prove(original, kernel, launches, explain=False)

        def prover(program: Program, _: bool) -> Proof:
            if _without_waits(program) == bare:
                return of_original()
            proof = definition.prove(program, kernel, [first], whole=False, explain=False)
            return definition.prove(program, kernel, launches, explain=False) if proof.proved else proof

        def at_far_end(program: Program) -> Proof:
            return definition.prove(program, kernel, far, whole=False, explain=False)

        @cache
        def followed() -> bool:
            return bool(far) and at_far_end(original).proved

        return Judge._of(prover, original, kernel, local, lambda program: at_far_end(program) if followed() else None)

    @staticmethod
    def _of(
        prover: Callable[[Program, bool], Proof],
        original: Program,
        kernel: str,
        local: Local | None = None,
        further: Callable[[Program], Proof | None] = lambda _: None,
    ) -> Judge:
        known = Counter(map(_key, lint_program(original, kernel, notes=False)))
        return Judge(prover, kernel, known, local, further)

    def __call__(self, mutant: Mutant) -> Judgement:
        try:
            new = Counter(map(_key, lint_program(mutant.program, self.kernel, notes=False))) - self.known
            lint = next((rule for rule, _ in new), "")
        except IsaError as error:
            return Judgement("found", lint=f"refused: {error.message}")
        try:
            thorough = mutant.kind == "VOPD sources swapped"  # only there can factors have changed places
            proof = self.prove(mutant.program, thorough)
        except IsaError as error:
            return Judgement("found", lint, f"refused: {error.message}")
        if proof.difference is not None and (proof.verdict == "different" or proof.difference.kind == "budget"):
            return Judgement("found", lint, proof.difference.kind)
        if self.local and proof.verdict == "unproven" and proof.difference is None:
            return Judgement("found", lint, f"refused: {proof.statement}")
        if lint:
            return Judgement("found", lint)
        if self.local:
            inst = mutant.program.lines[mutant.line].instruction
            reason = self.local.same(mutant.line, inst) if proof.proved and inst else None
            if reason:
                return Judgement("equivalent", reason=reason)
            far = self.further(mutant.program)
            if far is not None and not far.proved:
                return Judgement("found", proof=far.difference.kind if far.difference else f"refused: {far.statement}")
            return Judgement("missed", reason=proof.statement)
        if proof.proved and "bit for bit" in proof.statement:
            return Judgement("equivalent", reason=_reason(mutant, proof))
        return Judgement("missed", reason=proof.statement)


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


def mutants(program: Program, name: str | None = None, *, vopds: int = 16, seed: int = 1) -> Iterator[Mutant]:
    """All mutants of a kernel, kind by kind in the order of KINDS. `vopds`: how many VOPDs are sampled."""
    kernel = program.kernel(name)
    yield from _waits(kernel)
    yield from _barriers(kernel)
    yield from _vopds(kernel, vopds, seed)
    yield from _lds_offsets(kernel)
    yield from _strides(kernel, "lds", "LDS stride")
    yield from _strides(kernel, "global", "global stride")
    yield from _counts(kernel)


def _mutant(kernel: Kernel, kind: str, number: int, new: Line) -> Mutant:
    lines = list(kernel.program.lines)
    before = lines[number].text.partition(";")[0].strip()
    lines[number] = new
    after = new.text.strip() or "removed"
    return Mutant(kind, number, f"{before} -> {after}", kernel.program.with_lines(lines))


def _changed(kernel: Kernel, kind: str, number: int, inst: Instruction) -> Mutant:
    """The line with another instruction, read again so that its place and columns are right."""
    text = instruction_line(inst).text
    return _mutant(kernel, kind, number, parse_line(text, kernel.program.file, number))


def _waits(kernel: Kernel) -> Iterator[Mutant]:
    waits = [(n, parse_wait(inst)) for n, inst in kernel.instructions() if parse_wait(inst)]
    for number, _ in waits:
        yield _mutant(kernel, "wait removed", number, Line(""))
    for number, counters in waits:
        text = kernel.program.lines[number].text
        for counter, limit in counters.items():
            if limit + 1 < 1 << BITS[counter] and f"{counter}({limit})" in text:
                weaker = text.replace(f"{counter}({limit})", f"{counter}({limit + 1})")
                yield _mutant(kernel, "wait weakened", number, parse_line(weaker, kernel.program.file, number))


def _barriers(kernel: Kernel) -> Iterator[Mutant]:
    for number, inst in kernel.instructions():
        if inst.desc.effect == "barrier":
            yield _mutant(kernel, "barrier removed", number, Line(""))


def _vopds(kernel: Kernel, count: int, seed: int) -> Iterator[Mutant]:
    found = [
        (n, inst, inst.pair)
        for n, inst in kernel.instructions()
        if inst.pair is not None and len(inst.operands) == len(inst.pair.operands) == 3
    ]
    sample = sorted(random.Random(seed).sample(found, min(count, len(found))), key=lambda x: x[0])
    for number, x, y in sample:
        _, x0, x1 = x.operands
        _, y0, y1 = y.operands
        choices = [
            ((y0, x1), (x0, y1)),
            ((x0, y1), (y0, x1)),
            ((x1, x0), (y0, y1)),
            ((x0, x1), (y1, y0)),
        ]
        for sources_x, sources_y in choices:
            if (sources_x, sources_y) == ((x0, x1), (y0, y1)):
                continue
            pair = dataclasses.replace(y, operands=(y.operands[0], *sources_y))
            swapped = dataclasses.replace(x, operands=(x.operands[0], *sources_x), pair=pair)
            yield _changed(kernel, "VOPD sources swapped", number, swapped)


def _lds_offsets(kernel: Kernel) -> Iterator[Mutant]:
    for number, inst in kernel.instructions():
        access = inst.desc.access
        if access is None or access.space != "lds":
            continue
        for name in ("offset0", "offset1") if access.pair else ("offset",):
            value = inst.modifier(name, 0)
            assert isinstance(value, int)
            others = tuple((n, v) for n, v in inst.modifiers if n != name)
            moved = value + (1 if access.pair else 4)
            changed = dataclasses.replace(inst, modifiers=tuple(sorted((*others, (name, moved)))))
            yield _changed(kernel, "LDS offset", number, changed)


def _strides(kernel: Kernel, space: str, kind: str) -> Iterator[Mutant]:
    flow = control_flow.of_kernel(kernel)
    for position, half, operand in sorted(_address_numbers(flow, space)):
        inst = flow.instructions[position]
        part = inst.halves[half]
        old = part.operands[operand]
        assert isinstance(old, Imm)
        assert isinstance(old.value, int)
        operands = (*part.operands[:operand], Imm(old.value + 1), *part.operands[operand + 1 :])
        part = dataclasses.replace(part, operands=operands)
        if inst.pair is None:
            changed = part
        else:
            changed = dataclasses.replace(part, pair=inst.pair) if half == 0 else dataclasses.replace(inst, pair=part)
        yield _changed(kernel, kind, flow.lines[position], changed)


def _address_numbers(flow: control_flow.Cfg, space: str) -> set[tuple[int, int, int]]:
    """(position, half, operand) of the integers that addresses in this memory are computed from."""
    chains = defuse.analyse(flow)
    work = [
        (position, reg)
        for position, inst in enumerate(flow.instructions)
        if inst.desc.access is not None and inst.desc.access.space == space
        for reg in _address_registers(inst)
    ]
    found: set[tuple[int, int, int]] = set()
    seen: set[tuple[int, Reg]] = set()
    while work:
        position, reg = work.pop()
        for source in chains.defs_of(position, reg):
            if source < 0 or (source, reg) in seen:
                continue
            seen.add((source, reg))
            inst = flow.instructions[source]
            for number, half in enumerate(inst.halves):
                desc = lookup(half)
                if desc.access is not None or reg not in desc.writes(half):
                    continue
                for at, (role, operand) in enumerate(desc.roles_of(half)):
                    if not role.read:
                        continue
                    if isinstance(operand, Imm) and isinstance(operand.value, int) and role.type != "f32":
                        found.add((source, number, at))
                    elif isinstance(operand, Reg) and not operand.is_null:
                        work.extend((source, r) for r in operand.units())
    return found


def _address_registers(inst: Instruction) -> list[Reg]:
    """The registers of a memory instruction's address."""
    sources = [(role, operand) for role, operand in inst.desc.roles_of(inst) if role.read]
    wanted = [operand for i, (role, operand) in enumerate(sources) if i == 0 or role.kind == "sa"]
    return [r for operand in wanted if isinstance(operand, Reg) and not operand.is_null for r in operand.units()]


def _counts(kernel: Kernel) -> Iterator[Mutant]:
    """Numbers that are counts or sizes, by their names."""
    for keys in (kernel.descriptor, kernel.metadata):
        for key, number in keys.items():
            text = kernel.program.lines[number].text
            head, _, value = text.rstrip().rpartition(" ")
            counts = key.endswith(("_count", "_size")) or key.startswith("next_free")
            if counts and value.isdigit() and int(value) > 0 and key != "inst_pref_size":
                changed = f"{head} {int(value) - 1}"
                line = Line(changed) if key.startswith(".") else parse_line(changed, kernel.program.file, number)
                yield _mutant(kernel, "count shrunk", number, line)
