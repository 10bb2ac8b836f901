"""A side's instructions: where a thread stands in the K block, global loads, and stores to LDS.

Rows of A and columns of B after the last one read the last one instead: nothing of them is stored. The first K block
holds what K leaves over, at its end; what lies before that stays zero.

**Along k** each chunk of a thread has its own byte offset in a VGPR, from a 64-bit base that goes on by a K block.
Where K is no multiple of the depth, the first K block is fetched element by element, under EXEC.

**Across** a thread fetches its patch line of the matrix by line, and the base goes on by a line after each. Of bytes
two rows come by a load of half a VGPR, the other half of which is the next step of k: so one `v_perm_b32` makes four
bytes of a row. A patch may begin inside of the matrix and end outside of it, where a workgroup lies on the edge of a
matrix whose lines are no multiple of a patch: such workgroups, and only these, are *ragged*, and fetch element by
element.

**Bytes** come by loads of half a VGPR where they come one by one: even ones where they belong, odd ones into VGPRs of
their own, and are joined when all are there.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from isa.gemm.matrix.parameters import MatrixParameters
from isa.gemm.matrix.registers import SCALARS, SideRegisters
from isa.gemm.matrix.sides import CHUNK_BYTES, FRAGMENT, MatrixSide
from isa.gemm.text import add64, begin, go_back, is_ragged, log2, wide
from isa.registers import Reg

_ALL_LANES = f"s_mov_b32 exec_lo, {SCALARS.all_lanes}"
LOW, HIGH = 0x05040100, 0x07060302
"""Selectors of `v_perm_b32`: the low, or the high, halves of both words."""
EVEN, ODD = 0x06040200, 0x07050301
"""Their even, or odd, bytes."""


def place(side: MatrixSide, r: SideRegisters, step: Reg, row: Reg, t: Reg) -> Iterator[str]:
    """Where the thread v0 stands: its first step of k and its first row, and `write`. t: free."""
    threads = log2(side.line_threads)
    line = step  # of chunks, to begin with
    if side.along_k:
        yield f"v_and_b32_e32 {line}, {side.lines - 1}, v0"
        yield f"v_lshrrev_b32_e32 {t}, {threads}, v0"
        yield f"v_and_b32_e32 {row}, {FRAGMENT - 1}, {t}"
        yield f"v_bfe_u32 {r.write}, {t}, 4, {log2(side.near)}"
        yield f"v_lshl_add_u32 {row}, {row}, {log2(side.near)}, {r.write}"
        yield f"v_and_b32_e32 {r.write}, {-side.wave}, {t}"
        yield f"v_add_nc_u32_e32 {row}, {row}, {r.write}"
    else:
        pieces = log2(side.pieces)
        yield f"v_lshrrev_b32_e32 {line}, {threads + pieces}, v0"
        if pieces:  # 8 patches of a piece, then those of the next piece
            yield f"v_bfe_u32 {row}, v0, {3 + pieces}, {threads - 3}"
            yield f"v_and_b32_e32 {t}, 7, v0"
            yield f"v_lshl_add_u32 {row}, {row}, 3, {t}"
        else:
            yield f"v_and_b32_e32 {row}, {side.line_threads - 1}, v0"
        # Patch -> slot of its first row: lane + 16 patch * part + wave * which wave.
        lanes, parts = (8, 1) if side.paired else (FRAGMENT, side.near // side.patch)
        yield f"v_and_b32_e32 {t}, {lanes - 1}, {row}"
        yield f"v_lshrrev_b32_e32 {row}, {log2(lanes)}, {row}"
        yield f"v_and_b32_e32 {r.write}, {parts - 1}, {row}"
        yield f"v_lshrrev_b32_e32 {row}, {log2(parts)}, {row}"
        yield f"v_lshlrev_b32_e32 {row}, {log2(side.wave)}, {row}"
        yield f"v_lshl_add_u32 {row}, {r.write}, {log2(side.patch)}, {row}"
        # row is wave * which + patch * part: a slot counts a patch's part 16 times
        yield f"v_mul_u32_u24_e32 {r.write}, {(FRAGMENT - 1) * side.patch}, {r.write}"
        yield f"v_add3_u32 {r.write}, {r.write}, {row}, {t}"
        yield f"v_lshl_add_u32 {row}, {t}, {log2(max(side.near, side.patch))}, {row}"
        yield f"v_mov_b32_e32 {t}, {r.write}"
    yield f"v_lshlrev_b32_e32 {r.write}, {log2(side.swizzle_step)}, {line}"
    yield f"v_xor_b32_e32 {t}, {t}, {r.write}"
    yield f"v_mul_u32_u24_e32 {r.write}, {side.pitch}, {line}"
    yield f"v_lshl_add_u32 {r.write}, {t}, {log2(CHUNK_BYTES)}, {r.write}"
    if side.pieces > 1:
        yield f"v_bfe_u32 {t}, v0, 3, {log2(side.pieces)}"
        yield f"v_lshl_add_u32 {r.write}, {t}, {log2(side.steps * side.element)}, {r.write}"
        yield f"v_lshl_add_u32 {line}, {line}, {log2(side.pieces)}, {t}"
    yield f"v_lshlrev_b32_e32 {step}, {log2(side.steps)}, {line}"


def packs(p: MatrixParameters) -> Iterator[str]:
    """K counts elements in memory from here on."""
    if p.pack > 1:
        yield f"s_lshr_b32 {SCALARS.k}, {SCALARS.k}, {log2(p.pack)}"


def read_addresses(side: MatrixSide, addresses: Iterable[Reg], part: Reg, lane: Reg, half: Reg) -> Iterator[str]:
    """Of the lines of chunks, from the first on. part: the wave's first slot, which is lost; lane: the lane's number in
    a fragment, where the halves of a wave are split `swizzled`; half: which half of the wave."""
    if side.split:
        yield f"v_lshl_add_u32 {part}, {half}, {log2(side.extent)}, {part}"
    for number, address in enumerate(addresses):
        yield f"v_xor_b32_e32 {address}, {side.swizzle(side.lines_at_once * number)}, {lane}"
        yield f"v_add_lshl_u32 {address}, {address}, {part}, {log2(CHUNK_BYTES)}"


def swizzled(side: MatrixSide, slot: Reg, half: Reg, t: Reg) -> Iterator[str]:
    """A slot of the first line of chunks that half of a wave reads is exclusive-ored as that line has it: `swizzle` of
    a line is that of an even one and that of line 0 or 1. t: free."""
    yield f"v_lshlrev_b32_e32 {t}, {log2(side.swizzle_step)}, {half}"
    yield f"v_xor_b32_e32 {slot}, {t}, {slot}"


def base(side: MatrixSide, r: SideRegisters) -> Iterator[str]:
    """The matrix from the tile's first row or column on, and from the first K block's first step of k, which `empty`
    puts before the matrix."""
    t = SCALARS.t
    yield from begin(r.base, r.start, r.leading if side.along_k else None, side.element, t)
    if side.along_k:
        yield f"s_lshl_b32 {t.sub(0)}, {SCALARS.empty}, {log2(side.element)}"
        yield f"s_mov_b32 {t.sub(1)}, 0"
    else:
        yield from wide(t, SCALARS.empty, r.line)
        yield from wide(r.step, side.depth - side.steps, r.line)
    yield from go_back(r.base, t)


def offsets(side: MatrixSide, r: SideRegisters, step: Reg, row: Reg, t: Reg) -> Iterator[str]:
    """Byte offsets of a thread's fetches. step, row: from `place`; t: free."""
    last, bound, mine = SCALARS.t.sub(0), SCALARS.u, SCALARS.t.sub(1)
    yield f"s_sub_i32 {last}, {r.size}, {r.start}"
    yield f"s_sub_i32 {last}, {last}, 1"
    if side.along_k:
        sweep = side.threads // side.lines
        for i, offset in enumerate(r.offsets):
            yield f"v_add_nc_u32_e32 {t}, {side.row(sweep * i)}, {row}"
            yield f"v_min_u32_e32 {t}, {last}, {t}"
            yield f"v_mul_lo_u32 {t}, {t}, {r.line}"
            yield f"v_lshl_add_u32 {offset}, {step}, {log2(side.element)}, {t}"
        return
    yield from is_ragged(SCALARS.ragged, r.size, (side.extent, side.patch), last, bound, mine)
    yield f"v_min_u32_e32 {row}, {bound}, {row}"
    yield f"v_sub_nc_u32_e32 {t}, {last}, {row}"
    for j, lanes in enumerate(r.inside, 1):
        yield f"v_cmp_le_i32_e64 {lanes}, {j}, {t}"
    yield f"v_mul_lo_u32 {t}, {step}, {r.line}"
    yield f"v_lshl_add_u32 {r.offsets[0]}, {row}, {log2(side.element)}, {t}"


