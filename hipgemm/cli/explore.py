"""`hipgemm explore [FILE]`: a page to work on a kernel, in the browser."""

from __future__ import annotations

import os
import signal
import socket
import threading
import time
import webbrowser
from pathlib import Path
from typing import TYPE_CHECKING

import click

from hipgemm.cli import options
from isa import packages
from isa.errors import IsaError

if TYPE_CHECKING:
    from isa.timing.machine.cards import Card


@click.command("explore")
@click.argument("file", required=False, type=click.Path(path_type=Path))
@click.option("--port", type=click.IntRange(0, 65535), default=0, help="[default: any that is free]")
@click.option("--no-browser", is_flag=True, help="Only print the address.")
@options.card_of_code()
def command(file: Path | None, port: int, no_browser: bool, on: Card | None) -> None:
    """Open a page on 127.0.0.1 to work on FILE (HIP source or assembly): its instructions line by line beside it,
    findings in place, live registers, waits, occupancy, the predicted time with its causes, and a wave's registers step
    by step, forward and back. It follows the file as another editor saves it, and ends with the process that began it.
    """
    parent = os.getppid()
    packages.load("starlette")
    uvicorn = packages.load("uvicorn")
    from hipgemm.workbench.server import HOST, Workbench

    if file is not None and not file.is_file():
        raise IsaError(f"{file}: no such file", expected="HIP source or assembly")
    with socket.socket() as listening:
        listening.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            listening.bind((HOST, port))
        except OSError as error:
            raise IsaError(f"cannot listen on {HOST}:{port}: {error.strerror}", hint="leave --port out") from error
        listening.listen()  # who asks before the server runs waits for it
        bench = Workbench(file, on, listening.getsockname()[1])
        click.echo(bench.address)
        if not no_browser:
            webbrowser.open(bench.address)
        _end_with(parent)
        uvicorn.Server(uvicorn.Config(bench.app(), log_level="error", lifespan="off")).run(sockets=[listening])


def _end_with(parent: int) -> None:
    """Ends this process once it is nobody's child any more."""

    def watch() -> None:
        while os.getppid() == parent:
            time.sleep(1)
        os.kill(os.getpid(), signal.SIGTERM)

    threading.Thread(target=watch, daemon=True).start()
