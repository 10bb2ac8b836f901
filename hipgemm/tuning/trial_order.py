"""In which order a search tries kernels: a guess of each one's time, mended by what was seen of others.

What the guess of `bounds` misses is much the same for kernels that are alike, and from shape to shape. So log(time /
guess) of those that were tried, less its mean over a shape, is fitted by a number for each value of each parameter
(ridge regression; what other shapes say counts less), and what is not tried yet is forecast with it. Kernels come by
forecast, the best first, with two exceptions: each kernel that differs from one before it in lanes or loads alone comes
as if it took `_LATER` as long; and while nothing is known, kernels with tiles in pieces and others take turns, since
guesses of the two are not to be compared.

Before all others come those that are best at the nearest shapes, of this search and of the shipped table, and kernel
10.
"""

from __future__ import annotations

import math
import statistics
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import zip_longest

import numpy as np

from hipgemm.kernels.ladder import rung
from hipgemm.tuning import space, table
from hipgemm.tuning.choose import distance, nearest
from hipgemm.tuning.shapes import Shape
from isa.gemm.names import name_of
from isa.gemm.vector.parameters import Parameters

_LATER = 1.06
"""See above."""
_NEAREST = 2
"""Shapes of this search, and of the shipped table, whose best kernels are tried first."""
_ELSEWHERE = 0.3
"""What a kernel's time at another shape counts beside one at this."""
_STIFF = 1.0
"""Of the ridge: how many kernels must agree before half of what they say is believed."""
_FIELDS = (*space.VALUES, "width_a", "width_b")
_CORE = tuple(field for field in space.VALUES if field != "lane_rows")


@dataclass(frozen=True)
class Lesson:
    """What a search has learnt of a shape. best: its fastest kernel; ratios: log(time / guess) of each that was tried,
    less the mean."""

    shape: Shape
    best: str
    ratios: tuple[tuple[Parameters, float], ...]


def first(shape: Shape, card: str, lessons: Sequence[Lesson] = ()) -> list[Parameters]:
    """What is known to be good nearby, for matrices that lie so."""
    shipped = nearest(shape, card, (table.shipped(),))[:_NEAREST]
    learnt = sorted(lessons, key=lambda lesson: distance(shape, lesson.shape))[:_NEAREST]
    names = [*(entry.kernels[0].kernel for entry in shipped), *(lesson.best for lesson in learnt), "kernel10"]
    known = [p for p in (rung(name).parameters for name in names) if isinstance(p, Parameters)]
    trans = {"trans_a": shape.trans[0] == "t", "trans_b": shape.trans[1] == "t"}
    return list(dict.fromkeys(replace(p, **trans) for p in known))


class Order:
    """Kernels with their guesses, in seconds; and their order, which changes as times become known."""

    def __init__(
        self,
        known: Sequence[tuple[Parameters, float]],
        guesses: Sequence[tuple[Parameters, float]],
        lessons: Sequence[Lesson] = (),
    ) -> None:
        """known: what comes first, in this order."""
        before = {p for p, _ in known}
        rows = [*known, *((p, guess) for p, guess in guesses if p not in before)]
        self.kernels = [p for p, _ in rows]
        self._guess = np.array([guess for _, guess in rows])
        self._known = len(known)
        self._place: dict[str, int] = {}
        ratios = [row for lesson in lessons for row in lesson.ratios]
        features = _one_hot([*self.kernels, *(p for p, _ in ratios)])
        self._features, self._learnt_x = features[: len(rows)], features[len(rows) :]
        self._learnt_y = np.array([ratio for _, ratio in ratios])
        self._core = [tuple(getattr(p, field) for field in _CORE) for p in self.kernels]
        self._given: set[int] = set()

    def next(self, times: Mapping[str, float]) -> Iterable[Parameters]:
        """Those that were not given yet, the most promising first. times: seconds of kernels by name."""
        forecast = self._forecast(times)
        alike = Counter(self._core[i] for i in self._given)
        turns: dict[bool, list[tuple[float, int]]] = {False: [], True: []}
        for i in np.argsort(forecast, kind="stable").tolist():
            if i not in self._given and i >= self._known:
                later = forecast[i] * _LATER ** alike[self._core[i]]
                turns[self.kernels[i].stream_k and not (times or len(self._learnt_y))].append((later, i))
                alike[self._core[i]] += 1
        ranked = [row[1] for pair in zip_longest(*map(sorted, turns.values())) for row in pair if row is not None]
        for i in (*range(self._known), *ranked):
            if i not in self._given:
                self._given.add(i)
                self._place[name_of(self.kernels[i])] = i
                yield self.kernels[i]

    def _forecast(self, times: Mapping[str, float]) -> np.ndarray:
        """Seconds of each kernel."""
        seen = [self._place[name] for name in times]
        x, y = self._features[seen], np.log(np.array(list(times.values())) / self._guess[seen])
        mean = y.mean() if seen else 0.0
        normal = x.T @ x + _ELSEWHERE * self._learnt_x.T @ self._learnt_x + _STIFF * np.eye(x.shape[1])
        fitted = np.linalg.solve(normal, x.T @ (y - mean) + _ELSEWHERE * self._learnt_x.T @ self._learnt_y)
        forecast: np.ndarray = self._guess * np.exp(mean + self._features @ fitted)
        return forecast

    def lesson(self, shape: Shape, times: Mapping[str, float]) -> Lesson:
        """What these times say, for other shapes. Kernels that were not given by `next` may be among them."""
        places = {name: self._place[name] for name in times if name in self._place}
        ratios = {place: math.log(times[name] / self._guess[place]) for name, place in places.items()}
        mean = statistics.fmean(ratios.values()) if ratios else 0.0
        known = tuple((self.kernels[place], ratio - mean) for place, ratio in ratios.items())
        return Lesson(shape, min(times, key=lambda name: (times[name], name)), known)


def _one_hot(kernels: Sequence[Parameters]) -> np.ndarray:
    """A column for each value of each parameter, and one for each skew of a wave's tile."""
    held = {name: [getattr(p, name) for p in kernels] for name in _FIELDS} | {"skew": list(map(_skew, kernels))}
    columns = [np.array(held[name]) == value for name in sorted(held) for value in sorted(set(held[name]))]
    return np.ascontiguousarray(np.reshape(columns, (len(columns), len(kernels))).T, float)


def _skew(p: Parameters) -> int:
    rows, columns = p.wave_tile
    return max(rows, columns) // min(rows, columns)
