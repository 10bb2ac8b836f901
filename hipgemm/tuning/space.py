"""The kernels to choose from: every combination of the values below that `isa.gemm` accepts.

Which of them hold together is said in one place, `Parameters` and `Registers`: a combination that they refuse is left
out. A field of Parameters that is not listed here keeps its default.
"""

from __future__ import annotations

import functools
import itertools
from contextlib import suppress
from typing import Any

from isa.gemm.parameters import ParameterError, Parameters
from isa.gemm.registers import Registers

VALUES: dict[str, tuple[int, ...]] = {
    "rows": (16, 32, 64, 96, 128, 160, 192, 256),
    "columns": (16, 32, 64, 96, 128, 160, 192, 256),
    "depth": (8, 16),
    "thread_rows": (4, 8, 16),
    "thread_columns": (4, 8, 16),
    "lane_rows": (2, 4, 8, 16),
    "group": (1, 2, 4),
    "stages": (1, 2),
}


@functools.cache
def kernels(trans: str) -> tuple[tuple[Parameters, int], ...]:
    """(parameters, VGPRs) of each kernel for matrices that lie so."""
    a, b = (letter == "t" for letter in trans)
    found = []
    for values in itertools.product(*VALUES.values()):
        with suppress(ParameterError):
            fields: dict[str, Any] = dict(zip(VALUES, values, strict=True))
            p = Parameters(**fields, trans_a=a, trans_b=b)
            found.append((p, Registers.of(p).count))
    return tuple(found)
