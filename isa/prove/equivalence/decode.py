"""Instructions -> steps that change a symbolic state. Each instruction is bound once, however often it runs.

Meaning comes from the one description of each instruction, bound to its operands by `isa.semantics.execute` and run on
terms (`engine`). What is beyond the prover is rejected with an error that names it when it is decoded or executed
(`Beyond`), never skipped: EXEC changed, atomics, scratch, flat and sub-dword access, matrix products, calls, modes,
registers that M0 chooses.
"""

from __future__ import annotations

from dataclasses import dataclass

from isa.analysis import dependences
from isa.errors import IsaError
from isa.prove.equivalence.term import Term
from isa.registers import EXEC_LO, SCC, Reg
from isa.semantics.branches import branch_target
from isa.semantics.execute import Bound, bind
from isa.semantics.instruction import Description, Instruction, bit_width, lookup, width
from isa.semantics.waits import parse_wait

SGPR0, SCC_INDEX, REGISTERS = 256, 384, 385
_NEUTRAL = frozenset({"offset", "offset0", "offset1", "glc", "slc", "dlc"})
Registers = list[Term]


class Beyond(IsaError):
    """The prover cannot follow this program; nothing is said of whether it is right."""


def index(reg: Reg) -> int:
    """The place of a single register (or the first of a run) in a state's list."""
    return reg.index if reg.file == "v" else SCC_INDEX if reg.file == "scc" else SGPR0 + reg.index


def name(number: int) -> str:
    """The register's name again."""
    return str(Reg("v", number) if number < SGPR0 else SCC if number == SCC_INDEX else Reg("s", number - SGPR0))


@dataclass(frozen=True, slots=True)
class Step:
    """One instruction, ready to run.

    kind: "alu" (also hints that do nothing), "load", "store", "branch", "end", "barrier" (also invalidations of caches)
    or "wait".
    reads, writes: registers, for the check of waits.
    bound:     alu, load, store, branch with a condition: what it does on an engine.
    space:     "lds", "global" or "scalar".
    target:    branch: label.
    waits:     wait: counter -> most that may be outstanding.
    """

    inst: Instruction
    kind: str
    reads: tuple[int, ...] = ()
    writes: tuple[int, ...] = ()
    bound: Bound = ()
    space: str = ""
    target: str = ""
    waits: tuple[tuple[str, int], ...] = ()


def decode(inst: Instruction) -> Step:
    """One instruction -> one step. `Beyond` where the prover cannot follow; IsaError where it is not described."""
    desc = inst.desc
    reads = tuple(sorted(index(r) for r in inst.reads() if r != EXEC_LO))
    writes = tuple(sorted(index(r) for r in inst.writes()))
    if index(EXEC_LO) in writes:
        raise beyond(inst, "changes EXEC")
    if desc.effect == "end":
        return Step(inst, "end")
    if desc.effect == "trap":
        raise beyond(inst, "traps")
    if dependences.guards_memory(inst):
        return Step(inst, "barrier")
    if desc.effect == "wait":
        return Step(inst, "wait", waits=tuple(parse_wait(inst).items()))
    if desc.effect == "branch":
        target = branch_target(inst)
        if not isinstance(target, str) or desc.roles[0].written:
            raise beyond(inst, "does not branch to a label")
        return Step(inst, "branch", reads, bound=bind(inst) if desc.body is not None else (), target=target)
    if desc.effect or "pc" in desc.implicit_writes:
        raise beyond(inst, f"has an effect ({desc.effect or 'an indirect jump'})")
    if desc.access is not None:
        return _memory(inst, desc, reads, writes)
    if desc.body is None:
        if writes:
            raise beyond(inst, "has no meaning that can be run")
        return Step(inst, "alu")
    for half in inst.halves:
        _may_follow(inst, lookup(half))
    try:
        return Step(inst, "alu", reads, writes, bind(inst))
    except IsaError as error:
        raise beyond(inst, f"cannot be run: {error.message}") from None


def beyond(inst: Instruction, why: str) -> Beyond:
    error = inst.error(f"the prover cannot follow {inst.mnemonic}: it {why}")
    return Beyond(error.message, span=error.span)


def _may_follow(inst: Instruction, desc: Description) -> None:
    if desc.relative:
        raise beyond(inst, "names a register relative to M0")
    if "next" in desc.fields:
        raise beyond(inst, "asks for the next")
    for role in desc.roles:
        if role.kind != "f" and width(role.type) > 2:
            raise beyond(inst, f"has an operand of type {role.type}")


def _memory(inst: Instruction, desc: Description, reads: tuple[int, ...], writes: tuple[int, ...]) -> Step:
    access = desc.access
    assert access is not None
    if access.kind == "atomic" or access.space not in ("lds", "global", "scalar"):
        raise beyond(inst, f"is a {access.space} {access.kind}")
    if access.buffer:
        raise beyond(inst, "goes through a buffer descriptor")
    if bit_width(access.element) < 32 or access.half:
        raise beyond(inst, "moves less than a dword")
    if desc.implicit_reads:
        raise beyond(inst, f"reads {desc.implicit_reads[0]}")
    for modifier, _ in inst.modifiers:
        if modifier not in _NEUTRAL:
            raise beyond(inst, f"has the modifier {modifier}")
    return Step(inst, access.kind, reads, writes, bind(inst), access.space)
