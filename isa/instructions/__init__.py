"""Every described instruction, by family; importing this package fills `isa.describe.table()`."""

from isa.instructions import control, valu

__all__ = ["control", "valu"]
