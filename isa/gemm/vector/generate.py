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
"""

from __future__ import annotations

from types import SimpleNamespace

from isa.asm.parse import parse
from isa.asm.program import Program
from isa.gemm import stream_k
from isa.gemm.gemv import generate as gemv
from isa.gemm.gemv.parameters import GemvParameters
from isa.gemm.matrix import generate as matrix
from isa.gemm.matrix.parameters import MatrixParameters
from isa.gemm.vector import fetch, work
from isa.gemm.vector.k_block import k_block, stores
from isa.gemm.vector.parameters import GROUP, ParameterError, Parameters
from isa.gemm.vector.registers import SCALARS, Registers
from isa.passes.edit import render_text
from isa.registers import SGPR_LIMIT, Reg

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
        arch=arch,
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
    return parse(text, file or f"{name}.s")


def _combine(p: Parameters, r: Registers, w: SimpleNamespace, at: Reg, mine: Reg) -> stream_k.Combine:
    first = min(reg.index for reg in r.accumulators.values())
    sums = range(first, first + len(r.accumulators))
    return stream_k.Combine.of(p, w, SCALARS, sums, r.quads, at, mine, r.a.offset[0])
