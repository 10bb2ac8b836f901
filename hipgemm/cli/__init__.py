"""The command line: one file a verb. It imports a verb's file when the verb is asked for, and nothing heavy before.

Exit status: 0 clean, 1 findings (a wrong answer, a fault of a kernel that runs, something missing), 2 input that cannot
be taken, 130 Ctrl-C, 143 SIGTERM, 129 SIGHUP. An IsaError is printed as it is, without a traceback: its text is
complete. Results go to stdout, everything else to stderr; where --json is asked for, an error is the one JSON object on
stdout: {"error": {"message", "place", "assembly", "from", "expected", "found", "help"}}.

The standard streams of a verb: text by others, on its way to a terminal or a log, with nothing that these obey.

In: whatever a verb prints, among it names, excerpts and messages out of files that anybody may have written. Out: the
same with control characters, and what the stream's encoding does not have, escaped as Python writes them
(`isa.display.printable`). What is written as bytes goes to a program, and stays as it is; a table's colours come from
`hipgemm.report.terminal`, which escapes what they colour.

Streams that are closed read as empty and swallow what they get, so that no file that is opened later takes their place.
"""

from __future__ import annotations

import errno
import gc
import importlib
import os
import pkgutil
import signal
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from io import TextIOWrapper
from itertools import takewhile
from pathlib import Path
from typing import Any, NoReturn, TextIO

import click

import hipgemm
from hipgemm.report.terminal import columns, filled, labelled
from isa import children
from isa.display import printable
from isa.errors import IsaError, SourceLine, Span, meant

SECTIONS = {
    "Any kernel": {
        "run": "build a kernel, run it, check its answer",
        "lint": "check assembly or a code object for errors that an assembler does not report",
        "check": "run a kernel under the sanitizer: registers in flight, races, out-of-bounds accesses, schedules",
        "prove": "prove for all data that a kernel computes the same as another one, or computes its product",
        "diff": "show what changed between two kernels, and whether they compute the same",
        "inspect": "show registers, occupancy, instruction mix and the banks of the main loop",
        "time": "predict how long a kernel takes on a card, and where its cycles go",
        "explore": "work on a kernel in the browser: instructions, findings, registers, time, values step by step",
        "judge": "say all of a kernel in one answer: right or wrong, findings, registers, time",
        "compare": "show where the predicted cycles of one kernel go that another does not spend",
        "timeline": "show what the waves of a kernel do over time, by the cycle model",
    },
    "Rewriting": {
        "opt": "run passes on assembly or a code object, and prove that it still computes the same",
        "cc": "compile as hipcc does, with gfx11 kernels optimised and proved",
        "build": "compile, rewrite, prove, assemble and link, and keep every stage",
    },
    "Programs and libraries": {
        "simulate": "run any program that uses HIP on the simulated card",
        "blas": "run a program with its matrix products by generated kernels, verified by the vendor's library",
        "audit": "lint every kernel of libraries, as a page: registers, spills, occupancy, findings by rule",
    },
    "Matrix products": {
        "list": "show the ladder",
        "bench": "measure the ladder, as a table beside the published one",
        "report": "show stored results, or the whole ladder as a page",
        "explain": "show which kernel sgemm or gemm uses for a shape, and why",
        "tune": "search the generated kernels for each shape of a file, on the cycle model or on a card",
    },
    "Cards": {
        "lab": "run a small experiment: a table of what determines a kernel's speed",
        "calibrate": "measure the cycle model's numbers on a card, with small kernels",
        "trace": "show a card's instruction trace beside the model's",
    },
    "To begin with": {
        "example": "write a kernel with its launch file, inputs and expected answer: softmax, RMSNorm, WMMA and others",
    },
    "This machine": {
        "schema": "print the JSON Schema of a verb's --json",
        "mcp": "serve the verbs as tools of the Model Context Protocol, for agents",
        "doctor": "show the tools and devices on this machine, and what is missing",
        "cache": "show the cache, clear it or limit its size",
    },
}
VERBS = tuple(verb for verbs in SECTIONS.values() for verb in verbs)

