"""State of the sanitizer: the shadow of registers and memory, as native hooks and Python share it.

A register's number is that of `isa.analysis.regset`: VGPRs from 0, scalar registers from 256, SCC 384. A register is
ready in the lanes in which it was written and no load may still fill it; scalar registers are ready in all lanes or in
none.

Memory has a shadow in cells, one for each granule (a dword, or a byte where the kernel accesses less): who wrote it
last, and who read it since.
"""

from __future__ import annotations

import ctypes
from enum import IntEnum

from isa.native import pointer

_U32, _U64 = ctypes.c_uint32, ctypes.c_uint64
_U8S, _U16S, _U32S, _U64S = (pointer(f"uint{bits}_t") for bits in (8, 16, 32, 64))
UNITS = 385
WORDS = 7  # of 64 bits, to hold a bit for each register
ALL_LANES = 0xFFFFFFFF
RING = 64  # what a counter of 6 bits can count
LOADED = 64  # bytes of the registers that a load fills, at most
SPACE_SHIFT = 28  # of a site: the space of an access beside it
KEPT_WORDS = 128  # what a load keeps of its registers: 32 lanes of 4
VM, LDS, SMEM = 0, 1, 2  # streams: loads of one stream complete in order, but SMEM's

# Entries of a segment's table: a register's number and how it is touched.
UNIT_MASK = 0x1FF
WRITES = 1 << 9
ANY_LANE = 1 << 10  # a read that may be of another lane
MAY_BE_EMPTY = 1 << 11  # a read that only keeps a value somewhere else
EVERY_LANE = 1 << 12  # EXEC does not matter
ALSO = 1 << 13  # a write with a source: ready there, too, and as it was elsewhere
HALVES_SHIFT = 14  # which halves of a VGPR are touched, as `isa.semantics.halves` has them; 0: both
BOTH_HALVES = 3
SOURCE_SHIFT = 16  # a write that is ready only where the register (its number + 1) in these 9 bits is
SOURCE_MASK = 0x1FF
LANE_SHIFT = 25  # the one lane of a VGPR that is touched, + 1, in 6 bits
EVERY_BYTE = 15
NEEDS_SHIFT = 32  # of a read the bytes that are used, in 4 bits; 0: all
ROWS_SHIFT = 32  # of a write with a source: the bytes of it that byte 0, 1, 2, 3 is made of, in 4 times 4 bits
CARRIES = 1 << 48  # a read that computes only where no byte holds anything; else bytes are put elsewhere
GIVES = 1 << 49  # data of a store
SHUFFLED = 1 << 50  # data of a load from other lanes
SAME_BYTES = 0x8421  # such rows of a move
WITH = 1 << 51  # a write with a source: ready where it was and the source is, too
SINK_SHIFT = 32  # of a use that is reported, beside its register: the segment that it decides in, + 1
PLACE_SHIFT, PLACE_MASK = 52, 15  # of data: which register of them
# The rest is only asked for where each instruction is a segment:
FLOWS = 1 << 31  # a read: the writes say which bytes of the result follow from it
CHOSEN = 1 << 31  # a write in the lanes in which the mask that was read is 1
UNCHOSEN = 1 << 62  # in the others
DECIDES = 1 << 56  # a read by which control, addresses or memory go
BY_LANE = 1 << 57  # bit i of this SGPR is lane i's; of a read that decides: only whether one is set
SECOND = 1 << 58  # of the second half of a dual instruction
LOGIC_SHIFT, LOGIC_MASK = 59, 7  # an operand of a bitwise instruction, or a result: which instruction
PLAIN, INVERTED = 1, 2  # operands
AND, OR, XOR, NAND, NOR = 1, 2, 3, 4, 5
ONLY_SINGLE = CHOSEN | UNCHOSEN | DECIDES | BY_LANE | SECOND | LOGIC_MASK << LOGIC_SHIFT
COMPUTED = 1 << 27  # of an origin: the number of a cause beside it
MOVED = 0xFFFFFFFF  # in place of a cause's segment: what was loaded was only stored elsewhere
WRITTEN_CELL = 255  # of scratch
CAUSES = 254  # of a wave, at most; a cell of scratch has room for their numbers

