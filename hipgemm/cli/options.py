"""Shared options: command-line options that several verbs take, with their parsers."""

from __future__ import annotations

import dataclasses
import functools
import math
import os
from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar, cast

import click
from click.shell_completion import CompletionItem

from hipgemm.cli import Reporting, say
from hipgemm.launch.problem import DATA, Problem
from hipgemm.launch.requests import LaunchRequest
from hipgemm.measure.device import CHOICES
from isa.errors import IsaError
from isa.sim.ir.jit import LEVELS, NATIVE
from isa.timing.machine.cards import DEFAULT

if TYPE_CHECKING:
    from hipgemm.judge.assumed import Assumed
    from hipgemm.kernels.build import Linked
    from hipgemm.kernels.object import Kernel
    from hipgemm.kernels.source_lines import Source
    from hipgemm.launch.launch import Launch
    from hipgemm.measure.device import Device
    from hipgemm.pool import Pool
    from isa.asm.program import Kernel as Asm
    from isa.asm.program import Program
    from isa.object.code_object import CodeObject, DescribedKernel
    from isa.timing.machine.cards import Card

F = TypeVar("F", bound=Callable[..., Any])


def kernel_names(_: click.Context, __: click.Parameter, begun: str) -> list[CompletionItem]:
    """How a shell goes on with KERNEL|FILE."""
    from hipgemm.kernels.ladder import NAMED

    return [*(CompletionItem(name) for name in NAMED if name.startswith(begun)), CompletionItem(begun, type="file")]


def pass_names(_: click.Context, __: click.Parameter, begun: str) -> list[str]:
    """How a shell goes on with a pipeline."""
    from isa.passes import PASSES

    before, comma, last = begun.rpartition(",")
    return [before + comma + name for name in PASSES if name.startswith(last)]


device = click.option("--device", default=None, metavar="|".join(CHOICES),
                      help="Where to run; N counts cards from 0.  "
                      "[default: a card where there is one, else simulated]")  # fmt: skip


def stands_for(default: str = DEFAULT) -> Callable[[F], F]:
    """`card_name`: the card that is simulated."""
    return click.option("--card", "card_name", default=None, help=f"The card that is simulated.  [default: {default}]")


cpu = click.option("--cpu", default=NATIVE, show_default=True, metavar="|".join((NATIVE, *LEVELS)),
                   help="Host processor that the simulated card compiles kernels for.")  # fmt: skip
budget = click.option("--budget", type=click.IntRange(min=1), default=None, metavar="INSTRUCTIONS",
                      help="How many a workgroup of a simulated launch may run; a look in vain, while all wait, counts "
                      "as 4096.  [default: 4294967296]")  # fmt: skip
follow = click.option(
    "--budget",
    type=click.IntRange(min=1),
    default=None,
    metavar="INSTRUCTIONS",
    help="How many of the launch's paths may be followed.  [default: 16777216]",
)
assume = click.option("--assume", multiple=True, metavar="NAME=VALUE",
                      help="The value of an argument, as N=4096, by its name or its place from 0, in all launches that "
                      "are spoken of.")  # fmt: skip
as_json = click.option("--json", "as_json", is_flag=True, help="Print one JSON object.")


class _Card(click.ParamType):
    name = "text"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Card:
        from isa.timing.machine import cards

        return cards.card(value) if isinstance(value, str) else cast("Card", value)


class _Target(click.ParamType):
    """The name of a target, whatever is read."""

    name = "text"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> str:
        from isa.targets import target

        return target(value).name


def card(help: str = "A card of isa/timing/machine/cards.py.") -> Callable[[F], F]:
    """`on`: the card that is predicted for."""
    return click.option("--card", "on", default=DEFAULT, show_default=True, type=_Card(), help=help)


def card_of_code(help: str = "A card of isa/timing/machine/cards.py.") -> Callable[[F], F]:
    """`on`: the same; None for what `CodeOptions.card_of` says."""
    return click.option("--card", "on", default=None, type=_Card(), help=f"{help}  [default: one that runs the code]")


class Finite(click.FloatRange):
    """A number in a range; NaN, which lies outside no range, is none."""

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> float:
        number: float = super().convert(value, param, ctx)
        if not math.isfinite(number):
            self.fail(f"{value!r} is not a finite number", param, ctx)
        return number


clock = click.option("--clock", default=None, type=Finite(1, 100_000), metavar="MHz",
                     help="Shader clock in MHz.  [default: the card's]")  # fmt: skip
