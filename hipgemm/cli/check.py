"""`hipgemm check KERNEL|FILE ...`: a launch on the simulated card, under observers."""

from __future__ import annotations

import json
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import click

from hipgemm.cli.findings import as_object, of_rules, rule_options
from hipgemm.cli.options import launch_options
from isa.errors import Finding, IsaError

if TYPE_CHECKING:
    from hipgemm.checking import Schedules
    from hipgemm.problem import Problem
    from isa.asm.program import Program
    from isa.object.code_object import CodeObject


@click.command("check")
@click.argument("what", metavar="KERNEL|FILE...", nargs=-1, required=True)
@click.option("-n", "n", type=int, default=256, show_default=True, help="Columns of B and C.")
@click.option("-m", "m", type=int, default=None, help="Rows of A and C.  [default: N]")
@click.option("-k", "k", type=int, default=None, help="Columns of A, rows of B.  [default: N]")
@click.option("--alpha", type=float, default=1.0, show_default=True)
@click.option("--beta", type=float, default=0.0, show_default=True)
@click.option("--schedules", "count", type=click.IntRange(min=1), default=3, show_default=True,
              help="Orders of waves and workgroups.")  # fmt: skip
@click.option("--seed", type=click.IntRange(min=0), default=0, show_default=True, help="Which orders, and which data.")
@click.option("--budget", type=click.IntRange(min=1), default=None, help="Instructions after which it is stopped.")
@launch_options
@click.option("--dynamic-lds", type=click.IntRange(min=0), default=0, help="Bytes of LDS behind the static ones.")
@click.option("--hipcc", default=None, type=click.Path(path_type=Path), help="The hipcc that builds KERNEL.")
@rule_options
def command(
    what: tuple[str, ...], n: int, m: int | None, k: int | None, alpha: float, beta: float, count: int, seed: int,
    budget: int | None, name: str | None, grid: tuple[int, int, int] | None, block: tuple[int, int, int] | None,
    arguments: tuple[str, ...], dynamic_lds: int, hipcc: Path | None, select: tuple[str, ...],
    ignore: tuple[str, ...], sarif: bool, as_json: bool,
) -> None:  # fmt: skip
    """Launch kernels of the ladder, or of assembly files and code objects, and report what a card would let pass.

    Registers used while a load still fills them, races in LDS and memory, reads of what nobody wrote, accesses outside
    or misaligned, barriers that not all waves reach, results that depend on the order of waves.

    A kernel with a name of the ladder gets its launch on an M x N x K problem. Any other needs --grid, --block, and an
    --arg for each of its arguments.

    Exit status 0 without faults, 1 with faults, 2 where the input cannot be taken.
    """
    from hipgemm.checking import Schedules
    from hipgemm.cli import inputs
    from hipgemm.problem import Problem
    from isa.check.registry import chosen

    ids = chosen(select, ignore)
    problem = Problem(n if m is None else m, n, n if k is None else k, alpha, beta, "random", seed)
    schedules = Schedules(count, seed, None, budget)
    shape = (grid, block) if grid and block else None
    if (grid is None) != (block is None):
        raise IsaError("a launch needs both --grid and --block")
    if (arguments or dynamic_lds) and shape is None:
        raise IsaError("--arg and --dynamic-lds go with --grid and --block")
    found: list[tuple[str, list[Finding]]] = []
    for one in what:
        code, program, of = _read(one, hipcc)
        if of:
            inputs.same_kernel(of, name)
        seen = _check(code, program, of or name, problem, schedules, shape, arguments, dynamic_lds)
        found.append((one, of_rules(_left(seen, program, of or name, code), ids)))
        if not as_json and not sarif:
            _show(*found[-1])
    faults = sum(f.severity == "fault" for _, findings in found for f in findings)
    if sarif:
        from hipgemm.cli.sarif import log

        click.echo(json.dumps(log("check", ((one, f) for one, findings in found for f in findings))))
    elif as_json:
        rows = [{"input": one, "findings": [as_object(f) for f in findings]} for one, findings in found]
        click.echo(json.dumps({"faults": faults, "schedules": count, "seed": seed, "checked": rows}))
    sys.exit(1 if faults else 0)


def _left(found: list[Finding], program: Program | None, name: str | None, code: CodeObject) -> list[Finding]:
    """What the comments of the assembly do not ignore."""
    if program is None:
        return found
    from isa.check import suppress

    return suppress.apply(found, program, "check", suppress.lines_of(program, name or next(iter(code.kernels))))


def _show(what: str, findings: Sequence[Finding]) -> None:
    for finding in findings:
        click.echo(f"{finding}\n")
    faults = sum(f.severity == "fault" for f in findings)
    click.echo(f"{what}: {faults} faults, {len(findings) - faults} notes", err=True)


def _check(
    code: CodeObject, program: Program | None, name: str | None, problem: Problem, schedules: Schedules,
    shape: tuple[tuple[int, int, int], tuple[int, int, int]] | None, arguments: Sequence[str], dynamic_lds: int,
) -> list[Finding]:  # fmt: skip
    from hipgemm.checking import Given, check_gemm, check_kernel
    from hipgemm.kernels import known, rung

    if shape is not None:
        given = [Given.read(text) for text in arguments]
        return check_kernel(
            code, name, *shape, given, dynamic_lds=dynamic_lds, program=program, schedules=schedules
        )  # fmt: skip
    names = [name] if name else list(code.kernels)
    if len(names) != 1 or not known(names[0]):
        raise IsaError(
            f"how is {' or '.join(names) or 'it'} launched?",
            expected="--kernel with a name of the ladder, or --grid, --block and an --arg for each argument",
        )
    return check_gemm(rung(names[0]), code, problem, program=program, schedules=schedules)


def _read(what: str, hipcc: Path | None) -> tuple[CodeObject, Program | None, str | None]:
    """(code object, its assembly where that is known, the kernel's name where there is no choice)."""
    from hipgemm.checking import assembled
    from hipgemm.cli import inputs
    from isa.object.code_object import CodeObject

    built = inputs.built(what, hipcc)
    given = inputs.read(what, hipcc, runs=True)
    if isinstance(given, CodeObject):
        return given, None, None
    if built is not None:
        return built.code_object(), given, what
    return assembled(given, hipcc), given, None
