"""Numbers that a launch gives, against the types that the compiler of a source, or a code object's metadata, says."""

import random
import re
from contextlib import nullcontext
from pathlib import Path

import numpy as np
import pytest
from click.testing import CliRunner, Result
from verbs import invoked

import hipgemm
from hipgemm.cli import main
from hipgemm.kernels.build import linked
from hipgemm.kernels.files import read_kernel
from hipgemm.launch import words
from hipgemm.launch.launch import Array, BadLaunch, element
from isa import toolchain

pytestmark = pytest.mark.skipif(not list(toolchain.available()), reason="no compiler for gfx11 here")
TYPED = """#include <hip/hip_runtime.h>
struct Pair { int a; float b; };
extern "C" __global__ void plain(const float* x, int n, float a, bool on, Pair p, float* y) {
  y[threadIdx.x] = on ? n * a * p.b : x[0];
}
template <class T> __global__ void made(T n, long long l, _Float16 h, T* y) { y[threadIdx.x] = n + l + (T)h; }
template __global__ void made<double>(double, long long, _Float16, double*);
template __global__ void made<unsigned>(unsigned, long long, _Float16, unsigned*);
"""
PLAIN = {"x": "zeros:f32:32", "n": "i32:3", "a": "f32:2", "on": "u8:1", "p": "struct:i32:1,f32:2", "y": "zeros:f32:32"}


def test_a_number_of_another_type_is_refused(tmp_path: Path) -> None:
    """Where a compiler says the types, or the metadata do."""
    file, text, image = (tmp_path / f"typed{suffix}" for suffix in (".hip", ".s", ".hsaco"))
    file.write_text(TYPED)

    def check(what: Path, **others: str) -> Result:
        words = [f"--arg={name}={word}" for name, word in {**PLAIN, **others}.items()]
        return CliRunner().invoke(
            main, ["check", str(what), "--kernel=plain", "--grid=1", "--block=32", "--schedules=1", *words]
        )

    assert check(file).exit_code == 0
    assert check(file, n="u32:3").exit_code == 0
    wrong = check(file, n="f32:3")
    assert wrong.exit_code == 2
    lines = ["argument 1 (n) of kernel plain has another type", "  expected: n (i32, 4 bytes)", "  found: f32"]
    assert "\n".join(lines) in wrong.stderr
    assert "--arg n=i32:1 --arg a=f32:1 " in wrong.stderr
    assert "expected: a (float, 4 bytes)" in check(file, a="i32:2").stderr
    for kernel, given, fits in (
        ("made<double>", ("f64:1", "i64:1", "f16:1"), True),
        ("made<double>", ("i64:1", "i64:1", "f16:1"), False),
        ("made<double>", ("f64:1", "f64:1", "f16:1"), False),
        ("made<unsigned int>", ("i32:1", "u64:1", "f16:1"), True),
        ("made<unsigned int>", ("f32:1", "u64:1", "f16:1"), False),
        ("made<unsigned int>", ("i32:1", "u64:1", "i16:1"), False),
    ):
        with nullcontext() if fits else pytest.raises(BadLaunch, match="has another type"):
            hipgemm.kernel(file, kernel).launch(1, 32, *given, "zeros:f64:32")
    k, x = hipgemm.kernel(file, "plain"), np.zeros(32, np.float32)
    assert str(k.launch(1, 32, x, 3, 2, True, bytes(8), x).arguments[2]) == "f32", "an int, where a float is taken"
    with pytest.raises(BadLaunch, match="argument 1"):
        k.launch(1, 32, x, 3.0, 2.0, True, bytes(8), x)

    program = k.build().assembly.read_text()
    image.write_bytes(k.linked().image)
    assert check(image, n="f32:3").exit_code == 0, "nothing says the type"
    typed, count = re.subn(r"^( +)- (.name: +n)$", r"\1- \2\n\1  .type_name: int", program, flags=re.M)
    assert count
    text.write_text(typed)
    image.write_bytes(linked(read_kernel(str(text))).image)
    for what in (text, image):
        assert "expected: n (int, 4 bytes)" in check(what, n="f32:3").stderr
        assert check(what).exit_code == 0


POINTERS = """#include <hip/hip_runtime.h>
typedef float real;
#define ARRAY(t) const t* __restrict__
struct Pair { int a; float b; };
extern "C" __global__ void points(ARRAY(real) x, half* h, int* i, unsigned short* u, float4* q, void* v, Pair* p,
                                  long long* l, unsigned char* c, bool* on, __bf16* b, int4* w, double** d) {
  l[0] = x[0] + (float)h[0] + i[0] + u[0] + q[0].x + p[0].a + c[0] + on[0] + (float)b[0] + w[0].x + d[0][0];
}
template <class T> __global__ void cast(const float* x, T* y) { y[0] = x[0]; }
template __global__ void cast<double>(const float*, double*);
template __global__ void cast<unsigned>(const float*, unsigned*);
"""
GIVEN = {"x": "f4", "h": "f2", "i": "i4", "u": "u2", "q": "f4", "v": "f8", "p": "f8", "l": "i8", "c": "u1", "on": "u1",
         "b": "u2", "w": "i4", "d": "u8"}  # fmt: skip


