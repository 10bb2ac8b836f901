"""Numbers that a launch gives, against the types that the compiler of a source, or a code object's metadata, says."""

import re
from contextlib import nullcontext
from pathlib import Path

import numpy as np
import pytest
from click.testing import CliRunner, Result

import hipgemm
from hipgemm.build import linked
from hipgemm.cli import main
from hipgemm.kernel_files import read_kernel
from hipgemm.launch import BadLaunch
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
