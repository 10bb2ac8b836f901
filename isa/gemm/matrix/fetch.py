"""A side's instructions: where a thread stands in the K block, global loads, and stores to LDS.

Rows of A and columns of B behind the last one read the last one instead: nothing of them is stored. The first K block
holds what K leaves over, at its end; what lies before that stays zero.

**Along k** each chunk of a thread has its own byte offset in a VGPR, from a 64-bit base that goes on by a K block.
Where K is no multiple of the depth, the first K block is fetched element by element, under EXEC.

**Across** a thread fetches its patch at 8 lines of the matrix, and the base goes on by a line after each. A patch may
begin inside of the matrix and end outside of it, where a workgroup lies on the edge of a matrix whose lines are no
multiple of a patch: such workgroups, and only these, are *ragged*, and fetch element by element.
"""

from __future__ import annotations

from collections.abc import Iterator

from isa.gemm.matrix.registers import SCALARS, SideRegisters
from isa.gemm.matrix.sides import CHUNK, CHUNK_BYTES, FRAGMENT, MatrixSide
from isa.registers import Reg

_ALL_LANES = f"s_mov_b32 exec_lo, {SCALARS.all_lanes}"
LOW, HIGH = 0x05040100, 0x07060302
"""Selectors of `v_perm_b32`: the low, or the high, halves of both words."""


def place(side: MatrixSide, r: SideRegisters, line: Reg, row: Reg, t: Reg) -> Iterator[str]:
    """Where the thread v0 stands: its line of chunks and its first row, and `write`. t: free."""
    threads = _log2(side.line_threads)
    if side.along_k:
        yield f"v_and_b32_e32 {line}, {side.lines - 1}, v0"
        yield f"v_lshrrev_b32_e32 {t}, {threads}, v0"
        yield f"v_and_b32_e32 {row}, {FRAGMENT - 1}, {t}"
        yield f"v_bfe_u32 {r.write}, {t}, 4, {_log2(side.near)}"
        yield f"v_lshl_add_u32 {row}, {row}, {_log2(side.near)}, {r.write}"
        yield f"v_and_b32_e32 {r.write}, {-side.wave}, {t}"
        yield f"v_add_nc_u32_e32 {row}, {row}, {r.write}"
    else:
        parts = side.near // side.patch
        yield f"v_lshrrev_b32_e32 {line}, {threads}, v0"
        yield f"v_and_b32_e32 {row}, {side.line_threads - 1}, v0"
        # Patch -> slot of its first row: lane + 16 patch * part + wave * which wave.
        yield f"v_and_b32_e32 {t}, {FRAGMENT - 1}, {row}"
        yield f"v_lshrrev_b32_e32 {row}, 4, {row}"
        yield f"v_and_b32_e32 {r.write}, {parts - 1}, {row}"
        yield f"v_lshrrev_b32_e32 {row}, {_log2(parts)}, {row}"
        yield f"v_lshlrev_b32_e32 {row}, {_log2(side.wave)}, {row}"
        yield f"v_lshl_add_u32 {row}, {r.write}, {_log2(side.patch)}, {row}"
        # row is wave * which + patch * part: a slot counts a patch's part 16 times
        yield f"v_mul_u32_u24_e32 {r.write}, {(FRAGMENT - 1) * side.patch}, {r.write}"
        yield f"v_add3_u32 {r.write}, {r.write}, {row}, {t}"
        yield f"v_lshl_add_u32 {row}, {t}, {_log2(side.near)}, {row}"
        yield f"v_mov_b32_e32 {t}, {r.write}"
    yield f"v_lshlrev_b32_e32 {r.write}, {_log2(side.swizzle_step)}, {line}"
    yield f"v_xor_b32_e32 {t}, {t}, {r.write}"
    yield f"v_mul_u32_u24_e32 {r.write}, {side.pitch}, {line}"
    yield f"v_lshl_add_u32 {r.write}, {t}, {_log2(CHUNK_BYTES)}, {r.write}"


def read_addresses(side: MatrixSide, r: SideRegisters, part: Reg, lane: Reg) -> Iterator[str]:
    """part: the wave's first slot; lane: the lane's number in a fragment."""
    for line, address in enumerate(r.read):
        yield f"v_xor_b32_e32 {address}, {side.swizzle(line)}, {lane}"
        yield f"v_add_lshl_u32 {address}, {address}, {part}, {_log2(CHUNK_BYTES)}"


