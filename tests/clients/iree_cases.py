"""IREE on the simulated card: its compiler, its runtime's HIP driver and its command-line tools, against NumPy. Run by
tools/clients.py; alone:

    hipgemm simulate -- python tests/clients/iree_cases.py --json out.json [--only WORD]

A case is a function in MLIR, of linalg or StableHLO-free arithmetic, its arguments, what NumPy makes of them in
float64, and the largest error of an element: in units of the last place of the type times the sum of the magnitudes
that go into it. Integers must be the same.
"""

from __future__ import annotations

import subprocess
import sys
import tempfile
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import iree.compiler
import iree.runtime
import numpy as np
import suite

RNG = np.random.default_rng(1100)
FLAGS = ("--iree-hal-target-device=hip", "--iree-rocm-target=gfx1100")
Array = Any


@dataclass(frozen=True)
class Case:
    """text: a module whose function is `f`. expected: (result, magnitude that an error is measured by)."""

    text: str
    arguments: tuple[Array, ...]
    expected: Callable[..., tuple[Array, Array]]
    units: float = 4


CASES: dict[str, Case] = {}
TYPES = {
    np.dtype(t): name for t, name in ((np.float32, "f32"), (np.float16, "f16"), (np.int8, "i8"), (np.int32, "i32"))
}


def drawn(*shape: int, dtype: Any = np.float32) -> Array:
    if np.dtype(dtype).kind == "i":
        return RNG.integers(-100, 100, shape).astype(dtype)
    return RNG.standard_normal(shape).astype(dtype)


def of(array: Array, dynamic: bool = False) -> str:
    sides = "x".join("?" if dynamic else str(side) for side in array.shape)
    return f"tensor<{sides}x{TYPES[array.dtype]}>"


def product(m: int, n: int, k: int, dtype: Any, total: Any, transposed: bool = False) -> Case:
    a, b = drawn(m, k, dtype=dtype), drawn(*((n, k) if transposed else (k, n)), dtype=dtype)
    c = f"tensor<{m}x{n}x{TYPES[np.dtype(total)]}>"
    element = TYPES[np.dtype(total)]
    zero = "0" if element[0] == "i" else "0.0"
    maps = (
        "indexing_maps = [affine_map<(d0, d1, d2) -> (d0, d2)>, affine_map<(d0, d1, d2) -> (d1, d2)>, "
        "affine_map<(d0, d1, d2) -> (d0, d1)>]"
        if transposed
        else ""
    )
    text = f"""
func.func @f(%a: {of(a)}, %b: {of(b)}) -> {c} {{
  %zero = arith.constant {zero} : {element}
  %none = tensor.empty() : {c}
  %start = linalg.fill ins(%zero : {element}) outs(%none : {c}) -> {c}
  %c = linalg.matmul {maps} ins(%a, %b : {of(a)}, {of(b)}) outs(%start : {c}) -> {c}
  return %c : {c}
}}"""

    def expected(a: Array, b: Array) -> tuple[Array, Array]:
        wide = np.int64 if element[0] == "i" else np.float64
        a, b = a.astype(wide), (b.T if transposed else b).astype(wide)
        return (a @ b).astype(np.dtype(total) if element[0] == "i" else wide), abs(a) @ abs(b)

    return Case(text, (a, b), expected, units=8)


def elementwise(what: str, function: Callable[[Array], Array], units: float, low: float = -4, high: float = 4) -> Case:
    x = RNG.uniform(low, high, (37, 129)).astype(np.float32)
    text = f"""
func.func @f(%x: {of(x)}) -> {of(x)} {{
  %y = {what} %x : {of(x)}
  return %y : {of(x)}
}}"""
    return Case(text, (x,), lambda x: ((y := function(x.astype(np.float64))), abs(y)), units)


def softmax(rows: int, columns: int) -> Case:
    x = drawn(rows, columns)
    text = f"""
func.func @f(%x: {of(x)}) -> {of(x)} {{
  %none = tensor.empty() : {of(x)}
  %y = linalg.softmax dimension(1) ins(%x : {of(x)}) outs(%none : {of(x)}) -> {of(x)}
  return %y : {of(x)}
}}"""

    def expected(x: Array) -> tuple[Array, Array]:
        e = np.exp(x.astype(np.float64) - x.max(1, keepdims=True))
        y = e / e.sum(1, keepdims=True)
        return y, y

    return Case(text, (x,), expected, units=16)


