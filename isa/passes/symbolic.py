"""What registers hold, as polynomials: the instruction bodies run once more, on `Poly` instead of numbers.

`Machine` walks over instructions in the order in which they run. For each it takes the operands' polynomials, runs the
body that `isa/instructions` gives (the same that simulates), and keeps what comes out. An operation that polynomials
cannot express gives an atom named by the operation and its operands; floating-point results and memory give atoms of
their own.

64-bit numbers live in two registers. The low half of polynomial P is P itself, with coefficients modulo 2**32; the
high half is the atom high(P). A pair that holds P and high(P) is read as P again, sign extension (`ashr 31`) is
high(P), and the carry chain of a 64-bit addition is recognised: high(P) + high(Q) + carry(P, Q) = high(P + Q). In this
way an address comes out as one polynomial, whatever instructions the compiler chose for it.

Assumed, and true of every index computation in C: a 32-bit sum or product that carries no carry out does not wrap.
Callers that move a computation to 64 bits rely on it, and say so.
"""

from __future__ import annotations

import dataclasses
import struct
from collections.abc import Callable, Mapping
from typing import Any

from isa.describe import Description, Role, lookup
from isa.passes.poly import FULL, Atom, Poly
from isa.program import Imm, Instruction, Modified, Operand
from isa.registers import SCC, Reg
from isa.values import Number, Value

_BITS = {"b1": 1, "u8": 8, "i8": 8, "u16": 16, "i16": 16, "b16": 16}
_INTEGER = frozenset({"u32", "i32", "b32", "u64", "i64", "b64", "u16", "i16", "mask"})
_FALSE = Poly.const(0)


def _width(type_: str) -> int:
    return _BITS.get(type_) or int(type_[1:])


def _signed(type_: str) -> bool:
    return type_[0] == "i"


