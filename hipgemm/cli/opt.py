"""`hipgemm opt FILE -o OUT`: passes on assembly, those that are named or those of the lowest predicted time, and the
proof that they changed nothing it does."""

from __future__ import annotations

import functools
import sys
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

import click

from hipgemm.cli import options, say
from hipgemm.cli.answers import answer
from hipgemm.cli.progress import steps
from hipgemm.launch.problem import Problem
from hipgemm.launch.requests import LaunchRequest
from isa.display import number_of
from isa.errors import IsaError

if TYPE_CHECKING:
    from hipgemm.kernels.object import Kernel
    from hipgemm.optimise.clock import Clock
    from hipgemm.optimise.rewriting import Rewritten
    from isa.asm.program import Program
    from isa.object.code_object import CodeObject
    from isa.timing.machine.cards import Card


@click.command("opt", cls=options.KernelCommand)
@click.argument("what", metavar="KERNEL|FILE", required=False, shell_complete=options.kernel_names)
@click.option("--passes", default=None, metavar="PIPELINE", shell_complete=options.pass_names,
              help="Names separated by commas, options in {}.  [default: the best that is found]")  # fmt: skip
@click.option("--budget", default=None, metavar="SECONDS", type=click.FloatRange(0),
              help="In place of --candidates: seconds of processor time to search, for all kernels of FILE together, "
              "or each of a cache. Compiling, and the proof of the result, are not part of it.")  # fmt: skip
@click.option(
    "--candidates",
    default=None,
    metavar="N",
    type=click.IntRange(1),
    help="Try N programs of each kernel.  [default: by what is known of it, so that every machine writes the same]",
)
@click.option("--explain", is_flag=True, help="Show why instructions in loops are not paired, or have bank conflicts.")
@options.card_of_code("The card that times are predicted for, of isa/timing/machine/cards.py.")
@click.option("-o", "--out", default=None, type=click.Path(path_type=Path), help="Output file.  [default: stdout]")
@click.option("--prove", "wanted", is_flag=True, help="Prove that the result computes what the input does.")
@click.option("--triton-cache", "cache", default=None, metavar="FOLDER", type=click.Path(path_type=Path),
              help="Instead of a file: all kernels of Triton's cache. -o is the folder of overrides.")  # fmt: skip
@click.option("--triton-dump", "dump", default=None, metavar="FOLDER", type=click.Path(path_type=Path),
              help="With --triton-cache: the folder of TRITON_KERNEL_DUMP=1.  [default: Triton's]")  # fmt: skip
@click.option("--json", "as_json", is_flag=True,
              help="Print a JSON object for each kernel to stdout; the result then needs -o.")  # fmt: skip
@options.problem()
@options.launch
@options.code
def command(
    what: str | None, passes: str | None, budget: float | None, candidates: int | None, explain: bool, on: Card | None,
    out: Path | None, wanted: bool, cache: Path | None, dump: Path | None, as_json: bool, problem: Problem,
    request: LaunchRequest, code: options.CodeOptions,
) -> None:  # fmt: skip
    """Run passes on assembly, on compiled HIP source, on a code object, or on a kernel of the ladder.

    Without --passes those for any kernel are tried, alone and one after the other, and what the cycle model predicts to
    be fastest is kept; where nothing gains, the input stays as it is. The prediction is of the kernel's launch, where
    one is known (as for hipgemm time), else of loops with a fixed number of iterations. See docs/optimise.md.

    The program is verified before and after each pass. Exit status 1 with --prove where there is no proof; the result
    is written anyway.

    From a code object (also in a bundle, or a kernel of a library with --kernel) a code object is made, in which what
    got faster and was proved is rewritten, and all else is kept byte for byte. With --triton-cache this is done for
    each kernel that Triton compiled for gfx11, in the place where TRITON_KERNEL_OVERRIDE=1 finds it.
    """
    from hipgemm.cli import inputs
    from hipgemm.judge import proving
    from hipgemm.optimise import explain as left_single
    from hipgemm.optimise import search as optimise
    from hipgemm.optimise.rewriting import Rewritten
    from isa.asm.expand import read, text_of
    from isa.asm.program import Program
    from isa.lint import sound
    from isa.passes import parse_pipeline, run_pipeline
    from isa.timing.machine import cards

    if candidates is not None and (cache is not None or passes is not None):
        raise click.UsageError("--candidates is for the search of a file's kernels")
    if passes is not None:
        parse_pipeline(passes)  # an error before anything is compiled
    if cache is not None:
        if what is not None:
            raise click.UsageError("--triton-cache takes the place of a file")
        if as_json:
            raise click.UsageError("--json cannot be used with --triton-cache")
        _triton(cache, dump, out, passes, budget, on or cards.card(cards.DEFAULT))
        return
    if what is None:
        raise click.UsageError("Missing argument 'KERNEL|FILE'.")
    if out is not None:
        inputs.writable(out)
    kernel = code.kernel(what)
    on = code.card_of(kernel, on)
    given = code.readable(kernel, on.arch)
    if not isinstance(given, Program):
        clocks = functools.partial(_clock, kernel, request=request, problem=problem, on=on, code=code)
        outcomes = _code_object(what, kernel, given, code.name, clocks, budget, passes, out, as_json, candidates)
        sys.exit(1 if wanted and any(outcome.unproven for outcome in outcomes) else 0)
    made = given
    names = [code.name] if code.name else list(given.kernels)
    for name in names:
        sound.checked(given, name)
    outcomes = [Rewritten(name) for name in names]
    if passes is not None:
        for step, made in run_pipeline(given, passes, lambda k, after: f"{kernel.stem}.{k}-{after}.s", code.name or ""):
            say(f"{step}: {'changed' if made is not given else 'nothing to do'}", err=True)
    else:
        share = budget if budget is None else budget / len(names)
        for k, name in enumerate(names):
            with steps() as tell:
                clock, why = _clock(kernel, given, name, request, problem, on, code)
                same = functools.partial(_same, made, kernel, name)
                found = optimise.optimise(made, name, clock, share, tell, same, candidates, len(names))
            made, outcomes[k] = found.program, Rewritten(name, found, why)
            if not as_json:
                _table(outcomes[k])
    if explain:
        for name in names:
            for line in left_single.explain(made, name):
                say(line, err=True)
    text = text_of(made)
    if out is not None:
        inputs.write(out, text)
    elif not as_json:
        click.echo(text if sys.stdout.isatty() else text.encode(), nl=False)  # what goes on to a program stays as it is
    if wanted:
        shown = made if out is None else read(text, str(out))  # places are those of what was written
        with steps() as tell:
            for k, outcome in enumerate(outcomes):
                tell(f"proving {outcome.shown}, after the budget")
                outcomes[k] = replace(outcome, proof=proving.same(given, shown, kernel, outcome.name))
    for outcome in outcomes:
        if as_json:
            answer("opt", outcome.to_dict())
        elif outcome.proof is not None:
            say(str(outcome.proof), err=True)
    sys.exit(1 if any(outcome.unproven for outcome in outcomes) else 0)


