"""Kernel 5 as the compiler writes it, and ways to change it: some keep what it computes, some do not."""

from __future__ import annotations

import dataclasses
import random
from collections.abc import Callable, Iterator
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory

import kernels_hip
from isa import toolchain
from isa.emit import instruction_line
from isa.parse import parse
from isa.program import Instruction, Kernel, Label, Line, Modified, Operand, Program
from isa.registers import Reg, v

SOURCES = Path(kernels_hip.__file__).parent


@cache
def kernel5() -> Program:
    with TemporaryDirectory() as folder:
        path = Path(folder) / "kernel5.s"
        include = SOURCES / "include"
        source = SOURCES / "kernel5_lds.hip"
        toolchain.find().compile(source, path, arch="gfx1100", cu_mode=True, include=include, flags=("-O3",))
        return parse(path.read_text(), "kernel5.s")


def _map_registers(inst: Instruction, place: Callable[[Reg], Reg]) -> Instruction:
    def moved(operand: Operand) -> Operand:
        if isinstance(operand, Modified) and isinstance(operand.operand, Reg):
            return dataclasses.replace(operand, operand=place(operand.operand))
        return place(operand) if isinstance(operand, Reg) else operand

    pair = _map_registers(inst.pair, place) if inst.pair else None
    return dataclasses.replace(inst, operands=tuple(map(moved, inst.operands)), pair=pair)


def _registers(inst: Instruction) -> Iterator[Reg]:
    for half in inst.halves:
        for operand in half.operands:
            reg = operand.operand if isinstance(operand, Modified) else operand
            if isinstance(reg, Reg):
                yield reg


def renamed(program: Program, seed: int) -> Program:
    """All VGPRs but v0 get other numbers at random; registers that one operand names together stay together."""
    kernel = program.kernel()
    run = list(range(256))  # the lowest register of each register's group of neighbours
    for _, inst in kernel.instructions():
        for reg in _registers(inst):
            if reg.is_vgpr:
                low = min(run[i] for i in range(reg.index, reg.index + reg.count))
                for i in range(reg.index, reg.index + reg.count):
                    run = [low if r == run[i] else r for r in run]
    groups: dict[int, list[int]] = {}
    for register in range(256):
        groups.setdefault(run[register], []).append(register)
    order = [g for low, g in groups.items() if low != run[0]]
    random.Random(seed).shuffle(order)
    new = dict(zip([*groups[run[0]], *(r for g in order for r in g)], range(256), strict=True))
    return _with_instructions(
        kernel, lambda inst: _map_registers(inst, lambda r: Reg("v", new[r.index], r.count) if r.is_vgpr else r)
    )


def _with_instructions(kernel: Kernel, change: Callable[[Instruction], Instruction]) -> Program:
    lines = list(kernel.program.lines)
    for number, inst in kernel.instructions():
        lines[number] = instruction_line(dataclasses.replace(change(inst), span=kernel.program.span(number)))
    return kernel.program.with_lines(lines)


def reordered(program: Program, seed: int, swaps: int = 4000) -> Program:
    """Neighbouring ALU instructions that do not depend on each other change places, at random."""
    kernel, lines, rng = program.kernel(), list(program.lines), random.Random(seed)
    for _ in range(swaps):
        number = rng.randrange(kernel.start, kernel.end - 1)
        a, b = lines[number].instruction, lines[number + 1].instruction
        if a is None or b is None or not (_is_alu(a) and _is_alu(b)):
            continue
        if not (a.writes() & (b.reads() | b.writes()) or a.reads() & b.writes()):
            lines[number], lines[number + 1] = lines[number + 1], lines[number]
    return program.with_lines(lines)


def _is_alu(inst: Instruction) -> bool:
    return inst.desc.body is not None and inst.desc.access is None and inst.desc.unit != "branch"


def inner_loop(program: Program) -> tuple[int, int]:
    """Lines of the loop that holds the FMAs: (its label, its branch)."""
    kernel = program.kernel()
    for number, inst in kernel.instructions():
        if inst.desc.unit == "branch":
            start = program.labels[str(inst.operands[0])]
            if start < number and any("fmac" in program.lines[i].text for i in range(start, number)):
                return start, number
    raise AssertionError("no loop of FMAs")


def unrolled(program: Program, times: int = 8) -> Program:
    """The loop of FMAs as straight text."""
    start, end = inner_loop(program)
    body = [line for line in program.lines[start + 1 : end] if not isinstance(line.node, Label)]
    return program.with_lines([*program.lines[:start], *body * times, *program.lines[end + 1 :]])


def edited(program: Program, number: int, old: str, new: str) -> Program:
    """One line with one text replaced; the text must be there."""
    lines = list(program.lines)
    text = lines[number].text
    assert old in text, f"{old!r} is not in {text!r}"
    source = "\n".join([*(line.text for line in lines[:number]), text.replace(old, new, 1)])
    source += "\n" + "\n".join(line.text for line in lines[number + 1 :]) + "\n"
    return parse(source, "mutant.s")


def find(program: Program, text: str, occurrence: int = 0, after: int = 0) -> int:
    """The line number of an occurrence of `text` in the kernel's instructions."""
    found = [n for n, _ in program.kernel().instructions() if n >= after and text in program.lines[n].text]
    return found[occurrence]


__all__ = ["Line", "edited", "find", "inner_loop", "kernel5", "renamed", "reordered", "unrolled", "v"]
