"""Two tiers of native code for a kernel: baseline code at once, good code where that pays.

Baseline code is what LLVM makes without optimisation, of fewer lines: instructions are calls
(`isa.sim.translate.wave_bodies`, for long ones `isa.sim.translate.shared`), and no loop is unrolled. It is ready in a
tenth to a third of the time, and takes 1.2 to twice as long to run. Both tiers compute the same values and keep a
wave's state in the same place, so that they give the same bits and a wave may go on in either; the fast version may
leave for the plain one at the same places.

In:  how code is made for a target (`Recipe`), and the processor seconds that launches spend in it (`Tiers.spend`).
Out: the code to run now (`Tiers.version`).

A version comes from the memory of this process, else from the disk (`isa.sim.ir.translations`), else it is translated.

Good code is taken where it is kept. All else begins with baseline code. When launches have spent as long in that as
good code will take to make, it is made beside them, and waves go on in it after their next barrier or time slice. So no
launch waits for more than about twice what the better choice, known beforehand, would have cost (the rule of the ski
rental problem). Where the workgroups that have ended say that the launch will still take longer than LONG times that,
it is made at once. What good code will cost is taken from how many lines of IR it would have, which the translator of
the baseline code counts; PER_LINE seconds each are a measurement of 16 versions of kernels of 100 to 3,000
instructions, right within a factor of two.
"""

from __future__ import annotations

import functools
import threading
from collections import OrderedDict
from collections.abc import Callable
from dataclasses import dataclass, field, replace

from isa.sim.ir import translations
from isa.sim.ir.jit import HostTarget, Native, load_object
from isa.sim.ir.translations import Translated
from isa.sim.run.selfcheck import better, settled

PER_LINE = 40e-6
LONG = 2


@dataclass(eq=False)
class Version:
    """One native version of a kernel: addresses of its wave function and of the loop over workgroups.

    sites: how many access sites it has (see CompiledKernel.site).
    bails: addresses of instructions at which it may hand over to the plain version, beside the blocks' starts.
    better_s: estimated seconds to make good code in its place, 0 if it is that. spent_s: what launches spent in it;
    left_s: what one that runs will still take, as far as that is known.
    """

    native: Native
    wave: int
    run: int
    sites: int
    bails: frozenset[int]
    better_s: float = 0.0
    spent_s: float = 0.0
    left_s: float = 0.0

    @staticmethod
    def of(made: Translated, fast: bool, target: HostTarget, run: int = 0) -> Version:
        """run: the address of its loop over workgroups, if that is not its own."""
        native = load_object(made.code, target)
        return Version(
            native, native.address("fast" if fast else "plain"), run or native.address("run"), made.sites, made.bails,
            made.size * PER_LINE if target.baseline else 0.0,
        )  # fmt: skip

    @property
    def pays(self) -> bool:
        """Whether good code should have been made."""
        return max(self.spent_s, self.left_s / LONG) > self.better_s > 0


# The versions that were used last, by their name, for modules that are loaded again. Kernels hold theirs besides.
_RECENT = 64
_recent: OrderedDict[str, Version] = OrderedDict()


@dataclass(frozen=True)
class Recipe:
    """How a version is made. name: on the disk; run: the address of its loop over workgroups, if that is not its
    own."""

    name: str
    translate: Callable[[], Translated]
    run: int = 0


@dataclass(eq=False)
class Tiers:
    """The fast and the plain version of one kernel for one target, each in the tier that pays.

    recipe: (target, fast, addresses at which more blocks have to begin) -> how it is made. switches: the fast and the
    plain version take turns: wherever the fast one may fall out of its loops over strips, the plain one can be entered.
    """

    target: HostTarget
    recipe: Callable[[HostTarget, bool, frozenset[int]], Recipe]
    switches: bool = True
    _now: dict[bool, Version] = field(default_factory=dict)
    _lock: threading.RLock = field(default_factory=threading.RLock)

    @staticmethod
    def holding(version: Version, target: HostTarget) -> Tiers:
        """One plain version, already made for the target."""

        def recipe(target: HostTarget, fast: bool, more: frozenset[int]) -> Recipe:
            raise LookupError("there is only the one")

        return Tiers(replace(target, baseline=bool(target.baseline)), recipe, False, {False: version})

    def version(self, fast: bool) -> Version:
        """The code to run now, compiled when it is first asked for."""
        with self._lock:
            now = self._now.get(fast)
            if now is None or (self.improves and now.pays):
                now = self._now[fast] = self._choose(fast, now is not None)
            return now

    def _choose(self, fast: bool, good: bool) -> Version:
        first = self._first
        kept = not good and first.baseline is True
        version = self._make(replace(first, baseline=False) if kept else self._good, fast, kept=kept)
        if version is None:
            version = self._make(first, fast)
        assert version is not None
        return version

    def _make(self, target: HostTarget, fast: bool, *, kept: bool = False) -> Version | None:
        """That version for the target; kept: None if it would have to be translated. IsaError where an instruction is
        not described."""
        more = self.version(True).bails if self.switches and not fast else frozenset[int]()
        recipe = self.recipe(target, fast, more)
        name = recipe.name
        version = _recent.pop(name, None)
        if version is None:
            made = translations.find(name) if kept else translations.find_or_make(name, recipe.translate)
            if made is None or (kept and self._good != target):
                return None
            version = Version.of(made, fast, target, recipe.run)
        _recent[name] = version
        while len(_recent) > _RECENT:
            _recent.popitem(last=False)
        return version

    @property
    def improves(self) -> bool:
        """Whether a version may be baseline now and good later."""
        return self.target.baseline is None and any(v.better_s for v in self._now.values())

    @functools.cached_property
    def _good(self) -> HostTarget:
        """What is made in its place, asked for once it pays."""
        return better(self._first) if self.target.baseline is None and self._first.baseline else self._first

    @functools.cached_property
    def _first(self) -> HostTarget:
        """What is made first: for baseline code, if that is wanted and right on this machine."""
        return settled(replace(self.target, baseline=True)) if self.target.baseline is None else self.target

    def spend(self, fast: bool, seconds: float, left: float) -> Version | None:
        """Count time spent in a version, and what is left; the one to go on with, if that is another now. While a
        version is being made nothing is counted: most of the time went into that."""
        if not self._lock.acquire(blocking=False):
            return None
        try:
            before = self._now.get(fast)
            if before is None:
                return None
            before.spent_s += seconds
            before.left_s = left
            after = self.version(fast)
            return after if after is not before else None
        finally:
            self._lock.release()
