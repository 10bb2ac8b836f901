"""State shared by native code and Python: a wave's registers, and what a thread that runs waves needs to know.

Each struct is described once, as a ctypes Structure; `llvm_struct` gives native code its layout from that.

A wave's VGPRs follow its `Wave` struct in strips: [strip][VGPR][lane of the strip], 32 bits each, so that the code that
works on one strip of lanes touches one dense piece of memory. A wave of 64 lanes has them twice in each strip, first
those of its lanes 0 to 31.
"""

from __future__ import annotations

import ctypes
from enum import IntEnum

from isa.registers import LANES, Reg

_U32, _U64, _PTR = ctypes.c_uint32, ctypes.c_uint64, ctypes.c_uint64
TIME_SLICE = 1 << 20
"""Instructions that a wave runs before others have theirs, if it comes to no barrier: it may wait for them."""
TURN = 16
"""Time slices of a workgroup before others have theirs, if it does not end."""
SINK_BYTES = 64
LDS_PADDING = 128
"""Bytes before and after LDS that may be read (and are not used)."""
PAGE_BYTES = 4096
"""The smallest page of a card, and of hosts."""
STREAMS = 32
"""Loads of loops, of one kernel, whose next addresses are foretold."""
SHARED_APERTURE = 0x1000_0000
"""High half of a flat address that means LDS; no host address begins so."""
PRIVATE_APERTURE = 0x2000_0000
"""High half of a flat address that means scratch."""


class Stop(IntEnum):
    """Why a wave's function returned."""

    END = 0
    BARRIER = 1
    SWITCH = 2  # goes on in the other version of the code
    FAULT = 3
    ABORT = 4
    BUDGET = 5  # of the wave's time slice; of the launch, where nothing is left in reserve
    YIELD = 6  # the time slice is over; only under the sanitizer
    WAITS = 7  # the wave looked at memory again, and found what it had found: others go first


class FaultKind(IntEnum):
    GLOBAL = 1
    LDS = 2
    SCRATCH = 3
    JUMP = 4
    TRAP = 6  # fault_address: of the instruction
    GRID = 7  # likewise: a barrier of the grid, whose workgroups are not all on the card
    REGISTER = 5  # fault_address: of the instruction; fault_bytes: the VGPR's number


class Wave(ctypes.Structure):
    """One wave: scalar registers by their hardware number, SCC, and where it goes on."""

    _fields_ = (
        ("s", _U32 * 128),
        ("scc", _U32),
        ("pc", _U32),  # address of a block
        ("index", _U32),  # of the wave in its workgroup
        ("plain", _U32),  # 1: goes on in the plain version
        ("done", _U32),  # 1: has ended; 2: waits at a barrier, in a launch without hooks
        ("bails", _U32),
        ("scratch", _PTR),
        ("shadow", _PTR),  # what hooks know of it: isa.sanitize.state.Shadow
        ("last", _U64 * STREAMS),  # addresses that loads of loops began with: isa.sim.translate.lane_access
        ("look", _U64),  # digest of what the loop that waits read in this iteration, 0 for nothing; in the one before
        ("before", _U64),
        ("goal", _U64),  # at a barrier of the grid: how many must have arrived; 0 elsewhere
        ("ticks", _U64),  # instructions, about, in kernels that read a clock: what the clock says
        ("pad", _U32 * 14),
    )


class Context(ctypes.Structure):
    """What one thread needs to run waves of one launch."""

    _fields_ = (
        ("abort", _PTR),  # u32, set by Python: stop soon
        ("counter", _PTR),  # u64: the next workgroup, shared by all threads
        # u64: waves that came to a barrier of the grid, shared; null: not all workgroups have a thread
        ("arrived", _PTR),
        ("total", _U64),
        ("table", _PTR),  # isa.sim.run.memory.AllocationTable
        ("lds", _PTR),
        ("waves", _PTR),  # wave structs, `wave_bytes` apart
        ("wave_bytes", _U64),
        ("scalars", _PTR),  # u32[128]: what the SGPRs of each wave begin with
        ("v0", _PTR),  # u32[waves][lanes]: what v0 of each wave begins with, by kinds of workgroups
        ("execs", _PTR),  # u32[waves][2]
        ("kinds", _PTR),  # u32[8][2]: of each kind the first of these waves, and how many
        ("sites", _PTR),  # u64[sites][2]: base and size of the allocation each access site met last
        ("fast", _PTR),  # the two versions of the wave's code
        ("plain", _PTR),
        ("need_plain", _PTR),  # Python: compiles the plain version, gives its address or 0
        ("code", _U64),  # where the code object lies, for s_getpc
        ("budget", ctypes.c_int64),  # instructions that the wave may still run in its time slice
        ("reserve", ctypes.c_int64),  # those that are left for slices to come
        ("shadow", _PTR),  # what hooks of this thread know: isa.sanitize.state.Thread
        ("fault_address", _U64),
        ("group", _U64),
        ("lds_bytes", _U32),
        ("scratch_bytes", _U32),  # of a lane
        ("wave_count", _U32),  # of the workgroup that is running
        ("halves", _U32),  # of a wave, 32 lanes each: 1 or 2; the VGPRs of the second stand after those of the first
        ("grid", _U32 * 3),
        ("id_sgpr", _U32 * 4),  # SGPR that each workgroup id, and the wave's, is added to; 124 (NULL) where none is
        ("id_bit", _U32 * 4),  # and its lowest bit there
        ("entry", _U32),  # address of the kernel's first block
        ("panel", _U32),  # workgroups are handed out in vertical panels of so many columns
        ("current", _U32 * 3),  # workgroup that is running
        ("fault", _U32),  # FaultKind, 0 for none
        ("fault_site", _U32),
        ("fault_lane", _U32),
        ("fault_bytes", _U32),
        ("fault_wave", _U32),
        ("sink", ctypes.c_uint8 * SINK_BYTES),  # where an access that is outside goes instead
        ("limit", ctypes.c_int64),  # instructions that a workgroup may run
        ("turn", ctypes.c_int64),  # time slices that are left of the workgroup's turn
        ("patience", ctypes.c_int64),  # how often all that run may look in vain before other workgroups are next
        ("progress", _U64),  # grows where a wave finds something new, or ends
        ("running", _U32),  # 1: a workgroup has begun here and not ended
        ("look_site", _U32),  # the access site that a loop which waits looked with last
        ("looked", _U64 * (2 * LANES)),  # and each lane's address
    )


def field_offset(struct: type[ctypes.Structure], name: str) -> int:
    offset = getattr(struct, name).offset
    assert isinstance(offset, int)
    return offset


def scalar_offset(reg: Reg) -> int:
    """Byte offset in `Wave` of a scalar register or SCC."""
    return field_offset(Wave, "scc") if reg.file == "scc" else 4 * reg.index


VGPRS = ctypes.sizeof(Wave)
assert VGPRS % 64 == 0


def middle_of(size: int) -> int:
    """Where a pointer to vectors in `size` bytes should be: AVX-512 says in one byte, not in four, how far from it one
    of 128 to either side lies, and the code of a kernel's loop just fits the host's cache of instructions."""
    return size // 128 * 64
