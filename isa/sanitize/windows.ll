; What `windows` calls, as IR: each function looks at the cells of some windows and marks them, or says that one of
; them is unusual and leaves all as they are. A window of a table: its first cell (i64), from byte 32 on ones for the
; cells that are touched, after them the number of each one's access (i16).
;
; Parts, each under a line of its name, put together by isa/sanitize/windows.py.

;; function
define internal i1 @unusual_{kind}(ptr %state, i64 %first.cell, ptr %table, i64 %count, {who}) noinline {
entry:
  %writer.at = getelementptr i8, ptr %state, i64 {writer}
  %writer = load ptr, ptr %writer.at
  %reader.at = getelementptr i8, ptr %state, i64 {reader}
  %reader = load ptr, ptr %reader.at
  %sites.at = getelementptr i8, ptr %state, i64 {sites}
  %sites = load ptr, ptr %sites.at
{begin}
  br label %look
look:
  %i = phi i64 [0, %entry], [%i.next, %look]
  %odd = phi {cells} [zeroinitializer, %entry], [%odd.next, %look]
  %skip = mul nuw nsw i64 %i, {bytes}
  %row = getelementptr i8, ptr %table, i64 %skip
  %start = load i64, ptr %row, align {align}
  %at = add i64 %cell, %start
  %touched.at = getelementptr i8, ptr %row, i64 32
  %touched = load {cells}, ptr %touched.at, align {align}
  %w.at = getelementptr {cell}, ptr %writer, i64 %at
  %w = load {cells}, ptr %w.at, align {least}
{rule}
  %wrong = select <{lanes} x i1> %good, {cells} zeroinitializer, {cells} %touched
  %odd.next = or {cells} %odd, %wrong
  %i.next = add nuw nsw i64 %i, 1
  %more = icmp ult i64 %i.next, %count
  br i1 %more, label %look, label %looked
looked:
  %bits = bitcast {cells} %odd.next to i256
  %any = icmp ne i256 %bits, 0
  br i1 %any, label %unusual, label %mark
unusual:
  ret i1 true
mark:
  %j = phi i64 [0, %looked], [%j.next, %marked]
  %m.skip = mul nuw nsw i64 %j, {bytes}
  %m.row = getelementptr i8, ptr %table, i64 %m.skip
  %m.start = load i64, ptr %m.row, align {align}
  %m.at = add i64 %cell, %m.start
  %m.touched.at = getelementptr i8, ptr %m.row, i64 32
  %m.touched = load {cells}, ptr %m.touched.at, align {align}
  %m.bits = icmp ne {cells} %m.touched, zeroinitializer
  %place = getelementptr {cell}, ptr %{marks}, i64 %m.at
  %old = load {cells}, ptr %place, align {least}
  %site.at = getelementptr i16, ptr %sites, i64 %m.at
  %numbers.at = getelementptr i8, ptr %m.row, i64 64
{mark}
marked:
  %j.next = add nuw nsw i64 %j, 1
  %m.more = icmp ult i64 %j.next, %count
  br i1 %m.more, label %mark, label %done
done:
  ret i1 false
}

;; lds_begin
  %cell = add i64 %first.cell, 0
  %me.one = insertelement <32 x i8> poison, i8 %me, i32 0
  %me.all = shufflevector <32 x i8> %me.one, <32 x i8> poison, <32 x i32> zeroinitializer
  %mine = or <32 x i8> %me.all, splat (i8 {WRITTEN})

;; lds_rule
  %by.me = icmp eq <32 x i8> %w, %mine
  %before = icmp eq <32 x i8> %w, splat (i8 {WRITTEN})
  %known = or <32 x i1> %by.me, %before

;; store_rule
  %nobody = icmp eq <32 x i8> %w, zeroinitializer
  %free = or <32 x i1> %known, %nobody
  %r.at = getelementptr i8, ptr %reader, i64 %at
  %r = load <32 x i8>, ptr %r.at, align 1
  %unread = icmp eq <32 x i8> %r, zeroinitializer
  %read.by.me = icmp eq <32 x i8> %r, %me.all
  %quiet = or <32 x i1> %unread, %read.by.me
  %good = and <32 x i1> %free, %quiet

