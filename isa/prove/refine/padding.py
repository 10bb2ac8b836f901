"""LDS in longer rows: an original whose LDS addresses go through f(a) = a + (a >> log) * pad.

A pass that ends bank conflicts may put `pad` unused bytes after each row of 2**log bytes of all LDS that a kernel has.
f is strictly increasing, so no two places become one; and a part of a row stays a run of bytes. So the original does
the same with each of its LDS accesses at f of its address, if none lies in two rows: then the two are one program but
for the names of places. That program is what the rewritten one is held against, by the same relation as ever.

What is asked of it: each dword, or smaller element, lies at a multiple of its size by the bits that are known of its
address; no flat access may reach LDS, nor does the kernel take LDS's address or use GDS; LDS grows by just the bytes
after its rows but the last. The row's length is not given: each that the two sizes allow is tried, and one must do for
all.

Assumed, and said by the proof: accesses stay within the LDS that the kernel declares, and a launch gives it no more
(beyond it f may wrap, and a launch's bytes would begin elsewhere). Kernels that ask how much a launch gave are not
followed.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from isa.algebra.term import Term
from isa.algebra.terms import Terms
from isa.asm.program import Kernel
from isa.errors import IsaError
from isa.object import metadata

SIZE = "group_segment_fixed_size"
SETTINGS = frozenset({SIZE, f".{SIZE}"})
ASSUMED = "LDS is accessed within the bytes that the kernel declares, and a launch gives it no more"
_LOGS = range(4, 16)
_DYNAMIC = frozenset({"hidden_dynamic_lds_size", "dynamic_shared_pointer"})


@dataclass(frozen=True)
class Rows:
    """log: of a row's bytes; pad: how many are put after it."""

    log: int
    pad: int

    def moved(self, terms: Terms, address: Term, size: int) -> Term:
        """Where an element of so many bytes lies. IsaError where it may lie in two rows."""
        if address.ones & size - 1:
            raise IsaError(f"an LDS access of {size} bytes may lie in two rows of {1 << self.log}")
        return terms.add(address, terms.shr(address, terms.const(self.log, 32)), self.pad)

    def size(self, size: int) -> int:
        """Bytes of all rows but for what lies after the last one."""
        return size + (size - 1 >> self.log) * self.pad


def candidates(original: Kernel, rewritten: Kernel) -> Iterator[Rows]:
    """The rows that the sizes of two kernels' LDS allow; none where they are the same."""
    old, new = (_size(kernel) for kernel in (original, rewritten))
    if not old or not new or new <= old or any(a.kind in _DYNAMIC for _, a in metadata.arguments(original)):
        return
    for log in _LOGS:
        pad, rest = divmod(new - old, max(old - 1 >> log, 1))
        if not rest and not pad % 4 and Rows(log, pad).size(old) == new:
            yield Rows(log, pad)


def _size(kernel: Kernel) -> int:
    """The bytes of LDS that a kernel declares; 0 where its metadata say another number."""
    size = kernel.number(SIZE) or 0
    return size if metadata.number(kernel, f".{SIZE}") in (size, None) else 0
