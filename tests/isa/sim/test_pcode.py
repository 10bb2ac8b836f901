"""The reference engine against AMD's pseudocode of each instruction, run by the evaluator in `pcode/`.

Where they differ a row of `pcode/excuses.txt` says what holds instead, and why; `pcode/coverage.py` names what is not
asked. The texts lie beside the project; without them all of this is skipped.
"""

import functools
import re
from pathlib import Path

import pytest
from forms import entries
from pcode import floats, texts
from pcode.ask import Question, ask
from pcode.coverage import CONVERSION, NO_SGPR, NOT_ASKED, ROUNDING, TIME, by_key, cases, counted, has_value, left_out
from pcode.evaluate import NoValue, condition, program
from pcode.excuses import ALWAYS, EXCUSES
from pcode.values import Value

from isa.instructions import table
from isa.targets import TARGETS

GROUPS = 4
ARCHS = ("gfx1150", "gfx1201")
HERE = Path(__file__).parent
pytestmark = pytest.mark.skipif(texts.PATH is None, reason="AMD's pseudocode is not on this machine")


def wrong(questions):
    """What differs, a line each."""
    return [f"{q}: {line}" for q in questions for line in ask(q)]


def few(plain, *others):
    """The questions of the fast test. A scalar instruction has one value a question, a vector instruction 32; that two
    floats are equal or none is a number comes up rarely."""
    name = plain.form.key
    scalar = 48 if name.endswith(("_f16", "_f32")) else 16
    for seed in range(scalar if name.startswith("s_") else 1 if "wmma" in name else 3):
        yield Question(plain, seed, ("random", "full", "full", "full", "empty")[seed % 5])
    if any(word in name for word in ("min", "max", "med3")):  # their texts ask for the mode
        yield Question(plain, 30, "full", ieee=False)
    halves = [case for case in others if case.form.kind == "halves"]
    others = [case for case in others if case.form.kind != "halves"] + halves[:: max(len(halves) - 1, 1)]
    yield from (Question(case, 40 + n, ("dense", "full")[n % 2]) for n, case in enumerate(others))


@pytest.mark.parametrize("group", range(GROUPS))
@pytest.mark.parametrize("arch", ARCHS)
def test_instructions(arch, group):
    """Each entry in its plain form with several operands, in its other forms once."""
    rows = by_key(cases(arch, GROUPS, group))
    differ = wrong(question for found in rows.values() for question in few(*found))
    assert not differ, "\n".join([f"{len(differ)} differences", *differ[:30]])
    keys = {key for key in entries(arch) if sum(map(ord, key)) % GROUPS == group}
    assert set(rows) == {key for key in keys if not left_out(key)}


@pytest.mark.slow
@pytest.mark.parametrize("group", range(GROUPS))
@pytest.mark.parametrize("arch", ARCHS)
def test_much(arch, group):
    """Every form, with many more operands."""
    patterns = ("full", "random", "full", "dense", "one lane", "full", "empty", "halves")
    for case in cases(arch, GROUPS, group):
        seeds = range(10, 60) if case.form.kind == "plain" else range(10, 18)
        differ = wrong(Question(case, seed, patterns[seed % len(patterns)]) for seed in seeds)
        assert not differ, "\n".join([f"{len(differ)} differences", *differ[:30]])


@pytest.mark.parametrize("arch", ARCHS)
def test_coverage(arch):
    """At least 95 % of the entries that compute are asked; what is not is named, and could not be."""
    rows, family = entries(arch), TARGETS[arch].family.name
    keys = [key for key, desc in rows.items() if counted(desc)]
    asked = [key for key in keys if not left_out(key)]
    assert len(asked) / len(keys) >= 0.95, f"{len(asked)} of {len(keys)}"
    told = {name for row in EXCUSES if row.where == ALWAYS for name in row.entries.split() if row.applies(name, family)}
    mute = {key for key, desc in rows.items() if not has_value(desc.name, family) and desc.name not in told}
    out = {key for key in rows if left_out(key)}
    could = {key for key in out if left_out(key) in (TIME, NO_SGPR, CONVERSION, ROUNDING)}
    assert out - could <= mute <= out, "NOT_ASKED is too short or too long"