"""Far beyond what any card does is a slip in the unit."""
run = click.option("--run/--no-run", default=None,
                   help="Run some workgroups on the simulated card, for paths and addresses that depend on data.  "
                   "[default: where they do]")  # fmt: skip


class Numbers(click.ParamType):
    """So many positive numbers with commas between."""

    def __init__(self, count: int) -> None:
        self.count = count
        self.name = ",".join("XYZ"[:count])

    def convert(self, value: object, param: click.Parameter | None, ctx: click.Context | None) -> tuple[int, ...]:
        if isinstance(value, tuple):
            return value
        found = tuple(int(part) if part.strip().isdecimal() else 0 for part in str(value).split(","))
        if len(found) != self.count or min(found) < 1:
            self.fail(f"{value!r} is not {self.name}, each 1 at least", param, ctx)
        return found


class Triple(click.ParamType):
    """X, X,Y or X,Y,Z."""

    name = "X,Y,Z"

    def convert(self, value: object, param: click.Parameter | None, ctx: click.Context | None) -> tuple[int, int, int]:
        if isinstance(value, tuple):
            return value
        try:
            x, y, z, *more = [int(part) for part in str(value).split(",")] + [1, 1]
        except ValueError:
            self.fail(f"{value!r} is not X, X,Y or X,Y,Z", param, ctx)
        if len(more) > 2 or min(x, y, z) < 1:
            self.fail(f"{value!r} is not X, X,Y or X,Y,Z, each 1 at least", param, ctx)
        return x, y, z


def together(*options: Callable[[F], F]) -> Callable[[F], F]:
    """Several options as one decorator, shown in this order."""

    def decorate(function: F) -> F:
        for option in reversed(options):
            function = option(function)
        return function

    return decorate


def bundle(into: str, make: Callable[..., Any], *options: Callable[[F], F]) -> Callable[[F], F]:
    """Several options as one argument of the command's function: what `make` gives of their values."""

    def decorate(function: F) -> F:
        names: list[str] = []

        @functools.wraps(function)
        def bundled(*args: Any, **given: Any) -> Any:
            one = make(**{name: given.pop(name) for name in names})
            return function(*args, **given, **{into: one})

        others = len(getattr(function, "__click_params__", ()))
        made: Any = together(*options)(cast(Any, bundled))
        names += [option.name for option in made.__click_params__[others:] if option.expose_value]
        return cast(F, made)

    return decorate


def problem(*more: Callable[[Any], Any], n: int = 4096) -> Callable[[F], F]:
    """`problem`: a GEMM's sizes, and what else of it. n: by default."""
    return bundle(
        "problem",
        Problem.of,
        click.option("-n", default=n, show_default=True, help="Columns of B and C."),
        click.option("-m", default=None, type=int, help="Rows of A and C.  [default: n]"),
        click.option("-k", default=None, type=int, help="Columns of A, rows of B.  [default: n]"),
        click.option("--batch", default=1, show_default=True,
                     help="Number of products of that size, for kernels with _strided_ in their names."),
        *more,
    )  # fmt: skip


