"""A proof that a kernel computes C = alpha A B + beta C, by that definition, for given sizes and all data.

In: a kernel, and launches: sizes, grid, what is known of beta. Out: a `Proof` as `isa.check.equivalence` gives it,
with one line that says what was proved, or the first element of C that differs, with both expressions and the
instruction that stored it. It is for kernels that no compiler wrote, so that there is nothing to compare them with.

Method. All waves of all workgroups of the launches run, concrete in integers and symbolic in floats: arguments, ids,
offsets, conditions and EXEC are numbers; each dword of A, B and C, alpha, and beta where it is not 0, is a symbol;
each float operation makes a term. Terms are compared by 128-bit names (`names`), so a whole workgroup goes through an
instruction as one NumPy operation. What leaves for C is compared with the definition (`expected`), computed apart:

    the sum over k = 0 ... K-1 in that order, each A[i,k] * B[k,j] added by a fused multiply-add, from 0;
    alpha * sum, or fma(alpha, sum, beta * C[i,j]);
    where a launch splits K, the sum is that of its pieces' sums, in ascending k.

What is proved, at these sizes, for all contents of the matrices, all alpha and beta, wherever the matrices lie:
- each element of C is stored exactly once, with that term; nothing else is stored, nothing outside of A, B, C and the
  arguments is read, and C is not read where beta is 0 or -0;
- no LDS race: no two waves of a workgroup touch a dword of LDS between two barriers if one of them stores there. So
  results do not depend on the order in which waves run between barriers, which is one after another, or together;
- all waves of a workgroup reach the same number of barriers;
- unless `whole` is False: each instruction ran and each branch went both ways, else nothing is claimed.

Where workgroups speak with each other, by counters and sums in a workspace, they run in the three orders that
`launch.Order` names, and counters must be 0 in the end.

At some M x N the same is shown for every K, where that is asked for and the loop over K is of the usual form:
`induction` says how, and what it leaves to sizes.

Not proved: other sizes, other orders; waits, which do nothing here (`isa.check.lint` looks at all paths for them); that
alpha and beta are read as the caller meant them. What counts as the same is told in `names`.

    names     terms as 128-bit names                integers  meaning of integer instructions
    pointers  addresses, wherever buffers lie       alu       instructions that change registers
    launch    sizes, memory, what is in it          access    loads and stores, races
    waves     registers, LDS, EXEC                  run       blocks, branches, barriers
    operands  how registers are read                expected  the definition
    settings  descriptor, initial registers         show      terms as text
    sizes     launches that take all ways           induction every K
    affine    integers that go with K               head      the state at the head of the loop over K
    follow    what instructions do to these         elements  loads whose address goes with K

No code is shared with `isa.gemm`, the simulator or `isa.instructions`: the meanings of the instructions stand here once
more, and an instruction, modifier or setting that is not known is refused by name.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from isa.check.definition import induction, settings, show
from isa.check.definition.expected import matrix
from isa.check.definition.launch import Beta, Launch, Memory
from isa.check.definition.operands import Beyond
from isa.check.definition.run import Code, run
from isa.check.definition.sizes import EveryK, Given, Tiling, every_k, far, stream_k, streamed, tiled, usual
from isa.check.definition.waves import LANES, Fault, Trace, Waves
from isa.check.equivalence import Difference, Place, Proof
from isa.program import Kernel, Program

SIDES = ("by definition", "the kernel")
ASSUMPTIONS = (
    "factors of a product may change places (only which NaN's payload survives depends on it)",
    "two different terms have different names of 128 bits",
    "each load is done before its register is used (lint)",
)
ORDERS = {"together": "together", "first": "one after another", "last": "one after another, the last first"}
SEEN = "what a workgroup stored before it counted itself is seen by one that found it counted (release and acquire)"


def prove(
    program: Program,
    kernel: str | None,
    launches: Sequence[Launch],
    *,
    whole: bool = True,
    explain: bool = True,
    every: EveryK | None = None,
) -> Proof:
    """Whether the kernel does in each launch what the definition says. See the module's docstring.

    whole: the launches must take each way through the kernel. explain: an element that is wrong is shown with both
    expressions, which takes as long again. every: where all K are to be shown beside; that they could not be is part of
    the statement. Raises IsaError for a name that is not there.
    """
    found = program.kernel(kernel)
    waves = None
    try:
        for launch in launches:
            settings.check(found, launch)
        code = Code.of(found)
        memory = Memory(launches)
        waves = _start(found, launches, memory)
        seen = run(code, waves)
    except Beyond as beyond:
        return Proof("unproven", f"unproven: {found.name}: {beyond}")
    except Fault as fault:
        return _faulty(found, waves, fault)
    for number, launch in enumerate(launches):
        if launch.tile is None and memory.of(number, "workspace")[:, : launch.zeroed].any():
            left = Difference("store", f"{launch} leaves counters in the workspace that are not 0", None, None)
            return _different(found, left)
        if (difference := _compare(found, code, memory, number, launch, explain)) is not None:
            return _different(found, difference)
    if whole and (unseen := code.unseen(seen)) is not None:
        inst, what = unseen
        way = Difference(
            "way", "nothing is known of another way", None, Place(inst.span, str(inst), what), False, SIDES
        )
        return Proof("unproven", f"unproven: {found.name}: at {_sizes(launches)} {inst} {what}", (), way)
    reached = sum(s.end - s.start for i, s in enumerate(code.sections) if any(i == ran for ran, _ in seen))
    elements = sum(launch.compared for launch in launches)
    counts = {
        "launches": len(launches), "elements": elements, "instructions": reached, "terms": waves.terms,
        "barriers": int(waves.epoch.max()),
    }  # fmt: skip
    largest = max(launches, key=lambda launch: (launch.k, launch.m * launch.n))
    ways = f"all {reached} instructions ran, all branches went both ways" if whole else f"{reached} instructions ran"
    here, not_here = "", ""
    if whole and any(launch.split for launch in launches):
        not_here = "; other K are not shown: workgroups take pieces of sums, and the loop over K lies inside another"
    elif every is not None:
        if why := _every_k(found, code, every):
            not_here = f"; other K are not shown: {why}"
        else:
            counts["every_k_to"] = every.most
            plane = ", ".join(f"{launch.m} x {launch.n}" for launch in every.launches)
            here = f"for every K from 1 to {every.most} at M x N of {plane}, and "
    pieces = ", pieces in ascending k" if any(launch.split for launch in launches) else ""
    statement = (
        f"proved: {found.name} computes C = alpha A B + beta C by definition, for all data, {here}at {len(launches)} "
        f"sizes up to {largest}: {elements} elements stored once each, sums in ascending k by FMA{pieces}; nothing "
        f"else is stored or read outside, no LDS races; {ways}{not_here}"
    )
    orders = list(dict.fromkeys(ORDERS[launch.order] for launch in launches if launch.split))
    between = (f"workgroups run {', or '.join(orders)}", SEEN) if pieces else ()
    sizes = f"M x N x K is one of {_sizes(launches)}"
    if here and every is not None:
        sizes += f", or K is 1 to {every.most} and M x N is {_planes(every)}"
    assumptions = (sizes, *ASSUMPTIONS, *between)
    return Proof("proved", statement, assumptions, counts=counts)


def _every_k(kernel: Kernel, code: Code, every: EveryK) -> str:
    """Why all K could not be shown; "" where they are."""
    try:
        for launch in every.launches:
            settings.check(kernel, launch)
        induction.prove(kernel, code, every)
    except Beyond as beyond:
        return str(beyond)
    except Fault as fault:
        at = f", at {fault.inst} ({fault.inst.span})" if fault.inst else ""
        return f"{fault.what}{at}"
    return ""


def _planes(every: EveryK) -> str:
    return ", ".join(f"{launch.m} x {launch.n} (beta {launch.beta})" for launch in every.launches)


def _sizes(launches: Sequence[Launch]) -> str:
    return ", ".join(dict.fromkeys(map(str, launches)))


def _start(kernel: Kernel, launches: Sequence[Launch], memory: Memory) -> Waves:
    waves = Waves(launches, memory, settings.lds_bytes(kernel))
    settings.start(kernel, waves)
    return waves


def _different(kernel: Kernel, difference: Difference) -> Proof:
    return Proof("different", f"different: {kernel.name} does not compute alpha A B + beta C", (), difference)


def _faulty(kernel: Kernel, waves: Waves | None, fault: Fault) -> Proof:
    where = f", by {waves.whose(*fault.lane)}" if waves is not None and fault.lane is not None else ""
    if fault.refused:
        at = f": {fault.inst} ({fault.inst.span})" if fault.inst else ""
        return Proof("unproven", f"unproven: {kernel.name}: {fault.what}{where}{at}")
    place = Place(fault.inst.span, str(fault.inst), where.removeprefix(", ")) if fault.inst else None
    return _different(kernel, Difference(fault.kind, fault.what, None, place, sides=SIDES))


def _compare(
    kernel: Kernel, code: Code, memory: Memory, number: int, launch: Launch, explain: bool
) -> Difference | None:
    """The first element of C that does not hold what it must."""
    wanted = matrix(launch)
    buffer = memory.buffers[number]["C"]
    got = memory.of(number, "C").reshape(wanted.shape)
    stored = memory.stored[buffer.start : buffer.start + buffer.dwords - buffer.hole].reshape(wanted.shape[1:])
    wrong = (stored == 0) | (got != wanted).any(axis=0)
    wrong[: launch.begun] = stored[: launch.begun] != 0
    if not wrong.any():
        return None
    row, column = (int(i[0]) for i in np.nonzero(wrong))
    what = (
        f"C[{row + launch.top},{column}] of {launch}, beta {launch.beta}: {int(wrong.sum())} of {wrong.size} elements "
        "are wrong"
    )
    if not explain or launch.tile is not None:
        return Difference("value", what, None, None, sides=SIDES)
    definition = show.expected(launch, row, column)
    if not stored[row, column]:
        place = Place(None, "", show.both(definition, definition)[0])
        return Difference("store", f"{what}; this one is never stored", place, None, sides=SIDES)
    inst = code.place(int(stored[row, column]) - 1)
    before = sum(other.groups * other.block for other in memory.launches[:number])
    lane = (int(memory.by[buffer.start + row * launch.n + column]) - before) % launch.block
    trace = _trace(kernel, code, launch, lane)
    texts = show.both(definition, show.traced(trace, launch, got[:, row, column]))
    return Difference("value", what, Place(None, "", texts[0]), Place(inst.span, str(inst), texts[1]), sides=SIDES)


def _trace(kernel: Kernel, code: Code, launch: Launch, lane: int) -> Trace:
    """The float operations of one lane of each workgroup of one launch, which is run again."""
    waves = _start(kernel, [launch], Memory([launch]))
    waves.trace, waves.traced = [], (lane // LANES, lane % LANES)
    run(code, waves)
    return waves.trace


__all__ = [
    "Beta", "EveryK", "Given", "Launch", "Tiling", "every_k", "far", "prove", "stream_k", "streamed", "tiled", "usual",
]  # fmt: skip
