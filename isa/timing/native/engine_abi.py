"""Interface to native code: names, shapes and codes that the Python and C sides of the cycle model share.

`Code` is the kernel, one entry per static instruction. `Recorded` is what waves executed (see
`isa.timing.trace.trace`). `Work` is what one unit (a CU in CU mode, a WGP in WGP mode) has to do. The engine sees
nothing else of a program.

`isa.timing.native` makes the C header from this module: the tuples of STRUCTS become structures, `Ints` and `Floats`
in them pointers followed by their length (`kind`, `kind_n`), and the names of CONSTANTS an enumeration.
"""

from __future__ import annotations

import ctypes
from typing import Any, NamedTuple, TypeAlias

import numpy as np

from isa.registers import LANES as LANES  # one of CONSTANTS

Ints: TypeAlias = np.ndarray[Any, np.dtype[np.int64]]
Floats: TypeAlias = np.ndarray[Any, np.dtype[np.float64]]

VALU, SALU, SMEM, LDS_LOAD, LDS_STORE, LOAD, STORE, WAIT, BARRIER, BRANCH, INTERNAL, END, PRIO, LDS_EXCHANGE = range(14)
"""What an instruction is for the issue logic. INTERNAL: s_nop, s_clause and their kind, which need no unit.
LDS_EXCHANGE: what lanes give each other through LDS, of which no address is recorded."""

KIND_NAMES = "VALU SALU SMEM LDS_LOAD LDS_STORE LOAD STORE WAIT BARRIER BRANCH INTERNAL END PRIO LDS_EXCHANGE".split()

BUSY, BANK, DEPENDENCY, LDS_WAIT, LDS_BANDWIDTH, GMEM, BARRIER_WAIT, BRANCH_COST, DRAIN, SCALAR, FETCH, ISSUE, TAIL = (
    range(13)
)
"""Where a SIMD's cycles go; they sum to the whole time."""

CAUSES = (
    "VALU busy",
    "bank stalls",
    "VALU dependency",
    "LDS wait",
    "LDS bandwidth",
    "GMEM wait",
    "barrier",
    "branch",
    "drain",
    "scalar",
    "instruction fetch",
    "issue and request path",
    "launch and tail",
)

VGPRS = 256
SCC = VGPRS + 128
REGISTERS = VGPRS + 129
"""Register numbers of `Code.src` and `dst`: VGPRs 0 to 255, then the scalar operand space, then SCC."""

ATOMIC = CLAUSED = 1
"""`Code.value` of a memory access that only L2 serves; of a scalar load in a clause, after its first one."""
SCALAR_TRANS = 2
"""Of a transcendental of one number, which takes its unit as long as the VALU."""

BANKS, SECTOR = 32, 32
"""Lanes of a wave; banks of LDS that an access can use; bytes of a sector."""

BROUGHT = 2**18
"""Room for the lines that have been brought to an L0; of that three quarters are used."""

SCRATCH_BIT = 60
"""Of the first sector of scratch, of which each resident wave has its own, one behind the other: beyond all addresses.
C's enumerators are ints."""

OLDEST, STICKY, ROUND_ROBIN, ROTATING = range(4)
POLICIES = ("oldest first", "greedy, then oldest", "round robin", "greedy, then the next in turn")


class Code(NamedTuple):
    """n static instructions in b blocks.

    kind[n]; block_first[b + 1], the first instruction of each block;
    passes[n] cycles on the VALU, hold[n] of them at its issue; bank_reuse[n], bank_cold[n] extra cycles for operand
    reads, with and without what the previous instruction left in the operand caches; latency[n] of a VALU result;
    src_at[n + 1] into src[], dst_at[n + 1] into dst[]: the registers that each reads and writes, ascending;
    delay[n, 4]: two (kind, count) that s_delay_alu attached: kind 1 VALU_DEP, 2 TRANS32_DEP, 3 cycles; or 4,
        va_vdst and one;
    wait[n, 3]: s_waitcnt limits for vmcnt, lgkmcnt, vscnt, -1 where it does not wait;
    path[n] cycles of the request path; dwords[n] a lane; counter[n] which counter a memory access raises;
    private[n]: 1 for scratch; value[n]: priority of s_setprio, cycles of s_nop and s_sleep, 1 or SCALAR_TRANS for a
    transcendental, ATOMIC for an atomic, CLAUSED for a scalar load;
    fetch[n]: line of the code.
    """

    kind: Ints
    block_first: Ints
    passes: Ints
    hold: Ints
    bank_reuse: Ints
    bank_cold: Ints
    latency: Ints
    src_at: Ints
    src: Ints
    dst_at: Ints
    dst: Ints
    delay: Ints
    wait: Ints
    path: Ints
    dwords: Ints
    counter: Ints
    private: Ints
    value: Ints
    fetch: Ints


