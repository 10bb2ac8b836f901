"""`hipgemm prove`: that a kernel computes its product, or what another kernel does, shown for all data."""

from __future__ import annotations

import sys
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

import click

from hipgemm.cli import options, say
from hipgemm.cli.answers import answer
from hipgemm.cli.progress import steps
from hipgemm.launch.requests import LaunchRequest

if TYPE_CHECKING:
    from hipgemm.kernels.ladder import Gemm
    from hipgemm.kernels.object import Kernel
    from isa.asm.program import Program
    from isa.prove.proof import Proof


@click.command("prove", cls=options.KernelCommand)
@click.argument("kernel", metavar="KERNEL|FILE", shell_complete=options.kernel_names)
@click.option("--assembly", default=None, metavar="FILE",
              help="Prove this file (- for stdin), an edited KERNEL, instead of what is built.")  # fmt: skip
@click.option("--against", default=None, metavar="KERNEL|FILE", help="The kernel that it must compute the same as.")
@options.assume
@click.option("-n", default=None, type=int,
              help="Columns of B and C: by definition, at this size only; with --against, for this size.")  # fmt: skip
@click.option("-m", default=None, type=int, help="Rows of A and C.  [default: n]")
@click.option("-k", default=None, type=int, help="Columns of A, rows of B.  [default: n]")
@click.option("--groups", default=4, show_default=True, type=click.IntRange(min=1),
              help="With -n: the number of workgroups of a persistent kernel.")  # fmt: skip
@click.option(
    "--thorough",
    is_flag=True,
    help="For a generated kernel: also every K at all edges, and more far launches. Takes about 20 s and 1 GB.",
)
@options.launch
@options.code
@options.as_json
def command(
    kernel: str, assembly: str | None, against: str | None, assume: tuple[str, ...], n: int | None, m: int | None,
    k: int | None, groups: int, thorough: bool, request: LaunchRequest, code: options.CodeOptions, as_json: bool,
) -> None:  # fmt: skip
    """Prove that a kernel is right, for all data, or show the first thing that is wrong.

    kernel6 to kernel8: computes the same as the compiler's code, at all sizes. Generated kernels: each element of C is
    as the definition gives it, at small sizes that take every path through the kernel, at all edges, and for every K,
    near and in far tiles (of stream-K kernels where tiles are whole). With -n, -m and -k, these and kernel3 to kernel8:
    by definition, at this size only, which takes about a minute for each 10^9 multiplications. A file whose kernel is
    named like one of these: the same. With --against, any kernel, HIP source or assembly: computes the same as the
    original, as far as it can be followed: for all launches, or for those that --assume, -n or a launch (--grid,
    --block and --arg, or --launch) admit. "different" comes with a launch on which both were run and left different
    memory.

    Exit status 0 if it is proved, 1 if it is wrong or could not be proved, 2 where the input cannot be read.
    """
    if n is None and (m is not None or k is not None):
        raise click.UsageError("-m and -k need -n")
    if against is None and (assume or request.said or request.file):
        raise click.UsageError("--assume and a launch need --against")
    if thorough and (n is not None or against is not None):
        raise click.UsageError("--thorough cannot be used with -n or --against")
    reference: str | None
    size = None if n is None else (n if m is None else m, n, n if k is None else k)
    with steps() as step:
        step(f"proving {kernel}")
        if against is not None:
            proof, reference = _against(kernel, assembly, against, assume, size, request, code), against
        else:
            proof, reference = _proof(kernel, assembly, size, groups, code, thorough)
    if as_json:
        said = {"verdict": proof.verdict, "statement": proof.statement, "assumptions": proof.assumptions}
        said |= {"judge": proof.judge, "witness": proof.witness}
        difference = str(proof.difference) if proof.difference else None
        more = {"difference": difference, "counts": dict(proof.counts), "reference": reference}
        answer("prove", {"kernel": kernel, **said, **more})
    else:
        say(str(proof))
        if against is not None and proof.verdict == "unproven":
            say("  help: a launch (--grid, --block, --arg), or --assume NAME=VALUE, may decide")
        edited = assembly or Path(kernel).exists()
        if edited and reference and not against and not proof.proved:
            say(f"  reference: {reference}")
            say("  help: an edited file of another compiler has another one: name it, --against FILE.s")
    sys.exit(0 if proof.proved else 1)


