"""Which power of two divides what a register holds: a `Cfg` -> at each position, the low bits that are known to be 0.

What an LDS address must be a multiple of before a wide access may stand there (RDNA3 ISA guide 12.6) is often plain in
the text: a thread's number shifted by 4 and a constant. Forward data flow over `_ZEROS`, which says it of each
instruction; a register that an unlisted one writes is a multiple of 1. Where lanes that are off keep a value that is
still live, both count; where ways meet, the lesser.

Limits: 32-bit integers; nothing is known of what a function begins with, of loaded values and of arguments.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from isa.analysis import dataflow, exec_mask, liveness, regset
from isa.analysis.cfg import Block, Cfg
from isa.asm.program import Imm, Instruction, Operand
from isa.registers import Reg

MOST = 32
_Known = dict[int, int]
"""regset bit of a register -> how many of its low bits are 0; 0 where it is left out."""


def _least(*zeros: int) -> int:
    return min(zeros)


_SUMS = "v_add_nc_u32 v_sub_nc_u32 v_subrev_nc_u32 v_or_b32 v_xor_b32 v_add3_u32 v_or3_b32 v_xor3_b32 v_xad_u32"
_SUMS += " s_add_u32 s_add_i32 s_sub_u32 s_sub_i32 s_or_b32 s_xor_b32 s_mov_b32 v_mov_b32 s_movk_i32 s_addk_i32"
_PRODUCTS = "v_mul_lo_u32 v_mul_u32_u24 v_mul_i32_i24 s_mul_i32"
_ZEROS: dict[str, Callable[..., int]] = {
    **dict.fromkeys(_SUMS.split(), _least),
    **dict.fromkeys(_PRODUCTS.split(), lambda a, b: a + b),
    **dict.fromkeys(("v_and_b32", "s_and_b32"), max),
    "v_and_or_b32": lambda a, b, c: min(max(a, b), c),
    "v_mad_u32_u24": lambda a, b, c: min(a + b, c),
    "v_mad_i32_i24": lambda a, b, c: min(a + b, c),
    "v_cndmask_b32": lambda a, b, *_: min(a, b),
    "s_cselect_b32": _least,
}
_SHIFTS: dict[str, Callable[[list[Any]], int]] = {
    "v_lshlrev_b32": lambda x: x[1] + x[0],
    "s_lshl_b32": lambda x: x[0] + x[1],
    "v_lshl_add_u32": lambda x: min(x[0] + x[1], x[2]),
    "v_lshl_or_b32": lambda x: min(x[0] + x[1], x[2]),
    "v_add_lshl_u32": lambda x: min(x[0], x[1]) + x[2],
}
_AMOUNT = {"v_lshlrev_b32": 0, "s_lshl_b32": 1, "v_lshl_add_u32": 1, "v_lshl_or_b32": 1, "v_add_lshl_u32": 2}
"""Which source is the amount of a shift; a number below 32, or nothing is known."""


class Multiples:
    """See the module's docstring."""

    def __init__(self, cfg: Cfg) -> None:
        self.cfg = cfg
        self.live = liveness.analyse(cfg)
        self.full = exec_mask.analyse(cfg).full
        nothing: _Known = {}
        self.entry = dataflow.forward(cfg, nothing, self._through, _joined)

    def zeros(self, position: int, reg: Reg) -> int:
        """How many low bits of a single register are 0 before a position."""
        block = self.cfg.block_of(position)
        state = dict(self.entry.get(block.index, {}))
        for i in range(block.start, position):
            self._step(i, state)
        return state.get(regset.bit(reg), 0)

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
            new = found.get(at, 0)
            if reg.is_vgpr and not self.full[i] and self.live.before[i] >> at & 1:
                new = min(new, state.get(at, 0))
            state.pop(at, None)
            if new:
                state[at] = min(new, MOST)


def _result(half: Instruction, state: _Known) -> int:
    """Of what an instruction writes."""
    name = half.desc.name
    sources: list[Operand] = [o for role, o in half.desc.roles_of(half) if role.read]
    if half.dpp or half.has("clamp") or half.has("op_sel"):
        return 0
    if name in _SHIFTS:
        amount = sources[_AMOUNT[name]]
        if not isinstance(amount, Imm) or not isinstance(amount.value, int) or not 0 <= amount.value < MOST:
            return 0
        rows = [amount.value if k == _AMOUNT[name] else _of(o, state) for k, o in enumerate(sources)]
        return _SHIFTS[name](rows)
    return _ZEROS[name](*(_of(o, state) for o in sources)) if name in _ZEROS else 0


def _of(operand: Operand, state: _Known) -> int:
    if isinstance(operand, Imm) and isinstance(operand.value, int):
        return (operand.value & -operand.value).bit_length() - 1 if operand.value else MOST
    if isinstance(operand, Reg) and operand.count == 1 and not operand.half:
        return state.get(regset.bit(operand), 0)
    return 0


def _joined(a: _Known, b: _Known) -> _Known:
    return {at: min(n, b[at]) for at, n in a.items() if at in b}


def analyse(cfg: Cfg) -> Multiples:
    """What is known of a function's registers."""
    return Multiples(cfg)
