"""Which bits of a register may be 1: a `Cfg` -> at each position, a mask; the rest is known to be 0.

What an LDS address must be a multiple of before a wide access may stand there (RDNA3 ISA guide 12.6) is often plain in
the text: a thread's number shifted by 4 and a constant. So is how large it can be. Forward data flow over `_ONES`,
which says it of each instruction; any bit of a register that an unlisted one writes may be 1. Where lanes that are off
keep a value that is still live, and where paths meet, both count.

Limits: 32-bit integers; nothing is known of loaded values and of arguments, nor of what a function begins with but for
the work-item's number, where it is known how many bits that has.
"""

from __future__ import annotations

from collections.abc import Callable

from isa.analysis import dataflow, exec_mask, liveness, regset
from isa.analysis.cfg import Block, Cfg
from isa.registers import Reg, v
from isa.semantics.instruction import Imm, Instruction, Operand

MOST = 32
FULL = (1 << MOST) - 1
_Known = dict[int, int]
"""regset bit of a register -> the bits that may be 1; FULL where it is left out."""


def _low(n: int) -> int:
    """How many low bits of a mask are 0."""
    return (n & -n).bit_length() - 1 if n else MOST


def _sum(*ones: int) -> int:
    """Of numbers that are added: all bits from the lowest to the highest that a sum may have, where two share some."""
    total = ones[0]
    for other in ones[1:]:
        total = total | other if not total & other else _from(min(_low(total), _low(other)), total + other)
    return total & FULL


def _from(zeros: int, most: int) -> int:
    """Of numbers up to `most`, before they wrap, with so many low bits that are 0."""
    return min((1 << most.bit_length()) - 1, FULL) >> min(zeros, MOST) << min(zeros, MOST)


def _less(a: int, b: int) -> int:
    """Of a difference, which may wrap."""
    return _from(min(_low(a), _low(b)), FULL) if b else a


def _product(a: int, b: int) -> int:
    return _from(_low(a) + _low(b), a * b)


def _up(a: int, n: int) -> int:
    return a << n & FULL


def _either(*ones: int) -> int:
    total = 0
    for one in ones:
        total |= one
    return total


def _of_24(a: int, b: int) -> int:
    return _product(a & 0xFFFFFF, b & 0xFFFFFF)


def _signed_24(a: int, b: int) -> int:
    return _of_24(a, b) if (a | b) < 1 << 23 else _from(_low(a) + _low(b), FULL)


_ONES: dict[str, Callable[..., int]] = {
    **dict.fromkeys(("v_add_nc_u32", "v_add3_u32", "s_add_u32", "s_add_i32", "s_addk_i32"), _sum),
    **dict.fromkeys(("v_sub_nc_u32", "s_sub_u32", "s_sub_i32"), _less),
    "v_subrev_nc_u32": lambda a, b: _less(b, a),
    **dict.fromkeys(("v_or_b32", "v_xor_b32", "v_or3_b32", "v_xor3_b32", "s_or_b32", "s_xor_b32"), _either),
    "v_xad_u32": lambda a, b, c: _sum(a | b, c),
    **dict.fromkeys(("s_mov_b32", "v_mov_b32", "s_movk_i32"), _either),
    **dict.fromkeys(("v_mul_lo_u32", "s_mul_i32"), _product),
    "v_mul_u32_u24": _of_24,
    "v_mul_i32_i24": _signed_24,
    "v_mad_u32_u24": lambda a, b, c: _sum(_of_24(a, b), c),
    "v_mad_i32_i24": lambda a, b, c: _sum(_signed_24(a, b), c),
    **dict.fromkeys(("v_and_b32", "s_and_b32"), lambda a, b: a & b),
    "v_and_or_b32": lambda a, b, c: a & b | c,
    "v_cndmask_b32": lambda a, b, *_: a | b,
    "s_cselect_b32": lambda a, b, *_: a | b,
}
_SHIFTS: dict[str, Callable[..., int]] = {
    "v_lshlrev_b32": lambda n, a: _up(a, n),
    "s_lshl_b32": lambda a, n: _up(a, n),
    "v_lshl_add_u32": lambda a, n, b: _sum(_up(a, n), b),
    "v_lshl_or_b32": lambda a, n, b: _up(a, n) | b,
    "v_add_lshl_u32": lambda a, b, n: _up(_sum(a, b), n),
    "v_lshrrev_b32": lambda n, a: a >> n,
    "s_lshr_b32": lambda a, n: a >> n,
    "v_bfe_u32": lambda a, n, width: a >> n & (1 << width) - 1,
}
_AMOUNT = {"v_lshlrev_b32": 0, "s_lshl_b32": 1, "v_lshl_add_u32": 1, "v_lshl_or_b32": 1, "v_add_lshl_u32": 2,
           "v_lshrrev_b32": 0, "s_lshr_b32": 1, "v_bfe_u32": 1}  # fmt: skip
