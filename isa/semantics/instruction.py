"""Instructions and their table: one entry gives operand roles, scheduling class, targets and meaning of each.

`Instruction` is one of a program, with its operands; its `desc` is the table's entry for it.

An entry is made with `inst`, whose first argument reads like assembly:

    inst("v_fmac_f32 +v.f32, a.f32, a.f32", lambda d, a, b: fma(a, b, d), sched="valu", vopd="xy")
    inst("s_add_u32 =s.u32, s.u32, s.u32", lambda a, b: (a + b, carry(a, b)), sched="salu", writes="scc")

Each operand is `[=|+]kind.type`: `=` written, `+` read and written, neither read only. Kinds:

    v     VGPRs                         m     a lane mask in an SGPR (32 bit in wave32)
    a     any vector source             i     an immediate number
    s     SGPR destination or source    l     a branch target
    va    vector address: 64 bit where the scalar one is `off`, else 32 bit; may be `off` for scratch
    sa    scalar address: SGPR pair (one SGPR for scratch) or `off`
    vb    vector address in a buffer: an index (idxen), an offset (offen), both in this order, or `off`
    rs    a buffer descriptor, four SGPRs
    f     the fields of s_waitcnt and its kind

The type gives width and interpretation; `width` turns it into a count of registers:

    u8 i8 u16 i16 f16 bf16 u32 i32 f32 u64 i64 f64     numbers; b16 b32 b64 are unsigned numbers that a sign modifier
                                                        (-x, |x|) takes for floats
    b96 b128 b256 b512      a tuple of u32 values, one a register
    f16x8 bf16x8            the same; of a destination op_sel[2] picks the half that is written
    f16q bf16q              the same, two numbers in each of four registers
    pkf16 pku16 pki16       two 16-bit numbers in one register. Where the destination is packed too, the body is called
                            once a half; otherwise it gets such a source as the tuple (low, high)
    pkf16d pkbf16           the same, where an inline constant stands in both halves; bf16 as its bits, u16
    mix                     f32, or one half as f16 turned into f32, as op_sel_hi and op_sel say (v_fma_mix_*)
    f16h                    a destination that is the high half of its register
    mask                    b1: one truth value a lane (kind m)

`sched=` names the scheduling class (`isa.semantics.scheduling`), from which follows what runs the instruction.

`reads=` and `writes=` name implicit registers (scc, vcc, exec, m0; vcc and exec are u32 masks, the 64 forms u64; scc is
b1), `pc` the program counter. `fields=` names what else the body needs: a modifier's number (offset, clamp, op_sel,
neg_lo ...; 0, False or () where it is not given), `lane` (the lane's number, u32) or `next` (the address of the next
instruction, u64).

The body gets the values of all operands that are read, in order (an immediate as a Python int; a branch target not at
all), then the implicit reads, then the fields. It returns the values of all operands that are written, in order, then
those of the implicit writes: one value, or a tuple. Values are `isa.semantics.values.Value`s; a body never knows which
engine runs it, and never asks Python for the truth of a value.

Instructions that touch memory have an `Access` that says which memory and how. Their operands stand in the order of the
text: the address is the first that is only read, data and scalar address follow. They have a body only where they
compute: an atomic's maps (value in memory, data ...) to the new value in memory.

`effect=` says what an instruction does beside writing registers:

    branch       goes to its target; where it has a body, only if that returns true
    end          ends the wave
    trap         calls the trap handler: the kernel gives up (`__builtin_trap`)
    barrier      waits for all waves of the workgroup; signal: tells them that this wave has arrived, where waiting is
                 an instruction of its own; named barrier: of some waves, or one that says who came first: not simulated
    grid         waits until so many waves of the launch wait as its body says
    wait         waits for counters; nothing else
    mode round, mode denorm, setreg, getreg     the MODE register and its like; counters and ids of the hardware
    ask          a message that is answered, as with a clock

`relative=` names the operands (by number) whose register number M0 is added to (v_movrels_b32); with `two_offsets` bits
25 to 16 of it to that of operand 0, bits 9 to 0 to that of the source. `form=` is a variant
that has an entry of its own: `glc`, where an atomic gives back the old value and so has one operand more (the name is
that of the modifier of gfx11; `Instruction.gives_back` asks the target), or the name of a family where an instruction
of one name has other operands or another result than elsewhere (`gfx12`, v_wmma_*).

Vector instructions read EXEC without saying so (`exec_masked`): lanes that are off keep their destination. An
instruction that ignores EXEC (v_readlane_b32, v_writelane_b32) says `ignores_exec`.

Where a lane's result depends on other lanes (v_permlane16_b32, ds_bpermute_b32, v_wmma_*) the entry says
`crosses_lanes`. Where it is the source as it is (v_mov_b32), it says `copy`.

`since=` is the first target that has an instruction, `until=` the first that no longer does (gfx1150, as version
numbers are ordered). Which counters it raises, how they are waited for and what its cache bits are is the target's
(`isa.targets`).

An instruction without a description is an error that names it and this package's file for it; there is no default.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from functools import cache, cached_property, lru_cache, wraps
from typing import Any, Concatenate, ParamSpec, TypeVar

from isa.errors import IsaError, Span, meant
from isa.registers import EXEC, EXEC_LO, M0, SCC, SGPR_LIMIT, VCC, VCC_LO, VGPR_LIMIT, Reg
from isa.semantics.names import ALIASES, RENAMED, RENAMED_SINCE, why
from isa.semantics.scheduling import CLASSES, MATRIX, TRANSCENDENTAL, Unit
from isa.targets import GFX1100, Family, Target, elsewhere, version, who_has

P = ParamSpec("P")
T = TypeVar("T")
VECTOR_UNITS = frozenset({"valu", "lds", "vmem"})
IMPLICIT: dict[str, Reg] = {"scc": SCC, "vcc": VCC_LO, "vcc64": VCC, "exec": EXEC_LO, "exec64": EXEC, "m0": M0}
_BITS = {"f16h": 16, "f16x8": 256, "bf16x8": 256, "f16q": 128, "bf16q": 128, "mask": 32, "mix": 32}
_HALVES = frozenset({"f16", "u16", "i16", "b16", "bf16", "f16h", "f16x8", "bf16x8"})
_MERGING = frozenset({"quad_perm", "dpp8", "row_mask", "bank_mask"})
_PERMLANES = frozenset({"v_permlane16_b32", "v_permlanex16_b32"})
_LIMITS = {"v": VGPR_LIMIT, "s": SGPR_LIMIT}
_SUFFIX = re.compile(r"_(e32|e64|dpp|sdwa|e64_dpp|e32_dpp)$")


@dataclass(frozen=True, slots=True)
class Imm:
    """A number: an int as bits, or a float as the assembler's floating-point constant. `text` is how it was written."""

    value: int | float
    text: str = ""

    def __str__(self) -> str:
        return self.text or (hex(self.value) if isinstance(self.value, int) and self.value > 64 else str(self.value))


