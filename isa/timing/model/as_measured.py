"""Measured time: a prediction of the GPU alone -> what events around a launch show: the clock under load, and the
launch's overhead.

`isa.timing.model.ensemble` says how many cycles a kernel takes, and its time at the clock it was given, the card's
boost. A card keeps that clock while its power limit allows. Here the power of the cores is taken as P = k w f V^2 with
V proportional to f, w the work of the VALUs (`Timing.valu_work`): the operations that they do in a cycle, of the two a
lane that they can. Above a work w0 the clock falls as

    f = boost (w0 / w)^(1/3)

That it is what is done that costs energy, and not the cycles in which the VALU is held, is how power models of GPUs are
built and fit what they measure (Wattchmen, ICS 2026; AccelWattch, MICRO 2021: an energy for each instruction executed):
v_dual_fmac does the work of two, an addition of addresses that of one. Kernels 7 and 8 of the study hold the VALU for
83 and 85 % of the cycles, and do 74 and 83 % of what it can.

w0 depends on what the VALU toggles (`LOADS`), which may be worth a third of the power (ALUPower, Lucas and Juurlink
2016): "light" is B the identity, whose products are mostly zeros, "heavy" is a B without zeros. w0 was fitted for the
7900 GRE; for another card it goes with the board's power a CU and GHz of its boost clock, at which cards are taken to
have one voltage (assumed, and not compared with any), over what an operation takes on their process. The time is the
cycles at that clock: what waits for memory does not wait longer for it, so kernels that memory holds up are predicted a
little slow. What LDS and caches draw has no part of its own.

Cards go above their boost clock where power is left: a 7900 XTX of 2500 MHz ran at 2914 in games and at 2800 to 2900
under rocBLAS's slow products of ROCm 7.1, at 2100 under the fast ones of 6.4 (ROCm issue 5725). With `above_boost` the
clock follows the same law up to the card's highest clock that was published (`Card.above_mhz`); its band reaches from
the boost clock, which a card need not leave, to what was seen for a short time. That is not the default: at 2500 MHz
numbers were fitted to the study's kernels 1 to 4, which ran faster, as far as can be told (docs/record/).

An event's time begins before the kernel does and ends after it. How much that is follows from the machine and from
the program, not from the card. A program that waits for each launch before it makes the next has the path of a launch
to the card between its events: WAITED_US has those that were fitted, for a user's own there is `hipgemm time
--overhead`. One that queues its launches and waits at the end has not, since the card finds the next one waiting:
none is added then.

Fitted on rocm_sgemm's averages on a 7900 GRE under WSL2 (five values in turn in A and B, each launch waited for): on
every other of 32, as the fields of a chess board (size, layout); judged on the other half (docs/timing.md). "light" was
fitted to one figure, rocm_sgemm's minimum at 4096, and judged on the study's kernels. The ends of w0 lie 15 % apart
from it (assumed); what else is not explained has a part of its own in the band, `UNEXPLAINED`.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Protocol

from isa.errors import IsaError, meant
from isa.targets import target
from isa.timing.machine import families
from isa.timing.machine.cards import CARDS, Card, card

_FITTED_ON = "7900 GRE"
_EXPONENT = 1 / 3


@dataclass(frozen=True, slots=True)
class Load:
    """Work of the VALUs above which the clock of a 7900 GRE falls, and its range."""

    what: str
    w0: float
    low: float
    high: float
    source: str


LOADS = {
    "light": Load("B the identity", 0.61, 0.52, 0.70, "rocm_sgemm's minimum of 16 at 4096, 4.36 ms"),
    "heavy": Load("B without zeros", 0.49, 0.42, 0.56, "16 of rocm_sgemm's averages"),
}
WAITED_US = {"": 0.0, "WSL2": 86.0, "Linux": 9.0, "queued": 3.9}
"""Of a launch with events around it and a wait after it, by where: under WSL2 fitted with "heavy", on Linux on eight of
rocm_wmma_gemm's averages (`tools/held_out.py`); either half of these wants some, and is nearer with the other's. "":
launches that were queued, whose least was taken; queued: their average, by 941 in a graph on a W7900 (ROCm 7.14,
rocm-systems issue 10834)."""
OVERHEAD_LOW, OVERHEAD_HIGH = 0.75, 1.2
"""Of a launch's overhead, the least and the most: of the figures at 1024 that it was fitted on, the four want 65 to
102 us."""
UNEXPLAINED = {("gfx11", False, False): 0.11, ("gfx11", False, True): 0.205, ("gfx11", True, True): 0.195}
"""What the band holds beside the model's, the clock's and the overhead's, as a part of the time on either side, by
`kind`: by split conformal prediction for 80 %, of each set of such figures that was measured by events and not fitted;
the largest of them (`tools/held_out.py`, docs/timing.md). Other kinds have the largest of all."""


class Timed(Protocol):
    """What is needed of an `isa.timing.model.ensemble.Timing`."""

    @property
    def card(self) -> Card: ...
    @property
    def clock_mhz(self) -> float: ...
    @property
    def valu_work(self) -> float: ...
    @property
    def matrix(self) -> bool: ...
    @property
    def time_s(self) -> float: ...
    @property
    def low_s(self) -> float: ...
    @property
    def high_s(self) -> float: ...


@dataclass(frozen=True, slots=True)
class AsMeasured:
    """What events would show. clock_mhz: under the load, with its range; overhead_s: a launch's."""

    time_s: float
    low_s: float
    high_s: float
    clock_mhz: float
    clock_low_mhz: float
    clock_high_mhz: float
    overhead_s: float
    load: str | None

    def rows(self) -> list[tuple[str, str]]:
        """For a reader, beside those of the GPU alone."""
        time, low, high = (1e3 * s for s in (self.time_s, self.low_s, self.high_s))
        with_what = [f"{1e6 * self.overhead_s:g} us of launch"] if self.overhead_s else []
        if self.load is not None:
            clock = f"{self.clock_mhz:.0f} MHz"
            if self.clock_low_mhz != self.clock_high_mhz:
                clock += f" ({self.clock_low_mhz:.0f} to {self.clock_high_mhz:.0f})"
            with_what.insert(0, f"{clock} under a {self.load} load ({LOADS[self.load].what})")
        return [("by events", f"{time:.4f} ms predicted, {low:.4f} to {high:.4f}: {', '.join(with_what)}")]


