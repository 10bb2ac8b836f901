"""Symbolic values of registers after code that changes EXEC: vector results and masks as terms, from a run of a block.

Only lanes count that EXEC has on where the run begins. A mask is a truth table over a few atoms (results of
comparisons, masks that came in), and what it is in all other lanes: 0, 1, or not known. A register's value is what came
in, the result of an instruction, a constant, or a selection by a mask:

    v_cmpx_lt_f32 v1, v2          EXEC = c
    v_mov_b32 v3, v4              v3 = select(c, v4, v3)
    s_xor_b32 exec_lo, s0, ...    EXEC = not c
    v_mov_b32 v3, v5              v3 = select(not c, v5, select(c, v4, v3)) = select(c, v4, v5)

An instruction under a mask becomes one for all lanes, of whose result the mask's lanes are selected: it computes lane
by lane, and what it does elsewhere is not seen. `Run.step` takes one instruction, or says that it cannot (`Stop`):
memory, branches, what exchanges lanes, registers of several words that it writes, carries, halves of registers.

Scalar instructions that read no mask of the run are bystanders: they can go before it.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

from isa.analysis import dependences, regset
from isa.passes.edit import by_itself
from isa.registers import EXEC_LO, SCC, VCC_LO, Reg
from isa.semantics.instruction import Imm, Instruction, Modified, Operand, bare
from isa.semantics.own_place import counts_from_itself

_ATOMS = 6
ALL = (1 << (1 << _ATOMS)) - 1
"""The truth table of a mask that has every lane."""
BOOLEAN: dict[str, Callable[[int, int], int]] = {
    "s_and": lambda a, b: a & b, "s_or": lambda a, b: a | b, "s_xor": lambda a, b: a ^ b,
    "s_and_not1": lambda a, b: a & ~b, "s_or_not1": lambda a, b: a | ~b, "s_nand": lambda a, b: ~(a & b),
    "s_nor": lambda a, b: ~(a | b), "s_xnor": lambda a, b: ~(a ^ b),
}  # fmt: skip
"""Of s_and_saveexec_b32 and its kind the second word is EXEC."""


class Stop(Exception):
    """An instruction that a run cannot take."""


@dataclass(frozen=True)
class Mask:
    """table: over the run's atoms; outside: what it is in lanes that are off where the run begins, None: not known."""

    table: int
    outside: int | None


@dataclass(eq=False)
class Value:
    """What a register holds. kind: "in" (register: what it held), "op" and "cmp" (inst on sources, by the place of the
    operand; reads: registers of several words that it reads as they came in), "const" (operand), "sel" (first where
    table, else second). number: in the order in which they were made."""

    kind: str
    number: int
    register: int = -1
    inst: Instruction | None = None
    sources: tuple[tuple[int, Value], ...] = ()
    reads: tuple[int, ...] = ()
    operand: Operand | None = None
    table: int = 0
    first: Value | None = None
    second: Value | None = None


