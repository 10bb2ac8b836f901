"""Candidates on the matrix units: a shape -> the kernels that a search tries, the most promising first.

All tiles of a grid of values that `isa.gemm.matrix` accepts and whose registers do, with 1024 rows of tiles in a group
(`isa.gemm.matrix.order`) and priority for waves that store, each also as a stream-K kernel where there is one product,
after the kernels that are taken today; of the best one so far also fewer rows, and the other priority. Of W workgroups
on U CUs one CU gets n = ceil(W / U), of a stream-K kernel W / U, and at the least takes

    products   ceil(n waves / 2) waves after each other on a SIMD, each v_wmma 32 cycles, of i4 16; on RDNA4 16 and 8
    memory     A and B once over the memory bus

with the numbers of the card's machine. The guess, which is only good for an order, adds what turns operands
around, what LDS gives and L2 carries, and a wait for each K block that other waves hide.
"""

from __future__ import annotations

import functools
import itertools
import math
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from typing import Any

from hipgemm.kernels.ladder import rung
from hipgemm.tuning.bounds import Bound, Candidate, candidates, numbers_of, resident
from hipgemm.tuning.shapes import Shape
from hipgemm.tuning.space import timeable
from hipgemm.tuning.trial import TrialTarget
from hipgemm.tuning.trial_order import Lesson
from isa.errors import IsaError
from isa.gemm.matrix.parameters import MatrixParameters
from isa.gemm.matrix.registers import MatrixRegisters
from isa.gemm.names import name_of
from isa.gemm.vector.parameters import ParameterError
from isa.timing.machine.cards import Card, card

_EDGES = (32, 64, 128, 256)
_WAVE_EDGES = (16, 32, 64)
_DEPTHS = (16, 32, 64, 128, 256)
_GROUPED_ROWS = 1024
_SIMDS = 2
_HOPELESS = 2.0
"""How many times the shortest guess a kernel's may be that is tried."""
_ADDING = 4000
"""Cycles in which the last workgroup of a tile in pieces adds them up: trips to memory."""
_WAIT = 300
"""Cycles of a K block in which a wave that is alone does nothing: barriers, LDS, what was fetched."""


