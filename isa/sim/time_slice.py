"""What native code does on a backward branch: see whether the launch was stopped, and count the wave's time slice."""

from __future__ import annotations

from isa.sim.ir import Function, Region
from isa.sim.runtime import field_pointer
from isa.sim.state import Stop


def check_budget(f: Function, region: Region, address: int, instructions: int) -> None:
    """Return where the launch was stopped or the time slice is over; the wave goes on at the block at `address`."""
    abort_int = f.emit(region, "load i64, ptr %s", f.emit(region, field_pointer("C", "abort")))
    abort = f.emit(region, "inttoptr i64 %s to ptr", abort_int)
    flag = f.emit(region, "load atomic i32, ptr %s monotonic, align 4", abort)
    place = f.emit(region, field_pointer("C", "budget"))
    budget = f.emit(region, "load i64, ptr %s", place)
    left = f.emit(region, "sub i64 %s, %s", budget, instructions)
    region.line(f"store i64 {left}, ptr {place}")
    spent = f.emit(region, "icmp slt i64 %s, 0", left)
    aborted = f.emit(region, "icmp ne i32 %s, 0", flag)
    stop = f.emit(region, "or i1 %s, %s", spent, aborted)
    name = f.name("stop")
    region.line(f"br i1 {stop}, label %{name}, label %{name}.not")
    region.label(name)
    region.line(f"store i32 {address}, ptr {f.emit(region, field_pointer('W', 'pc'))}")
    why = f.emit(region, "select i1 %s, i32 %s, i32 %s", spent, int(Stop.BUDGET), int(Stop.ABORT))
    region.line(f"ret i32 {why}")
    region.label(f"{name}.not")


def leave_if_stopped(f: Function, region: Region) -> None:
    """For a loop that waits: the host's other threads go first; return where the launch was stopped."""
    f.declare("declare i32 @sched_yield()")
    f.emit(region, "call i32 @sched_yield()")
    abort_int = f.emit(region, "load i64, ptr %s", f.emit(region, field_pointer("C", "abort")))
    flag = f.emit(
        region, "load atomic i32, ptr %s monotonic, align 4", f.emit(region, "inttoptr i64 %s to ptr", abort_int)
    )
    stopped, name = f.emit(region, "icmp ne i32 %s, 0", flag), f.name("stopped")
    region.line(f"br i1 {stopped}, label %{name}, label %{name}.not")
    region.label(name)
    region.line(f"ret i32 {int(Stop.ABORT)}")
    region.label(f"{name}.not")


def yield_slice(f: Function, region: Region) -> None:
    """A wave that waits for others lets the host's other threads go first, and gives what is left of its slice back to
    the reserve, so that the workgroup's other waves are next."""
    f.declare("declare i32 @sched_yield()")
    f.emit(region, "call i32 @sched_yield()")
    budget, reserve = (f.emit(region, field_pointer("C", name)) for name in ("budget", "reserve"))
    left = f.emit(region, "load i64, ptr %s", budget)
    more = f.emit(region, "add i64 %s, %s", f.emit(region, "load i64, ptr %s", reserve), left)
    region.line(f"store i64 {more}, ptr {reserve}")
    region.line(f"store i64 0, ptr {budget}")
