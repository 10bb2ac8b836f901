"""What is in order between workgroups: what one publishes, and what another has seen of it.

Each access to global memory is stamped with its wave and a serial number (`memory.py`). A serial stands for what its
wave knew when it began, and never changes; what the wave learns begins a new one:

    s_waitcnt_vscnt 0   its stores are complete, and its loads if none is in flight
    s_barrier           what all waves of the workgroup know, and the stores of those that waited before it
    s_waitcnt vmcnt(0)  what the writer knew of each flag that was read: by a load with glc, or an atomic that returns

An atomic and its stamp are one step for all threads (`begin_atomic`): what it read is what the stamp says. A load with
glc may meet a flag that is set again before the value is read, so it learns of what stands there when it is awaited.

So a flag's stamp says what was complete when it was set, and nothing has to be said of which store is a flag: a
release on gfx11 is a wait and a store (LLVM AMDGPUUsage, memory model gfx10-gfx11). An atomic on a flag that another
wave had set passes on what that one published, too.

An access (serial s, wave w, workgroup P) is in order for a wave if from that wave's serial a path of `Node`s leads to a
later serial of P which holds w. Stores, atomics and loads with glc reach the L2, where a wait is enough; plain loads
see what was complete when the caches were emptied: buffer_gl1_inv first, then buffer_gl0_inv. A workgroup shares its L1
and in CU mode its L0. The scalar cache is emptied by nothing here.

Limits: serials are numbers from one counter, so nodes only lead to smaller ones, and a search goes no deeper than the
serial it seeks. A flag is 4 or 8 bytes; of those read at once 64 are followed.
"""

from __future__ import annotations

from isa.sanitize.native import fetch_add, fetch_set, struct, u16, u32
from isa.sanitize.state import (
    EVERYBODY,
    FLAG,
    FLAGS_KEPT,
    FLAGS_READ,
    GLOBAL_WAVE,
    NODE_BYTES,
    NOT_AWAITED,
    NOT_COMPLETE,
    NOT_EMPTIED,
    OPEN_ATOMICS,
    OPEN_STORES,
    SERIAL_SHIFT,
    SERIALS,
    SHORTCUTS,
    UNWRITTEN,
    VM,
    Node,
    Shortcut,
    Thread,
    Watched,
)
from isa.sim.state import Context, Wave


def new_serial(t: Thread, left: int, right: int, stores: int, loads: int) -> int:
    """left, right: serials whose knowledge it holds; stores, loads: waves (bits) of which all earlier ones are
    complete."""
    serial = fetch_add(t.serials, 1)
    if serial >= SERIALS:
        t.muted = 1
        return 1
    node: Node = t.nodes + NODE_BYTES * serial
    node.left = left
    node.right = right
    node.stores = stores
    node.loads = loads
    u32[t.owners + 4 * serial] = t.mine
    return serial


def covered(t: Thread, head: int, serial: int, owner: int, waves: int, loads: int) -> int:
    """Whether it is known at `head` that what these waves of a workgroup did in a serial is complete."""
    key = owner << 33 | waves << 1 | loads
    shortcut: Shortcut = t.shortcuts + 24 * ((head * 31 + owner * 7 + waves * 2 + loads) % SHORTCUTS)
    if shortcut.head == head and shortcut.key == key and shortcut.serial > serial:
        return 1
    if head <= serial:
        return 0
    t.search += 1
    u32[t.stack] = head
    count = 1
    while count:
        count -= 1
        at = u32[t.stack + 4 * count]
        node: Node = struct(t.nodes + NODE_BYTES * at)
        if u32[t.owners + 4 * at] == owner:
            known = node.stores
            if loads:
                known = node.loads
            if known & waves == waves:
                shortcut.head = head
                shortcut.key = key
                shortcut.serial = at
                return 1
        if node.left > serial and u32[t.visited + 4 * node.left] != t.search & 0xFFFFFFFF:
            u32[t.visited + 4 * node.left] = t.search
            u32[t.stack + 4 * count] = node.left
            count += 1
        if node.right > serial and u32[t.visited + 4 * node.right] != t.search & 0xFFFFFFFF:
            u32[t.visited + 4 * node.right] = t.search
            u32[t.stack + 4 * count] = node.right
            count += 1
    return 0


def in_order(t: Thread, cell: int, wave: int, head: int, loads: int) -> int:
    """Whether what the cell tells of came before an access of this wave, which knows what `head` does."""
    serial = cell >> SERIAL_SHIFT
    owner = u32[t.owners + 4 * serial]
    if owner == t.mine and (serial < t.epoch or (cell & GLOBAL_WAVE == wave and not cell & FLAG)):
        return 1
    if not t.orders:
        return 0
    waves = 1 << (cell & GLOBAL_WAVE)
    if cell & FLAG:
        waves = t.all_waves
    return covered(t, head, serial, owner, waves, loads)


