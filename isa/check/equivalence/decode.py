"""Instructions -> steps that change a symbolic state. Each instruction is taken apart once, however often it runs.

Meaning comes from the one description of each instruction: ALU bodies run on `Symbolic` values; memory instructions are
carried out here as their `Access` says, a dword at a time. What is beyond the prover is refused by name when it is
decoded or executed (`Beyond`), never skipped: EXEC changed, atomics, scratch, flat and sub-dword access, 16-bit and
packed operands, calls, modes.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from isa.asm.program import Imm, Instruction, Modified, Operand, Special
from isa.check.equivalence.bits import bit_and
from isa.check.equivalence.symbolic import Symbolic, ballot, float_bits, lanes, modulus
from isa.check.equivalence.term import Term
from isa.check.equivalence.terms import Terms
from isa.errors import IsaError
from isa.instructions import lookup
from isa.registers import EXEC_LO, SCC, Reg
from isa.semantics.branches import branch_target
from isa.semantics.describe import Description, Role, bit_width, width
from isa.semantics.waits import parse_wait

SGPR0, SCC_INDEX, REGISTERS = 256, 384, 385
_SIXTEEN = frozenset({"u16", "i16"})
_PLAIN = "b1 u8 i8 u16 i16 f16 bf16 u32 i32 f32 u64 i64 f64 b8 b16 b32 b64"
WIDTHS = {type_: bit_width(type_) for type_ in _PLAIN.split()}
_NEUTRAL = frozenset({"offset", "offset0", "offset1", "glc", "slc", "dlc"})
Registers = list[Term]
Reader = Callable[[Registers], Any]


class Beyond(IsaError):
    """The prover cannot follow this program; nothing is said of whether it is right."""


def index(reg: Reg) -> int:
    """The place of a single register (or the first of a run) in a state's list."""
    return reg.index if reg.file == "v" else SCC_INDEX if reg.file == "scc" else SGPR0 + reg.index


def name(number: int) -> str:
    """The register's name again."""
    return str(Reg("v", number) if number < SGPR0 else SCC if number == SCC_INDEX else Reg("s", number - SGPR0))


@dataclass(frozen=True, slots=True)
class Dword:
    """One dword that an access touches: the register, and how far behind the address."""

    register: int
    offset: int


@dataclass(frozen=True, slots=True)
class Step:
    """One instruction, ready to run.

    kind: "alu" (also hints that do nothing), "load", "store", "branch", "end", "barrier" or "wait".
    reads, writes: registers, for the check of waits.
    run:       alu: changes the registers.
    address:   load, store: the 64-bit (LDS: 32-bit) address.
    dwords:    load, store: what is moved, in order of the text.
    space:     "lds", "global" or "scalar".
    condition: branch: the truth value; None where it always goes.
    target:    branch: label.
    waits:     wait: counter -> most that may be outstanding.
    """

    inst: Instruction
    kind: str
    reads: tuple[int, ...] = ()
    writes: tuple[int, ...] = ()
    run: Callable[[Registers], None] | None = None
    address: Callable[[Registers], Term] | None = None
    dwords: tuple[Dword, ...] = ()
    space: str = ""
    condition: Callable[[Registers], Term] | None = None
    target: str = ""
    waits: tuple[tuple[str, int], ...] = ()


