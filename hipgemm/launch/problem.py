"""Problems: C = alpha*A*B + beta*C for given sizes and types, its data, and how far a right answer may be off.

**Reference.** The product in float64 (u64 = 2^-53), whose own error is 2^29 times smaller than what is judged.

**Tolerance.** A kernel adds K products to each element of C by FMA, in whatever order, then multiplies by alpha and
adds beta*C. Each operation errs by a factor within 1 +- u, u = 2^-24, so (Higham, "Accuracy and Stability of Numerical
Algorithms", 3.1 and 3.5)

    |C' - C| <= |alpha| g(K + 2) |A||B| + |beta| g(2) |C0|,    g(n) = n u / (1 - n u),

whatever the order of sums. That is the worst case; roundings are not all to one side, and for K in the thousands the
bound is so wide that a lost product could hide in it. Higham and Mary ("A New Approach to Probabilistic Rounding Error
Analysis", 2019, theorem 2.4) show for errors that are independent of each other in the mean that

    g~(n) = exp(lambda sqrt(n) u + n u^2 / (1 - u)) - 1

may stand for g(n) with probability at least 1 - 2 n exp(-lambda^2 (1 - u)^2 / 2). Here lambda is the one at which all
M*N elements together fail by chance at most once in 10^9 runs, about 10, and the smaller of both bounds is taken. The
sum |A||B| is bounded by Cauchy and Schwarz: (|A||B|)_ij <= ||row i of A|| ||column j of B||, which costs no product of
matrices; on random data it is 4/3 of the sum itself.

**Quantised weights** are whole numbers times a scale, and unpacked without error; a group's sum goes to the others by
one more FMA for 32 products or more, u/16 S for two. The reference takes the weights as they are stored.

**Integers** are added exactly, modulo 2^32: an i32 C is held to each bit. One of floats has the error of converting the
sum, and those of alpha and beta.

**Epilogues** go on from there: a product of two scales errs by 2 u, bias by u of its sum. An activation is steeper than
1.13 nowhere; e^-t, t up to 128 ln 2, has a relative error of 4 u t below 2^-15, and so has x / (1 + e^-t) at most.

**Data.** "random": uniform in [-1, 1), integers in all of the range of A's type. "identity": A so, too, B the identity
matrix, as the published study ran (a weak test: a wrong order along K goes unseen). C starts random, or as NaN (of
integers the smallest) where beta is 0, so that reading it shows.

**Matrix units** add two products to a sum at a time (`isa.semantics.dots`): all three are cut on a grid of
2^-26 of the sum or 2^-24 of the larger product, whichever is more, to below, two of them twice, and the result is
rounded. With S the largest intermediate sum and |a||b| as above that is

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

import dataclasses
import functools
import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

from hipgemm.launch.elements import FP32, PLAIN, Element, Epilogue, Types
from hipgemm.launch.weights import Weights, layout
from hipgemm.measure.result import flops
from isa.errors import IsaError

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
    """likely: lambda of the module, where errors are independent."""
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


DATA = ("random", "identity")
CHANCE = 1e-9
"""How often a right answer may be called wrong."""
_INFINITE = 2.0**128 - 2.0**103
"""From here on a double is infinite as a float32."""
_STEEPEST, _ACTIVATION = 1.13, 2.0**-15  # of activations: slope, relative error
_LEAST = 1e-300  # where a bound is 0
_PANEL = 512  # rows of C that are compared at a time: bounds the float64 memory


class ProblemError(IsaError):
    """Sizes, scalars or data that make no problem."""


@dataclass(frozen=True, slots=True)
class Verdict:
    """How an answer compares. tolerance: the largest bound of any element; each is held to its own.

    max_abs_error is None where the answer holds a NaN or an infinity.
    worst: (row, column, got, expected) of the element furthest beyond its bound, where the answer is wrong.
    first: the same of the first few that are, where somebody looked.
    """

    correct: bool
    max_abs_error: float | None
    tolerance: float
    wrong: int = 0
    worst: tuple[float, ...] | None = None
    first: tuple[tuple[float, ...], ...] = ()


@dataclass(frozen=True, slots=True)
class Problem:
    """One GEMM: A is m x k, B is k x n, C is m x n, row-major; types: of their elements. shares: (waves, depth)
    where so many waves take blocks of k of such depth in turn, and their sums are added up. batch: as many products of
    these sizes, whose matrices lie one after the other. pieces: in so many, at most, the sum of an element is done.
    """

    m: int
    n: int
    k: int
    alpha: float = 1.0
    beta: float = 0.0
    data: str = "random"
    seed: int = 0
    types: Types = FP32
    epilogue: Epilogue = PLAIN
    shares: tuple[int, int] = (1, 0)
    batch: int = 1
    pieces: int = 1

    def __post_init__(self) -> None:
        for name in ("n", "m", "k", "batch"):  # n first, which gives the others where they are not said
            if (value := getattr(self, name)) < 1:
                raise ProblemError(f"{name} must be at least 1", got=str(value))
        for name in ("alpha", "beta"):
            if not abs(value := getattr(self, name)) < _INFINITE:
                raise ProblemError(f"{name} must be finite as a float32", got=str(value))
            if self.types.integer_scales and not (value == int(value) and -(2**31) <= value < 2**31):
                raise ProblemError(f"{name} must be an int32, as C is", got=str(value))
        if self.epilogue.gate and self.beta:
            raise ProblemError("beta cannot be used with a gate", expected="0", got=str(self.beta))
        if self.data not in DATA:
            raise ProblemError(f"there is no data {self.data!r}", expected=" or ".join(DATA))
        if self.seed < 0:
            raise ProblemError("seed must not be negative", got=str(self.seed))

    @staticmethod
    def of(
        n: int, m: int | None = None, k: int | None = None, alpha: float = 1.0, beta: float = 0.0,
        data: str = "random", seed: int = 0, batch: int = 1,
    ) -> Problem:  # fmt: skip
        """As a user says it: m and k are n where they are not said."""
        return Problem(n if m is None else m, n, n if k is None else k, alpha, beta, data, seed, batch=batch)

    @property
    def reads_c(self) -> bool:
        """Whether what C held counts."""
        return bool(self.beta) or self.epilogue.gate

    @property
    def stack(self) -> tuple[int, ...]:
        """What the shapes of arrays begin with."""
        return (self.batch,) if self.batch > 1 else ()

    @property
    def flops(self) -> int:
        """2MNK + 3MN, as the published study counts, of each product."""
        return self.batch * flops(self.m, self.n, self.k)

    @property
    def bytes(self) -> int:
        """Of A, B and C together."""
        of_factor = self.types.of_factor
        factors = of_factor.bytes * (self.m + (0 if self.types.weights else self.n)) * -(-self.k // of_factor.pack)
        for dtype, shape in layout(self.types.weights, self.n, self.k).values() if self.types.weights else ():
            factors += int(dtype[-1]) * math.prod(shape)
        return self.batch * (factors + self.types.of_result.bytes * self.m * self.n)

    def matrices(self) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """A, B and the C to start from: float32 numbers that their types hold."""
        import numpy as np

        factor, result = self.types.of_factor, self.types.of_result

        def held(element: Element, values: np.ndarray) -> np.ndarray:
            return element.numbers(element.stored(values))

        a = held(factor, self._uniform(0, *self.stack, self.m, self.k))
        if self.types.weights:
            b = np.ascontiguousarray(_weights(self).numbers().T.astype(np.float32))
            return a, b, held(result, self._first_c())
        if self.data == "random":
            b = self._uniform(1, *self.stack, self.k, self.n)
        else:
            b = np.broadcast_to(np.eye(self.k, self.n, dtype=np.float32), (*self.stack, self.k, self.n))
        return a, held(factor, b), held(result, self._first_c())

    def weights(self) -> Weights:
        """B, where it is quantised."""
        return _weights(self)

    def _uniform(self, stream: int, *shape: int) -> np.ndarray:
        """In [-1, 1), integers in all of the range of their type."""
        import numpy as np

        values = self._drawn(stream, *shape)
        values *= 2
        values -= 1
        factor = self.types.of_factor
        return np.floor(values * 2 ** (factor.digits - 1)) if factor.integer else values

    def _first_c(self) -> np.ndarray:
        import numpy as np

        unread = -(2.0**31) if self.types.of_result.integer else np.nan
        shape = (*self.stack, self.m, self.n)
        return self._uniform(2, *shape) if self.reads_c else np.full(shape, unread, np.float32)

    def _drawn(self, stream: int, *shape: int) -> np.ndarray:
        """Uniform in [0, 1). A stream of its own for each array, so that A does not depend on whether B was drawn."""
        import numpy as np

        return np.random.Generator(np.random.SFC64([self.seed, stream])).random(shape, dtype=np.float32)

    def vectors(self) -> dict[str, np.ndarray]:
        """What the epilogue takes: the bias in [-1, 1), scales in [0, 1)."""
        found = {}
        for stream, (name, length) in enumerate(self.epilogue.lengths(self.m, self.n).items(), 3):
            values = self._drawn(stream, length)
            found[name] = 2 * values - 1 if name == "bias" else values
        return found

    def stored(
        self, matrices: tuple[np.ndarray, np.ndarray, np.ndarray], transposed: tuple[bool, bool]
    ) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """A, B and C as they lie in memory for a kernel that reads A or B transposed: dense, row-major."""
        import numpy as np

        a, b, c = matrices
        factor, result = self.types.of_factor, self.types.of_result
        lying = (factor.packed(factor.stored(x), axis) for axis, x in ((-1, a), (-2, b)))
        a, b = (
            np.ascontiguousarray(x.swapaxes(-1, -2) if flip else x) for x, flip in zip(lying, transposed, strict=True)
        )
        return a, self.weights().words if self.types.weights else b, result.stored(c)

    def _half_steps(self) -> HalfSteps | None:
        """Of the sums; None where they are f32."""
        if not self.types.half_sums:
            return None
        return half_steps(self.types.factor, self._likely())

    def _likely(self) -> float:
        """lambda."""
        operations = self.k + 2
        return math.sqrt(2 * math.log(2 * operations * self.m * self.n / CHANCE)) / (1 - U)

    def unit_bounds(self) -> tuple[float, float]:
        """(g for alpha*A*B, g for beta*C): relative to |alpha||A||B| and to |beta||C|."""
        operations = self.k + 2
        likely = math.expm1(self._likely() * math.sqrt(operations) * U + operations * U * U / (1 - U))
        return min(_gamma(operations), likely), _gamma(2)

    def judge(self, a: np.ndarray, b: np.ndarray, c: np.ndarray, answer: np.ndarray) -> Verdict:
        """Compare an answer, as it lies in memory, with the reference for these matrices (`c`: the C it started
        from)."""
        import numpy as np

        if self.batch > 1:
            one = dataclasses.replace(self, batch=1)
            found = [one.judge(*each) for each in zip(a, b, c, answer, strict=True)]
            bad = next(((i, v.worst) for i, v in enumerate(found) if v.worst), None)
            errors = [v.max_abs_error for v in found]
            return Verdict(
                all(v.correct for v in found),
                None if None in errors else max(error for error in errors if error is not None),
                max(v.tolerance for v in found), sum(v.wrong for v in found), (bad[0], *bad[1]) if bad else None,
            )  # fmt: skip
        of_product, of_c = self.unit_bounds()
        vectors = self.vectors()
        result = self.types.of_result
        b64 = b.astype(np.float64)
        columns = np.sqrt(np.einsum("kn,kn->n", b64, b64))
        alpha, beta = self.alpha, self.beta
        if not result.integer:
            alpha, beta = float(np.float32(alpha)), float(np.float32(beta))
        largest = tolerance = 0.0
        wrong, beyond, worst = 0, 0.0, None
        for top in range(0, self.m, _PANEL):
            a64 = a[top : top + _PANEL].astype(np.float64)
            rows = np.sqrt(np.einsum("mk,mk->m", a64, a64))
            if self.types.factor == "f32":
                expected = a64 @ b64
                bound = np.outer(rows * (abs(alpha) * of_product), columns)
            elif self.types.of_factor.integer:
                expected = a64 @ b64  # exact below 2^53
                bound = abs(alpha) * (of_c + U) * np.abs(expected)
            else:
                expected, bound = matrix_units(a64, b64, self.shares, self.pieces, self._half_steps())
                bound += of_c * np.abs(expected)
                bound *= abs(alpha)
            c64 = c[top : top + _PANEL].astype(np.float64) if self.reads_c else np.zeros(())
            if result.integer:
                whole = int(alpha) * expected.astype(np.int64) + int(beta) * c64.astype(np.int64)
                expected, bound = whole.astype(np.int32).astype(np.float64), np.zeros_like(bound)
            else:
                expected *= alpha
                if self.epilogue.scales:
                    scales = np.outer(vectors["row_scale"][top : top + _PANEL], vectors["column_scale"].astype(float))
                    expected *= scales
                    bound = bound * scales + 2 * U * np.abs(expected)
                expected += beta * c64
                bound += abs(beta) * of_c * np.abs(c64)
                if self.epilogue.bias:
                    expected += vectors["bias"]
                    bound += U * (np.abs(expected) + bound)
                if self.epilogue.activation:
                    expected = self.epilogue.activated(expected)
                    bound = _STEEPEST * bound + _ACTIVATION * np.abs(expected)
                if self.epilogue.gate:
                    expected *= c64
                    bound = bound * np.abs(c64) + U * np.abs(expected)
                bound += result.smallest  # below it there is no rounding to speak of
            if self.types.result not in ("f32", "i32"):
                bound += result.roundoff * (np.abs(expected) + bound)
            got = result.numbers(answer[top : top + _PANEL])
            error = got - expected
            np.abs(error, out=error)
            if not result.integer:  # the nearest number of C's type is an infinity
                error[np.isinf(got) & (got * expected > 0) & (np.abs(expected) + bound >= result.overflow)] = 0
            good = error <= bound  # a NaN is not
            tolerance = max(tolerance, float(bound.max()))
            furthest = float(np.max(error))
            largest = math.inf if math.isnan(furthest) else max(largest, furthest)
            if not good.all():
                wrong += int(good.size - np.count_nonzero(good))
                excess = np.where(np.isfinite(error), error / np.maximum(bound, _LEAST), np.inf)
                row, column = (int(i) for i in np.unravel_index(int(np.argmax(excess)), excess.shape))
                if excess[row, column] > beyond:
                    beyond = float(excess[row, column])
                    worst = (top + row, column, float(got[row, column]), float(expected[row, column]))
        return Verdict(wrong == 0, largest if math.isfinite(largest) else None, tolerance, wrong, worst)


@functools.lru_cache(maxsize=1)
def _weights(problem: Problem) -> Weights:
    import numpy as np

    b = problem._uniform(1, problem.k, problem.n)
    return Weights.quantised(b.T if problem.data == "random" else np.eye(problem.n, problem.k), problem.types.weights)


def _gamma(n: int) -> float:
    """Higham's gamma_n; infinite once n u reaches 1."""
    return n * U / (1 - n * U) if n * U < 1 else math.inf
