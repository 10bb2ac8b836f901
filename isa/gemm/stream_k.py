"""Instructions of a stream-K kernel: which pieces of work a workgroup does, and how pieces of one tile become sums.

See work.py for the split. A piece that is a whole tile goes straight to the epilogue. Of a tile in pieces, each wave
handles its own part, as no wave needs what another one of its workgroup adds up:

    the last piece's wave looks at the counter of (tile, wave): have all other pieces arrived?
    if so, or else after this, it is the last:
        its sums go to the slot of the piece; release; the counter goes up by one; acquire
        the wave that finds that all others have arrived is the last; the others are done
    the last wave adds up the pieces in ascending k, puts the counter back to 0, and goes on to the epilogue

So no workgroup ever waits for another, whatever the order in which they run; and whoever comes last, the order of
sums is the same: ((first + second) + third) and so on. Counters begin at 0 and are left at 0.

Release and acquire at the scope of the card are those of LLVM's AMDGPUUsage, "Memory Model GFX10-GFX11": stores, then
a wait for them, then the atomic; a load or an atomic that returns, of what others write, then a wait for it, then an
acquire (`isa.passes.words`). That of GFX12 writes caches back beside for the scope of the system only.

Branches on what a counter holds fall through on the path that is taken when the others were faster.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from types import SimpleNamespace

from isa.gemm.text import add64, log2, wide
from isa.gemm.vector.work import COUNTERS, Tiled, slot_bytes
from isa.registers import Reg

GROUP = 4
WAVE = 32
_REACH = 4096
"""Bytes that an access reaches after its base: the offset is 13 bits with a sign (RDNA3 ISA guide, 12.6)."""
_QUAD_BYTES = 4 * GROUP * WAVE


def scalars(sgprs: int) -> SimpleNamespace:
    """SGPRs after the first so many, which every kernel has. a, b: the matrices; workspace to by_...: arguments, see
    work.Work. group: the workgroup's number, then that of its range. across: tiles in a row of C; blocks: K blocks of a
    tile. begin, end: what is left of the workgroup's range; whole: its next whole tile. tile, start, count: the piece
    at hand. empty: steps of k that a tile's first K block lacks. x, y, z: for the moment. counter, slot: addresses.
    owner, last: the ranges with the first and the last piece of the tile; others: how many pieces beside one's own."""
    first = -(-sgprs // 4) * 4
    names = (
        ("a", 2), ("b", 2), ("workspace", 2), ("dealt", 1), ("streamed", 1), ("chunk", 1), ("by_across", 1),
        ("by_blocks", 1), ("by_chunk", 1), ("counter", 2), ("slot", 2), ("group", 1), ("across", 1),
        ("tiles", 1), ("blocks", 1), ("begin", 1), ("end", 1), ("whole", 1), ("tile", 1), ("start", 1), ("count", 1),
        ("empty", 1), ("owner", 1), ("last", 1), ("others", 1), ("x", 1), ("y", 1), ("z", 1),
    )  # fmt: skip
    found = {}
    for name, count in names:
        found[name] = Reg("s", first, count)
        first += count
    return SimpleNamespace(**found, end_of_registers=first)


def by_constant(target: Reg, number: Reg, divisor: int, t: Reg) -> Iterator[str]:
    """target = number / divisor, rounded down, for numbers below 2^31. t: a pair that is free.

    With l = ceil(log2 divisor) and m = ceil(2^(31 + l) / divisor), number * m / 2^(31 + l) is too large by less than
    number / 2^31 / divisor, which does not reach the next integer (Granlund, Montgomery, "Division by Invariant
    Integers using Multiplication", 1994, theorem 4.2)."""
    if divisor & (divisor - 1) == 0:
        yield f"s_lshr_b32 {target}, {number}, {divisor.bit_length() - 1}"
        return
    shift = 31 + (divisor - 1).bit_length()
    factor = -(-(1 << shift) // divisor)
    yield f"s_mul_hi_u32 {t.sub(1)}, {number}, {factor:#x}"
    yield f"s_mul_i32 {t.sub(0)}, {number}, {factor:#x}"
    yield f"s_lshr_b64 {t}, {t}, {shift}"
    yield f"s_mov_b32 {target}, {t.sub(0)}"


def divide(target: Reg, rest: Reg, number: Reg, divisor: Reg, by: Reg, u: Reg) -> list[str]:
    """target, rest = divmod(number, divisor), for all 32-bit numbers. u: free.

    by: floor((2^32 - 1) / divisor). From by > (2^32 - 1) / divisor - 1 follows 2^32 - by * divisor <= divisor, hence
    number / divisor - number * by / 2^32 <= number / 2^32 < 1: the first quotient is right or one too small, and one
    correction does."""
    return [
        f"s_mul_hi_u32 {target}, {number}, {by}",
        f"s_mul_i32 {rest}, {target}, {divisor}",
        f"s_sub_u32 {rest}, {number}, {rest}",
        f"s_cmp_ge_u32 {rest}, {divisor}",
        f"s_cselect_b32 {u}, {divisor}, 0",
        f"s_addc_u32 {target}, {target}, 0",
        f"s_sub_u32 {rest}, {rest}, {u}",
    ]


def quotient(target: Reg, t: Reg, number: Reg, divisor: Reg, by: Reg, u: Reg) -> list[str]:
    """target = number / divisor, as `divide`. t, u: free."""
    *lines, _select, carry, _rest = divide(target, t, number, divisor, by, u)
    return [*lines, carry]


def begin_at(base: Reg, k: Reg, step: Reg | int, t: Reg) -> Iterator[str]:
    """A side's base goes on by `k` steps of so many bytes. t: free."""
    yield from wide(t, k, step)
    yield from add64(base, *t.units())


def first_piece(p: Tiled, w: SimpleNamespace, s: SimpleNamespace, label: str, *, depth: int) -> Iterator[str]:
    """When the arguments are there: what the workgroup has. s: the kernel's SCALARS; label: how labels begin; depth:
    what K counts of a K block. Ends at `<label>_next`, where a workgroup comes for its next piece."""
    yield "; tiles of C, and K blocks of each"
    yield f"s_add_u32 {w.x}, {s.n}, {p.columns - 1}"
    yield from by_constant(w.across, w.x, p.columns, s.t)
    yield f"s_add_u32 {w.x}, {s.m}, {p.rows - 1}"
    yield from by_constant(w.tiles, w.x, p.rows, s.t)
    yield f"s_mul_i32 {w.tiles}, {w.tiles}, {w.across}"
    yield f"s_add_u32 {w.blocks}, {s.k}, {depth - 1}"
    yield f"s_lshr_b32 {w.blocks}, {w.blocks}, {log2(depth)}"
    yield f"s_max_u32 {w.blocks}, {w.blocks}, 1"
    yield f"s_sub_i32 {w.empty}, 0, {s.k}"
    yield f"s_and_b32 {w.empty}, {w.empty}, {depth - 1}"
    yield "; the first workgroups have whole tiles"
    yield f"s_mul_i32 {w.whole}, {w.whole}, {w.across}"
    yield f"s_add_u32 {w.group}, {w.group}, {w.whole}"
    yield f"s_add_u32 {w.whole}, {w.streamed}, {w.group}"
    yield f"s_mov_b32 {w.begin}, 0"
    yield f"s_mov_b32 {w.end}, 0"
    yield f"s_cmp_lt_u32 {w.group}, {w.dealt}"
    yield f"s_cbranch_scc1 {label}_next"
    yield "; the others have a range of the line each, or nothing: then it begins at the end or after it"
    yield f"s_mov_b32 {w.whole}, {w.tiles}"
    yield f"s_sub_u32 {w.group}, {w.group}, {w.dealt}"
    yield f"s_mul_i32 {w.x}, {w.streamed}, {w.blocks}"
    yield f"s_mul_i32 {w.begin}, {w.group}, {w.chunk}"
    yield f"s_add_u32 {w.end}, {w.begin}, {w.chunk}"
    yield f"s_min_u32 {w.end}, {w.end}, {w.x}"
    yield f"{label}_next:"


def next_piece(w: SimpleNamespace, s: SimpleNamespace, label: str) -> Iterator[str]:
    """`tile`, `start` and `count` of the workgroup's next piece, and in x and y the tile's row and column among tiles;
    where there is none, it goes to `<label>_done`."""
    yield f"s_cmp_gt_u32 {w.end}, {w.begin}"
    yield f"s_cbranch_scc0 {label}_whole"
    yield f"s_sub_u32 {w.x}, {w.end}, 1"
    yield from quotient(w.tile, w.y, w.x, w.blocks, w.by_blocks, s.u)
    yield f"s_mul_i32 {w.x}, {w.tile}, {w.blocks}"
    yield f"s_max_u32 {w.y}, {w.begin}, {w.x}"
    yield f"s_sub_u32 {w.start}, {w.y}, {w.x}"
    yield f"s_sub_u32 {w.count}, {w.end}, {w.y}"
    yield f"s_mov_b32 {w.end}, {w.y}"
    yield f"s_branch {label}_piece"
    yield f"{label}_whole:"
    yield f"s_cmp_lt_u32 {w.whole}, {w.tiles}"
    yield f"s_cbranch_scc0 {label}_done"
    yield f"s_mov_b32 {w.tile}, {w.whole}"
    yield f"s_add_u32 {w.whole}, {w.whole}, {w.dealt}"
    yield f"s_mov_b32 {w.start}, 0"
    yield f"s_mov_b32 {w.count}, {w.blocks}"
    yield f"{label}_piece:"
    yield from divide(w.x, w.y, w.tile, w.across, w.by_across, s.u)


@dataclass(frozen=True)
class Combine:
    """What pieces of a tile need beside the main loop.

    s: the kernel's SCALARS. accumulators: by fours, in the order in which they lie in a slot. sums, added: other VGPRs
    by fours, as many of each as are added up at a time. at: a lane's place in a slot; mine: the wave's counter after
    the tile's; value: what the counter held. add: the instruction that adds sums.
    """

    p: Tiled
    w: SimpleNamespace
    s: SimpleNamespace
    accumulators: tuple[Reg, ...]
    sums: tuple[Reg, ...]
    added: tuple[Reg, ...]
    at: Reg
    mine: Reg
    value: Reg
    add: str = "v_add_f32_e32"

    @staticmethod
    def of(
        p: Tiled, w: SimpleNamespace, s: SimpleNamespace, sums: range, free: Sequence[Reg], at: Reg, mine: Reg,
        value: Reg, add: str = "v_add_f32_e32",
    ) -> Combine:  # fmt: skip
        """sums: numbers of the VGPRs that hold a lane's; free: others, by fours."""
        quads = tuple(Reg("v", i, GROUP) for i in range(sums.start, sums.stop, GROUP))
        half = min(len(free) // 2, _REACH // _QUAD_BYTES)
        return Combine(p, w, s, quads, tuple(free[:half]), tuple(free[half : 2 * half]), at, mine, value, add)

    def lines(self, thread: Reg, label: str, *, drain: bool = True) -> Iterator[str]:
        """After the main loop: all of it, up to `<label>_write`, where the tile's sums are there. thread: the VGPR
        with the thread's number. drain: loads into registers of these lines may seem to be in flight."""
        w, s = self.w, self.s
        if drain:
            yield "; nothing is in flight, which the text of the main loop does not tell"
            yield "wait global_load 0"
        yield f"s_cmp_eq_u32 {w.count}, {w.blocks}"
        yield f"s_cbranch_scc1 {label}_write"
        yield "; workgroups with the first and the last piece of the tile"
        yield f"s_mul_i32 {w.x}, {w.tile}, {w.blocks}"
        yield from quotient(w.owner, w.y, w.x, w.chunk, w.by_chunk, s.u)
        yield f"s_add_u32 {w.x}, {w.x}, {w.blocks}"
        yield f"s_sub_u32 {w.x}, {w.x}, 1"
        yield from quotient(w.last, w.y, w.x, w.chunk, w.by_chunk, s.u)
        yield f"s_sub_u32 {w.others}, {w.last}, {w.owner}"
        yield from self.addresses(thread)
        yield f"s_cmp_eq_u32 {w.group}, {w.last}"
        yield f"s_cbranch_scc0 {label}_publish"
        yield "; the last piece: are all others there?"
        yield f"global_load_b32 {self.value}, {self.mine}, {w.counter} shared"
        yield "wait global_load 0"
        yield f"v_readfirstlane_b32 {w.x}, {self.value}"
        yield f"s_cmp_eq_u32 {w.x}, {w.others}"
        yield f"s_cbranch_scc0 {label}_publish"
        yield f"{label}_add_up:"
        yield "acquire"
        yield f"v_mov_b32_e32 {self.value}, 0"
        yield "s_mov_b32 exec_lo, 1"
        yield f"global_store_b32 {self.mine}, {self.value}, {w.counter}"
        yield f"s_mov_b32 exec_lo, {s.all_lanes}"
        yield from self.add_up(label)
        yield f"s_branch {label}_write"
        yield f"{label}_publish:"
        yield from self.slot_of(w.group)
        yield from self.publish()
        yield f"v_mov_b32_e32 {self.value}, 1"
        yield "wait global_store 0"
        yield "s_mov_b32 exec_lo, 1"
        yield f"global_atomic_add_u32 {self.value}, {self.mine}, {self.value}, {w.counter} shared"
        yield f"s_mov_b32 exec_lo, {s.all_lanes}"
        yield "wait global_load 0"
        yield f"v_readfirstlane_b32 {w.x}, {self.value}"
        yield f"s_cmp_eq_u32 {w.x}, {w.others}"
        yield f"s_cbranch_scc1 {label}_came_last"
        yield f"s_branch {label}_next"
        yield f"{label}_came_last:"
        yield "; the sums of the last piece take the place of one's own, which lie in a slot"
        yield "acquire"
        yield from self.slot_of(w.last)
        yield from self.fetch()
        yield f"s_branch {label}_add_up"
        yield f"{label}_done:"
        yield "s_endpgm"
        yield f"{label}_write:"

    def addresses(self, thread: Reg) -> Iterator[str]:
        """`counter`, `at` and `mine` of the wave."""
        w, waves = self.w, self.p.waves
        yield f"s_mul_i32 {w.x}, {w.tile}, {4 * waves}"
        yield from _sum(w.counter, w.workspace, w.x)
        yield f"v_lshrrev_b32_e32 {self.value}, 5, {thread}"
        yield f"v_lshlrev_b32_e32 {self.mine}, 2, {self.value}"
        yield f"v_and_b32_e32 {self.at}, {WAVE - 1}, {thread}"
        yield f"v_lshlrev_b32_e32 {self.at}, 4, {self.at}"
        yield f"v_mul_u32_u24_e32 {self.value}, {len(self.accumulators) * _QUAD_BYTES:#x}, {self.value}"
        yield f"v_add_nc_u32_e32 {self.at}, {self.value}, {self.at}"

    def slot_of(self, group: Reg) -> Iterator[str]:
        """`slot` = that of the piece of the tile that `group` has."""
        w, size = self.w, slot_bytes(self.p)
        yield f"s_add_u32 {w.x}, {group}, {w.tile}"
        yield f"s_mul_hi_u32 {w.y}, {w.x}, {size:#x}"
        yield f"s_mul_i32 {w.x}, {w.x}, {size:#x}"
        yield f"s_add_u32 {w.slot.sub(0)}, {w.workspace.sub(0)}, {w.x}"
        yield f"s_addc_u32 {w.slot.sub(1)}, {w.workspace.sub(1)}, {w.y}"
        yield from _sum(w.slot, w.slot, COUNTERS)

    def publish(self) -> Iterator[str]:
        """The sums go to `slot`."""
        for i, quad in enumerate(self.accumulators):
            yield from self._reach(i)
            yield f"global_store_b128 {self.at}, {quad}, {self.w.slot} offset:{i * _QUAD_BYTES % _REACH}"

    def fetch(self) -> Iterator[str]:
        """The sums come from `slot`; `add_up` waits for them."""
        for i, quad in enumerate(self.accumulators):
            yield from self._reach(i)
            yield f"global_load_b128 {quad}, {self.at}, {self.w.slot} offset:{i * _QUAD_BYTES % _REACH}"

    def add_up(self, label: str) -> Iterator[str]:
        """accumulators = ((first piece + second) + ...) + accumulators."""
        w, size = self.w, len(self.sums)
        for begin in range(0, len(self.accumulators), size):
            batch = self.accumulators[begin : begin + size]
            sums, added = self.sums[: len(batch)], self.added[: len(batch)]
            yield from self.slot_of(w.owner)
            if begin:
                yield from _sum(w.slot, w.slot, begin * _QUAD_BYTES)
            yield from self._loads(sums)
            yield f"s_mov_b32 {w.z}, {w.others}"
            yield f"{label}_more_{begin}:"
            yield f"s_sub_u32 {w.z}, {w.z}, 1"
            yield f"s_cmp_eq_u32 {w.z}, 0"
            yield f"s_cbranch_scc1 {label}_all_{begin}"
            yield from _sum(w.slot, w.slot, slot_bytes(self.p))
            yield from self._loads(added)
            yield "wait global_load 0"
            yield from self._add(sums, added)
            yield f"s_branch {label}_more_{begin}"
            yield f"{label}_all_{begin}:"
            yield "wait global_load 0"
            yield from self._add(batch, sums)

    def _add(self, targets: tuple[Reg, ...], others: tuple[Reg, ...]) -> Iterator[str]:
        """targets = others + targets."""
        for target, other in zip(targets, others, strict=True):
            for x, y in zip(target.units(), other.units(), strict=True):
                yield f"{self.add} {x}, {y}, {x}"

    def _loads(self, quads: tuple[Reg, ...]) -> Iterator[str]:
        for i, quad in enumerate(quads):
            assert i * _QUAD_BYTES < _REACH
            yield f"global_load_b128 {quad}, {self.at}, {self.w.slot} offset:{i * _QUAD_BYTES}"

    def _reach(self, i: int) -> Iterator[str]:
        if i and i * _QUAD_BYTES % _REACH == 0:
            yield from _sum(self.w.slot, self.w.slot, _REACH)


def _sum(target: Reg, base: Reg, more: Reg | int) -> Iterator[str]:
    yield f"s_add_u32 {target.sub(0)}, {base.sub(0)}, {more if isinstance(more, Reg) else hex(more)}"
    yield f"s_addc_u32 {target.sub(1)}, {base.sub(1)}, 0"
