"""The prover's algebra against arithmetic: what a term says a register holds is what the reference engine puts there.

Random straight-line integer code runs twice: symbolically, into terms over sizes, ids and pointers, and on the NumPy
engine for one launch, whose sizes are drawn from all that the facts admit, limits included. A sum that was taken for an
integer though it wraps, a carry put together wrongly, bits taken for disjoint: each would give another number.
"""

import random

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from plan import examples
from texts import texts

from isa.algebra.terms import Terms
from isa.asm.parse import parse, parse_instruction
from isa.prove.proof import Argument, Facts
from isa.prove.refine.engine import SCC_AT, SGPR0, SegmentEngine
from isa.prove.refine.side import Entry
from isa.semantics.execute import execute
from isa.semantics.float_mode import FloatMode
from isa.sim.run.interpret import AddressedCode, Buffers, Wave

from .test_refine_terms import Opaque, value

FACTS = Facts(
    arguments=(
        Argument("A", 0, 8),
        Argument("M", 24, multiple=128, minimum=128),
        Argument("N", 28, multiple=128, minimum=128),
        Argument("K", 32, multiple=8, minimum=8),
    ),
    groups=(("x", ("N", 128)), ("y", ("M", 128))),
    products=((("M", "K"), 2**30), (("N", "K"), 2**31), (("M", "N"), 2**31)),
    block=128,
)
# v0: work-item; s2, s3: workgroup; s4, s5: N, K; s[6:7]: a pointer; s8: t, which is less than K/8. Written: v1 to v4,
# v[8:9], v[10:11], s8 to s11, SCC, VCC.
VECTOR = st.sampled_from([f"v{i}" for i in (0, 0, 1, 2, 3, 4, 8, 9)])
TARGET = st.sampled_from([f"v{i}" for i in (1, 2, 3, 4)])
SCALAR = st.sampled_from(["s2", "s3", "s4", "s5", "s8", "s9", "s10", "s11"])
SCALAR_TARGET = st.sampled_from(["s8", "s9", "s10", "s11"])
NUMBER = st.sampled_from(["0", "1", "2", "7", "8", "12", "31", "-1", "0x60", "0x210", "0xffff", "0x7fffffff"])
SHIFT = st.sampled_from(["0", "1", "2", "3", "5", "7", "16", "31"])
PAIR = st.sampled_from(["v[8:9]", "v[10:11]", "v[1:2]"])
PATTERNS = texts(__file__)[0].strip().split("\n")
_FILL = {
    "T": TARGET, "V": VECTOR, "A": st.one_of(VECTOR, SCALAR, NUMBER), "S": SCALAR, "H": SHIFT, "P": PAIR,
    "W": SCALAR_TARGET, "B": st.one_of(SCALAR, NUMBER),
}  # fmt: skip


# Fewer kinds of instructions meet more often.
GROUPS = {
    "all": PATTERNS,
    "bits": [p for p in PATTERNS if p.startswith(("v_a", "v_or", "v_l", "v_bfe", "v_sub_nc")) and "P" not in p],
    "halves": [p for p in PATTERNS if "16" in p or p.startswith(("v_pk", "v_lshl_or", "v_and", "v_mov_b32_dpp"))],
    "carries": [p for p in PATTERNS if "_co_" in p or "64" in p or p.startswith(("s_add", "s_mov", "s_cmp"))],
}


@st.composite
def instructions(draw: st.DrawFn, group: str) -> str:
    words = draw(st.sampled_from(GROUPS[group])).replace(",", " ,").split(" ")
    text = " ".join(draw(_FILL[w]) if w in _FILL else w for w in words).replace(" ,", ",")
    return text if text.count("0x") < 2 and not _two_scalars(text) else f"v_mov_b32_e32 v1, {draw(NUMBER)}"


def _two_scalars(text: str) -> bool:
    """A VALU instruction reads a literal or SGPRs, not both."""
    return text.startswith("v_") and "0x" in text and ", s" in text


CODE = parse(
    """k:
	s_endpgm
.Lfunc_end0:
	.amdhsa_kernel k
		.amdhsa_user_sgpr_count 2
		.amdhsa_user_sgpr_kernarg_segment_ptr 1
		.amdhsa_system_sgpr_workgroup_id_x 1
		.amdhsa_system_sgpr_workgroup_id_y 1
	.end_amdhsa_kernel
"""
).kernel()