def base(side: MatrixSide, r: SideRegisters) -> Iterator[str]:
    """The matrix from the tile's first row or column on, and from the first K block's first step of k, which `empty`
    puts before the matrix."""
    t = SCALARS.t
    if side.along_k:
        yield f"s_mul_i32 {t.sub(0)}, {r.start}, {SCALARS.k}"
        yield f"s_mul_hi_u32 {t.sub(1)}, {r.start}, {SCALARS.k}"
    else:
        yield f"s_mov_b32 {t.sub(0)}, {r.start}"
        yield f"s_mov_b32 {t.sub(1)}, 0"
    yield f"s_lshl_b64 {t}, {t}, 1"
    yield from _add(r.base, str(t.sub(0)), str(t.sub(1)))
    if side.along_k:
        yield f"s_lshl_b32 {t.sub(0)}, {SCALARS.empty}, 1"
        yield f"s_mov_b32 {t.sub(1)}, 0"
    else:
        yield f"s_mul_i32 {t.sub(0)}, {SCALARS.empty}, {r.line}"
        yield f"s_mul_hi_u32 {t.sub(1)}, {SCALARS.empty}, {r.line}"
        yield f"s_mul_i32 {r.step.sub(0)}, {side.depth - CHUNK}, {r.line}"
        yield f"s_mul_hi_u32 {r.step.sub(1)}, {side.depth - CHUNK}, {r.line}"
    yield f"s_sub_u32 {r.base.sub(0)}, {r.base.sub(0)}, {t.sub(0)}"
    yield f"s_subb_u32 {r.base.sub(1)}, {r.base.sub(1)}, {t.sub(1)}"


def offsets(side: MatrixSide, r: SideRegisters, line: Reg, row: Reg, t: Reg) -> Iterator[str]:
    """Byte offsets of a thread's fetches. line, row: from `place`; t: free."""
    last, bound, mine = SCALARS.t.sub(0), SCALARS.u, SCALARS.t.sub(1)
    yield f"s_sub_i32 {last}, {r.size}, {r.start}"
    yield f"s_sub_i32 {last}, {last}, 1"
    if side.along_k:
        step = side.threads // side.lines
        for i, offset in enumerate(r.offsets):
            yield f"v_add_nc_u32_e32 {t}, {side.row(step * i)}, {row}"
            yield f"v_min_u32_e32 {t}, {last}, {t}"
            yield f"v_mul_lo_u32 {t}, {t}, {r.line}"
            yield f"v_lshl_add_u32 {offset}, {line}, {_log2(CHUNK_BYTES)}, {t}"
        return
    # A patch may begin at the last element where the workgroup is ragged, else a patch before the end.
    yield f"s_and_b32 {mine}, {r.size}, {side.patch - 1}"
    yield f"s_cmp_lt_i32 {last}, {side.extent - 1}"
    yield f"s_cselect_b32 {mine}, {mine}, 0"
    yield f"s_or_b32 {SCALARS.ragged}, {SCALARS.ragged}, {mine}"
    yield f"s_cmp_eq_u32 {mine}, 0"
    yield f"s_cselect_b32 {mine}, {side.patch - 1}, 0"
    yield f"s_sub_i32 {bound}, {last}, {mine}"
    yield f"v_min_u32_e32 {row}, {bound}, {row}"
    yield f"v_sub_nc_u32_e32 {t}, {last}, {row}"
    for j, lanes in enumerate(r.inside, 1):
        yield f"v_cmp_le_i32_e64 {lanes}, {j}, {t}"
    yield f"v_lshlrev_b32_e32 {t}, {_log2(CHUNK)}, {line}"
    yield f"v_mul_lo_u32 {t}, {t}, {r.line}"
    yield f"v_lshl_add_u32 {r.offsets[0]}, {row}, 1, {t}"