def written_in_order(t: Thread, v: Watched, place: int, writer: int, wave: int, head: int) -> int:
    """The same of a writer's cell, and of all atomics that follow on one another there, down to what the wave read."""
    cell = writer
    while cell:
        for i in range(FLAGS_KEPT):
            if v.kept_flags[i] == place and v.kept_stamps[i] == cell:
                return 1
        if cell == EVERYBODY or not in_order(t, cell & ~FLAG, wave, head, 0):
            return 0
        node: Node = struct(t.nodes + NODE_BYTES * (cell >> SERIAL_SHIFT))
        before = node.before
        if not cell & FLAG or not before & FLAG:
            before = 0
        cell = before
    return 1


def took_part(t: Thread, writer: int) -> int:
    """Whether one of the atomics that followed on one another at a place was this workgroup's."""
    cell = writer
    while cell & FLAG and cell != EVERYBODY:
        if u32[t.owners + 4 * (cell >> SERIAL_SHIFT)] == t.mine:
            return 1
        node: Node = struct(t.nodes + NODE_BYTES * (cell >> SERIAL_SHIFT))
        cell = node.before
    return 0


def atomic_stamp(t: Thread, v: Watched, me: int, writer: int) -> int:
    """What an atomic leaves where `writer` was: itself, and what it passes on."""
    if not t.orders:
        if writer == EVERYBODY or (writer & FLAG and u32[t.owners + 4 * (writer >> SERIAL_SHIFT)] != t.mine):
            return EVERYBODY
        return me | FLAG
    if writer in (0, EVERYBODY) or writer & ~FLAG == me:
        return me | FLAG
    previous: Node = struct(t.nodes + NODE_BYTES * (writer >> SERIAL_SHIFT))
    if writer & FLAG and writer & GLOBAL_WAVE == me & GLOBAL_WAVE and previous.before and previous.left == v.serial:
        return writer  # this wave's own, of a moment ago
    serial = new_serial(t, v.serial, writer >> SERIAL_SHIFT, 0, 0)
    node: Node = struct(t.nodes + NODE_BYTES * serial)
    node.before = writer
    return serial << SERIAL_SHIFT | FLAG | me & GLOBAL_WAVE


def begin_atomic(c: Context) -> int:
    t: Thread = c.watch
    taken = 1
    while taken:
        taken = fetch_set(t.atomics, 1)
    return 0


def end_atomic(c: Context) -> int:
    t: Thread = c.watch
    fetch_set(t.atomics, 0)
    return 0


def flag_read(v: Watched, place: int, stamp: int, later: int, site_at: int) -> int:
    """A wave reads what may be a flag: what its writer knew is known when the read is complete. later: 1 if it may be
    set again before it is read; site_at: where it says what set it."""
    if not later and not stamp:
        return 0
    for i in range(v.flags):
        if (stamp and v.flag_stamps[i] == stamp) or (later and v.flag_places[i] == place):
            v.later |= later << i
            return 0
    if v.flags < FLAGS_READ:
        v.flag_places[v.flags] = place
        v.flag_stamps[v.flags] = stamp
        v.flag_sites[v.flags] = site_at
        if not later:
            v.flag_sites[v.flags] = u16[site_at]
        v.later |= later << v.flags
        v.flags += 1
    return 0


def site_of(kept: int) -> int:
    """A site that was kept, or that stands at an address."""
    if kept > 0xFFFF:
        return u16[kept]
    return kept


def leads(t: Thread, stamp: int, serial: int, owner: int) -> int:
    """Whether who set this flag knew of what this workgroup did in a serial, complete or not."""
    if stamp in (0, UNWRITTEN, EVERYBODY) or stamp >> SERIAL_SHIFT < serial:
        return 0
    return covered(t, stamp >> SERIAL_SHIFT, serial - 1, owner, 0, 0)


def missing(t: Thread, v: Watched, cell: int) -> int:
    """What an access to another workgroup's data lacks that is not in order, and the flag's site (+ 1), 16 bits behind:
    its stores were not complete when the flag was set; or the flag's load is not awaited; or caches are not emptied."""
    if cell == EVERYBODY or cell & FLAG or not t.orders:
        return 0
    serial = cell >> SERIAL_SHIFT
    owner = u32[t.owners + 4 * serial]
    if owner == t.mine:
        return 0
    if covered(t, v.serial, serial, owner, 1 << (cell & GLOBAL_WAVE), 0):
        return NOT_EMPTIED
    for i in range(v.flags):
        if leads(t, v.flag_stamps[i], serial, owner):
            return NOT_AWAITED | site_of(v.flag_sites[i]) + 1 << 16
    for i in range(FLAGS_KEPT):
        if leads(t, v.kept_stamps[i], serial, owner):
            return NOT_COMPLETE | site_of(v.kept_sites[i]) + 1 << 16
    if leads(t, v.serial << SERIAL_SHIFT, serial, owner):
        return NOT_COMPLETE
    return 0


