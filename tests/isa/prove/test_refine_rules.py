"""Each rule of the validator's algebra is checked by a solver, none is left out, and a broken one is found."""

import random

import numpy as np
import pytest

pytest.importorskip("z3", reason="the solver z3 is not installed (pip install z3-solver)")

from isa.algebra.terms import Terms
from isa.asm.parse import parse_instruction
from isa.prove.refine.engine import COMMUTING
from isa.prove.refine.memory import Memory
from isa.semantics.execute import execute
from isa.sim.run.interpret import AddressedCode, Buffers, Wave

from . import rules

NO_RULES = {
    "Sums.__len__: return len(self._table)": "how many there are",
    "Sums._new: owners = owners | t.owners": "who gives unknowns new values",
    "Sums._new: owners |= {owner}": "the same",
    "Sums.owner: t = t.args[0]": "the same",
    'Sums.owner: return t.args[2] if t.op == "unknown" else None': "the same",
    "Sums.owner: t.args[2]": "the same",
    "Sums.owner: None": "the same",
    "Truth.ite: raise TooLarge": "it gives up",
    "SymbolicValue.operation: t.variable(name, *args)": "a function of which nothing is known",
    'SymbolicValue.to: return self.operation("to", type_=type_)': "the same",
    'SymbolicValue.to: return self.operation("to", type_=type_) (again)': "the same",
    "Sums._one_of: return None": "`Truth` says it",
    "Ranges._either: {}": "nothing is known of it",
    "Ranges._fact: return {} (again) (again)": "the same",
    "Ranges._largest: None": "the same",
    "Ranges._largest: return None (again) (again)": "the same",
    "Ranges._largest: return None (again) (again) (again)": "the same",
    "SymbolicValue.fma: (last,)": "another order of a sum, which the proof says",
    "SymbolicValue.fma: last.args[2:]": "the same",
    "SymbolicValue.fma: return self._make( self.setting.terms.make(\"float sum\", product.width, self.type, "
    "self.setting.mode.register, *terms) )": "the same",
    "SymbolicValue.with_lane: "
    'return self._make(self.setting.terms.make("with lane", self.term.width, *args, uniform=False))': "the same",
    "SymbolicValue.select: no if isinstance(no, SymbolicValue) else None": "which operand has a type",
    "SymbolicValue.select: no": "the same",
    "SymbolicValue.select: None": "the same",
    'SymbolicValue.select: raise ValueError("of which type?")': "the same",
}  # fmt: skip
"""Arms that say nothing about numbers, and why."""
BROKEN = {
    "zext": ("t.args[0] + sum(u.ones * c for u, c in t.args[1]) <= MASK32", "t.args[0] <= MASK32"),
    "high": ("part = self.sub(self.add(self.zext(y), self.zext(self.sub(x, y))), self.zext(x))",
             "part = self.sub(self.add(self.zext(x), self.zext(self.sub(y, x))), self.zext(y))"),
    "select": ("self.under(b, self.invert(c))", "self.under(b, c)"),
    "under": ("near = self.narrowed(where, c)", "near = self.either(where, c)"),
    "less": ("b.args[0] <= 1:", "b.args[0] <= 2:"),
    "shr": ("(signed and top)", "(signed and not top)"),
    "a sum shifted, that wraps": ("for u, c in rows) < 1 << a.width:", "for u, c in rows) < 2 << a.width:"),
    "a sum shifted, whose parts carry": ("for u, c in rows) < 1 << n", "for u, c in rows) < 2 << n"),
    "what a part has below": ("return t.ones * c & whole", "return t.ones * c & whole >> 1"),
    "what is dropped of a number": ("self.const(low >> n, a.width)", "self.const(low >> n + 1, a.width)"),
    "wide": ("return self._keep(t.args[0], (1 << t.width) - 1)", "return t.args[0]"),
    "bit_or": ('self._bitwise("or", a, b, a.ones | b.ones)', 'self._bitwise("or", a, b, a.ones & b.ones)'),
    "narrowed": ("self.narrowed(second, no) if yes is self.false", "self.narrowed(first, no) if yes is self.false"),
    "mask": ('return self.make("mask", 32, c, uniform=True)', "return self.lanes(c) and self.const(-1, 32)"),
    "-": ('return self.operation("subtract", other)', 'return self._commuting("subtract", other)'),
    "<=": ('return self._compare("at most", self.term, self._other(other)) if self._float else', "return"),
    "mulhi": ("wide = t.sext if self._signed else t.zext", "wide = t.zext"),
}  # fmt: skip
"""By what is called: a rule, and what is wrong in its place."""
BROKEN_RANGES = {
    "less": ("if top is not None and top < 0:", "if top is not None and top <= 0:"),
    "not less": ("bottom is not None and bottom >= 0 else", "bottom is not None and bottom >= -8 else"),
    "products": ("best = min(best, most * prod", "best = min(best, most // 2 * prod"),
    "what is 0 or 1": ("if len(rest) == len(m) or c > 0:", "if len(rest) == len(m):"),
    "either": ("max(top for top in tops if top is not None)", "min(top for top in tops if top is not None)"),
    "wide": ("self.ranges.within(t, 0, MASK32):\n                found", "True:\n                found"),
    "rounded": ("const = -g * ((-const - 1) // g + 1)", "const = -g * ((-const - 1) // g)"),
    "opposite": ("const, rows = -const - g, {", "const, rows = -const, {"),
}  # fmt: skip
"""The same, of ranges."""
BROKEN_SELECTIONS = [
    ("self._part(self.invert(c), b, arms, budget)", "self._part(c, b, arms, budget)"),
    ("self.ite(c, where, self.false, budget), yes", "c, yes"),
    ("self.ite(c, self.true, arms[t], budget) if t in arms else c", "c"),
    ('self.make("select", a.width, arms[arm], arm, found,', 'self.make("select", a.width, arms[arm], found, arm,'),
]
"""The same, of the normal form of nested selections."""


