"""Jumps through registers inside a function: its instructions -> the positions that each may go to.

    s_getpc_b64 s[0:1]                        Tensile's branch to what is too far away for s_branch
    s_add_i32 s2, label, 4                    in a code object a distance
    s_add_u32 s0, s0, s2                      or, for a distance below 0: s_abs_i32, s_sub_u32, s_subb_u32
    s_addc_u32 s1, s1, 0
    s_setpc_b64 s[0:1]

LLVM's is alike, with `(label-.Lpost_getpc)&4294967295`; and a kernel may choose one of several such addresses, call it
by s_swappc_b64 and come back. All of it is arithmetic on constants: code lies where it was disassembled, else from 0
on, and moves as a whole.

How: the paths from the first instruction are followed with the values of the registers that jumps go by and of those
that lead to them; each instruction's own body computes with them, and a branch of which SCC is known goes one way.
Where paths meet, values are kept as far as they agree (Wegman and Zadeck, 1991), but addresses of the function's own
apart: a place is followed for each set of these, STATES at most.

Out: only jumps of which each path tells the target, and it lies inside. One that no path comes to goes nowhere.

Limits: an address that comes from memory, from lanes or from a caller is not known.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any, cast

from isa.asm import expression
from isa.asm.encoding import size_of
from isa.registers import SCC, Reg
from isa.semantics.branches import branch_target
from isa.semantics.engine import UNKNOWN, Straight
from isa.semantics.execute import Bound, bind, run
from isa.semantics.instruction import Imm, Instruction, Symbol
from isa.semantics.own_place import LITERAL_AT, distance

if TYPE_CHECKING:
    from isa.semantics.reference.values import NumpyValue

STATES = 32
_WORD = (1 << 32) - 1
_State = dict[Reg, tuple[int, bool]]
"""What registers hold, and whether that comes from the function's own address."""


def through_register(inst: Instruction) -> bool:
    """s_setpc_b64, s_swappc_b64."""
    return "pc" in inst.desc.implicit_writes


def inside(
    instructions: Sequence[Instruction], places: Mapping[Any, int], leave: Iterable[int]
) -> dict[int, tuple[int, ...]]:
    """See the module's docstring. places: of labels, and of addresses in a code object; leave: the positions of jumps,
    of others perhaps, too."""
    by_register = [i for i in leave if through_register(instructions[i])]
    if not by_register or all(inst.desc.name != "s_getpc_b64" for inst in instructions):
        return {}
    return _Paths(instructions, places, by_register).found()


def numbered(instructions: Sequence[Instruction], places: Mapping[Any, int]) -> dict[int, Instruction]:
    """Those that compute with the distance to a label, by position, with the number in its place."""
    paths, found = None, dict[int, Instruction]()
    for i, inst in enumerate(instructions):
        if inst.desc.is_salu and distance(inst) is None and any(isinstance(o, Symbol) for o in inst.operands):
            paths = paths or _Paths(instructions, places, ())
            operands = tuple(paths.number(i, inst, o) if isinstance(o, Symbol) else o for o in inst.operands)
            if not any(isinstance(o, Symbol) for o in operands):
                found[i] = replace(inst, operands=operands)
    return found


class _Scalars(Straight):
    """The engine of one instruction. after: where the next one lies; target: where it jumps."""

    def __init__(self, state: _State, after: int) -> None:
        self.state, self.after, self.own = state, after, False
        self.written: _State = {}
        self.taken: bool | None = None
        self.target: int | None = None

    def constant(self, type_: str, number: float) -> NumpyValue:
        from isa.semantics.reference.values import NumpyValue  # with NumPy, which most functions do without

        return NumpyValue.scalar(type_, number, self.mode)

    def next_address(self) -> NumpyValue:
        self.own = True
        return self.constant("u64", self.after)

    def read_sgpr(self, index: int, relative: Any = None) -> NumpyValue:
        number, own = self.state[Reg("s", index)]
        self.own |= own
        return self.constant("u32", number)

    def write_sgpr(self, index: int, value: NumpyValue, relative: Any = None) -> None:
        self.written[Reg("s", index)] = int(value.bits("u32").a.flat[0]), self.own

    def read_scc(self) -> NumpyValue:
        return self.constant("b1", self.state[SCC][0])

    def write_scc(self, value: NumpyValue) -> None:
        self.written[SCC] = int(value.a.flat[0]), False

    def branch(self, inst: Instruction, condition: NumpyValue | None) -> None:
        self.taken = condition is None or bool(condition.a.flat[0])

    def jump(self, target: NumpyValue) -> None:
        self.target = int(target.a.flat[0])


