"""JAX on the simulated card, each case against JAX on the CPU. Run by tools/clients.py; alone:

    hipgemm simulate -- python tests/clients/jax_cases.py --json out.json [--only WORD]

A case is a function of arrays, compiled for either device; its floats are the same within a part of the largest
element, its integers to the bit.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from functools import partial
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import suite
from jax.experimental import pallas as pl
from jax.experimental.pallas import triton as pallas_triton

CASES: dict[str, tuple[Callable[..., Any], float, tuple[Any, ...]]] = {}
"""Case -> (what is computed, the error that the largest element may have, arguments)."""
RNG = np.random.default_rng(31)
x, wide = (RNG.standard_normal((n, n)).astype(np.float32) for n in (64, 512))
blocks = x.reshape(4, 32, 32)
labels = np.arange(64) % 10
layers = [
    (RNG.standard_normal((k, n)).astype(np.float32) / 10, np.zeros(n, np.float32)) for k, n in ((64, 128), (128, 10))
]


def case(error: float, *arguments: Any) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    def keep(function: Callable[..., Any]) -> Callable[..., Any]:
        CASES[function.__name__.replace("_", " ")] = function, error, arguments or (x,)
        return function

    return keep


@case(1e-6)
def elementwise(a: Any) -> Any:
    return jnp.exp(jnp.sin(a)) * jax.nn.gelu(a), jnp.arctan2(a, a.T), jax.nn.softplus(a)


@case(1e-5)
def reductions(a: Any) -> Any:
    return a.sum(0), a.max(1), a.argmax(1), jnp.var(a, 1), jax.nn.logsumexp(a, 1)


@case(1e-5)
def scans_and_sorts(a: Any) -> Any:
    return jnp.cumsum(a, 0), jnp.sort(a, 1), jnp.argsort(a, 1), jax.lax.top_k(a, 5)


@case(1e-6)
def gather_and_scatter(a: Any) -> Any:
    at = jnp.array([3, 1, 1])
    return a[at], jnp.zeros(64).at[at].add(1.0), a.at[at[:2]].set(0)


@case(1e-6)
def loops(a: Any) -> Any:
    carried = jax.lax.while_loop(lambda c: c[0] < 5, lambda c: (c[0] + 1, c[1] * 1.1), (0, a))
    return carried, jax.lax.scan(lambda c, y: (c * 0.9 + y, c), jnp.zeros(64), a)


@case(1e-6)
def random_numbers(a: Any) -> Any:
    key = jax.random.PRNGKey(3)
    return jax.random.bits(key, (99,)), jax.random.normal(key, (128,)), jax.random.permutation(key, 50)


@case(1e-5)
def product(a: Any) -> Any:
    return a @ a.T, jnp.dot(a.T, a[:, :7])


@case(1e-5, wide)
def larger_product(a: Any) -> Any:
    return jax.nn.relu(a @ a.T + 1)


@case(1e-2)
def products_of_halves(a: Any) -> Any:
    return [(a.astype(t) @ a.T.astype(t)).astype(jnp.float32) for t in (jnp.float16, jnp.bfloat16)]


@case(1e-5, blocks)
def batched_product(a: Any) -> Any:
    return jnp.einsum("bij,bjk->bik", a, a), jax.vmap(lambda m: m @ m.T)(a)


@case(1e-4)
def gradients(a: Any) -> Any:
    return jax.value_and_grad(lambda m: (jnp.tanh(m @ m) ** 2).sum())(a), jax.jvp(jnp.sin, (a,), (a,))


@case(1e-4, blocks)
def attention(a: Any) -> Any:
    return jax.nn.dot_product_attention(*[a[None].swapaxes(1, 2)] * 3, is_causal=True)


def loss(weights: Any, a: Any) -> Any:
    (first, bias), (second, other) = weights
    scores = jax.nn.log_softmax(jax.nn.relu(a @ first + bias) @ second + other)
    return -scores[jnp.arange(64), labels].mean()


@case(1e-4, layers, x)
def training(weights: Any, a: Any) -> Any:
    """Five steps of gradient descent."""
    lost = []
    for _ in range(5):
        value, slope = jax.value_and_grad(loss)(weights, a)
        weights = jax.tree.map(lambda w, s: w - 0.1 * s, weights, slope)
        lost.append(value)
    return weights, lost


def pallas(kernel: Callable[..., None], grid: tuple[int, ...], ins: list[Any], out: Any, *arrays: Any) -> Any:
    """By Pallas where there is a card, interpreted where not."""
    on_cpu = jax.default_backend() == "cpu" or jax.config.jax_default_device is not None
    return pl.pallas_call(
        kernel, out_shape=jax.ShapeDtypeStruct((64, 64), jnp.float32), grid=grid, in_specs=ins, out_specs=out,
        interpret=on_cpu, compiler_params=None if on_cpu else pallas_triton.CompilerParams(num_warps=2, num_stages=1),
    )(*arrays)  # fmt: skip


@case(1e-6)
def pallas_elementwise(a: Any) -> Any:
    def kernel(a_ref: Any, b_ref: Any, out: Any) -> None:
        out[...] = a_ref[...] * 2 + jnp.exp(b_ref[...])

    rows = pl.BlockSpec((16, 64), lambda i: (i, 0))
    return pallas(kernel, (4,), [rows, rows], rows, a, a)


@case(1e-2)
def pallas_product(a: Any) -> Any:
    def kernel(a_ref: Any, b_ref: Any, out: Any) -> None:
        out[...] = jnp.dot(a_ref[...], b_ref[...])

    ins = [pl.BlockSpec((32, 64), lambda i, j: (i, 0)), pl.BlockSpec((64, 32), lambda i, j: (0, j))]
    return pallas(kernel, (2, 2), ins, pl.BlockSpec((32, 32), lambda i, j: (i, j)), a, a)


def on(device: Any, function: Callable[..., Any], arguments: tuple[Any, ...]) -> list[np.ndarray[Any, Any]]:
    with jax.default_device(device):
        return [*map(np.asarray, jax.tree.leaves(jax.jit(partial(function))(*jax.device_put(arguments, device))))]


def judge(name: str) -> None:
    function, error, arguments = CASES[name]
    cpu = jax.devices("cpu")[0]
    found = on(None if jax.default_backend() != "cpu" else cpu, function, arguments)
    for mine, theirs in zip(found, on(cpu, function, arguments), strict=True):
        assert mine.dtype == theirs.dtype, (mine.dtype, theirs.dtype)
        bound = error * np.abs(theirs).max() if theirs.dtype.kind == "f" else 0
        np.testing.assert_allclose(mine, theirs, rtol=0, atol=bound)


def main() -> int:
    asked = suite.options(__doc__).parse_args()
    assert jax.default_backend() in ("gpu", "rocm"), jax.devices()
    return suite.run(asked, {name: partial(judge, name) for name in CASES}, jax=jax.__version__)


if __name__ == "__main__":
    sys.exit(main())
