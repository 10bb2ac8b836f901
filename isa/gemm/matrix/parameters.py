"""Parameters of a matrix-unit GEMM kernel: the numbers that it is generated from, and what must hold between them.

A workgroup computes `rows` x `columns` of C, each of its waves `wave_rows` x `wave_columns` in fragments of 16 x 16,
the unit of `v_wmma`. `depth` steps of k of A and B lie in LDS at a time: a K block.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cached_property, partial

from isa.analysis.resources import LDS_PER_CU
from isa.gemm.matrix.sides import CHUNK_BYTES, FRAGMENT, MatrixSide
from isa.gemm.text import is_power_of_two
from isa.gemm.vector.parameters import LARGEST_INT, MOST_THREADS, ParameterError
from isa.targets import target

_DEEPEST = 128
"""Bytes of a row in a K block: 8 lines of chunks."""
_EDGES = (16, 32, 64, 128)
_GROUPS = (1, 2, 4, 8, 16, 32)
FACTORS = {"f16": 2, "bf16": 2, "i8": 1, "i4": 1, "fp8": 1, "bf8": 1}
"""Types of A and B, and the bytes of an element as it lies in memory: of i4 a pair, the lower k in the lower bits."""
INTEGERS = "i8", "i4"
FLOAT_BYTES = "fp8", "bf8"
"""E4M3 and E5M2, of RDNA4 alone."""
RESULTS = {"f32": 4, "f16": 2, "bf16": 2, "i32": 4}
"""Types of C, and their bytes. i32 is for integers alone."""


ACTIVATIONS = "", "relu", "silu", "gelu"
STRIDES = "stride_a", "stride_b", "stride_c"
LINES = "lda", "ldb", "ldc"
WORK_BYTES = 32
"""Of a stream-K kernel's further arguments (`isa.gemm.vector.work`), after what makes their place a multiple of 8."""
STRIDE_BYTES = 8 * len(STRIDES) + 4 * len(LINES)
"""Of a strided kernel's further arguments."""


class ElementTypes:
    """What kernels of the matrix units have in common: types, and what happens to C.

    factor, result, bias, scales, activation, gate: see `MatrixParameters`.
    """

    rows: int
    columns: int
    factor: str
    result: str
    bias: bool
    scales: bool
    activation: str
    gate: bool = False

    @staticmethod
    def must(kind: str, holds: bool, what: str, expected: str, got: object) -> None:
        """Raises ParameterError for a kernel of that kind where it does not hold."""
        if not holds:
            raise ParameterError(f"no {kind} kernel has such {what}", expected=expected, got=str(got))

    def check_types(self, must: Callable[[bool, str, str, object], None]) -> None:
        must(self.factor in FACTORS, "factor", ", ".join(FACTORS), self.factor)
        results = [name for name in RESULTS if name != "i32" or self.integer]
        must(self.result in results, "result", ", ".join(results), self.result)
        must(self.activation in ACTIVATIONS, "activation", ", ".join(ACTIVATIONS[1:]), self.activation)
        must(self.result != "i32" or not self.epilogue_text, "epilogue", "none where C is i32", self.epilogue_text)

    def splits(self, arch: str) -> bool:
        """`split` on a target. ParameterError where its matrix units do not multiply such factors."""
        split = not target(arch).family.factors_twice
        if self.factor in FLOAT_BYTES and not split:
            raise ParameterError(
                f"the matrix units of {arch} do not multiply {self.factor}", expected="gfx1200 or gfx1201"
            )
        return split

    @property
    def epilogue_text(self) -> str:
        """What happens to C besides alpha and beta, as names have it."""
        parts = "scales" * self.scales, "bias" * self.bias, self.activation, "gate" * self.gate
        return "_".join(filter(None, parts))

    @property
    def vector_names(self) -> tuple[str, ...]:
        """Of the epilogue, vectors of f32."""
        return vectors(bias=self.bias, scales=self.scales)

    @cached_property
    def vectors(self) -> dict[str, int]:
        """The arguments after the ladder's, addresses: name -> offset."""
        return {name: 48 + 8 * i for i, name in enumerate(self.vector_names)}

    @property
    def kernarg_bytes(self) -> int:
        return self.after_vectors if self.vectors else 44

    @property
    def after_vectors(self) -> int:
        """Where arguments go on."""
        return 48 + 8 * len(self.vectors)

    @property
    def integer(self) -> bool:
        """A and B are integers, and so are their sums."""
        return self.factor in INTEGERS

    @property
    def factor_bytes(self) -> int:
        return FACTORS[self.factor]

    @property
    def pack(self) -> int:
        """Steps of k that an element in memory holds."""
        return 2 if self.factor == "i4" else 1

    @property
    def result_bytes(self) -> int:
        return RESULTS[self.result]


