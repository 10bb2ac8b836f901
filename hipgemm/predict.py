"""The predicted time of a rung of the ladder, from its build and a problem size; nothing is launched."""

from __future__ import annotations

import struct
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

from hipgemm.build import Build
from hipgemm.kernels import Gemm

if TYPE_CHECKING:
    from isa.timing.cards import Card
    from isa.timing.model import Prepared, Timing

# Where A, B and C would lie: only distances matter, and a card aligns allocations to pages.
_A, _B, _C = 0x7F00_0000_0000, 0x7F10_0000_0000, 0x7F20_0000_0000


@dataclass(frozen=True)
class Prediction:
    """A rung, the problem's size (C is m x n, k is the sum's length), and what the cycle model says of it."""

    rung: Gemm
    m: int
    n: int
    k: int
    timing: Timing

    @property
    def tflops(self) -> float:
        """2 m n k operations in the predicted time."""
        return 2.0 * self.m * self.n * self.k / self.timing.time_s / 1e12

    @property
    def peak_share(self) -> float:
        """Of the card's dual-issue fp32 peak at this clock."""
        return self.tflops * 1e12 / self.timing.card.peak_flops(self.timing.clock_mhz)

    def _repr_html_(self) -> str:
        from hipgemm.report.timing import html

        return html(self)

    def __repr__(self) -> str:
        from hipgemm.report.timing import text

        return text(self)


def ready(
    built: Build,
    m: int,
    n: int,
    k: int,
    on: Card,
    *,
    beta: float = 0.0,
    numbers: Mapping[str, float] | None = None,
    bank_rule: str | None = None,
) -> Prepared:
    """The launch of a built rung, ready for the cycle model."""
    from isa.timing import bank_rules, predict

    rung = built.rung
    assert isinstance(rung, Gemm)
    rung.check_size(m, n, k)
    kernarg = struct.pack("<QQQiiiff", _A, _B, _C, m, n, k, 1.0, beta)
    return predict.prepared(
        built.code_object(),
        rung.name,
        rung.grid(m, n),
        rung.block,
        kernarg,
        on,
        numbers=numbers,
        bank_rule=bank_rule or bank_rules.DEFAULT,
    )
