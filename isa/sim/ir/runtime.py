"""The part of native code that is the same for every kernel: checked addresses (resolve.ll) and the loop that takes
workgroups from a shared counter and runs their waves between barriers (workgroups.ll).

Both are IR with these short forms, which are written out here:

    {NUMBER}                a number that Python and native code share
    {C.field}, {W.field}    computes the address of a field of the context %c or of the wave %w
    %x = load i32 {C.x}     the field's value; %x.ptr is where it lies
    %x = pointer {C.x}      a pointer that the field holds as a number; %x.ptr is where it lies
"""

from __future__ import annotations

import ctypes
import re
from pathlib import Path

from isa.registers import LANES
from isa.sim.ir.state import (
    PAGE_BYTES,
    PRIVATE_APERTURE,
    SHARED_APERTURE,
    SINK_BYTES,
    TIME_SLICE,
    TURN,
    VGPRS,
    Context,
    FaultKind,
    Stop,
    Wave,
)

_SHORT = {
    r"%(\S+) = load (i\d+) (\{.*)": r"%\1.ptr = \3\n  %\1 = load \2, ptr %\1.ptr",
    r"%(\S+) = pointer (\{.*)": r"%\1.ptr = \2\n  %\1.int = load i64, ptr %\1.ptr\n  %\1 = inttoptr i64 %\1.int to ptr",
}
_DECLARATIONS = """
declare void @llvm.memset.p0.i64(ptr, i8, i64, i1)
declare void @llvm.memcpy.p0.p0.i64(ptr, ptr, i64, i1)
"""


def parts(file: Path) -> dict[str, str]:
    """The parts of a file of IR, each below a line `;; NAME`."""
    _, *found = re.split(r"^;; (\w+)\n", file.read_text(), flags=re.M)
    return {name: text.rstrip("\n") for name, text in zip(found[::2], found[1::2], strict=True)}


def _resolve() -> str:
    """Checked addresses in every space."""
    ir = parts(Path(__file__).with_name("resolve.ll"))

    def memory(name: str, before: str, good: str) -> str:
        """Of memory. good: IR that decides; before: what it computes once."""
        return ir["memory"].replace("%NAME", name).replace("%BEFORE", before).replace("%GOOD", good)

    def within(space: str, base: str, before: str) -> str:
        """Of a space of so many bytes, `before` times which lies before it from the base."""
        text = ir["within"].replace("%SPACE", space).replace("%KIND", space.upper())
        return text.replace("%BASE", base).replace("%BEFORE", before)

    of_memory = memory("global", "", "\n" + ir["whole"]), memory("scalar", "\n" + ir["half"], "\n" + ir["widened"])
    within_wave = within("lds", "C.lds", "0"), within("scratch", "W.scratch", "%lane")
    return "\n\n".join([ir["find_and_fault"], *of_memory, ir["flat"], *within_wave])


def runtime_text(strip: int, zeroed: int) -> str:
    """The runtime's IR for waves whose VGPRs lie in strips of so many lanes. zeroed: how many of them begin with 0."""
    numbers = {
        "SINK": SINK_BYTES, "VGPRS": VGPRS, "STRIPS": LANES // strip, "LANE_BYTES": 4 * strip,
        "ZEROED_BYTES": 4 * strip * zeroed, "TIME_SLICE": TIME_SLICE, "TURN": TURN,
        "DONE": Wave.done.offset, "IN_PAGE": PAGE_BYTES - 1,
        "SHARED": SHARED_APERTURE, "PRIVATE": PRIVATE_APERTURE,
        **{s.name: int(s) for s in Stop},
        **{k.name: int(k) for k in FaultKind},
    }  # fmt: skip
    workgroups = Path(__file__).with_name("workgroups.ll").read_text()
    text = re.sub(r"\{([A-Z_]+)\}", lambda m: str(numbers[m[1]]), "\n".join([_resolve(), workgroups, _DECLARATIONS]))
    for short, long in _SHORT.items():
        text = re.sub(short, long, text)
    return re.sub(r"\{([CW])\.(\w+)\}", lambda m: field_pointer(m[1], m[2]), text)


def field_pointer(which: str, name: str) -> str:
    """IR that computes the address of a field of the context %c or of the wave %w."""
    struct: type[ctypes.Structure] = {"C": Context, "W": Wave}[which]
    return f"getelementptr i8, ptr %{which.lower()}, i64 {getattr(struct, name).offset}"