@dataclass
class Run:
    """The state after some instructions."""

    exec: Mask = field(default_factory=lambda: Mask(ALL, 0))
    masks: dict[int, Mask] = field(default_factory=dict)
    vgprs: dict[int, Value] = field(default_factory=dict)
    atoms: list[Value | int] = field(default_factory=list)
    """A comparison, or the number of a scalar register that held the mask when the run began."""
    before: list[Instruction] = field(default_factory=list)
    """Bystanders and waits, in their order."""
    touched: set[int] = field(default_factory=set)
    own_scc: bool = False
    """Whether SCC is what an instruction on masks left."""
    made: dict[object, Value] = field(default_factory=dict)

    def copy(self) -> Run:
        return Run(
            self.exec, dict(self.masks), dict(self.vgprs), list(self.atoms), list(self.before), set(self.touched),
            self.own_scc, self.made,
        )  # fmt: skip

    # --- terms
    def value(self, kind: str, *key: object, **fields: object) -> Value:
        """A term, made once."""
        whole = (kind, *key)
        found = self.made.get(whole)
        if found is None:
            found = self.made[whole] = Value(kind, len(self.made), **fields)  # type: ignore[arg-type]
        return found

    def incoming(self, register: int) -> Value:
        return self.value("in", register, register=register)

    def select(self, table: int, first: Value, second: Value) -> Value:
        """first where the mask is on, else second, in as few selections as these rules find."""
        first, second = restricted(first, table), restricted(second, ALL & ~table)
        if table == ALL or first is second:
            return first
        if table == 0:
            return second
        if second.kind == "sel":
            if second.second is first:
                return self._sel(second.table & ~table, second.first, first)
            if second.first is first:
                return self._sel(second.table | table, first, second.second)
        if first.kind == "sel":
            if first.first is second:
                return self._sel(table & ~first.table, first.second, second)
            if first.second is second:
                return self._sel(table & first.table, first.first, second)
        return self._sel(table, first, second)

    def _sel(self, table: int, first: Value | None, second: Value | None) -> Value:
        assert first is not None
        assert second is not None
        table &= ALL
        if table == ALL or table == 0:
            return first if table else second
        return self.value("sel", table, first, second, table=table, first=first, second=second)

    def atom(self, of: Value | int) -> int:
        """The truth table of an atom."""
        if of not in self.atoms:
            if len(self.atoms) == _ATOMS:
                raise Stop
            self.atoms.append(of)
        k = self.atoms.index(of)
        return sum(1 << row for row in range(1 << _ATOMS) if row >> k & 1)

    # --- instructions
    def step(self, inst: Instruction) -> None:
        """One instruction. Stop where it cannot be taken; the state is then worth nothing."""
        if dependences.is_hint(inst):
            return
        if dependences.is_counter_wait(inst):
            self.before.append(inst)
        elif inst.desc.is_salu and not inst.desc.effect and not counts_from_itself(inst):
            self._scalar(inst)
        elif inst.desc.is_valu:
            self._vector(inst)
        else:
            raise Stop

    def mask_of(self, operand: Operand) -> Mask:
        if operand == EXEC_LO:
            return self.exec
        if isinstance(operand, Imm) and operand.value in (0, -1):
            return Mask(ALL, 1) if operand.value else Mask(0, 0)
        if not isinstance(operand, Reg) or operand.file != "s" or operand.count != 1 or operand.is_null:
            raise Stop
        if operand.index in self.masks:
            return self.masks[operand.index]
        self.touched.add(operand.index)
        return Mask(self.atom(operand.index), None)

    def _scalar(self, inst: Instruction) -> None:
        reads, writes = inst.reads(), inst.writes()
        named = {reg.index for reg in reads if reg.file == "s"}
        if EXEC_LO not in reads | writes and not named & self.masks.keys():
            mine = {reg.index for reg in writes if reg.file == "s"}
            if mine & self.touched or (SCC in reads and self.own_scc):
                raise Stop
            self.touched |= named | mine
            self.masks = {n: mask for n, mask in self.masks.items() if n not in mine}
            self.own_scc = self.own_scc and SCC not in writes
            self.before.append(inst)
            return
        name = inst.desc.name.removesuffix("_b32")
        operands = inst.operands
        if name == "s_mov":
            self._set(operands[0], self.mask_of(operands[1]))
            return
        self.own_scc = True
        if name == "s_not":
            self._set(operands[0], _combined(BOOLEAN["s_xor"], self.mask_of(operands[1]), Mask(ALL, 1)))
        elif name in BOOLEAN:
            self._set(operands[0], _combined(BOOLEAN[name], *map(self.mask_of, operands[1:3])))
        elif (plain := name.removesuffix("_saveexec")) in BOOLEAN and plain != name:
            new = _combined(BOOLEAN[plain], self.mask_of(operands[1]), self.exec)
            self._set(operands[0], self.exec)
            self._set(EXEC_LO, new)
        else:
            raise Stop

    def _set(self, to: Operand, mask: Mask) -> None:
        if to == EXEC_LO:
            if mask.outside != 0:
                raise Stop
            self.exec = mask
        elif isinstance(to, Reg) and to.file == "s" and to.count == 1 and not to.is_null:
            self.masks[to.index] = mask
        else:
            raise Stop

    def _vector(self, inst: Instruction) -> None:
        alone = [by_itself(half) for half in inst.halves] if inst.pair is not None else [inst]
        for half in alone:
            if half is None or half.dpp or half.desc.is_matrix or half.desc.is_trans or half.desc.relative:
                raise Stop
            if half.desc.effect or half.desc.crosses_lanes or half.desc.ignores_exec:
                raise Stop
        if inst.desc.is_compare:
            self._compare(inst)
            return
        written = [(half.operands[0], self._result(half)) for half in alone if half is not None]
        for to, value in written:
            assert isinstance(to, Reg)
            old = self.vgprs.get(to.index) or self.incoming(to.index)
            self.vgprs[to.index] = self.select(self.exec.table, value, old)

    def _compare(self, inst: Instruction) -> None:
        first = 0 if inst.desc.writes_exec else 1
        sources, reads = self._sources(inst, first)
        key = (inst.desc.name.replace("v_cmpx", "v_cmp"), inst.modifiers, _plain(inst, first, sources), sources, reads)
        value = self.value("cmp", *key, inst=inst, sources=sources, reads=reads)
        found = Mask(self.atom(value) & self.exec.table, 0)
        self._set(EXEC_LO if inst.desc.writes_exec else inst.operands[0], found)

    def _result(self, inst: Instruction) -> Value:
        """What an instruction computes, where EXEC is on."""
        operands = [operand for _, operand in inst.desc.roles_of(inst)]
        to = operands[0]
        roles = inst.desc.roles
        if not isinstance(to, Reg) or not to.is_vgpr or to.count != 1 or to.half or roles[0].read:
            raise Stop
        if inst.desc.name == "v_mov_b32" and not inst.modifiers:
            return self._operand(operands[1])
        if inst.desc.name == "v_cndmask_b32" and not inst.modifiers:
            table = self.mask_of(operands[3] if len(operands) > 3 else VCC_LO).table
            return restricted(
                self.select(table, self._operand(operands[2]), self._operand(operands[1])), self.exec.table
            )
        if inst.writes() != {to} or any(role.kind == "m" for role in roles):
            raise Stop
        sources, reads = self._sources(inst, 1)
        key = (inst.desc.name, inst.modifiers, _plain(inst, 1, sources), sources, reads)
        return self.value("op", *key, inst=inst, sources=sources, reads=reads)

    def _operand(self, operand: Operand) -> Value:
        if isinstance(operand, Modified):
            raise Stop
        if isinstance(operand, Reg):
            if operand.half or operand.count != 1 or operand in (SCC, EXEC_LO):
                raise Stop
            if operand.is_vgpr:
                return self._held(operand.index)
            self._scalar_read(operand)
        return self.value("const", str(operand), operand=operand)

    def _held(self, register: int) -> Value:
        return restricted(self.vgprs.get(register) or self.incoming(register), self.exec.table)

    def _scalar_read(self, operand: Reg) -> None:
        """A word that the run has not changed."""
        units = {unit.index for unit in operand.units()} if not operand.is_null else set()
        if operand.file != "s" or EXEC_LO.index in units or units & self.masks.keys():
            raise Stop
        self.touched |= units

    def _sources(self, inst: Instruction, first: int) -> tuple[tuple[tuple[int, Value], ...], tuple[int, ...]]:
        """(place, value) of each VGPR that is read; the words of those that are read as they came in."""
        found: list[tuple[int, Value]] = []
        reads: list[int] = []
        extra = set(inst.reads()) - {EXEC_LO}
        for place, operand in enumerate(inst.operands[first:], first):
            reg = bare(operand)
            if not isinstance(reg, Reg):
                continue
            extra -= set(reg.units())
            if reg.half or reg.file not in "vs":
                raise Stop
            if not reg.is_vgpr:
                self._scalar_read(reg)
            elif reg.count == 1:
                found.append((place, self._held(reg.index)))
            else:
                words = [unit.index for unit in reg.units()]
                if any(self._held(n) is not self.incoming(n) for n in words):
                    raise Stop
                reads += words
        if extra:
            raise Stop
        return tuple(found), tuple(reads)