class Term(Value):
    """A `Value` whose content is a polynomial."""

    def __init__(self, type_: str, poly: Poly) -> None:
        self.type = type_
        self.poly = poly if type_ == "b1" else poly.wrap(_width(type_))

    # --- helpers
    def _other(self, other: Number) -> Poly:
        if isinstance(other, Term):
            return other.poly
        return Poly.const(int(other)).wrap(64) if isinstance(other, int) else _opaque("number", other)

    def _known(self, poly: Poly) -> int | None:
        """The number as this type sees it."""
        value = poly.value
        if value is None:
            return None
        size = _width(self.type)
        value %= 1 << size
        return value - (1 << size) if _signed(self.type) and value >> (size - 1) else value

    def _make(self, kind: str, *operands: Poly, mask: int | None = None, type_: str = "") -> Term:
        """An atom for what polynomials cannot express."""
        result = type_ or self.type
        size = _width(result)
        full = (1 << size) - 1
        poly = _opaque(f"{kind}.{self.type}", *operands, mask=full if mask is None else mask & full, wide=size > 32)
        return Term(result, poly)

    def _fold(self, kind: str, other: Number, f: Callable[[int, int], int], type_: str = "") -> Term | None:
        a, b = self._known(self.poly), self._known(self._other(other))
        return None if a is None or b is None else Term(type_ or self.type, Poly.const(f(a, b)))

    # --- arithmetic
    def __add__(self, other: Number) -> Term:
        return Term(self.type, join_halves((self.poly + self._other(other)).wrap(_width(self.type))))

    def __sub__(self, other: Number) -> Term:
        return Term(self.type, self.poly - self._other(other))

    def __mul__(self, other: Number) -> Term:
        b = self._other(other)
        if len(self.poly.terms) * len(b.terms) > 64:
            return self._make("mul", self.poly, b)
        return Term(self.type, self.poly * b)

    def __neg__(self) -> Term:
        return Term(self.type, -self.poly)

    def fma(self, b: Number, c: Number) -> Term:
        return self._make("fma", self.poly, self._other(b), self._other(c))

    def div(self, other: Number) -> Term:
        return self._make("div", self.poly, self._other(other))

    def mulhi(self, other: Number) -> Term:
        size = _width(self.type)
        folded = self._fold("mulhi", other, lambda a, b: (a * b) >> size)
        if folded:
            return folded
        a, b = self.poly, self._other(other)
        if self.type == "u32" and not (a.mask | b.mask) >> 32:
            return Term(self.type, high(a * b))
        return self._make("mulhi", a, b)

    # --- bits
    def __and__(self, other: Number) -> Term:
        folded = self._fold("and", other, lambda a, b: a & b)
        if folded:
            return folded
        a, b = self.poly, self._other(other)
        if a.value is not None:
            a, b = b, a
        if a == b:
            return Term(self.type, a)
        m = self._known(b)
        if m is None:
            return self._make("and", *sorted((a, b), key=str), mask=a.mask & b.mask)
        size = _width(self.type)
        m %= 1 << size
        if m & (m + 1) == 0:  # all bits below some 2**k: terms that are multiples of it vanish
            a = Poly({t: c for t, c in a.terms.items() if c % (m + 1)})
        if a.mask & m == 0:
            return Term(self.type, _FALSE)
        if a.mask & ~m == 0 or m == (1 << size) - 1:
            return Term(self.type, a)
        return self._make("and", a, Poly.const(m), mask=a.mask & m)

    def __or__(self, other: Number) -> Term:
        folded = self._fold("or", other, lambda a, b: a | b)
        a, b = self.poly, self._other(other)
        if folded:
            return folded
        if a == b or b == _FALSE:
            return Term(self.type, a)
        if a == _FALSE or (a.mask & b.mask == 0 and self.type != "b1"):
            return Term(self.type, a + b)
        return self._make("or", *sorted((a, b), key=str), mask=a.mask | b.mask)

    def __xor__(self, other: Number) -> Term:
        folded = self._fold("xor", other, lambda a, b: a ^ b)
        if folded:
            return folded
        a, b = self.poly, self._other(other)
        if self.type != "b1" and a.mask & b.mask == 0:
            return Term(self.type, a + b)
        return self._make("xor", *sorted((a, b), key=str), mask=a.mask | b.mask)

    def __invert__(self) -> Term:
        value = self._known(self.poly)
        if value is not None:
            return Term(self.type, Poly.const(1 - value if self.type == "b1" else ~value))
        if self.type != "b1":
            return Term(self.type, -self.poly - Poly.const(1))
        atom = self.poly.atom
        if atom is not None and atom.kind == "not.b1":
            return Term("b1", atom.args[0])
        return self._make("not", self.poly)

    def __lshift__(self, other: Number) -> Term:
        n = self._known(self._other(other))
        if n is None or not 0 <= n < _width(self.type):
            return self._make("shl", self.poly, self._other(other))
        return Term(self.type, self.poly.scale(1 << n))

    def __rshift__(self, other: Number) -> Term:
        n, size = self._known(self._other(other)), _width(self.type)
        value = self._known(self.poly)
        if n is None or not 0 <= n < size:
            return self._make("shr", self.poly, self._other(other))
        if value is not None:
            return Term(self.type, Poly.const(value >> n))
        if n == 0:
            return self
        if size == 64 and n == 32:
            return Term(self.type, high(self.poly))
        if size == 32 and n == 31 and _signed(self.type):
            return Term(self.type, high(self.poly))
        mask = self.poly.mask
        if mask >> size:
            return self._make("shr", self.poly, Poly.const(n))
        if all(c % (1 << n) == 0 for c in self.poly.terms.values()):
            return Term(self.type, Poly({m: c >> n for m, c in self.poly.terms.items()}))
        # Terms that are multiples of 2**n stay terms; what is below the point goes.
        whole, rest = self.poly.split(m for m, c in self.poly.terms.items() if c % (1 << n) == 0)
        if rest.mask >> n == 0:
            return Term(self.type, Poly({m: c >> n for m, c in whole.terms.items()}))
        return self._make("shr", self.poly, Poly.const(n), mask=mask >> n)

    def popcount(self) -> Term:
        return self._make("popcount", self.poly)

    def clz(self) -> Term:
        return self._make("clz", self.poly)

    def ctz(self) -> Term:
        return self._make("ctz", self.poly)

    def bitreverse(self) -> Term:
        return self._make("bitreverse", self.poly)

    # --- comparison
    def __eq__(self, other: Any) -> Term:  # type: ignore[override]
        return self._equal(other)

    def _equal(self, other: Number) -> Term:
        difference = (self.poly - self._other(other)).wrap(_width(self.type))
        if difference.value is not None:
            return Term("b1", Poly.const(int(difference.value == 0)))
        return self._make("eq", max(difference, -difference, key=str), mask=1, type_="b1")

    def __ne__(self, other: Any) -> Term:  # type: ignore[override]
        return ~self._equal(other)

    def __lt__(self, other: Number) -> Term:
        folded = self._fold("lt", other, lambda a, b: int(a < b), "b1")
        if folded:
            return folded
        a, b = self.poly, self._other(other)
        if a == b:
            return Term("b1", _FALSE)
        if self.type == "u32":  # (p + q mod 2**32) < p says that p + q carries
            return Term("b1", carry(b, (a - b).wrap(32)))
        return self._make("lt", a, b, mask=1, type_="b1")

    def __gt__(self, other: Number) -> Term:
        return Term(self.type, self._other(other)) < self

    def __le__(self, other: Number) -> Term:
        return ~(self > other)

    def __ge__(self, other: Number) -> Term:
        return ~(self < other)

    __hash__ = None

    def select(self, yes: Number, no: Number) -> Term:
        shape = yes if isinstance(yes, Term) else no if isinstance(no, Term) else Term("i32", _FALSE)
        a, b = shape._other(yes), shape._other(no)
        value = self.poly.value
        if value is not None:
            return Term(shape.type, a if value else b)
        if a == b:
            return Term(shape.type, a)
        return shape._make("select", self.poly, a, b, mask=a.mask | b.mask)

    # --- conversion
    def bits(self, type_: str) -> Term:
        return Term(type_, self.poly)

    def to(self, type_: str) -> Term:
        if type_[0] in "fb" and type_ not in ("b1", "b32", "b64"):
            return self._make(f"to_{type_}", self.poly, type_=type_)
        old, new = _width(self.type), _width(type_)
        if new <= old:
            if new < 32 and new > 1:
                return Term(type_, (self & ((1 << new) - 1)).poly)
            return Term(type_, self.poly)
        if old == 1 or not self.poly.wide:
            return Term(type_, self.poly)
        return self._make("extend", self.poly, type_=type_)

    def to_int(self, type_: str) -> Term:
        return self._make("to_int", self.poly, type_=type_)

    # --- floats
    def floor(self) -> Term:
        return self._make("floor", self.poly)

    def ceil(self) -> Term:
        return self._make("ceil", self.poly)

    def trunc(self) -> Term:
        return self._make("trunc", self.poly)

    def rint(self) -> Term:
        return self._make("rint", self.poly)

    def sqrt(self) -> Term:
        return self._make("sqrt", self.poly)

    def call(self, name: str) -> Term:
        return self._make(name, self.poly)

    # --- lanes
    def lane(self, index: Number) -> Term:
        if self.poly.uniform:
            return self
        return Term(self.type, Poly.of(Atom("lane", (self.poly, self._other(index)), uniform=True)))

    def with_lane(self, index: Number, value: Number) -> Term:
        return self._make("with_lane", self.poly, self._other(index), self._other(value))

    def shuffle(self, index: Value) -> Term:
        return self._make("shuffle", self.poly, self._other(index))

    def mask(self) -> Term:
        return Term("u32", Poly.of(Atom("ballot", (self.poly,), uniform=True)))

    def lanes(self) -> Term:
        atom = self.poly.atom
        return Term("b1", atom.args[0] if atom and atom.kind == "ballot" else _opaque("lanes", self.poly, mask=1))


