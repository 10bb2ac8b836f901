"""Frame of an experiment: its options, and the study that it leaves: rows under columns, a paragraph, plots.

An experiment is a small frozen object: its fields say what it varies, so that a test can vary less. `study` runs it.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar

from hipgemm.lab.bench import Bench
from hipgemm.report import svg
from isa.display import Shown
from isa.errors import IsaError

if TYPE_CHECKING:
    from hipgemm.measure.device import Device

Row = Mapping[str, Any]
"""Column's key -> its value: text, a number, or None where it is not known. "correct" says whether the answer was, and
"time_kind" whether a time was measured or predicted."""


@dataclass(frozen=True, slots=True)
class Column:
    """key: in rows and JSON; title and unit: in its head; digits: after the point; what: a sentence about it."""

    key: str
    title: str
    unit: str = ""
    digits: int = 0
    what: str = ""

    def text(self, row: Row) -> str:
        """A cell as people read it."""
        value = row.get(self.key)
        if value is None:
            return "not known"
        return value if isinstance(value, str) else f"{value:.{self.digits}f}"

    @property
    def head(self) -> str:
        return f"{self.title}, {self.unit}" if self.unit else self.title


SIZE = Column("n", "n", what="M = N = K")
VGPRS = Column("vgprs", "VGPRs", what="of a wave")
WAVES = Column("waves", "waves", "a SIMD", 1, "that fit, of 16")
DUAL = Column("dual_share", "dual", "of FMAs", 2, "share of the multiply-adds that are in pairs")
TIME = Column("time_ms", "time", "ms", 4, "of one launch")
SPEED = Column("tflops", "TFLOP/s", "", 2, "2MNK + 3MN operations in that time")


@dataclass(frozen=True, slots=True)
class Plot:
    """A drawing (a fragment of `hipgemm.report.svg`) and a line below it."""

    caption: str
    drawing: str


@dataclass(frozen=True)
class Bars:
    """A bar a row, as long as row[key]; rows in which that is not known are left out. name, label: before and after
    each, made from the row by str.format; left, right: the room that they have, see `svg.bars`."""

    caption: str
    key: str
    unit: str
    name: str
    label: str
    left: int = 130
    right: int = 150

    def plot(self, rows: Sequence[Row]) -> Plot:
        groups = [
            (self.name.format_map(row), [svg.Bar(row["time_kind"], row[self.key], self.label.format_map(row))])
            for row in rows if row[self.key] is not None
        ]  # fmt: skip
        return Plot(self.caption, svg.bars(groups, self.unit, self.caption, left=self.left, right=self.right))

    def curve(self, rows: Sequence[Row]) -> Plot:
        """The same over n: a line for each name."""
        points: dict[str, list[tuple[float, float]]] = {}
        for row in rows:
            if row[self.key] is not None:
                points.setdefault(self.name.format_map(row), []).append((row["n"], row[self.key]))
        caption = f"{self.caption}, by size"
        return Plot(caption, svg.lines([svg.Series(*line) for line in points.items()], "n", self.unit, caption))


class Experiment(ABC):
    """name: as in EXPERIMENTS. title: one line. paragraph: what is varied, why, and what to look for. size: of its
    matrices by default, None where it has none. bars: the table as a picture."""

    name: ClassVar[str]
    title: ClassVar[str]
    paragraph: ClassVar[str]
    size: ClassVar[int | None] = None
    bars: ClassVar[Bars]

    @property
    @abstractmethod
    def columns(self) -> Sequence[Column]:
        """Of its table."""

    @abstractmethod
    def run(self, bench: Bench, n: int) -> Iterator[Row]:
        """One row after another, in which more than the columns may stand. n: M = N = K, 0 where it has no size."""

    def plots(self, rows: Sequence[Row]) -> list[Plot]:
        """The table as pictures."""
        return [self.bars.plot(rows)]


@dataclass(frozen=True, repr=False)
class Study(Shown):
    """An experiment that was run. conditions: (what, value) that hold for all rows."""

    name: str
    title: str
    paragraph: str
    columns: tuple[Column, ...]
    rows: tuple[Row, ...]
    conditions: tuple[tuple[str, str], ...]
    plots: tuple[Plot, ...]

    @property
    def correct(self) -> bool:
        """Whether every kernel computed what it should."""
        return all(row["correct"] for row in self.rows)

    @property
    def time_kind(self) -> str:
        """ "measured", "predicted", or both where rows differ."""
        return " and ".join(sorted({row["time_kind"] for row in self.rows}))

    def to_dict(self) -> dict[str, Any]:
        """All but the plots, as JSON can hold it. Units stand with the columns."""
        columns = [{"key": c.key, "title": c.title, "unit": c.unit, "what": c.what} for c in self.columns]
        return {
            "experiment": self.name,
            "title": self.title,
            "conditions": dict(self.conditions),
            "correct": self.correct,
            "columns": columns,
            "rows": [dict(row) for row in self.rows],
        }


def study(experiment: Experiment, device: Device, *sizes: int, step: Callable[[str], None] | None = None) -> Study:
    """Run an experiment on a device. sizes: M = N = K, the experiment's own if not given; of more than one the table
    has a column and the picture is a curve over them. IsaError for a size that the experiment cannot take, and for what
    cannot be built or run."""
    if sizes and experiment.size is None:
        raise IsaError(f"the experiment {experiment.name} has no size", got=f"n = {sizes[0]}", hint="leave -n out")
    sizes = tuple(sorted(set(sizes))) or (experiment.size or 0,)
    swept = len(sizes) > 1
    bench = Bench(device, step or (lambda _: None))
    rows = tuple({**row, "n": row.get("n", n)} for n in sizes for row in experiment.run(bench, n))
    columns = tuple(experiment.columns)
    if swept and not any(column.key == "n" for column in columns):
        columns = (SIZE, *columns)
    keys = [*(column.key for column in columns), "time_kind", "correct"]
    conditions = [("device", f"{device.name} ({device.arch})")]
    conditions += [("size", f"M = N = K = {', '.join(map(str, sizes))}")] if any(sizes) else []
    conditions += [("built by", bench.toolchain)]
    shown = tuple({key: row[key] for key in keys} for row in rows)
    return Study(
        experiment.name, experiment.title, experiment.paragraph, columns, shown, tuple(conditions),
        (experiment.bars.curve(rows),) if swept else tuple(experiment.plots(rows)),
    )  # fmt: skip