def complete(v: Watched, bit: int, of_loads: int) -> int:
    """The wave's bit if its loads (its stores) are complete."""
    if of_loads:
        if v.issued[VM] > v.done[VM]:
            return 0
    elif v.open:
        return 0
    return bit


def learn(w: Wave, t: Thread, v: Watched, place: int, stamp: int, site: int) -> int:
    """The wave has read a flag with this stamp, which was set there."""
    if stamp in (0, UNWRITTEN, EVERYBODY):
        return 0
    for i in range(FLAGS_KEPT):
        if v.kept_stamps[i] == stamp:
            v.kept_flags[i] = place
            return 0
    serial = stamp >> SERIAL_SHIFT
    if u32[t.owners + 4 * serial] == t.mine and (serial < t.epoch or stamp & GLOBAL_WAVE == w.index):
        return 0
    bit = 1 << w.index
    v.serial = new_serial(t, v.serial, serial, complete(v, bit, 0), complete(v, bit, 1))
    slot = v.next_kept % FLAGS_KEPT
    v.kept_flags[slot] = place
    v.kept_stamps[slot] = stamp
    v.kept_sites[slot] = site_of(site)
    v.next_kept += 1
    return 0


def awaited(w: Wave, c: Context, vm: int, vs: int) -> int:
    """A wave has waited for its loads (vm: down to so many) and stores (vs); readiness of registers is known."""
    t: Thread = c.watch
    v: Watched = w.watch
    bit = 1 << w.index
    if vs == 0:
        v.open = v.open & OPEN_ATOMICS
    if v.issued[VM] == v.done[VM]:
        v.open = v.open & OPEN_STORES
        for i in range(v.flags):
            learn(w, t, v, v.flag_places[i], v.flag_stamps[i], v.flag_sites[i])
            if v.later >> i & 1:
                learn(w, t, v, v.flag_places[i], u32[v.flag_places[i]], v.flag_sites[i])
        v.flags = 0
        v.later = 0
    node: Node = struct(t.nodes + NODE_BYTES * v.serial)
    stores = complete(v, bit, 0)
    loads = complete(v, bit, 1)
    news = v.touched
    if v.serial > t.epoch:
        news = v.touched or (stores & ~node.stores) or (loads & ~node.loads)
    if news and (vs == 0 or (vm == 0 and v.serial > t.epoch)):
        v.serial = new_serial(t, v.serial, 0, stores, loads)
        v.touched = 0
    return 0


def emptied(w: Wave, level: int) -> int:
    """buffer_gl1_inv (1), buffer_gl0_inv (0)."""
    v: Watched = w.watch
    if level:
        v.level1 = v.serial
    else:
        v.level0 = v.level1
    return 0


def joined(t: Thread, a: int, b: int) -> int:
    """A serial that holds what both know."""
    if b == 0 or a == b:
        return a
    if a == 0:
        return b
    return new_serial(t, a, b, 0, 0)


def begin_order(c: Context, t: Thread) -> int:
    """A workgroup begins."""
    t.serial = new_serial(t, 0, 0, 0, 0)
    t.epoch = t.serial
    t.oldest = t.serial
    t.all_waves = (1 << c.wave_count) - 1
    for i in range(c.wave_count):
        w: Wave = c.waves + i * c.wave_bytes
        v: Watched = w.watch
        v.serial = t.serial
        v.level1 = 0
        v.level0 = 0
        v.open = 0
        v.touched = 0
        v.flags = 0
        v.later = 0
        for slot in range(FLAGS_KEPT):
            v.kept_flags[slot] = 0
            v.kept_stamps[slot] = 0
    return 0


def next_order(c: Context, t: Thread) -> int:
    """All waves are at a barrier: what each knows all do."""
    known = t.serial
    stores = 0
    loads = 0
    level1 = 0
    level0 = 0
    if t.orders:
        for i in range(c.wave_count):
            w: Wave = c.waves + i * c.wave_bytes
            v: Watched = w.watch
            known = joined(t, known, v.serial)
            stores |= complete(v, 1 << i, 0)
            loads |= complete(v, 1 << i, 1)
            level1 = joined(t, level1, v.level1)
            level0 = joined(t, level0, v.level0)
    t.serial = new_serial(t, known, 0, stores, loads)
    t.epoch = t.serial
    for i in range(c.wave_count):
        o: Wave = c.waves + i * c.wave_bytes
        ov: Watched = o.watch
        ov.serial = t.serial
        ov.touched = 0
        if t.orders:
            ov.level1 = level1
            if t.shares_level0:
                ov.level0 = level0
    return 0
