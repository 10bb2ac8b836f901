"""Instructions that do something near to what they should: another opcode, no carry, no high half, a mask of all ones,
other registers, one iteration more or less.
"""

from __future__ import annotations

import dataclasses
import re
from collections.abc import Iterator

from isa.analysis import cfg as control_flow
from isa.asm.program import Kernel
from isa.registers import EXEC_LO, SCC, Reg
from isa.semantics.instruction import Imm, Instruction, Modified, Operand
from tools.mutation.mutants.edit import Mutant, legal, plain, raised, sample, written
from tools.mutation.mutants.structure import sums

_PAIRS = (
    ("add", "sub"), ("lshl", "lshr"), ("lshlrev", "lshrrev"), ("and", "or"), ("min", "max"), ("lt", "le"), ("gt", "ge"),
    ("eq", "lg"), ("eq", "ne"), ("scc0", "scc1"), ("vccz", "vccnz"), ("execz", "execnz"), ("andn2", "and"),
    ("u24", "i24"), ("ashr", "lshr"), ("xor", "or"), ("fmac", "mul"), ("mul", "add"), ("add_co", "sub_co"),
    ("cselect", "and"), ("bfe", "bfi"),
)  # fmt: skip
_COMMUTES = re.compile(
    r"[sv]_(?:add|mul|and|or|xor|min|max|med3|lshl_add|add3|cmp_eq|cmp_lg|cmp_ne|fma|bcnt|xnor|nand|nor|dot|pk_fma)\w*"
)


def relatives(mnemonic: str) -> list[str]:
    """Mnemonics that differ from this one in one part of the name."""
    found = []
    for one, other in _PAIRS:
        for a, b in ((one, other), (other, one)):
            new = re.sub(rf"(?<=_){a}(?=_|$)", b, mnemonic, count=1)
            if new != mnemonic:
                found.append(new)
    return found


def opcodes(kernel: Kernel) -> Iterator[Mutant]:
    for number, inst in kernel.instructions():
        if inst.pair is None and inst.desc.access is None and not sums(inst):
            text = plain(kernel, number)
            for name in relatives(inst.mnemonic):
                made = list(legal(kernel, "opcode changed", number, text.replace(inst.mnemonic, name, 1)))
                yield from made
                if made:
                    break


_WITHOUT_CARRY = {
    "s_addc_u32": "s_add_u32", "s_subb_u32": "s_sub_u32", "s_add_u32": "s_addc_u32", "s_sub_u32": "s_subb_u32",
}  # fmt: skip


def carries(kernel: Kernel) -> Iterator[Mutant]:
    for number, inst in kernel.instructions():
        text = plain(kernel, number)
        if inst.mnemonic in _WITHOUT_CARRY:
            yield from legal(
                kernel, "carry dropped", number, text.replace(inst.mnemonic, _WITHOUT_CARRY[inst.mnemonic])
            )
        elif inst.mnemonic.startswith(("v_add_co_ci_u32", "v_sub_co_ci_u32")) and isinstance(inst.operands[0], Reg):
            name = inst.mnemonic[:5]
            sources = ", ".join(map(str, inst.operands[2:4]))
            yield from legal(kernel, "carry dropped", number, f"\t{name}_nc_u32_e32 {inst.operands[0]}, {sources}")


def high_halves(kernel: Kernel) -> Iterator[Mutant]:
    for number, inst in kernel.instructions():
        first = inst.operands[0] if inst.operands else None
        if not isinstance(first, Reg):
            continue
        if re.match(r"[sv]_mul_hi_", inst.mnemonic) or _is_sign(inst):
            yield from legal(kernel, "high half lost", number, f"\t{inst.mnemonic[0]}_mov_b32 {first}, 0")
        elif inst.mnemonic in ("s_lshl_b64", "s_lshr_b64", "s_ashr_i64") and isinstance(inst.operands[1], Reg):
            low = dataclasses.replace(first, count=1), dataclasses.replace(inst.operands[1], count=1)
            name = inst.mnemonic.replace("64", "32")
            yield from legal(kernel, "high half lost", number, f"\t{name} {low[0]}, {low[1]}, {inst.operands[2]}")


def _is_sign(inst: Instruction) -> bool:
    """Whether it makes the high half of a number's extension to 64 bits."""
    return "ashr" in inst.mnemonic and "i32" in inst.mnemonic and any(_number(o) == 31 for o in inst.operands)


