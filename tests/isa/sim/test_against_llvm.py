"""The reference engine against LLVM's constant folder, which nobody here wrote (`differential/folding.py`).

A NaN is equal to any NaN of its type: which one an operation gives is not said. Where LLVM and the ISA guide disagree,
DIFFER says on what.
"""

import math
import struct
import sys
from collections import Counter
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parent / "differential"))
import assembly
import engines
import folding
from forms import Form
from inputs import draw

from isa.sim.mode import FloatMode

BASE = 1 << 20
# name -> (which of LLVM's answers are another, why ours stand)
DIFFER = {
    "v_med3_f32": (
        lambda sources: any(map(_is_nan32, sources)),
        "with a NaN the ISA guide gives min3 of the sources (16.12, V_MED3_F32); LLVM up to 22 takes the larger of the "
        "first two where the third is the NaN, which its pull requests 139531 and 203822 call wrong",
    )
}


def _is_nan32(bits):
    return math.isnan(struct.unpack("<f", struct.pack("<I", bits))[0])


def _is_nan(type_, bits):
    top = {"half": 0x7C00, "float": 0x7F800000, "double": 0x7FF << 52}.get(type_)
    return top is not None and (bits & (2 * top | (top & -top) - 1 | top) & ((top & -top) - 1 | top)) > top


def _value(row, first, size):
    bits = row(first) | (row(first + 1) << 32 if size == 64 else 0)
    return bits & (1 << size) - 1


def samples(entry, case, seeds):
    """(the question for LLVM, the reference engine's answer) of each lane, in each rounding mode that counts."""
    scalar, size = entry.text.startswith("s_"), folding.bits(entry.result)
    for rounding in range(4) if entry.rounds else (0,):
        mode = FloatMode(round32=rounding, round16_64=rounding)
        for seed in seeds:
            inputs = draw(case, seed, "full", BASE)
            out = engines.run_numpy(case, inputs, mode, BASE)
            for lane in range(1 if scalar else 32):
                before, after = (
                    (lambda n, s=state, lane=lane: int(s.sgprs[n] if scalar else s.vgprs[n, lane]))
                    for state in (inputs, out)
                )
                sources = tuple(_value(before, 16 * n + 16, folding.bits(t)) for n, t in enumerate(entry.types))
                result = int(out.sgprs[106]) >> lane & 1 if entry.result == "i1" else _value(after, 0, size)
                yield (entry, rounding, sources), result


def compare(seeds):
    """(how often LLVM answered, by name; how often it was asked; what differs)."""
    rows = list(folding.entries())
    cases, refused = assembly.cases([Form(entry.name, "plain", entry.text) for entry in rows])
    assert not refused
    found = [s for entry, case in zip(rows, cases, strict=True) for s in samples(entry, case, seeds)]
    answers = folding.fold([question for question, _ in found])
    answered, asked, wrong, excused = Counter(), Counter(), [], Counter()
    for ((entry, rounding, sources), ours), theirs in zip(found, answers, strict=True):
        asked[entry.name] += 1
        answered[entry.name] += theirs is not None
        if theirs is None or ours == theirs or (_is_nan(entry.result, ours) and _is_nan(entry.result, theirs)):
            continue
        if entry.name in DIFFER and DIFFER[entry.name][0](sources):
            excused[entry.name] += 1
        else:
            wrong.append(f"{entry.name} {[hex(s) for s in sources]}, rounding {rounding}: {ours:#x}, LLVM {theirs:#x}")
    return answered, asked, wrong, excused


def test_against_llvm():
    answered, asked, wrong, excused = compare(range(2))
    assert not wrong, "\n".join(wrong[:30])
    assert set(excused) == set(DIFFER), "LLVM agrees now: DIFFER is too long"
    assert len(asked) > 120
    # A signalling NaN, or a root of a negative number, LLVM leaves alone.
    assert not [name for name in asked if answered[name] < asked[name] / 3]


@pytest.mark.slow
def test_much_against_llvm():
    for block in range(10):
        *_, wrong, _ = compare(range(10 + 20 * block, 30 + 20 * block))
        assert not wrong, "\n".join(wrong[:30])