def perceptron(batch: int, sides: tuple[int, int, int]) -> Case:
    """Two layers: a product, a bias, the larger of it and 0; a product, a bias."""
    first, middle, last = sides
    arguments = (drawn(batch, first), drawn(first, middle), drawn(middle), drawn(middle, last), drawn(last))
    x, w1, b1, w2, b2 = map(of, arguments)
    hidden, result = f"tensor<{batch}x{middle}xf32>", f"tensor<{batch}x{last}xf32>"
    text = f"""
#row = affine_map<(d0, d1) -> (d1)>
#all = affine_map<(d0, d1) -> (d0, d1)>
func.func @f(%x: {x}, %w1: {w1}, %b1: {b1}, %w2: {w2}, %b2: {b2}) -> {result} {{
  %zero = arith.constant 0.0 : f32
  %h0 = tensor.empty() : {hidden}
  %h1 = linalg.fill ins(%zero : f32) outs(%h0 : {hidden}) -> {hidden}
  %h2 = linalg.matmul ins(%x, %w1 : {x}, {w1}) outs(%h1 : {hidden}) -> {hidden}
  %h3 = linalg.generic {{indexing_maps = [#all, #row, #all], iterator_types = ["parallel", "parallel"]}}
    ins(%h2, %b1 : {hidden}, {b1}) outs(%h0 : {hidden}) {{
    ^bb0(%p: f32, %q: f32, %o: f32):
      %s = arith.addf %p, %q : f32
      %t = arith.maximumf %s, %zero : f32
      linalg.yield %t : f32
  }} -> {hidden}
  %y0 = tensor.empty() : {result}
  %y1 = linalg.fill ins(%zero : f32) outs(%y0 : {result}) -> {result}
  %y2 = linalg.matmul ins(%h3, %w2 : {hidden}, {w2}) outs(%y1 : {result}) -> {result}
  %y3 = linalg.generic {{indexing_maps = [#all, #row, #all], iterator_types = ["parallel", "parallel"]}}
    ins(%y2, %b2 : {result}, {b2}) outs(%y0 : {result}) {{
    ^bb0(%p: f32, %q: f32, %o: f32):
      %s = arith.addf %p, %q : f32
      linalg.yield %s : f32
  }} -> {result}
  return %y3 : {result}
}}"""

    def expected(*given: Array) -> tuple[Array, Array]:
        x, w1, b1, w2, b2 = (a.astype(np.float64) for a in given)
        y = np.maximum(x @ w1 + b1, 0) @ w2 + b2
        return y, (abs(x) @ abs(w1) + abs(b1)) @ abs(w2) + abs(b2)

    return Case(text, arguments, expected, units=8)


def reduction(dtype: Any, axis: int) -> Case:
    x = drawn(70, 300, dtype=dtype)
    element, kept = TYPES[x.dtype], x.shape[1 - axis]
    add, zero = ("arith.addi", "0") if element[0] == "i" else ("arith.addf", "0.0")
    text = f"""
func.func @f(%x: {of(x)}) -> tensor<{kept}x{element}> {{
  %zero = arith.constant {zero} : {element}
  %none = tensor.empty() : tensor<{kept}x{element}>
  %start = linalg.fill ins(%zero : {element}) outs(%none : tensor<{kept}x{element}>) -> tensor<{kept}x{element}>
  %y = linalg.reduce {{ {add} }} ins(%x : {of(x)}) outs(%start : tensor<{kept}x{element}>) dimensions = [{axis}]
  return %y : tensor<{kept}x{element}>
}}"""
    wide = np.int64 if element[0] == "i" else np.float64
    return Case(text, (x,), lambda x: (x.astype(wide).sum(axis), abs(x.astype(np.float64)).sum(axis)))


