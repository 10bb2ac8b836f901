"""Launches of GEMM kernels: sizes -> grid, arguments and, where tiles are done in pieces, workspace.

`gemm` makes the whole launch of a problem, with matrices and the reference that C is held against; `start` puts a
launch on a stream for who has matrices on the device; both go by `launch_of`.

A kernel with one workgroup a tile takes the ladder's eight arguments. One that does tiles in pieces
(`isa.gemm.vector.work`) is given, after these, a workspace and how the work is split, which depends on the card's CUs.

**Workspaces.** A launch uses the counters of its workspace, so two that may run at the same time need two: `start`
keeps one for each device and stream, where launches follow one another. It is allocated and its counters cleared at the
first use, and again where a launch needs more; kernels leave the counters at 0. It lives as long as the process.
"""

from __future__ import annotations

import ctypes
import dataclasses
import functools
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any
from weakref import WeakKeyDictionary

from hipgemm.kernels.ladder import Gemm, SizeError, gemm_kernarg
from hipgemm.launch.batches import Batch
from hipgemm.launch.launch import Argument, Array, Launch, Reference, Scalar, Triple
from hipgemm.launch.problem import Problem
from hipgemm.launch.weights import layout
from isa.gemm.gemv.parameters import GemvParameters
from isa.gemm.vector.work import COUNTERS, Work, WorkError

if TYPE_CHECKING:
    import numpy as np

    from hipgemm.measure.device import Buffer, Device, LoadedKernel

CUS = 96
"""Of the card where none is named: Navi 31, the one that the published study ran on."""


@dataclass(frozen=True)
class GemmGrid:
    """The geometry of one launch. sizes: M, N, K; work: how it is split, where tiles are in pieces; integer: alpha and
    beta are int32; batch: of a strided kernel."""

    grid: Triple
    block: Triple
    sizes: Triple
    work: Work | None
    integer: bool = False
    batch: Batch | None = None

    @property
    def workspace_bytes(self) -> int:
        """0 where there is none."""
        return self.work.workspace_bytes if self.work else 0

    def kernarg(self, matrices: Sequence[int], alpha: float, beta: float, workspace: int = 0) -> bytes:
        """All arguments as they lie in memory. matrices: addresses of A, B and C; workspace: its address."""
        first = gemm_kernarg(matrices, *self.sizes, alpha, beta, integer=self.integer)
        if self.batch:
            return first + self.batch.arguments()
        return first + self.work.arguments(self.sizes, workspace) if self.work else first


def launch_of(row: Gemm, m: int, n: int, k: int, cus: int = CUS, batch: Batch | int = 1) -> GemmGrid:
    """A launch on a card with so many CUs. batch: how many products, dense ones where nothing else is said. SizeError
    where the sizes are none of the kernel's, BatchError where the batch is not."""
    row.check_size(m, n, k)
    p = row.parameters
    if row.strided or batch != 1:
        batch = Batch.dense(row, m, n, k, batch) if isinstance(batch, int) else batch
        batch.check(row, m, n, k)
        grid = (*row.grid(m, n)[:2], batch.count)
        return GemmGrid(grid, row.block, (m, n, k), None, row.types.integer_scales, batch)
    if p is None or isinstance(p, GemvParameters) or not p.stream_k:
        return GemmGrid(row.grid(m, n), row.block, (m, n, k), None, row.types.integer_scales)
    try:
        work = Work.filling(p, m, n, k, cus)
    except WorkError as error:
        raise SizeError(f"{row.name} cannot take {m} x {n} x {k}", expected=error.expected, got=error.got) from error
    return GemmGrid(work.grid, row.block, (m, n, k), work, row.types.integer_scales)


