"""`sgemm`: float32 arrays of any size, on the host or the device -> C = alpha A B + beta C.

**Where.** All on the host: they are copied to the device, and C back. All on the device: they are used where they are.

**Which kernel.** `hipgemm.tuning.choose` says, from a table, by M, N, K and how A and B lie (`hipgemm explain` shows
it). Its kernels are generated for one of the four transpositions and take any size.

**Layout.** A kernel takes dense matrices, row-major or transposed as it was made for, whose sizes are multiples of its
tile; that of a generated kernel is 1 x 1 x 1. A matrix that is such is used in place; any other is first copied, on the
device, into a padded one (`strided_copy`): strided views need nothing else. Padding A and B with zeros adds products of
zeros to each sum; rows and columns beyond C are computed and left behind. Where C is column-major, C^T = B^T A^T is
computed instead, which takes three column-major matrices as they are. Where C shares memory with A or B, it is computed
aside first.

**As BLAS has it** (https://netlib.org/blas, SGEMM). With beta = 0, C is not read. With alpha = 0 or K = 0, A and B are
not read, and C = beta C. With M = 0 or N = 0 there is nothing to do.
"""

from __future__ import annotations

import ctypes
from collections.abc import Sequence
from contextlib import ExitStack
from numbers import Real
from typing import TYPE_CHECKING, Any
from weakref import WeakKeyDictionary

from hipgemm.kernels.ladder import STRIDED_COPY, rung
from hipgemm.kernels.object import Kernel
from hipgemm.launch import gemm as gemm_launch
from hipgemm.measure.device import Device, LoadedKernel
from hipgemm.product import places
from hipgemm.product.arrays import ITEM, ArrayTypeError, ArrayValueError, Matrix, View, view
from hipgemm.product.places import DeviceArray, matrix_in

if TYPE_CHECKING:
    import numpy as np

AUTO = "auto"
COPY_BLOCK = (32, 8, 1)
COPY_GRID_Y = 4096


def sgemm(
    a: Any,
    b: Any,
    c: Any = None,
    alpha: float = 1.0,
    beta: float = 0.0,
    kernel: str | None = None,
    *,
    device: Device | str | None = None,
) -> Any:
    """C = alpha A B + beta C in float32.

    a, b:  M x K and K x N: NumPy arrays, or arrays of any library on the host or on the device (DLPack,
           __cuda_array_interface__), all on the same side; views may be transposed or strided.
    c:     M x N, overwritten and returned. Without it a new array is returned: a NumPy array for arrays on the host;
           for arrays on the device one of a's library if that has `from_dlpack`, else a
           hipgemm.product.places.DeviceArray.
    kernel: the name of the kernel to use; None or "auto" for the one that `hipgemm explain` shows.
    device: as in hipgemm.run, or an open one.

    Raises TypeError (not a float32 array), ValueError (shapes, places, sizes that no kernel takes), each of them an
    IsaError, and other IsaErrors as hipgemm.run does.
    """
    name = None if kernel in (None, AUTO) else rung(kernel).name
    scalars = scalar("alpha", alpha), scalar("beta", beta)
    given = [view("a", a), view("b", b)] + ([] if c is None else [view("c", c)])
    check_shapes([(v.name, v.shape, v.read_only) for v in given], scalars[1])
    opened = device if isinstance(device, Device) else open_device(device)
    opened.call("hipSetDevice", opened.index)
    if places.on_host(given):
        return _of_host(opened, name, [v.host for v in given if v.host is not None], scalars, c)
    return _of_device(opened, name, given, scalars, c)


def scalar(name: str, value: Any) -> float:
    """As a float32. ArrayTypeError for what is not a number."""
    if not isinstance(value, Real):
        raise ArrayTypeError(f"{name} is not a number", expected="a real number", got=repr(value))
    return ctypes.c_float(float(value)).value


def check_shapes(given: Sequence[tuple[str, tuple[int, ...], bool]], beta: float) -> None:
    """ArrayValueError unless A, B and, where there is one, C fit. given: name, shape, and whether it is read-only."""
    (_, a, _), (_, b, _), *rest = given
    if a[1] != b[0]:
        raise ArrayValueError("a and b do not fit", expected="as many columns of a as rows of b", got=f"a {a}, b {b}")
    wanted = (a[0], b[1])
    for _, c, read_only in rest:
        if c != wanted:
            raise ArrayValueError("c does not fit a and b", expected=f"shape {wanted}", got=f"shape {c}")
        if read_only:
            raise ArrayValueError("c is read-only", expected="an array that may be overwritten")
    if not rest and beta:
        raise ArrayValueError("there is no c for beta", expected="c, or beta = 0", got=f"beta = {beta:g}")


def _of_host(device: Device, kernel: str | None, given: list[np.ndarray], scalars: tuple[float, float], c: Any) -> Any:
    """Matrices on the host: up, computed, C down again."""
    import numpy as np

    a, b = given[:2]
    answer = given[2] if len(given) > 2 else np.empty((a.shape[0], b.shape[1]), np.float32)
    places.check_c(answer)
    if answer.size:
        with ExitStack() as stack:

            def up(array: np.ndarray, read: bool) -> Matrix:
                # As it lies if it lies dense in either order; NumPy gathers anything else.
                flip = array.flags.f_contiguous and not array.flags.c_contiguous
                dense = np.ascontiguousarray(array.T if flip else array)
                buffer = stack.enter_context(device.buffer(max(dense.nbytes, ITEM)))
                if read and dense.size:
                    buffer.upload(dense)
                matrix = matrix_in(buffer, *dense.shape)
                return matrix.T if flip else matrix

            target = up(answer, read=scalars[1] != 0)
            compute(device, kernel, up(a, read=scalars[0] != 0), up(b, read=scalars[0] != 0), target, *scalars)
            down = answer if target.dense else answer.T
            flat = down if down.flags.c_contiguous else np.empty(down.shape, np.float32)
            target.keep.download(flat)
            if flat is not down:
                down[...] = flat
    return answer if c is None else c


