"""The arguments and launches of kernel 5, as the prover assumes them."""

from __future__ import annotations

from isa.prove.proof import Argument, Facts


def facts(elements: int = 2**31) -> Facts:
    """Kernel 5's arguments and launches; A and B hold at most `elements`."""
    return Facts(
        arguments=(
            Argument("A", 0, 8), Argument("B", 8, 8), Argument("C", 16, 8),
            Argument("M", 24, multiple=128, minimum=128), Argument("N", 28, multiple=128, minimum=128),
            Argument("K", 32, multiple=8, minimum=8), Argument("alpha", 36), Argument("beta", 40),
        ),
        groups=(("x", ("N", 128)), ("y", ("M", 128))),
        products=((("M", "K"), elements), (("N", "K"), elements), (("M", "N"), 2**31)),
        block=128,
    )  # fmt: skip
