"""The proof at the end of a build: what the passes made of a kernel computes what the compiler wrote; and what
`isa.gemm` wrote, for which there is nothing to compare it with, computes alpha A B + beta C by definition.

What the provers need to know of the launches comes from the ladder: the arguments that all rungs share, the sizes that
a rung takes, how it is launched. So `isa.prove.refine` also says that no address wraps at any size the rung admits;
`isa.prove.definition` speaks of every K that the rung admits, at all edges, and of M and N near and far.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from math import prod

from hipgemm.judge import kept
from hipgemm.judge.assumed import NOTHING, Assumed, arguments_of
from hipgemm.kernels.ladder import LARGEST_INT, Gemm, known, rung
from hipgemm.kernels.object import Kernel
from isa.asm.emit import emit
from isa.asm.program import Kernel as Asm
from isa.asm.program import Program
from isa.errors import Finding, IsaError
from isa.gemm.gemv.parameters import GemvParameters
from isa.gemm.matrix.parameters import MatrixParameters
from isa.gemm.vector.parameters import Parameters
from isa.gemm.vector.work import COUNTERS, LARGEST_GRID_Y, Tiled, Work, most_tiles
from isa.lint import sound
from isa.object import metadata
from isa.object.code_object import CodeObject, DescribedKernel
from isa.object.to_text import whole_text
from isa.prove import definition, named
from isa.prove.definition import few_rows
from isa.prove.proof import Argument, Difference, Facts, Proof, ProofPlace
from isa.prove.refine import validate

_Parameters = Parameters | MatrixParameters | GemvParameters
VALIDATION = "translation validation (isa.prove.refine)"
DEFINITION = "by definition (isa.prove.definition)"
_FAR_ELEMENTS = 5 << 30
"""Before the first row of a far tile: more than 2^32."""


class Disproved(IsaError):
    """A pass changed what a kernel computes, or a generated kernel does not compute its product."""


def facts(kernel: Kernel) -> Facts:
    """What is true of each launch of a GEMM kernel (see Gemm.check_size); nothing of others."""
    if not isinstance(kernel, Gemm):
        return Facts()
    rows, columns = kernel.block_tile
    largest = (min(LARGEST_INT, LARGEST_GRID_Y * rows), LARGEST_INT, LARGEST_INT)
    sizes = [
        Argument(letter, 24 + 4 * i, multiple=multiple, minimum=multiple, maximum=top)
        for i, (letter, multiple, top) in enumerate(zip("MNK", kernel.tile, largest, strict=True))
    ]
    pointers = [Argument(letter, 8 * i, size=8) for i, letter in enumerate("ABC")]
    return Facts(
        arguments=(*pointers, *sizes, Argument("alpha", 36), Argument("beta", 40)),
        groups=(("x", ("N", columns)), ("y", ("M", rows))),
        products=tuple((pair, kernel.max_elements) for pair in (("M", "K"), ("N", "K"), ("M", "N"))),
        block=kernel.block[0],
    )


def rung_of(kernel: Asm | DescribedKernel) -> Gemm | None:
    """The rung that a kernel of a file is an edit of: called like it, with its arguments and its work-items."""
    if not known(kernel.name):
        return None
    most: int | None
    if isinstance(kernel, DescribedKernel):
        most = kernel.max_workgroup
    else:
        most = metadata.number(kernel, ".max_flat_workgroup_size")
    sizes = [(a.kind, a.size) for a in arguments_of(kernel) if not a.hidden]
    own = [("global_buffer", 8)] * 3 + [("by_value", 4)] * 5
    row = rung(kernel.name)
    return row if sizes == own and most == prod(row.block) and row.parameters is None else None


def check(kernel: Kernel, compiled: Program, steps: Sequence[tuple[str, Program]]) -> Proof:
    """The proof for a kernel whose passes made `steps`, (name of the pass, program after it); of several kernels in a
    file, of those that were changed, the first that could not be had.

    Disproved names the first pass that broke it, and a launch on which what came before and after it left different
    memory. A proof that could not be had is returned with the verdict "unproven".
    """
    last = steps[-1][1]
    sides = [(side.called, emit(side)) for side in (compiled, last)]
    names = [kernel.name] if kernel.name else _changed(compiled, last) or list(compiled.kernels)[:1]
    proofs = (_checked(kernel, name, compiled, steps, sides) for name in names)
    proof = next(proofs)
    while proof.proved and (more := next(proofs, None)) is not None:
        proof = more
    return proof


def _changed(old: Program, new: Program) -> list[str]:
    """Kernels whose code is other than it was; all, where that of functions is, which they may call."""
    texts: list[dict[str, list[str]]] = []
    for program in (old, new):
        owner = {number: name for name, k in program.kernels.items() for number in range(k.start, k.end)}
        code: dict[str, list[str]] = {}
        for number, line in enumerate(program.lines):
            if line.instruction is not None:
                code.setdefault(owner.get(number, ""), []).append(line.text)
        texts.append(code)
    one, other = texts
    names = [name for name in old.kernels if one.get(name) != other.get(name)]
    return names if one.get("") == other.get("") else list(old.kernels)


def _checked(
    kernel: Kernel, name: str, compiled: Program, steps: Sequence[tuple[str, Program]], sides: Sequence[tuple[str, str]]
) -> Proof:
    proof = kept.rewriting(kernel, sides, name, lambda: held(kernel, compiled, steps[-1][1], name, name))
    if proof.proved:
        return proof
    from hipgemm.judge import witness

    before = compiled
    for broken, after in steps:
        step = held(kernel, before, after, name, name)
        if not step.proved and (seen := witness.search(kernel, before, after, (name, name))) is not None:
            difference = step.difference
            place = difference and (difference.rewritten or difference.original)
            raise Disproved(
                f"{name}: {broken} changed what it computes: {seen.where}",
                span=place.span if place else None,
                expected=seen.old,
                got=seen.new,
                hint=f"a bug in the pass: please report it with the .s before {broken}; run with {seen.launch}",
            )
        before = after
    return proof


def launches(kernel: Kernel) -> tuple[definition.SymbolicLaunch, ...]:
    """What a generated kernel is proved at, by default: all its paths are taken."""
    p, tiling = _tiling(kernel)
    if tiling.shares:
        return few_rows.usual(tiling)
    if p.stream_k:
        return definition.stream_k(tiling, COUNTERS, partial(_split, p))
    return definition.usual(tiling)


def far_launches(kernel: Kernel) -> tuple[definition.SymbolicLaunch, ...]:
    """More, which a build does without: far tiles with a few K blocks; at the far end of the largest workspace that
    there may be, where tiles are done in pieces. Of narrow elements K is so large that the first row has a high half.
    """
    p, tiling = _tiling(kernel)
    if tiling.shares:
        return (*few_rows.far_tiles(tiling, largest(p)), *few_rows.far(tiling, largest(p)))
    most = _most_tiles(p)
    blocks = 2
    if not isinstance(p, Parameters):
        m, n, _ = largest(p)
        blocks = -(-_FAR_ELEMENTS // (min(m, n) * p.depth))
    tiles = definition.far_tiles(tiling, largest(p), _pieces(p), most, blocks * p.depth + 1)
    ends = definition.far(tiling, COUNTERS, partial(_split, p)) if p.stream_k else ()
    return (*tiles, *ends, *far_pieces(kernel))


def far_pieces(kernel: Kernel) -> tuple[definition.SymbolicLaunch, ...]:
    """Pieces of tiles that lie far in a matrix, or in the workspace; none where tiles are whole and every K is shown
    in far ones. Tiles of kernels for few rows."""
    p, tiling = _tiling(kernel)
    if tiling.shares:
        return few_rows.far_tiles(tiling, largest(p))
    pieces = _pieces(p)
    return definition.far_pieces(tiling, pieces, largest(p)) if pieces else ()


def launches_at(kernel: Kernel, m: int, n: int, k: int, groups: int) -> tuple[definition.SymbolicLaunch, ...]:
    """The same at one size, with and without C; groups: workgroups of a stream-K kernel. Of a kernel that was compiled,
    too, if its work-items stand in one row."""
    betas: tuple[definition.Beta, ...] = ("0", "any")
    if isinstance(kernel, Gemm) and kernel.parameters is None and kernel.block[1:] == (1, 1):
        compiled = definition.Tiling(*kernel.block_tile, kernel.tile[2], kernel.block[0])
        return tuple(definition.tiled(compiled, m, n, k, beta) for beta in betas)
    p, tiling = _tiling(kernel)
    if not p.stream_k:
        return tuple(definition.tiled(tiling, m, n, k, beta) for beta in betas)
    pieces = Work.of(p, m, n, k, groups).streamed
    return tuple(
        definition.streamed(tiling, COUNTERS, partial(_split, p), m, n, k, beta, groups, pieces, "together")
        for beta in betas
    )


def _tiling(kernel: Kernel) -> tuple[_Parameters, definition.Tiling]:
    p = kernel.parameters
    if p is None:
        raise IsaError(
            f"{kernel.name} cannot be proved: the proof by definition does not follow it",
            expected="a generated kernel, or kernel3 to kernel8 at one size",
            hint=f"hipgemm run {kernel.name} compares it with float64, hipgemm check runs it under the sanitizer",
        )
    tiling = definition.Tiling(p.rows, p.columns, p.depth, p.threads, p.trans_a, p.trans_b)
    if not isinstance(p, Parameters):
        epilogue = definition.Epilogue(p.result, p.bias, p.scales, p.activation, p.gate)
        tiling = replace(tiling, factor=p.factor, epilogue=epilogue)
    if isinstance(p, GemvParameters):
        tiling = replace(tiling, shares=definition.Shares(p.waves, p.depth, p.weights))
    if isinstance(p, MatrixParameters):
        longest = p.longest_lines if p.strided else None
        tiling = replace(tiling, half_sums=p.half_sums, group=p.group, strided=longest)
    return p, tiling


def _split(p: Tiled, m: int, n: int, k: int, groups: int, streamed: int) -> definition.Given:
    """What a launch of a stream-K kernel is given."""
    work = Work.of(p, m, n, k, groups, streamed)
    return definition.Given(work.grid, work.numbers, work.workspace_bytes)


def generated(
    kernel: Kernel, program: Program, at: Sequence[definition.SymbolicLaunch] = (), *, thorough: bool = False
) -> Proof:
    """The proof for a generated kernel; `at`: the launches, if not all that `launches`, `edges`, `far_pieces` and
    `every` give. thorough: more of the last two, which takes some five times as long."""
    asm = program.kernel(kernel.name)
    if found := [*sound.faults(asm), *sound.at_risk(asm)]:
        return _unsound(kernel.name, found[0], "lint")
    if at:
        proof = definition.prove(program, kernel.name, at, whole=False)
    else:
        proof = definition.prove(
            program,
            kernel.name,
            launches(kernel),
            edges=edges(kernel),
            far=far_launches(kernel) if thorough else far_pieces(kernel),
            every=every(kernel, thorough=thorough),
        )
    return replace(proof, judge=DEFINITION, assumptions=tuple(a for a in proof.assumptions if a != definition.LANDED))


def edges(kernel: Kernel) -> tuple[definition.SymbolicLaunch, ...]:
    """One workgroup of each number of rows and columns."""
    p, tiling = _tiling(kernel)
    return few_rows.edges(tiling) if tiling.shares else definition.edges(tiling, _pieces(p))


def every(kernel: Kernel, *, thorough: bool = False) -> definition.EveryK | None:
    """Where it is proved for every K that it takes: near, and as far as M and N may go; thorough: at all edges, too.
    None where it is not: of kernels for few rows."""
    p, tiling = _tiling(kernel)
    if tiling.shares:
        return None
    most = _most_tiles(p)
    return definition.every_k(tiling, largest(p), _pieces(p), most, thorough=thorough)


def _pieces(p: _Parameters) -> definition.Pieces | None:
    return None if isinstance(p, GemvParameters) or not p.stream_k else (COUNTERS, partial(_split, p))


def _most_tiles(p: _Parameters) -> int | None:
    return None if isinstance(p, GemvParameters) or not p.stream_k else most_tiles(p)


def largest(p: _Parameters) -> tuple[int, int, int]:
    """The most that M, N and K may be, of which M and N are whole tiles: see Gemm.check_size."""
    m, n, k = p.largest
    if not p.stream_k:
        m = min(m, LARGEST_GRID_Y * p.rows)
    return m - m % p.rows, n - n % p.columns, k


def same(
    original: Program, program: Program, kernel: Kernel, name: str | None = None, assumed: Assumed = NOTHING
) -> Proof:
    """The proof that `program` computes what `original` does. kernel: what both are; name: of the kernel in the files,
    if it is no GEMM's own; assumed: of their arguments. "different" only with a witness that was run. IsaError where
    there is no such kernel. An edit of a rung is known by its name, arguments and work-items."""
    first, found = names_of(original, program, kernel, name)
    kernel = kernel if isinstance(kernel, Gemm) else rung_of(original.kernel(first)) or kernel
    proof = held(kernel, original, program, first, found, assumed)
    if proof.proved:
        return proof
    from hipgemm.judge import witness

    seen = witness.search(kernel, original, program, (first, found), assumed.launch, assumed.known)
    if seen is not None:
        statement = f"different: {program.called} does not compute what {original.called} does"
        return replace(proof, verdict="different", statement=statement, witness=str(seen))
    if proof.verdict == "unproven":
        return proof
    statement = f"unproven: {program.called} against {original.called}: could not be shown to do the same"
    difference = proof.difference and replace(proof.difference, certain=False)
    return replace(proof, verdict="unproven", statement=statement, difference=difference)


def names_of(
    original: Program | CodeObject, program: Program | CodeObject, kernel: Kernel, name: str | None = None
) -> tuple[str, str]:
    """What the two that are compared are called in their files. kernel, name: as of `same`. IsaError where there is no
    such kernel."""
    found = program.kernel(name or (kernel.name if kernel.name in program.kernels else None)).name
    return original.kernel(found if found in original.kernels else None).name, found


def held(
    kernel: Kernel, original: Program, program: Program, first: str, second: str, assumed: Assumed = NOTHING
) -> Proof:
    """One kernel against another, neither of which may have a descriptor that its code does not fit, nor the second one
    missing waits."""
    sides = original.kernel(first), program.kernel(second)
    for k, side in enumerate(sides):
        if found := sound.of_start(side.program, side.name):
            return _unsound(side.name, found[0], "lint", original=k == 0)
    proof = _compared(kernel, *sides, assumed)
    if not proof.proved:
        return proof
    if found := sound.faults(sides[1], assumed.known):
        return _unsound(second, found[0], proof.judge)
    return replace(proof, assumptions=(*proof.assumptions, *assumed.sentences, *named.assumed(*sides)))


def _unsound(name: str, finding: Finding, judge: str, original: bool = False) -> Proof:
    """original: it is the one that another is held against."""
    kind, place = "wait" if finding.id.startswith("WAIT") else "fault", ProofPlace.of_line(finding.span)
    first, second = (place, None) if original else (None, place)
    what = f"{finding.message} [{finding.id}]"
    difference = Difference(kind, what, first, second, certain=False, sides=("at", "at"))
    return Proof("unproven", f"unproven: {name} breaks a rule of lint", difference=difference, judge=judge)


def _compared(kernel: Kernel, original: Asm, rewritten: Asm, assumed: Assumed) -> Proof:
    """With what is known of the launches: of a GEMM's its sizes, and what is assumed."""
    known = replace(facts(kernel), given=assumed.known)
    if (launch := assumed.launch) is not None:
        known = replace(known, grid=launch.grid, block=launch.block[0] if launch.block[1:] == (1, 1) else known.block)
    return replace(validate(original, rewritten, known), judge=VALIDATION)


def readable(given: Program | CodeObject, name: str | None = None, called: str = "") -> Program:
    """What provers read: assembly; of a code object the text of one kernel with all that it reaches, `called` what
    messages call it. IsaError where that cannot be had."""
    return given if isinstance(given, Program) else whole_text(given, name, called)


def by_definition(kernel: Kernel, program: Program) -> Proof:
    """The same for a build. Disproved names the element of C, or the instruction, that is wrong."""
    proof = kept.product(kernel, emit(program), lambda: generated(kernel, program))
    if proof.verdict != "different":
        return proof
    difference = proof.difference
    assert difference is not None
    raise Disproved(
        f"{proof.statement.removeprefix('different: ')}: {difference.what}",
        span=difference.rewritten.span if difference.rewritten else None,
        expected=str(difference.original or "the result by definition"),
        got=str(difference.rewritten or "nothing"),
        hint="a bug in isa.gemm: please report it with the parameters",
    )
