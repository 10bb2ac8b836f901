"""Parameters -> a GEMM kernel as a Program.

    kernel(const float *A, const float *B, float *C, int M, int N, int K, float alpha, float beta)

row-major, A is M x K (K x M with trans_a), B is K x N (N x K with trans_b), C is M x N: C = alpha * A * B + beta * C,
and C is not read when beta is 0. M, N and K may be any numbers from 1 up (and K may be 0): no lane reads or writes
outside of the matrices.

**Rows and columns.** A lane whose row of A or column of B lies behind the last one reads the last one instead, so the
main loop knows no edges; what it adds up there is not stored. Workgroups that reach beyond C store element by element
under EXEC, all others four elements at once.

**K.** The first K block holds what K leaves over; its lanes behind that are zero. All others are whole, and each sum is
taken in ascending k.

**Addresses.** Bases are 64-bit; what must fit into 32 bits is a tile's byte offset: `Parameters.largest`.

Launch: p.threads threads, ceil(N / p.columns) x ceil(M / p.rows) workgroups.
"""

from __future__ import annotations

from isa.gemm import fetch
from isa.gemm.k_block import k_block, stores
from isa.gemm.parameters import GROUP, Parameters
from isa.gemm.registers import SCALARS, Registers
from isa.parse import parse
from isa.passes.edit import render_text
from isa.program import Program


def generate(p: Parameters, name: str, *, arch: str = "gfx1100", file: str | None = None) -> Program:
    """The kernel. Raises ParameterError where registers do not do."""
    r = Registers.of(p)
    t = sorted(r.accumulators.values())
    columns, quads = range(p.thread_columns), r.quads[: p.thread_columns // GROUP]
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
        operands=list(zip(p.sides, (r.a, r.b), (t[0:2], t[2:4]), strict=True)),
        blocks=[k_block(p, r, buffer, f".L{name}") for buffer in range(p.stages)],
        stores=list(stores(p, r, 0)),
        log2=lambda n: n.bit_length() - 1,
        sums=[[r.accumulators[i, j] for j in columns] for i in range(p.thread_rows)],
        quads=quads,
        elements=[element for quad in quads for element in quad.units()],
        group=GROUP,
        sgprs=SCALARS.masks + p.thread_columns,
    )
    return parse(text, file or f"{name}.s")
