"""A kernel's instructions -> the static side of the cycle model (`engine_abi.Code`).

What each instruction is and how long it takes comes from its scheduling class (`isa.timing.machine.scheduling_classes`)
and `isa.timing.machine.rdna3`; what its operand reads cost from a bank rule. Blocks are those of `isa.analysis.cfg`, in
the order of the code, so that "the next block" is the fall-through.

s_delay_alu is attached to the instructions it speaks of: the next one (instid0) and the one that instskip names
(instid1), counted in the order of the code (RDNA3 ISA guide 16.5).

Limits: of s_waitcnt_depctr va_vdst only. RDNA4's dscnt and kmcnt are one counter here, as RDNA3 has them.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from functools import cache, lru_cache

import numpy as np

from isa.analysis.banks import Source, sources
from isa.analysis.cfg import Cfg
from isa.asm.encoding import size_of
from isa.registers import Reg
from isa.semantics.instruction import Access, Fields, Imm, Instruction, width
from isa.semantics.waits import depctr, parse_wait
from isa.targets import Family
from isa.timing.machine import bank_rules
from isa.timing.machine.scheduling_classes import Cost, cost
from isa.timing.machine.wave64 import WAVE32, Wave, issues
from isa.timing.native import engine_abi
from isa.timing.native.engine_abi import Code

_RAISE = (("global_load",), ("lds_load", "smem_load"), ("global_store",))
"""What raises the engine's counters, one after the other, by scheduling class."""
_SKIPS = {"SAME": 0, "NEXT": 1, "SKIP_1": 2, "SKIP_2": 3, "SKIP_3": 4, "SKIP_4": 5}


def number_of(reg: Reg) -> int:
    """The engine's number of a single register, see `engine_abi.REGISTERS`."""
    if reg.file == "v":
        return reg.index
    return engine_abi.SCC if reg.file == "scc" else engine_abi.VGPRS + reg.index


@cache
def _slots(family: Family) -> dict[str, int]:
    """A family's counters -> the engine's that has their place."""
    return {c: slot for slot, classes in enumerate(_RAISE) for name in classes for c in family.raised[name]}