def _program(kernel: Kernel, code: options.CodeOptions) -> Program:
    """Assembly; of a code object what is disassembled."""
    from hipgemm.judge import proving

    return proving.readable(code.readable(kernel), code.name or kernel.name or None, kernel.title)


def _against(
    kernel: str, assembly: str | None, original: str, assume: tuple[str, ...], size: tuple[int, int, int] | None,
    request: LaunchRequest, code: options.CodeOptions,
) -> Proof:  # fmt: skip
    """Of a kernel of any file, or of a rung, of whose launches more is known."""
    from hipgemm.judge import kept, proving
    from hipgemm.kernels.source_lines import proof_with_origins
    from hipgemm.launch.problem import Problem
    from isa.asm.emit import emit

    def read(what: str) -> Kernel:
        """The name is looked up in both programs; of a library it says which code object."""
        return (code if Path(what).exists() else replace(code, name=None)).kernel(what)

    given, before = read(kernel), read(original)
    sides = before, read(assembly) if assembly else given
    first, program = (_program(side, code) for side in sides)
    asked = first.kernel(proving.names_of(first, program, given, code.name)[0])
    problem = Problem.of(*_in_order(size)) if size else None
    assumed = code.assumed(assume, request, problem, before, asked)
    texts = [(side.called, emit(side)) for side in (first, program)]
    proof = kept.rewriting(
        given, texts, code.name or given.name, lambda: proving.same(first, program, given, code.name, assumed), assumed
    )
    return proof_with_origins(proof, code.source_lines(before, first), code.source_lines(sides[1], program))


def _in_order(size: tuple[int, int, int]) -> tuple[int, int, int]:
    """N, M, K of M, N, K."""
    return size[1], size[0], size[2]


def _proof(
    kernel: str, assembly: str | None, size: tuple[int, int, int] | None, groups: int, code: options.CodeOptions,
    thorough: bool,
) -> tuple[Proof, str | None]:  # fmt: skip
    """The proof, and what the kernel was held against, if it is another text."""
    from hipgemm.judge import kept
    from hipgemm.kernels.build import build
    from hipgemm.kernels.ladder import Gemm
    from isa.asm.emit import emit
    from isa.asm.parse import parse

    given = code.kernel(kernel)
    if isinstance(given, Gemm):
        row, edited = given, _program(code.kernel(assembly), code) if assembly else None
    else:
        edited = _program(given, code)
        row = _called_like(kernel, edited, code.name)
    if edited is None or not row.parameters:
        made = build(row, arch=code.arch or "gfx1100", hipcc=code.hipcc)
        own = made.assembly
    text, called = (own.read_text(), own.name) if edited is None else (emit(edited), edited.called)

    def by_definition() -> Proof:
        from hipgemm.judge import proving

        at = proving.launches_at(row, *size, groups) if size else ()
        return proving.generated(row, edited or parse(text, called), at, thorough=thorough)

    if size is not None:
        row.check_size(*size)
        return kept.product(row, text, by_definition, size, groups), None
    if row.parameters:
        return kept.product(row, text, by_definition, *(["thorough"] if thorough else [])), None
    first = made.folder / made.stages[0].file

    def same() -> Proof:
        from hipgemm.judge import proving

        original = replace(parse(first.read_text(), first.name), title=row.called)
        return proving.same(original, edited or parse(text, called), row)

    sides = (row.called, first.read_text()), (called, text)
    return kept.rewriting(row, sides, row.name, same), f"{first.name}, made by {made.toolchain}"


def _called_like(file: str, program: Program, name: str | None) -> Gemm:
    """The rung that the kernel of a file is called like."""
    from hipgemm.kernels.ladder import known, rung
    from isa.errors import IsaError

    found = program.kernel(name).name
    if not known(found):
        raise IsaError(f"{file}: what is {found} to compute?", hint=f"hipgemm prove {file} --against ORIGINAL")
    return rung(found)