def _plain(inst: Instruction, first: int, sources: tuple[tuple[int, Value], ...]) -> str:
    """The operands as text, without the numbers of VGPRs that are sources; signs stay."""
    places = {place for place, _ in sources}
    texts = []
    for place, operand in enumerate(inst.operands[first:], first):
        reg = bare(operand)
        texts.append(str(operand).replace(str(reg), "v") if place in places else str(operand))
    return ",".join(texts)


def restricted(value: Value, table: int) -> Value:
    """A value as it is where a mask is on."""
    while value.kind == "sel":
        if not table & ~value.table:
            arm = value.first
        elif not table & value.table:
            arm = value.second
        else:
            break
        assert arm is not None
        value = arm
    return value


def _combined(op: Callable[[int, int], int], a: Mask, b: Mask) -> Mask:
    outside = {op(x, y) & 1 for x in _bits(a) for y in _bits(b)}
    return Mask(op(a.table, b.table) & ALL, outside.pop() if len(outside) == 1 else None)


def _bits(mask: Mask) -> tuple[int, ...]:
    return (0, 1) if mask.outside is None else (mask.outside,)


def known_copies(rows: list[Instruction]) -> dict[int, Mask]:
    """Scalar registers that hold EXEC after these instructions, of one block."""
    found: dict[int, Mask] = {}
    for inst in rows:
        written = regset.defs(inst)
        if EXEC_LO in inst.writes():
            found = {}
        found = {n: mask for n, mask in found.items() if not written >> regset.bit(Reg("s", n)) & 1}
        to = inst.operands[0] if inst.operands else None
        if inst.desc.name == "s_mov_b32" and inst.operands[1] == EXEC_LO and isinstance(to, Reg):
            found[to.index] = Mask(ALL, 0)
    return found