_WORDS = "hipgemm.words"
_QUIET = "hipgemm.quiet"
COLORS = ("auto", "always", "never")
_COMMON = ("-q", "--quiet", "-v", "--verbose")
LEAST_ROOM = 256 << 20
NARROWEST_HELP = 52
"""Columns that click writes a help text for, of a terminal that has fewer too."""
FEW_COLLECTIONS = 50_000, 20, 50
"""Python's garbage collector looks through all that lives whenever 700 objects more do; what a verb makes are terms and
instructions by the hundred thousand, without cycles. A tenth of the time of most verbs was that, and no memory more."""


class Reporting(click.Command):
    """Errors as they are, without a traceback; exit status 2, of a kernel's fault 1."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        ctx.meta.setdefault(_WORDS, tuple(args))
        try:
            return super().parse_args(ctx, args)
        except IsaError as error:  # of an option's value
            _refuse(ctx, error)

    def invoke(self, ctx: click.Context) -> Any:
        try:
            return super().invoke(ctx)
        except IsaError as error:
            _refuse(ctx, error)
        except KeyboardInterrupt:
            interrupted("interrupted")
        except MemoryError:
            _refuse(ctx, _too_little())
        except RecursionError:
            _refuse(ctx, IsaError("the input is nested too deeply", hint="is it damaged?"))
        except OSError as error:
            if error.errno in UNWRITTEN and error.filename is None:
                unwritten(error)
            if error.errno == errno.ENOMEM:
                _refuse(ctx, _too_little())
            _refuse(ctx, IsaError(str(error) if error.filename is None else f"{error.filename}: {error.strerror}"))
        except ImportError as error:
            if isinstance(error, ModuleNotFoundError):
                raise
            said = str(error.__context__ or error).strip().partition("\n")[0]
            _refuse(ctx, IsaError(f"a library cannot be loaded: {said}", hint="does a limit of memory allow it?"))
        except click.UsageError as error:
            if not _json(ctx):
                raise
            _refuse(ctx, IsaError(error.format_message()))


def _common(ctx: click.Context, verb: str | None, args: list[str]) -> list[str]:
    """The words of a verb without those that every verb takes, which are obeyed: not of what hands its words on."""
    if verb in ("cc", "simulate", "blas"):
        return args
    own = [*takewhile(lambda word: word != "--", args)]
    kept = [word for word in own if word not in _COMMON and not word.startswith("--color=")]
    color = next((word.partition("=")[2] for word in reversed(own) if word.startswith("--color=")), "auto")
    if color not in COLORS:
        raise IsaError(f"--color={color}", expected=", ".join(COLORS))
    obey(ctx, color, *(any(word in own for word in words) for words in (_COMMON[:2], _COMMON[2:])))
    return [*kept, *args[len(own) :]]


def obey(ctx: click.Context, color: str, quiet: bool, verbose: bool) -> None:
    """Colours by the variables that rich reads; `quiet` for `hipgemm.cli.progress`; verbose: each command of a compiler
    is told."""
    if color != "auto":
        os.environ.pop("NO_COLOR" if color == "always" else "FORCE_COLOR", None)
        os.environ["FORCE_COLOR" if color == "always" else "NO_COLOR"] = "1"
    if quiet:
        ctx.meta[_QUIET] = True
    if verbose:
        children.tell = lambda command: click.echo(f"+ {command}", err=True)


def is_quiet() -> bool:
    """Whether only results and errors are wanted."""
    context = click.get_current_context(silent=True)
    return context is not None and _QUIET in context.meta


def say(text: str | Sequence[tuple[str, str]], err: bool = False) -> None:
    """Print what people read, a text or labels with what is said of each: in a terminal of its width."""
    width = columns(sys.stderr if err else sys.stdout)
    if not isinstance(text, str):
        text = labelled(text, width)
    elif width:
        text = filled(text, width)
    click.echo(text, err=err)


def _too_little() -> IsaError:
    return IsaError(
        "this machine has too little memory for that", hint="ask for a smaller size, or raise the limit: ulimit -v"
    )


def _json(ctx: click.Context) -> bool:
    """Whether --json was said: not to a compiler, nor to a script."""
    words = ctx.meta[_WORDS]
    return words[:1] != ("simulate",) and "--json" in takewhile(lambda word: word != "--", words)


def _refuse(ctx: click.Context, error: IsaError) -> NoReturn:
    from isa.sim.run.faults import BudgetSpent, KernelFault

    if _json(ctx):
        from hipgemm.cli.answers import answer

        answer("error", error_object(error))
    else:
        with suppress(OSError):  # the status says it, too
            say(f"hipgemm: {error}", err=True)
    sys.exit(1 if isinstance(error, (KernelFault, BudgetSpent)) else 2)


def _end(number: int, _: object) -> NoReturn:
    """Ends a verb as Ctrl-C does, so that what is half made goes; a second time at once."""
    signal.signal(number, signal.SIG_DFL)
    raise KeyboardInterrupt(number)


def interrupted(said: str) -> NoReturn:
    """The end after a KeyboardInterrupt, with the status that shells give it: 128 and the signal's number."""
    with suppress(OSError):
        say(f"hipgemm: {said}", err=True)
    error = sys.exc_info()[1]
    sys.exit(128 + (error.args[0] if error and error.args else signal.SIGINT))


