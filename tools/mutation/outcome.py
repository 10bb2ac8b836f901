"""Outcomes of mutants: what found each, and the table of them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

Checks = Literal["all", "missed", "none"]
"""Which mutants are launched: all, those that neither linter nor proof found a fault in, none."""


@dataclass(frozen=True)
class Outcome:
    """One mutant and what became of it. verdict, lint, proof, reason: as in `judge.Judgement`, but that the
    verdict counts what the dynamic checker found, too. check: the first rule that is broken, "" for none, None where
    the mutant was not launched."""

    kernel: str
    kind: str
    line: int
    what: str
    verdict: str
    lint: str | None
    proof: str | None
    check: str | None
    reason: str


@dataclass(frozen=True)
class Table:
    """All outcomes, in the order of the mutants, and what the checks say of the originals.

    faults: kernel -> rule -> how many faults the linter finds in the original.  proofs: kernel -> statement.
    checks: kernel -> what a launch of the original breaks, "" for nothing; empty where nothing was launched.
    """

    outcomes: tuple[Outcome, ...]
    faults: dict[str, dict[str, int]]
    proofs: dict[str, str]
    checks: dict[str, str]

    @property
    def survivors(self) -> tuple[Outcome, ...]:
        return tuple(o for o in self.outcomes if o.verdict == "survived")
