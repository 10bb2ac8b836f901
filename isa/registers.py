"""Registers of gfx11: names -> files and numbers.

A `Reg` is a run of consecutive 32-bit registers of one file:

    file "v"    VGPRs v0..v255, 32 lanes of 32 bit each
    file "s"    the scalar operand space as the hardware numbers it: s0..s105, VCC 106-107, ttmp0..15 108-123,
                NULL 124, M0 125, EXEC 126-127 (RDNA3 ISA guide, 3.2 and table "SSRC encoding")
    file "scc"  the one scalar condition bit

VCC, EXEC, M0 and SCC are registers like any other here, so that liveness and waits need no special case. The VGPR bank
of a register is its number mod 4, its parity the number mod 2 (ISA guide 7.6, "VOPD").
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

SGPR_LIMIT = 106
VGPR_LIMIT = 256
LANES = 32
"""Of a vector register; a wave of 64 has two registers for each."""

_NAMED: dict[str, tuple[str, int, int]] = {
    "vcc": ("s", 106, 2),
    "vcc_lo": ("s", 106, 1),
    "vcc_hi": ("s", 107, 1),
    "null": ("s", 124, 1),
    "m0": ("s", 125, 1),
    "exec": ("s", 126, 2),
    "exec_lo": ("s", 126, 1),
    "exec_hi": ("s", 127, 1),
    "src_scc": ("scc", 0, 1),
    "scc": ("scc", 0, 1),
}
_NAMES = {where: name for name, where in _NAMED.items() if name != "scc"}
_SINGLE = re.compile(r"(v|s|ttmp)([0-9]{1,9})(?:\.([lh]))?$")
_RANGE = re.compile(r"(v|s|ttmp)\[([0-9]{1,9})(?::([0-9]{1,9}))?\]$")
_TTMP_BASE = 108


@dataclass(frozen=True, slots=True, order=True)
class Reg:
    """`count` consecutive registers of `file` from `index`. `half` is "l" or "h" where 16 bits of a VGPR are named."""

    file: str
    index: int
    count: int = 1
    half: str = ""

    def units(self) -> Iterator[Reg]:
        """The single registers of the run, lowest first: the grain of liveness, waits and dependence."""
        if self.count == 1 and not self.half:
            yield self
            return
        for i in range(self.count):
            yield Reg(self.file, self.index + i)

    def sub(self, offset: int, count: int = 1) -> Reg:
        """`count` registers from the `offset`-th of this run."""
        return Reg(self.file, self.index + offset, count)

    @property
    def bank(self) -> int:
        """VGPR bank, 0 to 3."""
        return self.index % 4

    @property
    def parity(self) -> int:
        """0 for an even register number, 1 for an odd one."""
        return self.index % 2

    @property
    def is_vgpr(self) -> bool:
        return self.file == "v"

    @property
    def is_null(self) -> bool:
        """The NULL register: reads as 0, writes vanish."""
        return self.file == "s" and self.index == 124

    def __str__(self) -> str:
        name = _NAMES.get((self.file, self.index, self.count))
        if name:
            return name
        file, index = self.file, self.index
        if file == "s" and _TTMP_BASE <= index < _TTMP_BASE + 16:
            file, index = "ttmp", index - _TTMP_BASE
        if self.count == 1:
            return f"{file}{index}" + (f".{self.half}" if self.half else "")
        return f"{file}[{index}:{index + self.count - 1}]"


def v(index: int, count: int = 1) -> Reg:
    """`count` VGPRs from v`index`."""
    return Reg("v", index, count)


def s(index: int, count: int = 1) -> Reg:
    """`count` SGPRs from s`index`."""
    return Reg("s", index, count)


VCC = Reg("s", 106, 2)
VCC_LO = Reg("s", 106)
NULL = Reg("s", 124)
M0 = Reg("s", 125)
EXEC = Reg("s", 126, 2)
EXEC_LO = Reg("s", 126)
EXEC_HI = Reg("s", 127)
SCC = Reg("scc", 0)


def parse_register(text: str) -> Reg | None:
    """The register that `text` names (`v7`, `v[4:7]`, `s[0:1]`, `vcc_lo`, `v3.h`), or None if it names none."""
    if named := _NAMED.get(text):
        return Reg(*named)
    if m := _SINGLE.match(text):
        file, first, last, half = m[1], int(m[2]), int(m[2]), m[3] or ""
    elif m := _RANGE.match(text):
        file, first, last, half = m[1], int(m[2]), int(m[3] or m[2]), ""
    else:
        return None
    limit = {"v": VGPR_LIMIT, "s": SGPR_LIMIT, "ttmp": 16}[file]
    if not first <= last < limit:
        return None
    if file == "ttmp":
        return Reg("s", _TTMP_BASE + first, last - first + 1)
    return Reg(file, first, last - first + 1, half)
