"""What ordinary kernels include and call, where there is no ROCm: half, bfloat16, cooperative groups, C++'s headers,
mathematics, printf, a program's host part. Judged by NumPy and Python's math."""

import ctypes
import importlib.util
import math
import re
from pathlib import Path

import numpy as np
import pytest
from click.testing import CliRunner
from verbs import invoked

import hipgemm
from hipgemm.cli import main
from hipgemm.kernels.build import linked
from hipgemm.kernels.compiling import device_libraries, host_api
from hipgemm.kernels.compiling import headers as hip_headers
from hipgemm.kernels.files import read_kernel
from hipgemm.simulated_hip.abi import DeviceProp, ErrorCode, FuncAttributes, PointerAttributes
from isa import toolchain
from isa.errors import IsaError

pytestmark = [
    pytest.mark.skipif(not list(toolchain.available()), reason="no compiler for gfx11 here"),
    pytest.mark.skipif(hip_headers.amds_header() is None, reason="no rocm-llvm-python here"),
]

BLOCKS = Path(__file__).with_name("sources").joinpath("hip_headers_blocks.hip").read_text()
MATHEMATICS = """
#include <hip/hip_runtime.h>
#include <cstdio>
extern "C" __global__ void f(const double *x, float *narrow, double *wide) {
    int i = threadIdx.x;
    narrow[i] = sinf(x[i]) + erff(x[i]);
    wide[i] = exp(x[i]) + atan2(x[i], 2.0) + M_PI;
    if (i == 3) printf("%d %s %.3f\\n", i, "lane", x[i]);
}
"""
GROUPS = Path(__file__).with_name("sources").joinpath("hip_headers_groups.hip").read_text()
PROGRAM = Path(__file__).with_name("sources").joinpath("hip_headers_program.hip").read_text()


