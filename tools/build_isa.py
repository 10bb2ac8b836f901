#!/usr/bin/env python3
"""Build rungs of the ladder and leave every stage where it can be read.

python tools/build_isa.py kernel8                      # stages in build/kernel8/
python tools/build_isa.py --all -o DIR
python tools/build_isa.py kernel6 --print-after all    # the assembly after each pass, on stdout
"""

from __future__ import annotations

import sys
from pathlib import Path

import click

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT))  # runs from a checkout, installed or not

from hipgemm.build import Build, build, pipeline  # noqa: E402
from hipgemm.kernels import LADDER, rung  # noqa: E402
from hipgemm.stages import Shape, Stage  # noqa: E402
from isa.errors import IsaError  # noqa: E402


@click.command(help=__doc__, context_settings={"help_option_names": ["-h", "--help"]})
@click.argument("kernels", nargs=-1, metavar="KERNEL...")
@click.option("--all", "everything", is_flag=True, help="Every rung of the ladder.")
@click.option("-o", "--out", type=click.Path(path_type=Path), default=Path("build"), show_default=True)
@click.option("--arch", default="gfx1100", show_default=True, help="gfx1100 to gfx1103.")
@click.option("--print-after", metavar="PASS|all", help="Print the assembly after this pass, or after each.")
@click.option("--hipcc", type=click.Path(path_type=Path), help="Build with this hipcc.")
def main(
    kernels: tuple[str, ...], everything: bool, out: Path, arch: str, print_after: str | None, hipcc: Path | None
) -> None:
    names = tuple(LADDER) if everything else kernels
    if not names:
        raise click.UsageError(f"name a kernel ({', '.join(LADDER)}) or say --all")
    failed = False
    for name in names:
        try:
            _check_pass(name, print_after)

            def line(stage: Stage, before: Shape | None) -> None:
                click.echo("  " + stage.line(before), err=print_after is not None)  # stdout is for the assembly then

            made = build(name, arch=arch, hipcc=hipcc, out=out, on_stage=line)
        except IsaError as e:
            click.echo(f"{name}: {e}", err=True)
            failed = True
        else:
            _finish(made, print_after)
    sys.exit(failed)


def _check_pass(name: str, print_after: str | None) -> None:
    passes = pipeline(rung(name)).split(",")
    if print_after not in (None, "all", *passes):
        raise IsaError(f"no pass {print_after!r} in its pipeline", expected=", ".join(["all", *passes]))


def _finish(made: Build, print_after: str | None) -> None:
    for warning in made.warnings:
        click.echo(f"warning: {warning}", err=True)
    note = ", from the cache; times are those of the build" if made.cached else ""
    click.echo(f"{made.rung.name}: {made.folder} ({made.toolchain}{note})", err=print_after is not None)
    for stage in made.stages[1:]:
        if stage.shape is not None and print_after in ("all", stage.name):
            click.echo(f"; ---- {made.rung.name} after {stage.name}")
            click.echo((made.folder / stage.file).read_text(), nl=False)


if __name__ == "__main__":
    main()
