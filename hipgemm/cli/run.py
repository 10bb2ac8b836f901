"""`hipgemm run KERNEL`: build, run, check, and show the result."""

from __future__ import annotations

import sys

import click

from hipgemm.cli.options import cpu_option, measure_options
from hipgemm.cli.progress import steps


@click.command("run")
@click.argument("kernel")
@measure_options
@cpu_option
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object.")
def command(
    kernel: str,
    n: int,
    m: int | None,
    k: int | None,
    alpha: float,
    beta: float,
    data: str,
    seed: int,
    repeats: int | None,
    cold: bool,
    device: str | None,
    card_name: str | None,
    cpu: str,
    as_json: bool,
) -> None:
    """Build KERNEL (one of `hipgemm list`), run it and check its answer: C = alpha A B + beta C.

    Exit status 1 if the answer is wrong.
    """
    from hipgemm.device import Device
    from hipgemm.measure import run

    with steps() as step:
        result = run(
            kernel,
            n,
            m=m,
            k=k,
            alpha=alpha,
            beta=beta,
            data=data,
            seed=seed,
            device=Device.open(device, cpu=cpu, card=card_name),
            repeats=repeats,
            cold=cold,
            step=step,
        )
    click.echo(result.to_json() if as_json else repr(result))
    sys.exit(0 if result.correct else 1)
