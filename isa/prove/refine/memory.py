"""Memory between two cuts: stores and fences as terms, in which the order of what cannot meet is forgotten.

A store is a term of its address, its value, the lanes that are on, and the stores before it that it may overlap; a load
is a term of its address and the stores before it that it may overlap. So two runs of a segment that differ in the order
of independent accesses make the same terms, and no others do: this is the dependence graph of a trace (Mazurkiewicz
1977). Barriers, atomics, coherent accesses, cache control and messages are fences, of all spaces: each depends on all
stores and fences before it, and all accesses after it depend on it. Accesses are taken dword by dword, lowest first.

A store is dead, and as if it were not there, where another one of the same size goes to the same addresses in all its
lanes, and no access that may meet it and no fence stands between them: what it left could only be seen by another
work-item that reads there without a fence. Stores with cache bits, as of volatile variables, stay.

Two accesses of one wave are apart where they are in different spaces (flat: any), or where, in all pairs of
lanes, the difference of their addresses modulo the power of two that divides their unknown parts leaves no overlap
(uniform parts cancel, known bits give the power of the others); or where what they may add to a common
part does not reach the other.
"""

from __future__ import annotations

from collections.abc import Hashable, Mapping
from dataclasses import dataclass, field

from isa.algebra.term import Term
from isa.algebra.terms import Terms
from isa.analysis.memory_order import Access
from isa.semantics.instruction import Instruction

KERNARG = "arguments"
"""Owner of the unknowns that say where the kernel's arguments lie."""
_GROUP = {"scalar": "global"}


@dataclass(frozen=True, slots=True)
class Effect:
    """A store or a fence. position: of its instruction."""

    node: Term
    position: int
    inst: Instruction
    fence: bool = False


@dataclass(slots=True)
class _Stored:
    """followed: whether an access depends on it."""

    space: str
    address: Term
    size: int
    node: Term
    lanes: Term
    how: Hashable
    followed: bool = False


@dataclass(frozen=True)
class Arguments:
    """What is known of a kernel's arguments, by offset. given: bytes; words: dwords as terms; size: how many bytes
    there are, all of which may be read."""

    given: Mapping[int, int] = field(default_factory=dict)
    words: Mapping[int, Term] = field(default_factory=dict)
    size: int = 0


NO_ARGUMENTS = Arguments()


