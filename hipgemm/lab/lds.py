"""`lds`: what a stride costs when 32 lanes read the LDS."""

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


def kernel(dwords: int) -> micro.Micro:
    """Loads of so many dwords; the stride, in units of the load, is the kernel's argument. LDS word i holds i."""
    size = 4 * dwords
    setup = ["v_lshlrev_b32_e32 v2, 2, v0", "v_mov_b32_e32 v3, v0", "v_mov_b32_e32 v1, 0"]
    for first in range(0, _WORDS, _BLOCK):
        setup += [f"ds_store_b32 v2, v3 offset:{4 * first}", f"v_add_nc_u32_e32 v3, 0x{_BLOCK:x}, v3"]
    setup += ["v_and_b32_e32 v2, 31, v0", "v_mul_lo_u32 v2, v2, s7", f"v_mul_u32_u24_e32 v2, {size}, v2"]
    setup += ["s_waitcnt lgkmcnt(0)", "s_barrier"]
    name, first = f"ds_load_b{8 * size}", 4
    target = [f"v{first + k * dwords}" for k in range(LOADS)]
    if dwords > 1:
        target = [f"v[{first + k * dwords}:{first + (k + 1) * dwords - 1}]" for k in range(LOADS)]
    body = [f"{name} {reg}, v2 offset:{16 * k}" for k, reg in enumerate(target)]
    body += ["s_waitcnt lgkmcnt(0)"]
    body += [f"v_add3_u32 v1, v{first + k}, v{first + k + 1}, v1" for k in range(0, LOADS * dwords, 2)]
    lds = 4 * -(-_WORDS // _BLOCK) * _BLOCK
    return micro.Micro(f"lab_lds_b{8 * size}", setup, body, [], vgprs=first + LOADS * dwords, lds=lds, block=_BLOCK)


def answer(dwords: int, stride: int, iterations: int) -> np.ndarray:
    """The sum of all words that a work-item read."""
    import numpy as np

    word = (np.arange(_BLOCK) & 31) * stride * dwords
    once = sum(word + 4 * k + j for k in range(LOADS) for j in range(dwords))
    return (np.asarray(once) * iterations).astype(np.uint32)


@dataclass(frozen=True)
class Lds(Experiment):
    """strides: in units of the load; dwords: of a load."""

    strides: Sequence[int] = tuple(range(1, _LARGEST + 1))
    dwords: Sequence[int] = (1, 2, 4)
    name = "lds"
    title = "LDS banks: the cost of a stride"
    paragraph = (
        "Lane i of a wave reads 1, 2 or 4 dwords at i times the stride, in units of what it reads. A CU's LDS has "
        "32 banks of one dword; a b32 load takes one phase, b64 two and b128 four phases of fewer lanes, and in a "
        "phase lanes that need different dwords of one bank take turns: phases times gcd(stride, 32 / dwords). If "
        "the LDS were one set of 64 banks and not two of 32, a stride of 2 would be free: the column beside it is "
        "what a card would show then. Sixteen waves on one CU read at once, so that the time is the throughput of "
        "the LDS and not the latency of one load."
    )

    @property
    def columns(self) -> tuple[Column, ...]:
        found = [Column("stride", "stride", "elements")]
        for dwords in self.dwords:
            bits = 32 * dwords
            found += [
                Column(f"b{bits}", f"b{bits}", "cycles", 2, "of a load on its CU's LDS"),
                Column(f"b{bits}_32", "32 banks", "cycles", 0, "the closed form"),
                Column(f"b{bits}_64", "64 banks", "cycles", 0, "if all banks of the WGP were one set"),
            ]
        return tuple(found)

    def run(self, bench: Bench, n: int) -> Iterator[Row]:
        for stride in self.strides:
            row: dict[str, object] = {"stride": stride, "correct": True}
            for dwords in self.dwords:
                found = micro.run(bench, kernel(dwords), stride, partial(answer, dwords, stride))
                name = f"b{32 * dwords}"
                row[name] = None if found.cycles is None else found.cycles / (LOADS * _WAVES)
                row[f"{name}_32"] = closed_form(stride, dwords)
                row[f"{name}_64"] = closed_form(stride, dwords, 64)
                row["time_kind"] = found.time_kind
                row["correct"] = row["correct"] and found.correct
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
