"""The main loop's instructions for one K block.

    per group:  two buffers, last group: what was fetched of the next K block is stored to the other buffer (after the
                FMAs, where the first group is the last)
                LDS loads and FMAs of its steps (`isa.outer_product.text`), beside the first the global loads of the
                next K block
    end:        out of the loop after the last K block
                one buffer: barrier, what was fetched is stored; then, with one or two, a barrier

After the last K block nothing is fetched or stored: a branch leads around it.

Each turn from VALU to memory instructions makes a wave wait until its VALU pipeline is empty: hence few, large groups
of loads, and stores beside loads.

With two buffers one barrier is enough: what K block i stores into a buffer, it was last read from in K block i - 1,
and a wave passes the barrier at the end of that one only with all its operands in registers.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Protocol

from isa.gemm.vector import fetch
from isa.gemm.vector.parameters import Parameters
from isa.gemm.vector.registers import SCALARS, Registers
from isa.gemm.vector.sides import Side
from isa.outer_product import text
from isa.outer_product.text import KStep, Words
from isa.registers import Reg


class Read(Protocol):
    """Of an operand's registers, what the main loop reads: see `isa.gemm.vector.registers.Operand`."""

    @property
    def pairs(self) -> Sequence[Sequence[Reg]]: ...

    @property
    def read(self) -> Reg: ...


@dataclass(frozen=True)
class KBlock:
    """Lines. aside: what ragged workgroups run instead of some of them; it may stand anywhere, and comes back."""

    lines: list[str]
    aside: list[str]


def k_block(p: Parameters, r: Registers, buffer: int, label: str) -> KBlock:
    """buffer: where the K block lies; label: how labels begin, `<label>_store` stands after the main loop."""
    after = (buffer + 1) % p.stages
    last = p.depth // p.group - 1
    starts = buffer * p.stage_bytes, buffer * p.stage_bytes + p.start_b
    early = p.stages == 2 and last > 0
    stored = _if_more(f"{label}_stored_{buffer}", ["s_waitcnt vmcnt(0)", *stores(p, r, after)])
    found: list[str] = []
    loads, aside = fetch.either(p.sides, f"{label}_{buffer}", _fetches(p, r, False), _fetches(p, r, True))
    for number in range(last + 1):
        if number == last and early:
            found += stored
        beside = [] if number else _if_more(f"{label}_fetched_{buffer}", [*loads, *_advance(p, r)])
        found += text.group(steps(p, (r.a, r.b), starts, number), r.fmas, r.accumulators, beside)
    if p.stages == 2 and not early:
        found += [*stored, "s_waitcnt lgkmcnt(0)"]
    # SCC: there was none left.
    found += [f"s_sub_u32 {SCALARS.fetches}, {SCALARS.fetches}, 1", f"s_cbranch_scc1 {label}_store"]
    found += text.turn(stores(p, r, after)) if p.stages == 1 else ["s_barrier"]
    return KBlock(found, aside)


def _if_more(label: str, instructions: list[str]) -> list[str]:
    """Only where another K block follows."""
    return [f"s_cmp_eq_u32 {SCALARS.fetches}, 0", f"s_cbranch_scc1 {label}", *instructions, f"{label}:"]


def _fetches(p: Parameters, r: Registers, ragged: bool) -> list[str]:
    """The global loads of a K block."""
    return [line for side, o in zip(p.sides, (r.a, r.b), strict=True) for line in fetch.loads(side, o, ragged)]


def _advance(p: Parameters, r: Registers) -> list[str]:
    """The bases of the next fetch go one K block on."""
    return [line for side, o in zip(p.sides, (r.a, r.b), strict=True) for line in fetch.advance(side, o)]


def stores(p: Parameters, r: Registers, buffer: int) -> Iterator[str]:
    """What was fetched goes to an LDS buffer. With one buffer the stores stand alone between two barriers, and fewer
    instructions are faster; with two they stand beside loads, and pairs gain nothing."""
    start = buffer * p.stage_bytes
    row = [*fetch.stores(p.a, r.a, start), *fetch.stores(p.b, r.b, start + p.start_b)]
    return text.stores(row, paired=p.stages == 1)


def steps(p: Parameters, operands: tuple[Read, Read], starts: tuple[int, int], group: int) -> list[KStep]:
    """What the steps of k of a group read. operands: of A and B; starts: where their parts of the K block begin, in
    bytes after what their `read` holds."""
    rows = [4 * p.row_of(2 * i) for i in range(p.thread_rows // 2)]
    columns = [4 * p.column_of(2 * j) for j in range(p.thread_columns // 2)]

    def words(side: Side, operand: Read, start: int, offsets: list[int], number: int) -> Words:
        at = start + (group * p.group + number) * side.pitch
        return Words(operand.pairs[number], operand.read, [at + offset for offset in offsets])

    a, b = zip(p.sides, operands, starts, (rows, columns), strict=True)
    return [KStep(words(*a, number), words(*b, number)) for number in range(p.group)]
