"""Polynomials at block entries: `PolynomialMachine` carried along the control flow.

`entry` is the state in which the hardware starts a wave of the kernel, from its descriptor and metadata: the kernarg
pointer and workgroup numbers in SGPRs, the thread number in v0 (RDNA3 ISA guide 3.13; LLVM AMDGPUUsage, "Initial Kernel
Execution State"). `arrive` walks from there along the dominators of a block. Where paths meet, and at the head of a
loop, a register that any path between changed holds something new, an atom of its own; nothing else is guessed, but
that a counter which starts at a multiple of 2**k and counts by one stays one.
"""

from __future__ import annotations

from isa.analysis.cfg import Cfg, Loop
from isa.asm.program import Kernel
from isa.object.metadata import arguments
from isa.passes.symbolic.pairs import high, low
from isa.passes.symbolic.poly import FULL, Atom, Poly
from isa.passes.symbolic.symbolic import PolynomialMachine
from isa.registers import Reg, s, v
from isa.semantics import wave_start
from isa.semantics.instruction import Instruction


def entry(kernel: Kernel) -> PolynomialMachine:
    """The machine as a wave of this kernel finds it. Integer arguments are taken to be not negative."""
    machine = PolynomialMachine()
    start = wave_start.of_kernel(kernel)
    if (at := start.user.get("kernarg_segment_ptr")) is not None:
        pointer = Poly.of(Atom("kernarg", (), uniform=True, wide=True))
        machine.kernarg = pointer
        machine.registers[at.sub(0)], machine.registers[at.sub(1)] = low(pointer), high(pointer)
    places = start.group_ids
    for axis, (number, shift, _) in places.items():
        if shift == 0 and [at for at, _, _ in places.values()].count(number) == 1:  # else two numbers share a register
            machine.registers[s(number)] = Poly.of(Atom(f"workgroup_{axis}", (), uniform=True))
    if start.workitem_id == 0:
        threads = _number(kernel, ".max_flat_workgroup_size", 1024)
        mask = (1 << (threads - 1).bit_length()) - 1
        machine.registers[v(0)] = Poly.of(Atom("thread", (), mask=mask))
    machine.arguments = _arguments(kernel)
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
        mask, probe = FULL, machine.copy()
        first = probe[unit]
        probe.forget(unit, "counter")
        before = probe[unit]
        if len(by) == 1 and unit in by[0].reads():
            probe.run(by[0])
            step = (probe[unit] - before).value
            low_bits = first.mask | step if step else 0
            mask = FULL & ~((low_bits & -low_bits) - 1) if step and low_bits else FULL
        machine.forget(unit, f"at block {at}", mask)


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


def _arguments(kernel: Kernel) -> dict[int, Poly]:
    """Byte offset of the kernarg segment -> what the dword there holds, from the `.args` of the metadata."""
    found: dict[int, Poly] = {}
    for _, argument in arguments(kernel):
        offset, name = argument.offset, argument.name or f"argument at {argument.offset}"
        if argument.size == 8:
            wide = Poly.of(Atom("arg", (offset, name), uniform=True, wide=True))
            found[offset], found[offset + 4] = low(wide), high(wide)
        elif argument.size == 4:
            found[offset] = Poly.of(Atom("arg", (offset, name), uniform=True, mask=0x7FFFFFFF))
    return found
