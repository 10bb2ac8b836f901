"""Proof by definition: a kernel and sizes -> whether it computes C = alpha A B + beta C for all data.

In: a kernel, and launches: sizes, grid, what is known of beta. Out: a `Proof`,
with one line that says what was proved, or the first element of C that differs, with both expressions and the
instruction that stored it. It is for kernels that no compiler wrote, so that there is nothing to compare them with.

Method. All waves of all workgroups of the launches run, concrete in integers and symbolic in floats: arguments, ids,
offsets, conditions and EXEC are numbers; each dword of A, B and C, alpha, and beta where it is not 0, is a symbol;
each float operation makes a term. Terms are compared by 128-bit names (`names`), so a whole workgroup goes through an
instruction as one NumPy operation. Values stored to C are compared with the definition (`expected`), built separately:

    the sum over k = 0 ... K-1 in that order, each A[i,k] * B[k,j] added by a fused multiply-add, from 0;
    alpha * sum, or fma(alpha, sum, beta * C[i,j]);
    of elements of 16 or 8 bits as matrix units add them (`narrow`), and with bias, scales, activation and C's type as
    `epilogue` says; B may hold quantised weights (`weights`), and waves may share k out (`launch.Shares`);
    where a launch splits K, the sum is that of its pieces' sums, in ascending k.

What is proved, at these sizes, for all contents of the matrices, all alpha and beta, wherever the matrices lie:
- each element of C is stored exactly once, with that term; nothing else is stored, nothing outside of A, B, C and the
  arguments is read, and C is not read where beta is 0 or -0;
- no LDS race: no two waves of a workgroup touch a dword of LDS between two barriers if one of them stores there. So
  results do not depend on the order in which waves run between barriers, which is one after another, or together;
- all waves of a workgroup reach the same number of barriers;
- unless `whole` is False: each instruction ran and both sides of each branch were taken, else nothing is claimed.

Where workgroups speak with each other, by counters and sums in a workspace, they run in the three orders that
`launch.Order` names, and counters must be 0 in the end.

Which M, N and K (`sizes`):
- small ones that take all paths;
- edges: a workgroup at the edges and at the corner of C with each number of rows and each of columns that its tile may
  have, so that each mask that keeps lanes off matters;
- every K (`induction`), near, and at tiles so far that the 64-bit offsets of A and C have high halves and carries:
  only the workgroup of that tile is followed, and only what it may touch is held (`launch.Part`);
- of kernels whose workgroups take pieces of tiles, every K where each workgroup has a whole tile, and pieces whose
  slots and first elements lie beyond 4 GiB;
- of kernels whose waves share k out (`few_rows`), some K only, and far tiles.

Where every K was asked for and is not shown, nothing is proved: a fault in what all K have in common is a difference,
and what cannot be followed is named.

Not proved: other sizes, other orders; waits for what is loaded, which do nothing here (`isa.lint.lint` looks at all
paths for them); that alpha and beta are read as the caller meant them. What counts as the same is defined in `names`.

    names     terms as 128-bit names                integers  meaning of integer instructions
    pointers  addresses, wherever buffers lie       alu       instructions that change registers
    launch    sizes, memory, what is in it          access    loads and stores, races
    waves     registers, LDS, EXEC                  run       blocks, branches, barriers
    operands  how registers are read                expected  the definition
    settings  descriptor, initial registers         show      terms as text
    sizes     launches that take all paths          induction every K
    narrow    elements of 16 and 8 bits             matrix_units  v_wmma, and what moves their bytes
    epilogue  what becomes of sums                  halves    elements of C of 16 bits
    floats    instructions that make terms          lds       loads and stores of LDS
    affine    integers that go with K               head      the state at the head of the loop over K
    follow    what instructions do to these         elements  loads whose address goes with K
    weights   what quantised weights are            nibbles   what instructions do with their bits
    few_rows  launches of kernels whose waves share k out

No code is shared with `isa.gemm`, the simulator or `isa.instructions`: the meanings of the instructions stand here once
more, and an instruction, modifier or setting that is not known is rejected with an error that names it.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import accumulate

import numpy as np

from isa.asm.program import Kernel, Program
from isa.display import number_of
from isa.prove.definition import induction, settings, show
from isa.prove.definition.epilogue import Epilogue
from isa.prove.definition.expected import matrix
from isa.prove.definition.launch import Beta, Shares, SymbolicLaunch
from isa.prove.definition.memory import SymbolicMemory
from isa.prove.definition.narrow import FLOAT_BYTES, PACK
from isa.prove.definition.operands import Beyond
from isa.prove.definition.run import DecodedKernel, run
from isa.prove.definition.sizes import (
    EveryK,
    Given,
    Pieces,
    Tiling,
    edges,
    every_k,
    far,
    far_pieces,
    far_tiles,
    stream_k,
    streamed,
    tiled,
    usual,
)
from isa.prove.definition.waves import Fault, Trace, Waves
from isa.prove.proof import Difference, Proof, ProofPlace
from isa.registers import LANES
from isa.targets import GFX1100

_BY_SIXTEEN = ", 16 steps at a time in RDNA4's order,"
SIDES = ("by definition", "the kernel")
LANDED = "each load is done before its register is used (lint)"
ASSUMPTIONS = (
    "factors of a product may change places (only which NaN's payload survives depends on it)",
    "two different terms have different names of 128 bits",
    LANDED,
)
SIGNS = "x + 0 and 1 * x are x (only the sign of a zero and whether a NaN is quiet depend on it)"
MIXED = "v_fma_mixlo_f16 and v_fma_mixhi_f16 round to f32 first, as AMD's description of them has it"
ORDERS = {"together": "together", "first": "one after another", "last": "one after another, the last first"}
SEEN = (
    "what a workgroup had stored, and waited for, before it counted itself is seen by one that found it counted and "
    "invalidated its caches"
)


def prove(
    program: Program,
    kernel: str | None,
    launches: Sequence[SymbolicLaunch],
    *,
    edges: Sequence[SymbolicLaunch] = (),
    far: Sequence[SymbolicLaunch] = (),
    whole: bool = True,
    explain: bool = True,
    every: EveryK | None = None,
) -> Proof:
    """Whether the kernel does in each launch what the definition says. See the module's docstring.

    edges, far: more launches, of which the statement says that they are those of `sizes.edges`, and tiles of launches
    too large to follow. whole: the launches must take each path through the kernel. explain: an element that is wrong
    is shown with both expressions, which takes as long again. every: where all K are to be shown beside; if they cannot
    be, nothing is proved.
    Raises IsaError for a name that is not there.
    """
    found = program.kernel(kernel)
    if not (program.target or GFX1100).family.factors_twice:
        launches, edges, far = map(_in_quads, (launches, edges, far))
        every = every and replace(every, launches=_in_quads(every.launches), corners=_in_quads(every.corners))
    everything = (*launches, *edges, *far)
    formula = launches[0].epilogue.text
    seen: set[tuple[int, int]] = set()
    terms = barriers = 0
    try:
        settings.check(found, everything)
        code = DecodedKernel.of(found)
    except Beyond as beyond:
        return Proof("unproven", f"unproven: {found.name}: {beyond}")
    except Fault as fault:
        return _faulty(found, None, fault, formula)
    for together in _turns(launches, edges, far):
        memory = SymbolicMemory(together)
        waves = _start(found, code, together, memory)
        try:
            seen |= run(code, waves)
        except Fault as fault:
            return _faulty(found, waves, fault, formula)
        if (difference := _difference(found, code, memory, explain)) is not None:
            return _different(found, difference, formula)
        terms, barriers = terms + waves.terms, max(barriers, int(waves.epoch.max()))
    if whole and (unseen := code.unseen(seen)) is not None:
        inst, what = unseen
        branch = Difference(
            "path", "nothing is known of another path", None, ProofPlace(inst.span, str(inst), what), False, SIDES
        )
        return Proof("unproven", f"unproven: {found.name}: at {_sizes(launches)} {inst} {what}", (), branch)
    if every is not None and (wrong := _every_k(found, code, every)) is not None:
        if wrong.difference is None:
            at = f"; nothing is wrong at {_shown(launches, edges, far)}, which says nothing of other K"
            return replace(wrong, statement=wrong.statement + at)
        return wrong
    reached = sum(s.end - s.start for i, s in enumerate(code.sections) if any(i == ran for ran, _ in seen))
    elements = sum(int(launch.finished.sum()) for launch in everything)
    counts = {
        "launches": len(everything), "elements": elements, "instructions": reached, "terms": terms,
        "barriers": barriers,
    }  # fmt: skip
    here = ""
    if every is not None:
        counts["every_k_to"] = every.most
        here = f"for every K {_range(every)} at {_planes(every)}; and "
    shares = launches[0].shares
    how = ("v_wmma" if launches[0].narrow else "FMA") + (f" in {launches[0].factor}" if launches[0].half_sums else "")
    order = _BY_SIXTEEN if launches[0].quads and launches[0].narrow else ""
    order += f" assumed for {launches[0].factor}," if launches[0].factor in FLOAT_BYTES else ""
    how = f"sums {shares}{order.rstrip(',')}" if shares else f"sums in ascending k{order} by {how}"
    ways = f"all {reached} instructions ran, all branches went both ways" if whole else f"{reached} instructions ran"
    split = any(launch.split for launch in everything)
    pieces = ", pieces in ascending k" if split else ""
    statement = (
        f"proved: {found.name} computes C = {formula} by definition, for all data, {here}at "
        f"{_shown(launches, edges, far)}: {number_of(elements, 'element')} stored once each, {how}{pieces}; "
        f"nothing else is stored or read outside, no LDS races; {ways}"
    )
    orders = list(dict.fromkeys(ORDERS[launch.order] for launch in everything if launch.split))
    between = (f"workgroups run {', or '.join(orders)}", SEEN) if pieces else ()
    floats: tuple[str, ...] = (SIGNS,) if launches[0].narrow and launches[0].epilogue.result != "i32" else ()
    floats += (MIXED,) if launches[0].epilogue.result == "f16" else ()
    assumed = (_assumed(launches, edges, far, every), *ASSUMPTIONS, *floats, *between)
    return Proof("proved", statement, assumed, counts=counts)


def _in_quads(launches: Sequence[SymbolicLaunch]) -> tuple[SymbolicLaunch, ...]:
    return tuple(replace(launch, quads=True) for launch in launches)


def soonest(launches: Sequence[SymbolicLaunch]) -> list[SymbolicLaunch]:
    """Those that show most of what is wrong in little time: workgroups need not take turns."""
    return [launch for launch in launches if launch.k and launch.order == "together" and launch.part is None]


def _turns(
    launches: Sequence[SymbolicLaunch], edges: Sequence[SymbolicLaunch], far: Sequence[SymbolicLaunch]
) -> Iterator[list[SymbolicLaunch]]:
    """Which launches run at once; first those in which most that is wrong shows soonest."""
    soon = soonest(launches)
    late = [x for x in (*launches, *far) if x.k and x not in soon]
    none = [x for x in (*launches, *far, *edges) if not x.k]
    for turn in (soon, late, [x for x in edges if x.k], none):
        # Waves with many K blocks first: those that still are in the loop over K then lie one after the other.
        turn.sort(key=lambda launch: -launch.k)
        while turn:
            waves = accumulate(launch.groups * launch.block // LANES for launch in turn)
            count = max(1, sum(total <= _WAVES for total in waves))
            yield turn[:count]
            turn = turn[count:]


_WAVES = 320
"""About as many run at once: what an instruction reads and writes of them stays in the host's caches."""