def convolution() -> Case:
    x, w = drawn(1, 12, 14, 8), drawn(3, 3, 8, 16)
    y = "tensor<1x10x12x16xf32>"
    text = f"""
func.func @f(%x: {of(x)}, %w: {of(w)}) -> {y} {{
  %zero = arith.constant 0.0 : f32
  %none = tensor.empty() : {y}
  %start = linalg.fill ins(%zero : f32) outs(%none : {y}) -> {y}
  %y = linalg.conv_2d_nhwc_hwcf {{dilations = dense<1> : tensor<2xi64>, strides = dense<1> : tensor<2xi64>}}
    ins(%x, %w : {of(x)}, {of(w)}) outs(%start : {y}) -> {y}
  return %y : {y}
}}"""

    def expected(x: Array, w: Array) -> tuple[Array, Array]:
        x, w = x.astype(np.float64), w.astype(np.float64)
        windows = np.lib.stride_tricks.sliding_window_view(x, (3, 3), (1, 2))
        sums = [np.einsum("bhwcij,ijcf->bhwf", p, q) for p, q in ((windows, w), (abs(windows), abs(w)))]
        return sums[0], sums[1]

    return Case(text, (x, w), expected, units=8)


def transpose(dynamic: bool) -> Case:
    x = drawn(45, 67, dtype=np.int32)
    given = of(x, dynamic)
    result = "tensor<?x?xi32>" if dynamic else "tensor<67x45xi32>"
    sides = "%c0 = arith.constant 0 : index\n  %c1 = arith.constant 1 : index\n"
    sides += f"  %d0 = tensor.dim %x, %c0 : {given}\n  %d1 = tensor.dim %x, %c1 : {given}\n"
    text = f"""
func.func @f(%x: {given}) -> {result} {{
  {sides if dynamic else ""}
  %none = tensor.empty({"%d1, %d0" if dynamic else ""}) : {result}
  %y = linalg.transpose ins(%x : {given}) outs(%none : {result}) permutation = [1, 0]
  return %y : {result}
}}"""
    return Case(text, (x,), lambda x: (x.T, x.T))


def layer_norm() -> Case:
    x = drawn(24, 384)
    text = f"""
#all = affine_map<(d0, d1) -> (d0, d1)>
#row = affine_map<(d0, d1) -> (d0)>
func.func @f(%x: {of(x)}) -> {of(x)} {{
  %zero = arith.constant 0.0 : f32
  %n = arith.constant 384.0 : f32
  %eps = arith.constant 1.0e-05 : f32
  %r0 = tensor.empty() : tensor<24xf32>
  %r1 = linalg.fill ins(%zero : f32) outs(%r0 : tensor<24xf32>) -> tensor<24xf32>
  %sum = linalg.reduce {{ arith.addf }} ins(%x : {of(x)}) outs(%r1 : tensor<24xf32>) dimensions = [1]
  %var = linalg.generic {{indexing_maps = [#all, #row, #row], iterator_types = ["parallel", "reduction"]}}
    ins(%x, %sum : {of(x)}, tensor<24xf32>) outs(%r1 : tensor<24xf32>) {{
    ^bb0(%p: f32, %s: f32, %o: f32):
      %m = arith.divf %s, %n : f32
      %d = arith.subf %p, %m : f32
      %q = arith.mulf %d, %d : f32
      %t = arith.addf %o, %q : f32
      linalg.yield %t : f32
  }} -> tensor<24xf32>
  %none = tensor.empty() : {of(x)}
  %y = linalg.generic {{indexing_maps = [#all, #row, #row, #all], iterator_types = ["parallel", "parallel"]}}
    ins(%x, %sum, %var : {of(x)}, tensor<24xf32>, tensor<24xf32>) outs(%none : {of(x)}) {{
    ^bb0(%p: f32, %s: f32, %v: f32, %o: f32):
      %m = arith.divf %s, %n : f32
      %d = arith.subf %p, %m : f32
      %w = arith.divf %v, %n : f32
      %e = arith.addf %w, %eps : f32
      %i = math.rsqrt %e : f32
      %t = arith.mulf %d, %i : f32
      linalg.yield %t : f32
  }} -> {of(x)}
  return %y : {of(x)}
}}"""

    def expected(x: Array) -> tuple[Array, Array]:
        x = x.astype(np.float64)
        d = x - x.mean(1, keepdims=True)
        y = d / np.sqrt((d * d).mean(1, keepdims=True) + 1e-5)
        return y, abs(y) + 1

    return Case(text, (x,), expected, units=16)


