"""Local data share (DS): RDNA3 ISA guide 12 and 16.15."""

from collections.abc import Sequence

from isa.instructions.atomics import OPERATIONS, PACKED_ADDS, cond_sub, csub, fmax, fmin, num_max, num_min
from isa.semantics.instruction import Access, inst
from isa.semantics.values import Value, select


def _access(pattern: str, kind: str, *access: object, body: object = None, **more: object) -> None:
    what = Access("lds", kind, *access, **more)  # type: ignore[arg-type]
    inst(pattern, body, access=what, sched=f"lds_{kind}")  # type: ignore[arg-type]


# --- loads and stores
for bits in (32, 64, 96, 128):
    _access(f"ds_load_b{bits} =v.b{bits}, v.u32", "load", f"b{bits}")
    _access(f"ds_store_b{bits} v.u32, v.b{bits}", "store", f"b{bits}")
for kind in ("u8", "i8", "u16", "i16"):
    _access(f"ds_load_{kind} =v.b32, v.u32", "load", kind)
for kind in ("u8", "i8", "u16"):
    _access(f"ds_load_{kind}_d16 +v.b32, v.u32", "load", kind, "lo")
    _access(f"ds_load_{kind}_d16_hi +v.b32, v.u32", "load", kind, "hi")
for kind in ("b8", "b16"):
    _access(f"ds_store_{kind} v.u32, v.b32", "store", kind)
    _access(f"ds_store_{kind}_d16_hi v.u32, v.b32", "store", kind, "hi")
for bits in (32, 64):
    for name, pair in (("2addr", 1), ("2addr_stride64", 64)):
        _access(f"ds_load_{name}_b{bits} =v.b{2 * bits}, v.u32", "load", f"b{bits}", pair=pair)
        _access(f"ds_store_{name}_b{bits} v.u32, v.b{bits}, v.b{bits}", "store", f"b{bits}", pair=pair)
inst("ds_load_addtid_b32 =v.b32", sched="lds_load", access=Access("lds", "load", "b32", by_lane=True), reads="m0")
inst("ds_store_addtid_b32 v.b32", sched="lds_store", access=Access("lds", "store", "b32", by_lane=True), reads="m0")

# --- atomics


def _atomic(name: str, kind: str, data: str, body: object, **lives: str) -> None:
    """lives: since or until when."""
    stem, _, type_ = name.rpartition("_")
    for pattern, returns in ((f"ds_{name} v.u32", False), (f"ds_{stem}_rtn_{type_} =v.{kind}, v.u32", True)):
        what = Access("lds", "atomic", kind, returns=returns)
        inst(f"{pattern}, {data}", body, access=what, sched="lds_atomic", **lives)  # type: ignore[arg-type]


for bits in (32, 64):
    for op, (letter, body) in OPERATIONS.items():
        stem = op[:3] if "_" in op else op
        _atomic(f"{stem}_{letter}{bits}", f"{letter}{bits}", f"v.{letter}{bits}", body)
    b = f"b{bits}"
    _access(f"ds_storexchg_rtn_{b} =v.{b}, v.u32, v.{b}", "atomic", b, body=lambda old, data: data, returns=True)
    for name, pair in (("2addr", 1), ("2addr_stride64", 64)):
        two = f"ds_storexchg_{name}_rtn_{b} =v.b{2 * bits}, v.u32, v.{b}, v.{b}"
        _access(two, "atomic", b, body=lambda old, data: data, returns=True, pair=pair)
    _atomic(f"cmpstore_{b}", b, f"v.{b}, v.{b}", lambda old, new, expected: select(old == expected, new, old))
    _atomic(
        f"cmpstore_f{bits}",
        f"f{bits}",
        f"v.f{bits}, v.f{bits}",
        lambda old, new, expected: select(old == expected, new, old),
        until="gfx1200",
    )
    _atomic(f"mskor_{b}", b, f"v.{b}, v.{b}", lambda old, mask, data: (old & ~mask) | data)
    _atomic(f"rsub_u{bits}", f"u{bits}", f"v.u{bits}", lambda old, data: data - old)
    _atomic(f"min_f{bits}", f"f{bits}", f"v.f{bits}", fmin, until="gfx1200")
    _atomic(f"max_f{bits}", f"f{bits}", f"v.f{bits}", fmax, until="gfx1200")
    _atomic(f"min_num_f{bits}", f"f{bits}", f"v.f{bits}", num_min, since="gfx1200")
    _atomic(f"max_num_f{bits}", f"f{bits}", f"v.f{bits}", num_max, since="gfx1200")
