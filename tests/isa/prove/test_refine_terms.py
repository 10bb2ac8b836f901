"""The rules of terms against arithmetic: what a term says a register holds is what the reference engine puts there.

Random straight-line code, EXEC changed by masks among it, runs twice: on terms of unknown registers, and on the NumPy
engine. A sum that was taken for one that cannot wrap, a carry put together wrongly, bits taken for apart, a
selection decided for lanes that are on would each give another number in some lane.
"""

import random
from collections.abc import Mapping
from math import prod
from typing import Any

import numpy as np
import pytest
from texts import texts

from isa.algebra.term import Term
from isa.algebra.terms import Terms
from isa.asm.parse import parse_instruction
from isa.prove.refine.engine import EXEC_AT, REGISTERS, SCC_AT, SGPR0, SegmentEngine
from isa.prove.refine.memory import Memory
from isa.semantics.execute import execute
from isa.semantics.float_mode import FloatMode
from isa.sim.run.interpret import AddressedCode, Buffers, Wave

ADDRESSES, BITS, MASKS = (text.strip().split("\n") for text in texts(__file__))
GROUPS = {"addresses": ADDRESSES, "bits": BITS, "masks": MASKS}
EDGES = (0, 1, 2, 3, 31, 255, 0x7FFF, 0xFFFF, 0x7FFFFFFF, 0x80000000, 0xFFFFFFF8, 0xFFFFFFFF)
KNOWN = ("v0", "v1", "s2", "s3", "s6", "s7", "exec")


class Opaque(Exception):
    """A function that nothing is known of."""


def value(t: Term, lane: int, given: Mapping[Any, list[int]]) -> int:
    """What a term is in a lane."""
    full = (1 << t.width) - 1

    def of(u: Term) -> int:
        return value(u, lane, given)

    match t.op, t.args:
        case "const", (n,):
            return int(n)
        case "unknown", (name, *_) if name in given:
            return given[name][lane]
        case "unknown", ("lane", *_):
            return lane
        case "sum", (n, rows):
            return int(n + sum(of(u) * c for u, c in rows)) & full
        case "mul", (a, b):
            return of(a) * of(b) & full
        case "product", factors:
            return prod(map(of, factors)) & full
        case (("zext" | "wide" | "word" | "low"), (a,)):
            return of(a) & full
        case "sext", (a,):
            return of(a) - (of(a) >> 31 << 32) & full
        case "hi", (a,):
            return of(a) >> 32
        case (("select" | "ite"), (c, a, b)):
            return of(a) if of(c) else of(b)
        case "lanes", (a,):
            return value(a, lane, given) >> lane & 1
        case "mask", (a,):
            return sum(value(a, k, given) << k for k in range(32))
        case "zero", (a,):
            return int(of(a) == 0)
        case "equal", (a, b):
            return int(of(a) == of(b))
        case "ult", (a, b):
            return int(of(a) < of(b))
        case "slt", (a, b):
            half = 1 << (a.width - 1)
            return int(of(a) ^ half < of(b) ^ half)
        case "and", (a, b):
            return of(a) & of(b)
        case "or", (a, b):
            return of(a) | of(b)
        case "xor", (a, b):
            return of(a) ^ of(b)
        case (("shl" | "shr" | "sar"), (a, b)):
            n, m = of(a), of(b)
            signed = n - (1 << t.width) if t.op == "sar" and n >> (t.width - 1) else n
            return (n << m if t.op == "shl" else signed >> m) & full
        case "shuffle", (a, b):
            return value(a, of(b) & 31, given)
    raise Opaque(t.op)


def instruction(group: str, pick: random.Random) -> str:
    fill = {
        "T": lambda: f"v{pick.randrange(1, 6)}",
        "V": lambda: f"v{pick.randrange(6)}",
        "S": lambda: f"s{pick.randrange(2, 8)}",
        "W": lambda: f"s{pick.randrange(4, 6)}",
        "A": lambda: pick.choice(["v0", "v1", "v2", "v4", "s2", "s4", "1", "8", "-1", "16"]),
        "B": lambda: pick.choice(["s2", "s3", "s5", "1", "-1", "0xffff", "12"]),
        "H": lambda: str(pick.choice([0, 1, 2, 3, 5, 16, 31])),
    }
    words = pick.choice(GROUPS[group]).replace(",", " ,").split(" ")
    return " ".join(fill[w]() if w in fill else w for w in words).replace(" ,", ",")