def test_what_is_left_out_exists():
    rows = [key for arch in ARCHS for key in entries(arch)]
    assert set(NOT_ASKED) <= {*rows, *(table()[key].name for key in rows)}


def first_difference(excuse, name_cases):
    rest = [row for row in EXCUSES if row is not excuse]
    scalar = re.match("s_|v_s_", name_cases[0].form.key)
    for seed in range(4000 if scalar else 200):  # one value a question, or 32
        for case in name_cases:
            try:
                if ask(Question(case, seed, "random" if seed % 4 == 3 else "full"), rest):
                    return True
            except (SyntaxError, NoValue, ValueError, IndexError):  # a misprint, or no code: it has no value at all
                return True
    return False


@pytest.mark.parametrize("excuse", EXCUSES, ids=lambda e: e.entries.replace(" ", ","))
def test_every_excuse_is_needed(excuse):
    """Without its row each entry differs."""
    applied = 0
    for arch in ARCHS:
        family = TARGETS[arch].family.name
        rows = by_key([case for case in all_cases(arch) if excuse.applies(table()[case.form.key].name, family)])
        kept = [key for key, found in rows.items() if not first_difference(excuse, found[:6])]
        assert not kept, f"no difference in {kept} of {arch}"
        applied += len(rows)
    assert applied


@functools.cache
def all_cases(arch=ARCHS[0]):
    return cases(arch)


# --- the comparison can fail

SWAPS = (
    (" + ", " - "), (" - ", " + "), (" & ", " | "), (" | ", " & "), (" ^ ", " & "), (" << ", " >> "), (" >> ", " << "),
    (" >= ", " > "), (" > ", " >= "), (" < ", " <= "), (" <= ", " < "), (" == ", " != "), (" <> ", " == "),
    (" * ", " + "), (" / ", " * "), (" ? ", " == 0 ? "), ("S1", "S0"), ("S0", "S1"), ("S2", "S1"), ("~", ""), ("!", ""),
    (" DATA.", " DATA2."), (" DATA2.", " DATA."), ("OFFSET0.", "OFFSET1."), ("if tmp", "if !tmp"), (" : 0]", " : 1]"),
    ("1'0U", "1'1U"), ("1'1U", "1'0U"), ("4U", "8U"), ("trunc", "floor"), ("floor", "trunc"), ("fma", "-fma"),
    ("isNAN", "isQuietNAN"), ("i24", "u24"), ("u24", "i24"), ("abs(S", "(S"),
)  # fmt: skip


