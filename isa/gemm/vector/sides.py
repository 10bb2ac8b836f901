"""One operand of a GEMM kernel: how it lies in memory, how the threads of a workgroup fetch its part of a K block, and
how it lies in LDS.

    A, rows x depth of it           B, depth x columns of it
    M x K: along k                  N x K: along k
    K x M: across                   K x N: across

A *line* is what lies side by side in memory: along k, the K block's `depth` elements of one row of A (column of B);
across, `extent` neighbours at one k. A thread fetches `width` elements of a line at once; as many threads as a line
takes stand side by side, the others at further lines, and all threads together *sweep* over the block.

In LDS both operands are laid out alike, so that the main loop knows nothing of all this: `depth` rows of `extent`
elements. What was fetched along k is scattered into `width` of these rows, element by element. Padding puts what the
lanes of a wave store at once on different banks.
"""

from __future__ import annotations

import functools
from dataclasses import dataclass
from functools import cached_property

from isa.gemm.text import is_power_of_two
from isa.registers import LANES

_LDS_BANKS = 32


@dataclass(frozen=True)
class Side:
    """An operand.

    name:    "A" or "B".
    extent:  rows of A or columns of B in the workgroup's tile.
    depth:   steps of k in a K block.
    threads: of the workgroup.
    along_k: consecutive k lie side by side in memory; else consecutive rows of A or columns of B do.
    width:   elements that a thread fetches at once.
    """

    name: str
    extent: int
    depth: int
    threads: int
    along_k: bool
    width: int = 1

    @property
    def line(self) -> int:
        """Elements of a line."""
        return self.depth if self.along_k else self.extent

    @property
    def line_threads(self) -> int:
        """Threads that a line takes. More than there are: they fetch it in parts."""
        return self.line // self.width

    @property
    def sweeps(self) -> bool:
        """The threads cover the block in whole sweeps, each thread once: else there is no such kernel."""
        if self.threads % self.line_threads == 0:
            lines = self.extent if self.along_k else self.depth
            return is_power_of_two(self.line_threads) and lines % (self.threads // self.line_threads) == 0
        return not self.along_k and self.line_threads % self.threads == 0

    @cached_property
    def fetches(self) -> tuple[tuple[int, int], ...]:
        """(k, row of A or column of B) of the first element of each fetch of thread 0 for a K block; `thread_place`
        says where the others stand beside it."""
        lines = max(1, self.threads // self.line_threads)
        if self.along_k:
            return tuple((0, x) for x in range(0, self.extent, lines))
        step = self.threads * self.width
        return tuple((k, x) for x in range(0, max(self.extent, step), step) for k in range(0, self.depth, lines))

    @property
    def ragged(self) -> bool:
        """Whether a fetch may reach over the edge of the matrix: then its elements are fetched one by one."""
        return not self.along_k and self.width > 1

    @cached_property
    def parts(self) -> tuple[int, ...]:
        """The rows or columns at which thread 0 fetches."""
        return tuple(sorted({x for _, x in self.fetches}))

    def thread_place(self, thread: int) -> tuple[int, int]:
        """(k, row of A or column of B) of a thread after thread 0."""
        line, part = divmod(thread, self.line_threads)
        return (part * self.width, line) if self.along_k else (line, part * self.width)

    @property
    def store_width(self) -> int:
        """Elements that one store to LDS takes."""
        return 1 if self.along_k else self.width

    @cached_property
    def pitch(self) -> int:
        """Bytes of LDS from one k to the next."""
        return 4 * (self.extent + _padding(self))

    @property
    def bytes(self) -> int:
        """Of LDS for a K block."""
        return self.depth * self.pitch

    @property
    def longest_line(self) -> int:
        """The most elements from one line of the matrix to the next: byte offsets within a tile have 32 bits."""
        lines = self.extent if self.along_k else self.depth
        return 2**32 // (4 * lines) - 1


@functools.cache
def _padding(side: Side) -> int:
    """Of whole ds_load_b64, the smallest with the fewest turns. Kept: a search asks for few sides many times."""
    return min(range(0, LANES, 2), key=lambda padding: _turns(side, padding))


def _turns(side: Side, padding: int) -> int:
    """How often lanes of a wave hit one bank with their stores of one dword. Wider stores go along a row."""
    if not side.along_k:
        return 1
    places = (side.thread_place(lane) for lane in range(LANES))
    banks = [(k * (side.extent + padding) + x) % _LDS_BANKS for k, x in places]
    return max(map(banks.count, banks))
