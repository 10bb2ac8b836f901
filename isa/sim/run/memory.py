"""The simulated card's memory: host memory at its own address, in one large reserved arena.

A device address is a host address, so that kernels load and store without translation; what keeps a kernel inside is
the table of allocations, which is searched for each access (`AllocationTable`, by native code) that the access site's
last allocation does not cover.

Allocations are 256-byte aligned, keep their exact size, and lie at least `GUARD` bytes apart, so that an access just
after the end is outside. Freed memory is given back to the host and may be handed out again. Host pages are taken
when they are first touched, which is why a card of 24 GB fits anywhere.
"""

from __future__ import annotations

import bisect
import contextlib
import ctypes
import mmap
from collections.abc import Callable, Iterator
from dataclasses import dataclass

from isa.display import number_of
from isa.errors import IsaError

CAPACITY = 24 << 30
ALIGN = 256
GUARD = 4096
FOR_OTHERS = 1 << 30
"""Bytes of address space that the arena leaves: to LLVM's libraries, what they compile, threads."""
_NORESERVE = 0x4000  # MAP_NORESERVE of Linux; the mmap module names it from Python 3.13 on


class OutOfMemory(IsaError):
    """The card has no room for an allocation."""


@dataclass(frozen=True, slots=True)
class Allocation:
    base: int
    size: int

    @property
    def end(self) -> int:
        return self.base + self.size

    def __str__(self) -> str:
        return f"[{self.base:#x}, {self.end:#x}), {number_of(self.size, 'byte')}"


class AllocationTable:
    """The allocations at one moment, for native code: `count`, then base and size of each by rising base (u64)."""

    def __init__(self, allocations: list[Allocation]) -> None:
        words = [len(allocations)]
        for a in allocations:
            words += (a.base, a.size)
        self._words = (ctypes.c_uint64 * len(words))(*words)
        self.address = ctypes.addressof(self._words)