def _difference(kernel: Kernel, code: DecodedKernel, memory: SymbolicMemory, explain: bool) -> Difference | None:
    """What the launches have left in memory that the definition does not, at the smallest of them first."""
    for number, launch in sorted(enumerate(memory.launches), key=lambda at: (at[1].k, at[1].m * at[1].n)):
        if launch.part is None and memory.of(number, "workspace")[:, : launch.zeroed].any():
            return Difference("store", f"{launch} leaves counters in the workspace that are not 0", None, None)
        if (difference := _compare(kernel, code, memory, number, launch, explain)) is not None:
            return difference
    return None


def _every_k(kernel: Kernel, code: DecodedKernel, every: EveryK) -> Proof | None:
    """Why all K could not be shown; None where they are."""
    try:
        settings.check(kernel, (*every.launches, *every.corners))
        induction.prove(kernel, code, every)
    except Beyond as beyond:
        why = str(beyond)
    except Fault as fault:
        at = f", at {fault.inst} ({fault.inst.span})" if fault.inst else ""
        if not fault.refused and fault.kind in _REAL:
            place = ProofPlace(fault.inst.span, str(fault.inst), fault.whose) if fault.inst else None
            difference = Difference(fault.kind, fault.what, None, place, sides=SIDES)
            return _different(kernel, difference, every.launches[0].epilogue.text)
        why = f"{fault.what}{at}"
    else:
        return None
    return Proof("unproven", f"unproven: {kernel.name}: for every K it cannot be shown: {why}")


