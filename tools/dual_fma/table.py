"""A `DualOrder` for a terminal."""

from __future__ import annotations

from typing import TYPE_CHECKING

from hipgemm.report.inspection import bank_table
from hipgemm.report.terminal import grid
from tools.dual_fma.cost import NOT_SHOWN, Count
from tools.dual_fma.order import DualOrder

if TYPE_CHECKING:
    from rich.console import Console

ROWS = 16
"""How many rows of the bank table are shown unless asked for all."""


def _verdict(count: Count) -> tuple[str, str, str]:
    word = "yes" if count.optimal else "open" if count.argument == NOT_SHOWN else "no"
    return f"{count.count}", f"{count.lower_bound}", f"{word}: {count.argument}"


def show(found: DualOrder, console: Console, rows: int | None = ROWS) -> None:
    """Tables: what a pass costs, and its banks."""
    cost = found.cost
    console.print(
        f"{found.source}: {cost.columns} x {cost.rows} products (column x row)",
        highlight=False,
    )
    table = grid("<a pass", ">count", ">bound", "<is it optimal?", pad_edge=False)
    table.add_row("instructions", *_verdict(cost.instructions))
    for rule, count in cost.stalls.items():
        table.add_row(f"stalls, {rule}", *_verdict(count))
    table.add_row("bank reads, X and Y share caches", *_verdict(cost.shared_reads))
    table.add_row("bank reads, each has its own", *_verdict(cost.own_reads))
    console.print(table)
    if cost.one_parity:
        console.print(
            f"{cost.one_parity} pairs read a slot from registers of one parity: GFX11 can lose their interlock"
        )
    entering = ", ".join(f"{n} by {rule}" for rule, n in cost.entering.items() if n)
    console.print(f"with empty caches the first FMA stalls: {entering or 'by no rule'}", highlight=False)
    if (w := found.written) is not None:
        console.print(
            f"main loop: {w.instructions - w.taken} of its {w.instructions} instructions as the generator writes them "
            f"with the parameters of {w.parameters};\nthe rest is the compiler's control and addresses that go on"
            if w.same
            else f"main loop: not as the generator writes it with the parameters of {w.parameters}",
            highlight=False,
        )
    console.print(bank_table(found.rows[:rows]))
    if rows is not None and len(found.rows) > rows:
        console.print(f"  and {len(found.rows) - rows} more: --all", markup=False, highlight=False)