CASES |= {
    "product of f32, 64 x 96 x 128": product(64, 96, 128, np.float32, np.float32),
    "product of f32, 33 x 17 x 45": product(33, 17, 45, np.float32, np.float32),
    "product of f32, A by B transposed": product(128, 64, 256, np.float32, np.float32, transposed=True),
    "product of f16 in f32, 128 x 128 x 256": product(128, 128, 256, np.float16, np.float32),
    "product of f16 in f32, B transposed": product(64, 256, 128, np.float16, np.float32, transposed=True),
    "product of i8 in i32": product(64, 64, 128, np.int8, np.int32),
    "vector by matrix": product(1, 512, 256, np.float32, np.float32),
    "softmax, 16 x 256": softmax(16, 256),
    "softmax, 3 x 1000": softmax(3, 1000),
    "perceptron of two layers": perceptron(32, (64, 128, 10)),
    "convolution": convolution(),
    "layer norm": layer_norm(),
    "sum along rows": reduction(np.float32, 1),
    "sum along columns": reduction(np.float32, 0),
    "sum of integers": reduction(np.int32, 1),
    "transposition": transpose(dynamic=False),
    "transposition of any shape": transpose(dynamic=True),
    "exponential": elementwise("math.exp", np.exp, 4),
    "hyperbolic tangent": elementwise("math.tanh", np.tanh, 4),
    "square root": elementwise("math.sqrt", np.sqrt, 4, low=0),
    "sine": elementwise("math.sin", np.sin, 16),
}


def judge(case: Case, result: Array) -> None:
    """AssertionError where an element is too far away."""
    expected, magnitude = case.expected(*case.arguments)
    assert result.shape == expected.shape, f"shape {result.shape}, not {expected.shape}"
    if result.dtype.kind == "i":
        wrong = result != expected
    else:
        # Of a product in f16 with sums in f32 the unit is of f32: its factors are exact.
        unit = np.finfo(result.dtype).eps * case.units
        wrong = ~(abs(result.astype(np.float64) - expected) <= unit * magnitude + np.finfo(result.dtype).tiny)
    if wrong.any():
        at = tuple(int(i) for i in np.argwhere(wrong)[0])
        raise AssertionError(f"{wrong.sum()} of {wrong.size} wrong, first {at}: {result[at]!r}, not {expected[at]!r}")


def by_runtime(case: Case) -> Array:
    """Compiled and run by IREE's Python packages."""
    code = iree.compiler.compile_str(case.text, extra_args=list(FLAGS))
    config = iree.runtime.Config("hip")
    module = iree.runtime.VmModule.copy_buffer(config.vm_instance, code)
    return iree.runtime.load_vm_module(module, config).f(*case.arguments).to_host()


def by_tools(case: Case) -> Array:
    """The same by iree-compile and iree-run-module."""
    programs = Path(sys.executable).parent
    with tempfile.TemporaryDirectory() as folder:
        text, code, out = (Path(folder) / name for name in ("f.mlir", "f.vmfb", "out.npy"))
        text.write_text(case.text)
        subprocess.run([programs / "iree-compile", *FLAGS, text, "-o", code], check=True)
        words = ["--device=hip", f"--module={code}", "--function=f", f"--output=@{out}"]
        for number, argument in enumerate(case.arguments):
            np.save(Path(folder) / f"{number}.npy", argument)
            words.append(f"--input=@{folder}/{number}.npy")
        subprocess.run([programs / "iree-run-module", *words], check=True, stdout=subprocess.DEVNULL)
        return np.load(out)


def judged(way: Callable[[Case], Array], case: Case) -> None:
    judge(case, way(case))


def main() -> int:
    tools = ("product of f32, 64 x 96 x 128", "softmax, 16 x 256", "perceptron of two layers")
    cases = {name: partial(judged, by_runtime, case) for name, case in CASES.items()}
    cases |= {f"{name}, by the command line": partial(judged, by_tools, CASES[name]) for name in tools}
    return suite.run(suite.options(__doc__).parse_args(), cases)


if __name__ == "__main__":
    sys.exit(main())
