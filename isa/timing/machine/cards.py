"""The RDNA3, RDNA3.5 and RDNA4 cards that the cycle model knows, graphics of processors among them: what differs.

Sources:

    CUs, caches      AMD, ROCm documentation, "AMD GPU specifications" (reference/gpu-specs)
    shader arrays    what `rocminfo` prints: shader engines x arrays of an engine
    clock            the boost clock of AMD's product pages; of the 780M, 890M and 8060S the "graphics frequency", which
                     `rocminfo` prints too
    clocks above it  highest clock in games over a longer time, and the highest that was seen at all, under a light
                     load or a short one: ComputerBase's tests of the 7900 XTX and XT (December 2022) and of the 7600 XT
                     (January 2024), each of one specimen, the 7600 XT's a maker's own design
    power            total board power of AMD's product pages; of graphics of a processor the upper end of its
                     configurable TDP, which the CPU's cores share
    memory           AMD's product pages. Graphics of a processor has the memory of its machine: here DDR5-5600 for the
                     780M and LPDDR5X-7500 for the 890M, as in the machines that C&C measured, and LPDDR5X-8000 for the
                     8060S; half of 64, 96 and 128 GB, which is what Linux lets a GPU have if nothing else is said
    L2 bandwidth     C&C for the 7900 XTX, in proportion to the size for the others, which have fewer slices of the
                     same size (assumed)
    L3 bandwidth     C&C for the 7900 XTX, of AMD's 3.5 TB/s; the others have fewer MCDs of 16 MB. That gives the 8060S
                     1 TB/s, where C&C measured "just under 1 TB/s"
    latency          of L3 and memory: C&C for the 7600, whose chip is one piece: 15 % less to memory than the 7900 XTX,
                     and to L3 126 ns where that one takes 150 ("up to 58 %" more of it, 199 ns, in its state of low
                     power); the 7600 XT has the same chip

RDNA4: CUs, clocks, memory and power of AMD's product pages; engines and arrays of a 9070 XT from an instruction trace
(SQTT), of the 9060 XT half of them (assumed); caches of Mesa's ac_gpu_info; bandwidths of L2 and L3 in proportion to
what AMD's library origami has for gfx1201, gfx1200 and gfx1100 (ROCm/rocm-libraries, hardware.hpp). Not one latency of
RDNA4 is known: those of RDNA3 are taken (assumed).

C&C is Chips and Cheese: "Microbenchmarking AMD's RDNA 3"; "AMD's RX 7600: Small RDNA 3 Appears"; "Latency Testing is
Hard"; "Hot Chips 2023: AMD's Phoenix SoC"; "AMD's Radeon 890M: Strix Point's Bigger iGPU"; "Strix Halo's Memory
Subsystem: Tackling iGPU Challenges".

Limits: other latencies are one set for all cards (rdna3.py). C&C found those of L1 and L2 of the 8060S alike, those of
its L3 and memory longer, and said no number, so what waits for memory is predicted too fast on graphics of a processor
(assumed for the 780M and 890M). Nor does the model know that the processor's cores use the same memory.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass

from isa.errors import IsaError, meant
from isa.targets import runs_on, target

_MB, _GB = 1 << 20, 1 << 30
_L2_OF_MB = 5.7e12, 6  # of the 7900 XTX: bytes/s, MB
_L3_OF_MB = 3.0e12, 96
_NAVI48, _NAVI44 = ((5.7e12 * a / 7.12, 3.0e12 * b / 4.2) for a, b in ((5.74, 2.9), (3.28, 1.8)))
DEFAULT = "7900 XTX"
"""The card that is meant where none is named."""
_ABOVE_MHZ = {"7900 XTX": (2914, 3145), "7900 XT": (2836, 2888), "7600 XT": (2770, 2822)}
_CHANNEL_BIT = {24: 13, 20: 13, 16: 12, 12: 12, 10: 12}
"""By channels, of Navi 31 and 32: umc_v8_10_channelnum_map_colbit_table of Linux's amdgpu."""
_MAKER = re.compile(r"\b(?:amd|radeon|rx|pro|graphics)\b|\(tm\)|™")
"""Words that tell no card from another."""


