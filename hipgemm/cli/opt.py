"""`hipgemm opt FILE --passes PIPELINE -o OUT`: passes on assembly, and the proof that they changed nothing it does."""

from __future__ import annotations

import sys
from pathlib import Path

import click

from hipgemm.cli.options import CodeOptions, KernelCommand, code_options, kernel_names, pass_names
from isa.errors import IsaError


@click.command("opt", cls=KernelCommand)
@click.argument("what", metavar="KERNEL|FILE", shell_complete=kernel_names)
@click.option("--passes", required=True, metavar="PIPELINE", shell_complete=pass_names,
              help="Names of passes with commas between, options in {}.")  # fmt: skip
@click.option("-o", "--out", default=None, type=click.Path(path_type=Path), help="Where to.  [default: stdout]")
@click.option("--prove", "wanted", is_flag=True, help="Prove that the result computes what the input does.")
@code_options
def command(what: str, passes: str, out: Path | None, wanted: bool, code: CodeOptions) -> None:
    """Run passes on assembly, on what the compiler makes of HIP source, or on a kernel of the ladder.

    The program is verified before and after each pass. Exit status 1 with --prove where the proof could not be had; the
    result is written all the same.
    """
    from hipgemm import proving
    from hipgemm.build import readable
    from hipgemm.cli import inputs
    from isa.asm.emit import emit
    from isa.asm.program import Program
    from isa.passes import parse_pipeline, run_pipeline

    parse_pipeline(passes)  # refused before anything is compiled
    if out is not None:
        inputs.writable(out)
    kernel = inputs.kernel(what, code)
    given = readable(kernel, arch=code.arch or "gfx1100", hipcc=code.hipcc)
    if not isinstance(given, Program):
        raise IsaError(f"{what} is a code object, which passes do not read", expected="HIP source or assembly")
    made = given
    for step, made in run_pipeline(given, passes, lambda k, after: f"{kernel.stem}.{k}-{after}.s", code.name or ""):
        click.echo(f"{step}: {'changed' if made is not given else 'nothing to do'}", err=True)
    text = emit(made)
    if out is None:
        click.echo(text, nl=False)
    else:
        inputs.write(out, text)
    if wanted:
        proofs = [proving.same(given, made, kernel, name) for name in ([code.name] if code.name else given.kernels)]
        for proof in proofs:
            click.echo(str(proof), err=True)
        sys.exit(0 if all(proof.proved for proof in proofs) else 1)
