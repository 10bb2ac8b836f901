"""Float instructions, and what is chosen by a comparison of floats -> steps on `Waves`: all of them make terms.

A comparison of floats leaves a term for each lane, whose names `Waves.put_conditions` keeps; the SGPR holds one name
for all of them. Only `v_cndmask_b32` takes them out again.
"""

from __future__ import annotations

import re
from collections.abc import Callable

import numpy as np

from isa.prove.definition import halves, names, narrow, nibbles
from isa.prove.definition.integers import VECTOR
from isa.prove.definition.launch import BETA, OPEN, UNWRITTEN
from isa.prove.definition.names import MASK32, Names
from isa.prove.definition.operands import Read, lanes, plain, refused, scalar_index, scalar_ints, sgpr, vgpr
from isa.prove.definition.waves import Fault, Step, Waves
from isa.registers import Reg
from isa.semantics.instruction import Instruction

Written = tuple[int, Names]
_COMPARE = re.compile(r"v_cmp_(gt|lt|u|eq|neq)_f32(?:_e32|_e64)?$")
_MIX = re.compile(r"v_fma_mix(lo|hi)?_(?:f16|f32)$")
VCC = 106
_ONE = np.uint64(1)
_16 = np.uint64(16)
_UPPER = 0xFFFF0000
_FLOATS: dict[str, tuple[str, int]] = {
    "v_fmac_f32": ("fma", 3), "v_fma_f32": ("fma", 3), "v_fmaak_f32": ("fma", 3), "v_mul_f32": ("mul", 2),
    "v_add_f32": ("add", 2), "v_exp_f32": ("2^", 1), "v_rcp_f32": ("1/", 1), "v_cvt_f32_i32": ("float", 1),
    "v_cvt_f32_f16": ("widen f16", 1),
}  # fmt: skip


def decode(inst: Instruction) -> Step | None:
    """Comparisons and what mixes f16 and f32; None for other instructions. Raises Beyond."""
    if m := _COMPARE.match(inst.mnemonic):
        return _compare(inst, m[1])
    if m := _MIX.match(inst.mnemonic):
        return _mix(inst, m[1] or "")
    return None


def _compare(inst: Instruction, relation: str) -> Step:
    plain(inst)
    target = sgpr(inst, inst.operands[0])
    a, b = (lanes(inst, operand) for operand in inst.operands[1:])
    if relation == "lt":
        a, b, relation = b, a, "gt"
    if relation in ("eq", "neq"):
        return _compare_with_zero(inst, target, a, b, equal=relation == "eq")
    operation = {"gt": "gt", "u": "unordered"}[relation]
    return lambda w: w.put_conditions(target, names.term(operation, a(w), b(w)))


def _compare_with_zero(inst: Instruction, target: int, a: Read, b: Read, *, equal: bool) -> Step:
    """Of numbers, and a beta that is neither 0 nor -0; others are rejected."""

    def step(w: Waves) -> None:
        x, zero = a(w), b(w)
        beta = (x == BETA[:, None, None]).all(axis=0)
        if zero.any() or not (beta | (x[1] == 0) | ~w.active((len(w.numbers), 32))).all():
            raise Fault("data", f"this comparison is followed with beta and 0 only: {inst}", refused=True)
        same = ~beta & (x[0] & np.uint64(0x7FFFFFFF) == 0)
        w.put_scalar(target, w.ballot(np.broadcast_to(same == equal, (len(w.numbers), 32))))

    return step


def pick(inst: Instruction, target: int) -> Callable[[Waves], Written]:
    """`v_cndmask_b32`."""
    a, b = (lanes(inst, operand) for operand in inst.operands[1:3])
    mask = inst.operands[3] if len(inst.operands) > 3 else Reg("s", VCC)
    condition = scalar_ints(inst, mask)
    register = scalar_index(mask) if isinstance(mask, Reg) else -1
    bits = _ONE << np.arange(32, dtype=np.uint64)

    def half(w: Waves) -> Written:
        terms = w.conditions_in(register)
        if terms is not None:
            return target, names.term("select", terms, b(w), a(w))
        return target, np.where((condition(w)[:, None] & bits) != 0, b(w), a(w))

    return half


def arithmetic(inst: Instruction, name: str, target: int) -> Callable[[Waves], Written]:
    """All others."""
    sources = [lanes(inst, operand) for operand in inst.operands[1:]]
    if name == "v_fmac_f32":
        sources.append(lanes(inst, inst.operands[0]))
    kind, number = _FLOATS.get(name, ("", 0))
    if len(sources) != number:
        raise refused(inst)
    run: Callable[..., Names] = getattr(names, kind, None) or (lambda x: names.term(kind, x))
    run = nibbles.widened if kind == "widen f16" else run

    def half(w: Waves) -> Written:
        values = tuple(read(w) for read in sources)
        return target, w.term(kind, (narrow.SIGNLESS.get(kind, run) if w.memory.narrow else run)(*values), values)

    return half


