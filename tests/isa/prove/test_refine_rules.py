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
from .edits import faults

NO_RULES = faults("rules/no_rules")


def broken(file: str, name: str) -> rules.Instrumented:
    """The rules with one that is wrong."""
    right, wrong = (text.replace("\\n", "\n") for text in faults(file)[name])
    return rules.Instrumented((right, wrong))


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


@pytest.mark.parametrize("called", faults("rules/broken"))
def test_a_broken_rule_is_found(called: str) -> None:
    only = "floats" if called in ("-", "<=") else called if " " not in called else "shr"
    assert next(rules.failures(broken("rules/broken", called), per=8, only=only), None) is not None


@pytest.mark.slow
@pytest.mark.parametrize("called", faults("rules/broken_ranges"))
def test_a_broken_range_is_found(called: str) -> None:
    assert next(rules.failures(broken("rules/broken_ranges", called), per=8, only="ranges"), None) is not None


@pytest.mark.parametrize("what", faults("rules/broken_selections"))
def test_a_broken_form_of_selections_is_found(what: str) -> None:
    assert next(rules.failures(broken("rules/broken_selections", what), per=8, only="select"), None) is not None


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