@dataclass
class _Paths:
    code: Sequence[Instruction]
    places: Mapping[Any, int]
    by_register: Sequence[int]
    seen: dict[int, dict[frozenset[Any], _State]] = field(default_factory=dict)
    goes: dict[int, set[int]] = field(default_factory=dict)
    unknown: set[int] = field(default_factory=set)
    bound: dict[int, Bound] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.at: list[int] = []
        size = 0
        for inst in self.code:
            self.at.append(size if inst.address is None else inst.address)
            size = self.at[-1] + (size_of(inst) if inst.address is None else inst.size)
        self.at.append(size)
        self.position = {address: i for i, address in enumerate(self.at[:-1])}
        self.names = {name: str(self.at[i]) for name, i in self.places.items() if isinstance(name, str)}
        targets = {self.places.get(branch_target(inst)) for inst in self.code if inst.desc.is_branch}
        self.leaders = {i for i in targets if i is not None}

    @cached_property
    def steps(self) -> list[int]:
        """Positions of what matters to the paths."""
        watched = self._watched()
        return [
            i for i, inst in enumerate(self.code)
            if i in self.leaders or inst.desc.is_branch or inst.desc.terminator or inst.desc.relative
            or not watched.isdisjoint(inst.writes())
        ]  # fmt: skip

    def _watched(self) -> set[Reg]:
        """The registers that jumps go by, those that these are computed from, and SCC, which carries between halves."""
        watched = {reg for i in self.by_register for reg in self.code[i].reads()}
        scalar = [inst for inst in self.code if inst.desc.is_salu]
        before = 0
        while len(watched) > before:
            before = len(watched)
            for inst in scalar:
                if not watched.isdisjoint(inst.writes() - {SCC}):
                    watched |= {reg for reg in inst.reads() if reg.file == "s"}
        return watched | {SCC}

    def found(self) -> dict[int, tuple[int, ...]]:
        near = {i: to for i in self.by_register if (to := self._near(i)) is not None}
        if len(near) == len(self.by_register):
            return {i: (to,) for i, to in near.items()}
        work: list[tuple[int, _State]] = [(0, {})]
        while work:
            at, state = work.pop()
            if (new := self._new(at, state)) is not None:
                work += self._followed(at, new)
        never = () if self.unknown else set(self.by_register) - set(self.goes)
        return {i: tuple(sorted(to)) for i, to in self.goes.items() if i not in self.unknown} | dict.fromkeys(never, ())

    def _near(self, jump: int) -> int | None:
        """Where a jump goes whose address is computed right before it: the common case, without any path."""
        start = jump
        while start and self.code[start].desc.name != "s_getpc_b64" and start not in self.leaders:
            start -= 1
            if self.code[start].desc.is_branch:
                return None
        state: _State = {}
        for i in range(start, jump):
            engine = self._ran(i, self.code[i], state)
            state = {r: n for r, n in state.items() if r not in self.code[i].writes()}
            state |= engine.written if engine is not None else {}
        engine = self._ran(jump, self.code[jump], state)
        if engine is None or engine.target is None or self.code[jump].writes():
            return None
        return self.position.get(engine.target)

    def _new(self, at: int, state: _State) -> _State | None:
        """What to follow from a position; None where that was done."""
        before = self.seen.setdefault(at, {})
        addresses = frozenset(item for item in state.items() if item[1][1])
        if addresses not in before and len(before) >= STATES:
            state = {reg: value for reg, value in state.items() if not value[1]}
            addresses = frozenset()
        if (old := before.get(addresses)) is not None:
            state = dict(old.items() & state.items())
            if state == old:
                return None
        before[addresses] = state
        return state

    def _followed(self, start: int, state: _State) -> list[tuple[int, _State]]:
        """Where paths from a position go on, each with its values."""
        state = dict(state)
        for i in self.steps[bisect_left(self.steps, start) :]:
            if i in self.leaders and i != start:
                return [(i, state)]
            inst = self.code[i]
            engine = self._ran(i, inst, state)
            state = {} if inst.desc.relative else {r: n for r, n in state.items() if r not in inst.writes()}
            if engine is not None:
                state |= engine.written
            if not inst.desc.is_branch:
                if inst.desc.terminator:
                    return []
                continue
            ends = inst.desc.terminator or i + 1 == len(self.code)
            if through_register(inst):
                to = self.position.get(engine.target) if engine and engine.target is not None else None
                if to is not None:
                    self.goes.setdefault(i, set()).add(to)
                    return [(to, state)]
                self.unknown.add(i)
                return [] if ends else [(i + 1, {})]
            if inst.writes():  # a call
                return [] if ends else [(i + 1, {})]
            to = self.places.get(branch_target(inst))
            taken = engine.taken if engine is not None else None
            on = [(to, state)] if to is not None and taken is not False else []
            return on if ends or taken is True else [*on, (i + 1, state)]
        return []

    def _ran(self, i: int, inst: Instruction, state: _State) -> _Scalars | None:
        """What an instruction does; None where that is not known."""
        bound = self.bound.get(i) or self.bound.setdefault(i, self._bound(i, inst))
        if not bound or not all(reg in state for reg in inst.reads() if reg == SCC or reg.file == "s"):
            return None
        engine = _Scalars(state, self.at[i] + (size_of(inst) if inst.address is None else inst.size))
        try:
            run(cast(Any, engine), bound)
        except UNKNOWN:  # it asks for more than this engine has
            return None
        return engine

    def _bound(self, i: int, inst: Instruction) -> Bound:
        """What it does, nothing where this engine would not know."""
        if not (inst.desc.is_salu or inst.desc.is_branch) or inst.desc.relative:
            return ()
        operands = [self.number(i, inst, o) if isinstance(o, Symbol) else o for o in inst.operands]
        named = inst.desc.is_branch and not through_register(inst)
        try:
            return bind(inst if named else replace(inst, operands=tuple(operands)))
        except UNKNOWN:
            return ()

    def number(self, i: int, inst: Instruction, operand: Symbol) -> Imm | Symbol:
        """The literal that stands for a symbol of this function."""
        literal = self.at[i] + LITERAL_AT
        if (counted := distance(inst)) is not None and counted.symbol in self.names and not counted.slot:
            value: int | None = int(self.names[counted.symbol]) + counted.added - literal >> (32 if counted.high else 0)
        else:
            value = expression.value(operand.text, self.names)
            if value is not None and operand.text in self.names:
                value -= literal
        return operand if value is None else Imm(value & _WORD)
