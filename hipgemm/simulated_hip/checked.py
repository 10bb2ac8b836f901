"""The simulated card under the sanitizer: each launch is checked, and what is found is said once.

A HIP program writes device memory in many ways, and the runtime just copies. To know what was never written, new memory
is filled with 16 random bytes over and over: where these are unchanged at a launch, nothing was written.
"""

from __future__ import annotations

import ctypes
import os
from collections.abc import Callable, Iterator
from typing import Any

from isa.sanitize import observe
from isa.sim.run.card import Card, CompiledKernel, LaunchReport
from isa.sim.run.memory import Allocation, DeviceMemory

Triple = tuple[int, int, int]
_UNIT = 16


class _MarkedMemory(DeviceMemory):
    """Memory that knows which of its bytes were never written, by 16."""

    def __init__(self, capacity: int) -> None:
        super().__init__(capacity)
        self._mark = os.urandom(_UNIT)

    def allocate(self, size: int) -> int:
        address = super().allocate(size)
        piece = self._mark * (1 << 12)
        for at in range(0, size, len(piece)):
            ctypes.memmove(address + at, piece, min(len(piece), size - at))
        return address

    def unwritten(self) -> Iterator[tuple[int, int]]:
        """(address, bytes) of each run."""
        import numpy as np

        for a in self.allocations:
            units = a.size // _UNIT
            if not units:
                continue
            words = np.ctypeslib.as_array((ctypes.c_uint64 * (2 * units)).from_address(a.base))
            low, high = np.frombuffer(self._mark, np.uint64)
            clean = np.zeros(units + 2, np.bool_)
            clean[1:-1] = (words[::2] == low) & (words[1::2] == high)
            edges = np.flatnonzero(clean[1:] != clean[:-1])
            for first, last in edges.reshape(-1, 2).tolist():
                yield a.base + first * _UNIT, self._end(a, last * _UNIT) - first * _UNIT

    def _end(self, a: Allocation, end: int) -> int:
        """A run that reaches the last whole unit reaches the end, if the rest is marked too."""
        rest = a.size - end
        whole = 0 < rest < _UNIT and ctypes.string_at(a.base + end, rest) == self._mark[:rest]
        return a.size if whole else end


class CheckedCard(Card):
    """As the simulator's card, without a clock. say: called with each new finding; fault: called for each that is a
    fault; `faults`: how many there were."""

    def __init__(self, say: Callable[[str], None], fault: Callable[[], None] = lambda: None) -> None:
        super().__init__()
        self.memory: _MarkedMemory = _MarkedMemory(self.memory.capacity)
        self._say, self._fault = say, fault
        self._said: set[str] = set()
        self.faults = 0

    def launch(
        self, kernel: CompiledKernel, grid: Triple, block: Triple, kernarg: bytes, dynamic_lds: int = 0, **options: Any
    ) -> LaunchReport:
        """As `Card.launch`, in several schedules."""
        unwritten = list(self.memory.unwritten())
        seen = observe(self, kernel, grid, block, kernarg, dynamic_lds, unwritten=unwritten, **options)
        for finding in seen.findings:
            if str(finding) not in self._said:
                self._said.add(str(finding))
                if finding.severity == "fault":
                    self.faults += 1
                    self._fault()
                self._say(str(finding))
        if seen.stopped is not None:
            raise seen.stopped
        assert seen.report is not None
        return seen.report
