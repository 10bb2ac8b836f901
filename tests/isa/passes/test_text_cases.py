"""What registers hold, and what edits leave, as text cases: assembly and below it what must come out."""

from pathlib import Path

import pytest
from texts import texts

from isa.asm.parse import parse, parse_instruction
from isa.passes.edit import remove_dead
from isa.passes.symbolic.symbolic import PolynomialMachine
from isa.registers import parse_register, s, v

CASES = Path(__file__).parent / "cases"
(FOOTER,) = texts(__file__)


def fresh() -> PolynomialMachine:
    """v0 holds the thread number, below 128, and s[2:3] a pointer."""
    machine = PolynomialMachine()
    machine.hold(s(2, 2), machine.terms.unknown("p", 64, uniform=True))
    machine.registers[v(0)] = machine.terms.unknown("thread", 32, uniform=False, ones=127)
    return machine


@pytest.mark.parametrize("path", sorted((CASES / "values").glob("*.s")), ids=lambda p: p.stem)
def test_values(path: Path) -> None:
    """`; => register = polynomial` holds at that line; a line of assembly after it begins anew."""
    machine, shown = fresh(), False
    for number, line in enumerate(path.read_text().splitlines()):
        if line.startswith("; => "):
            name, _, expected = line.removeprefix("; => ").partition(" = ")
            register = parse_register(name)
            assert register is not None
            value = machine.pair(register) if register.count == 2 else machine[register]
            assert str(value) == expected, f"{path.name}:{number + 1}"
            shown = True
        elif line and not line.startswith(";"):
            if shown:
                machine, shown = fresh(), False
            machine.run(parse_instruction(line, path.name, number))


@pytest.mark.parametrize("path", sorted((CASES / "edit").glob("*.s")), ids=lambda p: p.stem)
def test_remove_dead(path: Path) -> None:
    """The instructions that are left once what is dead has gone."""
    text, _, expected = path.read_text().partition("; =>\n")
    program = remove_dead(parse(text + FOOTER, path.name).kernel())
    left = [line.text for line in program.lines if line.instruction]
    assert left == [line.removeprefix(";") for line in expected.splitlines()]


def test_counts_follow_the_code() -> None:
    text = (CASES / "edit" / "dead.s").read_text().partition("; =>\n")[0]
    kernel = remove_dead(parse(text + FOOTER).kernel()).kernel()
    assert kernel.directive("next_free_vgpr") == 5
    assert kernel.directive("next_free_sgpr") == 4
    shown = [kernel.program.lines[kernel.metadata[key]].text for key in (".vgpr_count", ".sgpr_count")]
    assert shown == ["    .vgpr_count: 5", "    .sgpr_count: 6"]
