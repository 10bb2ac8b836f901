"""Induction over K: the proof by definition at given M and N, for all K up to a bound, by the loop over K.

The kernel has a loop over K, the first of its text that adds up products. K lies in K blocks of `depth` steps, and A
and B go on with zeros before their first row and column, so that the first K block is whole as well. Three numbers say
where a launch stands at the head of the loop:

    lacking    steps of k that the first K block lacks, 0 to depth - 1
    left       K blocks after the one at hand
    done       K blocks before the one at hand;     K = depth * (done + 1 + left) - lacking

Where steps of k lie in packs (`narrow.PACK`), a step here is such a pack, and K so many times as large.

The state there is to be (`head.Head`)

    registers      an integer c + p * lacking + q * left + r * done, or half of an address with such an offset, or the
                   same thing always
    LDS            elements of A and B: row or column fixed, k fixed after the first step at hand, which is
                   depth * done - lacking
    accumulators   S[i,j], which is the definition's sum over all k before that step
    all others     open: not known

Where from:  p and q are read off the first arrivals, r off one iteration of integers, the elements from what LDS holds
             at first; which register has which S[i,j], from what one K block makes of zeros. None of that is trusted:
first        for each `lacking`, with `left` a symbol (see `affine`), the kernel runs up to the loop: the first arrival
             is what the form says for done = 0, with S = 0, the sum over nothing
again        from the form, with all three symbols, left >= some D, S[i,j] names of their own and the elements in LDS
             names too, control comes back to the head, to what the form says for left - D and done + D, with S[i,j] the
             sum over depth * D more steps in ascending k. What does not come back so becomes open, and this runs again
last         for each left < D, with the other two symbols, the kernel runs to its end: C is as the definition says

So for each K the loop ends, since `left` falls, and C holds what it must. In all these runs everything holds that
`isa.prove.definition` lists: accesses inside, no races, C stored once. They are calculated at one point; why they stand
for all others is in `affine`.

Bound: K up to `EveryK.most`; that no 32-bit offset and no multiple of K wraps up to there is part of what is shown. A
tile's first row times K has more than 32 bits in a far tile; its two halves are followed together (`affine.Wide`).
Left to sizes: other M and N, K = 0, and which of beta's three kinds goes with which M x N. The loop over K may lie in
others, of which it is reached once: so kernels whose workgroups take several tiles, or pieces of tiles, are followed
where each has a tile. Arguments that depend on K otherwise are not known (`SymbolicLaunch.numbers`). Rejected with an
error: a kernel without a loop, and a loop whose state is not of this form. M and N could be symbols too, beside the
workgroup's place: what is missing are EXEC masks that depend on a symbol, and products of two of them (a row's number
times K).
"""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from functools import partial

import numpy as np
from numpy.typing import NDArray

from isa.asm.program import Kernel
from isa.prove.definition import halves, settings
from isa.prove.definition.affine import SCC_KEY, Domain, Longs, Sloped
from isa.prove.definition.affine_transfer import follow, follow_run
from isa.prove.definition.alu import base_name
from isa.prove.definition.expected import products, stored
from isa.prove.definition.fused import Fused
from isa.prove.definition.launch import SymbolicLaunch
from isa.prove.definition.loop_invariant import Arrival, Head, find, is_whole, registers
from isa.prove.definition.memory import SymbolicMemory
from isa.prove.definition.names import Names, leaves
from isa.prove.definition.run import Composed, DecodedKernel, run
from isa.prove.definition.sizes import EveryK
from isa.prove.definition.waves import Fault, Step
from isa.semantics.instruction import Instruction

POINT = 4
"""K blocks left at the first arrival where that is calculated; the most that the loop may do from head to head."""
_WAVES = 256
"""About as many run at once."""
_ROUNDS = 5
_SUMS = 32
"""The tag of S[i,j], see names.leaves."""
_FLOATS = ("v_fmac_f32", "v_fma_f32", "v_mul_f32", "v_add_f32", "v_wmma_")
_ONE_POINT = np.zeros((1, 3), np.int64)


def prove(kernel: Kernel, code: DecodedKernel, plan: EveryK) -> set[tuple[int, int]]:
    """The paths that were taken, see run.run. Fault where it could not be shown."""
    return _Induction(kernel, code, plan).prove()


