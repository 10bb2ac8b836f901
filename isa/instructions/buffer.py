"""Memory through buffer descriptors: MUBUF, MTBUF and s_buffer_load. RDNA3 ISA guide 8.2, 9.1, 16.6, 16.10, 16.11.

An atomic that gives back the old value (glc) has it where its data was."""

from isa.instructions.atomics import INTEGER_ATOMICS
from isa.instructions.vmem import LOADS, STORES
from isa.semantics.instruction import Access, inst

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
