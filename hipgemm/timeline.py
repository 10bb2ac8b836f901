"""What the waves of one unit do over a window of cycles, and what each instruction of the main loop takes.

The busiest unit is played from its start for `instructions` instructions; the last `window` cycles are shown, where
the waves have left their common start.

The cycles between two instructions of a wave belong to the second, which was waiting to issue (s_waitcnt for its
counter, a load for the VALU to drain), except after a barrier or a branch: those have issued and hold the wave.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import numpy as np

    from isa.timing.model import Prepared


@dataclass(frozen=True, slots=True)
class Issue:
    """One instruction of one wave, with the `cycles` from `cycle` on that belong to it."""

    cycle: int
    cycles: int
    simd: int
    wave: int
    position: int
    kind: str


@dataclass(frozen=True, slots=True)
class Line:
    """One instruction of the main loop. hits: how often it issued, over all waves that were played.

    stalls: cause -> cycles that a wave could not issue it, on average over its hits; a barrier's wait is the barrier's,
    a branch's cost the branch's. Issuing takes one cycle more.
    """

    position: int
    text: str
    kind: str
    hits: int
    stalls: Mapping[str, float]

    @property
    def stall(self) -> float:
        return sum(self.stalls.values())

    @property
    def cause(self) -> str:
        """What stalls it most; "" where nothing does."""
        return max(self.stalls, key=lambda name: self.stalls[name], default="")


@dataclass(frozen=True)
class Timeline:
    """issues of the window [start, end), ordered by cycle; lines in the order of the code."""

    name: str
    clock_mhz: float
    start: int
    end: int
    issues: tuple[Issue, ...]
    lines: tuple[Line, ...]


def timeline(
    ready: Prepared, name: str, clock_mhz: float, *, window: int = 2000, instructions: int = 400_000
) -> Timeline:
    """Play the first `instructions` and keep the last `window` cycles of them. Oldest wave first."""
    import numpy as np

    from isa.analysis import inner
    from isa.timing import engine_abi, model

    events = np.zeros((instructions, 5), np.int64)
    played = model.run(ready, clock_mhz, stop_after=instructions, events=events)
    events = events[: int(played.hits.sum())]
    last = int(events[-1, 0])
    start = max(0, last - window)
    kinds = [engine_abi.KIND_NAMES[k] for k in ready.code.kind]
    issues = []
    for wave in np.unique(events[:, 2]):
        at, simds, _, positions, _ = events[events[:, 2] == wave].T
        begin, end = _owned(at, ready.code.kind[positions])
        for k in np.flatnonzero((end > start) & (end > begin)):
            first = max(start, int(begin[k]))
            position = int(positions[k])
            issues.append(Issue(first, int(end[k]) - first, int(simds[k]), int(wave), position, kinds[position]))
    loop = inner.main_loop(ready.cfg)
    shown = ready.cfg.positions(loop) if loop is not None else range(len(ready.cfg))
    lines = tuple(
        Line(
            i,
            str(ready.cfg.instructions[i]),
            kinds[i],
            int(played.hits[i]),
            {
                engine_abi.CAUSES[c]: float(n / played.hits[i])
                for c, n in enumerate(played.stalls[i])
                if n and played.hits[i]
            },
        )
        for i in shown
    )
    return Timeline(name, clock_mhz, start, last, tuple(sorted(issues, key=lambda issue: issue.cycle)), lines)


def _owned(at: np.ndarray, kind: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """(first cycle, end) of what belongs to each instruction of one wave slot that issued at cycles `at`, in order."""
    import numpy as np

    from isa.timing import engine_abi

    begin, end = at.copy(), at + 1
    holds = np.isin(kind[:-1], (engine_abi.BARRIER, engine_abi.BRANCH))
    ended = kind[:-1] == engine_abi.END  # what follows is another workgroup's wave
    end[:-1] = np.where(holds, at[1:], end[:-1])
    begin[1:] = np.where(holds | ended, at[1:], at[:-1] + 1)
    return begin, end
