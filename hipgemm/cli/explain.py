"""`hipgemm explain M N K`: which kernel sgemm, or gemm of other types, takes, and why."""

from __future__ import annotations

import json
from pathlib import Path

import click

from hipgemm.cli.progress import steps
from hipgemm.tuning.shapes import LARGEST, TRANSPOSITIONS, TYPES
from isa.errors import IsaError


@click.command("explain")
@click.argument("m", type=click.IntRange(1, LARGEST))
@click.argument("n", type=click.IntRange(1, LARGEST))
@click.argument("k", type=click.IntRange(1, LARGEST))
@click.option("--trans", default="nn", show_default=True, type=click.Choice(TRANSPOSITIONS),
              help="How A and B lie: n as in C = A B, t transposed.")  # fmt: skip
@click.option("--card", "card_name", default="7900 XTX", show_default=True, help="A card of isa/timing/cards.py.")
@click.option("--types", default="f32", show_default=True, type=click.Choice(TYPES), metavar="TYPES",
              help="Of A and B, and of C: f32, f16_f32, f16_f16, bf16_f32, i8_i32, ...")  # fmt: skip
@click.option("--batch", default=1, show_default=True, type=click.IntRange(1, 65535), help="Products of that size.")
@click.option("--table", "file", default=None, type=click.Path(dir_okay=False, path_type=Path),
              help="Look only here.  [default: the user's own table and the shipped one]")  # fmt: skip
@click.option("--no-predict", is_flag=True, help="Without times at this shape.")
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object.")
def command(
    m: int, n: int, k: int, trans: str, card_name: str, types: str, batch: int, file: Path | None, no_predict: bool,
    as_json: bool,
) -> None:  # fmt: skip
    """Which kernel hipgemm.sgemm takes for C (M x N) with sums of K products, and why: the tuned shape that this comes
    from, the kernels that were next there, and what the cycle model says of them at this shape. With --types which one
    hipgemm.gemm takes on the matrix units: a tuned shape's if one is near, else a rule chooses."""
    from hipgemm.elements import Types
    from hipgemm.tuning import table
    from hipgemm.tuning.choose import choose
    from hipgemm.tuning.explain import as_object, explain, of_types, text
    from hipgemm.tuning.shapes import Shape
    from isa.timing.cards import card

    if batch > 1 and types == "f32":
        raise IsaError("no kernel takes a batch of float32 products", hint="--types f16_f32, bf16_f32, i8_i32, ...")
    shape, on = Shape(m, n, k, trans, types=types, batch=batch), card(card_name)
    tables = (table.load(file),) if file else None
    with steps() as step:
        if types != "f32":
            found = of_types(shape, Types.named(types), on, predict=not no_predict, step=step, tables=tables)
        else:
            choice = choose(shape, on.name, tables)
            found = explain(choice, on, predict=not no_predict, step=step)
    click.echo(json.dumps(as_object(found)) if as_json else text(found))