def test_an_array_of_another_type_is_refused(tmp_path: Path) -> None:
    """Where a source says it, through a macro and a typedef, or the name of a C++ function; bytes may be anything."""
    file = tmp_path / "points.hip"
    file.write_text(POINTERS)
    k = hipgemm.kernel(file, "points")

    def taken(**others: str) -> bool:
        try:
            k.launch(1, 32, *(np.zeros(64, dtype) for dtype in {**GIVEN, **others}.values()))
        except BadLaunch as error:
            if not re.search(r"(?s)an array of another type.*\.view\(np\.uint8\)", str(error)):
                raise
            return False
        return True

    assert taken()
    wrong = ("x:f8 x:f2 x:i4 x:i8 x:c16 x:u8 h:f8 h:f4 h:i4 i:i8 i:f4 i:i2 u:u4 u:i8 q:f8 q:i4 l:i4 l:f8 on:i4 on:f4 "
             "b:f4 b:f2").split()  # fmt: skip
    right = ("x:u4 x:u1 x:c8 h:u2 h:i2 h:u4 i:u4 u:i2 u:f2 q:u4 q:c8 v:c16 p:i4 l:u8 c:f8 on:? b:i2 w:f4 w:f8 d:f8 "
             "x:i1").split()  # fmt: skip
    assert [word for word in wrong if taken(**dict([word.split(":")]))] == []
    assert [word for word in right if not taken(**dict([word.split(":")]))] == []
    k.launch(1, 32, *(np.zeros(64, dtype).view(np.uint8) for dtype in ["f8"] * 13))


def test_what_a_type_is_given_for_is_said_and_may_be_forced(tmp_path: Path) -> None:
    file, image = tmp_path / "points.hip", tmp_path / "points.hsaco"
    file.write_text(POINTERS)
    image.write_bytes(hipgemm.kernel(file, "cast<double>").linked().image)
    for what in (file, image):
        words = ["check", str(what), "--kernel", "cast<double>", "--grid=1", "--block=32", "--schedules=1"]
        said = invoked([*words, "--arg=zeros:f32:8", "--arg=zeros:f32:8"], code=2)
        told = "is an array of another type\n  expected: an array of f64, for double*\n  found: an array of float32\n"
        assert told in said.stderr
        assert "=raw:..." in said.stderr
        invoked([*words, "--arg=zeros:f32:8", "--arg=raw:zeros:f32:8"])
    with pytest.raises(BadLaunch, match="is not an argument"):
        hipgemm.kernel(file, "cast<double>").launch(1, 32, "raw:f32:1", "zeros:f64:8")


def test_of_metadata_the_name_of_the_type_counts(tmp_path: Path) -> None:
    text = (Path(__file__).parent / "own" / "padded.s").read_text()
    typed = tmp_path / "typed.s"
    typed.write_text(text.replace("{.name: out, ", "{.name: out, .type_name: 'float4*', "))
    k = hipgemm.kernel(typed)
    k.launch(1, 32, "zeros:f32:64")
    with pytest.raises(BadLaunch, match=r"argument 0 \(out\)"):
        k.launch(1, 32, "zeros:f64:64")


@pytest.mark.parametrize(
    ("type_", "found"),
    [
        ("float*", "f32"), ("float const*", "f32"), ("const float *__restrict__", "f32"), ("float4*", "f32 x"),
        ("HIP_vector_type<unsigned char, 4u>*", ""), ("float __vector(2)*", "f32 x"), ("__global half*", "f16"),
        ("Pair*", ""), ("float**", ""), ("void*", ""), ("", ""), ("i32", ""), ("char*", ""), ("interval*", ""),
    ],
)  # fmt: skip
def test_what_pointers_point_to(type_: str, found: str) -> None:
    assert element(type_) == found


def test_random_bytes_are_the_same_in_pieces(monkeypatch: pytest.MonkeyPatch) -> None:
    """Beyond 2^28 bytes there is no other way."""
    argument = words.argument("buffer:11:random")
    assert isinstance(argument, Array)
    whole = argument.contents().tolist()
    monkeypatch.setattr(words, "_PIECE", 4)
    assert argument.contents().tolist() == whole == list(random.Random(0).randbytes(11))
