"""The reference engine against LLVM's constant folder, which nobody here wrote (`differential/folding.py`).

A NaN is equal to any NaN of its type: which one an operation gives is not said. Where LLVM and the ISA guide disagree,
DIFFER says on what.
"""

from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass

import assembly
import engines
import folding
import pytest
from forms import Form
from inputs import draw

from isa.semantics.float_mode import FloatMode

BASE = 1 << 20
PLUS, MINUS, ONE, INFINITY, MINUS_INFINITY, NAN = 0, 0x80000000, 0x3F800000, 0x7F800000, 0xFF800000, 0x7FC00000


@dataclass(frozen=True)
class Difference:
    """Where LLVM's answer is another: applies(sources, ours, LLVM's). example: sources of one such case."""

    applies: Callable[[tuple[int, ...], int, int], bool]
    why: str
    example: tuple[int, ...]


def _is_denormal(bits):
    return bits & 0x7FFFFFFF != 0 and bits & 0x7F800000 == 0


_FLUSHED = Difference(
    lambda sources, ours, theirs: (
        (_is_denormal(sources[0]) or _is_denormal(theirs)) and ours & 0x7FFFFFFF in (PLUS, INFINITY)
    ),
    "the card flushes denormals here in any mode (ISA guide 16.8, V_RCP_F32, V_SQRT_F32); LLVM keeps them, which its "
    "pull request 211017 calls wrong for v_rcp_f32; the root is that of llvm.sqrt, which is not the instruction's",
    (0x00600000,),
)


def _last_bit(example):
    return Difference(
        lambda sources, ours, theirs: abs(ours - theirs) == 1,
        "a gfx1100's last bit is another one than that of the exact value, rounded (recorded: cases/card.txt)",
        (example,),
    )


DIFFER = {
    "v_rcp_f32": [_FLUSHED, _last_bit(0x3F83FFFF)],
    "v_sqrt_f32": [_FLUSHED, _last_bit(0x3F7A2707)],
    "v_fma_dx9_zero_f32": [
        Difference(
            lambda sources, ours, theirs: any(map(_is_denormal, sources)),
            "a gfx1100 takes denormals for zeros here in any mode (recorded: cases/card.txt)",
            (0x00000001, 0x4B000000, 0x00000000),
        ),
        Difference(
            lambda sources, ours, theirs: (
                (_is_denormal(theirs) or theirs & 0x7FFFFFFF == 0x00800000)
                and ours == theirs & MINUS
                and not any(map(_is_denormal, sources))
            ),
            "a gfx1100 drops denormal results here in any mode (recorded: cases/card.txt)",
            (0x00800000, 0x3F000000, 0x00000000),
        ),
    ],
    "v_med3_f32": [
        Difference(
            lambda sources, ours, theirs: (
                any(_is_nan("float", bits) for bits in sources) and MINUS_INFINITY in sources and ours == MINUS_INFINITY
            ),
            "with a NaN the ISA guide gives min3 of the sources (16.12, V_MED3_F32); LLVM 22 looks at an infinity "
            "first and gives the greater of the others, which its pull request 216970 calls a miscompilation",
            (ONE, MINUS_INFINITY, NAN),
        ),
        Difference(
            lambda sources, ours, theirs: {PLUS, MINUS} <= set(sources) and (ours, theirs) == (MINUS, PLUS),
            "the card sorts -0 below +0, so that -0 is the median of -0, -0 and +0, and of a negative number, -0 and "
            "+0; LLVM 22 gives +0, which its pull request 201896 mends. The ISA guide's formula compares with the "
            "maximum and does not say whether -0 equals +0 there",
            (MINUS, ONE | MINUS, PLUS),
        ),
    ],
}


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
    answered, asked, wrong = Counter(), Counter(), []
    for ((entry, rounding, sources), ours), theirs in zip(found, answers, strict=True):
        asked[entry.name] += 1
        answered[entry.name] += theirs is not None
        if theirs is None or ours == theirs or (_is_nan(entry.result, ours) and _is_nan(entry.result, theirs)):
            continue
        if not any(known.applies(sources, ours, theirs) for known in DIFFER.get(entry.name, ())):
            wrong.append(f"{entry.name} {[hex(s) for s in sources]}, rounding {rounding}: {ours:#x}, LLVM {theirs:#x}")
    return answered, asked, wrong


def test_against_llvm():
    answered, asked, wrong = compare(range(2))
    assert not wrong, "\n".join(wrong[:30])
    assert len(asked) > 120
    # A signalling NaN, or a root of a negative number, LLVM leaves alone.
    assert not [name for name in asked if answered[name] < asked[name] / 3]


@pytest.mark.parametrize(("name", "known"), [(name, known) for name, rows in DIFFER.items() for known in rows])
def test_differences(name, known):
    """DIFFER is not too long: LLVM differs on each example, and the example needs its own row."""
    entry = next(entry for entry in folding.entries() if entry.name == name)
    (case,), _ = assembly.cases([Form(name, "plain", entry.text)])
    inputs = draw(case, 0, "full", BASE)
    for n, bits in enumerate(known.example):
        inputs.vgprs[16 * n + 16] = bits
    ours = int(engines.run_numpy(case, inputs, FloatMode(), BASE).vgprs[0, 0])
    (theirs,) = folding.fold([(entry, 0, known.example)])
    assert theirs != ours
    assert [row for row in DIFFER[name] if row.applies(known.example, ours, theirs)] == [known]


@pytest.mark.slow
def test_much_against_llvm():
    for block in range(10):
        *_, wrong = compare(range(10 + 20 * block, 30 + 20 * block))
        assert not wrong, "\n".join(wrong[:30])
