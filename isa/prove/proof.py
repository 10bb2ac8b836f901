"""Verdicts of the provers: what was asked of which launches (`Facts`) -> `Proof`, with the first `Difference` as the
places of both texts."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal

from isa.asm.program import Kernel
from isa.display import Shown
from isa.errors import SourceLine, Span

Verdict = Literal["proved", "different", "unproven"]


@dataclass(frozen=True)
class ProofPlace:
    """One side of a difference: the instruction, where it stands, and what it computes. origin: as of a `Finding`."""

    span: Span | None
    instruction: str
    expression: str
    origin: SourceLine | None = None

    @classmethod
    def of_line(cls, span: Span | None) -> ProofPlace | None:
        """A line of a text, whatever stands there."""
        return cls(span, span.text.strip(), "") if span else None

    def __str__(self) -> str:
        if self.span is None:
            return self.expression
        place = self.span.row
        if self.origin and self.origin.shown:
            place = f"{self.origin} ({place})" if self.origin.macro is None else str(self.origin)
        where = f"{place}: {self.instruction}"
        return f"{where}\n        {self.expression}" if self.expression else where


@dataclass(frozen=True)
class Difference:
    """What differs first.

    kind:    "branch", "barrier", "address", "value", "order" (of stores), "load", "wait", "setting", "end" or "budget".
    what:    one sentence.
    certain: values were found for which the two differ; else the prover only failed to show them equal.
    sides:   what the two are called.
    """

    kind: str
    what: str
    original: ProofPlace | None
    rewritten: ProofPlace | None
    certain: bool = True
    sides: tuple[str, str] = ("original", "rewritten")

    def __str__(self) -> str:
        lines = [self.what]
        lines += [f"    {who}: {p}" for who, p in zip(self.sides, (self.original, self.rewritten), strict=True) if p]
        return "\n".join(lines)


@dataclass(frozen=True)
class Proof(Shown):
    """The outcome of a prover.

    verdict:     "proved"; "different" (`difference` says where); "unproven" (nothing is claimed; the statement or the
                 difference says what could not be shown).
    statement:   one line.
    assumptions: what the proof rests on, in words.
    counts:      what was compared: accumulators, products (of one accumulator in one iteration), lds_stores,
                 global_stores, barriers (each once, however many paths and iterations pass it), paths, instructions
                 (executed), terms.
    judge:       which prover says so.
    witness:     a launch on which both were run and left different memory, in words.
    """

    verdict: Verdict
    statement: str
    assumptions: tuple[str, ...] = ()
    difference: Difference | None = None
    counts: Mapping[str, int] = field(default_factory=dict)
    judge: str = ""
    witness: str = ""

    @property
    def proved(self) -> bool:
        return self.verdict == "proved"

    def __str__(self) -> str:
        lines = [self.statement]
        if self.difference is not None:
            lines += [f"  {line}" for line in str(self.difference).split("\n")]
        lines += [f"  {line}" for line in self.witness.split("\n") if line]
        lines += [f"  assuming {a}" for a in self.assumptions]
        lines += [f"  judge: {self.judge}"] if self.judge else []
        return "\n".join(lines)


@dataclass(frozen=True, slots=True)
class Argument:
    """One kernel argument: `size` bytes at `offset` of the argument segment. An int (size 4) is a multiple of
    `multiple`, at least `minimum`, at most `maximum`, where it is a size; floats and pointers leave these alone."""

    name: str
    offset: int
    size: int = 4
    multiple: int = 0
    minimum: int = 0
    maximum: int = 2**31 - 1


@dataclass(frozen=True, slots=True)
class Facts:
    """What is assumed of a launch.

    arguments: those of the kernel; parts of the argument segment that none covers are unknowns by their offset.
    groups:    axis ("x", "y", "z") -> (argument, tile): workgroup ids are below argument / tile.
    products:  ((argument, argument), limit): their product is at most limit.
    block:     work-items of a workgroup, in x only; None where that is not known.
    given:     bytes of the argument segment that are known, by offset.
    grid:      workgroups along x, y and z; None where they are not known.
    """

    arguments: tuple[Argument, ...] = ()
    groups: tuple[tuple[str, tuple[str, int]], ...] = ()
    products: tuple[tuple[tuple[str, str], int], ...] = ()
    block: int | None = None
    given: Mapping[int, int] = field(default_factory=dict, hash=False)
    grid: tuple[int, int, int] | None = None

    def sentences(self) -> tuple[str, ...]:
        """The assumptions in words."""
        sizes = [a for a in self.arguments if a.multiple]
        out = []
        if sizes:
            out.append(
                ", ".join(
                    f"{a.name} is a positive multiple of {a.multiple}" if a.multiple > 1 else f"{a.name} is positive"
                    for a in sizes
                )
            )
        if self.groups:
            out.append(", ".join(f"workgroup {axis} < {name}/{tile}" for axis, (name, tile) in self.groups))
        if self.products:
            out.append(", ".join(f"{'*'.join(names)} <= {_power(limit)}" for names, limit in self.products))
        if self.block is not None:
            out.append(f"all {self.block} work-items of a workgroup are active, in x")
        return tuple(out)


def _power(n: int) -> str:
    return f"2^{n.bit_length() - 1}" if n & (n - 1) == 0 else str(n)


def names(a: Kernel, b: Kernel) -> tuple[str, str]:
    """What to call the two: by their names, or by their files where the names do not tell them apart."""
    return (a.name, b.name) if a.name != b.name else (a.program.called, b.program.called)
