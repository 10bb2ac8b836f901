"""The command line: one file a verb. It imports a verb's file when the verb is asked for, and nothing heavy before.

Exit status: 0 clean, 1 findings (a wrong answer, something missing), 2 input that cannot be taken. An IsaError is
printed as it is, without a traceback: its text is complete. Results go to stdout, everything else to stderr.
"""

from __future__ import annotations

import importlib
import sys
from typing import Any

import click

import hipgemm
from isa.errors import IsaError

VERBS = {
    "run": "build a kernel, run it, check its answer",
    "build": "compile, rewrite, prove, assemble and link, and leave every stage",
    "opt": "run passes on assembly, with the proof that it still does the same",
    "bench": "measure the ladder, as a table beside the published one",
    "timeline": "show what the waves of a kernel do over time, by the cycle model",
    "time": "predict how long a kernel takes on a card, and where its cycles go",
    "report": "show results again, or the whole ladder as a page",
    "list": "show the ladder",
    "simulate": "run any hip-python script on the simulated card",
    "inspect": "show registers, occupancy, instruction mix and the banks of the main loop",
    "lint": "check assembly or a code object for what an assembler does not",
    "prove": "show for all data that a kernel computes its product, or where it does not",
    "check": "run a kernel under observers: registers in flight, races, accesses outside, schedules",
    "tune": "search the generated kernels for each shape of a file, on the cycle model or on a card",
    "explain": "say which kernel sgemm takes for a shape, and why",
    "lab": "run a small experiment: a table of what decides how fast a kernel is",
    "cache": "show what is kept between runs, clear it or limit its size",
    "doctor": "show what was found on this machine, and what is missing",
}


class Reporting(click.Command):
    """Errors as they are, without a traceback; exit status 2."""

    def invoke(self, ctx: click.Context) -> Any:
        try:
            return super().invoke(ctx)
        except IsaError as error:
            click.echo(f"hipgemm: {error}", err=True)
        except MemoryError:
            click.echo("hipgemm: this machine has too little memory for that\n  help: ask for a smaller size", err=True)
        sys.exit(2)


class _Verbs(Reporting, click.Group):
    """Finds a verb in the file of its name."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        return list(VERBS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        if cmd_name not in VERBS:
            return None
        command: click.Command = importlib.import_module(f"hipgemm.cli.{cmd_name}").command
        return command

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        with formatter.section("Commands"):
            formatter.write_dl(list(VERBS.items()))


@click.command(cls=_Verbs, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(hipgemm.__version__, prog_name="hipgemm")
def main() -> None:
    """fp32 GEMM kernels for RDNA3: compile, rewrite, simulate and check them."""
