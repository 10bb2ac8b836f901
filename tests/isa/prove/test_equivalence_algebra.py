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
from interpret import AddressedCode, Buffers, Wave

from isa.asm.parse import parse_instruction
from isa.prove.equivalence.bounds import Bounds, unknowns
from isa.prove.equivalence.decode import SCC_INDEX, SGPR0, decode
from isa.prove.equivalence.engine import Engine
from isa.prove.equivalence.term import Term
from isa.prove.equivalence.terms import Terms
from isa.prove.equivalence.witness import FUNCTIONS, Trial
from isa.prove.proof import Argument, Facts
from isa.semantics.execute import execute, run
from isa.semantics.float_mode import FloatMode

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
# v0: work-item; s2, s3: workgroup; s4, s5: N, K; s[6:7]: A. Written: v1 to v4, v[8:9], v[10:11], s8 to s11, SCC, VCC.
VECTOR = st.sampled_from([f"v{i}" for i in (0, 0, 1, 2, 3, 4, 8, 9)])
TARGET = st.sampled_from([f"v{i}" for i in (1, 2, 3, 4)])
SCALAR = st.sampled_from(["s2", "s3", "s4", "s5", "s8", "s9", "s10", "s11"])
SCALAR_TARGET = st.sampled_from(["s8", "s9", "s10", "s11"])
NUMBER = st.sampled_from(["0", "1", "2", "7", "8", "12", "31", "-1", "0x60", "0x210", "0xffff", "0x7fffffff"])
SHIFT = st.sampled_from(["0", "1", "2", "3", "5", "7", "16", "31"])
PAIR = st.sampled_from(["v[8:9]", "v[10:11]", "v[1:2]"])
PATTERNS = """
v_add_nc_u32_e64 T, A, V
v_sub_nc_u32_e64 T, V, A
v_mul_lo_u32 T, V, S
v_mul_hi_u32 T, V, S
v_mul_u32_u24_e64 T, V, A
v_lshlrev_b32_e32 T, H, V
v_lshrrev_b32_e32 T, H, V
v_ashrrev_i32_e32 T, H, V
v_and_b32_e64 T, A, V
v_or_b32_e64 T, A, V
v_xor_b32_e64 T, A, V
v_and_or_b32 T, V, H, V
v_lshl_or_b32 T, V, H, A
v_lshl_add_u32 T, V, H, A
v_add3_u32 T, V, A, V
v_bfe_u32 T, V, H, H
v_min_u32_e64 T, A, V
v_xor_b32_e64 T, 0x80000000, V
v_mov_b16_e32 v1.h, v0.l
v_mov_b16_e32 v2.l, v1.h
v_mov_b16_e32 v3.h, v2.h
v_add_nc_u16 v1, v0, v2
v_sub_nc_u16 v4, v2, v1 op_sel:[1,0,1]
v_lshlrev_b16 v2, 3, v0
v_lshrrev_b16 v3, 2, v1
v_pk_add_u16 T, V, V op_sel:[0,1] op_sel_hi:[1,0]
v_pk_mul_lo_u16 T, V, V
v_not_b32_e32 T, V
v_cndmask_b32_e64 T, -v0, |v1|, vcc_lo
v_cndmask_b32_e64 T, -|v2|, v3, vcc_lo
v_mov_b32_dpp T, V quad_perm:[0,1,2,3] row_mask:0xf
v_cmp_lt_u32_e64 vcc_lo, A, V
v_cmp_gt_i32_e64 vcc_lo, A, V
v_cmp_eq_u32_e64 vcc_lo, A, V
v_cndmask_b32_e64 T, A, V, vcc_lo
v_mad_u64_u32 P, null, V, S, P
v_lshlrev_b64 P, H, P
v_lshrrev_b64 P, H, P
v_ashrrev_i32_e32 v9, 31, v8
v_add_co_u32 v8, vcc_lo, s6, V
v_add_co_ci_u32_e64 v9, null, s7, v9, vcc_lo
v_add_co_u32 v8, vcc_lo, v8, A
v_add_co_ci_u32_e64 v9, null, 0, v9, vcc_lo
v_sub_co_u32 T, vcc_lo, V, A
s_add_u32 W, S, B
s_addc_u32 W, S, B
s_sub_u32 W, S, B
s_add_i32 W, S, B
s_mul_i32 W, S, B
s_mul_hi_u32 W, S, S
s_lshl_b32 W, S, H
s_lshr_b32 W, S, H
s_ashr_i32 W, S, H
s_and_b32 W, S, B
s_or_b32 W, S, B
s_lshl_b64 s[8:9], s[10:11], H
s_cmp_lt_u32 S, B
s_cmp_ge_i32 S, B
s_cmp_lg_u32 S, B
s_cselect_b32 W, S, B
v_mov_b32_e32 v8, A
v_mov_b32_e32 v9, 0
s_mov_b64 s[10:11], s[6:7]
""".strip().split("\n")
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


