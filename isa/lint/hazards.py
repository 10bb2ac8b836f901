"""Hazards of GFX11 that the hardware leaves to whoever writes the code: a `Cfg` -> the instructions at which one can
strike. Compilers insert the remedy; assemblers say nothing.

    trans use     a VALU instruction reads a VGPR that a transcendental one wrote, with at most 5 VALU and 1
                  transcendental instructions between. gfx1100 to gfx1103. Remedy: va_vdst(0).
    permlane      v_permlane* reads EXEC after v_cmpx, with no VALU instruction but v_nop between. Remedy: one.
    WMMA          a WMMA's A or B overlaps the D of the WMMA before it, with no VALU instruction between. Remedy: v_nop.
    dealloc       s_sendmsg MSG_DEALLOC_VGPRS that no s_nop stands before. Remedy: s_nop 0.
    given back    an instruction that names a VGPR after MSG_DEALLOC_VGPRS, on any path. Remedy: the message later.
    scratch       a store to scratch that may be in flight at MSG_DEALLOC_VGPRS, which gives scratch back, too: by a
                  scratch instruction, or by a flat one where the function makes pointers to scratch. Remedy: vscnt(0).
    forwarding    wave64: a VALU instruction reads two VGPRs; one was written by a VALU instruction before SALU wrote
                  EXEC, one after it; at most 2 VALU instructions between these two and 4 after. Remedy: va_vdst(0).
    mask write    wave64: SALU or VALU reads an SGPR after a write, which overwrote what a VALU instruction had read as
                  a lane mask; not where VALU writes and SALU reads. Remedy, after the write: sa_sdst(0) for one by
                  SALU, va_vcc(0) for one of VCC by VALU, va_sdst(0) for one of another SGPR by VALU.

va_vdst(0) is `s_waitcnt_depctr depctr_va_vdst(0)`, or what brings that count to 0 anyway: vector memory, FLAT, scratch
and LDS instructions. Each hazard is looked for backwards from the instruction that it strikes, over all paths; a path
ends at a call and at the function's entry.

Sources: LLVM GCNHazardRecognizer.cpp, fixVALUTransUseHazard, fixVcmpxPermlaneHazards, fixWMMAHazards,
fixVALUPartialForwardingHazard, fixVALUMaskWriteHazard; GCNSubtarget.h, requiresNopBeforeDeallocVGPRs, and AMDGPU.td for
which GPUs have which; pull request 138663 for the mask write, of which no distance is known; pull requests 178401
and 178748 for scratch. docs/lint.md tells of the others in that file.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterator
from dataclasses import dataclass
from enum import Enum
from functools import partial, reduce
from operator import or_
from typing import TypeVar

from isa.analysis import dataflow, regset
from isa.analysis.cfg import Block, Cfg
from isa.analysis.waits import InFlight
from isa.lint.names import register
from isa.registers import EXEC, M0, VCC, Reg
from isa.semantics import halves
from isa.semantics.instruction import Description, Fields, Imm, Instruction
from isa.semantics.waits import depctr

S = TypeVar("S", bound=Hashable)
_EXEC = regset.mask([EXEC])
_VCC = regset.mask([VCC])
_DEALLOC = 3
_PRIVATE = ("src_private_base", "src_private_limit")


@dataclass(frozen=True, slots=True)
class Hazard:
    """position: the instruction that it strikes; source: the one that it comes from; registers: those that matter
    (`regset`)."""

    position: int
    source: int
    registers: int


class End(Enum):
    """Why a path is not followed any further."""

    STRUCK = 1
    OVER = 2


def trans_use(cfg: Cfg) -> Iterator[Hazard]:
    """VALU instructions that may read the result of a transcendental one before it is there."""
    written = reduce(or_, (cfg.defs[i] & regset.VGPRS for i in cfg.where(lambda desc: desc.is_trans)), 0)
    for i in cfg.where(lambda desc: desc.is_valu) if written else ():
        if sources := cfg.uses[i] & written:
            for at in _behind(cfg, i, (0, 0), partial(_trans_step, cfg, cfg.instructions[i], sources)):
                yield Hazard(i, at, cfg.defs[at] & sources)


def _trans_step(cfg: Cfg, reader: Instruction, sources: int, at: int, state: tuple[int, int]) -> tuple[int, int] | End:
    valus, trans = state
    desc = cfg.instructions[at].desc
    if valus > 5 or trans > 1 or _results_there(cfg.instructions[at]):
        return End.OVER
    if desc.is_trans and _meet(cfg.instructions[at], reader, cfg.defs[at] & sources):
        return End.STRUCK
    return valus + desc.is_valu, trans + desc.is_trans


def _meet(writer: Instruction, reader: Instruction, registers: int) -> bool:
    """Whether the reader takes a half that the writer fills; one that it only keeps is not taken."""
    for reg in regset.members(registers):
        read, written = halves.touched(reader, reg)
        if halves.touched(writer, reg)[1] & (read or (halves.BOTH if written == halves.BOTH else 0)):
            return True
    return False


def permlane(cfg: Cfg) -> Iterator[Hazard]:
    """v_permlane* that may see EXEC as it was before a v_cmpx."""
    for i in cfg.where(lambda desc: desc.sched == "permlane"):
        yield from (Hazard(i, at, _EXEC) for at in _behind(cfg, i, 0, partial(_permlane_step, cfg)))


def _permlane_step(cfg: Cfg, at: int, _: int) -> int | End:
    desc = cfg.instructions[at].desc
    if desc.is_compare and desc.writes_exec:
        return End.STRUCK
    return End.OVER if desc.is_valu and desc.name != "v_nop" else 0


def wmma(cfg: Cfg) -> Iterator[Hazard]:
    """WMMAs that may read A or B before the WMMA before them has written it."""
    for i in cfg.where(lambda desc: desc.is_matrix):
        factors = regset.mask(reg for reg in map(register, cfg.instructions[i].operands[1:3]) if reg is not None)
        for at in _behind(cfg, i, 0, partial(_wmma_step, cfg, factors)):
            yield Hazard(i, at, cfg.defs[at] & factors)


def _wmma_step(cfg: Cfg, factors: int, at: int, _: int) -> int | End:
    desc = cfg.instructions[at].desc
    if not desc.is_valu:
        return 0
    return End.STRUCK if desc.is_matrix and cfg.defs[at] & factors else End.OVER


def dealloc(cfg: Cfg) -> Iterator[int]:
    """The positions that give VGPRs back with no s_nop before them."""
    for i in _deallocs(cfg):
        if cfg.block_of(i).start == i or cfg.instructions[i - 1].mnemonic != "s_nop":
            yield i


def after_dealloc(cfg: Cfg) -> dict[int, list[int]]:
    """Where VGPRs are given back -> the positions that name some afterwards."""

    deallocs = frozenset(_deallocs(cfg))

    def through(block: Block, given: frozenset[int]) -> frozenset[int]:
        return given.union(deallocs.intersection(block.range))

    found: dict[int, list[int]] = {}
    if deallocs:
        for index, given in sorted(dataflow.forward(cfg, frozenset[int](), through, frozenset.union).items()):
            for i in cfg.blocks[index].range:
                if given and (cfg.uses[i] | cfg.defs[i]) & regset.VGPRS:
                    found.setdefault(min(given), []).append(i)
                given = given | {i} if i in deallocs else given
    return found


def scratch_at_dealloc(flight: InFlight) -> Iterator[tuple[int, list[int]]]:
    """The positions that give VGPRs back while a store to scratch may be in flight, each with these stores."""
    cfg = flight.cfg
    spaces = {"scratch"} if cfg.specials.isdisjoint(_PRIVATE) else {"scratch", "flat"}
    counters = cfg.family.raised["scratch_store"]
    for i in _deallocs(cfg):
        stores = sorted(at for at, counter in flight.before[i] if counter in counters)
        if found := [at for at in stores if cfg.instructions[at].desc.space in spaces]:
            yield i, found


def _deallocs(cfg: Cfg) -> list[int]:
    return [i for i in cfg.where(lambda desc: desc.name == "s_sendmsg") if _is_dealloc(cfg.instructions[i])]


def _is_dealloc(inst: Instruction) -> bool:
    """Of an s_sendmsg."""
    (operand,) = inst.operands
    if isinstance(operand, Imm):
        return int(operand.value) & 0xFF == _DEALLOC
    return isinstance(operand, Fields) and ("sendmsg", ("MSG_DEALLOC_VGPRS",)) in operand.items


# --- wave64
_Forward = tuple[tuple[int, ...], int, int]
"""Where each source was written and where EXEC, as VALU instructions back (-1: nowhere yet); how many these are now."""


def forwarding(cfg: Cfg) -> Iterator[Hazard]:
    """VALU instructions of wave64 that may get a part of a source from before EXEC changed."""
    changes = any(inst.desc.is_salu and cfg.defs[i] & _EXEC for i, inst in enumerate(cfg.instructions))
    for i, inst in enumerate(cfg.instructions) if changes else ():
        sources = _vgprs_read(inst) if inst.desc.is_valu else []
        if len(sources) > 1:
            start: _Forward = ((-1,) * len(sources), -1, 0)
            for at in _behind(cfg, i, start, partial(_forward_step, cfg, sources)):
                yield Hazard(i, at, cfg.defs[at] & regset.VGPRS)


def _vgprs_read(inst: Instruction) -> list[int]:
    """The different VGPRs, or runs of them, among what an instruction reads."""
    rows = inst.desc.roles_of(inst)
    named = {reg for role, o in rows if role.read and (reg := register(o)) is not None and reg.is_vgpr}
    return [regset.mask([reg]) for reg in sorted(named)]


def _forward_step(cfg: Cfg, sources: list[int], at: int, state: _Forward) -> _Forward | End:
    written, exec_, valus = state
    inst = cfg.instructions[at]
    if valus > 8 or _results_there(inst):
        return End.OVER
    is_valu, before = inst.desc.is_valu, (written, exec_)
    if is_valu:
        written = tuple(valus if old < 0 and cfg.defs[at] & s else old for old, s in zip(written, sources, strict=True))
    elif inst.desc.is_salu and exec_ < 0 and max(written) >= 0 and cfg.defs[at] & _EXEC:
        exec_ = valus
    if valus > 4 and max(written) < 0:
        return End.OVER
    if (written, exec_) != before and exec_ >= 0:
        after = min(w for w in written if 0 <= w < exec_)
        first = min((w for w in written if w >= exec_), default=None)
        if after > 4 or exec_ - after > 3:
            return End.OVER
        if first is not None:
            return End.STRUCK if first - after <= 3 else End.OVER
    return written, exec_, valus + is_valu


_Waited = tuple[bool, frozenset[str]]
"""Whether the write has been found, and the fields of s_waitcnt_depctr that are 0 after it."""


def mask_write(cfg: Cfg) -> Iterator[Hazard]:
    """SALU and VALU instructions of wave64 that may read an SGPR as it was before it was written."""
    masks = 0
    for inst in cfg.instructions:
        masks |= _masks(inst)
    masks &= ~(_EXEC | regset.mask([M0]))
    for i, inst in enumerate(cfg.instructions):
        found: dict[int, int] = {}
        for reg in regset.members(cfg.uses[i] & masks) if inst.desc.is_valu or inst.desc.is_salu else ():
            mine, none = regset.mask([reg]), frozenset[str]()
            for at in _behind(cfg, i, (False, none), partial(_mask_step, cfg, mine, inst.desc.is_salu)):
                found[at] = found.get(at, 0) | mine
        yield from (Hazard(i, at, both) for at, both in sorted(found.items()))


def _mask_step(cfg: Cfg, mine: int, by_salu: bool, at: int, state: _Waited) -> _Waited | End:
    is_written, waited = state
    inst = cfg.instructions[at]
    if is_written:
        return End.STRUCK if _masks(inst) & mine else End.OVER if cfg.defs[at] & mine else state
    if not cfg.defs[at] & mine:
        return False, waited | {field for field in inst.family.result_fields if depctr(inst, field) == 0}
    if inst.desc.is_valu and not by_salu:
        field = "va_vcc" if mine & _VCC else "va_sdst"
    else:
        field = "sa_sdst" if inst.desc.is_salu else ""
    return End.OVER if not field or field in waited else (True, frozenset())


def reads_mask(desc: Description) -> bool:
    """Whether it reads a lane mask."""
    named = "vcc" in desc.implicit_reads or "vcc64" in desc.implicit_reads
    return named or any(role.read and role.kind == "m" for role in desc.roles)


def _masks(inst: Instruction) -> int:
    """The SGPRs that a VALU instruction reads as lane masks."""
    if not inst.desc.is_valu:
        return 0
    found = _VCC if "vcc" in inst.desc.implicit_reads or "vcc64" in inst.desc.implicit_reads else 0
    rows = inst.desc.roles_of(inst)
    return found | regset.mask(o for role, o in rows if role.read and role.kind == "m" and isinstance(o, Reg))


# --- what they share
def _results_there(inst: Instruction) -> bool:
    """Whether all VALU results are in their registers when this has issued."""
    return inst.desc.drains_valu or depctr(inst, "va_vdst") == 0


def _behind(cfg: Cfg, position: int, state: S, step: Callable[[int, S], S | End]) -> list[int]:
    """The positions at which `step` says STRUCK, backwards from a position over all paths. step: (position, state
    after it) -> the state before it, or why the path ends there."""
    block = cfg.block_of(position)
    work: list[tuple[int, int, S]] = [(block.index, position, state)]
    seen: set[tuple[int, S]] = set()
    found: set[int] = set()
    while work:
        index, end, now = work.pop()
        block = cfg.blocks[index]
        for at in range(end - 1, block.start - 1, -1):
            after = End.OVER if at in cfg.calls else step(at, now)
            if isinstance(after, End):
                found |= {at} if after is End.STRUCK else set()
                break
            now = after
        else:
            for p in block.predecessors:
                if (p, now) not in seen:
                    seen.add((p, now))
                    work.append((p, cfg.blocks[p].end, now))
    return sorted(found)
