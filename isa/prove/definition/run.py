"""Execution for the proof by definition: a kernel's waves, run block by block until all have ended.

All waves that stand at the beginning of the same block run it together; of several blocks the first in the text goes
first, so that waves which parted at a branch meet again after it. A block ends at a branch, before a branch target and
at a barrier. Waves of a workgroup that wait at a barrier go on when all of them do. Where workgroups speak with each
other, a launch may have them run one after another instead (`Launch.order`).

Hints do nothing here, nor do waits but those for stores of which an atomic tells (`access`): a value is there as soon
as it is loaded. That waits for it are in place is for `isa.lint.lint` and for `hipgemm check` to show.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection
from dataclasses import dataclass, replace
from functools import cached_property, lru_cache

import numpy as np
from numpy.typing import NDArray

from isa.analysis import cfg
from isa.asm.program import Kernel
from isa.prove.definition import access, alu
from isa.prove.definition.fused import fused
from isa.prove.definition.operands import plain, refused
from isa.prove.definition.waves import EXEC, SCC, Fault, Step, Waves
from isa.registers import Reg
from isa.semantics.instruction import Instruction

HINTS = frozenset(
    "s_delay_alu s_nop s_clause s_setprio s_code_end s_sleep s_icache_inv s_set_inst_prefetch_distance v_nop "
    "v_pipeflush".split()
)
RENAMED = {
    "s_add_co_u32": "s_add_u32", "s_add_co_i32": "s_add_i32", "s_sub_co_u32": "s_sub_u32",
    "s_sub_co_i32": "s_sub_i32", "s_add_co_ci_u32": "s_addc_u32", "s_sub_co_ci_u32": "s_subb_u32",
    "s_addk_co_i32": "s_addk_i32", "v_mad_co_u64_u32": "v_mad_u64_u32", "v_mad_co_i64_i32": "v_mad_i64_i32",
}  # fmt: skip
"""RDNA4's names of instructions that are as before (RDNA4 ISA guide)."""
CONDITIONS = {
    "s_cbranch_scc0": (SCC, 0), "s_cbranch_scc1": (SCC, 1), "s_cbranch_vccz": (alu.VCC, 0),
    "s_cbranch_vccnz": (alu.VCC, 1), "s_cbranch_execz": (EXEC, 0), "s_cbranch_execnz": (EXEC, 1),
}  # fmt: skip
LIMIT = 400_000
"""Instructions, each counted once for all waves that run it together: after it a kernel is taken to run for ever."""


@dataclass(frozen=True)
class Composed:
    """A step that consists of others, and of what `run` does around them."""

    others: tuple[Step, ...]
    run: Callable[[Waves, tuple[Step, ...]], None]

    def __call__(self, w: Waves) -> None:
        self.run(w, self.others)

    def over(self, follow: Callable[[Step], Step]) -> Composed:
        """The same with other meanings of its steps."""
        return Composed(tuple(map(follow, self.others)), self.run)


@dataclass(frozen=True)
class Section:
    """Instructions from `start` to `end`; their steps; how the section ends: "next", "branch", "barrier" or "end".

    target: of a branch, the section that it goes to; condition: (SGPR, 0 or 1), None where it always goes.
    """

    start: int
    end: int
    steps: tuple[tuple[int, Step], ...]
    ends: str
    target: int = -1
    condition: tuple[int, int] | None = None


@dataclass
class DecodedKernel:
    """A kernel, decoded. seen: (section, next one) that some wave went; -1 after s_endpgm."""

    flow: cfg.Cfg
    sections: tuple[Section, ...]

    @staticmethod
    def of(kernel: Kernel) -> DecodedKernel:
        """Raises Beyond for an instruction that is not known."""
        flow = cfg.of_kernel(kernel)
        flow = replace(flow, instructions=tuple(map(_as_before, flow.instructions)))
        reached = {position for index in flow.order for position in flow.blocks[index].range}
        barriers = [i for i, inst in enumerate(flow.instructions) if inst.desc.effect == "barrier"]
        starts = sorted({b.start for b in flow.blocks} | {i + 1 for i in barriers})
        number = {start: i for i, start in enumerate(starts)}
        ends = [*starts[1:], len(flow)]
        found = []
        for start, end in zip(starts, ends, strict=True):
            if start in reached:
                found.append(_section(flow, start, end, number))
            else:
                found.append(Section(start, end, (), "end"))
        return DecodedKernel(flow, tuple(found))

    def place(self, position: int) -> Instruction:
        return self.flow.instructions[position]

    @cached_property
    def vgprs(self) -> int:
        """How many it uses."""
        halves = (half for inst in self.flow.instructions for half in inst.halves)
        registers = (x for half in halves for x in half.operands if isinstance(x, Reg) and x.is_vgpr)
        return max((x.index + x.count for x in registers), default=1)

    def unseen(self, seen: set[tuple[int, int]]) -> tuple[Instruction, str] | None:
        """The first branch of which one side was never taken, or the first instruction that was never reached."""
        ran = {section for section, _ in seen}
        reached = {position for index in self.flow.order for position in self.flow.blocks[index].range}
        for i, section in enumerate(self.sections):
            if section.start not in reached:
                continue
            if i not in ran:
                return self.place(section.start), "is never reached"
            if section.condition is not None:
                for to, what in ((i + 1, "always branches"), (section.target, "never branches")):
                    if (i, to) not in seen:
                        return self.place(section.end - 1), what
        return None


def _as_before(inst: Instruction) -> Instruction:
    """By the name that RDNA3 has for it."""
    stem, *suffix = re.split("(_e(?:32|64))$", inst.mnemonic)
    return replace(inst, mnemonic=RENAMED[stem] + "".join(suffix)) if stem in RENAMED else inst


