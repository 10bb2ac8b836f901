"""Options that several verbs share."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

import click

from hipgemm.device import CHOICES
from hipgemm.problem import DATA
from isa.sim.jit import LEVELS, NATIVE

F = TypeVar("F", bound=Callable[..., Any])

device_option = click.option(
    "--device",
    default=None,
    metavar="|".join(CHOICES),
    help="Where to run; N counts cards from 0.  [default: a card where there is one, else simulated]",
)
card_option = click.option(
    "--card", "card_name", default=None, help="What the simulated card stands for.  [default: 7900 XTX]"
)
cpu_option = click.option(
    "--cpu",
    default=NATIVE,
    show_default=True,
    metavar="|".join((NATIVE, *LEVELS)),
    help="Host processor that the simulated card compiles kernels for.",
)


class _Clock(click.FloatRange):
    """A shader clock in MHz; far beyond what any card does is a slip in the unit."""

    name = "MHz"

    def __init__(self) -> None:
        super().__init__(1, 100_000)

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> float:
        clock: float = super().convert(value, param, ctx)
        if clock != clock:  # NaN, which lies outside no range
            self.fail(f"{value!r} is no clock", param, ctx)
        return clock


clock_option = click.option("--clock", default=None, type=_Clock(), help="Shader clock in MHz.  [default: the card's]")


class Triple(click.ParamType):
    """X, X,Y or X,Y,Z."""

    name = "X,Y,Z"

    def convert(self, value: object, param: click.Parameter | None, ctx: click.Context | None) -> tuple[int, int, int]:
        if isinstance(value, tuple):
            return value
        try:
            x, y, z, *more = [int(part) for part in str(value).split(",")] + [1, 1]
        except ValueError:
            self.fail(f"{value!r} is not X, X,Y or X,Y,Z", param, ctx)
        if len(more) > 2 or min(x, y, z) < 1:
            self.fail(f"{value!r} is not X, X,Y or X,Y,Z, each 1 at least", param, ctx)
        return x, y, z


def together(*options: Callable[[F], F]) -> Callable[[F], F]:
    """Several options as one decorator, shown in this order."""

    def decorate(function: F) -> F:
        for option in reversed(options):
            function = option(function)
        return function

    return decorate


size_options = together(
    click.option("-n", default=4096, show_default=True, help="Columns of B and C."),
    click.option("-m", default=None, type=int, help="Rows of A and C.  [default: n]"),
    click.option("-k", default=None, type=int, help="Columns of A, rows of B.  [default: n]"),
)
"""`n`, and `m` and `k`, which are None if not given."""

launch_options = together(
    click.option("--kernel", "name", default=None, help="The kernel in FILE, where it has more than one."),
    click.option("--grid", type=Triple(), default=None, help="Workgroups, for a kernel that is not of the ladder."),
    click.option("--block", type=Triple(), default=None, help="Work-items of a workgroup."),
    click.option(
        "--arg",
        "arguments",
        multiple=True,
        metavar="TYPE:VALUE",
        help="An argument: i32:5, f32:1.5, buffer:BYTES, buffer:BYTES:zero|random|unwritten.",
    ),
)
"""How a kernel that is not of the ladder is launched."""

measure_options = together(
    size_options,
    click.option("--alpha", default=1.0, show_default=True),
    click.option("--beta", default=0.0, show_default=True),
    click.option("--data", default="random", show_default=True, type=click.Choice(DATA), help="identity: B is I."),
    click.option("--seed", default=0, show_default=True),
    click.option(
        "--repeats",
        default=None,
        type=click.IntRange(1),
        help="Timed launches.  [default: 16; 1 on the simulated card]",
    ),
    click.option("--cold", is_flag=True, help="Each launch finds its matrices in no cache."),
    device_option,
    card_option,
)
"""What a launch is given that is checked and timed: size, scalars, data, how often, where."""