def decode(cfg: Cfg, numbers: Mapping[str, float], bank_rule: str = bank_rules.DEFAULT, wave: Wave = WAVE32) -> Code:
    """The static arrays of a kernel. IsaError for an instruction without a description or a timing."""
    insts = cfg.instructions
    n = len(insts)
    rule = bank_rules.RULES[bank_rule]
    costs = [cost(inst) for inst in insts]
    kind = np.array([_kind(inst, c) for inst, c in zip(insts, costs, strict=True)], np.int64)
    passes, hold, latency, path = _costs(insts, numbers, wave)
    bank_reuse, bank_cold = np.zeros(n, np.int64), np.zeros(n, np.int64)
    wait = np.full((n, 3), -1, np.int64)
    delay = np.zeros((n, 4), np.int64)
    dwords = np.zeros(n, np.int64)
    counter, private, value = np.zeros(n, np.int64), np.zeros(n, np.int64), np.zeros(n, np.int64)
    claused = _claused(insts)
    for i, inst in enumerate(insts):
        if kind[i] == engine_abi.VALU:
            value[i] = engine_abi.SCALAR_TRANS if inst.desc.sched == "trans_scalar" else inst.desc.is_trans
        elif kind[i] == engine_abi.WAIT:
            waits = parse_wait(inst)
            for name, slot in _slots(inst.family).items():
                if name in waits and not 0 <= wait[i, slot] <= waits[name]:
                    wait[i, slot] = waits[name]
        elif kind[i] == engine_abi.SMEM:
            value[i] = engine_abi.CLAUSED if i in claused else 0
        elif kind[i] == engine_abi.LDS_EXCHANGE:
            dwords[i], counter[i] = issues(inst, wave), _slots(inst.family)[inst.counters[0]]
        elif inst.desc.access is not None:
            dwords[i] = _dwords(inst.desc.access) * issues(inst, wave)
            counter[i] = _slots(inst.family)[inst.counters[0]] if inst.counters else 0
            private[i] = inst.desc.access.space == "scratch"
            value[i] = engine_abi.ATOMIC if inst.desc.access.kind == "atomic" else 0
        elif kind[i] in (engine_abi.INTERNAL, engine_abi.PRIO):
            value[i] = _amount(inst, costs[i])
        if inst.desc.sched == "delay":
            _attach(delay, insts, i)
        elif (left := depctr(inst, "va_vdst")) is not None and left < inst.family.result_fields["va_vdst"][1]:
            delay[i, :2] = 4, left + 1
    for block in cfg.blocks:
        before: tuple[Source, ...] = ()
        for i in block.range:
            if kind[i] == engine_abi.VALU:
                now = sources(insts[i])
                matrix = round(numbers["wmma_bank_passes"]) if bank_rules.matrix_on_one_bank(insts[i]) else 0
                bank_reuse[i], bank_cold[i] = rule(before, now) + matrix, rule((), now) + matrix
                before = now
    src_at, src = _registers([inst.reads() for inst in insts], kind)
    dst_at, dst = _registers([inst.writes() for inst in insts], kind)
    return Code(
        kind=kind,
        block_first=np.array([b.start for b in cfg.blocks] + [n], np.int64),
        passes=passes,
        hold=hold,
        bank_reuse=bank_reuse,
        bank_cold=bank_cold,
        latency=latency,
        src_at=src_at,
        src=src,
        dst_at=dst_at,
        dst=dst,
        delay=delay,
        wait=wait,
        path=path,
        dwords=dwords,
        counter=counter,
        private=private,
        value=value,
        fetch=_lines(insts, round(numbers["icache_line"]), bool(numbers["icache_whole"])),
    )


def repriced(code: Code, cfg: Cfg, numbers: Mapping[str, float], wave: Wave = WAVE32) -> Code:
    """The same with other machine numbers."""
    passes, hold, latency, path = _costs(cfg.instructions, numbers, wave)
    return code._replace(passes=passes, hold=hold, latency=latency, path=path)


def _costs(
    insts: Sequence[Instruction], numbers: Mapping[str, float], wave: Wave
) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """(passes, hold, latency, path): all that depends on machine numbers. latency: of a result after the first pass."""
    passes, latency, path = (np.zeros(len(insts), np.int64) for _ in range(3))
    hold = np.ones(len(insts), np.int64)
    for i, inst in enumerate(insts):
        if inst.desc.is_valu:
            found = cost(inst)
            passes[i] = round(numbers[found.passes])
            if issues(inst, wave) == 2:
                passes[i] += round(numbers["trans_unit_cycles" if inst.desc.sched == "trans" else found.passes])
            latency[i] = round(numbers[found.latency] - numbers[found.passes] + 1)
            if numbers["valu_holds"] and not inst.desc.is_matrix:
                again = inst.desc.sched == "trans" and i + 1 < len(insts) and insts[i + 1].desc.is_trans
                hold[i] = round(numbers["trans_unit_cycles"]) if again else passes[i]
        elif inst.desc.access is not None:
            path[i] = _path(inst, inst.desc.access, numbers) * issues(inst, wave)
        elif inst.desc.sched == "lds_exchange":
            path[i] = round(numbers["path_lds_load"]) * issues(inst, wave)
    return passes, hold, latency, path


def _kind(inst: Instruction, found: Cost) -> int:
    """The class's kind; an atomic that returns the old value is a load."""
    if inst.desc.access is not None and inst.desc.access.returns:
        return {engine_abi.LDS_STORE: engine_abi.LDS_LOAD, engine_abi.STORE: engine_abi.LOAD}[found.kind]
    return found.kind