def plain(term: Term) -> bool:
    """Whether all functions in a term are known ones."""
    known = {"sum", "unknown", "bit", *FUNCTIONS}
    return term.op in known and all(plain(t) for t in term.children() if t is not term)


@pytest.mark.parametrize("group", GROUPS)
@settings(max_examples=250, deadline=None)
@given(data=st.data(), seed=st.integers(0, 2**32))
def test_terms_hold_what_registers_hold(group: str, data: st.DataObject, seed: int) -> None:
    texts = data.draw(st.lists(instructions(group), min_size=3, max_size=25))
    bounds = Bounds(FACTS)
    terms = Terms(bounds)
    names = unknowns(terms, FACTS)
    code = [parse_instruction("\t" + text) for text in texts]

    regs = [terms.const(0, 64 if i == SCC_INDEX else 32) for i in range(SCC_INDEX + 1)]
    regs[0] = names["work-item"]
    starts = {2: names["workgroup x"], 3: names["workgroup y"], 4: names["N"], 5: names["K"]}
    starts |= {6: terms.trunc(names["A"]), 7: terms.hi(names["A"])}
    for i, term in starts.items():
        regs[SGPR0 + i] = term
    regs[SGPR0 + 126] = terms.const(-1, 32)
    engine = Engine(terms, names["work-item"], FloatMode())
    engine.registers = regs
    for inst in code:
        run(engine, decode(inst).bound)

    rng = random.Random(seed)
    trial = Trial(bounds, rng)
    sgprs = {i: trial.of(term) & 0xFFFFFFFF for i, term in starts.items()}
    unknown = {t: value for t, value in trial.memo.items() if t.op == "unknown"}
    first = 32 * rng.randrange(4)
    wave = Wave(AddressedCode([], 0), Buffers(), bytearray(), sgprs=sgprs, vgprs={0: range(first, first + 32)})
    with np.errstate(over="ignore"):
        for inst in code:
            execute(wave, inst)

    for lane in (0, rng.randrange(32), 31):
        here = Trial(bounds, rng)
        item = first + lane
        here.memo = {**unknown, **{terms.atom("bit", "tid", i, width=1): item >> i & 1 for i in range(7)}}
        found = {f"v{i}": (regs[i], int(wave.vgprs[i, lane])) for i in range(12)}
        found |= {f"s{i}": (regs[SGPR0 + i], int(wave.sgprs[i])) for i in range(2, 12)}
        found["scc"] = (regs[SCC_INDEX], int(wave.scc))
        for register, (term, value) in found.items():
            if plain(term):
                assert here.of(term) & 0xFFFFFFFF == value, f"{register} is {value:#x}, its term {term}"


def test_reading_a_term_back() -> None:
    """The test above would also pass if all terms were opaque: these must not be."""
    bounds = Bounds(FACTS)
    terms = Terms(bounds)
    names = unknowns(terms, FACTS)
    row = terms.add(terms.scale(names["workgroup y"], 128, 32), names["work-item"], 32)
    index = terms.mul(row, names["K"], 32)
    assert str(terms.sext(index)) == "128*K*group_y + K*tid"
    assert terms.zext(terms.scale(index, 4, 32)).op == "sum"
    assert terms.zext(terms.scale(index, 8, 32)).op == "zext"
