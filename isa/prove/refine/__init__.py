"""Translation validation: two kernels -> whether the rewritten one does what the original does, for any data.

In: two kernels, and what is known of their launches (`Facts`). Out: a `Proof` ("proved" or "unproven", which names the
place in both texts; "different" only where their descriptors start them otherwise). It is meant to be complete for what
optimising passes and people do to compiled code: other registers, another order, dual instructions, commuted operands,
other waits and hints, addresses split otherwise, wider accesses, longer rows of LDS, loops unrolled, with their tests
or without those of which it is known how they come out. It shares no code with `isa.passes`.

The theory is a simulation relation over the product of two programs (Necula 2000, "Translation validation for an
optimizing compiler"; Pnueli, Siegel, Singerman 1998):

- `flow`: both control-flow graphs become one graph of pairs of blocks, from the entries on.
- `engine`, `values`: both programs run from a pair to the next one on terms, by the bodies of the one description of
  each instruction (`isa.semantics`). Registers are vectors of 32 lanes; EXEC, VCC, SCC, M0 are registers; MODE is a
  number, part of each float function. What exchanges lanes is a function of whole vectors and of EXEC.
- `isa.algebra`: equal values are one object, by a few rules (polynomials, addresses, masks, selections), some of which
  ask for ranges: what a launch, and the tests of loops, say of unknowns. So no address wraps at any size of a launch.
- `memory`: stores and fences as terms, equal where only the order of accesses that cannot meet differs, and without
  stores that others overwrite before anything may read them.
- `padding`: the same program with LDS in longer rows, where the rewritten one has it so.
- `relation`, `join`: a state for each pair, the lattice of partitions of registers of both programs by equal value: the
  transfer function is one run of a pair, the meet splits what does not come with equal terms on all paths.
- `loops`: what goes on by the same step around a loop is a sum with a multiple of how often that went round.
- At the end of each pair both programs must have stored the same at the same place under the same lanes, passed the
  same fences in the same order, and take the same branch on the same condition; the second loads nothing that the first
  does not load. So from equal memory both leave equal memory, step by step, and end together.
- `in_place`: a few changed lines between the same others, without all of that.
- `landed`: waits, hazards and register counts, over all paths, apart from the terms.

Assumed, and said by each proof: what lanes hold that do not exist, and registers that were never written, decides
nothing; kernel arguments are not written; no other work-item writes what a plain load reads, but between fences; a wide
access does what its dwords do, lowest first. Where operands of float sums and products, minima and maxima changed
places, which NaN's payload survives may differ, and the proof says so.

Limits, "unproven" with the reason: recursion, pointers to functions, return addresses kept in memory or in lanes
(`isa.analysis.joined` follows the other calls), code addresses, SGPRs that M0 chooses, MODE that
depends on the path taken, wave64. Tests that were taken out of loops, but those that the low bits of a counter or tests
made before decide, moves of code across branches, and arithmetic beyond the rules of `isa.algebra` are not found equal.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from isa.algebra.truth import TooLarge
from isa.analysis import cfg, joined
from isa.asm.program import Kernel
from isa.display import number_of
from isa.errors import IsaError
from isa.prove import settings
from isa.prove.proof import Difference, Facts, Proof, ProofPlace, names
from isa.prove.refine import in_place, padding
from isa.prove.refine.flow import Node, NoMatch, Step
from isa.prove.refine.landed import missing
from isa.prove.refine.padding import Rows
from isa.prove.refine.relation import Again, How, Relation, Unfollowed, Unmatched
from isa.prove.refine.side import has_halves
from isa.registers import EXEC_LO
from isa.semantics.instruction import Instruction

MOST_STEPS = 80
"""How often the graph of both programs is made again."""
ASSUMPTIONS = (
    "lanes that do not exist and uninitialized registers decide nothing",
    "no other work-item writes what a load reads but between barriers, atomics and coherent accesses; the "
    "kernel's arguments are not written",
    "a wide access does what accesses of its dwords do, lowest first",
)
COMMUTED = "operands of a float sum, product, minimum or maximum may change places (only which NaN's payload survives "
COMMUTED += "depends on it)"


def validate(original: Kernel, rewritten: Kernel, facts: Facts | None = None, *, liberties: bool = True) -> Proof:
    """Whether the rewritten kernel does what the original does. facts: what is assumed of their launches; liberties:
    whether operands and summands of float operations may change places, which the proof then says. IsaError where a
    text cannot be read as a kernel's."""
    rows: list[Rows | None] = [*padding.candidates(original, rewritten)] or [None]
    first, second = names(original, rewritten)
    try:
        whole, why = (joined.of_kernel(original), joined.of_kernel(rewritten)), ""
    except IsaError as error:
        whole, why = None, f"{error.message}{f' ({error.span})' if error.span else ''}"
    followed = whole[0].functions & whole[1].functions if whole else None
    setting = settings.difference(original, rewritten, padding.SETTINGS if rows[0] else frozenset(), followed)
    if setting is not None:
        if not setting.certain:
            return _unproven(first, second, setting)
        return Proof("different", f"different: {second} does not compute what {first} does", difference=setting)
    if whole is None:
        return _unproven(first, second, why)
    flows = (whole[0].flow, whole[1].flow)
    if not followed and rows[0] is None and (counts := in_place.same((original, rewritten), flows)) is not None:
        return _proved((original, rewritten), "bit for bit", counts, ())
    known = How(facts=facts or Facts(), joined=whole)
    attempt = _by_floats if liberties else _attempt
    proofs = (attempt((original, rewritten), flows, replace(known, rows=found)) for found in rows)
    first_of_all = next(proofs)
    return first_of_all if first_of_all.proved else next((proof for proof in proofs if proof.proved), first_of_all)