_atomic("add_f32", "f32", "v.f32", lambda old, data: old + data)
_atomic("cond_sub_u32", "u32", "v.u32", cond_sub, since="gfx1200")
_atomic("sub_clamp_u32", "u32", "v.u32", csub, since="gfx1200")
for kind, add in PACKED_ADDS.items():
    _atomic(f"pk_add_{kind}", "b32", "v.b32", add, since="gfx1200")

inst(
    "ds_wrap_rtn_b32 =v.u32, v.u32, v.u32, v.u32",
    lambda old, limit, more: select(old >= limit, old - limit, old + more),
    sched="lds_atomic",
    access=Access("lds", "atomic", "u32", returns=True),
    until="gfx1200",
)


def _condxchg32(old: Value, data: Value) -> Value:
    """Of each half the low 31 bits are stored where its highest bit is set."""
    new = data & 0
    for low in (0, 32):
        half = 0xFFFFFFFF << low
        new = new | select((data >> (low + 31)) & 1 == 1, data & (0x7FFFFFFF << low), old & half)
    return new


_access("ds_condxchg32_rtn_b64 =v.b64, v.u32, v.b64", "atomic", "b64", returns=True, aligned=True, body=_condxchg32)
# A wave waits until as many wait as its first lane that is on says, and one more: `__ockl_gws_barrier` of AMD's device
# libraries, one wave of each workgroup. Which of the card's resources M0 names makes no difference to one launch.
inst(
    "ds_gws_barrier v.u32",
    lambda more, exec_: more.lane(select(exec_ == 0, 0, exec_.ctz())) + 1,
    sched="gws",
    reads="exec",
    effect="grid",
    crosses_lanes=True,
    until="gfx1200",
)
# One access a wave, at M0 (LLVM AMDGPUISelDAGToDAG.cpp, SelectDSAppendConsume): the number of its lanes that are on is
# added or taken away, and each lane gets what was there.
for name, sign in (("append", 1), ("consume", -1)):
    inst(
        f"ds_{name} =v.u32",
        lambda old, count, sign=sign: old + count if sign > 0 else old - count,
        sched="lds_atomic",
        reads="m0 exec",
        access=Access("lds", "atomic", "u32", returns=True, by_wave=True),
    )

# --- lanes of one wave exchange values through the LDS crossbar; no memory is touched


def _bpermute(address: Value, data: Value, exec_: Value, offset: int) -> Value:
    """Lane i gets the lane that address[i] names; 0 where that one is off."""
    source = ((address + offset) >> 2) & 31
    return select(exec_.lanes(), data, data & 0).shuffle(source)


def _permute(address: Value, data: Value, exec_: Value, offset: int, lane: Value) -> Value:
    """Lane i sends to the lane that address[i] names; the highest sender wins, a lane without a sender gets 0."""
    target = ((address + offset) >> 2) & 31
    active = exec_.lanes()
    result = data & 0
    for sender in range(32):
        hit = (lane == target.lane(sender)) & (active.to("u32").lane(sender) == 1)
        result = select(hit, data.lane(sender), result)
    return result


