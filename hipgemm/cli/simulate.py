"""`hipgemm simulate`: any program that uses HIP, unmodified, on the simulated card."""

from __future__ import annotations

import os
import runpy
import sys
import tempfile
import warnings
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Any

import click

from hipgemm.cli import inputs, options
from isa.children import ENDING, attached, obey, python
from isa.errors import IsaError, Span

if TYPE_CHECKING:
    from hipgemm.kernels.compiling.program import Words


class _ScriptOrCommand(click.Command):
    """Options of its own end at the first word that is none: the rest is a script's, a compiler's, or after `--` a
    command's."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        own = {name: option for option in self.get_params(ctx) for name in option.opts if name.startswith("-")}
        at = 0
        while at < len(args) and (option := own.get(args[at].partition("=")[0])) is not None:
            at += 1 if getattr(option, "is_flag", False) or "=" in args[at] else 2
        is_command = args[at : at + 1] == ["--"]
        rest = super().parse_args(ctx, [*args[:at], "--", *args[at + is_command :]])
        ctx.params["is_command"] = is_command
        return rest


def _print_path(ctx: click.Context, option: click.Parameter, wanted: bool) -> None:
    if wanted:
        from hipgemm import simulated_hip

        click.echo(simulated_hip.rocm_path())
        ctx.exit()


@click.command(
    "simulate",
    cls=_ScriptOrCommand,
    options_metavar="[OPTIONS]",
)
@click.option("--check", is_flag=True, help="Run each launch under the sanitizer; findings go to stderr.")
@click.option("--record", default=None, type=click.Path(path_type=Path), metavar="DIR",
              help="Record each launch in DIR: hipgemm time DIR/0.")  # fmt: skip
@options.stands_for()
@options.budget
@click.option(
    "--print-path",
    is_flag=True,
    is_eager=True,
    expose_value=False,
    callback=_print_path,
    help="Print where the libraries are (a ROCM_PATH; they are in its lib), and exit.",
)
@click.argument(
    "words",
    nargs=-1,
    required=True,
    metavar="SCRIPT ARGS | [FLAGS] SOURCE... ARGS | -- COMMAND ARGS",
    type=click.UNPROCESSED,
)
def command(
    check: bool, record: Path | None, card_name: str | None, budget: int | None, words: tuple[str, ...],
    is_command: bool,
) -> None:  # fmt: skip
    """Run a script that uses hip-python, a HIP program, or any command, unmodified, on the simulated card.

    SCRIPT runs in this process. SOURCE (.hip, .cu, .cpp ...) is compiled with its host code, without a ROCm, and run;
    FLAGS before it are the compiler's: -std=c++20 -Iinclude -DN=4. COMMAND is started with ROCM_PATH, HIP_PATH and
    LD_LIBRARY_PATH set, so that it and what it starts find the simulated card in libamdhip64.so and libhiprtc.so.

    A fault in a kernel is an error code for the program, and its report goes to stderr. Exit status is the program's;
    with --check it is 1 where that would be 0 and there are faults; 2 where SCRIPT is not Python.
    """
    if record is not None:
        if check:
            raise click.UsageError("--record cannot be used with --check: hipgemm check DIR/0 checks what was recorded")
        inputs.writable(record, folder=True)
    if is_command:
        sys.exit(_run_command(check, record, card_name, budget, words))
    from hipgemm.kernels.compiling import program

    if (found := program.words(words)).sources:
        started = _started(found, card_name)
        # What the program compiles as it runs finds the headers that it was compiled with.
        if folders := [flag[2:] for flag in found.flags if flag.startswith("-I")]:
            os.environ["CPATH"] = os.pathsep.join(filter(None, (*folders, os.environ.get("CPATH"))))
        sys.exit(_run_command(check, record, card_name, budget, started))
    _run_script(check, record, card_name, budget, words)


def _started(found: Words, card_name: str | None) -> tuple[str, ...]:
    """The command that runs a program of sources, which it compiles."""
    from hipgemm import simulated_hip
    from hipgemm.kernels.compiling import program
    from isa.timing.machine import cards

    arch = cards.card(card_name or cards.DEFAULT).arch
    made, said = program.library(found, arch, simulated_hip.rocm_path(), lambda text: _say(f"hipgemm: {text}"))
    if said:
        _say(said)
    start = python("from hipgemm.simulated_hip.attach import run_program; run_program(sys.argv[1], sys.argv[2:])")
    return *start, str(made), str(found.sources[0].with_suffix("")), *found.rest


def _run_command(
    check: bool, record: Path | None, card_name: str | None, budget: int | None, words: tuple[str, ...]
) -> int:
    """Its exit status; 128 and the signal's number where it died of one, as shells have it."""
    from hipgemm.simulated_hip.attach import environment

    with tempfile.TemporaryDirectory() as folder:
        faults = Path(folder) / "faults"
        try:
            env = environment(card_name, faults if check else None, os.environ, record, budget)
            status = attached(words, env)
        except OSError as error:
            raise IsaError(f"cannot run {words[0]}: {error.strerror}") from error
        return status or int(faults.exists())


