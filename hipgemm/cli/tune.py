"""`hipgemm tune --shapes FILE`: search the generated kernels for each shape and write the table that sgemm reads."""

from __future__ import annotations

import functools
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

import click

from hipgemm.cli import interrupted, options, say
from hipgemm.cli.answers import answer
from hipgemm.cli.progress import at_calls, bars
from hipgemm.tuning.table import as_object
from isa.display import number_of

if TYPE_CHECKING:
    from hipgemm.tuning.choose import Choice
    from hipgemm.tuning.search import Found
    from hipgemm.tuning.shapes import Shape
    from hipgemm.tuning.table import TuningTable
    from hipgemm.tuning.trial_order import Lesson
    from isa.timing.machine.cards import Card


@click.command("tune")
@click.option("--shapes", required=True, multiple=True, metavar="FILE",
              help="One shape a line: M N K [nn|nt|tn|tt]; - for stdin. May be given more than once.")  # fmt: skip
@options.types("f32, f16_f32, bf16_f32, i8_i32, i4_i32")
@click.option("--batch", default=1, show_default=True, type=click.IntRange(1, 65535),
              help="Number of products of each shape, on the matrix units.")  # fmt: skip
@click.option("--on", "where", default="model", show_default=True, metavar="model|card|card:N|simulated",
              help="What times the kernels: the cycle model, a card, or launches on the simulated card.")  # fmt: skip
@options.card("The model's card.")
@options.clock
@options.workers("the cores; 1 on a card")
@click.option("--candidates", default=500, show_default=True, type=click.IntRange(1),
              help="Number of kernels tried for a shape, the most promising first.")  # fmt: skip
@click.option("-o", "out", default=None, type=click.Path(dir_okay=False, path_type=Path),
              help="Table; its entries are kept.  [default: the user's own, which sgemm reads]")  # fmt: skip
@click.option("--json", "as_json", is_flag=True, help="Print a JSON line for each shape.")
def command(
    shapes: tuple[str, ...], types: str, batch: int, where: str, on: Card, clock: float | None,
    workers: options.Workers, candidates: int, out: Path | None, as_json: bool,
) -> None:  # fmt: skip
    """Search the parameters of generated kernels for each shape of FILE, of float32 or other TYPES.

    On the cycle model, hundreds of kernels are estimated by one run, the best three by the ensemble that gives a band.
    On a card, hundreds are launched three times, and the best three alternately. Kernels that are chosen today always
    take part in the last step, so that no search makes a table slower.

    Each result is written to TABLE.journal.jsonl as soon as it is known: stop with Ctrl-C, run the same command again,
    and the search continues. Without --scheduler, --executor dask makes a cluster on this machine.
    """
    from hipgemm.cli import inputs
    from hipgemm.measure.device import require_card
    from hipgemm.tuning import journal, table
    from hipgemm.tuning import shapes as files
    from hipgemm.tuning.search import search
    from hipgemm.tuning.trial import TrialTarget, made_by

    options.check_batch(batch, types)
    wanted = list(
        dict.fromkeys(replace(shape, types=types, batch=batch) for file in shapes for shape in files.load(file))
    )
    if where not in ("model", "simulated") and workers.scheduler is None:
        require_card(where, "--on model or --on simulated")
    target = TrialTarget(on.name, clock or on.clock_mhz, None if where == "model" else where)
    path = inputs.writable(out or table.own_path())
    held = table.load(path) if path.exists() else table.TuningTable()
    book = path.with_name(path.name + ".journal.jsonl")
    with journal.Journal(book, made_by(target), lambda text: say(text, err=True)) as log:
        try:
            with _progress(len(wanted)) as tell, workers.start(1 if target.device else None) as pool:
                lessons: list[Lesson] = []
                for number, shape in enumerate(wanted):
                    said = functools.partial(tell, number)
                    # Neighbours of the shape in `held` may be this very search's: another time they would be others.
                    now = chosen_now(shape, on, held)
                    today = [c.kernel for c in now if c is now[-1] or (c.entry and c.entry.shape == shape)]
                    found = search(shape, target, pool, log, said, candidates, lessons, today)
                    lessons.append(found.lesson)
                    held = held.with_(found.entry)
                    held.save(path)
                    _show(found, as_json)
        except KeyboardInterrupt:
            interrupted(
                f"stopped: {number_of(log.held, 'result')} are in {book}; the same command continues from there"
            )
    say(f"wrote {path}", err=True)


def chosen_now(shape: Shape, on: Card, held: TuningTable) -> list[Choice]:
    """By the table that is made, and by what came with the package: its table and, on the matrix units, the rule."""
    from hipgemm.launch.elements import Types
    from hipgemm.tuning import table
    from hipgemm.tuning.choose import choose, tuned
    from hipgemm.tuning.explain import of_types

    if shape.types == "f32":
        return [choose(shape, on.name, (held,)), choose(shape, on.name, (table.shipped(),))]
    found = [tuned(shape, on.name, (tables,)) for tables in (held, table.shipped())]
    types = Types.named(shape.types)
    rule = of_types(shape, types, on, predict=False, step=lambda _: None, tables=()).choice
    return [*(choice for choice in found if choice), rule]


@contextmanager
def _progress(shapes: int) -> Iterator[Callable[[int, str, int, int], None]]:
    """A function that takes (number of the shape, what is being done, how much of it, of how much)."""
    if not sys.stderr.isatty():
        step = at_calls()
        yield lambda number, what, done, of: step(f"{what}: {done} of {of} kernels; {number} of {shapes} shapes done")
        return
    with bars() as progress:
        every = progress.add_task("shapes", total=shapes)
        task = progress.add_task("", total=None)

        def tell(number: int, what: str, done: int, of: int) -> None:
            progress.update(every, completed=number)
            progress.update(task, description=what, completed=done, total=of)

        yield tell


def _show(found: Found, as_json: bool) -> None:
    if as_json:
        answer("tune", as_object(found.entry))
        return
    best, shape = found.entry.kernels[0], found.shape
    say(
        f"{shape}: {best.kernel}, {best.us:.1f} us {found.entry.kind} ({best.low_us:.1f} to {best.high_us:.1f}), "
        f"{shape.flops / best.us / 1e6:.2f} TFLOP/s; {number_of(found.considered, 'kernel')}, "
        f"{found.excluded} excluded by their bounds, {found.tried} timed"
    )