@pytest.fixture
def without_libraries(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(device_libraries, "_folders", lambda: iter([str(tmp_path)]))


def _written(folder: Path, text: str) -> Path:
    (folder / "own.hip").write_text(text)
    return folder / "own.hip"


@pytest.mark.usefixtures("without_libraries")
def test_half_bfloat16_groups_and_standard_headers_need_no_library(tmp_path: Path) -> None:
    x = np.linspace(-3, 5, 50, dtype=np.float16)
    y, z = np.zeros((50, 2), np.float16), np.zeros(50, np.float32)
    hipgemm.kernel(_written(tmp_path, BLOCKS), "sums")(2, 32, x, y, z, 50)
    tops = np.concatenate([np.full(len(part), part.max()) for part in np.split(x, range(8, 50, 8))])
    assert np.array_equal(y, np.stack([x, tops], 1) + np.float16(1))
    bits = x.astype(np.float32).view(np.uint32)
    rounded = (bits + 0x7FFF + (bits >> 16 & 1)) & np.uint32(0xFFFF0000)
    assert np.array_equal(z.view(np.uint32), rounded)


LIBRARIES = """
#include <hip/hip_runtime.h>
#include <hip/hip_bf16.h>
#include <new>
#include "own.h"
#ifndef HIP_INCLUDE_HIP_AMD_DETAIL_HOST_DEFINES_H
#error Thrust takes its own __host__ away here
#endif
struct Item { int x; __host__ __device__ Item(int x) : x(x) {} };
extern "C" __global__ void made(int *x) {
    alignas(Item) char room[sizeof(Item)];
    Item *item = new (room) Item(OWN + threadIdx.x);
    __hip_bfloat162 a(1.0f, 4.0f), b(3.0f, threadIdx.x);
    x[threadIdx.x] = 100 * item->x + 10 * (a < b) + (a != b && !(a == b));
}
"""


@pytest.mark.usefixtures("without_libraries")
def test_what_rocprim_hipcub_and_thrust_ask_of_the_headers(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Placement new on the device, pairs of bfloat16 in order, a guard; their folder is named from here."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "inc").mkdir()
    (tmp_path / "inc/own.h").write_text("#define OWN 3\n")
    x = np.zeros(8, np.int32)
    hipgemm.kernel(_written(tmp_path, LIBRARIES), "made", flags=["-Iinc"])(1, 8, x)
    assert x.tolist() == [100 * (3 + i) + 10 * (i > 4) + 1 for i in range(8)]
    (tmp_path / "program.hip").write_text(f"{LIBRARIES}int main() {{ return OWN; }}\n")
    built = CliRunner().invoke(main, ["build", "--program", "program.hip", "-o", ".", "--", "-Iinc"])
    assert built.exit_code == 0, built.output


@pytest.mark.usefixtures("without_libraries")
def test_headers_are_not_warned_of(tmp_path: Path) -> None:
    flags = ["--", "-ffast-math", "-Wall", "-Wextra", "-Wpedantic", "-Werror"]
    kernel = 'extern "C" __global__ void __launch_bounds__(64) f(float *x) { *x = 2.0f * sinf(*x); }\n'
    source = _written(tmp_path, f"#include <hip/hip_runtime.h>\n{kernel}")
    assert CliRunner().invoke(main, ["build", str(source), "-o", str(tmp_path), *flags]).exit_code == 0


@pytest.mark.usefixtures("without_libraries")
def test_mathematics_and_printf_need_no_library(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    x = np.linspace(-2, 2.1, 32)
    narrow, wide = np.zeros(32, np.float32), np.zeros(32)
    hipgemm.kernel(_written(tmp_path, MATHEMATICS), "f")(1, 32, x, narrow, wide)
    assert narrow == pytest.approx([math.sin(v) + math.erf(v) for v in x], abs=1e-6)
    right = [math.exp(v) + math.atan2(v, 2) + math.pi for v in x]
    assert wide == pytest.approx(right, abs=1e-14)
    assert capfd.readouterr().out == f"3 lane {x[3]:.3f}\n"


@pytest.mark.usefixtures("without_libraries")
def test_what_a_launch_printed_before_it_trapped_is_told(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    text = 'extern "C" __global__ void f(int n) {\n    printf("%d\\n", n);\n    if (n > 1) __builtin_trap();\n}\n'
    kernel = hipgemm.kernel(_written(tmp_path, f"#include <hip/hip_runtime.h>\n#include <cstdio>\n{text}"))
    with pytest.raises(IsaError, match="the kernel traps"):
        kernel(1, 1, 7)
    assert capfd.readouterr().out == "7\n"


@pytest.mark.usefixtures("without_libraries")
def test_a_function_that_is_nowhere_is_a_note_for_who_does_not_run_it(
    tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    text = 'extern "C" __device__ float __ocml_unknown_f32(float);\n'
    text += 'extern "C" __global__ void f(float *x) { *x = __ocml_unknown_f32(*x); }\n'
    file = _written(tmp_path, "#include <hip/hip_runtime.h>\n" + text)
    with pytest.raises(IsaError, match=r"__ocml_unknown_f32(.|\n)*help: .*rocm-device-libs"):
        linked(read_kernel(str(file)))
    made = linked(read_kernel(str(file)), runs=False)
    assert "not defined: __ocml_unknown_f32" in made.lacks
    for verb in ("lint", "inspect"):
        with pytest.raises(SystemExit) as stopped:
            main([verb, str(file)])
        assert stopped.value.code == 0
        assert "note: " in capfd.readouterr().err


def test_device_libraries_are_those_that_were_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in device_libraries.NAMES:
        (tmp_path / name).touch()
    monkeypatch.setenv("HIP_DEVICE_LIB_PATH", str(tmp_path))
    assert device_libraries.folder() == tmp_path
    monkeypatch.delenv("HIP_DEVICE_LIB_PATH")
    monkeypatch.setattr(device_libraries, "_folders", lambda: iter([str(tmp_path)]))
    assert device_libraries.folder() is None  # older than the header
    (tmp_path / "ockl.bc").write_bytes(b"BC __ockl_steadyctr_u64")
    assert device_libraries.folder() == tmp_path
    device_libraries.choose("own")
    assert device_libraries.folder() is None
    with pytest.raises(SystemExit) as stopped:
        main(["lint", str(_written(tmp_path, MATHEMATICS)), "--device-libs", str(tmp_path / "none")])
    assert stopped.value.code == 2


@pytest.mark.usefixtures("without_libraries")
def test_votes_of_a_workgroup_memory_of_a_heap_and_a_grids_barrier_need_no_library(tmp_path: Path) -> None:
    x = np.arange(96, dtype=np.int32)
    found, kept = np.zeros((96, 4), np.int32), np.zeros(96, np.int32)
    k = hipgemm.kernel(_written(tmp_path, GROUPS), "groups")
    k(1, 96, x, found, kept)
    assert (found == [np.sum(x % 3 == 0), 0, 1, x.sum()]).all()
    assert np.array_equal(kept, x * 7)


@pytest.mark.usefixtures("without_libraries")
def test_every_name_that_amds_header_asks_of_the_libraries_is_there_but_images(tmp_path: Path) -> None:
    header = hip_headers.amds_header()
    assert header
    names = {*re.findall(r"\b(__oc[mk]l_\w+)\s*\(", header.read_text())}
    names = {name for name in names if not re.search("image|gws|(frexp|modf|remquo|sincos|sincospi)_f", name)}
    uses = "".join(f"p[{i}] = (void *)&{name};\n" for i, name in enumerate(sorted(names)))
    text = f'#include <hip/hip_fp16.h>\n#include <cmath>\nextern "C" __global__ void k(void **p) {{ {uses} }}'
    assert len(names) > 300
    assert linked(read_kernel(str(_written(tmp_path, text)))).image


@pytest.mark.usefixtures("without_libraries")
def test_a_program_with_its_host_part_needs_no_rocm(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(hip_headers, "_rocm", lambda: None)
    made = linked(read_kernel(str(_written(tmp_path, PROGRAM))))
    assert made.name == "_Z4lostPfi"


def test_the_hosts_declarations_are_those_of_the_simulated_runtime(tmp_path: Path) -> None:
    """Its structures and codes are written from HIP's headers apart from this: the compiler compares both."""
    facts = [f"hipError{code.name} == {code.value}" for code in ErrorCode if code is not ErrorCode.Success]
    structures = {
        "hipDeviceProp_t": DeviceProp,
        "hipPointerAttribute_t": PointerAttributes,
        "hipFuncAttributes": FuncAttributes,
    }
    for name, structure in structures.items():
        facts.append(f"sizeof({name}) == {ctypes.sizeof(structure)}")
        fields = [field[0] for field in structure._fields_ if field[0] not in ("textureLimits", "hipReserved")]
        facts += [f"offsetof({name}, {field}) == {getattr(structure, field).offset}" for field in fields]
    text = "#include <hip/hip_runtime.h>\n#include <hip/hiprtc.h>\n#include <cstddef>\n"
    text += "".join(f'static_assert({fact}, "");\n' for fact in facts)
    text += "static_assert(HIPRTC_ERROR_INTERNAL_ERROR == 11);\n__global__ void k() {}\n"
    assert linked(read_kernel(str(_written(tmp_path, text)))).image


def test_an_older_hip_python_declares_too(monkeypatch: pytest.MonkeyPatch) -> None:
    """It has no rocm.bindings, though rocm-llvm-python has a `rocm`."""
    there = importlib.util.find_spec
    monkeypatch.setattr(importlib.util, "find_spec", lambda name: None if name == "rocm.bindings" else there(name))
    assert not any("bindings" in file.parts for file in host_api._declarations().values())


def test_the_attempt_that_came_furthest(tmp_path: Path) -> None:
    source = (tmp_path / "a.hip").resolve()
    early, late = (f"{source}:{line}:1: fatal error: 'x.h' file not found\n" for line in (2, 9))
    system = f"In file included from {source}:40:\n/usr/include/stdio.h:33:10: fatal error: 'stddef.h' file not found\n"
    included = f"In file included from {source}:20:\n/tmp/b.h:1:1: error: unknown\n/tmp/b.h:2:2: error: unknown\n"
    order = [system, early, late, included]
    mixed = [late, included, system, early]
    assert sorted(mixed, key=lambda said: hip_headers._reached(said, source)) == order


def test_launches_as_a_function(tmp_path: Path) -> None:
    """Of kernels with commas in their names, where a source asks for it before it includes HIP's header."""
    text = "#define HIP_TEMPLATE_KERNEL_LAUNCH\n#include <hip/hip_runtime.h>\n"
    text += "template <int A, int B> __global__ void k(float *x, int n) { x[threadIdx.x] = A + B + n; }\n"
    text += "template <int A, class T> __global__ void l(T *x, T n) { x[threadIdx.x] = A + n; }\n"
    text += "void start(float *x) { hipLaunchKernelGGL(k<1, 2>, 1, 64, 0, hipStreamDefault, x, 7u);\n"
    text += "hipLaunchKernelGGL(l<1>, dim3(1), dim3(64), 0, hipStreamDefault, x, 7.0f); }\n"
    kernels = linked(read_kernel(str(_written(tmp_path, text)))).code_object.kernels
    assert sorted(kernels) == ["_Z1kILi1ELi2EEvPfi", "_Z1lILi1EfEvPT0_S0_"]


def test_folders_of_the_user_come_before_the_projects(tmp_path: Path) -> None:
    """Unless they have a HIP of their own, which ziglang cannot compile with."""
    (tmp_path / "mine/hip").mkdir(parents=True)
    (tmp_path / "mine/hip/hip_bf16.h").write_text("#define MINE 7\n")
    text = (
        "#include <hip/hip_runtime.h>\n#include <hip/hip_bf16.h>\nstatic_assert(MINE == 7);\n__global__ void k() {}\n"
    )
    kernel = read_kernel(str(_written(tmp_path, text)), flags=("-O3", f"-I{tmp_path / 'mine'}"))
    assert linked(kernel).image
    for name in ("hip_runtime.h", "hip_bf16.h"):
        (tmp_path / "mine/hip" / name).write_text("#error not for this compiler\n")
    _written(tmp_path, text.replace("static_assert(MINE == 7);", ""))
    assert linked(kernel).image


@pytest.mark.skipif(
    hip_headers._rocm() is None or not any(tools.kind == "clang" for tools in toolchain.available()),
    reason="no HIP headers, or no clang of the system",
)
def test_a_whole_program_is_read_with_real_headers(tmp_path: Path) -> None:
    assert linked(read_kernel(str(_written(tmp_path, PROGRAM)))).image


def test_of_errors_those_are_told_under_which_least_is_wrong(tmp_path: Path) -> None:
    source = _written(tmp_path, BLOCKS.replace("top = v;", "top = missing;"))
    with pytest.raises(IsaError) as error:
        linked(read_kernel(str(source)))
    assert str(error.value).count("error:") == 1
    assert "'missing'" in str(error.value)


def test_where_the_compiler_crashes_it_compiles_with_less(tmp_path: Path) -> None:
    asked = []

    def attempt(flags: list[str]) -> str:
        asked.append(flags)
        if "-O1" not in flags:
            raise toolchain.ToolError("zig: error: clang frontend command failed with exit code 139")
        return "said"

    said = hip_headers.as_asked(attempt, ["-O3"])
    assert (asked, said.splitlines()[1:]) == ([["-O3"], ["-O3", "-O1"]], ["said"])
    assert "crashed" in said


def test_what_the_projects_own_header_serves_is_compiled_with_it(tmp_path: Path) -> None:
    tools = toolchain.find()
    if tools.kind == "hipcc":
        pytest.skip("hipcc has headers of its own")
    first = next(hip_headers.choices(tools, "gfx1100"))
    plain = "#include <hip/hip_runtime.h>\n__global__ void k(float *x) { x[threadIdx.x] = 1; }\n"
    made = [tmp_path / name for name in ("by_choice.s", "own.s")]
    given = {"arch": "gfx1100", "cu_mode": False, "flags": ("-O3",)}
    hip_headers.compile_kernel(tools, _written(tmp_path, plain), made[0], **given)
    tools.compile(tmp_path / "own.hip", made[1], include=first.include, **given)
    assert made[0].read_bytes() == made[1].read_bytes()


_PRODUCT = """typedef _Float16 h __attribute__((ext_vector_type({})));
typedef float f __attribute__((ext_vector_type(8)));
__global__ void k(f *c, h *a) {{ *c = __builtin_amdgcn_wmma_f32_16x16x16_f16_w32{}(a[0], a[1], *c); }}
"""


@pytest.mark.parametrize(("arch", "elements", "ending", "says"), [
    ("gfx1201", 16, "", "end in _gfx12, and take half"), ("gfx1100", 8, "_gfx12", "have no _gfx12, and take twice"),
])  # fmt: skip
def test_matrix_builtins_of_another_family_are_named(
    arch: str, elements: int, ending: str, says: str, tmp_path: Path
) -> None:
    (tmp_path / "k.hip").write_text("#include <hip/hip_runtime.h>\n" + _PRODUCT.format(elements, ending))
    done = CliRunner().invoke(main, ["lint", "--arch", arch, str(tmp_path / "k.hip")])
    assert (done.exit_code, says in done.stderr) == (2, True), done.stderr


@pytest.mark.parametrize(("name", "says"), [
    ("hipcub/hipcub.hpp", "hipcub is a library of its own"), ("rocwmma/rocwmma.hpp", "rocwmma is a library of its own"),
    ("cuda_runtime.h", "hipify-perl"),
])  # fmt: skip
def test_a_header_that_is_not_hips_is_said_to_be(name: str, says: str, tmp_path: Path) -> None:
    (tmp_path / "k.hip").write_text(f"#include <{name}>\n__global__ void k() {{}}\n")
    assert says in invoked(["lint", str(tmp_path / "k.hip")], code=2).stderr


def test_textures_are_said_not_to_be_supported(tmp_path: Path) -> None:
    kernel = "__global__ void k(float *x, hipTextureObject_t t) { *x = tex2D<float>(t, 1, 2); }\n"
    (tmp_path / "k.hip").write_text(f"#include <hip/hip_runtime.h>\n{kernel}")
    done = CliRunner().invoke(main, ["run", str(tmp_path / "k.hip"), *"--grid 1 --block 1 --arg zeros:f32:1".split()])
    said = re.search("textures and surfaces are not supported|images, samplers .* are not simulated", done.stderr)
    assert (done.exit_code, bool(said)) == (2, True), done.stderr  # by ROCm's headers, where a clang finds them, images
