"""What strips load alike is loaded once: the same bits, whichever strips read the same words of LDS."""

import struct

import numpy as np
import programs
import pytest
from texts import texts

from isa.sim.ir.jit import HostTarget
from isa.sim.run.card import Card
from isa.sim.translate import fma_fast_path

(TEXT,) = texts(__file__)
SUMS = [(a, b) for a in (16, 17) for b in range(8, 16)]


def text():
    zeros = "\n".join(f"v_mov_b32 v{20 + i}, 0" for i in range(len(SUMS)))
    sums = "\n".join(f"v_fmac_f32 v{20 + i}, v{a}, v{b}" for i, (a, b) in enumerate(SUMS))
    stores = "\n".join(f"global_store_b32 v1, v{20 + i}, s[4:5] offset:{128 * i}" for i in range(len(SUMS)))
    stores += "\n" + "\n".join(f"global_store_b32 v1, v{b}, s[4:5] offset:{128 * (b + 8)}" for b in range(8, 16))
    return TEXT.format(zeros=zeros, sums=sums, stores=stores)


def run(card, kernel, mode, word, *, fast=True):
    data = np.zeros((24, 32), np.uint32)
    data[0, :2] = mode, word
    (buffer,) = programs.put(card, data)
    card.launch(kernel, (1, 1, 1), (32, 1, 1), struct.pack("<Q", buffer), fast=fast)
    out = programs.held(buffer, data)
    card.memory.free(buffer)
    return out


@pytest.fixture(scope="module")
def subject():
    """The card, the kernel, and how often operands were kept when it was translated."""
    found = []
    real = fma_fast_path.kept
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("XDG_CACHE_HOME", "/dev/null")
        patch.setattr(fma_fast_path, "kept", lambda *given: found.append(real(*given)) or found[-1])
        card = Card(baseline=False, capacity=1 << 24)
        kernel = card.load(programs.assembled(text(), lds=2048, vgprs=40)).kernels["test"]
        run(card, kernel, 0, 0)
    return card, kernel, [one for one in found if one]


def test_the_transposed_words_are_kept(subject):
    _, _, kept = subject
    assert kept
    for one in kept:
        assert sum(line[1].startswith("store <") for line in one.before if isinstance(line, tuple)) == 8


@pytest.mark.parametrize("mode", [0, 1, 2, 3], ids=["all alike", "none follows its like", "pairs", "all differ"])
@pytest.mark.parametrize("word", [0x40490FDB, 0x7FC12345, 0xFF800000], ids=["number", "NaN", "infinity"])
def test_the_same_bits(subject, mode, word):
    card, kernel, _ = subject
    expected = run(card, kernel, mode, word, fast=False)
    assert (run(card, kernel, mode, word) == expected).all()
    assert len(np.unique(expected[16], axis=None)) > 7


def test_another_launch_reads_lds_again(subject):
    """Addresses are those of the launch before; the words are others."""
    card, kernel, _ = subject
    assert (run(card, kernel, 0, 0x3F800000) != run(card, kernel, 0, 0x40000000)).any()
    assert (run(card, kernel, 0, 0x40000000) == run(card, kernel, 0, 0x40000000, fast=False)).all()


@pytest.mark.parametrize("cpu", ["x86-64-v3", "x86-64-v4", "x86-64"])
def test_other_widths(cpu, monkeypatch):
    if not HostTarget(cpu).runs_here:
        pytest.skip(f"this machine cannot run code for {cpu}")
    monkeypatch.setenv("XDG_CACHE_HOME", "/dev/null")
    card = Card(cpu=cpu, baseline=False, capacity=1 << 24)
    kernel = card.load(programs.assembled(text(), lds=2048, vgprs=40)).kernels["test"]
    for mode in range(4):
        assert (run(card, kernel, mode, 0x40490FDB) == run(card, kernel, mode, 0x40490FDB, fast=False)).all()
