"""What an experiment is, and what it leaves: rows under columns, a paragraph, plots.

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


def study(
    experiment: Experiment, device: Device, n: int | None = None, *, step: Callable[[str], None] | None = None
) -> Study:
    """Run an experiment on a device. n: M = N = K, the experiment's own size if not given. IsaError for a size that it
    cannot take, and for what cannot be built or run."""
    if n is not None and experiment.size is None:
        raise IsaError(f"the experiment {experiment.name} has no size", got=f"n = {n}", hint="leave -n out")
    size = n if n is not None else experiment.size or 0
    bench = Bench(device, step or (lambda _: None))
    rows = tuple(experiment.run(bench, size))
    columns = tuple(experiment.columns)
    keys = [*(column.key for column in columns), "time_kind", "correct"]
    conditions = [("device", f"{device.name} ({device.arch})")]
    conditions += [("size", f"M = N = K = {size}")] if size else []
    conditions += [("built by", bench.toolchain)]
    shown = tuple({key: row[key] for key in keys} for row in rows)
    return Study(
        experiment.name, experiment.title, experiment.paragraph, columns, shown, tuple(conditions),
        tuple(experiment.plots(rows)),
    )  # fmt: skip