def _term(value: Term | int) -> Term:
    """What a body returned; one that only hands on an immediate returns the number itself."""
    return value if isinstance(value, Term) else Term("i64", Poly.const(value))


def _opaque(kind: str, *operands: Any, mask: int = FULL, wide: bool = False) -> Poly:
    uniform = all(o.uniform for o in operands if isinstance(o, Poly))
    return Poly.of(Atom(kind, operands, uniform, wide, mask))


def low(poly: Poly) -> Poly:
    """What the low register of a 64-bit number holds."""
    return poly.wrap(32)


def high(poly: Poly) -> Poly:
    """What the high register of a 64-bit number holds."""
    if poly.value is not None:
        return Poly.const(poly.value >> 32).wrap(32)
    return Poly.of(Atom("high", (poly,), poly.uniform))


def pack(lo: Poly, hi: Poly) -> Poly:
    """The 64-bit number in two registers."""
    atom = hi.atom
    if atom is not None and atom.kind == "high" and low(atom.args[0]) == lo:
        whole = atom.args[0]
        assert isinstance(whole, Poly)
        return whole
    if lo.value is not None:  # constants are kept with sign: here the low one is bits
        lo = Poly.const(lo.value % (1 << 32))
    return lo + hi.scale(1 << 32)


def carry(p: Poly, q: Poly) -> Poly:
    """1 where the sum of the two low halves leaves 32 bits."""
    if 0 in (p.value, q.value):
        return _FALSE
    pair = tuple(sorted((p, q), key=str))
    return Poly.of(Atom("carry", pair, p.uniform and q.uniform, mask=1))


