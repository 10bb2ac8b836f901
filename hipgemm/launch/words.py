"""Arguments of a launch, and the expected arrays after it: parsed from `--arg` and `--expect`.

An argument of a kernel is one word, `NAME=` in front of it where it is not in the kernel's order:

    i32:5  f32:1.5                       a number of a type (`hipgemm.launch.launch.SCALARS`)
    struct:i32:1,f32:2.5                 a structure by value, its members at their natural alignments
    random:f32:64x128                    an array: uniform in [-1, 1), or any integers; the same for the same seed
    zeros:f32:4096  arange:i32:4096      an array of zeros, of 0, 1, 2, ...
    unwritten:f32:4096                   an array that was never written: `check` reports where it is read
    file:x.npy                           an array as NumPy saved it
    inside:x+1024                        an address in another argument's array, so many bytes from its beginning
    raw:random:f32:64                    an array whose bytes are taken for whatever type the kernel has
    buffer:BYTES[:zero|random|unwritten] bytes of no type

`expected` reads what an array must hold, and `against` judges by it.
"""

from __future__ import annotations

import dataclasses
import math
import os
import re
import stat
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, BinaryIO

from hipgemm.launch.launch import SCALARS, Argument, Array, BadLaunch, Inside, Scalar, Struct
from hipgemm.launch.problem import Verdict

if TYPE_CHECKING:
    import random

    import numpy as np

WORDS = (
    "i32:5, f32:1.5, random:f32:4096, zeros:f32:64x64, arange:i32:4096, unwritten:f32:4096, file:x.npy, raw:ARRAY, "
    "buffer:BYTES"
)
LARGEST_ARRAY = 1 << 40
_PIECE = 1 << 24
_FILLS = ("zeros", "random", "arange", "unwritten")
_BUFFER_FILLS = ("zero", "random", "unwritten")


def argument(text: str, position: int = 0, seed: int = 0, folder: Path = Path()) -> Argument:
    """An argument in words. position: among the kernel's, which random data depend on. BadLaunch for what is none."""
    name, word = named(text)
    kind, _, rest = word.partition(":")
    try:
        if kind in SCALARS:
            return Scalar(kind, _number(kind, rest), name)
        if kind == "struct":
            members = (member.partition(":") for member in rest.split(","))
            return Struct(tuple(Scalar(t, _number(t, value)) for t, _, value in members), name)
        if kind == "inside":
            of, _, offset = rest.partition("+")
            return Inside(of, int(offset or "0", 0), name)
        if kind == "file":
            held = _load(folder / rest)
            return Array(held.dtype.str, held.shape, lambda: held, name)
        if kind == "raw" and isinstance(array := argument(rest, position, seed, folder), Array) and not array.name:
            return dataclasses.replace(array, name=name, untyped=True)
        if kind == "buffer":
            size, _, fill = rest.partition(":")
            if fill in ("", *_BUFFER_FILLS):
                return _buffer(int(size, 0), fill or "random", position, name)
        if kind in _FILLS:
            dtype, _, shape = rest.partition(":")
            return _filled(kind, dtype, tuple(int(n) for n in shape.split("x")), (seed, position), name)
    except (ValueError, KeyError, OverflowError):
        pass
    raise BadLaunch(f"{text!r} is not an argument", expected=WORDS)


def named(text: str) -> tuple[str, str]:
    """(name, the rest) of `name=rest`; "" for no name."""
    match = re.fullmatch(r"(?:(\w+)=)?(.*)", text, re.DOTALL)
    assert match is not None
    return match[1] or "", match[2]


def _number(kind: str, text: str) -> float:
    return float(text) if SCALARS[kind] in "efd" else int(text, 0)


def _buffer(size: int, fill: str, position: int, name: str) -> Array:
    import random

    import numpy as np

    _checked(size)
    fills: dict[str, Callable[[], np.ndarray] | None] = {
        "zero": lambda: np.zeros(size, np.uint8),
        "random": lambda: np.frombuffer(b"".join(_random_bytes(size, random.Random(position))), np.uint8),
        "unwritten": None,
    }
    return Array("|u1", (size,), fills[fill], name, untyped=True)


def _random_bytes(size: int, of: random.Random) -> Iterator[bytes]:
    """The same as of.randbytes(size), which takes no more than 2^28 - 1."""
    for at in range(0, size, _PIECE):
        yield of.randbytes(min(_PIECE, size - at))


def _checked(*sizes: int) -> None:
    """ValueError, or BadLaunch, for what is no array."""
    if min(sizes) < 0:
        raise ValueError
    if (size := math.prod(sizes)) > LARGEST_ARRAY:
        raise BadLaunch(f"an array of {size} bytes fits no card", expected=f"at most {LARGEST_ARRAY} bytes")