def _run_script(
    check: bool, record: Path | None, card_name: str | None, budget: int | None, words: tuple[str, ...]
) -> None:
    from hipgemm import simulated_hip
    from hipgemm.simulated_hip import attach

    script = Path(words[0])
    if not script.is_file():
        raise IsaError(
            f"the script {script} {'is no file' if script.exists() else 'does not exist'}",
            hint=f"hipgemm simulate -- {script} runs a command",
        )
    _must_be_python(script)
    checked: Any = None
    if check:
        from hipgemm.simulated_hip.checked import CheckedCard

        checked = CheckedCard(_say)
    make = (lambda: checked) if check else simulated_hip.recorder(record, card_name) if record else None
    simulated_hip.install(make, stands_for=card_name, say=_say).budget = budget
    sys.path.append(str(attach.PLUGINS))
    os.environ.update(attach.for_triton(simulated_hip.rocm_path()))
    obey(*ENDING)
    sys.argv = list(words)
    sys.path[0] = str(script.resolve().parent)
    try:
        runpy.run_path(str(script), run_name="__main__")
    except SystemExit as leaving:
        if leaving.code or checked is None:
            raise
    except BaseException as error:
        _show(error, script)
        sys.exit(130 if isinstance(error, KeyboardInterrupt) else 1)
    if checked is not None and checked.faults:
        sys.exit(1)


def _must_be_python(script: Path) -> None:
    """IsaError at the place where `script` is none."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # runpy, which compiles it again, gives them
            compile(script.read_bytes(), str(script), "exec", dont_inherit=True)
    except (SyntaxError, ValueError) as error:
        at, said = None, str(error)
        if isinstance(error, SyntaxError):
            said, text = error.msg, (error.text or "").rstrip("\n")
            if error.lineno and text.replace("\t", "").isprintable():
                at = Span(str(script), error.lineno, max(error.offset or 1, 1), text)
        raise IsaError(
            f"{'this' if at else script} is not Python: {said}", span=at, expected="a script that uses hip-python",
            hint="`hipgemm simulate -- COMMAND` runs programs, `hipgemm check` assembly and code objects",
        ) from error  # fmt: skip
    except OSError as error:
        raise IsaError(f"cannot read {script}: {error.strerror}") from error


def _show(error: BaseException, script: Path) -> None:
    """Its traceback as Python alone would show it, by the script's own hook if it has one: from the script on. Where
    hipgemm rejected what the script gave it, the text is complete, and the frames end at the script's call."""
    frames = error.__traceback__
    while frames and frames.tb_frame.f_code.co_filename != str(script):
        frames = frames.tb_next
    error.with_traceback(frames or error.__traceback__)
    shown: BaseException | None = error
    while shown is not None:
        if isinstance(shown, IsaError):
            _end_at_hipgemm(shown)
        shown = shown.__cause__ or shown.__context__
    sys.excepthook(type(error), error, error.__traceback__)


def _end_at_hipgemm(error: IsaError) -> None:
    frame = error.__traceback__
    if error.__cause__ is not None and frame is not None and not _is_ours(frame):
        error.__cause__ = None
    while frame is not None and frame.tb_next is not None:
        if _is_ours(frame.tb_next):
            frame.tb_next = None
        frame = frame.tb_next


def _is_ours(frame: TracebackType) -> bool:
    return frame.tb_frame.f_globals.get("__name__", "").partition(".")[0] in ("hipgemm", "isa")


def _say(text: str) -> None:
    click.echo(text, err=True)
