"""Integer instructions of the proof by definition: uint64 arrays of 32-bit numbers (64-bit where the mnemonic says so)
-> results.

Written from the RDNA3 ISA guide, chapter 16, and from nothing else in this project: what an instruction means is stated
here a second time on purpose. Results may have more than 32 bits; whoever writes them to a register cuts them.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from isa.prove.definition.waves import Ints

Bools = NDArray[np.bool_]
_FULL = np.uint64(0xFFFFFFFF)
_SIGN = np.uint64(0x80000000)
_31, _32, _63 = np.uint64(31), np.uint64(32), np.uint64(63)
_24 = np.uint64(0xFFFFFF)
_LANES = np.arange(32, dtype=np.uint64)


def signed(x: Ints) -> NDArray[np.int64]:
    """32 bits as a signed number."""
    found: NDArray[np.int64] = (x ^ _SIGN).astype(np.int64) - 0x80000000
    return found


def _low(x: Ints) -> Ints:
    found: Ints = x & _FULL
    return found


def _nonzero(result: Ints) -> tuple[Ints, Bools]:
    return result, _low(result) != 0


def _overflows(total: NDArray[np.int64]) -> Bools:
    return (total < -(2**31)) | (total >= 2**31)


def _field(x: Ints, spec: Ints) -> Ints:
    width = spec >> np.uint64(16) & np.uint64(0x7F)
    found: Ints = x >> (spec & _31) & ((np.uint64(1) << np.minimum(width, _32)) - np.uint64(1))
    return found


def _shift_right(x: Ints, by: Ints) -> Ints:
    shifted: Ints = (signed(x) >> (by & _31).astype(np.int64)).astype(np.uint64)
    return shifted


def _lanes_before(mask: Ints, base: Ints) -> Ints:
    """`v_mbcnt_lo_u32_b32`: base, and how many bits of the mask are those of lanes before this one."""
    before = mask & ((np.uint64(1) << _LANES) - np.uint64(1))
    bits = before[..., None] >> _LANES & np.uint64(1)
    found: Ints = base + bits.sum(axis=-1, dtype=np.uint64)
    return found


def _choose(condition: Bools, a: Ints, b: Ints) -> Ints:
    chosen: Ints = np.where(condition, a, b)
    return chosen


# Two sources -> result and SCC (None: SCC stays as it is).
SCALAR: dict[str, Callable[[Ints, Ints], tuple[Ints, Bools | None]]] = {
    "s_add_u32": lambda a, b: (a + b, a + b > _FULL),
    "s_sub_u32": lambda a, b: (a - b, b > a),
    "s_add_i32": lambda a, b: (a + b, _overflows(signed(a) + signed(b))),
    "s_sub_i32": lambda a, b: (a - b, _overflows(signed(a) - signed(b))),
    "s_mul_i32": lambda a, b: (a * b, None),
    "s_mul_hi_u32": lambda a, b: (a * b >> _32, None),
    "s_and_b32": lambda a, b: _nonzero(a & b),
    "s_or_b32": lambda a, b: _nonzero(a | b),
    "s_xor_b32": lambda a, b: _nonzero(a ^ b),
    "s_and_not1_b32": lambda a, b: _nonzero(a & ~b),
    "s_andn2_b32": lambda a, b: _nonzero(a & ~b),
    "s_lshl_b32": lambda a, b: _nonzero(a << (b & _31)),
    "s_lshr_b32": lambda a, b: _nonzero(a >> (b & _31)),
    "s_ashr_i32": lambda a, b: _nonzero(_shift_right(a, b)),
    "s_min_u32": lambda a, b: (np.minimum(a, b), a < b),
    "s_max_u32": lambda a, b: (np.maximum(a, b), a > b),
    "s_min_i32": lambda a, b: (_choose(signed(a) < signed(b), a, b), signed(a) < signed(b)),
    "s_max_i32": lambda a, b: (_choose(signed(a) > signed(b), a, b), signed(a) > signed(b)),
    "s_bfe_u32": lambda a, b: _nonzero(_field(a, b)),
    "s_lshl1_add_u32": lambda a, b: ((a << np.uint64(1)) + b, (a << np.uint64(1)) + b > _FULL),
    "s_lshl2_add_u32": lambda a, b: ((a << np.uint64(2)) + b, (a << np.uint64(2)) + b > _FULL),
    "s_lshl3_add_u32": lambda a, b: ((a << np.uint64(3)) + b, (a << np.uint64(3)) + b > _FULL),
    "s_lshl4_add_u32": lambda a, b: ((a << np.uint64(4)) + b, (a << np.uint64(4)) + b > _FULL),
}
# The same with SCC, 0 or 1, as third source.
WITH_CARRY: dict[str, Callable[[Ints, Ints, Ints], tuple[Ints, Bools]]] = {
    "s_addc_u32": lambda a, b, carry: (a + b + carry, a + b + carry > _FULL),
    "s_subb_u32": lambda a, b, carry: (a - b - carry, b + carry > a),
}
# The first source has 64 bits, and so has the result; the second is a shift.
SCALAR_SHIFTS: dict[str, Callable[[Ints, Ints], Ints]] = {
    "s_lshl_b64": lambda a, b: a << (b & _63),
    "s_lshr_b64": lambda a, b: a >> (b & _63),
}
# Sources are lanes -> result.
VECTOR: dict[str, Callable[..., Ints]] = {
    "v_add_nc_u32": lambda a, b: a + b,
    "v_sub_nc_u32": lambda a, b: a - b,
    "v_subrev_nc_u32": lambda a, b: b - a,
    "v_add3_u32": lambda a, b, c: a + b + c,
    "v_mul_lo_u32": lambda a, b: a * b,
    "v_mul_hi_u32": lambda a, b: a * b >> _32,
    "v_mul_u32_u24": lambda a, b: (a & _24) * (b & _24),
    "v_mad_u32_u24": lambda a, b, c: (a & _24) * (b & _24) + c,
    "v_lshlrev_b32": lambda a, b: b << (a & _31),
    "v_lshrrev_b32": lambda a, b: b >> (a & _31),
    "v_ashrrev_i32": lambda a, b: _shift_right(b, a),
    "v_lshl_add_u32": lambda a, b, c: (a << (b & _31)) + c,
    "v_add_lshl_u32": lambda a, b, c: _low(a + b) << (c & _31),
    "v_lshl_or_b32": lambda a, b, c: a << (b & _31) | c,
    "v_and_or_b32": lambda a, b, c: a & b | c,
    "v_or3_b32": lambda a, b, c: a | b | c,
    "v_xad_u32": lambda a, b, c: (a ^ b) + c,
    "v_and_b32": lambda a, b: a & b,
    "v_or_b32": lambda a, b: a | b,
    "v_xor_b32": lambda a, b: a ^ b,
    "v_bfe_u32": lambda a, b, c: a >> (b & _31) & ((np.uint64(1) << (c & _31)) - np.uint64(1)),
    "v_min_u32": lambda a, b: np.minimum(a, b),
    "v_max_u32": lambda a, b: np.maximum(a, b),
    "v_min_i32": lambda a, b: _choose(signed(a) < signed(b), a, b),
    "v_mbcnt_lo_u32_b32": _lanes_before,
    "v_max_i32": lambda a, b: _choose(signed(a) > signed(b), a, b),
}
_RELATIONS: dict[str, Callable[[Any, Any], Bools]] = {
    "eq": lambda a, b: a == b,
    "ne": lambda a, b: a != b,
    "lg": lambda a, b: a != b,
    "lt": lambda a, b: a < b,
    "le": lambda a, b: a <= b,
    "gt": lambda a, b: a > b,
    "ge": lambda a, b: a >= b,
}


def relation(mnemonic: str) -> Callable[[Ints, Ints], Bools] | None:
    """What `s_cmp_lt_i32`, `v_cmp_gt_u32` or `s_cmp_eq_u64` compares; None for other mnemonics."""
    words = mnemonic.split("_")
    if len(words) != 4 or words[1] != "cmp" or words[2] not in _RELATIONS or words[3] not in ("u32", "i32", "u64"):
        return None
    compare = _RELATIONS[words[2]]
    if words[3] == "i32":
        return lambda a, b: compare(signed(a), signed(b))
    return compare
