"""`hipgemm simulate SCRIPT.py ARGS`: any hip-python script on the simulated card."""

from __future__ import annotations

import runpy
import sys
from pathlib import Path

import click


@click.command("simulate", context_settings={"ignore_unknown_options": True, "allow_interspersed_args": False})
@click.argument("script", type=click.Path(exists=True, dir_okay=False, path_type=Path))
@click.argument("arguments", nargs=-1, type=click.UNPROCESSED)
def command(script: Path, arguments: tuple[str, ...]) -> None:
    """Run SCRIPT with ARGUMENTS, unmodified, on the simulated card.

    A fault in a kernel is an error code for the script, and its report goes to stderr. Exit status is the script's.
    """
    from hipgemm import simulated_hip

    simulated_hip.install(say=lambda text: click.echo(text, err=True))
    sys.argv = [str(script), *arguments]
    sys.path[0] = str(script.resolve().parent)
    runpy.run_path(str(script), run_name="__main__")