def test_every_rule_is_reached_by_a_check() -> None:
    """A new arm without a case, or a reason in NO_RULES, fails here."""
    marked = rules.Instrumented()
    for _ in rules.cases(marked):
        pass
    missed = marked.arms.keys() - marked.hits
    assert missed == NO_RULES.keys()


def test_a_new_rule_without_a_check_is_missed() -> None:
    marked = rules.Instrumented(
        ("    def bit_not(", "    def twice(self, a: Term) -> Term:\n        return a\n\n    def bit_not(")
    )
    for _ in rules.cases(marked, per=2, only="bit_not"):
        pass
    assert "Terms.twice: return a" in marked.arms.keys() - marked.hits


def test_rules_hold_for_all_values() -> None:
    """Fewer pairs of operands than in the test below; each rule is among them."""
    assert list(rules.failures(rules.Instrumented(), per=5)) == []


@pytest.mark.slow
def test_rules_hold_for_all_values_of_more_terms() -> None:
    assert list(rules.failures(rules.Instrumented())) == []


@pytest.mark.parametrize("called", BROKEN)
def test_a_broken_rule_is_found(called: str) -> None:
    only = "floats" if called in ("-", "<=") else called if " " not in called else "shr"
    assert next(rules.failures(rules.Instrumented(BROKEN[called]), per=8, only=only), None) is not None


@pytest.mark.slow
@pytest.mark.parametrize("called", BROKEN_RANGES)
def test_a_broken_range_is_found(called: str) -> None:
    assert next(rules.failures(rules.Instrumented(BROKEN_RANGES[called]), per=8, only="ranges"), None) is not None


@pytest.mark.parametrize("broken", BROKEN_SELECTIONS)
def test_a_broken_form_of_selections_is_found(broken: tuple[str, str]) -> None:
    assert next(rules.failures(rules.Instrumented(broken), per=8, only="select"), None) is not None


EDGES = [0, 0x8000, 1, 0x8001, 0x3FF, 0x400, 0x3C00, 0xBC00, 0x7BFF, 0x7C00, 0xFC00, 0x7C01, 0x7E00, 0xFE01, 0xFDFF]


def test_minima_and_maxima_commute_but_for_nans() -> None:
    """What the validator takes to commute, on the NumPy engine: all pairs of numbers at the edges."""
    scale = {"f16": 0, "f32": 16, "f64": 48}
    assert {name.rsplit("_", 1)[1] for name in COMMUTING} == scale.keys()
    rows = np.array([(a, b) for a in EDGES for b in EDGES], np.uint64)
    for name in sorted(COMMUTING):
        type_ = name.rsplit("_", 1)[1]
        results = []
        for order in ((0, 1), (1, 0)):
            got: list[int] = []
            for start in range(0, len(rows), 32):
                part = np.resize(rows[start : start + 32], (32, 2))[:, order] << np.uint64(scale[type_])
                words = [(part[:, k] >> np.uint64(s)) & np.uint64(0xFFFFFFFF) for k in (0, 1) for s in (0, 32)]
                wave = Wave(AddressedCode([], 0), Buffers(), bytearray(), sgprs={},
                            vgprs={n: [int(x) for x in w] for n, w in enumerate(words)})  # fmt: skip
                operands = "v[4:5], v[0:1], v[2:3]" if type_ == "f64" else "v4, v0, v2"
                with np.errstate(all="ignore"):
                    execute(wave, parse_instruction(f"\t{name}_e64 {operands}"))
                high = wave.vgprs[5] if type_ == "f64" else np.zeros(32, np.uint64)
                got += [int(x) | int(y) << 32 for x, y in zip(wave.vgprs[4], high, strict=True)]
            results.append(got)
        for (a, b), x, y in zip(rows, results[0], results[1], strict=False):
            nans = all((int(n) & 0x7FFF) > 0x7C00 for n in (a, b))
            assert x == y or nans or (int(a) & 0x7FFF) > 0x7C00 or (int(b) & 0x7FFF) > 0x7C00, (name, hex(a), hex(b))


def test_accesses_are_apart_for_all_values() -> None:
    """`Memory.apart`, for each pair of lanes: a solver looks for two that meet."""
    import z3

    pick, said = random.Random(3), 0
    for _ in range(120):
        width = pick.choice((32, 64))
        terms = Terms()
        memory = Memory(terms, terms.true)
        base = terms.unknown("base", width, uniform=True, ones=pick.choice((-1, -4, -16)))
        lane = terms.unknown("lane's", width, uniform=False, ones=pick.choice((7, 0xF0, 0x3FC, -1)))
        own = terms.unknown("own", width, uniform=True, ones=pick.choice((0xFFC, -8)))
        at = []
        for _ in range(2):
            a = terms.add(base, terms.scale(lane, pick.choice((0, 1, 4, 16))), pick.choice((1, 1, 1, 0)))
            a = terms.add(a, own, pick.choice((0, 0, 1)))
            at.append(
                (terms.add(a, terms.const(pick.choice((0, 1, 4, 64, 0x1000, -4, -64)), width)), pick.choice((1, 2, 4)))
            )
        (a, size), (b, other) = at
        if not memory.apart("global", a, size, "global", b, other):
            continue
        said += 1
        m = rules.Meaning()
        i, j = z3.BitVecs("i j", 5)
        x, y = m.of(a, i), m.of(b, j)
        met = z3.Or(z3.ULT(y - x, size), z3.ULT(x - y, other))
        assert rules.counterexample(m, z3.Not(met)) is None, f"{size} bytes at {a} may meet {other} at {b}"
    assert said > 15