@dataclass(frozen=True, slots=True)
class Symbol:
    """A label or a symbol expression such as `.LBB0_3` or `f@rel32@lo+4`."""

    text: str

    def __str__(self) -> str:
        return self.text


@dataclass(frozen=True, slots=True)
class Special:
    """A named source that is no register of the wave: `off`, `src_private_base`, ..."""

    name: str

    def __str__(self) -> str:
        return self.name


@dataclass(frozen=True, slots=True)
class Fields:
    """What s_waitcnt, s_delay_alu, s_getreg and s_sendmsg take: `vmcnt(0) lgkmcnt(1)` as (name, arguments) pairs."""

    items: tuple[tuple[str, tuple[str, ...]], ...]
    text: str

    def get(self, name: str) -> tuple[str, ...] | None:
        """The arguments of field `name`, or None where it is not given."""
        return dict(self.items).get(name)

    def __str__(self) -> str:
        return self.text


@dataclass(frozen=True, slots=True)
class Modified:
    """A source with input modifiers: -x, |x|, sext(x)."""

    operand: Reg | Imm | Special | Symbol
    neg: bool = False
    abs: bool = False
    sext: bool = False

    def __str__(self) -> str:
        text = str(self.operand)
        text = f"|{text}|" if self.abs else text
        text = f"sext({text})" if self.sext else text
        if self.neg and text[0] in "-0123456789":  # -1 is another number; this is 1 with its sign bit turned over
            return f"neg({text})"
        if self.neg and isinstance(self.operand, Imm):  # -0 would be the number 0
            return f"neg({text})"
        return f"-{text}" if self.neg else text


