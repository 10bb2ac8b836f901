"""A launch in words -> a Launch: what a command line, a launch file or a script says of it.

A launch file is TOML beside the kernel, `saxpy.toml` for `saxpy.hip`, and says the same in the words of
`hipgemm.launch.words`; where there are launches of several kernels, each stands in a table of the kernel's name:

    grid = 16
    block = 256
    args = ["n=i32:4096", "a=f32:2.0", "x=random:f32:4096", "y=file:y.npy"]
    expect = ["y=wanted.npy"]
    tolerance = 1e-6

Which launch a kernel gets: the one that was said; that of its launch file; a GEMM's own for a rung of the ladder, and
for a kernel that is called like one; a GEMM's, too, for a kernel with the ladder's signature and a --block-tile.
"""

from __future__ import annotations

import dataclasses
import math
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from hipgemm.kernels.files import RECORDED
from hipgemm.kernels.ladder import Gemm, known, rung
from hipgemm.launch.gemm import CUS, gemm
from hipgemm.launch.gemm import launch_of as check_launch
from hipgemm.launch.launch import (
    Argument,
    BadLaunch,
    Launch,
    Reference,
    Triple,
    explicit,
    words_for,
)
from hipgemm.launch.problem import Problem
from hipgemm.launch.words import against, argument, expected, named
from isa.errors import contents, meant
from isa.mangling import meant_by, one_of, source_name
from isa.object import code_object

if TYPE_CHECKING:
    from hipgemm.kernels.build import Linked
    from hipgemm.kernels.object import Kernel

_LARGEST = 1024
"""Work-items of a workgroup: what code is built for that says nothing."""
_SIGNATURE = ("p", "p", "p", 4, 4, 4, 4, 4)


@dataclass(frozen=True)
class LaunchRequest:
    """What was said of a launch. arguments, expect: words, of which those that name files are relative to `folder`.
    file: the launch file that was named; reference: a Python file that computes what is expected; tile, block_tile: as
    of `hipgemm.kernels.ladder.Gemm`."""

    grid: Triple | None = None
    block: Triple | None = None
    arguments: tuple[str, ...] = ()
    dynamic_lds: int = 0
    file: Path | None = None
    block_tile: tuple[int, int] | None = None
    tile: Triple | None = None
    expect: tuple[str, ...] = ()
    tolerance: float = 0.0
    reference: Path | None = None
    folder: Path = Path()
    last: Triple | None = None

    @property
    def said(self) -> bool:
        """Whether there is a launch in it."""
        block = self.block is not None and self.block_tile is None
        return bool(self.grid or block or self.arguments or self.dynamic_lds)


def prepared(
    kernel: Kernel,
    request: LaunchRequest,
    problem: Problem,
    *,
    arch: str = "gfx1100",
    hipcc: Path | None = None,
    cus: int = CUS,
    runs: bool = True,
) -> tuple[Linked, Launch]:
    """A kernel's code, and its launch. What can be rejected before a build is. Of several kernels, where none was
    named, the one that the launch file speaks of. runs: as for `build.linked`. Raises what that and `launch_of` do."""
    from hipgemm.kernels.build import linked

    if isinstance(kernel, Gemm):
        if request.said or request.file is not None:
            raise BadLaunch(f"{kernel.name} has its own launch", hint="-n, -m and -k give its size")
        check_launch(kernel, problem.m, problem.n, problem.k, cus, problem.batch)
    made = linked(kernel, arch=arch, hipcc=hipcc, runs=runs)
    if not kernel.name and len(kernels := made.code_object.kernels) > 1:
        file = None if request.said else _file_beside(kernel.title, request.file)
        named = [found for name in (_read(file) if file else ()) if (found := meant_by(name, kernels))]
        if len(named) == 1:
            made = dataclasses.replace(made, kernel=dataclasses.replace(kernel, name=named[0]))
    return made, launch_of(made, request, problem, cus)