def masks(kernel: Kernel) -> Iterator[Mutant]:
    """What decides which lanes are on."""
    for number, inst in kernel.instructions():
        mask = inst.operands[0] if inst.desc.is_compare and not inst.desc.writes_exec else None
        if isinstance(mask, Reg):
            yield from legal(kernel, "mask opened", number, f"\ts_mov_b32 {mask}, -1")
        elif EXEC_LO in inst.writes():
            yield from legal(kernel, "mask opened", number, "\ts_mov_b32 exec_lo, -1")


def exchanged(kernel: Kernel, count: int, seed: int) -> Iterator[Mutant]:
    """count: how many of the sums of a main loop are taken; VOPDs have a kind of their own."""
    found = [(n, inst) for n, inst in kernel.instructions() if inst.pair is None and inst.operands]
    many = sample([(n, inst) for n, inst in found if sums(inst)], count, seed)
    for number, inst in sorted([(n, inst) for n, inst in found if not sums(inst)] + many, key=lambda x: x[0]):
        if (other := _other_registers(inst)) is not None:
            yield from legal(kernel, "registers exchanged", number, f"\t{other}")


def _other_registers(inst: Instruction) -> Instruction | None:
    roles = inst.desc.roles_of(inst)
    sources = [i for i, (role, o) in enumerate(roles) if role.read and not role.written and _register(o) is not None]
    operands = list(inst.operands)
    if any(i >= len(operands) for i in sources) or not sources:
        return None
    pairs = [(i, j) for i in sources for j in sources if i < j and roles[i][0] == roles[j][0]]
    for i, j in pairs:
        if operands[i] != operands[j] and not _COMMUTES.match(inst.mnemonic):
            operands[i], operands[j] = operands[j], operands[i]
            return dataclasses.replace(inst, operands=tuple(operands))
    reg = _register(operands[sources[0]])
    if reg is None or reg.file not in ("s", "v"):
        return None
    step = reg.count if reg.file == "s" else 1  # scalar tuples are aligned
    operands[sources[0]] = dataclasses.replace(reg, index=reg.index + step)
    return dataclasses.replace(inst, operands=tuple(operands))


def _register(operand: Operand) -> Reg | None:
    value = operand.operand if isinstance(operand, Modified) else operand
    return value if isinstance(value, Reg) and not value.is_null else None


def _number(operand: Operand) -> int | None:
    return operand.value if isinstance(operand, Imm) and isinstance(operand.value, int) else None


def loop_bounds(kernel: Kernel) -> Iterator[Mutant]:
    """What a branch out of a loop asks: the last instruction before it that sets SCC."""
    flow = control_flow.of_kernel(kernel)
    for index in sorted(
        {b for loop in flow.loops for b in loop.blocks if set(flow.blocks[b].successors) - loop.blocks}
    ):
        block = flow.blocks[index]
        setters = [i for i in block.range if SCC in flow.instructions[i].writes()]
        if not setters:
            continue
        number, inst = flow.lines[setters[-1]], flow.instructions[setters[-1]]
        for i in range(len(inst.operands)):
            if changed := raised(inst, i):
                yield written(kernel, "loop bound", number, changed)
        text = plain(kernel, number)
        for name in relatives(inst.mnemonic):
            yield from legal(kernel, "loop bound", number, text.replace(inst.mnemonic, name, 1))


def vopds(kernel: Kernel, count: int, seed: int) -> Iterator[Mutant]:
    found = [
        (n, (inst, inst.pair))
        for n, inst in kernel.instructions()
        if inst.pair is not None and len(inst.operands) == len(inst.pair.operands) == 3
    ]
    for number, (x, y) in sample(found, count, seed):
        _, x0, x1 = x.operands
        _, y0, y1 = y.operands
        choices = [
            ((y0, x1), (x0, y1)),
            ((x0, y1), (y0, x1)),
            ((x1, x0), (y0, y1)),
            ((x0, x1), (y1, y0)),
        ]
        for sources_x, sources_y in choices:
            if (sources_x, sources_y) == ((x0, x1), (y0, y1)):
                continue
            pair = dataclasses.replace(y, operands=(y.operands[0], *sources_y))
            swapped = dataclasses.replace(x, operands=(x.operands[0], *sources_x), pair=pair)
            yield written(kernel, "VOPD sources swapped", number, swapped)
