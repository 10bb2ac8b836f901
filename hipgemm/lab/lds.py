"""`lds`: what a stride costs when 32 lanes read or write the LDS."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from math import gcd
from typing import TYPE_CHECKING

from hipgemm.lab import micro
from hipgemm.lab.bench import Bench
from hipgemm.lab.frame import Column, Experiment, Plot, Row
from hipgemm.report import svg

if TYPE_CHECKING:
    import numpy as np

_BLOCK = 512
_WAVES = _BLOCK // 32
LOADS = 16  # of an iteration
_LARGEST = 32
_WORDS = 4 * _LARGEST * 32 + 4 * LOADS  # what the widest loads with the largest stride reach


def closed_form(stride: int, dwords: int, banks: int = 32) -> int:
    """Cycles of a load whose lane i reads `dwords` dwords at i * stride * dwords: the LDS serves 32 / dwords lanes a
    phase, of which gcd(stride, banks / dwords) meet at each bank that any of them meets at; with 64 banks the lanes of
    a phase fill only half of them."""
    places = banks // dwords
    lanes = 32 // dwords
    return dwords * max(1, gcd(stride, places) * lanes // places)


def kernel(dwords: int, stores: bool = False) -> micro.Micro:
    """Loads of so many dwords, or stores; the stride, in units of these, is the kernel's argument. Word i of LDS holds
    i, or is given that, and a work-item reads what it stored in the end."""
    size, first = 4 * dwords, 4
    setup = ["v_lshlrev_b32_e32 v2, 2, v0", "v_mov_b32_e32 v3, v0", "v_mov_b32_e32 v1, 0"]
    if not stores:
        for word in range(0, _WORDS, _BLOCK):
            setup += [f"ds_store_b32 v2, v3 offset:{4 * word}", f"v_add_nc_u32_e32 v3, 0x{_BLOCK:x}, v3"]
    setup += ["v_and_b32_e32 v2, 31, v0", "v_mul_lo_u32 v2, v2, s7", f"v_mul_u32_u24_e32 v2, {size}, v2"]
    held = [f"v{first + k * dwords}" for k in range(LOADS)]
    if dwords > 1:
        held = [f"v[{first + k * dwords}:{first + (k + 1) * dwords - 1}]" for k in range(LOADS)]
    load = [f"ds_load_b{8 * size} {reg}, v2 offset:{16 * k}" for k, reg in enumerate(held)]
    load += ["s_waitcnt lgkmcnt(0)"]
    load += [f"v_add3_u32 v1, v{first + k}, v{first + k + 1}, v1" for k in range(0, LOADS * dwords, 2)]
    store = [f"ds_store_b{8 * size} v2, {reg} offset:{16 * k}" for k, reg in enumerate(held)]
    store += ["s_waitcnt lgkmcnt(0)"]
    if stores:
        setup += ["v_lshrrev_b32_e32 v3, 2, v2"]
        setup += [
            f"v_add_nc_u32_e32 v{first + k * dwords + j}, {4 * k + j}, v3" for k in range(LOADS) for j in range(dwords)
        ]
    setup += ["s_waitcnt lgkmcnt(0)", "s_barrier"]
    return micro.Micro(
        f"lab_lds_{'store' if stores else 'load'}_b{8 * size}", setup, store if stores else load,
        ["s_barrier", *load] if stores else [], vgprs=first + LOADS * dwords, lds=4 * -(-_WORDS // _BLOCK) * _BLOCK,
        block=_BLOCK,
    )  # fmt: skip


def answer(dwords: int, stride: int, iterations: int) -> np.ndarray:
    """The sum of all words that a work-item read."""
    import numpy as np

    word = (np.arange(_BLOCK) & 31) * stride * dwords
    once = sum(word + 4 * k + j for k in range(LOADS) for j in range(dwords))
    return (np.asarray(once) * iterations).astype(np.uint32)


def _once(dwords: int, stride: int, _: int) -> np.ndarray:
    return answer(dwords, stride, 1)


@dataclass(frozen=True)
class Lds(Experiment):
    """strides: in units of the load; dwords: of a load."""

    strides: Sequence[int] = tuple(range(1, _LARGEST + 1))
    dwords: Sequence[int] = (1, 2, 4)
    name = "lds"
    title = "LDS banks: the cost of a stride"
    paragraph = (
        "Lane i of a wave reads or writes 1, 2 or 4 dwords at i times the stride, in units of these. A CU's LDS has "
        "32 banks of one dword; a b32 access takes one phase, b64 two and b128 four phases of fewer lanes, and in a "
        "phase lanes that need different dwords of one bank take turns: phases times gcd(stride, 32 / dwords). If "
        "the LDS were one set of 64 banks and not two of 32, a stride of 2 would be free: the column beside it is "
        "what a card would show then. Sixteen waves on one CU read or write at once, so that the time is the "
        "throughput of the LDS and not the latency of one access."
    )

    @property
    def columns(self) -> tuple[Column, ...]:
        found = [Column("stride", "stride", "elements")]
        for dwords in self.dwords:
            bits = 32 * dwords
            found += [
                Column(f"b{bits}", f"b{bits}", "cycles", 2, "of a load on its CU's LDS"),
                Column(f"b{bits}_store", "store", "cycles", 2, "of a store of as many bits"),
                Column(f"b{bits}_32", "32 banks", "cycles", 0, "the closed form"),
                Column(f"b{bits}_64", "64 banks", "cycles", 0, "if all banks of the WGP were one set"),
            ]
        return tuple(found)

    def run(self, bench: Bench, n: int) -> Iterator[Row]:
        for stride in self.strides:
            row: dict[str, object] = {"stride": stride, "correct": True}
            for dwords in self.dwords:
                name = f"b{32 * dwords}"
                for key, stores in ((name, False), (f"{name}_store", True)):
                    expected = partial(_once if stores else answer, dwords, stride)
                    found = micro.run(bench, kernel(dwords, stores), stride, expected)
                    row[key] = None if found.cycles is None else found.cycles / (LOADS * _WAVES)
                    row["time_kind"] = found.time_kind
                    row["correct"] = row["correct"] and found.correct
                row[f"{name}_32"] = closed_form(stride, dwords)
                row[f"{name}_64"] = closed_form(stride, dwords, 64)
            yield row

    def plots(self, rows: Sequence[Row]) -> list[Plot]:
        series = [
            svg.Series(f"b{32 * d}", [(row["stride"], row[f"b{32 * d}"]) for row in rows if row[f"b{32 * d}"]])
            for d in self.dwords
        ]
        return [
            Plot(
                "Cycles of an LDS load by stride",
                svg.lines(series, "stride", "cycles", "LDS load by stride", doubling=True),
            )
        ]


EXPERIMENT = Lds()
