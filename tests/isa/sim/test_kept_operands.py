"""What strips load alike is loaded once: the same bits, whichever strips read the same words of LDS."""

import ctypes
import struct
import sys
from pathlib import Path

import numpy as np
import pytest

from isa.sim.ir.jit import HostTarget
from isa.sim.run.card import Card
from isa.sim.translate import fma_fast_path

sys.path.insert(0, str(Path(__file__).parent))
import programs

# Word i of LDS is f(i); lane l reads 8 words at 16 (l & 7) + 256 ((l >> 3) & mode), and adds up an outer product.
TEXT = """
s_load_b64 s[4:5], s[0:1], 0x0
s_waitcnt lgkmcnt(0)
s_load_b64 s[6:7], s[4:5], 0x0
v_lshlrev_b32 v1, 2, v0
s_waitcnt lgkmcnt(0)
s_mov_b32 s8, 0
v_cvt_f32_u32 v2, v0
v_add_f32 v2, 0.5, v2
v_mov_b32 v3, v1
.Lfill:
ds_store_b32 v3, v2
v_mul_f32 v2, 0xbf8ccccd, v2
v_add_nc_u32 v3, 128, v3
s_add_u32 s8, s8, 1
s_cmp_lg_u32 s8, 12
s_cbranch_scc1 .Lfill
v_mov_b32 v3, s7
ds_store_b32 v1, v3 offset:128
s_waitcnt lgkmcnt(0)
s_barrier
v_lshrrev_b32 v4, 3, v0
v_and_b32 v4, s6, v4
v_lshlrev_b32 v4, 8, v4
v_and_b32 v5, 7, v0
v_lshlrev_b32 v5, 4, v5
v_add_nc_u32 v5, v5, v4
v_lshlrev_b32 v6, 2, v4
v_cvt_f32_u32 v16, v0
v_mov_b32 v17, 0x3f9d70a4
{zeros}
s_mov_b32 s8, 2
.Lsums:
ds_load_b128 v[8:11], v5
ds_load_b128 v[12:15], v5 offset:128
s_waitcnt lgkmcnt(0)
{sums}
s_sub_u32 s8, s8, 1
s_cmp_lg_u32 s8, 0
s_cbranch_scc1 .Lsums
v_lshlrev_b32 v1, 2, v0
{stores}
s_endpgm
"""
SUMS = [(a, b) for a in (16, 17) for b in range(8, 16)]


def text():
    zeros = "\n".join(f"v_mov_b32 v{20 + i}, 0" for i in range(len(SUMS)))
    sums = "\n".join(f"v_fmac_f32 v{20 + i}, v{a}, v{b}" for i, (a, b) in enumerate(SUMS))
    stores = "\n".join(f"global_store_b32 v1, v{20 + i}, s[4:5] offset:{128 * i}" for i in range(len(SUMS)))
    stores += "\n" + "\n".join(f"global_store_b32 v1, v{b}, s[4:5] offset:{128 * (b + 8)}" for b in range(8, 16))
    return TEXT.format(zeros=zeros, sums=sums, stores=stores)


def run(card, kernel, mode, word, *, fast=True):
    out = np.zeros((24, 32), np.uint32)
    buffer = card.memory.allocate(out.nbytes)
    ctypes.memmove(buffer, struct.pack("<II", mode, word), 8)
    card.launch(kernel, (1, 1, 1), (32, 1, 1), struct.pack("<Q", buffer), fast=fast)
    ctypes.memmove(out.ctypes.data, buffer, out.nbytes)
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
