"""v_cndmask code: emitted for the values that `isa.passes.general.lane_values` finds, without changing EXEC.

In the order of the text each value goes where it is wanted as soon as nothing else will read what lies there, else to a
register that is free, from which it is moved in the end. The mask that most selections use is VCC, if that is free, for
then they can be halves of dual instructions; others go to free SGPRs, and masks that no comparison gives are made of
those that are there, by up to two scalar operations. Masks that are read later are exact, in lanes that are off too.
"""

from __future__ import annotations

import dataclasses
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass

from isa.analysis import liveness, regset, waits
from isa.analysis.cfg import Cfg
from isa.analysis.liveness import Liveness
from isa.asm.encoding import is_literal
from isa.asm.parse import parse_instruction
from isa.asm.program import Kernel
from isa.passes.general.lane_values import ALL, BOOLEAN, Run, Stop, Value
from isa.passes.general.rename_banks import most_vgprs
from isa.registers import EXEC_LO, SCC, VCC_LO, Reg
from isa.semantics.instruction import Instruction, Modified, Operand

_SCALARS = 2
"""How many scalar registers and literals a vector instruction reads at most."""


class Room:
    """Which registers hold nothing."""

    def __init__(self, kernel: Kernel, cfg: Cfg) -> None:
        self.cfg, self.live = cfg, liveness.analyse(cfg)
        self.most = most_vgprs(kernel, cfg)
        self.flight = waits.analyse(cfg)

    def free(self, positions: range, file: str) -> list[int]:
        filled = 0
        for i in positions:
            for load, _ in self.flight.before[i]:
                filled |= waits.filled(self.cfg, load)
        found = self.live.free(positions, file, self.most if file == "v" else None)
        return [reg.index for reg in found if not filled >> regset.bit(reg) & 1]


@dataclass(eq=False)
class _Item:
    """An instruction to write. value: what it computes; to: the VGPR that it must go to, -1: any."""

    value: Value
    to: int
    needs: tuple[Value, ...]
    reads: frozenset[int]


