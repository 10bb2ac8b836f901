"""Branch targets: a branch or call -> the address or label where it goes."""

from __future__ import annotations

from isa.semantics.instruction import Imm, Instruction, Symbol


def branch_target(inst: Instruction) -> str | int | None:
    """The label that a branch or a call names in text, the address in a code object: its field counts dwords from the
    next instruction, as a signed number (RDNA3 ISA guide 16.5, S_BRANCH). None where it names neither."""
    for role, operand in inst.desc.roles_of(inst) if inst.desc.is_branch else ():
        if role.kind == "l" and isinstance(operand, Symbol):
            return operand.text
        if role.kind == "l" and isinstance(operand, Imm) and inst.address is not None:
            return inst.address + inst.size + 4 * ((int(operand.value) & 0xFFFF ^ 0x8000) - 0x8000)
    return None


def branch_address(inst: Instruction) -> int:
    """The same for code that runs. IsaError where there is no address."""
    target = branch_target(inst)
    if not isinstance(target, int):
        got = str(inst.operands[-1])
        raise inst.error("a branch without address", expected="an instruction from a code object", got=got)
    return target
