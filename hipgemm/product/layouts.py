"""Matrix layouts: an array's strides -> leading dimension and transposition, and which kernels read it in place.

A matrix is a NumPy array on the host or a `hipgemm.product.arrays.Matrix` on the device, or a batch of them one of
three dimensions. It lies *across* where a column's elements stand side by side, else its rows do. What a kernel reads
are lines, the rows or the columns, from one address on, with a leading dimension and, of a batch, a stride. A strided
kernel takes what stands between them as it is; a dense one takes no gaps. Whatever a kernel cannot take is gathered
first, by NumPy or by a kernel on the device; so are lines on the host with gaps so wide that most of what would be
copied to the device is none of the matrix.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Protocol, TypeVar

from hipgemm.product.arrays import ArrayValueError, Matrix

if TYPE_CHECKING:
    import numpy as np

_WIDEST = 4
"""Times as much memory as a matrix has elements in it, and it is still taken as it lies."""


class Lying(Protocol):
    """What is asked of an array, wherever it lies. strides: in bytes."""

    @property
    def shape(self) -> tuple[int, ...]: ...
    @property
    def strides(self) -> tuple[int, ...]: ...
    @property
    def itemsize(self) -> int: ...


Array = TypeVar("Array", "np.ndarray", Matrix)


@dataclass(frozen=True)
class Lines:
    """line: elements from a line to the next; stride: from a matrix of a batch to the next, 0 for one matrix; span:
    from the first to the end of the last; dense: there are no gaps."""

    line: int
    stride: int
    span: int
    dense: bool


@dataclass(frozen=True)
class Operand:
    """memory: what goes to the device, contiguous. line, stride: as of `Lines`."""

    memory: np.ndarray
    line: int
    stride: int


def across(x: Lying) -> bool:
    """Whether it lies across."""
    return _line(x, False) is None and _line(x, True) is not None


def gaps(x: Lying) -> bool:
    """Whether only a strided kernel takes a matrix as it lies."""
    found = lines(x, across(x))
    return found is not None and not found.dense and (isinstance(x, Matrix) or _near(x, found))


def lines(x: Lying, flip: bool, most: int | None = None) -> Lines | None:
    """As a kernel reads them that reads columns (flip) or rows; None where they do not lie so. most: elements from one
    to the next."""
    line = _line(x, flip)
    if line is None or 0 in x.shape or (most is not None and line > most):
        return None
    count, step = (x.shape[0], x.strides[0]) if len(x.shape) == 3 and x.shape[0] > 1 else (1, 0)
    if step < 0 or step % x.itemsize:
        return None
    rows, columns = x.shape[-2:][:: -1 if flip else 1]
    stride = step // x.itemsize
    span = (count - 1) * stride + (rows - 1) * line + columns
    dense = line == columns and (count == 1 or stride == rows * columns)
    return Lines(line, stride, span, dense)


def _near(x: Lying, found: Lines) -> bool:
    """Whether not too much of what would be copied to the device is gaps."""
    elements = math.prod(x.shape if found.stride else x.shape[-2:])
    return found.span <= _WIDEST * elements


def operand(x: np.ndarray, flip: bool, strided: bool, most: int) -> Operand:
    """Of the host. flip: the kernel reads columns as lines. strided: it takes gaps; most: the longest line of such a
    kernel."""
    import numpy as np

    found = lines(x, flip, most) if strided else None
    if found and _near(x, found):
        memory = np.lib.stride_tricks.as_strided(x, (found.span,), (x.itemsize,), writeable=False)
        return Operand(memory, found.line, found.stride)
    dense = np.ascontiguousarray(x.swapaxes(-1, -2) if flip else x)
    rows, columns = dense.shape[-2:]
    return Operand(dense, columns, rows * columns if dense.ndim == 3 and len(dense) > 1 else 0)


def batch_of(a: tuple[int, ...], b: tuple[int, ...], c: tuple[int, ...] | None = None) -> tuple[int, ...]:
    """What the shape of C begins with, as numpy.matmul has it. ArrayValueError where batches do not fit."""
    counts = [shape[0] for shape in (a, b) if len(shape) == 3]
    found = {count for count in counts if count != 1}
    if len(found) > 1:
        raise ArrayValueError("the batches of a and b do not fit", expected="as many of each, or one", got=f"{counts}")
    stack = (found.pop() if found else 1,) if counts else ()
    if c is not None and c[:-2] != stack:
        raise ArrayValueError(
            "c does not fit the batch of a and b", expected=f"shape {(*stack, *c[-2:])}", got=f"shape {c}"
        )
    return stack


def one_matrix(x: Array) -> Array | None:
    """A batch as one matrix with the rows of all; None where they are not evenly apart."""
    import numpy as np

    count, rows, columns = x.shape
    between, down, along = x.strides
    if count > 1 and rows > 1 and between != rows * down:
        return None
    shape, strides = (count * rows, columns), (between if rows == 1 else down, along)
    if isinstance(x, Matrix):
        return replace(x, shape=shape, strides=strides)
    return np.lib.stride_tricks.as_strided(x, shape, strides)


def _line(x: Lying, flip: bool) -> int | None:
    """Elements from a line to the next where elements of a line stand side by side; None where they do not."""
    (outer, inner), (count, width) = x.strides[-2:], x.shape[-2:]
    if flip:
        outer, inner, count, width = inner, outer, width, count
    if width > 1 and inner != x.itemsize:
        return None
    if count == 1:
        return int(width)
    return int(outer // x.itemsize) if outer % x.itemsize == 0 and outer >= width * x.itemsize else None
