"""Faults on purpose: what is changed, one line at a time, and what becomes of each mutant of a small kernel."""

from collections import Counter
from pathlib import Path

from isa.asm.parse import parse
from isa.prove import settings
from isa.prove.proof import Argument, Facts
from isa.prove.refine import validate
from tools.mutation.judge import JudgeByOriginal
from tools.mutation.mutants import KINDS, mutants

SOURCE = Path(__file__).with_name("sources").joinpath("mutants_source.s").read_text()
FACTS = Facts(arguments=(Argument("A", 0, 8), Argument("C", 8, 8)), block=128)


def test_each_mutant_changes_one_line_or_exchanges_two() -> None:
    program = parse(SOURCE, "k.s")
    all_ = list(mutants(program))
    assert Counter(m.kind for m in all_) == {
        "wait removed": 5, "wait weakened": 5, "barrier removed": 1, "instruction removed": 9, "opcode changed": 2,
        "registers exchanged": 7, "wrong immediate": 4, "VOPD sources swapped": 4, "LDS offset": 3, "LDS stride": 1,
        "global stride": 2, "kernarg offset": 1, "count shrunk": 4, "setting changed": 1, "order exchanged": 6,
        "statement": 12,
    }  # fmt: skip
    assert [k for k in KINDS if k in {m.kind for m in all_}] == list(dict.fromkeys(m.kind for m in all_))
    for mutant in all_:
        pairs = zip(program.lines, mutant.program.lines, strict=True)
        changed = [(i, a.text, b.text) for i, (a, b) in enumerate(pairs) if a.text != b.text]
        assert changed[0][0] == mutant.line, mutant.what
        if "<->" in mutant.what:
            assert {a for _, a, _ in changed} == {b for _, _, b in changed}
        assert len(changed) == 1 + ("<->" in mutant.what), mutant.what


def test_what_becomes_of_them() -> None:
    program = parse(SOURCE, "k.s")
    assert validate(program.kernel(), program.kernel(), FACTS).proved
    judge = JudgeByOriginal(program, program, "k", FACTS)
    left = {m.what: j for m in mutants(program) if (j := judge(m)).verdict != "found"}
    assert {what: j.verdict for what, j in left.items()} == {
        ".amdhsa_next_free_sgpr 8 -> .amdhsa_next_free_sgpr 7": "equivalent",  # a wave has all SGPRs
        "s_waitcnt vmcnt(1) -> removed": "equivalent",
        "s_waitcnt vmcnt(1) -> s_waitcnt vmcnt(2)": "equivalent",
        "v_dual_fmac_f32 v4, v8, v10 :: v_dual_fmac_f32 v5, v9, v11 -> "
        "v_dual_fmac_f32 v4, v10, v8 :: v_dual_fmac_f32 v5, v9, v11": "equivalent",
        "v_dual_fmac_f32 v4, v8, v10 :: v_dual_fmac_f32 v5, v9, v11 -> "
        "v_dual_fmac_f32 v4, v8, v10 :: v_dual_fmac_f32 v5, v11, v9": "equivalent",
        ".amdhsa_next_free_sgpr 8 -> .amdhsa_next_free_sgpr 9": "equivalent",
        ".amdhsa_next_free_vgpr 12 -> .amdhsa_next_free_vgpr 13": "equivalent",
        ".amdhsa_reserve_vcc 0 -> .amdhsa_reserve_vcc 1": "equivalent",
        ".amdhsa_reserve_vcc 0 -> removed": "equivalent",
        "global_load_b64 v[2:3], v1, s[4:5] <-> s_waitcnt vmcnt(1)": "equivalent",
    }
    assert {j.reason.split(" ")[0] for j in left.values()} == {"all", "on", "only"}


def test_the_first_judge_that_finds_a_fault_is_enough() -> None:
    program = parse(SOURCE, "k.s")
    judge = JudgeByOriginal(program, program, "k", FACTS)
    asked = Counter()
    for mutant in mutants(program):
        all_, first = judge(mutant), judge(mutant, first=True)
        assert first.verdict == all_.verdict, mutant.what
        assert first.lint == all_.lint
        assert first.proof in (all_.proof, None)
        asked[first.proof is None] += 1
    assert all(asked[x] for x in (True, False))


LOOP = Path(__file__).with_name("sources").joinpath("mutants_loop.s").read_text()
NEW = """
carry dropped: s_add_u32 s4, s4, s6 -> s_addc_u32 s4, s4, s6
carry dropped: s_addc_u32 s5, s5, s7 -> s_add_u32 s5, s5, s7
carry dropped: s_sub_u32 s6, s6, 1 -> s_subb_u32 s6, s6, 1
high half lost: s_mul_hi_u32 s7, s15, s6 -> s_mov_b32 s7, 0
high half lost: s_lshl_b64 s[6:7], s[6:7], 2 -> s_lshl_b32 s6, s6, 2
mask opened: v_cmp_gt_i32_e64 s8, s6, v0 -> s_mov_b32 s8, -1
mask opened: s_and_b32 exec_lo, exec_lo, s8 -> s_mov_b32 exec_lo, -1
loop bound: s_cmp_lt_u32 s6, 3 -> s_cmp_lt_u32 s6, 4
loop bound: s_cmp_lt_u32 s6, 3 -> s_cmp_le_u32 s6, 3
kernarg offset: s_load_b64 s[4:5], s[0:1], 0x8 -> s_load_b64 s[4:5], s[0:1], 12
metadata: - .offset:         8 -> - .offset:         4
metadata: .size:           8 -> .size:           16
metadata: .value_kind:     global_buffer -> .value_kind:     by_value
opcode changed: s_lshl_b64 s[6:7], s[6:7], 2 -> s_lshr_b64 s[6:7], s[6:7], 2
opcode changed: s_cbranch_scc0 .Lloop -> s_cbranch_scc1 .Lloop
opcode changed: v_cmp_gt_i32_e64 s8, s6, v0 -> v_cmp_ge_i32_e64 s8, s6, v0
registers exchanged: v_cmp_gt_i32_e64 s8, s6, v0 -> v_cmp_gt_i32_e64 s8, v0, s6
registers exchanged: v_sub_f32_e32 v1, v2, v3 -> v_sub_f32_e32 v1, v3, v2
registers exchanged: v_mul_f32_e32 v1, v2, v3 -> v_mul_f32_e32 v1, v3, v3
"""


def test_what_is_changed_where_there_are_carries_masks_loops_and_arguments() -> None:
    made = {f"{m.kind}: {m.what}" for m in mutants(parse(LOOP, "k.s"))}
    assert not set(NEW.strip().split("\n")) - made


BESIDE = Path(__file__).with_name("sources").joinpath("mutants_beside.s").read_text()


def test_what_lies_beside_a_kernel_is_changed_and_found() -> None:
    program = parse(BESIDE, "k.s")
    wanted = ("setting changed", "data changed", "callee changed")
    found = [m for m in mutants(program) if m.kind in wanted]
    assert Counter(m.kind for m in found) == dict(zip(wanted, (2, 4, 4), strict=True))
    for mutant in found:
        kernels = program.kernel("k"), mutant.program.kernel("k")
        assert settings.difference(*kernels), mutant.what
