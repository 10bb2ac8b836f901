"""The 64-byte kernel descriptor: how the hardware starts a wave of a kernel.

In: 64 bytes from a code object. Out: a Descriptor, each field by its meaning.
Source: LLVM "User Guide for AMDGPU Backend", Kernel Descriptor, and compute_pgm_rsrc1 to 3 for GFX10-GFX11.
"""

from __future__ import annotations

import struct
from dataclasses import dataclass, field

from isa.display import number_of
from isa.errors import IsaError
from isa.semantics.wave_start import USER_SGPRS, WaveStart
from isa.targets import GFX1100, TARGETS, Family, unsupported

MACHINES = {target.mach: target.name for target in TARGETS.values()}
"""EF_AMDGPU_MACH, the low byte of e_flags -> target."""
EXCEPTIONS = ("fp_ieee_invalid_op", "fp_denorm_src", "fp_ieee_div_zero", "fp_ieee_overflow", "fp_ieee_underflow",
              "fp_ieee_inexact", "int_div_zero")  # fmt: skip
"""By bit: what `.amdhsa_exception_` goes on with."""


class CodeObjectError(IsaError):
    """The bytes are not a code object that can be read."""


class OtherTarget(CodeObjectError):
    """A sound code object or bundle, but for other GPUs."""

    @classmethod
    def of(cls, what: str, name: str) -> OtherTarget:
        """The error for something of the target `name`."""
        error = unsupported(what, name)
        return cls(error.message, expected=error.expected, got=error.got, hint=error.hint)


@dataclass(frozen=True, slots=True)
class Descriptor(WaveStart):
    """The 64-byte kernel descriptor: how the hardware starts a wave of this kernel.

    lds_bytes, scratch_bytes: fixed group segment of a workgroup, private segment of a work-item.
    kernarg_bytes: size of the kernel argument segment.
    entry:         address of the first instruction (descriptor address + entry offset).
    vgprs:         VGPRs as encoded, a multiple of 8 (wave32) or 4 (wave64); a SIMD allocates in larger granules.
    float_mode:    the 8 bits that become MODE.FP_ROUND (3:0) and MODE.FP_DENORM (7:4): round 32, round 16/64,
                   denormals 32, denormals 16/64, two bits each.
    round_robin:   the waves of a workgroup take turns, where the family has no DX10_CLAMP.
    """

    address: int
    lds_bytes: int
    scratch_bytes: int
    kernarg_bytes: int
    entry: int
    vgprs: int
    float_mode: int
    dx10_clamp: bool
    ieee: bool
    round_robin: bool
    fp16_overflow: bool
    wgp_mode: bool
    mem_ordered: bool
    forward_progress: bool
    priority: int
    enable_scratch: bool
    exceptions: int
    shared_vgprs: int
    prefetch_lines: int
    wave32: bool
    dynamic_stack: bool
    raw: bytes = field(repr=False)


def decode_descriptor(raw: bytes, address: int = 0, family: Family = GFX1100.family) -> Descriptor:
    """The 64 bytes of a kernel descriptor that lies at `address`. family: of the target that it is for."""
    if len(raw) != 64:
        raise CodeObjectError("a kernel descriptor has 64 bytes", got=str(len(raw)))
    lds, scratch, kernarg, entry, rsrc3, rsrc1, rsrc2, properties, preload = struct.unpack("<III4xq20xIIIHH4x", raw)

    def bits(word: int, low: int, count: int = 1) -> int:
        return word >> low & (1 << count) - 1

    wave32 = bool(bits(properties, 10))
    user = [(name, size) for i, (name, size) in enumerate(USER_SGPRS) if bits(properties, i)]
    if bits(preload, 0, 7):
        user.append(("kernarg_preload", bits(preload, 0, 7)))
    count = bits(rsrc2, 1, 5)
    if (needed := sum(size for _, size in user)) > count:
        raise CodeObjectError(f"the descriptor preloads {needed} but counts {number_of(count, 'user SGPR')}")
    if not family.mode_bits and bits(rsrc2, 6):
        raise CodeObjectError("the descriptor asks for dynamic VGPRs, which are not supported",
                              hint="compile without amdgpu-dynamic-vgpr-block-size")  # fmt: skip
    return Descriptor(
        family=family,
        address=address,
        lds_bytes=lds,
        scratch_bytes=scratch,
        kernarg_bytes=kernarg,
        entry=address + entry,
        vgprs=(bits(rsrc1, 0, 6) + 1) * (family.encoded_vgprs if wave32 else 4),
        float_mode=bits(rsrc1, 12, 8),
        dx10_clamp=not family.mode_bits or bool(bits(rsrc1, 21)),
        ieee=not family.mode_bits or bool(bits(rsrc1, 23)),
        round_robin=not family.mode_bits and bool(bits(rsrc1, 21)),
        fp16_overflow=bool(bits(rsrc1, 26)),
        wgp_mode=bool(bits(rsrc1, 29)),
        mem_ordered=bool(bits(rsrc1, 30)),
        forward_progress=bool(bits(rsrc1, 31)),
        priority=bits(rsrc1, 10, 2),
        enable_scratch=bool(bits(rsrc2, 0)),
        user_sgpr_count=count,
        user_sgprs=tuple(user),
        workgroup_id=(bool(bits(rsrc2, 7)), bool(bits(rsrc2, 8)), bool(bits(rsrc2, 9))),
        workgroup_info=bool(bits(rsrc2, 10)),
        workitem_id=bits(rsrc2, 11, 2),
        exceptions=bits(rsrc2, 24, 7),
        shared_vgprs=bits(rsrc3, 0, 4) * 8 if family.mode_bits else 0,
        prefetch_lines=bits(rsrc3, 4, family.prefetch_bits),
        wave32=wave32,
        dynamic_stack=bool(bits(properties, 11)),
        raw=raw,
    )
