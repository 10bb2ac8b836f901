"""An instruction's step -> the same step for waves with slopes: what it does to them (see `affine`)."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from isa.check.definition import elements, pointers
from isa.check.definition.affine import (
    FIRST_SPECIAL,
    LOW_BITS,
    RULES,
    SCC_HOLDS,
    SCC_KEY,
    Form,
    Longs,
    Open,
    Sloped,
    constant,
    cut,
    high,
    keys_of,
)  # fmt: skip
from isa.check.definition.alu import base_name
from isa.check.definition.integers import relation
from isa.check.definition.names import Names
from isa.check.definition.operands import lanes, scalar
from isa.check.definition.waves import SCC, Fault, Step, Waves
from isa.program import Instruction, Operand
from isa.registers import Reg

Outcome = list[tuple[int, "Longs | str | None"]]
"""Of each key that is written: its slopes, None for no slopes, or why it is open."""


def follow(inst: Instruction, step: Step) -> Step:
    """`step` for waves with slopes. `inst` is one that `access` or `alu` has decoded."""
    if inst.mnemonic.startswith(("global_", "s_load_")):
        return elements.follow(inst, step)
    parts = [_Part.of(half) for half in inst.halves]
    keys = frozenset(key for part in parts for key in (*part.sources, *part.targets))

    def sloped(w: Waves) -> None:
        assert isinstance(w, Sloped)
        some = bool(w.why) or not keys.isdisjoint(w.slopes)
        outcomes = [found for part in parts for found in part.outcome(w)] if some else ()
        try:
            step(w)
        except Fault as fault:
            raise w.explained(fault, keys) from None
        for key, outcome in outcomes:
            if isinstance(outcome, str):
                w.leave_open(key, outcome)
            else:
                w.put_slope(key, outcome)

    return sloped


@dataclass(frozen=True)
class _Part:
    """An instruction, or a half of a VOPD: what it reads and writes, by keys."""

    inst: Instruction
    name: str
    sources: tuple[int, ...]
    targets: tuple[int, ...]

    @staticmethod
    def of(inst: Instruction) -> _Part:
        name, ops = base_name(inst.mnemonic), inst.operands
        if name.startswith(("s_cmp", "ds_store")):
            return _Part(inst, name, keys_of(ops), (SCC_KEY,) if name.startswith("s_cmp") else ())
        sources = keys_of(ops if name.startswith("v_fmac") else ops[1:])
        if name.startswith(("s_addc", "s_subb", "s_cselect")):
            sources += (SCC_KEY,)
        elif name.startswith("v_cndmask") and len(ops) == 3:
            sources += (FIRST_SPECIAL,)
        writes_scc = name.startswith("s_") and not name.startswith(("s_mov", "s_mul", "s_cselect"))
        return _Part(inst, name, sources, keys_of(ops[:1]) + ((SCC_KEY,) if writes_scc else ()))

    def outcome(self, w: Sloped) -> Outcome:
        """Before the instruction runs."""
        if not w.sloped(self.sources):
            return [(key, None) for key in self.targets]
        if self.name.startswith("ds_"):
            raise Fault("every", f"an LDS address, or what is stored there, depends on K in {self.inst}", refused=True)
        why = "is not known"
        try:
            sums = ("s_add_u32", "s_sub_u32", "s_addc_u32", "s_subb_u32")
            if self.name in sums and (found := self._address(w)) is not None:
                return found
            if self.name.startswith("s_cmp"):
                return [(SCC_KEY, self._compared(w))]
            if self.name == "s_lshl_b64":
                return self._wide(w)
            if self.name in RULES:
                result = cut(w, RULES[self.name](w, *(self._form(w, o) for o in self.inst.operands[1:])))
                first, *scc = self.targets
                if result.slopes.any() and first >= FIRST_SPECIAL:
                    raise Open("would be a mask that depends on K")
                steady = self.name in SCC_HOLDS or (not result.slopes.any() and not self.name.endswith("_i32"))
                return [(first, result.slopes), *((key, None if steady else "SCC depends on K") for key in scc)]
        except Open as reason:
            why = str(reason)
        return [(key, f"the result of {self.inst} ({self.inst.span}) {why}") for key in self.targets]

    def _form(self, w: Sloped, operand: Operand) -> Form:
        if isinstance(operand, Reg):
            (key,) = keys_of((operand,))
            slopes = w.slope(key)
        else:
            slopes = np.zeros((w.domain.symbols, 1), np.int64)
        if self.name.startswith("s_"):
            return Form(_number(w, scalar(self.inst, operand)(w), str(operand)), slopes)
        value = _number(w, lanes(self.inst, operand)(w), str(operand))
        slopes = slopes if slopes.ndim == 3 else slopes[:, :, None]
        return Form(value if w.mask is None else np.where(w.mask, value, 0), slopes)

    def _compared(self, w: Sloped) -> Longs | str | None:
        """Whether a comparison comes out the same everywhere."""
        compare = relation(self.name)
        if compare is None or self.name.endswith("u64"):
            return f"{self.inst} ({self.inst.span}) compares what depends on K"
        a, b = (self._form(w, operand) for operand in self.inst.operands)
        try:
            if self.name.endswith("i32"):
                a, b = (_signed(w, x) for x in (a, b))
            sign = np.sign(w.at_corners(a - b))
        except Open as reason:
            return f"what {self.inst} ({self.inst.span}) compares {reason}"
        if self.name.split("_")[2] in ("lt", "le", "gt", "ge"):
            sign = (sign + (0 if self.name.split("_")[2] in ("lt", "ge") else -1)) < 0
        if (sign == sign[0]).all():
            return None
        return f"{self.inst} ({self.inst.span}) holds for some K only"

    def _wide(self, w: Sloped) -> Outcome:
        """s_lshl_b64."""
        source, by = self.inst.operands[1:]
        if not isinstance(source, Reg):
            raise Open("is not known")
        low, upper = (self._form(w, source.sub(i)) for i in (0, 1))
        shift = constant(self._form(w, by)) & 63
        if ((upper.value >= 1 << 28) | (shift > 3)).any() or upper.slopes.any():
            raise Open("is too large to follow")
        whole = Form((low.value + (upper.value << 32)) << shift, low.slopes << shift)
        high(w, whole)
        first, second, scc = self.targets
        return [(first, whole.slopes), (second, None), (scc, "SCC depends on K")]

    # --- addresses
    def _address(self, w: Sloped) -> Outcome | None:
        """Sums and differences with half of an address; None where there is none."""
        low = self.name in ("s_add_u32", "s_sub_u32")
        sign = -1 if "sub" in self.name else 1
        halves = [scalar(self.inst, operand)(w) for operand in self.inst.operands[1:]]
        which = [i for i, half in enumerate(halves) if pointers.kind_of(half, pointers.LOW if low else pointers.HIGH)]
        if not which or (sign < 0 and which[0]):
            return None
        mine, other = self.inst.operands[1 + which[0]], self.inst.operands[2 - which[0]]
        assert isinstance(mine, Reg)
        slopes, x = w.slope(keys_of((mine,))[0]), self._form(w, other).slopes
        target, scc = self.targets
        if low:
            both = np.broadcast_arrays(slopes, x)
            return [(target, slopes + sign * x), (scc, np.concatenate(both))]
        more = x << 32
        if w.s[SCC][1, w.at].any():
            carry = w.slope(SCC_KEY)
            parts = np.split(carry, 2) if len(carry) == 2 * w.domain.symbols else (carry, carry)
            if ((parts[0] ^ slopes) & LOW_BITS).any():
                raise Fault("address", f"the carry is not that of this address for some K: {self.inst}", refused=True)
            more = more + parts[1]
        return [(target, slopes + sign * more), (scc, None)]


def _signed(w: Sloped, a: Form) -> Form:
    lost = a.value >> 31
    if (w.at_corners(a) >> 31 != lost).any():
        raise Open("is negative for some K only")
    return Form(a.value - (lost << 32), a.slopes)


def _number(w: Sloped, names: Names, what: str) -> Longs:
    return w.whole(names, what).astype(np.int64)