class Writer:
    """Instructions that leave what a run leaves. Stop where they cannot be written."""

    def __init__(self, run: Run, rows: range, room: Room) -> None:
        self.run, self.out = run, list[Instruction]()
        live: Liveness = room.live
        after = live.after[rows[-1]]

        def later(reg: Reg) -> bool:
            return bool(after >> regset.bit(reg) & 1)

        self.scc = later(SCC)
        if self.scc and run.own_scc:
            raise Stop
        self.wanted = {
            n: value for n, value in run.vgprs.items() if later(Reg("v", n)) and value is not run.incoming(n)
        }
        self.left = {n: mask for n, mask in run.masks.items() if n != EXEC_LO.index and later(Reg("s", n))}
        self.temps = [n for n in room.free(rows, "v") if n not in self.wanted]
        self.scalars = room.free(rows, "s")
        self.vcc_free = not later(VCC_LO) and VCC_LO.index not in run.touched
        self.where: dict[Value, int] = {}
        self.at: dict[int, Operand] = {}  # table -> the register that holds the mask
        for atom in run.atoms:
            if isinstance(atom, int):
                self.at[run.atom(atom)] = Reg("s", atom)

    def rows(self) -> list[Instruction]:
        values = self._needed()
        counted = Counter(min(v.table, ALL & ~v.table) for v in values if v.kind == "sel")
        self.first_mask = counted.most_common(1)[0][0] if counted and self.vcc_free else -1
        self.items = self._items(values)
        while self.items:
            self._next()
        self._masks_left()
        return self.out

    # --- what is to be written
    def _needed(self) -> list[Value]:
        found: set[Value] = set()
        tables = [mask.table for mask in self.left.values()]
        work = list(self.wanted.values()) + [a for t in tables for a in self._support(t)]
        while work:
            value = work.pop()
            if value in found:
                continue
            found.add(value)
            work += self._uses(value)
        return sorted((v for v in found if v.kind != "in"), key=lambda v: v.number)

    def _uses(self, value: Value) -> list[Value]:
        """The values that its instruction reads, and the comparisons whose masks it needs."""
        if value.kind != "sel":
            return [source for _, source in value.sources]
        arms = [arm for arm in (value.first, value.second) if arm is not None and arm.kind != "const"]
        return [*arms, *self._support(value.table)]

    def _support(self, table: int) -> list[Value]:
        """The comparisons that a mask depends on."""
        found = []
        for k, atom in enumerate(self.run.atoms):
            on = sum(1 << row for row in range(ALL.bit_length()) if row >> k & 1)
            if isinstance(atom, Value) and (table & on) >> (1 << k) != table & ~on & ALL:
                found.append(atom)
        return found

    def _items(self, values: list[Value]) -> list[_Item]:
        to: dict[Value, int] = {}
        moves = []
        for n, value in self.wanted.items():
            if value.kind == "in" or value in to:
                moves.append((value, n))
            else:
                to[value] = n
        items = [self._item(value, to.get(value, -1)) for value in values]
        return items + [self._move(value, n) for value, n in moves]

    def _item(self, value: Value, to: int) -> _Item:
        uses = self._uses(value)
        reads = {use.register for use in uses if use.kind == "in"} | set(value.reads)
        return _Item(value, to, tuple(use for use in uses if use.kind != "in"), frozenset(reads))

    def _move(self, value: Value, to: int) -> _Item:
        copy = Value("copy", len(self.run.made), sources=((1, value),))
        return self._item(copy, to)

    # --- in which order, and where
    def _next(self) -> None:
        """Writes the first instruction that can be: what it needs is there, and nothing else will read what it
        destroys; else one goes to a register that is free, and is moved in the end."""
        ready = [item for item in self.items if all(need in self.where for need in item.needs)]
        for item in ready:
            if item.to < 0 or not any(item.to in other.reads for other in self.items if other is not item):
                break
        else:
            item = ready[0]
            self.items.append(self._move(item.value, item.to))
            item.to = -1
        self.items.remove(item)
        value = item.value
        if value.kind == "cmp":
            self.where[value] = -1
            self._compare(value)
            return
        self._free_temps()
        to = item.to if item.to >= 0 else self._temp()
        self._write(value, Reg("v", to))
        self.where[value] = to

    def _temp(self) -> int:
        if not self.temps:
            raise Stop
        return self.temps.pop(0)

    def _free_temps(self) -> None:
        """Values that nothing will read give their registers back."""
        needed = {need for item in self.items for need in item.needs}
        for value, n in self.where.items():
            if n >= 0 and n not in self.wanted and value not in needed and n not in self.temps:
                self.temps.append(n)

    def _register(self, value: Value) -> Reg:
        return Reg("v", value.register if value.kind == "in" else self.where[value])

    # --- instructions
    def _write(self, value: Value, to: Reg) -> None:
        if value.kind == "sel":
            self._select(value, to)
        elif value.kind == "const":
            self._emit(f"v_mov_b32_e32 {to}, {value.operand}")
        elif value.kind == "copy":
            self._emit(f"v_mov_b32_e32 {to}, {self._register(value.sources[0][1])}")
        else:
            self.out.append(self._with_sources(value, to))

    def _with_sources(self, value: Value, to: Reg) -> Instruction:
        inst = value.inst
        assert inst is not None
        operands = list(inst.operands)
        for place, source in value.sources:
            operands[place] = _in_place(operands[place], self._register(source))
        if not inst.desc.writes_exec:
            operands[0] = to
        return dataclasses.replace(inst, operands=tuple(operands), size=0)

    def _compare(self, value: Value) -> None:
        table = self.run.atom(value)
        to = VCC_LO if min(table, ALL & ~table) == self.first_mask else self._scalar()
        inst = self._with_sources(value, to)
        name = inst.desc.name.replace("v_cmpx", "v_cmp")
        sources = inst.operands if inst.desc.writes_exec else inst.operands[1:]
        plain = not inst.modifiers and not any(isinstance(o, Modified) for o in sources)
        short = plain and to == VCC_LO and isinstance(sources[1], Reg) and sources[1].is_vgpr
        made = dataclasses.replace(inst, mnemonic=f"{name}_{'e32' if short else 'e64'}", operands=(to, *sources))
        self.out.append(made)
        self.at[table] = to

    def _select(self, value: Value, to: Reg) -> None:
        mask, turned = self._mask(value.table)
        on, off = (self._arm(arm) for arm in (value.first, value.second))
        if turned:
            on, off = off, on
        scalars = {str(arm) for arm in (on, off, mask) if is_literal(arm) or (isinstance(arm, Reg) and arm.file == "s")}
        if len(scalars) > _SCALARS:
            raise Stop
        short = mask == VCC_LO and isinstance(on, Reg) and on.is_vgpr
        self._emit(f"v_cndmask_b32_{'e32' if short else 'e64'} {to}, {off}, {on}, {mask}")

    def _arm(self, arm: Value | None) -> Operand:
        assert arm is not None
        if arm.kind != "const":
            return self._register(arm)
        assert arm.operand is not None
        return arm.operand

    def _mask(self, table: int) -> tuple[Operand, bool]:
        """A register that holds a mask, or its complement (then True)."""
        if table in self.at:
            return self.at[table], False
        if ALL & ~table in self.at:
            return self.at[ALL & ~table], True
        if self.scc:
            raise Stop
        for one, name, two in self._joined(self.at, self.at):
            if BOOLEAN[name](one, two) & ALL in (table, ALL & ~table):
                return self._mask_op(name, one, two), BOOLEAN[name](one, two) & ALL != table
        for one, name, two in list(self._joined(self.at, self.at)):
            middle = BOOLEAN[name](one, two) & ALL
            for a, last, b in (*self._joined([middle], self.at), *self._joined(self.at, [middle])):
                if BOOLEAN[last](a, b) & ALL in (table, ALL & ~table):
                    self._mask_op(name, one, two)
                    return self._mask_op(last, a, b), BOOLEAN[last](a, b) & ALL != table
        raise Stop

    @staticmethod
    def _joined(ones: object, twos: object) -> Iterator[tuple[int, str, int]]:
        for one in list(ones):  # type: ignore[call-overload]
            for two in list(twos):  # type: ignore[call-overload]
                for name in ("s_and", "s_or", "s_and_not1", "s_xor"):
                    yield one, name, two

    def _mask_op(self, name: str, one: int, two: int) -> Operand:
        table = BOOLEAN[name](one, two) & ALL
        if table not in self.at:
            to = VCC_LO if min(table, ALL & ~table) == self.first_mask else self._scalar()
            self._emit(f"{name}_b32 {to}, {self.at[one]}, {self.at[two]}")
            self.at[table] = to
        return self.at[table]

    def _scalar(self) -> Reg:
        if not self.scalars:
            raise Stop
        return Reg("s", self.scalars.pop(0))

    def _masks_left(self) -> None:
        """Masks that are read later, exact in lanes that are off too."""
        made: list[tuple[str, set[Operand]]] = []
        for n, mask in self.left.items():
            if mask.outside is None or self.scc:
                raise Stop
            to = Reg("s", n)
            if mask.table in (0, ALL):
                full, outside = mask.table == ALL, mask.outside == 1
                text = f"s_mov_b32 {to}, {'-1' if full else '0'}" if full == outside else (
                    f"s_mov_b32 {to}, exec_lo" if full else f"s_not_b32 {to}, exec_lo"
                )  # fmt: skip
                made.append((text, set()))
                continue
            reg, turned = self._mask(mask.table)
            if turned:
                text = f"s_nand_b32 {to}, {reg}, exec_lo" if mask.outside else f"s_and_not1_b32 {to}, exec_lo, {reg}"
            else:
                text = f"s_or_not1_b32 {to}, {reg}, exec_lo" if mask.outside else f"s_and_b32 {to}, {reg}, exec_lo"
            made.append((text, {reg}))
        for k, n in enumerate(self.left):
            if any(Reg("s", n) in reads for _, reads in made[k + 1 :]):
                raise Stop
        for text, _ in made:
            self._emit(text)

    def _emit(self, text: str) -> None:
        self.out.append(parse_instruction(text))


def _in_place(operand: Operand, reg: Reg) -> Operand:
    return dataclasses.replace(operand, operand=reg) if isinstance(operand, Modified) else reg
