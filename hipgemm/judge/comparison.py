"""Comparison of two predictions: where the cycles of a kernel go that another, for the same work, does not spend.

    by cause         what each cause costs either kernel, as `hipgemm.judge.gains` takes it away, and the cycles of
                     SIMDs by what they wait for; those of the VALU by the kind of their arithmetic
    by line, loop    the time of a kernel shared out over its instructions by the cycles that its waves spend at each
                     (`hipgemm.judge.timeline.profile`): of a line or loop the sum over its own

Lines are the same where both say the same text, or are of the same place in the same file; loops where a line of their
headers is, or else where they have one number in the order of the code and one depth. What has no like stands alone.

The time of all lines is that of the kernel, and so is that of all loops and of all cycles of SIMDs; what causes of
`gains` cost overlaps, and bounds are left out.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any

from hipgemm.judge.limits import causes_of, counts, work
from isa.display import Shown

if TYPE_CHECKING:
    from hipgemm.judge.predict import Prediction
    from hipgemm.judge.timeline import Line
    from isa.timing.model.run import Prepared

_LEAST = 0.01
"""Of the longer time: differences below are left out."""


@dataclass(frozen=True)
class Part:
    """What one thing takes of either kernel, in ms; 0 where a kernel has none of it. cause: what it mostly waits for in
    B."""

    what: str
    a_ms: float
    b_ms: float
    cause: str = ""

    @property
    def more_ms(self) -> float:
        return self.b_ms - self.a_ms


@dataclass(frozen=True, repr=False)
class Comparison(Shown):
    """a, b: names and predictions. Each list is of parts that differ, those that B has more of first."""

    names: tuple[str, str]
    a_ms: float
    b_ms: float
    limits: tuple[str, str]
    causes: tuple[Part, ...]
    cycles: tuple[Part, ...]
    loops: tuple[Part, ...]
    lines: tuple[Part, ...]

    @property
    def first(self) -> str:
        """What most of the difference is, in words: what can be taken away, if that is most of it, else what SIMDs
        wait for."""
        wanted = self.b_ms - self.a_ms
        for parts in (self.causes, self.cycles):
            best = max(parts, key=lambda part: part.more_ms if wanted > 0 else -part.more_ms, default=None)
            if best and best.more_ms * wanted > 0 and (abs(best.more_ms) > abs(wanted) / 3 or parts is self.cycles):
                return best.what
        return ""

    def to_dict(self) -> dict[str, Any]:
        lists = ("causes", "cycles", "loops", "lines")
        return {
            "a": self.names[0], "b": self.names[1], "time_kind": "predicted", "a_ms": self.a_ms, "b_ms": self.b_ms,
            "limited_by": list(self.limits), "first_cause": self.first,
            **{name: [asdict(part) for part in getattr(self, name)] for name in lists},
        }  # fmt: skip


def compared(names: tuple[str, str], ready: Sequence[Prepared], predictions: Sequence[Prediction]) -> Comparison:
    """Two launches, with their gains and lines."""
    from hipgemm.report.timing import limit

    times = [p.timing.time_s * 1e3 for p in predictions]
    least = _LEAST * max(times)

    def parts(of: Callable[[int], Mapping[str, tuple[float, str]]]) -> tuple[Part, ...]:
        sides = of(0), of(1)
        found = []
        for what in dict.fromkeys([*sides[1], *sides[0]]):
            a, b = (side.get(what, (0.0, "")) for side in sides)
            found.append(Part(what, times[0] * a[0], times[1] * b[0], b[1] or a[1]))
        return tuple(sorted((p for p in found if abs(p.more_ms) >= least), key=lambda p: -p.more_ms))

    lines = [p.lines for p in predictions]
    keys = [[line.where for line in side] for side in lines]
    loops = _loops(lines)
    limits = [limit(p.use) if p.use else "" for p in predictions]
    return Comparison(
        names, times[0], times[1], (limits[0], limits[1]),
        parts(lambda side: {g.name: (g.part, "") for g in predictions[side].gains if not g.bound}),
        parts(lambda side: {name: (share, "") for name, share in _cycles(ready[side], predictions[side])}),
        parts(lambda side: _shares(lines[side], loops[side])),
        parts(lambda side: _shares(lines[side], keys[side])),
    )  # fmt: skip


def _cycles(ready: Prepared, p: Prediction) -> Iterator[tuple[str, float]]:
    """Share of the cycles of SIMDs by cause, those that the VALU computes in by the kind of arithmetic."""
    kinds = work(ready, counts(ready))
    total = sum(kinds.values()) or 1.0
    for name, share in causes_of(ready, p.timing).items():
        if name != "VALU busy":
            yield name, share
        else:
            yield from ((f"VALU: {kind}", share * cycles / total) for kind, cycles in kinds.items())


def _shares(lines: Sequence[Line], names: Sequence[str]) -> dict[str, tuple[float, str]]:
    """Name -> (part of the cycles that waves spend, what for mostly)."""
    total = sum(line.cycles for line in lines) or 1.0
    found: dict[str, float] = {}
    causes: dict[str, Counter[str]] = {}
    for line, name in zip(lines, names, strict=True):
        found[name] = found.get(name, 0.0) + line.cycles / total
        causes.setdefault(name, Counter()).update({cause: n * line.hits for cause, n in line.stalls.items()})
    return {name: (part, max(causes[name], key=causes[name].__getitem__, default="")) for name, part in found.items()}


def _loops(lines: Sequence[Sequence[Line]]) -> list[list[str]]:
    """For each instruction of either kernel a name of its innermost loop, the same one where the loops are the same."""
    heads: list[dict[int, Line]] = [{}, {}]
    for side, rows in enumerate(lines):
        for line in rows:
            if line.loop is not None:
                heads[side].setdefault(line.loop, line)
    numbers = [{loop: k + 1 for k, loop in enumerate(sorted(side))} for side in heads]
    own = [{loop: line.where for loop, line in side.items() if line.place} for side in heads]
    shared = set(own[0].values()) & set(own[1].values())

    def name(side: int, loop: int | None) -> str:
        if loop is None:
            return "outside loops"
        at = own[side].get(loop, "")
        return f"loop at {at}" if at in shared else f"loop {numbers[side][loop]}"

    return [[name(side, line.loop) for line in rows] for side, rows in enumerate(lines)]
