"""The ladder: one row a kernel, and everything that the rest of the product must know of it.

A rung says where its source is, in which mode it is compiled, which passes rewrite it, how it is launched, and which
sizes it takes. All rungs share one signature,

    kernelN(const float *A, const float *B, float *C, int M, int N, int K, float alpha, float beta)

row-major, A is M x K, B is K x N: C = alpha * A * B + beta * C, and C is never read when beta is 0.

Where the size limits come from, beside the tile:
- M, N and K are C ints, and kernel 1 rounds M and N up to its block.
- HIP takes at most 65535 workgroups in y (hipDeviceProp_t.maxGridSize).
- Kernels 1 and 2 compute 64-bit indices. Kernels 3 to 7 compute `int` indices of elements, as the published study does,
  so that no matrix may hold more than 2^31 elements. Kernel 8 reaches B by a 32-bit byte offset beside an SGPR base
  (global_load_b32 v, v, s[2]) that grows with K * N: at most 2^32 bytes, 2^30 elements. The same is asked of A and C.
- Kernel 9 and all generated kernels have 64-bit bases, and byte offsets of 32 bits within a tile: 128 rows of A or C
  at most 2^32 bytes, for example (`isa.gemm.vector.parameters.Parameters.largest`).
"""

from __future__ import annotations

import struct
from collections.abc import Sequence
from dataclasses import dataclass, field

from hipgemm.kernels.object import Kernel
from hipgemm.launch.elements import FP32, PLAIN, Epilogue, Types
from isa.errors import IsaError, meant
from isa.gemm import names
from isa.gemm.gemv.parameters import GemvParameters
from isa.gemm.matrix.parameters import MatrixParameters
from isa.gemm.vector.parameters import Parameters
from isa.gemm.vector.work import LARGEST_GRID_Y, most_tiles

LARGEST_INT = 2**31 - 1


class UnknownKernel(IsaError):
    """There is no rung of that name."""


class SizeError(IsaError, ValueError):
    """A kernel cannot take these sizes."""


@dataclass(frozen=True, slots=True)
class Published:
    """What the published study measured on a 7900 XTX at M = N = K = 4096, minimum of 16 runs (seb-v, "Deep Dive into
    Matrix Optimization on AMD GPUs", 2025): another compiler's code, another machine's clock. Never ours."""

    time_ms: float
    gflops: float
    vgprs: int | None = None
    sgprs: int | None = None
    valu_utilisation: str = ""


PUBLISHED_SIZE = 4096
PUBLISHED_ROCBLAS = Published(4.4992, 30547.4, valu_utilisation="almost 100 % of single issue")
"""The study's kernel 0, the library that the ladder is measured against."""


