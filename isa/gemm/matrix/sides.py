"""One operand of a matrix-unit GEMM kernel: how it lies in memory and in LDS, and which thread fetches what.

LDS holds *chunks*: 16 bytes of one row of A or column of B, 8 steps of k of 16-bit elements or 16 of bytes, in lines
of `extent` chunks. RDNA3's `v_wmma` takes from each lane 16 steps of k of one row of A, and of one column of B: a
fragment is two `ds_load_b128`, or one, in which consecutive lanes read consecutive chunks. RDNA4's takes half of these
steps from lanes 0 to 15 and half from the others (`split`): a fragment is one `ds_load_b128`, in which the halves of a
wave read two lines. Of bytes that is twice as much, two products; which of them has which steps makes no difference to
sums of integers.

**Slots.** Where a row lies in a line of chunks, is its slot. A wave's part of `wave` rows has 16 lanes times `near`
fragments, and lane i of fragment f has row `near * i + f`, slot `16 f + i`: so a lane's columns of C are neighbours in
memory, and one store takes them, as one load takes `near` rows of an operand that lies across. Where a load takes twice
as many, lanes i and i + 8 have them side by side (`paired`): lane i has the rows of place `2 (i % 8) + i / 8`.

**Fetches.** Along k a thread fetches a chunk with one `global_load_b128`. Across (K x M, N x K's opposite) it fetches a
*patch*, `patch` neighbouring rows at each of `steps` steps of k, and turns it around in registers: `patch` pieces of
chunks, a chunk being `pieces` of them. Of the patches that a thread's share can be, one of a single lane's
rows comes first, and of these the one with the most steps.

**Banks.** Lanes that store at a time, 128 bytes of them, hold pieces of 8 slots side by side. Lanes of different lines
of chunks would meet on one bank: slots are exclusive-ored with a number of the line (`swizzle`), which costs readers an
address of their own for each line, and no LDS.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

FRAGMENT = 16
"""Rows, columns and steps of k of a fragment."""
CHUNK_BYTES = 16
_SLOTS_AT_ONCE = 8


@dataclass(frozen=True)
class MatrixSide:
    """An operand.

    name:    "A" or "B".
    extent:  rows of A or columns of B in the workgroup's tile; wave: in a wave's.
    depth:   steps of k in a K block.
    threads: of the workgroup.
    element: bytes of an element: 2 or 1.
    along_k: consecutive k lie side by side in memory; else consecutive rows of A or columns of B do.
    split:   the halves of a wave hold steps of k of their own.
    """

    name: str
    extent: int
    wave: int
    depth: int
    threads: int
    element: int
    along_k: bool
    split: bool = False

    @property
    def near(self) -> int:
        """Rows that a lane has side by side: the fragments of a wave."""
        return self.wave // FRAGMENT

    @property
    def chunk(self) -> int:
        """Steps of k in a chunk."""
        return CHUNK_BYTES // self.element

    @property
    def fragment_lines(self) -> int:
        """Lines of chunks that a fragment takes."""
        return 2 if self.split else FRAGMENT // self.chunk

    @property
    def lines_at_once(self) -> int:
        """Lines of chunks that a load of LDS reads."""
        return 2 if self.split else 1

    @property
    def fragment_loads(self) -> int:
        """Loads of LDS that a fragment takes."""
        return self.fragment_lines // self.lines_at_once

    @property
    def lines(self) -> int:
        """Of chunks, in LDS."""
        return self.depth // self.chunk

    @property
    def pitch(self) -> int:
        """Bytes of LDS from one line to the next."""
        return CHUNK_BYTES * self.extent

    @property
    def bytes(self) -> int:
        return self.lines * self.pitch

    def swizzle(self, line: int) -> int:
        """What slots of a line are exclusive-ored with."""
        return line * self.swizzle_step % _SLOTS_AT_ONCE

    @property
    def swizzle_step(self) -> int:
        return max(1, _SLOTS_AT_ONCE // self.lines)

    @cached_property
    def _patch(self) -> tuple[int, int]:
        """Rows and steps of k that a thread fetches where rows lie side by side; (0, 0) where no numbers do."""
        share, left = divmod(self.lines * self.extent * self.chunk, self.threads)
        found = [(rows, share // rows) for rows in (8, 4, 2) if not left and share % rows == 0]
        fitting = [patch for patch in found if self._fits(*patch)]
        return min(fitting, key=lambda patch: (patch[0] > self.near, -patch[1]), default=(0, 0))

    def _fits(self, rows: int, steps: int) -> bool:
        """Whether a thread may fetch so many rows at each of so many steps of k."""
        return (
            4 <= steps * self.element <= CHUNK_BYTES  # a store
            and self.chunk % steps == 0
            and (self.near % rows == 0 or rows == 2 * self.near)  # of one lane, or of two
            and self.extent // rows % _SLOTS_AT_ONCE == 0
        )

    @property
    def patch(self) -> int:
        """Rows of a patch."""
        return self._patch[0]

    @property
    def steps(self) -> int:
        """Steps of k that a thread fetches at once: along k a chunk's."""
        return self.chunk if self.along_k else self._patch[1]

    @property
    def pieces(self) -> int:
        """Of a chunk, which threads fetch and store by themselves."""
        return self.chunk // self.steps

    @property
    def paired(self) -> bool:
        """A patch is the rows of two lanes."""
        return not self.along_k and self.patch > self.near

    @property
    def line_threads(self) -> int:
        """Threads that stand side by side: along k at a row, across at a line's pieces of the same steps."""
        return self.lines if self.along_k else self.extent // self.patch

    @property
    def fetches(self) -> int:
        """Of a thread, for a K block: chunks, or patches."""
        return self.lines * self.extent // self.threads if self.along_k else 1

    @property
    def loads(self) -> int:
        """Groups of a thread's loads for a K block: chunks, or steps of k of a patch."""
        return self.fetches if self.along_k else self.steps

    @property
    def sweeps(self) -> bool:
        """The threads cover the block in whole sweeps."""
        if self.along_k:
            step = self.threads // self.lines
            return self.threads % self.lines == 0 and step % FRAGMENT == 0 and self.extent % step == 0
        return self.patch > 0

    @property
    def registers(self) -> int:
        """VGPRs that a thread fetches into."""
        return 4 * self.fetches if self.along_k else self.steps * self.patch * self.element // 4

    def place(self, lane: int) -> int:
        """Which `near` rows of a wave's part a lane has."""
        return 2 * (lane % 8) + lane // 8 if self.paired else lane

    def row(self, slot: int) -> int:
        """The row of a slot."""
        part, slot = divmod(slot, self.wave)
        return part * self.wave + self.place(slot % FRAGMENT) * self.near + slot // FRAGMENT

    def piece_slot(self, i: int) -> int:
        """How far the slot of a patch's row i is from that of its first."""
        return i % self.near * FRAGMENT + i // self.near * 8

    @property
    def longest_line(self) -> int:
        """The most elements from one line of the matrix to the next: byte offsets within a tile have 32 bits."""
        return 2**32 // (self.element * (self.extent if self.along_k else self.depth)) - 1
