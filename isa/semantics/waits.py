"""Wait instructions: s_waitcnt and its kind -> the counters and numbers that they wait for.

    s_waitcnt           fields vmcnt, lgkmcnt, expcnt, or their number
    s_waitcnt_vscnt     and the three like it: one counter, against a number where the register is null
    s_wait_idle         all counters, for 0
    s_waitcnt_depctr    what the ALUs have yet to write

Which counters there are, and how wide and where their fields are, is the target's (`isa.targets`).

A wait of another family that assemblers take for this one too waits for nothing here; `foreign` names it.

Limits: a wait against the value of a register waits for nothing that is known.
"""

from __future__ import annotations

from collections.abc import Mapping

from isa.registers import Reg
from isa.semantics.instruction import Fields, Imm, Instruction, base_name
from isa.targets import FAMILIES, Family


def parse_wait(inst: Instruction, family: Family | None = None) -> dict[str, int]:
    """counter -> the number that a wait instruction waits for; {} for an instruction that waits for no counter, and for
    a wait against the value of a register. family: whose wait it is, by default its target's."""
    if inst.desc.effect != "wait":
        return {}
    name, family = base_name(inst.mnemonic), family or inst.family
    if name in family.single_waits:
        *registers, number = inst.operands
        null = all(isinstance(register, Reg) and register.is_null for register in registers)
        return {family.single_waits[name]: int(number.value)} if null and isinstance(number, Imm) else {}
    if name == "s_wait_idle":
        return dict.fromkeys(family.counters, 0)
    if name not in family.packed_waits:
        return {}
    (operand,), places = inst.operands, family.packed_waits[name]
    if isinstance(operand, Imm):
        largest = {c: (1 << family.counters[c]) - 1 for c in places}
        fields = {c: int(operand.value) >> at & largest[c] for c, at in places.items()}
        return {c: n for c, n in fields.items() if n < largest[c]}
    found: dict[str, int] = {}
    for field, arguments in operand.items if isinstance(operand, Fields) else ():
        counter = field.removesuffix("_sat")
        if counter not in places:
            raise inst.error(f"{name} has no field {field}", operand=0, expected=", ".join(places))
        try:
            found[counter] = int(arguments[0], 0)
        except ValueError:
            raise inst.error(f"{field} needs a number", operand=0, got=arguments[0]) from None
    return found


def foreign(inst: Instruction) -> str | None:
    """What a wait that only another family has is to be here, None for any other instruction: the waits for the
    counters that the same accesses raise."""
    name = base_name(inst.mnemonic)
    families = FAMILIES if inst.desc.effect == "wait" else ()
    theirs = next((family for family in families if name in family.packed_waits), inst.family)
    if name in inst.family.packed_waits or theirs is inst.family:
        return None
    needed: dict[str, int] = {}
    for counter, number in parse_wait(inst, theirs).items():
        raised = [inst.family.raised.get(sched, ()) for sched, own in theirs.raised.items() if own == (counter,)]
        needed |= dict.fromkeys([c for counters in raised for c in counters] or [counter], number)
    return wait_text(inst.family, needed)


def wait_texts(family: Family, needed: Mapping[str, int]) -> list[str]:
    """The instructions that wait for these counters, as few as there can be."""
    left, texts = dict(needed), []
    for name, places in family.packed_waits.items():
        together = [c for c in places if c in left]
        if together and family.wait_fields:
            texts.append(f"{name} {' '.join(f'{c}({left.pop(c)})' for c in together)}")
        elif len(together) == len(places):
            texts.append(f"{name} {sum(left.pop(c) << places[c] for c in together):#x}")
    for name, counter in family.single_waits.items():
        if counter in left:
            texts.append(f"{name} {family.wait_form.format(left.pop(counter))}")
    return texts


def wait_text(family: Family, needed: Mapping[str, int]) -> str:
    """The same in one line, for messages."""
    return " and ".join(wait_texts(family, needed))


def wait_name(family: Family, counter: str) -> str:
    """What waits for a counter, without a number."""
    return wait_text(family, {counter: 0}).removesuffix("(0)").removesuffix(" 0x0")


def barrier_text(family: Family) -> str:
    """How a wave waits for the others of its workgroup, for messages."""
    return " and ".join(family.barrier)


def results_text(family: Family, *fields: str) -> str:
    """The wait for ALU results by some of `Family.result_fields`."""
    return f"{family.results_wait} {' '.join(f'depctr_{field}(0)' for field in fields)}"


def depctr(inst: Instruction, field: str) -> int | None:
    """The number in a field of `s_waitcnt_depctr` (of `Family.result_fields`), its largest where the text leaves it
    out; None for another instruction."""
    if inst.desc.sched != "wait_alu":
        return None
    (operand,) = inst.operands
    shift, largest = inst.family.result_fields[field]
    if isinstance(operand, Imm):
        return int(operand.value) >> shift & largest
    fields = dict(operand.items) if isinstance(operand, Fields) else {}
    name = f"depctr_{field}"
    try:
        return int(fields.get(name, (str(largest),))[0], 0)
    except (IndexError, ValueError):
        raise inst.error(f"{name} needs a number", operand=0) from None
