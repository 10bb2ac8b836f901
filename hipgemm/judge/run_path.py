"""The path of a launch from workgroups that are run on the simulated card, for kernels whose path or addresses depend
on data (`isa.timing.trace.recording`): with arrays that somebody gave, or that a launch was recorded with.

The arrays lie one after another in one piece of memory, each at the beginning of a page, so that what the caches do
does not depend on where this process got it. Limits: those of
`isa.timing.trace.recording`: four workgroups are run, one is played.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from itertools import accumulate

from hipgemm.launch.launch import Launch
from isa.analysis.resources import occupancy
from isa.sim.ir.state import LANES
from isa.sim.run.card import Card
from isa.targets import target
from isa.timing.model import predict
from isa.timing.model import run as model
from isa.timing.model.ensemble import Timing
from isa.timing.trace import recording
from isa.timing.workgroups.unequal import by_paths

_PAGE = 4096


@dataclass(frozen=True)
class RunTimedLaunch(predict.TimedLaunch):
    """launch: bound, with the arrays that the workgroups run on."""

    launch: Launch = field(kw_only=True)

    @functools.cached_property
    def prepared(self) -> model.Prepared:
        """Made ready for `isa.timing.model.run`. What `isa.sim.run.card.Card.launch` raises."""
        card = Card()
        kernel = card.load(self.code).kernels[self.name]
        starts = list(accumulate((_pages(array.nbytes) for array in self.launch.arrays), initial=0))
        base = _pages(card.memory.allocate(starts[-1] + _PAGE))
        addresses = [base + at for at in starts[:-1]]

        def fill() -> None:
            self.launch.fill(addresses)

        fill()
        kernarg = self.launch.kernarg(kernel.facts, addresses)
        cfg = predict.cfg_of(self.code, kernel.facts)
        trace = recording.record(
            cfg, kernel, card.memory, card.target, self.grid, self.block, kernarg, self.dynamic_lds
        )
        resources, lanes = predict.resources_of(kernel.facts, self.dynamic_lds), LANES * kernel.halves
        units = self.on.cus if resources.cu_mode else self.on.wgps
        fits = occupancy(
            resources.vgprs, resources.lds, lanes * trace.waves, cu_mode=resources.cu_mode,
            target=target(self.on.arch), lanes=lanes,
        )  # fmt: skip
        running = recording.Running(
            cfg, kernel, card.memory, card.target, self.grid, self.block, kernarg, self.dynamic_lds, fill
        )
        own = by_paths(cfg, trace, running.paths(), running.record, units, fits.workgroups)
        trace = trace if own is None else replace(own, exact=False)
        return model.prepare(cfg, trace, resources, self.on, self.numbers, self.bank_rule, self.warm, self.ranges)

    def _kept(self, what: str, clock_mhz: float | None, make: Callable[[], Timing]) -> Timing:
        return make()  # the disk knows launches by their arguments, not by what arrays hold


def _pages(size: int) -> int:
    """So many bytes in whole pages, one at least."""
    return max(-(-size // _PAGE), 1) * _PAGE
