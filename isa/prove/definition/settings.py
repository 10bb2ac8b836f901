"""Descriptor and metadata -> how a wave starts; Fault where they do not give what the proof takes for granted."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np

from isa.asm.program import Kernel
from isa.lint.rules import counts
from isa.object import metadata
from isa.object.descriptor import EXCEPTIONS
from isa.prove.definition.launch import SymbolicLaunch, argument_bytes, argument_size, layout
from isa.prove.definition.pointers import words
from isa.prove.definition.waves import Fault, Waves
from isa.semantics import wave_start

_MODE = "workgroup_processor_mode"
# Directives that change how a wave starts or computes -> what they must be; LLVM AMDGPUUsage, ".amdhsa_" directives.
FIXED = {
    "wavefront_size32": 1, "user_sgpr_kernarg_segment_ptr": 1, "float_denorm_mode_32": 3, "float_round_mode_32": 0,
    "float_denorm_mode_16_64": 3, "float_round_mode_16_64": 0, "fp16_overflow": 0,
    "private_segment_fixed_size": 0, "enable_private_segment": 0, "user_sgpr_private_segment_size": 0,
    "user_sgpr_dispatch_ptr": 0, "user_sgpr_queue_ptr": 0, "user_sgpr_dispatch_id": 0,
    "system_sgpr_workgroup_info": 0, "system_vgpr_workitem_id": 0, "ieee_mode": 1, "dx10_clamp": 1,
    _MODE: 0, "memory_ordered": 1, "forward_progress": 1, "uses_dynamic_stack": 0,
    "shared_vgpr_count": 0, **{f"exception_{name}": 0 for name in EXCEPTIONS},
}  # fmt: skip
DEFAULTS = {
    "wavefront_size32": 1, "float_denorm_mode_16_64": 3, "ieee_mode": 1, "dx10_clamp": 1,
    "workgroup_processor_mode": 1, "memory_ordered": 1, "forward_progress": 1,
}  # fmt: skip
OTHERS = frozenset(
    "group_segment_fixed_size kernarg_size user_sgpr_count next_free_vgpr next_free_sgpr reserve_vcc inst_pref_size "
    "round_robin_scheduling".split()
).union(wave_start.GROUP_IDS.values())
"""Directives that are looked at, or that change nothing."""


def start(kernel: Kernel, w: Waves) -> None:
    """Sets the registers that hardware sets (ISA guide 3.12; AMDGPUUsage, "Initial Kernel Execution State")."""
    w.select(np.arange(w.count))
    for i, word in enumerate(words("arguments").T):
        w.put_scalar(i, word[:, None])
    found: dict[int, np.ndarray] = {}
    for axis, (at, low, bits) in wave_start.of_kernel(kernel).group_ids.items():
        numbers = np.array([ids["xyz".index(axis)] for ids in w.ids], np.uint64)[w.group]
        field = (numbers & np.uint64((1 << bits) - 1)) << np.uint64(low)
        found[at] = found.get(at, np.uint64(0)) | field
    for at, value in found.items():
        w.put_scalar(at, value)
    w.put(0, (w.place[:, None] * 32 + np.arange(32)).astype(np.uint64))


def check(kernel: Kernel, launches: Iterable[SymbolicLaunch]) -> None:
    """Fault for a setting under which the kernel is started or computes otherwise in one of them."""
    noted = [(a.offset, a.size) for _, a in metadata.arguments(kernel) if not a.hidden]
    for launch in launches:
        _check(kernel, launch, noted)


def _check(kernel: Kernel, launch: SymbolicLaunch, noted: list[tuple[int, int]]) -> None:
    for name in kernel.descriptor.keys() - FIXED.keys() - OTHERS:
        raise Fault("setting", f".amdhsa_{name} is not known here")
    for name, wanted in FIXED.items():
        if name == _MODE and not launch.workspace:  # waves on two CUs see what others store only in LDS
            continue
        if (found := _directive(kernel, name)) != wanted:
            raise Fault("setting", f".amdhsa_{name} is {found}, not {wanted}")
    # The pointer to the arguments lies in the first two; at most 16 can be.
    given = wave_start.of_kernel(kernel)
    if not 2 <= (user := given.user_sgpr_count) <= counts.USER_SGPRS:
        raise Fault("setting", f".amdhsa_user_sgpr_count is {user}, not 2 to {counts.USER_SGPRS}")
    threads, size = launch.block, argument_bytes(launch.arguments)
    for name, least in (("kernarg_size", size),):
        if (found := _directive(kernel, name)) < least:
            raise Fault("setting", f".amdhsa_{name} is {found}: the arguments have {least} bytes")
    # HIP copies so many bytes from each argument of the host to there.
    passed = [(at, argument_size(name)) for at, name in layout(launch.arguments)]
    if noted and (wrong := sorted(set(noted) ^ set(passed))):
        at, both = wrong[0][0], (dict(noted), dict(passed))
        said = [f"{sizes[at]} bytes" if at in sizes else "none" for sizes in both]
        raise Fault("setting", f"the metadata's argument at byte {at} has {said[0]}, that of the host {said[1]}")
    most = metadata.number(kernel, ".max_flat_workgroup_size")
    if most is not None and most < threads:
        raise Fault("setting", f".max_flat_workgroup_size is {most}: a workgroup has {threads} threads")
    if metadata.number(kernel, ".uniform_work_group_size") == 0:
        raise Fault("setting", ".uniform_work_group_size is 0: the kernel takes whole workgroups only")
    layers = launch.layer.number + 1 if launch.layer else launch.grid[2]
    for axis, groups in zip("xyz", (*launch.grid[:2], layers), strict=True):
        if groups > 1 and axis not in given.group_ids:
            raise Fault("setting", f"the launch has several workgroups in {axis}, the kernel does not ask which it is")


def lds_bytes(kernel: Kernel) -> int:
    return _directive(kernel, "group_segment_fixed_size")


def _directive(kernel: Kernel, name: str) -> int:
    """Its value; the assembler's default where it is not given."""
    value = kernel.number(name)
    return DEFAULTS.get(name, 0) if value is None else value
