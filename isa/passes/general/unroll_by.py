"""Unrolling of counted loops: a kernel -> the same with several iterations between two tests.

A loop of one block that ends with

    s_add_i32 counter, counter, step        a power of two, up or down; the only write of the counter
    s_cmp_eq_u32 counter, 0                 or _lg_; nothing else reads SCC after it
    s_cbranch_scc0 .Lloop

gets a second body after it, in which its instructions stand `by` times and only the last test is left. The loop's head
asks whether `by` iterations can be made at once: they can where the counter is a multiple of by * step, for then no
test between can be the last. Until that is so the old body runs, less than `by` times, since the counter comes nearer
to 0 with each iteration:

    .Lloop:     s_and_b32 free, counter, by * step - 1
                s_cbranch_scc0 .Lunrolled
                the body                                then .Lloop or the code after
    .Lunrolled: the body, by times, one test            then .Lunrolled or the code after

Of other loops that add a number to a counter and compare that with what the loop does not change, the head makes the
tests of all iterations but the last beforehand:

    .Lloop:     s_add_i32 free, counter, step
                the test, of free
                s_cbranch_scc0 .Lrest                   where it would end the loop; the same for 2 * step ...
                the body, by times, one test            then .Lloop or the code after
    .Lrest:     the body                                then .Lloop or the code after

Any number of iterations is right, none is made that was not, and nothing is known of the counter that the text does not
say. Loads of all iterations are in one block then, for `widen-loads`, `spread-loads` and `schedule`.

Limits: conditions of VCC or EXEC; tests of anything else that an iteration computes.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator
from dataclasses import dataclass

from isa.analysis import cfg as flow_graph
from isa.analysis import liveness
from isa.analysis.cfg import Block, Cfg
from isa.asm.emit import instruction_line, label_line
from isa.asm.program import Kernel, Label, Line, Program
from isa.passes.edit import Edit, instruction_lines
from isa.registers import SCC, SGPR_LIMIT, Reg
from isa.semantics.instruction import Imm, Instruction

_LONGEST = 3000
"""Instructions that an unrolled body may have."""
_ADDS = ("s_add_i32", "s_add_u32", "s_addk_i32")
_EQUAL = ("s_cmp_eq_u32", "s_cmp_eq_i32", "s_cmp_lg_u32", "s_cmp_lg_i32")
_TESTS = (*_EQUAL, *(f"s_cmp_{how}_{kind}" for how in ("gt", "ge", "lt", "le") for kind in ("u32", "i32")))


@dataclass(frozen=True)
class _Counted:
    """A loop that can be unrolled. test: the position of its comparison; to_zero: it ends at 0 by a power of two; free:
    an SGPR that holds nothing."""

    block: Block
    counter: Reg
    step: int
    test: int
    to_zero: bool
    free: Reg


def unrolled(kernel: Kernel, by: int) -> Program:
    """The program with each loop of the kernel unrolled that can be; the very program where none can."""
    cfg = flow_graph.of_kernel(kernel)
    loops = [] if cfg.calls or cfg.indirect_jumps else list(_loops(cfg, by))
    edit, names = Edit(kernel), _names(kernel.program)
    for loop in loops:
        _unroll(edit, cfg, loop, by, names)
    return edit.apply() if loops else kernel.program


def _names(program: Program) -> Iterator[str]:
    """Labels that are not there yet."""
    known = {line.node.name for line in program.lines if isinstance(line.node, Label)}
    number = 0
    while True:
        if (name := f".Lunrolled_{number}") not in known:
            yield name
        number += 1


def _loops(cfg: Cfg, by: int) -> Iterator[_Counted]:
    live = liveness.analyse(cfg)
    for loop in cfg.loops:
        block = cfg.blocks[loop.header]
        if len(loop.blocks) > 1 or len(block.successors) < 2 or by * len(block.range) > _LONGEST:
            continue
        found = _counter(cfg, block)
        if found is None or SCC in live.live_in(block.start):
            continue
        counter, step, test, to_zero = found
        free = [r for r in live.free(block.range, "s", SGPR_LIMIT) if r not in live.live_in(block.start)]
        if free:
            yield _Counted(block, counter, step, test, to_zero, free[0])


def _counter(cfg: Cfg, block: Block) -> tuple[Reg, int, int, bool] | None:
    """(the counter, its step, the position of the test, whether it goes to 0) of a loop of one block."""
    insts = cfg.instructions
    last = insts[block.end - 1]
    if not last.desc.name.startswith("s_cbranch_scc"):
        return None
    test = next((i for i in reversed(block.range[:-1]) if SCC in insts[i].writes()), None)
    if test is None or insts[test].desc.name not in _TESTS:
        return None
    if any(SCC in insts[i].reads() for i in range(test + 1, block.end - 1)):
        return None
    written = {r: i for i in block.range for r in insts[i].writes()}
    counters = [o for o in insts[test].operands if isinstance(o, Reg) and o in written]
    if len(counters) != 1 or counters[0].index >= SGPR_LIMIT:
        return None
    counter = counters[0]
    writes = [i for i in block.range if counter in insts[i].writes()]
    if len(writes) != 1 or writes[0] > test or insts[writes[0]].desc.name not in _ADDS:
        return None
    step = _step(insts[writes[0]], counter)
    goes_on = insts[test].desc.name.startswith("s_cmp_lg") == last.desc.name.endswith("scc1")
    to_zero = goes_on and insts[test].desc.name in _EQUAL and any(_number(o) == 0 for o in insts[test].operands)
    return (counter, step, test, to_zero and abs(step) & abs(step) - 1 == 0) if step else None


def _step(inst: Instruction, counter: Reg) -> int:
    """What an instruction adds to the counter; 0 where that is no number."""
    numbers = [n for o in inst.operands[1:] if (n := _number(o)) is not None]
    if len(numbers) != 1 or (inst.desc.name != "s_addk_i32" and counter not in inst.operands[1:]):
        return 0
    half = 1 << (15 if inst.desc.name == "s_addk_i32" else 31)
    return (numbers[0] + half) % (2 * half) - half


def _number(operand: object) -> int | None:
    return operand.value if isinstance(operand, Imm) and isinstance(operand.value, int) else None


def _unroll(edit: Edit, cfg: Cfg, loop: _Counted, by: int, names: Iterator[str]) -> None:
    first, last = cfg.lines[loop.block.start], cfg.instructions[loop.block.end - 1]
    other, rest = next(names), next(names)
    copies = [instruction_line(inst) for copy in _copies(cfg, loop, by) for inst in copy]
    back = last.operands[0] if not loop.to_zero else other
    copies += instruction_lines([f"{last.mnemonic} {back}"])
    leave = instruction_lines([f"s_branch {rest}"])
    if loop.to_zero:
        head = [f"s_and_b32 {loop.free}, {loop.counter}, {by * abs(loop.step) - 1:#x}", f"s_cbranch_scc0 {other}"]
        edit.insert(first, instruction_lines(head))
        edit.insert(cfg.lines[loop.block.end - 1] + 1, [*leave, label_line(other), *copies, label_line(rest)])
        return
    edit.insert(first, [*_tests(cfg, loop, by, last, other), *copies, *leave, label_line(other)])
    edit.insert(cfg.lines[loop.block.end - 1] + 1, [label_line(rest)])


def _tests(cfg: Cfg, loop: _Counted, by: int, last: Instruction, rest: str) -> list[Line]:
    """The tests of all iterations but the last, which go to the loop as it was."""
    test = cfg.instructions[loop.test]
    operands = tuple(loop.free if o == loop.counter else o for o in test.operands)
    ends = "s_cbranch_scc0" if last.desc.name.endswith("scc1") else "s_cbranch_scc1"
    lines: list[Line] = []
    for n in range(1, by):
        lines += instruction_lines([f"s_add_i32 {loop.free}, {loop.counter}, {n * loop.step}"])
        lines += [instruction_line(dataclasses.replace(test, operands=operands))]
        lines += instruction_lines([f"{ends} {rest}"])
    return lines


def _copies(cfg: Cfg, loop: _Counted, by: int) -> list[list[Instruction]]:
    """The instructions of each iteration, the test in the last one only, no branch."""
    rows = loop.block.range[:-1]
    return [[cfg.instructions[i] for i in rows if i != loop.test or copy == by - 1] for copy in range(by)]
