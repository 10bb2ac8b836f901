"""`hipgemm audit LIB...`: every kernel of libraries, as a page and as JSON."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

import click

from hipgemm.cli import interrupted, options, say
from hipgemm.cli.answers import answer
from hipgemm.cli.progress import at_calls, bars

if TYPE_CHECKING:
    from hipgemm.judge.inspection.audit import Audit


@click.command("audit", cls=options.KernelCommand)
@click.argument("libraries", metavar="LIB|FILE|KERNEL...", nargs=-1, required=True, type=click.Path(path_type=Path),
                shell_complete=options.kernel_names)  # fmt: skip
@click.option(
    "--arch", default=None, help="Code for this target.  [default: gfx1100, else any gfx11 target in the file]"
)
@options.workers()
@click.option(
    "--sample", default=0, type=click.IntRange(0), help="Only this many kernels, chosen at random.  [default: all]"
)
@click.option("--lint/--no-lint", default=True, show_default=True, help="Run lint, or only count.")
@click.option("--seed", default=1, show_default=True, help="Seed of the sample.")
@click.option("-o", "out", default="audit.html", show_default=True, type=click.Path(dir_okay=False, path_type=Path),
              help="The page. FILE.json and FILE.jsonl beside it let a stopped audit continue.")  # fmt: skip
@click.option("--json", "as_json", is_flag=True, help="Print the JSON, too.")
def command(
    libraries: tuple[Path, ...], arch: str | None, workers: options.Workers, sample: int, lint: bool,
    seed: int, out: Path, as_json: bool,
) -> None:  # fmt: skip
    """Read every gfx11 kernel of libraries, programs, code objects, HIP source, folders of these, assembly, and kernels
    of the ladder; lint all.

    The page shows kernels, instructions, registers, spills, occupancy, and the findings by rule, worst first. Each
    kernel is written to the state file as soon as it is done: stop with Ctrl-C, run the same command again, and the
    audit continues.

    Exit status 0 without faults, 1 with faults, 2 where an input, or a file of a folder, cannot be read.
    """
    from hipgemm.cli import inputs
    from hipgemm.judge.inspection import audit as work
    from hipgemm.report import audit as shown
    from isa.display import number_of

    def tell(text: str) -> None:
        say(text, err=True)

    inputs.writable(out)
    unread: list[str] = []

    def not_read(text: str) -> None:
        unread.append(text)
        tell(text)

    held = work.sources(libraries, arch, not_read, options.CodeOptions().flags)
    wanted = work.chosen(held, sample, seed)
    with work.State(out.with_suffix(".jsonl"), lint, tell) as state:
        todo = work.jobs(held, wanted - state.rows.keys(), lint)
        try:
            with (
                _progress(len(wanted), len(wanted & state.rows.keys())) as done,
                workers.start() as pool,
            ):
                work.run(todo, pool, state, done)
        except KeyboardInterrupt:
            interrupted(
                f"stopped: {len(wanted & state.rows.keys())} of {len(wanted)} kernels are in {state.path}; the same "
                "command continues from there"
            )
        found = work.audit(held, [state.rows[key] for key in sorted(wanted)])
    inputs.write(out, shown.page(found))
    data = json.dumps(found.as_object())
    inputs.write(out.with_suffix(".json"), data + "\n")
    if as_json:
        answer("audit", found.as_object())
    else:
        _show(found)
    if unread:
        tell(f"hipgemm: {number_of(len(unread), 'file')} could not be read, which is not part of the audit")
    sys.exit(2 if unread else int(any(row.faults for row in found.rows)))


def _show(found: Audit) -> None:
    from hipgemm.report import audit as shown
    from hipgemm.report.terminal import wide

    say(shown.facts(found))
    if found.by_rule():
        wide(100).print(shown.rules_table(found))


@contextmanager
def _progress(total: int, known: int) -> Iterator[Callable[[int], None]]:
    """A function that takes how many more kernels are done."""
    if not sys.stderr.isatty():
        step, done = at_calls(), known

        def count(more: int) -> None:
            nonlocal done
            done += more
            step(f"{done} of {total} kernels")

        yield count
        return
    from rich.progress import TimeRemainingColumn

    with bars(TimeRemainingColumn()) as progress:
        task = progress.add_task("kernels", total=total, completed=known)
        yield lambda more: progress.advance(task, more)