def _dwords(access: Access) -> int:
    """That a memory access moves for each lane."""
    return max(1, width(access.element)) * (2 if access.pair else 1)


def _path(inst: Instruction, access: Access, numbers: Mapping[str, float]) -> int:
    """Cycles of the request path."""
    dwords = _dwords(access)
    load = access.kind == "load"
    if access.space == "scalar":
        return 0
    if access.space == "lds":
        if load:
            return round(numbers["path_lds_load"])
        return round(numbers["path_lds_store"]) + (dwords - 1) // 2
    scalar_base = (
        any(role.kind == "sa" and isinstance(operand, Reg) for role, operand in inst.desc.roles_of(inst))
        or access.space == "scratch"
        or access.buffer
    )
    if load:
        return round(numbers["path_load_sgpr" if scalar_base else "path_load_vgpr"])
    return round(numbers["path_store"]) + (dwords - 1) + (not scalar_base)


def _amount(inst: Instruction, found: Cost) -> int:
    """Cycles beyond its own that s_nop or s_sleep takes; the priority of s_setprio; 0 for the others."""
    first = inst.operands[0] if inst.operands else None
    return found.amount * int(first.value) if found.amount and isinstance(first, Imm) else 0


def _claused(insts: Sequence[Instruction]) -> set[int]:
    """Positions in a clause, after its first instruction."""
    found: set[int] = set()
    for i, inst in enumerate(insts):
        first = inst.operands[0] if inst.desc.sched == "clause" and inst.operands else None
        if isinstance(first, Imm):
            found.update(range(i + 2, i + 2 + (int(first.value) & 63)))
    return found


def _attach(delay: np.ndarray, insts: Sequence[Instruction], at: int) -> None:
    fields = insts[at].operands[0] if insts[at].operands else None
    if not isinstance(fields, Fields):
        return
    given = {name: args[0] for name, args in fields.items if args}
    skip = _SKIPS.get(given.get("instskip", "SAME"), 0)
    for target, what in ((at + 1, given.get("instid0")), (at + 1 + skip, given.get("instid1"))):
        m = re.fullmatch(r"(VALU_DEP|TRANS32_DEP|FMA_ACCUM_CYCLE|SALU_CYCLE)_(\d)", what or "")
        if m is None or target >= len(insts):
            continue
        code = {"VALU_DEP": 1, "TRANS32_DEP": 2}.get(m[1], 3)
        free = 0 if delay[target, 0] == 0 else 2
        delay[target, free : free + 2] = code, int(m[2])


def _registers(sets: Sequence[frozenset[Reg]], kind: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Where the registers of each instruction begin, and their numbers, ascending. Memory and scalar instructions keep
    the scalar ones only: their VGPRs are covered by the drain of the VALU and by wait counters."""
    rows = []
    for regs, k in zip(sets, kind, strict=True):
        numbers = _numbers(regs)
        rows.append(numbers if k == engine_abi.VALU else [r for r in numbers if r >= engine_abi.VGPRS])
    at = np.concatenate([[0], np.cumsum([len(row) for row in rows])])
    return at.astype(np.int64), np.array([r for row in rows for r in row], np.int64)


@lru_cache(1 << 14)
def _numbers(regs: frozenset[Reg]) -> list[int]:
    return sorted(number_of(r) for r in regs if not r.is_null)


def _lines(insts: Sequence[Instruction], size: int, whole: bool) -> np.ndarray:
    """Lines of the code, of `size` bytes, from the first on: of each instruction's first byte, or of its last."""
    sizes = np.array([inst.size or size_of(inst) for inst in insts], np.int64)
    if insts and insts[0].address is not None:
        begins = np.array([i.address or 0 for i in insts], np.int64) - insts[0].address // size * size
    else:
        begins = np.cumsum(sizes) - sizes
    return (begins + (np.maximum(sizes, 1) - 1 if whole else 0)) // size
