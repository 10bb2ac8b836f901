"""Waves of 64 lanes: one instruction -> the same for lanes 0 to 31 and for 32 to 63. RDNA3 ISA guide 3.3; AMD's
pseudocode for what crosses halves.

Lanes 0 to 31 and 32 to 63 have registers, an EXEC and lane numbers of their own; the engine's `half` says whose are
meant. A lane mask is a pair of SGPRs, the lower one of lanes 0 to 31; a mask that an instruction reads or writes
without naming it (VCC, EXEC) likewise. So a vector instruction is bound twice, once for each half's part of its masks.
All sources of both halves are read before either writes, as scalars may be among the results. Memory instructions do
the lower half's accesses first.

Few instructions see the other half: v_readlane_b32, v_readfirstlane_b32, v_writelane_b32, v_mbcnt_*, v_permlane64_b32,
and branches on the whole of VCC or EXEC. What moves data between lanes otherwise stays within a half (ds_bpermute_b32,
too: Mesa, ACO's emit_gfx11_wave64_bpermute).

Limits, each rejected with an error: matrix instructions, whose operands are laid out otherwise; ds_append, ds_consume;
loads that transpose, which have half the registers then.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Sequence
from typing import Any, Protocol

from isa.instructions.words import below
from isa.registers import EXEC_LO, VCC_LO, Reg
from isa.semantics.engine import Engine
from isa.semantics.execute import bind, run
from isa.semantics.instruction import Description, Instruction, Operand, Role, lookup
from isa.semantics.operands import Put, Sources, writer
from isa.semantics.values import Value, select

HALVES = (0, 1)


class HalfEngine(Engine, Protocol):
    """An engine that has both halves' registers. half: whose VGPRs, EXEC and lane numbers it reads and writes."""

    half: int


Step = Callable[[Any], None]


def steps(inst: Instruction) -> tuple[Step, ...]:
    """What to do in turn, on a `HalfEngine`: two steps for memory instructions, else one."""
    desc = lookup(inst)
    if desc.effect == "branch" and desc.implicit_reads in (("vcc",), ("exec",)):
        return (_branch(inst, desc),)
    if not desc.is_vector or not inst.operands:
        bound = bind(inst)
        return (lambda engine: run(engine, bound),)
    if (
        inst.pair is not None
        or desc.is_matrix
        or (desc.access is not None and (desc.access.by_wave or desc.access.transposed))
    ):
        raise inst.error(
            f"{desc.name} in a wave of 64 lanes is not simulated", hint="compile with -mno-wavefrontsize64"
        )
    if desc.name in _ACROSS:
        across = _ACROSS[desc.name]
        return (lambda engine: _put(across(engine, inst, desc)),)
    if desc.access is not None:
        return tuple(lambda engine, half=half: _put(_half(engine, inst, desc, half)) for half in HALVES)
    return (lambda engine: _put([put for half in HALVES for put in _half(engine, inst, desc, half)]),)


def _put(puts: Sequence[Put]) -> None:
    for put in puts:
        put()


def _within(engine: HalfEngine, half: int, put: Put) -> Put:
    def done() -> None:
        engine.half = half
        put()
        engine.half = 0

    return done


def _half(
    engine: HalfEngine, inst: Instruction, desc: Description, half: int, body: Callable[..., Any] | None = None
) -> list[Put]:
    """What one half computes; how to write that."""
    bound = bind(_part(inst, desc, half), None if body is None else lambda _: body, half)
    engine.half = half
    puts = [_within(engine, half, put) for compute in bound for put in compute(engine)]
    engine.half = 0
    return puts


def _part(inst: Instruction, desc: Description, half: int) -> Instruction:
    """The instruction as one half sees it: its SGPR of each mask, its rows of a DPP's row_mask."""
    operands = tuple(_mask_of(operand, role, half) for role, operand in desc.roles_of(inst))
    rows = inst.modifier("row_mask")
    modifiers = inst.modifiers
    if isinstance(rows, int):
        modifiers = tuple((n, rows >> 2 * half & 3 if n == "row_mask" else value) for n, value in modifiers)
    return dataclasses.replace(inst, operands=operands, modifiers=modifiers)


