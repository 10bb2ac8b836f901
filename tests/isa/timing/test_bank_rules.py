"""Operand-bank rules against what is known: the pairs of kernel 5 as published, and bank-balanced ones."""

from pathlib import Path

import pytest

from isa.analysis.banks import sources
from isa.asm.parse import parse
from isa.timing.machine import bank_rules


def cycles(text: str, rule: str) -> tuple[int, int]:
    """(instructions, cycles) of a loop body that repeats."""
    insts = [line.instruction for line in parse(text).lines if line.instruction is not None]
    total, before = 0, sources(insts[-1])
    for inst in insts:
        now = sources(inst)
        total += 1 + bank_rules.RULES[rule](before, now)
        before = now
    return len(insts), total


def test_kernel_5_repeated_32_times_lies_between_two_rules() -> None:
    """The study measured at most 75 % VALU utilisation of a whole launch with these 66 instructions repeated; a launch
    loses 3 % of it to workgroups that do not divide over the CUs (1024 over 96)."""
    text = (Path(__file__).parent / "published_kernel5_fmas.s").read_text()
    slot, place = (66 / cycles(text, rule)[1] for rule in ("previous-slot", "previous-place"))
    whole_launch = (1024 / 96) / 11
    assert place * whole_launch < 0.75 < slot * whole_launch
    used = 66 / cycles(text, bank_rules.DEFAULT)[1] * whole_launch
    assert abs(used - 0.75) <= 0.04


@pytest.mark.parametrize("rule", ["previous-slot", "previous-place", "previous-any", "no-cache", "free"])
def test_pairs_that_read_four_banks_take_one_cycle(rule: str) -> None:
    pairs = (
        "v_dual_fmac_f32 v5, v186, v184 :: v_dual_fmac_f32 v2, v187, v185\n"
        "v_dual_fmac_f32 v3, v186, v185 :: v_dual_fmac_f32 v4, v187, v184\n"
    )
    assert cycles(pairs, rule) == (2, 2)


def test_a_register_read_again_in_its_place_costs_nothing() -> None:
    one_bank = "v_add_f32 v1, v4, v8\nv_add_f32 v2, v4, v12\n"
    assert cycles(one_bank, "no-cache") == (2, 4)
    assert cycles(one_bank, "previous-place") == (2, 2)  # v4 stays, so v8 and v12 are read alone


def test_x_and_y_have_caches_of_their_own_only_by_place() -> None:
    swapped = (
        "v_dual_mul_f32 v1, v4, v8 :: v_dual_mul_f32 v2, v5, v9\n"
        "v_dual_mul_f32 v1, v5, v9 :: v_dual_mul_f32 v2, v4, v8\n"
    )
    assert cycles(swapped, "previous-slot") == (2, 2)
    assert cycles(swapped, "previous-place") == (2, 4)