# LDS cells, a byte each. A writer: the wave's number + 1, with flags. A reader: the same, or SEVERAL.
WRITTEN, ATOMIC, WAVE_MASK, SEVERAL = 0x80, 0x40, 0x3F, 0xFF
SEVERAL_ATOMICS = 0x3F
EIGHT_WRITTEN = WRITTEN * 0x0101010101010101

# Global cells, 32 bits: the serial number of a workgroup's epoch, a flag, the wave. 0: never accessed.
SERIAL_SHIFT, FLAG, GLOBAL_WAVE = 6, 1 << 5, 31
EVERYBODY = 0xFFFFFFFF  # readers of more than one workgroup; writers: atomics of more than one
UNWRITTEN = 0xFEFEFEFE
SERIALS = (1 << 26) - (1 << 21)  # below those that the special cells look like
NO_WAVE = 0xFFFF

# Kinds of access, in their low bits, and spaces.
LOAD, STORE, ATOMIC_ACCESS, SHARED_LOAD = 0, 1, 2, 3
LDS_SPACE, GLOBAL_SPACE, FLAT_SPACE, SCRATCH_SPACE = 0, 4, 8, 12
OTHER_LANE = FLAT_SPACE  # of an origin: no memory but a lane that is off
COHERENT, SCALAR, PART = 16, 32, 64  # glc; by the scalar cache; stored beside what it is a part of
NARROW = 128  # an atomic for its workgroup alone
AWAITED, GUESSED = 1 << 14, 1 << 15  # of a flat load, what counts where it is of LDS: `translate.py` has both

# Order between workgroups (hooks/workgroup_order.c).
SHORTCUTS = 256
FLAGS_READ, FLAGS_KEPT = 64, 8  # flags that a wave reads at once; those that it read last
FLAG_BYTES = 8  # at most
NOT_COMPLETE, NOT_AWAITED, NOT_EMPTIED, OWN_NOT_EMPTIED = 1, 2, 3, 4
"""What a reader of another's data lacks: see `missing` in workgroup_order.c; the last of its own workgroup's."""
OPEN_STORES, OPEN_ATOMICS = 1, 2  # what `Shadow.open` tells: in flight for vscnt, for vmcnt


class Event(IntEnum):
    """What a hook reports. `site` of registers: a segment; of memory: an access; of barriers: a block."""

    UNINITIALISED = 0
    READ_IN_FLIGHT = 1
    WRITE_IN_FLIGHT = 2
    LDS_UNWRITTEN = 3  # an atomic
    LDS_READ_AFTER_WRITE = 4
    LDS_WRITE_AFTER_READ = 5
    LDS_WRITE_AFTER_WRITE = 6
    GLOBAL_READ_AFTER_WRITE = 7
    GLOBAL_WRITE_AFTER_READ = 8
    GLOBAL_WRITE_AFTER_WRITE = 9
    LDS_MISALIGNED = 10
    GLOBAL_MISALIGNED = 11
    BARRIER_STORE = 12
    BARRIER_EXEC = 13
    BARRIER_ENDED = 14
    BARRIER_APART = 15
    LDS_SAME_VALUE = 16  # a write after a write which leaves what was there
    GLOBAL_SAME_VALUE = 17
    LDS_LANES = 18  # lanes of one wave store different values by one instruction
    GLOBAL_LANES = 19
    LANES_UNCLEAR = 20  # they may; no finding
    LACKS = 21  # a load or a store of bytes that nothing has written; no finding
    LDS_LACKED = 22  # a use of a register whose bytes were loaded from where nothing has written
    GLOBAL_LACKED = 23
    LDS_UNALIGNED = 24  # an access that is misaligned where neither a type nor the hardware forbids it
    GLOBAL_UNALIGNED = 25
    LANE_BEYOND = 26  # all lanes that are on name a lane that the wave does not have
    LANES_BEYOND = 27  # some do
    GLOBAL_UNWRITTEN = 28  # an atomic
    LANE_LACKED = 29  # a use of what a lane that is off was asked for
    FACTORS_TWICE = 30  # both halves of a wave hold one factor of a matrix product, where each has its own part
    FACTORS_ONCE = 31  # neither does; no finding, and none of this instruction