def _table(outcome: Rewritten) -> None:
    from hipgemm.optimise import search as optimise

    if outcome.found is not None:
        for line in optimise.table(outcome.found, outcome.shown, outcome.why):
            say(line, err=True)


def _same(given: Program, kernel: Kernel, name: str, made: Program) -> bool:
    from hipgemm.judge import proving

    return proving.same(given, made, kernel, name).proved


def _code_object(
    what: str, kernel: Kernel, given: CodeObject, name: str | None, clock: Callable[[Program, str], tuple[Clock, str]],
    budget: float | None, passes: str | None, out: Path | None, as_json: bool, candidates: int | None,
) -> list[Rewritten]:  # fmt: skip
    """Writes the code object with its kernels, or the one of that name, rewritten."""
    from hipgemm.cli import inputs
    from hipgemm.optimise import rewriting
    from isa.object import bundle

    if out is None and not as_json and sys.stdout.isatty():
        raise IsaError(f"{what} is a code object, and so is the result", expected="-o FILE")
    names = [given.kernel(name, what).name] if name else list(given.kernels)
    assert isinstance(kernel.code, bytes)
    with steps() as tell:
        count = max(len(names), 1)
        search = rewriting.Search(clock, budget if budget is None else budget / count, passes, candidates, count)
        made, outcomes = rewriting.of_code_object(kernel.code, names, search, kernel, tell)
    for outcome in outcomes:
        if as_json:
            answer("opt", outcome.to_dict())
        else:
            _table(outcome)
            say(outcome.line, err=True)
    whole = bundle.with_image(Path(what).read_bytes(), kernel.code, made) if Path(what).is_file() else None
    if out is not None:
        inputs.write(out, whole or made)
    elif not as_json:
        click.echo(whole or made, nl=False)
    return outcomes


def _triton(
    cache: Path, dump: Path | None, out: Path | None, passes: str | None, budget: float | None, on: Card
) -> None:
    """Each kernel of Triton's cache; the budget is one kernel's."""
    from hipgemm.kernels import triton_cache
    from hipgemm.optimise import clock as opt_clock
    from hipgemm.optimise import rewriting

    dump = dump or triton_cache.folder("TRITON_DUMP_DIR", "dump")
    out = out or triton_cache.folder("TRITON_OVERRIDE_DIR", "override")
    search = rewriting.Search(lambda given, name: opt_clock.of_kernel(given, name, None, on), budget, passes)
    with steps() as step:
        written = triton_cache.override(cache, dump, out, search, lambda line: say(line, err=True), step)
    say(f"wrote {number_of(written, 'override')} into {out}", err=True)
    if written:
        click.echo(f"TRITON_KERNEL_OVERRIDE=1 TRITON_ALWAYS_COMPILE=1 TRITON_OVERRIDE_DIR={out.resolve()}")


def _clock(
    kernel: Kernel, given: Program, name: str, request: LaunchRequest, problem: Problem, on: Card,
    code: options.CodeOptions,
) -> tuple[Clock, str]:  # fmt: skip
    """By the kernel's launch; where none is known, or none can be followed, without one, and why."""
    from hipgemm.kernels.build import Linked
    from hipgemm.launch.launch import BadLaunch
    from hipgemm.launch.requests import launch_of
    from hipgemm.optimise import clock as opt_clock

    own = kernel if kernel.name == name or len(given.kernels) == 1 else replace(kernel, name=name)
    try:
        launch = launch_of(Linked(own, b"", given, arch=code.arch or on.arch), request, problem, on.cus)
    except BadLaunch as error:
        if request.said or request.file:
            raise
        return opt_clock.of_kernel(given, name, None, on, error.message)
    source = code.source_lines(kernel, given, on.arch)
    return opt_clock.of_kernel(given, name, launch, on, source=source)
