"""Whether a changed instruction does what the original did, wherever and whenever it runs: at all sizes.

In: a kernel, the ranges of its arguments that are sizes, the size of a workgroup. Out: for an instruction of it and a
changed one, the reason why they do the same, or None where that is not seen. Two reasons are known:

- only factors of a product changed places (which only tells, of two NaNs, whose payload survives);
- both give the same number, one for all values that their operands can have (`isa.analysis.spans`). These follow
  from what computed them, back to sizes and the number of the work-item; a loop, a value from memory and one that is
  written in some lanes only can be anything;
- each gives one number, and whatever reads it does the same with either (`unseen`).
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import cached_property

from isa.analysis import cfg as control_flow
from isa.analysis import defuse, exec_mask
from isa.analysis.spans import Span, anything, constant, join, results
from isa.check.unseen import readers
from isa.describe import lookup
from isa.program import Imm, Instruction, Kernel, Modified, Operand
from isa.registers import Reg, s, v

Sizes = Mapping[int, tuple[int, int]]
"""Byte offset of an argument of 32 bits -> the smallest and the largest that it can be."""
Left = list[tuple[Operand, int]]
"""What an instruction leaves in its operands."""
_POINTER = (s(0), s(1))  # to the arguments, as the waves begin
_FACTORS = ("v_fmac_f32", "v_fma_f32", "v_mul_f32", "v_dual_fmac_f32", "v_dual_mul_f32")


class Local:
    """One kernel. threads: of a workgroup, along x."""

    def __init__(self, kernel: Kernel, sizes: Sizes, threads: int) -> None:
        self.kernel, self.sizes, self.threads = kernel, sizes, threads

    @cached_property
    def flow(self) -> control_flow.Cfg:
        return control_flow.of_kernel(self.kernel)

    @cached_property
    def _chains(self) -> defuse.DefUse:
        return defuse.analyse(self.flow)

    @cached_property
    def _lanes(self) -> exec_mask.ExecMask:
        return exec_mask.analyse(self.flow)

    @cached_property
    def _known(self) -> dict[tuple[int, Reg], Span]:
        return {}

    def same(self, line: int, changed: Instruction) -> str | None:
        """Why the instruction in this line and `changed` do the same, None where that is not seen."""
        position = self.flow.lines.index(line)
        original = self.flow.instructions[position]
        if _turned(original, changed):
            return "only factors of a product changed places"
        before, after = self._constants(position, original), self._constants(position, changed)
        if not before or not after:
            return None
        said = ", ".join(f"{number} in {operand}" for operand, number in before)
        if before == after:
            return f"leaves {said} before and after the change, whatever the sizes that the kernel takes"
        new = ", ".join(str(number) for _, number in after)
        return self._unseen(position, before, after, f"leaves {new} instead of {said}")

    def _unseen(self, position: int, before: Left, after: Left, said: str) -> str | None:
        """Why another number makes no difference: what reads it does the same."""
        pairs = list(zip(before, after, strict=True))
        regs = [old for (old, _), (new, _) in pairs if old == new and isinstance(old, Reg) and old.file == "s"]
        if len(regs) != len(pairs) or self.flow.instructions[position].desc.implicit_writes:
            return None
        left = {
            unit: (was >> 32 * k & 0xFFFFFFFF, now >> 32 * k & 0xFFFFFFFF)
            for reg, ((_, was), (_, now)) in zip(regs, pairs, strict=True) for k, unit in enumerate(reg.units())
        }  # fmt: skip
        found = readers(self.flow, position, left, self._read)
        if found is None:
            return None
        texts = ", ".join(f"`{self.flow.instructions[i]}` (line {self.flow.lines[i] + 1})" for i in found)
        return f"{said}, and what reads it does the same with either: {texts or 'nothing'}"

    def _constants(self, position: int, inst: Instruction) -> Left | None:
        """What it leaves in its operands, where that is one number each, and it does nothing else."""
        found: Left = []
        for half in inst.halves:
            desc = lookup(half)
            if desc.access is not None or desc.effect:
                return None
            written = [operand for role, operand in desc.roles_of(half) if role.written]
            spans = results(half, lambda operand, type_: self._read(position, operand, type_))
            units = [reg for operand in written if isinstance(operand, Reg) for reg in operand.units()]
            if len(spans) != len(written) or set(desc.writes(half)) != set(units):
                return None
            for operand, span in spans:
                if span.number is None:
                    return None
                found.append((operand, span.number))
        return found

    def _read(self, position: int, operand: Operand, type_: str) -> Span:
        """What an operand of the original can be there. A changed instruction reads the same registers."""
        if not isinstance(operand, Reg) or isinstance(operand, Modified) or operand.is_null:
            return anything(type_)
        value = constant(type_, 0)
        for k, unit in enumerate(operand.units()):
            value = value | self._register(position, unit).to(type_) << 32 * k
        return value

    def _register(self, position: int, reg: Reg) -> Span:
        key = position, reg
        if key not in self._known:
            self._known[key] = anything("u32")  # for who comes back here, in a loop
            try:
                sources = sorted(self._chains.defs_of(position, reg))
            except KeyError:
                sources = []
            spans = [self._written(source, reg) for source in sources]
            if spans:
                value = spans[0]
                for span in spans[1:]:
                    value = join(value, span)
                self._known[key] = value
        return self._known[key]

    def _written(self, source: int, reg: Reg) -> Span:
        """What a register can hold behind an instruction that writes it, or as the wave begins."""
        if source == defuse.ENTRY:
            return Span("u32", 0, self.threads - 1) if reg == v(0) else anything("u32")
        inst = self.flow.instructions[source]
        if inst.desc.access is not None:
            return self._argument(source, inst, reg)
        if inst.desc.exec_masked and not self._lanes.full[source]:
            return anything("u32")
        for half in inst.halves:
            for operand, span in results(half, lambda operand, type_: self._read(source, operand, type_)):
                if isinstance(operand, Reg) and reg in set(operand.units()):
                    return (span >> 32 * list(operand.units()).index(reg)).to("u32")
        return anything("u32")

    def _argument(self, source: int, inst: Instruction, reg: Reg) -> Span:
        """A size, where a scalar load takes it from the arguments."""
        access = inst.desc.access
        if access is None or access.space != "scalar" or access.kind != "load" or len(inst.operands) != 3:
            return anything("u32")
        target, base, offset = inst.operands
        if not isinstance(target, Reg) or not isinstance(base, Reg) or tuple(base.units()) != _POINTER:
            return anything("u32")
        given = all(self._chains.defs_of(source, unit) == {defuse.ENTRY} for unit in _POINTER)
        if not given or not isinstance(offset, Imm) or not isinstance(offset.value, int) or inst.modifiers:
            return anything("u32")
        at = offset.value + 4 * list(target.units()).index(reg)
        return Span("u32", *self.sizes[at]) if at in self.sizes else anything("u32")


def _turned(original: Instruction, changed: Instruction) -> bool:
    """Whether nothing differs but the order of the factors of multiplications."""
    if original == changed or len(original.halves) != len(changed.halves):
        return False
    for a, b in zip(original.halves, changed.halves, strict=True):
        if (a.mnemonic, a.modifiers) != (b.mnemonic, b.modifiers) or len(a.operands) != len(b.operands):
            return False
        if a.operands == b.operands:
            continue
        if lookup(a).name not in _FACTORS or a.modifiers:
            return False
        target, x, y, *more = a.operands
        if b.operands != (target, y, x, *more):
            return False
    return True
