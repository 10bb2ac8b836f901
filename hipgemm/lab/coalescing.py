"""`coalescing`: what the lanes of a wave ask of memory, and what is moved for it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import groupby
from typing import TYPE_CHECKING

from hipgemm.lab import micro
from hipgemm.lab.bench import Bench
from hipgemm.lab.frame import Column, Experiment, Plot, Row
from hipgemm.report import svg
from isa.registers import LANES

if TYPE_CHECKING:
    import numpy as np

CASES = (
    ("one for all", 1, 0, 0), ("one after another", 1, 1, 0), ("the same, from 4 bytes on", 1, 1, 1),
    ("every second", 1, 2, 0), ("every fourth", 1, 4, 0), ("every eighth", 1, 8, 0),
    ("a line each", 1, 32, 0),
    ("b64, one after another", 2, 2, 0), ("b64, every second", 2, 4, 0), ("b128, one after another", 4, 4, 0),
    ("b128, from 16 bytes on", 4, 4, 4), ("b128, every second", 4, 8, 0),
)  # fmt: skip
"""(name, dwords a lane, dwords from lane to lane, dwords from a line's beginning to lane 0)."""
LOADS = 8  # of an iteration
_BLOCK, _SECTOR = 256, 32
_KINDS = ("asked for", "moved beside it", "not moved")


def addresses(dwords: int, apart: int, first: int) -> np.ndarray:
    """Byte addresses of the lanes of a load."""
    import numpy as np

    return 4 * (first + apart * np.arange(LANES, dtype=np.int64))


def sectors(dwords: int, apart: int, first: int) -> int:
    """Sectors of 32 bytes that a load moves, as the cycle model counts them."""
    import numpy as np

    from isa.timing.machine import coalescing

    masks = np.array([2**LANES - 1], np.int64)
    return int(coalescing.sectors(addresses(dwords, apart, first)[None], masks, 4 * dwords)[0][0])


def kernel(dwords: int, apart: int, first: int) -> micro.Micro:
    """Loads of so many dwords; all waves read the same. Word i of memory holds i."""
    setup = ["v_mov_b32_e32 v1, 0", "v_and_b32_e32 v2, 31, v0", f"v_mul_u32_u24_e32 v2, {4 * apart}, v2"]
    places = [4 + k * dwords for k in range(LOADS)]
    targets = [f"v{at}" if dwords == 1 else f"v[{at}:{at + dwords - 1}]" for at in places]
    body = [
        f"global_load_b{32 * dwords} {reg}, v2, s[8:9] offset:{4 * first + 128 * k}" for k, reg in enumerate(targets)
    ]
    body += ["s_waitcnt vmcnt(0)"]
    body += [f"v_add3_u32 v1, v{4 + k}, v{5 + k}, v1" for k in range(0, LOADS * dwords, 2)]
    reach = 4 * (first + apart * (LANES - 1) + dwords) + 128 * LOADS
    return micro.Micro(
        f"lab_coalescing_{dwords}_{apart}_{first}", setup, body, [], vgprs=4 + LOADS * dwords, block=_BLOCK,
        memory=(reach + -reach % 128, 0),
    )  # fmt: skip


def answer(dwords: int, apart: int, first: int, iterations: int) -> np.ndarray:
    """The sum of all words that a work-item read."""
    import numpy as np

    word = np.tile(addresses(dwords, apart, first) // 4, _BLOCK // LANES)
    once = sum(word + 32 * k + j for k in range(LOADS) for j in range(dwords))
    return (np.asarray(once) * iterations).astype(np.uint32)


def _picture(dwords: int, apart: int, first: int) -> list[tuple[str, float]]:
    """The first 1024 bytes: (one of _KINDS, share) after another."""
    places = addresses(dwords, apart, first) // 4
    asked = {int(at) + j for at in places for j in range(dwords)}
    moved = {4 * at // _SECTOR for at in asked}
    words = [_KINDS[0] if w in asked else _KINDS[1] if 4 * w // _SECTOR in moved else _KINDS[2] for w in range(256)]
    return [(kind, len(list(run)) / len(words)) for kind, run in groupby(words)]


@dataclass(frozen=True)
class Coalescing(Experiment):
    """cases: as in CASES."""

    cases: Sequence[tuple[str, int, int, int]] = CASES
    name = "coalescing"
    title = "Coalescing: what lanes ask for, and what is moved"
    paragraph = (
        "The 32 lanes of a wave load 4, 8 or 16 bytes each. Memory is moved in sectors of 32 bytes, four to a line: a "
        "load costs as many as its lanes touch, whatever they use of them. Lanes that stand one after another use all "
        "of each; a first lane that is not at the beginning of a sector touches one more; every eighth float takes a "
        "sector of its own. All lines are in L0 here, so that the cycles are those of the path to it."
    )
    columns = (
        Column("pattern", "lanes"),
        Column("asked", "asked for", "bytes", 0, "by the lanes of a load, each byte once"),
        Column("needed", "sectors", "needed", 0, "that hold these bytes, if they lay together"),
        Column("sectors", "sectors", "moved", 0, "that the lanes touch"),
        Column("excess", "excess", "%", 0, "bytes that are moved and not asked for, of those asked for"),
        Column("cycles", "a load", "cycles", 1, "of its CU, where many waves load at once"),
    )

    def run(self, bench: Bench, n: int) -> Iterator[Row]:
        import numpy as np

        for pattern, *case in self.cases:
            found = micro.run(bench, kernel(*case), 0, partial(answer, *case))
            asked = 4 * case[0] * len(np.unique(addresses(*case)))
            moved = sectors(*case)
            yield {
                "pattern": pattern, "asked": asked, "needed": -(-asked // _SECTOR), "sectors": moved,
                "excess": 100 * (_SECTOR * moved - asked) / asked, **found.row(LOADS * _BLOCK // LANES),
                "picture": _picture(*case),
            }  # fmt: skip

    def plots(self, rows: Sequence[Row]) -> list[Plot]:
        caption = "The first 1024 bytes that a load touches"
        key = ("", [(kind, 1 / len(_KINDS)) for kind in _KINDS])
        bars = [key, *((row["pattern"], row["picture"]) for row in rows)]

        def inside(kind: str, share: float) -> str:
            return kind if share == 1 / len(_KINDS) else ""

        return [Plot(caption, svg.stacked(bars, _KINDS, caption, 190, inside))]


EXPERIMENT = Coalescing()