_REAL = ("outside", "load", "store", "race", "barrier")
"""What waves do before the loop, or from any state of it, is done in some launch: the point at which they are
calculated is one of those that the induction has reached so far. Others may be of what is not known there."""


# --- what was shown, for people
def _shown(launches: Sequence[SymbolicLaunch], edges: Sequence[SymbolicLaunch], far: Sequence[SymbolicLaunch]) -> str:
    largest = max(launches, key=lambda launch: (launch.k, launch.m * launch.n))
    found = [f"{number_of(len(launches), 'size')} up to {largest}"]
    if edges:
        found.append(f"{_every_edge(edges).removesuffix(')')}; K is {_depths(edges)})")
    if far:
        farthest = max(far, key=lambda launch: launch.m * launch.n)
        found.append(f"{number_of(len(far), 'tile')} of launches up to {farthest}")
    return ", ".join(found)


def _every_edge(edges: Sequence[SymbolicLaunch]) -> str:
    rows, columns = (_span({getattr(launch, letter) for launch in edges}) for letter in "mn")
    return f"{rows} rows and {columns} columns at the edges of C (each number of rows, each of columns)"


def _depths(edges: Sequence[SymbolicLaunch]) -> str:
    """K, 0 by itself."""
    step = PACK.get(edges[0].factor, 1)
    runs: list[list[int]] = []
    for k in sorted({launch.k for launch in edges}):
        if runs and runs[-1][-1] == k - step and runs[-1] != [0]:
            runs[-1].append(k)
        else:
            runs.append([k])
    first, *rest = [_span({*run}, step) if len(run) > 1 else str(run[0]) for run in runs]
    return " and ".join(filter(None, [", ".join(rest), first]))


