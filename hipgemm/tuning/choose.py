"""Choice by tables: a shape -> the kernel of the nearest tuned shape, with the reason in words.

Distance is Euclidean in log2 of M, N and K: twice as many rows is as far as twice as many products a sum. Entries whose
matrices have the same layout come first; where there are none, those of others give their parameters, generated for
matrices that lie so. Entries of the card at hand come before those of other cards, measured ones before predicted ones
at the same distance. Of the nearest entry the fastest kernel that takes the sizes (`Gemm.check_size`) is chosen; where
none does, the next entry's; where none of any does, kernel 2, which takes the largest matrices, by copies. Of an entry
that is of another shape it is the one that the cycle model predicts to be the fastest at this one (`fastest`), where
the product is large enough for that to matter.

Only entries of the shape's types count. On the matrix units there is a rule (`hipgemm.product.choice.choose`), so an
entry must be of the very shape, have the same layout and be of the card at hand: `tuned`. What is faster at one shape
may be slower than the rule's tile at others near by, where lines of A and B are not aligned, or tiles of C not whole.
Of 16-bit floats an entry with another type of C gives its tiles, where there is none of the very types; and one of f16
serves bf16, which the units take the same time for.
"""

from __future__ import annotations

import functools
import math
from contextlib import suppress
from dataclasses import dataclass, replace
from typing import Any

from hipgemm.kernels.ladder import SizeError, rung
from hipgemm.tuning import table
from hipgemm.tuning.shapes import Shape
from hipgemm.tuning.table import Entry, TuningTable
from isa.errors import IsaError
from isa.gemm.gemv.parameters import GemvParameters
from isa.gemm.matrix.parameters import MatrixParameters
from isa.gemm.names import is_name, name_of, parameters_of
from isa.gemm.vector.parameters import ParameterError
from isa.timing.machine.cards import DEFAULT, card, same

FALLBACK = "kernel2"


@dataclass(frozen=True)
class Choice:
    """kernel: what is chosen. entry: the tuned shape that it comes from, None for a fallback; distance: to it in
    octaves. passed: (kernel, why not) of those that came before it. reason: all of it in a sentence."""

    shape: Shape
    kernel: str
    entry: Entry | None
    distance: float
    passed: tuple[tuple[str, str], ...]
    reason: str


def distance(a: Shape, b: Shape) -> float:
    """In octaves, however the matrices lie."""
    return math.dist(*([math.log2(x) for x in (s.m, s.n, s.k)] for s in (a, b)))


