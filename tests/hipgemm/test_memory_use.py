"""What `time` says a launch moves, against numbers that follow from the kernel; LDS conflicts and the pads that end
them; the loops of `inspect`."""

import dataclasses
import json
from pathlib import Path

import pytest
from click.testing import CliRunner

import hipgemm
from hipgemm.cli import main
from hipgemm.judge.memory_use import MemoryUse
from hipgemm.judge.operations import kind_of, operations, rate
from hipgemm.kernels.build import linked
from hipgemm.kernels.files import read_kernels
from hipgemm.launch.launch import Launch
from hipgemm.launch.words import argument
from hipgemm.optimise import clock as opt_clock
from hipgemm.report.timing import limit, moved
from isa import toolchain
from isa.asm.parse import parse
from isa.object.to_text import text_of
from isa.passes import run_pipeline
from isa.targets import target
from isa.timing.machine import cards, families

pytestmark = pytest.mark.skipif(not list(toolchain.available()), reason="no compiler for gfx11 here")
OWN = Path(__file__).parent / "own"
N = 1024
TRANSPOSE = """#include <hip/hip_runtime.h>
extern "C" __global__ void __launch_bounds__(1024) transpose(const float *in, float *out, int n) {
    __shared__ TYPE tile[32][32 + PAD];
    int x = blockIdx.x * 32 + threadIdx.x, y = blockIdx.y * 32 + threadIdx.y;
    tile[threadIdx.y][threadIdx.x] = in[y * n + x];
    __syncthreads();
    out[(blockIdx.x * 32 + threadIdx.y) * n + blockIdx.y * 32 + threadIdx.x] = tile[threadIdx.x][threadIdx.y];
}
"""


def use_of(kernel: hipgemm.RawKernel, *launch: object) -> MemoryUse:
    found = kernel.time(*launch).use
    assert found is not None
    return found


