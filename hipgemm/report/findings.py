"""Findings and proofs for a notebook, and in a terminal as the command line prints them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from hipgemm.report.pages import part

if TYPE_CHECKING:
    from hipgemm.raw_kernel import Findings
    from isa.check.equivalence import Proof


def text(found: Findings) -> str:
    """All of them, then how many."""
    return "\n".join([*map(str, found), _counted(found)])


def html(found: Findings) -> str:
    """A row for each: its place, and the rest of what the command line prints."""
    rows = [(str(f.span or f.where), str(f)) for f in found]
    return part("messages", _counted(found), rows, any(f.severity == "fault" for f in found))


def proof(shown: Proof) -> str:
    """Its verdict, and all that the command line prints."""
    return part("messages", shown.verdict, [("", str(shown))], shown.verdict == "different")


def _counted(found: Findings) -> str:
    faults = sum(f.severity == "fault" for f in found)
    return f"{faults} faults, {len(found) - faults} notes"
