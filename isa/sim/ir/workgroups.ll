; A thread's work, as IR: workgroups taken from a shared counter, and their waves run between barriers.
;
; run          goes on with the workgroup that has begun, then takes others until there are none left. Its waves run in
;              turn, each until it ends, waits at a barrier, looks for something in vain or has had its time slice. Where
;              all have ended or wait at the barrier, these are released. Where the others look in vain, so often as
;              `patience` says, and where the workgroup has had its turn, it returns: other workgroups are next.
; start_group  zeroes LDS and the VGPRs that are read as they are then, and sets what the hardware sets: the workgroup's
;              place in the grid (numbers go along panels of so many columns), the wave's number, work-item numbers, EXEC.
; run_wave     runs a wave in whichever version it wants, and has the plain one compiled when it is first wanted.
; next_slice   gives a wave what its next time slice takes of the launch's budget.
;
; A part of the runtime: isa/sim/ir/runtime.py says what is put in for {...}.

define internal void @start_group(ptr %c, i64 %number) noinline {
entry:
  %gx = load i32 {C.grid}
  %gy.ptr = getelementptr i32, ptr %gx.ptr, i32 1
  %gy = load i32, ptr %gy.ptr
  %panel = load i32 {C.panel}
  %gx64 = zext i32 %gx to i64
  %gy64 = zext i32 %gy to i64
  %panel64 = zext i32 %panel to i64
  %plane = mul i64 %gx64, %gy64
  %z64 = udiv i64 %number, %plane
  %flat = urem i64 %number, %plane
  %per = mul i64 %panel64, %gy64
  %panel.number = udiv i64 %flat, %per
  %in = urem i64 %flat, %per
  %first = mul i64 %panel.number, %panel64
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
  %idx = load i32 {C.id_sgpr}
  %idy.ptr = getelementptr i32, ptr %idx.ptr, i32 1
  %idy = load i32, ptr %idy.ptr
  %idz.ptr = getelementptr i32, ptr %idx.ptr, i32 2
  %idz = load i32, ptr %idz.ptr
  %idw.ptr = getelementptr i32, ptr %idx.ptr, i32 3
  %idw = load i32, ptr %idw.ptr
  %bitx = load i32 {C.id_bit}
  %bity.ptr = getelementptr i32, ptr %bitx.ptr, i32 1
  %bity = load i32, ptr %bity.ptr
  %bitz.ptr = getelementptr i32, ptr %bitx.ptr, i32 2
  %bitz = load i32, ptr %bitz.ptr
  %bitw.ptr = getelementptr i32, ptr %bitx.ptr, i32 3
  %bitw = load i32, ptr %bitw.ptr
  %lds = pointer {C.lds}
  %lds.size = load i32 {C.lds_bytes}
  %lds.size64 = zext i32 %lds.size to i64
  call void @llvm.memset.p0.i64(ptr %lds, i8 0, i64 %lds.size64, i1 false)
  %x.after = add i32 %x, 1
  %y.after = add i32 %y, 1
  %z.after = add i32 %z, 1
  %gz.ptr = getelementptr i32, ptr %gx.ptr, i32 2
  %gz = load i32, ptr %gz.ptr
  %x.ends = icmp eq i32 %x.after, %gx
  %y.ends = icmp eq i32 %y.after, %gy
  %z.ends = icmp eq i32 %z.after, %gz
  %kind.x = select i1 %x.ends, i32 2, i32 0
  %kind.y = select i1 %y.ends, i32 4, i32 0
  %kind.z = select i1 %z.ends, i32 8, i32 0
  %kind.xy = add i32 %kind.x, %kind.y
  %kind = add i32 %kind.xy, %kind.z
  %kinds = pointer {C.kinds}
  %first.of.kind = getelementptr i32, ptr %kinds, i32 %kind
  %first.wave = load i32, ptr %first.of.kind
  %count.of.kind = getelementptr i32, ptr %first.of.kind, i32 1
  %count = load i32, ptr %count.of.kind
  %count.here = {C.wave_count}
  store i32 %count, ptr %count.here
  %waves = pointer {C.waves}
  %bytes = load i64 {C.wave_bytes}
  %scalars = pointer {C.scalars}
  %v0s = pointer {C.v0}
  %execs = pointer {C.execs}
  %start = load i32 {C.entry}
  %vgpr.bytes = sub i64 %bytes, {VGPRS}
  %strip.bytes = udiv i64 %vgpr.bytes, {STRIPS}
  %halves = load i32 {C.halves}
  %halves64 = zext i32 %halves to i64
  %half.bytes = udiv i64 %strip.bytes, %halves64
  %no.fast = load i64 {C.fast}
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
  %sx.old = load i32, ptr %sx
  %x.moved = shl i32 %x, %bitx
  %sx.new = or i32 %sx.old, %x.moved
  store i32 %sx.new, ptr %sx
  %sy = getelementptr i32, ptr %w, i32 %idy
  %sy.old = load i32, ptr %sy
  %y.moved = shl i32 %y, %bity
  %sy.new = or i32 %sy.old, %y.moved
  store i32 %sy.new, ptr %sy
  %sz = getelementptr i32, ptr %w, i32 %idz
  %sz.old = load i32, ptr %sz
  %z.moved = shl i32 %z, %bitz
  %sz.new = or i32 %sz.old, %z.moved
  store i32 %sz.new, ptr %sz
  %sw = getelementptr i32, ptr %w, i32 %idw
  %sw.old = load i32, ptr %sw
  %i.moved = shl i32 %i, %bitw
  %sw.new = or i32 %sw.old, %i.moved
  store i32 %sw.new, ptr %sw
  %listed = add i32 %first.wave, %i
  %exec.from = getelementptr i64, ptr %execs, i32 %listed
  %exec = load i64, ptr %exec.from, align 4
  %exec.to = getelementptr i32, ptr %w, i32 126
  store i64 %exec, ptr %exec.to, align 4
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
  %look = {W.look}
  store i64 0, ptr %look
  %look.before = {W.before}
  store i64 0, ptr %look.before
  %goal = {W.goal}
  store i64 0, ptr %goal
  %ticks = {W.ticks}
  store i64 0, ptr %ticks
  %mode = {W.plain}
  store i32 %plain, ptr %mode
  %v = getelementptr i8, ptr %w, i64 {VGPRS}
  br label %half
half:
  %h = phi i32 [0, %wave], [%h2, %half.end]
  %before = mul i32 %listed, %halves
  %which = add i32 %before, %h
  %row = mul i32 %which, 32
  %v0 = getelementptr i32, ptr %v0s, i32 %row
  %h64 = zext i32 %h to i64
  %half.skip = mul i64 %h64, %half.bytes
  br label %strip
strip:
  %s = phi i64 [0, %half], [%s2, %strip]
  %strip.skip = mul i64 %s, %strip.bytes
  %skip = add i64 %strip.skip, %half.skip
  %to = getelementptr i8, ptr %v, i64 %skip
  call void @llvm.memset.p0.i64(ptr %to, i8 0, i64 {ZEROED_BYTES}, i1 false)
  %lanes = mul i64 %s, {LANE_BYTES}
  %from = getelementptr i8, ptr %v0, i64 %lanes
  call void @llvm.memcpy.p0.p0.i64(ptr %to, ptr %from, i64 {LANE_BYTES}, i1 false)
  %s2 = add i64 %s, 1
  %all = icmp eq i64 %s2, {STRIPS}
  br i1 %all, label %half.end, label %strip
half.end:
  %h2 = add i32 %h, 1
  %both = icmp eq i32 %h2, %halves
  br i1 %both, label %next, label %half
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
  %need = pointer {C.need_plain}
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

; A wave's time slice is over: give what the next one takes from the reserve. 0 if nothing is left.
define internal i64 @next_slice(ptr %c) {
  %budget = load i64 {C.budget}
  %reserve = load i64 {C.reserve}
  %some = icmp sgt i64 %reserve, 0
  %whole = icmp sgt i64 %reserve, {TIME_SLICE}
  %given = select i1 %whole, i64 {TIME_SLICE}, i64 %reserve
  %taken = select i1 %some, i64 %given, i64 0
  %left = sub i64 %reserve, %taken
  store i64 %left, ptr %reserve.ptr
  %now = add i64 %budget, %taken
  store i64 %now, ptr %budget.ptr
  %wide = zext i1 %some to i64
  ret i64 %wide
}

; Workgroups until there are none left: END; WAITS: others are next; or why it stopped.
define i32 @run(ptr %c) {
entry:
  %turn = {C.turn}
  store i64 {TURN}, ptr %turn
  %counter = pointer {C.counter}
  %total = load i64 {C.total}
  %abort = pointer {C.abort}
  %group.ptr = {C.group}
  %waves = pointer {C.waves}
  %bytes = load i64 {C.wave_bytes}
  %count.ptr = {C.wave_count}
  %limit = load i64 {C.limit}
  %short = icmp slt i64 %limit, {TIME_SLICE}
  %first = select i1 %short, i64 %limit, i64 {TIME_SLICE}
  %rest = sub i64 %limit, %first
  %budget = {C.budget}
  %reserve = {C.reserve}
  %patience = {C.patience}
  %progress = {C.progress}
  %by = {C.fault_wave}
  %underway = load i32 {C.running}
  %resumes = icmp ne i32 %underway, 0
  br i1 %resumes, label %round, label %group
group:
  store i32 0, ptr %underway.ptr
  %stopped = load atomic i32, ptr %abort monotonic, align 4
  %leave = icmp ne i32 %stopped, 0
  br i1 %leave, label %aborted, label %take
take:
  %g = atomicrmw add ptr %counter, i64 1 monotonic
  %none = icmp uge i64 %g, %total
  br i1 %none, label %finished, label %start
start:
  store i64 %g, ptr %group.ptr
  store i32 1, ptr %underway.ptr
  store i64 %first, ptr %budget
  store i64 %rest, ptr %reserve
  call void @start_group(ptr %c, i64 %g)
  br label %round
round:
  br label %wave
wave:
  %i = phi i32 [0, %round], [%i2, %next]
  %running = phi i32 [0, %round], [%running2, %next]
  %waiting = phi i32 [0, %round], [%waiting2, %next]
  %i64 = zext i32 %i to i64
  %at = mul i64 %i64, %bytes
  %w = getelementptr i8, ptr %waves, i64 %at
  %done = load i32 {W.done}
  %is.done = icmp ne i32 %done, 0
  br i1 %is.done, label %next, label %step
step:
  %stop = call i32 @run_wave(ptr %w, ptr %c)
  switch i32 %stop, label %failed [ i32 {END}, label %ended
                                    i32 {BARRIER}, label %waits
                                    i32 {BUDGET}, label %slice.over
                                    i32 {WAITS}, label %looks ]
ended:
  store i32 1, ptr %done.ptr
  %ended.before = load i64, ptr %progress
  %ended.now = add i64 %ended.before, 1
  store i64 %ended.now, ptr %progress
  br label %next
waits:
  store i32 2, ptr %done.ptr
  br label %next
slice.over:
  %goes.on = call i64 @next_slice(ptr %c)
  %may = icmp ne i64 %goes.on, 0
  %more = add i32 %running, 1
  %turn.before = load i64, ptr %turn
  %turn.now = sub i64 %turn.before, 1
  store i64 %turn.now, ptr %turn
  br i1 %may, label %next, label %failed
looks:
  store i32 %i, ptr %by
  %waiting.more = add i32 %waiting, 1
  %left = load i64, ptr %budget
  %over.drawn = icmp slt i64 %left, 0
  br i1 %over.drawn, label %pays, label %next
pays:
  %paid = call i64 @next_slice(ptr %c)
  %pays.on = icmp ne i64 %paid, 0
  br i1 %pays.on, label %next, label %failed
next:
  %running2 = phi i32 [%running, %wave], [%running, %ended], [%running, %waits], [%more, %slice.over], [%running, %looks],
                      [%running, %pays]
  %waiting2 = phi i32 [%waiting, %wave], [%waiting, %ended], [%waiting, %waits], [%waiting, %slice.over],
                      [%waiting.more, %looks], [%waiting.more, %pays]
  %i2 = add i32 %i, 1
  %count = load i32, ptr %count.ptr
  %last = icmp eq i32 %i2, %count
  br i1 %last, label %check, label %wave
check:
  %none.ready = icmp eq i32 %running2, 0
  br i1 %none.ready, label %idle, label %ready
ready:
  %turn.left = load i64, ptr %turn
  %turn.over = icmp slt i64 %turn.left, 1
  br i1 %turn.over, label %had.turn, label %again
had.turn:
  %turns.before = load i64, ptr %progress
  %turns.now = add i64 %turns.before, 1
  store i64 %turns.now, ptr %progress
  br label %others
idle:
  %none.looks = icmp eq i32 %waiting2, 0
  br i1 %none.looks, label %release, label %in.vain
in.vain:
  %patient = load i64, ptr %patience
  %less = sub i64 %patient, 1
  store i64 %less, ptr %patience
  %gives.up = icmp slt i64 %less, 1
  br i1 %gives.up, label %others, label %again
others:
  ret i32 {WAITS}
again:
  %stopped.now = load atomic i32, ptr %abort monotonic, align 4
  %leave.now = icmp ne i32 %stopped.now, 0
  br i1 %leave.now, label %aborted, label %round
release:
  %j = phi i32 [0, %idle], [%j2, %released]
  %waited = phi i32 [0, %idle], [%waited2, %released]
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
  %why = phi i32 [%stop, %step], [{BUDGET}, %slice.over], [{BUDGET}, %pays]
  %spent = icmp eq i32 %why, {BUDGET}
  br i1 %spent, label %name, label %out
name:
  store i32 %i, ptr %by
  br label %out
out:
  ret i32 %why
aborted:
  ret i32 {ABORT}
finished:
  ret i32 {END}
}
