"""The kernels of `hipgemm lab rates`: assembly whose time is the rate of one unit, or of one level of memory.

Two families. `repeated` holds instructions of one kind, so many waves a SIMD that no latency shows; its answer is what
v1 of each work-item holds. `streamed` has one workgroup of 1024 on each CU that goes over its region of an array again
and again, 16 bytes a work-item at a time: the region's size says which cache holds it. `transposed` brings tiles of
32 x 32 words through LDS.

An iteration is one run of the body, or one pass over the region.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from hipgemm.lab.micro import Micro, Words

if TYPE_CHECKING:
    import numpy as np

BLOCK = 1024
STEP = 16 * BLOCK
"""Bytes that one instruction of all waves of a workgroup moves."""
_TILE = 32


@dataclass(frozen=True)
class Case:
    """micro: the kernel; step: its third argument; expected, written: as of `micro.run`. amount: of what an iteration
    does,
    for each SIMD or for the chip."""

    micro: Micro
    amount: float
    expected: Words
    written: Words | None = None
    step: int = 0


def repeated(
    name: str, body: Sequence[str], count: int, answer: float, *, each_iteration: float = 0, setup: Sequence[str] = (),
    finish: Sequence[str] = (), lds: int = 0, cu_mode: bool = True, waves: int = 8,
) -> Case:  # fmt: skip
    """`count` instructions an iteration in `body`; v1 is `answer` in the end, and so much more for each iteration. A
    float is one of f32. waves: of a SIMD."""
    import numpy as np

    dtype = np.float32 if isinstance(answer, float) else np.uint32
    simds = 2 if cu_mode else 4
    block = 32 * simds * waves
    micro = Micro(f"lab_rate_{name}", setup, body, finish, vgprs=112, lds=lds, block=block, cu_mode=cu_mode)
    return Case(micro, waves * count, lambda iterations: np.full(block, answer + each_iteration * iterations, dtype))


def independent(
    name: str, line: str, answer: float, *, inputs: Mapping[str, int] | None = None, width: int = 1,
    each_iteration: float = 0,
) -> Case:  # fmt: skip
    """The line 64 times, its operand {0} one of eight sets of `width` registers from v16 on, of which v1 gets the last
    in the end. inputs: what registers hold before; v16 on hold 0."""
    targets = [_set(16 + width * k, width) for k in range(8)]
    body = [line.format(targets[i % 8]) for i in range(64)]
    setup = [f"v_mov_b32_e32 v{16 + k}, 0" for k in range(8 * width)]
    setup += [f"v_mov_b32_e32 {register}, 0x{value:x}" for register, value in (inputs or {}).items()]
    finish = [f"v_mov_b32_e32 v1, v{16 + width * 7}"]
    return repeated(name, body, 64, answer, each_iteration=each_iteration, setup=setup, finish=finish)


def _set(first: int, width: int) -> str:
    return f"v{first}" if width == 1 else f"v[{first}:{first + width - 1}]"


def lds(dwords: int, cu_mode: bool) -> Case:
    """Loads without conflicts of so many dwords from LDS, which holds zeros where they read."""
    name, wave = f"ds_load_b{32 * dwords}", 128 * dwords
    setup = ["v_mov_b32_e32 v1, 0", "v_lshlrev_b32_e32 v2, 2, v0"]
    setup += [f"ds_store_b32 v2, v1 offset:{4096 * k}" for k in range(wave // 128)]
    setup += ["v_and_b32_e32 v2, 31, v0", f"v_mul_u32_u24_e32 v2, {4 * dwords}, v2"]
    setup += ["s_waitcnt lgkmcnt(0)", "s_barrier"]
    body = []
    for k in range(16):
        body += [f"{name} {_set(16 + 4 * (k % 16), dwords)}, v2"]
        body += ["s_waitcnt lgkmcnt(8)"] if k % 8 == 7 else []
    mode = "cu" if cu_mode else "wgp"
    made = repeated(
        f"lds_b{32 * dwords}_{mode}", body, 16, 0, setup=setup, lds=16384, cu_mode=cu_mode,
        finish=["s_waitcnt lgkmcnt(0)", "v_mov_b32_e32 v1, v16"],
    )  # fmt: skip
    return replace(made, amount=made.amount * (2 if cu_mode else 4))


@dataclass(frozen=True)
class _Region:
    """What each of `groups` workgroups goes over: `scans` times `loads` steps, from its own beginning or, `shared`, all
    from the same one."""

    groups: int
    loads: int
    scans: int
    shared: bool = False

    @property
    def size(self) -> int:
        return STEP * self.loads * self.scans

    @property
    def apart(self) -> int:
        return 0 if self.shared else self.size

    @property
    def whole(self) -> int:
        """Bytes of all of them."""
        return self.size if self.shared else self.size * self.groups


def streamed(
    name: str, reads: int, writes: bool, region: tuple[int, int, int], iterations: tuple[int, int], *,
    shared: bool = False, reduced: bool = False, again: int = 1,
) -> Case:  # fmt: skip
    """Reads none, one or two arrays (a second one lies after the first in b) and writes one. region: workgroups, loads
    and scans of each. reduced: all words of a workgroup's region become one sum. again: how often a scan asks for the
    same."""
    r = _Region(*region, shared)
    data = [_set(16 + 4 * k, 4) for k in range(r.loads * again)]
    more = [_set(16 + 4 * (r.loads + k), 4) for k in range(r.loads)]
    setup = ["v_lshlrev_b32_e32 v2, 4, v0", "v_mov_b32_e32 v1, 0"]
    setup += [f"v_add_nc_u32_e32 v{2 + k}, 0x{k * STEP:x}, v2" for k in range(1, r.loads)]
    setup += [f"s_mul_i32 s16, s2, 0x{r.apart:x}"]
    for base in (8, 10):
        setup += [f"s_add_u32 s{base}, s{base}, s16", f"s_addc_u32 s{base + 1}, s{base + 1}, 0"]
    if not reads:
        setup += [f"v_mov_b32_e32 v{16 + k}, v0" for k in range(4 * r.loads)]
    body = ["s_mov_b64 s[12:13], s[10:11]", "s_mov_b64 s[18:19], s[8:9]", f"s_mov_b32 s14, {r.scans}"]
    body += ["s_add_u32 s20, s10, s7", "s_addc_u32 s21, s11, 0", ".Lscan:"]
    body += [f"global_load_b128 {d}, v{2 + k % r.loads}, s[12:13]" for k, d in enumerate(data) if reads]
    body += [f"global_load_b128 {d}, v{2 + k}, s[20:21]" for k, d in enumerate(more) if reads > 1]
    if reads:
        body += ["s_waitcnt vmcnt(0)"]
    if reads > 1:
        body += [f"v_add_nc_u32_e32 v{16 + k}, v{16 + k}, v{16 + 4 * r.loads + k}" for k in range(4 * r.loads)]
    if reads and not writes:
        words = range(16, 16 + 4 * len(data), 1 if reduced else 4)
        body += [f"v_add_nc_u32_e32 v1, v1, v{word}" for word in words]
    if writes:
        body += [f"global_store_b128 v{2 + k}, {d}, s[18:19]" for k, d in enumerate(data)]
    for base in (12, 18, 20):
        body += [f"s_add_u32 s{base}, s{base}, 0x{STEP * r.loads:x}", f"s_addc_u32 s{base + 1}, s{base + 1}, 0"]
    body += ["s_add_i32 s14, s14, -1", "s_cmp_lg_u32 s14, 0", "s_cbranch_scc1 .Lscan"]
    finish = _SUM if reduced else []
    micro = Micro(
        f"lab_rate_{name}", setup, body, finish, vgprs=16 + 4 * r.loads * max(again, reads), lds=4096 * reduced,
        block=BLOCK, grid=(r.groups, 1), iterations=iterations, memory=(r.whole if writes else 0, r.whole * reads),
    )  # fmt: skip
    expected = _answers(r, reduced, again) if reads and not writes else _zeros(r)
    written = _copied(r, reads) if writes else None
    amount = float(r.size * r.groups * (again * reads + writes))
    return Case(micro, amount, expected, written, r.whole)


_SUM = [
    "v_mov_b32_e32 v2, 0", "v_mov_b32_e32 v3, 0", "ds_store_b32 v2, v3", "s_waitcnt lgkmcnt(0)", "s_barrier",
    "ds_add_u32 v2, v1", "s_waitcnt lgkmcnt(0)", "s_barrier", "ds_load_b32 v1, v2", "s_waitcnt lgkmcnt(0)",
]  # fmt: skip
"""v1: the sum of v1 over the workgroup."""


def _zeros(r: _Region) -> Words:
    import numpy as np

    return lambda _: np.zeros(r.groups * BLOCK, np.uint32)


def _answers(r: _Region, reduced: bool, again: int) -> Words:
    """Sums of the first words of each load, or of all words of a workgroup."""
    import numpy as np

    def words(iterations: int) -> np.ndarray:
        first = np.arange(r.groups, dtype=np.uint64)[:, None] * np.uint64(r.apart // 4)
        steps = np.arange(r.size // STEP, dtype=np.uint64)[None, :] * np.uint64(STEP // 4)
        places = (first + steps).sum(axis=1, keepdims=True)  # of work-item 0
        each = places + np.arange(BLOCK, dtype=np.uint64)[None, :] * np.uint64(4 * (r.size // STEP))
        if reduced:
            each = np.broadcast_to((4 * each + np.uint64(6 * (r.size // STEP))).sum(axis=1, keepdims=True), each.shape)
        return np.ascontiguousarray((each * np.uint64(iterations * again)).astype(np.uint32).reshape(-1))

    return words


def _copied(r: _Region, reads: int) -> Words:
    """What a holds: work-items' numbers, or the sum of what was read."""
    import numpy as np

    def words(_: int) -> np.ndarray:
        count = r.whole // 4
        if not reads:
            return np.tile(np.repeat(np.arange(BLOCK, dtype=np.uint32), 4), count // (4 * BLOCK))
        one = np.arange(count, dtype=np.uint32)
        return one if reads == 1 else (2 * one + np.uint32(count)).astype(np.uint32)

    return words


def transposed(side: int) -> Case:
    """A square of words, transposed from b to a by tiles through LDS, eight rows a work-item."""
    import numpy as np

    row, tiles, each = 4 * side, side // _TILE, 8
    rows = _TILE // each
    setup = ["v_mov_b32_e32 v1, 0", "v_and_b32_e32 v2, 31, v0", "v_lshrrev_b32_e32 v3, 5, v0"]
    setup += [f"v_mul_u32_u24_e32 v4, 0x{row:x}, v3", "v_lshl_add_u32 v4, v2, 2, v4"]  # in memory: row v3, column v2
    setup += [f"v_add_nc_u32_e32 v{8 + k}, 0x{k * rows * row:x}, v4" for k in range(each)]
    setup += ["v_mad_u32_u24 v5, v3, 33, v2", "v_lshlrev_b32_e32 v5, 2, v5"]  # in LDS, in both directions
    setup += ["v_mad_u32_u24 v6, v2, 33, v3", "v_lshlrev_b32_e32 v6, 2, v6"]
    for base, x, y in ((10, "s2", "s3"), (8, "s3", "s2")):
        setup += [f"s_lshl_b32 s12, {x}, 7", f"s_mul_i32 s13, {y}, 0x{_TILE * row:x}"]
        for part in ("s12", "s13"):
            setup += [f"s_add_u32 s{base}, s{base}, {part}", f"s_addc_u32 s{base + 1}, s{base + 1}, 0"]
    body = [f"global_load_b32 v{16 + k}, v{8 + k}, s[10:11]" for k in range(each)] + ["s_waitcnt vmcnt(0)"]
    body += [f"ds_store_b32 v5, v{16 + k} offset:{4 * 33 * rows * k}" for k in range(each)]
    body += ["s_waitcnt lgkmcnt(0)", "s_barrier"]
    body += [f"ds_load_b32 v{24 + k}, v6 offset:{4 * rows * k}" for k in range(each)] + ["s_waitcnt lgkmcnt(0)"]
    body += [f"global_store_b32 v{8 + k}, v{24 + k}, s[8:9]" for k in range(each)]
    memory = row * side
    micro = Micro(
        "lab_rate_transpose", setup, body, [], vgprs=32, lds=4 * 33 * _TILE, block=_TILE * rows, grid=(tiles, tiles),
        iterations=(1,), memory=(memory, memory),
    )  # fmt: skip

    def words(_: int) -> np.ndarray:
        return np.arange(side * side, dtype=np.uint32).reshape(side, side).T.copy().reshape(-1)

    return Case(micro, 2.0 * memory, lambda _: np.zeros(tiles * tiles * _TILE * rows, np.uint32), words)
