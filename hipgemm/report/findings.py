"""Report of findings and proofs: findings -> what the command line prints, and HTML for a notebook."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from hipgemm.report.pages import part
from isa.display import number_of

if TYPE_CHECKING:
    from hipgemm.raw_kernel import Findings
    from isa.errors import Finding
    from isa.prove.proof import Proof


def text(found: Findings) -> str:
    """All of them, then how many."""
    return "\n".join([*map(str, found), counted(found)])


def html(found: Findings) -> str:
    """A row for each: its place, and the rest of what the command line prints."""
    rows = [(str(f.user_place or f.where), str(f)) for f in found]
    return part("messages", counted(found), rows, any(f.severity == "fault" for f in found))


def proof(shown: Proof) -> str:
    """Its verdict, and all that the command line prints."""
    return part("messages", shown.verdict, [("", str(shown))], shown.verdict == "different")


def counted(found: Sequence[Finding]) -> str:
    """How many of either kind."""
    faults = sum(f.severity == "fault" for f in found)
    return f"{number_of(faults, 'fault')}, {number_of(len(found) - faults, 'note')}"