def _of_device(device: Device, kernel: str | None, given: Sequence[View], scalars: tuple[float, float], c: Any) -> Any:
    """Matrices on the device: used where they are."""
    a, b = (v.matrix for v in given[:2])
    made = DeviceArray(device, (given[0].shape[0], given[1].shape[1])) if c is None else None
    target = view("c", made).matrix if made is not None else given[2].matrix
    assert a is not None and b is not None and target is not None  # noqa: PT018
    places.check_c(target)
    places.ready(device, given, unread="" if scalars[0] else "ab")
    if target.rows and target.columns:
        compute(device, kernel, a, b, target, *scalars)
    return places.handed_over(made, given[0].module) if made is not None else c


def compute(device: Device, kernel: str | None, a: Matrix, b: Matrix, c: Matrix, alpha: float, beta: float) -> None:
    """C = alpha A B + beta C, finished when it returns. C has elements; sizes fit. kernel: None for the table's choice.
    Raises SizeError, DeviceError."""
    if not c.dense and c.T.dense:
        a, b, c = b.T, a.T, c.T
    if alpha == 0 or a.columns == 0:
        if beta != 1:
            strided_copy(device, c, c, beta)
            device.synchronize()
        return
    row = rung(kernel or _chosen(a, b, device.card))
    m, n, k = (-(-size // tile) * tile for size, tile in zip((c.rows, c.columns, a.columns), row.tile, strict=True))
    row.check_size(m, n, k)
    with ExitStack() as stack:

        def padded(matrix: Matrix, rows: int, columns: int, read: bool = True) -> Matrix:
            copy = matrix_in(stack.enter_context(device.buffer(ITEM * rows * columns)), rows, columns)
            if read:
                strided_copy(device, matrix, copy)
            return copy

        def fits(matrix: Matrix, rows: int, columns: int) -> bool:
            return matrix.dense and (matrix.rows, matrix.columns) == (rows, columns)

        def operand(matrix: Matrix, rows: int, columns: int, flip: bool) -> Matrix:
            """As the kernel reads it."""
            if flip:
                matrix, rows, columns = matrix.T, columns, rows
            return matrix if fits(matrix, rows, columns) else padded(matrix, rows, columns)

        left, right = operand(a, m, k, row.transposed[0]), operand(b, k, n, row.transposed[1])
        in_place = fits(c, m, n) and not c.overlaps(left) and not c.overlaps(right)
        target = c if in_place else padded(c, m, n, read=beta != 0)
        addresses = [x.address for x in (left, right, target)]
        gemm_launch.start(device, function(device, row), row, addresses, (m, n, k), alpha, beta)
        if not in_place:
            strided_copy(device, target, c)
        device.synchronize()  # before the copies are given back


def _chosen(a: Matrix, b: Matrix, card: str) -> str:
    from hipgemm.tuning.choose import chosen
    from hipgemm.tuning.shapes import Shape

    trans = "".join("t" if not x.dense and x.T.dense else "n" for x in (a, b))
    return chosen(Shape(a.rows, b.columns, a.columns, trans), card).kernel


def strided_copy(device: Device, source: Matrix, target: Matrix, scale: float = 1.0, *, stream: Any = None) -> None:
    """target = scale * source where the source has elements, 0 elsewhere. stream: None for the default one."""
    if abs(target.steps[0]) < abs(target.steps[1]):  # lanes along the target's closest elements
        source, target = source.T, target.T

    def described(matrix: Matrix) -> tuple[Any, ...]:
        strides, sizes = map(ctypes.c_longlong, matrix.steps), map(ctypes.c_int, matrix.shape)
        return ctypes.c_void_p(matrix.address), *strides, *sizes

    width, height, _ = COPY_BLOCK
    grid = -(-target.columns // width), min(-(-target.rows // height), COPY_GRID_Y), 1
    arguments = (*described(source), *described(target), ctypes.c_float(scale))
    device.launch(function(device, STRIDED_COPY), grid, COPY_BLOCK, arguments, stream=stream)


_open_devices: dict[str | None, Device] = {}
_functions: WeakKeyDictionary[Device, dict[str, LoadedKernel]] = WeakKeyDictionary()


def open_device(choice: str | None) -> Device:
    """Kept open for the calls to come."""
    if choice not in _open_devices:
        _open_devices[choice] = Device.open(choice)
    return _open_devices[choice]


def function(device: Device, source: Kernel) -> LoadedKernel:
    """A kernel, built and loaded at its first use on this device."""
    loaded = _functions.setdefault(device, {})
    if source.name not in loaded:
        from hipgemm.kernels.build import build

        loaded[source.name] = device.load(build(source, arch=device.arch).hsaco.read_bytes(), source.name)
    return loaded[source.name]