LDS_RACES = frozenset(
    {Event.LDS_READ_AFTER_WRITE, Event.LDS_WRITE_AFTER_READ, Event.LDS_WRITE_AFTER_WRITE, Event.LDS_SAME_VALUE}
)
GLOBAL_RACES = frozenset(
    {
        Event.GLOBAL_READ_AFTER_WRITE,
        Event.GLOBAL_WRITE_AFTER_READ,
        Event.GLOBAL_WRITE_AFTER_WRITE,
        Event.GLOBAL_SAME_VALUE,
    }
)
"""Events of two waves at one place."""
UNCLEAR = frozenset({Event.READ_IN_FLIGHT, Event.WRITE_IN_FLIGHT, Event.LANES_UNCLEAR, Event.LACKS})
"""What only a launch in the order of the program tells more of (`hooks/late.c`, `hooks/bytes.c`)."""
SILENT = frozenset({Event.LANES_UNCLEAR, Event.LACKS, Event.FACTORS_ONCE})
"""What is no finding."""
USES = frozenset({Event.UNINITIALISED, Event.LDS_LACKED, Event.GLOBAL_LACKED, Event.LANE_LACKED})


def signed(number: int, bits: int) -> int:
    """The same bits as a signed number, as LLVM writes constants."""
    return number - (1 << bits) if number >> bits - 1 else number


DOUBTS, APART = 4096, 256
DOUBT_BYTES = 16
"""The widest store of a lane."""
REPORTS = 64
"""How often one event at one site is reported: enough to tell its lanes."""


class Thread(ctypes.Structure):
    """What one thread needs to observe. Pointers are addresses."""

    _fields_ = (
        ("seen", _U8S),  # u8[event][site]: how often it was reported
        ("sites", _U64),
        ("report", _U64),  # Python: (context, event, site, wave, lanes, address, other, other's site)
        ("start_group", _U64),  # native code of the kernel's module
        ("run_wave", _U64),
        ("next_slice", _U64),
        ("given", _U64 * WORDS),  # registers that hold something when a wave begins
        ("lds_writer", _U8S),  # u8[cells]
        ("lds_reader", _U8S),
        ("lds_writer_site", _U16S),  # u16[cells]
        ("lds_cause", _U16S),  # u16[cells]: wave << 8 | number of the cause of unwritten bytes that it was given
        ("lds_reader_site", _U16S),
        ("between", _U8S),  # u8[site]: whether it stands between the halves of a barrier; null: none does
        ("cells", _U64),
        ("shift", _U64),  # of addresses, to get granules
        ("rows", pointer("struct row")),  # Row[count], by rising base
        ("row_count", _U64),
        ("cache", pointer("struct row *")),  # u64[site]: the row that each site met last
        ("serials", _U64S),  # u64 of all threads: the next serial number
        ("atomics", _U64S),  # u64 of all threads: 1 while one of them is at an atomic
        ("owners", _U32S),  # u32[serial]: which workgroup, + 1
        ("serial", _U64),  # of the epoch that is running
        ("epoch", _U64),  # the first serial number since the last barrier
        ("oldest", _U64),  # the workgroup's first serial number: smaller ones are of others
        ("mine", _U64),  # the workgroup that is running, + 1
        ("muted", _U64),  # serial numbers are spent
        ("seed", _U64),  # of the schedule
        ("random", _U64),  # where the sequence of the workgroup that is running is
        ("slice", _U64),  # branches backward and behind stores in a wave's time slice, at most; 0: any number
        ("shuffles", _U64),  # whether the order of waves changes
        ("stride", _U64),  # workgroup i of the order is (i * stride + offset) % count
        ("offset", _U64),
        ("orders", _U64),  # whether the kernel can see what another wave publishes
        ("shares_level0", _U64),  # CU mode: all waves of a workgroup use one L0
        ("all_waves", _U64),  # a bit for each
        ("nodes", pointer("struct node")),  # Node[serial]
        ("shortcuts", pointer("struct shortcut")),  # Shortcut[SHORTCUTS]
        ("visited", _U32S),  # u32[serial]: the number of the last search that came by; of all searches first
        ("stack", _U32S),  # u32[serial]
        ("scratch", _U8S),  # u8[wave][lane][granules]: whether it was written
        ("scratch_cells", _U64),  # granules of a lane
        ("doubts", pointer("struct doubt")),  # Doubt[DOUBTS]
        ("doubt_count", _U64),
        ("stamped", _U64),  # cells of the atomic that is being done
        ("stamped_places", _U32S * FLAGS_READ),
        ("stamped_sites", _U16S * FLAGS_READ),
        ("apart", _U64S),  # u64[APART]: digests of stores whose granules do not meet
    )


