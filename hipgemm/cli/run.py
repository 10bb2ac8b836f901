"""`hipgemm run KERNEL`: build, run, check, and show the result."""

from __future__ import annotations

import sys

import click

from hipgemm.cli.options import cpu_option, device_option
from hipgemm.cli.progress import steps
from hipgemm.problem import DATA


@click.command("run")
@click.argument("kernel")
@click.option("-n", default=4096, show_default=True, help="Columns of B and C.")
@click.option("-m", default=None, type=int, help="Rows of A and C.  [default: n]")
@click.option("-k", default=None, type=int, help="Columns of A, rows of B.  [default: n]")
@click.option("--alpha", default=1.0, show_default=True)
@click.option("--beta", default=0.0, show_default=True)
@click.option("--data", default="random", show_default=True, type=click.Choice(DATA), help="identity: B is I.")
@click.option("--seed", default=0, show_default=True)
@click.option("--repeats", default=None, type=int, help="Timed launches.  [default: 16; 1 on the simulated card]")
@click.option("--cold", is_flag=True, help="Each launch finds its matrices in no cache.")
@device_option
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
    cpu: str,
    as_json: bool,
) -> None:
    """Build KERNEL (kernel1 to kernel8), run it and check its answer: C = alpha A B + beta C.

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
            device=Device.open(device, cpu=cpu),
            repeats=repeats,
            cold=cold,
            step=step,
        )
    click.echo(result.to_json() if as_json else repr(result))
    sys.exit(0 if result.correct else 1)
