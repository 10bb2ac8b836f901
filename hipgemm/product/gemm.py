"""`gemm`: arrays of floats of 16 or 8 bits, or of integers of 8 or 4 -> C = alpha A B + beta C on the matrix units; of
float32 as `hipgemm.product.sgemm` computes it.

    >>> hipgemm.gemm(a, b)                             # float16 NumPy arrays; C is float32
    >>> hipgemm.gemm(a, b.T, out_dtype="float16")

**Which kernel.** `choose` takes the first tile of a list of which there are enough for each CU, else the last: a small
tile fetches more for each product, a large one leaves CUs without work at the end, and deep K blocks have fewer
barriers, which counts where few workgroups share a CU. Operands that both lie along k need no turning around and so
less of a large tile. Rows of tiles go in groups of 1024 rows (`isa.gemm.matrix.order`). Of 16-bit matrices waves that
store go first, which int8 gains nothing from. The rule was read off the cycle model's predictions (docs/matrix.md), not
off a card. A shape that was tuned (`hipgemm tune --types`), or is near one that was, takes what was found instead,
without an epilogue. Products with few rows have kernels of their own (`hipgemm.product.choice`), where B lies along
k.

**int4** matrices are arrays of ml_dtypes.int4, which NumPy holds one a byte and which are packed first; or, with
packed="int4", arrays of uint8 with two along k in a byte, the lower k in the lower four bits: A is M x K/2, B K/2 x N.
`pack_int4` makes such arrays.

**Quantised weights** (`hipgemm.Weights`) stand in the place of b; any number of rows, though meant for few.

**Where, and layout.** Arrays of any library lie all on the host or all on the device, where they are used in place
(`hipgemm.product.arrays`, `hipgemm.product.places`). Matrices that lie dense in either order are read as they lie, by a
kernel made for it; so are matrices with gaps between their lines, by a strided one (`hipgemm.product.layouts`), where
there are more than few rows; others are gathered first (`hipgemm.product.compute`). Where a C on the device lies
across, C^T = B^T A^T is computed.

**Batches.** Of three dimensions, the first counts matrices, as for numpy.matmul: a matrix of two, or a batch of one, is
multiplied with all of the other's. One launch does them all. A batch of A with one B, where A's matrices stand one
after the other, is one product with as many times the rows. Bias and scales are the same for all of a batch.

**Sums** of 16 bits (`sums`) lose digits with each two products (hipgemm.launch.problem) and take half the registers.

**Epilogue**: C = activation(alpha A B [* scales of rows and columns] + beta C [+ bias]), in one kernel; with a gate
C = activation(alpha A B [* scales] [+ bias]) * C.

**As BLAS has it**: with beta = 0, C is not read; with alpha = 0, A and B are not.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from contextlib import ExitStack
from numbers import Real
from typing import TYPE_CHECKING, Any

from hipgemm.kernels.ladder import rung
from hipgemm.launch.elements import ELEMENTS, Epilogue, Types
from hipgemm.launch.weights import Weights
from hipgemm.measure.device import Device
from hipgemm.product import compute as matrix_compute
from hipgemm.product import places
from hipgemm.product.arrays import (
    ArrayTypeError,
    ArrayValueError,
    Matrix,
    View,
    numpy_type,
    type_name,
    view,
)
from hipgemm.product.choice import ROWS, kernel_for
from hipgemm.product.layouts import across, batch_of, gaps, one_matrix
from hipgemm.product.places import DeviceArray
from hipgemm.product.sgemm import check_shapes, open_device, scalar, sgemm
from isa.gemm.matrix.parameters import INTEGERS

if TYPE_CHECKING:
    import numpy as np

_FACTORS = {
    "float16": "f16", "bfloat16": "bf16", "int8": "i8", "int4": "i4", "float8_e4m3fn": "fp8", "float8_e5m2": "bf8",
}  # fmt: skip
_TAKEN = (*_FACTORS, "uint8", "float32")
_DIMENSIONS = 2, 3
_RESULTS = {"float32": "f32", "float16": "f16", "bfloat16": "bf16", "int32": "i32"}


def gemm(
    a: Any,
    b: Any,
    c: Any = None,
    *,
    alpha: float = 1.0,
    beta: float = 0.0,
    bias: Any = None,
    scales: tuple[Any, Any] | None = None,
    activation: str = "",
    gate: bool = False,
    out_dtype: Any = None,
    sums: Any = None,
    packed: str = "",
    kernel: str | None = None,
    device: Device | str | None = None,
) -> Any:
    """C = alpha A B + beta C; sums are float32 unless `sums` is given, and int32 for int8 and int4, which wraps around.

    a, b:  M x K and K x N, both float32, float16, int8 or, of ml_dtypes, bfloat16, int4, on RDNA4 float8_e4m3fn or
           float8_e5m2: NumPy arrays, or arrays of any library on the host or on the device (DLPack,
           __cuda_array_interface__), all on the same side; views may be transposed or strided. float32 as for sgemm.
           Or a is float16 and b is hipgemm.Weights.
           With three dimensions the first one counts the products of a batch, except for float32.
    packed: "int4" where a and b are uint8 with two int4 in a byte, along k: M x K/2 and K/2 x N (see `pack_int4`). On
           the device int4 is always packed.
    c:     M x N, overwritten and returned. Without it a new array is returned, as by sgemm.
    bias:  N float32, added to each row.
    scales: M float32 and N float32 that the product's rows and columns are multiplied by.
    activation: "relu", "silu" or "gelu" (the tanh form).
    gate:  the result is multiplied by the previous contents of c; beta is 0.
    alpha, beta: integers where C is int32, else float32.
    out_dtype: of a new C: float32, float16, bfloat16, or int32 for integers; the default is float32 or int32.
    sums:  float16 or bfloat16, as A and B are, for sums of 16 bits.
    kernel: the name of the kernel to use; None for one that fits the sizes.
    device: as in hipgemm.run, or an open one.

    Raises TypeError, ValueError and other IsaErrors as sgemm does.
    """
    import numpy as np

    weights = b if isinstance(b, Weights) else None
    if packed not in ("", "int4"):
        raise ArrayValueError(f"there is no packing {packed!r}", expected='"int4"')
    left = view("a", a, _TAKEN, _DIMENSIONS)
    right, *more = weights.views if weights else [view("b", b, _TAKEN, _DIMENSIONS)]
    if left.dtype == right.dtype == "float32" and not packed:
        fused = bias is not None or scales is not None or bool(activation) or bool(gate)
        _check_float32({"out_dtype": out_dtype, "sums": sums}, fused, {"a": a, "b": b, "c": c})
        return sgemm(a, b, c, alpha, beta, kernel, device=device)
    factor = ("i4" if left.dtype == "uint8" else "") if packed else _FACTORS.get(left.dtype, "")
    if not factor or (factor != "f16" if weights else right.dtype != left.dtype):
        raise ArrayTypeError(
            "the matrix units cannot multiply a and b",
            expected="both uint8"
            if packed
            else 'both float16, bfloat16, int8, int4 or float8, or uint8 with packed="int4"',
            got=f"{left.dtype} and {weights.format if weights else right.dtype}",
        )
    seen = [left, right] + ([view("c", c, _RESULTS, _DIMENSIONS)] if c is not None else [])
    results = [name for name, type_ in _RESULTS.items() if type_ != "i32" or factor in INTEGERS]
    default = results[-1 if factor in INTEGERS else 0]
    wanted = seen[2].dtype if c is not None else default if out_dtype is None else type_name(out_dtype)
    if wanted not in results:
        raise ArrayTypeError(f"C of {left.dtype} matrices cannot be {wanted}", expected=" or ".join(results))
    shapes = [left.shape, weights.shape if weights else right.shape, *(v.shape for v in seen[2:])]
    check_shapes([(v.name, shape[-2:], v.read_only) for v, shape in zip(seen, shapes, strict=True)], beta)
    shape = (*batch_of(*shapes), shapes[0][-2], shapes[1][-1])
    multipliers = _scale("alpha", alpha, wanted), _scale("beta", beta, wanted)
    types = Types(factor, _RESULTS[wanted], weights.format if weights else "", _half_sums(sums, factor, bool(weights)))
    if gate and (c is None or beta):
        got = "no c" if c is None else f"beta = {beta:g}"
        raise ArrayValueError("a gate multiplies by the previous contents of c", expected="c, and beta = 0", got=got)
    if gate and weights:
        raise ArrayTypeError("quantised weights do not support a gate", expected="float16, bfloat16 or int8")
    epilogue = Epilogue(scales is not None, bias is not None, activation, bool(gate))
    more = [*_vectors(epilogue, shape[-2:], bias, scales), *more]
    host = places.on_host([*seen, *more])
    factors: list[Any] = [left.lying, right.lying.T if weights else right.lying]
    if factor == "i4" and not packed:
        if not host:
            raise ArrayTypeError("int4 is packed on a device", expected='uint8 and packed="int4"', got="int4")
        factors = [pack_int4(x, axis) for x, axis in zip(factors, (-1, -2), strict=True)]
    opened = device if isinstance(device, Device) else open_device(device)
    opened.call("hipSetDevice", opened.index)
    made = c
    if c is None:
        made = np.empty(shape, numpy_type(wanted)) if host else DeviceArray(opened, shape, wanted)
    target = (view("c", made, _RESULTS, _DIMENSIONS) if c is None else seen[2]).lying
    places.check_c(target)
    places.ready(opened, [*seen, *more], unread="" if multipliers[0] else "ab")
    if 0 not in shape:
        _compute(opened, types, epilogue, [*factors, target], [v.lying for v in more], multipliers, kernel)
    return places.handed_over(made, left.module) if c is None and not host else made


def _compute(
    device: Device, types: Types, epilogue: Epilogue, matrices: list[Any], vectors: list[Any],
    multipliers: tuple[float, float], kernel: str | None,
) -> None:  # fmt: skip
    """A product that has elements. matrices: A, B and C; vectors: the epilogue's, and of quantised weights; all NumPy
    arrays or all Matrix."""
    x, y, z = matrices
    host = not isinstance(z, Matrix)
    if len(x.shape) == 3 and (len(y.shape) == 2 or y.shape[0] == 1) and (not epilogue.scales or x.shape[0] == 1):
        joined = one_matrix(x), one_matrix(z)
        x, z = (x, z) if any(found is None for found in joined) else joined
    if types.weights and len(z.shape) == 3:
        raise ArrayTypeError("this batch cannot be multiplied by weights", expected="matrices one after the other")
    (m, n), batch = z.shape[-2:], math.prod(z.shape[:-2])
    with ExitStack() as stack:
        if not multipliers[0] or not x.shape[-1]:  # no product: one of zeros
            shapes = [x.shape] if types.weights else [(m, 1), (1, n)]
            x, y = [matrix_compute.zeros(stack, device, x, shape) for shape in shapes] + [y] * (2 - len(shapes))
        if not host and across(z) and m > ROWS and not (types.weights or epilogue.bias):
            x, y, z, vectors = y.T, x.T, z.T, vectors[::-1]
            m, n = n, m
        flips = across(x), across(y)
        many = m > ROWS and any(map(gaps, (x, y) if host else (x, y, z)))
        strided = batch > 1 or many or (not host and gaps(y))
        sizes = m, n, x.shape[-1] * types.of_factor.pack
        name = kernel or kernel_for(
            sizes, device.cus, types, flips, epilogue, device.card, batch=batch, strided=strided
        )
        row = rung(name)
        if (row.types, row.epilogue) != (types, epilogue):
            raise ArrayTypeError(
                f"{name} does not take these matrices",
                expected=f"{row.types} {row.epilogue}",
                got=f"{types} {epilogue}",
            )
        compute = matrix_compute.on_host if host else matrix_compute.on_device
        compute(device, row, [x, y, z], vectors, multipliers)


def pack_int4(x: np.ndarray, axis: int) -> np.ndarray:
    """uint8 with two of x's numbers along an axis in each byte, the first in the lower four bits; if their number is
    odd, the last byte's upper bits are 0. x: a matrix of integers from -8 to 7. The result has the memory order of x.
    For `gemm(..., packed="int4")` the axis is that of k: 1 for a, 0 for b."""
    import numpy as np

    if not isinstance(x, np.ndarray) or x.ndim not in (2, 3):
        raise ArrayTypeError("x is not a matrix", expected="a NumPy array of 2 or 3 dimensions", got=type(x).__name__)
    values = x
    if values.dtype.name == "int4":
        values = values.astype(np.int8)
    if values.dtype.kind not in "iu":
        raise ArrayTypeError("these are not integers", expected="a matrix of -8 to 7", got=str(values.dtype))
    if values.size and not (values.min() >= -8 and values.max() <= 7):
        raise ArrayValueError("these are not int4", expected="-8 to 7", got=f"{values.min()} to {values.max()}")
    values, axis = values.astype(np.int8), axis % values.ndim
    if values.ndim == 2 and values.flags.f_contiguous and not values.flags.c_contiguous:
        return ELEMENTS["i4"].packed(values.T, 1 - axis).view(np.uint8).T
    return np.ascontiguousarray(ELEMENTS["i4"].packed(values, axis)).view(np.uint8)


def _check_float32(types: dict[str, Any], fused: bool, matrices: dict[str, Any]) -> None:
    """ArrayTypeError, ArrayValueError for what only other matrices take. types: of C and of sums, None for any."""
    for name, said in types.items():
        if said is not None and type_name(said) != "float32":
            raise ArrayTypeError(f"{name} of float32 matrices is float32", got=type_name(said))
    if fused:
        raise ArrayTypeError(
            "float32 matrices do not support bias, scales, activation or gate", expected="float16, bfloat16 or int8"
        )
    for name, x in matrices.items():
        if len(shape := getattr(x, "shape", ())) == 3:
            raise ArrayValueError(
                "float32 matrices do not support a batch",
                expected="two dimensions: one matrix after the other, or all as float16, bfloat16 or int8",
                got=f"{name} of shape {tuple(shape)}",
            )


def _vectors(epilogue: Epilogue, shape: tuple[int, ...], bias: Any, scales: Any) -> list[View]:
    """In the order of the arguments."""
    if scales is not None and not (isinstance(scales, Sequence) and len(scales) == 2):
        raise ArrayTypeError("scales are not a pair", expected="a vector for the rows, and one for the columns")
    given = {"bias": bias} | (dict(zip(("row_scale", "column_scale"), scales, strict=True)) if scales else {})
    found = []
    for name, length in epilogue.lengths(shape[0], shape[1]).items():
        found.append(view(name, given[name], dims=(1,)))
        if found[-1].shape != (length,):
            raise ArrayValueError(
                f"{name} does not fit C", expected=f"shape ({length},)", got=f"shape {found[-1].shape}"
            )
    return found


def _half_sums(sums: Any, factor: str, weights: bool) -> bool:
    """Whether sums have 16 bits. ArrayTypeError where they cannot be such."""
    if sums is None:
        return False
    wanted = type_name(sums)
    own = next(name for name, type_ in _FACTORS.items() if type_ == factor)
    known = ("int32",) if factor in INTEGERS else ("float32",) if weights or own[:6] == "float8" else ("float32", own)
    if wanted not in known:
        of = "weights" if weights else f"{own} matrices"
        raise ArrayTypeError(f"sums of {of} cannot be {wanted}", expected=" or ".join(known))
    return wanted == own


def _scale(name: str, value: Any, of: str) -> float:
    if of != "int32":
        return scalar(name, value)
    number = float(value) if isinstance(value, Real) else math.nan
    if not (number.is_integer() and -(2**31) <= number < 2**31):
        raise ArrayTypeError(f"{name} of an int32 C is not an int32", expected="an integer", got=repr(value))
    return int(number)