def _filled(kind: str, dtype: str, shape: tuple[int, ...], seed: tuple[int, int], name: str) -> Array:
    import numpy as np

    of = np.dtype(SCALARS[dtype])
    _checked(of.itemsize, *shape)

    def random() -> np.ndarray:
        values = np.random.Generator(np.random.SFC64(seed))
        if of.kind == "f":
            return (2 * values.random(shape) - 1).astype(of)
        bounds = np.iinfo(of)
        return values.integers(bounds.min, bounds.max, shape, of, endpoint=True)

    def arange() -> np.ndarray:
        return np.arange(np.prod(shape, dtype=np.int64)).astype(of).reshape(shape)

    fills = {"zeros": lambda: np.zeros(shape, of), "random": random, "arange": arange, "unwritten": None}
    return Array(of.str, shape, fills[kind], name)


def _load(path: Path) -> np.ndarray:
    """An array that NumPy saved. BadLaunch where it is none."""
    import numpy as np

    try:
        with open(path, "rb", opener=lambda name, flags: os.open(name, flags | os.O_NONBLOCK)) as file:  # a FIFO waits
            if not stat.S_ISREG(os.fstat(file.fileno()).st_mode):
                raise BadLaunch(f"{path} is no regular file", expected="an array, as written by numpy.save")
            held = _saved(file, path)
    except BadLaunch:
        raise
    except Exception as error:  # whatever NumPy's reader of headers makes of one
        why = error.strerror if isinstance(error, OSError) and error.strerror else "this is not an array"
        raise BadLaunch(f"{path}: {why}", expected="an array, as written by numpy.save") from error
    if not isinstance(held, np.ndarray) or held.dtype.kind not in "biufc":
        raise BadLaunch(f"{path} does not contain an array of numbers", expected="one array, as written by numpy.save")
    little: np.ndarray = np.ascontiguousarray(held, held.dtype.newbyteorder("<"))
    return little


def _saved(file: BinaryIO, path: Path) -> np.ndarray:
    """An array whose header may say anything: it is held against the bytes that follow before there is room for it."""
    import numpy as np
    from numpy.lib import format as saved

    version = saved.read_magic(file)
    read = saved.read_array_header_1_0 if version == (1, 0) else saved.read_array_header_2_0
    shape, in_columns, dtype = read(file)
    there = os.fstat(file.fileno()).st_size - file.tell()
    wanted = math.prod(shape) * dtype.itemsize
    if dtype.hasobject or min(shape, default=0) < 0 or wanted > there:
        raise BadLaunch(f"{path}: its header does not describe what follows", expected=f"{wanted} bytes of {dtype}",
                        got=f"{there} bytes")  # fmt: skip
    return np.fromfile(file, dtype, math.prod(shape)).reshape(shape, order="F" if in_columns else "C")


def expected(path: Path, array: Array) -> np.ndarray:
    """What an array must hold, of its own type and size."""
    return fitting(_load(path), array, str(path))


def fitting(given: object, array: Array, origin: str) -> np.ndarray:
    """Values as the expected ones of an array; BadLaunch, which names their origin, where type or size differ."""
    import numpy as np

    wanted = np.asarray(given)
    if wanted.size != np.prod(array.shape, dtype=np.int64) or wanted.dtype.itemsize != np.dtype(array.dtype).itemsize:
        shapes = [f"{dtype[1:]} {' x '.join(map(str, shape))}" for dtype, shape in (
            (array.dtype, array.shape), (wanted.dtype.str, wanted.shape))]  # fmt: skip
        raise BadLaunch(f"{origin} does not fit {array.name}", expected=shapes[0], got=shapes[1])
    return wanted.reshape(array.shape)


_FIRST = 5
"""Wrong elements that a verdict names."""


def against(expected: np.ndarray, tolerance: float) -> Callable[[np.ndarray], Verdict]:
    """Judges an array by another: each element may be off by `tolerance`, or by that share of what is expected where
    this is larger than 1; a NaN must be a NaN."""
    import numpy as np

    def judge(answer: np.ndarray) -> Verdict:
        with np.errstate(invalid="ignore", over="ignore"):
            error = np.abs(answer.astype(np.float64) - expected.astype(np.float64))
            bound = tolerance * np.maximum(1.0, np.abs(expected.astype(np.float64)))
        same = (answer == expected) | ((answer != answer) & (expected != expected))
        good = same | (error <= bound)
        error = np.where(same, 0.0, error)
        largest = float(error.max(initial=0.0))
        finite = largest if np.isfinite(largest) else None
        bounds = bound[np.isfinite(bound)]
        most = float(bounds.max(initial=0.0))
        if good.all():
            return Verdict(True, finite, most)
        excess = np.where(good, -1.0, np.where(np.isnan(error), np.inf, error))

        def element(number: int) -> tuple[float, ...]:
            place = np.unravel_index(number, excess.shape)
            return (*map(int, place), float(answer[place]), float(expected[place]))

        first = tuple(map(element, np.flatnonzero(~good)[:_FIRST]))
        return Verdict(False, finite, most, int((~good).sum()), element(int(excess.argmax())), first)

    return judge
