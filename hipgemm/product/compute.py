"""Launches of products: prepared matrices on the host or the device -> launches of one kernel on the matrix units.

On the host what a kernel reads goes up, and C comes down. On the device matrices are used where they are; what lies as
the kernel does not take it is copied on the device first (`kernels_hip/element_copy.hip`): steps within both rows and
columns, lines in reverse, gaps where the kernel takes none. A C that lies so, or that shares memory with what is read,
is computed aside.
"""

from __future__ import annotations

import ctypes
import math
from collections.abc import Sequence
from contextlib import ExitStack
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from hipgemm.kernels.ladder import ELEMENT_COPY, Gemm
from hipgemm.launch import batches
from hipgemm.launch import gemm as gemm_launch
from hipgemm.launch.batches import Batch
from hipgemm.launch.elements import ELEMENTS
from hipgemm.product.arrays import Matrix
from hipgemm.product.layouts import Lines, lines, operand
from hipgemm.product.places import matrix_in
from hipgemm.product.sgemm import COPY_BLOCK, COPY_GRID_Y, function
from isa.gemm.matrix.parameters import MatrixParameters

if TYPE_CHECKING:
    import numpy as np

    from hipgemm.measure.device import Buffer, Device

Scales = tuple[float, float]
Read = tuple[int, int, int]
"""What a kernel reads or writes: an address, elements from a line to the next, and from a matrix to the next."""


def on_host(device: Device, row: Gemm, matrices: Sequence[Any], vectors: Sequence[Any], scales: Scales) -> None:
    """matrices: A, B and C, which changes; vectors: what the kernel takes besides. scales: alpha and beta."""
    import numpy as np

    a, b, c = matrices
    m, n = c.shape[-2:]
    with ExitStack() as stack:

        def up(array: np.ndarray, read: bool = True) -> Buffer:
            buffer = stack.enter_context(device.buffer(max(array.nbytes, ELEMENTS["f32"].bytes)))
            if read and array.nbytes:
                buffer.upload(array)
            return buffer

        given = zip((a, b), row.transposed, _longest(row)[:2], strict=True)
        lying = [operand(x, flip, row.strided, most) for x, flip, most in given]
        read = [(up(x.memory).address, x.line, x.stride) for x in lying]
        answer = np.ascontiguousarray(c)
        target = up(answer, read=_reads_c(row, scales))
        extra = [up(np.ascontiguousarray(vector)).address for vector in vectors]
        _start(device, row, [*read, (target.address, n, m * n)], matrices, extra, scales)
        target.download(answer)
    if answer is not c:
        c[...] = answer


def on_device(device: Device, row: Gemm, matrices: Sequence[Any], vectors: Sequence[Any], scales: Scales) -> None:
    """The same of Matrix objects. C is finished when it returns."""
    a, b, c = matrices
    longest = _longest(row)
    with ExitStack() as stack:

        def aside(x: Matrix, read: bool = True) -> Matrix:
            """A dense copy."""
            buffer = stack.enter_context(device.buffer(max(x.itemsize * math.prod(x.shape), ELEMENTS["f32"].bytes)))
            made = matrix_in(buffer, *x.shape, itemsize=x.itemsize)
            if read:
                element_copy(device, x, made)
            return made

        def taken(x: Matrix, flip: bool, most: int) -> Lines | None:
            found = lines(x, flip, most if row.strided else None)
            return found if found and (row.strided or found.dense) else None

        def read(x: Matrix, flip: bool, most: int) -> Read:
            if found := taken(x, flip, most):
                return x.address, found.line, found.stride
            if len(x.shape) == 3 and not x.strides[0]:
                x = replace(x, shape=x.shape[1:], strides=x.strides[1:])
            copy = aside(x.T if flip else x)
            rows, columns = copy.shape[-2:]
            return copy.address, columns, rows * columns if len(copy.shape) == 3 and copy.shape[0] > 1 else 0

        in_place = taken(c, False, longest[2]) and not any(c.overlaps(x) for x in (a, b, *vectors))
        target = c if in_place else aside(c, read=_reads_c(row, scales))
        places = [read(x, flip, most) for x, flip, most in zip((a, b), row.transposed, longest[:2], strict=True)]
        extra = [x.address if x.dense else aside(x).address for x in vectors]
        _start(device, row, [*places, read(target, False, longest[2])], matrices, extra, scales)
        if not in_place:
            element_copy(device, target, c)
            device.synchronize()  # before the copies are given back


def zeros(stack: ExitStack, device: Device, like: np.ndarray | Matrix, shape: tuple[int, ...]) -> np.ndarray | Matrix:
    """A matrix of zeros of the type of another, where that lies; on the device for as long as the stack is open."""
    import numpy as np

    if not isinstance(like, Matrix):
        return np.zeros(shape, like.dtype)
    buffer = stack.enter_context(device.buffer(max(like.itemsize * math.prod(shape), ELEMENTS["f32"].bytes)))
    device.call("hipMemset", buffer.pointer, 0, buffer.size)
    return matrix_in(buffer, *shape, itemsize=like.itemsize)


def _reads_c(row: Gemm, scales: Scales) -> bool:
    """Whether what C held counts."""
    return scales[1] != 0 or row.epilogue.gate


def _longest(row: Gemm) -> tuple[int, int, int]:
    return row.parameters.longest_lines if isinstance(row.parameters, MatrixParameters) else (0, 0, 0)


def _start(
    device: Device, row: Gemm, places: Sequence[Read], matrices: Sequence[Any], vectors: Sequence[int], scales: Scales
) -> None:
    """Launch it on all of a batch, and wait. places: of A, B and C."""
    a, _, c = matrices
    sizes = *c.shape[-2:], a.shape[-1] * row.types.of_factor.pack
    count = math.prod(c.shape[:-2])
    addresses, lines_, strides = zip(*places, strict=True)
    for first in range(0, count, batches.LARGEST):
        batch = Batch(min(count - first, batches.LARGEST), lines_, strides) if row.strided else count
        moved = [at + first * s * x.itemsize for at, s, x in zip(addresses, strides, matrices, strict=True)]
        gemm_launch.start(device, function(device, row), row, moved, sizes, *scales, vectors=vectors, batch=batch)
    device.synchronize()


def element_copy(device: Device, source: Matrix, target: Matrix) -> None:
    """target = source, of one shape, on the default stream."""
    pairs = zip(source.shape, source.steps, target.steps, strict=True)
    axes = [(1, 0, 0)] * (3 - len(source.shape)) + list(pairs)
    if axes[2][0] == 1 or (axes[1][0] > 1 and abs(axes[1][2]) < abs(axes[2][2])):  # lanes along the target's closest
        axes[1:] = axes[2], axes[1]
    sizes, *strides = zip(*axes, strict=True)
    count, rows, columns = sizes
    ends = [
        (ctypes.c_void_p(x.address), *map(ctypes.c_longlong, s)) for x, s in zip((source, target), strides, strict=True)
    ]
    width, height, _ = COPY_BLOCK
    grid = -(-columns // width), min(-(-rows // height), COPY_GRID_Y), min(count, batches.LARGEST)
    kernel = function(device, ELEMENT_COPY[source.itemsize])
    device.launch(kernel, grid, COPY_BLOCK, (*ends[0], *ends[1], *map(ctypes.c_int, sizes)))
