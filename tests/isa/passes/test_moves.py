"""Values that change registers: by bank, and in as few moves as can be."""

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from isa.errors import IsaError
from isa.passes.gemm.bank_balance import parallel_moves, settle
from isa.registers import Reg, parse_register, v

CASES = Path(__file__).parent / "cases"


def blocks(name: str) -> list[tuple[str, str, str]]:
    """(title, input, expectation) of a case file: `# title`, the input, `=>`, what must come out, an empty line."""
    found = []
    for part in (CASES / name).read_text().strip().split("\n\n"):
        title, _, rest = part.partition("\n")
        given_, _, expected = rest.partition("=>")
        found.append((title.removeprefix("# "), given_.strip(), expected.strip()))
    return found


def reg(text: str) -> Reg:
    found = parse_register(text.strip())
    assert found is not None
    return found


@pytest.mark.parametrize(("title", "given_", "expected"), blocks("moves.txt"), ids=lambda x: x[:30])
def test_moves(title: str, given_: str, expected: str) -> None:
    pairs = [(reg(a), reg(b)) for a, b in (p.split("<-") for p in given_.split(",") if p)]
    moves = parallel_moves(pairs)
    assert [f"{'swap' if m.swap else 'mov'} {m.a}, {m.b}" for m in moves] == expected.splitlines(), title


@given(st.permutations(range(12)), st.integers(0, 12))
def test_moves_are_a_parallel_copy(order: list[int], extra: int) -> None:
    """For any permutation, and any with some sources outside of it, each target gets what its source held before."""
    pairs = [(v(i), v(j if j >= extra else j + 20)) for i, j in enumerate(order)]
    holds = {v(i): i for i in range(40)}
    before = dict(holds)
    for m in parallel_moves(pairs):
        holds[m.a], holds[m.b] = holds[m.b], holds[m.a] if m.swap else holds[m.b]
    assert all(holds[t] == before[s] for t, s in pairs)


@given(st.permutations(range(64)))
def test_a_permutation_takes_one_exchange_less_than_its_cycles_hold(order: list[int]) -> None:
    pairs = [(v(i), v(j)) for i, j in enumerate(order)]
    seen: set[int] = set()
    cycles = 0
    for i in range(len(order)):
        cycles += i not in seen
        while i not in seen:
            seen.add(i)
            i = order[i]
    assert len(parallel_moves(pairs)) == len(order) - cycles


@given(st.permutations(range(128)), st.integers(0, 3))
def test_settling_gives_each_value_its_bank_and_moves_few(order: list[int], first: int) -> None:
    old = [v(first + i) for i in order]
    banks = [1, 2, 3, 0] * 32
    new = settle(old, banks, [])
    assert [r.bank for r in new] == banks
    assert sorted(new) == sorted(old)
    wrong = sum(o.bank != b for o, b in zip(old, banks, strict=True))
    moved = [(o, n) for o, n in zip(old, new, strict=True) if o != n]
    assert len(moved) == wrong
    # At least every fourth register that moves ends a cycle, since a cycle over the banks has two to four members.
    assert len(parallel_moves(moved)) <= wrong - wrong // 4


def test_settling_takes_spare_registers_of_a_bank_that_lacks() -> None:
    assert settle([v(0), v(4)], [0, 1], [v(6), v(9)]) == [v(0), v(9)]
    with pytest.raises(IsaError, match="no free register on bank 1"):
        settle([v(0), v(4)], [0, 1], [v(6)])
