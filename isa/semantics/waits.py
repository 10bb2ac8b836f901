"""What a wait instruction waits for: the one place that reads s_waitcnt and its kind.

    s_waitcnt           fields vmcnt, lgkmcnt, expcnt, or their number: LLVM AMDGPUBaseInfo.cpp, GFX11 layout
    s_waitcnt_vscnt     and the three like it: one counter, against a number where the register is null
    s_wait_idle         all counters, for 0
    s_waitcnt_depctr    what the ALUs have yet to write: the same file, `DepCtr`

Limits: a wait against the value of a register waits for nothing that is known.
"""

from __future__ import annotations

from isa.asm.program import Fields, Imm, Instruction
from isa.registers import Reg
from isa.semantics.describe import base_name

BITS = {"vmcnt": 6, "vscnt": 6, "lgkmcnt": 6, "expcnt": 3}
"""Counter -> its width."""
DEPCTR = {"va_vdst": (12, 15), "va_sdst": (9, 7), "va_vcc": (1, 1), "sa_sdst": (0, 1)}
"""Field of s_waitcnt_depctr -> (its lowest bit, its largest number)."""
_FIELD_AT = {"expcnt": 0, "lgkmcnt": 4, "vmcnt": 10}
_SINGLE = {f"s_waitcnt_{counter}": counter for counter in BITS}


def parse_wait(inst: Instruction) -> dict[str, int]:
    """counter -> the number that a wait instruction waits for; {} for an instruction that waits for no counter, and for
    a wait against the value of a register."""
    if inst.desc.effect != "wait":
        return {}
    name = base_name(inst.mnemonic)
    if name in _SINGLE:
        register, number = inst.operands
        null = isinstance(register, Reg) and register.is_null
        return {_SINGLE[name]: int(number.value)} if null and isinstance(number, Imm) else {}
    if name == "s_wait_idle":
        return dict.fromkeys(BITS, 0)
    if name != "s_waitcnt":
        return {}
    (operand,) = inst.operands
    if isinstance(operand, Imm):
        fields = {c: int(operand.value) >> at & (1 << BITS[c]) - 1 for c, at in _FIELD_AT.items()}
        return {c: n for c, n in fields.items() if n < (1 << BITS[c]) - 1}
    found: dict[str, int] = {}
    for field, arguments in operand.items if isinstance(operand, Fields) else ():
        counter = field.removesuffix("_sat")
        if counter not in _FIELD_AT:
            raise inst.error(f"s_waitcnt has no field {field}", operand=0, expected=", ".join(_FIELD_AT))
        try:
            found[counter] = int(arguments[0], 0)
        except ValueError:
            raise inst.error(f"{field} needs a number", operand=0, got=arguments[0]) from None
    return found


def depctr(inst: Instruction, field: str) -> int | None:
    """The number in a field of `s_waitcnt_depctr` (of DEPCTR), its largest where the text leaves it out; None for
    another instruction."""
    if base_name(inst.mnemonic) != "s_waitcnt_depctr":
        return None
    (operand,) = inst.operands
    shift, largest = DEPCTR[field]
    if isinstance(operand, Imm):
        return int(operand.value) >> shift & largest
    fields = dict(operand.items) if isinstance(operand, Fields) else {}
    name = f"depctr_{field}"
    try:
        return int(fields.get(name, (str(largest),))[0], 0)
    except (IndexError, ValueError):
        raise inst.error(f"{name} needs a number", operand=0) from None
