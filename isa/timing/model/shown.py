"""A timing as text: lines of what and value, and a bar for each cause of cycles."""

from __future__ import annotations

from collections.abc import Sequence

from isa.display import number_of

Rows = Sequence[tuple[str, str]]
Causes = Sequence[tuple[str, float]]
_HEADING = "where the cycles of a SIMD go"


def assumed(guards: Sequence[object]) -> str:
    """What is said where conditions on data were taken to hold (`isa.timing.trace.guards`)."""
    which = number_of(len(guards), "condition on data is", "conditions on data are")
    return f"{which} taken to hold in all lanes; hipgemm time --run follows the data"


def taken_from_a_run(why: str) -> str:
    """What is said where a launch was run to see its path. why: "--run", or what depends on data."""
    return "taken, with the addresses, from a run of the launch" + ("" if why == "--run" else f": {why}")


def text(rows: Rows, causes: Causes) -> str:
    """For a terminal."""
    width = max(len(what) for what, _ in rows)
    out = [f"  {what:<{width}}  {value}" for what, value in rows]
    out += ["", f"  {_HEADING}"]
    width = max((len(name) for name, _ in causes), default=0)
    out += [f"  {name:<{width}}  {100 * share:5.1f} %  {'#' * round(50 * share)}" for name, share in causes]
    return "\n".join(out)