def _span(numbers: set[int], step: int = 1) -> str:
    assert numbers == set(range(min(numbers), max(numbers) + 1, step))
    return f"{min(numbers)} to {max(numbers)}" + (f" by {step}" if step > 1 else "")


def _range(every: EveryK) -> str:
    """Of K, which is whole packs."""
    step = every.launches[0].pack
    return f"from {step} to {every.most - every.most % step}" + (f" by {step}" if step > 1 else "")


def _planes(every: EveryK) -> str:
    near = [launch for launch in every.launches if launch.part is None]
    far = [launch for launch in every.launches if launch.part is not None]
    found = "M x N of " + ", ".join(f"{launch.m} x {launch.n}" for launch in near)
    found += f", {_every_edge(every.corners)}" if every.corners else ""
    found += f" and in {number_of(len(far), 'tile')} of M x N up to {_largest_plane(far)}" if far else ""
    return found + (", a whole tile for each workgroup" if any(launch.split for launch in every.launches) else "")


def _largest_plane(launches: Sequence[SymbolicLaunch]) -> str:
    largest = max(launches, key=lambda launch: launch.m * launch.n)
    return f"{largest.m} x {largest.n}"


def _assumed(
    launches: Sequence[SymbolicLaunch],
    edges: Sequence[SymbolicLaunch],
    far: Sequence[SymbolicLaunch],
    every: EveryK | None,
) -> str:
    text = f"M x N x K is one of {_sizes(launches)}"
    if edges:
        text += f", or M is 1 to {max(e.m for e in edges)} with some N and N is 1 to {max(e.n for e in edges)} with "
        text += f"some M, at K {_depths(edges)}"
    if far:
        text += f", or the workgroup is that of {_sizes(far)}"
    if every is not None:
        found = []
        for launch in every.launches:
            of = f", {launch.part.name}" if launch.part else ""
            found.append(f"{launch.m} x {launch.n}{of} (beta {launch.beta})")
        text += f", or K is {_range(every).removeprefix('from ')} and M x N is {', '.join(found)}"
    return text + _layers([*launches, *edges, *far, *((*every.launches, *every.corners) if every else ())])