def _section(flow: cfg.Cfg, start: int, end: int, number: dict[int, int]) -> Section:
    steps = []
    last = flow.instructions[end - 1]
    special = cfg.is_branch(last) or last.desc.effect == "barrier" or last.mnemonic == "s_endpgm"
    for position in range(start, end - special):
        inst = flow.instructions[position]
        last_words = inst.mnemonic == "s_sendmsg" and flow.instructions[position + 1].mnemonic == "s_endpgm"
        if last_words or (position == end - 2 and _is_barrier(inst, last)):
            continue
        if (inst.desc.is_wait or alu.base_name(inst.mnemonic) in HINTS) and _access(inst, 0) is None:
            continue
        steps.append((position, _step(inst, position)))
    done = tuple(fused(steps, flow.instructions))
    if not special:
        return Section(start, end, done, "next")
    plain(last)
    if last.desc.effect == "barrier":
        if last.operands and not (end - start > 1 and _is_barrier(flow.instructions[end - 2], last)):
            raise refused(last, f"{last} without {last.family.barrier[0]} before it")
        return Section(start, end, done, "barrier")
    if last.mnemonic == "s_endpgm":
        return Section(start, end, done, "end")
    target = cfg.destination(last, flow.labels)
    if target is None or (last.mnemonic != "s_branch" and last.mnemonic not in CONDITIONS):
        raise refused(last)
    return Section(start, end, done, "branch", number[target], CONDITIONS.get(last.mnemonic))


def _is_barrier(signal: Instruction, wait: Instruction) -> bool:
    """Whether the two are a barrier of the workgroup: nothing stands between them, which would be in neither epoch."""
    effects = signal.desc.effect, wait.desc.effect
    return effects == ("signal", "barrier") and signal.of_workgroup and wait.of_workgroup


def _step(inst: Instruction, position: int) -> Step:
    """A step is made once for instructions that are alike; only a store knows its place."""
    return _access(inst, position if "_store_" in inst.mnemonic else 0) or _alu(inst)


_access = lru_cache(1 << 15)(access.decode)
_alu = lru_cache(1 << 15)(alu.decode)


def run(
    code: DecodedKernel, w: Waves, at: NDArray[np.int64] | None = None, stops: Collection[int] = ()
) -> set[tuple[int, int]]:
    """Runs all waves to their ends. Returns the edges that were taken: (section, next one), -1 after s_endpgm.

    at:    the section that each wave is to run, the first if not given; it is kept, and is -1 for what has ended.
    stops: sections before which a wave stops when it comes to them.

    Raises Fault, with the instruction.
    """
    if at is None:
        at = np.zeros(w.count, np.int64)
    waiting = np.zeros(w.count, bool)
    stopped = np.zeros(w.count, bool)
    seen: set[tuple[int, int]] = set()
    executed = 0
    orders = [(i, launch.order) for i, launch in enumerate(w.launches) if launch.order != "together"]
    while True:
        ready = (at >= 0) & ~waiting & ~stopped
        for launch, order in orders:
            _one_group(ready, at, w, launch, order)
        if not ready.any():
            if not waiting.any():
                return seen
            stuck = int(np.nonzero(waiting)[0][0])
            lonely = Fault("barrier", "waits at a barrier that other waves of its workgroup do not reach", (stuck, 0))
            raise _at(lonely, code.place(code.sections[at[stuck] - 1].end - 1))
        number = int(at[ready].min())
        waves = np.nonzero(ready & (at == number))[0]
        section = code.sections[number]
        executed += section.end - section.start
        w.select(waves)
        for position, step in section.steps:
            try:
                step(w)
            except Fault as fault:
                raise _at(fault, code.place(position)) from None
        if executed > LIMIT:
            endless = Fault("budget", f"does not end within {LIMIT} instructions", (int(waves[0]), 0))
            raise _at(endless, code.place(section.end - 1))
        nexts = _nexts(code, w, section, number)
        at[waves] = nexts
        seen |= {(number, int(to)) for to in np.unique(nexts)}
        stopped[waves] = np.isin(nexts, list(stops))
        if section.ends == "barrier":
            waiting[waves] = True
            _release(w, waiting)


def _one_group(ready: NDArray[np.bool_], at: NDArray[np.int64], w: Waves, launch: int, order: str) -> None:
    """Of a launch whose workgroups run one after another, only those waves stay ready of the workgroup that runs."""
    mine = w.launch == launch
    unfinished = w.group[mine & (at >= 0)]
    if len(unfinished):
        turn = unfinished.min() if order == "first" else unfinished.max()
        ready &= ~mine | (w.group == turn)


def _nexts(code: DecodedKernel, w: Waves, section: Section, number: int) -> NDArray[np.int64]:
    """The section that each wave goes to."""
    count = len(w.numbers)
    if section.ends == "end":
        return np.full(count, -1)
    if section.ends != "branch":
        return np.full(count, number + 1)
    if section.condition is None:
        return np.full(count, section.target)
    register, wanted = section.condition
    try:
        value = w.whole(w.s[register][:, w.at], "the condition") != 0
    except Fault as fault:
        raise _at(fault, code.place(section.end - 1)) from None
    return np.where(value == bool(wanted), section.target, number + 1)


def _release(w: Waves, waiting: NDArray[np.bool_]) -> None:
    """Workgroups all of whose waves wait go on."""
    arrived = np.bincount(w.group[waiting], minlength=len(w.ids))
    free = (arrived == np.bincount(w.group, minlength=len(w.ids))) & (arrived > 0)
    w.epoch[free] += 1
    w.arrived[free[w.group]] = w.complete[free[w.group]]
    waiting[free[w.group]] = False


def _at(fault: Fault, inst: Instruction) -> Fault:
    fault.inst = inst
    return fault