"""Which source is the amount of a shift; a number below 32, or nothing is known."""


class Multiples:
    """See the module's docstring. items: the bits that v0 may have as the function begins."""

    def __init__(self, cfg: Cfg, items: int = FULL) -> None:
        self.cfg = cfg
        self.live = liveness.analyse(cfg)
        self.full = exec_mask.analyse(cfg).full
        first: _Known = {regset.bit(v(0)): items} if items < FULL else {}
        self.entry = dataflow.forward(cfg, first, self._through, _joined)

    def zeros(self, position: int, reg: Reg) -> int:
        """How many low bits of a single register are 0 before a position."""
        return _low(self.ones(position, reg))

    def ones(self, position: int, reg: Reg) -> int:
        """The bits of a single register that may be 1 before a position."""
        block = self.cfg.block_of(position)
        state = dict(self.entry.get(block.index, {}))
        for i in range(block.start, position):
            self._step(i, state)
        return state.get(regset.bit(reg), FULL)

    def _through(self, block: Block, state: _Known) -> _Known:
        state = dict(state)
        for i in block.range:
            self._step(i, state)
        return state

    def _step(self, i: int, state: _Known) -> None:
        inst = self.cfg.instructions[i]
        found = {}
        for half in inst.halves:
            written = [o for role, o in half.desc.roles_of(half) if role.written and isinstance(o, Reg)]
            if len(written) == 1 and written[0].count == 1 and not written[0].half:
                found[regset.bit(written[0])] = _result(half, state)
        for reg in regset.members(self.cfg.defs[i]):
            at = regset.bit(reg)
            new = found.get(at, FULL)
            if reg.is_vgpr and not self.full[i] and self.live.before[i] >> at & 1:
                new |= state.get(at, FULL)
            state.pop(at, None)
            if new < FULL:
                state[at] = new


def _result(half: Instruction, state: _Known) -> int:
    """Of what an instruction writes."""
    name = half.desc.name
    sources: list[Operand] = [o for role, o in half.desc.roles_of(half) if role.read]
    if half.dpp or half.has("clamp") or half.has("op_sel"):
        return FULL
    if name in _SHIFTS:
        amount = sources[_AMOUNT[name]]
        if not isinstance(amount, Imm) or not isinstance(amount.value, int) or not 0 <= amount.value < MOST:
            return FULL
        rows = [amount.value if k == _AMOUNT[name] else _of(o, state) for k, o in enumerate(sources)]
        if name == "v_bfe_u32":
            rows[2] = min(rows[2], MOST)
        return _SHIFTS[name](*rows)
    return _ONES[name](*(_of(o, state) for o in sources)) if name in _ONES else FULL


def _of(operand: Operand, state: _Known) -> int:
    if isinstance(operand, Imm) and isinstance(operand.value, int):
        return operand.value & FULL
    if isinstance(operand, Reg) and operand.count == 1 and not operand.half:
        return state.get(regset.bit(operand), FULL)
    return FULL


def _joined(a: _Known, b: _Known) -> _Known:
    return {at: n | b[at] for at, n in a.items() if at in b}


def analyse(cfg: Cfg, items: int = FULL) -> Multiples:
    """What is known of a function's registers. items: the bits that v0 may have as it begins."""
    return Multiples(cfg, items)