_DPP = ("quad_perm", "row_", "dpp8")
Operand = Reg | Imm | Symbol | Special | Fields | Modified
ModifierValue = int | str | tuple[int, ...] | None


def bare(operand: Operand) -> Operand:
    """An operand without input modifiers."""
    return operand.operand if isinstance(operand, Modified) else operand


@cache
def bit_width(type_: str) -> int:
    """How many bits a value of this type has: the number in its name, but for packed types, halves and masks."""
    return 32 if type_.startswith("pk") else _BITS.get(type_) or int(type_.lstrip("abfiu"))


@cache
def width(type_: str) -> int:
    """How many 32-bit registers a value of this type takes."""
    return max(1, bit_width(type_) // 32)


@dataclass(frozen=True, slots=True)
class Role:
    """What one operand is for. `access` is "r", "w" or "rw"."""

    access: str
    kind: str
    type: str
    read: bool = field(init=False)
    written: bool = field(init=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "read", "r" in self.access)
        object.__setattr__(self, "written", "w" in self.access)


@dataclass(frozen=True, slots=True)
class Access:
    """What a memory instruction does.

    space: lds, global, flat, scratch or scalar.  kind: load, store or atomic.
    element: type in memory (u8 i8 u16 i16 b32 b64 b96 b128 ...); sub-dword loads extend to 32 bit by its sign.
    half: "lo" or "hi" where 16 bits of the register are meant and the other 16 kept (the d16 forms).
    pair: for ds_*_2addr the unit of the two offsets in elements (1 or 64), else 0.
    returns: an atomic that gives back the old value.
    by_lane: no address: each lane has a place of its own, M0, or the scalar address, plus four times its number
        (ds_*_addtid_b32, global_*_addtid_b32).
    by_wave: one access, at M0, for all lanes together (ds_append).
    aligned: the low bits of an address that is no multiple of the element do not count (ds_condxchg32_rtn_b64).
    buffer: the address comes from a buffer descriptor, which says what is out of range (`isa.semantics.buffers`).
    transposed: bits of the elements that each eight lanes exchange after a load: element j of lane i is what lane j
        loaded as its element i (global_load_tr_*); 0 where they keep their own.
    components: of a typed buffer so many are turned from or into the format that the instruction names, each 32 bits in
        registers, or 16 where there is a half (`isa.semantics.buffers`); element is the most that it reaches.
    """

    space: str
    kind: str
    element: str
    half: str = ""
    pair: int = 0
    returns: bool = False
    by_lane: bool = False
    by_wave: bool = False
    aligned: bool = False
    buffer: bool = False
    transposed: int = 0
    components: int = 0


@dataclass(frozen=True)
class Description:
    """One instruction. See the module's docstring for what the fields mean.

    sched:    its scheduling class (`isa.semantics.scheduling`).
    vopd:     which halves of a VOPD it may be: "", "xy" or "y".
    crosses_lanes: a lane's result depends on other lanes' sources (DPP does that to any: `Instruction.dpp`).
    copy:     its result is its only source as it is; where it crosses lanes too (v_readfirstlane_b32), that of one.
    terminator: control never goes on after it (s_branch, s_setpc_b64, s_endpgm).
    flushes:  it drops f32 denormals in any mode; so omod works in any mode but IEEE.
    words:    what it does, where no body, access or effect says it.
    since, until: the first target that has it, and the first that no longer does; "" for none.
    """

    name: str
    roles: tuple[Role, ...]
    body: Callable[..., Any] | None
    sched: str
    implicit_reads: tuple[str, ...] = ()
    implicit_writes: tuple[str, ...] = ()
    access: Access | None = None
    vopd: str = ""
    ignores_exec: bool = False
    crosses_lanes: bool = False
    copy: bool = False
    terminator: bool = False
    flushes: bool = False
    fields: tuple[str, ...] = ()
    effect: str = ""
    relative: tuple[int, ...] = ()
    two_offsets: bool = False
    words: str = ""
    since: str = ""
    until: str = ""

    def exists_on(self, target: Target) -> bool:
        """Whether a target has it."""
        after = not self.since or target.version >= version(self.since)
        return after and (not self.until or target.version < version(self.until))

    @cached_property
    def unit(self) -> Unit:
        """What runs it."""
        return CLASSES[self.sched]

    @cached_property
    def exec_masked(self) -> bool:
        return self.unit in VECTOR_UNITS and not self.ignores_exec

    @cached_property
    def is_vector(self) -> bool:
        """Whether it works on lanes: the vector ALU, LDS or vector memory."""
        return self.unit in VECTOR_UNITS

    @cached_property
    def is_valu(self) -> bool:
        """Whether the vector ALU runs it, transcendental and matrix instructions among them."""
        return self.unit == "valu"

    @cached_property
    def is_salu(self) -> bool:
        return self.unit == "salu"

    @cached_property
    def is_trans(self) -> bool:
        return self.sched in TRANSCENDENTAL

    @cached_property
    def is_matrix(self) -> bool:
        return self.sched in MATRIX

    @cached_property
    def is_compare(self) -> bool:
        """Whether it is a vector comparison: it writes a lane mask, or EXEC, and no VGPR."""
        written = [role.kind for role in self.roles if role.written]
        return self.is_valu and (written == ["m"] or self.writes_exec)

    @cached_property
    def writes_exec(self) -> bool:
        """Whether it writes EXEC without naming it: v_cmpx, s_and_saveexec and their kinds."""
        return "exec" in self.implicit_writes or "exec64" in self.implicit_writes

    @cached_property
    def is_branch(self) -> bool:
        """Whether control may go elsewhere: branches, calls, jumps through a register."""
        return self.unit == "branch"

    @cached_property
    def is_barrier(self) -> bool:
        return self.unit == "barrier"

    @cached_property
    def arrives(self) -> bool:
        """Whether other waves know by it that this one has come to the barrier."""
        return self.sched in ("barrier", "barrier_signal", "barrier_first")

    @cached_property
    def is_wait(self) -> bool:
        return self.unit == "wait"

    @property
    def is_internal(self) -> bool:
        """Whether no unit runs it: hints, s_nop, s_endpgm, messages, mode changes."""
        return self.unit == "internal"

    @property
    def is_hint(self) -> bool:
        """Whether it changes no register, no memory and no mode: s_nop, v_nop, s_delay_alu, messages ..."""
        written = self.implicit_writes or any(role.written for role in self.roles)
        return not (written or self.effect or self.access) and self.sched != "cache_control"

    @cached_property
    def copies(self) -> int:
        """Bits that it copies, in each lane or for the wave; 0 where it is no such move."""
        return 0 if self.crosses_lanes else self.moves

    @cached_property
    def moves(self) -> int:
        """The same, moves of one lane's value to an SGPR among them."""
        return bit_width(self.roles[0].type) if self.copy else 0

    @property
    def keeps_rest(self) -> bool:
        """Whether a destination is read only for what is left alone: the other lanes (v_writelane_b32), the other half
        (d16 loads)."""
        one_lane = self.ignores_exec and not self.crosses_lanes
        vector = self.is_valu and any(role.written and role.kind == "v" for role in self.roles)
        return (one_lane and vector) or (self.access is not None and bool(self.access.half))

    @cached_property
    def drains_valu(self) -> bool:
        """Whether it issues only when all of the wave's vector results are in their registers: LDS, vector memory."""
        return self.unit == "lds" or self.unit == "vmem"

    @cached_property
    def space(self) -> str:
        """The memory that it reaches, "" for none."""
        return self.access.space if self.access is not None else ""

    def address_of(self, inst: Instruction) -> list[Operand]:
        """The operands that a memory access gets its address from: the first that is only read and the scalar one; with
        a buffer all that are not data."""
        rows = [(role, operand) for role, operand in self.roles_of(inst) if not role.written]
        if self.access is not None and self.access.buffer:
            return [operand for role, operand in rows if role.kind != "v"]
        return [operand for n, (role, operand) in enumerate(rows) if n == 0 or role.kind == "sa"]

    @cached_property
    def scatters(self) -> bool:
        """Whether M0 chooses which register it writes."""
        return any(self.roles[number].written for number in self.relative)

    def roles_of(self, inst: Instruction) -> list[tuple[Role, Operand]]:
        """(role, operand) of one instruction (one half of a VOPD), the implicit VCC mask of a VOPD half added."""
        operands = list(inst.operands)
        if inst.mnemonic.startswith("v_dual_") and len(operands) == len(self.roles) - 1 and self.roles[-1].kind == "m":
            operands.append(VCC_LO)
        if len(operands) != len(self.roles):
            raise inst.error(
                f"{inst.mnemonic} takes {len(self.roles)} operands",
                expected=", ".join(f"{r.kind}.{r.type}" for r in self.roles),
                got=f"{len(operands)}",
            )
        return list(zip(self.roles, operands, strict=True))

    def reads(self, inst: Instruction) -> frozenset[Reg]:
        """Single registers that `inst` reads."""
        return frozenset(self._registers(inst, "r", self.implicit_reads))

    def writes(self, inst: Instruction) -> frozenset[Reg]:
        """Single registers that `inst` writes, perhaps in some lanes only (`exec_masked`)."""
        return frozenset(self._registers(inst, "w", self.implicit_writes))

    def tied(self, inst: Instruction) -> frozenset[Reg]:
        """Of the single registers that `inst` writes, those whose old value it reads as one and the same operand: FMAC,
        halves, DPP that leaves lanes. Such a value and the result cannot lie in two registers."""
        found: set[Reg] = set()
        for half in inst.halves:
            for role, operand in (half.desc if inst.pair is not None else self).roles_of(half):
                if role.written and isinstance(operand, Reg) and _keeps(half, role, operand):
                    found.update(operand.units())
        return frozenset(found)

    def _registers(self, inst: Instruction, access: str, implicit: tuple[str, ...]) -> set[Reg]:
        found: set[Reg] = set()
        for half in inst.halves:
            desc = half.desc if inst.pair is not None else self
            for number, (role, operand) in enumerate(desc.roles_of(half)):
                reg = getattr(operand, "operand", operand)
                if not isinstance(reg, Reg) or reg.is_null:
                    continue
                if number in desc.relative and (access == "r" or role.written):  # of many written all but one are kept
                    found.update(Reg(reg.file, i) for i in range(reg.index, _LIMITS.get(reg.file, 0)))
                    found.update(reg.units())
                elif _keeps(half, role, reg) if access == "r" and role.written else access in role.access:
                    found.update(reg.units())
        for name in implicit:
            if name in IMPLICIT:
                found.update(IMPLICIT[name].units())
        if access == "r" and self.exec_masked:
            found.add(EXEC_LO)
        return found


def _keeps(half: Instruction, role: Role, reg: Reg) -> bool:
    """Whether a written operand's old value is read: a 16-bit result leaves the other half, DPP leaves lanes."""
    if reg.is_vgpr and (role.type in _HALVES or _merges(half)):
        return True
    return role.read and not replaces(half)


def _merges(half: Instruction) -> bool:
    return any(name in _MERGING for name, _ in half.modifiers)


def replaces(half: Instruction) -> bool:
    """v_permlane*16_b32 writes each of its lanes where it fetches inactive lanes or takes 0 for them."""
    op_sel = half.modifier("op_sel")
    return half.mnemonic in _PERMLANES and isinstance(op_sel, tuple) and any(op_sel[:2])


TABLE: dict[str, Description] = {}
"""Every described instruction by name, as `inst` found them: whole once `isa.instructions` is imported."""


def inst(
    pattern: str,
    body: Callable[..., Any] | None = None,
    *,
    sched: str,
    reads: str = "",
    writes: str = "",
    fields: str = "",
    form: str = "",
    **facts: Any,
) -> Description:
    """Describe one instruction; see the module's docstring. facts: other fields of the description, as it has them.
    Raises ValueError where the entry itself is wrong."""
    name, _, rest = pattern.partition(" ")
    roles = []
    for piece in filter(None, (p.strip() for p in rest.split(","))):
        m = re.fullmatch(r"([=+]?)(v|a|s|m|i|l|f|va|sa|vb|rs)(?:\.(\w+))?", piece)
        if not m:
            raise ValueError(f"{name}: operand {piece!r} is not [=|+]kind.type")
        roles.append(Role({"": "r", "=": "w", "+": "rw"}[m[1]], m[2], m[3] or ("mask" if m[2] == "m" else "b32")))
    if sched not in CLASSES:
        raise ValueError(f"{name}: no scheduling class {sched!r} in isa.semantics.scheduling")
    key = f"{name} {form}" if form else name
    if key in TABLE:
        raise ValueError(f"{key} is described twice")
    named = {"implicit_reads": reads, "implicit_writes": writes, "fields": fields}
    facts |= {field: tuple(names.split()) for field, names in named.items()}
    entry = TABLE[key] = Description(name, tuple(roles), body, sched, **facts)
    return entry


@lru_cache(4096)
def base_name(mnemonic: str) -> str:
    """The name under which a mnemonic is described: without encoding suffix, a VOPD half by its own name, an older name
    by the present one (`isa.semantics.names`)."""
    name = _SUFFIX.sub("", mnemonic)
    return "v_" + name[len("v_dual_") :] if name.startswith("v_dual_") else ALIASES.get(name, name)


@dataclass(frozen=True)
class Instruction:
    """One machine instruction.

    mnemonic:  as written, with its encoding suffix if it has one (`v_fmac_f32_e32`); of a VOPD the X half's.
    operands:  in the order of the text, destinations first.
    modifiers: (name, value) in the order of the text; a bare word such as `glc` has value None.
    pair:      the Y half where this is a VOPD, the X half.
    span:      where it stands in the text; columns: where each operand starts (from 1).
    address:   byte address when it was disassembled from a code object; size: bytes, 0 when not known.
    target:    what it is for, None where the program does not say.
    """

    mnemonic: str
    operands: tuple[Operand, ...] = ()
    modifiers: tuple[tuple[str, ModifierValue], ...] = ()
    pair: Instruction | None = None
    span: Span | None = field(default=None, compare=False)
    columns: tuple[int, ...] = field(default=(), compare=False)
    address: int | None = field(default=None, compare=False)
    size: int = field(default=0, compare=False)
    target: Target | None = field(default=None, compare=False)

    @property
    def family(self) -> Family:
        """The generation of its target; of gfx1100 where that is not known."""
        return (self.target or GFX1100).family

    @cached_property
    def counters(self) -> tuple[str, ...]:
        """The wait counters that it raises."""
        access = self.desc.access
        return self.family.counters_of(self.desc.sched, access is not None and access.returns)

    @property
    def coherent(self) -> bool:
        """Whether a load goes to where other workgroups write (glc); whether an atomic gives back the old value."""
        return not self.family.coherent.isdisjoint(self.modifiers)

    @property
    def narrow(self) -> bool:
        """Whether its scope leaves out other workgroups, where scopes are named (gfx12): an atomic is none to them."""
        return bool(self.family.wide) and self.family.wide.isdisjoint(self.modifiers)

    @property
    def gives_back(self) -> bool:
        """Whether an atomic gives back the old value, by a modifier."""
        return not self.family.returns.isdisjoint(self.modifiers)

    def __hash__(self) -> int:
        return self._hash

    @cached_property
    def _hash(self) -> int:
        return hash((self.mnemonic, self.operands, self.modifiers, self.pair))

    @cached_property
    def facts(self) -> dict[Any, Any]:
        """What `fact`s say of it. All that were read from the same text have one (`isa.asm.parse`)."""
        return {}

    @cached_property
    def desc(self) -> Description:
        """What the instruction does, from the one place where it is described. IsaError where it is not described."""
        return lookup(self)

    def modifier(self, name: str, default: ModifierValue = None) -> ModifierValue:
        """The value of modifier `name`; `default` where it is not given. For bare words use `has`."""
        return dict(self.modifiers).get(name, default) if self.modifiers else default

    def has(self, name: str) -> bool:
        return any(n == name for n, _ in self.modifiers)

    @property
    def scheduling_class(self) -> str:
        """Its entry's class, or that of its form (`isa.semantics.scheduling`)."""
        if self.pair is not None:
            return "vopd"
        return "valu_dpp" if self.desc.sched == "valu" and self.dpp else self.desc.sched

    @property
    def of_workgroup(self) -> bool:
        """Whether it arrives or waits at the barrier of the workgroup, not at a named one."""
        number = self.operands[0] if self.operands else Imm(-1)
        whole = isinstance(number, Imm) and int(number.value) & 0xFFFF == 0xFFFF
        return whole and self.desc.is_barrier and self.desc.sched != "barrier_state"

    @property
    def sees_flags(self) -> bool:
        """Whether it may read what another wave publishes: a load that passes caches by, an atomic that returns."""
        access = self.desc.access
        return access is not None and access.space in ("global", "flat") and access.kind != "store" and self.coherent

    @property
    def dpp(self) -> bool:
        """Whether its first source comes from other lanes (DPP)."""
        return self.mnemonic.endswith("_dpp") or any(name.startswith(_DPP) for name, _ in self.modifiers)

    @property
    def offset(self) -> int:
        """The `offset:` modifier as a number, 0 where there is none."""
        return self.number("offset")

    @property
    def offsets(self) -> tuple[int, ...]:
        """The bytes that an access adds to its address: of each, where it has two (ds_*_2addr)."""
        access = self.desc.access
        if access is None or not access.pair:
            return (self.offset,)
        unit = bit_width(access.element) // 8 * access.pair
        return unit * self.number("offset0"), unit * self.number("offset1")

    def number(self, name: str) -> int:
        """A modifier as a number, 0 where it is not given."""
        value = self.modifier(name, 0)
        if not isinstance(value, int):
            raise self.error(
                f"the {name} of {self.mnemonic} is not a number", expected=f"{name}:16", got=f"{name}:{value}"
            )
        return value

    @property
    def halves(self) -> tuple[Instruction, ...]:
        """The X and Y half of a VOPD; otherwise the instruction itself."""
        return (self,) if self.pair is None else (self._first, self.pair)

    @cached_property
    def _first(self) -> Instruction:
        return replace(self, pair=None)

    def reads(self) -> frozenset[Reg]:
        """Single registers read, implicit ones (VCC, EXEC, SCC, M0) included."""
        return self._reads

    def writes(self) -> frozenset[Reg]:
        """Single registers written, implicit ones included."""
        return self._writes

    @cached_property
    def _reads(self) -> frozenset[Reg]:
        return self.desc.reads(self)

    @cached_property
    def _writes(self) -> frozenset[Reg]:
        return self.desc.writes(self)

    def error(self, message: str, *, operand: int | None = None, **details: str) -> IsaError:
        """An IsaError at this instruction, or at one of its operands."""
        span = self.span
        if span is not None and operand is not None and operand < len(self.columns):
            span = replace(span, col=self.columns[operand])
        if span is None and self.address is not None:
            message = f"{self.address:#x}: {self}: {message}"
        return IsaError(message, span=span, **details)

    def __str__(self) -> str:
        """The instruction as LLVM's assembler takes it, without indent or comment."""
        words = [self.mnemonic + (" " + ", ".join(map(str, self.operands)) if self.operands else "")]
        words += [_format_modifier(name, value) for name, value in self.modifiers]
        return " ".join(words) + (f" :: {self.pair}" if self.pair else "")


def fact(ask: Callable[Concatenate[Instruction, P], T]) -> Callable[Concatenate[Instruction, P], T]:
    """Of what follows from an instruction wherever it stands, and from what else is given: asked once for each text."""

    @lru_cache(1 << 14)
    def kept(inst: Instruction, target: str, *given: Any) -> T:  # for those that were not read
        return ask(inst, *given)  # type: ignore[call-arg]

    @wraps(ask)
    def answer(inst: Instruction, *given: Any) -> T:
        facts, key = inst.facts, (ask, *given) if given else ask
        try:
            said: T = facts[key]
        except KeyError:
            said = facts[key] = kept(inst, inst.target.name if inst.target else "", *given)
        return said

    return answer  # type: ignore[return-value]


def _format_modifier(name: str, value: ModifierValue) -> str:
    if value is None:
        return name
    if isinstance(value, tuple):
        return f"{name}:[{','.join(map(str, value))}]"
    return f"{name}:{value}"


def lookup(inst: Instruction) -> Description:
    """The description of an instruction (of the X half of a VOPD). IsaError where there is none."""
    name = base_name(inst.mnemonic)
    family = inst.family
    if not inst.mnemonic.startswith("v_dual_"):  # those have their new names alone
        name = family.names.get(name, name)
    form = "glc" if inst.gives_back else family.name
    entry = TABLE.get(f"{name} {form}") or TABLE.get(name)
    if entry is None and (who := who_has(name)):
        raise elsewhere(name, who, inst.span)
    if entry is None:
        near = meant(name, {known.partition(" ")[0] for known in TABLE})
        raise inst.error(f"instruction {name} is not described", hint=why(name) or near or "")
    if inst.target is not None and not (entry.exists_on(inst.target) and _spelled(inst, inst.target)):
        since = entry.since or (RENAMED_SINCE if not _spelled(inst, inst.target) else "")
        who = f"{since} and later" if since else f"targets before {entry.until}"
        raise inst.error(f"{name} is an instruction of {who}", expected=f"one of {inst.target.name}", got=name)
    if inst.mnemonic.startswith("v_dual_") and not entry.vopd:
        raise inst.error(f"{name} cannot be half of a VOPD", expected="an instruction of ISA guide 7.6")
    return entry


def _spelled(inst: Instruction, target: Target) -> bool:
    """Whether a target's assembler knows the name by which an instruction is written."""
    return _SUFFIX.sub("", inst.mnemonic) not in RENAMED or target.version >= version(RENAMED_SINCE)


def described(mnemonic: str) -> bool:
    """Whether the mnemonic has a description."""
    return base_name(mnemonic) in TABLE
