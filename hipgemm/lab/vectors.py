"""`vectors`: how many bits a load moves, and what a size that is no multiple of four costs."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from hipgemm.lab.bench import Bench, Trial
from hipgemm.lab.frame import SIZE, SPEED, VGPRS, Bars, Column, Experiment, Plot, Row
from hipgemm.lab.gemms import Tiled, library
from hipgemm.measure.result import flops
from hipgemm.report import svg
from isa.errors import IsaError

WIDTH = 4  # floats of the widest load
_REPEATS = 16  # on a card; the shortest counts


@dataclass(frozen=True)
class Vectors(Experiment):
    """widths: floats of a load from global memory and from LDS; tile: TM and TN of a thread; bk: depth of a tile."""

    widths: Sequence[tuple[int, int]] = ((1, 1), (2, 1), (4, 1), (1, 2), (1, 4), (4, 4))
    tile: int = 8
    bk: int = 16
    name = "vectors"
    title = "Vector loads: 32, 64 or 128 bits at a time"
    size = 2048
    paragraph = (
        "The same 8 x 8 thread tiles, with A and B copied to LDS by loads of 1, 2 or 4 floats, and read from LDS by "
        "loads of 1, 2 or 4. A wider load moves the same bytes with fewer instructions, addresses and waits. The "
        "compiler joins two b32 loads with one base into a ds_load_2addr_b32, so that scalar LDS code is faster "
        "than it looks. A vector load needs rows that begin at multiples of 16 bytes. Two rows of the table have sizes "
        "of n - 3: with a check of every element, and with A and B first copied into matrices padded to a multiple of "
        "four; their time includes the copies. The last is this project's sgemm. After xGeMM Chapter 6: Vectorized "
        "Memory Accesses (T. Gautam, 2024), where vector loads brought the kernel to 70 % of cuBLAS."
    )
    columns = (
        Column("kernel", "loads", what="bits of a load from global memory and from LDS"),
        SIZE,
        Column("global_loads", "global", "a k", 2, "load instructions of a wave from global memory, for one k"),
        Column("lds_loads", "LDS", "a k", 2, "load instructions of a wave from LDS, for one k"),
        Column("lds_by", "LDS loads are mostly", what="the instruction that the compiler chose"),
        Column("all", "instructions", "a k", 1, "of a wave, for one k"),
        VGPRS,
        Column("copies_ms", "copies", "ms", 4, "to and from padded matrices"),
        Column("time_ms", "time", "ms", 4, "of one launch, and the copies"),
        SPEED,
    )

    bars = Bars("Speed by width", "tflops", "TFLOP/s", "{kernel}", "{tflops:.2f}, {time_ms:.3f} ms", 170)

    def run(self, bench: Bench, n: int) -> Iterator[Row]:
        if n % WIDTH:
            raise IsaError(f"the experiment {self.name} needs a multiple of {WIDTH}", got=f"n = {n}")
        for gw, lw in self.widths:
            trial = Tiled(self.tile, self.tile, self.bk, gw, lw).tried(bench, n)
            yield self._row(f"b{32 * gw} and b{32 * lw}", n, trial)
        odd = n - WIDTH + 1
        trial = Tiled(self.tile, self.tile, self.bk, 1, WIDTH, guard=True).tried(bench, odd)
        yield self._row(f"b32, checked, and b{32 * WIDTH}", odd, trial)
        trial = Tiled(self.tile, self.tile, self.bk, WIDTH, WIDTH, guard=True).tried(bench, n)
        yield self._row(f"b{32 * WIDTH}, checked, padded", odd, trial, copies_ms(bench, odd, n))
        _, best = library(bench, n)
        yield {
            **{column.key: None for column in self.columns}, "kernel": "library", "n": n, "time_ms": best.time_ms,
            "tflops": best.tflops, "time_kind": best.time_kind, "correct": best.correct,
        }  # fmt: skip

    def plots(self, rows: Sequence[Row]) -> list[Plot]:
        found = super().plots(rows)
        for floats in (1, WIDTH):
            numbers = [[(row * self.bk + k) // floats for k in range(self.bk)] for row in range(WIDTH + 4)]
            caption = f"Which work-item copies what, b{32 * floats}"
            tiles = (
                ("A in memory, row by row", numbers),
                ("the tile in LDS, transposed", list(zip(*numbers, strict=True))),
            )
            found.append(Plot(caption, svg.grids(tiles, caption)))
        return found

    def _row(self, kernel: str, n: int, trial: Trial, copies: float | None = 0.0) -> Row:
        time = trial.result.time_ms
        whole = None if time is None or copies is None else time + copies
        return {
            "kernel": kernel,
            "n": n,
            **trial.row,
            "copies_ms": copies,
            "time_ms": whole,
            "tflops": None if whole is None else flops(n, n, n) / whole / 1e9,
        }


def copies_ms(bench: Bench, n: int, padded: int) -> float | None:
    """What it takes to bring A and B from n x n into matrices of padded x padded, and C back; None where not known."""
    from contextlib import ExitStack

    from hipgemm.product.arrays import Matrix
    from hipgemm.product.places import matrix_in
    from hipgemm.product.sgemm import strided_copy

    device = bench.device
    bench.step("copying into padded matrices")
    with ExitStack() as stack:

        def matrix(size: int) -> Matrix:
            return matrix_in(stack.enter_context(device.buffer(4 * size * size)), size, size)

        small, large = matrix(n), matrix(padded)

        def copy(_: int, stream: object) -> None:
            for source, target in ((small, large), (small, large), (large, small)):
                strided_copy(device, source, target, stream=stream)

        times = device.timings(copy, 1 if device.simulated else _REPEATS)
    known = [t for t in times if t is not None]
    return 1e3 * min(known) if known else None


EXPERIMENT = Vectors()
