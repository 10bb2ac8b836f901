"""The main loop's instructions for one K block.

    per group:  two buffers, last group: what was fetched of the next K block is stored to the other buffer
                LDS loads of all its steps
                first group: the global loads of the next K block
                for each step: wait for its operands, its dual FMAs
    end:        out of the loop behind the last K block
                one buffer: barrier, what was fetched is stored; then, with one or two, a barrier

Behind the last K block nothing is fetched or stored: a branch leads around it.

Each turn from VALU to memory instructions makes a wave wait until its VALU pipeline is empty: hence few, large groups
of loads, and stores beside loads. LDS instructions return in order, so `lgkmcnt(n)` waits for all but the last n.

With two buffers one barrier is enough: what K block i stores into a buffer, it was last read from in K block i - 1,
and a wave passes the barrier at the end of that one only with all its operands in registers.
"""

from __future__ import annotations

from collections.abc import Iterator

from isa.gemm import fetch
from isa.gemm.parameters import Parameters
from isa.gemm.registers import SCALARS, Registers
from isa.product import text
from isa.registers import Reg

_LGKMCNT_LIMIT = 63


def k_block(p: Parameters, r: Registers, buffer: int, label: str) -> list[str]:
    """Lines. buffer: where the K block lies; label: how labels begin, `<label>_store` stands behind the main loop."""
    after = (buffer + 1) % p.stages
    last = p.depth // p.group - 1
    found: list[str] = []
    for number in range(last + 1):
        if number == last and p.stages == 2:
            found += _if_more(f"{label}_stored_{buffer}", ["s_waitcnt vmcnt(0)", *stores(p, r, after)])
        steps = [_loads(p, r, buffer, number, step) for step in range(p.group)]
        for loads in steps:
            found += loads
        if number == 0:
            found += _if_more(f"{label}_fetched_{buffer}", fetches(p, r))
        waiting = sum(map(len, steps))
        for step, loads in enumerate(steps):
            # Global loads count in vmcnt, so only this group's LDS loads are behind the ones waited for.
            waiting -= len(loads)
            found.append(f"s_waitcnt lgkmcnt({min(waiting, _LGKMCNT_LIMIT)})")
            found += text.dual_fmas(r.fmas, _units(r.a.pairs[step]), _units(r.b.pairs[step]), r.accumulators)
    # SCC: there was none left.
    found += [f"s_sub_u32 {SCALARS.fetches}, {SCALARS.fetches}, 1", f"s_cbranch_scc1 {label}_store"]
    if p.stages == 1:
        found += ["s_barrier", "s_waitcnt vmcnt(0)", *stores(p, r, after), "s_waitcnt lgkmcnt(0)"]
    found.append("s_barrier")
    return [line if line.endswith(":") else f"\t{line}" for line in found]


def _if_more(label: str, instructions: list[str]) -> list[str]:
    """Only where another K block follows."""
    return [f"s_cmp_eq_u32 {SCALARS.fetches}, 0", f"s_cbranch_scc1 {label}", *instructions, f"{label}:"]


def fetches(p: Parameters, r: Registers) -> list[str]:
    """The global loads of a K block, and the bases go on to the next."""
    operands = list(zip(p.sides, (r.a, r.b), strict=True))
    return [
        *(line for operand in operands for line in fetch.loads(*operand)),
        *(line for operand in operands for line in fetch.advance(*operand)),
    ]


def stores(p: Parameters, r: Registers, buffer: int) -> Iterator[str]:
    """What was fetched goes to an LDS buffer."""
    start = buffer * p.stage_bytes
    yield from fetch.stores(p.a, r.a, start)
    yield from fetch.stores(p.b, r.b, start + p.start_b)


def _loads(p: Parameters, r: Registers, buffer: int, group: int, step: int) -> list[str]:
    """The column of A and the row of B for one step of k."""
    k = group * p.group + step
    a = buffer * p.stage_bytes + k * p.a.pitch
    b = buffer * p.stage_bytes + p.start_b + k * p.b.pitch
    column = (_load(pair, r.a.read, a + 4 * p.row_of(2 * i)) for i, pair in enumerate(r.a.pairs[step]))
    row = (_load(pair, r.b.read, b + 4 * p.column_of(2 * i)) for i, pair in enumerate(r.b.pairs[step]))
    return [*column, *row]


def _load(pair: Reg, address: Reg, offset: int) -> str:
    return f"ds_load_b64 {pair}, {address} offset:{offset}"


def _units(pairs: tuple[Reg, ...]) -> list[Reg]:
    return [unit for pair in pairs for unit in pair.units()]
