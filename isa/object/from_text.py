"""Code-object view of assembly: a text -> its kernels and data, without assembling, for callers that only read them.

In: a `Program` and a target. Out: a `TextCode`: its kernels as their directives and metadata describe them, with LLVM's
defaults for directives that are missing (AMDGPUUsage, "AMDHSA Kernel Assembler Directives"), and the text of each laid
out: every instruction with its address from the kernel's start and its size (`isa.asm.encoding`), and the `s_nop 0`
that a directive of alignment stands for.

Limits: no data between instructions (.long and its kind), no counts that are expressions of labels; symbols have
no addresses.
"""

from __future__ import annotations

import dataclasses
from dataclasses import dataclass, field

from isa.asm import encoding
from isa.asm.program import Kernel, Program
from isa.object import metadata
from isa.object.code_object import CodeObject, DescribedKernel
from isa.object.descriptor import EXCEPTIONS, Descriptor
from isa.semantics import wave_start
from isa.semantics.float_mode import FloatMode


@dataclass(frozen=True, slots=True)
class TextCode(CodeObject):
    """A program as a code object that has no bytes."""

    program: Program = field(kw_only=True)

    @staticmethod
    def of(program: Program, arch: str) -> TextCode:
        """IsaError where a kernel's directives do not say what it takes."""
        kernels = {name: described(kernel) for name, kernel in program.kernels.items()}
        return TextCode(arch, 0, kernels, (), {}, program=program)

    def code(self, name: str) -> bytes:
        """The kernel's text."""
        self.kernel(name)
        return "\n".join(line.text for line in self.program.kernel(name).lines).encode()

    def laid_out(self, name: str) -> Kernel:
        """The kernel with addresses and sizes."""
        kernel = self.program.kernel(name)
        lines = self.program.lines
        placed = [line for _, line in encoding.placed(self.program, kernel.start, kernel.end)]
        return self.program.with_lines([*lines[: kernel.start], *placed, *lines[kernel.end :]]).kernel(name)


def described(kernel: Kernel) -> DescribedKernel:
    """A kernel as its directives and metadata have it. IsaError where they do not say what it takes."""

    def given(name: str, default: int = 0) -> int:
        return kernel.directive(name) if name in kernel.descriptor else default

    def stated(key: str, default: int) -> int:
        value = metadata.number(kernel, key)
        return default if value is None else value

    start, mode = wave_start.of_kernel(kernel), FloatMode.of_kernel(kernel)
    vgprs, wave32 = kernel.directive("next_free_vgpr"), bool(given("wavefront_size32", 1))
    granule = start.family.encoded_vgprs if wave32 else 4
    descriptor = Descriptor(
        **{f.name: getattr(start, f.name) for f in dataclasses.fields(start)},
        address=0,
        lds_bytes=given("group_segment_fixed_size"),
        scratch_bytes=given("private_segment_fixed_size"),
        kernarg_bytes=given("kernarg_size"),
        entry=0,
        vgprs=-(-max(vgprs, 1) // granule) * granule,
        float_mode=mode.register & 0xFF,
        dx10_clamp=mode.dx10_clamp,
        ieee=mode.ieee,
        round_robin=bool(given("round_robin_scheduling")),
        fp16_overflow=bool(given("fp16_overflow")),
        wgp_mode=bool(given("workgroup_processor_mode", 1)),
        mem_ordered=bool(given("memory_ordered", 1)),
        forward_progress=bool(given("forward_progress", 1)),
        priority=0,
        enable_scratch=bool(given("enable_private_segment")),
        exceptions=sum(bool(given(f"exception_{name}")) << i for i, name in enumerate(EXCEPTIONS)),
        shared_vgprs=8 * given("shared_vgpr_count"),
        prefetch_lines=kernel.number("inst_pref_size") or 0,
        wave32=wave32,
        dynamic_stack=bool(given("uses_dynamic_stack")),
        raw=b"",
    )
    values = {key: value for key in kernel.metadata if (value := metadata.number(kernel, key)) is not None}
    return DescribedKernel(
        kernel.name,
        descriptor,
        tuple(argument for _, argument in metadata.arguments(kernel)),
        vgprs=stated(".vgpr_count", vgprs),
        sgprs=stated(".sgpr_count", given("next_free_sgpr")),
        vgpr_spills=stated(".vgpr_spill_count", 0),
        sgpr_spills=stated(".sgpr_spill_count", 0),
        max_workgroup=stated(".max_flat_workgroup_size", 1024),
        code_size=0,
        metadata=values,
    )
