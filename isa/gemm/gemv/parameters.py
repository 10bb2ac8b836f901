"""Parameters of a GEMV kernel: the numbers that it is generated from, and what must hold between them.

A workgroup computes `rows` x `columns` of C with `waves` waves, which share K out among them: of blocks of `depth`
steps of k (128, of bytes 256), wave w takes the blocks w, w + waves, ... Each wave has sums of the whole tile, in
fragments of 16 x 16, the unit of `v_wmma`; in the end they are added up through LDS.

`columns` may be any number: N over a multiple of the card's CUs, so that all CUs read as much.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial

from isa.analysis.resources import LDS_PER_CU
from isa.gemm.gemv.formats import FORMATS, Format
from isa.gemm.matrix.parameters import ElementTypes
from isa.gemm.matrix.sides import FRAGMENT

_LARGEST_INT = 2**31 - 1
_MOST_LOADS = 63
"""That a wave can tell apart."""


@dataclass(frozen=True)
class GemvParameters(ElementTypes):
    """One kernel.

    rows, columns: of a workgroup's tile of C. waves: of a workgroup.
    factor:  type of A; weights: how B lies, one of FORMATS, or "" for A's type; result: type of C.
    bias, scales, activation, split: as of `MatrixParameters`.

    Raises ParameterError, which names the parameter and what it may be.
    """

    rows: int = 1
    columns: int = 43
    waves: int = 8
    factor: str = "f16"
    weights: str = ""
    result: str = "f32"
    bias: bool = False
    scales: bool = False
    activation: str = ""
    split: bool = False

    trans_a = False
    trans_b = True
    stream_k = False

    def __post_init__(self) -> None:
        must = partial(self.must, "GEMV")
        must(1 <= self.rows <= FRAGMENT, "rows", f"1 to {FRAGMENT}", self.rows)
        must(1 <= self.columns <= 64, "columns", "1 to 64", self.columns)
        must(self.waves in (1, 2, 4, 8, 16, 32), "waves", "a power of two, at most 32", self.waves)
        self.check_types(must)
        must(self.factor != "i4", "factor", "all but i4", self.factor)
        must(
            not self.weights or (self.weights in FORMATS and self.factor == "f16"),
            "weights", f"{', '.join(FORMATS)}, with A of f16", f"{self.weights} with {self.factor}",
        )  # fmt: skip
        must(self.lds_bytes <= LDS_PER_CU, "LDS", f"at most {LDS_PER_CU} bytes", f"{self.lds_bytes} bytes")
        must(self.loads <= _MOST_LOADS, "number of loads of a block", f"at most {_MOST_LOADS}", self.loads)

    @property
    def format(self) -> Format | None:
        """None for weights of A's type."""
        return FORMATS.get(self.weights)

    @property
    def bits(self) -> int:
        """Of a weight."""
        return self.format.bits if self.format else 8 * self.factor_bytes

    @property
    def group(self) -> int:
        """Steps of k that share a scale; 0 where a row has one, or none."""
        return self.format.group if self.format else 0

    @property
    def zeros(self) -> bool:
        return bool(self.format and self.format.zeros)

    @property
    def threads(self) -> int:
        return 32 * self.waves

    @property
    def fragments(self) -> int:
        """Of a tile, side by side."""
        return -(-self.columns // FRAGMENT)

    @property
    def step(self) -> int:
        """Steps of k of a fragment."""
        return 32 // self.factor_bytes if self.split else FRAGMENT

    @property
    def fragment_loads(self) -> int:
        """Loads of LDS that a fragment takes: one slot each, or one of each half of a wave."""
        return 1 if self.split else self.factor_bytes

    @property
    def products(self) -> int:
        """Products that two fragments make, each of some of their VGPRs."""
        return 2 // self.factor_bytes if self.split else 1

    @property
    def sum_words(self) -> int:
        """VGPRs of sums that hold rows: each two, row v and v + 8 where the halves of a wave are split, else 2 v and
        2 v + 1."""
        return min(self.rows, 8) if self.split else -(-self.rows // 2)

    @property
    def sum_rows(self) -> int:
        """Rows of sums that a wave leaves in LDS."""
        return FRAGMENT if self.split else 2 * self.sum_words

    @property
    def pitch(self) -> int:
        """Words of LDS from a row of sums to the next."""
        return 1 << (FRAGMENT * self.fragments - 1).bit_length()

    @property
    def depth(self) -> int:
        """Steps of k of a block: a row of LDS."""
        return 256 // self.factor_bytes

    @property
    def groups(self) -> int:
        """Scales of a row in a block."""
        return self.depth // self.group if self.group else 0

    @property
    def lanes(self) -> int:
        """That fetch a row of weights of a block, 16 bytes each."""
        return self.depth * self.bits // 128

    @property
    def expand(self) -> int:
        """Slots of LDS that they become."""
        return 16 // self.lanes

    @property
    def twist(self) -> int:
        return max(1, self.expand // 2)

    @property
    def loads_b(self) -> int:
        """Of a fragment's weights in a block."""
        return self.lanes // 2

    @property
    def unpacked(self) -> int:
        """Loads of weights that are unpacked together: eight slots' worth."""
        return min(self.loads_b, 8 // self.expand)

    @property
    def loads_a(self) -> int:
        return -(-self.rows // 2)

    @property
    def rows_a(self) -> int:
        """Of LDS: two to a load."""
        return 2 * self.loads_a

    @property
    def loads_fragment(self) -> int:
        """Of a fragment in a block: scales, and zero points beside weights."""
        return bool(self.group) + self.loads_b * (1 + self.zeros)

    @property
    def loads(self) -> int:
        """Of a block."""
        return self.loads_a + self.fragments * self.loads_fragment

    @property
    def wave_bytes(self) -> int:
        """LDS of a wave: rows of A, and 16 of B; in the end its sums."""
        return max(256 * (self.rows_a + FRAGMENT), 4 * self.sum_rows * self.pitch)

    @property
    def lds_bytes(self) -> int:
        return self.waves * self.wave_bytes

    @property
    def vector_names(self) -> tuple[str, ...]:
        """Of the epilogue, and of the weights' format."""
        names = super().vector_names
        names += ("weight_scales",) if self.weights else ()
        return names + (("weight_zeros",) if self.zeros else ())

    @property
    def end_vectors(self) -> list[str]:
        """Those of which the end of a workgroup needs a row's or a column's."""
        return [name for name in self.vectors if not (self.group and name.startswith("weight_"))]

    @property
    def largest(self) -> tuple[int, int, int]:
        """The most that M, N and K may be: byte offsets within a tile have 32 bits, lines of
        A and of the weights 24."""
        return _LARGEST_INT, 2**32 // (self.result_bytes * FRAGMENT) - 1, 2**24 // self.factor_bytes - 1