class Node(ctypes.Structure):
    """What a wave knew when a serial number began."""

    _fields_ = (
        ("left", _U32),  # serials whose knowledge it holds
        ("right", _U32),
        ("stores", _U32),  # waves of its workgroup whose earlier stores are complete
        ("loads", _U32),
        ("before", _U32),  # of an atomic's own serial: the cell that it found
    )


class Shortcut(ctypes.Structure):
    """A search that found something: serials of the key's waves below `serial` are known at `head`."""

    _fields_ = (("head", _U64), ("key", _U64), ("serial", _U64))


class Doubt(ctypes.Structure):
    """A store over what another wave wrote: a race, unless it leaves the value that was there. The report, and where
    and what the value was."""

    _fields_ = (
        ("event", _U64),
        ("site", _U64),
        ("lanes", _U64),
        ("address", _U64),
        ("other", _U64),
        ("other_site", _U64),
        ("pointer", _U8S),
        ("size", _U64),
        ("before", ctypes.c_uint8 * DOUBT_BYTES),
    )


class Row(ctypes.Structure):
    """An allocation and its shadow."""

    _fields_ = (
        ("base", _U64),
        ("size", _U64),
        ("typed", _U64),  # whether the size of its elements is known
        ("between", _U64),  # bits of an address that lie between elements: 3, of narrower elements 1 or 0
        ("writer", _U32S),  # u32[granules]
        ("reader", _U32S),
        ("writer_site", _U16S),  # u16[granules]
        ("reader_site", _U16S),
    )


