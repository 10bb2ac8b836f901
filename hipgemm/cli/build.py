"""`hipgemm build KERNEL|FILE -o DIR`: every stage from source to code object, left where it can be read."""

from __future__ import annotations

import dataclasses
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import click

from hipgemm.cli import options, say
from isa.errors import IsaError

if TYPE_CHECKING:
    from hipgemm.kernels.build import Build
    from hipgemm.kernels.object import Kernel
    from hipgemm.kernels.stages import Shape, Stage


@click.command("build", cls=options.KernelCommand)
@click.argument("what", nargs=-1, metavar="KERNEL|FILE...", shell_complete=options.kernel_names)
@click.option("--all", "everything", is_flag=True, help="Every kernel of the ladder.")
@click.option("-o", "--out", type=click.Path(path_type=Path), default=Path("build"), show_default=True,
              help="Stages are written to a folder with the kernel's name in this one.")  # fmt: skip
@click.option("--passes", default=None, metavar="PIPELINE",
              shell_complete=options.pass_names,
              help="Rewrite the assembly: bank-balance, unroll, batch-loads, with commas between.")  # fmt: skip
@click.option(
    "--program",
    "whole",
    is_flag=True,
    help="Compile sources with their host code to one program, linked with libamdhip64.so; no ROCm needed.",
)
@click.option("--print-after", metavar="PASS|all", help="Print the assembly after this pass, or after each.")
@options.code
def command(
    what: tuple[str, ...],
    everything: bool,
    out: Path,
    passes: str | None,
    whole: bool,
    print_after: str | None,
    code: options.CodeOptions,
) -> None:
    """Build kernels of the ladder, HIP source or assembly: compile, rewrite, prove, assemble, link.

    Each step leaves its file, and prints a line that says what it changed.
    """
    from hipgemm.cli import inputs
    from hipgemm.kernels.build import build
    from hipgemm.kernels.ladder import LADDER, NAMED
    from isa.passes import parse_pipeline

    names = tuple(LADDER) if everything else what
    if not names:
        raise click.UsageError(f"name a kernel ({', '.join(NAMED)}) or a file, or say --all")

    def line(stage: Stage, before: Shape | None) -> None:
        say("  " + stage.line(before), err=print_after is not None)  # stdout is for the assembly then

    inputs.writable(out, folder=True)
    if whole:
        return _program(what, out, code)
    if passes is not None:
        parse_pipeline(passes)
    status = 0
    for name in names:
        try:
            kernel = code.kernel(name)
            if isinstance(kernel.code, bytes):
                raise IsaError(f"{name} is a code object, which is built already", expected="HIP source or assembly")
            kernel = kernel if passes is None else dataclasses.replace(kernel, pipeline=passes)
            arch = code.arch or kernel.arch or "gfx1100"
            _check_pass(kernel, arch, print_after)
            made = build(kernel, arch=arch, hipcc=code.hipcc, out=out, on_stage=line)
        except IsaError as error:
            say(f"hipgemm: {error}", err=True)
            status = 2
        else:
            _finish(made, print_after)
    sys.exit(status)


def _program(what: tuple[str, ...], out: Path, code: options.CodeOptions) -> None:
    from hipgemm import simulated_hip
    from hipgemm.kernels.compiling import command_line, program

    found = program.words(what)
    if found.rest or not found.sources:
        wrong = found.rest[0] if found.rest else "nothing"
        raise IsaError("a program is built of its sources", expected=", ".join(program.SUFFIXES), got=wrong)
    folder = out / found.sources[0].stem
    folder.mkdir(exist_ok=True)
    made, flags = folder.resolve() / folder.name, ("-O3", *command_line.all_from_anywhere(code.flags))
    said = program.build(found.sources, made, arch=code.arch or "gfx1100", hip=simulated_hip.rocm_path(), flags=flags,
                         say=lambda text: say(text, err=True))  # fmt: skip
    if said:
        say(said, err=True)
    say(f"{folder / folder.name}: run it on a card, or with hipgemm simulate -- {folder / folder.name}")


def _check_pass(kernel: Kernel, arch: str, print_after: str | None) -> None:
    from hipgemm.kernels.stages import pipeline

    passes = [name.strip().partition("{")[0] for name in pipeline(kernel, arch).split(",")]
    if print_after not in (None, "all", *passes):
        raise IsaError(f"no pass {print_after!r} in its pipeline", expected=", ".join(["all", *passes]))


def _finish(made: Build, print_after: str | None) -> None:
    for warning in made.warnings:
        say(f"warning: {warning}", err=True)
    note = ", from the cache; times are those of the original build" if made.cached else ""
    say(f"{made.kernel.stem}: {made.folder} ({made.toolchain}{note})", err=print_after is not None)
    for stage in made.stages[1:]:
        if stage.shape is not None and print_after in ("all", stage.name):
            click.echo(f"; ---- {made.kernel.stem} after {stage.name}")
            click.echo((made.folder / stage.file).read_text(), nl=False)
