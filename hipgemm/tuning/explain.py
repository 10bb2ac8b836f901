"""A choice with its reason and its alternatives, for people: what `hipgemm explain` shows."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from hipgemm.tuning.choose import Choice, lying, tuned
from hipgemm.tuning.trial import TrialTarget, launch, limit
from isa.display import number_of
from isa.errors import IsaError

if TYPE_CHECKING:
    from hipgemm.launch.elements import Types
    from hipgemm.tuning.shapes import Shape
    from hipgemm.tuning.table import TuningTable
    from isa.timing.machine.cards import Card
    from isa.timing.model.ensemble import Timing


@dataclass(frozen=True)
class Explained:
    """timings: (kernel, what the model says of it at this shape, or why it says nothing); the chosen kernel first.
    bits: of A's elements, on the matrix units; else 0."""

    choice: Choice
    on: Card
    timings: tuple[tuple[str, Timing | str], ...]
    bits: int = 0


def explain(choice: Choice, on: Card, *, predict: bool, step: Callable[[str], None]) -> Explained:
    """The choice with predictions of the chosen kernel and of its entry's others."""
    if not predict:
        return Explained(choice, on, ())
    others = [lying(t.kernel, choice.shape) for t in choice.entry.kernels] if choice.entry else []
    refused = {kernel for kernel, _ in choice.passed}
    names = [choice.kernel, *(k for k in others if k not in refused)]
    return Explained(choice, on, _predicted(names, choice.shape, on, step))


def _predicted(
    names: Iterable[str], shape: Shape, on: Card, step: Callable[[str], None]
) -> tuple[tuple[str, Timing | str], ...]:
    """Each once."""
    found: list[tuple[str, Timing | str]] = []
    for name in dict.fromkeys(names):
        step(f"predicting {name}")
        try:
            found.append((name, launch(name, shape, TrialTarget(on.name, on.clock_mhz)).timing()))
        except IsaError as error:
            found.append((name, error.message))
    return tuple(found)


def of_types(
    shape: Shape,
    types: Types,
    on: Card,
    *,
    predict: bool,
    step: Callable[[str], None],
    tables: tuple[TuningTable, ...] | None = None,
) -> Explained:
    """What `hipgemm.gemm` takes on the matrix units, and the other tiles that it looks at. tables: as of `choose`."""
    from hipgemm.launch.elements import PLAIN
    from hipgemm.product.choice import candidates, kernel_for

    flips = tuple(letter == "t" for letter in shape.trans)
    sizes = shape.m, shape.n, shape.k
    kernel = kernel_for(sizes, on.cus, types, flips, PLAIN, on.name, batch=shape.batch, by_table=False)
    tiles = candidates(shape.m, shape.n, types, flips, card=on.name, batch=shape.batch, strided=shape.batch > 1)
    reason = "for few rows: it reads B once, at memory speed"
    for fill, count, name in tiles:
        if name == kernel:
            reason = f"the first tile of which a CU has more than {fill}: {count / on.cus:.1f}"
    choice = Choice(shape, kernel, None, math.inf, (), reason)
    if not reason.startswith("for few rows") and (near := tuned(shape, on.name, tables)):
        choice, kernel = near, near.kernel
    if not predict:
        return Explained(choice, on, (), types.bits)
    names = [kernel, *(name for _, _, name in tiles)]
    return Explained(choice, on, _predicted(names, shape, on, step), types.bits)


def as_object(e: Explained) -> dict[str, Any]:
    """For JSON. Times in microseconds, and they are predicted."""
    c, s = e.choice, e.choice.shape
    near = c.entry.shape if c.entry else None
    return {
        "shape": [s.m, s.n, s.k, s.trans],
        **({"batch": s.batch} if s.batch > 1 else {}),
        "kernel": c.kernel,
        "reason": c.reason,
        "tuned_shape": [near.m, near.n, near.k, near.trans] if near else None,
        "octaves": c.distance if math.isfinite(c.distance) else None,
        "refused": [{"kernel": kernel, "why": why} for kernel, why in c.passed],
        "predicted": [
            {"kernel": kernel, "why": t} if isinstance(t, str) else {
                "kernel": kernel, "us": 1e6 * t.time_s, "low_us": 1e6 * t.low_s, "high_us": 1e6 * t.high_s,
                "peak_share": _share(e, t), "limit": limit(t),
            }
            for kernel, t in e.timings
        ],
    }  # fmt: skip


def text(e: Explained) -> str:
    """A few lines."""
    c = e.choice
    lines = [str(c.shape), f"  kernel     {c.kernel}", f"  because    {c.reason}"]
    lines += [f"  not        {kernel}: {why}" for kernel, why in c.passed]
    for i, (kernel, t) in enumerate(e.timings):
        if isinstance(t, str):
            lines.append(f"  {'predicted' if i == 0 else 'others':<10} {kernel}: {t}")
            continue
        lines.append(
            f"  {'predicted' if i == 0 else 'others' if i == 1 else '':<10} {1e6 * t.time_s:.1f} us, "
            f"{1e6 * t.low_s:.1f} to {1e6 * t.high_s:.1f}, {100 * _share(e, t):.1f} % of peak"
            + (f": {kernel}" if i else f" ({e.on.name}, {t.clock_mhz:g} MHz)")
        )
        if i == 0:
            lines.append(f"  {'where':<10} {limit(t)}; {_next(t)}; {number_of(t.occupancy.workgroups, 'workgroup')} "
                         f"a CU, held by {', '.join(t.occupancy.binding)}")  # fmt: skip
    return "\n".join(lines)


def _share(e: Explained, t: Timing) -> float:
    return e.choice.shape.flops / t.time_s / e.on.peak_flops(t.clock_mhz, matrix=bool(e.bits), bits=e.bits)


def _next(t: Timing) -> str:
    """The largest causes after the first."""
    rest = sorted(t.causes.items(), key=lambda item: -item[1])[1:4]
    return ", ".join(f"{name} {100 * share:.0f} %" for name, share in rest)
