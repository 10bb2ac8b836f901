"""Edge semantics: `cases/*.txt` hold registers before, instructions, and registers after, a case a line."""

import re
from pathlib import Path

import pytest

from isa.parse import parse_instruction
from isa.registers import parse_register
from isa.sim.execute import execute
from isa.sim.interpret import Code, Memory, Wave
from isa.sim.mode import FloatMode

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
    wave = Wave(Code([], 0), Memory(), bytearray(1024), scratch_bytes=64, mode=mode, exec_=settings["exec"][0])
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


@pytest.mark.parametrize("case", CASES)
def test_case(case):
    # `|x|` is a modifier, ` | ` the separator.
    before, code, after = (part.strip() for part in WHOLE.split(re.sub(r"\s+\| ", " | ", case)))
    wave = _start(before)
    for text in code.split(" ; "):
        execute(wave, parse_instruction(text))
    for name, values in _words(after):
        found = _found(wave, name, len(values))
        expected = values if len(values) > 1 else values * len(found)
        assert found == expected, f"{name}: {[hex(x) for x in found]}, expected {[hex(x) for x in expected]}"