def first_loads(side: MatrixSide, r: SideRegisters, line: Reg, t: Reg) -> Iterator[str]:
    """Loads of a first K block that lacks `empty` steps of k, element by element. t: free. EXEC is all lanes before and
    after, and so in `loads`."""
    yield f"v_lshlrev_b32_e32 {t}, {_log2(CHUNK)}, {line}"
    yield f"v_subrev_nc_u32_e32 {t}, {SCALARS.empty}, {t}"
    for j in range(CHUNK):
        # The lane's k, of the chunk's step j, is t + j.
        yield f"v_cmp_le_i32_e32 vcc_lo, {-j}, {t}"
        yield "s_mov_b32 exec_lo, vcc_lo"
        if side.along_k:
            for fetched, offset in zip(r.fetched, r.offsets, strict=True):
                yield _element(fetched.sub(j // 2), j % 2, offset, r.base, 2 * j)
        else:
            yield from _elements(side, r, j, "vcc_lo")
            yield from _add(r.base, str(r.line), "0")
        yield _ALL_LANES
    yield from _advance(side, r)


def loads(side: MatrixSide, r: SideRegisters, ragged: bool) -> Iterator[str]:
    """The global loads of a K block; the base goes on to the next."""
    if side.along_k:
        for fetched, offset in zip(r.fetched, r.offsets, strict=True):
            yield f"global_load_b128 {fetched}, {offset}, {r.base}"
    else:
        for j, fetched in enumerate(r.fetched):
            if ragged:
                yield from _elements(side, r, j, "")
                yield _ALL_LANES
            else:
                yield f"global_load_b{16 * side.patch} {fetched}, {r.offsets[0]}, {r.base}"
            yield from _add(r.base, str(r.line), "0")
    yield from _advance(side, r)


def _advance(side: MatrixSide, r: SideRegisters) -> Iterator[str]:
    yield from _add(r.base, *((str(2 * side.depth), "0") if side.along_k else map(str, r.step.units())))


def _elements(side: MatrixSide, r: SideRegisters, j: int, lanes: str) -> Iterator[str]:
    """A patch at one step of k, of the lanes that EXEC is, and `lanes` says once more."""
    fetched, offset = r.fetched[j], r.offsets[0]
    yield _element(fetched.sub(0), 0, offset, r.base, 0)
    for i, inside in enumerate(r.inside, 1):
        yield f"s_and_b32 exec_lo, {lanes}, {inside}" if lanes else f"s_mov_b32 exec_lo, {inside}"
        yield _element(fetched.sub(i // 2), i % 2, offset, r.base, 2 * i)


def _element(target: Reg, high: int, offset: Reg, base: Reg, at: int) -> str:
    where = f" offset:{at}" if at else ""
    return f"global_load_d16_{'hi_' if high else ''}b16 {target}, {offset}, {base}{where}"


def turned(side: MatrixSide, r: SideRegisters) -> Iterator[str]:
    """What a side across fetched, turned around in the VGPRs of its fragments: chunk after chunk."""
    for row in range(0 if side.along_k else side.patch):
        for pair, target in enumerate(_chunk(side, r, row).units()):
            low, high = (r.fetched[2 * pair + i].sub(row // 2) for i in range(2))
            yield f"v_perm_b32 {target}, {high}, {low}, {SCALARS.high if row % 2 else SCALARS.low}"


def stores(side: MatrixSide, r: SideRegisters, start: int) -> Iterator[str]:
    """What was fetched, and `turned`, goes to LDS, where the side's part of a buffer begins at byte `start`."""
    chunks = side.fetches if side.along_k else side.patch
    step = side.threads // side.lines if side.along_k else FRAGMENT
    for i in range(chunks):
        yield f"ds_store_b128 {r.write}, {_chunk(side, r, i)}{_at(start + i * step * CHUNK_BYTES)}"


def _chunk(side: MatrixSide, r: SideRegisters, number: int) -> Reg:
    """What the thread's chunk of that number is stored from."""
    return r.fetched[number] if side.along_k else Reg("v", r.fragments[0].index + 4 * number, 4)


def _add(target: Reg, low: str, high: str) -> Iterator[str]:
    yield f"s_add_u32 {target.sub(0)}, {target.sub(0)}, {low}"
    yield f"s_addc_u32 {target.sub(1)}, {target.sub(1)}, {high}"


def _at(offset: int) -> str:
    return f" offset:{offset}" if offset else ""


def _log2(n: int) -> int:
    return n.bit_length() - 1
