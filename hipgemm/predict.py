"""The predicted time of a rung of the ladder, from its build and a problem size, or of any launch; nothing runs."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from hipgemm.kernels import Gemm
from hipgemm.launch import launch_of
from isa.display import Shown
from isa.errors import IsaError

if TYPE_CHECKING:
    from hipgemm.checking import Given
    from isa.object.code_object import CodeObject
    from isa.timing.cards import Card
    from isa.timing.ensemble import Timing
    from isa.timing.predict import TimedLaunch

# Where A, B, C and a workspace would lie: only distances matter, and a card aligns allocations to pages.
_A, _B, _C, _WORKSPACE = 0x7F00_0000_0000, 0x7F10_0000_0000, 0x7F20_0000_0000, 0x7F30_0000_0000


@dataclass(frozen=True, repr=False)
class Prediction(Shown):
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


@dataclass(frozen=True)
class LaunchPrediction:
    """Any kernel's launch, and what the cycle model says of it. grid: in workgroups."""

    name: str
    grid: tuple[int, int, int]
    block: tuple[int, int, int]
    timing: Timing


def ready_launch(
    code: CodeObject,
    name: str | None,
    grid: tuple[int, int, int],
    block: tuple[int, int, int],
    given: Sequence[Given],
    on: Card,
    *,
    bank_rule: str | None = None,
) -> TimedLaunch:
    """A kernel's launch, to be timed; `name` may be None where there is only one kernel.

    Nothing is read from buffers; each lies apart from the others. IsaError where the arguments are not the kernel's, or
    its addresses depend on data.
    """
    from hipgemm.checking import packed
    from isa.timing import bank_rules, predict

    if name is None and len(code.kernels) != 1:
        raise IsaError("which kernel?", expected="--kernel with the name of one", got=", ".join(code.kernels) or "none")
    kernel = code.kernel(name or next(iter(code.kernels)))
    kernarg = packed(kernel, given, lambda i, argument, value: _A + i * (_B - _A))
    rule = bank_rule or bank_rules.DEFAULT
    return predict.TimedLaunch(code, kernel.name, grid, block, kernarg, on, bank_rule=rule)


def ready(
    code: CodeObject,
    rung: Gemm,
    sizes: tuple[int, int, int],
    on: Card,
    *,
    beta: float = 0.0,
    bank_rule: str | None = None,
) -> TimedLaunch:
    """The launch of a rung, to be timed. code: holds its kernel; sizes: M, N and K, SizeError where they are none of
    the rung's."""
    from isa.timing import bank_rules, predict

    launch = launch_of(rung, *sizes, on.cus)
    arguments = launch.kernarg((_A, _B, _C), 1.0, beta, _WORKSPACE)
    rule = bank_rule or bank_rules.DEFAULT
    return predict.TimedLaunch(code, rung.name, launch.grid, launch.block, arguments, on, bank_rule=rule)
