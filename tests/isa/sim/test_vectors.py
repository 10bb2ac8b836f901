"""Small recorded programs leave what they must, every word of it, on each engine.

A NaN equals any NaN of its register: hardware, emulator and guide disagree on signs and payloads, and no kernel sees
them. Of what a card gave every bit counts. Programs that are no code of their target are named in
`vectors_differ.json`, with the reason, and must be refused; where a dump is wrong, what a card gives instead stands
there.
All programs run on the reference engine, one in twelve on native code too; all of them do so in the slow run.
"""

import json
import struct
from pathlib import Path

import pytest
import vectors

from isa.errors import IsaError

HERE = Path(__file__).parent

DIFFER = json.loads((HERE / "vectors_differ.json").read_text())
VECTORS = vectors.load()
CASES = [
    pytest.param(
        v,
        run,
        id=f"{v.arch} {v.name}-{name}" if v.arch != "gfx1100" else f"{v.name}-{name}",
        marks=[pytest.mark.slow] * (run is vectors.run_jit and i % 12 != 0),
    )
    for i, v in enumerate(VECTORS)
    for name, run in (("numpy", vectors.run_numpy), ("native", vectors.run_jit))
]


def _is_nan(word):
    return struct.unpack("<f", struct.pack("<I", word))[0] != struct.unpack("<f", struct.pack("<I", word))[0]


@pytest.mark.skipif(not VECTORS, reason="the recorded programs are not on this machine")
@pytest.mark.parametrize(("vector", "run"), CASES)
def test_vector(vector, run):
    name = vector.name.split("#")[0]
    differs = DIFFER.get(f"{vector.arch} {name}", {"instead": {}})
    if isinstance(differs, str):
        with pytest.raises(IsaError):
            _ = vector.instructions
        return
    got, expected = (vector.words(out) for out in (run(vector), vector.out))
    expected |= {where: int(word, 16) for where, word in differs["instead"].items()}
    wrong = [
        f"{where}: got {got[where]:#x}, expected {word:#x}"
        for where, word in expected.items()
        if got[where] != word and (vector.by_card or not (_is_nan(got[where]) and _is_nan(word)))
    ]
    assert not wrong, "\n".join([*wrong, *map(str, vector.instructions)])


@pytest.mark.skipif(not VECTORS, reason="the recorded programs are not on this machine")
def test_exceptions_are_all_there():
    assert set(DIFFER) <= {f"{v.arch} {v.name.split('#')[0]}" for v in VECTORS}
