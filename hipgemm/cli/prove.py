"""`hipgemm prove KERNEL`: that a kernel computes its product, shown for all data."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import click

if TYPE_CHECKING:
    from isa.check.equivalence import Proof


@click.command("prove")
@click.argument("kernel")
@click.option("--assembly", default=None, type=click.Path(path_type=Path),
              help="Prove this .s (- for stdin), an edited KERNEL, instead of what is built.")  # fmt: skip
@click.option("-n", default=None, type=int, help="Columns of B and C: prove a generated kernel at this size only.")
@click.option("-m", default=None, type=int, help="Rows of A and C.  [default: n]")
@click.option("-k", default=None, type=int, help="Columns of A, rows of B.  [default: n]")
@click.option("--groups", default=4, show_default=True, type=click.IntRange(min=1),
              help="With -n: workgroups of a kernel whose workgroups stay.")  # fmt: skip
@click.option("--hipcc", default=None, type=click.Path(path_type=Path), help="The hipcc that builds KERNEL.")
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object.")
def command(
    kernel: str, assembly: Path | None, n: int | None, m: int | None, k: int | None, groups: int, hipcc: Path | None,
    as_json: bool,
) -> None:  # fmt: skip
    """Prove that a kernel is right, for all data, or name the first thing that is wrong.

    Of kernel6 to kernel8: that it computes what the compiler wrote, at all sizes. Of generated kernels: that each
    element of C is alpha A B + beta C by definition, for every K at some M x N (but for kernel10 and its like), and
    at small sizes that take every way through the kernel; or at the size that -n, -m and -k give, which takes about a
    minute for each 10^9 multiplications.

    Exit status 0 if it is proved, 1 if it is wrong or could not be proved, 2 where the input cannot be read.
    """
    if n is None and (m is not None or k is not None):
        raise click.UsageError("-m and -k go with -n")
    size = None if n is None else (n if m is None else m, n, n if k is None else k)
    proof = _proof(kernel, assembly, size, groups, hipcc)
    if as_json:
        said = {"verdict": proof.verdict, "statement": proof.statement, "assumptions": proof.assumptions}
        difference = str(proof.difference) if proof.difference else None
        click.echo(json.dumps({"kernel": kernel, **said, "difference": difference, "counts": dict(proof.counts)}))
    else:
        click.echo(str(proof))
    sys.exit(0 if proof.proved else 1)


def _proof(
    kernel: str, assembly: Path | None, size: tuple[int, int, int] | None, groups: int, hipcc: Path | None
) -> Proof:
    from hipgemm import proving
    from hipgemm.build import build
    from hipgemm.cli import inputs
    from hipgemm.kernels import rung
    from isa.errors import IsaError
    from isa.parse import parse
    from isa.program import Program

    row = rung(kernel)
    made = build(row, hipcc=hipcc)
    own = made.assembly
    program = inputs.read(str(assembly)) if assembly else parse(own.read_text(), own.name)
    if not isinstance(program, Program):
        raise IsaError(f"{assembly} is a code object", expected="assembly, as hipgemm builds it")
    if row.parameters:
        if size is None:
            return proving.generated(row, program)
        row.check_size(*size)
        return proving.generated(row, program, proving.launches_at(row, *size, groups))
    if size is not None:
        raise IsaError(f"{kernel} is proved at all sizes", hint="leave -n, -m and -k out")
    first = made.folder / made.stages[0].file
    return proving.against(row, parse(first.read_text(), first.name), program)
