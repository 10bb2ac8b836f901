"""Parameters -> a GEMM kernel as a Program.

    kernel(const float *A, const float *B, float *C, int M, int N, int K, float alpha, float beta)

row-major, A is M x K (K x M with trans_a), B is K x N (N x K with trans_b), C is M x N: C = alpha * A * B + beta * C,
and C is not read when beta is 0. M, N and K may be any numbers from 1 up (and K may be 0): no lane reads or writes
outside of the matrices.

**Rows and columns.** A lane whose row of A or column of B lies after the last one reads the last one instead, so the
main loop knows no edges; what it adds up there is not stored. Workgroups that reach beyond C store element by element
under EXEC, all others four elements at once.

**K.** The first K block holds what K leaves over; its lanes before that are zero. All others are whole, and each sum is
taken in ascending k, from +0: so the zeros change nothing.

**Addresses.** Bases are 64-bit; what must fit into 32 bits is a tile's byte offset: `Parameters.largest`.

Launch: p.threads threads, ceil(N / p.columns) x ceil(M / p.rows) workgroups. A stream-K kernel (stream_k.py) takes
any number of workgroups, in x, and more arguments, which work.Work packs:

    ..., uint32_t *workspace, unsigned dealt, unsigned streamed, unsigned chunk,
         unsigned by_across, unsigned by_blocks, unsigned by_chunk)

The main loop's instructions for one K block.

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
from types import SimpleNamespace
from typing import Protocol

from isa.asm.parse import parse
from isa.asm.program import Program
from isa.gemm import stream_k
from isa.gemm.gemv import generate as gemv
from isa.gemm.gemv.parameters import GemvParameters
from isa.gemm.matrix import generate as matrix
from isa.gemm.matrix.parameters import MatrixParameters
from isa.gemm.vector import fetch, work
from isa.gemm.vector.parameters import GROUP, ParameterError, Parameters
from isa.gemm.vector.registers import SCALARS, Registers
from isa.gemm.vector.sides import Side
from isa.outer_product import text
from isa.outer_product.text import KStep, Words
from isa.passes.edit import render_text
from isa.passes.general.sgpr_waits import SgprWaits
from isa.passes.words import text_in_words
from isa.registers import SGPR_LIMIT, Reg
from isa.targets import target

ARGUMENTS = 44
"""Bytes of the ladder's arguments."""


def generate(
    p: Parameters | MatrixParameters | GemvParameters, name: str, *, arch: str = "gfx1100", file: str | None = None
) -> Program:
    """The kernel; on the matrix units, `isa.gemm.matrix` or `isa.gemm.gemv` writes it. Raises ParameterError where
    registers do not do."""
    if isinstance(p, GemvParameters):
        return gemv.generate(p, name, arch=arch, file=file)
    if isinstance(p, MatrixParameters):
        return matrix.generate(p, name, arch=arch, file=file)
    r = Registers.of(p)
    t = sorted(r.accumulators.values())
    w = stream_k.scalars(r.sgprs) if p.stream_k else None
    sgprs = w.end_of_registers if w else r.sgprs
    if sgprs > SGPR_LIMIT:
        raise ParameterError("no GEMM kernel has such thread_columns: there are too few SGPRs", got=f"{sgprs} SGPRs")
    # Stores to LDS are over where the epilogue begins, but not those of a next piece.
    thread, row, column = r.stays or (None, r.a.write, r.b.write)
    columns, quads = range(p.thread_columns), r.quads[: p.thread_columns // GROUP]
    operands = list(zip(p.sides, (r.a, r.b), (t[0:2], t[2:4]), strict=True))
    first = [
        [line for side, o, at in operands for line in fetch.first_loads(side, o, at[0], t[5], ragged)]
        for ragged in (False, True)
    ]
    loads, aside = fetch.either(p.sides, f".L{name}_first", *first)
    text = render_text(
        "gemm.s.j2",
        name=name,
        target=target(arch),
        p=p,
        r=r,
        s=SCALARS,
        t=t,
        pairs=list(zip(t[::2], t[1::2], strict=True)),
        fetch=fetch,
        operands=operands,
        first_loads=loads,
        aside=aside,
        blocks=[k_block(p, r, buffer, f".L{name}") for buffer in range(p.stages)],
        stores=list(stores(p, r, 0)),
        log2=lambda n: n.bit_length() - 1,
        sums=[[r.accumulators[i, j] for j in columns] for i in range(p.thread_rows)],
        quads=quads,
        elements=[element for quad in quads for element in quad.units()],
        group=GROUP,
        end=f"s_branch .L{name}_next" if p.stream_k else "s_endpgm",
        kernarg=ARGUMENTS + work.ARGUMENTS if p.stream_k else ARGUMENTS,
        sgprs=sgprs,
        row=row,
        column=column,
        w=w,
        thread=thread,
        stream_k=stream_k,
        combine=_combine(p, r, w, row, column) if w else None,
    )
    return SgprWaits().run(parse(text_in_words(target(arch), text), file or f"{name}.s"))


def _combine(p: Parameters, r: Registers, w: SimpleNamespace, at: Reg, mine: Reg) -> stream_k.Combine:
    first = min(reg.index for reg in r.accumulators.values())
    sums = range(first, first + len(r.accumulators))
    return stream_k.Combine.of(p, w, SCALARS, sums, r.quads, at, mine, r.a.offset[0])


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
    stored = _if_more(f"{label}_stored_{buffer}", ["wait global_load 0", *stores(p, r, after)])
    found: list[str] = []
    loads, aside = fetch.either(p.sides, f"{label}_{buffer}", _fetches(p, r, False), _fetches(p, r, True))
    for number in range(last + 1):
        if number == last and early:
            found += stored
        beside = [] if number else _if_more(f"{label}_fetched_{buffer}", [*loads, *_advance(p, r)])
        found += text.group(steps(p, (r.a, r.b), starts, number), r.fmas, r.accumulators, beside)
    if p.stages == 2 and not early:
        found += [*stored, "wait lds_load 0"]
    # SCC: there was none left.
    found += [f"s_sub_u32 {SCALARS.fetches}, {SCALARS.fetches}, 1", f"s_cbranch_scc1 {label}_store"]
    found += text.turn(stores(p, r, after)) if p.stages == 1 else ["barrier"]
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
