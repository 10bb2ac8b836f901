"""Where paths meet: 64 bits of each lane in the original, a base that moves and what stays of the lane in the rewritten
program.

A pointer in two VGPRs that moves around a loop, and a base in two SGPRs that moves alike, are unknowns of the loop's
head; that they differ by what does not move is a relation of four registers, which a partition of registers by equal
value cannot say. Here it is found on the paths that come in: where vector - base is one term d on each of them, and d
is none of the meeting's own unknowns, what the two VGPRs hold is base + d, of the unknowns that the base has got. That
is a guess in the first iterations, like all else at a loop's head: each further iteration asks again, of what came
back.

Two VGPRs need not be neighbours. What lies in lanes that EXEC has off stays what the meeting has found.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from isa.analysis.cfg import Cfg
from isa.prove.validation.engine import REGISTERS, SGPR0
from isa.prove.validation.flow import Node
from isa.prove.validation.term import Term
from isa.prove.validation.terms import Terms
from isa.registers import SGPR_LIMIT, Reg

Row = Sequence["Term | None"]
_VGPRS = 256


def with_bases(terms: Terms, node: Node, rows: Sequence[Row], found: list[Term | None], within: Term | None) -> None:
    """Gives VGPRs of the original that are met as unknowns their sums. rows: what came on each path; found: what places
    are met as; within: the lanes that EXEC stays in, None for all."""
    moving = [at for at in range(_VGPRS) if _moves(node, rows, found, at)]
    scalars = range(REGISTERS + SGPR0, REGISTERS + SGPR0 + SGPR_LIMIT, 2)
    bases = [at for at in scalars if _moves(node, rows, found, at) and found[at + 1] is not None]
    changed: dict[Term, Term] = {}
    for low, high, base, rest in _sums(terms, node, rows, moving, bases, within):
        words = (found[base], found[base + 1])
        sum_ = terms.add(terms.joined(*(w for w in words if w is not None)), rest)
        for at, word in ((low, terms.trunc(sum_)), (high, terms.hi(sum_))):
            before = found[at]
            if before is not None:
                changed.setdefault(before, word if within is None else terms.select(within, word, before))
    for at, term in enumerate(found):
        if term is not None:
            found[at] = changed.get(term, term)


def _moves(node: Node, rows: Sequence[Row], found: Sequence[Term | None], at: int) -> bool:
    """Whether different terms come to a place, which is met as an unknown."""
    term = found[at]
    return term is not None and node in term.owners and all(row[at] is not None for row in rows)


def _sums(
    terms: Terms, node: Node, rows: Sequence[Row], moving: Sequence[int], bases: Sequence[int], within: Term | None
) -> Iterator[tuple[int, int, int, Term]]:
    """(low word, high word, base, what they differ by) of places."""

    def lanes(at: int) -> list[Term]:
        values = [row[at] for row in rows]
        return [v if within is None else terms.under(v, within) for v in values if v is not None]

    vectors = {at: lanes(at) for at in moving}
    taken: set[int] = set()
    for base in bases:
        words = [(row[base], row[base + 1]) for row in rows]
        both = [(a, b) for a, b in words if a is not None and b is not None]
        if len(both) < len(rows):
            continue
        for low in moving:
            if low in taken or not _one(terms.sub(v, a) for v, (a, _) in zip(vectors[low], both, strict=True)):
                continue
            for high in moving:
                if high == low or high in taken:
                    continue
                rest = _one(
                    terms.sub(terms.joined(v, w), terms.joined(a, b))
                    for v, w, (a, b) in zip(vectors[low], vectors[high], both, strict=True)
                )
                if rest is not None and node not in rest.owners:
                    taken |= {low, high}
                    yield low, high, base, rest
                    break


def _one(terms: Iterator[Term]) -> Term | None:
    """What all of them are, if they are one."""
    first = next(terms)
    return first if all(t is first for t in terms) else None


def may_have_bases(flows: Sequence[Cfg]) -> bool:
    """Whether the rewritten program has more accesses with a base in SGPRs than the original."""
    first, second = (sum(_has_base(flow, i) for i in range(len(flow))) for flow in flows)
    return second > first


def _has_base(flow: Cfg, position: int) -> bool:
    inst = flow.instructions[position]
    if inst.desc.space != "global" or inst.desc.access is None:
        return False
    return any(isinstance(o, Reg) and o.file == "s" for o in inst.desc.address_of(inst))
