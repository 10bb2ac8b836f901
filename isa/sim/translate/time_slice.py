"""Time slices: code for backward branches that sees whether the launch was stopped, counts the wave's time slice, and
in a loop that waits lets others go first where it found nothing new.

An iteration of such a loop keeps a digest of what it read (`look`). Where that is what the iteration before read, the
wave waits: it leaves (`Stop.WAITS`), and its workgroup's other waves run, and then other workgroups
(`isa.sim.run.turns`). A loop that finds something new each time, as one that takes work from a counter, goes on.
"""

from __future__ import annotations

from isa.registers import LANES
from isa.sim.ir.ir import Function, Region
from isa.sim.ir.runtime import field_pointer
from isa.sim.ir.state import Stop

_FACTOR = 0x5851F42D4C957F2D


def check_budget(f: Function, region: Region, address: int, instructions: int) -> None:
    """Return where the launch was stopped or the time slice is over; the wave goes on at the block at `address`."""
    abort_int = f.emit(region, "load i64, ptr %s", f.emit(region, field_pointer("C", "abort")))
    abort = f.emit(region, "inttoptr i64 %s to ptr", abort_int)
    flag = f.emit(region, "load atomic i32, ptr %s monotonic, align 4", abort)
    spent = f.emit(region, "icmp slt i64 %s, 0", _spend(f, region, instructions))
    aborted = f.emit(region, "icmp ne i32 %s, 0", flag)
    stop = f.emit(region, "or i1 %s, %s", spent, aborted)
    name = f.name("stop")
    region.branch(stop, name, f"{name}.not", name)
    leave(f, region, address, f.emit(region, "select i1 %s, i32 %s, i32 %s", spent, int(Stop.BUDGET), int(Stop.ABORT)))
    region.label(f"{name}.not")


def look(f: Function, region: Region, vector: str) -> None:
    """Add what a loop that waits has read, all lanes (u32) of a register, to the digest of the iteration."""
    n = LANES
    f.declare(f"declare i32 @llvm.vector.reduce.add.v{n}i32(<{n} x i32>)")
    odd = "<" + ", ".join(f"i32 {2654435761 * (2 * lane + 1) % (1 << 32)}" for lane in range(n)) + ">"
    high = f.emit(region, f"lshr <{n} x i32> %s, %s", vector, f.splat(region, "i32", n, "15"))
    mixed = f.emit(region, f"mul <{n} x i32> %s, {odd}", f.emit(region, f"xor <{n} x i32> %s, %s", vector, high))
    total = f.emit(region, f"call i32 @llvm.vector.reduce.add.v{n}i32(<{n} x i32> %s)", mixed)
    place = f.emit(region, field_pointer("W", "look"))
    old = f.emit(region, "add i64 %s, 1", f.emit(region, "load i64, ptr %s", place))
    turned = f.emit(region, "mul i64 %s, %s", old, _FACTOR)
    new = f.emit(region, "xor i64 %s, %s", turned, f.emit(region, "zext i32 %s to i64", total))
    region.line(f"store i64 {f.emit(region, 'or i64 %s, %s', new, 1)}, ptr {place}")


def looks_at(f: Function, region: Region, site: int, lanes: int, addresses: str, first: str) -> None:
    """Keep where a loop that waits looks: the addresses (u64) of a strip of lanes, and the first one's number."""
    region.line(f"store i32 {site}, ptr {f.emit(region, field_pointer('C', 'look_site'))}")
    table = f.emit(region, field_pointer("C", "looked"))
    place = f.emit(region, "getelementptr i64, ptr %s, i32 %s", table, first)
    region.line(f"store <{lanes} x i64> {addresses}, ptr {place}, align 8")


def wait_turn(f: Function, region: Region, address: int, instructions: int, *, looks: bool) -> None:
    """At the end of an iteration of a loop that waits: leave if it found what it had found before; the wave goes on at
    the block at `address`. looks: whether it reads memory; one that only sleeps waits each time."""
    seen, before = (f.emit(region, field_pointer("W", name)) for name in ("look", "before"))
    name = f.name("waits")
    if looks:
        now, then = (f.emit(region, "load i64, ptr %s", place) for place in (seen, before))
        region.line(f"store i64 0, ptr {seen}")
        looked = f.emit(region, "icmp ne i64 %s, 0", now)
        region.branch(looked, f"{name}.looked", f"{name}.not", f"{name}.looked")
        region.line(f"store i64 {now}, ptr {before}")
        same = f.emit(region, "icmp eq i64 %s, %s", now, then)
        region.branch(same, name, f"{name}.new", f"{name}.new")
        progress = f.emit(region, field_pointer("C", "progress"))
        more = f.emit(region, "add i64 %s, 1", f.emit(region, "load i64, ptr %s", progress))
        region.line(f"store i64 {more}, ptr {progress}")
        region.line(f"br label %{name}.not")
    else:
        region.line(f"br label %{name}")
    region.label(name)
    _spend(f, region, instructions)
    leave(f, region, address, int(Stop.WAITS))
    region.label(f"{name}.not")


def _spend(f: Function, region: Region, instructions: int) -> str:
    """Take so many from the wave's time slice; what is left."""
    place = f.emit(region, field_pointer("C", "budget"))
    left = f.emit(region, "sub i64 %s, %s", f.emit(region, "load i64, ptr %s", place), instructions)
    region.line(f"store i64 {left}, ptr {place}")
    return left


def leave(f: Function, region: Region, address: int, stop: int | str) -> None:
    """The wave stops for this reason, a `Stop`, and goes on at the block at `address`."""
    region.line(f"store i32 {address}, ptr {f.emit(region, field_pointer('W', 'pc'))}")
    region.line(f"ret i32 {stop}")