def decode(inst: Instruction, terms: Terms) -> Step:
    """One instruction -> one step. `Beyond` where the prover cannot follow; IsaError where nobody described it."""
    desc = inst.desc
    reads = tuple(sorted(index(r) for r in inst.reads() if r != EXEC_LO))
    writes = tuple(sorted(index(r) for r in inst.writes()))
    if index(EXEC_LO) in writes:
        raise _beyond(inst, "changes EXEC")
    if desc.effect == "end":
        return Step(inst, "end")
    if desc.effect == "barrier":
        return Step(inst, "barrier")
    if desc.effect == "wait":
        return Step(inst, "wait", waits=tuple(parse_wait(inst).items()))
    if desc.effect == "branch":
        return _branch(inst, desc, reads, terms)
    if desc.effect or "pc" in desc.implicit_writes:
        raise _beyond(inst, f"has an effect ({desc.effect or 'an indirect jump'})")
    if desc.access is not None:
        return _memory(inst, desc, reads, writes, terms)
    if desc.body is None:
        if writes:
            raise _beyond(inst, "has no meaning that can be run")
        return Step(inst, "alu")
    halves = [_half(half, lookup(half) if inst.pair is not None else desc, terms) for half in inst.halves]

    if len(halves) == 1:
        compute, store = halves[0]

        def run(regs: Registers) -> None:
            store(regs, compute(regs))
    else:
        (compute_x, store_x), (compute_y, store_y) = halves

        def run(regs: Registers) -> None:
            x, y = compute_x(regs), compute_y(regs)
            store_x(regs, x)
            store_y(regs, y)

    return Step(inst, "alu", reads, writes, run)


def _beyond(inst: Instruction, why: str) -> Beyond:
    error = inst.error(f"the prover cannot follow {inst.mnemonic}: it {why}")
    return Beyond(error.message, span=error.span)


# --- ALU
def _half(
    inst: Instruction, desc: Description, terms: Terms
) -> tuple[Callable[[Registers], Any], Callable[[Registers, Any], None]]:
    """(registers -> what the body returns, how that is written back) of an instruction or one half of a VOPD."""
    for modifier, _ in inst.modifiers:
        if modifier not in desc.fields:
            raise _beyond(inst, f"has the modifier {modifier}")
    roles = desc.roles_of(inst)
    readers = [_reader(inst, role, operand, terms) for role, operand in roles if role.read and role.kind != "l"]
    readers += [_implicit(inst, which, terms) for which in desc.implicit_reads]
    readers += [_field(inst, which) for which in desc.fields]
    writers = [_writer(inst, role, operand, terms) for role, operand in roles if role.written]
    writers += [_implicit_writer(inst, which, terms) for which in desc.implicit_writes]
    body = desc.body
    assert body is not None

    def compute(regs: Registers) -> Any:
        return body(*[read(regs) for read in readers])

    if len(writers) == 1:
        (only,) = writers

        def store(regs: Registers, value: Any) -> None:
            # A body may hand on an immediate as it is.
            only(regs, terms.const(value, 32) if isinstance(value, int) else value.term)
    else:

        def store(regs: Registers, value: Any) -> None:
            for write, v in zip(writers, value, strict=True):
                write(regs, v.term)

    return compute, store


def _reader(inst: Instruction, role: Role, operand: Operand, terms: Terms) -> Reader:
    type_ = role.type
    if role.kind == "i":
        return _immediate(inst, role, operand)
    if isinstance(operand, Modified):
        return _modified(inst, role, operand, terms)
    if role.kind == "m":
        if not isinstance(operand, Reg):
            raise _beyond(inst, f"has the mask {operand}")
        i = index(operand)
        return lambda regs: Symbolic("b1", lanes(terms, regs[i]), terms)
    if type_ not in WIDTHS:
        raise _beyond(inst, f"has an operand of type {type_}")
    size = WIDTHS[type_]
    type_ = type_.replace("b", "u") if type_ in ("b16", "b32", "b64") else type_
    if isinstance(operand, Imm):
        value = operand.value
        if isinstance(value, float):
            value = float_bits(value, type_ if type_[0] == "f" else {16: "f16", 64: "f64"}.get(size, "f32"))
        constant = Symbolic(type_, terms.const(value, modulus(size)), terms)
        return lambda regs: constant
    if not isinstance(operand, Reg):
        raise _beyond(inst, f"reads {operand}")
    if operand.is_null:
        zero = Symbolic(type_, terms.const(0, modulus(size)), terms)
        return lambda regs: zero
    if operand.half:
        raise _beyond(inst, f"names half of a register, {operand}")
    i = index(operand)
    if operand.file == "scc":
        return lambda regs: Symbolic(type_, terms.trunc(regs[i]), terms)
    if size == 64:
        return lambda regs: Symbolic(type_, terms.join(regs[i], regs[i + 1]), terms)
    if type_ in _SIXTEEN:
        return lambda regs: Symbolic(type_, bit_and(terms, regs[i], terms.const(0xFFFF, 32), 32), terms)
    if size != 32:
        raise _beyond(inst, f"has an operand of type {type_}")
    return lambda regs: Symbolic(type_, regs[i], terms)


