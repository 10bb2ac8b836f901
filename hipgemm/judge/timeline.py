"""Timelines: a launch -> what the waves of one unit do in a window of cycles, and what each instruction takes.

The busiest unit is played from its start. Shown are `window` cycles from cycle `begin` on; where neither is said, all
that it does if that is short, or the last WINDOW cycles of its first PLAYED instructions, where the waves have left
their common start.

The cycles between two instructions of a wave belong to the second, which was waiting to issue (s_waitcnt for its
counter, a load for the VALU to drain), except after a barrier or a branch: those have issued and hold the wave. Each
wait has its cause from the engine. So a wave's cycles are waits and issues, one after the other, without a gap between
its launch and its end.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from isa.display import Shown, number_of
from isa.errors import IsaError

if TYPE_CHECKING:
    import numpy as np

    from hipgemm.kernels.source_lines import LinePlace
    from isa.timing.model.run import Prepared, Run

PLAYED = 400_000
"""Instructions."""
WINDOW, SHORT = 10_000, 20_000
"""Cycles."""
_MOST = 32 * PLAYED
ISSUED = -1
"""In the place of a cause: the cycle in which an instruction issues."""


@dataclass(frozen=True, slots=True)
class Line:
    """One instruction of the kernel. hits: how often it issued, over all waves that were played.

    stalls: cause -> cycles that a wave could not issue it, on average over its hits; a barrier's wait is the barrier's,
    a branch's cost the branch's. Issuing takes one cycle more. loop: the number of the innermost loop that it stands
    in, None outside of all. place: where it stands, as far as that is known.
    """

    position: int
    text: str
    kind: str
    hits: int
    stalls: Mapping[str, float]
    loop: int | None = None
    place: LinePlace | None = None

    @property
    def stall(self) -> float:
        return sum(self.stalls.values())

    @property
    def where(self) -> str:
        """Its line of the source with what it says, or of assembly where that is not known."""
        if self.place is None:
            return self.text
        source = self.place.source
        return f"{source.brief}  {source.text}".rstrip() if source else str(self.place)

    @property
    def cycles(self) -> float:
        """That waves spend at it."""
        return self.hits * (1 + self.stall)

    @property
    def cause(self) -> str:
        """What stalls it most; "" where nothing does."""
        return max(self.stalls, key=lambda name: self.stalls[name], default="")


@dataclass(frozen=True, repr=False)
class Timeline(Shown):
    """spans: int64[n, 6], (SIMD, wave slot, first cycle, cycles, instruction, cause or ISSUED) within [start, end), by
    wave and then by cycle. lines: all instructions of the kernel, in the order of the code. unit: CU or WGP."""

    name: str
    clock_mhz: float
    start: int
    end: int
    unit: str
    spans: np.ndarray
    lines: tuple[Line, ...]

    def __repr__(self) -> str:
        return f"{self.name}: cycles {self.start} to {self.end}, {number_of(self.issues, 'instruction')}"

    @property
    def issues(self) -> int:
        """How many instructions issue in the window."""
        return int((self.spans[:, 5] == ISSUED).sum())


def timeline(
    ready: Prepared,
    name: str,
    clock_mhz: float,
    *,
    window: int | None = None,
    begin: int | None = None,
    places: Sequence[LinePlace | None] = (),
) -> Timeline:
    """Play what is needed. Oldest wave first. places: of the kernel's instructions. IsaError where the kernel has ended
    before `begin`, or that is too far."""
    import numpy as np

    from isa.timing.model import run as model

    budget = room = PLAYED
    wanted = WINDOW if window is None else window
    while True:
        events, waits = np.zeros((budget, 5), np.int64), np.zeros((room, 6), np.int64)
        played = model.run(ready, clock_mhz, stop_after=budget, events=events, waits=waits)
        events = events[: int(played.hits.sum())]
        last = int(events[-1, 0])
        if waits[-1, 3]:  # there may be more that it had no room for
            room *= 2
        elif begin is None or last >= begin + wanted or len(events) < budget:
            break
        elif budget >= _MOST:
            raise IsaError(f"cycle {begin} is too far to simulate", expected=f"one before {last - wanted}")
        else:
            budget *= 2
    if begin is not None and begin >= last:
        raise IsaError(f"there is no cycle {begin}: the unit finishes after {last}", hint="a smaller --from")
    if window is None and begin is None and len(events) < budget and last < SHORT:
        wanted = SHORT
    start = max(0, last + 1 - wanted) if begin is None else begin
    end = min(last + 1, start + wanted)
    spans = _spans(events, waits[waits[:, 3] > 0], start, end)
    lines = _lines(ready, played, played.hits, places)
    unit = "CU" if ready.resources.cu_mode else "WGP"
    return Timeline(name, clock_mhz, start, end, unit, spans, lines)


_ROUNDS, _TRIPS = 2, 32
"""Of workgroups, and of each steady loop, that `profile` simulates at most."""


def profile(ready: Prepared, clock_mhz: float, places: Sequence[LinePlace | None] = ()) -> tuple[Line, ...]:
    """All instructions, with the hits of the mean workgroup and the stalls of the first rounds of workgroups, of whose
    loops the first trips are simulated. places: of the kernel's instructions."""
    import numpy as np

    from hipgemm.judge.limits import counts
    from isa.timing.model import estimate
    from isa.timing.model import run as model

    begun = estimate.beginning(ready, _ROUNDS, _TRIPS)
    played = model.run(begun, clock_mhz, stop_after=_MOST, events=np.zeros((1, 5), np.int64))
    return _lines(ready, played, counts(ready).issues, places)


