"""Every described instruction, on random and edge inputs, leaves the same bits on NumPy bodies and on native code.

The forms of an instruction come from its description (`differential/forms.py`), what it begins with from the roles of
its operands (`inputs.py`); `compare.py` says what equal means. Here each key of the table runs in its plain form, with
every addressing, and with a few of its other forms, under three patterns of EXEC, in one of the ways that code is made
(WAYS), floats in two; the slow test takes all forms and patterns, more seeds and more modes.
"""

import random
import zlib

import assembly
import forms
import pytest
import run
from inputs import EXECS, draw

from isa.instructions import table
from isa.semantics.float_mode import FloatMode
from isa.sim.ir.jit import HostTarget
from isa.sim.translate.translate import Translator

GROUPS = 8
# Good code, as launches go on in it; and baseline code, as they begin with: of functions of a wave, or of a strip.
WAYS = ("good", "wave", "good", "strip")
# So many forms of a kind an instruction has here; all of them where nothing is said.
FEW = {"scalar": 1, "overlap": 1, "vop3": 1, "halves": 1, "packed": 2, "dpp": 1, "vopd": 4, "format": 3}
MODES = [
    FloatMode(denormal32=0, denormal16_64=0, ieee=False, dx10_clamp=False),
    FloatMode(round32=1, round16_64=2, denormal32=1, denormal16_64=2),
    FloatMode(round32=2, round16_64=3, denormal32=2, denormal16_64=1, ieee=False),
    FloatMode(round32=3, round16_64=1, denormal32=0, denormal16_64=3, dx10_clamp=False),
]
# Keys that neither engine takes, and why. What the assembler knows and the engines run must not stand here.
NOT_DRIVEN = {
    "s_sendmsg_rtn_b32": "what this message returns is not simulated",
    "s_setreg_b32": "MODE from an SGPR is not simulated",
}
# It waits for other workgroups, of which there are none here: test_grid_barrier.py has it.
ALONE = {"ds_gws_barrier"}


def number_of(text):
    return zlib.crc32(text.encode())


def forms_of(group=None, kinds=None, few=()):
    """The forms of a group's keys that the assembler takes: of `kinds` only where that is given, at most few[kind] of
    each key and kind, drawn by the key's name."""
    rows = {}
    wanted = [f for f in forms.forms() if f.key not in ALONE and (group is None or number_of(f.key) % GROUPS == group)]
    for form in assembly.taken([f for f in wanted if kinds is None or f.kind in kinds]):
        rows.setdefault((form.key, form.kind), []).append(form)
    found = []
    for (key, kind), row in rows.items():
        start, count = number_of(key) % len(row), dict(few).get(kind, len(row))
        found += (row[start:] + row[:start])[:count]
    return found


def computes_floats(form):
    return any(r.type in forms.FLOATS or r.type in ("pkf16", "b256") for r in table()[form.key].roles)


def three_patterns(case):
    """All lanes, some, and another one of the patterns of EXEC, by the form."""
    rest = [name for name in EXECS if name not in ("full", "random")]
    return ["full", rest[number_of(case.form.text) % len(rest)], "random"]


def check(forms, seeds, mode, patterns=run.every_pattern, way="good"):
    cases, _ = assembly.cases(forms)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(Translator, "several", 1)
        if way == "strip":
            patch.setattr(Translator, "_may_follow", lambda *_: True)
        tally = run.compare_cases(cases, seeds, mode, HostTarget(baseline=way != "good"), patterns)
    assert not tally.differ, "\n".join([f"{len(tally.differ)} differences", *tally.differ[:20]])
    return tally


@pytest.mark.parametrize("group", range(GROUPS))
def test_instructions(group):
    tally = check(forms_of(group, few=FEW), [0], FloatMode(), three_patterns, WAYS[group % 4])
    keys = {key for key in forms.entries() if number_of(key) % GROUPS == group}
    assert set(tally.driven) >= keys - set(NOT_DRIVEN) - ALONE, "an instruction was not run"


@pytest.mark.parametrize("group", range(GROUPS))
def test_floats_in_another_mode(group):
    """Rounding, denormals, clamp and IEEE mode other than compilers choose."""
    found = forms_of(group, {"plain", "vop3", "packed"}, {"plain": 1, "vop3": 1, "packed": 1})
    check(
        [form for form in found if computes_floats(form)], [1], MODES[group % len(MODES)], three_patterns,
        WAYS[(group + 1) % 4],
    )  # fmt: skip