class Gap(ctypes.Structure):
    """What a load in flight does not bring, as `Shadow.lacking` has it."""

    _fields_ = (
        ("lacks", _U32),
        ("site", _U32),
        ("known", _U32),  # lanes for which site and origin are known
        ("lacking", _U32 * LOADED),
        ("origin", _U64 * (LOADED // 4)),
    )


class Cause(ctypes.Structure):
    """Where something was computed from bytes that nothing has written."""

    _fields_ = (
        ("segment", _U32),
        ("unit", _U32),  # the register that lacked them
        ("lanes", _U32),
        ("loaded", _U32),  # of these: address and by say what loaded them, as `origin` and `origin_site`
        ("address", _U64),  # where none was loaded: the halves that lack something
        ("by", _U64),
        ("number", _U64),  # the cause of what it was computed from, if that was computed; else 0
        ("giver", _U64),  # the wave + 1 that stored to LDS what nothing was loaded to; else 0
    )


class Shadow(ctypes.Structure):
    """One wave."""

    _fields_ = (
        ("full", _U64 * (WORDS + 1)),  # a bit for each register that is ready in all lanes
        ("issued", _U64 * 3),  # by streams
        ("done", _U64 * 3),
        ("number", _U64),  # of the last load that was issued
        ("slice", _U64),  # what is left of its time slice
        ("waiting", _U32),  # at a barrier
        ("barrier", _U32),  # which
        ("lanes", _U32),  # that exist
        ("serial", _U32),  # of what it does now
        ("level1", _U32),  # serials: what was known when the L1 was emptied, and then the L0
        ("level0", _U32),
        ("fresh", _U32),  # the epoch in which it emptied its L0, where older values may lie since
        ("scalar", _U32),  # the serial in which its workgroup emptied the scalar cache
        ("open", _U32),  # whether stores and atomics may be in flight
        ("handed", _U32),  # whether it has waited for another's LDS since the last barrier
        ("touched", _U32),  # whether it accessed memory in this serial
        ("flags", _U32),  # flags that it reads: places of their cells, and what these held
        ("next_kept", _U32),
        ("tail", _U32),  # dwords at the end of the next scalar load that lie outside of its allocation
        ("lacks", _U32),  # whether the next load brings less than it fills
        ("gives", _U32),  # whether the store at hand stores less than it writes
        ("no_use", _U32),
        ("later", _U64),  # a bit for each of these: it may have been set again before it was read
        ("flag_stamps", _U32 * FLAGS_READ),
        ("flag_places", _U32S * FLAGS_READ),
        ("flag_sites", _U64 * FLAGS_READ),  # what set them; the address of its number where it may be set again
        ("kept_stamps", _U64 * FLAGS_KEPT),
        ("kept_flags", _U32S * FLAGS_KEPT),
        ("kept_sites", _U64 * FLAGS_KEPT),
        ("ready", _U32 * (UNITS + 1)),  # lanes
        ("partial", _U32 * (UNITS + 1)),  # lanes in which some bytes hold something, and not all; none is ready
        ("some", _U32 * (4 * (UNITS + 1))),  # of these lanes, by bytes of a register: in which it holds something
        ("unknown", _U32 * (UNITS + 1)),  # of a scalar register of which not all is known, by bits
        ("origin", _U64 * (UNITS + 1)),  # what such bytes were loaded from: bytes of a dword << 48 | its address
        ("origin_site", _U32 * (UNITS + 1)),  # by what, and its space << 28; or COMPUTED
        ("origin_lanes", _U32 * (UNITS + 1)),  # for which this is so
        ("lacking", _U32 * LOADED),  # lanes by bytes of the registers that the next load fills: they get nothing
        ("lacking_from", _U64 * (LOADED // 4)),  # as `origin`, by registers
        ("lacking_site", _U32),  # as `origin_site`
        ("lacking_lanes", _U32),  # as `origin_lanes`
        ("place", _U32),  # of the access at hand: its first byte in the registers of its data
        ("giving_segment", _U32),  # of the store at hand
        ("giving_unit", _U32 * 4),  # the registers of the data of the store at hand
        ("giving", _U32 * (4 * 4)),  # lanes by bytes of the store's data: they hold nothing
        ("pending", _U32 * (UNITS + 1)),  # lanes
        ("load", _U32 * (UNITS + 1)),  # the site that fills it, its stream << 16
        ("latest", _U64 * (UNITS + 1)),  # number of the load that fills it
        # What is in flight: rings by streams.
        ("first", _U32 * (3 * RING)),  # registers that it fills
        ("count", _U32 * (3 * RING)),
        ("asked", _U32 * (3 * RING)),  # lanes that were on
        ("site", _U32 * (3 * RING)),
        ("tails", _U32 * (3 * RING)),  # of these registers, how many at the end it does not fill
        ("writes", _U32 * (3 * RING)),  # 1: changes memory
        ("halves", _U32 * (3 * RING)),  # that it fills, of each register
        ("kept", _U32 * (3 * RING)),  # where in `late` it keeps what its registers held
        ("swapped", _U32 * (3 * RING)),  # by places in `late`: registers that hold what was kept
        ("late", _U32S),  # u32[3 * RING][KEPT_WORDS]; 0 where loads are done when they are issued
        ("gaps", pointer("struct gap")),  # Gap[3 * RING]: by places in `late`
        ("causes", pointer("struct cause")),  # Cause[CAUSES], by numbers from 1
        ("cause_count", _U64),
        ("strip", _U64),  # lanes of a strip
        ("vgprs", _U64),  # of a wave
        ("partner", _U64 * (3 * RING)),  # where it stands in the other stream, for flat loads; 0 for none
        ("entry", _U64 * (3 * RING)),  # its number
    )
