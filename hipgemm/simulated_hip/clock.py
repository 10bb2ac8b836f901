"""The simulated card with a clock: what `isa.sim` runs, `isa.timing` times.

A launch runs at once; its time is worked out when an event asks for it (`TimedReport.time_s`), and once for launches
that are alike: same kernel, same shape, same arguments, where of a pointer only its place in a page counts. So a script
that uses no events pays nothing. `isa.timing.model.predict` also keeps it on disk. Where the model rejects a launch
(its path depends on data), or would have to take conditions on data for true, which an event cannot say, there is no
time.

Once an event was recorded, `TimedCard.expect` begins a prediction beside its launch, on what cores the launch leaves
idle, while no other prediction is in progress.
"""

from __future__ import annotations

import threading
from concurrent.futures import Future
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from isa.errors import IsaError
from isa.sim.ir.jit import NATIVE
from isa.sim.run.card import Card, CompiledKernel, LaunchReport

if TYPE_CHECKING:
    from isa.timing.machine.cards import Card as CardFacts
    from isa.timing.model.ensemble import Timing

Triple = tuple[int, int, int]
_PAGE = 4096
_FIRST_BUFFER, _APART = 0x7F00_0000_0000, 0x10_0000_0000


@dataclass(frozen=True)
class _Launched:
    """What time depends on. kernarg: with buffers at addresses of their own."""

    kernel: CompiledKernel
    grid: Triple
    block: Triple
    kernarg: bytes
    dynamic_lds: int
    on: CardFacts

    def predict(self) -> Timing | None:
        from isa.lint import sound
        from isa.timing.model import predict

        code, name = self.kernel.code_object, self.kernel.facts.name
        try:
            sound.checked(code, name)
            timing = predict.TimedLaunch(
                code, name, self.grid, self.block, self.kernarg, self.on, dynamic_lds=self.dynamic_lds
            ).timing()
        except IsaError:
            return None
        return None if timing.guards else timing


class _Clock:
    """The predictions of a card's launches, each made once: by who asks, or ahead by a thread, one at a time."""

    def __init__(self) -> None:
        self._known: dict[_Launched, Future[Timing | None]] = {}
        self._ahead: Future[Timing | None] | None = None
        self._lock = threading.Lock()

    def begin(self, launched: _Launched) -> None:
        """Work it out in a thread, unless that is done or another one is in progress."""
        with self._lock:
            if launched in self._known or (self._ahead and not self._ahead.done()):
                return
            self._known[launched] = self._ahead = Future()
        threading.Thread(target=_fulfil, args=(self._ahead, launched), daemon=True).start()

    def of(self, launched: _Launched) -> Timing | None:
        with self._lock:
            mine = launched not in self._known
            future = self._known.setdefault(launched, Future())
        if mine:
            _fulfil(future, launched)
        try:
            return future.result()
        except BaseException:  # Ctrl-C: the next one who asks gets an answer
            with self._lock:
                self._known.pop(launched, None)
            raise


def _fulfil(future: Future[Timing | None], launched: _Launched) -> None:
    try:
        future.set_result(launched.predict())
    except BaseException as error:
        future.set_exception(error)


@dataclass
class TimedReport:
    """A `LaunchReport` that knows what was launched. See the module's docstring."""

    ran: LaunchReport
    launched: _Launched
    clock: _Clock = field(repr=False)

    @property
    def time_s(self) -> float | None:
        """Predicted seconds on the card, None where the model cannot tell."""
        timing = self.timing
        return None if timing is None else timing.time_s

    @property
    def band_s(self) -> tuple[float, float] | None:
        """The ends of its band, in seconds."""
        timing = self.timing
        return None if timing is None else (timing.low_s, timing.high_s)

    @property
    def timing(self) -> Timing | None:
        """The whole prediction."""
        return self.clock.of(self.launched)


class TimedCard(Card):
    """The simulator's card, whose reports know their time. on: the card that they are timed for."""

    def __init__(self, on: CardFacts, *, cpu: str = NATIVE) -> None:
        super().__init__(cpu=cpu)
        self._on = on
        self._clock = _Clock()

    def expect(self, kernel: CompiledKernel, grid: Triple, block: Triple, kernarg: bytes, dynamic_lds: int = 0) -> None:
        """The time of the launch that follows will be asked for."""
        self._clock.begin(_Launched(kernel, grid, block, _placed(kernel, kernarg), dynamic_lds, self._on))

    def launch(  # type: ignore[override]
        self,
        kernel: CompiledKernel,
        grid: Triple,
        block: Triple,
        kernarg: bytes,
        dynamic_lds: int = 0,
        **options: Any,
    ) -> TimedReport:
        """As `Card.launch`."""
        ran = super().launch(kernel, grid, block, kernarg, dynamic_lds, **options)
        launched = _Launched(kernel, grid, block, _placed(kernel, kernarg), dynamic_lds, self._on)
        return TimedReport(ran, launched, self._clock)


def _placed(kernel: CompiledKernel, kernarg: bytes) -> bytes:
    """The arguments with buffers at addresses of their own, so that the host's do not matter."""
    out = bytearray(kernarg)
    for i, argument in enumerate(a for a in kernel.facts.args if a.kind == "global_buffer"):
        place = slice(argument.offset, argument.offset + 8)
        out[place] = (_FIRST_BUFFER + i * _APART + int.from_bytes(out[place], "little") % _PAGE).to_bytes(8, "little")
    return bytes(out)
