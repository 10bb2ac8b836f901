"""Instructions that change registers only -> steps on `Waves`. Integers are calculated, floats become terms."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import numpy as np

from isa.prove.definition import floats, matrix_units, nibbles, operands, pointers, wide
from isa.prove.definition.integers import SCALAR, SCALAR_SHIFTS, VECTOR, WITH_CARRY, Bools, relation
from isa.prove.definition.launch import BETA, BETA_SIZE, UNWRITTEN
from isa.prove.definition.names import MASK32, Names
from isa.prove.definition.operands import Read, lane_ints, lanes, plain, refused, scalar, scalar_ints, sgpr, vgpr
from isa.prove.definition.waves import SCC, Fault, Step, Waves
from isa.registers import Reg
from isa.semantics.instruction import Imm, Instruction

VCC = floats.VCC
_ONE = np.uint64(1)
_NOTHING = np.uint64(0)
_32 = np.uint64(32)
_MOVES = {"s_mov_b32": 1, "s_mov_b64": 2, "s_movk_i32": 1}
"""And how many words."""
Written = tuple[int, Names]


def base_name(mnemonic: str) -> str:
    """Without the suffix that says the encoding, and a half of a VOPD as it is called alone."""
    return mnemonic.removesuffix("_e32").removesuffix("_e64").replace("v_dual_", "v_")


def decode(inst: Instruction) -> Step:
    """Raises Beyond for what is not known."""
    if not inst.operands:
        raise refused(inst)
    if inst.mnemonic.startswith("v_"):
        return _vector(inst)
    plain(inst)
    return _scalar(inst)


# --- SALU
def _scalar(inst: Instruction) -> Step:
    name, ops = inst.mnemonic, inst.operands
    if name in _MOVES and (name != "s_movk_i32" or isinstance(ops[1], Imm)):
        return _scalar_move(inst, _MOVES[name])
    if name in ("s_add_u32", "s_sub_u32"):
        return _pointer(inst, _scalar_two(inst))
    if name in SCALAR:
        return _size_of(inst) or _scalar_two(inst)
    if name in WITH_CARRY:
        return _pointer(inst, _with_carry(inst))
    if name in SCALAR_SHIFTS:
        return _scalar_shift(inst)
    if name == "s_addk_i32" or name.startswith("s_cmpk_"):
        return _with_immediate(inst)
    if name == "s_cselect_b32":
        return _select(inst)
    if (compare := relation(name)) is not None:
        return _scalar_compare(inst, compare)
    raise refused(inst)


def _scalar_move(inst: Instruction, count: int) -> Step:
    target = sgpr(inst, inst.operands[0])
    reads = [scalar(inst, inst.operands[1], i) for i in range(count)]

    def step(w: Waves) -> None:
        values = [read(w) for read in reads]
        for i, value in enumerate(values):
            w.put_scalar(target + i, value)

    return step


def _scalar_two(inst: Instruction) -> Step:
    target, run = sgpr(inst, inst.operands[0]), SCALAR[inst.mnemonic]
    a, b = (scalar_ints(inst, operand) for operand in inst.operands[1:])

    def step(w: Waves) -> None:
        result, condition = run(a(w), b(w))
        w.put_scalar(target, result)
        if condition is not None:
            w.put_scalar(SCC, condition.astype(np.uint64))

    return step


def _size_of(inst: Instruction) -> Step | None:
    """All bits of a float but its sign: not 0 where it is a beta that is neither 0 nor -0. None for others."""
    masks = {"s_and_b32": (0x7FFFFFFF, -1), "s_lshl_b32": (1,)}
    source, other = inst.operands[1:]
    if not isinstance(other, Imm) or other.value not in masks.get(inst.mnemonic, ()) or not isinstance(source, Reg):
        return None
    target, run, read = sgpr(inst, inst.operands[0]), SCALAR[inst.mnemonic], scalar(inst, source)
    constant = np.full(1, int(other.value) & 0xFFFFFFFF, np.uint64)

    def step(w: Waves) -> None:
        value = read(w)
        beta = _are(value, BETA)
        result, _ = run(w.whole(np.where(beta, _NOTHING, value), str(source)), constant)
        w.put_scalar(target, np.where(beta, BETA_SIZE[:, None], np.stack((result & MASK32, np.zeros_like(result)))))
        w.put_scalar(SCC, (beta | (result & MASK32 != 0)).astype(np.uint64))

    return step


def _are(value: Names, name: Names) -> Bools:
    """Where names are this one."""
    same: Bools = (value == name[:, None]).all(axis=0)
    return same


def _pointer(inst: Instruction, otherwise: Step) -> Step:
    """s_add_u32 and the like where one of the sources is half of an address; `otherwise` elsewhere."""
    tags = pointers.LOW if inst.mnemonic in ("s_add_u32", "s_sub_u32") else pointers.HIGH
    target, minus = sgpr(inst, inst.operands[0]), inst.mnemonic.startswith("s_sub")
    reads = [scalar(inst, operand) for operand in inst.operands[1:]]
    ints = [scalar_ints(inst, operand) for operand in inst.operands[1:]]

    def step(w: Waves) -> None:
        for number, (read, other) in enumerate(zip(reads, ints[::-1], strict=True)):
            half = read(w)
            if minus and number:
                break
            if (kind := pointers.kind_of(half, tags)) is None:
                continue
            x = np.broadcast_to(other(w), half.shape[1:])
            if tags is pointers.LOW:
                value, carry = pointers.add_low(kind, half, x, minus=minus)
                w.put_scalar(target, value)
                w.put_scalar(SCC, carry)
                return
            total = pointers.add_high(kind, half, x, w.s[SCC][:, w.at], minus=minus)
            if total is None:
                raise Fault("address", f"the carry is not that of this address of {kind}")
            w.put_scalar(target, total)
            w.put_scalar(SCC, UNWRITTEN[:, None])
            return
        otherwise(w)

    return step


def _with_carry(inst: Instruction) -> Step:
    target, run = sgpr(inst, inst.operands[0]), WITH_CARRY[inst.mnemonic]
    a, b = (scalar_ints(inst, operand) for operand in inst.operands[1:])

    def step(w: Waves) -> None:
        carry = w.whole(w.s[SCC][:, w.at], "SCC")
        result, condition = run(a(w), b(w), carry)
        w.put_scalar(target, result)
        w.put_scalar(SCC, condition.astype(np.uint64))

    return step


def _scalar_shift(inst: Instruction) -> Step:
    target, run = sgpr(inst, inst.operands[0]), SCALAR_SHIFTS[inst.mnemonic]
    a, b = operands.scalar_wide(inst, inst.operands[1]), scalar_ints(inst, inst.operands[2])

    def step(w: Waves) -> None:
        result = run(a(w), b(w))
        w.put_scalar(target, result)
        w.put_scalar(target + 1, result >> _32)
        w.put_scalar(SCC, (result != 0).astype(np.uint64))

    return step


def _with_immediate(inst: Instruction) -> Step:
    """The same as with a second operand of 16 bits, signed where the operation is."""
    number = inst.operands[1]
    if not isinstance(number, Imm) or not isinstance(number.value, int):
        raise refused(inst)
    value = number.value & 0xFFFF
    if value & 0x8000 and inst.mnemonic.endswith("i32"):
        value -= 1 << 16
    immediate = Imm(value, str(value))
    if inst.mnemonic == "s_addk_i32":
        operands_ = (inst.operands[0], inst.operands[0], immediate)
        return _scalar(replace(inst, mnemonic="s_add_i32", operands=operands_))
    return _scalar(replace(inst, mnemonic=inst.mnemonic.replace("cmpk", "cmp"), operands=(inst.operands[0], immediate)))


def _select(inst: Instruction) -> Step:
    target = sgpr(inst, inst.operands[0])
    a, b = (scalar(inst, operand) for operand in inst.operands[1:])

    def step(w: Waves) -> None:
        condition = w.whole(w.s[SCC][:, w.at], "SCC") != 0
        w.put_scalar(target, np.where(condition, a(w), b(w)))

    return step


def _scalar_compare(inst: Instruction, compare: Callable[..., Bools]) -> Step:
    wide = inst.mnemonic.endswith("u64")
    reader = operands.scalar_wide if wide else scalar_ints
    a, b = (reader(inst, operand) for operand in inst.operands)
    first, zero = inst.operands
    if isinstance(zero, Imm) and zero.value == 0 and inst.mnemonic in ("s_cmp_eq_u32", "s_cmp_lg_u32"):
        return _compare_size(inst, compare, scalar(inst, first))

    def step(w: Waves) -> None:
        w.put_scalar(SCC, compare(a(w), b(w)).astype(np.uint64))

    return step


def _compare_size(inst: Instruction, compare: Callable[..., Bools], read: Read) -> Step:
    """Equal to 0, or not: the size of beta is not."""

    def step(w: Waves) -> None:
        value = read(w)
        beta = _are(value, BETA_SIZE)
        one = np.where(beta, _ONE, w.whole(np.where(beta, _NOTHING, value), str(inst.operands[0])))
        w.put_scalar(SCC, compare(one, np.uint64(0)).astype(np.uint64))

    return step


# --- VALU
def _vector(inst: Instruction) -> Step:
    if (found := _apart(inst)) is not None:
        return found
    if inst.mnemonic == "v_readfirstlane_b32":
        return _first_lane(inst)
    if (compare := relation(base_name(inst.mnemonic))) is not None:
        return _vector_compare(inst, compare)
    halves = [_vector_half(half) for half in inst.halves]
    if len(halves) == 1:
        run = halves[0]
        return lambda w: w.put(*run(w))
    x, y = halves

    def step(w: Waves) -> None:
        # Both halves of a VOPD read before either writes.
        first, second = x(w), y(w)
        w.put(*first)
        w.put(*second)

    return step


def _apart(inst: Instruction) -> Step | None:
    return matrix_units.decode(inst) or floats.decode(inst) or nibbles.decode(inst) or wide.decode(inst)


def _vector_compare(inst: Instruction, compare: Callable[..., Bools]) -> Step:
    plain(inst)
    target = sgpr(inst, inst.operands[0])
    a, b = (lane_ints(inst, operand) for operand in inst.operands[1:])

    def step(w: Waves) -> None:
        bits = w.ballot(compare(a(w), b(w)))
        w.put_scalar(target, bits)

    return step


def _vector_half(inst: Instruction) -> Callable[[Waves], Written]:
    plain(inst)
    name, ops = base_name(inst.mnemonic), inst.operands
    target = vgpr(inst, ops[0])
    if name == "v_mov_b32":
        source = lanes(inst, ops[1])
        return lambda w: (target, source(w))
    if name == "v_cndmask_b32":
        return floats.pick(inst, target)
    if name in VECTOR:
        run, ints = VECTOR[name], [lane_ints(inst, operand) for operand in ops[1:]]

        def integers(w: Waves) -> Written:
            return target, run(*(read(w) for read in ints))

        if name == "v_lshl_or_b32":
            return matrix_units.shifted_or(inst, integers)
        found = floats.integer_terms(inst, name, target, integers) if name in floats.TERMS else integers
        return nibbles.of_weights(inst, name, found) if name in nibbles.OPERATIONS else found
    return floats.arithmetic(inst, name, target)


def _first_lane(inst: Instruction) -> Step:
    plain(inst)
    target, source = sgpr(inst, inst.operands[0]), lanes(inst, inst.operands[1])

    def step(w: Waves) -> None:
        value = source(w)
        first = np.zeros(len(w.numbers), np.intp) if w.mask is None else w.mask.argmax(axis=1)
        w.put_scalar(target, value[:, np.arange(len(w.numbers)), first])

    return step