def _by_floats(kernels: tuple[Kernel, Kernel], flows: tuple[cfg.Cfg, cfg.Cfg], how: How) -> Proof:
    """Float operations as they are; else with operands that change places, or summands."""
    exact = _attempt(kernels, flows, how)
    if exact.proved or exact.difference is None or exact.difference.kind in ("wait", "load", "address"):
        return exact
    commuted = _attempt(kernels, flows, replace(how, floats="commuted"))
    if commuted.proved or commuted.difference is None:
        return commuted if commuted.proved else exact
    reordered = _attempt(kernels, flows, replace(how, floats="reordered"))
    return replace(reordered, difference=commuted.difference) if reordered.proved else exact


def _attempt(kernels: tuple[Kernel, Kernel], flows: tuple[cfg.Cfg, cfg.Cfg], how: How) -> Proof:
    first, second = names(*kernels)
    try:
        for kernel in kernels:
            if kernel.number("wavefront_size32") == 0:
                raise Unfollowed(f"{kernel.name} runs waves of 64 lanes")
            if (key := _unknown_mode(kernel)) and any(i.desc.effect == "setreg" for f in flows for i in f.instructions):
                raise Unfollowed(f"{kernel.name} begins with .amdhsa_{key}, and MODE is written")
        relation = _related(kernels, flows, how)
        meeting: set[str] = set()
        lacking = missing(kernels, flows, relation.synced, relation.traces.values(), meeting)
    except (Unmatched, NoMatch) as error:
        kind, what = (error.kind, error.what) if isinstance(error, Unmatched) else ("branch", error.why)
        a, b = (_place(p) for p in error.places)
        return _unproven(first, second, Difference(kind, what, a, b, certain=False))
    except TooLarge:
        return _unproven(first, second, "conditions that are too large")
    except Unfollowed as error:
        return _unproven(first, second, f"{error.message}{f' ({error.span})' if error.span else ''}")
    if lacking is not None:
        what, span, text = lacking
        return _unproven(first, second, Difference("wait", what, None, ProofPlace(span, text, ""), certain=False))
    counts = {
        "instructions": sum(map(len, flows)), "pairs": len(relation.pairs), "loops": relation.loops,
        "executed": relation.executed, "terms": len(relation.terms), "stores": len(relation.stored),
        "fences": len(relation.synced),
    }  # fmt: skip
    order = "the same products, summed in another order" if how.floats == "reordered" else "bit for bit"
    more = (*((COMMUTED,) if how.floats == "commuted" else ()), *((padding.ASSUMED,) if how.rows else ()))
    assumed = meeting.union(*(side.engine.assumed for side in relation.sides))
    return _proved(kernels, order, counts, (*how.facts.sentences(), *ASSUMPTIONS, *more, *sorted(assumed)))