def launch_of(made: Linked, request: LaunchRequest, problem: Problem, cus: int = CUS) -> Launch:
    """The launch that a kernel gets (see above). problem: of a GEMM. BadLaunch where nothing says how it is launched,
    with a line to fill in; SizeError where a GEMM does not take the problem."""
    kernel = made.kernel
    if request.file is not None and not request.file.exists():
        raise BadLaunch(f"{request.file}: No such file or directory", expected="a launch file")
    if not request.said and not isinstance(kernel, Gemm) and (file := _file_beside(kernel.title, request.file)):
        request = _from_file(file, made.name, request)
    if request.said:
        return _in_words(made, request, problem.seed)
    row = gemm_of(made, request)
    if row is None:
        raise BadLaunch(
            f"the launch of {source_name(made.name)} is not known",
            expected="--grid, --block and an --arg for each argument, or the same in a launch file beside it",
            hint=words_for(made.facts),
        )
    launch = gemm(row, problem, cus)
    if request.expect or request.reference:
        said = "--expect" if request.expect else "--reference"
        raise BadLaunch(f"{made.name} is a GEMM, which is compared with a float64 product", hint=f"leave {said} out")
    return launch


def gemm_of(made: Linked, request: LaunchRequest = LaunchRequest()) -> Gemm | None:
    """What is known of a kernel that is a GEMM: a rung, one that is called like a rung and is built for as many
    work-items, one with the ladder's signature whose tile was said."""
    if isinstance(made.kernel, Gemm):
        return made.kernel
    facts = made.facts
    if known(facts.name) and (facts.max_workgroup or _LARGEST) in (math.prod(rung(facts.name).block), _LARGEST):
        return rung(facts.name)
    if tuple("p" if a.kind == "global_buffer" else a.size for a in explicit(facts)) != _SIGNATURE:
        return None
    if request.block_tile is None:
        raise BadLaunch(
            f"{source_name(facts.name)} has the signature of a GEMM, but no block tile is given",
            expected="--block-tile ROWS,COLUMNS, and --tile M,N,K unless it takes any size",
            hint=f"or any launch: {words_for(facts)}",
        )
    block = request.block or (facts.max_workgroup, 1, 1)
    fields = (facts.name, made.kernel.title, "", "", made.kernel.cu_mode)
    return Gemm(*fields, request.tile or (1, 1, 1), request.block_tile, block)


def _in_words(made: Linked, request: LaunchRequest, seed: int) -> Launch:
    if request.grid is None or request.block is None:
        raise BadLaunch("a launch needs both --grid and --block", hint=words_for(made.facts))
    arguments = [argument(text, i, seed, request.folder) for i, text in enumerate(request.arguments)]
    ordered = _in_order(made.facts, arguments)
    launch = Launch(request.grid, request.block, ordered, request.dynamic_lds, last=request.last).bound(made.facts)
    references = []
    for text in request.expect:
        name, path = named(text)
        number = launch.array(name)
        references.append(Reference(number, against(expected(request.folder / path, launch.arrays[number]),
                                                    request.tolerance)))  # fmt: skip
    if request.reference is not None:
        from hipgemm.launch import computed

        references += computed.references(request.reference, launch, request.tolerance)
    return dataclasses.replace(launch, references=tuple(references))


def _in_order(kernel: code_object.DescribedKernel, given: Sequence[Argument]) -> tuple[Argument, ...]:
    """Arguments in the kernel's order: those that have one of its names stand there, the others fill the places between
    as they come. The compiler keeps no names of structures: they may be called anything."""
    names = [a.name for a in explicit(kernel)]
    known = [bool(word.name) and word.name in names for word in given]
    for k, word in enumerate(given):
        if known[k] and word.name in (other.name for other in given[:k]):
            raise BadLaunch(f"argument {word.name!r} of kernel {source_name(kernel.name)} is given twice")
    places = {names.index(word.name): word for word, is_known in zip(given, known, strict=True) if is_known}
    free = (i for i in range(len(names) + len(given)) if i not in places)
    others = [word for word, is_known in zip(given, known, strict=True) if not is_known]
    for place, word in list(zip(free, others, strict=False)):
        if word.name and any(names[place : place + 1] or ["?"]):
            raise BadLaunch(
                f"kernel {source_name(kernel.name)} has no argument {word.name!r}",
                expected=", ".join(filter(None, names)) or "arguments without names",
                hint=meant(word.name, names),
            )
        places[place] = word
    return tuple(places[i] for i in sorted(places))


