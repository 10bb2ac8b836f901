"""Unsupported GPUs: the names of other targets, so that the error for their code names them.

`MACHINES` are EF_AMDGPU_MACH of LLVM's AMDGPUUsage, "AMDGPU ELF Header e_flags"; `INSTRUCTIONS` are beginnings of
mnemonics that no supported target has, and who has them, as LLVM 22's assembler takes them.
"""

from __future__ import annotations

import re

MACHINES = {
    0x20: "gfx600", 0x21: "gfx601", 0x22: "gfx700", 0x23: "gfx701", 0x24: "gfx702", 0x25: "gfx703", 0x26: "gfx704",
    0x28: "gfx801", 0x29: "gfx802", 0x2A: "gfx803", 0x2B: "gfx810", 0x2C: "gfx900", 0x2D: "gfx902", 0x2E: "gfx904",
    0x2F: "gfx906", 0x30: "gfx908", 0x31: "gfx909", 0x32: "gfx90c", 0x33: "gfx1010", 0x34: "gfx1011", 0x35: "gfx1012",
    0x36: "gfx1030", 0x37: "gfx1031", 0x38: "gfx1032", 0x39: "gfx1033", 0x3A: "gfx602", 0x3B: "gfx705", 0x3C: "gfx805",
    0x3D: "gfx1035", 0x3E: "gfx1034", 0x3F: "gfx90a", 0x40: "gfx940", 0x42: "gfx1013", 0x45: "gfx1036",
    0x49: "gfx1250", 0x4B: "gfx941", 0x4C: "gfx942", 0x4F: "gfx950", 0x51: "gfx9-generic",
    0x52: "gfx10-1-generic", 0x53: "gfx10-3-generic", 0x5A: "gfx1251",
    0x5F: "gfx9-4-generic",
}  # fmt: skip

_GENERATIONS = (
    ("gfx(6|7|8)", "GCN"),
    ("gfx(908|90a|94|95|9-4)", "CDNA"),
    ("gfx9", "Vega"),
    ("gfx(101|10-1)", "RDNA1"),
    ("gfx(103|10-3)", "RDNA2"),
    ("gfx125", "after RDNA4"),
    ("gfx12", "RDNA4"),
)

INSTRUCTIONS = (
    (r"v_(mfma|smfmac|accvgpr)_", "gfx908 and later CDNA"),
    (r"v_(lshl_add_u64|pk_(fma|mul|add)_f32|pk_mov_b32)", "gfx90a and later CDNA"),
    (r"v_(mac|madmk|madak|mad)_f(16|32)|s_mem(real)?time|s_dcache_wb", "gfx906 and others before gfx11"),
    (r"v_(addc|subb|subbrev)_co_u32", "gfx906 and others of gfx9"),
)


def generation(name: str) -> str:
    """What AMD calls the generation of a target, "" where it is not known."""
    return next((word for start, word in _GENERATIONS if re.match(start, name)), "")


def who_has(mnemonic: str) -> str:
    """Which targets have an instruction that no supported one has; "" where that is not known."""
    return next((who for start, who in INSTRUCTIONS if re.match(start, mnemonic)), "")
