"""The device mathematics against MPFR: a sample here, 10^6 random numbers a function with `make test-slow`."""

from pathlib import Path

import pytest

pytest.importorskip("gmpy2", reason="gmpy2 of the extra dev is not installed")
from hipgemm.kernels.compiling import device_libraries
from isa import toolchain
from tools import device_math

pytestmark = pytest.mark.skipif(not list(toolchain.available()), reason="no compiler for gfx11 here")


@pytest.fixture(autouse=True)
def without_amds(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(device_libraries, "_folders", lambda: iter([str(tmp_path)]))


@pytest.mark.parametrize("count", [500, pytest.param(10**6, marks=pytest.mark.slow)])
def test_errors_are_within_the_bounds(count: int) -> None:
    found = list(device_math.measure(device_math.FUNCTIONS, count))
    assert len(found) == sum(len(f.types) for f in device_math.FUNCTIONS)
    over = [f"{type_} {f.name}: {worst}" for f, type_, worst in found if not worst.error <= device_math.bound(f, type_)]
    assert not over, "\n".join(over)


def test_what_was_measured_is_recorded() -> None:
    """A line a function, in their order, with the bound that it has."""
    file = Path(__file__).parents[2] / "docs" / "record" / "device-math.txt"
    rows = [line.split() for line in file.read_text().splitlines()[3:]]
    known = [[type_, f.name, str(device_math.bound(f, type_))] for f in device_math.FUNCTIONS for type_ in f.types]
    assert [[type_, name, bound] for type_, name, _, _, bound in rows] == known
    assert all(float(error) <= float(bound) for _, _, error, _, bound in rows)


def test_a_wrong_result_is_seen() -> None:
    right = next(f for f in device_math.FUNCTIONS if f.name == "sin")
    wrong = device_math.Function("wrong", "sin{f}(x) * (x > 3 ? 1.000001f : 1)", right.exact, (1, 1), types=("float",))
    [(_, _, worst)] = device_math.measure([wrong], 300)
    assert 3 < worst.error < 100


@pytest.mark.parametrize("name", ["sin", "erf", "erfinv", "hypot", "fast_cos"])
def test_a_quick_reference_finds_what_mpfr_finds_among_all(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    chosen = [f for f in device_math.FUNCTIONS if f.name == name]
    worst = []
    for judged in (10**9, 50):
        monkeypatch.setattr(device_math, "JUDGED", judged)
        worst.append([(type_, found) for _, type_, found in device_math.measure(chosen, 2000)])
    assert worst[0] == worst[1]


def test_the_polynomials_are_what_the_tool_writes() -> None:
    pytest.importorskip("mpmath", reason="mpmath of the extra dev is not installed")
    from tools import minimax

    assert minimax.HEADER.read_text() == minimax.text()
