"""Baseline code calls functions: of a strip for long instructions, where addresses may follow a pattern; else of a wave
for all. It leaves the same bits, and for the plain version at the same places."""

import re

import programs
import pytest
from test_tiers import LOOP, run
from texts import texts

from isa.sim.ir import shapes
from isa.sim.ir.jit import HostTarget
from isa.sim.run.card import Card
from isa.sim.translate.translate import Translator

LONG = """
v_div_scale_f32 v1, null, v2, v3, v4
v_div_scale_f32 v5, vcc_lo, v6, v6, v5
v_div_fmas_f32 v9, v5, v6, v1
v_div_scale_f32 v1, s4, v2, v3, -v4
v_div_scale_f32 v7, s5, s6, v3, v4
v_add_co_ci_u32 v8, s4, v7, v1, s5
"""
MEMORY = """
buffer_load_b128 v[4:7], v1, s[4:7], 0 offen
buffer_load_b128 v[8:11], v2, s[8:11], 0 offen offset:16
scratch_store_b64 v1, v[4:5], off
scratch_store_b64 v0, v[6:7], off offset:8
"""
LOOP_THAT_READS, LOOP_WITH_A_POINTER, DIVISION, ACROSS = texts(__file__)


def translator(text, baseline, fast=True):
    kernel = Card(capacity=1 << 24).load(programs.assembled(text, scratch=64)).kernels["test"]
    facts = kernel.translation_facts(HostTarget(baseline=baseline))
    return Translator(kernel.blocks, facts, fast=fast, entries=None)


PATTERN = "v_lshlrev_b32 v20, 2, v0\nds_load_b32 v21, v20\n"


def calls(text, name, kind="wave"):
    """How many functions of a kind a text defines for an instruction, and how often it calls them."""
    form = rf" [^@\n]*@{kind}[0-9]+\.{name}[0-9]+\("
    return tuple(len(re.findall(start + form, text)) for start in ("define", "call"))


@pytest.mark.parametrize("fast", [True, False])
@pytest.mark.parametrize(("kind", "before"), [("wave", ""), ("op", PATTERN)])
def test_instructions_of_a_kind_share_a_function(kind, before, fast):
    other = re.sub(r"\b([vs])(\d)\b", r"\g<1>1\2", LONG)
    text = translator(before + LONG + other + "s_endpgm", True, fast).text()
    kind = kind if fast else "wave"  # which knows no patterns
    assert calls(text, "v_div_scale_f32", kind) == (4, 8), "null, VCC, a negated source and a scalar tell them apart"
    good = translator(before + LONG + "s_endpgm", False, fast).text()
    assert "@op" not in good
    assert "@wave" not in good


@pytest.mark.parametrize("fast", [True, False])
def test_accesses_share_one_whatever_their_offset(fast):
    text = translator(MEMORY + "s_endpgm", True, fast).text()
    assert calls(text, "buffer_load_b128") == (1, 2)
    assert calls(text, "scratch_store_b64") == (1, 2)


def test_short_ones_stay_where_they_are_in_a_loop_over_strips():
    text = PATTERN + "v_add_nc_u32 v1, v20, v3\nv_add_nc_u32 v2, v1, v3\nds_load_b32 v4, v2\ns_endpgm"
    assert calls(translator(text, True).text(), "v_add_nc_u32") == (0, 0)
    assert calls(translator(text, True, False).text(), "v_add_nc_u32") == (1, 2)


def test_what_a_kernel_has_once_is_no_function():
    assert "@wave" not in translator("v_exp_f32 v1, v2\nds_load_b32 v4, v2\ns_endpgm", True).text()


@pytest.mark.parametrize("text", [LOOP.format(count=9, lane=""), LOOP_THAT_READS + "s_endpgm", LOOP_WITH_A_POINTER])
def test_both_tiers_leave_at_the_same_places(text):
    tiers = [translator(text, baseline) for baseline in (True, False)]
    for tier in tiers:
        tier.text()
    assert tiers[0].bails == tiers[1].bails
    assert tiers[0].size == pytest.approx(tiers[1].size, rel=0.5), "what good code will cost is taken from it"


def test_a_parameter_of_another_register_is_found(monkeypatch):
    """The same bits, and not where a function takes its parameters from other registers."""
    text = "s_load_b64 s[4:5], s[0:1], 0x0\n" + DIVISION
    right = run(text, Card(baseline=False, capacity=1 << 24))
    assert (run(text, Card(baseline=True, capacity=1 << 24)) == right).all()
    monkeypatch.setenv("XDG_CACHE_HOME", "/dev/null")
    right_one = shapes.Name.of
    monkeypatch.setattr(shapes.Name, "of", lambda name, registers: right_one(name, registers[::-1]))
    assert (run(text.replace("v7", "v9"), Card(baseline=True, capacity=1 << 24)) != right).any()


def test_what_works_across_lanes_sees_what_functions_wrote():
    """And functions what scalar instructions wrote."""
    found = run("s_load_b64 s[4:5], s[0:1], 0x0\n" + ACROSS, Card(baseline=True, capacity=1 << 24))
    assert set(found) == {3 * (5 + 5**2 + 5**4)}
