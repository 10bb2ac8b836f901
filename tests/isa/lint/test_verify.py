"""The verifier, as text cases: `cases/verify/*.s` hold a program and below it what is wrong with it."""

from collections.abc import Callable
from pathlib import Path

import pytest

from isa.asm.parse import parse
from isa.asm.program import Program
from isa.errors import IsaError
from isa.lint import verify

CASES = Path(__file__).parent / "cases" / "verify"


def show(source: str) -> str:
    kernel = parse(source, "case.s").kernel()
    try:
        return "\n".join(map(str, verify.findings(kernel))) or "legal"
    except IsaError as e:
        return f"refused: {e}"


@pytest.mark.parametrize("path", sorted(CASES.glob("*.s")), ids=lambda p: p.stem)
def test_case(path: Path, text_case: Callable[[Path, Callable[[str], str]], None]) -> None:
    text_case(path, show)


def test_verify_stops_at_the_first_broken_rule() -> None:
    def program(name: str) -> Program:
        return parse((CASES / name).read_text().partition(";; expect\n")[0], name)

    with pytest.raises(IsaError, match=r"counts.s:\d+:\d+: the code uses 12 VGPRs, the descriptor gives 8"):
        verify.verify(program("counts.s"))
    verify.verify(program("legal.s"), "k")