def kind(on: Card, matrix: bool) -> tuple[str, bool, bool]:
    """The card's family, whether it is a part of a processor, and whether the kernel has matrix products."""
    return target(on.arch).family.name, on.integrated, matrix


def load(name: str) -> Load:
    """IsaError that lists them where there is no such load."""
    if name not in LOADS:
        raise IsaError(f"no load {name!r}", expected="one of " + ", ".join(LOADS), got=name, hint=meant(name, LOADS))
    return LOADS[name]


def clock_share(on: Card, work: float, w0: float, most: float = 1.0) -> float:
    """Of the boost clock, at so much work of the VALUs; at most `most`. w0: of the 7900 GRE."""
    reference = card(_FITTED_ON)
    w0 *= on.watts_a_cu_ghz / reference.watts_a_cu_ghz / families.values(on.arch)["operation_energy"]
    found: float = min(most, (w0 / max(work, 1e-9)) ** _EXPONENT)
    return found


def _highest(on: Card) -> tuple[float, float]:
    """Of the boost clock: the highest over a longer time, and at all. IsaError where none was published."""
    if on.above_mhz is None:
        known = ", ".join(known.name for known in CARDS.values() if known.above_mhz)
        raise IsaError(f"no clock of a {on.name} above its boost clock was published", expected=known, got=on.name)
    lasting, seen = on.above_mhz
    return lasting / on.clock_mhz, seen / on.clock_mhz


def as_measured(
    timing: Timed,
    load_name: str | None = None,
    overhead_us: float = 0.0,
    unexplained: float | None = None,
    above_boost: bool = False,
) -> AsMeasured:
    """load_name: of LOADS, None for the clock that was asked for. unexplained: of UNEXPLAINED if None. above_boost: the
    clock may rise above it. The band joins in squares the timing's own, the clock's, the overhead's, and what is not
    explained of times under a load."""
    if unexplained is None:
        unexplained = UNEXPLAINED.get(kind(timing.card, timing.matrix), max(UNEXPLAINED.values()))
    lasting, seen = _highest(timing.card) if above_boost else (1.0, 1.0)
    if load_name is None:
        share = least = most = 1.0
        unexplained = 0.0
    else:
        of = load(load_name)
        ends = (of.w0, lasting), (of.low, 1.0), (of.high, seen)
        share, least, most = (clock_share(timing.card, timing.valu_work, w0, top) for w0, top in ends)
    overhead = 1e-6 * overhead_us
    busy = timing.time_s / share
    below = busy * math.hypot(1 - timing.low_s / timing.time_s, 1 - share / most, unexplained)
    above = busy * math.hypot(timing.high_s / timing.time_s - 1, share / least - 1, unexplained)
    below, above = math.hypot(below, overhead * (1 - OVERHEAD_LOW)), math.hypot(above, overhead * (OVERHEAD_HIGH - 1))
    time = overhead + busy
    return AsMeasured(
        time, time - below, time + above, share * timing.clock_mhz, least * timing.clock_mhz, most * timing.clock_mhz,
        overhead, load_name,
    )  # fmt: skip
