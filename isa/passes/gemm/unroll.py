"""Kernel 7: the inner loop unrolled whole, its LDS addresses folded into offsets.

The loop is carried out on polynomials, step by step, until its branch is not taken; so the number of steps and the LDS
address of each load in each step are known. An address that some register plus a constant of 16 bits gives, with a
register that the loop does not change, is written in this way. What then computes nothing that is read (the running
addresses, the counter, the comparison) is dead and goes.

With the option `by`: any loop that counts, in copies (`unroll_by`).
"""

from __future__ import annotations

import dataclasses
from dataclasses import dataclass
from typing import ClassVar

from isa.analysis import cfg as flow_graph
from isa.analysis.cfg import Cfg, Loop
from isa.asm.program import Label, Line, Program
from isa.errors import IsaError
from isa.passes.edit import Edit, named, remove_dead, render
from isa.passes.gemm import outer_product
from isa.passes.general.unroll_by import unrolled
from isa.passes.symbolic import flow
from isa.passes.symbolic.poly import Poly
from isa.passes.symbolic.symbolic import PolynomialMachine
from isa.registers import Reg
from isa.semantics.instruction import Instruction

_LDS_OFFSET = 1 << 16


@dataclass(frozen=True)
class Unroll:
    """Unrolls the inner loop of a GEMM, all steps of it.

    limit: the most steps that are unrolled; kernel: which one, of several.
    by:    2, 4, 8: so many iterations at once of any loop of one block that counts; 0: all steps of the inner loop.

    Requires:   an inner loop of one basic block whose number of steps is a constant; with `by` one that counts so.
    Guarantees: the same instructions in the same order as the loop ran them, without branch, counter and, where they
                fit, address arithmetic; with `by` without the tests between.
    Leaves alone: registers, waits, and everything outside of the loop that is still needed; with `by` other loops, and
                kernels that call.
    """

    name: ClassVar[str] = "unroll"
    limit: int = 64
    by: int = 0
    kernel: str = ""

    def run(self, program: Program) -> Program:
        if self.by:
            return self._by(program)
        kernel = program.kernel(self.kernel or None)
        cfg = flow_graph.of_kernel(kernel)
        loop = outer_product.most_fmas(kernel, cfg)
        outer_product.one_block(cfg, loop)
        block = cfg.blocks[loop.header]
        before = outer_product.entering(cfg, loop)
        machine = flow.leave(cfg, flow.entry(kernel), before.index)
        steps = self._steps(cfg, loop, machine)
        label_line = _own_label(cfg, loop, program)
        edit = Edit(kernel)
        edit.remove(range(label_line, cfg.lines[block.end - 1] + 1))
        edit.insert(cfg.lines[block.start], render("unrolled.s.j2", steps=steps))
        return remove_dead(edit.apply().kernel(kernel.name))

    def _by(self, program: Program) -> Program:
        if self.by not in (2, 4, 8):
            raise IsaError(f"loops are not unrolled by {self.by}", expected="2, 4, 8")
        made = program
        for name in named(program, self.kernel):
            made = unrolled(made.kernel(name), self.by)
        if made is program:
            raise IsaError("no loop of one block ends with a test of a counter to which it adds a constant")
        return made

    def _steps(self, cfg: Cfg, loop: Loop, machine: PolynomialMachine) -> list[list[Instruction]]:
        """The instructions of each step, their LDS addresses folded."""
        positions = cfg.blocks[loop.header].range
        stable = _stable_registers(cfg, loop, machine)
        steps = []
        for _ in range(self.limit):
            step = []
            for i in positions[:-1]:
                inst = cfg.instructions[i]
                step.append(_folded(inst, machine, stable))
                machine.run(inst)
            steps.append(step)
            branch = cfg.instructions[positions[-1]]
            if not _taken(branch, machine):
                return steps
        raise branch.error(f"the loop runs more than {self.limit} times", expected="fewer iterations, to unroll all")


def _taken(branch: Instruction, machine: PolynomialMachine) -> bool:
    """Whether the loop goes on. IsaError where that is not a constant."""
    machine.run(branch)
    condition = machine.condition
    if condition is None or condition.value is None:
        raise branch.error(
            "the number of steps of the inner loop is not a constant",
            expected="a counter that starts at a constant and is compared with a constant",
            got="" if condition is None else str(condition),
        )
    return bool(condition.value)


def _stable_registers(cfg: Cfg, loop: Loop, machine: PolynomialMachine) -> dict[Poly, list[tuple[Reg, int]]]:
    """What VGPRs hold that the loop does not write: polynomial without constant -> (register, constant).

    Registers that no loop around writes come first: an address in them needs no instruction at all.
    """
    own = {u for i in cfg.blocks[loop.header].range for u in cfg.instructions[i].writes()}
    around = {u for i in cfg.positions(outer_product.outermost(cfg, loop)) for u in cfg.instructions[i].writes()}
    found: dict[Poly, list[tuple[Reg, int]]] = {}
    for register in sorted(machine.registers, key=lambda r: (r in around, r)):
        if register.is_vgpr and register not in own:
            poly = machine[register]
            found.setdefault(poly.without_constant(), []).append((register, poly.constant))
    return found


def _folded(inst: Instruction, machine: PolynomialMachine, stable: dict[Poly, list[tuple[Reg, int]]]) -> Instruction:
    """An LDS load with its address as a stable register and an offset; any other instruction as it is."""
    access = inst.desc.access
    if inst.pair is not None or access is None or access.space != "lds" or access.pair or access.kind != "load":
        return inst
    address = machine.address(inst)
    for register, constant in stable.get(address.without_constant(), []):
        offset = address.constant - constant
        if 0 <= offset < _LDS_OFFSET:
            rest = tuple(m for m in inst.modifiers if m[0] != "offset")
            modifiers = (("offset", offset), *rest) if offset else rest
            return dataclasses.replace(inst, operands=(inst.operands[0], register), modifiers=modifiers)
    return inst


def _own_label(cfg: Cfg, loop: Loop, program: Program) -> int:
    """The line of the loop's label, which nothing but its own branch may name."""
    first, last = cfg.blocks[loop.header].start, cfg.blocks[loop.header].end - 1
    line = next(n for n in range(cfg.lines[first], -1, -1) if isinstance(program.lines[n].node, Label))
    name = str(_label(program.lines[line]))
    for i, inst in enumerate(cfg.instructions):
        if i != last and any(str(o) == name for o in inst.operands):
            raise inst.error(f"a second branch goes to the inner loop {name}")
    return line


def _label(line: Line) -> str:
    assert isinstance(line.node, Label)
    return line.node.name
