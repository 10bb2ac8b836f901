"""Numbers that are one too large or too small: immediates, offsets, strides, counts, sizes, places of arguments."""

from __future__ import annotations

import dataclasses
import re
from collections.abc import Iterator

from isa.analysis import cfg as control_flow
from isa.analysis import defuse
from isa.asm.parse import parse_line
from isa.asm.program import Kernel, Line
from isa.object import metadata
from isa.registers import Reg, s
from isa.semantics.instruction import Imm, Instruction, lookup
from tools.mutation.mutants.edit import Mutant, mutant, raised, written

_POINTER = s(0, 2)  # to the arguments, where a kernel asks for nothing that comes before it
_ARGUMENT = re.compile(r"^(\s*(?:- )?\.(offset|size|value_kind):\s*)(\S+)\s*$")


def immediates(kernel: Kernel) -> Iterator[Mutant]:
    """Of operations, and the offsets of global and scalar accesses; those of LDS have a kind of their own."""
    for number, inst in kernel.instructions():
        access = inst.desc.access
        if inst.desc.effect or inst.desc.is_hint:
            continue
        if access is not None:
            offset = inst.modifier("offset", 0)
            if access.space == "global" and isinstance(offset, int):
                others = tuple((n, v) for n, v in inst.modifiers if n != "offset")
                moved = dataclasses.replace(inst, modifiers=(("offset", offset + 4), *others))
                yield written(kernel, "wrong immediate", number, moved)
            continue
        for at, (role, _) in enumerate(lookup(inst).roles_of(inst) if inst.pair is None else ()):
            if role.read and (changed := raised(inst, at)):
                yield written(kernel, "wrong immediate", number, changed)


def kernarg_offsets(kernel: Kernel) -> Iterator[Mutant]:
    for number, inst in kernel.instructions():
        from_there = inst.desc.space == "scalar" and len(inst.operands) == 3 and inst.operands[1] == _POINTER
        if from_there and (moved := raised(inst, 2, 4)):
            yield written(kernel, "kernarg offset", number, moved)


def lds_offsets(kernel: Kernel) -> Iterator[Mutant]:
    for number, inst in kernel.instructions():
        access = inst.desc.access
        if access is None or access.space != "lds":
            continue
        for name in ("offset0", "offset1") if access.pair else ("offset",):
            value = inst.modifier(name, 0)
            assert isinstance(value, int)
            others = tuple((n, v) for n, v in inst.modifiers if n != name)
            moved = value + (1 if access.pair else 4)
            changed = dataclasses.replace(inst, modifiers=tuple(sorted((*others, (name, moved)))))
            yield written(kernel, "LDS offset", number, changed)


def strides(kernel: Kernel, space: str, kind: str) -> Iterator[Mutant]:
    flow = control_flow.of_kernel(kernel)
    for position, half, operand in sorted(_address_numbers(flow, space)):
        inst = flow.instructions[position]
        part = raised(inst.halves[half], operand)
        assert part is not None
        if inst.pair is None:
            changed = part
        else:
            changed = dataclasses.replace(part, pair=inst.pair) if half == 0 else dataclasses.replace(inst, pair=part)
        yield written(kernel, kind, flow.lines[position], changed)


def _address_numbers(flow: control_flow.Cfg, space: str) -> set[tuple[int, int, int]]:
    """(position, half, operand) of the integers that addresses in this memory are computed from."""
    chains = defuse.analyse(flow)
    work = [
        (position, reg)
        for position, inst in enumerate(flow.instructions)
        if inst.desc.access is not None and inst.desc.access.space == space
        for reg in _address_registers(inst)
    ]
    found: set[tuple[int, int, int]] = set()
    seen: set[tuple[int, Reg]] = set()
    while work:
        position, reg = work.pop()
        for source in chains.defs_of(position, reg):
            if source < 0 or (source, reg) in seen:
                continue
            seen.add((source, reg))
            inst = flow.instructions[source]
            for number, half in enumerate(inst.halves):
                desc = lookup(half)
                if desc.access is not None or reg not in desc.writes(half):
                    continue
                for at, (role, operand) in enumerate(desc.roles_of(half)):
                    if not role.read:
                        continue
                    if isinstance(operand, Imm) and isinstance(operand.value, int) and role.type != "f32":
                        found.add((source, number, at))
                    elif isinstance(operand, Reg) and not operand.is_null:
                        work.extend((source, r) for r in operand.units())
    return found


def _address_registers(inst: Instruction) -> list[Reg]:
    """The registers of a memory instruction's address."""
    wanted = inst.desc.address_of(inst)
    return [r for operand in wanted if isinstance(operand, Reg) and not operand.is_null for r in operand.units()]


def counts(kernel: Kernel) -> Iterator[Mutant]:
    """Numbers that are counts or sizes, by their names."""
    for keys in (kernel.descriptor, kernel.metadata):
        for key, number in keys.items():
            text = kernel.program.lines[number].text
            head, _, value = text.rstrip().rpartition(" ")
            counts = key.endswith(("_count", "_size")) or key.startswith("next_free")
            if counts and value.isdigit() and int(value) > 0 and key != "inst_pref_size":
                changed = f"{head} {int(value) - 1}"
                line = Line(changed) if key.startswith(".") else parse_line(changed, kernel.program.file, number)
                yield mutant(kernel, "count shrunk", number, line)


_OTHER = {"by_value": "global_buffer", "global_buffer": "by_value"}


def arguments(kernel: Kernel) -> Iterator[Mutant]:
    """What the metadata says of each argument."""
    for number in _argument_lines(kernel):
        found = _ARGUMENT.match(kernel.program.lines[number].text)
        if found is None:
            continue
        head, key, value = found.groups()
        if key == "value_kind":
            new = _OTHER.get(value)
        elif not value.isdigit():
            continue
        elif key == "offset":
            new = str(int(value) - 4) if int(value) >= 4 else "4"
        else:
            new = str(2 * int(value))
        if new is not None:
            yield mutant(kernel, "metadata", number, Line(head + new))


def _argument_lines(kernel: Kernel) -> Iterator[int]:
    """The lines of the arguments in the kernel's metadata."""
    entries, rows = sorted(kernel.metadata.values()), [line for line, _ in metadata.arguments(kernel)]
    if rows:
        texts = [line.text.strip() for line in kernel.program.lines[: min(rows)]]
        start = max((n for n, text in enumerate(texts) if text.endswith(".args:")), default=min(rows) - 1)
        yield from range(start + 1, next((n for n in entries if n > max(rows)), len(kernel.program.lines)))
