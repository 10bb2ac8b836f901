"""Reference of a launch: the same code object and arrays on the simulated card -> what the launch must leave, where no
answer is given.

    launch, note = expected_of(made, launch, tolerance)     the launch with a reference for each of its arrays

Both run the same instructions on the same numbers, so each element must be the same: equal, and a NaN where one is.
What may differ all the same is named (`free`): what atomics give back, and sums of floats by atomics, depend on who is
first; the last bits of some transcendental functions are not simulated (`isa.semantics.reference.transcendental`), and
the order in which matrix units and dot products add is not published. How far such a kernel's numbers may lie apart
depends on what it goes on to do with them, so that no bound follows from the code: whoever launches it gives one, as a
tolerance.

What was never written begins as FILL on both. Limits: addresses that a kernel stores are others on a card; so may be
what it reads of LDS or registers that it has not written (`hipgemm check` finds that).
"""

from __future__ import annotations

import ctypes
import dataclasses
import re
from collections.abc import Sequence
from typing import TYPE_CHECKING

from hipgemm.kernels.build import Linked
from hipgemm.launch.launch import Array, Launch, Reference
from hipgemm.launch.words import against
from isa.semantics.execute import asked
from isa.semantics.instruction import Instruction
from isa.sim.run.card import Card

if TYPE_CHECKING:
    import numpy as np

FILL = 0xA5
"""Each byte that was never written: a small negative float, and a large negative integer."""
CAPACITY = 8 << 30
_RETURNS = re.compile(r"\bglc\b|_rtn")
_KNOWN = re.compile(r"v_(exp|log|sin|cos)_f(16|32)|v_rcp_f16")
_ORDERED = re.compile(r"atomic_add_f|pk_add|swap|cmpst|storexchg|ds_add_(rtn_)?f")


def expected_of(made: Linked, launch: Launch, tolerance: float = 0.0) -> tuple[Launch, tuple[str, ...]]:
    """The launch with references, and what may differ for no fault of the code (see above). Its arrays are written
    throughout. IsaError where the simulated card cannot run it."""
    card = Card(capacity=CAPACITY)
    kernel = card.load(made.image).kernels[made.name]
    launch = launch.bound(kernel.facts)
    begins = [_filled(array) for array in launch.arrays]
    addresses = [card.memory.allocate(max(array.nbytes, 4)) for array in launch.arrays]
    for address, contents in zip(addresses, begins, strict=True):
        ctypes.memmove(address, contents.ctypes.data, contents.nbytes)
    kernarg = launch.kernarg(kernel.facts, addresses)
    card.launch(kernel, launch.grid, launch.block, kernarg, launch.dynamic_lds, last=launch.last)
    references = []
    for number, (address, contents) in enumerate(zip(addresses, begins, strict=True)):
        ends = contents.copy()
        ctypes.memmove(ends.ctypes.data, address, ends.nbytes)
        if not launch.arrays[number].scratch:
            references.append(Reference(number, against(ends, tolerance)))
    arrays = iter(zip(launch.arrays, begins, strict=True))
    arguments = [_holding(*next(arrays)) if isinstance(a, Array) else a for a in launch.arguments]
    return dataclasses.replace(launch, arguments=tuple(arguments), references=tuple(references)), free(made)


def _filled(array: Array) -> np.ndarray:
    """What it begins with, and FILL where nothing was written."""
    import numpy as np

    held = array.contents()
    whole = np.full(array.nbytes, FILL, np.uint8)
    whole[: held.nbytes] = held.reshape(-1).view(np.uint8)
    return whole.view(array.dtype).reshape(array.shape)


def _holding(array: Array, contents: np.ndarray) -> Array:
    return dataclasses.replace(array, fill=lambda: contents)


def free(made: Linked) -> tuple[str, ...]:
    """The instructions of a kernel whose results may differ from one run or machine to another: why, and which."""
    from hipgemm.judge.inspection import flow_of

    instructions = flow_of(made.code_object, made.kernel.title, made.name).instructions
    order = {i.desc.name for i in instructions if _ordered(i)}
    bits = {i.desc.name for i in instructions if _uncertain(i)}
    clocks = {i.desc.name for i in instructions if asked(i)}
    return tuple(
        f"{why} {_listed(sorted(names))}"
        for why, names in (
            ("atomics whose result depends on order:", order),
            ("instructions whose last bits may differ:", bits),
            ("counters and ids of the hardware:", clocks),
        )
        if names
    )


def _ordered(inst: Instruction) -> bool:
    return "atomic" in inst.scheduling_class and bool(_ORDERED.search(inst.desc.name) or _RETURNS.search(str(inst)))


def _uncertain(inst: Instruction) -> bool:
    """Whether the last bits may differ; of each half of a dual instruction, too, none of which is transcendental."""
    name, kind = inst.desc.name, inst.scheduling_class
    uncertain = kind in ("trans", "trans_f64", "wmma_16bit") or (kind == "dot" and "f16" in name)
    return uncertain and not _KNOWN.fullmatch(name)


def _listed(names: Sequence[str]) -> str:
    return ", ".join(names[:3]) + (f" and {len(names) - 3} more" if len(names) > 3 else "")
