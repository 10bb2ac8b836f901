"""`hipgemm cache`: what is kept between runs, and how to be rid of it."""

from __future__ import annotations

import click

from hipgemm.cli import options, say
from hipgemm.cli.answers import answer
from isa import cache
from isa.display import number_of

_MB = 1_000_000


@click.command("cache")
@click.argument("what", type=click.Choice(["show", "clear", "limit"]), default="show")
@click.argument("megabytes", type=click.IntRange(min=0), required=False)
@options.as_json
def command(what: str, megabytes: int | None, as_json: bool) -> None:
    """Show what is kept between runs: builds, compiled kernels, predictions, C libraries.

    clear deletes all of it; limit MEGABYTES deletes the least recently used entries until no more than that is left.
    What is deleted is made again when it is needed.
    """
    if (what == "limit") != (megabytes is not None):
        raise click.UsageError("limit takes a number of MEGABYTES, show and clear take none")
    before = sum(kind.size for kind in cache.kinds())
    dropped = 0 if what == "show" else cache.limit(_MB * (megabytes or 0))
    kinds = cache.kinds()
    size = sum(kind.size for kind in kinds)
    if as_json:
        rows = [{"kind": k.name, "entries": k.entries, "bytes": k.size, "under_way": k.under_way} for k in kinds]
        freed = before - size
        answer("cache", {"folder": str(cache.root()), "bytes": size, "dropped": dropped, "freed": freed, "kinds": rows})
        return
    for kind in kinds:
        more = f", {kind.under_way} in progress" if kind.under_way else ""
        say(f"  {kind.name:<16}{kind.entries:>6} entries{kind.size / _MB:>10.1f} MB{more}")
    if what != "show":
        say(f"dropped {number_of(dropped, 'entry', 'entries')}, {(before - size) / _MB:.1f} MB")
    say(f"{cache.root()}: {size / _MB:.1f} MB")
