"""Code for a kernel's entry computes what its polynomials say: run on numbers, with 64 bits where it must be exact."""

from hypothesis import given
from hypothesis import strategies as st

from isa.algebra.term import Term
from isa.asm.parse import parse_instruction
from isa.passes.symbolic.poly import Poly
from isa.passes.symbolic.scalar_code import EntryCode
from isa.passes.symbolic.symbolic import PolynomialMachine, without_wraps
from isa.registers import Reg, s, v

SETTING = without_wraps()
TERMS = SETTING.terms
POINTER = TERMS.unknown("p", 64, uniform=True)
N = TERMS.unknown("n", 32, uniform=True, ones=0x7FFFFFFF)
BLOCK = TERMS.unknown("workgroup_x", 32, uniform=True)
THREAD = TERMS.unknown("thread", 32, uniform=False, ones=0x7F)
HERE = parse_instruction("\ts_nop 0")


def code() -> EntryCode:
    machine = PolynomialMachine(SETTING)
    machine.registers.update({s(15): BLOCK, v(0): THREAD})
    machine.arguments = {0: TERMS.trunc(POINTER), 4: TERMS.hi(POINTER), 8: N}
    return EntryCode(machine, HERE, [s(i) for i in range(32, 64)], [v(i) for i in range(1, 32)])


def run(made: EntryCode, numbers: dict[Term, int]) -> PolynomialMachine:
    """A machine whose registers are numbers, after the code; every value it computes is then a number."""
    machine = PolynomialMachine(SETTING)
    machine.registers.update({s(15): TERMS.const(numbers[BLOCK], 32), v(0): TERMS.const(numbers[THREAD], 32)})
    for target, offset in made.arguments:
        value = numbers[POINTER] if offset == 0 else numbers[N]
        for k, unit in enumerate(target.units()):
            machine.registers[unit] = TERMS.const(value >> 32 * k, 32)
    for text in made.setup:
        machine.run(parse_instruction(f"\t{text}"))
    return machine


def number(machine: PolynomialMachine, register: Reg) -> int:
    values = [machine.term(u).value for u in register.units()]
    assert None not in values, register
    return sum((value or 0) << 32 * k for k, value in enumerate(values))


NUMBERS = st.fixed_dictionaries(
    {
        POINTER: st.integers(0, 2**48),
        N: st.integers(0, 2**31 - 1),
        BLOCK: st.integers(0, 2**25),
        THREAD: st.integers(0, 127),
    }
)


@given(NUMBERS, st.integers(0, 2**20), st.integers(0, 2**16), st.booleans())
def test_uniform_addresses_are_exact(numbers: dict[Term, int], factor: int, constant: int, pointer: bool) -> None:
    poly = Poly({(N, BLOCK): 512, (N,): factor, (): constant, **({(POINTER,): 1} if pointer else {})})
    made = code()
    made.need([poly])
    made.uniform64(poly, s(16, 2))
    expected = 512 * numbers[N] * numbers[BLOCK] + factor * numbers[N] + constant + pointer * numbers[POINTER]
    assert number(run(made, numbers), s(16, 2)) == expected % 2**64


@given(NUMBERS, st.sampled_from([1, 3, 4, 12]))
def test_lane_offsets(numbers: dict[Term, int], factor: int) -> None:
    rest, row = TERMS.bit_and(THREAD, TERMS.const(7, 32)), TERMS.shr(THREAD, TERMS.const(3, 32))
    poly = Poly({(rest,): 4, (row, N): factor})
    made = code()
    made.need([poly])
    made.lane(poly, v(40))
    thread = numbers[THREAD]
    assert number(run(made, numbers), v(40)) == (4 * (thread & 7) + factor * (thread >> 3) * numbers[N]) % 2**32