class _Induction:
    """pack: steps of k that lie together; half_sums: of the launches; depth, most: see EveryK, in packs. inside,
    outside: sections of the loop and all others; header: its first. seen: paths that were gone."""

    def __init__(self, kernel: Kernel, code: DecodedKernel, plan: EveryK) -> None:
        self.kernel, self.launches = kernel, (*plan.launches, *plan.corners)
        self.pack, self.half_sums = self.launches[0].pack, self.launches[0].half_sums
        self.depth, self.most = plan.depth // self.pack, plan.most // self.pack
        if plan.most < plan.depth * (POINT + 1):
            raise Fault("every", f"K is {plan.most} at most: sizes do", refused=True)
        self.header, inside = _loop(code)
        self.outside = [i for i in range(len(code.sections)) if i not in inside]
        self.code = _following(code)
        self.vgprs = code.vgprs
        self.lds_bytes = settings.lds_bytes(kernel)
        self.seen: set[tuple[int, int]] = set()

    def prove(self) -> set[tuple[int, int]]:
        head = self._first()
        period = self._period(head)
        self._find_sums(head)
        for _ in range(_ROUNDS):
            if self._again(head, period):
                break
        else:
            raise Fault("every", f"the state of the loop does not settle in {_ROUNDS} iterations", refused=True)
        for left in range(period):
            self._last(head, left)
        return self.seen

    def _at_first(self, left: int, lacking: int = 0) -> list[SymbolicLaunch]:
        """The launches of which so many K blocks are left where the loop is first reached."""
        k = self.pack * (self.depth * (left + 1) - lacking)
        return [dataclasses.replace(launch, k=k) for launch in self.launches]

    def _run(self, code: DecodedKernel, w: Sloped, at: NDArray[np.int64], stops: Sequence[int]) -> None:
        try:
            self.seen |= run(code, w, at, stops)
        except Fault as fault:
            known = fault
            if fault.inst is not None and fault.inst.mnemonic.startswith("s_cbranch_scc"):
                known = w.explained(fault, (SCC_KEY,))
                known.inst = fault.inst
            if known.lane is not None:
                known.whose = f"by {w.whose(*known.lane)}"
            raise known from None

    # --- the first arrival
    def _first(self) -> Head:
        waves = sum(launch.groups * launch.block // 32 for launch in self.launches)
        at_once = max(2, _WAVES // waves)
        head: Head | None = None
        for begin in range(0, self.depth, at_once):
            lacking = range(begin, min(self.depth, begin + at_once))
            w = self._arrive(lacking, waves)
            arrivals = [Arrival.of(w, number, len(lacking)) for number in range(len(lacking))]
            if head is None:
                head = Head.of(arrivals[:2], self._at_first(POINT), POINT, self.depth)
            for lacks, arrival in zip(lacking, arrivals, strict=True):
                head.check(arrival, lacks, self._at_first(POINT, lacks))
        assert head is not None
        return head

    def _arrive(self, lacking: Sequence[int], waves: int) -> Sloped:
        """All waves at the head of the loop, `left` a symbol, from 0 on."""
        launches = [launch for lacks in lacking for launch in self._at_first(POINT, lacks)]
        ends = np.array([(self.most + lacks) // self.depth - 1 - POINT for lacks in lacking], np.int64)
        corners = np.stack((np.full(len(lacking) * waves, -POINT), np.repeat(ends, waves)))
        w = Sloped(
            launches,
            SymbolicMemory(launches),
            self.lds_bytes,
            self.vgprs,
            Domain(corners[:, None], (self.depth,), (0,)),
        )
        settings.start(self.kernel, w)
        at = np.zeros(w.count, np.int64)
        self._to_head(w, at, "never come to the loop")
        return w

    def _to_head(self, w: Sloped, at: NDArray[np.int64], otherwise: str) -> None:
        """All waves go on to the head of the loop."""
        self._run(self.code, w, at, (self.header,))
        if (at != self.header).any():
            raise Fault("every", f"some waves {otherwise}", refused=True)
        _quiet(w)
        w.without_halves()

    # --- from the head of the loop on
    def _corners(self, left: int, *, more: bool) -> Longs:
        """(corners, 3): of what lacking, left and done may be, less (0, left, 0). more: `left` or more are left.

        For a given `lacking` there are (most + lacking) // depth K blocks at most, and left + 1 at least: of all such
        points these span the smallest polytope."""
        whole, rest = divmod(self.most, self.depth)
        largest = [
            (0, whole),
            (self.depth - 1, whole + (rest > 0)),
            *([(self.depth - rest, whole + 1)] if rest else []),
        ]
        found = [(0, 0, 0), (self.depth - 1, 0, 0)]
        for lacking, blocks in largest:
            found.append((lacking, 0, blocks - 1 - left))
            if more:
                found.append((lacking, blocks - 1 - left, 0))
        return np.array(found, np.int64)

    def _at(self, head: Head, left: int, corners: Longs, *, sums: bool = True) -> tuple[Sloped, NDArray[np.int64]]:
        """Waves at the head of the loop, and where they are; the point is lacking = 0, `left`, done = 0."""
        launches, count = self._at_first(left), head.v.shape[2]
        each = np.repeat(corners[:, :, None], count, axis=2)
        domain = Domain(each, (-1, self.depth, self.depth), (-1, 0, self.depth))
        w = Sloped(launches, SymbolicMemory(launches), self.lds_bytes, self.vgprs, domain)
        head.bound(left, corners)
        w.v[:], w.s[:] = head.names(left)
        w.slopes = {key: slopes.copy() for key, slopes in head.slopes.items() if slopes.any()}
        w.told = head.why
        w.lds[:] = head.lds(launches, 0)
        w.select(np.arange(w.count))
        if sums:
            self._put_sums(w, head)
        return w, np.full(w.count, self.header)

    def _sums(self) -> Names:
        """S[i,j] of all launches, one after the other."""
        found = leaves(_SUMS, sum(launch.finished.size for launch in self.launches))
        return halves.alone(halves.made("S", found)) if self.half_sums else found

    def _put_sums(self, w: Sloped, head: Head) -> None:
        register, wave, lane, element, upper = head.sums
        names = self._sums()
        for high in (False, True) if self.half_sums else (False,):
            here = upper == high
            at, new = (register[here], wave[here], lane[here]), names[:, element[here]]
            if self.half_sums:
                below, above = halves.split(w.v[at[0], :, at[1], at[2]].T)
                new = halves.packed(below, new[0]) if high else halves.packed(new[0], above)
            w.v[at[0], :, at[1], at[2]] = new.T

    def _sums_in(self, w: Sloped, head: Head) -> Names:
        """What the accumulators hold, (2, sums)."""
        register, wave, lane, _, upper = head.sums
        words = w.v[register, :, wave, lane].T
        return halves.alone(np.where(upper, *halves.split(words)[::-1])) if self.half_sums else words

    def _added(self, left: int, blocks: int, start: Names | None) -> list[Names]:
        """The definition's sums over the first K blocks of launches that have `left` more than one, from S or 0."""
        found, at = [], 0
        for launch in self._at_first(left):
            shape, elements = launch.finished.shape, launch.elements()
            steps = slice(0, self.depth * blocks // launch.elements_of_name)
            size = shape[0] * shape[1]
            before = None if start is None else start[:, at : at + size].reshape(2, *shape)
            found.append(products(launch, elements["A"][:, :, steps], elements["B"][:, steps], before))
            at += size
        return found

    def _period(self, head: Head) -> int:
        """K blocks from head to head; tells `head` how registers go on. Only integers are followed: a hypothesis."""
        code = _without_floats(self.code)
        for left in range(1, POINT + 1):
            w, at = self._at(head, left, _ONE_POINT, sums=False)
            self._run(code, w, at, (self.header, *self.outside))
            if (at == self.header).all():
                for (key, before), (_, after) in zip(registers(*head.names(left)), registers(w.v, w.s), strict=True):
                    head.step(key, before, after, left)
                return left
        raise Fault("every", f"the loop does not come back to its head within {POINT} K blocks", refused=True)

    def _find_sums(self, head: Head) -> None:
        """Which register has which sum: what one K block makes of zeros. All other floats that change are open."""
        w, at = self._at(head, 0, _ONE_POINT, sums=False)
        before = w.v.copy()
        self._run(self.code, w, at, self.outside)
        changed = (w.v != before).any(axis=1) & ~is_whole(w.v.swapaxes(0, 1))
        places = np.nonzero(changed)
        names = w.v[places[0], :, places[1], places[2]].T
        upper = np.zeros(len(places[0]), bool)
        if self.half_sums:
            names = np.concatenate([halves.alone(half) for half in halves.split(names)], axis=1)
            upper, places = np.concatenate((upper, ~upper)), tuple(np.concatenate((x, x)) for x in places)
        index = np.full(len(places[0]), -1)
        offset = 0
        for number, sums in enumerate(self._added(0, 1, None)):
            mine = w.launch[places[1]] == number
            found = find(sums.reshape(2, -1), names[:, mine])
            index[mine] = np.where(found >= 0, found + offset, -1)
            offset += sums[0].size
        good = (index >= 0) & ~head.v[places[0], :, places[1], places[2]].any(axis=1)
        if not good.any():
            raise Fault("every", "no register of the loop has a sum of the definition", refused=True)
        head.open(head.v, changed, 0)
        head.sums = (*(x[good] for x in places), index[good], upper[good])

    def _again(self, head: Head, period: int) -> bool:
        """The step of the induction: `period` K blocks. False where something had to be opened."""
        w, at = self._at(head, period, self._corners(period, more=True))
        self._to_head(w, at, "leave the loop before its end")
        added = [sums.reshape(2, -1) for sums in self._added(period, period, self._sums())]
        wanted = np.concatenate(added, axis=1)[:, head.sums[3]]
        wrong = (self._sums_in(w, head) != wanted).any(axis=0)
        if wrong.any():
            register, wave, lane = (int(x[wrong][0]) for x in head.sums[:3])
            what = f"v{register} does not go on as the sums of the definition do"
            raise Fault("every", f"{what}, by {w.whose(wave, lane)}", refused=True)
        return head.goes_on(w, period)

    def _last(self, head: Head, left: int) -> None:
        """From the head of the loop to the end."""
        w, at = self._at(head, left, self._corners(left, more=False))
        self._run(self.code, w, at, (self.header,))
        if (at != -1).any():
            raise Fault("every", "some waves do not leave the loop at its end", refused=True)
        sums = self._added(left, left + 1, self._sums())
        for number, (launch, total) in enumerate(zip(w.launches, sums, strict=True)):
            got, once, _ = w.memory.in_c(number)
            wrong = np.where(launch.finished, (once == 0) | (got != stored(launch, total)).any(axis=0), once != 0)
            if wrong.any():
                i, j = (int(x[0]) for x in np.nonzero(wrong))
                element = f"C[{launch.rows[i]},{launch.columns[j]}]"
                what = f"{element} of {launch.m} x {launch.n} x K is wrong for some K, beta {launch.beta}"
                raise Fault("every", what, refused=True)


def _quiet(w: Sloped) -> None:
    """Nothing was stored to memory, and LDS was not accessed since the last barrier."""
    if w.memory.stored.any():
        raise Fault("every", "something is stored to memory before the end of the loop", refused=True)
    if (w.lds_written >> 6 == w.epoch[:, None]).any() or (w.lds_read == w.epoch[None, :, None]).any():
        raise Fault("every", "LDS is accessed between the last barrier and the head of the loop", refused=True)


def _loop(code: DecodedKernel) -> tuple[int, frozenset[int]]:
    """The section at the head of the loop over K, and those in it: the first loop of the text that holds products to be
    added up, and no other loop that does."""
    flow = code.flow
    adding = {i for i, inst in enumerate(flow.instructions) for half in inst.halves if _adds_product(half)}
    loops = [loop for loop in flow.loops if any(adding & set(flow.blocks[block].range) for block in loop.blocks)]
    loops = [loop for loop in loops if not any(other.blocks < loop.blocks for other in loops)]
    if not loops:
        raise Fault("every", "it has no loop that adds up products", refused=True)
    loop = min(loops, key=lambda loop: flow.blocks[loop.header].start)
    positions = {i for block in loop.blocks for i in code.flow.blocks[block].range}
    inside = frozenset(i for i, section in enumerate(code.sections) if section.start in positions)
    head = code.flow.blocks[loop.header].start
    return next(i for i in inside if code.sections[i].start == head), inside


def _adds_product(inst: Instruction) -> bool:
    return base_name(inst.mnemonic).startswith(("v_fmac_f32", "v_fma_f32", "v_wmma_"))


def _following(code: DecodedKernel) -> DecodedKernel:
    """The same with slopes."""
    sections = tuple(
        dataclasses.replace(section, steps=tuple((i, _followed(code, i, step)) for i, step in section.steps))
        for section in code.sections
    )
    return DecodedKernel(code.flow, sections)


def _followed(code: DecodedKernel, position: int, step: Step) -> Step:
    if isinstance(step, Composed):
        return step.over(partial(_followed, code, position))
    return follow_run(step, code.flow.instructions) if isinstance(step, Fused) else follow(code.place(position), step)


def _without_floats(code: DecodedKernel) -> DecodedKernel:
    """Without what no branch depends on."""

    def dull(position: int) -> bool:
        inst = code.place(position)
        return inst.mnemonic.startswith(("ds_", "global_load")) or all(
            base_name(half.mnemonic).startswith(_FLOATS) for half in inst.halves
        )

    return DecodedKernel(
        code.flow,
        tuple(dataclasses.replace(s, steps=tuple(x for x in s.steps if not dull(x[0]))) for s in code.sections),
    )
