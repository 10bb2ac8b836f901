"""Memory: FLAT, GLOBAL and SCRATCH, buffers, scalar loads. RDNA3 ISA guide 11 and 16.17 to 16.19.

Memory through buffer descriptors: MUBUF, MTBUF and s_buffer_load. RDNA3 ISA guide 8.2, 9.1, 16.6, 16.10, 16.11.

An atomic that gives back the old value (glc) has it where its data was.

Scalar memory reads (SMEM): RDNA3 ISA guide 8 and 16.6.
"""

from __future__ import annotations

from isa.instructions.atomics import INTEGER_ATOMICS, LIVES
from isa.semantics.instruction import Access, inst

LOADS = (
    *((f"b{n}", f"b{n}", f"=v.b{n}", "") for n in (32, 64, 96, 128)),
    *((t, t, "=v.b32", "") for t in ("u8", "i8", "u16", "i16")),
    ("d16_b16", "u16", "+v.b32", "lo"),
    ("d16_hi_b16", "u16", "+v.b32", "hi"),
    *((f"d16_{t}", t, "+v.b32", "lo") for t in ("u8", "i8")),
    *((f"d16_hi_{t}", t, "+v.b32", "hi") for t in ("u8", "i8")),
)
STORES = (
    *((f"b{n}", f"b{n}", f"v.b{max(n, 32)}", "") for n in (8, 16, 32, 64, 96, 128)),
    ("d16_hi_b8", "b8", "v.b32", "hi"),
    ("d16_hi_b16", "b16", "v.b32", "hi"),
)
_SPACES = (
    ("flat", "v.u64", ""),
    ("global", "va", ", sa"),
    ("scratch", "va", ", sa"),
)

inst("global_load_addtid_b32 =v.b32, sa", sched="global_load", access=Access("global", "load", "b32", by_lane=True))
inst("global_store_addtid_b32 v.b32, sa", sched="global_store", access=Access("global", "store", "b32", by_lane=True))
for bits in (128, 64):  # eight elements a lane
    inst(
        f"global_load_tr_b{bits} =v.b{bits}, va, sa",
        sched="global_load",
        access=Access("global", "load", f"b{bits}", transposed=bits // 8),
        crosses_lanes=True,
        since="gfx1200",
    )
for space, address, scalar in _SPACES:
    for name, element, data, half in LOADS:
        inst(
            f"{space}_load_{name} {data}, {address}{scalar}",
            sched=f"{space}_load",
            access=Access(space, "load", element, half),
        )
    for name, element, data, half in STORES:
        inst(
            f"{space}_store_{name} {address}, {data}{scalar}",
            sched=f"{space}_store",
            access=Access(space, "store", element, half),
        )
    if space == "scratch":
        continue
    for name, element, count, body in INTEGER_ATOMICS:
        lives = LIVES.get(name, {})
        if name == "csub_u32" and space == "flat":
            name, lives = "sub_clamp_u32", {"since": "gfx1200"}  # gfx11 has it for global memory only
        data = f"v.{element}" if count == 1 else f"v.b{count * int(element[1:])}"
        inst(
            f"{space}_atomic_{name} {address}, {data}{scalar}",
            body,
            sched=f"{space}_atomic",
            access=Access(space, "atomic", element),
            **lives,
        )
        inst(
            f"{space}_atomic_{name} =v.{element}, {address}, {data}{scalar}",
            body,
            sched=f"{space}_atomic",
            access=Access(space, "atomic", element, returns=True),
            form="glc",
            **lives,
        )


_WHERE = "vb, rs.b128, s.u32"

for name, element, data, half in LOADS:
    inst(
        f"buffer_load_{name} {data}, {_WHERE}",
        sched="buffer_load",
        access=Access("global", "load", element, half, buffer=True),
    )
for name, element, data, half in STORES:
    inst(
        f"buffer_store_{name} {data}, {_WHERE}",
        sched="buffer_store",
        access=Access("global", "store", element, half, buffer=True),
    )
for name, element, count, body in INTEGER_ATOMICS:
    data = f"v.{element}" if count == 1 else f"v.b{count * int(element[1:])}"
    for returns in (False, True):
        inst(
            f"buffer_atomic_{name} {'+' * returns}{data}, {_WHERE}",
            body,
            sched="buffer_atomic",
            access=Access("global", "atomic", element, returns=returns, buffer=True),
            form="glc" * returns,
            **LIVES.get(name, {}),
        )
for count, name in enumerate(("x", "xy", "xyz", "xyzw"), 1):
    for d16 in (False, True):
        registers = (count + 1) // 2 if d16 else count
        whole = f"{'d16_' * d16}format_{name}"
        half, most = "lo" * d16, f"b{32 * count}"
        inst(
            f"tbuffer_load_{whole} {'+' if d16 and count % 2 else '='}v.b{32 * registers}, {_WHERE}",
            sched="tbuffer_load",
            access=Access("global", "load", most, half, buffer=True, components=count),
        )
        inst(
            f"tbuffer_store_{whole} v.b{32 * registers}, {_WHERE}",
            sched="tbuffer_store",
            access=Access("global", "store", most, half, buffer=True, components=count),
        )
for bits in (32, 64, 128, 256, 512):
    inst(
        f"s_buffer_load_b{bits} =s.b{bits}, rs.b128, s.u32",
        sched="smem_load",
        access=Access("scalar", "load", f"b{bits}", buffer=True),
    )


for bits in (32, 64, 128, 256, 512):
    inst(
        f"s_load_b{bits} =s.b{bits}, s.u64, s.u32",
        sched="smem_load",
        access=Access("scalar", "load", f"b{bits}"),
    )

# RDNA4 ISA guide, S_LOAD_U8 and its kind: what is narrower is extended to 32 bits.
for kind in ("u8", "i8", "u16", "i16", "b96"):
    data = "b96" if kind == "b96" else "b32"
    for start, base, buffer in (("s_load", "s.u64", False), ("s_buffer_load", "rs.b128", True)):
        inst(
            f"{start}_{kind} =s.{data}, {base}, s.u32",
            sched="smem_load",
            access=Access("scalar", "load", kind, buffer=buffer),
            since="gfx1200",
        )