def _immediate(inst: Instruction, role: Role, operand: Operand) -> Reader:
    if not isinstance(operand, Imm) or not isinstance(operand.value, int):
        raise _beyond(inst, f"has the immediate {operand}")
    value = operand.value
    if role.type == "i16":
        value = ((value + 0x8000) & 0xFFFF) - 0x8000
    elif role.type == "u16":
        value &= 0xFFFF
    return lambda regs: value


def _modified(inst: Instruction, role: Role, operand: Modified, terms: Terms) -> Reader:
    """-x and |x| of a 32-bit float: functions of the bits."""
    if role.type not in ("f32", "b32") or operand.sext:
        raise _beyond(inst, f"has the source {operand}")
    inner = _reader(inst, Role("r", role.kind, "u32"), operand.operand, terms)
    if isinstance(operand.operand, Imm):
        inner = _reader(inst, Role("r", role.kind, "f32"), operand.operand, terms)
    type_ = "f32" if role.type == "f32" else "u32"

    def read(regs: Registers) -> Symbolic:
        term = inner(regs).term
        if operand.abs:
            term = terms.opaque("fabs", term, width=32)
        if operand.neg:
            term = term.args[0] if term.op == "fneg" else terms.opaque("fneg", term, width=32)
        return Symbolic(type_, term, terms)

    return read


def _implicit(inst: Instruction, which: str, terms: Terms) -> Reader:
    if which == "scc":
        return lambda regs: Symbolic("b1", regs[SCC_INDEX], terms)
    if which in ("vcc", "exec", "m0"):
        i = SGPR0 + {"vcc": 106, "exec": 126, "m0": 125}[which]
        return lambda regs: Symbolic("u32", regs[i], terms)
    raise _beyond(inst, f"reads {which}")


def _field(inst: Instruction, which: str) -> Reader:
    if which in ("lane", "next"):
        raise _beyond(inst, f"asks for the {which}")
    value: Any = inst.modifier(which, 0) if which != "clamp" else inst.has("clamp")
    if value is None:
        value = True
    return lambda regs: value


def _writer(inst: Instruction, role: Role, operand: Operand, terms: Terms) -> Callable[[Registers, Term], None]:
    if not isinstance(operand, Reg) or operand.half:
        raise _beyond(inst, f"writes {operand}")
    if operand.is_null:
        return lambda regs, term: None
    i = index(operand)
    if role.kind == "m":

        def write_mask(regs: Registers, term: Term) -> None:
            regs[i] = ballot(terms, term)

        return write_mask
    size = WIDTHS.get(role.type, 0)
    if size == 32:

        def write(regs: Registers, term: Term) -> None:
            regs[i] = term

        return write
    if size == 64:

        def write_pair(regs: Registers, term: Term) -> None:
            regs[i], regs[i + 1] = terms.trunc(term), terms.hi(term)

        return write_pair
    raise _beyond(inst, f"writes a result of type {role.type}")


def _implicit_writer(inst: Instruction, which: str, terms: Terms) -> Callable[[Registers, Term], None]:
    if which not in ("scc", "vcc"):
        raise _beyond(inst, f"writes {which}")
    i = SCC_INDEX if which == "scc" else SGPR0 + 106

    def write(regs: Registers, term: Term) -> None:
        regs[i] = term

    return write


# --- control
def _branch(inst: Instruction, desc: Description, reads: tuple[int, ...], terms: Terms) -> Step:
    target = branch_target(inst)
    if not isinstance(target, str) or desc.roles[0].written:
        raise _beyond(inst, "does not branch to a label")
    body = desc.body
    if body is None:
        return Step(inst, "branch", target=target)
    readers = [_implicit(inst, which, terms) for which in desc.implicit_reads]

    def condition(regs: Registers) -> Term:
        return body(*[read(regs) for read in readers]).term

    return Step(inst, "branch", reads, target=target, condition=condition)


