"""Weights from memory to a wave's part of LDS: loads, and unpacking.

**Unpacking.** A float16 of 1024 + w is 0x6400 | w, for w up to 1023: bytes and nibbles become floats by being put
beside 0x64, and a subtraction, which is exact, takes 1024 and the zero point away. Bytes have their sign bit turned
around first, so that they are 128 more than they were. Pairs of bytes come together by `v_perm_b32`; nibbles of awq in
pairs (0, 4), (1, 5), (2, 6), (3, 7) of a word, so that those of A are put in the same order: a sum does not care.
"""

from __future__ import annotations

from collections.abc import Iterator

from isa.gemm.gemv import lds
from isa.gemm.gemv.parameters import GemvParameters
from isa.gemm.gemv.registers import SCALARS, GemvRegisters
from isa.gemm.text import add64
from isa.registers import Reg

_FIRST_PAIR, _SECOND_PAIR = 0x07010600, 0x07030602
"""Selectors of `v_perm_b32`: bytes 0 and 1, or 2 and 3, of the second word, each below a byte of the first."""
_LOW, _HIGH = 0x05040100, 0x07060302
"""Of both words, the low, or the high, halves."""


def constants(p: GemvParameters) -> Iterator[str]:
    """What unpacking wants in SGPRs."""
    s = SCALARS
    if not p.format:
        return
    awq = p.weights == "awq"
    yield f"s_mov_b32 {s.one}, {0x64006400 if awq else 0x64646464:#x}"
    yield f"s_mov_b32 {s.nibbles}, {0x000F000F if awq else 0x80808080 if p.bits == 8 else 0x0F0F0F0F:#x}"
    yield f"s_mov_b32 {s.low_pair}, {_LOW if awq else _FIRST_PAIR:#x}"
    yield f"s_mov_b32 {s.high_pair}, {_HIGH if awq else _SECOND_PAIR:#x}"
    if not awq:
        yield f"s_mov_b32 {s.less}, {0xE400E400 + p.format.bias * 0x10001:#x}"