@dataclass(frozen=True, slots=True)
class Card:
    """One card. Clocks in MHz, sizes in bytes.

    l3_bytes:   0 where there is no L3.
    bus_bits:   width of the bus to memory.
    watts:      power that the board may draw.
    integrated: it is a part of a processor, and has no memory of its own.
    far:        latency of its L3 and memory over that of a 7900 XTX.
    rates:      of L2 and L3 in bytes/s, where they do not follow from their sizes.
    """

    name: str
    arch: str
    cus: int
    shader_arrays: int
    clock_mhz: int
    l2_bytes: int
    l3_bytes: int
    vram_bytes: int
    vram_bandwidth: float
    bus_bits: int
    watts: int
    integrated: bool = False
    far: float = 1.0
    rates: tuple[float, float] | None = None

    @property
    def above_mhz(self) -> tuple[int, int] | None:
        """Clocks above the boost clock that were seen: over a longer time, and at all; None where none were
        published."""
        return _ABOVE_MHZ.get(self.name)

    @property
    def channels(self) -> int:
        """Of memory: 16 bits each (GDDR6)."""
        return self.bus_bits // 16

    @property
    def channel_bit(self) -> int:
        """Of an address the lower of the two bits above its channel's that do not tell channels apart, see
        `isa.timing.model.caches`; 0 where that is not public."""
        return _CHANNEL_BIT.get(self.channels, 0) if self.arch in ("gfx1100", "gfx1101") else 0

    @property
    def wgps(self) -> int:
        return self.cus // 2

    @property
    def l2_bandwidth(self) -> float:
        """Bytes/s."""
        bandwidth, of = _L2_OF_MB
        return self.rates[0] if self.rates else bandwidth * (self.l2_bytes // _MB) / of

    @property
    def l3_bandwidth(self) -> float:
        """Bytes/s; 0 where there is no L3."""
        bandwidth, of = _L3_OF_MB
        return self.rates[1] if self.rates else bandwidth * (self.l3_bytes // _MB) / of

    @property
    def watts_a_cu_ghz(self) -> float:
        """Of the board's power, at the boost clock."""
        return self.watts / (self.cus * self.clock_mhz / 1000)

    def peak_flops(self, clock_mhz: float | None = None, *, matrix: bool = False, bits: int = 16) -> float:
        """fp32 FLOP/s with one dual FMA a cycle on each SIMD. matrix: operations/s of v_wmma on so many bits,
        on 16 twice as many (AMD's peak, 122.8 TFLOP/s of a 7900 XTX), on RDNA4 four times (194.6 of a 9070 XT)."""
        times = target(self.arch).family.matrix_rate[bits] if matrix else 1
        return (clock_mhz or self.clock_mhz) * 1e6 * self.cus * 2 * 128 * times


CARDS: dict[str, Card] = {
    card.name: card
    for card in (
        #                            SAs  MHz
        Card("7900 XTX", "gfx1100", 96, 12, 2500, 6 * _MB, 96 * _MB, 24 * _GB, 960e9, 384, 355),
        Card("7900 XT", "gfx1100", 84, 12, 2400, 6 * _MB, 80 * _MB, 20 * _GB, 800e9, 320, 315),
        Card("7900 GRE", "gfx1100", 80, 12, 2245, 6 * _MB, 64 * _MB, 16 * _GB, 576e9, 256, 260),
        Card("W7900", "gfx1100", 96, 12, 2495, 6 * _MB, 96 * _MB, 48 * _GB, 864e9, 384, 295),
        Card("7800 XT", "gfx1101", 60, 6, 2430, 4 * _MB, 64 * _MB, 16 * _GB, 624e9, 256, 263),
        Card("7700 XT", "gfx1101", 54, 6, 2544, 4 * _MB, 48 * _MB, 12 * _GB, 432e9, 192, 245),
        Card("7600 XT", "gfx1102", 32, 4, 2755, 2 * _MB, 32 * _MB, 16 * _GB, 288e9, 128, 190, far=0.85),
        Card("7600", "gfx1102", 32, 4, 2655, 2 * _MB, 32 * _MB, 8 * _GB, 288e9, 128, 165, far=0.85),
        Card("780M", "gfx1103", 12, 2, 2700, 2 * _MB, 0, 32 * _GB, 89.6e9, 128, 54, integrated=True),
        Card("890M", "gfx1150", 16, 2, 2900, 2 * _MB, 0, 48 * _GB, 120e9, 128, 54, integrated=True),
        Card("8060S", "gfx1151", 40, 4, 2900, 2 * _MB, 32 * _MB, 64 * _GB, 256e9, 256, 120, integrated=True),
        Card("9070 XT", "gfx1201", 64, 8, 2970, 8 * _MB, 64 * _MB, 16 * _GB, 640e9, 256, 304, rates=_NAVI48),
        Card("R9700", "gfx1201", 64, 8, 2920, 8 * _MB, 64 * _MB, 32 * _GB, 640e9, 256, 300, rates=_NAVI48),
        Card("9070", "gfx1201", 56, 8, 2520, 8 * _MB, 64 * _MB, 16 * _GB, 640e9, 256, 220, rates=_NAVI48),
        Card("9060 XT", "gfx1200", 32, 4, 3130, 4 * _MB, 32 * _MB, 16 * _GB, 320e9, 128, 160, rates=_NAVI44),
    )
}


@dataclass(frozen=True)
class CardFile:
    """What `hipgemm calibrate` found of a card: its name, numbers and their ranges."""

    card: str
    values: Mapping[str, float]
    ranges: Mapping[str, tuple[float, float]]


def card(name: str) -> Card:
    """The card called `name`: "7900 XTX", "rx7900xtx", "AMD Radeon RX 7900 XTX". IsaError that lists them otherwise."""
    for known in CARDS.values():
        if same(known.name, name):
            return known
    raise IsaError(f"no card {name!r}", expected="one of " + ", ".join(CARDS), got=name, hint=meant(name, CARDS))


def of_target(arch: str | None) -> Card:
    """The first card that runs code for a target; the default one where none does, and where no target is known."""
    return next((known for known in CARDS.values() if arch and runs_on(arch, known.arch)), CARDS[DEFAULT])


def fitting(what: str, arch: str | None, on: Card | None = None) -> Card:
    """The card that is named, or where none is, `of_target`. IsaError where it does not run `what`, code for `arch`."""
    own = of_target(arch)
    if on is None or arch is None or runs_on(arch, on.arch):
        return on or own
    raise IsaError(
        f"{what} is no code for the {on.name}", expected=on.arch, got=arch,
        hint=f'build it for that target, or choose a card of its own (--card "{own.name}")',
    )  # fmt: skip


def same(a: str, b: str) -> bool:
    """Whether two names are of one card, however much of them is the maker's and whatever the case and the spaces."""
    return _model(a) == _model(b)


def _model(name: str) -> str:
    plain = "".join(name.lower().split())
    return "".join(_MAKER.sub(" ", name.lower()).split()).removeprefix("rx") or plain
