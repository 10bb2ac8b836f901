"""Native steps against NumPy's: runs of float operations, and what proofs say of right and wrong kernels."""

from __future__ import annotations

import dataclasses
import random
from collections.abc import Sequence

import numpy as np
import pytest

from isa.asm.parse import parse, parse_line
from isa.prove.definition import alu, fused, native, prove
from isa.prove.definition.launch import SymbolicLaunch
from isa.prove.definition.memory import SymbolicMemory
from isa.prove.definition.waves import Waves
from isa.semantics.instruction import Instruction

from .edits import faults, replaced
from .test_definition import LAUNCHES, TEXT

VGPRS = 12


def instruction(text: str) -> Instruction:
    found = parse_line(f"\t{text}", "k.s", 0).instruction
    assert found is not None
    return found


def together(texts: Sequence[str]) -> list[tuple[int, object]]:
    insts = [instruction(text) for text in texts]
    return list(fused.fused([(i, alu.decode(inst)) for i, inst in enumerate(insts)], insts))


def waves(seed: int) -> Waves:
    """Those of odd seeds lose signs of zeros."""
    factor = "f16" if seed % 2 else "f32"
    launches = [SymbolicLaunch(32, 32, 1, "0", (1, 1, 1), 96, factor=factor)] * 2
    w = Waves(launches, SymbolicMemory(launches), 64, VGPRS)
    drawn = np.random.default_rng(seed)
    w.v[:] = drawn.integers(0, 1 << 63, w.v.shape, np.uint64)
    w.v[:, 1][drawn.random(w.v[:, 1].shape) < 0.7] = 0  # constants, and zeros among them
    w.v[:, 0][drawn.random(w.v[:, 0].shape) < 0.7] = 0
    w.v[:, 0][drawn.random(w.v[:, 0].shape) < 0.2] = 0x3F800000
    w.s[:VGPRS] = drawn.integers(0, 2, w.s[:VGPRS].shape, np.uint64) << np.uint64(31)
    return w


def drawn(rng: random.Random) -> str:
    a, b, c, d = rng.sample(range(VGPRS), 4)
    x = rng.choice([f"s{a}", f"v{a}", "1.0", "0", "-2.0", "0x80000000"])
    return rng.choice([
        f"v_fmac_f32_e32 v{a}, v{b}, v{c}", f"v_fmac_f32_e32 v{a}, v{a}, v{a}", f"v_fma_f32 v{a}, v{b}, v{c}, v{d}",
        f"v_dual_fmac_f32 v{a}, v{b}, v{c} :: v_dual_fmac_f32 v{d}, v{c}, v{b}",
        f"v_mul_f32_e32 v{a}, {x}, v{c}", f"v_add_f32_e32 v{a}, {x}, v{c}", f"v_mov_b32_e32 v{a}, {x}",
        f"v_fma_f32 v{a}, v{b}, {x}, v{d}", f"v_dual_mul_f32 v{a}, {x}, v{c} :: v_dual_mov_b32 v{d}, v{b}",
    ])  # fmt: skip


@pytest.mark.parametrize("seed", range(8))
def test_a_run_does_what_its_instructions_do(seed: int) -> None:
    rng = random.Random(seed)
    ((_, run),) = together([drawn(rng) for _ in range(20)])
    assert isinstance(run, fused.Fused)
    states = []
    for step in (run, lambda w: [one(w) for _, one in run.steps]):
        w = waves(seed)
        w.select(np.array([[0, 1, 2, 3, 4, 5], [1, 2], [0, 3, 5]][seed % 3]))
        if seed >= 6:  # some lanes are off
            w.mask = np.random.default_rng(seed).random((len(w.numbers), 32)) < 0.5
        step(w)
        states.append((w.v.copy(), w.terms))
    assert (states[0][0] == states[1][0]).all()
    assert states[0][1] == states[1][1] > 0
    assert (states[0][0] != waves(seed).v).any()


@pytest.mark.parametrize(
    "odd",
    [
        "v_dual_fmac_f32 v4, v1, v2 :: v_dual_fmac_f32 v5, v4, v3",  # Y reads what X writes
        "v_fma_f32 v4, -v1, v2, v3",
        "v_mul_f32_e64 v4, v1, v2 clamp",
        "v_mov_b32_dpp v4, v1 row_shl:1 row_mask:0xf bank_mask:0xf",
        "v_add_nc_u32_e32 v4, v1, v2",
        "s_nop 0",
    ],
)
def test_what_is_no_part_of_a_run(odd: str) -> None:
    plain = [f"v_fmac_f32_e32 v{i}, v8, v9" for i in range(4)]
    assert len(together(plain)) == 1
    assert not fused._operations(instruction(odd))
    assert dataclasses.is_dataclass(together([*plain, "v_add_nc_u32_e32 v4, v1, v2", *plain])[2][1])
    assert len(together(plain[:3])) == 3


FAULTS = faults("definition/vector")
EVERY = [name if i % 8 == 0 else pytest.param(name, marks=pytest.mark.slow) for i, name in enumerate(["", *FAULTS])]


@pytest.mark.parametrize("name", EVERY)
def test_a_host_without_a_compiler_says_the_same(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    text = TEXT
    if name:
        where, _, pattern, new = FAULTS[name]
        text = replaced(text, pattern, new, int(where.split()[1]))
    found = []
    for library in (native._library, lambda: None):
        monkeypatch.setattr(native, "_library", library)
        proof = prove(parse(text, "gemm.s"), "gemm", LAUNCHES, whole=False)
        found.append((str(proof), proof.difference, proof.counts))
    assert found[0] == found[1]