def _proved(
    kernels: tuple[Kernel, Kernel], order: str, counts: Mapping[str, int], assumptions: tuple[str, ...]
) -> Proof:
    first, second = names(*kernels)
    statement = (
        f"proved: {second} computes what {first} does, {order}; matched: "
        f"{number_of(counts['stores'], 'store')}, {number_of(counts['fences'], 'barrier')} and the like, "
        f"{number_of(counts['pairs'], 'pair')} of blocks, {number_of(counts['loops'], 'loop')}"
    )
    return Proof("proved", statement, assumptions, counts=counts)


def _related(kernels: tuple[Kernel, Kernel], flows: tuple[cfg.Cfg, cfg.Cfg], how: How) -> Relation:
    """The relation of two programs; of the reasons why there is none the first."""
    doubts: set[Node] = set()
    try:
        return _found(kernels, flows, how, doubts)
    except (Unmatched, NoMatch, Unfollowed):
        for option in _other_options(flows, doubts):
            try:
                return _found(kernels, flows, replace(how, option=option), doubts)
            except (Unmatched, NoMatch, Unfollowed):
                pass
        raise


def _other_options(flows: tuple[cfg.Cfg, cfg.Cfg], doubts: set[Node]) -> list[str]:
    """How else a relation may be found."""
    options = ["tests first"] if doubts else []
    options += ["by halves"] if any(map(has_halves, flows)) else []
    return options + (["by leaving"] if all(map(_lanes_leave, flows)) else [])


def _unknown_mode(kernel: Kernel) -> str | None:
    """What a descriptor sets of MODE that no `FloatMode` holds."""
    keys = (key for key in kernel.descriptor if key.startswith(("fp16_overflow", "exception_")))
    return next((key for key in keys if kernel.number(key)), None)


def _lanes_leave(flow: cfg.Cfg) -> bool:
    """Whether a loop writes EXEC."""
    inside = {block for loop in flow.loops for block in loop.blocks}
    return any(EXEC_LO in flow.instructions[i].writes() for block in inside for i in flow.blocks[block].range)


def _found(kernels: tuple[Kernel, Kernel], flows: tuple[cfg.Cfg, cfg.Cfg], how: How, doubts: set[Node]) -> Relation:
    steps: dict[Node, Step] = {}
    changing: set[Node] = set()
    first: Unmatched | None = None
    for _ in range(MOST_STEPS):
        try:
            relation = Relation(kernels, flows, how, steps, changing)
            relation.doubts = doubts
            relation.solve()
            return relation
        except Again as again:
            first = first or again.error
            if again.step is None:
                changing.add(again.node)
                del steps[again.node]
            else:
                steps[again.node] = again.step
        except (Unmatched, NoMatch, Unfollowed) as error:
            raise (first or error) from error
    assert first is not None
    raise first


def _unproven(first: str, second: str, why: Difference | str) -> Proof:
    if isinstance(why, str):
        return Proof("unproven", f"unproven: {second} against {first}: {why}")
    return Proof("unproven", f"unproven: {second} against {first}: could not be shown to do the same", difference=why)


def _place(place: tuple[Instruction, str] | None) -> ProofPlace | None:
    if place is None:
        return None
    inst, text = place
    return ProofPlace(inst.span, str(inst), text)


__all__ = ["validate"]
