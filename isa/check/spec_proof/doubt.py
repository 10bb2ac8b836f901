"""A change of one scalar, of which nothing comes that is used: what loads bring, and what lanes beside an edge compute.

In: a decoded kernel, the position of a scalar instruction, and what stands there instead. Out: the kernel that runs
what stands there instead, and keeps beside each wave's scalars whether they are *doubtful*: whether the change made
them another one, or they are computed from such a one. What is loaded from a doubtful address is unknown
(`launch.OPEN`) in the lanes that load, and so is what a lane computes of a doubtful scalar or of what is unknown, but
for products with 0. All else that reads a doubtful scalar is refused: branches, masks, stores, LDS.

Where that is proved, all accesses of the changed kernel are inside, and C is what the definition says whatever is
unknown: so a base that goes on by another number behind the last block makes no difference.
"""

from __future__ import annotations

import dataclasses
from functools import partial

import numpy as np
from numpy.typing import NDArray

from isa.asm.program import Instruction
from isa.check.spec_proof import alu
from isa.check.spec_proof.affine import FIRST_SPECIAL, SCALAR_KEY, SCC_KEY, Sloped, keys_of
from isa.check.spec_proof.affine_transfer import Part
from isa.check.spec_proof.alu import base_name
from isa.check.spec_proof.fused import Fused
from isa.check.spec_proof.launch import OPEN
from isa.check.spec_proof.run import DecodedKernel
from isa.check.spec_proof.waves import LANES, Fault, Step, Waves

_LOADS = "global_load_"
_NOT_ALONE = ("v_cmp", "v_readfirstlane", "v_readlane", "v_wmma", "v_swap", "v_mbcnt")
_PRODUCTS = ("v_mul_lo_u32", "v_mul_u32_u24")


class _Doubts:
    """Of one run of waves: scalars by their keys, of each wave whether they are doubtful."""

    def __init__(self) -> None:
        self.waves: Waves | None = None
        self.of: dict[int, NDArray[np.bool_]] = {}

    def begin(self, w: Waves) -> None:
        if isinstance(w, Sloped):
            raise Fault("doubt", "a changed scalar is not followed for every K", refused=True)
        if self.waves is not w:
            self.waves, self.of = w, {}

    def any(self, w: Waves, keys: tuple[int, ...]) -> NDArray[np.bool_]:
        """Of the selected waves."""
        found = np.zeros(len(w.numbers), bool)
        for key in keys:
            if key in self.of:
                found |= self.of[key][w.at]
        return found

    def put(self, w: Waves, key: int, doubtful: NDArray[np.bool_]) -> None:
        if doubtful.any() and key >= FIRST_SPECIAL and key != SCC_KEY:
            raise _refused("would be a mask")
        if key in self.of or doubtful.any():
            self.of.setdefault(key, np.zeros(w.count, bool))[w.at] = doubtful


def doubting(code: DecodedKernel, position: int, new: Instruction) -> DecodedKernel:
    """See the module's docstring. Raises Beyond."""
    doubts, changed = _Doubts(), alu.decode(new)

    def followed(at: int, step: Step) -> Step:
        inst = code.place(at)
        if at == position:
            keys = dict.fromkeys((*Part.of(inst).targets, *Part.of(new).targets))
            return partial(_changed, doubts, tuple(keys), step, changed)
        return step if isinstance(step, Fused) else partial(_followed, doubts, inst, step)

    sections = []
    for section in code.sections:
        steps = [(at, followed(at, step)) for at, step in section.steps]
        if section.condition is not None:
            steps.append((section.end - 1, partial(_decided, doubts, SCALAR_KEY + section.condition[0])))
        sections.append(dataclasses.replace(section, steps=tuple(steps)))
    return DecodedKernel(code.flow, tuple(sections))


def _changed(doubts: _Doubts, keys: tuple[int, ...], old: Step, new: Step, w: Waves) -> None:
    """What the changed instruction leaves, and where that is another number."""
    doubts.begin(w)
    before = {key: w.s[key - SCALAR_KEY][:, w.at].copy() for key in keys}
    old(w)
    first = {key: w.s[key - SCALAR_KEY][:, w.at].copy() for key in keys}
    for key, names in before.items():
        w.put_scalar(key - SCALAR_KEY, names)
    new(w)
    for key in keys:
        doubts.put(w, key, (w.s[key - SCALAR_KEY][:, w.at] != first[key]).any(axis=0))


def _decided(doubts: _Doubts, key: int, w: Waves) -> None:
    doubts.begin(w)
    if doubts.any(w, (key,)).any():
        raise _refused("decides a branch")


def _followed(doubts: _Doubts, inst: Instruction, step: Step, w: Waves) -> None:
    """Another instruction."""
    doubts.begin(w)
    if doubts.of and _of_lanes(inst):
        _in_lanes(doubts, inst, step, w)
        return
    step(w)
    if not doubts.of:
        return
    if inst.mnemonic.startswith(_LOADS):
        _, *address = inst.operands
        doubtful = doubts.any(w, keys_of(address))
        for key in keys_of(inst.operands[:1]) if doubtful.any() else ():
            known = np.broadcast_to(w.v[key][:, w.at], (2, len(w.numbers), LANES))
            w.put(key, np.where(doubtful[:, None], OPEN[:, None, None], known))
        return
    part = Part.of(inst)
    if not inst.mnemonic.startswith("s_") or inst.mnemonic.startswith("s_load"):
        if doubts.any(w, keys_of([operand for half in inst.halves for operand in half.operands])).any():
            raise _refused(f"is read by {inst}")
        return
    doubtful = doubts.any(w, part.sources)
    for key in part.targets:
        doubts.put(w, key, doubtful)


def _of_lanes(inst: Instruction) -> bool:
    """What each lane computes by itself, into one VGPR."""
    alone = len(inst.halves) == 1 and inst.mnemonic.startswith("v_") and not inst.mnemonic.startswith(_NOT_ALONE)
    return alone and len(keys_of(inst.operands[:1])) == 1 and keys_of(inst.operands[:1])[0] < SCALAR_KEY


def _in_lanes(doubts: _Doubts, inst: Instruction, step: Step, w: Waves) -> None:
    """Runs it in lanes where all that it reads is known; in others what it leaves is not."""
    (target,), shape = keys_of(inst.operands[:1]), (len(w.numbers), LANES)
    sources = Part.of(inst).sources
    registers = {key: np.broadcast_to(w.v[key][:, w.at], (2, *shape)) for key in sources if key < SCALAR_KEY}
    unknown = np.zeros(shape, bool)
    nothing = np.zeros(shape, bool)
    for names in registers.values():
        unknown |= (names == OPEN[:, None, None]).all(axis=0)
        nothing |= ~names.any(axis=0)
    unknown |= doubts.any(w, sources)[:, None]
    if base_name(inst.mnemonic) in _PRODUCTS:
        unknown &= ~nothing
    mask, active = w.mask, w.active(shape)
    if not (unknown & active).any():
        step(w)
        return
    w.mask = active & ~unknown
    if w.mask.any():
        step(w)
    w.mask = active & unknown
    w.forget(target)
    w.mask = mask


def _refused(what: str) -> Fault:
    return Fault("doubt", f"a scalar that the change may have left {what}", refused=True)