class Recorded(NamedTuple):
    """What the waves of the recorded workgroups executed; wave i of workgroup r is row r * waves + i.

    block_at[rows + 1] into blocks[]: the basic blocks in order.
    lds_at[rows + 1] into lds[]: LDS cycles of each LDS access in order.
    mem_at[rows + 1] into sector_at[]: each global or scratch access in order; sector_at[m : m + 1] into sectors[]: the
    32-byte sectors that it touches, ascending and distinct.
    """

    block_at: Ints
    blocks: Ints
    lds_at: Ints
    lds: Ints
    mem_at: Ints
    sector_at: Ints
    sectors: Ints


class Work(NamedTuple):
    """What one unit runs.

    record[g]: for each workgroup in order of dispatch, which recording it follows; distance[g, columns]: sectors by
    which its addresses lie further than the recorded ones, column[wave, n]: which of them is of a wave's instruction n.
    level[n, 2, 3]: of n's L0 misses the share that hits in L1, in L1 or L2, in L1, L2 or L3; first of lines that are
    brought to this L0 for the first time in a round, then of others. Of its stores 0, the share that ends in L2, in L2
    or L3. remembered: lines that are brought to L0s until none of them counts as brought any more. scratch: a wave's
    sectors of it.
    """

    record: Ints
    columns: int
    distance: Ints
    column: Ints
    level: Floats
    remembered: int
    scratch: int = 0


class Machine(NamedTuple):
    """The numbers the engine needs, all in cycles of this clock, shares already taken for one CU. *_line: of a line
    from that level; vram_write: of one that VRAM takes; write_slack: how far VRAM may lag what L2 took."""

    simds: int
    lds_units: int
    waves: int
    slots: int
    policy: int
    seed: int
    issue_to_execute: int
    queue: int
    queue_keeps: int
    to_lds: int
    to_vmem: int
    to_scalar: int
    valu_to_end: int
    landed: int
    carry: int
    trans: int
    salu_latency: int
    salu_to_valu: int
    smem_latency: int
    smem_gap: int
    not_taken: int
    scc_to_branch: int
    taken: int
    barrier: int
    release: int
    release_at_once: int
    after_access: int
    stagger: int
    launch: int
    dispatch_gap: int
    icache_lines: int
    icache_miss: int
    lds_latency: int
    lds_return: float
    lds_store_latency: int
    lds_store: float
    lds_scale: float
    lds_queue: int
    path_queue: int
    ta_cycles: int
    l0_sets: int
    l0_ways: int
    l0_hashed: int
    l0_tags: int
    l0_latency: int
    l1_latency: int
    l2_latency: int
    l3_latency: int
    vram_latency: int
    fill: float
    l1_line: float
    l2_line: float
    l3_line: float
    vram_line: float
    vram_write: float
    write_slack: float
    store_ack: int


class Played(NamedTuple):
    """What one run of the engine fills.

    totals[4]: cycles, instructions issued, workgroups finished, cycles that waves were resident, summed over them; the
    rest as in `engine.run`.
    """

    totals: Ints
    causes: Ints
    hits: Ints
    lines: Ints
    stalls: Ints
    events: Ints
    waits: Ints


class Round(NamedTuple):
    """Workgroups `first` to `first + resident` of a launch, on the units of the chip (see `isa.timing.model.caches`).

    workgroups: of the launch; waves: of a workgroup; units: CUs or WGPs, cus_a_unit of each; arrays: shader
    arrays; limit: line accesses that are played; one_of: how many lines one that
    is counted stands for, a power of two; channels: of memory, 0 if not known, channel_bit: see
    `isa.timing.machine.cards`; record[resident]: the recording that each follows;
    distance[resident, columns], column[wave, n], scratch: as in `Work`.
    """

    first: int
    resident: int
    workgroups: int
    waves: int
    units: int
    cus_a_unit: int
    arrays: int
    limit: int
    one_of: int
    channels: int
    channel_bit: int
    record: Ints
    columns: int
    distance: Ints
    column: Ints
    scratch: int


class Cache(NamedTuple):
    """Equal caches: tags[caches, sets, ways] are numbers of lines, -1 for none; used: when each was asked for last;
    dirty: masks of sectors that were written, empty where nothing is kept that was; hashed: 0 where a set is the low
    bits of a line's number."""

    sets: int
    ways: int
    hashed: int
    tags: Ints
    used: Ints
    dirty: Ints


class Log(ctypes.Structure):
    """What a recorded kernel writes to (`native/recording.c`): addresses of the next row and of where the log is full,
    bytes of a row, lanes of a strip, and Python's function that takes the rows over."""

    _fields_ = tuple((name, ctypes.c_uint64) for name in ("at", "full", "row", "lanes", "drain"))


STRUCTS = (Code, Recorded, Work, Machine, Played, Round, Cache)
CONSTANTS = (
    *KIND_NAMES,
    *"BUSY BANK DEPENDENCY LDS_WAIT LDS_BANDWIDTH GMEM BARRIER_WAIT BRANCH_COST DRAIN SCALAR FETCH ISSUE TAIL".split(),
    *"OLDEST STICKY ROUND_ROBIN ROTATING VGPRS REGISTERS LANES BANKS SECTOR ATOMIC CLAUSED SCALAR_TRANS".split(),
    *"BROUGHT SCRATCH_BIT".split(),
)
