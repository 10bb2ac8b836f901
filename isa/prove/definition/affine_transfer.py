"""An instruction's step -> the same step for waves with slopes: what it does to them (see `affine`)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from isa.prove.definition import elements, pointers
from isa.prove.definition.affine import (
    FIRST_SPECIAL,
    LOW_BITS,
    RULES,
    SCALAR_KEY,
    SCC_HOLDS,
    SCC_KEY,
    Form,
    Longs,
    Open,
    Sloped,
    Wide,
    constant,
    cut,
    high,
    keys_of,
    times,
)  # fmt: skip
from isa.prove.definition.alu import base_name
from isa.prove.definition.fused import Fused
from isa.prove.definition.integers import relation
from isa.prove.definition.names import Names
from isa.prove.definition.operands import lanes, scalar
from isa.prove.definition.waves import SCC, Fault, Step, Waves
from isa.registers import Reg
from isa.semantics.instruction import Instruction, Operand

_READ_TARGET = ("v_fmac", "v_fma_mix", "v_swap", "s_addk")
"""What is left of the first operand counts, too."""
_TWO_TARGETS = ("v_swap", "v_mad_u64", "v_mad_i64")
Outcome = list[tuple[int, "Longs | str | tuple[int, Form] | None"]]
"""Of each key that is written: its slopes, None for no slopes, which half of a number it is, or why it is open."""


def follow(inst: Instruction, step: Step) -> Step:
    """`step` for waves with slopes. `inst` is one that `access` or `alu` has decoded."""
    if inst.mnemonic.startswith(("global_", "s_load_")):
        return elements.follow(inst, step)
    parts = [Part.of(half) for half in inst.halves]
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
            elif isinstance(outcome, tuple):
                w.put_wide(key, *outcome)
            else:
                w.put_slope(key, outcome)

    return sloped


def follow_run(run: Fused, instructions: Sequence[Instruction]) -> Step:
    """The same for a run of float operations: at once where no register of it has slopes."""
    single = [follow(instructions[position], step) for position, step in run.steps]
    keys = frozenset(key for _, *registers in run.operations for key in registers)
    targets = frozenset(target for _, target, *_ in run.operations)

    def sloped(w: Waves) -> None:
        assert isinstance(w, Sloped)
        if not keys.isdisjoint(w.slopes):
            for step in single:
                step(w)
            return
        run(w)
        for key in w.why.keys() & targets:
            w.put_slope(key, None)

    return sloped


@dataclass(frozen=True)
class Part:
    """An instruction, or a half of a VOPD: what it reads and writes, by keys."""

    inst: Instruction
    name: str
    sources: tuple[int, ...]
    targets: tuple[int, ...]

    @staticmethod
    def of(inst: Instruction) -> Part:
        name, ops = base_name(inst.mnemonic), inst.operands
        if name.startswith(("s_cmp", "ds_store")):
            return Part(inst, name, keys_of(ops), (SCC_KEY,) if name.startswith("s_cmp") else ())
        sources = keys_of(ops if name.startswith(_READ_TARGET) else ops[1:])
        if name.startswith(("s_addc", "s_subb", "s_cselect")):
            sources += (SCC_KEY,)
        elif name.startswith("v_cndmask") and len(ops) == 3:
            sources += (FIRST_SPECIAL,)
        writes_scc = name.startswith("s_") and not name.startswith(("s_mov", "s_mul", "s_cselect"))
        two = name.startswith(_TWO_TARGETS) or "_co_" in name
        return Part(inst, name, sources, keys_of(ops[: 1 + two]) + ((SCC_KEY,) if writes_scc else ()))

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
            if self.name in ("s_mul_i32", "s_mul_hi_u32"):
                product = times(*(self._form(w, o) for o in self.inst.operands[1:]))
                if (w.at_corners(product) >> 32 != product.value >> 32).any():
                    return [(self.targets[0], (1 if self.name == "s_mul_i32" else 2, product))]
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
            if w.half_of(key) is not None:
                raise Open(f"needs more of {operand} than half of a number that depends on K")
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
        shift = constant(self._form(w, by)) & 63
        first, second, scc = self.targets
        if (number := self._both(w, *keys_of((source,)))) is not None:
            if (shift > 3).any():
                raise Open("is too large to follow")
            whole = Form(number.value << shift, number.slopes << shift)
            w.at_corners(whole)
            return [(first, (1, whole)), (second, (2, whole)), (scc, "SCC depends on K")]
        low, upper = (self._form(w, source.sub(i)) for i in (0, 1))
        if ((upper.value >= 1 << 28) | (shift > 3)).any() or upper.slopes.any():
            raise Open("is too large to follow")
        whole = Form((low.value + (upper.value << 32)) << shift, low.slopes << shift)
        high(w, whole)
        return [(first, whole.slopes), (second, None), (scc, "SCC depends on K")]

    def _both(self, w: Sloped, first: int, second: int) -> Form | None:
        """The number whose low half is in the first register, and whose high half in the second; None where neither is
        half of one."""
        halves = w.half_of(first), w.half_of(second)
        if halves == (None, None):
            return None
        low, upper = halves
        if low is None or upper is None or (2 * low.half != upper.half).any() or (low.half == 2).any():
            raise Open("is of halves that do not belong together for every K")
        here = low.half == 1
        if (here & ((low.number != upper.number) | (w.slope(first) != w.slope(second)).any(axis=0))).any():
            raise Open("is of halves that do not belong together for every K")
        if (~here & w.slope(second).any(axis=0)).any():
            raise Open("has a high half that depends on K")
        values = [w.s[key - SCALAR_KEY][0, w.at].astype(np.int64) for key in (first, second)]
        return Form(np.where(here, low.number, values[0] + (values[1] << 32)), w.slope(first))

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
        slopes = w.slope(keys_of((mine,))[0])
        target, scc = self.targets
        half = w.half_of(keys_of((other,))[0]) if isinstance(other, Reg) and not other.is_null else None
        if half is not None and (half.half == (2 if low else 1)).any():
            raise Open("adds the wrong half of a number that depends on K")
        x = w.slope(keys_of((other,))[0]) if half is not None else self._form(w, other).slopes
        if low:
            both = np.concatenate(np.broadcast_arrays(slopes, x))
            return [(target, slopes + sign * x), (scc, both if half is None else (1, Form(half.number, both)))]
        more = x << 32
        if w.s[SCC][1, w.at].any():
            carry = w.slope(SCC_KEY)
            parts = np.split(carry, 2) if len(carry) == 2 * w.domain.symbols else (carry, carry)
            if ((parts[0] ^ slopes) & LOW_BITS).any():
                raise Fault("address", f"the carry is not that of this address for some K: {self.inst}", refused=True)
            more = more + parts[1]
            if (carried := w.half_of(SCC_KEY)) is not None:
                # The low half of a number was added: with the high half, it is the number.
                here = carried.half == 1
                if (
                    half is None
                    or (here & ((half.half != 2) | (half.number != carried.number) | (x != parts[1]).any(axis=0))).any()
                ):
                    what = f"the high half of what was added is lost for some K: {self.inst}"
                    raise Fault("address", what, refused=True)
                more = np.where(here, parts[1], more)
                half = Wide(np.where(here, 0, half.half), half.number)
        if half is not None and half.half.any():
            raise Open("adds the high half of a number that depends on K, and not its low one")
        return [(target, slopes + sign * more), (scc, None)]


def _signed(w: Sloped, a: Form) -> Form:
    lost = a.value >> 31
    if (w.at_corners(a) >> 31 != lost).any():
        raise Open("is negative for some K only")
    return Form(a.value - (lost << 32), a.slopes)


def _number(w: Sloped, names: Names, what: str) -> Longs:
    return w.whole(names, what).astype(np.int64)