def go_on(p: GemvParameters, more: int) -> Iterator[str]:
    """Bases go on to the wave's next block. Where fewer than `more` blocks are left to do they stay, so that they never
    leave the matrices."""
    s, step = SCALARS, p.waves * p.depth
    steps = [(s.a, s.step_a, step * p.factor_bytes), (s.b, s.step_b, step * p.bits // 8)]
    if p.group:
        steps.append((s.scales, s.step_scales, step // p.group * 2))
    yield f"s_cmp_ge_u32 {s.blocks}, {more}"
    yield from (f"s_cselect_b32 {by}, {number}, 0" for _, by, number in steps)
    if p.zeros:
        yield f"s_cselect_b32 {s.step}, {p.waves}, 0"
        yield f"s_add_i32 {s.block}, {s.block}, {s.step}"
    for base, by, _ in steps:
        yield from add64(base, by)


def load_a(r: GemvRegisters) -> Iterator[str]:
    """Of the wave's next block."""
    for register, offset in zip(r.a, r.a_offsets, strict=True):
        yield f"global_load_b128 {register}, {offset}, {SCALARS.a}"


def load_b(p: GemvParameters, r: GemvRegisters, f: int) -> Iterator[str]:
    """Likewise, of a fragment."""
    for register, offset in zip(r.b[f], r.b_offsets[f], strict=True):
        yield f"global_load_b128 {register}, {offset}, {SCALARS.b}"


def load_scales(p: GemvParameters, r: GemvRegisters, f: int) -> Iterator[str]:
    """Likewise, of groups' scales, and zero points."""
    s = SCALARS
    if p.zeros and not f:
        yield f"s_lshr_b32 {s.t.sub(0)}, {s.block}, 3"
        yield f"s_lshl_b32 {s.t.sub(0)}, {s.t.sub(0)}, 2"
        yield f"s_add_u32 {s.base.sub(0)}, {s.zeros.sub(0)}, {s.t.sub(0)}"
        yield f"s_addc_u32 {s.base.sub(1)}, {s.zeros.sub(1)}, 0"
    if p.group:
        name = f"b{32 * r.scales[f].count}" if p.groups > 1 else "u16"
        yield f"global_load_{name} {r.scales[f]}, {r.scale_offsets[f]}, {s.scales}"
    for register, offset in zip(r.zeros[f], r.zero_offsets[f], strict=True):
        yield f"global_load_b32 {register}, {offset}, {s.base}"


def store_a(p: GemvParameters, r: GemvRegisters) -> Iterator[str]:
    """What was loaded goes to LDS."""
    for number, register in enumerate(r.a):
        if p.weights == "awq":
            yield from _turned(r, register)
            register = r.unpacked[0].sub(0, 4)
        yield lds.write(r.a_writes, 16, number, 0, register)


def store_b(p: GemvParameters, r: GemvRegisters, f: int) -> Iterator[str]:
    """Likewise, of a fragment, unpacked; and its scales as f32."""
    for zero in r.zeros[f]:
        yield f"v_bfe_u32 {zero}, {zero}, {SCALARS.shift}, 4"
        yield f"v_or_b32_e32 {zero}, 0x6400, {zero}"
    for group, scale in enumerate(r.group_scales):
        half = r.scales[f].sub(group // 2)
        if group % 2:
            yield f"v_lshrrev_b32_e32 {scale}, 16, {half}"
            half = scale
        yield f"v_cvt_f32_f16_e32 {scale}, {half}"
    for first in range(0, p.loads_b, p.unpacked):
        numbers = range(first, first + p.unpacked)
        if not p.weights:
            yield from (lds.write(r.b_writes, p.lanes, number, 0, r.b[f][number]) for number in numbers)
            continue
        for number, target in zip(numbers, r.unpacked, strict=True):
            yield from _unpacked(p, target, r.b[f][number], r.zeros[f][number] if p.zeros else None)
        for number, target in zip(numbers, r.unpacked, strict=True):
            for slot in range(p.expand):
                yield lds.write(r.b_writes, p.lanes, number, slot, target.sub(4 * slot, 4))


def _unpacked(p: GemvParameters, target: Reg, packed: Reg, zero: Reg | None) -> Iterator[str]:
    """16 bytes of weights as f16. zero: the lane's row's, 1024 more. What does not depend on each other stands side by
    side."""
    s, words = SCALARS, list(packed.units())
    to = list(target.units())
    if p.weights == "awq":
        yield from (f"v_lshrrev_b32_e32 {to[4 * i + n]}, {4 * n}, {words[i]}" for i in range(4) for n in range(1, 4))
        for n in range(16):
            yield f"v_and_or_b32 {to[n]}, {to[n] if n % 4 else words[n // 4]}, {s.nibbles}, {s.one}"
        for x in to:
            yield f"v_pk_add_f16 {x}, {x}, {zero} op_sel_hi:[1,0] neg_lo:[0,1] neg_hi:[0,1]"
        return
    if p.bits == 8:
        yield from (f"v_xor_b32_e32 {to[2 * i]}, {s.nibbles}, {words[i]}" for i in range(4))
    else:  # low bits are 4 of a group's first 16 weights, high bits 4 of the others
        yield from (f"v_lshrrev_b32_e32 {to[8 + 2 * i]}, 4, {words[i]}" for i in range(4))
        yield from (f"v_and_b32_e32 {to[2 * i]}, {s.nibbles}, {words[i]}" for i in range(4))
        yield from (f"v_and_b32_e32 {to[8 + 2 * i]}, {s.nibbles}, {to[8 + 2 * i]}" for i in range(4))
    yield from (f"v_perm_b32 {to[i + 1]}, {s.one}, {to[i]}, {s.high_pair}" for i in range(0, len(to), 2))
    yield from (f"v_perm_b32 {to[i]}, {s.one}, {to[i]}, {s.low_pair}" for i in range(0, len(to), 2))
    yield from (f"v_pk_add_f16 {x}, {x}, {s.less}" for x in to)


def _turned(r: GemvRegisters, eight: Reg) -> Iterator[str]:
    """Eight steps of k of A in the order in which nibbles come: 0, 4, 1, 5, 2, 6, 3, 7."""
    for i in range(4):
        selector = SCALARS.high_pair if i % 2 else SCALARS.low_pair
        yield f"v_perm_b32 {r.unpacked[0].sub(i)}, {eight.sub(i // 2 + 2)}, {eight.sub(i // 2)}, {selector}"
