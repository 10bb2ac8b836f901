"""`hipgemm list`: the ladder."""

from __future__ import annotations

import dataclasses
from typing import Any

import click

from hipgemm.cli import options
from hipgemm.cli.answers import answer


@click.command("list")
@options.as_json
def command(as_json: bool) -> None:
    """Show the kernels: what each one is, how it is built, which sizes it takes, and its published figures."""
    from hipgemm.kernels.ladder import LADDER, MATRIX, NAMED, Rung

    def facts(row: Rung) -> dict[str, Any]:
        found = {**dataclasses.asdict(row), "mode": row.mode, "types": str(row.types)}
        return {k: v for k, v in found.items() if k not in ("code", "flags")}

    if as_json:
        ladder, matrix = ([facts(row) for row in rows.values()] for rows in (LADDER, MATRIX))
        answer("list", {"kernels": ladder, "matrix_units": matrix})
        return
    from hipgemm.report.terminal import grid, wide

    table = grid(
        "kernel", "what", "mode", "M, N, K multiples of", "passes", ">published ms", ">GFLOP/s",
        caption="published: on a Radeon RX 7900 XTX at M = N = K = 4096 (seb-v, 2025)",
    )  # fmt: skip
    for row in NAMED.values():
        sizes = "any" if row.tile == (1, 1, 1) else ", ".join(map(str, row.tile))
        passes = row.pipeline.replace(",", ", ")
        published = (f"{row.published.time_ms:.4f}", f"{row.published.gflops:.0f}") if row.published else ("–", "–")
        table.add_row(row.name, row.title, row.mode, sizes, passes, *published)
    wide(120).print(table)
