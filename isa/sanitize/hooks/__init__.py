"""The hooks: what a kernel's code calls between its instructions, in C (`isa.native`), by their names."""

from __future__ import annotations

import ctypes
import functools
import re
from pathlib import Path

from isa import native
from isa.analysis import regset
from isa.registers import EXEC_LO, SCC
from isa.sanitize import state
from isa.sim.ir import state as machine
from isa.sim.ir.jit import define_symbols

_ORDER = "common lanes late bytes registers lds workgroup_order memory scratch time_slice"
FILES = ("hooks.h", *(f"{name}.c" for name in _ORDER.split()))
"""In the order in which they are compiled: each sees those before it."""
FLAGS = (*native.FLAGS, "-O2")
_SHARED = ("LANES", "VGPRS", "TIME_SLICE", "TURN", "PAGE_BYTES", "SHARED_APERTURE", "PRIVATE_APERTURE")
STRUCTURES = (
    machine.Wave, machine.Context, state.Node, state.Shortcut, state.Doubt, state.Row, state.Thread, state.Gap,
    state.Cause, state.Shadow,
)  # fmt: skip


def source() -> str:
    """The whole C text."""
    numbers = {
        **{name: value for name, value in vars(state).items() if name.isupper() and isinstance(value, int)},
        **{name: getattr(machine, name) for name in _SHARED},
        **{event.name: event for event in state.Event},
        **{f"STOP_{stop.name}": stop for stop in machine.Stop},
        **{f"FAULT_{kind.name}": kind for kind in machine.FaultKind},
        "EXEC": EXEC_LO.index,
        "EXEC_UNIT": regset.bit(EXEC_LO),
        "SCC_UNIT": regset.bit(SCC),
    }
    return native.text(native.header(numbers, STRUCTURES), [Path(__file__).with_name(name) for name in FILES])


@functools.cache
def addresses() -> dict[str, int]:
    """Hook -> its address. Code that is loaded from now on finds them by their names."""
    text = source()
    library = native.load("hooks", text, FLAGS)
    names = re.findall(r"^EXPORT \w+ (\w+)\(", text, re.MULTILINE)
    found = {name: ctypes.cast(getattr(library, name), ctypes.c_void_p).value or 0 for name in names}
    define_symbols(found)
    return found
