"""Runs of float operations as one step, in native code: most of what a GEMM kernel does.

`fused` puts such runs together where that makes no difference: in a VOPD no half writes what the other one reads. The
step does what the single ones do; these are taken where terms are traced, and where the host has no C compiler.
"""

from __future__ import annotations

import functools
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from isa.prove.definition import native
from isa.prove.definition.waves import Step, Waves
from isa.registers import LANES
from isa.semantics.instruction import Instruction

_FEWEST = 4
_KINDS = {
    "v_mov_b32": (native.MOVE, 1), "v_add_f32": (native.ADD, 2), "v_mul_f32": (native.MUL, 2),
    "v_fmac_f32": (native.FMA, 2), "v_fma_f32": (native.FMA, 3),
}  # fmt: skip
"""And how many sources are named."""
Steps = tuple[tuple[int, Step], ...]
Operation = tuple[int, int, int, int, int]


@dataclass(frozen=True)
class Fused:
    """steps: (position, step) of the single instructions; operations: (kind, target, x, y, z) of each, see `native`."""

    steps: Steps
    operations: tuple[Operation, ...]

    @functools.cached_property
    def _words(self) -> tuple[native.Numbers, native.Number]:
        words = native.numbers(*(word for operation in self.operations for word in operation))
        return words, native.Number(len(self.operations))

    @functools.cached_property
    def _terms(self) -> int:
        return sum(kind != native.MOVE for kind, *_ in self.operations)

    def __call__(self, w: Waves) -> None:
        if w.trace is None and native.do("floats", w, *self._words):
            w.terms += self._terms * len(w.numbers) * LANES
            return
        for _, step in self.steps:
            step(w)


def fused(steps: Sequence[tuple[int, Step]], instructions: Sequence[Instruction]) -> Iterator[tuple[int, Step]]:
    """The same steps, (position, step), with those together that may be."""
    run: list[tuple[int, Step]] = []
    operations: list[Operation] = []
    for position, step in steps:
        found = _operations(instructions[position])
        if found:
            run.append((position, step))
            operations += found
        else:
            yield from _together(run, operations)
            yield position, step
            run, operations = [], []
    yield from _together(run, operations)


def _together(run: list[tuple[int, Step]], operations: list[Operation]) -> Iterator[tuple[int, Step]]:
    if len(run) < _FEWEST:
        yield from run
    else:
        yield run[0][0], Fused(tuple(run), tuple(operations))


@functools.lru_cache(1 << 15)
def _operations(inst: Instruction) -> tuple[Operation, ...]:
    """Of each half; nothing for another instruction."""
    found: list[Operation] = []
    for half in inst.halves:
        name = half.mnemonic.removesuffix("_e32").removesuffix("_e64").replace("v_dual_", "v_")
        kind, count = _KINDS.get(name, (0, -2))
        words = [native.source_of(half, operand) for operand in half.operands]
        if len(words) != 1 + count or half.modifiers or half.dpp or None in words:
            return ()
        target, *sources = (word for word in words if word is not None)
        sources += [target] * (name == "v_fmac_f32")
        x, y, z, *_ = *sources, ~0, ~0
        found.append((kind, target, x, y, z))
    return tuple(found) if len(found) == 1 or found[0][1] not in found[1][2:] else ()
