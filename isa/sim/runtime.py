"""The part of native code that is the same for every kernel: the search of allocations, checked addresses, and the loop
that takes workgroups from a shared counter and runs their waves between barriers.

`resolve_*` turn a simulated address into a host pointer. An address that is outside gives a pointer to the thread's
sink instead and leaves its description in the context (the first one stays); the wave stops at its next check.
"""

from __future__ import annotations

import ctypes
import re

from isa.sim.state import (
    LANES,
    PRIVATE_APERTURE,
    SHARED_APERTURE,
    SINK_BYTES,
    TURN,
    VGPRS,
    Context,
    FaultKind,
    Stop,
    Wave,
)

_TEXT = """
define internal i1 @find(i64 %table.int, i64 %address, ptr %site) noinline {
entry:
  %table = inttoptr i64 %table.int to ptr
  %count = load i64, ptr %table
  br label %search
search:
  %low = phi i64 [0, %entry], [%low2, %step]
  %high = phi i64 [%count, %entry], [%high2, %step]
  %more = icmp ult i64 %low, %high
  br i1 %more, label %step, label %found
step:
  %sum = add i64 %low, %high
  %mid = lshr i64 %sum, 1
  %row = shl i64 %mid, 1
  %place = add i64 %row, 1
  %base.ptr = getelementptr i64, ptr %table, i64 %place
  %base = load i64, ptr %base.ptr
  %right = icmp ule i64 %base, %address
  %next = add i64 %mid, 1
  %low2 = select i1 %right, i64 %next, i64 %low
  %high2 = select i1 %right, i64 %high, i64 %mid
  br label %search
found:
  %none = icmp eq i64 %low, 0
  br i1 %none, label %no, label %candidate
candidate:
  %before = sub i64 %low, 1
  %row.f = shl i64 %before, 1
  %place.f = add i64 %row.f, 1
  %base.f.ptr = getelementptr i64, ptr %table, i64 %place.f
  %base.f = load i64, ptr %base.f.ptr
  %size.f.ptr = getelementptr i64, ptr %base.f.ptr, i64 1
  %size.f = load i64, ptr %size.f.ptr
  %off = sub i64 %address, %base.f
  %inside = icmp ult i64 %off, %size.f
  br i1 %inside, label %yes, label %no
yes:
  store i64 %base.f, ptr %site
  %site.size = getelementptr i64, ptr %site, i64 1
  store i64 %size.f, ptr %site.size
  ret i1 true
no:
  ret i1 false
}

define internal ptr @fault(ptr %w, ptr %c, i32 %kind, i64 %address, i32 %bytes, i32 %site, i32 %lane) noinline cold {
  %sink = {C.sink}
  %old.ptr = {C.fault}
  %old = load i32, ptr %old.ptr
  %first = icmp eq i32 %old, 0
  br i1 %first, label %record, label %done
record:
  store i32 %kind, ptr %old.ptr
  %a = {C.fault_address}
  store i64 %address, ptr %a
  %s = {C.fault_site}
  store i32 %site, ptr %s
  %l = {C.fault_lane}
  store i32 %lane, ptr %l
  %b = {C.fault_bytes}
  store i32 %bytes, ptr %b
  %index.ptr = {W.index}
  %index = load i32, ptr %index.ptr
  %wv = {C.fault_wave}
  store i32 %index, ptr %wv
  call void @llvm.memset.p0.i64(ptr %sink, i8 0, i64 {SINK}, i1 false)
  br label %done
done:
  ret ptr %sink
}

define internal ptr @resolve_global(ptr %w, ptr %c, i64 %address, i32 %bytes, i32 %number, i32 %lane) {
entry:
  %sites.ptr = {C.sites}
  %sites.int = load i64, ptr %sites.ptr
  %sites = inttoptr i64 %sites.int to ptr
  %row = shl i32 %number, 1
  %site = getelementptr i64, ptr %sites, i32 %row
  br label %check
check:
  %again = phi i1 [false, %entry], [true, %search]
  %base = load i64, ptr %site
  %size.ptr = getelementptr i64, ptr %site, i64 1
  %size = load i64, ptr %size.ptr
  %off = sub i64 %address, %base
  %inside = icmp ult i64 %off, %size
  %rest = sub i64 %size, %off
  %wide = zext i32 %bytes to i64
  %enough = icmp uge i64 %rest, %wide
  %good = and i1 %inside, %enough
  br i1 %good, label %yes, label %miss
yes:
  %p = inttoptr i64 %address to ptr
  ret ptr %p
miss:
  br i1 %again, label %no, label %search
search:
  %table.ptr = {C.table}
  %table = load i64, ptr %table.ptr
  %found = call i1 @find(i64 %table, i64 %address, ptr %site)
  br i1 %found, label %check, label %no
no:
  %sink = call ptr @fault(ptr %w, ptr %c, i32 {GLOBAL}, i64 %address, i32 %bytes, i32 %number, i32 %lane)
  ret ptr %sink
}

define internal ptr @resolve_flat(ptr %w, ptr %c, i64 %address, i32 %bytes, i32 %number, i32 %lane) {
  %high = lshr i64 %address, 32
  %low = trunc i64 %address to i32
  switch i64 %high, label %global [ i64 {SHARED}, label %lds
                                    i64 {PRIVATE}, label %scratch ]
global:
  %g = call ptr @resolve_global(ptr %w, ptr %c, i64 %address, i32 %bytes, i32 %number, i32 %lane)
  ret ptr %g
lds:
  %l = call ptr @resolve_lds(ptr %w, ptr %c, i32 %low, i32 %bytes, i32 %number, i32 %lane)
  ret ptr %l
scratch:
  %s = call ptr @resolve_scratch(ptr %w, ptr %c, i32 %low, i32 %bytes, i32 %number, i32 %lane)
  ret ptr %s
}

define internal void @start_group(ptr %c, i64 %number) noinline {
entry:
  %gx.ptr = {C.grid}
  %gx = load i32, ptr %gx.ptr
  %gy.ptr = getelementptr i32, ptr %gx.ptr, i32 1
  %gy = load i32, ptr %gy.ptr
  %panel.ptr = {C.panel}
  %panel = load i32, ptr %panel.ptr
  %gx64 = zext i32 %gx to i64
  %gy64 = zext i32 %gy to i64
  %panel64 = zext i32 %panel to i64
  %plane = mul i64 %gx64, %gy64
  %z64 = udiv i64 %number, %plane
  %flat = urem i64 %number, %plane
  %per = mul i64 %panel64, %gy64
  %which = udiv i64 %flat, %per
  %in = urem i64 %flat, %per
  %first = mul i64 %which, %panel64
  %left = sub i64 %gx64, %first
  %narrow = icmp ult i64 %left, %panel64
  %columns = select i1 %narrow, i64 %left, i64 %panel64
  %y64 = udiv i64 %in, %columns
  %xin = urem i64 %in, %columns
  %x64 = add i64 %first, %xin
  %x = trunc i64 %x64 to i32
  %y = trunc i64 %y64 to i32
  %z = trunc i64 %z64 to i32
  %cx = {C.current}
  store i32 %x, ptr %cx
  %cy = getelementptr i32, ptr %cx, i32 1
  store i32 %y, ptr %cy
  %cz = getelementptr i32, ptr %cx, i32 2
  store i32 %z, ptr %cz
  %idx.ptr = {C.id_sgpr}
  %idx = load i32, ptr %idx.ptr
  %idy.ptr = getelementptr i32, ptr %idx.ptr, i32 1
  %idy = load i32, ptr %idy.ptr
  %idz.ptr = getelementptr i32, ptr %idx.ptr, i32 2
  %idz = load i32, ptr %idz.ptr
  %lds.ptr = {C.lds}
  %lds.int = load i64, ptr %lds.ptr
  %lds = inttoptr i64 %lds.int to ptr
  %lds.size.ptr = {C.lds_bytes}
  %lds.size = load i32, ptr %lds.size.ptr
  %lds.size64 = zext i32 %lds.size to i64
  call void @llvm.memset.p0.i64(ptr %lds, i8 0, i64 %lds.size64, i1 false)
  %count.ptr = {C.wave_count}
  %count = load i32, ptr %count.ptr
  %waves.ptr = {C.waves}
  %waves.int = load i64, ptr %waves.ptr
  %waves = inttoptr i64 %waves.int to ptr
  %bytes.ptr = {C.wave_bytes}
  %bytes = load i64, ptr %bytes.ptr
  %scalars.ptr = {C.scalars}
  %scalars.int = load i64, ptr %scalars.ptr
  %scalars = inttoptr i64 %scalars.int to ptr
  %v0s.ptr = {C.v0}
  %v0s.int = load i64, ptr %v0s.ptr
  %v0s = inttoptr i64 %v0s.int to ptr
  %execs.ptr = {C.execs}
  %execs.int = load i64, ptr %execs.ptr
  %execs = inttoptr i64 %execs.int to ptr
  %start.ptr = {C.entry}
  %start = load i32, ptr %start.ptr
  %vgpr.bytes = sub i64 %bytes, {VGPRS}
  %strip.bytes = udiv i64 %vgpr.bytes, {STRIPS}
  %no.fast.ptr = {C.fast}
  %no.fast = load i64, ptr %no.fast.ptr
  %plain.only = icmp eq i64 %no.fast, 0
  %plain = zext i1 %plain.only to i32
  br label %wave
wave:
  %i = phi i32 [0, %entry], [%i2, %next]
  %i64 = zext i32 %i to i64
  %at = mul i64 %i64, %bytes
  %w = getelementptr i8, ptr %waves, i64 %at
  call void @llvm.memcpy.p0.p0.i64(ptr %w, ptr %scalars, i64 512, i1 false)
  %sx = getelementptr i32, ptr %w, i32 %idx
  store i32 %x, ptr %sx
  %sy = getelementptr i32, ptr %w, i32 %idy
  store i32 %y, ptr %sy
  %sz = getelementptr i32, ptr %w, i32 %idz
  store i32 %z, ptr %sz
  %exec.from = getelementptr i32, ptr %execs, i32 %i
  %exec = load i32, ptr %exec.from
  %exec.to = getelementptr i32, ptr %w, i32 126
  store i32 %exec, ptr %exec.to
  %scc = {W.scc}
  store i32 0, ptr %scc
  %pc = {W.pc}
  store i32 %start, ptr %pc
  %index = {W.index}
  store i32 %i, ptr %index
  %done = {W.done}
  store i32 0, ptr %done
  %bails = {W.bails}
  store i32 0, ptr %bails
  %mode = {W.plain}
  store i32 %plain, ptr %mode
  %v = getelementptr i8, ptr %w, i64 {VGPRS}
  call void @llvm.memset.p0.i64(ptr %v, i8 0, i64 %vgpr.bytes, i1 false)
  %row = mul i32 %i, 32
  %v0 = getelementptr i32, ptr %v0s, i32 %row
  br label %strip
strip:
  %s = phi i64 [0, %wave], [%s2, %strip]
  %skip = mul i64 %s, %strip.bytes
  %to = getelementptr i8, ptr %v, i64 %skip
  %lanes = mul i64 %s, {LANE_BYTES}
  %from = getelementptr i8, ptr %v0, i64 %lanes
  call void @llvm.memcpy.p0.p0.i64(ptr %to, ptr %from, i64 {LANE_BYTES}, i1 false)
  %s2 = add i64 %s, 1
  %all = icmp eq i64 %s2, {STRIPS}
  br i1 %all, label %next, label %strip
next:
  %i2 = add i32 %i, 1
  %last = icmp eq i32 %i2, %count
  br i1 %last, label %out, label %wave
out:
  ret void
}

; A wave until it ends or reaches a barrier, in whichever version it wants to be run.
define internal i32 @run_wave(ptr %w, ptr %c) {
entry:
  %mode.ptr = {W.plain}
  %fast.ptr = {C.fast}
  %plain.ptr = {C.plain}
  br label %again
again:
  %mode = load i32, ptr %mode.ptr
  %is.plain = icmp ne i32 %mode, 0
  br i1 %is.plain, label %get.plain, label %get.fast
get.fast:
  %f = load i64, ptr %fast.ptr
  br label %call
get.plain:
  %p = load i64, ptr %plain.ptr
  %missing = icmp eq i64 %p, 0
  br i1 %missing, label %compile, label %call
compile:
  %need.ptr = {C.need_plain}
  %need.int = load i64, ptr %need.ptr
  %need = inttoptr i64 %need.int to ptr
  %made = call i64 %need()
  store i64 %made, ptr %plain.ptr
  %failed = icmp eq i64 %made, 0
  br i1 %failed, label %give.up, label %call
give.up:
  ret i32 {ABORT}
call:
  %code.int = phi i64 [%f, %get.fast], [%p, %get.plain], [%made, %compile]
  %code = inttoptr i64 %code.int to ptr
  %stop = call i32 %code(ptr %w, ptr %c)
  %switch = icmp eq i32 %stop, {SWITCH}
  br i1 %switch, label %other, label %return
other:
  %mode2 = load i32, ptr %mode.ptr
  %flipped = xor i32 %mode2, 1
  store i32 %flipped, ptr %mode.ptr
  br label %again
return:
  ret i32 %stop
}

; A wave's turn is over: give what the next one takes from the reserve. 0 if nothing is left.
define internal i64 @next_turn(ptr %c) {
  %budget.ptr = {C.budget}
  %budget = load i64, ptr %budget.ptr
  %reserve.ptr = {C.reserve}
  %reserve = load i64, ptr %reserve.ptr
  %some = icmp sgt i64 %reserve, 0
  %whole = icmp sgt i64 %reserve, {TURN}
  %given = select i1 %whole, i64 {TURN}, i64 %reserve
  %taken = select i1 %some, i64 %given, i64 0
  %left = sub i64 %reserve, %taken
  store i64 %left, ptr %reserve.ptr
  %now = add i64 %budget, %taken
  store i64 %now, ptr %budget.ptr
  %wide = zext i1 %some to i64
  ret i64 %wide
}

; Workgroups until there are none left: END, or why it stopped.
define i32 @run(ptr %c) {
entry:
  %counter.ptr = {C.counter}
  %counter.int = load i64, ptr %counter.ptr
  %counter = inttoptr i64 %counter.int to ptr
  %total.ptr = {C.total}
  %total = load i64, ptr %total.ptr
  %abort.ptr = {C.abort}
  %abort.int = load i64, ptr %abort.ptr
  %abort = inttoptr i64 %abort.int to ptr
  %group.ptr = {C.group}
  %waves.ptr = {C.waves}
  %waves.int = load i64, ptr %waves.ptr
  %waves = inttoptr i64 %waves.int to ptr
  %bytes.ptr = {C.wave_bytes}
  %bytes = load i64, ptr %bytes.ptr
  %count.ptr = {C.wave_count}
  %count = load i32, ptr %count.ptr
  br label %group
group:
  %stopped = load atomic i32, ptr %abort monotonic, align 4
  %leave = icmp ne i32 %stopped, 0
  br i1 %leave, label %aborted, label %take
take:
  %g = atomicrmw add ptr %counter, i64 1 monotonic
  %none = icmp uge i64 %g, %total
  br i1 %none, label %finished, label %start
start:
  store i64 %g, ptr %group.ptr
  call void @start_group(ptr %c, i64 %g)
  br label %round
round:
  br label %wave
wave:
  %i = phi i32 [0, %round], [%i2, %next]
  %running = phi i32 [0, %round], [%running2, %next]
  %i64 = zext i32 %i to i64
  %at = mul i64 %i64, %bytes
  %w = getelementptr i8, ptr %waves, i64 %at
  %done.ptr = {W.done}
  %done = load i32, ptr %done.ptr
  %is.done = icmp ne i32 %done, 0
  br i1 %is.done, label %next, label %step
step:
  %stop = call i32 @run_wave(ptr %w, ptr %c)
  switch i32 %stop, label %failed [ i32 {END}, label %ended
                                    i32 {BARRIER}, label %waits
                                    i32 {BUDGET}, label %turn ]
ended:
  store i32 1, ptr %done.ptr
  br label %next
waits:
  store i32 2, ptr %done.ptr
  br label %next
turn:
  %goes.on = call i64 @next_turn(ptr %c)
  %may = icmp ne i64 %goes.on, 0
  %more = add i32 %running, 1
  br i1 %may, label %next, label %failed
next:
  %running2 = phi i32 [%running, %wave], [%running, %ended], [%running, %waits], [%more, %turn]
  %i2 = add i32 %i, 1
  %last = icmp eq i32 %i2, %count
  br i1 %last, label %check, label %wave
check:
  %none.ready = icmp eq i32 %running2, 0
  br i1 %none.ready, label %release, label %again
again:
  %stopped.now = load atomic i32, ptr %abort monotonic, align 4
  %leave.now = icmp ne i32 %stopped.now, 0
  br i1 %leave.now, label %aborted, label %round
release:
  %j = phi i32 [0, %check], [%j2, %released]
  %waited = phi i32 [0, %check], [%waited2, %released]
  %j64 = zext i32 %j to i64
  %j.at = mul i64 %j64, %bytes
  %w.j = getelementptr i8, ptr %waves, i64 %j.at
  %j.done.ptr = getelementptr i8, ptr %w.j, i64 {DONE}
  %j.done = load i32, ptr %j.done.ptr
  %j.waits = icmp eq i32 %j.done, 2
  %j.now = select i1 %j.waits, i32 0, i32 %j.done
  store i32 %j.now, ptr %j.done.ptr
  %one = zext i1 %j.waits to i32
  br label %released
released:
  %waited2 = or i32 %waited, %one
  %j2 = add i32 %j, 1
  %j.last = icmp eq i32 %j2, %count
  br i1 %j.last, label %all.released, label %release
all.released:
  %over = icmp eq i32 %waited2, 0
  br i1 %over, label %group, label %round
failed:
  %by.ptr = {C.fault_wave}
  %spent = icmp eq i32 %stop, {BUDGET}
  br i1 %spent, label %by, label %out
by:
  store i32 %i, ptr %by.ptr
  br label %out
out:
  ret i32 %stop
aborted:
  ret i32 {ABORT}
finished:
  ret i32 {END}
}

declare void @llvm.memset.p0.i64(ptr, i8, i64, i1)
declare void @llvm.memcpy.p0.p0.i64(ptr, ptr, i64, i1)
"""