@dataclass(frozen=True)
class Gemm(Kernel):
    """A GEMM kernel with the ladder's signature.

    tile:     what (M, N, K) must be multiples of.
    block_tile: rows and columns of C that a workgroup computes.
    block:    threads of a workgroup in (x, y, z).
    max_elements: of each matrix; largest: of M, N and K.
    """

    tile: tuple[int, int, int]
    block_tile: tuple[int, int]
    block: tuple[int, int, int]
    max_elements: int = field(default=2**62, kw_only=True)
    largest: tuple[int, int, int] = field(default=(LARGEST_INT,) * 3, kw_only=True)

    @property
    def transposed(self) -> tuple[bool, bool]:
        """Whether it reads A as K x M, and B as N x K."""
        p = self.parameters
        return (p.trans_a, p.trans_b) if p else (False, False)

    @property
    def types(self) -> Types:
        """Of its matrices."""
        p = self.parameters
        if isinstance(p, GemvParameters):
            return Types(p.factor, p.result, p.weights)
        return Types(p.factor, p.result, half_sums=p.half_sums) if isinstance(p, MatrixParameters) else FP32

    @property
    def epilogue(self) -> Epilogue:
        """What it does to C besides alpha and beta."""
        p = self.parameters
        return (
            Epilogue(p.scales, p.bias, p.activation, p.gate)
            if isinstance(p, (MatrixParameters, GemvParameters))
            else PLAIN
        )

    @property
    def shares(self) -> tuple[int, int]:
        """As of `Problem`."""
        p = self.parameters
        return (p.waves, p.depth) if isinstance(p, GemvParameters) else (1, 0)

    @property
    def strided(self) -> bool:
        """Whether it takes a batch, and leading dimensions (`hipgemm.launch.batches`)."""
        return isinstance(self.parameters, MatrixParameters) and self.parameters.strided

    @property
    def trans(self) -> str:
        """How A and B lie in memory: n as in C = A B, t transposed; row-major."""
        return names.trans_of(self.parameters) if self.parameters else "nn"

    def grid(self, m: int, n: int) -> tuple[int, int, int]:
        """Tiles of C in (x, y, z): x runs along its columns, y along its rows. There is a workgroup for each, unless
        they stay for several (`hipgemm.launch.gemm`)."""
        rows, columns = self.block_tile
        return -(-n // columns), -(-m // rows), 1

    def check_size(self, m: int, n: int, k: int) -> None:
        """SizeError, which names what is wrong and what would do, unless this kernel takes M, N and K; of several, N,
        which gives the others where they are not said."""
        for letter, size, multiple in zip("NMK", (n, m, k), _n_first(self.tile), strict=True):
            if size < 1:
                raise SizeError(f"{self.name} needs {letter} of at least {multiple}", got=f"{letter} = {size}")
            if size % multiple:
                below, above = size - size % multiple, size + -size % multiple
                nearest = f"{below} or {above}" if below else f"{above}"
                raise SizeError(
                    f"{self.name} cannot take {letter} = {size}",
                    expected=f"a multiple of {multiple}",
                    hint=f"{letter} = {nearest}; kernel1 takes any size",
                )
        for letter, size, step in zip("NMK", (n, m, k), _n_first((*self.block_tile, 1)), strict=True):
            if size + -size % step > LARGEST_INT:
                raise SizeError(f"{self.name} cannot take {letter} = {size}", expected="a 32-bit int")
        for letter, size, most in zip("NMK", (n, m, k), _n_first(self.largest), strict=True):
            if size > most:
                raise SizeError(
                    f"{self.name} cannot take {letter} = {size}", expected=f"at most {most}", hint="kernel2 can"
                )
        columns, rows, _ = self.grid(m, n)
        if self.parameters and self.parameters.stream_k:
            assert not isinstance(self.parameters, GemvParameters)
            if rows * columns > (most := most_tiles(self.parameters)):
                raise SizeError(
                    f"{self.name} cannot take {m} x {n}: {rows * columns} tiles", expected=f"at most {most}"
                )
        elif rows > LARGEST_GRID_Y:
            raise SizeError(
                f"{self.name} cannot take M = {m}: {rows} workgroups in y",
                expected=f"at most {LARGEST_GRID_Y}, which is M = {LARGEST_GRID_Y * self.block_tile[0]}",
            )
        for matrix, letters, elements in (("A", "M * K", m * k), ("B", "K * N", k * n), ("C", "M * N", m * n)):
            if elements > self.max_elements:
                raise SizeError(
                    f"{self.name} cannot address a matrix {matrix} of {elements} elements",
                    expected=f"{letters} of at most {self.max_elements}",
                    hint="kernel2 computes 64-bit addresses",
                )


@dataclass(frozen=True)
class Rung(Gemm):
    """One kernel of the ladder, with what the study measured of its own; None for a kernel that it does not have."""

    published: Published | None


def _n_first(sizes: tuple[int, int, int]) -> tuple[int, int, int]:
    """What is said of M, N and K, as N, M, K."""
    m, n, k = sizes
    return n, m, k


def _tiled(number: int, title: str, source: str, threads: int, published: Published, pipeline: str = "") -> Rung:
    """Kernels 3 to 8: workgroups of 128 x 128 elements of C, 8 columns of A and rows of B at a time."""
    return Rung(
        name=f"kernel{number}",
        title=title,
        source=source,
        function="kernel5" if pipeline else f"kernel{number}",
        cu_mode=number >= 5,
        tile=(128, 128, 8),
        block_tile=(128, 128),
        block=(threads, 1, 1),
        published=published,
        max_elements=2**30 if "batch-loads" in pipeline else 2**31,
        pipeline=pipeline,
    )


def _generated(name: str, title: str, p: Parameters | MatrixParameters | GemvParameters) -> Rung:
    """A kernel that `isa.gemm` writes."""
    return Rung(
        name=name,
        title=title,
        source="",
        function=name,
        cu_mode=True,
        tile=(1, 1, p.depth if isinstance(p, GemvParameters) else p.pack if isinstance(p, MatrixParameters) else 1),
        block_tile=(p.rows, p.columns),
        block=(p.threads, 1, 1),
        published=None,
        largest=p.largest,
        parameters=p,
    )


_LDS = "kernel5_lds.hip"
LADDER: dict[str, Rung] = {
    rung.name: rung
    for rung in (
        Rung(
            "kernel1", "naive", "kernel1_naive.hip", "kernel1", False,
            (1, 1, 1), (16, 16), (16, 16, 1), Published(136.006, 1010.54),
        ),
        Rung(
            "kernel2", "LDS tiling", "kernel2_lds_tiling.hip", "kernel2", False,
            (32, 32, 32), (32, 32), (32, 32, 1), Published(34.2059, 4017.99, valu_utilisation="15 %"),
        ),
        _tiled(3, "register tiling", "kernel3_register_tiling.hip", 256,
               Published(6.0341, 22777.0, valu_utilisation="43 %")),
        _tiled(4, "GMEM double buffer", "kernel4_gmem_double_buffer.hip", 256,
               Published(5.3772, 25559.6, valu_utilisation="52 %")),
        _tiled(5, "LDS optimisation", _LDS, 128,
               Published(4.0994, 33526.6, vgprs=208)),
        _tiled(6, "VALU optimisation", _LDS, 128,
               Published(3.6368, 37791.2, vgprs=214, valu_utilisation="76.2 %"), pipeline="bank-balance"),
        _tiled(7, "unrolled", _LDS, 128,
               Published(3.3314, 41255.6, vgprs=214, valu_utilisation="over 80 %"), pipeline="bank-balance,unroll"),
        _tiled(8, "batched GMEM loads", _LDS, 128,
               Published(2.8032, 49047.3, vgprs=216, sgprs=55), pipeline="bank-balance,unroll,batch-loads"),
        _generated("kernel9", "generated, LDS double buffer", Parameters()),
        _generated("kernel10", "generated, stream-K", Parameters(stream_k=True)),
    )
}  # fmt: skip


MATRIX: dict[str, Rung] = {
    rung.name: rung
    for rung in (
        _generated("kernel11", "generated, matrix units, f16", MatrixParameters()),
        _generated("kernel12", "generated, matrix units, bf16", MatrixParameters(factor="bf16")),
        _generated("kernel13", "generated, matrix units, i8", MatrixParameters(depth=64, factor="i8", result="i32")),
    )
}
"""The ladder's kernels on the matrix units: A and B of 16 bits, C and sums f32; or of 8 bits, and i32."""

NAMED = LADDER | MATRIX
"""Every kernel that has a name of its own."""

STRIDED_COPY = Kernel("strided_copy", "copy with padding", "strided_copy.hip", "strided_copy", False)
"""No kernel of the ladder: what `hipgemm.sgemm` brings matrices into shape with."""

ELEMENT_COPY = {
    size: Kernel(
        f"element_copy_{size}", f"copy of elements of {size} bytes", "element_copy.hip", f"element_copy_{size}", False
    )
    for size in (1, 2, 4)
}
"""What `hipgemm.gemm` does, by an element's bytes."""


def gemm_kernarg(
    matrices: Sequence[int], m: int, n: int, k: int, alpha: float, beta: float, *, integer: bool = False
) -> bytes:
    """The arguments of the ladder's signature as they lie in memory; matrices: the addresses of A, B and C; integer:
    alpha and beta are int32."""
    scales = struct.pack("<ii", int(alpha), int(beta)) if integer else struct.pack("<ff", alpha, beta)
    return struct.pack("<QQQiii", *matrices, m, n, k) + scales


def known(name: str) -> bool:
    """Whether `rung` is the one to ask for it: a rung of the ladder, or meant to be a generated kernel."""
    return name in NAMED or names.is_name(name)


def rung(name: str) -> Rung:
    """The rung of that name; a kernel that `isa.gemm` generates by its name in `isa.gemm.names`. UnknownKernel with the
    names there are, or ParameterError with what a generated kernel may be."""
    if names.is_name(name):
        return _generated(name, "generated", names.parameters_of(name))
    if name not in NAMED:
        raise UnknownKernel(
            f"there is no kernel {name!r}", expected=", ".join(NAMED), hint=meant(name, NAMED, "hipgemm list")
        )
    return NAMED[name]
