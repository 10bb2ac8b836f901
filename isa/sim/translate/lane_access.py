"""Memory accesses of a loop whose addresses have no known pattern: all lanes of a strip are checked at once.

A vector comparison says whether every lane is on and its access lies inside the LDS, or inside the allocation that the
site was in last. If so, the lanes' loads or stores follow each other without a call or a branch, so that the host waits
for several of their cache lines at a time; else they are done lane by lane (`scalar_access`), which finds the
allocation, or the fault. In code that runs once that is as good, and shorter.

Where the addresses are sums of registers as they are when the loop over strips begins, each wave keeps the first one.
From it and from where the next wave of the workgroup was, this time or the time before, follows where that one will
load soon, as waves and iterations lie at constant distances mostly. The host is told to fetch that. Through a buffer's
descriptor, each strip keeps the first address, and the host fetches what is as far ahead as that has moved.
"""

from __future__ import annotations

from collections.abc import Sequence

from isa.semantics.engine import Request
from isa.sim.ir.ir import Function, Region
from isa.sim.ir.llvm_values import LlvmValue, Writer
from isa.sim.ir.runtime import field_pointer
from isa.sim.ir.shuffles import cells_of, columns
from isa.sim.ir.state import Wave, field_offset
from isa.sim.translate import scalar_access
from isa.sim.translate.forms import Form
from isa.sim.translate.guards import Guards, allocation
from isa.sim.translate.scalar_access import Lanes

_SPACES = ("lds", "global")


def suits(at: Request[LlvmValue]) -> bool:
    """Whether `load` and `store` take an access: of whole words, by all lanes as a rule, each with an address of its
    own."""
    return not at.rest and at.address.lanes_ > 0 and at.access.space in _SPACES and at.bytes in (4, 8, 16)


