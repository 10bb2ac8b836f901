"""`python tools/order.py ROWS COLUMNS | KERNEL|FILE`: the order of dual FMAs of a thread tile, and whether any stalls
less."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import click

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))  # runs from a checkout, installed or not

from hipgemm.cli import options
from hipgemm.kernels import Gemm
from hipgemm.report.inspection import WIDTH
from hipgemm.report.terminal import wide
from isa.asm.program import Program
from isa.errors import IsaError
from tools.dual_fma import order as dual_fma
from tools.dual_fma import table as shown


@click.command("order", cls=options.KernelCommand, context_settings={"help_option_names": ["-h", "--help"]})
@click.argument("what", nargs=-1, required=True, metavar="ROWS COLUMNS | KERNEL|FILE")
@click.option(
    "--accumulators",
    default="opposite",
    show_default=True,
    type=click.Choice(["opposite", "turning"]),
    help="Of an even tile: banks opposite to the sources read, or by turns as in kernels 6 to 8.",
)
@click.option("--all", "every", is_flag=True, help="Show every row of the bank table.")
@options.code
@options.as_json
def command(what: tuple[str, ...], accumulators: str, every: bool, code: options.CodeOptions, as_json: bool) -> None:
    """Show in which order the dual FMAs of a thread tile run, and what that costs under each rule of operand banks.

    `order.py 8 16` is for 8 elements of A's column times 16 of B's row. A kernel of the ladder (built first), an
    assembly file (- for stdin) or a code object shows one step of its own main loop instead; of kernels 6 to 8 also,
    how much of that loop the GEMM generator writes.

    Beside each count stands the least that any order could have, and by which argument this one meets it.
    """
    if len(what) == 2 and all(word.isdecimal() for word in what):
        found = dual_fma.of_tile(int(what[0]), int(what[1]), accumulators)
    elif len(what) == 1 and not what[0].isdecimal():
        kernel = code.kernel(what[0])
        given = code.readable(kernel)
        if isinstance(kernel, Gemm) and isinstance(given, Program):
            found = dual_fma.of_rung(given, kernel.name)
        else:
            found = dual_fma.of_code(given, "stdin" if what[0] == "-" else what[0], code.name)
    else:
        raise IsaError(
            "this is neither a thread tile nor code",
            expected="two numbers, as in `order.py 8 16`, or a kernel, an assembly file or a code object",
            got=" ".join(what),
        )
    if as_json:
        click.echo(json.dumps(found.to_dict()))
        return
    shown.show(found, wide(WIDTH), None if every else shown.ROWS)


if __name__ == "__main__":
    command()
