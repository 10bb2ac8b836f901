"""Input that has not the shape a pass needs is refused: where, what was sought, what was found."""

from collections.abc import Callable
from pathlib import Path

import pytest

from isa.asm.emit import emit
from isa.asm.parse import parse
from isa.asm.program import Program
from isa.errors import IsaError
from isa.passes import run_pipeline
from isa.passes.gemm import outer_product

Compile = Callable[..., Program]
PIPELINE = "bank-balance,unroll,batch-loads"


@pytest.fixture
def spill(tmp_path: Path) -> tuple[str, ...]:
    """Flags with which a kernel may use 128 VGPRs."""
    header = tmp_path / "cap.h"
    header.write_text("""
        #include <hip/hip_runtime.h>
        #undef __launch_bounds__
        #define __launch_bounds__(n) __attribute__((amdgpu_flat_work_group_size(1, n), amdgpu_num_vgpr(128)))
    """)
    return ("-O3", "-include", str(header))


def refusal(program: Program, pipeline: str) -> IsaError:
    with pytest.raises(IsaError) as caught:
        list(run_pipeline(program, pipeline))
    return caught.value


def test_spilled_accumulators(compiled: Compile, spill: tuple[str, ...]) -> None:
    error = refusal(compiled("kernel5_lds.hip", *spill), PIPELINE)
    assert "the compiler spilled" in error.message
    assert error.span is not None
    assert "scratch_" in error.span.text
    assert error.expected == "all accumulators in VGPRs"
    assert "bytes of scratch a thread" in str(error.got)


@pytest.mark.parametrize(
    ("source", "found"),
    [
        ("kernel1_naive.hip", "1 FMA"),
        ("kernel2_lds_tiling.hip", "32 FMAs"),
        ("kernel3_register_tiling.hip", "512 FMAs"),
        ("kernel4_gmem_double_buffer.hip", "64 FMAs"),
    ],
)
def test_another_tile(compiled: Compile, source: str, found: str) -> None:
    error = refusal(compiled(source), PIPELINE)
    assert "is not that of a thread tile of 8 x 16" in error.message
    assert error.expected == "128 fp32 FMAs: a column of 8 times a row of 16"
    assert error.got == found
    assert error.span is not None


@pytest.mark.parametrize("flag", ["-O0", "-O1"])
def test_little_optimisation(compiled: Compile, flag: str) -> None:
    """-O0 keeps everything in scratch; at -O1 words are loaded one by one, so that nothing says they lie by twos."""
    error = refusal(compiled("kernel5_lds.hip", flag), "bank-balance")
    assert error.span is not None
    assert error.expected
    assert error.got


@pytest.mark.parametrize(
    ("pipeline", "message"),
    [
        ("batch-loads", "the main loop has no global loads"),
        ("bank-balance,batch-loads", "the main loop has no global loads"),
        ("unroll,bank-balance", "is not that of a thread tile of 8 x 16"),
        ("bank-balance{vgprs=160}", "needs too many VGPRs"),
        ("bank-balance,unroll{limit=4}", "runs more than 4 times"),
        ("bank-balance,unroll,batch-loads{sgprs=40}", "too few SGPRs are free"),
        ("bank-balance,unroll,batch-loads,batch-loads", "changes in the loop by a different amount in each lane"),
    ],
)
def test_a_pipeline_in_the_wrong_order_or_with_too_little_room(compiled: Compile, pipeline: str, message: str) -> None:
    error = refusal(compiled("kernel5_lds.hip"), pipeline)
    assert message in error.message
    assert error.span is not None
    assert error.span.text.startswith("\t")


def changed(program: Program, old: str, new: str, count: int = 1) -> Program:
    """The program with a line's text changed."""
    text = emit(program)
    assert old in text
    return parse(text.replace(old, new, count), program.file)


def test_accumulators_that_do_not_start_at_zero(compiled: Compile) -> None:
    program = compiled("kernel5_lds.hip")
    accumulators = outer_product.find(program.kernel(), (8, 16)).accumulators.values()
    one = next(r for r in sorted(accumulators) if any(f"v_dual_mov_b32 {r}, 0" in x.text for x in program.lines))
    error = refusal(changed(program, f"v_dual_mov_b32 {one}, 0", f"v_dual_mov_b32 {one}, 1.0"), "bank-balance")
    assert f"the accumulator {one} does not start at zero" in error.message


def test_a_store_in_the_inner_loop(compiled: Compile) -> None:
    program = compiled("kernel5_lds.hip")
    text = next(line.text for line in program.lines if line.text.startswith("\ts_cbranch_scc1"))
    error = refusal(changed(program, text, f"\tds_store_b32 v0, v1\n{text}"), "bank-balance")
    assert "accesses memory other than" in error.message
    assert error.span is not None
    assert error.span.text == "\tds_store_b32 v0, v1"


def test_a_product_that_is_added_twice(compiled: Compile) -> None:
    """One FMA with the sources of another: the outer product is not whole."""
    program = compiled("kernel5_lds.hip")
    singles = [line.text for line in program.lines if line.text.startswith("\tv_fmac_f32_e32")]
    twisted = singles[0].rpartition(",")[0] + "," + singles[1].rpartition(",")[2]
    error = refusal(changed(program, singles[0], twisted), "bank-balance")
    assert "accumulate the same product" in error.message


def test_a_loop_that_counts_to_an_argument(compiled: Compile) -> None:
    program = compiled("kernel5_lds.hip")
    text = next(line.text for line in program.lines if line.text.startswith("\ts_cmpk_lg_i32"))
    counter = text.split()[1].rstrip(",")
    error = refusal(changed(program, text, f"\ts_cmp_lg_u32 {counter}, s5"), "bank-balance,unroll")
    assert "the number of steps of the inner loop is not a constant" in error.message
