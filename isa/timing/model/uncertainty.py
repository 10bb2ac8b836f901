"""Sensitivity: a launch -> how far each uncertain machine number moves its prediction.

`ratios` draws all numbers of `isa.timing.machine.rdna3` that have a range at once, by Latin hypercube sampling: each
range is cut into as many parts of equal probability as there are draws, and each part is drawn from once. A number is
as likely above its value as below it, and equally likely within either side; where the value stands at an end of its
range, half of the draws keep it. A draw plays a part of the launch, `ROUNDS` rounds of workgroups with at most `TRIPS`
trips of each steady loop, and its time stands over that of the same part with the numbers as they are, under the same
arbitration policy; policies take turns. How well such ratios agree with those of the whole launch: docs/timing.md.

`sensitivity` moves one number at a time to the ends of its range.

Limits: numbers are drawn independently; the shares of L1, L2 and L3 (`isa.timing.model.caches`) stay those of the
prediction, though `l0_ways` would change them; the operand-bank rule, and what "Limits" of the engine names, is not
varied.
"""

from __future__ import annotations

from collections.abc import Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace

import numpy as np

from isa.timing.machine import rdna3
from isa.timing.model import estimate
from isa.timing.model import run as model
from isa.timing.model.run import Prepared
from isa.timing.native import engine_abi
from isa.timing.trace.decode import repriced

DRAWS = 12
ROUNDS = 3
TRIPS = 43
_POLICIES = ((engine_abi.OLDEST, 0), (engine_abi.STICKY, 0))
_SEED = 1


def ratios(ready: Prepared, clock_mhz: float, draws: int = DRAWS) -> tuple[float, ...]:
    """The time with drawn machine numbers over the time with those of `ready`, ascending."""
    part = estimate.beginning(ready, ROUNDS, TRIPS)

    def cycles(job: tuple[Prepared, tuple[int, int]]) -> float:
        return model.run(job[0], clock_mhz, job[1]).cycles

    members = [_POLICIES[i % len(_POLICIES)] for i in range(draws)]
    jobs = [(part, policy) for policy in _POLICIES]
    jobs += [(changed(part, drawn), member) for drawn, member in zip(drawn_numbers(draws, ready), members, strict=True)]
    with ThreadPoolExecutor(2) as pool:
        found = list(pool.map(cycles, jobs))
    base = dict(zip(_POLICIES, found, strict=False))
    return tuple(sorted(c / base[member] for c, member in zip(found[len(_POLICIES) :], members, strict=True)))


def drawn_numbers(draws: int, ready: Prepared | None = None, seed: int = _SEED) -> list[dict[str, float]]:
    """Machine numbers with a range, drawn `draws` times, around those of `ready`. See the module's docstring."""
    random = np.random.default_rng(seed)
    drawn: list[dict[str, float]] = [{} for _ in range(draws)]
    for name, number in rdna3.NUMBERS.items():
        low, high = ready.ranges.get(name, (number.low, number.high)) if ready else (number.low, number.high)
        middle = ready.numbers[name] if ready else number.value
        if low == high:
            continue
        at = (random.permutation(draws) + random.random(draws)) / draws
        values = np.interp(at, [0, 0.5, 1], [low, middle, high])
        for each, value in zip(drawn, values, strict=True):
            each[name] = float(value)
    return drawn


def changed(ready: Prepared, numbers: Mapping[str, float]) -> Prepared:
    """The same launch on a machine with some other numbers."""
    numbers = {**ready.numbers, **numbers}
    code = repriced(ready.code, ready.cfg, numbers, ready.trace.wave)
    return replace(ready, numbers=numbers, code=model.placed(code, ready.trace))


def sensitivity(ready: Prepared, clock_mhz: float, budget: int) -> list[tuple[str, float, float]]:
    """(number, relative time at its low end, at its high end) for each machine number with a range; oldest first."""
    parts = estimate.excerpts(ready, budget)
    base = estimate.play(ready, clock_mhz, parts).cycles
    names = [name for name, number in rdna3.NUMBERS.items() if number.low != number.high]
    ends = [(name, value) for name in names for value in (rdna3.NUMBERS[name].low, rdna3.NUMBERS[name].high)]

    def relative(end: tuple[str, float]) -> float:
        return estimate.play(changed(ready, dict([end])), clock_mhz, parts).cycles / base

    with ThreadPoolExecutor(2) as pool:
        found = list(pool.map(relative, ends))
    rows = list(zip(names, found[::2], found[1::2], strict=True))
    return sorted(rows, key=lambda row: -abs(row[2] - row[1]))