@pytest.mark.parametrize("group", GROUPS)
def test_terms_hold_what_registers_hold(group: str) -> None:
    compared = 0
    for seed in range(70):
        pick = random.Random(seed)
        code = [parse_instruction("\t" + instruction(group, pick)) for _ in range(pick.randrange(3, 20))]
        terms = Terms()
        exists = terms.lanes(terms.unknown("exec", 32, uniform=True))
        small = pick.random() < 0.5
        registers: list[Term | None] = [terms.const(0, 32)] * REGISTERS
        for n in (0, 1):
            registers[n] = terms.unknown(f"v{n}", 32, uniform=False, ones=0x3FF if small else -1)
        for n in (2, 3, 6, 7):
            registers[SGPR0 + n] = terms.unknown(f"s{n}", 32, uniform=True)
        registers[EXEC_AT], registers[SCC_AT] = terms.mask(exists), terms.false
        engine = SegmentEngine(terms, exists, 0)
        engine.start(registers, terms.unknown("memory", 32, uniform=True), FloatMode())

        def number(limit: int = 1 << 32, pick: random.Random = pick) -> int:
            return (pick.choice(EDGES) if pick.random() < 0.5 else pick.getrandbits(32)) % limit

        given = {f"v{n}": [number(1024 if small else 1 << 32) for _ in range(32)] for n in (0, 1)}
        given |= {f"s{n}": [number()] * 32 for n in (2, 3, 6, 7)} | {"exec": [0xFFFFFFFF] * 32}
        wave = Wave(AddressedCode([], 0), Buffers(), bytearray(), sgprs={n: given[f"s{n}"][0] for n in (2, 3, 6, 7)},
                    vgprs={n: given[f"v{n}"] for n in (0, 1)})  # fmt: skip
        for position, inst in enumerate(code):
            engine.step(position, inst)
            with np.errstate(over="ignore"):
                execute(wave, inst)
        found = {f"v{n}": (engine.registers[n], wave.vgprs[n]) for n in range(6)}
        found |= {f"s{n}": (engine.registers[SGPR0 + n], [wave.sgprs[n]] * 32) for n in (*range(2, 8), 106, 126)}
        found["scc"] = (engine.registers[SCC_AT], [wave.scc] * 32)
        for register, (term, held) in found.items():
            assert term is not None
            try:
                said = [value(term, lane, given) for lane in (0, 5, 31)]
            except Opaque:
                continue
            compared += 1
            lines = "\n".join(map(str, code))
            assert said == [int(held[lane]) for lane in (0, 5, 31)], f"{register} is not {term} after\n{lines}"
            assert not any(n & ~term.ones for n in said), f"{register} has bits that {term} cannot have"
    assert compared > 500


def test_accesses_that_are_apart() -> None:
    """Two addresses of a base and a lane's part, against all pairs of lanes of all small numbers."""
    pick, terms = random.Random(1), Terms()
    memory = Memory(terms, terms.true)
    base, lane = terms.unknown("base", 32, uniform=True), terms.unknown("lane", 32, uniform=False, ones=7)
    apart = 0
    for _ in range(400):
        rows = [(pick.choice((0, 4, 8, 12)), pick.randrange(0, 48, 4), pick.choice((1, 2, 4))) for _ in range(2)]
        steps = [terms.add(terms.scale(lane, by), terms.const(offset, 32)) for by, offset, _ in rows]
        a, b = (terms.add(base, t) for t in steps)
        if memory.apart("lds", a, rows[0][2], "lds", b, rows[1][2]):
            apart += 1
            (x, c, m), (y, d, n) = rows
            assert not any(i * x + c < j * y + d + n and j * y + d < i * x + c + m for i in range(8) for j in range(8))
    assert apart > 60
    assert not memory.apart("lds", base, 4, "flat", terms.zext(base), 4)
    assert memory.apart("lds", base, 4, "global", terms.zext(base), 4)


def test_addresses_have_one_form() -> None:
    """The test above would also pass if no two terms were equal."""
    terms = Terms()
    low, high = (terms.unknown(n, 32, uniform=True) for n in ("low", "high"))
    lane = terms.unknown("v0", 32, uniform=False, ones=1023)
    total = terms.add(low, lane)
    carried = terms.add(high, terms.number(terms.less(total, lane, signed=False), 32))
    assert terms.joined(total, carried) is terms.add(terms.joined(low, high), terms.zext(lane))
    whole = terms.joined(low, high)
    assert terms.joined(terms.trunc(whole), terms.hi(whole)) is whole
    assert terms.zext(terms.add(lane, terms.const(16, 32))) is terms.add(terms.zext(lane), terms.const(16, 64))


def test_selections_agree_where_they_matter() -> None:
    """`select`, `under` and `narrowed` with conditions of three masks, in all of whose combinations."""
    pick, terms = random.Random(2), Terms()
    masks = [terms.lanes(terms.unknown(f"m{k}", 32, uniform=True)) for k in range(3)]
    given = {f"m{k}": [sum((lane >> k & 1) << lane for lane in range(32))] * 32 for k in range(3)}

    def condition(depth: int = 2) -> Term:
        if not depth:
            return pick.choice(masks)
        operation = pick.choice((terms.both, terms.either, terms.differ, lambda a, b: terms.invert(a)))
        return operation(condition(depth - 1), condition(depth - 1))

    def tree(depth: int = 3) -> tuple[Term, list[int]]:
        if not depth:
            n = pick.randrange(4)
            return terms.const(n, 32), [n] * 8
        c, (a, x), (b, y) = condition(), tree(depth - 1), tree(depth - 1)
        rows = zip(x, y, strict=True)
        return terms.select(c, a, b), [p if value(c, k, given) else q for k, (p, q) in enumerate(rows)]

    simpler = 0
    for _ in range(150):
        (t, expected), c, f = tree(), condition(), condition()
        under, narrowed = terms.under(t, c), terms.narrowed(f, c)
        simpler += under is not t
        for lane in range(8):
            assert value(t, lane, given) == expected[lane]
            if value(c, lane, given):
                assert value(under, lane, given) == expected[lane]
                assert value(narrowed, lane, given) == value(f, lane, given)
    assert simpler > 40
