"""Waves of 64 lanes: how often an instruction issues, what its two passes take, which addresses its halves touch."""

from __future__ import annotations

import struct
from itertools import pairwise
from pathlib import Path
from typing import ClassVar

import numpy as np
import programs
import pytest
import reference_engine
from texts import texts

from isa import toolchain
from isa.analysis import cfg as control_flow
from isa.analysis import exec_mask
from isa.asm.parse import parse, parse_instruction
from isa.errors import IsaError
from isa.object import code_object
from isa.sim.run import interpret
from isa.timing.machine import rdna3
from isa.timing.machine.cards import card
from isa.timing.machine.coalescing import PHASES
from isa.timing.machine.wave64 import WAVE32, Wave, issues
from isa.timing.model import engine, predict
from isa.timing.model.run import machine
from isa.timing.native import engine_abi
from isa.timing.trace import tracer
from isa.timing.trace.decode import decode
from isa.timing.trace.emitter import Emitter
from isa.timing.trace.tracer import TracedLaunch, trace

WAVE64, LOWER = Wave.of(64, 256), Wave.of(64, 32)
INCLUDE = Path(__file__).parents[3] / "kernels_hip" / "include"
# instruction | passes: all lanes, none in the upper half of any wave | cycles of the VALU | from the first to a result
CASES = texts(__file__)[0].strip().splitlines()


def of_text(text: str) -> control_flow.Cfg:
    return control_flow.of_text(parse(text + "\ns_endpgm\n"))


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.split("|")[0].strip())
def test_how_often_an_instruction_issues(case: str) -> None:
    """By the ISA guide, 3.2.3 and 7.6, and ACO's list of what both halves do at once."""
    text, twice, once, cycles, result = (part.strip() for part in case.split("|"))
    inst = parse_instruction(text)
    assert (issues(inst, WAVE32), issues(inst, WAVE64), issues(inst, LOWER)) == (1, int(twice), int(once))
    if cycles:
        code = decode(of_text(text), rdna3.values(), wave=WAVE64)
        assert (code.passes[0], code.passes[0] - 1 + code.latency[0]) == (int(cycles), int(result))


def test_a_dual_instruction_is_refused() -> None:
    """The hardware skips it: its time as two or as one would be that of a wrong kernel."""
    text = "v_dual_mov_b32 v0, v1 :: v_dual_mov_b32 v3, v2"
    decode(of_text(text), rdna3.values())
    with pytest.raises(IsaError, match="skips v_dual"):
        decode(of_text(text), rdna3.values(), wave=WAVE64)


def cycles(text: str, wave: Wave, **numbers: float) -> float:
    """From the first issue to the end, of one wave that holds a SIMD."""
    cfg, values = of_text(text), rdna3.values(icache_miss_ns=0, **numbers)
    recorded = trace(cfg, TracedLaunch((1, 1, 1), (wave.lanes, 1, 1), lanes=wave.lanes)).recorded
    m = machine(values, card("7900 XTX"), clock_mhz=2500, cu_mode=True, waves=1, slots=1, busy_cus=1, wave=wave)
    one, in_memory = np.zeros(1, np.int64), np.zeros((len(cfg), 2, 3))
    work = engine_abi.Work(one, 1, one, np.zeros((1, len(cfg)), np.int64), in_memory, engine_abi.BROUGHT)
    events = np.zeros((10_000, 5), np.int64)
    count = engine.run(decode(cfg, values, wave=wave), recorded, work, m, 10**6, events)[-1]
    return events[count - 2, 4] - events[0, 4]  # before s_endpgm


@pytest.mark.parametrize(
    ("inst", "in32", "in64"),
    [
        ("v_fma_f32 v{0}, v1, v2, v3", 1, 1), ("v_xor_b32_e32 v{0}, v1, v2", 1, 2), ("v_exp_f32_e32 v{0}, v1", 4, 8),
        ("v_mul_lo_u32 v{0}, v1, v2", 4, 8), ("v_wmma_i32_16x16x16_iu8 v[0:{1}], v[8:11], v[13:16], v[0:{1}]", 32, 32),
        ("v_fma_f32 v4, v4, v2, v3", 5, 5), ("v_xor_b32_e32 v4, v4, v2", 5, 6),
    ],
)  # fmt: skip
def test_cycles_of_many(inst: str, in32: int, in64: int) -> None:
    """What ACO counts of independent ones, and of chains."""
    for wave, expected, count in (WAVE32, in32, 7), (WAVE64, in64, 3):
        text = "\n".join(inst.format(40 + i % 20, count) for i in range(101))
        assert cycles(text, wave) == 100 * expected


def test_masks_of_64_lanes_are_pairs() -> None:
    """The compiler's patterns, and what spoils them: a write of one half."""
    text = """
s_and_saveexec_b64 s[2:3], vcc
s_xor_b64 s[2:3], exec, s[2:3]
s_or_saveexec_b64 s[2:3], s[2:3]
s_xor_b64 exec, exec, s[2:3]
s_or_b64 exec, exec, s[2:3]
s_and_saveexec_b64 s[4:5], vcc
s_or_b64 exec, exec, s[4:5]
s_mov_b32 exec_hi, 1
s_mov_b64 exec, -1
"""
    full = exec_mask.analyse(of_text(text.strip()), 64).full
    assert full == (True, False, False, True, False, True, False, True, False, True)


ARGUMENTS = struct.pack("<QQi", 1 << 40, 1 << 41, 6)


class Judged(interpret.Wave):
    """The reference engine, which notes what it touches: (instruction, half, lanes and their addresses)."""

    made: ClassVar[list[Judged]] = []

    def __init__(self, *arguments, **named) -> None:
        super().__init__(*arguments, **named)
        self.seen: list[tuple] = []
        self.made.append(self)

    def touched(self, at):
        lanes = super().touched(at)
        self.seen.append((at.inst, self.half, lanes, at.bytes))
        return lanes


