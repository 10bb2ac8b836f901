"""`hipgemm blas -- COMMAND`: a program's matrix products by this project's kernels."""

from __future__ import annotations

import os
import sys
from typing import TYPE_CHECKING

import click

from hipgemm.cli import answers, options, say
from isa.children import attached
from isa.errors import IsaError

if TYPE_CHECKING:
    from hipgemm.product.preloaded import Card, Seen


@click.command("blas", options_metavar="[OPTIONS]", context_settings={"ignore_unknown_options": True})
@click.option("--verify", is_flag=True, help="Compute each product by the vendor's library, too, and compare.")
@options.as_json
@options.device
@options.stands_for()
@click.argument("words", nargs=-1, required=True, metavar="-- COMMAND ARGS", type=click.UNPROCESSED)
def command(verify: bool, as_json: bool, device: str | None, card_name: str | None, words: tuple[str, ...]) -> None:
    """Run a program whose matrix products are computed by generated kernels.

    COMMAND is started with a library in LD_PRELOAD that takes the product calls of rocBLAS, hipBLAS and hipBLASLt:
    sgemm, hgemm, gemm_ex and GemmEx, their strided batches, and hipblasLtMatmul. Shapes and types that no kernel takes
    go to the vendor's library. At the end a table on stderr has each shape: how often, by which kernel, and the
    shortest time; with --verify beside the vendor's. With --json that is the output, and the program's goes to stderr.

    Without a card the program runs on the simulated card, as by `hipgemm simulate`. Exit status is the program's; 1
    where that would be 0 and a product differs.
    """
    from hipgemm.product import preloaded

    environment, card = _where(device, card_name)
    with preloaded.listening(card, environment, verify) as (planner, environment):
        try:
            status = attached(words, environment, 2 if as_json else None)
        except OSError as error:
            raise IsaError(f"cannot run {words[0]}: {error.strerror}") from error
        seen = planner.seen()
    if as_json:
        answers.answer("blas", _found(seen))
    else:
        _show(seen, verify)
    sys.exit(status or int(any(one.wrong for one in seen)))


def _where(device: str | None, card_name: str | None) -> tuple[dict[str, str], Card]:
    """The environment in which the command finds the card, and that card."""
    from hipgemm.measure.device import Device, cards_present
    from hipgemm.product.preloaded import Card
    from isa.timing.machine import cards

    if device == "simulated" or (device is None and not any(found.supported for found in cards_present())):
        from hipgemm.simulated_hip.attach import environment

        on = cards.card(card_name or cards.DEFAULT)
        return environment(card_name, None, os.environ), Card(on.name, on.arch, 2 * on.wgps)
    opened = Device.open(device or "card", card=card_name)
    return dict(os.environ), Card(opened.card, opened.arch, opened.cus)


def _found(seen: list[Seen]) -> dict[str, object]:
    products = [
        {
            "product": str(one.asked), "calls": one.calls, "ours": one.done, "kernel": one.kernel or None,
            "passed_on_because": one.why or None, "ours_s": one.ours_s or None, "vendors_s": one.theirs_s or None,
            "verified": one.verified, "wrong": one.wrong,
        }
        for one in seen
    ]  # fmt: skip
    return {"products": products}


def _show(seen: list[Seen], verify: bool) -> None:
    from hipgemm.report.terminal import grid, wide

    table = grid(
        "<product", ">calls", ">ours", "~kernel", ">ms", *((">vendor's ms", ">speed-up", "wrong") if verify else ())
    )
    for one in seen:
        milliseconds = [f"{1e3 * s:.4g}" if s else "" for s in (one.ours_s, one.theirs_s)]
        gain = f"{one.theirs_s / one.ours_s:.2f}" if one.ours_s and one.theirs_s else ""
        wrong = f"{len(one.wrong)} of {max(one.verified, len(one.wrong))}" if one.wrong else ""
        verified = (milliseconds[1], gain, wrong) if verify else ()
        table.add_row(str(one.asked), str(one.calls), str(one.done), one.kernel or one.why, milliseconds[0], *verified)
    out = wide(150, stderr=True)
    if seen:
        out.print(table)
    for one in seen:
        for said in one.wrong[:1]:
            say(f"hipgemm: {one.asked} by {one.kernel}: {said}", err=True)
    calls, done = sum(one.calls for one in seen), sum(one.done for one in seen)
    say(f"hipgemm: {done} of {calls} products by hipgemm's kernels", err=True)
