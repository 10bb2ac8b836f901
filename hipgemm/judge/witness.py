"""Witnesses: a launch and inputs on which two kernels, both run on the simulated card, leave different memory.

Input: two kernels as assembly, and a launch if somebody knows one; of a GEMM of the ladder launches follow from its
sizes, of any other kernel some are guessed from its arguments (`guesses`). Output: a `Witness`, or None.

A launch counts only where the original is beyond doubt on it: under the sanitizer, in several orders of waves and
workgroups, it has no finding and leaves the same in each. The rewritten one is run likewise, from the same memory, at
the same addresses. They differ where it faults, or leaves another byte in an array or a variable; words that hold a NaN
in both do not count, since which NaN survives is not promised. So what is told is a difference of meaning, and nothing
of a race, of memory that nobody wrote, or of a wrong guess at the launch.

Limits: launches are small, and few; variables of the code object are not compared; None says nothing.
"""

from __future__ import annotations

import ctypes
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType
from typing import TYPE_CHECKING

from hipgemm.kernels.ladder import Gemm
from hipgemm.kernels.object import Kernel
from hipgemm.launch.gemm import CUS, gemm
from hipgemm.launch.launch import BadLaunch, Launch, Scalar, Struct, explicit, number_kind
from hipgemm.launch.problem import Problem
from hipgemm.launch.words import argument
from isa import toolchain
from isa.asm.emit import emit
from isa.asm.program import Program
from isa.errors import IsaError
from isa.object.code_object import Argument, CodeObject, DescribedKernel, load
from isa.sanitize import observe
from isa.sim.run.card import Card, CompiledKernel
from isa.sim.run.faults import BudgetSpent
from isa.targets import GFX1100

if TYPE_CHECKING:
    import numpy as np

CAPACITY = 4 << 30
ELEMENTS = 1 << 16
"""Of an array of a guessed launch."""
SCHEDULES, BUDGET = 3, 4_000_000
UNSETTLED = ("RUN002", "RUN004")
"""Rules by which a result depends on the order of waves or workgroups."""
LARGEST = 1 << 15
"""Work-items of a launch that is tried: the sanitizer runs it six times."""


@dataclass(frozen=True)
class Witness:
    """launch: as options of `run` make it. where: what differs, in words; old, new: what is there."""

    launch: str
    where: str
    old: str
    new: str

    def __str__(self) -> str:
        return f"witness: {self.launch}\n    {self.where}: {self.old} in the original, {self.new} in the rewritten"


def search(
    kernel: Kernel, original: Program, rewritten: Program, names: tuple[str, str], launch: Launch | None = None,
    known: Mapping[int, int] = MappingProxyType({}),
) -> Witness | None:  # fmt: skip
    """A witness that the kernels of these names differ. launch: the one to try, instead of others; known: bytes of the
    arguments that every launch that is tried must have."""
    try:
        card = Card(capacity=CAPACITY)
        modules = [card.load(_assembled(program)) for program in (original, rewritten)]
        pair = [module.kernels[name] for module, name in zip(modules, names, strict=True)]
        for options, one in [("the launch", launch)] if launch else _launches(kernel, pair[0].facts, known):
            if one.work_items > LARGEST:
                continue
            try:
                bound = one.bound(pair[0].facts)
                found = _run(card, pair, bound) if launch or _has(bound, pair[0].facts, known) else None
            except BadLaunch:
                continue
            if found is not None:
                return Witness(options, *found)
    except (IsaError, MemoryError):  # what cannot be assembled, loaded or run is no witness
        return None
    return None


def _assembled(program: Program) -> CodeObject:
    target = program.target or GFX1100
    return load(toolchain.find().code_object(emit(program), arch=target.name, name=program.file))


# --- launches
def _launches(kernel: Kernel, facts: DescribedKernel, known: Mapping[int, int]) -> Iterator[tuple[str, Launch]]:
    """Launches, each with the options that make it."""
    if not isinstance(kernel, Gemm):
        yield from guesses(facts, known)
        return
    rows, columns = kernel.block_tile
    m, n, k = kernel.tile
    for size in ((2 * rows, columns, 3 * k), (rows + m, columns + n, 5 * k)):
        for alpha, beta in ((1.5, 0.5), (1.0, 0.0)):
            if all(x % t == 0 for x, t in zip(size, kernel.tile, strict=True)):
                options = "-m {} -n {} -k {}".format(*size)
                yield f"{options} --alpha {alpha} --beta {beta}", gemm(kernel, Problem(*size, alpha, beta), CUS)


def _has(launch: Launch, facts: DescribedKernel, known: Mapping[int, int]) -> bool:
    """Whether its numbers are as known."""
    pairs = [(a, v) for a, v in zip(explicit(facts), launch.arguments, strict=False) if isinstance(v, Scalar | Struct)]
    own = {a.offset + k: byte for a, v in pairs for k, byte in enumerate(v.data(0)[: a.size])}
    return all(own.get(at, byte) == byte for at, byte in known.items())


