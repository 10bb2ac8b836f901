"""The native code of the cycle model says the same whoever compiled it."""

from __future__ import annotations

import ctypes
import shutil
from pathlib import Path

import numpy as np
import pytest
from texts import texts

from isa import toolchain
from isa.analysis import cfg as control_flow
from isa.asm.parse import parse
from isa.timing import native
from isa.timing.machine import rdna3
from isa.timing.machine.cards import card
from isa.timing.model import engine
from isa.timing.model.run import machine
from isa.timing.native import engine_abi
from isa.timing.trace.decode import decode
from isa.timing.trace.tracer import TracedLaunch, trace

TEXT, DENSE = texts(__file__)


def played() -> tuple[list[int], bytes]:
    """(cycles, instructions issued, workgroups finished) of 5 workgroups in 2 slots, and everything else."""
    cfg = control_flow.of_text(parse(TEXT))
    at = 0x1000_0000
    kernarg = np.array([0x7F0000000000], np.uint64).tobytes()
    launch = TracedLaunch((5, 1, 1), (128, 1, 1), ((0, at), (1, 0)), memory=((at, kernarg + bytes(64)),))
    recorded = trace(cfg, launch)
    numbers = rdna3.values()
    code = decode(cfg, numbers)
    m = machine(numbers, card("7900 XTX"), clock_mhz=2400, cu_mode=True, waves=4, slots=2, busy_cus=1)
    five = np.arange(5)
    level = np.tile([0.3, 0.6, 0.9], (len(cfg), 2, 1))
    work = engine_abi.Work(0 * five, 1, 7 * five, np.zeros((4, len(cfg)), np.int64), level, engine_abi.BROUGHT)
    events = np.zeros((100, 5), np.int64)
    out = engine.run(code, recorded.recorded, work, m, 10**6, events)
    arrays = b"".join(np.ascontiguousarray(x).tobytes() for x in (events, *out[3:7]))
    return list(out[:3]), arrays


COMPILERS = {name: path for name in ("gcc", "clang", "clang-22") if (path := shutil.which(name))}
if zig := toolchain._zig():
    COMPILERS["zig"] = zig


@pytest.mark.parametrize("name", COMPILERS)
def test_every_compiler_gives_the_same(name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "timing.c").write_text(native.source())
    command = [COMPILERS[name], *(["cc", toolchain.UNCHECKED] if name == "zig" else [])]
    flags = [*native.FLAGS, "-shared", "-fPIC"]
    toolchain._run([*command, *flags, str(tmp_path / "timing.c"), "-o", str(tmp_path / "timing.so")], "compile")
    expected = played()
    assert expected[0][1:] == [5 * 4 * (5 + 40 * 12 + 1), 5]
    library = ctypes.CDLL(str(tmp_path / "timing.so"))
    monkeypatch.setattr(native, "_library", lambda: library)
    assert played() == expected


def test_an_array_of_another_type_is_refused() -> None:
    one = np.zeros(1, np.int64)
    with pytest.raises(AssertionError, match="record is int32"):
        native._structure(engine_abi.Work(np.zeros(1, np.int32), 1, one, one, np.zeros((1, 5)), one))


@pytest.mark.parametrize("policy", range(len(engine_abi.POLICIES)))
@pytest.mark.parametrize("cu_mode", [True, False])
def test_bursts_change_nothing(policy: int, cu_mode: bool) -> None:
    """While events are recorded every instruction goes through the walk over waves."""
    cfg = control_flow.of_text(parse(DENSE))
    found = trace(cfg, TracedLaunch((9, 1, 1), (128, 1, 1)))
    numbers = rdna3.values()
    code = decode(cfg, numbers)
    for slots in (1, 3, 6):
        m = machine(
            numbers, card("7900 XTX"), clock_mhz=2400, cu_mode=cu_mode, waves=4, slots=slots, busy_cus=1, policy=policy
        )
        nine, level = np.arange(9), np.zeros((len(cfg), 2, 3))
        work = engine_abi.Work(0 * nine, 1, 0 * nine, np.zeros((4, len(cfg)), np.int64), level, engine_abi.BROUGHT)
        walked, burst = (engine.run(code, found.recorded, work, m, 10**6, np.zeros((n, 5), np.int64)) for n in (1, 0))
        assert walked[:3] == burst[:3]
        assert (walked[3] == burst[3]).all()