def mutants(text, most=12):
    """The text with one place changed, in `most` ways at most."""
    rows = [
        text[: m.start()] + new + text[m.end() :]
        for old, new in SWAPS
        for m in re.finditer(re.escape(old), text)
        if "//" not in text[text.rfind("\n", 0, m.start()) + 1 : m.start()]
    ]
    return rows[:: -(-len(rows) // most)] if rows else []


def is_seen(found, text):
    """Whether some question of the fast test tells this text from the right one; None where it cannot be run."""
    try:
        return any(ask(question, text=text) for question in few(*found))
    except Exception:
        return None


@pytest.mark.parametrize(
    ("name", "old", "new"),
    [
        ("v_add3_u32", "S1.u32 + S2.u32", "S1.u32 - S2.u32"),
        ("v_min_f32", "S0.f32 <", "S0.f32 <="),
        ("v_fma_f64", "S2.f64", "-S2.f64"),
        ("s_addc_u32", "+ SCC.u64", ""),
        ("v_cmp_class_f16", "? 4 : 7", "? 7 : 4"),
        ("ds_inc_rtn_u64", "tmp >= src", "tmp > src"),
        ("global_atomic_sub_u32", "-= DATA", "+= DATA"),
        ("v_readlane_b32", "4 : 0", "3 : 0"),
        ("s_cbranch_vccz", "1'1U", "1'0U"),
        ("ds_store_b96", "+ 8U", "+ 12U"),
    ],
)
def test_a_wrong_text_is_seen(name, old, new):
    text = texts.texts()[name]
    changed = text.replace(old, new, 1) if name != "v_min_f32" else text.replace("(a < b)", "(a > b)")
    assert changed != text
    (case, *_) = by_key([case for case in all_cases() if case.form.key == name])[name]
    assert any(ask(Question(case, seed, "full"), text=changed) for seed in range(4))


def test_a_wrong_body_is_seen(monkeypatch):
    case = next(case for case in all_cases() if case.form.key == "v_add3_u32")
    desc, right = table()["v_add3_u32"], table()["v_add3_u32"].body
    object.__setattr__(desc, "body", lambda a, b, c: a + b - c)
    try:
        assert ask(Question(case, 0, "full"))
    finally:
        object.__setattr__(desc, "body", right)


@pytest.mark.slow
def test_mutants_of_all_texts():
    """One place of each text changed in every way that SWAPS knows: nearly all are seen by the fast test's operands."""
    seen, missed, family = 0, [], TARGETS[ARCHS[0]].family.name
    for key, found in by_key(all_cases()).items():
        name = table()[key].name
        if any(row.applies(name, family) and row.where == ALWAYS for row in EXCUSES) or key != name:
            continue
        for text in mutants(texts.texts()[name]):
            answer = is_seen(found, text)
            seen += answer is True
            missed += [f"{name}: {text!r}"] if answer is False else []
    assert len(missed) < 0.07 * seen, "\n".join([f"{len(missed)} of {seen + len(missed)}", *missed])


# --- the evaluator itself


@pytest.mark.parametrize("line", (HERE / "pcode" / "expressions.txt").read_text().splitlines()[1:])
def test_expressions(line):
    """The evaluator's own arithmetic."""
    text, value = line.split("  =>  ")
    if value == "none":
        with pytest.raises((SyntaxError, AssertionError, NoValue)):
            condition(text)({})
    else:
        assert condition(text)({}).bits == int(value, 0)


@pytest.mark.parametrize("form", [floats.F16, floats.F32, floats.F64], ids=["f16", "f32", "f64"])
def test_floats_against_the_processor(form):
    """Exact arithmetic, rounded once, gives what this machine's processor gives."""
    import numpy as np

    dtype = {16: np.float16, 32: np.float32, 64: np.float64}[form.width]
    unsigned = {16: np.uint16, 32: np.uint32, 64: np.uint64}[form.width]
    rng = np.random.default_rng(1)
    bits = rng.integers(0, 1 << form.width, (3, 400), dtype=np.uint64).astype(unsigned)
    bits[1, :200] = bits[0, :200] ^ unsigned(5)
    operations = {
        "add": (floats.add, np.add), "mul": (floats.multiply, np.multiply), "div": (floats.divide, np.divide),
    }  # fmt: skip
    with np.errstate(all="ignore"):
        for name, (ours, theirs) in operations.items():
            want = theirs(bits[0].view(dtype), bits[1].view(dtype))
            for a, b, w in zip(bits[0], bits[1], want, strict=True):
                got = floats.pack(form, ours(floats.unpack(form, int(a)), floats.unpack(form, int(b))))
                assert form.is_nan(got) if np.isnan(w) else got == int(w.view(unsigned)), (name, hex(a), hex(b))
        for a, w in zip(bits[2], np.sqrt(bits[2].view(dtype)), strict=True):
            got = floats.pack(form, floats.root(floats.unpack(form, int(a))))
            assert form.is_nan(got) if np.isnan(w) else got == int(w.view(unsigned)), ("sqrt", hex(a))


def test_statements():
    env = {"registers": {"D0"}, "D0": Value("B", 32, 0xFFFFFFFF), "S0": Value("B", 32, 0x80000001)}
    program(
        "for i in 0 : 31 do if S0.u32[i] == 1'1U then D0.u32[i] = 1'0U; else break endif endfor; D0[15 : 8].u8 = 8'7U"
    )(env)
    assert env["D0"].bits == 0xFFFF07FE