def first_loads(side: MatrixSide, r: SideRegisters, step: Reg, t: Reg) -> Iterator[str]:
    """Loads of a first K block that lacks `empty` steps of k, element by element. t: free. EXEC is all lanes before and
    after, and so in `loads`. `joined` is to follow."""
    yield f"v_subrev_nc_u32_e32 {t}, {SCALARS.empty}, {step}"
    for j in range(side.steps):
        # The lane's k, of its step j, is t + j.
        yield f"v_cmp_le_i32_e32 vcc_lo, {-j}, {t}"
        yield "s_mov_b32 exec_lo, vcc_lo"
        if side.along_k:
            for number, offset in enumerate(r.offsets):
                yield _element(side, r, number, j, offset)
        else:
            yield from _elements(side, r, j, "vcc_lo")
            yield from add64(r.base, r.line)
        yield _ALL_LANES
    yield from _advance(side, r)


def loads(side: MatrixSide, r: SideRegisters, part: range, ragged: bool) -> Iterator[str]:
    """The global loads of a part of a K block; after the last one the base goes on to the next block. ragged: element
    by element; `joined` follows."""
    if side.along_k:
        for i in part:
            yield f"global_load_b128 {r.fetched[i]}, {r.offsets[i]}, {r.base}"
    else:
        if ragged:
            yield from zeros(of(side, r.odd, part))
        for j in part:
            if ragged:
                yield from _elements(side, r, j, "")
                yield _ALL_LANES
            else:
                yield from _patch_line(side, r, j)
            yield from add64(r.base, r.line)
    if part.stop == side.loads:
        yield from _advance(side, r)


