"""The simulated card's memory, where the garbage collector frees in the midst of another call."""

from collections.abc import Callable, Iterator

import pytest

from isa.errors import IsaError
from isa.sim.run.memory import DeviceMemory


class Interrupted(list[int]):
    """Allocations' bases; when they are gone through, somebody does something behind the first."""

    def __init__(self, bases: list[int], does: Callable[[], None]) -> None:
        super().__init__(bases)
        self.does: Callable[[], None] | None = does

    def __iter__(self) -> Iterator[int]:
        for n, base in enumerate(super().__iter__()):
            yield base
            if n == 0 and self.does is not None:
                does, self.does = self.does, None
                does()


@pytest.mark.parametrize("call", ["allocate", "table", "nearest"])
def test_a_finalizer_may_free_in_the_midst_of_a_call(call: str) -> None:
    memory = DeviceMemory(1 << 24)
    first, second, third = (memory.allocate(8192) for _ in range(3))
    memory._bases = Interrupted(memory._bases, lambda: memory.free(first))
    calls = {"allocate": lambda: memory.allocate(8192), "table": lambda: memory.table}
    made = calls.get(call, lambda: memory.nearest(third))()
    kept = [second, third, *([made] if call == "allocate" else [])]
    assert [(a.base, a.size) for a in memory.allocations] == [(base, 8192) for base in sorted(kept)]
    assert memory.used == 8192 * len(kept)
    with pytest.raises(IsaError, match="not the start of an allocation"):
        memory.free(first)
    for base in kept:
        memory.free(base)
    assert memory.allocations == []


def test_what_is_to_be_freed_is_not_freed_twice() -> None:
    memory = DeviceMemory(1 << 24)
    first = memory.allocate(64)
    memory.allocate(64)

    def twice() -> None:
        memory.free(first)
        with pytest.raises(IsaError, match="free each allocation once"):
            memory.free(first)

    memory._bases = Interrupted(memory._bases, twice)
    memory.allocate(64)
    assert len(memory.allocations) == 2
