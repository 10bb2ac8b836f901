"""Relaxed barriers: a kernel -> the same with barriers that loads of global memory may be in flight across.

What a workgroup shares through LDS needs LDS alone to be done at a barrier. A compiler that fences all of memory there
(`__syncthreads`, Triton's barriers) waits for the next tile's loads, too, which had been issued early so that the work
on this one hides them; people who write by hand wait for `lgkmcnt(0)` only (`block_sync_lds` of AMD's Composable
Kernel). A plain load may be in flight at a barrier where no other wave writes what it reads in the meantime: that is
so where nothing writes global memory between this barrier and the ones next to it, before and after, on any path
(`quiet`). What is written before those is there before the load issues, and what is written after them, after the
load has landed: each barrier is judged by itself.

In: a program. Out: the same with weaker waits at such barriers, and waits where loads are needed, which these had been
for (`isa.analysis.waits`), one after the other in the order of the flow.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import ClassVar

from isa.analysis import cfg as control_flow
from isa.analysis import dependences, waits
from isa.analysis.cfg import Cfg
from isa.analysis.waits import Event, InFlight
from isa.asm.emit import instruction_line
from isa.asm.program import Kernel, Program
from isa.passes.edit import Edit, each_kernel
from isa.passes.schedule.block_order import wait_instructions

_OWN = "lds", "scratch", "scalar"
"""Memories of which a store is no write of global memory."""
_MOST = 200
"""Waits that are put in; more are not worth their time."""


@dataclass(frozen=True)
class RelaxBarriers:
    """Leaves loads of global memory in flight at barriers around which nothing writes global memory.

    kernel: which one; none: all.

    Requires:   that all waves of a workgroup meet at the same barriers, as HIP and OpenCL ask.
    Guarantees: the same instructions in the same order, waits apart; nothing uses a register that a load may still
                fill; stores, LDS and scalar loads are waited for as they were.
    Leaves alone: functions that call; functions that wait for other waves through memory (atomics, `glc`, sleeping).
    """

    name: ClassVar[str] = "relax-barriers"

    kernel: str = ""

    def run(self, program: Program) -> Program:
        return each_kernel(program, self.kernel, _relaxed)


def quiet(cfg: Cfg) -> frozenset[int]:
    """Barriers between which and the ones next to them nothing writes global memory; cache invalidations at them."""
    preceding: list[list[int]] = [[] for _ in cfg.instructions]
    following: list[list[int]] = [[] for _ in cfg.instructions]
    for block in cfg.blocks:
        for i in block.range:
            following[i] = [i + 1] if i + 1 < block.end else [cfg.blocks[s].start for s in block.successors]
            for j in following[i]:
                preceding[j].append(i)
    found = set()
    for i, inst in enumerate(cfg.instructions):
        if inst.desc.is_barrier and not any(_writes(cfg, i, edges.__getitem__) for edges in (preceding, following)):
            found.add(i)
            rest = range(i + 1, cfg.block_of(i).end)
            near = itertools.takewhile(lambda j: cfg.instructions[j].desc.access is None, rest)
            found.update(j for j in near if cfg.instructions[j].desc.sched == "cache_control")
    return frozenset(found)


def _writes(cfg: Cfg, barrier: int, onward: Callable[[int], list[int]]) -> bool:
    """Whether something writes global memory between a barrier and the next ones in one direction."""
    seen: set[int] = set()
    work = list(onward(barrier))
    while work:
        i = work.pop()
        inst = cfg.instructions[i]
        if i in seen or inst.desc.is_barrier:
            continue
        if inst.desc.access is not None and inst.desc.access.kind != "load" and inst.desc.space not in _OWN:
            return True
        seen.add(i)
        work += onward(i)
    return False


def _relaxed(kernel: Kernel) -> Program:
    cfg = control_flow.of_kernel(kernel)
    known = not (cfg.calls or cfg.indirect_jumps or dependences.by_memory(cfg))
    if not known or kernel.number("wavefront_size32") == 0:
        return kernel.program
    flight, at = waits.analyse(cfg), quiet(cfg)
    program = _without_waits(kernel, cfg, flight, at)
    if program is kernel.program:
        return program
    lines = [id(kernel.program.lines[n]) for n in cfg.lines]
    open_at = {lines[i] for i in at}
    done = {
        lines[i]: frozenset((lines[load], counter) for load, counter in before)
        for i, before in enumerate(flight.before)
    }
    for _ in range(_MOST):
        changed = _with_wait(program.kernel(kernel.name), open_at, done)
        if changed is program:
            return program
        program = changed
    return kernel.program


def _without_waits(kernel: Kernel, cfg: Cfg, flight: InFlight, at: Iterable[int]) -> Program:
    """Waits in front of these barriers without what loads of global memory need."""
    edit, changed = Edit(kernel), False
    for barrier in at:
        i = barrier - 1
        while i >= cfg.block_of(barrier).start and (cfg.instructions[i].desc.is_wait or _is_hint(cfg, i)):
            covered = flight.covered_by(i).get(_counter(cfg), frozenset())
            if any(_may_stay(cfg, load) for load in covered) and cfg.instructions[barrier].desc.is_barrier:
                rest = {counter: n for counter, n in flight.waits[i].items() if counter != _counter(cfg)}
                edit.remove([cfg.lines[i]])
                edit.insert(cfg.lines[i], map(instruction_line, wait_instructions(cfg, rest)))
                changed = True
            i -= 1
    return edit.apply() if changed else kernel.program


def _counter(cfg: Cfg) -> str:
    """What loads of global memory raise."""
    (counter,) = cfg.family.raised["global_load"]
    return counter


def _is_hint(cfg: Cfg, i: int) -> bool:
    return dependences.is_hint(cfg.instructions[i])


def _may_stay(cfg: Cfg, load: int) -> bool:
    inst = cfg.instructions[load]
    return dependences.plain_load(inst) and inst.desc.space in ("global", "scratch")


def _with_wait(kernel: Kernel, open_at: set[int], done: dict[int, frozenset[tuple[int, str]]]) -> Program:
    """The program with the first wait that is missing, in the order of the flow; the very program where none is."""
    cfg = control_flow.of_kernel(kernel)
    flight = waits.analyse(cfg)
    lines = [id(kernel.program.lines[n]) for n in cfg.lines]

    def before(i: int, event: Event) -> bool:
        load, counter = event
        touched = waits.filled(cfg, load) & (cfg.uses[i] | cfg.defs[i])
        if touched and any(waits.too_early(cfg, load, i, counter)):
            return True
        inst = cfg.instructions[i]
        ends = inst.desc.sched == "message" or (inst.desc.effect and not (inst.desc.is_branch or inst.desc.is_wait))
        if lines[i] not in done or not (ends or dependences.guards_memory(inst)):
            return False
        return (lines[load], counter) not in done[lines[i]] and not (lines[i] in open_at and _may_stay(cfg, load))

    rank = {i: (n, i) for n, b in enumerate(cfg.order) for i in cfg.blocks[b].range}
    for around in (False, True):  # what comes around a loop is mostly waited for where it is used within
        for i in rank:
            numbers = [
                n for event, n in flight.before[i].items()
                if event[1] == _counter(cfg) and (around or rank[event[0]] < rank[i]) and before(i, event)
            ]  # fmt: skip
            if numbers:
                edit = Edit(kernel)
                wait = wait_instructions(cfg, {_counter(cfg): min(numbers)})
                edit.insert(cfg.lines[i], map(instruction_line, wait))
                return edit.apply()
    return kernel.program
