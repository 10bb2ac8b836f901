"""Expected arrays from Python: a file's function `reference` and a launch -> what its arrays must hold afterwards.

    def reference(x, y, a, **others):          # any of the kernel's arguments, by name
        return {"y": a * x + y}                # or one array, for the last array of the launch

The function gets each array as it is before the launch, a copy, and each number as Python has it. The file is code, and
is run: it is named on the command line only, never by a launch file, which may come from anybody.
"""

from __future__ import annotations

import inspect
import runpy
import traceback
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from hipgemm.launch.launch import Array, BadLaunch, Launch, Reference, Scalar
from hipgemm.launch.words import against, fitting
from isa.errors import Span, meant

if TYPE_CHECKING:
    import numpy as np

NAME = "reference"


def references(file: Path, launch: Launch, tolerance: float) -> tuple[Reference, ...]:
    """A judge for each array that the file's function returns. launch: bound to its kernel, so that its arguments have
    names. BadLaunch, with the place in the file, where it cannot be run, asks for what there is not, or returns what
    fits no array."""
    found = _called(file, launch)
    if found is None:
        raise BadLaunch(f"{file}: {NAME} returned nothing", expected="an array, or a dictionary of arrays by name")
    wanted = found if isinstance(found, Mapping) else {"": found}
    out = []
    for name, value in wanted.items():
        number = launch.array(str(name))
        out.append(Reference(number, against(fitting(value, launch.arrays[number], str(file)), tolerance)))
    return tuple(out)


def _called(file: Path, launch: Launch) -> Any:
    """What the function returns for the launch's arguments."""
    given = {a.name or f"argument{i}": _value(a) for i, a in enumerate(launch.arguments)}
    try:
        function = runpy.run_path(str(file)).get(NAME)
        if not callable(function):
            raise BadLaunch(f"{file} has no function {NAME}", expected=f"def {NAME}({', '.join(given)}): ...")
        wanted = inspect.signature(function).parameters.values()
        if not any(p.kind is p.VAR_KEYWORD for p in wanted):
            lacking = [p.name for p in wanted if p.name not in given and p.default is p.empty]
            if lacking:
                raise BadLaunch(
                    f"{file}: {NAME} asks for {lacking[0]!r}, which the kernel does not take",
                    expected=", ".join(given), hint=meant(lacking[0], given),
                )  # fmt: skip
            given = {p.name: given[p.name] for p in wanted if p.name in given}
        return function(**given)
    except BadLaunch:
        raise
    except OSError as error:
        raise BadLaunch(f"{file}: {error.strerror}", expected=f"a Python file with a function {NAME}") from error
    except (Exception, SystemExit) as error:
        raise BadLaunch(f"{type(error).__name__}: {error}", span=_place(file, error)) from error


def _value(argument: object) -> Any:
    if isinstance(argument, Scalar):
        return argument.value
    if not isinstance(argument, Array):
        return argument
    held = argument.contents()
    return held.reshape(argument.shape).copy() if held.size else _blank(argument)


def _blank(array: Array) -> np.ndarray:
    import numpy as np

    return np.zeros(array.shape, array.dtype)


def _place(file: Path, error: BaseException) -> Span | None:
    """The last line of the file that the error came by."""
    if isinstance(error, SyntaxError) and error.lineno:
        return Span(str(file), error.lineno, error.offset or 1, error.text or "")
    frames = [f for f in traceback.extract_tb(error.__traceback__) if Path(f.filename).resolve() == file.resolve()]
    return Span(str(file), frames[-1].lineno or 1, 1, frames[-1].line or "") if frames else None
