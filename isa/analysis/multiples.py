"""Possible bits of registers: a `Cfg` -> at each position, the bits that may be 1; the rest is known to be 0.

What an LDS address must be a multiple of before a wide access may stand there (RDNA3 ISA guide 12.6) is often plain in
the text: a thread's number shifted by 4 and a constant. So is how large it can be. Each instruction's own body is run
on terms of which the possible bits are known (`isa.algebra`), in a forward data flow. Where lanes that are off keep a
value that is still live, and where paths meet, both count.

Limits: nothing is known of floats, of loaded words and of arguments, nor of what a function begins with but for the
work-item's number, where it is known how many bits that has. So what floats, loaded words and addresses are made of is
not followed.
"""

from __future__ import annotations

from functools import reduce
from operator import or_

from isa.algebra.machine import TermMachine
from isa.algebra.term import Term, trailing_zeros
from isa.algebra.terms import Terms
from isa.algebra.values import Setting, SymbolicValue
from isa.analysis import dataflow, exec_mask, liveness, regset
from isa.analysis.cfg import Block, Cfg
from isa.registers import SCC, Reg, v
from isa.semantics.engine import Request
from isa.semantics.instruction import Access, Description, Instruction, bit_width, lookup

FULL = (1 << 32) - 1
_Known = dict[int, int]
"""regset bit of a register -> the bits that may be 1; FULL where it is left out."""


class _Machine(TermMachine):
    """known: of registers before the instruction."""

    def __init__(self, setting: Setting, known: _Known) -> None:
        super().__init__(setting)
        self.known = known

    def term(self, unit: Reg) -> Term:
        width, ones = 1 if unit == SCC else 32, self.known.get(regset.bit(unit), FULL)
        return self.terms.unknown(str(unit), width, uniform=not unit.is_vgpr, ones=ones)

    def load(self, at: Request[SymbolicValue]) -> tuple[SymbolicValue, ...]:
        ones = {"u8": 0xFF, "u16": 0xFFFF}.get(at.access.element, FULL)
        loaded = self.terms.unknown("loaded", 32, uniform=at.access.space == "scalar", ones=ones)
        return (self.value("u32", loaded),) * at.words


class Multiples:
    """See the module's docstring. items: the bits that v0 may have as the function begins. Followed is what registers
    are made of that somebody has asked for: `wanted`."""

    def __init__(self, cfg: Cfg, items: int = FULL) -> None:
        self.cfg = cfg
        self.live = liveness.analyse(cfg)
        self.setting = Setting(Terms())
        self.full = exec_mask.analyse(cfg).full
        self.first: _Known = {regset.bit(v(0)): items} if items < FULL else {}
        self.wanted = 0
        self.entry: dict[int, _Known] = {}
        self.unknown = [_unknown(inst) for inst in cfg.instructions]
        self.made: dict[int, _Known] = {}

    def zeros(self, position: int, reg: Reg) -> int:
        """How many low bits of a single register are 0 before a position."""
        return min(trailing_zeros(self.ones(position, reg)), 32)

    def ones(self, position: int, reg: Reg) -> int:
        """The bits of a single register that may be 1 before a position."""
        if not self.wanted >> regset.bit(reg) & 1:
            self._follow(1 << regset.bit(reg))
        block, at = self.cfg.block_of(position), regset.bit(reg)
        for i in range(position - 1, block.start - 1, -1):
            if self.cfg.defs[i] >> at & 1:
                return self.made.get(i, {}).get(at, FULL)
        return self.entry.get(block.index, {}).get(at, FULL)

    def _follow(self, registers: int) -> None:
        """These too, and what goes into them."""
        before = -1
        self.wanted |= registers
        while self.wanted != before:
            before = self.wanted
            for defs, uses, unknown in zip(self.cfg.defs, self.cfg.uses, self.unknown, strict=True):
                if defs & self.wanted and not unknown:
                    self.wanted |= uses
        self.entry = dataflow.forward(self.cfg, self.first, self._through, _joined)

    def _through(self, block: Block, state: _Known) -> _Known:
        state = dict(state)
        for i in block.range:
            self._step(i, state)
        return state

    def _step(self, i: int, state: _Known) -> None:
        if not self.cfg.defs[i] & self.wanted:
            return
        found = {} if self.unknown[i] else _Machine(self.setting, state).follow(self.cfg.instructions[i]) or {}
        made: _Known = {}
        for reg in regset.members(self.cfg.defs[i]):
            at = regset.bit(reg)
            new = _ones(found[reg]) if reg in found else FULL
            if reg.is_vgpr and not self.full[i] and self.live.before[i] >> at & 1:
                new |= state.get(at, FULL)
            state.pop(at, None)
            if new < FULL:
                state[at] = made[at] = new
        self.made[i] = made


def _unknown(inst: Instruction) -> bool:
    """Whether all that it writes are floats or loaded words, of which nothing is known."""
    return all(_words(d.access) if d.access else _floats(d) for d in map(lookup, inst.halves))


def _words(access: Access) -> bool:
    return bit_width(access.element) >= 32 and not (access.half or access.components)


def _floats(desc: Description) -> bool:
    return not desc.implicit_writes and all(role.type in ("f32", "f64") for role in desc.roles if role.written)


def _ones(t: Term) -> int:
    """The possible bits of a result, of a sum in which nothing carries those of its parts."""
    if t.op == "sum":
        masks = [t.args[0], *(u.ones * c for u, c in t.args[1])]
        if reduce(or_, masks) == sum(masks) <= FULL and all(not c & (c - 1) or u.ones == 1 for u, c in t.args[1]):
            return sum(masks)
    return t.ones


def _joined(a: _Known, b: _Known) -> _Known:
    return {at: n | b[at] for at, n in a.items() if at in b}


def analyse(cfg: Cfg, items: int = FULL) -> Multiples:
    """What is known of a function's registers. items: the bits that v0 may have as it begins."""
    return Multiples(cfg, items)
