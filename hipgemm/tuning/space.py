"""The kernels to choose from: every combination of the values below that `isa.gemm` accepts.

Which of them hold together is said in one place, `Parameters` and `Registers`: a combination that they reject is left
out. Fields of Parameters that are not listed here keep their defaults, but for the widths of global loads: `widest`.
"""

from __future__ import annotations

import functools
import itertools
from contextlib import suppress
from dataclasses import replace
from typing import Any

from hipgemm.tuning.shapes import Shape
from isa.gemm.matrix.parameters import MatrixParameters
from isa.gemm.vector.parameters import ParameterError, Parameters
from isa.gemm.vector.registers import Registers
from isa.registers import VGPR_LIMIT

VALUES: dict[str, tuple[int, ...]] = {
    "rows": (4, 8, 16, 32, 64, 96, 128, 192, 256),
    "columns": (16, 32, 64, 96, 128, 192, 256),
    "depth": (8, 16),
    "thread_rows": (4, 8, 16),
    "thread_columns": (4, 8, 16),
    "lane_rows": (1, 2, 4, 8, 16),
    "group": (1, 2, 4),
    "stages": (1, 2),
    "stream_k": (False, True),
}
_MOST_FOLLOWED = 20_000_000
"""K blocks of all tiles together; 12288 cubed has 14 million of 128 x 128 x 8."""
_WIDTHS = sorted(itertools.product((1, 2, 4), repeat=2), key=lambda w: -w[0] * w[1])


@functools.cache
def kernels(trans: str) -> tuple[Parameters, ...]:
    """All for matrices that lie so, with loads of one element each. Registers may still reject one: see `vgprs`."""
    a, b = (letter == "t" for letter in trans)
    found = []
    for values in itertools.product(*VALUES.values()):
        fields: dict[str, Any] = dict(zip(VALUES, values, strict=True))
        operands = fields["thread_rows"] + fields["thread_columns"]
        if fields["thread_rows"] * fields["thread_columns"] + fields["group"] * operands > VGPR_LIMIT:
            continue
        if fields["rows"] * fields["columns"] < 32 * fields["thread_rows"] * fields["thread_columns"]:
            continue  # less than a wave's tile: most of the product, and slow to find out one by one
        with suppress(ParameterError):
            found.append(Parameters(**fields, trans_a=a, trans_b=b))
    return tuple(found)


def timeable(p: Parameters | MatrixParameters, shape: Shape) -> bool:
    """Whether the model can time it in seconds: it follows workgroups that do pieces of tiles each by itself."""
    tiles = -(-shape.m // p.rows) * -(-shape.n // p.columns)
    return not p.stream_k or tiles * -(-shape.k // p.depth) <= _MOST_FOLLOWED


def vgprs(p: Parameters) -> int | None:
    """How many it takes; None where they do not do."""
    with suppress(ParameterError):
        return Registers.of(p).count
    return None


def about_vgprs(p: Parameters) -> int:
    """The same without making the kernel's register map: accumulators, operands, what is fetched, addresses."""
    fetched = (p.rows + p.columns) * p.depth // p.threads
    return min(
        VGPR_LIMIT, p.thread_rows * p.thread_columns + p.group * (p.thread_rows + p.thread_columns) + 2 * fetched + 8
    )


@functools.cache
def widest(p: Parameters) -> Parameters:
    """The same kernel with the widest global loads that it can have."""
    for width_a, width_b in _WIDTHS:
        with suppress(ParameterError):
            return replace(p, width_a=width_a, width_b=width_b)
    return p
