"""Faults put into the text of a kernel, and whether the proof by definition tells them apart."""

from __future__ import annotations

import re
from collections.abc import Callable

from hipgemm.judge import proving
from hipgemm.kernels.ladder import rung
from isa.asm.parse import parse
from isa.errors import IsaError
from isa.gemm.gemv.parameters import GemvParameters
from isa.gemm.matrix.parameters import MatrixParameters
from isa.gemm.names import name_of
from isa.prove.definition import prove
from isa.prove.proof import Proof


def replaced(text: str, pattern: str, new: str, number: int) -> str:
    """The text with one match of the pattern replaced, the first being number 0; it must be another text then."""
    match = list(re.finditer(pattern, text))[number]
    assert match.expand(new) != match[0]
    return text[: match.start()] + match.expand(new) + text[match.end() :]


def quick(p: GemvParameters | MatrixParameters, changed: str) -> Proof:
    """The proof of a generated kernel's text at small sizes."""
    kernel = rung(name_of(p))
    return prove(parse(changed, "changed.s"), kernel.name, proving.launches(kernel))


def is_refused(proof: Callable[[], Proof]) -> bool:
    """Whether a proof fails, or cannot be tried at all."""
    try:
        return not proof().proved
    except IsaError:
        return True