@dataclasses.dataclass(frozen=True)
class CodeOptions:
    """Which kernel of what a user typed, and how HIP source is compiled. arch: None for the verb's own."""

    name: str | None = None
    arch: str | None = None
    hipcc: Path | None = None
    defines: tuple[str, ...] = ()
    includes: tuple[str, ...] = ()
    optimise: str | None = None
    cu_mode: bool = False
    lines: bool = False

    @property
    def flags(self) -> tuple[str, ...]:
        """For the compiler, beside its -O3; those after `--` come last."""
        from hipgemm.kernels.build import LINES

        context = click.get_current_context(silent=True)
        rest = context.meta.get(_FLAGS, ()) if context else ()
        return (
            *(f"-D{word}" for word in self.defines), *(f"-I{Path(folder).resolve()}" for folder in self.includes),
            *((f"-O{self.optimise}",) if self.optimise else ()),
            *((LINES,) if self.lines else ()), *rest,
        )  # fmt: skip

    def kernel(self, what: str) -> Kernel:
        """What a user typed, as a kernel object; see `hipgemm.kernels.files`."""
        from hipgemm.kernels.files import read_kernel

        return read_kernel(what, self.name, self.flags, self.cu_mode, self.arch)

    def kernels(self, what: str) -> list[Kernel]:
        """The same; of a library without a kernel's name, one for each of its code objects."""
        from hipgemm.kernels.files import read_kernels

        return read_kernels(what, self.name, self.flags, self.cu_mode, self.arch)

    def card_of(self, kernel: Kernel, on: Card | None = None) -> Card:
        """The one that was named, else the first that runs what is there or asked for. IsaError where it does not."""
        from isa.timing.machine.cards import fitting

        return fitting(kernel.called, self.arch or kernel.arch, on)

    def readable(self, kernel: Kernel, arch: str = "gfx1100") -> Program | CodeObject:
        """Its code, for who only reads it."""
        from hipgemm.kernels.build import readable

        return readable(kernel, arch=self.arch or arch, hipcc=self.hipcc, tell=_note)

    def source_lines(self, kernel: Kernel, given: Program | CodeObject, arch: str = "gfx1100") -> Source:
        """What gives the lines of its source, once it is asked for. given: its code."""
        from hipgemm.kernels.build import source_lines

        return source_lines(kernel, given, self.arch or arch, self.hipcc)

    def assumed(
        self,
        words: Sequence[str],
        request: LaunchRequest,
        problem: Problem | None,
        kernel: Kernel,
        asked: Asm | DescribedKernel,
    ) -> Assumed:
        """What --assume, a launch and a GEMM's size say of the arguments. kernel, asked: as it was given, and its
        text."""
        from hipgemm.judge import proving
        from hipgemm.judge.assumed import of_launch, of_words
        from hipgemm.kernels.ladder import Gemm

        row = kernel if isinstance(kernel, Gemm) else proving.rung_of(asked)
        said = of_words(words, asked, proving.facts(row) if row else None)
        whole = bool(request.said or request.file)
        if not whole and problem is None:
            return said
        named = dataclasses.replace(kernel, name=kernel.name or asked.name)
        made, launch = self.prepared(named, request, problem or Problem(1, 1, 1), self.card_of(kernel))
        free = () if whole else ("alpha", "beta")  # a size says nothing of them
        return of_launch(launch.bound(made.facts), asked, free).and_also(said)

    def prepared(
        self, kernel: Kernel, request: LaunchRequest, problem: Problem, on: Card | Device, *, runs: bool = True
    ) -> tuple[Linked, Launch]:
        """Its code for a card, and its launch: `hipgemm.launch.requests.prepared`."""
        from hipgemm.launch.requests import prepared

        made, launch = prepared(
            kernel, request, problem, arch=self.arch or on.arch, hipcc=self.hipcc, cus=on.cus, runs=runs
        )  # fmt: skip
        if made.lacks:
            _note(made.lacks)
        return made, launch


def _note(said: str) -> None:
    say(f"note: {said}", err=True)


def _device_libraries(context: click.Context, _: click.Parameter, given: str | None) -> None:
    from hipgemm.kernels.compiling import device_libraries

    if given is not None and not context.resilient_parsing:
        device_libraries.choose(given)


_FLAGS = "hipgemm.flags"


