"""Assembler expressions have the value that LLVM's assembler gives them; what is none has no value."""

from pathlib import Path

import pytest

from hipgemm.kernels.build import build, linked
from hipgemm.kernels.files import read_kernel
from isa import toolchain
from isa.asm.expression import value
from isa.asm.parse import parse
from isa.errors import IsaError
from isa.object.from_text import TextCode

SYMBOLS = {"k.num_vgpr": "max(4, .Lf.num_vgpr)", ".Lf.num_vgpr": "23", "k.num_agpr": "0", "a": "-7", "b": "0x13",
           "c": "a+b*2"}  # fmt: skip
VALUES = (
    "max(totalnumvgprs(k.num_agpr, k.num_vgpr), 1, 0)", "max(k.num_vgpr+2, 1, 0)-2", "or(0, 5, b)", "0+max(b)",
    "(alignto(max(k.num_vgpr, 1), 8)/8)-1", "alignto(17, 12)", "1+2*3", "1|2+4", "1|2*3", "a/2", "a%3", "a>>1", "1<<b",
    "-a", "~b", "!b", "!0", "5&6^3", "2-3-4", "a<b", "b<=19", "a==b", "a!=b", "(1+2)*(3-b)", "c", "0b101+017", "0&&1",
    "3||0", "1<2+4", "extrasgprs(1, 0, 0)", "extrasgprs(0, 0, 0)", "-9223372036854775807-1", "9223372036854775807*2",
)  # fmt: skip
MARK = 0x5EEDF00D12345678


def test_values_are_those_of_llvms_assembler(tmp_path: Path) -> None:
    text = '\t.amdgcn_target "amdgcn-amd-amdhsa--gfx1100"\n\t.text\n\ts_endpgm\n\t.data\n'
    text += "".join(f"\t.set {name}, {said}\n" for name, said in reversed(SYMBOLS.items()))
    text += "".join(f"\t.quad {said}\n" for said in (hex(MARK), *VALUES))
    (tmp_path / "e.s").write_text(text)
    toolchain.find().assemble(tmp_path / "e.s", tmp_path / "e.o", arch="gfx1100")
    image = (tmp_path / "e.o").read_bytes()
    at = image.index(MARK.to_bytes(8, "little")) + 8
    for number, said in enumerate(VALUES):
        there = int.from_bytes(image[at + 8 * number :][:8], "little", signed=True)
        assert value(said, SYMBOLS) == there, said


@pytest.mark.parametrize("said", ["", "1+", "missing", "max()", "(1", "1)", "1/0", "f(1)", "1<<64", "alignto(1)", "09"])
def test_what_has_no_value(said: str) -> None:
    assert value(said, {}) is None


def test_a_symbol_by_way_of_itself_has_no_value() -> None:
    assert value("x", {"x": "y+1", "y": "x"}) is None


def test_a_kernel_that_calls_through_a_table_is_read_as_its_code_object(tmp_path: Path) -> None:
    """And does not stand in the way of the kernel beside it."""
    (tmp_path / "t.hip").write_text("""#include <hip/hip_runtime.h>
__device__ __noinline__ float f(float x, int n) { for (int i = 0; i < n; ++i) x = x * x + 1; return x; }
__device__ __noinline__ float g(float x, int n) { for (int i = 0; i < n; ++i) x = x * x - 1; return x; }
__device__ float (*table[2])(float, int) = {f, g};
extern "C" __global__ void calls(float* a, int n) { a[threadIdx.x] = table[n & 1](a[threadIdx.x], n); }
extern "C" __global__ void plain(float* a, int n) { a[threadIdx.x] *= n; }
""")
    made = linked(read_kernel(str(tmp_path / "t.hip"), "plain"), runs=False)
    program = made.program
    assert program is not None
    line = program.lines[program.kernel("calls").descriptor["next_free_vgpr"]].text
    if "max(" not in line:
        pytest.skip("this compiler writes the count of a kernel that calls as a number")
    text = TextCode.of(program, "gfx1100")
    for name in ("calls", "plain"):
        want, got = made.code_object.kernel(name), text.kernel(name)
        assert (got.descriptor.vgprs, got.vgprs, got.sgprs) == (want.descriptor.vgprs, want.vgprs, want.sgprs)


def test_a_count_without_a_value_is_said_whole() -> None:
    text = build("kernel1").assembly.read_text()
    at = text.index(".amdhsa_next_free_vgpr")
    text = f"{text[:at]}.amdhsa_next_free_vgpr max(other.num_vgpr, 1) ;{text[at:]}"
    with pytest.raises(IsaError, match="next_free_vgpr is not a number") as error:
        TextCode.of(parse(text, "k.s"), "gfx1100")
    assert error.value.got == "max(other.num_vgpr, 1)"