def matrices(problem: Problem, transposed: tuple[bool, bool] = (False, False)) -> tuple[list[Array], Reference]:
    """A, B and C of a problem, and what C must be in the end. transposed: whether A is stored as K x M, and B as
    N x K."""
    of_factor = problem.types.of_factor
    m, n, k, factor = problem.m, problem.n, -(-problem.k // of_factor.pack), of_factor.dtype
    stack = (problem.batch,) if problem.batch > 1 else ()
    second: tuple[str, tuple[int, ...]] = factor, (n, k) if transposed[1] else (k, n)
    second = weight_arrays(problem).get("words", second)
    shapes = (k, m) if transposed[0] else (m, k), second[1], (m, n)
    # Drawn when they are first asked for.
    drawn = functools.cache(problem.matrices)
    stored = functools.cache(lambda: problem.stored(drawn(), transposed))
    arrays = [
        Array(dtype, (*stack, *shape), lambda i=i: stored()[i], "ABC"[i], unwritten=i == 2 and not problem.reads_c)  # type: ignore[misc]
        for i, (shape, dtype) in enumerate(zip(shapes, (factor, second[0], problem.types.of_result.dtype), strict=True))
    ]
    return arrays, Reference(2, lambda answer: problem.judge(*drawn(), answer))


def gemm(row: Gemm, problem: Problem, cus: int = CUS) -> Launch:
    """The launch of a GEMM kernel on a problem, on a card with so many CUs. SizeError where the problem is none of the
    kernel's."""
    made = launch_of(row, problem.m, problem.n, problem.k, cus, problem.batch)
    pieces = made.work.most_pieces if made.work else 1
    problem = dataclasses.replace(problem, types=row.types, epilogue=row.epilogue, shares=row.shares, pieces=pieces)
    arrays, reference = matrices(problem, row.transposed)
    sizes = [Scalar("i32", size, letter) for size, letter in zip(made.sizes, "MNK", strict=True)]
    scales = {"alpha": problem.alpha, "beta": problem.beta}
    if row.types.integer_scales:
        scalars = [Scalar("i32", int(value), name) for name, value in scales.items()]
    else:
        scalars = [Scalar("f32", value, name) for name, value in scales.items()]
    arguments: list[Argument] = [*arrays, *sizes, *scalars]
    for name, length in row.epilogue.lengths(problem.m, problem.n).items():
        arguments.append(Array("<f4", (length,), lambda name=name: problem.vectors()[name], name))  # type: ignore[misc]
    for name, (dtype, shape) in list(weight_arrays(problem).items())[1:]:
        arguments.append(Array(dtype, shape, lambda name=name: getattr(problem.weights(), name), name))  # type: ignore[misc]
    if made.batch:
        arguments += [Scalar(kind, number, name) for name, (kind, number) in made.batch.numbers.items()]
    if made.work:
        made.work.check_size(*made.sizes)
        arguments.append(Array("|u1", (made.workspace_bytes,), _counters, "workspace", scratch=True))
        arguments += [Scalar("u32", number, name) for name, number in made.work.numbers.items()]
    return Launch(made.grid, made.block, tuple(arguments), references=(reference,), problem=problem)


def weight_arrays(problem: Problem) -> dict[str, tuple[str, tuple[int, ...]]]:
    """Of quantised weights: their arrays, the words first; no others have any."""
    return layout(problem.types.weights, problem.n, problem.k) if problem.types.weights else {}


def _counters() -> np.ndarray:
    import numpy as np

    return np.zeros(COUNTERS, np.uint8)


def start(
    device: Device,
    function: LoadedKernel,
    row: Gemm,
    matrices: Sequence[int],
    sizes: Triple,
    alpha: float,
    beta: float,
    *,
    vectors: Sequence[int] = (),
    batch: Batch | int = 1,
    stream: Any = None,
) -> None:
    """Put a GEMM on a stream, None for the default one. matrices: addresses of A, B and C; vectors: of what an epilogue
    takes; batch: as of `launch_of`. SizeError, BatchError, DeviceError."""
    launch = launch_of(row, *sizes, device.cus, batch)
    space = _workspace(device, stream, launch.workspace_bytes) if launch.work else None
    arguments = [*gemm_arguments(matrices, sizes, alpha, beta, integer=row.types.integer_scales)]
    arguments += map(ctypes.c_void_p, vectors)
    if launch.batch:
        arguments += [_UNSIGNED[kind](number) for kind, number in launch.batch.numbers.values()]
    if launch.work and space:
        arguments += [ctypes.c_void_p(space.address), *map(ctypes.c_uint, launch.work.numbers.values())]
    try:
        device.launch(function, launch.grid, launch.block, arguments, stream=stream)
    except BaseException:
        _workspaces.get(device, {}).pop(_number(stream), None)  # what its counters hold is not known
        raise


_UNSIGNED = {"u32": ctypes.c_uint32, "u64": ctypes.c_uint64}
_workspaces: WeakKeyDictionary[Device, dict[int, Buffer]] = WeakKeyDictionary()


def _workspace(device: Device, stream: Any, size: int) -> Buffer:
    """With counters at 0. Another launch of the stream may use it, none of another stream."""
    mine = _workspaces.setdefault(device, {})
    number = _number(stream)
    if number not in mine or mine[number].size < size:
        if number in mine:
            device.synchronize()
            mine.pop(number).free()
        buffer = device.buffer(size)
        device.call("hipMemset", buffer.pointer, 0, COUNTERS)
        device.synchronize()
        mine[number] = buffer
    return mine[number]


def _number(stream: Any) -> int:
    return 0 if stream is None else int(stream)


def gemm_arguments(
    addresses: Sequence[int], sizes: tuple[int, int, int], alpha: float, beta: float, *, integer: bool = False
) -> tuple[Any, ...]:
    """The ladder's shared signature: A, B, C; M, N, K; alpha, beta. integer: these are int32."""
    scales = map(ctypes.c_int, (int(alpha), int(beta))) if integer else map(ctypes.c_float, (alpha, beta))
    return (*map(ctypes.c_void_p, addresses), *map(ctypes.c_int, sizes), *scales)