def transposed(tmp_path: Path, pad: int, type_: str = "float") -> MemoryUse:
    file = tmp_path / "transpose.hip"
    file.write_text(TRANSPOSE.replace("PAD", str(pad)).replace("TYPE", type_))
    kernel = hipgemm.kernel(file, flags=("-gline-tables-only",))
    return use_of(kernel, (N // 32, N // 32), (32, 32), f"random:f32:{N}x{N}", f"zeros:f32:{N}x{N}", N)


def test_a_conflict_and_its_pad(tmp_path: Path) -> None:
    """All lanes of a column in one bank; the pad that is named ends it; the line is the one that reads the column."""
    (found,) = transposed(tmp_path, 0).conflicts
    assert (found.cycles, found.free, found.row, found.pad) == (32, 1, 128, 1)
    assert found.place.startswith("transpose.hip:7 ")
    assert found.text.startswith("ds_load_b32")
    assert transposed(tmp_path, 1).conflicts == ()
    (half,) = transposed(tmp_path, 16).conflicts
    assert half.cycles == 16


def test_many_conflicts(tmp_path: Path) -> None:
    """The costliest eight are named, in the order of the code."""
    use = transposed(tmp_path, 0)
    many = [dataclasses.replace(use.conflicts[0], place=f"line {n}", cycles=2 + n % 5) for n in range(10)]
    lines = moved(dataclasses.replace(use, conflicts=tuple(many))).splitlines()
    assert [line.split(":")[0].strip() for line in lines if " removes the conflict" in line] == [
        f"line {n}" for n in (1, 2, 3, 4, 6, 7, 8, 9)
    ]
    assert lines[-1] == "  and 2 more that cost as much or less: --json"


def test_the_rows_that_pad_lds_is_asked_for_end_the_conflict(tmp_path: Path) -> None:
    """The clock of a launch names the row and the pad of the column; with them nothing conflicts any more, and where a
    launch adds LDS nothing is named."""
    file = tmp_path / "transpose.hip"
    file.write_text(TRANSPOSE.replace("PAD", "0").replace("TYPE", "float"))
    (kernel,) = read_kernels(str(file))
    program = text_of(linked(kernel, runs=False).code_object, "transpose")
    words = (f"random:f32:{N}x{N}", f"zeros:f32:{N}x{N}", f"i32:{N}")
    launch = Launch((N // 32, N // 32, 1), (32, 32, 1), tuple(argument(word, i) for i, word in enumerate(words)))
    clock = opt_clock.of_launch("transpose", launch, cards.card("7900 XTX"))
    assert clock.shapes(program) == ("pad-lds{row=128 pad=4}",)
    *_, (_, made) = run_pipeline(program, "pad-lds{row=128 pad=4}")
    assert clock.shapes(made) == ()
    assert clock.quick(made) < clock.quick(program)
    more = opt_clock.of_launch("transpose", dataclasses.replace(launch, dynamic_lds=64), cards.card("7900 XTX"))
    assert more.shapes(program) == ()


def test_bytes_follow_from_the_arrays(tmp_path: Path) -> None:
    found = transposed(tmp_path, 1)
    levels = {level.name: level for level in found.levels}
    assert levels["memory"].bytes == found.stored == 4 * N * N
    assert levels["memory"].share is not None
    assert 0 < levels["memory"].share < 1
    assert found.operations == 0
    kernel = hipgemm.kernel(OWN / "saxpy.hip")
    found = use_of(kernel, 256, 256, 65536, 2.0, "arange:f32:65536", "arange:f32:65536")
    assert (found.operations, found.stored) == (2 * 65536, 4 * 65536)
    assert found.levels[-1].bytes == 2 * 4 * 65536
    assert found.intensity == pytest.approx(2 / 12)


def test_loops_of_a_gemm() -> None:
    found = use_of(hipgemm.kernel("kernel5"))
    inner = max(found.loops, key=lambda loop: loop.operations)
    assert inner.depth == 2
    assert inner.operations == 2 * 4096**3
    assert inner.loaded == 0
    outer = next(loop for loop in found.loops if loop.depth == 1)
    assert outer.rounds == 4096 / 8
    assert found.intensity is not None
    assert found.intensity > found.ridge
    assert found.conflicts == ()


def test_it_is_shown_and_in_the_json(tmp_path: Path) -> None:
    file = tmp_path / "transpose.hip"
    file.write_text(TRANSPOSE.replace("PAD", "0").replace("TYPE", "float"))
    launch = "--grid 4,4 --block 32,32 --arg random:f32:128x128 --arg zeros:f32:128x128 --arg i32:128".split()
    done = CliRunner().invoke(main, ["time", str(file), *launch, "-g"])
    assert "ds_load_b32" in done.stdout
    assert "32 cycles, 1 without; 1 dword after each 128 bytes removes the conflict" in done.stdout
    assert "limited by  no unit's peak" in done.stdout
    done = CliRunner().invoke(main, ["time", str(file), *launch, "--json"])
    assert json.loads(done.stdout)["memory"]["conflicts"][0]["pad"] == 1


LOOP = """#include <hip/hip_runtime.h>
extern "C" __global__ void k(TYPE *a) {
    const int i = blockIdx.x * 256 + threadIdx.x;
    TYPE x[4] = {a[i], a[i] + 1, a[i] + 2, a[i] + 3};
    for (int round = 0; round < ROUNDS; round++)
        for (int i = 0; i < 4; i++) STATEMENT;
    a[i] = x[0] + x[1] + x[2] + x[3];
}
"""
KNOWN = {
    "f64 arithmetic": ("x[i] = x[i] * x[i] + 0.5", "double", 64, "VALU"),
    "integers": ("x[i] = (x[i] ^ x[i] >> 7) * 0x9E3779B1u", "unsigned", 64, "VALU"),
    "transcendentals": ("x[i] = __builtin_amdgcn_exp2f(x[i])", "float", 256, "VALU or transcendental unit"),
    "a copy": ("x[i] = x[i] + 1", "float", 1, "memory"),
}
"""What a kernel does to four numbers in each of so many rounds, for 2^22 elements, and the unit that limits it."""


@pytest.mark.parametrize("name", KNOWN)
def test_a_kernel_is_limited_by_the_unit_that_it_keeps_busy(name: str, tmp_path: Path) -> None:
    statement, type_, rounds, unit = KNOWN[name]
    file = tmp_path / "k.hip"
    file.write_text(LOOP.replace("TYPE", type_).replace("ROUNDS", str(rounds)).replace("STATEMENT", statement))
    word = {"double": "f64", "unsigned": "u32", "float": "f32"}[type_]
    found = use_of(hipgemm.kernel(file), 1 << 14, 256, f"random:{word}:{1 << 22}").limit
    assert found.unit in unit.split(" or ")
    assert found.cause is None
    assert found.share > 0.8


CONFLICTS = """#include <hip/hip_runtime.h>
extern "C" __global__ void __launch_bounds__(256) k(float *a) {
    __shared__ float tile[32][256];
    for (int i = threadIdx.x; i < 32 * 256; i += 256) tile[0][i] = i;
    __syncthreads();
    float sum = 0;
    for (int round = 0; round < 64; round++) sum += tile[0][32 * (threadIdx.x % 32) + round];
    a[blockIdx.x * 256 + threadIdx.x] = sum;
}
"""


def test_bank_conflicts_keep_the_lds_busy(tmp_path: Path) -> None:
    file = tmp_path / "k.hip"
    file.write_text(CONFLICTS)
    found = use_of(hipgemm.kernel(file), 2048, 256, f"zeros:f32:{2048 * 256}").limit
    assert (found.unit, found.cause) == ("LDS", None)


def test_where_no_unit_is_busy_the_cause_of_lost_cycles_is_named() -> None:
    found = use_of(hipgemm.kernel(OWN / "saxpy.hip"), 4, 256, 1000, 2.0, "arange:f32:1000", "arange:f32:1000")
    assert found.limit.share < 0.1
    assert found.limit.name == "launch"
    assert found.limit.idle == found.limit.units - 4
    assert "no unit's peak" in limit(found)


def test_inspect_shows_loops_without_multiply_adds(tmp_path: Path) -> None:
    found = hipgemm.kernel(OWN / "softmax.hip").inspect()
    assert len(found.loops) == 3
    first = found.loops[0]
    assert (first.depth, first.loaded, first.stored, first.operations) == (1, 4, 0, 0)
    done = CliRunner().invoke(main, ["inspect", str(OWN / "softmax.hip")])
    assert "loop at" in done.stdout


@pytest.mark.parametrize(
    ("text", "count"),
    [
        ("v_fma_f32 v0, v1, v2, v3", 2),
        ("v_dual_fmac_f32 v0, v2, v4 :: v_dual_mul_f32 v1, v3, v5", 3),
        ("v_pk_fma_f16 v0, v1, v2, v3", 4),
        ("v_add_nc_u32 v0, v1, v2", 0),
        ("v_max_f32 v0, v1, v2", 0),
        ("v_cvt_f32_i32 v0, v1", 0),
        ("v_wmma_f32_16x16x16_f16 v[0:7], v[8:15], v[16:23], v[0:7]", 256),
    ],
)
def test_operations(text: str, count: int) -> None:
    (inst,) = [line.instruction for line in parse(f"\t{text}\n", "x.s").lines if line.instruction]
    assert operations(inst) == count


@pytest.mark.parametrize(
    ("arch", "text", "tops"),
    [
        ("gfx1201", "v_wmma_f32_16x16x16_bf16 v[0:7], v[8:11], v[12:15], v[0:7]", 194.6),
        ("gfx1201", "v_wmma_i32_16x16x16_iu8 v[0:7], v[8:9], v[10:11], v[0:7]", 389.3),
        ("gfx1201", "v_wmma_i32_16x16x32_iu4 v[0:7], v[8:9], v[10:11], v[0:7]", 778.6),
        ("gfx1100", "v_wmma_i32_16x16x16_iu8 v[0:7], v[8:11], v[12:15], v[0:7]", 122.9),
        ("gfx1100", "v_wmma_i32_16x16x16_iu4 v[0:7], v[8:9], v[10:11], v[0:7]", 245.8),
    ],
)
def test_the_peak_of_matrix_units_is_that_of_the_type(arch: str, text: str, tops: float) -> None:
    """AMD's figures for a 9070 XT at 2.97 GHz (194.6 and 389 TFLOP/s) and a 7900 XTX at 2.5 GHz (122.8)."""
    program = parse(f"\t{text}\n", "x.s", target(arch))
    (inst,) = [line.instruction for line in program.lines if line.instruction]
    cus, ghz = (64, 2.97) if arch == "gfx1201" else (96, 2.5)
    each = rate(kind_of(inst), inst, families.values(arch))
    assert each * 32 * 2 * cus * ghz / 1000 == pytest.approx(tops, rel=2e-3)
