"""The proof by definition on the matrix units: what it proves, and faults made by hand, each of which it names."""

from __future__ import annotations

import dataclasses
import functools
import re

import numpy as np
import pytest

from hipgemm.judge import proving
from hipgemm.kernels.ladder import rung
from isa.asm.emit import emit
from isa.asm.parse import parse
from isa.gemm.matrix.generate import generate
from isa.gemm.matrix.parameters import MatrixParameters
from isa.gemm.names import name_of
from isa.prove.definition import names, narrow, prove

from .edits import assert_refused, faults, quick

SMALL = MatrixParameters(rows=64, columns=64, wave_rows=32, wave_columns=32)
BYTES = dataclasses.replace(SMALL, depth=64, factor="i8", result="i32")
VARIANTS = {
    "nn": SMALL,
    "nt": dataclasses.replace(SMALL, trans_b=True),
    "tn in groups": dataclasses.replace(SMALL, trans_a=True, group=2),
    "bf16 tt": dataclasses.replace(SMALL, trans_a=True, trans_b=True, factor="bf16"),
    "two buffers": dataclasses.replace(SMALL, stages=2),
    "f16 sums": dataclasses.replace(SMALL, result="f16", trans_b=True, half_sums=True),
    "bf16 sums": dataclasses.replace(SMALL, factor="bf16", half_sums=True, bias=True),
    "i8 tn": dataclasses.replace(BYTES, trans_a=True),
    "i8 nt": dataclasses.replace(BYTES, trans_b=True),
    "i4 nt": dataclasses.replace(BYTES, trans_b=True, factor="i4"),
    "i4 tn": dataclasses.replace(BYTES, trans_a=True, depth=128, factor="i4"),
    "strided tt": dataclasses.replace(SMALL, trans_a=True, trans_b=True, strided=True),
    "strided i8 nn": dataclasses.replace(BYTES, strided=True),
}


OF_RDNA4 = {
    "fp8 nt": dataclasses.replace(BYTES, factor="fp8", result="f32", trans_b=True),
    "bf8 tn": dataclasses.replace(BYTES, factor="bf8", result="bf16", trans_a=True, strided=True),
}


@functools.cache
def text(p: MatrixParameters, arch: str = "gfx1100") -> str:
    return emit(generate(p, name_of(p), arch=arch))


@pytest.mark.parametrize("name", VARIANTS)
@pytest.mark.parametrize("arch", ["gfx1100", "gfx1201"])
def test_it_is_proved(name: str, arch: str) -> None:
    proof = quick(VARIANTS[name], text(VARIANTS[name], arch))
    assert proof.proved, str(proof)
    assert "by v_wmma" in proof.statement
    assert "all branches went both ways" in proof.statement


@pytest.mark.parametrize("name", OF_RDNA4)
def test_floats_of_8_bits_are_proved(name: str) -> None:
    """In the order that was assumed."""
    p = OF_RDNA4[name]
    proof = quick(p, text(p, "gfx1201"))
    assert proof.proved, str(proof)
    assert f"assumed for {p.factor}" in proof.statement


@pytest.mark.parametrize(
    "name", [name if name == "nn" else pytest.param(name, marks=pytest.mark.slow) for name in VARIANTS]
)
@pytest.mark.parametrize("arch", ["gfx1100", "gfx1201"])
def test_edges_and_every_k(name: str, arch: str) -> None:
    p = VARIANTS[name]
    proof = proving.generated(rung(name_of(p)), parse(text(p, arch)))
    assert proof.proved, str(proof)
    steps = f"2 to {p.largest[2] // 2 * 2} by 2" if p.pack > 1 else f"1 to {p.largest[2]}"
    assert f"for every K from {steps} at M x N of 65 x 67, 64 x 64, 63 x 64 and in " in str(proof)
    assert "1 to 64 rows and 1 to 64 columns" in proof.statement


def test_no_step_is_read_beyond_the_last() -> None:
    """Eight steps of k are loaded in each of three places: only beyond the last of them another column is outside of B;
    the others find one of the next line there, which nothing uses."""
    lines = text(SMALL).splitlines(keepends=True)
    masks = [i for i, line in enumerate(lines) if re.match(r"\ts_(mov|and)_b32 exec_lo, (vcc_lo, )?s37$", line)]
    edges = proving.edges(rung(name_of(SMALL)))
    found = [
        prove(parse("".join(lines[:i] + lines[i + 1 :])), name_of(SMALL), edges, whole=False, explain=False).verdict
        for i in (*masks[7::8], masks[0])
    ]
    assert found == ["different"] * 3 + ["proved"]


COUNTS = {
    "8 bits": ("nn", r"s_lshr_b32 s19, s19, 5\n", r"\g<0>\ts_and_b32 s19, s19, 255\n", "masks bits that depend on K"),
    "a field": (
        "nn", r"s_lshr_b32 s19, s19, 5\n", "s_bfe_u32 s19, s19, 0x140005\n", "s19 depends on what is not known",
    ),
    "pairs in 16 bits": ("i4 nt", r"s_lshr_b32 s14, s14, 1\n", r"\g<0>\ts_and_b32 s14, s14, 0xffff\n", "masks bits"),
}  # fmt: skip