def compiled() -> bytes:
    source = Path(__file__).parent / "compiled" / "waves.hip"
    return programs.compiled(source, ("-O2", "-mwavefrontsize64"), True, INCLUDE)


def assembled(body: str) -> bytes:
    text = programs.source(body, scratch=64).replace(".amdhsa_wavefront_size32 1", ".amdhsa_wavefront_size32 0")
    return programs.linked(text.replace("size: 32\n", "size: 64\n"))


def spills() -> bytes:
    """Addresses that go through scratch, in lanes of both halves."""
    return assembled("""
s_load_b64 s[4:5], s[0:1], 0x0
v_and_b32 v0, 0x3ff, v0
v_lshlrev_b32 v2, 3, v0
v_mul_u32_u24 v3, 36, v0
scratch_store_b64 off, v[2:3], off offset:16
v_mov_b32 v3, 0
v_cmp_lt_u32 vcc, 37, v0
s_and_saveexec_b64 s[8:9], vcc
scratch_load_b32 v2, off, off offset:20
s_or_b64 exec, exec, s[8:9]
s_waitcnt vmcnt(0) lgkmcnt(0)
global_load_b96 v[4:6], v2, s[4:5]
s_endpgm""")


def across() -> bytes:
    """Addresses from what one half knows of the other."""
    return assembled("""
s_load_b64 s[4:5], s[0:1], 0x0
v_and_b32 v0, 0x3ff, v0
v_lshlrev_b32 v1, 4, v0
v_readlane_b32 s6, v1, 41
v_permlane64_b32 v2, v1
v_mbcnt_lo_u32_b32 v3, -1, 0
v_mbcnt_hi_u32_b32 v3, -1, v3
v_lshlrev_b32 v3, 5, v3
v_writelane_b32 v3, s6, 40
v_cmp_lt_u32 vcc, 34, v0
s_and_saveexec_b64 s[8:9], vcc
s_cbranch_execz .Lnone
v_readfirstlane_b32 s7, v1
v_add_nc_u32 v2, s7, v2
.Lnone:
s_or_b64 exec, exec, s[8:9]
v_add_nc_u32 v2, s6, v2
v_cmpx_ne_u32 5, v0
s_waitcnt lgkmcnt(0)
global_load_b32 v4, v2, s[4:5]
global_load_b32 v5, v3, s[4:5]
s_endpgm""")


@pytest.mark.skipif(not list(toolchain.available()), reason="no compiler for gfx11 here")
@pytest.mark.parametrize("broken", [False, True])
@pytest.mark.parametrize(("made", "name"), [(compiled, "ways"), (spills, "test"), (across, "test")])
@pytest.mark.parametrize("items", [256, 72])
def test_addresses_are_those_of_the_reference(made, name: str, items: int, broken: bool, monkeypatch) -> None:
    """Each wave's sectors and LDS cycles from what the NumPy engine touches when it runs the kernel on data; a tracer
    that takes the lower half's EXEC for both is found out."""
    code = code_object.load(made())
    memory = interpret.Buffers()
    for base in (1 << 40, 1 << 41):
        memory.add(base, bytearray(1 << 19))
    monkeypatch.setattr(Judged, "made", [])
    monkeypatch.setattr(interpret, "Wave", Judged)
    kernel = code.kernel(name)
    given = ARGUMENTS if name == "ways" else ARGUMENTS[:8]
    reference_engine.launch(code, name, memory, (1, 1, 1), (items, 1, 1), given)
    if broken:
        monkeypatch.setattr(Emitter, "exec_mask", lambda self: self.read_sgpr(126).lanes())
    tracer._code.cache_clear()
    found = trace(predict.cfg_of(code, kernel), predict.launch_of(kernel, (1, 1, 1), (items, 1, 1), given)).recorded
    tracer._code.cache_clear()
    same = all(_as_touched(found, row, wave.seen) for row, wave in enumerate(Judged.made))
    assert len(found.mem_at) - 1 == len(Judged.made) == -(-items // 64)
    assert same != broken


def _as_touched(found: engine_abi.Recorded, row: int, touched: list[tuple]) -> bool:
    sectors, lds = [], []
    for inst, half, lanes, size in touched:
        if inst.desc.access.space == "lds":
            cycles = _lds_cycles(dict(lanes), size // 4)
            lds = [*lds, cycles] if half == 0 else [*lds[:-1], lds[-1] + cycles]
            continue
        if inst.desc.access.space == "scratch":
            words = [(lane, a // 4 + word) for word in range(size // 4) for lane, a in lanes]
            lanes, size = [(lane, (word * 64 + 32 * half + lane) * 4) for lane, word in words], 4
        mine = sorted({(a + byte) // 32 for _, a in lanes for byte in (0, size - 1)})
        sectors = [*sectors, mine] if half == 0 else [*sectors[:-1], sectors[-1] + mine]
    at = found.sector_at[found.mem_at[row] : found.mem_at[row + 1] + 1]
    mine = [found.sectors[a:b].tolist() for a, b in pairwise(at)]
    return mine == sectors and found.lds[found.lds_at[row] : found.lds_at[row + 1]].tolist() == lds


def _lds_cycles(addresses: dict[int, int], dwords: int) -> int:
    """Lanes of a phase take turns at a bank, unless they want one word of it."""
    group, order = PHASES[dwords]
    total = 0
    for begin in range(0, 32, group):
        words = {addresses[k] // 4 + d for k in order[begin : begin + group] if k in addresses for d in range(dwords)}
        total += max((sum(w % 32 == bank for w in words) for bank in range(32)), default=0)
    return max(total, 1)
