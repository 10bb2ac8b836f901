"""LDS loads and stores -> steps on `Waves`, a dword at a time. Two waves that touch one dword between two barriers, one
of them storing, are a race."""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from isa.prove.definition import native
from isa.prove.definition.names import Names
from isa.prove.definition.native import source_of
from isa.prove.definition.operands import lane_ints, plain, refused, vgpr
from isa.prove.definition.waves import VGPRS, Fault, Step, Waves
from isa.registers import LANES
from isa.semantics.instruction import Instruction

Indices = NDArray[np.int64]


def lane_of(w: Waves, at: tuple[int, ...]) -> tuple[int, int]:
    """Which lane that is, of those of the instruction: for Fault."""
    return int(w.numbers[at[0]]), at[1]


@dataclass(frozen=True)
class _Part:
    """One access of an instruction: bytes after its address, registers (the first, how many)."""

    offset: int
    register: int
    count: int


def decode(inst: Instruction, m: re.Match[str]) -> Step:
    """m: see `access`."""
    plain(inst, "offset", "offset0", "offset1")
    count, load = int(m[5]) // 32, m[2] == "load"
    address = lane_ints(inst, inst.operands[1 if load else 0])
    values = inst.operands[:1] if load else inst.operands[1:]
    if m[3]:
        unit = 4 * count * (64 if m[4] else 1)
        offsets = [unit * _number(inst, name) for name in ("offset0", "offset1")]
        registers = [vgpr(inst, v) for v in values]
        registers = [registers[0], registers[0] + count] if load else registers
        parts = [_Part(o, r, count) for o, r in zip(offsets, registers, strict=True)]
    else:
        parts = [_Part(inst.offset, vgpr(inst, values[0]), count)]
    alone = source_of(inst, inst.operands[1 if load else 0])
    operation = native.numbers(alone or 0, len(parts), *(x for p in parts for x in (p.offset, p.register, p.count)))
    function = None if alone is None or not 0 <= alone < VGPRS else "lds_load" if load else "lds_store"
    touched = [part.register + i for part in parts for i in range(part.count)]

    def step(w: Waves) -> None:
        if function and native.do(function, w, operation):
            return
        active = w.active((len(w.numbers), LANES))
        if not active.any():
            return
        start = np.broadcast_to(address(w), active.shape).astype(np.int64)
        verb = "loads" if load else "stores"
        found = [_lds_at(w, start + p.offset, active, p.count, verb) + upto(p.count) for p in parts]
        at = found[0] if len(found) == 1 else np.concatenate(found)
        if load:
            values = _lds_load(w, at, active)
            for i, register in enumerate(touched):
                w.put(register, values[:, i])
        else:
            _lds_store(w, at, np.stack([w.v[register][:, w.at] for register in touched], axis=1), active)

    return step


@lru_cache
def upto(count: int) -> Indices:
    """0, 1, ..., count - 1 in a dimension before those of waves and lanes."""
    return np.arange(count)[:, None, None]


def _number(inst: Instruction, modifier: str) -> int:
    value = inst.modifier(modifier, 0)
    if not isinstance(value, int):
        raise refused(inst, f"{modifier} in {inst}")
    return value


def _lds_at(w: Waves, address: Indices, active: NDArray[np.bool_], count: int, verb: str) -> Indices:
    """Dwords of a workgroup's LDS."""
    good = (address >= 0) & (address + 4 * count <= w.lds_bytes) & (address & 3 == 0)
    if not (good | ~active).all():
        bad = tuple(int(i[0]) for i in np.nonzero(~good & active))
        what = f"{verb} {4 * count} bytes at byte {int(address[bad])} of LDS, of which a workgroup has {w.lds_bytes}"
        raise Fault("outside", what, lane_of(w, bad))
    return np.where(good, address >> 2, 0)


def _lds_load(w: Waves, at: Indices, active: NDArray[np.bool_]) -> Names:
    """at: (dwords of a lane, waves, lanes)."""
    group, place = w.group[w.at][:, None], w.place[w.at][:, None]
    size, epoch = w.lds.shape[2], w.epoch[group]
    flat = group * size + at
    written = w.lds_written.reshape(-1).take(flat)
    if (now := written >= epoch.astype(np.int64) << 6).any():
        _race(now & (written & 63 != place) & active, w, "loads what another wave stores")
    marks = w.lds_read.reshape(-1)
    if w.mask is None:
        marks[place * (len(w.ids) * size) + flat] = epoch
    else:
        wave = np.nonzero(active)[0]
        marks[place[wave, 0] * (len(w.ids) * size) + flat[:, active]] = epoch[wave, 0]
    return w.lds.reshape(2, -1).take(flat, axis=1)


def _lds_store(w: Waves, at: Indices, value: Names, active: NDArray[np.bool_]) -> None:
    """at: as of a load."""
    active = np.broadcast_to(active, at.shape)
    wave = np.nonzero(active)[1]
    group, place = w.group[w.at][wave], w.place[w.at][wave]
    epoch, size = w.epoch[group].astype(np.int64), w.lds.shape[2]
    flat, value = group * size + at[active], value[:, active]
    marks, names = w.lds_written.reshape(-1), w.lds.reshape(2, -1)
    written = marks.take(flat)
    _race_flat((written >= epoch << 6) & (written & 63 != place), wave, w, "stores where another wave stores")
    for other, read in enumerate(w.lds_read.reshape(len(w.lds_read), -1)):
        _race_flat((read.take(flat) == epoch) & (place != other), wave, w, "stores where another wave loads")
    mark = epoch * 64 + place
    marks[flat] = mark
    names[:, flat] = value
    _race_flat(marks.take(flat) != mark, wave, w, "stores where another wave stores")
    if (names[:, flat] != value).any():
        raise Fault("store", "two lanes of a wave store to one dword of LDS")


def _race(bad: NDArray[np.bool_], w: Waves, what: str) -> None:
    if bad.any():
        raise Fault(
            "race", f"{what}, with no barrier between", lane_of(w, tuple(int(i[0]) for i in np.nonzero(bad)[1:]))
        )


def _race_flat(bad: NDArray[np.bool_], wave: Indices, w: Waves, what: str) -> None:
    if bad.any():
        raise Fault("race", f"{what}, with no barrier between", (int(w.numbers[wave[int(np.nonzero(bad)[0][0])]]), 0))