def error_object(error: IsaError) -> dict[str, object]:
    """An error as JSON has it: `hipgemm schema error`."""
    said = {"expected": error.expected, "found": error.got, "help": error.hint}
    places = {"place": place(error.user_place), "assembly": place(error.span), "from": came_from(error.origin)}
    nowhere = f"{error.span}: " if error.span and error.span.where else ""
    return {"error": {"message": nowhere + error.message, **places, **said}}


def place(span: Span | None) -> dict[str, object] | None:
    """A place in a text that somebody has, as JSON has it."""
    if span is None or span.where:
        return None
    return {"file": span.file, "line": span.line, "col": span.col, "text": span.text}


def came_from(origin: SourceLine | None) -> dict[str, object] | None:
    """The line of the source of a place, likewise."""
    if origin is None:
        return None
    said: dict[str, object] = {"file": origin.file, "line": origin.line, "text": origin.text}
    if origin.macro:
        macros = (origin.macro, *(caller.macro for caller in origin.callers))
        said["expansions"] = [
            {"macro": macro, "file": c.file, "line": c.line, "text": c.text}
            for macro, c in zip(macros, origin.callers, strict=False)
        ]
    return said


class _Verbs(Reporting, click.Group):
    """Finds a verb in the file of its name."""

    def main(self, *args: Any, **kwargs: Any) -> Any:
        with escaped():
            narrow = columns(sys.stdout) or NARROWEST_HELP
            if narrow < NARROWEST_HELP:
                kwargs["terminal_width"] = narrow
            return super().main(*args, **kwargs)

    def list_commands(self, ctx: click.Context) -> list[str]:
        others = {found.name for found in pkgutil.iter_modules(__path__)} - {*VERBS}
        return [*VERBS, *sorted(name for name in others if self.get_command(ctx, name))]

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        known = cmd_name in VERBS or (cmd_name.isidentifier() and (Path(__path__[0]) / f"{cmd_name}.py").is_file())
        if not known:
            return None
        command: click.Command | None = vars(importlib.import_module(f"hipgemm.cli.{cmd_name}")).get("command")
        return command

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        if args[0] not in VERBS and not args[0].startswith("-") and args[0] not in (verbs := self.list_commands(ctx)):
            raise IsaError(f"there is no verb {args[0]!r}", hint=meant(args[0], verbs, "hipgemm --help lists them"))
        children.tell = None
        verb, command, words = super().resolve_command(ctx, args)
        return verb, command, _common(ctx, verb, words)

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        width = max(map(len, VERBS))
        more = ((verb, self.get_command(ctx, verb)) for verb in self.list_commands(ctx)[len(VERBS) :])
        others = {verb: command.get_short_help_str() for verb, command in more if command}
        for name, verbs in {**SECTIONS, **({"Others": others} if others else {})}.items():
            with formatter.section(name):
                formatter.write_dl([(verb.ljust(width), said) for verb, said in verbs.items()])