@pytest.mark.parametrize("name", COUNTS)
def test_what_is_wrong_at_a_large_k_only_is_not_proved(name: str) -> None:
    variant, pattern, new, why = COUNTS[name]
    p = VARIANTS[variant]
    kernel, changed = rung(name_of(p)), re.sub(pattern, new, text(p))
    assert quick(p, changed).proved
    proof = prove(parse(changed, "gemm.s"), kernel.name, proving.launches(kernel), every=proving.every(kernel))
    assert proof.verdict == "unproven"
    assert "for every K it cannot be shown" in proof.statement
    assert why in proof.statement
    assert "gemm.s:" in proof.statement


def test_a_far_tile_is_that_of_the_workgroup_which_has_it() -> None:
    p = VARIANTS["tn in groups"]
    kernel = rung(name_of(p))
    proof = prove(parse(text(p)), kernel.name, proving.far_launches(kernel), whole=False)
    assert proof.proved, str(proof)


FAULTS = faults("definition/matrix")


@pytest.mark.parametrize("name", FAULTS)
def test_faults_are_found(name: str) -> None:
    assert_refused(name, FAULTS, VARIANTS, text)


RDNA4 = faults("definition/matrix-rdna4")


@pytest.mark.parametrize("name", RDNA4)
def test_faults_of_rdna4_are_found(name: str) -> None:
    assert_refused(name, RDNA4, VARIANTS | OF_RDNA4, text, "gfx1201")


def test_a_wait_for_an_sgpr_that_is_left_out_is_no_proof() -> None:
    lines = text(SMALL, "gfx1201").splitlines(keepends=True)
    first = next(i for i, line in enumerate(lines) if "s_wait_alu" in line)
    proof = proving.generated(rung(name_of(SMALL)), parse("".join(lines[:first] + lines[first + 1 :])))
    assert proof.verdict == "unproven"
    assert "HAZ009" in str(proof)


def test_a_term_is_no_word_of_bytes_by_chance() -> None:
    """One element in 2^16 of f32 that are rounded to bf16 was one; 9,088 are not, here."""
    p = dataclasses.replace(
        MatrixParameters(depth=64, factor="i8", result="bf16", trans_b=True), scales=True, bias=True, activation="gelu"
    )
    at = [launch for launch in proving.launches(rung(name_of(p))) if not launch.k] + [
        launch for launch in proving.edges(rung(name_of(p))) if (launch.m, launch.k) == (128, 0)
    ]
    proof = prove(parse(text(p)), name_of(p), at, whole=False)
    assert proof.proved, str(proof)
    some = names.term("x", names.leaves(40, 1 << 20))
    assert not (some[1] >> np.uint64(56) == names.BYTES_TAG).any()


def test_a_lost_high_half_shows_in_a_far_tile() -> None:
    kernel, before = rung(name_of(SMALL)), text(SMALL)
    lost = before.replace("s_mul_hi_u32 s29, s17, s14", "s_mov_b32 s29, 0", 1)
    assert lost != before
    assert quick(SMALL, lost).proved
    assert prove(parse(lost), kernel.name, proving.far_launches(kernel), whole=False).verdict == "different"
    proof = prove(parse(lost), kernel.name, proving.launches(kernel), every=proving.every(kernel))
    assert "halves that do not belong together" in proof.statement


def test_gaps_of_a_far_tile_count() -> None:
    """The high half of C's first row times its lines is another where these have gaps."""
    p = VARIANTS["strided i8 nn"]
    kernel, before = rung(name_of(p)), text(p)
    lost = before.replace("s_mul_hi_u32 s29, s17, s60", "s_mul_hi_u32 s29, s17, s13", 1)
    assert lost != before
    assert quick(p, lost).proved
    assert not prove(parse(lost), kernel.name, proving.launches(kernel), every=proving.every(kernel)).proved


def test_each_number_of_steps_that_the_first_block_lacks_counts() -> None:
    """EXEC stays as one step's loads left it: that takes the next step's from lanes for a few K only."""
    kernel, lines = rung(name_of(SMALL)), text(SMALL).split("\n")
    number = [i for i, line in enumerate(lines) if line.strip() == "s_mov_b32 exec_lo, s31"][2]
    changed = "\n".join((*lines[:number], *lines[number + 1 :]))
    assert quick(SMALL, changed).proved
    assert prove(parse(changed), kernel.name, proving.edges(kernel), whole=False).verdict == "different"


def test_words_are_told_byte_by_byte() -> None:
    known = np.array([[256, 7, 1 << 27], [300, 0, 5], [0, 0, 255], [9000, 1, 1 << 27]], np.uint64)
    words = narrow.packed(known)
    assert words[:, 1].tolist() == [7 | 1 << 24, 0]
    found, whole = narrow.unpacked(words)
    assert np.array_equal(found, known)
    assert whole.all()
    assert not narrow.unpacked(np.array([[3], [5]], np.uint64))[1].any()  # a term
    zero = np.zeros((2, 1, 1), np.uint64)
    some, other = words[:, :1, None], words[:, 3:4, None]
    assert not narrow.dot("f16", zero, zero, zero).any()
    assert (narrow.dot("f16", some, some, zero) != narrow.dot("bf16", some, some, zero)).any()
    first, second = (narrow.dot("f16", some, some, zero, half) for half in (0, 1))
    assert (first != second).any()
    once = narrow.dot("i8", some, some, zero, 0)
    again = narrow.dot("i8", some, some, narrow.dot("i8", other, some, zero, 0), 1)
    assert (narrow.dot("i8", other, some, once, 0) == again).all()
