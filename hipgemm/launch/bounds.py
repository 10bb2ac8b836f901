"""A B in float64, and how far the matrix units' sums may be from it.

They add two products to a sum at a time (`isa.semantics.reference.dots`): all three are cut on a grid of 2^-26 of the
sum or 2^-24 of the larger product, whichever is more, to below, two of them twice, and the result is rounded. With S
the largest intermediate sum and |a||b| as above that is

    |C' - AB| <= K/2 (u + 5 u/4) S + 5 u |a||b|

Cuts are all to one side, so nothing is gained by chance. S is bounded by the sums in float64 after each 256 products,
and Cauchy and Schwarz in between. Rounding C to its type comes on top. Where waves share K out, that is so for each
wave's part of K, and their sums are added up with u of the sum of their magnitudes, each time. Where K is done in p
pieces, an intermediate sum is the difference of two of those above, at most 2 S, and adding them up errs by 2 (p - 1) u
S.

With sums of 16 bits each step is rounded to f16 once more, to nearest, by 2^-11 of the sum there and 2^-25, so that the
smaller of both bounds, lambda sqrt(sum of squares), stands for them all as above; or cut to bf16, by 2^-7 of the sum
there. Sums are looked at after each 64 products then. Where one could reach infinity nothing is said.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import numpy as np

U = 2.0**-24
_STEP_ERROR = 2.25 + 1 / 16  # of two products, in u; with a group's sum, which is scaled after 32 at least
_STRETCH = 256  # products between two looks at a sum
_HALF_SUMS = {"f16": (2.0**-11, 2.0**-25, 65504.0), "bf16": (2.0**-7, 0.0, 2.0**128)}
"""What a step of 16-bit sums errs by, of the sum there, and where it is denormal; the largest sum."""


@dataclass(frozen=True, slots=True)
class HalfSteps:
    """error, least: of a step of 16-bit sums, relative and where they are denormal; largest: sum; likely: lambda,
    infinite where errors are all to one side."""

    error: float
    least: float
    largest: float
    likely: float


def half_steps(factor: str, likely: float) -> HalfSteps:
    """likely: lambda of `hipgemm.launch.problem`, where errors are independent."""
    return HalfSteps(*_HALF_SUMS[factor], likely if factor == "f16" else math.inf)


@dataclass(slots=True)
class _GrowingError:
    """Of 16-bit sums. state: sums of steps' errors and of their squares, and the bound: steps err by the sum there as
    it is, with its own error. Cut sums never grow beyond their products' sizes."""

    of: HalfSteps
    state: np.ndarray

    def go_on(self, sums: np.ndarray, products: np.ndarray, steps: int) -> None:
        """sums: the largest in so many steps, without error; products: the sum of sizes up to there."""
        import numpy as np

        linear, squares, error = self.state
        cut = math.isinf(self.of.likely)
        here = sums + error
        each = self.of.error * (np.minimum(here, products) if cut else here) + self.of.least
        linear += steps * each
        squares += steps * each**2
        error[:] = linear if cut else np.minimum(linear, self.of.likely * np.sqrt(squares))

    @property
    def error(self) -> np.ndarray:
        return self.state[2]


def matrix_units(
    a: np.ndarray, b: np.ndarray, shares: tuple[int, int], pieces: int, halves: HalfSteps | None
) -> tuple[np.ndarray, np.ndarray]:
    """A B and how far the matrix units' sums may be from it, in float64: see the module's docstring."""
    import numpy as np

    waves, depth = shares
    total, bound = np.zeros((2, a.shape[0], b.shape[1]))
    below = np.zeros_like(total)
    stretch = _STRETCH // 4 if halves else _STRETCH
    growing = halves and _GrowingError(halves, np.zeros((3, *total.shape)))
    for wave in range(waves):
        mine, largest, products = np.zeros((3, *total.shape))
        starts = range(wave * depth, a.shape[1], waves * depth) if depth else range(0, a.shape[1], stretch)
        steps = 0
        for k in starts:
            left, right = a[:, k : k + (depth or stretch)], b[k : k + (depth or stretch)]
            rise = np.outer(np.sqrt(np.einsum("mk,mk->m", left, left)), np.sqrt(np.einsum("kn,kn->n", right, right)))
            np.maximum(largest, np.abs(mine) + rise, out=largest)
            products += rise
            if growing:
                growing.go_on(np.abs(mine) + rise, products, (left.shape[1] + 1) // 2)
            mine += left @ right
            steps += (left.shape[1] + 1) // 2
        total += mine
        if pieces > 1:
            largest *= 2
            bound += (pieces - 1) * U * largest
        bound += steps * _STEP_ERROR * U * largest + 5 * U * products
        if growing:
            bound += growing.error
            bound[largest + bound >= growing.of.largest] = np.inf
        below += np.abs(mine)
    return total, bound + (waves - 1) * U * (below + bound)