@dataclass
class Memory:
    """What one program does in a segment. base: memory before it; arguments: what is known of the kernel's; trace: all
    accesses and fences, as they come."""

    terms: Terms
    base: Term
    arguments: Arguments = NO_ARGUMENTS
    events: list[Effect] = field(default_factory=list)
    trace: list[Access] = field(default_factory=list)
    loads: dict[tuple[str, Term, int], tuple[Term, Instruction]] = field(default_factory=dict)
    _stores: list[_Stored] = field(default_factory=list)
    _since: list[Term] = field(default_factory=list)
    _fence: Term | None = None
    _known: dict[tuple[Term, Term, bool], tuple[int, int | None, int | None]] = field(default_factory=dict)

    def load(
        self, inst: Instruction, position: int, space: str, address: Term, size: int, lanes: Term, how: Hashable, *,
        unsigned: bool,
    ) -> Term:  # fmt: skip
        """What it gives: 32 bits, to which a narrow element is extended, unsigned or by its sign."""
        if (known := self._known_argument(address, size)) is not None:
            return self.terms.const(known if unsigned or size == 4 else _extended(known, size), 32)
        own = _among_arguments(address)
        if own and size == 4 and (word := self.arguments.words.get(self.terms.split(address)[0])) is not None:
            return word
        uniform = space == "scalar"
        key = (space, address, size)
        old = self.loads.get(key)
        if not own or self.terms.split(address)[0] + size > self.arguments.size:
            self.trace.append((key, position))
            self.loads[key] = (lanes if old is None else self.terms.either(old[0], lanes), inst)
        before = () if self._constant(space, address) else self._before(space, address, size)
        space, ones = _GROUP.get(space, space), (1 << 8 * size) - 1 if unsigned else -1
        args = (space, size, unsigned, how, address, *before)
        return self.terms.make("load", 32, *args, uniform=uniform, ones=ones)

    def store(
        self, inst: Instruction, position: int, space: str, address: Term, size: int, value: Term, lanes: Term,
        how: Hashable,
    ) -> None:  # fmt: skip
        self._drop_dead(space, address, size, lanes)
        before = self._before(space, address, size)
        node = self.terms.make("store", 32, space, size, how, address, value, lanes, *before)
        self._stores.append(_Stored(space, address, size, node, lanes, how))
        self._since.append(node)
        self.trace.append((node, position))
        self.events.append(Effect(node, position, inst))

    def fence(self, inst: Instruction, position: int, *what: Hashable) -> Term:
        """What nothing moves across; its node."""
        self._fence = self.terms.make("fence", 32, *what, self._fence or self.base, *_ordered(self._since))
        self._stores, self._since = [], []
        self.trace.append((self._fence, position))
        self.events.append(Effect(self._fence, position, inst, fence=True))
        return self._fence

    def after(self) -> Term:
        """Memory after the segment."""
        if not self.events:
            return self.base
        return self.terms.make("memory", 32, self._fence or self.base, *_ordered(self._since))

    def _before(self, space: str, address: Term, size: int) -> list[Term]:
        """What an access may depend on."""
        near = [s for s in self._stores if not self.apart(space, address, size, s.space, s.address, s.size)]
        for stored in near:
            stored.followed = True
        return [self._fence or self.base, *_ordered([s.node for s in near])]

    def _drop_dead(self, space: str, address: Term, size: int, lanes: Term) -> None:
        """Forgets the stores that a store in these lanes makes dead."""
        for s in [s for s in self._stores if s.address is address and (s.space, s.size, s.how) == (space, size, ())]:
            if not s.followed and self.terms.implies(s.lanes, lanes):
                self._stores.remove(s)
                self._since.remove(s.node)
                self.events = [e for e in self.events if e.node is not s.node]

    @staticmethod
    def _constant(space: str, address: Term) -> bool:
        """Whether it lies among the kernel's arguments, which are never written."""
        return space == "scalar" and _among_arguments(address)

    def _known_argument(self, address: Term, size: int) -> int | None:
        """What is known to lie at an address among the kernel's arguments."""
        if not self.arguments.given or not _among_arguments(address):
            return None
        offset, _ = self.terms.split(address)
        found = [self.arguments.given.get(offset + i) for i in range(size)]
        return None if None in found else sum((byte or 0) << 8 * i for i, byte in enumerate(found))

    def apart(self, space: str, a: Term, size: int, other: str, b: Term, width: int) -> bool:
        """Whether an access of `size` bytes at a and one of `width` bytes at b never meet."""
        space, other = _GROUP.get(space, space), _GROUP.get(other, other)
        if space != other:
            return "flat" not in (space, other)
        if a.width != b.width:
            return False
        (x, first), (y, second) = self.terms.split(a), self.terms.split(b)
        step, reach, other_reach = self._apart(first, second, private=space == "scratch")
        full = 1 << a.width
        distance = (x - y) % step
        if distance >= width and step - distance >= size:
            return True
        if reach is None or other_reach is None:
            return False
        distance = (x - y) % full
        distance -= full if distance >= full >> 1 else 0
        return abs(distance) < full >> 2 and (distance - other_reach >= width or distance + reach + size <= 0)

    def _apart(self, a: Term, b: Term, *, private: bool) -> tuple[int, int | None, int | None]:
        """Of sums without their numbers: a power of two that divides what they differ by, and what each may add to
        what they have in common, None where that is not known."""
        found = self._known.get((a, b, private))
        if found is not None:
            return found
        first, second = self.terms.parts(a)[1], self.terms.parts(b)[1]
        step = full = 1 << a.width
        reach = [0, 0]
        for t in first.keys() | second.keys():
            c, d = first.get(t, 0), second.get(t, 0)
            if t.uniform or private:
                if c != d:
                    reach = [full, full]
                    step = min(step, _power(c - d) * _power(t.ones))
                continue
            for k, coefficient in enumerate((c, d)):
                if coefficient:
                    reach[k] += coefficient * t.ones
                    step = min(step, _power(coefficient) * _power(t.ones))
        known = (step, reach[0], reach[1]) if max(reach) < full >> 2 else (step, None, None)
        self._known[a, b, private] = known
        return known


def _ordered(nodes: list[Term]) -> list[Term]:
    return sorted(nodes, key=lambda t: t.id)


def _power(n: int) -> int:
    """The largest power of two that divides n."""
    return n & -n if n else 1 << 64


def _among_arguments(address: Term) -> bool:
    """Whether it is where the kernel's arguments lie, and a number."""
    if address.op != "sum":
        return False
    rows = sorted(
        (t.args[0].id, c)
        for t, c in address.args[1]
        if t.op == "zext" and t.args[0].op == "unknown" and KERNARG in t.owners
    )
    return len(rows) == len(address.args[1]) and [c for _, c in rows] == [1, 1 << 32]


def _extended(number: int, size: int) -> int:
    """A narrow number with its sign."""
    return number - (1 << 8 * size) if number >> 8 * size - 1 else number
