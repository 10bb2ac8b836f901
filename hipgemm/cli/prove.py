"""`hipgemm prove`: that a kernel computes its product, or what another kernel does, shown for all data."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import click

if TYPE_CHECKING:
    from isa.asm.program import Program
    from isa.check.equivalence import Proof


@click.command("prove")
@click.argument("kernel")
@click.option("--assembly", default=None, type=click.Path(path_type=Path),
              help="Prove this .s (- for stdin), an edited KERNEL, instead of what is built.")  # fmt: skip
@click.option("--against", default=None, type=click.Path(path_type=Path),
              help="The .s that it must do the same as; KERNEL may then be any .s.")  # fmt: skip
@click.option("--kernel", "name", default=None, help="With --against: which kernel of the files, if there are more.")
@click.option("-n", default=None, type=int, help="Columns of B and C: prove a generated kernel at this size only.")
@click.option("-m", default=None, type=int, help="Rows of A and C.  [default: n]")
@click.option("-k", default=None, type=int, help="Columns of A, rows of B.  [default: n]")
@click.option("--groups", default=4, show_default=True, type=click.IntRange(min=1),
              help="With -n: workgroups of a kernel whose workgroups stay.")  # fmt: skip
@click.option(
    "--thorough",
    is_flag=True,
    help="Of a generated kernel: every K at all edges, too, and more far launches. Takes some 20 s and 1 GB.",
)
@click.option("--hipcc", default=None, type=click.Path(path_type=Path), help="The hipcc that builds KERNEL.")
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object.")
def command(
    kernel: str, assembly: Path | None, against: Path | None, name: str | None, n: int | None, m: int | None,
    k: int | None, groups: int, thorough: bool, hipcc: Path | None, as_json: bool,
) -> None:  # fmt: skip
    """Prove that a kernel is right, for all data, or name the first thing that is wrong.

    Of kernel6 to kernel8: that it computes what the compiler wrote, at all sizes. Of generated kernels: that each
    element of C is alpha A B + beta C by definition, at small sizes that take every way through the kernel, at all
    edges, and for every K, near and in far tiles (of kernel10 and its like where tiles are whole); or at the size that
    -n, -m and -k give, which takes about a minute for each 10^9 multiplications. With --against, of any kernel: that it
    computes what the original does, as far as it can be followed.

    Exit status 0 if it is proved, 1 if it is wrong or could not be proved, 2 where the input cannot be read.
    """
    if n is None and (m is not None or k is not None):
        raise click.UsageError("-m and -k go with -n")
    if name is not None and against is None:
        raise click.UsageError("--kernel goes with --against")
    if against is not None and n is not None:
        raise click.UsageError("-n does not go with --against, which speaks of all sizes")
    if thorough and (n is not None or against is not None):
        raise click.UsageError("--thorough goes with neither -n nor --against")
    reference: str | None
    if against is not None:
        proof, reference = _against(kernel, assembly, against, name, hipcc), str(against)
    else:
        size = None if n is None else (n if m is None else m, n, n if k is None else k)
        proof, reference = _proof(kernel, assembly, size, groups, hipcc, thorough)
    if as_json:
        said = {"verdict": proof.verdict, "statement": proof.statement, "assumptions": proof.assumptions}
        difference = str(proof.difference) if proof.difference else None
        more = {"difference": difference, "counts": dict(proof.counts), "reference": reference}
        click.echo(json.dumps({"kernel": kernel, **said, **more}))
    else:
        click.echo(str(proof))
        if assembly and reference and not against and not proof.proved:
            click.echo(f"  reference: {reference}")
            click.echo("  help: an edited file of another compiler has another one: name it, --against FILE.s")
    sys.exit(0 if proof.proved else 1)


def _program(what: str, hipcc: Path | None = None) -> Program:
    from hipgemm.cli import inputs
    from isa.asm.program import Program
    from isa.errors import IsaError

    program = inputs.read(what, hipcc)
    if not isinstance(program, Program):
        raise IsaError(f"{what} is a code object", expected="assembly, as a compiler or hipgemm writes it")
    return program


def _against(kernel: str, assembly: Path | None, original: Path, name: str | None, hipcc: Path | None) -> Proof:
    """Of a kernel of any file, or of a rung, of whose launches more is known."""
    from hipgemm import proving
    from hipgemm.kernels import known, rung

    row = rung(kernel) if known(kernel) and not Path(kernel).exists() else None
    program = _program(str(assembly) if assembly else kernel, hipcc)
    return proving.same(_program(str(original)), program, row, name)


def _proof(
    kernel: str, assembly: Path | None, size: tuple[int, int, int] | None, groups: int, hipcc: Path | None,
    thorough: bool,
) -> tuple[Proof, str | None]:  # fmt: skip
    """The proof, and what the kernel was held against, if it is another text."""
    from hipgemm import proving
    from hipgemm.build import build
    from hipgemm.kernels import rung
    from isa.asm.parse import parse
    from isa.errors import IsaError

    if Path(kernel).exists():
        raise IsaError(
            f"{kernel} is a file: what is it to compute?", hint=f"hipgemm prove {kernel} --against ORIGINAL.s"
        )
    row = rung(kernel)
    made = build(row, hipcc=hipcc)
    own = made.assembly
    program = _program(str(assembly)) if assembly else parse(own.read_text(), own.name)
    if row.parameters:
        if size is None:
            return proving.generated(row, program, thorough=thorough), None
        row.check_size(*size)
        return proving.generated(row, program, proving.launches_at(row, *size, groups)), None
    if size is not None:
        raise IsaError(f"{kernel} is proved at all sizes", hint="leave -n, -m and -k out")
    first = made.folder / made.stages[0].file
    return proving.same(parse(first.read_text(), first.name), program, row), f"{first.name}, made by {made.toolchain}"
