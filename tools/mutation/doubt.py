"""A change of one scalar, of which nothing comes that is used: what loads bring, and what lanes beside an edge compute.

In: a decoded kernel, the position of a scalar instruction, and what stands there instead. Out: the kernel that runs
what stands there instead, and keeps what the original would hold in registers, beside what they hold. Where the two
differ a register is *doubtful*. What is loaded from a doubtful address is unknown (`launch.OPEN`) in the lanes that
load. Instructions of scalars, and of each lane for itself, run twice. All else that takes what is doubtful, in lanes
that are on, is refused: branches, masks, comparisons, LDS, stores, matrix units.

Where that is proved, all accesses of the changed kernel are inside, and C is what the definition says whatever is
unknown: so a base that goes on by another number after the last block makes no difference.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable, Sequence
from functools import partial

import numpy as np
from numpy.typing import NDArray

from isa.asm.program import Instruction
from isa.check.spec_proof import alu
from isa.check.spec_proof.affine import FIRST_SPECIAL, SCALAR_KEY, SCC_KEY, Sloped, keys_of
from isa.check.spec_proof.affine_transfer import Part
from isa.check.spec_proof.fused import Fused
from isa.check.spec_proof.launch import OPEN
from isa.check.spec_proof.names import Names
from isa.check.spec_proof.run import DecodedKernel
from isa.check.spec_proof.waves import LANES, Fault, Step, Waves

_LOADS = "global_load_"
_NOT_ALONE = ("v_cmp", "v_readfirstlane", "v_readlane", "v_wmma", "v_swap", "v_mbcnt")
Bools = NDArray[np.bool_]


class _Doubts:
    """Of one run of waves. of: key -> what the original would hold, (2, waves) or (2, waves, lanes), of registers of
    which this is another for some."""

    def __init__(self) -> None:
        self.waves: Waves | None = None
        self.of: dict[int, Names] = {}

    def begin(self, w: Waves) -> None:
        if isinstance(w, Sloped):
            raise Fault("doubt", "a changed scalar is not followed for every K", refused=True)
        if self.waves is not w:
            self.waves, self.of = w, {}

    def scalars(self, w: Waves, keys: Iterable[int]) -> Bools:
        """Which of the selected waves have a doubtful one among these scalars."""
        found = np.zeros(len(w.numbers), bool)
        for key in keys:
            if key >= SCALAR_KEY and key in self.of:
                found |= (self.of[key][:, w.at] != _held(w, key)).any(axis=0)
        return found

    def any(self, w: Waves, keys: Sequence[int]) -> Bools:
        """Of the selected waves, (waves, lanes), those lanes that are on and have one among these registers."""
        active = w.active((len(w.numbers), LANES))
        found = np.broadcast_to(self.scalars(w, keys)[:, None], active.shape)
        for key in keys:
            if key < SCALAR_KEY and key in self.of:
                found = found | (self.of[key][:, w.at] != _held(w, key)).any(axis=0)
        return found & active

    def put(self, w: Waves, key: int, original: Names) -> None:
        """original: what it would hold in the selected waves."""
        differs = (original != _held(w, key)).any()
        if differs and key >= FIRST_SPECIAL and key != SCC_KEY:
            raise _refused("would be a mask")
        if key in self.of or differs:
            self.of.setdefault(key, _file(w, key).copy())[:, w.at] = original

    def twice(
        self, w: Waves, step: Step, sources: Iterable[int], targets: Sequence[int], before: Step | None = None
    ) -> None:
        """An instruction that leaves in its targets what it computes of its sources. before: the original's, where it
        was another."""
        doubtful = [key for key in dict.fromkeys((*sources, *targets)) if key in self.of]
        kept = {key: _held(w, key).copy() for key in (*doubtful, *targets)}
        some = bool(doubtful) or before is not None
        if some:
            for key in doubtful:
                _file(w, key)[:, w.at] = self.of[key][:, w.at]
            (before or step)(w)
        originals = {key: _held(w, key).copy() for key in targets} if some else {}
        for key, names in kept.items():
            _file(w, key)[:, w.at] = names
        step(w)
        for key, names in originals.items():
            self.put(w, key, names)


def _file(w: Waves, key: int) -> Names:
    """A register, of all waves."""
    found: Names = w.v[key] if key < SCALAR_KEY else w.s[key - SCALAR_KEY]
    return found


def _held(w: Waves, key: int) -> Names:
    """Of the selected ones."""
    return _file(w, key)[:, w.at]


def doubting(code: DecodedKernel, position: int, new: Instruction) -> DecodedKernel:
    """See the module's docstring. Raises Beyond."""
    doubts, changed = _Doubts(), alu.decode(new)

    def followed(at: int, step: Step) -> Step:
        inst = code.place(at)
        if at == position:
            return partial(_changed, doubts, (Part.of(inst), Part.of(new)), step, changed)
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


def _changed(doubts: _Doubts, parts: tuple[Part, Part], old: Step, new: Step, w: Waves) -> None:
    """The changed instruction. parts: what the original reads and writes, and what this one does."""
    doubts.begin(w)
    sources = (key for part in parts for key in part.sources)
    doubts.twice(w, new, sources, tuple(dict.fromkeys(key for part in parts for key in part.targets)), old)


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
            if doubtful.any():
                w.put(key, np.where(doubtful, OPEN[:, None, None], _held(w, key)))
            doubts.put(w, key, _held(w, key))
    elif inst.mnemonic.startswith("s_") and not inst.mnemonic.startswith("s_load"):
        part = Part.of(inst)
        doubts.twice(w, step, part.sources, part.targets)
    elif _of_lanes(inst):
        doubts.twice(w, step, Part.of(inst).sources, keys_of(inst.operands[:1]))
    else:
        if doubts.any(w, keys_of([operand for half in inst.halves for operand in half.operands])).any():
            raise _refused(f"is read by {inst}")
        step(w)


def _of_lanes(inst: Instruction) -> bool:
    """What each lane computes by itself, into one VGPR."""
    alone = len(inst.halves) == 1 and inst.mnemonic.startswith("v_") and not inst.mnemonic.startswith(_NOT_ALONE)
    targets = keys_of(inst.operands[:1])
    return alone and len(targets) == 1 and targets[0] < SCALAR_KEY


def _refused(what: str) -> Fault:
    return Fault("doubt", f"a scalar that the change may have left {what}", refused=True)