def join_halves(poly: Poly) -> Poly:
    """high(P) + high(Q) + carry(P, Q) -> high(P + Q); high(P) + carry(P, q) -> high(P + q) where q is not negative;
    c * high(P) + mulhi(P, c) -> high(c * P) for a number c."""
    carries = [m[0] for m, c in poly.terms.items() if c == 1 and len(m) == 1 and m[0].kind == "carry"]
    highs = [m[0] for m, c in poly.terms.items() if c == 1 and len(m) == 1 and m[0].kind == "high"]
    for product in [m[0] for m, c in poly.terms.items() if c == 1 and len(m) == 1 and m[0].kind == "mulhi.u32"]:
        p, factor = product.args
        for monomial, c in poly.terms.items():
            h = monomial[0] if len(monomial) == 1 and monomial[0].kind == "high" else None
            if h and low(h.args[0]) == p and factor.value == c:
                return poly - Poly.of(product) - Poly({monomial: c}) + high(h.args[0].scale(c))
    for bit in carries:
        p, q = bit.args
        hp = next((h for h in highs if low(h.args[0]) == p), None)
        hq = next((h for h in highs if h is not hp and low(h.args[0]) == q), None)
        if hp and hq:
            rest = poly - Poly.of(bit) - Poly.of(hp) - Poly.of(hq)
            return rest + high(hp.args[0] + hq.args[0])
        for h, other in ((hp, q), (hq, p)):
            if h and not other.wide and all(c > 0 for c in other.terms.values()):
                return poly - Poly.of(bit) - Poly.of(h) + high(h.args[0] + other)
    return poly


