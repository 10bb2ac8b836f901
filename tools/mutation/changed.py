"""Whether C is what the definition says whatever one changed instruction leaves.

In: a decoded kernel, the position of an instruction, and what stands there instead, None for nothing. Out: the kernel
with steps that leave unknown (`launch.OPEN`) whatever may differ between it and the changed kernel. Where that is
proved, both compute the definition, and for no other reason than that what differs is never used: which element it is,
how far the next line of a matrix is away, what a register held before, plays no part.

What may differ:
- after an instruction for VGPRs that writes its first operand only, before and after the change: that register, in the
  lanes that are on;
- after a mask that only loads see before the next one is set: SCC, and of what is loaded what comes to lanes of one
  mask and not of the other. The loads are done under both, so that each of their accesses is shown to be inside;
- after a comparison of the same scalar registers, outside of loops, that holds wherever the original does, or only
  there: the path of workgroups for which the two differ. All of them take it, whatever the original says, and it is
  shown that the waves of a workgroup compare the same. So each workgroup, whichever path it takes, stores what it must.

Other changes are rejected with an error that names them.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from isa.asm.program import Imm, Instruction
from isa.check.spec_proof import alu, matrix_units, narrow
from isa.check.spec_proof.affine import SCALAR_KEY, Sloped, keys_of
from isa.check.spec_proof.fused import Fused
from isa.check.spec_proof.integers import relation
from isa.check.spec_proof.launch import OPEN
from isa.check.spec_proof.names import Names
from isa.check.spec_proof.operands import Beyond, vgpr
from isa.check.spec_proof.run import Composed, DecodedKernel, Section
from isa.check.spec_proof.waves import EXEC, SCC, Fault, Step, Waves
from isa.registers import Reg
from tools.mutation.doubt import doubting

_MORE_THAN_ONE = ("v_cmp", "v_readfirstlane", "v_wmma", "v_swap")
Change = tuple[int, "Instruction | None"]
"""The position of an instruction, and what stands there instead."""


def differing(code: DecodedKernel, change: Change) -> DecodedKernel:
    """See the module's docstring. Raises Beyond."""
    position, new = change
    number = next((i for i, s in enumerate(code.sections) if s.start <= position < s.end), None)
    section = None if number is None else code.sections[number]
    old = code.place(position)
    if section is not None and section.condition is not None and position == section.end - 1 and new is None:
        ahead = dataclasses.replace(section, ends="next", target=-1, condition=None)
        return DecodedKernel(code.flow, tuple(ahead if s is section else s for s in code.sections))
    if section is None or position not in dict(section.steps) or isinstance(dict(section.steps)[position], Fused):
        raise _refused(old)
    if new is not None and _is_scalar(old) and _is_scalar(new):
        return doubting(code, position, new)
    if _is_mask(old):
        found = _mask(code, section, position, new)
    elif _is_comparison(old) and new is not None:
        if any(position in code.flow.blocks[block].range for loop in code.flow.loops for block in loop.blocks):
            raise _refused(old)
        found = {position: Composed((dict(section.steps)[position],), _going(old, new))}
    elif _register(old) is not None and (new is None or _register(new) == _register(old)):
        found = {position: Composed((dict(section.steps)[position],), _leaving(_register(old)))}
    else:
        raise _refused(old)
    steps = tuple((at, found.get(at, step)) for at, step in section.steps)
    sections = (dataclasses.replace(s, steps=steps) if s is section else s for s in code.sections)
    return DecodedKernel(code.flow, tuple(sections))


def _is_scalar(inst: Instruction) -> bool:
    """What computes a number of all lanes, no mask, no comparison."""
    return inst.mnemonic.startswith("s_") and bool(inst.operands) and not _is_mask(inst) and not _is_comparison(inst)


def _refused(inst: Instruction) -> Beyond:
    return Beyond(f"what differs after a change of {inst} is not known", span=inst.span)


# --- registers
def _register(inst: Instruction) -> int | None:
    """The one that it writes, and nothing else; None for other instructions."""
    first = inst.operands[0] if inst.operands else None
    alone = len(inst.halves) == 1 and not inst.mnemonic.startswith(_MORE_THAN_ONE) and "_co_" not in inst.mnemonic
    if not inst.mnemonic.startswith("v_") or not alone or not isinstance(first, Reg) or not first.is_vgpr:
        return None
    alu.decode(inst)
    return vgpr(inst, first) if first.count == 1 else None


def _leaving(register: int | None) -> Callable[[Waves, tuple[Step, ...]], None]:
    assert register is not None

    def run(w: Waves, steps: tuple[Step, ...]) -> None:
        steps[0](w)
        w.forget(register)

    return run


# --- paths
_EDGES = (0, 1, 2, (1 << 31) - 1, 1 << 31, (1 << 31) + 1, (1 << 32) - 2, (1 << 32) - 1)


def _is_comparison(inst: Instruction) -> bool:
    return inst.mnemonic.startswith("s_cmp_")


