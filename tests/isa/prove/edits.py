"""Faults put into the text of a kernel, and whether the proof by definition tells them apart."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

from hipgemm.judge import proving
from hipgemm.kernels.ladder import rung
from isa.asm.parse import parse
from isa.errors import IsaError
from isa.gemm.gemv.parameters import GemvParameters
from isa.gemm.matrix.parameters import MatrixParameters
from isa.gemm.names import name_of
from isa.prove.definition import SymbolicLaunch, prove
from isa.prove.proof import Proof


def faults(name: str) -> dict[str, list[str]]:
    """What each fault of `cases/NAME.txt` is called -> the lines below, as the file's first lines say."""
    found: dict[str, list[str]] = {}
    for line in (Path(__file__).parent / "cases" / f"{name}.txt").read_text().splitlines():
        if line.startswith("    "):
            found[next(reversed(found))].append(line[4:].replace("(nothing)", ""))
        elif not line.startswith("# "):
            found[line] = []
    return found


def replaced(text: str, pattern: str, new: str, number: int) -> str:
    """The text with one match of the pattern replaced, the first being number 0; it must be another text then."""
    match = list(re.finditer(pattern, text))[number]
    assert match.expand(new) != match[0]
    return text[: match.start()] + match.expand(new) + text[match.end() :]


def assert_refused(
    name: str, of: Mapping[str, Sequence[str]], variants: Mapping[str, Any], text: Callable[..., str],
    arch: str = "gfx1100",
) -> None:  # fmt: skip
    """That a fault is not proved: of rows `variant number`, pattern, new."""
    where, pattern, new = of[name]
    variant, number = where.rsplit(" ", 1)
    changed = replaced(text(variants[variant], arch), pattern, new, int(number))
    assert is_refused(lambda: quick(variants[variant], changed, explain=False))


def quick(p: GemvParameters | MatrixParameters, changed: str, *, explain: bool = True) -> Proof:
    """The proof of a generated kernel's text at small sizes."""
    kernel = rung(name_of(p))
    return prove(parse(changed, "changed.s"), kernel.name, proving.launches(kernel), explain=explain)


def is_refused(proof: Callable[[], Proof]) -> bool:
    """Whether a proof fails, or cannot be tried at all."""
    try:
        return not proof().proved
    except IsaError:
        return True


def assert_named(name: str, of: Mapping[str, Sequence[str]], text: str, launches: Sequence[SymbolicLaunch]) -> None:
    """That a fault is told by its kind and in its words: of rows `kind number`, says, pattern, new."""
    where, says, pattern, new = of[name]
    kind, number = where.split()
    proof = prove(parse(replaced(text, pattern, new, int(number)), "gemm.s"), "gemm", launches, whole=False)
    assert proof.verdict == "different", str(proof)
    assert proof.difference is not None
    assert proof.difference.kind == kind, str(proof)
    assert re.search(says, str(proof)), str(proof)
