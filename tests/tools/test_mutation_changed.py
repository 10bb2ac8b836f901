"""Mutants that leave what nothing uses: told by the proof with unknowns in its place, which others do not pass."""

from __future__ import annotations

import re

import pytest

from hipgemm import proving
from hipgemm.kernels import rung
from isa.analysis import cfg
from isa.asm.emit import emit
from isa.asm.parse import parse
from isa.check.spec_proof import prove
from isa.check.spec_proof.run import DecodedKernel
from isa.errors import IsaError
from isa.gemm.matrix.generate import generate
from isa.gemm.names import parameters_of
from tools.mutation.changed import differing

NAMES = {
    "f16": "gemm_f16_f32_64x64x32_32x32_s1_nn",
    "i8": "gemm_i8_i32_64x64x64_32x32_s1_nt",
}


def verdict(kind: str, pattern: str, new: str | None, number: int = 0, before: str = "") -> str:
    """pattern: of the instruction, perhaps `after` a label. before: what stands before the kernel's first instruction.

    Of the kernel with unknown in place of what differs where an instruction is changed, at some sizes and edges."""
    name = NAMES[kind]
    written = emit(generate(parameters_of(name), name)).replace(f"\n{name}:\n", f"\n{name}:\n{before}", 1)
    kernel, program = rung(name), parse(written)
    flow = cfg.of_kernel(program.kernel(name))
    text, _, label = pattern.partition(" after ")
    start = flow.labels[f".L{name}{label}"] if label else 0
    place = [i for i, inst in enumerate(flow.instructions) if i >= start and re.fullmatch(text, str(inst))][number]
    changed = None if new is None else parse(f"k:\n\t{new}\n").lines[1].instruction
    far = [launch for launch in proving.edges(kernel) if launch.k][::7]
    try:
        proof = prove(
            program, name, proving.launches(kernel), far=far, explain=False,
            whole="s_cmp" not in pattern, decode=lambda k: differing(DecodedKernel.of(k), (place, changed)),
        )  # fmt: skip
    except IsaError:
        return "refused"
    return proof.verdict


def test_what_lanes_beside_an_edge_load_is_not_used() -> None:
    mask = r"s_and_b32 exec_lo, vcc_lo, s3\d"
    assert verdict("f16", mask, None) == "proved"
    assert verdict("f16", mask, "s_mov_b32 exec_lo, vcc_lo") == "proved"


def test_what_is_multiplied_by_an_integer_beta_of_0_is_not_used() -> None:
    assert verdict("i8", r"v_mov_b32_e32 v\d+, 0", None, -1) == "proved"


def test_workgroups_inside_may_go_the_way_of_those_at_an_edge() -> None:
    columns = r"s_cmp_lt_i32 s29, 64"
    assert verdict("f16", columns, "s_cmp_lt_i32 s29, 65") == "proved"
    assert verdict("f16", columns, "s_cmp_lt_i32 s29, 63") != "proved"
    assert verdict("f16", columns, "s_cmp_gt_i32 s29, 64") != "proved"  # neither holds wherever the other does
    assert verdict("f16", columns, "s_cmp_lt_i32 s28, 65") != "proved"
    # One iteration may go one way, the next one another.
    assert verdict("f16", r"s_cmp_eq_u32 s19, 0 after _loop", "s_cmp_le_u32 s19, 1") != "proved"


def test_waves_of_a_workgroup_go_one_way() -> None:
    """A comparison of the number of a wave's first work-item, of which nothing comes."""
    before = "\tv_readfirstlane_b32 s31, v0\n\ts_cmp_lt_u32 s31, {}\n\ts_cbranch_scc1 .Lnext\n.Lnext:\n"
    assert verdict("f16", r"s_cmp_lt_u32 s31, 0", "s_cmp_le_u32 s31, 0", before=before.format(0)) != "proved"
    same = before.replace("v_readfirstlane_b32 s31, v0", "s_mov_b32 s31, 7").format(0)
    assert verdict("f16", r"s_cmp_lt_u32 s31, 0", "s_cmp_le_u32 s31, 0", before=same) == "proved"


@pytest.mark.parametrize(
    ("kind", "pattern", "new", "number"),
    [
        ("f16", r"s_mov_b32 exec_lo, vcc_lo", "s_mov_b32 exec_lo, 1", 0),  # fewer lanes than load what is used
        ("f16", r"s_mov_b32 exec_lo, vcc_lo", None, 0),  # more, before the matrix
        ("f16", r"v_mov_b32_e32 v\d+, 0 after _part", None, 0),  # steps of k that the first K block lacks
        ("f16", r"v_and_b32_e32 v\d+, 15, v0", None, 0),  # an LDS address
        ("f16", r"v_mul_f32_e32 v\d+, s15, v\d+", "v_mul_f32_e32 v0, s15, v1", 0),  # another register
        ("f16", r"s_mul_i32 s17, s15, 64", None, 0),  # neither a VGPR nor a mask
        ("i8", r"v_mov_b32_e32 v\d+, 0 after _part", None, 0),
    ],
)
def test_what_is_used_is_not_taken_for_unused(kind: str, pattern: str, new: str | None, number: int) -> None:
    assert verdict(kind, pattern, new, number) != "proved"