def choose(shape: Shape, on: str = DEFAULT, tables: tuple[TuningTable, ...] | None = None) -> Choice:
    """on: the card's name. tables: those that count, the first before the others; the user's own and the shipped one
    if None. IsaError where a table cannot be read, SizeError where no kernel takes the sizes."""
    passed: list[tuple[str, str]] = []
    for entry in nearest(shape, on, _default() if tables is None else tables):
        for timed in entry.kernels:
            kernel = lying(timed.kernel, shape)
            if why := _refused(kernel, shape):
                passed.append((kernel, why))
                continue
            far = distance(shape, entry.shape)
            return Choice(shape, kernel, entry, far, tuple(passed), _reason(shape, entry, far, on, bool(passed)))
    row = rung(FALLBACK)
    m, n, k = (-(-x // tile) * tile for x, tile in zip((shape.m, shape.n, shape.k), row.tile, strict=True))
    row.check_size(m, n, k)
    said = "no tuned kernel takes these sizes" if passed else "no shape is tuned"
    return Choice(shape, FALLBACK, None, math.inf, tuple(passed), said)


LARGE = 1 << 30
"""Operations: a smaller product takes less time than to predict what it takes."""
_CLOSE = 1.05
"""Of the lowest estimate: kernels within are told apart by the whole prediction."""


def fastest(choice: Choice, on: str) -> Choice:
    """Of the kernels of the entry that was chosen the one with the lowest predicted time at this very shape. on: a
    card; the choice as it is where the model does not know the card."""
    from hipgemm.tuning.trial import TrialTarget, launch

    if choice.entry is None or not choice.distance or choice.shape.flops < LARGE:
        return choice
    try:
        target = TrialTarget(card(on).name, card(on).clock_mhz)
    except IsaError:
        return choice
    shape, launches = choice.shape, {}
    for name in dict.fromkeys((choice.kernel, *(lying(timed.kernel, shape) for timed in choice.entry.kernels))):
        with suppress(IsaError):
            if not _refused(name, shape):
                launches[name] = launch(name, shape, target)
    times = {name: asked.estimate().time_s for name, asked in launches.items()}
    close = [name for name, time in times.items() if time <= _CLOSE * min(times.values())]
    if len(close) > 1:
        times = {name: launches[name].median().time_s for name in close}
    best = min(close, key=lambda name: times[name], default=choice.kernel)
    if best == choice.kernel:
        return choice
    return replace(choice, kernel=best, reason=f"{choice.reason}; of its kernels the one predicted fastest here")


def tuned(shape: Shape, on: str, tables: tuple[TuningTable, ...] | None = None) -> Choice | None:
    """On the matrix units: of an entry of the very shape the fastest kernel that takes the types and sizes."""
    for entry in nearest(shape, on, _default() if tables is None else tables):
        far = distance(shape, entry.shape)
        if entry.shape.trans != shape.trans or entry.shape.batch != shape.batch or not same(entry.on, on) or far:
            return None
        for timed in entry.kernels:
            kernel = lying(timed.kernel, shape)
            if not _refused(kernel, shape):
                return Choice(shape, kernel, entry, far, (), _reason(shape, entry, far, on, False))
    return None


def lying(kernel: str, shape: Shape) -> str:
    """The same kernel for matrices that lie so, of these types; itself where there is none."""
    p = parameters_of(kernel) if is_name(kernel) else None
    if p is None or isinstance(p, GemvParameters):
        return kernel
    types: dict[str, Any] = {}
    if isinstance(p, MatrixParameters):
        if "_" not in shape.types:  # a table may say anything
            return kernel
        types = dict(zip(("factor", "result"), shape.types.split("_"), strict=True))
    with suppress(ParameterError):
        return name_of(replace(p, trans_a=shape.trans[0] == "t", trans_b=shape.trans[1] == "t", **types))
    return kernel


def nearest(shape: Shape, on: str, tables: tuple[TuningTable, ...]) -> list[Entry]:
    """The entries that may serve, nearest first. on: the card's name."""
    ranked = [
        (e.shape.trans != shape.trans, not same(e.on, on), distance(shape, e.shape), e.shape.types != shape.types,
         e.shape.batch != shape.batch, number, e.kind != "measured", e.key, e)
        for number, held in enumerate(tables)
        for e in held.entries
        if _units(e.shape.types) == _units(shape.types)
    ]  # fmt: skip
    return [row[-1] for row in sorted(ranked, key=lambda row: row[:-1])]


def _units(types: str) -> str:
    """What of types the time of a tile depends on: of 16-bit floats not which, of integers also what C is."""
    return "16 bits" if types.startswith(("f16_", "bf16_")) else types


def _refused(kernel: str, shape: Shape) -> str:
    row = rung(kernel)
    if row.trans != shape.trans:
        return "there is none for these layouts"
    if shape.batch > 1 and not row.strided:
        return "it takes one product"
    if shape.types != "f32" and f"{row.types.factor}_{row.types.result}" != shape.types:
        return "there is none for these types"
    try:
        row.check_size(shape.m, shape.n, shape.k)
    except SizeError as error:
        return error.message
    return ""


def _reason(shape: Shape, entry: Entry, far: float, on: str, later: bool) -> str:
    exact = far == 0 and entry.shape.trans == shape.trans
    near = "this shape is tuned" if exact else f"the nearest tuned shape is {entry.shape}, {far:.2f} octaves away"
    who = "" if same(entry.on, on) else f", for the {entry.on}"
    return near + who + f" ({entry.kind})" + ("; kernels before it do not take these sizes" if later else "")


@functools.lru_cache(4096)
def chosen_tuned(shape: Shape, on: str) -> Choice | None:
    """`tuned` by the default tables, remembered."""
    return tuned(shape, on)


@functools.lru_cache(4096)
def chosen(shape: Shape, on: str) -> Choice:
    """`fastest` of `choose` by the default tables, remembered."""
    return fastest(choose(shape, on), on)


@functools.cache
def _default() -> tuple[TuningTable, ...]:
    own = table.own_path()
    return (*((table.load(own),) if own.exists() else ()), table.shipped())
