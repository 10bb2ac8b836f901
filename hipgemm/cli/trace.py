"""`hipgemm trace FILE`: an instruction trace of a card, beside the model's where a launch is given."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

import click

from hipgemm.cli import options, say
from hipgemm.cli.answers import answer
from hipgemm.cli.progress import steps
from hipgemm.launch.requests import LaunchRequest
from isa.display import number_of
from isa.errors import IsaError, contents, write

if TYPE_CHECKING:
    from isa.analysis.cfg import Cfg
    from isa.object.code_object import CodeObject, DescribedKernel
    from isa.timing.card_traces.sqtt import Issued
    from isa.timing.machine.cards import Card


@click.command("trace")
@click.argument("held", metavar="FILE", type=click.Path(path_type=Path, exists=True))
@click.option("--code", type=click.Path(path_type=Path, exists=True), help="The code object that ran, for a FILE.att.")
@click.option("--kernel", default=None, help="The kernel that ran, if there are several.")
@options.launch
@options.card_of_code()
@options.clock
@click.option("-o", "out", default=None, type=click.Path(path_type=Path),
              help="Write the model's trace: FILE.att as a card does, else a folder as rocprofv3 --att.")  # fmt: skip
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object a line.")
def command(
    held: Path, code: Path | None, kernel: str | None, request: LaunchRequest, on: Card | None, clock: float | None,
    out: Path | None, as_json: bool,
) -> None:  # fmt: skip
    """Show when each instruction of an SQTT trace issued: FILE.pkl of tinygrad, FILE.att of rocprofv3 with its --code.

    With --grid, --block and an --arg for each argument the cycle model simulates the same launch, and its cycles are
    shown beside the card's.
    """
    from hipgemm.measure.card import trace as card_trace
    from isa.timing.card_traces import files as trace_files
    from isa.timing.card_traces import sqtt
    from isa.timing.machine.cards import of_target

    if out is not None and not request.said:
        raise IsaError("a trace of the model needs a launch", expected="--grid, --block and an --arg for each argument")
    shown = 0
    for trace in trace_files.read(held):
        image = contents(code) if code else trace.code
        if image is None:
            raise IsaError(f"{held} does not contain the code that ran", expected="--code FILE", got="no code object")
        if kernel is not None and trace.kernel not in ("", kernel):
            continue
        loaded, cfg = _code(image, kernel or trace.kernel, (on or of_target(None)).arch)
        issued = list(sqtt.instructions(sqtt.packets(trace.data), cfg))
        if not issued:
            continue
        shown += 1
        model: list[Issued] = []
        if request.said:
            with steps() as step:
                step(f"playing {trace.kernel or kernel}")
                card = on or of_target(loaded.arch if loaded else None)
                model = _played(loaded, image, kernel or trace.kernel, request, card, clock)
            if out is not None:
                _write(out, kernel or trace.kernel, cfg, model)
        lines = card_trace.compared(cfg, issued, model)
        waves = len({i.wave for i in issued})
        name = trace.kernel or kernel or held.name
        what = f"{number_of(waves, 'wave')}, {number_of(len(issued), 'instruction')}"
        title = f"{name}, shader engine {trace.shader_engine}: {what}"
        if as_json:
            answer("trace", {"trace": title, "lines": card_trace.as_json(lines)})
        else:
            say(card_trace.text(title, lines) + "\n")
    if not shown:
        raise IsaError(f"{held} has no instructions" + (f" of {kernel}" if kernel else ""),
                       expected="a trace of a SIMD's instructions")  # fmt: skip


def _code(image: bytes, name: str, arch: str) -> tuple[CodeObject | None, Cfg]:
    """The code object, where it is a whole one, and the kernel's control flow."""
    from isa.object import code_object
    from isa.timing.card_traces import files as trace_files
    from isa.timing.model import predict

    try:
        loaded = code_object.load(image, runs=False)
        return loaded, predict.cfg_of(loaded, _kernel(loaded, name))
    except IsaError:
        address, text = trace_files.text_section(image)
        return None, predict.cfg_at(text, address, arch, name)


def _kernel(code: CodeObject, name: str) -> DescribedKernel:
    """The kernel of that name, or the only one."""
    return next(iter(code.kernels.values())) if len(code.kernels) == 1 else code.kernel(name)


def _played(
    code: CodeObject | None, image: bytes, name: str, request: LaunchRequest, on: Card, clock: float | None
) -> list[Issued]:
    """What the model issues for the launch, with all its code in the instruction cache: no trace of a card that was
    read shows a wave that waits for code."""
    from hipgemm.judge.predict import timed
    from hipgemm.kernels.build import Linked
    from hipgemm.kernels.object import Kernel
    from hipgemm.launch.problem import Problem
    from hipgemm.launch.requests import launch_of
    from hipgemm.measure.card.trace import predicted
    from isa.timing.machine import families

    if code is None:
        raise IsaError(f"the code object of {name} does not list the kernel's arguments", expected="its descriptor",
                       hint="without --grid only its trace is shown")  # fmt: skip
    name = _kernel(code, name).name
    made = Linked(Kernel(name, name, "", "", False), image)
    launch = launch_of(made, request, Problem(1, 1, 1), on.cus)
    warm = replace(timed(code, name, launch, on), numbers=families.values(on.arch, icache_miss_ns=0))
    return predicted(warm.prepared, clock or on.clock_mhz)


def _write(out: Path, name: str, cfg: Cfg, issued: list[Issued]) -> None:
    from isa.timing.card_traces import att, sqtt

    if out.suffix == ".att":
        from hipgemm.cli import inputs

        write(inputs.writable(out), sqtt.encoded(issued, cfg))
    else:
        att.write(out, att.files(name, cfg, issued))