def _layers(launches: Sequence[SymbolicLaunch]) -> str:
    layers = [launch.layer for launch in launches if launch.layer]
    if not layers:
        return ""
    z, stride = ({x.number for x in layers}, {stride for x in layers for stride in x.strides})
    return (
        f"; of a batch z is one of {len(z)} numbers up to {max(z)}, strides are 0 and {len(stride - {0})} up to "
        f"{max(stride)}, leading dimensions up to {max(line for x in layers for line in x.lines)}, as drawn"
    )


def _sizes(launches: Sequence[SymbolicLaunch]) -> str:
    return ", ".join(dict.fromkeys(map(str, launches)))


def _start(kernel: Kernel, code: DecodedKernel, launches: Sequence[SymbolicLaunch], memory: SymbolicMemory) -> Waves:
    waves = Waves(launches, memory, settings.lds_bytes(kernel), code.vgprs)
    settings.start(kernel, waves)
    return waves


def _different(kernel: Kernel, difference: Difference, formula: str) -> Proof:
    return Proof("different", f"different: {kernel.name} does not compute {formula}", (), difference)


def _faulty(kernel: Kernel, waves: Waves | None, fault: Fault, formula: str) -> Proof:
    where = f", by {waves.whose(*fault.lane)}" if waves is not None and fault.lane is not None else ""
    if fault.refused:
        at = f": {fault.inst} ({fault.inst.span})" if fault.inst else ""
        return Proof("unproven", f"unproven: {kernel.name}: {fault.what}{where}{at}")
    place = ProofPlace(fault.inst.span, str(fault.inst), where.removeprefix(", ")) if fault.inst else None
    return _different(kernel, Difference(fault.kind, fault.what, None, place, sides=SIDES), formula)


def _compare(
    kernel: Kernel, code: DecodedKernel, memory: SymbolicMemory, number: int, launch: SymbolicLaunch, explain: bool
) -> Difference | None:
    """The first element of C that does not hold what it must."""
    got, stored, by = memory.in_c(number)
    wrong = np.where(launch.finished, (stored == 0) | (got != matrix(launch)).any(axis=0), stored != 0)
    if not wrong.any():
        return None
    row, column = (int(i[0]) for i in np.nonzero(wrong))
    place = f"C[{launch.rows[row]},{launch.columns[column]}]"
    what = f"{place} of {launch}, beta {launch.beta}: {int(wrong.sum())} of {wrong.size} elements are wrong"
    if not explain or launch.narrow or (launch.part and launch.split):
        return Difference("value", what, None, None, sides=SIDES)
    definition = show.expected(launch, row, column)
    if not stored[row, column]:
        shown = ProofPlace(None, "", show.both(definition, definition)[0])
        return Difference("store", f"{what}; this one is never stored", shown, None, sides=SIDES)
    inst = code.place(int(stored[row, column]) - 1)
    before = sum(other.groups * other.block for other in memory.launches[:number])
    lane = (int(by[row, column]) - before) % launch.block
    trace = _trace(kernel, code, launch, lane)
    texts = show.both(definition, show.traced(trace, launch, got[:, row, column]))
    return Difference(
        "value", what, ProofPlace(None, "", texts[0]), ProofPlace(inst.span, str(inst), texts[1]), sides=SIDES
    )


def _trace(kernel: Kernel, code: DecodedKernel, launch: SymbolicLaunch, lane: int) -> Trace:
    """The float operations of one lane of each workgroup of one launch, which is run again."""
    waves = _start(kernel, code, [launch], SymbolicMemory([launch]))
    waves.trace, waves.traced = [], (lane // LANES, lane % LANES)
    run(code, waves)
    return waves.trace


__all__ = [
    "Beta", "Epilogue", "EveryK", "Given", "Pieces", "Shares", "SymbolicLaunch", "Tiling", "edges", "every_k",
    "far", "far_pieces", "far_tiles", "prove", "soonest", "stream_k", "streamed", "tiled", "usual",
]  # fmt: skip
