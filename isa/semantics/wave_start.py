"""Initial registers of a wave: a kernel's descriptor -> what the hardware puts into SGPRs and v0 before the first
instruction.

    s0 and on    user SGPRs: those of USER_SGPRS that are asked for, in that order
    then         system SGPRs: workgroup ids x, y, z and workgroup info, those that are asked for; they follow the
                 number of user SGPRs that is counted, which may be more than were asked for. Some families have the
                 workgroup ids elsewhere (`Family.group_ids`)
    v0           the work-item's ids, ten bits each: x, and y and z as far as they are asked for
    EXEC         a bit for each work-item that there is

Sources: RDNA3 ISA guide 3.13; LLVM AMDGPUUsage, "Initial Kernel Execution State", "Kernel Descriptor" and, of what the
assembler takes where a directive is missing, "AMDHSA Kernel Assembler Directives".
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from isa.registers import Reg, s
from isa.targets import GFX1100, Family

if TYPE_CHECKING:
    from isa.asm.program import Kernel

# KERNEL_CODE_PROPERTIES, bits 0 to 6, with the number of SGPRs.
USER_SGPRS = (
    ("private_segment_buffer", 4),
    ("dispatch_ptr", 2),
    ("queue_ptr", 2),
    ("kernarg_segment_ptr", 2),
    ("dispatch_id", 2),
    ("flat_scratch_init", 2),
    ("private_segment_size", 1),
)

GROUP_IDS = {axis: f"system_sgpr_workgroup_id_{axis}" for axis in "xyz"}
"""Axis -> the directive by which a kernel asks for the workgroup's number."""


@dataclass(frozen=True, slots=True)
class WaveStart:
    """What a descriptor says of it.

    family:          of the target.
    user_sgprs:      what is preloaded from s0 on, in order, as (name, number of SGPRs).
    user_sgpr_count: what the hardware initialises before the system SGPRs follow.
    workgroup_id:    which of x, y, z the system SGPRs hold, in that order; then workgroup_info.
    workitem_id:     0: x, 1: x and y, 2: x, y and z.
    """

    family: Family = field(repr=False)
    user_sgprs: tuple[tuple[str, int], ...]
    user_sgpr_count: int
    workgroup_id: tuple[bool, bool, bool]
    workgroup_info: bool
    workitem_id: int

    @property
    def user(self) -> dict[str, Reg]:
        """What is preloaded -> its SGPRs."""
        found, at = {}, 0
        for name, count in self.user_sgprs:
            found[name] = s(at, count)
            at += count
        return found

    @property
    def system_sgprs(self) -> dict[str, int]:
        """The SGPR number of each system value: workgroup_id_x, _y, _z, workgroup_info, where enabled."""
        elsewhere = self.family.group_ids
        axes = zip("xyz", self.workgroup_id, strict=True)
        names = [f"workgroup_id_{axis}" for axis, on in axes if on and axis not in elsewhere]
        names += ["workgroup_info"] if self.workgroup_info else []
        return {name: self.user_sgpr_count + i for i, name in enumerate(names)}

    @property
    def group_ids(self) -> dict[str, tuple[int, int, int]]:
        """Axis -> (scalar register, lowest bit, bits) of the workgroup's number, of those that are asked for."""
        system, asked = self.system_sgprs, zip("xyz", self.workgroup_id, strict=True)
        own = self.family.group_ids
        return {a: own[a] if a in own else (system[f"workgroup_id_{a}"], 0, 32) for a, on in asked if on}

    @property
    def sgprs(self) -> int:
        """How many SGPRs are initialised, from s0 on."""
        return self.user_sgpr_count + len(self.system_sgprs)


def of_kernel(kernel: Kernel) -> WaveStart:
    """As the directives of a kernel in text say. One that is an expression counts as missing."""

    def given(name: str, default: int = 0) -> int:
        value = kernel.number(name)
        return default if value is None else value

    user = tuple((name, count) for name, count in USER_SGPRS if given(f"user_sgpr_{name}"))
    x, y, z = (bool(given(name, int(axis == "x"))) for axis, name in GROUP_IDS.items())
    return WaveStart(
        (kernel.program.target or GFX1100).family,
        user,
        given("user_sgpr_count", sum(count for _, count in user)),
        (x, y, z),
        bool(given("system_sgpr_workgroup_info")),
        given("system_vgpr_workitem_id"),
    )


def work_item_ids(item: Any, block: tuple[int, int, int], axes: int) -> Any:
    """v0 of a work-item by its number in the workgroup; integers, or an array of them. axes: how many are asked for."""
    x, y, _ = block
    ids = item % x
    if axes > 1:
        ids = ids | item // x % y << 10
    if axes > 2:
        ids = ids | item // (x * y) << 20
    return ids
