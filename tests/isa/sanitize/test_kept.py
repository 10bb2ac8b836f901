"""What was compiled for a check is kept on disk: the same check in another process compiles nothing."""

from pathlib import Path

import programs
import pytest

from isa import toolchain
from isa.sanitize import hooks, observe
from isa.sim.ir import jit
from isa.sim.run.card import Card

BODY = """
    s_mov_b32 s6, s7
    v_cmp_gt_u32_e32 vcc_lo, 8, v0
    s_and_saveexec_b32 s6, vcc_lo
    v_not_b32_e32 v2, v1
    v_cmpx_ne_u32_e32 0, v2
    s_endpgm
"""


def check(image: bytes) -> list[str]:
    """As a process that begins does: nothing is known yet of hooks and kernel."""
    hooks.addresses.cache_clear()
    card = Card(capacity=1 << 24)
    found = observe(card, card.load(image).kernels["test"], (1, 1, 1), (32, 1, 1), bytes(8), schedules=1).findings
    return [f.message for f in found]


def test_a_second_process_compiles_nothing(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    image = programs.linked(programs.source(BODY))
    compiled = []
    compile_ = jit._compile
    monkeypatch.setattr(jit, "_compile", lambda *a, **k: compiled.append(a[0]) or compile_(*a, **k))
    library = toolchain.build_host_library
    monkeypatch.setattr(toolchain, "build_host_library", lambda *a: compiled.append(a[0].name) or library(*a))
    first = check(image)
    made = len(compiled)
    assert made >= 3, "the hooks, the fast version and the plain one"
    assert "hooks.c" in compiled
    assert "v_not_b32_e32 reads v1" in first[0]
    assert check(image) == first
    assert len(compiled) == made
