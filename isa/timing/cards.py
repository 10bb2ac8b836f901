"""The RDNA3 cards that the cycle model knows: what differs between them.

Sources: AMD's product pages; C&C for the L2 and L3 bandwidth of the 7900 XTX, scaled by slices for the others (L).

`sa_cus` is how many CUs a shader array has on average; L2 and L3 bandwidth scale with the number of their slices.
"""

from __future__ import annotations

from dataclasses import dataclass

from isa.errors import IsaError


@dataclass(frozen=True, slots=True)
class Card:
    """One card. Bandwidths in bytes/s, clocks in MHz, sizes in bytes."""

    name: str
    arch: str
    cus: int
    shader_arrays: int
    clock_mhz: int
    l2_bytes: int
    l3_bytes: int
    l2_bandwidth: float
    l3_bandwidth: float
    vram_bandwidth: float

    @property
    def wgps(self) -> int:
        return self.cus // 2

    def peak_flops(self, clock_mhz: float | None = None) -> float:
        """fp32 FLOP/s with one dual FMA a cycle on each SIMD."""
        return (clock_mhz or self.clock_mhz) * 1e6 * self.cus * 2 * 128


_MB = 1 << 20
_NAVI31 = 5.7e12  # C&C: L2 of the 7900 XTX
_L3 = 3.0e12  # C&C: Infinity Cache of the 7900 XTX, of AMD's 3.5 TB/s; six MCDs of 16 MB

CARDS: dict[str, Card] = {
    card.name: card
    for card in (
        Card("7900 XTX", "gfx1100", 96, 12, 2500, 6 * _MB, 96 * _MB, _NAVI31, _L3, 960e9),
        Card("7900 XT", "gfx1100", 84, 12, 2400, 6 * _MB, 80 * _MB, _NAVI31, _L3 * 5 / 6, 800e9),
        Card("7900 GRE", "gfx1100", 80, 12, 2245, 6 * _MB, 64 * _MB, _NAVI31, _L3 * 4 / 6, 576e9),
        Card("W7900", "gfx1100", 96, 12, 2495, 6 * _MB, 96 * _MB, _NAVI31, _L3, 864e9),
        Card("7800 XT", "gfx1101", 60, 6, 2430, 4 * _MB, 64 * _MB, _NAVI31 * 4 / 6, _L3 * 4 / 6, 624e9),
        Card("7600", "gfx1102", 32, 4, 2655, 2 * _MB, 32 * _MB, _NAVI31 * 2 / 6, _L3 * 2 / 6, 288e9),
    )
}


def card(name: str) -> Card:
    """The card called `name` ("7900 XTX", case and spaces do not matter). IsaError that lists them otherwise."""
    wanted = name.lower().replace(" ", "").removeprefix("rx")
    for known in CARDS.values():
        if known.name.lower().replace(" ", "") == wanted:
            return known
    raise IsaError(f"no card {name!r}", expected="one of " + ", ".join(CARDS), got=name)
