; Checked addresses, as IR: `resolve_*` turn a simulated address into a host pointer.
;
; In:  the address and the bytes of one lane's access, its site and the lane.
; Out: a pointer to so many bytes that lie in one allocation, in the workgroup's LDS or in the lane's scratch. An address
;      that is outside gives a pointer to the thread's sink instead and leaves its description in the context (`fault`;
;      the first one stays); the wave stops at its next check.
;
; A site remembers the allocation that it was in last. Only where the address is in another one is the launch's table
; searched (`find`): its number of rows, then a base and a size each, sorted by base. Addresses of flat space whose upper
; halves are an aperture's are of LDS or scratch (LLVM AMDGPUUsage, "Address Spaces"): those of the register, without what
; the instruction adds to it (LLVM pull requests 132353 and 153001). So an offset leads neither into an aperture nor out.
;
; Compilers widen scalar loads to a power of two: aligned 12 bytes become s_load_b128, 28 bytes s_load_b256, a byte a
; dword (LLVM SITargetLowering::WidenOrSplitVectorLoad, widenLoad), and a card's pages make that harmless. So a scalar
; load (`resolve_scalar`) may end outside, if it ends in the allocation's last page and more than half of it is inside, of
; a dword the first byte. What it reads outside is anything.
;
; Parts, each under a line of its name, put together by isa/sim/ir/runtime.py, which says what is put in for {...}.

;; find_and_fault
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
  %old = load i32 {C.fault}
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
  %index = load i32 {W.index}
  %wv = {C.fault_wave}
  store i32 %index, ptr %wv
  call void @llvm.memset.p0.i64(ptr %sink, i8 0, i64 {SINK}, i1 false)
  br label %done
done:
  ret ptr %sink
}

;; memory
define internal ptr @resolve_%NAME(ptr %w, ptr %c, i64 %address, i32 %bytes, i32 %number, i32 %lane) {
entry:
  %sites = pointer {C.sites}
  %wide = zext i32 %bytes to i64%BEFORE
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
  %enough = icmp uge i64 %rest, %wide%GOOD
  br i1 %good, label %yes, label %miss
yes:
  %p = inttoptr i64 %address to ptr
  ret ptr %p
miss:
  br i1 %again, label %no, label %search
search:
  %table = load i64 {C.table}
  %found = call i1 @find(i64 %table, i64 %address, ptr %site)
  br i1 %found, label %check, label %no
no:
  %sink = call ptr @fault(ptr %w, ptr %c, i32 {GLOBAL}, i64 %address, i32 %bytes, i32 %number, i32 %lane)
  ret ptr %sink
}

;; whole
  %good = and i1 %inside, %enough

;; half
  %beyond = sub i64 %wide, 1
  %short = icmp ule i32 %bytes, 4
  %middle = lshr i64 %wide, 1
  %majority = add i64 %middle, 1
  %half = select i1 %short, i64 1, i64 %majority

;; widened
  %last = add i64 %address, %beyond
  %end = add i64 %base, %size
  %final = sub i64 %end, 1
  %page = or i64 %final, {IN_PAGE}
  %near = icmp ule i64 %last, %page
  %most = icmp uge i64 %rest, %half
  %close = and i1 %near, %most
  %fits = or i1 %enough, %close
  %good = and i1 %inside, %fits

;; flat
define internal ptr @resolve_flat(ptr %w, ptr %c, i64 %address, i32 %bytes, i32 %number, i32 %lane, i64 %offset) {
  %base = sub i64 %address, %offset
  %high = lshr i64 %base, 32
  %in = and i64 %base, 4294967295
  %sum = add i64 %in, %offset
  %beyond = icmp sgt i64 %sum, 4294967295
  %narrow = trunc i64 %sum to i32
  %low = select i1 %beyond, i32 -1, i32 %narrow
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

;; within
define internal ptr @resolve_%SPACE(ptr %w, ptr %c, i32 %address, i32 %bytes, i32 %number, i32 %lane) {
  %size = load i32 {C.%SPACE_bytes}
  %inside = icmp ult i32 %address, %size
  %rest = sub i32 %size, %address
  %enough = icmp uge i32 %rest, %bytes
  %good = and i1 %inside, %enough
  br i1 %good, label %yes, label %no
yes:
  %base = pointer {%BASE}
  %skip = mul i32 %size, %BEFORE
  %mine = getelementptr i8, ptr %base, i32 %skip
  %p = getelementptr i8, ptr %mine, i32 %address
  ret ptr %p
no:
  %wide = zext i32 %address to i64
  %sink = call ptr @fault(ptr %w, ptr %c, i32 {%KIND}, i64 %wide, i32 %bytes, i32 %number, i32 %lane)
  ret ptr %sink
}