class MatrixField:
    """As `hipgemm.tuning.search.Field`."""

    level = "median"

    def __init__(self, shape: Shape, target: TrialTarget, chosen: Sequence[str] = ()) -> None:
        self.shape, self.on, self.clock_mhz = shape, card(target.card), target.clock_mhz
        found = [
            (p, b)
            for p, vgprs in kernels(shape.types, shape.trans, self.on.arch, strided=shape.batch > 1)
            if (b := self._bound(p, vgprs)) is not None
        ]
        self.considered = len(found)
        found.sort(key=lambda row: row[1].guess)
        guessed = [Candidate(name_of(p), b) for p, b in found if b.guess <= _HOPELESS * found[0][1].guess]
        today = self.named(chosen)
        self._left = [*today, *(c for c in guessed if c.kernel not in chosen)]
        self._varied: set[str] = set()

    def next(self, most: int, times: Mapping[str, float]) -> list[Candidate]:
        """So many of those that were not given yet: what is like the best one, then other tiles."""
        like = self.named(self._like(times))[:most]
        self._varied |= {c.kernel for c in like}
        more = most - len(like)
        given, self._left = self._left[:more], self._left[more:]
        return like + given

    def _like(self, times: Mapping[str, float]) -> list[str]:
        """Kernels with the best one's tile, which were not given yet."""
        best = rung(min(times, key=lambda name: (times[name], name))).parameters if times else None
        if not isinstance(best, MatrixParameters):
            return []
        groups = {max(1, best.group // part) for part in (1, 2, 4)}
        like = [replace(best, group=group) for group in sorted(groups, reverse=True)]
        names = map(name_of, [*like, replace(best, prio=not best.prio)])
        return [name for name in names if name not in times and name not in self._varied]

    def named(self, names: Sequence[str]) -> list[Candidate]:
        """Those that can be timed here."""

        def bound_of(p: object) -> Bound | None:
            if not isinstance(p, MatrixParameters):
                return None
            return self._bound(p, MatrixRegisters.of(p.on(self.on.arch)).count)

        return candidates(names, bound_of)

    def lesson(self, times: Mapping[str, float]) -> Lesson:
        """The best of them alone: the order is not learnt."""
        return Lesson(self.shape, min(times, key=lambda name: (times[name], name)), ())

    def _bound(self, p: MatrixParameters, vgprs: int) -> Bound | None:
        return bound(p, vgprs, self.shape, self.on, self.clock_mhz)


@functools.cache
def kernels(types: str, trans: str, arch: str, *, strided: bool = False) -> tuple[tuple[MatrixParameters, int], ...]:
    """All of these types for matrices that lie so, and their VGPRs. strided: those for batches."""
    factor, result = types.split("_")
    fields: dict[str, Any] = {
        "factor": factor,
        "result": result,
        "trans_a": trans[0] == "t",
        "trans_b": trans[1] == "t",
        "strided": strided,
    }
    found = []
    shares = (False,) if strided else (False, True)
    grid = itertools.product(_EDGES, _EDGES, _WAVE_EDGES, _WAVE_EDGES, _DEPTHS, (1, 2), shares)
    for rows, columns, wave_rows, wave_columns, depth, stages, stream_k in grid:
        if wave_rows > rows or wave_columns > columns:
            continue
        with suppress(ParameterError):
            group = min(32, _GROUPED_ROWS // rows)
            of = {"group": group, "prio": True, "stream_k": stream_k, **fields}
            p = MatrixParameters(rows, columns, depth, wave_rows, wave_columns, stages, **of)
            found.append((p, MatrixRegisters.of(p.on(arch)).count))
    if not found:
        raise IsaError(f"no kernel of the matrix units multiplies {types}")
    return tuple(found)


def bound(p: MatrixParameters, vgprs: int, shape: Shape, on: Card, clock_mhz: float) -> Bound | None:
    """None where not even one workgroup fits a CU, or the model would take long."""
    fits = resident(vgprs, p.lds_bytes, p.threads, on.arch)
    if not fits or not timeable(p, shape):
        return None
    numbers = numbers_of(on.arch)
    workgroups = shape.batch * -(-shape.m // p.rows) * -(-shape.n // p.columns)
    mine = workgroups / on.cus if p.stream_k else -(-workgroups // on.cus)
    waves = mine * p.waves / _SIMDS if p.stream_k else -(-mine * p.waves // _SIMDS)
    blocks = -(-shape.k // p.depth)
    own = "wmma_iu4_passes" if p.pack > 1 else "wmma_8bit_passes" if p.factor_bytes == 1 else "wmma_passes"
    each = p.on(on.arch)
    products = p.units // each.step * each.products * math.prod(p.fragments) * numbers[own]
    hertz = clock_mhz * 1e6
    read = p.factor_bytes / p.pack * shape.k
    seconds = {
        "products": waves * blocks * products / hertz,
        "memory": shape.batch * read * (shape.m + shape.n) / on.vram_bandwidth,
    }
    by = max(seconds, key=seconds.__getitem__)
    turning = sum(side.registers for side in p.sides if not side.along_k)
    lds = 2 * p.units * p.factor_bytes * sum(p.wave_tile) / numbers["lds_return_bytes"]
    at_once = max(1.0, min(fits, mine) * p.waves / _SIMDS)
    busy = max(products + turning, lds) + _WAIT / at_once
    traffic = workgroups * read * (p.rows + p.columns) / on.l2_bandwidth
    guess = max(waves * (blocks + 2) * busy / hertz, traffic, seconds["memory"])
    if p.stream_k:
        guess += _ADDING / hertz
    return Bound(seconds[by], by, guess)