class KernelCommand(Reporting):
    """A verb that takes kernels: what stands after `--` is for the compiler."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        if "--" in args:
            at = args.index("--")
            ctx.meta[_FLAGS] = tuple(args[at + 1 :])
            args = args[:at]
        return super().parse_args(ctx, args)

    def collect_usage_pieces(self, ctx: click.Context) -> list[str]:
        return [*super().collect_usage_pieces(ctx), "[-- FLAGS]"]


LEVELS_OF_O = ("0", "1", "2", "3", "s", "z", "fast")
hipcc = click.option("--hipcc", default=None, type=click.Path(path_type=Path), help="The hipcc to compile with.")
code = bundle(
    "code",
    CodeOptions,
    click.option("--kernel", "name", default=None, help="The kernel in FILE, if there is more than one."),
    hipcc,
    click.option("--arch", default=None, type=_Target(),
                 help="Build for this target.  [default: gfx1100, or the device's or card's]"),
    click.option("--device-libs", default=None, metavar="own|FOLDER", expose_value=False, callback=_device_libraries,
                 help="For HIP source: AMD's device libraries in FOLDER, or this project's functions.  [default: those "
                 "of the header that compiles]"),
    click.option("-D", "defines", multiple=True, metavar="NAME[=VALUE]", help="For HIP source: define a macro."),
    click.option("-I", "includes", multiple=True, metavar="FOLDER", help="For HIP source: search for headers here."),
    click.option("-O", "optimise", default=None, metavar="LEVEL", type=click.Choice(LEVELS_OF_O),
                 help="For HIP source.  [default: 3]"),
    click.option("-g", "lines", is_flag=True, help="For HIP source: keep its lines in the assembly."),
    click.option("--cu-mode", is_flag=True, help="For HIP source: compile with -mcumode."),
)  # fmt: skip
"""`code`: which kernel, and how it is compiled."""

launch = bundle(
    "request",
    LaunchRequest,
    click.option("--grid", type=Triple(), default=None, help="Workgroups, for a kernel that is not of the ladder."),
    click.option("--block", type=Triple(), default=None, help="Work-items of a workgroup."),
    click.option(
        "--arg", "arguments", multiple=True, metavar="[NAME=]WORD",
        help="An argument: i32:5, f32:1.5, random:f32:64x128 (or zeros, arange, unwritten), file:x.npy, raw:ARRAY, "
        "buffer:BYTES, struct:i32:1,f32:2.",
    ),
    click.option("--dynamic-lds", type=click.IntRange(min=0), default=0, help="Bytes of LDS after the static ones."),
    click.option("--launch", "file", default=None, type=click.Path(path_type=Path),
                 help="A launch file with the same settings.  [default: FILE.toml beside FILE, if it exists]"),
    click.option("--block-tile", type=Numbers(2), default=None, metavar="ROWS,COLUMNS",
                 help="For a kernel with a GEMM's signature: the part of C that a workgroup computes."),
    click.option("--tile", type=Numbers(3), default=None, metavar="M,N,K", help="What its sizes must be multiples of."),
    click.option("--expect", multiple=True, metavar="[ARG=]FILE.npy",
                 help="What an array must contain afterwards; the last one if not named."),
    click.option("--tolerance", default=0.0, type=Finite(min=0), show_default=True,
                 help="The allowed error; relative for numbers above 1."),
    click.option("--reference", default=None, type=click.Path(path_type=Path), metavar="FILE.py",
                 help="Run its function `reference` with the kernel's arguments by name: it returns what the last "
                 "array must contain afterwards, or a dictionary of arrays."),
)  # fmt: skip
"""`request`: how a kernel that is not of the ladder is launched, and what it must compute."""


measure = together(
    problem(
        click.option("--alpha", default=1.0, show_default=True),
        click.option("--beta", default=0.0, show_default=True),
        click.option("--data", default="random", show_default=True, type=click.Choice(DATA), help="identity: B is I."),
        click.option("--seed", default=0, show_default=True),
    ),
    click.option("--repeats", default=None, type=click.IntRange(1),
                 help="Timed launches.  [default: 16; 1 on the simulated card]"),
    click.option("--cold", is_flag=True, help="Each launch starts with its matrices in no cache."),
    device,
)  # fmt: skip
"""What a launch is given that is checked and timed: size, scalars, data, how often, where."""


@dataclasses.dataclass(frozen=True)
class Workers:
    """Who does the jobs of a long study. IsaError for a scheduler that nothing asks."""

    executor: str
    scheduler: str | None
    jobs: int | None

    def __post_init__(self) -> None:
        if self.scheduler is not None and self.executor != "dask":
            raise IsaError("a scheduler is for --executor dask")

    def start(self, usual: int | None = None) -> AbstractContextManager[Pool]:
        """usual: the default, where it is not the number of cores."""
        from hipgemm.pool import pool

        return pool(self.executor, self.jobs or usual or os.cpu_count() or 1, self.scheduler)


def workers(usual: str = "the cores") -> Callable[[F], F]:
    """`workers`. usual: how many, in words."""
    from hipgemm.pool import EXECUTORS

    return bundle(
        "workers",
        Workers,
        click.option("--executor", default="local", show_default=True, type=click.Choice(EXECUTORS)),
        click.option("--scheduler", default=None,
                     help="Address of a dask scheduler.  [default: workers on this machine]"),
        click.option("--jobs", default=None, type=click.IntRange(1), help=f"Processes.  [default: {usual}]"),
    )  # fmt: skip


def check_batch(batch: int, types: str) -> None:
    if batch > 1 and types == "f32":
        raise IsaError("no kernel takes a batch of float32 products", hint="--types f16_f32, bf16_f32, i8_i32, ...")


def types(some: str) -> Callable[[F], F]:
    """`types`. some: of them, for the help."""
    from hipgemm.tuning.shapes import TYPES

    return click.option("--types", default="f32", show_default=True, type=click.Choice(TYPES), metavar="TYPES",
                        help=f"Types of A and B, and of C: {some}, ...")  # fmt: skip
