"""VALU instructions on 64 bits and with carries, as compilers write them -> steps on `Waves`.

An address in VGPRs is added to in two steps, as in SGPRs (`pointers`): the carry of the low half is a name for each
lane, which `Waves.put_conditions` keeps, and the high half must take that of its own address.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from isa.prove.definition import pointers
from isa.prove.definition.integers import signed
from isa.prove.definition.launch import UNWRITTEN
from isa.prove.definition.names import Names
from isa.prove.definition.operands import (
    ReadInts,
    bits,
    lane_ints,
    lanes,
    plain,
    refused,
    scalar_index,
    scalar_ints,
    sgpr,
    vgpr,
)
from isa.prove.definition.waves import Fault, Ints, Step, Waves
from isa.registers import LANES, Reg
from isa.semantics.instruction import Imm, Instruction, Operand

_32, _63, _ONE = np.uint64(32), np.uint64(63), np.uint64(1)
_LANES = np.arange(LANES, dtype=np.uint64)


def decode(inst: Instruction) -> Step | None:
    """None for other instructions. Raises Beyond."""
    name = inst.mnemonic.removesuffix("_e32").removesuffix("_e64")
    if name == "v_lshlrev_b64":
        return _shift(inst)
    if name in ("v_mad_u64_u32", "v_mad_i64_i32"):
        return _mad(inst, (lambda x: x) if name == "v_mad_u64_u32" else _extended)
    if name == "v_swap_b32":
        return _swap(inst)
    if name in ("v_add_co_u32", "v_add_co_ci_u32"):
        return _add(inst, carried=name == "v_add_co_ci_u32")
    return None


def _extended(x: Ints) -> Ints:
    return signed(x).astype(np.uint64)


def _pair(inst: Instruction, operand: Operand) -> ReadInts:
    """64 bits of each lane."""
    if isinstance(operand, Imm):
        constant = np.full((1, 1), bits(inst, operand, 64), np.uint64)
        return lambda w: constant
    if not isinstance(operand, Reg) or operand.count != 2:
        raise refused(inst, f"{operand} in {inst}")
    low, high = (lane_ints(inst, operand.sub(i)) for i in (0, 1))
    return lambda w: low(w) | high(w) << _32


def _put_pair(w: Waves, target: int, value: Ints) -> None:
    value = np.broadcast_to(value, (len(w.numbers), LANES))
    w.put(target, value)
    w.put(target + 1, value >> _32)


def _shift(inst: Instruction) -> Step:
    plain(inst)
    target, by, value = vgpr(inst, inst.operands[0]), lane_ints(inst, inst.operands[1]), _pair(inst, inst.operands[2])
    return lambda w: _put_pair(w, target, value(w) << (by(w) & _63))


def _swap(inst: Instruction) -> Step:
    plain(inst)
    first, second = (vgpr(inst, operand) for operand in inst.operands)

    def step(w: Waves) -> None:
        values = [w.v[register][:, w.at].copy() for register in (second, first)]
        w.put(first, values[0])
        w.put(second, values[1])

    return step


def _mad(inst: Instruction, extended: Callable[[Ints], Ints]) -> Step:
    """The carry, which may go to SGPRs, is not known; nor is the high half where that of the last source is no number:
    compilers use the low half alone then."""
    plain(inst)
    target, out = vgpr(inst, inst.operands[0]), sgpr(inst, inst.operands[1])
    a, b = (lane_ints(inst, operand) for operand in inst.operands[2:4])
    last = inst.operands[4]
    whole = _pair(inst, last)
    low, high = (lanes(inst, last.sub(i)) if isinstance(last, Reg) else None for i in (0, 1))

    def step(w: Waves) -> None:
        known = np.ones(1, bool) if high is None else high(w)[1] == 0
        c = whole(w) if low is None or known.all() else w.whole(low(w), str(last))
        with np.errstate(over="ignore"):
            total = extended(a(w)) * extended(b(w)) + c
        _put_pair(w, target, total)
        if not known.all():
            unknown = np.where(known, w.v[target + 1][:, w.at], UNWRITTEN[:, None, None])
            w.put(target + 1, unknown)
        w.put_scalar(out, UNWRITTEN[:, None])

    return step


def _add(inst: Instruction, *, carried: bool) -> Step:
    plain(inst)
    target, out = vgpr(inst, inst.operands[0]), sgpr(inst, inst.operands[1])
    reads = [lanes(inst, operand) for operand in inst.operands[2:4]]
    ints = [lane_ints(inst, operand) for operand in inst.operands[2:4]]
    taken = inst.operands[4] if carried else None
    carry = scalar_ints(inst, taken) if taken is not None else None
    register = scalar_index(taken) if isinstance(taken, Reg) else -1

    def step(w: Waves) -> None:
        terms = w.conditions_in(register) if carried else None
        for read, other in zip(reads, ints[::-1], strict=True):
            half = _active(w, read(w))
            if (kind := pointers.kind_of(half, pointers.HIGH if carried else pointers.LOW)) is None:
                continue
            x = np.broadcast_to(other(w), (len(w.numbers), LANES))
            if not carried:
                value, names = pointers.add_low(kind, half, x)
                w.put(target, value)
                w.put_conditions(out, names)
                return
            total = None if terms is None else pointers.add_high(kind, half, x, _active(w, terms))
            if total is None:
                raise Fault("address", f"the carry is not that of this address of {kind}")
            w.put(target, total)
            w.put_scalar(out, UNWRITTEN[:, None])
            return
        more = carry(w)[:, None] >> _LANES & _ONE if carry is not None else np.uint64(0)
        total_ = np.broadcast_to(ints[0](w) + ints[1](w) + more, (len(w.numbers), LANES))
        w.put(target, total_)
        w.put_scalar(out, w.ballot(total_ >> _32 != 0))

    return step


def _active(w: Waves, names: Names) -> Names:
    """Lanes that are off have what one that is on has."""
    if w.mask is None or names.shape[2] == 1:
        return names
    some = tuple(int(i[0]) for i in np.nonzero(w.mask)) if w.mask.any() else (0, 0)
    return np.where(w.mask, names, names[:, some[0], some[1], None, None])
