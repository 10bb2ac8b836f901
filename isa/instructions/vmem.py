"""Vector memory: FLAT, GLOBAL and SCRATCH. RDNA3 ISA guide 11 and 16.17 to 16.19."""

from isa.instructions.atomics import INTEGER_ATOMICS
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
        if name == "csub_u32" and space == "flat":
            continue  # gfx11 has it for global memory only
        data = f"v.{element}" if count == 1 else f"v.b{count * int(element[1:])}"
        inst(
            f"{space}_atomic_{name} {address}, {data}{scalar}",
            body,
            sched=f"{space}_atomic",
            access=Access(space, "atomic", element),
        )
        inst(
            f"{space}_atomic_{name} =v.{element}, {address}, {data}{scalar}",
            body,
            sched=f"{space}_atomic",
            access=Access(space, "atomic", element, returns=True),
            form="glc",
        )
