"""Scalar memory reads (SMEM): RDNA3 ISA guide 8 and 16.6."""

from isa.semantics.instruction import Access, inst

for bits in (32, 64, 128, 256, 512):
    inst(
        f"s_load_b{bits} =s.b{bits}, s.u64, s.u32",
        sched="smem_load",
        access=Access("scalar", "load", f"b{bits}"),
    )
