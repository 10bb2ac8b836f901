"""Options that several verbs share."""

from __future__ import annotations

import click

from hipgemm.device import CHOICES
from isa.sim.jit import LEVELS, NATIVE

device_option = click.option(
    "--device",
    default=None,
    metavar="|".join(CHOICES),
    help="Where to run; N counts cards from 0.  [default: a card where there is one, else simulated]",
)
cpu_option = click.option(
    "--cpu",
    default=NATIVE,
    show_default=True,
    metavar="|".join((NATIVE, *LEVELS)),
    help="Host processor that the simulated card compiles kernels for.",
)