@click.command(cls=_Verbs, context_settings={"help_option_names": ["-h", "--help"]})
@click.option("--color", type=click.Choice(COLORS), default="auto", show_default=True, help="Colours in tables.")
@click.option("-q", "--quiet", is_flag=True, help="Results and errors only: no progress.")
@click.option("-v", "--verbose", is_flag=True, help="Print each command of a compiler to stderr.")
@click.version_option(hipgemm.__version__, prog_name="hipgemm")
@click.pass_context
def main(ctx: click.Context, color: str, quiet: bool, verbose: bool) -> None:
    """Kernels for AMD's RDNA3 cards: lint, check, prove, time, rewrite and run them, with or without a card.

    These options may also stand after a verb; --color then with its value in the same word.
    """
    ctx.with_resource(children.heard(_end, *children.ENDING))
    obey(ctx, color, quiet, verbose)
    try:
        from resource import RLIMIT_AS, getrlimit
    except ImportError:  # Windows has no such limit
        room = -1
    else:
        room, _ = getrlimit(RLIMIT_AS)
    if 0 <= room < LEAST_ROOM:  # what is loaded then would end the process by itself
        raise IsaError(
            "the limit of address space is too low", expected=f"{LEAST_ROOM >> 20} MiB at least",
            got=f"{room >> 20} MiB", hint="ulimit -v",
        )  # fmt: skip
    ctx.color = True  # nothing here has colours of click's, and what looks like one is shown (`Escaped`)
    if ctx.invoked_subcommand != "simulate":  # which runs a program of somebody else's
        gc.set_threshold(*FEW_COLLECTIONS)


UNWRITTEN = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG, errno.EPIPE, errno.EIO, errno.EBADF)


class Escaped:
    """A stream that takes text. unescaped: what it writes to."""

    __slots__ = ("unescaped",)  # no weak references: click would keep the stream, and what it holds, for good

    def __init__(self, stream: TextIO) -> None:
        self.unescaped = stream
        if isinstance(stream, TextIOWrapper):
            stream.reconfigure(errors="backslashreplace")

    @property
    def encoding(self) -> str:
        """click takes one that is ASCII for a mistake, and goes past this to the bytes below."""
        name = self.unescaped.encoding or "utf-8"
        return name if name.lower().startswith(("utf", "cp65001")) else f"{name}, escaped"

    def write(self, text: str) -> int:
        return self.unescaped.write(printable(text))

    def writelines(self, lines: Any) -> None:
        for line in lines:
            self.write(line)

    def __getattr__(self, name: str) -> Any:
        return getattr(self.unescaped, name)


@contextmanager
def escaped() -> Iterator[None]:
    """Both streams are, until the end. What stdout did not take is said, and the status is then 2."""
    _opened()
    before = sys.stdout, sys.stderr
    sys.stdout, sys.stderr = Escaped(sys.stdout), Escaped(sys.stderr)
    try:
        yield
    finally:
        sys.stdout, sys.stderr = before
        try:
            sys.stdout.flush()
        except OSError as error:
            unwritten(error)


def unwritten(error: OSError) -> NoReturn:
    """The end where stdout takes no more, without what is still held for it."""
    with suppress(OSError, ValueError):
        null = os.open(os.devnull, os.O_WRONLY)
        os.dup2(null, sys.stdout.fileno())
        os.close(null)
    if error.errno == errno.EPIPE:  # who reads has enough
        sys.exit(1)
    with suppress(OSError):
        sys.stderr.write(f"hipgemm: cannot write the output: {error.strerror}\n")
    sys.exit(2)


def _opened() -> None:
    """Whoever started this may have closed some."""
    for number, name, mode in ((0, "stdin", "r"), (1, "stdout", "w"), (2, "stderr", "w")):
        if getattr(sys, name) is None:
            while (null := os.open(os.devnull, os.O_RDWR)) < number:
                pass
            setattr(sys, name, os.fdopen(null, mode))
