"""Options that several verbs share."""

from __future__ import annotations

import click

from hipgemm.device import CHOICES

device_option = click.option(
    "--device",
    default=None,
    metavar="|".join(CHOICES),
    help="Where to run; N counts cards from 0.  [default: a card where there is one, else simulated]",
)