def _file_beside(title: str, named: Path | None) -> Path | None:
    """The launch file of what a user typed."""
    if named is not None:
        return named / RECORDED if named.is_dir() else named
    beside = Path(title).with_suffix(".toml") if Path(title).name else None
    return beside if beside is not None and Path(title).is_file() and beside.is_file() else None


def _absolute(text: str) -> str:
    """`[ARG=]FILE` with the file from here."""
    name, path = named(text)
    return f"{name}={Path(path).resolve()}" if name else str(Path(path).resolve())


_KEYS = ("grid", "block", "last", "args", "dynamic_lds", "expect", "tolerance", "tile", "block_tile")


def _read(path: Path) -> Mapping[str, Any]:
    """What a launch file holds."""
    try:
        return _toml(contents(path).decode(), path)
    except OSError as error:
        raise BadLaunch(f"{path}: {error.strerror}", expected="a launch file") from error
    except ValueError as error:
        raise BadLaunch(f"{path} is not TOML: {error}", expected=_EXAMPLE) from error


def in_toml(text: str, kernel: str, folder: Path) -> LaunchRequest:
    """The launch of a kernel in the text of a launch file whose arrays lie in `folder`."""
    path = folder / "launch.toml"
    return dataclasses.replace(_of_tables(_toml(text, path), path, kernel, LaunchRequest()), file=None)


_EXAMPLE = 'grid = 16, block = 256, args = ["i32:1"]'


def _toml(text: str, path: Path) -> Mapping[str, Any]:
    import importlib

    try:
        tomllib = importlib.import_module("tomllib" if sys.version_info >= (3, 11) else "tomli")
    except ImportError as error:
        raise BadLaunch(f"{path} needs Python 3.11 to be read", hint="or: pip install tomli") from error
    try:
        held: Mapping[str, Any] = tomllib.loads(text)
    except (ValueError, RecursionError) as error:
        raise BadLaunch(f"{path} is not TOML: {error}", expected=_EXAMPLE) from error
    return held


def _from_file(path: Path, kernel: str, request: LaunchRequest) -> LaunchRequest:
    """What a launch file says of a kernel, by its symbol or as the source calls it; the request where it says nothing
    of it."""
    return _of_tables(_read(path), path, kernel, request)


def _of_tables(held: Mapping[str, Any], path: Path, kernel: str, request: LaunchRequest) -> LaunchRequest:
    tables = [name for name, value in held.items() if isinstance(value, dict)]
    table = max((name for name in tables if meant_by(name, [kernel])), key=len, default=None)
    if tables and not table and path == _file_beside("", request.file):
        raise BadLaunch(f"{path} has no launch of {source_name(kernel)}", expected=one_of(tables))
    own: Mapping[str, Any] = held[table] if table else {} if tables else held
    if unknown := sorted(set(own) - set(_KEYS)):
        raise BadLaunch(f"{path}: a launch has no {unknown[0]!r}", expected=", ".join(_KEYS))

    def sizes(key: str, count: int) -> Any:
        value = own.get(key)
        if value is None:
            return None
        found = value if isinstance(value, list) else [value]
        found = [*found, *[1] * (count - len(found))]
        if len(found) != count or not all(type(n) is int and n > 0 for n in found):
            raise BadLaunch(f"{path}: {key} = {value}", expected="a positive number, or a list of at most three")
        return tuple(found)

    def words(key: str) -> tuple[str, ...]:
        value = own.get(key, [])
        if not isinstance(value, list) or not all(isinstance(word, str) for word in value):
            raise BadLaunch(f"{path}: {key} = {value}", expected='a list of texts, as ["i32:5", "random:f32:64"]')
        return tuple(value)

    tolerance, lds = request.tolerance or own.get("tolerance", 0.0), own.get("dynamic_lds", 0)
    if type(tolerance) not in (int, float) or type(lds) is not int or not (tolerance >= 0 and lds >= 0):
        raise BadLaunch(f"{path}: tolerance and dynamic_lds are numbers of at least 0")
    return LaunchRequest(
        sizes("grid", 3), sizes("block", 3), words("args"), lds, path, sizes("block_tile", 2), sizes("tile", 3),
        (*words("expect"), *map(_absolute, request.expect)), tolerance, request.reference, path.parent,
        sizes("last", 3),
    )  # fmt: skip