def guesses(facts: DescribedKernel, known: Mapping[int, int] = MappingProxyType({})) -> Iterator[tuple[str, Launch]]:
    """Launches of a kernel of which only the metadata is known: one, two or four workgroups; integers that are passed
    by value as many as there are work-items, or few; arrays of ELEMENTS floats, or of numbers from 0."""
    most = facts.max_workgroup or 256
    required = tuple(facts.metadata.get(".reqd_workgroup_size") or ())
    shapes = [((2, 1, 1), required or (min(most, 256), 1, 1))]
    if not required and facts.descriptor.workitem_id and most >= 32:
        block = (16, min(most, 256) // 16, 1)
        shapes = [((2, 1, 1), block), ((2, 2, 1), block), *shapes]
    shapes.append(((1, 1, 1), shapes[-1][1]))
    for grid, block in shapes:
        items = grid[0] * block[0]
        for integer in dict.fromkeys((items * block[1], items, 128, 37, 5)):
            for data in ("random:f32", "arange:u32"):
                words = [_word(wanted, integer, data, known) for wanted in explicit(facts)]
                launch = Launch(grid, block, tuple(argument(word, i) for i, word in enumerate(words)))
                sizes = (",".join(map(str, size)) for size in (grid, block))
                yield " ".join(("--grid {} --block {}".format(*sizes), *(f"--arg {word}" for word in words))), launch


def _word(wanted: Argument, integer: int, data: str, known: Mapping[int, int]) -> str:
    """One argument, as `--arg` has it."""
    name = f"{wanted.name}=" if wanted.name.isidentifier() else ""
    if wanted.kind != "by_value":
        return f"{name}raw:{data}:{ELEMENTS}"
    import numpy as np

    real = number_kind(wanted) == "f"
    types = {1: "u8", 2: "u16", 4: "f32" if real else "i32", 8: "f64" if real else "i64"}
    held = bytes(known[at] for at in range(wanted.offset, wanted.offset + wanted.size) if at in known)
    if wanted.size in types and len(held) == wanted.size:
        type_ = types[wanted.size]
        return f"{name}{type_}:{np.frombuffer(held, type_[0] + str(wanted.size))[0].item()!r}"
    if wanted.size in types:
        return f"{name}{types[wanted.size]}:{1.5 if real else integer % (1 << 8 * min(wanted.size, 4) - 1)}"
    return f"{name}struct:" + ",".join([f"i32:{integer}"] * (wanted.size // 4 or 1))


# --- runs
Held = list[tuple[str, int, bytes]]
"""Memory: what it is called, bytes of an element, contents."""


Found = tuple[str, str, str]
"""What differs, and what is there in either."""


def _run(card: Card, pair: Sequence[CompiledKernel], launch: Launch) -> Found | None:
    addresses = [card.memory.allocate(max(array.nbytes, 4)) for array in launch.arrays]
    try:
        held: list[Held] = []
        for number, kernel in enumerate(pair):
            unwritten = launch.fill(addresses)
            seen = observe(
                card, kernel, launch.grid, launch.block, launch.kernarg(kernel.facts, addresses), launch.dynamic_lds,
                schedules=SCHEDULES, budget=BUDGET, unwritten=unwritten,
                elements=dict.fromkeys(addresses, 1), settled=False, last=launch.last,
            )  # fmt: skip
            faults = any(f.severity == "fault" for f in seen.findings)
            if any(f.id in UNSETTLED for f in seen.findings) or (number == 0 and (faults or seen.stopped)):
                return None  # what it leaves depends on the order, or the launch is no good
            if seen.stopped is not None:
                return (
                    None if isinstance(seen.stopped, BudgetSpent) else ("the launch", "it ends", seen.stopped.message)
                )
            held.append(_contents(launch, addresses))
        return _difference(*held)
    finally:
        for address in addresses:
            card.memory.free(address)


def _contents(launch: Launch, addresses: Sequence[int]) -> Held:
    import numpy as np

    return [
        (array.name, 4 if array.untyped else np.dtype(array.dtype).itemsize, ctypes.string_at(at, array.nbytes))
        for array, at in zip(launch.arrays, addresses, strict=True)
        if not array.scratch
    ]


def _difference(old: Held, new: Held) -> Found | None:
    import numpy as np

    for (name, size, first), (_, _, second) in zip(old, new, strict=True):
        size = size if len(first) % size == 0 else 1
        a, b = (np.frombuffer(data, f"u{size}") for data in (first, second))
        differ = a != b
        if size in (2, 4, 8):  # which NaN survives is not promised
            differ &= ~(np.isnan(a.view(f"f{size}")) & np.isnan(b.view(f"f{size}")))
        if differ.any():
            at = int(differ.argmax())
            first_word, second_word = (f"{int(x[at]):#0{2 * size + 2}x}" + _as_float(x, at, size) for x in (a, b))
            return f"{name}[{at}], byte {at * size}", first_word, second_word
    return None


def _as_float(words: np.ndarray, at: int, size: int) -> str:
    return f" ({words.view(f'f{size}')[at]:g})" if size in (2, 4, 8) else ""