;; load_rule
  %good = or <32 x i1> %known, %known

;; load_mark
  %unread = icmp eq <32 x i8> %old, zeroinitializer
  %read.by.me = icmp eq <32 x i8> %old, %me.all
  %alone = or <32 x i1> %unread, %read.by.me
  %new = select <32 x i1> %alone, <32 x i8> %me.all, <32 x i8> splat (i8 {SEVERAL})

;; store_mark
  %new = or <32 x i8> %mine, %mine

;; lds_mark
  %now = select <32 x i1> %m.bits, <32 x i8> %new, <32 x i8> %old
  %change = xor <32 x i8> %now, %old
  %change.bits = bitcast <32 x i8> %change to i256
  %changed = icmp ne i256 %change.bits, 0
  br i1 %changed, label %store, label %marked
store:
  store <32 x i8> %now, ptr %place, align 1
  %numbers = load <32 x i16>, ptr %numbers.at, align 32
  %old.numbers = load <32 x i16>, ptr %site.at, align 1
  %new.numbers = select <32 x i1> %m.bits, <32 x i16> %numbers, <32 x i16> %old.numbers
  store <32 x i16> %new.numbers, ptr %site.at, align 1
  br label %marked

;; memory_begin
  %cell = lshr i64 %first.cell, 2
  %stamp.one = insertelement <8 x i32> poison, i32 %stamp, i32 0
  %me = shufflevector <8 x i32> %stamp.one, <8 x i32> poison, <8 x i32> zeroinitializer
  %oldest.one = insertelement <8 x i32> poison, i32 %oldest, i32 0
  %first = shufflevector <8 x i32> %oldest.one, <8 x i32> poison, <8 x i32> zeroinitializer
  %ours = or <8 x i32> %me, splat (i32 {FLAGS})

;; memory_rule
  %r.at = getelementptr i32, ptr %reader, i64 %at
  %r = load <8 x i32>, ptr %r.at, align 4
  %clean = icmp eq <8 x i32> %w, zeroinitializer
  %by.me = icmp eq <8 x i32> %r, %me
  %by.all = icmp eq <8 x i32> %r, splat (i32 -1)
  %flagged = or <8 x i32> %r, splat (i32 {GLOBAL_WAVE})
  %by.us = icmp eq <8 x i32> %flagged, %ours
  %earlier = icmp ult <8 x i32> %r, %first
  %a = or <8 x i1> %by.me, %by.all
  %b = or <8 x i1> %by.us, %earlier
  %known = or <8 x i1> %a, %b
  %good = and <8 x i1> %clean, %known

;; memory_mark
  %m.earlier = icmp ult <8 x i32> %old, %first
  %changes = and <8 x i1> %m.bits, %m.earlier
  %which = bitcast <8 x i1> %changes to i8
  %none = icmp eq i8 %which, 0
  br i1 %none, label %marked, label %store
store:
  %fresh = icmp eq <8 x i32> %old, zeroinitializer
  %now = select <8 x i1> %fresh, <8 x i32> %me, <8 x i32> splat (i32 -1)
  %all = icmp eq i8 %which, -1
  br i1 %all, label %whole, label %single
whole:
  store <8 x i32> %now, ptr %place, align 4
  %numbers = load <8 x i16>, ptr %numbers.at, align 16
  store <8 x i16> %numbers, ptr %site.at, align 1
  br label %marked
single:
  %left = phi i8 [%which, %store], [%left.next, %single]
  %lane = call i8 @llvm.cttz.i8(i8 %left, i1 true)
  %lane.wide = zext i8 %lane to i64
  %mark.one = extractelement <8 x i32> %now, i64 %lane.wide
  %one.at = getelementptr i32, ptr %place, i64 %lane.wide
  store i32 %mark.one, ptr %one.at, align 4
  %number.at = getelementptr i16, ptr %numbers.at, i64 %lane.wide
  %number = load i16, ptr %number.at, align 2
  %site.one = getelementptr i16, ptr %site.at, i64 %lane.wide
  store i16 %number, ptr %site.one, align 1
  %less = sub i8 %left, 1
  %left.next = and i8 %left, %less
  %over = icmp eq i8 %left.next, 0
  br i1 %over, label %marked, label %single
