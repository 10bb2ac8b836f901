"""A change of one scalar, of which nothing comes that is used: what loads bring, and what lanes beside an edge compute.

In: a decoded kernel, the position of a scalar instruction, and what stands there instead. Out: the kernel that runs
what stands there instead, and keeps beside registers whether what they hold is *doubtful*, in scalars for each wave, in
VGPRs for each lane: whether the change made it another number, or it is computed of a doubtful one and no product with
0. What is loaded from a doubtful address is unknown (`launch.OPEN`) in the lanes that load. All else that takes what is
doubtful, in lanes that are on, is refused: branches, masks, comparisons, LDS, stores, matrix units.

Where that is proved, all accesses of the changed kernel are inside, and C is what the definition says whatever is
unknown: so a base that goes on by another number behind the last block makes no difference.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
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
Bools = NDArray[np.bool_]


class _Doubts:
    """Of one run of waves: registers by their keys, of each wave, and lane, whether they are doubtful."""

    def __init__(self) -> None:
        self.waves: Waves | None = None
        self.of: dict[int, Bools] = {}

    def begin(self, w: Waves) -> None:
        if isinstance(w, Sloped):
            raise Fault("doubt", "a changed scalar is not followed for every K", refused=True)
        if self.waves is not w:
            self.waves, self.of = w, {}

    def any(self, w: Waves, keys: Sequence[int]) -> Bools:
        """Of the selected waves, (waves, lanes); those of scalars in lanes that are on."""
        active = w.active((len(w.numbers), LANES))
        found = np.zeros(active.shape, bool)
        for key in keys:
            if key in self.of:
                mine = self.of[key][w.at]
                found |= mine if key < SCALAR_KEY else mine[:, None]
        return found & active

    def scalars(self, w: Waves, keys: Sequence[int]) -> Bools:
        """Of the selected waves."""
        found = np.zeros(len(w.numbers), bool)
        for key in keys:
            if key >= SCALAR_KEY and key in self.of:
                found |= self.of[key][w.at]
        return found

    def put(self, w: Waves, key: int, doubtful: Bools) -> None:
        if key not in self.of and not doubtful.any():
            return
        if key >= SCALAR_KEY:
            if doubtful.any() and key >= FIRST_SPECIAL and key != SCC_KEY:
                raise _refused("would be a mask")
            self.of.setdefault(key, np.zeros(w.count, bool))[w.at] = doubtful
            return
        old = self.of.setdefault(key, np.zeros((w.count, LANES), bool))
        old[w.at] = np.where(w.active(doubtful.shape), doubtful, old[w.at])


def doubting(code: DecodedKernel, position: int, new: Instruction) -> DecodedKernel:
    """See the module's docstring. Raises Beyond."""
    doubts, changed = _Doubts(), alu.decode(new)

    def followed(at: int, step: Step) -> Step:
        inst = code.place(at)
        if at == position:
            keys = dict.fromkeys((*Part.of(inst).targets, *Part.of(new).targets))
            return partial(_changed, doubts, tuple(keys), step, changed)
        if isinstance(step, Fused):
            return partial(_fused, doubts, step)
        return partial(_followed, doubts, inst, step)

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
    if doubts.scalars(w, (key,)).any():
        raise _refused("decides a branch")


def _fused(doubts: _Doubts, run: Fused, w: Waves) -> None:
    doubts.begin(w)
    if not doubts.of.keys().isdisjoint(run.operations.flat):
        raise _refused("is a factor")
    run(w)


def _followed(doubts: _Doubts, inst: Instruction, step: Step, w: Waves) -> None:
    """Another instruction."""
    doubts.begin(w)
    if not doubts.of:
        step(w)
    elif inst.mnemonic.startswith(_LOADS):
        doubtful = doubts.any(w, keys_of(inst.operands[1:]))
        step(w)
        for key in keys_of(inst.operands[:1]):
            doubts.put(w, key, np.zeros_like(doubtful))
            if doubtful.any():
                known = np.broadcast_to(w.v[key][:, w.at], (2, *doubtful.shape))
                w.put(key, np.where(doubtful, OPEN[:, None, None], known))
    elif inst.mnemonic.startswith("s_") and not inst.mnemonic.startswith("s_load"):
        part = Part.of(inst)
        doubtful = doubts.scalars(w, part.sources)
        step(w)
        for key in part.targets:
            doubts.put(w, key, doubtful)
    elif _of_lanes(inst):
        doubtful = _in_lanes(doubts, inst, w)
        step(w)
        doubts.put(w, keys_of(inst.operands[:1])[0], doubtful)
    else:
        if doubts.any(w, keys_of([operand for half in inst.halves for operand in half.operands])).any():
            raise _refused(f"is read by {inst}")
        step(w)


def _of_lanes(inst: Instruction) -> bool:
    """What each lane computes by itself, into one VGPR."""
    alone = len(inst.halves) == 1 and inst.mnemonic.startswith("v_") and not inst.mnemonic.startswith(_NOT_ALONE)
    targets = keys_of(inst.operands[:1])
    return alone and len(targets) == 1 and targets[0] < SCALAR_KEY


def _in_lanes(doubts: _Doubts, inst: Instruction, w: Waves) -> Bools:
    """Whether what such an instruction leaves is doubtful, before it runs."""
    sources = Part.of(inst).sources
    found = doubts.any(w, sources)
    if base_name(inst.mnemonic) in _PRODUCTS and found.any():
        for key in sources:
            if key < SCALAR_KEY:
                names = np.broadcast_to(w.v[key][:, w.at], (2, *found.shape))
                found &= names.any(axis=0) | doubts.any(w, (key,))
    return found


def _refused(what: str) -> Fault:
    return Fault("doubt", f"a scalar that the change may have left {what}", refused=True)