# --- memory
def _memory(
    inst: Instruction, desc: Description, reads: tuple[int, ...], writes: tuple[int, ...], terms: Terms
) -> Step:
    access = desc.access
    assert access is not None
    if access.kind == "atomic" or access.space not in ("lds", "global", "scalar"):
        raise _beyond(inst, f"is a {access.space} {access.kind}")
    if access.element not in ("b32", "b64", "b96", "b128", "b256", "b512") or access.half:
        raise _beyond(inst, "moves less than a dword")
    if desc.implicit_reads:
        raise _beyond(inst, f"reads {desc.implicit_reads[0]}")
    for modifier, _ in inst.modifiers:
        if modifier not in _NEUTRAL:
            raise _beyond(inst, f"has the modifier {modifier}")
    roles = desc.roles_of(inst)
    data = [o for r, o in roles if r.written] if access.kind == "load" else _stored(roles)
    count = width(access.element)
    offsets = [inst.offset]
    if access.pair:
        unit = 4 * count * access.pair
        offsets = [_number(inst, "offset0") * unit, _number(inst, "offset1") * unit]
    dwords = []
    registers = [r for operand in data for r in _units(inst, operand)]
    for k, register in enumerate(registers):
        dwords.append(Dword(register, offsets[k // count] + 4 * (k % count)))
    address = {"lds": _lds_address, "global": _global_address, "scalar": _scalar_address}[access.space]
    return Step(
        inst,
        access.kind,
        reads,
        writes,
        address=address(inst, roles, terms),
        dwords=tuple(dwords),
        space=access.space,
    )


def _stored(roles: list[tuple[Role, Operand]]) -> list[Operand]:
    """The data of a store: behind the address, before the scalar address."""
    sources = [(r, o) for r, o in roles if r.read]
    return [o for r, o in sources[1:] if r.kind != "sa"]


def _units(inst: Instruction, operand: Operand) -> list[int]:
    if not isinstance(operand, Reg) or operand.half:
        raise _beyond(inst, f"moves {operand}")
    return [index(r) for r in operand.units()]


def _number(inst: Instruction, modifier: str) -> int:
    value = inst.modifier(modifier, 0)
    assert isinstance(value, int)
    return value


def _lds_address(inst: Instruction, roles: list[tuple[Role, Operand]], terms: Terms) -> Callable[[Registers], Term]:
    operand = next(o for r, o in roles if not r.written)
    read = _reader(inst, Role("r", "v", "u32"), operand, terms)
    return lambda regs: read(regs).term


def _global_address(inst: Instruction, roles: list[tuple[Role, Operand]], terms: Terms) -> Callable[[Registers], Term]:
    vector = next(o for r, o in roles if r.kind == "va")
    scalar = next(o for r, o in roles if r.kind == "sa")
    if isinstance(scalar, Special):
        wide = _reader(inst, Role("r", "v", "u64"), vector, terms)
        return lambda regs: wide(regs).term
    base = _reader(inst, Role("r", "s", "u64"), scalar, terms)
    offset = _reader(inst, Role("r", "v", "u32"), vector, terms)
    return lambda regs: terms.add(base(regs).term, terms.zext(offset(regs).term), 64)


def _scalar_address(inst: Instruction, roles: list[tuple[Role, Operand]], terms: Terms) -> Callable[[Registers], Term]:
    base_operand, offset_operand = [o for r, o in roles if not r.written]
    base = _reader(inst, Role("r", "s", "u64"), base_operand, terms)
    if isinstance(offset_operand, Imm):
        assert isinstance(offset_operand.value, int)
        constant = terms.const(offset_operand.value, 64)
        return lambda regs: terms.add(base(regs).term, constant, 64)
    offset = _reader(inst, Role("r", "s", "u32"), offset_operand, terms)
    return lambda regs: terms.add(base(regs).term, terms.zext(offset(regs).term), 64)
