"""LDS padding: a kernel -> the same with unused bytes after each row of LDS, so that lanes that read a column meet
different banks.

In: a program. Out: the same with all LDS accesses of a kernel at f(a) = a + (a >> log) * pad, in rows of 2**log bytes.
f grows with a, so it keeps places apart; and where an access lies in one row, its bytes stay side by side. The 32 banks
of a CU's LDS are 4 bytes wide each: with rows of 128 bytes a column is one bank, and with 4 more it is all of them.

An access is at a register and an offset. f(v + c) is f(v) + f(c) where the low bits that v may have and those of c do
not carry into the row's number (`isa.analysis.multiples`); else it is v + c + (v + c >> log) * pad, a sum of its own:

    v_lshrrev_b32 t, log, v                             v_add_nc_u32 t, c, v
    v_lshl_add_u32 t, t, log2 pad, v                    v_lshrrev_b32 t, log, t
    ds_load_b32 x, t offset:f(c)                        v_lshl_add_u32 t, t, log2 pad, v
                                                        ds_load_b32 x, t offset:c

Where v lies in the first row, it is f of itself. What is computed stands after the one instruction that v comes from,
where there is one and a register is left that nothing uses, outside loops with it; else before the access. Two places
of one access that no offsets can name become two accesses.

Limits: all accesses of a kernel or none. What LDS a launch adds, flat accesses, addresses in M0 and pointers to LDS are
not followed. An access must be known to be at a multiple of its size: so it lies in one row, and stays aligned.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import ClassVar

from isa.analysis import defuse, liveness, multiples
from isa.analysis.cfg import Cfg
from isa.analysis.defuse import ENTRY
from isa.analysis.resources import LDS_PER_CU, occupancy
from isa.asm.emit import instruction_line, set_directives
from isa.asm.program import Kernel, Program
from isa.errors import IsaError
from isa.object import metadata
from isa.passes.edit import Edit, each_kernel, instruction_lines
from isa.passes.general.rename_banks import most_vgprs
from isa.passes.schedule.block_order import Function
from isa.registers import Reg
from isa.semantics import wave_start
from isa.semantics.instruction import Instruction, Operand, Special
from isa.targets import GFX1100

_SIZE = "group_segment_fixed_size"
_DYNAMIC = ("hidden_dynamic_lds_size", "dynamic_shared_pointer")
_FAR = 1 << 16
_UNITS = 256


@dataclass(frozen=True)
class PadLds:
    """Puts unused bytes after each row of a kernel's LDS.

    row:    bytes of a row, a power of two.
    pad:    bytes after it, a power of two; 0: as few as keep each access at a multiple of its size.
    kernel: which one; none: all.

    Requires:   that accesses stay within the LDS that the kernel declares, and a launch gives it no more.
    Guarantees: each access reaches the place that stands for its old one, and no other; as many waves fit as before.
    Leaves alone: kernels with an access of which that cannot be seen, whole.
    """

    name: ClassVar[str] = "pad-lds"
    row: int = 128
    pad: int = 0
    kernel: str = ""

    def run(self, program: Program) -> Program:
        for option, value, least in (("row", self.row, 16), ("pad", self.pad or 4, 4)):
            if value & value - 1 or value < least:
                raise IsaError(f"pad-lds: {option}={value} is not a power of two of at least {least}")
        return each_kernel(program, self.kernel, lambda kernel: _Padding(kernel, self.row, self.pad).made())


@dataclass(frozen=True)
class _Access:
    """An LDS access. size: of one place, in bytes; offsets: of its one or two places."""

    position: int
    inst: Instruction
    base: Reg
    size: int
    offsets: tuple[int, ...]


class _Padding:
    """One kernel with longer rows."""

    def __init__(self, kernel: Kernel, row: int, pad: int) -> None:
        self.kernel, self.row, self.pad = kernel, row, pad
        self.function = Function.of(kernel)
        self.cfg: Cfg = self.function.cfg
        self.edit = Edit(kernel)
        self.bases: dict[tuple[int, Reg, int], Reg] = {}

    def made(self) -> Program:
        """The new program; the very one that there is where that cannot be."""
        accesses = self._accesses()
        if not accesses:
            return self.kernel.program
        self.pad = self.pad or max(4, *(access.size for access in accesses))
        size = self.kernel.number(_SIZE) or 0
        if not self._fits(size, size + (size - 1) // self.row * self.pad):
            return self.kernel.program
        for access in accesses:
            if not self._moved(access):
                return self.kernel.program
        kernel = self.edit.apply().kernel(self.kernel.name)
        size += (size - 1) // self.row * self.pad
        entries = {f".{_SIZE}": size} if f".{_SIZE}" in kernel.metadata else {}
        return set_directives(kernel, {_SIZE: size}, entries)

    # --- what there is
    def _accesses(self) -> list[_Access] | None:
        """All LDS accesses; none where one of them cannot be moved, or more may reach LDS."""
        kernel, insts = self.kernel, self.cfg.instructions
        size, noted = kernel.number(_SIZE) or 0, metadata.number(kernel, f".{_SIZE}")
        if (
            self.function.opaque
            or size <= self.row
            or noted not in (size, None)
            or kernel.number("wavefront_size32") == 0
        ):
            return None
        if any(a.kind in _DYNAMIC for _, a in metadata.arguments(kernel)):
            return None
        if any(i.desc.space == "flat" or any(map(_whole_lds, i.operands)) for i in insts):
            return None
        found = []
        for position, inst in enumerate(insts):
            if inst.desc.space == "lds":
                access = self._access(position, inst)
                if access is None:
                    return None
                found.append(access)
        return found

    def _access(self, position: int, inst: Instruction) -> _Access | None:
        access = inst.desc.access
        assert access is not None
        where = inst.desc.address_of(inst)
        if access.by_lane or access.by_wave or inst.has("gds") or (access.pair and access.kind == "atomic"):
            return None
        if len(where) != 1 or not isinstance(where[0], Reg) or not where[0].is_vgpr:
            return None
        size = max(1, int(access.element.lstrip("uifb")) // 8)
        whole = 16 if size == 12 else size
        zeros = self._multiples.zeros(position, where[0])
        if any((1 << zeros | offset) & whole - 1 for offset in inst.offsets):
            return None
        return _Access(position, inst, where[0], size, inst.offsets)

    @cached_property
    def _multiples(self) -> multiples.Multiples:
        return multiples.analyse(self.cfg, (1 << 10 * (wave_start.of_kernel(self.kernel).workitem_id + 1)) - 1)

    @cached_property
    def _chains(self) -> defuse.DefUse:
        return defuse.analyse(self.cfg)

    @cached_property
    def _live(self) -> liveness.Liveness:
        return liveness.analyse(self.cfg)

    @cached_property
    def _most(self) -> int:
        return most_vgprs(self.kernel, self.cfg)

    @cached_property
    def _fresh(self) -> list[Reg]:
        """Registers that nothing uses, the last one first."""
        return self._live.free(range(len(self.cfg)), "v", self._most)[::-1]

    def _fits(self, old: int, new: int) -> bool:
        """Whether as many workgroups lie side by side with the longer rows."""
        kernel = self.kernel
        threads, vgprs = metadata.number(kernel, ".max_flat_workgroup_size"), kernel.number("next_free_vgpr")
        target, cu_mode = kernel.program.target or GFX1100, kernel.number("workgroup_processor_mode") == 0
        before, after = (
            occupancy(vgprs or 256, size, threads or 1024, cu_mode=cu_mode, target=target).workgroups
            if size <= LDS_PER_CU else 0
            for size in (old, new)
        )  # fmt: skip
        return 0 < before <= after

    # --- what becomes of it
    def _moved(self, access: _Access) -> bool:
        """Rewrites an access; False where no register is left for it."""
        line = self.cfg.lines[access.position]
        placed = [self._placed(access, offset) for offset in access.offsets]
        parts = [access.inst]
        if len(placed) == 2:
            joined = self._joined(access, [offset for _, offset in placed]) if placed[0][0] == placed[1][0] else None
            if joined is None:
                parts = list(_parted(access))
            else:
                parts, placed = [joined], placed[:1]
        lines = []
        for part, (key, offset) in zip(parts, placed, strict=True):
            found = self._base(access, key)
            if found is None:
                return False
            base, code = found
            inst = part if len(placed) < len(access.offsets) else _at(part, ("offset", offset))
            lines += [*instruction_lines(code), instruction_line(_from(inst, base))]
        self.edit.insert(line, lines)
        self.edit.remove([line])
        return True

    def _f(self, address: int) -> int:
        return address + address // self.row * self.pad

    def _placed(self, access: _Access, offset: int) -> tuple[int, int]:
        """(what is added to the register before its row is looked at, the offset after it) of a place."""
        ones = self._multiples.ones(access.position, access.base)
        carries = (ones & self.row - 1) + offset % self.row >= self.row or ones + offset >= 1 << 32
        if not offset or (not carries and self._f(offset) < _FAR):
            return 0, self._f(offset)
        return offset, offset

    def _joined(self, access: _Access, offsets: list[int]) -> Instruction | None:
        """An access of two places at other offsets, if they can be named."""
        for stride in (1, 64):
            unit = access.size * stride
            if all(o % unit == 0 and o // unit < _UNITS for o in offsets):
                middle = "2addr_stride64" if stride > 1 else "2addr"
                kind = access.inst.mnemonic.split("_")[1]
                name = f"ds_{kind}_{middle}_b{8 * access.size}"
                inst = dataclasses.replace(access.inst, mnemonic=name, size=0)
                return _at(inst, *((f"offset{k}", o // unit) for k, o in enumerate(offsets)))
        return None

    def _base(self, access: _Access, more: int) -> tuple[Reg, list[str]] | None:
        """A register that holds f of an access's register, and what computes it before the access."""
        if not more and self._multiples.ones(access.position, access.base) < self.row:
            return access.base, []
        sites = self._chains.defs_of(access.position, access.base)
        site = min(sites)
        inst = self.cfg.instructions[site] if site != ENTRY else None
        alone = len(sites) == 1 and inst is not None and inst.desc.is_valu and not inst.desc.is_trans
        key = (site, access.base, more)
        if alone and (key in self.bases or self._fresh):
            if key not in self.bases:
                self.bases[key] = self._fresh.pop()
                self.edit.insert(self.cfg.lines[site] + 1, instruction_lines(self._code(*key[1:], self.bases[key])))
            return self.bases[key], []
        free = [r for r in self._live.free(access.position, "v", self._most) if r not in self.bases.values()]
        return (free[-1], list(self._code(access.base, more, free[-1]))) if free else None

    def _code(self, base: Reg, more: int, to: Reg) -> Iterator[str]:
        if more:
            yield f"v_add_nc_u32_e32 {to}, {more:#x}, {base}"
        yield f"v_lshrrev_b32_e32 {to}, {self.row.bit_length() - 1}, {to if more else base}"
        yield f"v_lshl_add_u32 {to}, {to}, {self.pad.bit_length() - 1}, {base}"