_WITHIN = """
define internal ptr @resolve_%SPACE(ptr %w, ptr %c, i32 %address, i32 %bytes, i32 %number, i32 %lane) {
  %size.ptr = {C.%SPACE_bytes}
  %size = load i32, ptr %size.ptr
  %inside = icmp ult i32 %address, %size
  %rest = sub i32 %size, %address
  %enough = icmp uge i32 %rest, %bytes
  %good = and i1 %inside, %enough
  br i1 %good, label %yes, label %no
yes:
  %base.ptr = {%BASE}
  %base.int = load i64, ptr %base.ptr
  %base = inttoptr i64 %base.int to ptr
  %skip = mul i32 %size, %BEFORE
  %mine = getelementptr i8, ptr %base, i32 %skip
  %p = getelementptr i8, ptr %mine, i32 %address
  ret ptr %p
no:
  %wide = zext i32 %address to i64
  %sink = call ptr @fault(ptr %w, ptr %c, i32 {%KIND}, i64 %wide, i32 %bytes, i32 %number, i32 %lane)
  ret ptr %sink
}
"""


def _within(space: str, base: str, before: str) -> str:
    """Checked addresses of a space of so many bytes, `before` times which lies before it from the base."""
    text = _WITHIN.replace("%SPACE", space).replace("%KIND", space.upper())
    return text.replace("%BASE", base).replace("%BEFORE", before)


def runtime_text(strip: int) -> str:
    """The runtime's IR for waves whose VGPRs lie in strips of so many lanes."""
    numbers = {
        "SINK": SINK_BYTES, "VGPRS": VGPRS, "STRIPS": LANES // strip, "LANE_BYTES": 4 * strip, "TURN": TURN,
        "DONE": Wave.done.offset,
        "SHARED": SHARED_APERTURE, "PRIVATE": PRIVATE_APERTURE,
        **{s.name: int(s) for s in Stop},
        **{k.name: int(k) for k in FaultKind},
    }  # fmt: skip
    text = _TEXT + _within("lds", "C.lds", "0") + _within("scratch", "W.scratch", "%lane")
    text = re.sub(r"\{([A-Z_]+)\}", lambda m: str(numbers[m[1]]), text)
    return re.sub(r"\{([CW])\.(\w+)\}", lambda m: field_pointer(m[1], m[2]), text)


def field_pointer(which: str, name: str) -> str:
    """IR that computes the address of a field of the context %c or of the wave %w."""
    struct: type[ctypes.Structure] = {"C": Context, "W": Wave}[which]
    return f"getelementptr i8, ptr %{which.lower()}, i64 {getattr(struct, name).offset}"
