"""`hipgemm timeline KERNEL -o FILE`: waves over time and the main loop's latencies, as a page or a Perfetto trace."""

from __future__ import annotations

from pathlib import Path

import click

from hipgemm.cli.options import clock_option
from hipgemm.cli.progress import steps
from isa.errors import IsaError


@click.command("timeline")
@click.argument("kernel")
@click.option("-o", "out", required=True, type=click.Path(path_type=Path), help="FILE.html, or FILE.json for Perfetto.")
@click.option("-n", default=4096, show_default=True, help="M, N and K.")
@click.option("--window", default=2000, show_default=True, type=click.IntRange(100, 20000), help="Cycles to show.")
@click.option("--card", "card_name", default="7900 XTX", show_default=True, help="A card of isa/timing/cards.py.")
@clock_option
@click.option("--hipcc", default=None, type=click.Path(path_type=Path), help="The hipcc that builds KERNEL.")
def command(
    kernel: str, out: Path, n: int, window: int, card_name: str, clock: float | None, hipcc: Path | None
) -> None:
    """Show what the waves of KERNEL's busiest CU or WGP do, by the cycle model; nothing is launched."""
    from hipgemm.build import build
    from hipgemm.cli import inputs
    from hipgemm.kernels import rung
    from hipgemm.predict import ready
    from hipgemm.report import timeline as shown
    from hipgemm.timeline import timeline
    from isa.timing import cards

    if out.suffix not in (".html", ".json"):
        raise IsaError(f"{out}: which format?", expected="a name that ends in .html or .json", got=out.suffix or "none")
    on = cards.card(card_name)
    with steps() as step:
        step(f"building {kernel}")
        built = build(kernel, arch=on.arch, hipcc=hipcc)
        step("following its addresses")
        prepared = ready(built.code_object(), rung(kernel), (n, n, n), on).prepared
        step("playing it")
        found = timeline(prepared, f"{kernel}, N = {n}, {on.name}", clock or on.clock_mhz, window=window)
    inputs.write(out, shown.page(found) if out.suffix == ".html" else shown.perfetto(found))
    click.echo(f"cycles {found.start} to {found.end}, {len(found.issues)} instructions", err=True)
