"""Polynomials at block entries: `PolynomialMachine` carried along the control flow.

`entry` is the state in which the hardware starts a wave of the kernel, from its descriptor and metadata: the kernarg
pointer and workgroup numbers in SGPRs, the thread number in v0 (RDNA3 ISA guide 3.13; LLVM AMDGPUUsage, "Initial Kernel
Execution State"). `arrive` walks from there along the dominators of a block. Where paths meet, and at the head of a
loop, a register that any path between changed holds something new, an unknown of its own; nothing else is guessed, but
that a counter which starts at a multiple of 2**k and counts by one stays one.
"""

from __future__ import annotations

from isa.algebra.term import Term
from isa.algebra.terms import Terms
from isa.analysis.cfg import Cfg, Loop
from isa.asm.program import Kernel
from isa.object.metadata import arguments
from isa.passes.symbolic.symbolic import PolynomialMachine
from isa.registers import Reg, s, v
from isa.semantics import wave_start
from isa.semantics.instruction import Instruction


def entry(kernel: Kernel) -> PolynomialMachine:
    """The machine as a wave of this kernel finds it. Integer arguments are taken to be not negative."""
    machine = PolynomialMachine()
    start = wave_start.of_kernel(kernel)
    if (at := start.user.get("kernarg_segment_ptr")) is not None:
        machine.kernarg = machine.terms.unknown("kernarg", 64, uniform=True)
        machine.hold(at, machine.kernarg)
    places = start.group_ids
    for axis, (number, shift, _) in places.items():
        if shift == 0 and [at for at, _, _ in places.values()].count(number) == 1:  # else two numbers share a register
            machine.registers[s(number)] = machine.terms.unknown(f"workgroup_{axis}", 32, uniform=True)
    if start.workitem_id == 0:
        threads = _number(kernel, ".max_flat_workgroup_size", 1024)
        ones = (1 << (threads - 1).bit_length()) - 1
        machine.registers[v(0)] = machine.terms.unknown("thread", 32, uniform=False, ones=ones)
    machine.arguments = _arguments(kernel, machine.terms)
    return machine


def arrive(cfg: Cfg, start: PolynomialMachine, block: int) -> PolynomialMachine:
    """The machine at the first instruction of `block`, from `start` at the function's entry."""
    chain: list[int] = []
    at: int | None = block
    while at is not None:
        chain.append(at)
        at = cfg.idom[at]
    machine = start.copy()
    here = chain.pop()
    while chain:
        for position in cfg.blocks[here].range:
            machine.run(cfg.instructions[position])
        there = chain.pop()
        _join(cfg, machine, between(cfg, here, there), there)
        here = there
    return machine


def leave(cfg: Cfg, start: PolynomialMachine, block: int) -> PolynomialMachine:
    """The machine after the last instruction of `block`."""
    machine = arrive(cfg, start, block)
    for position in cfg.blocks[block].range:
        machine.run(cfg.instructions[position])
    return machine


def _join(cfg: Cfg, machine: PolynomialMachine, blocks: set[int], at: int) -> None:
    """Forget what the blocks write. A register that only counts in steps keeps what its multiples tell: the low bits
    that neither its first value nor a step has set."""
    changes: dict[Reg, list[Instruction]] = {}
    for b in blocks:
        for i in cfg.blocks[b].range:
            for unit in cfg.instructions[i].writes():
                changes.setdefault(unit, []).append(cfg.instructions[i])
    for unit, by in changes.items():
        ones, probe = -1, machine.copy()
        first = probe.term(unit)
        if len(by) == 1 and unit in by[0].reads():
            probe.forget(unit, "counter")
            before = probe.term(unit)
            probe.run(by[0])
            if step := probe.terms.sub(probe.term(unit), before).value:
                ones = -((first.ones | step) & -(first.ones | step))
        machine.forget(unit, f"at block {at}", ones)


def between(cfg: Cfg, here: int, there: int) -> set[int]:
    """The blocks on paths from `here` to `there` that do not come back to `here`; a loop that `there` heads is one."""
    found: set[int] = set()
    work = [p for p in cfg.blocks[there].predecessors if p in cfg.idom]
    while work:
        block = work.pop()
        if block != here and block not in found:
            found.add(block)
            work.extend(p for p in cfg.blocks[block].predecessors if p in cfg.idom)
    return found


def name_of(cfg: Cfg, loop: Loop) -> str:
    """The loop's label, or where its first instruction stands."""
    start = cfg.blocks[loop.header].start
    return next((name for name, at in cfg.labels.items() if at == start), f"instruction {start}")


def _number(kernel: Kernel, key: str, default: int) -> int:
    line = kernel.metadata.get(key)
    if line is None:
        return default
    return int(kernel.program.lines[line].text.partition(":")[2])


def _arguments(kernel: Kernel, terms: Terms) -> dict[int, Term]:
    """Byte offset of the kernarg segment -> what the dword there holds, from the `.args` of the metadata."""
    found: dict[int, Term] = {}
    for _, argument in arguments(kernel):
        offset, name = argument.offset, argument.name or f"argument at {argument.offset}"
        if argument.size == 8:
            wide = terms.unknown(name, 64, uniform=True)
            found[offset], found[offset + 4] = terms.trunc(wide), terms.hi(wide)
        elif argument.size == 4:
            found[offset] = terms.unknown(name, 32, uniform=True, ones=0x7FFFFFFF)
    return found
