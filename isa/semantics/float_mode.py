"""The float part of the MODE register: RDNA3 ISA guide 3.3.2 and 7.2.1, LLVM's AMDGPUUsage (`.amdhsa_float_*`)."""

from __future__ import annotations

import dataclasses
from dataclasses import dataclass
from typing import TYPE_CHECKING

from isa.errors import IsaError

if TYPE_CHECKING:
    from isa.asm.program import Kernel
    from isa.object.descriptor import Descriptor


FP16_OVFL = 1 << 23
"""Of MODE: f16 overflows to the greatest number and not to infinity."""
EXCP_EN = 0x3FF << 12
"""Of MODE: exceptions trap."""


@dataclass(frozen=True, slots=True)
class FloatMode:
    """How a wave rounds and what it does with denormals and NaNs.

    round32, round16_64:       0 to nearest even, 1 towards +inf, 2 towards -inf, 3 towards zero.
    denormal32, denormal16_64: bit 0: denormal inputs are kept, bit 1: denormal results are kept; else they become 0.
    dx10_clamp:                the clamp modifier turns a NaN into 0.
    ieee:                      a signalling NaN is made quiet, and gets through minimum and maximum.
    omod:                      output modifiers that scale work in IEEE mode, too.
    overflow16:                f16 and floats of 8 bits overflow to the greatest number.
    """

    round32: int = 0
    round16_64: int = 0
    denormal32: int = 3
    denormal16_64: int = 3
    dx10_clamp: bool = True
    ieee: bool = True
    omod: bool = False
    overflow16: bool = False

    @classmethod
    def of(cls, float_mode: int, dx10_clamp: bool = True, ieee: bool = True, omod: bool = False) -> FloatMode:
        """From the eight bits of FLOAT_MODE in a kernel descriptor or in MODE."""
        rounds, denormals = float_mode & 15, float_mode >> 4 & 15
        return cls(rounds & 3, rounds >> 2, denormals & 3, denormals >> 2, dx10_clamp, ieee, omod)

    @classmethod
    def of_descriptor(cls, descriptor: Descriptor) -> FloatMode:
        """At a wave's start. IsaError where f16 is to overflow to the greatest number."""
        if descriptor.fp16_overflow:
            raise IsaError("a kernel with .amdhsa_fp16_overflow is not simulated", expected="0", got="1")
        omod = not descriptor.family.mode_bits
        return cls.of(descriptor.float_mode, descriptor.dx10_clamp, descriptor.ieee, omod)

    @classmethod
    def of_kernel(cls, kernel: Kernel) -> FloatMode:
        """As the directives of a kernel in text say, or LLVM where they do not."""
        defaults = {"round_mode_32": 0, "round_mode_16_64": 0, "denorm_mode_32": 0, "denorm_mode_16_64": 3}
        fields = [(kernel.number(f"float_{name}"), default) for name, default in defaults.items()]
        bits = sum((default if n is None else n) << 2 * i for i, (n, default) in enumerate(fields))
        target = kernel.program.target
        omod = target is not None and not target.family.mode_bits
        return cls.of(bits, kernel.number("dx10_clamp") != 0, kernel.number("ieee_mode") != 0, omod)

    def keeps(self, type_: str) -> int:
        """Bit 0: input denormals of this type are kept, bit 1: denormal results are."""
        return self.denormal32 if type_ == "f32" else self.denormal16_64

    def rounding(self, type_: str) -> int:
        return self.round32 if type_ == "f32" else self.round16_64

    def with_rounding(self, bits: int) -> FloatMode:
        """After s_round_mode: bits 1:0 for f32, 3:2 for f16 and f64."""
        return dataclasses.replace(self, round32=bits & 3, round16_64=bits >> 2 & 3)

    def with_denormals(self, bits: int) -> FloatMode:
        """After s_denorm_mode: bits 1:0 for f32, 3:2 for f16 and f64."""
        return dataclasses.replace(self, denormal32=bits & 3, denormal16_64=bits >> 2 & 3)

    def with_inputs_kept(self) -> FloatMode:
        """The same, but no denormal operand is dropped."""
        return dataclasses.replace(self, denormal32=self.denormal32 | 1, denormal16_64=self.denormal16_64 | 1)

    def of_unit(self, nearest: bool = False, drops: bool = False) -> FloatMode:
        """For an instruction that rounds to nearest in any mode, or drops f32 denormals in any."""
        rounds = dataclasses.replace(self, round32=0, round16_64=0) if nearest else self
        return dataclasses.replace(rounds, denormal32=0) if drops else rounds

    @property
    def register(self) -> int:
        """MODE: rounding, denormals, where the family has them DX10_CLAMP and IEEE, and FP16_OVFL."""
        rounds = self.round32 | self.round16_64 << 2
        denormals = self.denormal32 | self.denormal16_64 << 2
        modes = 0 if self.omod else int(self.dx10_clamp) | int(self.ieee) << 1
        return rounds | denormals << 4 | modes << 8 | FP16_OVFL * self.overflow16

    def with_register(self, first: int, count: int, value: int) -> FloatMode:
        """After s_setreg of `count` bits from bit `first` of MODE; others above the tenth change nothing here."""
        mask = ((1 << count) - 1) << first
        bits = (self.register & ~mask) | (value << first & mask)
        clamp, ieee = bool(bits >> 8 & 1), bool(bits >> 9 & 1)
        if self.omod:  # a family without these two bits
            clamp, ieee = self.dx10_clamp, self.ieee
        found = FloatMode.of(bits & 0xFF, clamp, ieee, self.omod)
        return dataclasses.replace(found, overflow16=bool(bits & FP16_OVFL))
