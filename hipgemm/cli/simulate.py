"""`hipgemm simulate SCRIPT.py ARGS`: any hip-python script on the simulated card."""

from __future__ import annotations

import runpy
import sys
import traceback
import warnings
from pathlib import Path
from typing import Any

import click

from hipgemm.cli.options import card_option
from isa.errors import IsaError, Span


@click.command("simulate", context_settings={"ignore_unknown_options": True, "allow_interspersed_args": False})
@click.option("--check", is_flag=True, help="Run each launch under observers; findings go to stderr.")
@card_option
@click.argument("script", type=click.Path(exists=True, dir_okay=False, path_type=Path))
@click.argument("arguments", nargs=-1, type=click.UNPROCESSED)
def command(check: bool, card_name: str | None, script: Path, arguments: tuple[str, ...]) -> None:
    """Run SCRIPT with ARGUMENTS, unmodified, on the simulated card.

    A fault in a kernel is an error code for the script, and its report goes to stderr. Exit status is the script's;
    with --check it is 1 where that would be 0 and there are faults; 2 where SCRIPT is not Python.
    """
    from hipgemm import simulated_hip

    _must_be_python(script)
    checked: Any = None
    if check:
        from hipgemm.simulated_hip.checked import CheckedCard

        checked = CheckedCard(_say)
    simulated_hip.install((lambda: checked) if check else None, stands_for=card_name, say=_say)
    sys.argv = [str(script), *arguments]
    sys.path[0] = str(script.resolve().parent)
    try:
        runpy.run_path(str(script), run_name="__main__")
    except SystemExit as leaving:
        if leaving.code or checked is None:
            raise
    except Exception as error:
        _show(error, script)
        sys.exit(1)
    if checked is not None and checked.faults:
        sys.exit(1)


def _must_be_python(script: Path) -> None:
    """IsaError at the place where `script` is none."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # runpy, which compiles it again, gives them
            compile(script.read_bytes(), str(script), "exec", dont_inherit=True)
    except (SyntaxError, ValueError) as error:
        at, said = None, str(error)
        if isinstance(error, SyntaxError):
            said, text = error.msg, (error.text or "").rstrip("\n")
            if error.lineno and text.replace("\t", "").isprintable():
                at = Span(str(script), error.lineno, max(error.offset or 1, 1), text)
        raise IsaError(
            f"{'this' if at else script} is not Python: {said}", span=at, expected="a script that uses hip-python",
            hint="`hipgemm check` runs assembly and code objects",
        ) from error  # fmt: skip
    except OSError as error:
        raise IsaError(f"cannot read {script}: {error.strerror}") from error


def _show(error: Exception, script: Path) -> None:
    """Its traceback as Python alone would print it: from the script on."""
    frames = error.__traceback__
    while frames and frames.tb_frame.f_code.co_filename != str(script):
        frames = frames.tb_next
    traceback.print_exception(type(error), error, frames or error.__traceback__)


def _say(text: str) -> None:
    click.echo(text, err=True)