def _patch_line(side: MatrixSide, r: SideRegisters, step: int) -> Iterator[str]:
    """A patch at one step of k."""
    if side.element == 2:
        yield f"global_load_b{16 * side.patch} {r.fetched[step]}, {r.offsets[0]}, {r.base}"
        return
    name = f"global_load_d16_{'hi_' if step % 2 else ''}b16"
    for pair, register in enumerate(r.fetched[step // 2].units()):
        yield f"{name} {register}, {r.offsets[0]}, {r.base}{_at(2 * pair)}"


def _advance(side: MatrixSide, r: SideRegisters) -> Iterator[str]:
    yield from add64(r.base, *((side.element * side.depth,) if side.along_k else r.step.units()))


def _elements(side: MatrixSide, r: SideRegisters, j: int, lanes: str) -> Iterator[str]:
    """A patch at one step of k, of the lanes that EXEC is, and `lanes` says once more."""
    yield _element(side, r, j, 0, r.offsets[0])
    for i, inside in enumerate(r.inside, 1):
        yield f"s_and_b32 exec_lo, {lanes}, {inside}" if lanes else f"s_mov_b32 exec_lo, {inside}"
        yield _element(side, r, j, i, r.offsets[0])


def _element(side: MatrixSide, r: SideRegisters, fetch: int, i: int, offset: Reg) -> str:
    """Element i of those that a thread's fetch of this number brings."""
    if side.element == 2:
        register, high, width = r.fetched[fetch].sub(i // 2), i % 2, "b16"
    else:  # across, the halves of a VGPR are two steps of k
        number, word, high = (fetch, i // 4, i // 2 % 2) if side.along_k else (fetch // 2, i // 2, fetch % 2)
        register, width = (r.odd if i % 2 else r.fetched)[number].sub(word), "u8"
    return f"global_load_d16_{'hi_' if high else ''}{width} {register}, {offset}, {r.base}{_at(i * side.element)}"


def joined(side: MatrixSide, r: SideRegisters, part: range) -> Iterator[str]:
    """After a fetch of a part element by element, when it is there: odd bytes go to the even ones."""
    for fetched, odd in zip(of(side, r.fetched, part), of(side, r.odd, part), strict=False):
        for even, other in zip(fetched.units(), odd.units(), strict=True):
            yield f"v_lshl_or_b32 {even}, {other}, 8, {even}"


def of(side: MatrixSide, registers: tuple[Reg, ...], part: range) -> tuple[Reg, ...]:
    """Those of `fetched`, or of `odd`, that a part goes into."""
    each = side.loads // len(registers) if registers else 1
    return registers[part.start // each : part.stop // each]


def zeros(registers: Iterable[Reg]) -> Iterator[str]:
    """Before a fetch under EXEC: lanes that are off have zeros."""
    for register in registers:
        for unit in register.units():
            yield f"v_mov_b32_e32 {unit}, 0"


def turned(side: MatrixSide, r: SideRegisters) -> Iterator[str]:
    """What a side across fetched, turned around in its pieces."""
    if side.along_k:
        return
    selectors = (SCALARS.low, SCALARS.high) if side.element == 2 else (SCALARS.even, SCALARS.odd)
    for row, piece in enumerate(r.pieces):
        for word, target in enumerate(piece.units()):
            low, high = (r.fetched[2 * word + i].sub(row // 2) for i in range(2))
            yield f"v_perm_b32 {target}, {high}, {low}, {selectors[row % 2]}"


def stores(side: MatrixSide, r: SideRegisters, start: int) -> Iterator[str]:
    """What was fetched, and `turned`, goes to LDS, where the side's part of a buffer begins at byte `start`."""
    for i, piece in enumerate(r.pieces):
        slot = side.threads // side.lines * i if side.along_k else side.piece_slot(i)
        yield f"ds_store_b{32 * piece.count} {r.write}, {piece}{_at(start + slot * CHUNK_BYTES)}"


def _at(offset: int) -> str:
    return f" offset:{offset}" if offset else ""
