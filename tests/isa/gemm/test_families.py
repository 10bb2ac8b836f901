"""Generated kernels for each family: its own words, taken by LLVM, lint content, and the same sums."""

from __future__ import annotations

import pytest
from launching import assert_right, image, program

from isa.gemm.matrix.parameters import MatrixParameters
from isa.gemm.vector.parameters import ParameterError, Parameters
from isa.lint import lint
from isa.passes.words import in_words
from isa.targets import target

ARCHES = "gfx1100", "gfx1201"
SMALL = Parameters(rows=64, columns=64, thread_rows=4, thread_columns=4, group=1, stages=1)
STREAMED = Parameters(rows=64, columns=64, thread_rows=4, thread_columns=4, stream_k=True)


@pytest.mark.parametrize("arch", ARCHES)
@pytest.mark.parametrize("p", [SMALL, STREAMED], ids=["plain", "stream-K"])
def test_it_has_the_words_of_its_family(p: Parameters, arch: str) -> None:
    kernel, on = program(p, arch), target(arch)
    assert all(inst.desc.exists_on(on) for _, inst in kernel.kernel("gemm").instructions())
    found = lint.lint_program(kernel)
    assert [f for f in found if f.severity != "note"] == []
    assert image(p, arch)


@pytest.mark.parametrize("arch", ARCHES)
def test_it_computes_the_same(arch: str) -> None:
    assert_right(SMALL, 66, 35, 21, 1.5, 0.5, arch)


@pytest.mark.parametrize(
    ("line", "gfx1100", "gfx1201"),
    [
        ("wait global_load 0", "s_waitcnt vmcnt(0)", "s_wait_loadcnt 0x0"),
        ("wait lds_load 12", "s_waitcnt lgkmcnt(12)", "s_wait_dscnt 0xc"),
        ("wait smem_load 0", "s_waitcnt lgkmcnt(0)", "s_wait_kmcnt 0x0"),
        ("wait global_store 0", "s_waitcnt_vscnt null, 0x0", "s_wait_storecnt 0x0"),
        ("barrier", "s_barrier", "s_barrier_signal -1; s_barrier_wait -1"),
        ("acquire", "buffer_gl1_inv; buffer_gl0_inv", "global_inv scope:SCOPE_DEV"),
        ("group_id x s14", "", "s_mov_b32 s14, ttmp9"),
        ("group_id z s16", "", "s_bfe_u32 s16, ttmp7, 0x100010"),
        ("trans_done", "s_waitcnt_depctr 0xfff", ""),
        ("s_addc_u32 s1, s1, 0", "s_addc_u32 s1, s1, 0", "s_add_co_ci_u32 s1, s1, 0"),
        ("v_mad_u64_u32 v[0:1], null, v2, v3, v[4:5]", "v_mad_u64_u32 v[0:1], null, v2, v3, v[4:5]",
         "v_mad_co_u64_u32 v[0:1], null, v2, v3, v[4:5]"),
        ("global_load_b32 v0, v1, s[2:3] shared", "global_load_b32 v0, v1, s[2:3] glc",
         "global_load_b32 v0, v1, s[2:3] scope:SCOPE_DEV"),
    ],
)  # fmt: skip
def test_a_line_in_the_words_of_each_family(line: str, gfx1100: str, gfx1201: str) -> None:
    for arch, expected in (("gfx1100", gfx1100), ("gfx1201", gfx1201)):
        found = list(in_words(target(arch), [f"\t{line}"]))
        assert "; ".join(one.removeprefix("\t") for one in found) == expected


def test_a_line_that_is_in_nobodys_words_is_refused() -> None:
    with pytest.raises(KeyError):
        list(in_words(target("gfx1201"), ["wait nothing 0"]))


def test_a_fragment_of_bytes_has_32_steps_where_the_halves_of_a_wave_have_their_own() -> None:
    p = MatrixParameters(depth=16, factor="i8", result="i32", trans_b=True)
    assert program(p, "gfx1100")
    with pytest.raises(ParameterError, match="depth"):
        program(p, "gfx1201")
