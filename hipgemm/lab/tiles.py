"""`tiles`: how much of C a thread computes, and how deep the tiles in LDS are."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from hipgemm.lab.bench import Bench
from hipgemm.lab.frame import SPEED, TIME, VGPRS, WAVES, Bars, Column, Experiment, Row
from hipgemm.lab.gemms import SIDE, Tiled


@dataclass(frozen=True)
class Tiles(Experiment):
    """tiles: (TM, TN) of a thread; depths: BK. Tiles that do not divide a size are left out of it; where none does, the
    first is refused."""

    tiles: Sequence[tuple[int, int]] = ((1, 1), (2, 2), (4, 4), (8, 8), (16, 8))
    depths: Sequence[int] = (8, 32)
    name = "tiles"
    title = "Thread tiles: arithmetic for each value read"
    size = 2048
    paragraph = (
        "A thread that computes TM x TN elements of C reads TM + TN values of LDS for TM TN multiply-adds: the "
        "larger its tile, the more arithmetic for each access, and the larger the share of FMAs among the "
        "instructions. The cost is registers (TM TN accumulators) and LDS (16 (TM + TN) BK values for a workgroup "
        "of 256), either of which may reduce the number of workgroups on a CU. A deeper tile (BK) means fewer "
        "barriers. Where the grid has fewer workgroups than the card has CUs, large tiles leave CUs idle."
    )
    columns = (
        Column("tile", "tile", what="TM x TN of a thread"),
        Column("bk", "BK", what="columns of A and rows of B in LDS at a time"),
        Column("lds", "LDS", "B", what="bytes of LDS of a workgroup"),
        VGPRS,
        WAVES,
        Column("held_by", "held by", what="what limits the number of waves"),
        Column("lds_loads", "LDS loads", "a k", 2, "ds_load instructions of a wave for one k"),
        Column("fmas", "FMAs", "a k", 0, "multiply-adds of a lane for one k"),
        Column("intensity", "FLOP/B", "", 1, "operations for each byte that a workgroup loads from global memory"),
        Column("workgroups", "workgroups", "", 0, "of the launch"),
        TIME,
        SPEED,
    )

    bars = Bars("Speed by thread tile", "tflops", "TFLOP/s", "{tile}, BK {bk}", "{tflops:.2f}, {waves:g} waves a SIMD")

    def run(self, bench: Bench, n: int) -> Iterator[Row]:
        fit = [(tm, tn) for tm, tn in self.tiles if not (n % (SIDE * tm) or n % (SIDE * tn))]
        for tm, tn in fit or self.tiles[:1]:
            for bk in self.depths:
                kernel = Tiled(tm, tn, bk)
                trial = kernel.tried(bench, n)
                x, y, _ = kernel.row.grid(n, n)
                yield {
                    "tile": f"{tm} x {tn}",
                    "bk": bk,
                    # 2 * rows * columns operations and 4 * (rows + columns) bytes for each k
                    "intensity": SIDE * tm * tn / (2 * (tm + tn)),
                    "workgroups": x * y,
                    **trial.row,
                }


EXPERIMENT = Tiles()