def _going(old: Instruction, new: Instruction) -> Callable[[Waves, tuple[Step, ...]], None]:
    """All waves take the path of those for which the comparisons differ."""
    registers, scc = keys_of(old.operands), _difference(old, new)
    seen: list[tuple[Waves, dict[int, tuple[int, ...]]]] = []

    def run(w: Waves, steps: tuple[Step, ...]) -> None:
        steps[0](w)
        if isinstance(w, Sloped) and w.sloped(registers):
            raise Fault("way", "what is compared depends on K", refused=True)
        if not seen or seen[0][0] is not w:
            seen[:] = [(w, {})]
        names = np.concatenate([w.s[register - SCALAR_KEY][:, w.at] for register in registers])
        for wave, group, *values in zip(w.numbers, w.group[w.numbers], *names.tolist(), strict=True):
            if seen[0][1].setdefault(int(group), tuple(values)) != tuple(values):
                raise Fault("way", "waves of a workgroup compare different numbers", (int(wave), 0), refused=True)
        w.put_scalar(SCC, np.full(len(w.numbers), scc, np.uint64))

    return run


def _difference(old: Instruction, new: Instruction) -> int:
    """What `new` says where it is not what `old` says. Both are steps of the numbers that they compare, and of these
    such are tried as lie at, before and after each step."""
    first, second = relation(old.mnemonic), relation(new.mnemonic)
    same = [
        x == y or (isinstance(x, Imm) and isinstance(y, Imm)) for x, y in zip(old.operands, new.operands, strict=True)
    ]
    if first is None or second is None or not all(same) or "64" in old.mnemonic + new.mnemonic:
        raise _refused(old)
    edges = set(_EDGES)
    for x in (*old.operands, *new.operands):
        if isinstance(x, Imm) and isinstance(x.value, int):
            edges |= {(x.value + i) % (1 << 32) for i in (-1, 0, 1)}
    numbers = np.array(sorted(edges), np.uint64)
    grids = numbers[:, None], numbers[None, :]

    def said(inst: Instruction, compare: Callable[..., NDArray[np.bool_]]) -> NDArray[np.bool_]:
        pair = zip(inst.operands, grids, strict=True)
        sides = [np.uint64(int(x.value) % (1 << 32)) if isinstance(x, Imm) else at for x, at in pair]
        return np.broadcast_to(compare(*sides), (len(numbers),) * 2)

    before, after = said(old, first), said(new, second)
    found = {bool(x) for x in after[before != after]}
    if len(found) != 1:
        raise _refused(old)
    return int(found.pop())


# --- masks
def _is_mask(inst: Instruction) -> bool:
    first = inst.operands[0] if inst.operands else None
    return inst.mnemonic.startswith("s_") and isinstance(first, Reg) and not first.is_vgpr and first.index == EXEC


def _mask(code: DecodedKernel, section: Section, position: int, new: Instruction | None) -> dict[int, Step]:
    old = code.place(position)
    if (new is not None and not _is_mask(new)) or any(_reads_mask(inst) for inst in (old, new)):
        raise _refused(old)
    masks: list[Names] = []
    given = dict(section.steps)
    both = (given[position], *((alu.decode(new),) if new is not None else ()))
    found: dict[int, Step] = {position: Composed(both, _two_masks(masks))}
    for at in range(position + 1, section.end):
        inst = code.place(at)
        if _is_mask(inst) and not _reads_mask(inst):
            return found
        if inst.mnemonic.startswith("global_load_"):
            found[at] = Composed((given[at],), _loading(inst, masks))
        elif at in given and (not inst.mnemonic.startswith("s_") or _reads_mask(inst)):
            raise _refused(inst)
    raise _refused(old)


def _reads_mask(inst: Instruction | None) -> bool:
    registers = () if inst is None else (x for x in inst.operands[1:] if isinstance(x, Reg) and not x.is_vgpr)
    saves = inst is not None and "saveexec" in inst.mnemonic
    return saves or any(x.index <= EXEC + 1 and x.index + x.count > EXEC for x in registers)


def _two_masks(masks: list[Names]) -> Callable[[Waves, tuple[Step, ...]], None]:
    """Keeps in `masks` that of the changed kernel, and leaves the other."""

    def run(w: Waves, steps: tuple[Step, ...]) -> None:
        scc = w.s[SCC][:, w.at].copy()
        for other in steps[1:]:
            other(w)
        masks[:] = [w.s[EXEC][:, w.at].copy()]
        w.s[SCC][:, w.at] = scc
        steps[0](w)
        w.put_scalar(SCC, OPEN[:, None])

    return run


def _loading(inst: Instruction, masks: list[Names]) -> Callable[[Waves, tuple[Step, ...]], None]:
    target = inst.operands[0]
    assert isinstance(target, Reg)
    half = matrix_units.half_load(inst.mnemonic)

    def run(w: Waves, steps: tuple[Step, ...]) -> None:
        here, before = w.s[EXEC][:, w.at].copy(), w.v[target.index][:, w.at].copy()
        for mask in (masks[0], here):
            w.put_scalar(EXEC, mask)
            steps[0](w)
        w.put_scalar(EXEC, np.stack((masks[0][0] ^ here[0], np.zeros_like(here[0]))))
        after = w.v[target.index][:, w.at].copy()
        for i in range(target.count):
            w.forget(target.index + i)
        if half:  # the other half is as it was
            w.put(target.index, narrow.either_half(before, after, high=half[0]))
        w.put_scalar(EXEC, here)

    return run