def _whole_lds(operand: object) -> bool:
    return isinstance(operand, Special) and operand.name.startswith("src_shared")


def _at(inst: Instruction, *offsets: tuple[str, int]) -> Instruction:
    """An access at other offsets."""
    rest = tuple(m for m in inst.modifiers if not m[0].startswith("offset"))
    return dataclasses.replace(inst, modifiers=(*((n, o) for n, o in offsets if o), *rest), size=0)


def _from(inst: Instruction, base: Reg) -> Instruction:
    """An access from another register."""
    at = next(n for n, (role, _) in enumerate(inst.desc.roles_of(inst)) if not role.written)
    operands = tuple(base if n == at else o for n, o in enumerate(inst.operands))
    return dataclasses.replace(inst, operands=operands)


def _parted(access: _Access) -> Iterator[Instruction]:
    """The two places of an access, each by itself."""
    inst = access.inst
    words = access.size // 4
    load = inst.desc.access is not None and inst.desc.access.kind == "load"
    for k in (0, 1):
        if load:
            whole = inst.operands[0]
            assert isinstance(whole, Reg)
            operands: tuple[Operand, ...] = (Reg("v", whole.index + k * words, words), inst.operands[1])
        else:
            operands = (inst.operands[0], inst.operands[1 + k])
        name = f"ds_{'load' if load else 'store'}_b{8 * access.size}"
        yield _at(dataclasses.replace(inst, mnemonic=name, operands=operands))