SMALLEST = {"f16": (10, 15, 1), "f32": (23, 127, 1), "f64": (52, 1023, 2)}
"""Type -> bits of the fraction, bias, registers."""


def _near(rng, type_, exponent):
    fraction, bias, _ = SMALLEST[type_]
    bits = rng.choice([0, 1, (1 << fraction) - 1, (1 << fraction) - 2, rng.getrandbits(fraction)])
    return rng.getrandbits(1) << (fraction + bias.bit_length() + 1) | max(exponent + bias, 0) << fraction | bits


@pytest.mark.parametrize("rounding", range(4))
def test_about_the_smallest_normal_number(rounding):
    """Which results are dropped as denormal: products about the smallest normal number, and sums of one and little."""
    mode, rng = FloatMode(rounding, rounding, 1, 1, ieee=False), random.Random(rounding)
    memory = run.DeviceMemory(1 << 20)
    base = memory.allocate(run.GLOBAL_BYTES)
    wanted = [f"v_{op}_{type_}" for op in ("mul", "fma") for type_ in SMALLEST]
    cases, _ = assembly.cases([f for f in forms.forms() if f.kind == "plain" and f.key in wanted])
    native = run.Native(cases, mode, HostTarget(), memory, base)
    for case in cases:
        type_ = case.form.key[-3:]
        fraction, bias, registers = SMALLEST[type_]
        inputs = draw(case, 0, "full", base)
        for lane in range(32):
            shift = rng.choice([0, -1, -fraction - 1, -fraction - 2])
            numbers = [_near(rng, type_, e) for e in (1 - bias, shift, 1 - bias)]
            for n, x in enumerate(numbers):
                inputs.vgprs[16 * n + 16, lane] = x & 0xFFFFFFFF
                if registers == 2:
                    inputs.vgprs[16 * n + 17, lane] = x >> 32
        expected, found = run.run_numpy(case, inputs, mode, base), native.run(case, inputs, True)
        assert (expected.vgprs[:2] == found.vgprs[:2]).all(), case.form.text
        sizes = {int(x) & (0x7FFF if type_ == "f16" else 0x7FFFFFFF) for x in expected.vgprs[registers - 1]}
        assert 0 in sizes


def test_negated_halves_of_an_fma():
    """LLVM finds a negation after a conversion, and an instruction that negates; a NaN keeps its sign there."""
    found = [form for form in forms.forms() if (form.key, form.kind) == ("v_dot2_f32_f16", "packed")]
    check(found, [2, 3], FloatMode())


def test_what_cannot_be_driven_is_named():
    """NOT_DRIVEN is neither too short nor too long, and every key has a form that the assembler takes."""
    few = {"halves": 1, "vopd": 1, "packed": 1}
    cases, _ = assembly.cases(forms_of(kinds={"plain", *few}, few=few))
    assert {case.form.key for case in cases} == set(forms.entries()) - ALONE
    assert run.not_driven(cases) == NOT_DRIVEN
    kinds = {form.kind for form in forms.forms()}
    assert kinds == {"plain", "memory", "format", "offset", "scalar", "overlap", "vop3", *few, "dpp"}


def test_a_wrong_body_is_found(monkeypatch):
    """The comparison can fail: native code made of another body than the reference's."""
    form = next(f for f in forms.forms() if (f.key, f.kind) == ("v_add3_u32", "plain"))
    (case,), _ = assembly.cases([form])
    native = run.Native

    def wrong(cases, *rest):
        object.__setattr__(table()["v_add3_u32"], "body", lambda a, b, c: a + b - c)
        try:
            return native(cases, *rest)
        finally:
            object.__setattr__(table()["v_add3_u32"], "body", right)

    right = table()["v_add3_u32"].body
    monkeypatch.setattr(run, "Native", wrong)
    assert run.compare_cases([case], [0], FloatMode(), HostTarget()).differ


@pytest.mark.slow
@pytest.mark.parametrize("mode", [FloatMode(), *MODES], ids=lambda m: f"{m.register:#x}")
@pytest.mark.parametrize("group", range(GROUPS))
def test_all_forms(group, mode):
    way = "good" if mode == FloatMode() else WAYS[group % 4]
    found = forms_of(group)
    if mode != FloatMode():
        found = [form for form in found if computes_floats(form)]
    check(found, [2, 3], mode, way=way)
