"""EXEC masks: the instructions of a `Cfg` -> where EXEC is full, and how each write changes it.

A VGPR write leaves the lanes that are off as they were, so it ends the life of the old value only where no lane that
matters is off. "Full" means that EXEC holds each lane it held at the entry: lanes off from the start (a last, partial
wave) never come on again and never matter.

The analysis is forward and keeps, for the registers of the scalar space (EXEC_LO among them), the pairs (a, b) with
a | b >= full: `covers`. (a, a) says that a itself is full. That is enough to see the compiler's three patterns through
any nesting:

    if:    s_and_saveexec_b32 s2, vcc_lo     s2 is full and stays so; s_or_b32 exec_lo, exec_lo, s2 restores it
    else:  s_xor_b32 s2, exec_lo, s2         s2 | EXEC is full, though neither is
    loop:  s_or_b32 s1, vcc_lo, s1           s1 | EXEC is full as it was at the first iteration, since the lanes that
           s_and_not1_b32 exec_lo, exec_lo, s1   leave EXEC stand in s1

What an instruction does to masks is not written down here again: its body from `isa.instructions` is run on symbolic
values, which keep `&`, `|`, `^`, `~` of registers and constants and forget all else. At a join a pair holds where it
holds on all paths. In wave32 masks have 32 bits, and EXEC_HI is left out; in wave64 they are pairs of SGPRs, known by
the lower one, and a write of either is one of the mask.

Sources: RDNA3 ISA guide 3.3 (EXEC), 16.3 (S_*_SAVEEXEC); LLVM SILowerControlFlow.cpp for the patterns.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cache, cached_property
from typing import Any

from isa.analysis import dataflow, regset
from isa.analysis.cfg import Block, Cfg
from isa.registers import EXEC_LO, SCC, Reg
from isa.semantics.instruction import IMPLICIT, Imm, Instruction, fact
from isa.semantics.values import Value

_EXEC = regset.bit(EXEC_LO)
_FULL = -1  # stands for a mask of all lanes


class Mask:
    """A symbolic 32-bit mask: op "reg", "ones", "zero", "and", "or", "xor" or "not" over arguments; "?" for anything
    else."""

    type = "u32"

    def __init__(self, op: str, *args: Any) -> None:
        self.op, self.args = op, args

    def __and__(self, other: Any) -> Mask:
        return Mask("and", self, _mask(other))

    def __or__(self, other: Any) -> Mask:
        return Mask("or", self, _mask(other))

    def __xor__(self, other: Any) -> Mask:
        return Mask("xor", self, _mask(other))

    def __invert__(self) -> Mask:
        return Mask("not", self)

    def bits(self, type_: str) -> Mask:
        return self

    @cached_property
    def leaves(self) -> frozenset[int]:
        """The registers that it is made of, each once, and _FULL where all ones are among its parts."""
        parts = self.args if self.op in ("and", "or", "xor", "not") else ()
        own = self.args if self.op == "reg" else [_FULL] if self.op == "ones" else ()
        return frozenset(own).union(*(part.leaves for part in parts))

    @cached_property
    def unknown(self) -> bool:
        """Whether it is full together with no register, for all that can be known of it."""
        parts = [part.unknown for part in self.args] if self.op in ("and", "or", "xor") else []
        return self.op in ("?", "zero") or (all(parts) if self.op == "or" else any(parts))

    def registers(self) -> Iterator[int]:
        """The registers that it is made of."""
        if self.op == "reg":
            yield self.args[0]
        elif self.op in ("and", "or", "xor", "not"):
            for part in self.args:
                yield from part.registers()


def _forget(self: Mask, *_: Any) -> Mask:
    return Mask("?")


# The rest of what a body may ask of a Value: all of it is forgotten.
for _name in Value.__abstractmethods__ - Mask.__dict__.keys() | {"__eq__", "__ne__"}:
    setattr(Mask, _name, _forget)
for _name in ("__radd__", "__rmul__", "__rand__", "__ror__", "__rxor__"):
    setattr(Mask, _name, getattr(Value, _name))


def _mask(value: Any) -> Mask:
    if isinstance(value, Mask):
        return value
    if not isinstance(value, int) or 0 < value & 0xFFFFFFFF < 0xFFFFFFFF:
        return Mask("?")
    return Mask("ones") if value & 0xFFFFFFFF else Mask("zero")


@dataclass(frozen=True)
class ExecMask:
    """full[i]: EXEC is full before position i.  change[i]: how position i changes EXEC: "" (not at all), "narrows"
    (lanes only go off), "widens" (lanes only come on), "any"."""

    full: tuple[bool, ...]
    change: tuple[str, ...]


_Pairs = frozenset[tuple[int, int]]


def _covers(pairs: _Pairs, a: int, b: int) -> bool:
    return _FULL in (a, b) or (a, a) in pairs or (b, b) in pairs or (min(a, b), max(a, b)) in pairs


def _join(one: _Pairs, two: _Pairs) -> _Pairs:
    return frozenset(p for p in one | two if _covers(one, *p) and _covers(two, *p))


def backward(change: str, on: int, off: int) -> tuple[int, int]:
    """(on, off) sets after a write of EXEC -> those before it: what is needed of a lane that is on after it is needed
    of a lane that was on before it, or off, as the change allows."""
    both = on | off
    return {"narrows": (both, off), "widens": (on, both), "any": (both, both)}[change]


def forward(change: str, on: int, off: int) -> tuple[int, int]:
    """(on, off) sets before a write of EXEC -> those after it."""
    both = on | off
    return {"narrows": (on, both), "widens": (both, off), "any": (both, both)}[change]


def analyse(cfg: Cfg, lanes: int = 32) -> ExecMask:
    """Where EXEC is known to be full. A mask that the symbolic values cannot follow counts as unknown. lanes: of a
    wave."""
    masks = effects(cfg, lanes)
    full, calls = [False] * len(cfg), frozenset(cfg.calls)

    def through(block: Block, pairs: _Pairs) -> _Pairs:
        for i in block.range:
            full[i] = (_EXEC, _EXEC) in pairs
            if masks[i] is not None or i in calls:
                pairs = _step(pairs, masks[i], i in calls)
        return pairs

    dataflow.forward(cfg, frozenset({(_EXEC, _EXEC)}), through, _join)
    return ExecMask(tuple(full), tuple(_change(e) for e in masks))


def changes(cfg: Cfg) -> tuple[str, ...]:
    """How each position changes EXEC, as of `ExecMask`."""
    return tuple(_change(e) for e in effects(cfg))


def effects(cfg: Cfg, lanes: int = 32) -> list[dict[int, Mask] | None]:
    """For each position the scalar registers that it writes (`regset`) and their new masks; None where it writes
    none. lanes: of a wave."""
    scalars = regset.SCALARS & ~regset.mask([SCC])
    return [_effects(inst, lanes) if d & scalars else None for inst, d in zip(cfg.instructions, cfg.defs, strict=True)]


@fact
def _effects(inst: Instruction, lanes: int) -> dict[int, Mask]:
    """Scalar register that an instruction writes -> its new mask."""
    words = lanes // 32
    written = [r for r in inst.writes() if r.file == "s"]
    forgotten = {regset.bit(r) // words * words: Mask("?") for r in written}
    body, desc = inst.desc.body, inst.desc
    if desc.exec_masked and _EXEC in forgotten:
        forgotten[_EXEC] = Mask("and", Mask("reg", _EXEC), Mask("?"))
    other = words == 1 and any(r.index == 127 for r in written)
    if body is None or inst.pair is not None or desc.access is not None or other:
        return forgotten
    arguments: list[Any] = []
    outputs: list[Reg | None] = []
    for role, operand in desc.roles_of(inst):
        if role.read and role.kind != "l":
            arguments.append(operand_mask(operand, words))
        if role.written:
            outputs.append(operand if isinstance(operand, Reg) and operand.count == words else None)
    for name in desc.implicit_reads:
        arguments.append(operand_mask(_implicit(name, desc.is_vector and words == 2), words))
    arguments += [0] * len(desc.fields)
    outputs += [_implicit(name, desc.is_vector and words == 2) for name in desc.implicit_writes]
    try:
        result = body(*arguments)
    except (TypeError, ValueError, AttributeError, KeyError, NotImplementedError):
        # The body asked a symbolic value for something that it does not have: nothing is known of the result.
        return forgotten
    values = result if isinstance(result, tuple) else (result,)
    for reg, value in zip(outputs, values, strict=False):
        if reg is not None and reg.file == "s" and reg.count == words and not reg.is_null:
            # A vector comparison gives 0 for lanes that are off.
            mask = _mask(value)
            forgotten[regset.bit(reg)] = Mask("and", Mask("reg", _EXEC), mask) if desc.exec_masked else mask
    return forgotten


def _implicit(name: str, pair: bool) -> Reg | None:
    """A register that is not written out; pair: a lane mask is one of two words."""
    return IMPLICIT.get(f"{name}64" if pair and f"{name}64" in IMPLICIT else name)


def operand_mask(operand: object, words: int = 1) -> Mask:
    """The mask that an operand holds. words: of a lane mask."""
    if isinstance(operand, Reg) and operand.file == "s" and operand.count == words:
        return _register(regset.bit(operand))
    if isinstance(operand, Imm) and isinstance(operand.value, int):
        return _mask(operand.value)
    return Mask("?")


def _step(pairs: _Pairs, effect: dict[int, Mask] | None, call: bool) -> _Pairs:
    if call:
        # A function gives EXEC back as it got it, and may use any SGPR (LLVM AMDGPUUsage, "Function ABI").
        return frozenset(p for p in pairs if p == (_EXEC, _EXEC))
    if effect is None:
        return pairs
    kept = {p for p in pairs if p[0] not in effect and p[1] not in effect}
    if all(value.op == "?" for value in effect.values()):
        return pairs if len(kept) == len(pairs) else frozenset(kept)
    others = {r for p in pairs for r in p} | {_EXEC}
    for reg, value in effect.items():
        if not value.unknown and _covered(pairs, value, value):
            kept.add((reg, reg))
        for other in _near(pairs, value, others) - effect.keys() if not value.unknown else ():
            if _covered(pairs, value, _register(other)):
                kept.add((min(reg, other), max(reg, other)))
        for second, its_value in effect.items():
            if second > reg and _covered(pairs, value, its_value):
                kept.add((reg, second))
    return frozenset(kept)


def _near(pairs: _Pairs, value: Mask, others: set[int]) -> set[int]:
    """Those of the other registers that may make a value full: where a pair of it and them is."""
    leaves = value.leaves
    if _FULL in leaves or any(a in leaves and b in leaves for a, b in pairs):
        return others
    return {reg for a, b in pairs if a == b or a in leaves or b in leaves for reg in (a, b)}


@cache
def _register(number: int) -> Mask:
    return Mask("reg", number)


def _same(a: Mask, b: Mask) -> bool:
    return a is b or (a.op == b.op == "reg" and a.args == b.args)


def _covered(pairs: _Pairs, value: Mask, other: Mask) -> bool:
    """Whether value | other >= full, both over the registers' old values."""
    for a, b in ((value, other), (other, value)):
        if a.op == "ones":
            return True
        if a.op == "or" and any(_covered(pairs, part, b) for part in (*a.args,)):
            return True
        if a.op == "or" and _covered(pairs, *a.args):
            return True
        if a.op == "xor" and any(_same(b, part) for part in a.args) and _covered(pairs, *a.args):
            return True
        if a.op == "and":
            left, right = a.args
            for part, rest in ((left, right), (right, left)):
                # (x & ~y) | y == x | y
                if part.op == "not" and _same(part.args[0], b):
                    return _covered(pairs, rest, b)
            if _covered(pairs, left, b) and _covered(pairs, right, b) and value is not other:
                return True
    if value.op == "and" and value is other:
        return all(_covered(pairs, part, part) for part in value.args)
    if value.op == other.op == "reg":
        return _covers(pairs, value.args[0], other.args[0])
    return False


def narrows(effect: dict[int, Mask]) -> bool:
    """Whether it only turns lanes off."""
    return _change(effect) == "narrows"


def _change(effect: dict[int, Mask] | None) -> str:
    if effect is None or _EXEC not in effect:
        return ""
    value = effect[_EXEC]
    old: Callable[[Mask], bool] = lambda part: part.op == "reg" and part.args[0] == _EXEC  # noqa: E731
    if old(value):
        return ""
    if value.op == "ones" or (value.op == "or" and any(map(old, value.args))):
        return "widens"
    if value.op == "and" and any(map(old, value.args)):
        return "narrows"
    return "any"
