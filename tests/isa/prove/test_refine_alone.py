"""Translation validation where only one of two programs has a test: loops without the tests that the low bits of their
counter, a known number of rounds or tests made beforehand decide. Right texts are proved, each wrong one is not."""

from pathlib import Path

import pytest

from isa.asm.parse import parse
from isa.prove.refine import validate

FOOTER = (Path(__file__).parents[1] / "passes" / "footer.s").read_text()
HEAD = """k:
	s_load_b64 s[0:1], s[0:1], 0x0
	s_waitcnt lgkmcnt(0)
	s_load_b32 s6, s[0:1], 0x40
	v_mov_b32_e32 v2, 0
	s_waitcnt lgkmcnt(0)
"""
ROUND = """	global_load_b32 v1, v0, s[0:1]
	s_add_i32 s6, s6, -1
	v_add_nc_u32_e32 v0, 4, v0
	s_waitcnt vmcnt(0)
	v_add_f32_e32 v2, v2, v1
"""
TEST = "	s_cmp_lg_u32 s6, 0\n"
TAIL = "	global_store_b32 v0, v2, s[0:1]\n	s_endpgm\n"
LOOP = f".Lloop:\n{ROUND}{TEST}	s_cbranch_scc1 .Lloop\n"
UNROLLED = f""".Lloop:
	s_and_b32 s2, s6, 3
	s_cbranch_scc0 .Lfour
{ROUND}{TEST}	s_cbranch_scc1 .Lloop
	s_branch .Lend
.Lfour:
{ROUND * 4}{TEST}	s_cbranch_scc1 .Lfour
.Lend:
"""
SPIN = ".Lspin:\n	s_and_b32 s2, s6, 1\n	s_cbranch_scc0 .Lspin\n"
LOADS = "	s_load_b32 s2, s[0:1], 0x80\n	s_waitcnt lgkmcnt(0)\n"
WRONG = {
    "bits too few": ("s6, 3", "s6, 1"),
    "bits of others": ("s6, 3", "s6, 6"),
    "the other way": ("scc0 .Lfour", "scc1 .Lfour"),
    "a round too many": (ROUND * 4, ROUND * 5),
    "a round too few": (ROUND * 4, ROUND * 3),
    "a test too few": (f"{ROUND}{TEST}	s_cbranch_scc1 .Lloop", f"{ROUND}	s_branch .Lloop"),
    "another counter": ("s_and_b32 s2, s6", "s_and_b32 s2, s3"),
    "ends early": ("scc1 .Lfour", "scc0 .Lfour"),
    "stays for ever": ("	s_branch .Lend\n", f"{SPIN}	s_branch .Lend\n"),
    "a load of its own": ("	s_and_b32 s2,", f"{LOADS}	s_and_b32 s2,"),
}


def proved(first: str, second: str) -> bool:
    old, new = (parse(HEAD + text + TAIL + FOOTER, f"{name}.s") for text, name in ((first, "old"), (second, "new")))
    return validate(old.kernel(), new.kernel()).proved


@pytest.mark.parametrize("by", [2, 4, 8])
def test_tests_that_low_bits_decide(by: int) -> None:
    text = UNROLLED.replace("s6, 3", f"s6, {by - 1}").replace(ROUND * 4, ROUND * by)
    assert proved(LOOP, text)
    assert proved(text, LOOP)


@pytest.mark.parametrize("fault", WRONG)
def test_a_wrong_one_is_not_proved(fault: str) -> None:
    text = UNROLLED.replace(*WRONG[fault])
    assert text != UNROLLED
    assert not proved(LOOP, text)


def test_fewer_bits_in_the_counter() -> None:
    """A counter that goes by 2 comes to 0 if it is even; four rounds ask for three bits."""
    old, new = (text.replace("s6, -1", "s6, -2") for text in (LOOP, UNROLLED))
    assert proved(old, new.replace("s6, 3", "s6, 7"))
    assert not proved(old, new)


UP = "	s_cmp_lt_i32 s6, s7\n"
LIMITED = LOOP.replace(TEST, UP).replace("s6, -1", "s6, 3")
AHEAD = f""".Lloop:
	s_add_i32 s2, s6, 3
	s_cmp_lt_i32 s2, s7
	s_cbranch_scc0 .Lrest
	s_add_i32 s2, s6, 6
	s_cmp_lt_i32 s2, s7
	s_cbranch_scc0 .Lrest
{ROUND * 3}{UP}	s_cbranch_scc1 .Lloop
	s_branch .Lend
.Lrest:
{ROUND}{UP}	s_cbranch_scc1 .Lloop
.Lend:
""".replace("s6, -1", "s6, 3")
NOT_AHEAD = {
    "a round that was not asked about": ("	s_add_i32 s2, s6, 6", "	s_add_i32 s2, s6, 3"),
    "a round too many": (".Lrest:\n", ".Lrest:\n" + ROUND.replace("-1", "3")),
    "another comparison": ("s_cmp_lt_i32 s2", "s_cmp_lt_u32 s2"),
    "another limit": ("s_cmp_lt_i32 s2, s7", "s_cmp_lt_i32 s2, s5"),
    "the other way": ("scc0 .Lrest", "scc1 .Lrest"),
    "back behind a test": (
        f"{UP}	s_cbranch_scc1 .Lloop\n	s_branch",
        f"{UP}	s_cbranch_scc1 .Lthree\n	s_branch",
    ),
}


@pytest.mark.parametrize("begin", ["", "	s_mov_b32 s6, 0\n"])
def test_tests_that_are_made_beforehand(begin: str) -> None:
    begin += "	s_load_b32 s7, s[0:1], 0x44\n	s_waitcnt lgkmcnt(0)\n"
    assert proved(begin + LIMITED, begin + AHEAD)


@pytest.mark.parametrize("fault", NOT_AHEAD)
def test_one_that_was_not_made(fault: str) -> None:
    begin = "	s_load_b32 s7, s[0:1], 0x44\n	s_load_b32 s5, s[0:1], 0x48\n	s_waitcnt lgkmcnt(0)\n"
    old = ROUND.replace("-1", "3")
    text = AHEAD.replace(f"{old * 3}", f".Lthree:\n{old * 3}") if fault == "back behind a test" else AHEAD
    wrong = text.replace(*NOT_AHEAD[fault])
    assert wrong != text
    assert not proved(begin + LIMITED, begin + wrong)


@pytest.mark.parametrize(("rounds", "same"), [(5, True), (4, False), (6, False)])
def test_a_known_number_of_rounds(rounds: int, same: bool) -> None:
    """Without any test."""
    assert proved(f"	s_mov_b32 s6, 5\n{LOOP}", f"	s_mov_b32 s6, 5\n{ROUND * rounds}") is same


@pytest.mark.parametrize(("rounds", "same"), [(32, True), (30, False)])
def test_a_known_multiple(rounds: int, same: bool) -> None:
    begin = f"	s_mov_b32 s6, {rounds}\n"
    assert proved(begin + LOOP, f"{begin}.Lfour:\n{ROUND * 4}{TEST}	s_cbranch_scc1 .Lfour\n") is same


def test_a_loop_for_ever_beside_nothing() -> None:
    """It touches no memory, and yet it is not what does not loop."""
    spin = ".Lspin:\n	s_xor_b32 s2, s2, s6\n	s_cbranch_scc1 .Lspin\n"
    assert not proved("", spin)
    assert not proved(spin, "")
