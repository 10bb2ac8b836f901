"""What native code does on a backward branch: see whether the launch was stopped, and count the wave's turn."""

from __future__ import annotations

from isa.sim.ir import Function, Region
from isa.sim.runtime import field_pointer
from isa.sim.state import Stop


def check_budget(f: Function, region: Region, address: int, instructions: int) -> None:
    """Return where the launch was stopped or the turn is over; the wave goes on at the block at `address`."""
    abort_int = f.emit(region, f"load i64, ptr {f.emit(region, field_pointer('C', 'abort'))}")
    abort = f.emit(region, f"inttoptr i64 {abort_int} to ptr")
    flag = f.emit(region, f"load atomic i32, ptr {abort} monotonic, align 4")
    place = f.emit(region, field_pointer("C", "budget"))
    budget = f.emit(region, f"load i64, ptr {place}")
    left = f.emit(region, f"sub i64 {budget}, {instructions}")
    region.line(f"store i64 {left}, ptr {place}")
    spent = f.emit(region, f"icmp slt i64 {left}, 0")
    aborted = f.emit(region, f"icmp ne i32 {flag}, 0")
    stop = f.emit(region, f"or i1 {spent}, {aborted}")
    name = f.name("stop")
    region.line(f"br i1 {stop}, label %{name}, label %{name}.not")
    region.label(name)
    region.line(f"store i32 {address}, ptr {f.emit(region, field_pointer('W', 'pc'))}")
    why = f.emit(region, f"select i1 {spent}, i32 {int(Stop.BUDGET)}, i32 {int(Stop.ABORT)}")
    region.line(f"ret i32 {why}")
    region.label(f"{name}.not")


def end_turn(f: Function, region: Region) -> None:
    """A wave that waits for others lets the host's other threads go first, and gives what is left of its turn back to
    the reserve, so that the workgroup's other waves are next."""
    f.declare("declare i32 @sched_yield()")
    f.emit(region, "call i32 @sched_yield()")
    budget, reserve = (f.emit(region, field_pointer("C", name)) for name in ("budget", "reserve"))
    left = f.emit(region, f"load i64, ptr {budget}")
    more = f.emit(region, f"add i64 {f.emit(region, f'load i64, ptr {reserve}')}, {left}")
    region.line(f"store i64 {more}, ptr {reserve}")
    region.line(f"store i64 0, ptr {budget}")
