"""Runs cases on both engines and tells where they differ."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field

from assembly import Case
from compare import differences
from engines import Native, run_numpy
from inputs import EXECS, GLOBAL_BYTES, draw

from isa.errors import IsaError
from isa.semantics.float_mode import FloatMode
from isa.sim.ir.jit import HostTarget
from isa.sim.run.memory import DeviceMemory

CHUNK = 100


@dataclass
class Tally:
    """runs: how many waves were compared. refused: what the engines do not take, by reason; both refuse it."""

    runs: int = 0
    driven: Counter[str] = field(default_factory=Counter)
    refused: dict[str, str] = field(default_factory=dict)
    differ: list[str] = field(default_factory=list)


def every_pattern(case: Case) -> Sequence[str]:
    """Of EXEC."""
    return list(EXECS)


def compare_cases(
    cases: Sequence[Case], seeds: Sequence[int], mode: FloatMode, target: HostTarget,
    patterns: Callable[[Case], Sequence[str]] = every_pattern,
) -> Tally:  # fmt: skip
    """Each case with its patterns of EXEC, for each seed; memory instructions also with an address outside."""
    memory = DeviceMemory(1 << 20)
    base = memory.allocate(GLOBAL_BYTES)
    tally = Tally()
    taken, known = [], {}
    for case in cases:
        first = known[id(case)] = draw(case, 0, "full", base), []
        why = [_refusal(lambda case=case, first=first: first[1].append(run_numpy(case, first[0], mode, base)))]
        if why != [None]:
            why.append(_refusal(lambda case=case: Native([case], mode, target, memory, base)))
            tally.refused[str(case)] = str(why[0])
            if why[0] != why[1]:
                tally.differ.append(f"{case}: refused with {why[0]!r}, natively {why[1]!r}")
        else:
            taken.append(case)
    for i in range(0, len(taken), CHUNK):
        chunk = taken[i : i + CHUNK]
        native = Native(chunk, mode, target, memory, base)
        for case in chunk:
            tally.driven[case.form.key] += 1
            for seed, pattern, outside in _launches(case, seeds, patterns(case)):
                if (seed, pattern, outside) == (0, "full", False):
                    inputs, (want,) = known.pop(id(case))
                else:
                    inputs = draw(case, seed, pattern, base, outside)
                    want = run_numpy(case, inputs, mode, base)
                for fast in (True, False) if inputs.sgprs[126] == 0xFFFFFFFF else (False,):
                    tally.runs += 1
                    wrong = differences(case, inputs, want, native.run(case, inputs, fast))
                    if inputs.outside and not want.stopped:
                        wrong.append("an access outside of all memory is no fault")
                    version = "fast" if fast else "plain"
                    tally.differ += [f"{case} [{mode}, seed {seed}, EXEC {pattern}, {version}]: {w}" for w in wrong]
    return tally


def _launches(case: Case, seeds: Sequence[int], patterns: Sequence[str]) -> Iterator[tuple[int, str, bool]]:
    for seed in seeds:
        for pattern in patterns:
            yield 100 * seed + list(EXECS).index(pattern), pattern, False
    if case.instructions[0].desc.access is not None:
        yield 100 * seeds[0], "random", True


def _refusal(run: object) -> str | None:
    try:
        run()  # type: ignore[operator]
    except IsaError as error:
        return error.message.rpartition("; ")[2].rpartition(": ")[2]
    return None


def not_driven(cases: Sequence[Case]) -> dict[str, str]:
    """Keys of which the reference engine takes no case -> why."""
    memory = DeviceMemory(1 << 20)
    base = memory.allocate(GLOBAL_BYTES)
    reasons: dict[str, str] = {}
    driven = set()
    for case in cases:
        why = _refusal(lambda case=case: run_numpy(case, draw(case, 0, "full", base), FloatMode(), base))
        if why is None:
            driven.add(case.form.key)
        else:
            reasons[case.form.key] = why
    return {key: why for key, why in reasons.items() if key not in driven}