def _mask_of(operand: Operand, role: Role, half: int) -> Operand:
    if role.kind != "m" or not isinstance(operand, Reg) or operand.is_null:
        return operand
    return dataclasses.replace(operand, index=operand.index + half, count=1)


def _branch(inst: Instruction, desc: Description) -> Step:
    low = {"vcc": VCC_LO, "exec": EXEC_LO}[desc.implicit_reads[0]].index
    body = desc.body
    assert body is not None
    return lambda engine: engine.branch(inst, body(engine.read_sgpr(low).joined(engine.read_sgpr(low + 1))))


# --- what sees both halves


def _read(engine: HalfEngine, inst: Instruction, desc: Description) -> list[list[Any]]:
    """The values of all operands that are read, in each half."""
    found = []
    for engine.half in HALVES:
        found.append([read(engine, None) for read in Sources(inst, desc).readers()])
    engine.half = 0
    return found


def _write(engine: HalfEngine, inst: Instruction, desc: Description, half: int, value: Value, masked: bool) -> Put:
    role, operand = desc.roles_of(inst)[0]
    engine.half = half
    put = writer(inst, desc, 0, role, operand)(engine, value, engine.exec_mask() if masked else None)
    engine.half = 0
    return _within(engine, half, put)


def _readlane(engine: HalfEngine, inst: Instruction, desc: Description) -> list[Put]:
    (low, number), (high, _) = _read(engine, inst, desc)
    value = select((number & 32) == 0, low.lane(number & 31), high.lane(number & 31))
    return [_write(engine, inst, desc, 0, value, False)]


def _readfirstlane(engine: HalfEngine, inst: Instruction, desc: Description) -> list[Put]:
    """The lowest lane that is on; lane 0 where all are off."""
    (low,), (high,) = _read(engine, inst, desc)
    on, also = (engine.read_sgpr(EXEC_LO.index + half) for half in HALVES)
    first = select(on == 0, 0, on.ctz())
    other = select(also == 0, 0, also.ctz())
    value = select((on == 0) & (also != 0), high.lane(other), low.lane(first))
    return [_write(engine, inst, desc, 0, value, False)]


def _writelane(engine: HalfEngine, inst: Instruction, desc: Description) -> list[Put]:
    puts = []
    for half, (old, value, number) in enumerate(_read(engine, inst, desc)):
        here = (number & 32) == 32 * half
        puts.append(
            _write(
                engine, inst, desc, half, old.with_lane(number & 31, select(here, value, old.lane(number & 31))), False
            )
        )
    return puts


def _permlane64(engine: HalfEngine, inst: Instruction, desc: Description) -> list[Put]:
    (_, low), (_, high) = _read(engine, inst, desc)
    return [_write(engine, inst, desc, half, value, True) for half, value in enumerate((high, low))]


def _mbcnt_lo(engine: HalfEngine, inst: Instruction, desc: Description) -> list[Put]:
    every = _half(engine, inst, desc, 1, lambda mask, count, lane: mask.popcount() + count + (lane & 0))
    return _half(engine, inst, desc, 0) + every


def _mbcnt_hi(engine: HalfEngine, inst: Instruction, desc: Description) -> list[Put]:
    def body(mask: Value, count: Value) -> Value:
        return below(mask, engine.lane_ids() & 31) + count

    return _half(engine, inst, desc, 0) + _half(engine, inst, desc, 1, body)


_ACROSS: dict[str, Callable[[HalfEngine, Instruction, Description], list[Put]]] = {
    "v_readlane_b32": _readlane,
    "v_readfirstlane_b32": _readfirstlane,
    "v_writelane_b32": _writelane,
    "v_permlane64_b32": _permlane64,
    "v_mbcnt_lo_u32_b32": _mbcnt_lo,
    "v_mbcnt_hi_u32_b32": _mbcnt_hi,
}
