"""`hipgemm bench`: the ladder measured, as the published study's table."""

from __future__ import annotations

import dataclasses
import sys
from contextlib import nullcontext
from pathlib import Path

import click

from hipgemm.cli import options, say
from hipgemm.cli.answers import answer
from hipgemm.cli.progress import steps
from hipgemm.launch.problem import Problem
from hipgemm.tuning.shapes import TRANSPOSITIONS


@click.command("bench")
@click.argument("kernels", nargs=-1, shell_complete=options.kernel_names)
@options.measure
@options.stands_for()
@options.types("f32, f16_f32, bf16_f32, i8_i32")
@click.option("--trans", default="nn", show_default=True, type=click.Choice(TRANSPOSITIONS),
              help="With --types: the layouts of A and B for the libraries and hipgemm.gemm.")  # fmt: skip
@click.option("--out", default=None, type=click.Path(dir_okay=False, path_type=Path),
              help="Append results to this JSON lines file.")  # fmt: skip
@click.option("--json", "as_json", is_flag=True, help="Print JSON lines instead of the table.")
def command(
    kernels: tuple[str, ...], problem: Problem, repeats: int | None, cold: bool, device: str | None,
    card_name: str | None, types: str, trans: str, out: Path | None, as_json: bool,
) -> None:  # fmt: skip
    """Measure KERNELS (default: kernel0, which is rocBLAS, and kernel1 to kernel10) and show them beside the published
    figures. With --types kernels of the matrix units, by default rocBLAS, hipBLASLt, the ladder's for these types and
    the one that hipgemm.gemm takes; on the simulated card, which has no libraries, times of kernels are predicted.

    Exit status 1 if an answer is wrong or a kernel of the ladder gives none, 2 if none of them takes this size.
    `hipgemm report` shows --out's file again.
    """
    from hipgemm.launch.elements import Types
    from hipgemm.measure import records
    from hipgemm.measure.bench import LIBRARIES, Refusal, bench, usual
    from hipgemm.measure.device import Device
    from hipgemm.report import table
    from isa.errors import IsaError

    entries = []
    problem = dataclasses.replace(problem, types=Types.named(types))
    flips = trans[0] == "t", trans[1] == "t"
    try:
        with steps() as step, out.open("a", encoding="utf-8") if out else nullcontext() as file:
            opened = Device.open(device, card=card_name)
            wanted = kernels or usual(problem, opened, flips)
            for entry in bench(wanted, problem, opened, flips=flips, repeats=repeats, cold=cold, step=step):
                entries.append(entry)
                if file:
                    file.write(records.line(entry))
                    file.flush()
                if as_json:
                    answer("bench", records.as_object(entry))
    except OSError as error:
        raise IsaError(f"cannot write {out}: {error.strerror or error}") from error
    if not as_json:
        say("\n\n".join(table.text(t) for t in table.tables(entries)))
    good = all(e.kernel in LIBRARIES if isinstance(e, Refusal) else e.correct for e in entries)
    sys.exit(0 if good else 1)
