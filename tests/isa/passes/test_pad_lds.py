"""Longer rows of LDS: what comes out, that the validator proves it, and that it proves nothing else."""

from pathlib import Path

import pytest
from texts import texts

from isa.asm.emit import emit
from isa.asm.parse import parse
from isa.asm.program import Program
from isa.errors import IsaError
from isa.lint.lint import lint_program
from isa.passes import run_pipeline
from isa.prove.refine import validate
from isa.prove.refine.padding import ASSUMED

FOOTER = (Path(__file__).parent / "footer.s").read_text()
FOOTER = FOOTER.replace("fixed_size 8192", "fixed_size 4096").replace("fixed_size: 8192", "fixed_size: 4096")
FOOTER = FOOTER.replace("workgroup_size: 64", "workgroup_size: 256")
KERNEL, PADDED = texts(__file__)
PROGRAM = parse(KERNEL + FOOTER, "old.s")
NEW_FOOTER = FOOTER.replace("fixed_size 4096", "fixed_size 4220").replace("fixed_size: 4096", "fixed_size: 4220")


def padded(program: Program, pipeline: str = "pad-lds") -> Program:
    *_, (_, made) = run_pipeline(program, pipeline)
    return made


def test_each_access_goes_to_its_place_in_longer_rows() -> None:
    made = padded(PROGRAM)
    assert emit(made).partition("\ts_endpgm")[0] == PADDED.partition("\ts_endpgm")[0]
    assert "fixed_size 4220" in emit(made)
    assert "fixed_size: 4220" in emit(made)
    assert [f.id for f in lint_program(made, notes=False)] == [f.id for f in lint_program(PROGRAM, notes=False)]
    proof = validate(PROGRAM.kernel(), made.kernel())
    assert proof.proved, proof
    assert ASSUMED in proof.assumptions


@pytest.mark.parametrize("pipeline", ["pad-lds{row=64}", "pad-lds{row=256 pad=16}", "pad-lds,schedule,rename-pairs"])
def test_other_rows_and_passes_behind_it_are_proved(pipeline: str) -> None:
    made = padded(PROGRAM, pipeline)
    assert made is not PROGRAM
    assert validate(PROGRAM.kernel(), made.kernel()).proved


WRONG = {
    "a row of another length": ("v_lshrrev_b32_e32 v16, 7, v6", "v_lshrrev_b32_e32 v16, 6, v6"),
    "another pad": ("v_lshl_add_u32 v15, v15, 2, v4", "v_lshl_add_u32 v15, v15, 3, v4"),
    "an access that stays where it was": ("ds_load_b32 v12, v17", "ds_load_b32 v12, v6"),
    "an offset that is no row's": ("v9 offset:1056", "v9 offset:1024"),
    "a row too many": ("v9 offset:1056", "v9 offset:1060"),
    "a row of another access": ("ds_load_b32 v12, v17 offset:112", "ds_load_b32 v12, v16 offset:112"),
    "the row of another register": ("v_lshrrev_b32_e32 v18, 7, v7", "v_lshrrev_b32_e32 v18, 7, v3"),
    "another register and its row": ("v_lshl_add_u32 v18, v18, 2, v7", "v_lshl_add_u32 v18, v18, 2, v3"),
    "what carries is left out": ("v_add_nc_u32_e32 v17, 0x70, v6", "v_add_nc_u32_e32 v17, 0x60, v6"),
    "the second of two places": ("v18 offset1:132", "v18 offset1:128"),
    "the first of two places": ("v[10:11], v16 offset1:8", "v[10:11], v16 offset0:1 offset1:8"),
    "more LDS than rows need": ("fixed_size 4220", "fixed_size 4224"),
    "less LDS than rows need": ("fixed_size 4220", "fixed_size 4216"),
    "what the metadata say": ("fixed_size: 4220", "fixed_size: 4096"),
    "a barrier less": ("\ts_barrier\n\tbuffer_gl0_inv\n\tv_add", "\tv_add"),
    "what is stored": ("ds_store_b32 v15, v8", "ds_store_b32 v15, v9"),
}


@pytest.mark.parametrize("name", WRONG)
def test_what_is_wrong_is_not_proved(name: str) -> None:
    old, new = WRONG[name]
    text = PADDED + NEW_FOOTER
    assert text.count(old) == 1
    assert not validate(PROGRAM.kernel(), parse(text.replace(old, new), "new.s").kernel()).proved


POINTER = """.address_space: global
        .name: p
        .offset: 0
        .size: 8
        .value_kind: global_buffer"""
KINDS = ("global_buffer", "hidden_dynamic_lds_size")
REFUSED = {
    "a place that may lie in two rows": ("v_lshlrev_b32_e32 v3, 2, v1", "v_lshlrev_b32_e32 v3, 1, v1"),
    "an access of GDS": (", v8\n\tds_store_b32", ", v8 gds\n\tds_store_b32"),
    "a flat access": ("global_store_b64 v6, v[8:9], s[0:1]", "flat_store_b64 v[6:7], v[8:9]"),
    "what a launch adds": (POINTER, POINTER.partition("\n        ")[2].replace("size: 8", "size: 4").replace(*KINDS)),
    "where LDS lies": ("v_add_nc_u32_e32 v7,", "s_mov_b64 s[2:3], src_shared_base\n\tv_add_nc_u32_e32 v7,"),
}  # fmt: skip


@pytest.mark.parametrize("name", REFUSED)
def test_what_cannot_be_followed_is_left_alone_and_not_proved(name: str) -> None:
    """By the pass, and by the validator where somebody wrote it all the same."""
    old, new = REFUSED[name]
    program, wrong = (parse(text.replace(old, new)) for text in (KERNEL + FOOTER, PADDED + NEW_FOOTER))
    assert padded(program) is program
    assert not validate(program.kernel(), wrong.kernel()).proved


def test_fewer_workgroups_side_by_side_are_not_worth_it() -> None:
    """Workgroups of 64: 32 of them share the 128 KB of a WGP, 25 would with 4220 bytes each."""
    program = parse((KERNEL + FOOTER).replace("workgroup_size: 256", "workgroup_size: 64"))
    assert padded(program) is program


def test_options_are_powers_of_two() -> None:
    with pytest.raises(IsaError, match="row=100 is not a power of two"):
        padded(PROGRAM, "pad-lds{row=100}")
