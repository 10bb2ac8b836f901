"""What texts index: MEM[address], VGPR[lane][number], SGPR[number] and HW_REGISTERS[number]."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from pcode.operands import buffer_place
from pcode.values import Value

if TYPE_CHECKING:
    from pcode.machine import Machine

SHARED, PRIVATE = 0x10000000, 0x20000000
"""High halves of flat addresses that mean LDS and scratch: the simulated card's choice."""


class Memory:
    """MEM[address]: LDS, global memory or scratch, as the instruction says and, of FLAT, the address."""

    depth = 1

    def __init__(self, machine: Machine) -> None:
        self.machine = machine
        self.space = machine.inst.mnemonic.split("_")[0]

    def _address(self, at: int, bits: int) -> int | None:
        """None where it is out of a buffer's range: loads give 0 there, stores do nothing (ISA guide 9.1.5)."""
        access = self.machine.inst.desc.access
        return buffer_place(self.machine)(at, bits) if access is not None and access.buffer else at

    def _place(self, address: int) -> tuple[str, bytearray, int]:
        after, space = self.machine.after, self.space
        high = address >> 32
        if space == "flat" and high in (SHARED, PRIVATE):
            space, address = ("ds" if high == SHARED else "scratch"), address & 0xFFFFFFFF
        if space == "ds":
            return "lds", after.lds, address
        if space == "scratch":
            return "scratch", after.scratch[self.machine.lane], address & 0xFFFFFFFF
        return "memory", after.memory, address - after.base

    def load(self, at: Sequence[int], bits: int) -> Value:
        address = self._address(at[0], bits)
        if address is None:
            return Value("B", bits, 0)
        name, data, first = self._place(address)
        assert 0 <= first <= len(data) - bits // 8, f"the text reads at {at[0]:#x}"
        owner = self._owner(name)
        loose = tuple(
            (8 * (at - first) + bit, form)
            for (file, at, lane, bit), form in self.machine.after.loose.items()
            if file == name and lane == owner and first <= at and 8 * (at - first) + bit + form.width <= bits
        )
        return Value("B", bits, int.from_bytes(data[first : first + bits // 8], "little"), loose)

    def _owner(self, name: str) -> int:
        return self.machine.lane if name == "scratch" else 0

    def store(self, at: Sequence[int], bits: int, new: Value) -> None:
        address = self._address(at[0], bits)
        if address is None:
            return
        name, data, first = self._place(address)
        assert 0 <= first <= len(data) - bits // 8, f"the text writes at {at[0]:#x}"
        data[first : first + bits // 8] = new.bits.to_bytes(bits // 8, "little")
        loose, owner = self.machine.after.loose, self._owner(name)
        for key in [k for k in loose if k[0] == name and k[2] == owner and first <= k[1] < first + bits // 8]:
            del loose[key]
        loose |= {(name, first, owner, bit): form for bit, form in new.loose}


class Registers:
    """VGPR[lane][number] and SGPR[number]: read from the state before, written to the state after."""

    def __init__(self, machine: Machine, file: str) -> None:
        self.machine, self.file = machine, file
        self.depth = 2 if file == "v" else 1

    def load(self, at: Sequence[int], bits: int) -> Value:
        before, number = self.machine.before, at[-1]
        words = [
            before.vgprs[number + i, at[0]] if self.file == "v" else before.sgprs[number + i] for i in range(bits // 32)
        ]
        return Value("B", bits, sum(int(w) << 32 * i for i, w in enumerate(words)))

    def store(self, at: Sequence[int], bits: int, new: Value) -> None:
        after, number = self.machine.after, at[-1]
        for i in range(bits // 32):
            word = new.bits >> 32 * i & 0xFFFFFFFF
            if self.file == "v":
                after.vgprs[number + i, at[0]] = word
                after.loose |= {("v", number, at[0], bit): form for bit, form in new.loose}
            else:
                after.sgprs[number + i] = word


class Mode:
    """HW_REGISTERS[1], the MODE register."""

    depth = 1

    def __init__(self, machine: Machine) -> None:
        self.machine = machine

    def load(self, at: Sequence[int], bits: int) -> Value:
        assert at[0] == 1
        return Value("B", 32, self.machine.before.mode)

    def store(self, at: Sequence[int], bits: int, new: Value) -> None:
        assert at[0] == 1
        self.machine.after.mode = new.bits