def _mix(inst: Instruction, into: str) -> Step:
    """`v_fma_mix*`: of f32, or of halves that are f16; the result as f32, or rounded once more into a half."""
    plain(inst, "op_sel", "op_sel_hi")
    target = vgpr(inst, inst.operands[0])
    reads = [lanes(inst, operand) for operand in inst.operands[1:]]
    high, narrow_ = (inst.modifier(name, (0, 0, 0)) for name in ("op_sel", "op_sel_hi"))
    if not isinstance(high, tuple) or not isinstance(narrow_, tuple) or len(high) != 3 or len(narrow_) != 3:
        raise refused(inst, f"these modifiers of {inst}")
    if any(h and not n for h, n in zip(high, narrow_, strict=True)):
        raise refused(inst, f"op_sel of an f32 in {inst}")
    sources: list[Read] = [
        _widening(read, int(h)) if n else read for read, h, n in zip(reads, high, narrow_, strict=True)
    ]

    def step(w: Waves) -> None:
        values = tuple(read(w) for read in sources)
        shape = (2, len(w.numbers), 32)
        result = np.broadcast_to(w.term("fma", narrow.SIGNLESS["fma"](*values), values), shape)
        if not into:
            w.put(target, result)
            return
        low, up = halves.split(np.broadcast_to(w.v[target][:, w.at], shape))
        new = halves.rounded("f16", result)
        w.put(target, halves.packed(new, up) if into == "lo" else halves.packed(low, new))

    return step


def _widening(read: Read, high: int) -> Read:
    return lambda w: halves.widened("f16", halves.split(read(w))[high])


# --- integers of floats
def integer_terms(
    inst: Instruction, name: str, target: int, otherwise: Callable[[Waves], Written]
) -> Callable[[Waves], Written]:
    """Integer operations in lanes where a source is no number but a term: of alpha, beta, sums, elements of C. What is
    not known, or was not written, is rejected except by sums and products, in which 0 makes it nothing."""
    sources, run = [lanes(inst, operand) for operand in inst.operands[1:]], TERMS[name]
    ints = VECTOR[name]

    def half(w: Waves) -> Written:
        values = tuple(read(w) for read in sources)
        if not w.memory.narrow or not any(value[1].any() for value in values):
            return otherwise(w)
        if name not in narrow.INTEGER_TERMS and any(_unknown(w, value) for value in values):
            return otherwise(w)
        numbers = ints(*(value[0] for value in values)) & MASK32
        whole = np.logical_and.reduce(np.broadcast_arrays(*(value[1] == 0 for value in values)))
        found = w.term(name, run(*values), values)
        return target, np.where(whole, np.stack((numbers, np.zeros_like(numbers))), found)

    return half


def _unknown(w: Waves, value: Names) -> bool:
    found = np.zeros(value.shape[1:], bool)
    for name in (OPEN, UNWRITTEN):
        found |= (value == name[:, None, None]).all(axis=0)
    return bool((found & w.active((len(w.numbers), 32))).any())


def _shifted(up: bool, by: Names, x: Names) -> Names:
    low, high = halves.split(x)
    nothing = np.zeros_like(low)
    found = halves.packed(nothing, low) if up else halves.packed(high, nothing)
    sixteen = (by[0] == _16) & (by[1] == 0)
    return np.where(sixteen, found, names.term("<<" if up else ">>", x, by))


def _masked(x: Names, y: Names) -> Names:
    found = names.term("and", *sorted((x, y), key=lambda z: z.size))
    for mask, value in ((x, y), (y, x)):
        low, high = halves.split(value)
        nothing = np.zeros_like(low)
        known = mask[1] == 0
        found = np.where(known & (mask[0] == _UPPER), halves.packed(nothing, high), found)
        found = np.where(known & (mask[0] == 0xFFFF), halves.packed(low, nothing), found)
    return found


TERMS: dict[str, Callable[..., Names]] = {
    **narrow.INTEGER_TERMS,
    "v_bfe_u32": lambda x, first, count: names.term("bits", x, first, count),
    "v_add3_u32": names.sum_of,
    "v_or_b32": names.either,
    "v_and_b32": _masked,
    "v_lshlrev_b32": lambda by, x: _shifted(True, by, x),
    "v_lshrrev_b32": lambda by, x: _shifted(False, by, x),
}
"""Of which one operand at least is no number."""
