"""Instruction traces: a card's beside the model's, instruction by instruction, and the model's in a card's form.

Of each instruction what is compared is how many cycles after its wave's last one it issues, over all its issues: the
median, and the range of the card's. What waits for memory is reported separately, since a trace is mostly of one launch
from cold caches: the card's single loads then take what the model gives for a whole launch only by chance.
"""

from __future__ import annotations

import statistics
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from isa.semantics.waits import parse_wait
from isa.timing.card_traces.sqtt import Issued

if TYPE_CHECKING:
    from isa.analysis.cfg import Cfg
    from isa.timing.model.run import Prepared


@dataclass(frozen=True)
class TraceLine:
    """An instruction that issued. gaps: cycles after its wave's last one, ascending; model: the median of the model's,
    None where it did not play it; memory: it waits for loads or stores."""

    position: int
    text: str
    gaps: tuple[int, ...]
    model: float | None
    memory: bool

    @property
    def card(self) -> float:
        return statistics.median(self.gaps)

    @property
    def apart(self) -> float | None:
        """Cycles by which the model lies outside of what the card showed."""
        if self.model is None:
            return None
        return self.model - min(max(self.model, self.gaps[0]), self.gaps[-1])


def compared(cfg: Cfg, card: Sequence[Issued], model: Sequence[Issued] = ()) -> list[TraceLine]:
    """A line for each instruction that the card issued after another one of its wave."""
    seen, played = _gaps(card), _gaps(model)
    return [
        TraceLine(
            position, str(cfg.instructions[position]), tuple(sorted(gaps)),
            statistics.median(played[position]) if position in played else None, _waits_for_memory(cfg, position),
        )
        for position, gaps in sorted(seen.items())
    ]  # fmt: skip


def _gaps(issues: Sequence[Issued]) -> dict[int, list[int]]:
    last: dict[int, Issued] = {}
    gaps: dict[int, list[int]] = {}
    for issue in issues:
        before = last.get(issue.wave)
        if before is not None and before.packet != "WAVEEND":
            gaps.setdefault(issue.position, []).append(issue.cycle - before.cycle)
        last[issue.wave] = issue
    return gaps


def _waits_for_memory(cfg: Cfg, position: int) -> bool:
    """Whether a wait, or the end, waits for a global or a scalar load or a store that stands before it."""
    inst = cfg.instructions[position]
    if inst.desc.sched == "end":
        return True
    if inst.desc.sched != "wait":
        return False
    raised = inst.family.raised
    if (waited := parse_wait(inst).keys()) & {*raised["global_load"], *raised["global_store"]}:
        return True
    before = [i for i in cfg.instructions[:position] if i.desc.access is not None]
    scalar = bool(before) and before[-1].desc.access.space == "scalar"  # type: ignore[union-attr]
    return scalar and bool(waited & {*raised["smem_load"]})


def predicted(ready: Prepared, clock_mhz: float, instructions: int = 100_000) -> list[Issued]:
    """What the model's first SIMD issues, as a card's trace tells it: oldest wave first, from the launch's start."""
    import numpy as np

    from isa.timing.model import run as model

    events = np.zeros((instructions, 5), np.int64)
    run = model.run(ready, clock_mhz, stop_after=instructions, events=events)
    slots: dict[int, int] = {}
    out = []
    for cycle, simd, row, position, _ in events[: int(run.hits.sum())].tolist():
        inst = ready.cfg.instructions[position]
        if simd == 0 and inst.desc.sched != "delay":
            slot = slots.setdefault(row, len(slots))
            out.append(Issued(cycle, slot, position, "WAVEEND" if inst.desc.sched == "end" else "model"))
    return out


def text(title: str, lines: Sequence[TraceLine]) -> str:
    """A table."""
    out = [title, f"{'at':>5} {'issues':>6} {'card':>7} {'range':>12} {'model':>7} {'apart':>6}  instruction"]
    for line in lines:
        span = f"{line.gaps[0]} to {line.gaps[-1]}" if line.gaps[0] != line.gaps[-1] else f"{line.gaps[0]}"
        model = "" if line.model is None else f"{line.model:g}"
        apart = "" if not line.apart else f"{line.apart:+g}"
        out.append(
            f"{line.position:>5} {len(line.gaps):>6} {line.card:>7g} {span:>12} {model:>7} {apart:>6}  {line.text}"
            + (" ; waits for memory" if line.memory else "")
        )
    seen = [line for line in lines if line.model is not None and not line.memory]
    if seen:
        inside = sum(not line.apart for line in seen)
        near = sum(abs(line.apart or 0) <= 2 for line in seen)
        ours, theirs = (sum(m * len(line.gaps) for line in seen if (m := g(line))) for g in (_model, _mean))
        out.append(
            f"\n{inside} of {len(seen)} inside the card's range, {near} within 2 cycles; all cycles together "
            f"{100 * (ours / theirs - 1):+.1f} %; {len(lines) - len(seen)} others wait for memory or were not simulated"
        )
    return "\n".join(out)


def _model(line: TraceLine) -> float:
    return line.model or 0.0


def _mean(line: TraceLine) -> float:
    return statistics.mean(line.gaps)


def as_json(lines: Sequence[TraceLine]) -> list[dict[str, Any]]:
    return [
        {"position": line.position, "text": line.text, "gaps": list(line.gaps), "model": line.model,
         "apart": line.apart, "waits_for_memory": line.memory}
        for line in lines
    ]  # fmt: skip
