"""Two tiers of native code for a kernel: hasty code at once, good code where that pays.

Hasty code is what LLVM makes without optimisation: ready in a quarter of the time, half as fast. Both tiers come from
the same IR and keep a wave's state in the same place, so that they give the same bits and a wave may go on in either.

In:  how code is made for a target (`Make`), and the processor seconds that launches spend in it (`Tiers.spend`).
Out: the code to run now (`Tiers.version`).

Good code is taken where it is kept, and made at once for launches that are surely long (MANY work-items). All others
begin with hasty code. When launches have spent as long in that as good code will take to make, it is made, and waves go
on in it after their next barrier or time slice. So nobody waits for more than about twice what the better choice, known
beforehand, would have cost (the rule of the ski rental problem). What good code will cost is taken from the size of the
hasty code, PER_BYTE; the figure is a measurement of kernels of 50 to 5,000 instructions, right within a third.
"""

from __future__ import annotations

import functools
import threading
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from isa.sim.jit import HostTarget, Native, load_object
from isa.sim.selfcheck import settled

if TYPE_CHECKING:
    from isa.sim.translations import Translated

MANY = 1 << 17
PER_BYTE = 6e-6


@dataclass(eq=False)
class Version:
    """One native version of a kernel: addresses of its wave function and of the loop over workgroups.

    sites: how many access sites it has (see CompiledKernel.site).
    bails: addresses of instructions at which it may hand over to the plain version, beside the blocks' starts.
    better_s: estimated seconds to make good code in its place, 0 if it is that. spent_s: what launches spent in it.
    """

    native: Native
    wave: int
    run: int
    sites: int
    bails: frozenset[int]
    better_s: float = 0.0
    spent_s: float = 0.0

    @staticmethod
    def of(translated: Translated, symbol: str, target: HostTarget, run: int = 0) -> Version:
        """run: the address of its loop over workgroups, if that is not its own."""
        native = load_object(translated.code, target)
        return Version(
            native, native.address(symbol), run or native.address("run"), translated.sites, translated.bails,
            len(translated.code) * PER_BYTE if target.hasty else 0.0,
        )  # fmt: skip

    @property
    def pays(self) -> bool:
        """Whether good code should have been made."""
        return self.spent_s > self.better_s > 0


Make = Callable[[HostTarget, bool, bool], "Version | None"]
"""(target, fast, kept) -> that version for the target; kept: None if it would have to be made."""


@dataclass(eq=False)
class Tiers:
    """The fast and the plain version of one kernel for one target, each in the tier that pays."""

    target: HostTarget
    make: Make
    _now: dict[bool, Version] = field(default_factory=dict)
    _lock: threading.RLock = field(default_factory=threading.RLock)

    def version(self, fast: bool, *, long: bool = False) -> Version:
        """The code to run now, compiled when it is first asked for. long: good code will pay."""
        with self._lock:
            now = self._now.get(fast)
            if now is None or (now.better_s and (long or now.pays)):
                now = self._now[fast] = self._choose(fast, long or now is not None)
            return now

    def _choose(self, fast: bool, good: bool) -> Version:
        first = self._first
        version = self.make(self._good, fast, not good and first.hasty is True)
        if version is None:
            version = self.make(first, fast, False)
        assert version is not None
        return version

    @property
    def _good(self) -> HostTarget:
        return self.target if self.target.hasty else replace(self.target, hasty=False)

    @functools.cached_property
    def _first(self) -> HostTarget:
        """What is made first: for hasty code, if that is wanted and right on this machine."""
        return settled(replace(self.target, hasty=True)) if self.target.hasty is None else self._good

    def spend(self, fast: bool, seconds: float) -> Version | None:
        """Count time spent in a version; the one to go on with, if that is another now. While a version is being made
        nothing is counted: most of the time went into that."""
        if not self._lock.acquire(blocking=False):
            return None
        try:
            before = self._now.get(fast)
            if before is None:
                return None
            before.spent_s += seconds
            after = self.version(fast)
            return after if after is not before else None
        finally:
            self._lock.release()