def sizes(pick: random.Random) -> dict[str, int]:
    """Numbers that the facts admit, limits among them: of arguments, and of workgroups that there are."""
    most = {a.name: a.maximum for a in FACTS.arguments if a.multiple}
    found: dict[str, int] = {}
    extreme = pick.random() < 0.5
    for a in pick.sample([a for a in FACTS.arguments if a.multiple], 3):
        top = most[a.name]
        for names, limit in FACTS.products:
            if a.name in names:
                (other,) = set(names) - {a.name}
                top = min(top, limit // found.get(other, next(b.minimum for b in FACTS.arguments if b.name == other)))
        top -= top % a.multiple
        doubled = min(top, a.minimum << pick.randrange(24))
        found[a.name] = pick.choice([a.minimum, top] if extreme else [a.minimum, top, doubled, doubled * 3 // 4])
        found[a.name] = max(a.minimum, found[a.name] // a.multiple * a.multiple)
    return found


def launch(pick: random.Random, terms: Terms, lane: int) -> dict[object, list[int]]:
    """Values of the unknowns of a wave, of which all lanes but the v0 of one are the same."""
    found, first = sizes(pick), 32 * pick.randrange(4)
    groups = [
        pick.choice([0, top, max(0, top - 1), pick.randint(0, top)])
        for top in (found["N"] // 128 - 1, found["M"] // 128 - 1)
    ]
    pointer = pick.choice([0, 0xFFFFFFFFFFFFFF00, pick.getrandbits(64), 0xFFFFFF80])
    rounds = found["K"] // 8 - 1
    given = {
        "(N/128)": found["N"] // 128, "(M/128)": found["M"] // 128, "(K/8)": found["K"] // 8, "s2": groups[0],
        "s3": groups[1],
    }  # fmt: skip
    given |= {"s6": pointer & 0xFFFFFFFF, "s7": pointer >> 32, "t": pick.choice([0, rounds, pick.randint(0, rounds)])}
    given |= {"N": found["N"], "K": found["K"]}
    rows: dict[object, list[int]] = {name: [n] * 32 for name, n in given.items()}
    return rows | {("v0", i): [first + k >> i & 1 for k in range(32)] for i in range(7)}


@pytest.mark.parametrize("group", GROUPS)
@settings(max_examples=examples(250))
@given(data=st.data(), seed=st.integers(0, 2**32))
def test_terms_hold_what_registers_hold(group: str, data: st.DataObject, seed: int) -> None:
    texts = data.draw(st.lists(instructions(group), min_size=3, max_size=25))
    code = [parse_instruction("\t" + text) for text in texts]
    terms, pick = Terms(), random.Random(seed)
    entry = Entry(CODE, terms, FACTS)
    counter = terms.unknown("t", 64, uniform=True)
    terms.ranges.learn(
        counter, (-1, {terms.ranges.factors(terms.split(entry.arguments.words[32])[1].args[1][0][0]): 1})
    )
    registers = [*entry.registers]
    registers[1:5] = [terms.const(0, 32)] * 4
    registers[8:12] = [terms.const(0, 32)] * 4
    for i, term in {
        4: entry.arguments.words[28], 5: entry.arguments.words[32], 6: terms.unknown("s6", 32, uniform=True),
        7: terms.unknown("s7", 32, uniform=True), 8: terms.trunc(counter), 9: terms.const(0, 32),
        10: terms.const(0, 32), 11: terms.const(0, 32), 106: terms.const(0, 32),
    }.items():  # fmt: skip
        registers[SGPR0 + i] = term
    registers[SCC_AT] = terms.false
    engine = SegmentEngine(terms, entry.exists, 0, lane=entry.lane)
    engine.start(registers, terms.unknown("memory", 32, uniform=True), FloatMode())
    for position, inst in enumerate(code):
        engine.step(position, inst)

    for _ in range(3):
        known = launch(pick, terms, 0)
        sgprs = {2: known["s2"][0], 3: known["s3"][0], 4: known["N"][0], 5: known["K"][0], 6: known["s6"][0],
                 7: known["s7"][0], 8: known["t"][0] & 0xFFFFFFFF, 9: 0, 10: 0, 11: 0}  # fmt: skip
        items = [sum(known["v0", i][k] << i for i in range(7)) for k in range(32)]
        wave = Wave(AddressedCode([], 0), Buffers(), bytearray(), sgprs=sgprs, vgprs={0: items})
        with np.errstate(over="ignore"):
            for inst in code:
                execute(wave, inst)
        found = {f"v{i}": (engine.registers[i], wave.vgprs[i]) for i in range(12)}
        found |= {f"s{i}": (engine.registers[SGPR0 + i], [wave.sgprs[i]] * 32) for i in range(2, 12)}
        found["scc"] = (engine.registers[SCC_AT], [wave.scc] * 32)
        for register, (term, held) in found.items():
            assert term is not None
            for lane in (0, pick.randrange(32), 31):
                try:
                    said = value(term, lane, known)
                except Opaque:
                    continue
                assert said == int(held[lane]), f"{register} is {int(held[lane]):#x}, its term {term} {said:#x}"


def test_reading_a_term_back() -> None:
    """The test above would also pass if all terms were opaque: these must not be."""
    terms = Terms()
    entry = Entry(CODE, terms, FACTS)
    (group, item), k = (entry.registers[SGPR0 + 3], entry.registers[0]), entry.arguments.words[32]
    assert group is not None
    assert item is not None
    index = terms.mul(terms.add(terms.scale(group, 128), item), k)
    assert terms.sext(index) is terms.mul(terms.zext(terms.add(terms.scale(group, 128), item)), terms.zext(k))
    assert terms.zext(terms.scale(index, 4)).op == "sum"
    assert terms.zext(terms.scale(index, 8)).op == "zext"