class DeviceMemory:
    """All allocations of a card. Not for concurrent use; whoever shares a card locks it. A finalizer may free at any
    moment, also in the midst of another call of its thread, as the garbage collector runs it: then that call ends
    first.

    capacity: bytes that may be allocated at a time.
    """

    def __init__(self, capacity: int = CAPACITY) -> None:
        self.capacity = capacity
        self.used = 0
        self._arena, self._reserved = _reserve(capacity + capacity // 8)
        self._start = ctypes.addressof(ctypes.c_char.from_buffer(self._arena))
        self._bases: list[int] = []
        self._sizes: dict[int, int] = {}
        self._foreign: set[int] = set()
        self._table: AllocationTable | None = None
        self._busy = False
        self._late: dict[int, Callable[[int], None]] = {}

    @contextlib.contextmanager
    def _undisturbed(self) -> Iterator[None]:
        """What finalizers give back meanwhile goes afterwards."""
        if self._busy:
            yield
            return
        self._busy = True
        try:
            yield
        finally:
            while self._late:
                address, gives_back = self._late.popitem()
                gives_back(address)
            self._busy = False

    def _give_back(self, address: int, gives_back: Callable[[int], None]) -> None:
        if self._busy:
            self._late[address] = gives_back
        else:
            with self._undisturbed():
                gives_back(address)

    def allocate(self, size: int) -> int:
        """Address of `size` new bytes. Raises OutOfMemory."""
        if size < 0:
            raise IsaError("an allocation cannot have a negative size", got=str(size))
        if self.used + size <= self.capacity:
            room = -(-max(size, 1) // ALIGN) * ALIGN + GUARD
            with self._undisturbed():
                at = self._start + ALIGN
                for base in (b for b in self._bases if b not in self._foreign):
                    if base - at >= room:
                        break
                    at = -(-(base + self._sizes[base]) // ALIGN) * ALIGN + GUARD
                if at + room <= self._start + self._reserved:
                    self._insert(at, size)
                    self.used += size
                    return at
        raise OutOfMemory(
            f"the simulated card has not enough memory for {size} bytes",
            expected=f"at most {self.capacity - self.used} of {self.capacity} bytes",
        )

    def free(self, address: int) -> None:
        """Give back what `allocate` returned; IsaError for any other address."""
        if address not in self._sizes or address in self._foreign or address in self._late:
            raise IsaError(f"{address:#x} is not the start of an allocation", hint="free each allocation once")
        self._give_back(address, self._free)

    def _free(self, address: int) -> None:
        size = self._remove(address)
        self.used -= size
        first = -(-(address - self._start) // mmap.PAGESIZE) * mmap.PAGESIZE
        last = (address - self._start + size) // mmap.PAGESIZE * mmap.PAGESIZE
        if last > first and hasattr(self._arena, "madvise"):
            self._arena.madvise(mmap.MADV_DONTNEED, first, last - first)

    def register(self, address: int, size: int) -> None:
        """Let kernels reach `size` bytes of the host's own memory. The caller keeps them alive."""
        with self._undisturbed():
            near = self.nearest(address)
            if self.find(address) or (near and address <= near.base < address + size):
                raise IsaError(f"{address:#x} overlaps an allocation", got=str(near))
            self._insert(address, size)
            self._foreign.add(address)

    def unregister(self, address: int) -> None:
        """Undo `register`."""
        if address not in self._foreign or address in self._late:
            raise IsaError(f"{address:#x} was not registered")
        self._give_back(address, self._unregister)

    def _unregister(self, address: int) -> None:
        self._foreign.remove(address)
        self._remove(address)

    def find(self, address: int) -> tuple[int, int] | None:
        """(base, size) of the allocation that holds this address, or None."""
        with self._undisturbed():
            i = bisect.bisect_right(self._bases, address) - 1
            if i >= 0 and address < self._bases[i] + self._sizes[self._bases[i]]:
                return self._bases[i], self._sizes[self._bases[i]]
        return None

    def owns(self, address: int) -> bool:
        """Whether the address lies where only the card's memory lies, allocated or not."""
        return self._start <= address < self._start + self._reserved

    def nearest(self, address: int, but: int | None = None) -> Allocation | None:
        """The allocation that an address probably meant; None where there are none. but: the base of one that nothing
        means."""
        with self._undisturbed():
            bases = [base for base in self._bases if base != but]
            i = bisect.bisect_right(bases, address)
            near = [Allocation(b, self._sizes[b]) for b in bases[max(0, i - 1) : i + 1]]
        return min(near, key=lambda a: max(a.base - address, address - a.end), default=None)

    @property
    def allocations(self) -> list[Allocation]:
        """By rising address."""
        with self._undisturbed():
            return [Allocation(b, self._sizes[b]) for b in self._bases]

    @property
    def table(self) -> AllocationTable:
        """The allocations as they are now. Whoever uses it keeps it, so that later changes do not reach it."""
        with self._undisturbed():
            if self._table is None:
                self._table = AllocationTable(self.allocations)
            return self._table

    def _insert(self, base: int, size: int) -> None:
        bisect.insort(self._bases, base)
        self._sizes[base] = size
        self._table = None

    def _remove(self, base: int) -> int:
        self._bases.remove(base)
        self._table = None
        return self._sizes.pop(base)


def _no_room() -> OutOfMemory:
    return OutOfMemory(
        "the host has no address space for a simulated card", expected=f"{(FOR_OTHERS >> 20) + 64} MiB at least",
        hint="raise the limit: ulimit -v",
    )  # fmt: skip


def _reserve(size: int) -> tuple[mmap.mmap, int]:
    """Address space without memory after it; less of it where the host limits address space."""
    size = -(-size // mmap.PAGESIZE) * mmap.PAGESIZE
    flags = mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS | _NORESERVE
    try:
        others = mmap.mmap(-1, FOR_OTHERS, flags=flags)
    except (OSError, ValueError):
        raise _no_room() from None
    while True:
        try:
            arena = mmap.mmap(-1, size, flags=flags, prot=mmap.PROT_READ | mmap.PROT_WRITE)
            break
        except (OSError, ValueError):
            if size <= 1 << 26:
                raise _no_room() from None
            size //= 2
    others.close()
    if hasattr(mmap, "MADV_HUGEPAGE"):
        with contextlib.suppress(OSError):  # a host without transparent huge pages: slower, not wrong
            arena.madvise(mmap.MADV_HUGEPAGE)
    return arena, size
