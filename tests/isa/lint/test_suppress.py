"""Comments that ignore rules."""

from collections.abc import Callable
from pathlib import Path

import pytest

from isa.asm.parse import parse
from isa.errors import Related
from isa.lint import suppress
from isa.lint.lint import lint_program
from isa.lint.registry import RULES

CASES = Path(__file__).parent / "cases" / "suppress"


def show(source: str) -> str:
    program = parse(source, "case.s")
    return "\n".join(map(str, suppress.apply(lint_program(program), program, "lint"))) or "clean"


@pytest.mark.parametrize("path", sorted(CASES.glob("*.s")), ids=lambda p: p.stem)
def test_case(path: Path, text_case: Callable[[Path, Callable[[str], str]], None]) -> None:
    text_case(path, show)


def test_a_place_among_several_leaves_the_finding() -> None:
    program = parse("\ts_nop 0\n\ts_nop 1 ; hipgemm: ignore WAIT001\n\ts_nop 2\n", "k.s")
    one, two, three = (program.span(n) for n in range(3))

    def left(first, *others):
        found = RULES["WAIT001"].found("wait", first, related=tuple(Related("", span) for span in others))
        return [[f.span, *(r.span for r in f.related)] for f in suppress.apply([found], program, "lint")]

    assert left(one, two, three) == [[one, three]]
    assert left(two, one, three) == [[one, three]]
    assert left(two) == []


def test_what_was_not_looked_at_holds_no_unused_comment() -> None:
    program = parse("\ts_nop 0 ; hipgemm: ignore WAIT001\n", "k.s")
    assert [f.id for f in suppress.apply([], program, "lint", {1})] == ["SUP001"]
    assert suppress.apply([], program, "lint", {2}) == []
    assert suppress.apply([], program, "check") == []