def _lines(ready: Prepared, played: Run, hits: np.ndarray, places: Sequence[LinePlace | None]) -> tuple[Line, ...]:
    """hits: what to say of each instruction; stalls are those of each issue that was played."""
    from isa.timing.native import engine_abi

    loops = {i: number for number, loop in enumerate(ready.cfg.loops) for i in ready.cfg.positions(loop)}
    return tuple(
        Line(
            i,
            str(instruction),
            engine_abi.KIND_NAMES[ready.code.kind[i]],
            round(float(hits[i])),
            {
                engine_abi.CAUSES[c]: float(n / played.hits[i])
                for c, n in enumerate(played.stalls[i])
                if n and played.hits[i]
            },
            loops.get(i),
            places[i] if i < len(places) else None,
        )
        for i, instruction in enumerate(ready.cfg.instructions)
    )


def by_line(lines: Sequence[Line]) -> list[tuple[str, float, dict[str, float]]]:
    """(line of the source, or of assembly where that is not known; its part of the cycles that waves spend; that of
    each cause of its stalls), the costliest first."""
    total = sum(line.cycles for line in lines) or 1.0
    found: dict[str, tuple[float, dict[str, float]]] = {}
    for line in lines:
        at, causes = found.get(line.where, (0.0, {}))
        for cause, n in line.stalls.items():
            causes[cause] = causes.get(cause, 0.0) + line.hits * n / total
        found[line.where] = at + line.cycles / total, causes
    return sorted(((what, *rest) for what, rest in found.items()), key=lambda row: -row[1])


def _spans(events: np.ndarray, waits: np.ndarray, start: int, end: int) -> np.ndarray:
    """Waits and issues that reach into [start, end), cut to it."""
    import numpy as np

    at, simd, row, position, _ = events.T
    issued = np.stack([simd, row, at, np.ones_like(at), position, np.full_like(at, ISSUED)], 1)
    spans = np.concatenate([issued, waits])
    spans = spans[(spans[:, 2] < end) & (spans[:, 2] + spans[:, 3] > start)]
    until = np.minimum(spans[:, 2] + spans[:, 3], end)
    spans[:, 2] = np.maximum(spans[:, 2], start)
    spans[:, 3] = until - spans[:, 2]
    return spans[np.lexsort((spans[:, 2], spans[:, 1], spans[:, 0]))]