@dataclass(frozen=True)
class MatrixParameters(ElementTypes):
    """One GEMM kernel.

    rows, columns, depth: of the workgroup's tile.
    wave_rows, wave_columns: what one wave computes.
    stages:  LDS buffers: with two, the next K block is stored beside the present one, and one barrier is left.
    factor:  type of A and B, one of FACTORS; result: of C, one of RESULTS. Of i4, K is even.
    bias:    a vector of N f32 is added to each row of C; scales: of M and of N f32, sums are multiplied by both.
    activation: of C, one of ACTIVATIONS. gate: that is multiplied by what C held, and beta is not looked at.
    trans_a: A lies in memory as K x M; else M x K. trans_b: B lies as N x K; else K x N.
    group:   rows of tiles that workgroups go down before they go on to the next column (`isa.gemm.matrix.order`).
    strided: arguments say how far lines are apart, and the matrices of a batch (`isa.gemm.matrix.generate`).
    prio:    waves that store a K block go before others (`isa.gemm.matrix.k_block`).
    stream_k: workgroups take tiles and pieces of tiles, as isa/gemm/vector/work.py says; else one tile each.
    half_sums: sums have the 16-bit type of A and B, and half the VGPRs; else they are f32, of integers i32.
    split:   the matrix units take fragments as RDNA4's do (`isa.gemm.matrix.sides`): the target's, no choice.

    Raises ParameterError, which names the parameter and what it may be.
    """

    rows: int = 128
    columns: int = 128
    depth: int = 32
    wave_rows: int = 64
    wave_columns: int = 64
    stages: int = 1
    factor: str = "f16"
    result: str = "f32"
    trans_a: bool = False
    trans_b: bool = False
    bias: bool = False
    scales: bool = False
    activation: str = ""
    gate: bool = False
    group: int = 1
    strided: bool = False
    prio: bool = False
    stream_k: bool = False
    half_sums: bool = False
    split: bool = False

    def __post_init__(self) -> None:
        must = partial(self.must, "GEMM")
        for name, of in (("wave_rows", "rows"), ("wave_columns", "columns")):
            value, whole = getattr(self, name), getattr(self, of)
            must(value in _EDGES, name, f"one of {_EDGES}", value)
            must(whole > 0 and whole % value == 0 and is_power_of_two(whole), of, f"{name} times a power of two", whole)
        self.check_types(must)
        least = 64 // self.result_bytes  # one word of C for each lane
        must(
            self.wave_columns >= least,
            "wave_columns", f"at least {least} where C is {self.result}", self.wave_columns,
        )  # fmt: skip
        # The fragments of A are where a lane's columns of a row of C are stored from.
        words, held = self.wave_columns * self.result_bytes // 64, self.fragment_words * self.fragments[0]
        least = self.wave_rows * words // held
        must(words <= held, "wave_rows", f"at least {least} with {self.wave_columns} columns", self.wave_rows)
        units = [units for units in (16, 32, 64, 128) if self.step <= units <= _DEEPEST // self.factor_bytes]
        depths = [self.pack * of for of in units]
        must(self.depth in depths, "depth", f"one of {depths}", self.depth)
        must(self.stages in (1, 2), "stages", "1 or 2", self.stages)
        must(self.group in _GROUPS, "group", f"one of {_GROUPS}", self.group)
        must(not (self.strided and self.stream_k), "stream_k", "none of a strided one", self.stream_k)
        must(not (self.half_sums and self.factor_bytes == 1), "half_sums", "none of bytes", self.half_sums)
        must(not (self.half_sums and self.stream_k), "half_sums", "none of a stream-K one", self.half_sums)
        must(self.threads <= MOST_THREADS, "a number of waves", f"{MOST_THREADS // 32} at most", self.waves)
        for side, name in zip(self.sides, ("rows", "columns"), strict=True):
            must(side.sweeps, name, f"whole sweeps of the {self.threads} threads over {side.name}", side.extent)
        must(self.lds_bytes <= LDS_PER_CU, "LDS", f"at most {LDS_PER_CU} bytes", f"{self.lds_bytes} bytes")

    def on(self, arch: str) -> MatrixParameters:
        """For a target, as `splits` says."""
        split = self.splits(arch)
        return self if self.split == split else replace(self, split=split)

    @property
    def kernarg_bytes(self) -> int:
        more = STRIDE_BYTES if self.strided else WORK_BYTES if self.stream_k else 0
        return self.after_vectors + more if more else super().kernarg_bytes

    @property
    def places(self) -> list[tuple[int, int]]:
        """(offset, bytes) of a strided kernel's further arguments."""
        if not self.strided:
            return []
        at, lines = self.after_vectors, self.after_vectors + 8 * len(STRIDES)
        return [(at + 8 * i, 8) for i in range(len(STRIDES))] + [(lines + 4 * i, 4) for i in range(len(LINES))]

    @property
    def wave_tile(self) -> tuple[int, int]:
        return self.wave_rows, self.wave_columns

    @property
    def fragments(self) -> tuple[int, int]:
        """Of a wave, in rows and columns."""
        return self.wave_rows // FRAGMENT, self.wave_columns // FRAGMENT

    @property
    def fragment_words(self) -> int:
        """VGPRs of a fragment of A or B."""
        return 4 if self.split else FRAGMENT * self.factor_bytes // 4

    @property
    def step(self) -> int:
        """Units of k of a fragment."""
        return 2 * CHUNK_BYTES // self.factor_bytes if self.split else FRAGMENT

    @property
    def products(self) -> int:
        """Products that two fragments make, each of some of their VGPRs."""
        return 2 // self.factor_bytes if self.split else self.pack

    @property
    def sum_words(self) -> int:
        """VGPRs of the sums of a fragment of C: of 16 bits two rows in each where the halves of a wave are split."""
        return 4 if self.half_sums and self.split else 8

    @property
    def sums_across(self) -> int:
        """How many runs of `sum_words` VGPRs have the sums of a row of fragments. Where these are fewer than the
        fragments, the others lie in their upper halves."""
        across = self.fragments[1]
        return across // 2 if self.half_sums and across > 1 and not self.split else across

    def sum_slot(self, half: int, row: int) -> int:
        """The row of a fragment's sums that half of a wave has as its `row`-th."""
        return 8 * half + row if self.split else half + 2 * row

    @property
    def waves_across(self) -> int:
        """How many waves lie side by side."""
        return self.columns // self.wave_columns

    @cached_property
    def waves(self) -> int:
        return self.rows // self.wave_rows * self.waves_across

    @cached_property
    def threads(self) -> int:
        return 32 * self.waves

    @property
    def units(self) -> int:
        """Elements in memory that a row of a K block has: steps of k, or packs of these."""
        return self.depth // self.pack

    @cached_property
    def a(self) -> MatrixSide:
        return self._side("A", self.rows, self.wave_rows, not self.trans_a)

    @cached_property
    def b(self) -> MatrixSide:
        return self._side("B", self.columns, self.wave_columns, self.trans_b)

    def _side(self, name: str, extent: int, wave: int, along_k: bool) -> MatrixSide:
        return MatrixSide(name, extent, wave, self.units, self.threads, self.factor_bytes, along_k, self.split)

    @property
    def sides(self) -> tuple[MatrixSide, MatrixSide]:
        return self.a, self.b

    @property
    def stage_bytes(self) -> int:
        return self.a.bytes + self.b.bytes

    @property
    def lds_bytes(self) -> int:
        return self.stages * self.stage_bytes

    @property
    def longest_lines(self) -> tuple[int, int, int]:
        """The most elements from one line of A, B and C to the next: byte offsets within a tile have 32 bits."""
        a, b = (side.longest_line for side in self.sides)
        return min(a, LARGEST_INT), min(b, LARGEST_INT), 2**32 // (self.result_bytes * self.rows) - 1

    @property
    def largest(self) -> tuple[int, int, int]:
        """The most that M, N and K may be: see `longest_lines`."""
        most = {"M": LARGEST_INT, "N": self.longest_lines[2], "K": LARGEST_INT}
        for side, outer in zip(self.sides, "MN", strict=True):
            letter, each = ("K", self.pack) if side.along_k else (outer, 1)
            most[letter] = min(most[letter], each * side.longest_line)
        return most["M"], most["N"], most["K"]


def vectors(*, bias: bool, scales: bool) -> tuple[str, ...]:
    """The names of an epilogue's vectors, in the order of the arguments."""
    return (("bias",) if bias else ()) + (("row_scale", "column_scale") if scales else ())
