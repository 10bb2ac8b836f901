"""Settings: the fields of descriptor and metadata, beside register counts, in which two kernels must agree.

Float modes, LDS and scratch sizes, preloaded registers and arguments are part of what a kernel computes. Register
counts and instruction prefetch are not; whether they fit the code is `isa.lint.verify`'s to say. A kernel for WGP mode
may be started in CU mode where its largest workgroup fits a CU: what WGP mode asks of waits and caches is more (LLVM
AMDGPUUsage, "Memory Model gfx10-gfx11"). The other way around it may not.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import replace
from itertools import takewhile

from isa.analysis import resources
from isa.asm.program import Kernel
from isa.errors import IsaError
from isa.object import metadata
from isa.prove import named
from isa.prove.proof import Difference, ProofPlace
from isa.registers import VGPR_LIMIT
from isa.targets import GFX1100

MAY_CHANGE = frozenset(
    "next_free_vgpr next_free_sgpr reserve_vcc inst_pref_size "
    ".vgpr_count .sgpr_count .vgpr_spill_count .sgpr_spill_count .name .args".split()
)

_QUOTED = re.compile(r"""(?<!\S)(["'])(.*?)\1(?!\S)""")
"""A text of YAML in quotes, which mean nothing."""
_MODE = "workgroup_processor_mode"
_ROOM = ("group_segment_fixed_size", "private_segment_fixed_size")
"""What another layout of LDS or scratch memory changes, too: not shown equal, but nothing that a kernel computes."""


def difference(
    a: Kernel, b: Kernel, but: frozenset[str] = frozenset(), followed: frozenset[str] | None = None
) -> Difference | None:
    """The first setting in which two kernels differ, of all `but` those; or of the names that both use. followed: as
    of `named.differences`."""
    return of_start(a, b, but) or next(named.differences(a, b, followed), None)


def of_start(a: Kernel, b: Kernel, but: frozenset[str] = frozenset()) -> Difference | None:
    """The first setting in which two kernels differ, of all `but` those."""
    for kind, get in (("descriptor", _directive), ("metadata", _metadata)):
        keys = [*getattr(a, kind), *(k for k in getattr(b, kind) if k not in getattr(a, kind))]
        for key in keys:
            if key in MAY_CHANGE | but or (found := _compare(key, a, b, get)) is None:
                continue
            if key.lstrip(".") != _MODE or not _narrowed(a, b):
                return found
    return _arguments(a, b)


def _narrowed(a: Kernel, b: Kernel) -> bool:
    """Whether the second is the first in CU mode, and its largest workgroup fits a CU."""
    if not a.number(_MODE) or b.number(_MODE) != 0 or metadata.number(b, f".{_MODE}") not in (0, None):
        return False
    vgprs, threads = b.number("next_free_vgpr"), metadata.number(b, ".max_flat_workgroup_size")
    try:
        resources.occupancy(
            vgprs or VGPR_LIMIT, b.number("group_segment_fixed_size") or 0, threads or 1024, cu_mode=True,
            target=b.program.target or GFX1100, lanes=32 if b.number("wavefront_size32") else 64,
        )  # fmt: skip
    except IsaError:
        return False
    return True


def _arguments(a: Kernel, b: Kernel) -> Difference | None:
    """Another argument in the metadata; their names may change, and metadata may be missing."""
    first, second = (metadata.arguments(k) for k in (a, b))
    if ".args" not in a.metadata or ".args" not in b.metadata:
        return None
    for k in range(max(len(first), len(second))):
        x, y = (rows[k] if k < len(rows) else None for rows in (first, second))
        if x is None or y is None or replace(x[1], name="") != replace(y[1], name=""):
            left, right = (_place(kernel, row and row[0], ":") for kernel, row in ((a, x), (b, y)))
            return Difference("setting", f"argument {k} is another one", left, right)
    return None


def _compare(key: str, a: Kernel, b: Kernel, get: Callable[[Kernel, str], ProofPlace | None]) -> Difference | None:
    x, y = get(a, key), get(b, key)
    if _value(a, key, x) == _value(b, key, y):
        return None
    certain = key.lstrip(".") not in _ROOM and key != ".symbol"
    return Difference("setting", f"the kernels are started with another {key}", x, y, certain)


def _value(kernel: Kernel, key: str, place: ProofPlace | None) -> int | str | None:
    """What a setting is: a number, however it is written, or its text, in which a kernel's own name says nothing."""
    number = metadata.number(kernel, key) if key.startswith(".") else kernel.number(key)
    if number is not None or place is None:
        return number
    return place.expression.removeprefix(kernel.name) if key == ".symbol" else place.expression


def _directive(kernel: Kernel, key: str) -> ProofPlace | None:
    return _place(kernel, kernel.descriptor.get(key), " ")


def _metadata(kernel: Kernel, key: str) -> ProofPlace | None:
    """With the items of a list, which stand below their key."""
    place, number = _place(kernel, kernel.metadata.get(key), ":"), kernel.metadata.get(key, 0)
    items = takewhile(lambda line: line.text.startswith(6 * " "), kernel.program.lines[number + 1 :])
    words = [place.expression if place else "", *(line.text.strip() for line in items)]
    return place and replace(place, expression=" ".join(_QUOTED.sub(r"\2", word) for word in words))


def _place(kernel: Kernel, number: int | None, separator: str) -> ProofPlace | None:
    if number is None:
        return None
    text = kernel.program.lines[number].text.strip()
    return ProofPlace(kernel.program.span(number), text, text.partition(separator)[2].strip())
