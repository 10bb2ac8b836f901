"""Translation validation of what is made by the dozen: copies and mutants of a kernel, arrays in registers."""

from collections import Counter
from pathlib import Path

import pytest

from isa.algebra import truth
from isa.asm.parse import parse
from isa.errors import IsaError
from isa.prove.refine import in_place, validate
from tools.mutation.mutants import mutants
from tools.validation_study import KINDS

KERNEL = (Path(__file__).parent / "cases" / "edits" / "kernel.s").read_text().partition(";; ")[0]
PROGRAM = parse(KERNEL, "old.s")


@pytest.mark.parametrize("kind", KINDS)
def test_copies_that_do_the_same_by_construction(kind: str) -> None:
    for seed in (1, 2):
        proof = validate(PROGRAM.kernel(), KINDS[kind](PROGRAM.kernel(), seed).kernel())
        assert proof.proved, proof


DUAL = "v_dual_fmac_f32 v3, v5, v6 :: v_dual_add_f32 v4, v6, v4"
SAME = {  # mutants that do the same
    ".amdhsa_next_free_vgpr 40 -> .amdhsa_next_free_vgpr 39",
    ".amdhsa_next_free_vgpr 40 -> .amdhsa_next_free_vgpr 41",
    ".amdhsa_next_free_sgpr 16 -> .amdhsa_next_free_sgpr 15",
    ".amdhsa_next_free_sgpr 16 -> .amdhsa_next_free_sgpr 17",
    f"{DUAL} -> {DUAL.replace('v5, v6', 'v6, v5')}",
    f"{DUAL} -> {DUAL.replace('v6, v4', 'v4, v6')}",
}


@pytest.mark.parametrize("every", [6, pytest.param(3, marks=pytest.mark.slow)])
def test_mutants_are_not_proved(every: int) -> None:
    kernel, found = PROGRAM.kernel(), Counter[str]()
    for mutant in list(mutants(PROGRAM))[::every]:
        try:
            proof = validate(kernel, mutant.program.kernel())
        except IsaError:
            continue
        found[proof.verdict] += 1
        assert not proof.proved or mutant.what in SAME, (mutant.kind, mutant.what)
    assert found["unproven"] > 90 / every


def array(writes: int = 8, slots: int = 8) -> str:
    """v32 and on as an array in registers: written, read and written again at indexes of which nothing is known."""
    lines = ["k:", "\ts_load_b64 s[4:5], s[0:1], 0x0", "\tv_lshlrev_b32_e32 v1, 2, v0", "\ts_waitcnt lgkmcnt(0)"]
    lines += [f"\tv_mov_b32_e32 v{k}, {k}" for k in range(32, 32 + slots)]
    for n in range(writes):
        lines += [f"\tglobal_load_b32 v{r}, v1, s[4:5] offset:{12 * n + 4 * i}" for i, r in enumerate((2, 3, 4))]
        lines += ["\ts_waitcnt vmcnt(0)"]
        lines += ["\tv_mov_b32_e32 v5, v32"]
        for k in range(slots):
            lines += [f"\tv_cmp_eq_u32_e32 vcc_lo, {k}, v2", f"\tv_cndmask_b32_e32 v5, v5, v{32 + k}, vcc_lo"]
        lines += ["\tv_add_nc_u32_e32 v4, v4, v5"]
        for k in range(slots):
            lines += [f"\tv_cmp_eq_u32_e32 vcc_lo, {k}, v3", f"\tv_cndmask_b32_e32 v{32 + k}, v{32 + k}, v4, vcc_lo"]
    lines += ["\tglobal_store_b32 v1, v4, s[4:5]", "\ts_endpgm", ".Lfunc_end0:"]
    return "\n".join(lines) + KERNEL.partition(".Lfunc_end0:")[2]


@pytest.mark.parametrize(
    ("old", "new", "expected"),
    [
        ("v_add_nc_u32_e32 v4, v4, v5", "v_add_nc_u32_e32 v4, v5, v4", "proved"),
        ("v35, v35, v4, vcc_lo", "v35, v4, v35, vcc_lo", "unproven"),
    ],
)
def test_an_array_in_registers_does_not_grow_without_bound(old: str, new: str, expected: str) -> None:
    """Each write makes choices of choices, each read again: their normal form would double with every one."""
    text = array()
    other = text.replace(old, new, 1)
    assert other != text
    proof = validate(parse(text, "old.s").kernel(), parse(other, "new.s").kernel())
    assert proof.verdict == expected, str(proof)


def test_a_proof_has_so_many_choices_and_no_more(monkeypatch: pytest.MonkeyPatch) -> None:
    """A heap sort of an array in registers makes new ones without an end in sight."""
    kernel = parse(array(), "old.s").kernel()
    monkeypatch.setattr(truth, "MOST_CHOICES", 100)
    assert validate(kernel, kernel).proved  # in place: nothing differs
    monkeypatch.setattr(in_place, "same", lambda *_: None)
    proof = validate(kernel, kernel)
    assert proof.verdict == "unproven"
    assert "conditions that are too large" in proof.statement
