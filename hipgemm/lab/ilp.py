"""`ilp`: nested loops against values held in registers, without the optimiser and with it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from hipgemm.kernels.ladder import Gemm
from hipgemm.lab.bench import Bench, LaunchPaths, Trial, lab_kernel
from hipgemm.lab.frame import DUAL, SPEED, TIME, VGPRS, Bars, Column, Experiment, Plot, Row
from hipgemm.report import svg
from isa.analysis import inner


def row(nested: bool, level: str) -> Gemm:
    """One of the two sources, as it is launched."""
    name = f"lab_ilp_{'nested' if nested else 'registers'}{level.replace('-', '_')}"
    return lab_kernel(name, "ilp.hip", "lab_ilp", (64, 32), (64, 32, 16))


_LINES = 30


def code(trial: Trial, kernel: Gemm) -> list[str]:
    """The beginning of the loop that multiplies."""
    cfg = LaunchPaths(trial.built, kernel).cfg
    loop = inner.main_loop(cfg)
    lines = [str(instruction) for instruction in inner.body(cfg, loop)] if loop else []
    return [*lines[:_LINES], *([f"... {len(lines) - _LINES} more"] if len(lines) > _LINES else [])]


@dataclass(frozen=True)
class Ilp(Experiment):
    """levels: of optimisation."""

    levels: Sequence[str] = ("-O0", "-O1", "-O3")
    name = "ilp"
    title = "Instruction-level parallelism: what is in the source and what is in the code"
    size = 512
    paragraph = (
        "Each thread multiplies a 4 x 16 piece of A with a 16 x 2 piece of B from LDS. In three nested loops every "
        "multiply-add reads both factors from LDS: 16 reads for 8 FMAs at each k. If the values are first read into "
        "variables, by unrolled loops, 4 + 2 reads serve the same 8 FMAs, which are independent. At -O3 both "
        "sources give similar code; at -O1 the nested loops stay as written; at -O0 this compiler keeps every variable "
        "in scratch, and the nested loops are faster. After the article Register Blocking and Instruction Level "
        "Parallelism (ILP): its -O0 was the assembler's, after a compiler that kept the values in registers, as -O1 "
        "does here."
    )
    columns = (
        Column("source", "source", what="how the multiplication is written"),
        Column("level", "level", what="of optimisation"),
        Column("lds_loads", "LDS loads", "a k", 2, "load instructions of a wave that read LDS, for one k"),
        Column("fmas", "FMAs", "a k", 1, "multiply-adds of a lane for one k"),
        DUAL,
        Column("scratch_ops", "scratch", "a k", 1, "accesses of a wave to scratch, for one k"),
        Column("all", "instructions", "a k", 1, "of a wave, for one k"),
        VGPRS,
        TIME,
        SPEED,
    )

    bars = Bars(
        "Time of one launch",
        "time_ms",
        "ms",
        "{source}, {level}",
        "{time_ms:.3f}: {all:.0f} instructions a k",
        140,
        220,
    )

    def run(self, bench: Bench, n: int) -> Iterator[Row]:
        for level in self.levels:
            for nested in (True, False):
                kernel = row(nested, level)
                trial = bench.gemm(kernel, [level, f"-DNESTED={int(nested)}"], n)
                source = "nested loops" if nested else "registers"
                yield {"source": source, "level": level, "code": code(trial, kernel), **trial.row}

    def plots(self, rows: Sequence[Row]) -> list[Plot]:
        found = super().plots(rows)
        for level in self.levels:
            caption = f"The loop that multiplies, {level}"
            sides = [(row["source"], row["code"]) for row in rows if row["level"] == level]
            found.append(Plot(caption, svg.listings(sides, caption)))
        return found


EXPERIMENT = Ilp()
