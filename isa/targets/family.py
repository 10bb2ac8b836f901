"""Families and targets: the properties by which GPUs differ, as far as this project asks for them.

A `Family` is a generation of the instruction set, one file of this package each: counters, what raises them, how waits
are written, cache bits, dual issue. A `Target` is one GPU of it. Code asks the target, never a name.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field


@dataclass(frozen=True, slots=True)
class Vopd:
    """Dual issue. scalars: SGPRs, VCC and literals that a pair reads at most; literals: different ones of them.
    any_moves: the sources of two v_dual_mov_b32 may lie in one bank. same_register: X and Y may read one VGPR through
    one source, in code that newer assemblers made; older ones refuse it."""

    scalars: int
    literals: int
    any_moves: bool = False
    same_register: bool = False


Modifier = tuple[str, int | str | tuple[int, ...] | None]
"""A modifier as an instruction has it: (name, value), the value None for a bare word."""


@dataclass(frozen=True, eq=False)
class Family:
    """One generation of the instruction set.

    counters:    wait counter -> its width in bits.
    raised:      scheduling class -> the counters that its instructions raise; returning: those of an atomic that
                 gives back the old value, where they are others.
    single_waits: instruction that waits for one counter -> that one; packed_waits: one that waits for several -> each
                 of them with its lowest bit in the number. wait_form: how the number of the former is written;
                 wait_fields: whether the latter take `counter(number)` for those that are asked for.
    results_wait: the instruction that waits for ALU results; result_fields: field -> (lowest bit, largest number).
    barrier:     the instructions by which a wave waits for the others of its workgroup; between them stands nothing.
    acquire:     those after which it sees what other workgroups wrote; empties: instruction -> the levels of vector
                 caches that it empties for that, 1 before 0.
    cache_bits:  the modifiers that say how an access treats caches; misses: modifier -> the levels of vector caches
                 that a load with it does not look into. coherent: those by which a load goes to where
                 other workgroups write, and an atomic gives back the old value; returns: those of the latter.
    shared_load, shared_atomic: how the modifiers of both are written, where others of the card take part.
    names:       instruction as this family writes it -> the name that its entry has, where that is another one.
    group_ids:   axis -> (scalar register, lowest bit, bits) of the workgroup's number, where it lies in no SGPR that a
                 kernel asks for. wave_id: (scalar register, lowest bit) of the wave's number in its workgroup, of five
                 bits; none: NULL.
    offsets:     memory -> the numbers that the offset of an access may be; `buffer` and `scalar buffer` apart.
    vector_memory_bytes: of an instruction of vector memory.
    vop2:        vector instructions that have the encoding VOP2 here and not in every family.
    mode_bits:   whether MODE and the descriptor have DX10_CLAMP and IEEE; else both are as if set, but omod works.
    prefetch_bits: of INST_PREF_SIZE in the descriptor.
    matrix_rate: bits of a factor -> operations of a matrix unit over those of dual FMAs in fp32.
    factors_twice: whether both halves of a wave hold the factors of a matrix product.
    features:    what LLVM 22 is asked for beside the target, as it has that by default later.
    vopd:        its rules of dual issue.
    encoded_vgprs: of which a descriptor counts a wave32's VGPRs.
    """

    name: str
    counters: Mapping[str, int]
    raised: Mapping[str, tuple[str, ...]]
    returning: Mapping[str, tuple[str, ...]]
    single_waits: Mapping[str, str]
    packed_waits: Mapping[str, Mapping[str, int]]
    wait_form: str
    wait_fields: bool
    results_wait: str
    result_fields: Mapping[str, tuple[int, int]]
    barrier: tuple[str, ...]
    acquire: tuple[str, ...]
    empties: Mapping[str, tuple[int, ...]]
    cache_bits: tuple[str, ...]
    misses: Mapping[Modifier, tuple[int, ...]]
    coherent: frozenset[Modifier]
    returns: frozenset[Modifier]
    shared_load: str
    shared_atomic: str
    names: Mapping[str, str]
    group_ids: Mapping[str, tuple[int, int, int]]
    wave_id: tuple[int, int]
    offsets: Mapping[str, range]
    vector_memory_bytes: int
    vop2: frozenset[str]
    mode_bits: bool
    prefetch_bits: int
    matrix_rate: Mapping[int, int]
    factors_twice: bool
    features: str
    vopd: Vopd
    encoded_vgprs: int = 8

    @property
    def wide(self) -> frozenset[Modifier]:
        """The scopes that reach other workgroups; none where scopes have no names."""
        return self.coherent - self.returns

    def counters_of(self, sched: str, returns: bool) -> tuple[str, ...]:
        """The counters that an instruction of a class raises. returns: it is an atomic that gives the old value."""
        return (self.returning if returns and sched in self.returning else self.raised).get(sched, ())


@dataclass(frozen=True, slots=True)
class Target:
    """One GPU.

    mach:  EF_AMDGPU_MACH in a code object.
    vgprs: wave32 VGPRs of a SIMD; granule: how many a wave is given at a time. FeatureGFX11FullVGPRs has half as many
           again of both.
    hazards: those of `isa.lint.hazards` and `isa.analysis.valu_writes` that it has, by name.
    least_sgprs: user and system SGPRs that a wave32 kernel must have enabled at least (FeatureUserSGPRInit16Bug).
    built: `isa.toolchain` builds for it; the others are only read.
    generic: its code runs on every target of its family.
    """

    name: str
    mach: int
    vgprs: int
    granule: int
    family: Family = field(repr=False)
    hazards: frozenset[str]
    least_sgprs: int = 0
    built: bool = True
    generic: bool = False

    @property
    def version(self) -> tuple[int, int, int]:
        return version(self.name)


def version(name: str) -> tuple[int, int, int]:
    """gfx1151 -> (11, 5, 1); gfx90a -> (9, 0, 10); gfx11-generic -> (11, 0, 0), the least of its family. ValueError
    where it is no such name."""
    if m := re.fullmatch(r"gfx(\d+)(?:-(\d+))?-generic", name):
        return int(m[1]), int(m[2] or 0), 0
    m = re.fullmatch(r"gfx(\d{1,2})(\d)([0-9a-f])", name)
    if m is None:
        raise ValueError(f"{name!r} is not a target such as gfx1100")
    return int(m[1]), int(m[2]), int(m[3], 16)
