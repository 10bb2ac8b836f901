"""Shapes: M, N and K of a product and how A and B lie, and the text files that list them.

    # comment
    4096 4096 4096
    16 4096 14336 nt    # a label

A line holds M, N, K and, if it is not nn, the transposition: the first letter is A's, the second B's; n is row-major as
it stands in C = A B, t is stored transposed. What follows # on such a line is the shape's label.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass, field

from isa.errors import IsaError, Span, contents

_FACTORS = "bf16", "f16", "i4", "i8", "fp8", "bf8"
TYPES = ("f32", "i4_i32", "i8_i32", *(f"{a}_{c}" for a in _FACTORS for c in ("bf16", "f16", "f32")))
"""What `Shape.types` may be."""
TRANSPOSITIONS = ("nn", "nt", "tn", "tt")
LARGEST = 2**31 - 1
_LINE = "M N K, each from 1 to 2147483647, then nn, nt, tn or tt if it is not nn"


class BadShape(IsaError, ValueError):
    """A line that is no shape."""


@dataclass(frozen=True, order=True)
class Shape:
    """C is m x n, sums have k products. label: what it is of; two shapes are the same whatever their labels. types: of
    A and B, and of C, as kernels' names have them; f32 is float32 throughout. batch: as many products of that size."""

    m: int
    n: int
    k: int
    trans: str = "nn"
    label: str = field(default="", compare=False)
    types: str = "f32"
    batch: int = 1

    @property
    def flops(self) -> float:
        return 2.0 * self.batch * self.m * self.n * self.k

    def __str__(self) -> str:
        types = "" if self.types == "f32" else f" {self.types}"
        batch = f", a batch of {self.batch}" if self.batch > 1 else ""
        return f"{self.m} x {self.n} x {self.k} {self.trans}{types}{batch}"


def load(path: str) -> list[Shape]:
    """The shapes of a file, of stdin for "-". BadShape with file, line and column; IsaError where it cannot be read or
    holds none."""
    try:
        text = contents(path).decode()
    except OSError as error:
        raise IsaError(f"{path}: {error.strerror}", expected=f"a file with one shape a line: {_LINE}") from error
    except UnicodeDecodeError as error:
        raise IsaError(f"{path} is not text: {error.reason}", expected="UTF-8") from error
    found = read(text.splitlines(), "<stdin>" if path == "-" else path)
    if not found:
        raise IsaError(f"{path} contains no shape", expected=_LINE)
    return found


def read(lines: Iterable[str], name: str) -> list[Shape]:
    """The shapes of these lines, each once, in their order."""
    found: dict[Shape, Shape] = {}
    for number, line in enumerate(lines, start=1):
        if (shape := _shape(line, name, number)) is not None:
            found.setdefault(shape, shape)
    return list(found)


def _shape(line: str, name: str, number: int) -> Shape | None:
    code, _, label = line.partition("#")
    words = [(m.group(), m.start() + 1) for m in re.finditer(r"\S+", code)]

    def bad(message: str, column: int, got: str) -> BadShape:
        return BadShape(message, span=Span(name, number, column, line), expected=_LINE, got=got)

    if not words:
        return None
    sizes = []
    for letter, (word, column) in zip("MNK", words, strict=False):
        if not re.fullmatch(r"[0-9]{1,10}", word) or not 1 <= int(word) <= LARGEST:
            raise bad(f"this is not a valid {letter}", column, word)
        sizes.append(int(word))
    if len(sizes) < 3:
        raise bad(f"there is no {'MNK'[len(sizes)]}", len(code.rstrip()) + 1, f"{len(sizes)} of three sizes")
    trans, column = words[3] if len(words) > 3 else ("nn", 0)
    if trans not in TRANSPOSITIONS:
        raise bad("this is not a transposition", column, trans)
    if len(words) > 4:
        raise bad("there is something after the shape", words[4][1], words[4][0])
    return Shape(sizes[0], sizes[1], sizes[2], trans, label.strip())
