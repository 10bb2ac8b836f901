"""How matrices on the host lie, and what of their memory goes to the device for a kernel that takes them so.

A matrix is a NumPy array, or a batch of them one of three dimensions. It lies *across* where a column's elements stand
side by side, else its rows do. What a kernel reads are lines, the rows or the columns, from one address on, with a
leading dimension and, of a batch, a stride. A strided kernel takes what stands between them as it is; a dense one
takes no gaps. Whatever a kernel cannot take is gathered by NumPy first; so are lines with gaps so wide that most of
what would be copied to the device is none of the matrix.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import numpy as np

_WIDEST = 4
"""Times as much memory as a matrix has elements in it, and it is still taken as it lies."""


@dataclass(frozen=True)
class Operand:
    """memory: what goes to the device, contiguous. line: elements from a line to the next; stride: from a matrix of a
    batch to the next."""

    memory: np.ndarray
    line: int
    stride: int


def across(x: np.ndarray) -> bool:
    """Whether it lies across."""
    if x.ndim == 2 and (x.flags.c_contiguous or x.flags.f_contiguous):
        return not x.flags.c_contiguous
    return _line(x, False) is None and _line(x, True) is not None


def gaps(x: np.ndarray) -> bool:
    """Whether only a strided kernel takes a matrix as it lies."""
    return not x.flags.c_contiguous and not x.flags.f_contiguous and _as_it_lies(x, across(x), None) is not None


def operand(x: np.ndarray, flip: bool, strided: bool, most: int) -> Operand:
    """flip: the kernel reads columns as lines. strided: it takes gaps; most: the longest line of such a kernel."""
    import numpy as np

    if strided and (found := _as_it_lies(x, flip, most)) is not None:
        return found
    dense = np.ascontiguousarray(x.swapaxes(-1, -2) if flip else x)
    rows, columns = dense.shape[-2:]
    return Operand(dense, columns, rows * columns if dense.ndim == 3 and len(dense) > 1 else 0)


def _as_it_lies(x: np.ndarray, flip: bool, most: int | None) -> Operand | None:
    """None where its lines do not lie so, or not near enough to each other."""
    import numpy as np

    line = _line(x, flip)
    if line is None or not x.size or (most is not None and line > most):
        return None
    count, step = (x.shape[0], x.strides[0]) if x.ndim == 3 and x.shape[0] > 1 else (1, 0)
    if step < 0 or step % x.itemsize:
        return None
    rows, columns = x.shape[-2:][:: -1 if flip else 1]
    stride = step // x.itemsize
    span = (count - 1) * stride + (rows - 1) * line + columns
    if span > _WIDEST * (rows * columns * (count if stride else 1)):
        return None
    memory = np.lib.stride_tricks.as_strided(x, (span,), (x.itemsize,), writeable=False)
    return Operand(memory, line, stride)


def _line(x: np.ndarray, flip: bool) -> int | None:
    """Elements from a line to the next where elements of a line stand side by side; None where they do not."""
    (outer, inner), (count, width) = x.strides[-2:], x.shape[-2:]
    if flip:
        outer, inner, count, width = inner, outer, width, count
    if width > 1 and inner != x.itemsize:
        return None
    if count == 1:
        return int(width)
    return int(outer // x.itemsize) if outer % x.itemsize == 0 and outer >= width * x.itemsize else None
