"""The simulated card with a clock: what `isa.sim` runs, `isa.timing` times.

A launch runs at once; its time is worked out when an event asks for it (`TimedReport.time_s`), and once for launches
that are alike: same kernel, same shape, same arguments, where of a pointer only its place in a page counts. So a script
that never asks for times pays nothing. `isa.timing.predict` also keeps it on disk. Where the model refuses a launch
(its path depends on data) there is no time.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from isa.errors import IsaError
from isa.sim.card import Card, Kernel, LaunchReport
from isa.sim.jit import NATIVE

if TYPE_CHECKING:
    from isa.timing.cards import Card as CardFacts
    from isa.timing.model import Timing

Triple = tuple[int, int, int]
_PAGE = 4096
_FIRST_BUFFER, _APART = 0x7F00_0000_0000, 0x10_0000_0000


@dataclass
class TimedReport:
    """A `LaunchReport` that knows what was launched. See the module's docstring."""

    ran: LaunchReport
    kernel: Kernel
    grid: Triple
    block: Triple
    kernarg: bytes
    dynamic_lds: int
    known: dict[Any, Timing | None] = field(repr=False)

    @property
    def time_s(self) -> float | None:
        """Predicted seconds on the card, None where the model cannot tell."""
        timing = self.timing
        return None if timing is None else timing.time_s

    @property
    def timing(self) -> Timing | None:
        """The whole prediction."""
        key = (self.kernel, self.grid, self.block, self.kernarg, self.dynamic_lds)
        if key not in self.known:
            self.known[key] = self._predict()
        return self.known[key]

    def _predict(self) -> Timing | None:
        from isa.timing import predict

        try:
            return predict.TimedLaunch(
                self.kernel.code_object,
                self.kernel.facts.name,
                self.grid,
                self.block,
                self.kernarg,
                card_of_the_simulator(),
                dynamic_lds=self.dynamic_lds,
            ).timing()
        except IsaError:
            return None


class TimedCard(Card):
    """The simulator's card, whose reports know their time."""

    def __init__(self, *, cpu: str = NATIVE) -> None:
        super().__init__(cpu=cpu)
        self._known: dict[Any, Timing | None] = {}

    def launch(  # type: ignore[override]
        self,
        kernel: Kernel,
        grid: Triple,
        block: Triple,
        kernarg: bytes,
        dynamic_lds: int = 0,
        **options: Any,
    ) -> TimedReport:
        """As `Card.launch`."""
        ran = super().launch(kernel, grid, block, kernarg, dynamic_lds, **options)
        return TimedReport(ran, kernel, grid, block, _placed(kernel, kernarg), dynamic_lds, self._known)


def card_of_the_simulator() -> CardFacts:
    """The card that the simulated one stands for."""
    from isa.timing.cards import card

    return card("7900 XTX")


def _placed(kernel: Kernel, kernarg: bytes) -> bytes:
    """The arguments with buffers at addresses of their own, so that the host's do not matter."""
    out = bytearray(kernarg)
    for i, argument in enumerate(a for a in kernel.facts.args if a.kind == "global_buffer"):
        place = slice(argument.offset, argument.offset + 8)
        out[place] = (_FIRST_BUFFER + i * _APART + int.from_bytes(out[place], "little") % _PAGE).to_bytes(8, "little")
    return bytes(out)
