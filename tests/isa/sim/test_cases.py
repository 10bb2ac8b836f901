"""Edge semantics: `cases/*.txt` hold registers before, instructions, and registers after, a case a line."""

import ctypes
import functools
import re
import struct
from pathlib import Path

import programs
import pytest

from isa.asm.parse import parse_instruction
from isa.registers import parse_register
from isa.semantics.execute import execute
from isa.semantics.float_mode import FloatMode
from isa.sim.run.card import Card
from isa.sim.run.interpret import AddressedCode, Buffers, Wave

CASES = [
    pytest.param(line, id=f"{file.stem}:{number}")
    for file in sorted((Path(__file__).parent / "cases").glob("*.txt"))
    for number, line in enumerate(file.read_text().splitlines(), 1)
    if "|" in line and not line.startswith("#")
]
WHOLE = re.compile(r" \| ")


def _words(text):
    """`name=value[,value...]` pairs; values as u32."""
    for piece in text.split():
        if piece != "-":
            name, _, values = piece.partition("=")
            yield name, [int(v, 0) & 0xFFFFFFFF for v in values.split(",")]


def _start(text):
    settings = {"exec": [0xFFFFFFFF], "mode": [0xF0], "ieee": [1], "dx10_clamp": [1], "scc": [0]} | dict(_words(text))
    mode = FloatMode.of(settings["mode"][0], bool(settings["dx10_clamp"][0]), bool(settings["ieee"][0]))
    wave = Wave(
        AddressedCode([], 0), Buffers(), bytearray(1024), scratch_bytes=64, mode=mode, exec_=settings["exec"][0]
    )
    wave.scc = bool(settings["scc"][0])
    for name, values in settings.items():
        reg = parse_register(name)
        if reg is not None and reg.is_vgpr:
            wave.vgprs[reg.index, : len(values) if len(values) > 1 else None] = values
        elif reg is not None and reg.file == "s" and name != "exec":
            wave.sgprs[reg.index] = values[0]
    return wave


def _found(wave, name, count):
    reg = parse_register(name)
    assert reg is not None, name
    if reg.is_vgpr:
        row = [int(x) for x in wave.vgprs[reg.index]]
        return row[:count] if count > 1 else row
    return [int(wave.scc) if reg.file == "scc" else int(wave.sgprs[reg.index])]


def _split(case):
    """(registers before, instructions, registers after). `|x|` is a modifier, ` | ` the separator."""
    before, code, after = (part.strip() for part in WHOLE.split(re.sub(r"\s+\| ", " | ", case)))
    return before, code.split(" ; "), after


def _check(name, found, values):
    expected = values if len(values) > 1 else values * len(found)
    assert found == expected, f"{name}: {[hex(x) for x in found]}, expected {[hex(x) for x in expected]}"


@pytest.mark.parametrize("case", CASES)
def test_reference_engine(case):
    before, code, after = _split(case)
    wave = _start(before)
    for text in code:
        execute(wave, parse_instruction(text))
    for name, values in _words(after):
        _check(name, _found(wave, name, len(values)), values)


# --- the same on native code: many cases in one kernel, which stores the registers after each


def _set_up(before, code):
    settings = {"mode": [0xF0], "ieee": [1], "dx10_clamp": [1], "exec": [0xFFFFFFFF], "scc": [0]} | dict(_words(before))
    register = settings["mode"][0] | settings["dx10_clamp"][0] << 8 | settings["ieee"][0] << 9
    yield "s_mov_b32 exec_lo, -1"
    yield f"s_setreg_imm32_b32 hwreg(HW_REG_MODE, 0, 10), {register}"
    yield from (f"v_mov_b32 v{i}, 0" for i in range(8))
    yield from (f"s_mov_b32 s{i}, 0" for i in range(8))
    yield "s_mov_b32 vcc_lo, 0"
    if any("ds_" in text for text in code):
        yield from (f"ds_store_b32 v250, v0 offset:{128 * i}" for i in range(8))
    if any("scratch" in text for text in code):
        yield from (f"scratch_store_b32 off, v0, off offset:{4 * i}" for i in range(16))
    for name, values in settings.items():
        reg = parse_register(name)
        if reg is not None and reg.is_vgpr:
            yield f"v_mov_b32 {name}, {values[0] if len(values) == 1 else 0:#x}"
            if len(values) > 1:
                yield from (f"v_writelane_b32 {name}, {value:#x}, {lane}" for lane, value in enumerate(values))
        elif reg is not None and reg.file == "s" and name != "exec":
            yield f"s_mov_b32 {name}, {values[0]:#x}"
    yield f"s_cmp_eq_u32 0, {0 if settings['scc'][0] else 1}"
    yield f"s_mov_b32 exec_lo, {settings['exec'][0]:#x}"


def _store(after):
    yield "s_cselect_b32 s90, 1, 0"
    yield "s_mov_b32 s91, exec_lo"
    yield "s_mov_b32 exec_lo, -1"
    for name, _ in _words(after):
        source = {"scc": "s90", "exec": "s91"}.get(name, name)
        yield f"v_mov_b32 v251, {source}"
        yield "global_store_b32 v250, v251, s[92:93]"
        yield "s_add_u32 s92, s92, 128"
        yield "s_addc_u32 s93, s93, 0"


CHUNK = 48
"""So many cases make a kernel: LLVM's time grows faster than its input."""


@functools.cache
def _native(chunk):
    """Case -> {register: its 32 lanes} that native code leaves."""
    lines = ["s_load_b64 s[92:93], s[0:1], null", "v_lshlrev_b32 v250, 2, v0"]
    rows = []
    for case in (param.values[0] for param in CASES[chunk * CHUNK : (chunk + 1) * CHUNK]):
        before, code, after = _split(case)
        lines += [*_set_up(before, code), *code, *_store(after)]
        rows += [(case, name) for name, _ in _words(after)]
    image = programs.assembled("\n".join([*lines, "s_endpgm"]), scratch=64, vgprs=256)
    card = Card(capacity=1 << 24)
    buffer = card.memory.allocate(128 * len(rows))
    card.launch(card.load(image).kernels["test"], (1, 1, 1), (32, 1, 1), struct.pack("<Q", buffer))
    words = memoryview(ctypes.string_at(buffer, 128 * len(rows))).cast("I")
    found = {}
    for i, (case, name) in enumerate(rows):
        found.setdefault(case, {})[name] = list(words[32 * i : 32 * i + 32])
    return found


@pytest.mark.parametrize(("number", "case"), [pytest.param(n, *p.values, id=p.id) for n, p in enumerate(CASES)])
def test_native_code(number, case):
    *_, after = _split(case)
    for name, values in _words(after):
        row = _native(number // CHUNK)[case][name]
        _check(name, row[: len(values)] if len(values) > 1 else row, values)