@dataclasses.dataclass
class Machine:
    """Registers by polynomial, and the rules by which instructions change them.

    registers: what is known; a register never mentioned holds the atom of its name.
    arguments: bytes of the kernarg segment -> (polynomial, whether it is the high half); see `isa.passes.entry`.
    loads:     what memory gave, by atom: (instruction, polynomial of the address, dword within the result).
    """

    registers: dict[Reg, Poly] = dataclasses.field(default_factory=dict)
    arguments: Mapping[int, Poly] = dataclasses.field(default_factory=dict)
    kernarg: Poly | None = None
    loads: dict[Atom, tuple[Instruction, Poly, int]] = dataclasses.field(default_factory=dict)
    steps: int = 0

    def copy(self) -> Machine:
        return dataclasses.replace(self, registers=dict(self.registers), loads=dict(self.loads))

    def __getitem__(self, unit: Reg) -> Poly:
        if unit not in self.registers:
            self.registers[unit] = Poly.of(Atom("register", (str(unit),), uniform=unit.file != "v"))
        return self.registers[unit]

    def forget(self, unit: Reg, why: str, mask: int = FULL) -> None:
        """From here the register holds something new that is not known: `why` names it."""
        self.registers[unit] = Poly.of(Atom(why, (str(unit),), uniform=unit.file != "v", mask=mask))

    def run(self, inst: Instruction) -> None:
        """One instruction. The halves of a VOPD read before either writes."""
        self.steps += 1
        changes: list[tuple[Reg, Poly]] = []
        for half in inst.halves:
            desc = lookup(half)
            changes += self._load(half, desc) if desc.access else self._compute(half, desc)
        self.registers.update(changes)

    def address(self, inst: Instruction) -> Poly:
        """Where a memory instruction goes: address operands and offset, without the bytes of later elements."""
        desc = lookup(inst)
        assert desc.access
        pairs = [(r, o) for r, o in desc.roles_of(inst) if not r.written]
        role, operand = pairs[0]
        assert isinstance(operand, Reg)
        count = operand.count
        total = self._read_units(operand) if count > 1 else self[next(operand.units())]
        for role, operand in pairs[1:]:
            if role.kind == "sa" and isinstance(operand, Reg):
                total = total + self._read_units(operand)
        if desc.access.space == "scalar":
            offset = next((o for r, o in pairs[1:]), None)
            if isinstance(offset, Imm):
                return total + Poly.const(int(offset.value))
            return total + self[offset] if isinstance(offset, Reg) else total
        return total + Poly.const(0 if desc.access.pair else inst.offset)

    def _read_units(self, reg: Reg) -> Poly:
        units = [self[u] for u in reg.units()]
        return pack(units[0], units[1]) if len(units) == 2 else units[0]

    def _fresh(self, inst: Instruction, reg: Reg, uniform: bool) -> Poly:
        return Poly.of(Atom("result", (self.steps, str(inst), str(reg)), uniform))

    def _load(self, inst: Instruction, desc: Description) -> list[tuple[Reg, Poly]]:
        access = desc.access
        assert access
        address = self.address(inst)
        written = [u for r, o in desc.roles_of(inst) if r.written and isinstance(o, Reg) for u in o.units()]
        changes = []
        for number, unit in enumerate(written):
            poly = self._fresh(inst, unit, access.space == "scalar")
            at = address - self.kernarg if self.kernarg is not None else address
            if access.space == "scalar" and at.value is not None:
                poly = self.arguments.get(at.value + 4 * number, poly)
            elif poly.atom:
                self.loads[poly.atom] = (inst, address, number)
            changes.append((unit, poly))
        return changes

    def _compute(self, inst: Instruction, desc: Description) -> list[tuple[Reg, Poly]]:
        roles = desc.roles_of(inst)
        implicit = [Reg("scc", 0) if n == "scc" else None for n in desc.implicit_reads]
        written = desc.writes(dataclasses.replace(inst, pair=None))
        plain = all(r.type in _INTEGER or not (r.read or r.written) for r, _ in roles if r.kind not in "lif")
        known = plain and desc.body and None not in implicit and set(desc.fields) <= {"clamp"}
        known = known and set(desc.implicit_writes) <= {"scc"} and not inst.has("clamp") and not desc.relative
        if not known or any(isinstance(o, Modified) for _, o in roles):
            uniform = all(not r.is_vgpr for r in desc.reads(dataclasses.replace(inst, pair=None)))
            return [(u, self._fresh(inst, u, uniform or not u.is_vgpr)) for u in written]
        arguments: list[Any] = [self._value(r, o) for r, o in roles if r.read and r.kind not in "lf"]
        arguments += [Term("b1", self[SCC]) for _ in implicit]
        arguments += [False for _ in desc.fields]
        assert desc.body
        results = desc.body(*arguments)
        results = [_term(x) for x in (results if isinstance(results, tuple) else (results,))]
        changes: list[tuple[Reg, Poly]] = []
        for role, operand in roles:
            if role.written:
                value = results.pop(0)
                if isinstance(operand, Reg) and not operand.is_null:
                    changes += self._store(operand, value, role)
        changes += [(SCC, results.pop(0).poly) for _ in desc.implicit_writes]
        return changes

    def _value(self, role: Role, operand: Operand) -> Any:
        if isinstance(operand, Imm):
            number = operand.value
            if isinstance(number, float):
                number = struct.unpack("<i", struct.pack("<f", number))[0]
            return number if role.kind == "i" else Term("b1" if role.type == "mask" else role.type, Poly.const(number))
        if not isinstance(operand, Reg):
            return Term(role.type, _opaque("source", str(operand)))
        if operand.is_null:
            return Term(role.type, _FALSE)
        poly = self._read_units(operand)
        return Term("u32", poly).lanes() if role.type == "mask" else Term(role.type, poly)

    def _store(self, reg: Reg, value: Term, role: Role) -> list[tuple[Reg, Poly]]:
        if role.type == "mask":
            return [(reg, value.mask().poly)]
        units = list(reg.units())
        if len(units) == 1:
            return [(units[0], low(value.poly))]
        return [(units[0], low(value.poly)), (units[1], high(value.poly))]
