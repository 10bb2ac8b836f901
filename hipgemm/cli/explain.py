"""`hipgemm explain M N K`: which kernel sgemm, or gemm of other types, takes, and why."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from hipgemm.cli import options, say
from hipgemm.cli.answers import answer
from hipgemm.cli.progress import steps
from hipgemm.tuning.shapes import LARGEST, TRANSPOSITIONS

if TYPE_CHECKING:
    from isa.timing.machine.cards import Card


@click.command("explain")
@click.argument("m", type=click.IntRange(1, LARGEST))
@click.argument("n", type=click.IntRange(1, LARGEST))
@click.argument("k", type=click.IntRange(1, LARGEST))
@click.option("--trans", default="nn", show_default=True, type=click.Choice(TRANSPOSITIONS),
              help="Layouts of A and B: n as in C = A B, t transposed.")  # fmt: skip
@options.card()
@options.types("f32, f16_f32, f16_f16, bf16_f32, i8_i32")
@click.option(
    "--batch", default=1, show_default=True, type=click.IntRange(1, 65535), help="Number of products of that size."
)
@click.option("--table", "file", default=None, type=click.Path(dir_okay=False, path_type=Path),
              help="Use only this table.  [default: the user's own table and the shipped one]")  # fmt: skip
@click.option("--no-predict", is_flag=True, help="Without predicting times at this shape.")
@options.as_json
def command(
    m: int, n: int, k: int, trans: str, on: Card, types: str, batch: int, file: Path | None, no_predict: bool,
    as_json: bool,
) -> None:  # fmt: skip
    """Show which kernel hipgemm.sgemm uses for C (M x N) with sums of K products, and why: the tuned shape that it
    comes from, the runners-up there, and what the cycle model predicts for them at this shape. With --types: which one
    hipgemm.gemm uses on the matrix units: a tuned shape's if one is near, else the one that a rule chooses."""
    from hipgemm.launch.elements import Types
    from hipgemm.tuning import table
    from hipgemm.tuning.choose import choose, fastest
    from hipgemm.tuning.explain import as_object, explain, of_types, text
    from hipgemm.tuning.shapes import Shape

    options.check_batch(batch, types)
    shape = Shape(m, n, k, trans, types=types, batch=batch)
    tables = (table.load(file),) if file else None
    with steps() as step:
        if types != "f32":
            found = of_types(shape, Types.named(types), on, predict=not no_predict, step=step, tables=tables)
        else:
            choice = fastest(choose(shape, on.name, tables), on.name)
            found = explain(choice, on, predict=not no_predict, step=step)
    if as_json:
        answer("explain", as_object(found))
    else:
        say(text(found))
