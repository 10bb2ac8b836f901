"""`hipgemm cc`: called as hipcc is; gfx11 kernels are optimised and proved in between."""

from __future__ import annotations

import os
import shlex
import sys
from collections.abc import Sequence

import click

from hipgemm.cli import Reporting, say
from isa.errors import IsaError

BUDGET, CARD, ALONE = "--hipgemm-budget=", "--hipgemm-card=", "--hipgemm-alone"


@click.command("cc", cls=Reporting, add_help_option=False, context_settings={"ignore_unknown_options": True,
               "allow_interspersed_args": False})  # fmt: skip
@click.argument("words", nargs=-1, type=click.UNPROCESSED)
def command(words: tuple[str, ...]) -> None:
    """Compile as hipcc does, with gfx11 kernels optimised and proved.

    All options are hipcc's, except --hipgemm-budget=SECONDS (how long to search for passes for each kernel, without
    the proof that follows, in place of as many candidates on every machine; with 0 kernels stay as they are),
    --hipgemm-card=NAME (the predicted card; 7900 XTX) and --hipgemm-alone (as if there were no hipcc).
    A line on stderr gives each kernel's gain, or why it stays as the compiler made it. hipcc is what $HIPGEMM_CC names,
    that of $ROCM_PATH, or the one on $PATH; where there is none, what `hipgemm doctor` names compiles and links, with
    the simulated card's libamdhip64 where ROCm's is missing. The exit status is hipcc's.
    """
    from hipgemm.cli.progress import at_calls
    from hipgemm.kernels.compiling import hipcc
    from hipgemm.optimise import clock as opt_clock
    from hipgemm.optimise import rewriting
    from isa.timing.machine import cards

    if words == ("--help",):
        click.echo(command.get_help(click.get_current_context()))
        return
    budget: float | None = None
    on = cards.card(cards.DEFAULT)
    try:
        for word in words:
            if word.startswith(BUDGET):
                budget = _seconds(word.removeprefix(BUDGET))
            elif word.startswith(CARD):
                on = cards.card(word.removeprefix(CARD))
        rest = [word for word in words if not word.startswith((BUDGET, CARD)) and word != ALONE]
        if ALONE in words:  # else hipcc reads it
            rest += shlex.split(os.environ.get("HIPCC_COMPILE_FLAGS_APPEND", ""))
        search = rewriting.Search(lambda given, name: opt_clock.of_kernel(given, name, None, on), budget)
        status = hipcc.Driver(
            rest,
            search if budget != 0 else None,
            _tell,
            at_calls(),
            otherwise=_otherwise,
            alone=ALONE in words,
            native=on.arch,
        ).run()
    except IsaError as error:
        say(f"hipgemm: {error}", err=True)
        status = 1
    sys.exit(status)


def _tell(line: str) -> None:
    say(f"hipgemm: {line}", err=True)


def _otherwise(words: Sequence[str]) -> None:
    """What hipcc does, where there is none."""
    from hipgemm import simulated_hip
    from hipgemm.kernels.compiling import program
    from hipgemm.simulated_hip import abi
    from isa import toolchain

    if "--version" in words:
        click.echo(f"HIP version: {abi.VERSION_TEXT}\n{toolchain.find().version}")
    else:
        program.in_place_of_hipcc(words, hip=simulated_hip.rocm_path)


def _seconds(text: str) -> float:
    try:
        return max(float(text), 0)
    except ValueError:
        raise IsaError(f"{BUDGET}{text}", expected="a number of seconds") from None
