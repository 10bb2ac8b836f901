"""Halves of barriers: findings where a wave may wait without having arrived, or arrives twice, and where it stores
between the two.

On RDNA4 a wave arrives at a barrier by one instruction and waits for the others by another one. A wait without an
arrival never ends, or ends with another barrier; a second arrival counts for a wave that has not come. What a wave
stores after it has arrived, others may not see when they go on.

Over all paths, as `isa.analysis.barriers` has them, with its limits.
"""

from __future__ import annotations

from collections.abc import Iterator

from isa.analysis.barriers import ARRIVED, AWAY, states
from isa.analysis.cfg import Cfg
from isa.errors import Finding
from isa.lint.functions import LintedFunction
from isa.lint.registry import RULES

ALONE, BETWEEN = RULES["BAR004"], RULES["BAR005"]


def findings(f: LintedFunction) -> Iterator[Finding]:
    yield from faults(f.flow)


def notes(f: LintedFunction) -> Iterator[Finding]:
    if _halves(f.flow):
        for inst, state in states(f.flow):
            if state & ARRIVED and (access := inst.desc.access) and access.kind != "load" and access.space != "scratch":
                yield BETWEEN.broken(
                    inst, "it may not be complete when other waves go on",
                    expected=f"it before {f.flow.family.barrier[0]}", got="it between the halves of a barrier",
                )  # fmt: skip


def faults(flow: Cfg) -> Iterator[Finding]:
    """Waits without an arrival, and second arrivals."""
    if not _halves(flow):
        return
    arrive, wait = flow.family.barrier
    for inst, state in states(flow):
        if not inst.of_workgroup or not state & (ARRIVED if inst.desc.arrives else AWAY):
            continue
        if inst.desc.arrives:
            yield ALONE.broken(inst, "the wave may have arrived before", expected=f"{wait} before it", hint=_COUNTS)
        else:
            yield ALONE.broken(inst, "the wave may not have arrived", expected=f"{arrive} before it", hint=_ENDS)


_COUNTS = "it would count for a wave that has not come"
_ENDS = "it would wait for ever, or for another barrier"


def _halves(flow: Cfg) -> bool:
    return len(flow.family.barrier) > 1 and any(inst.desc.is_barrier for inst in flow.instructions)