def load(writer: Writer, lanes: Lanes, at: Request[LlvmValue], site: int, ahead: str = "") -> list[LlvmValue]:
    """The element at each lane's address, one vector a word. ahead: how far from there to have the host fetch, too."""
    f, region, n = writer.function, writer.vector, lanes.lanes
    name = _branch(writer, lanes, at, site)
    cells = []
    for lane in range(n):
        place = _place(f, region, at, lane)
        if ahead:
            later = f.emit(region, "getelementptr i8, ptr %s, i64 %s", place, ahead)
            region.lines.append(scalar_access.fetch(f, later))
        cells.append(f.emit(region, f"load <{at.bytes // 4} x i32>, ptr %s, align 1", place))
    near = columns(f, region, cells, at.bytes // 4)
    near_block = region.block
    region.line(f"br label %{name}.end")
    region.label(f"{name}.far")
    rest = scalar_access.load(writer, lanes, at, site)
    far_block = region.block
    region.go_on(f"{name}.end")
    form, (here, there) = f"phi <{n} x i32> [%s, %s], [%s, %s]", (f"%{near_block}", f"%{far_block}")
    pairs = zip(near, rest, strict=True)
    return [LlvmValue(writer, "u32", n, f.emit(region, form, a, here, b.ref, there)) for a, b in pairs]


def distance(f: Function, guards: Guards, form: Form, stream: int, name: str, region: Region) -> None:
    """Write how far from this wave's addresses those of the next wave probably are, as the i64 `name`. form: of the
    addresses; stream: the load's number among those whose addresses waves keep."""

    def value(which: str, field: str, type_: str) -> str:
        return f.emit(region, f"load {type_}, ptr %s", f.emit(region, field_pointer(which, field)))

    now = guards.base(f, region, "0", form, 0)
    at = 8 * stream + field_offset(Wave, "last")
    own = f.emit(region, "getelementptr i8, ptr %s, i64 %s", "%w", at)
    before = f.emit(region, "load i64, ptr %s", own)
    region.line(f"store i64 {now}, ptr {own}")
    number = f.emit(region, "add i32 %s, 1", value("W", "index", "i32"))
    number = f.emit(region, "urem i32 %s, %s", number, value("C", "wave_count", "i32"))
    skip = f.emit(
        region, "mul i64 %s, %s", f.emit(region, "zext i32 %s to i64", number), value("C", "wave_bytes", "i64")
    )
    place = f.emit(region, "add i64 %s, %s", f.emit(region, "add i64 %s, %s", value("C", "waves", "i64"), skip), at)
    other = f.emit(region, "load i64, ptr %s", f.emit(region, "inttoptr i64 %s to ptr", place))
    region.line(f"{name} = sub i64 {other}, {before}")


def moved(writer: Writer, at: Request[LlvmValue], stream: int, strip: str) -> str:
    """How far this strip's first address is from the one that it had the time before: i64. stream: as of `distance`,
    of the first strip; strip: its number."""
    f, region = writer.function, writer.vector
    now = f.emit(region, f"extractelement {at.address.llvm} %s, i32 0", at.address.ref)
    place = f.emit(region, "getelementptr i64, ptr %s, i64 %s", "%w", strip)
    place = f.emit(region, f"getelementptr i8, ptr %s, i64 {8 * stream + field_offset(Wave, 'last')}", place)
    before = f.emit(region, "load i64, ptr %s", place)
    region.line(f"store i64 {now}, ptr {place}")
    return f.emit(region, "sub i64 %s, %s", now, before)


def store(writer: Writer, lanes: Lanes, at: Request[LlvmValue], data: Sequence[LlvmValue], site: int) -> None:
    """The reverse of `load`; where lanes meet at one address the last one's value stays."""
    f, region, n = writer.function, writer.vector, lanes.lanes
    count = at.bytes // 4
    data = [d.vector(n) for d in data]
    name = _branch(writer, lanes, at, site)
    for lane, cell in enumerate(cells_of(f, region, [d.ref for d in data[:count]], n)):
        region.line(f"store <{count} x i32> {cell}, ptr {_place(f, region, at, lane)}, align 1")
    region.line(f"br label %{name}.end")
    region.label(f"{name}.far")
    scalar_access.store(writer, lanes, at, data, site)
    region.go_on(f"{name}.end")


def _branch(writer: Writer, lanes: Lanes, at: Request[LlvmValue], site: int) -> str:
    """Goes to a new block if all lanes are on and inside, to `<name>.far` if not; gives the name."""
    f, region, n = writer.function, writer.vector, lanes.lanes
    address = at.address
    if at.access.space == "lds":
        size, offset, element = f.emit(region, "trunc i64 %s to i32", "%lds.size"), address.ref, "i32"
    else:
        (base, size), element = allocation(f, region, site), "i64"
        offset = f.emit(region, f"sub {address.llvm} %s, %s", address.ref, f.splat(region, element, n, base))
    symbol = f"llvm.usub.sat.{element}"
    f.declare(f"declare {element} @{symbol}({element}, {element})")
    limit = f.emit(region, f"call {element} @{symbol}({element} %s, {element} %s)", size, at.bytes - 1)
    inside = f.emit(region, f"icmp ult {address.llvm} %s, %s", offset, f.splat(region, element, n, limit))
    if at.mask is not None:
        inside = f.emit(region, f"and <{n} x i1> %s, %s", inside, at.mask.ref)
    every = f.emit(region, f"icmp eq i{n} %s, -1", f.emit(region, f"bitcast <{n} x i1> %s to i{n}", inside))
    lanes.first_number()  # both ways may ask for it
    name = f.name("inline")
    region.branch(every, name, f"{name}.far", name)
    return name


def _place(f: Function, region: Region, at: Request[LlvmValue], lane: int) -> str:
    address = f.emit(region, f"extractelement {at.address.llvm} %s, i32 {lane}", at.address.ref)
    if at.access.space == "global":
        return f.emit(region, "inttoptr i64 %s to ptr", address)
    return f.emit(region, "getelementptr i8, ptr %s, i64 %s", "%lds", f.emit(region, "zext i32 %s to i64", address))