def swizzle_code(offset: int | str) -> int:
    """The 16 bits after `offset:`, which may be written as swizzle(MODE, ...) (LLVM's AMDGPUModifierSyntax).
    ValueError where it is none of them."""
    if isinstance(offset, int):
        return offset
    mode, *rest = (part.strip() for part in offset.removeprefix("swizzle(").removesuffix(")").split(","))
    if mode == "BITMASK_PERM":
        bits = rest[0].strip('"') if rest else ""
        if len(rest) != 1 or len(bits) != 5 or set(bits) - set("01pi"):
            raise ValueError('BITMASK_PERM takes five of 0, 1, p and i in quotes, such as "00p11"')
        masks = [int("".join("1" if c in ones else "0" for c in bits), 2) for ones in ("pi", "1", "i")]
        return masks[0] | masks[1] << 5 | masks[2] << 10
    if mode not in _SWIZZLES:
        raise ValueError(f"no swizzle mode {mode}; there are {', '.join(['BITMASK_PERM', *_SWIZZLES])}")
    n = [int(r, 0) for r in rest]
    if len(n) != len(_SWIZZLES[mode]) or not all(a in good for a, good in zip(n, _SWIZZLES[mode], strict=True)):
        raise ValueError(f"{mode} takes {', '.join(map(_told, _SWIZZLES[mode]))}")
    if mode == "QUAD_PERM":
        return 0x8000 | sum(lane << 2 * i for i, lane in enumerate(n))
    if mode == "BROADCAST":
        if n[1] >= n[0]:
            raise ValueError(f"BROADCAST of {n[0]} lanes takes a lane from 0 to {n[0] - 1}")
        return (32 - n[0]) | n[1] << 5
    if mode in ("SWAP", "REVERSE"):
        return 31 | (n[0] if mode == "SWAP" else n[0] - 1) << 10
    if mode == "FFT":
        return 0xE000 | n[0]
    return 0xC000 | n[0] << 10 | n[1] << 5  # ROTATE


_GROUPS = (2, 4, 8, 16, 32)
# Mode -> what its numbers can be (LLVM AMDGPUAsmParser.cpp, `parseSwizzle...`).
_SWIZZLES: dict[str, tuple[Sequence[int], ...]] = {
    "QUAD_PERM": (range(4),) * 4,
    "BROADCAST": (_GROUPS, range(32)),
    "SWAP": ((1, *_GROUPS[:-1]),),
    "REVERSE": (_GROUPS,),
    "FFT": (range(32),),
    "ROTATE": (range(2), range(32)),
}


def _told(numbers: Sequence[int]) -> str:
    return f"{numbers[0]} to {numbers[-1]}" if isinstance(numbers, range) else " or ".join(map(str, numbers))


def _swizzle(data: Value, exec_: Value, offset: int | str, lane: Value) -> Value:
    """Lane i gets the lane that a pattern names; 0 where that one is off. RDNA3 ISA guide 12.5.1, DS_SWIZZLE_B32."""
    code = swizzle_code(offset)
    low = code & 31
    if code >= 0xE000:  # bit reversal for FFTs
        kept = bin(low).count("1")
        source = (lane.bitreverse() >> (27 + kept)) | (lane & low) if kept < 5 else lane
    elif code >= 0xC000:  # rotation within groups that the low five bits fix; bit 10 turns it round
        turn = code >> 5 & 31
        moved = lane + turn if not code >> 10 & 1 else lane - turn
        source = (lane & low) | (moved & (31 ^ low))
    elif code & 0x8000:  # any permutation within four lanes
        pick = lane & 0
        for i in range(4):
            pick = select((lane & 3) == i, code >> 2 * i & 3, pick)
        source = (lane & ~3) | pick
    else:
        source = ((lane & low) | (code >> 5 & 31)) ^ (code >> 10 & 31)
    return select(exec_.lanes(), data, data & 0).shuffle(source)


inst(
    "ds_bpermute_b32 =v.b32, v.u32, v.b32",
    _bpermute,
    sched="lds_exchange",
    crosses_lanes=True,
    reads="exec",
    fields="offset",
)
inst(
    "ds_bpermute_fi_b32 =v.b32, v.u32, v.b32",
    lambda address, data, offset: data.shuffle(((address + offset) >> 2) & 31),
    sched="lds_exchange",
    crosses_lanes=True,
    fields="offset",
    since="gfx1200",
)
inst(
    "ds_permute_b32 =v.b32, v.u32, v.b32",
    _permute,
    sched="lds_exchange",
    crosses_lanes=True,
    reads="exec",
    fields="offset lane",
)
inst(
    "ds_swizzle_b32 =v.b32, v.b32",
    _swizzle,
    sched="lds_exchange",
    crosses_lanes=True,
    reads="exec",
    fields="offset lane",
)
inst("ds_nop", sched="lds_nop", words="nothing")
