"""Where a kernel reads how large its workgroup is: the 16-bit numbers of it that the kernarg segment's hidden arguments
and the dispatch packet hold, after pointers that SGPRs start with.

Sources: LLVM AMDGPUUsage, "Code Object V5 Metadata" (hidden_group_size_x) and "Initial Kernel Execution State"; HSA
Runtime Programmer's Reference Manual, hsa_kernel_dispatch_packet_t.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from isa.object.code_object import Argument
from isa.registers import Reg

_PACKET = ((4, 0), (6, 1), (8, 2))
_SHIFT = 44


@dataclass(frozen=True, slots=True)
class Sizes:
    """pointers: (the SGPR where a pointer begins, (byte offset after it, axis) of each size)."""

    pointers: tuple[tuple[int, tuple[tuple[int, int], ...]], ...] = ()

    def bases(self) -> list[tuple[int, int]]:
        """(SGPR, the address that its pointer is taken to be)."""
        return [(sgpr, number << _SHIFT) for number, (sgpr, _) in enumerate(self.pointers, start=1)]

    def word(self, address: int, workgroup: tuple[int, int, int]) -> tuple[int, int]:
        """(the dword at an address, a mask of its bits that are known)."""
        number, offset = address >> _SHIFT, address & (1 << _SHIFT) - 1
        value = known = 0
        for at, axis in self.pointers[number - 1][1] if 1 <= number <= len(self.pointers) else ():
            for byte in range(2):
                if 0 <= (k := at + byte - offset) < 4:
                    value |= (workgroup[axis] >> 8 * byte & 0xFF) << 8 * k
                    known |= 0xFF << 8 * k
        return value, known

    def within(self, sgpr: int, offset: int, count: int) -> bool:
        """Whether some of `count` bytes at an offset after the pointer that begins in an SGPR is known."""
        fields = dict(self.pointers).get(sgpr, ())
        return any(offset < at + 2 and at < offset + count for at, _ in fields)


NOWHERE = Sizes()
"""The kernel does not ask."""


def of(user: Mapping[str, Reg], arguments: Iterable[Argument]) -> Sizes:
    """From what the descriptor preloads, and the metadata's arguments."""
    prefix = "hidden_group_size_"
    hidden = tuple((a.offset, "xyz".index(a.kind[-1])) for a in arguments if a.kind.startswith(prefix))
    after = {"dispatch_ptr": _PACKET, "kernarg_segment_ptr": hidden}
    return Sizes(tuple((reg.index, after[name]) for name, reg in user.items() if after.get(name)))
