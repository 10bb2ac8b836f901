"""Translations are kept on disk and in the process, and a damaged one is made again."""

from types import SimpleNamespace

import programs
import pytest

from isa.errors import IsaError
from isa.registers import Reg
from isa.sim.ir import jit, translations
from isa.sim.run import selfcheck, tiers
from isa.sim.run.card import Card
from isa.sim.translate import registers, translate


@pytest.fixture
def made(tmp_path, monkeypatch):
    """How often something was translated, from empty caches on."""
    for baseline in (False, True):
        selfcheck.settled(jit.HostTarget(baseline=baseline))  # which translates, once in a process
    count = []
    real = translate.Translator
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    monkeypatch.setattr(translate, "Translator", lambda *a, **k: count.append(1) or real(*a, **k))
    tiers._recent.clear()
    return count


def version(text="v_mov_b32 v1, v0\ns_endpgm", cpu="native"):
    card = Card(cpu=cpu, capacity=1 << 24)
    kernel = card.load(programs.assembled(text)).kernels["test"]
    return kernel.tiers(card.target, switches=True).version(True)


def test_the_same_code_is_translated_once_in_a_process_and_once_on_disk(made):
    first = version()
    assert version() is first
    assert len(made) == 1
    tiers._recent.clear()
    again = version()
    assert len(made) == 1
    assert (again.sites, again.bails) == (first.sites, first.bails)


def test_other_code_and_another_processor_are_other_translations(made):
    version()
    version("v_mov_b32 v2, v0\ns_endpgm")
    assert len(made) == 2


@pytest.mark.parametrize("file", ["code.o", "facts.json"])
def test_a_damaged_entry_is_made_again(made, tmp_path, file):
    version()
    for path in (tmp_path / "hipgemm" / translations.KIND).glob(f"*/{file}"):
        path.write_bytes(path.read_bytes()[:-9])
    tiers._recent.clear()
    version()
    assert len(made) == 2
    tiers._recent.clear()
    version()
    assert len(made) == 2


def test_a_processor_that_llvm_might_not_know_is_refused():
    with pytest.raises(IsaError, match="host processor 'nonsense'"):
        Card(cpu="nonsense")


@pytest.mark.skipif(not jit.is_x86(), reason="levels of x86-64 are for such machines")
def test_a_processor_that_this_machine_cannot_stand_for_is_refused(monkeypatch):
    """Its code would end the process at the first instruction that is missing."""
    monkeypatch.setattr(jit, "_told", [])
    jit.tell_host_features("+cx16,+popcnt,+sahf,+sse3,+ssse3,+sse4.1,+sse4.2,-avx")
    Card(cpu="x86-64-v2", capacity=1 << 24)
    with pytest.raises(IsaError) as caught:
        Card(cpu="x86-64-v3")
    assert "without avx, avx2" in str(caught.value)
    assert "native, x86-64, x86-64-v2\n" in str(caught.value)


def test_registers_are_written_back_in_the_order_of_their_writes(monkeypatch):
    """Whatever the order of those that are asked for: that of a set differs from process to process."""
    scalars, flushed = registers.Scalars(SimpleNamespace(scalar=None), False), []
    monkeypatch.setattr(scalars, "flush", lambda _: flushed.append([*scalars._dirty]))
    first, second, third = (Reg("s", n) for n in (9, 3, 5))
    for reg in (first, second, third):
        scalars[reg] = None
    scalars.settle([third, first])
    assert flushed == [[first, third]]
    assert [*scalars._dirty] == [second]
