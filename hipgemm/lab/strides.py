"""`strides`: lines that lie far apart. Which sets of L0 they fall into, and how many pages a card has at hand.

One wave goes over some lines of memory again and again and waits for each. If L0 holds them, a load takes its latency;
lines that fall into one set of more than its ways push each other out (LRU: each of them, each time), and come from L1.
The set of a line is not published: a hash of its number, which is what the cycle model assumes, or its plain low bits
(`isa.timing.model.caches`). The columns say what share of the loads L0 would serve by either, so a card decides.

The further the lines lie apart, the more pages they are on. The cycle model translates no addresses: where a card takes
longer than both columns explain, the translations no longer fit, and the row before says how many did.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING

from hipgemm.lab import micro
from hipgemm.lab.bench import Bench
from hipgemm.lab.frame import Bars, Column, Experiment, Row
from isa.timing.machine import rdna3
from isa.timing.model import caches

if TYPE_CHECKING:
    import numpy as np

_KB, _MB, _LINE = 1 << 10, 1 << 20, 128
CASES = (
    (8 * _KB, 4), (8 * _KB, 32), (8 * _KB, 96), (8 * _KB + _LINE, 96), (32 * _KB, 8), (32 * _KB, 32),
    (32 * _KB + _LINE, 32), (4 * _KB + _LINE, 64), (64 * _KB + _LINE, 16), (64 * _KB + _LINE, 32),
    (64 * _KB + _LINE, 64), (2 * _MB + 2 * _LINE, 16), (2 * _MB + 2 * _LINE, 32), (2 * _MB + 2 * _LINE, 64),
)  # fmt: skip
"""(bytes from line to line, lines)."""


def plain(line: int, sets: int) -> int:
    """The set of a line by the low bits of its number."""
    return line % sets


def hits(stride: int, lines: int, rule: Callable[[int, int], int]) -> float:
    """The share of loads that L0 serves of those that go over so many lines again and again."""
    ways = round(rdna3.NUMBERS["l0_ways"].value)
    sets = round(rdna3.NUMBERS["l0_bytes"].value) // _LINE // ways
    load = Counter(rule(k * stride // _LINE, sets) for k in range(lines))
    return sum(count for count in load.values() if count <= ways) / lines


def kernel(lines: int, stride: int) -> micro.Micro:
    """One load of each line, waited for; the stride is the kernel's argument. Word i of memory holds i."""
    body = ["s_mov_b64 s[14:15], s[8:9]"]
    for _ in range(lines):
        body += ["global_load_b32 v17, v2, s[14:15]", "s_waitcnt vmcnt(0)"]
        body += ["s_add_u32 s14, s14, s7", "s_addc_u32 s15, s15, 0"]
    body += ["v_add_nc_u32_e32 v1, v17, v1"]
    return micro.Micro(
        f"lab_strides_{lines}", ["v_mov_b32_e32 v1, 0", "v_mov_b32_e32 v2, 0"], body, [], vgprs=24, block=32,
        memory=((lines - 1) * stride + _LINE, 0),
    )  # fmt: skip


def answer(lines: int, stride: int, iterations: int) -> np.ndarray:
    """The sum of the last line's words, in each iteration."""
    import numpy as np

    return np.full(32, (lines - 1) * stride // 4 * iterations & 0xFFFFFFFF, np.uint32)


def _bytes(count: int) -> str:
    unit, name = (_MB, "MB") if count >= _MB else (_KB, "KB")
    return f"{count // unit} {name}" + (f" + {count % unit}" if count % unit else "")


@dataclass(frozen=True)
class Strides(Experiment):
    """cases: as in CASES."""

    cases: Sequence[tuple[int, int]] = CASES
    name = "strides"
    title = "Strides: lines far apart, sets of L0 and pages"
    paragraph = (
        "One wave loads the same lines again and again and waits for each load. Lines at a distance of a power of "
        "two fall into few sets of L0 if the set is given by low bits of the line's number; a hash, as the cycle model "
        "assumes, would spread them. The two columns show which part of the loads L0 would serve in either "
        "case. With a line or two more of distance both spread them, and what remains are pages: the model "
        "translates no addresses, so a card that takes longer where both columns say that L0 serves all uses more "
        "pages than it holds translations for."
    )
    columns = (
        Column("apart", "from line to line", "bytes"),
        Column("lines", "lines"),
        Column("cycles", "a load", "cycles", 1),
        Column("hashed", "L0 serves", "%, hashed", 0, "if the set is a hash of a line's number, as the model assumes"),
        Column("plain", "L0 serves", "%, plain", 0, "if the set is low bits of a line's number"),
    )
    bars = Bars("Cycles of a load by stride", "cycles", "cycles", "{lines} lines, {apart}", "{cycles:.1f}", 190)

    def run(self, bench: Bench, n: int) -> Iterator[Row]:
        for stride, lines in self.cases:
            found = micro.run(bench, kernel(lines, stride), stride, partial(answer, lines, stride))
            yield {
                "apart": _bytes(stride), "lines": lines, "stride": stride, **found.row(lines),
                "hashed": 100 * hits(stride, lines, caches.set_of), "plain": 100 * hits(stride, lines, plain),
            }  # fmt: skip


EXPERIMENT = Strides()
