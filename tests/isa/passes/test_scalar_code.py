"""Code for a kernel's entry computes what its polynomials say: run on numbers, with 64 bits where it must be exact."""

from hypothesis import given
from hypothesis import strategies as st

from isa.asm.parse import parse_instruction
from isa.passes.symbolic.poly import Atom, Poly
from isa.passes.symbolic.scalar_code import EntryCode
from isa.passes.symbolic.symbolic import PolynomialMachine
from isa.registers import Reg, s, v

POINTER = Atom("arg", (0, "p"), uniform=True, wide=True)
N = Atom("arg", (8, "n"), uniform=True, mask=0x7FFFFFFF)
BLOCK = Atom("workgroup_x", (), uniform=True)
THREAD = Atom("thread", (), mask=0x7F)
HERE = parse_instruction("\ts_nop 0")


def code() -> EntryCode:
    machine = PolynomialMachine()
    machine.registers.update({s(15): Poly.of(BLOCK), v(0): Poly.of(THREAD)})
    return EntryCode(machine, HERE, [s(i) for i in range(32, 64)], [v(i) for i in range(1, 32)])


def run(made: EntryCode, numbers: dict[Atom, int]) -> PolynomialMachine:
    """A machine whose registers are numbers, after the code; every value it computes is then a number."""
    machine = PolynomialMachine()
    machine.registers.update({s(15): Poly.const(numbers[BLOCK]).wrap(32), v(0): Poly.const(numbers[THREAD])})
    for target, offset in made.arguments:
        value = numbers[POINTER] if offset == 0 else numbers[N]
        for k, unit in enumerate(target.units()):
            machine.registers[unit] = Poly.const(value >> 32 * k).wrap(32)
    for text in made.setup:
        machine.run(parse_instruction(f"\t{text}"))
    return machine


def number(machine: PolynomialMachine, register: Reg) -> int:
    values = [machine[u].value for u in register.units()]
    assert None not in values, register
    return sum((value or 0) % (1 << 32) << 32 * k for k, value in enumerate(values))


NUMBERS = st.fixed_dictionaries(
    {
        POINTER: st.integers(0, 2**48),
        N: st.integers(0, 2**31 - 1),
        BLOCK: st.integers(0, 2**25),
        THREAD: st.integers(0, 127),
    }
)


@given(NUMBERS, st.integers(0, 2**20), st.integers(0, 2**16), st.booleans())
def test_uniform_addresses_are_exact(numbers: dict[Atom, int], factor: int, constant: int, pointer: bool) -> None:
    product = tuple(sorted((N, BLOCK), key=lambda a: a.name))
    poly = Poly({product: 512, (N,): factor, (): constant, **({(POINTER,): 1} if pointer else {})})
    made = code()
    made.need([poly])
    made.uniform64(poly, s(16, 2))
    expected = 512 * numbers[N] * numbers[BLOCK] + factor * numbers[N] + constant + pointer * numbers[POINTER]
    assert number(run(made, numbers), s(16, 2)) == expected % 2**64


@given(NUMBERS, st.sampled_from([1, 3, 4, 12]))
def test_lane_offsets(numbers: dict[Atom, int], factor: int) -> None:
    rest = Atom("and.b32", (Poly.of(THREAD), Poly.const(7)), mask=7)
    row = Atom("shr.b32", (Poly.of(THREAD), Poly.const(3)), mask=15)
    poly = Poly({(rest,): 4, (row, N): factor})
    made = code()
    made.need([poly])
    made.lane(poly, v(40))
    thread = numbers[THREAD]
    assert number(run(made, numbers), v(40)) == (4 * (thread & 7) + factor * (thread >> 3) * numbers[N]) % 2**32
