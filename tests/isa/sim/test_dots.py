"""Dot products and matrix products, against results of a card (`dots_gfx1100.txt`), on both engines.

Matrix products of RDNA3 come from two separate pieces of code (`isa.semantics.reference.matrices` with
`isa.semantics.dots`, and `isa.sim.ir.matrices_llvm`), so that random operands ask both.
"""

import struct
from pathlib import Path

import numpy as np
import programs
import pytest
from plan import examples

from isa.asm.parse import parse_instruction
from isa.semantics import dots
from isa.semantics.execute import execute
from isa.sim.run.card import Card
from isa.sim.run.interpret import AddressedCode, Buffers, Wave

HERE = Path(__file__).parent


def _recorded():
    tables, rows = {}, []
    for line in (HERE / "dots_gfx1100.txt").read_text().splitlines():
        if line.startswith(("dot2", "wmma", "packed")):
            rows = tables.setdefault(line, [])
        elif line and line[0] != "#":
            rows.append([int(word, 16) for word in line.split()])
    return {name: np.array(rows, np.uint32) for name, rows in tables.items()}


CARD = _recorded()


def reference(code, registers):
    """VGPRs before (number -> 32 words), instructions, VGPRs after: the reference engine."""
    wave = Wave(AddressedCode([], 0), Buffers(), bytearray(), scratch_bytes=0)
    for number, row in registers.items():
        wave.vgprs[number] = row
    for text in code:
        execute(wave, parse_instruction(text))
    return {number: wave.vgprs[number].copy() for number in registers}


def native(code, registers):
    """The same by native code."""
    return prepared(code, registers)(registers)


def prepared(code, registers):
    """A kernel that loads registers of these numbers, runs the instructions, and stores them: what launches it."""
    lines = ["s_load_b64 s[4:5], s[0:1], null", "v_lshlrev_b32 v250, 2, v0", "s_mov_b64 s[6:7], s[4:5]"]
    for move in ("global_load_b32 v{0}, v250, s[6:7]", "global_store_b32 v250, v{0}, s[6:7]"):
        for number in registers:
            lines += [move.format(number), "s_add_u32 s6, s6, 128", "s_addc_u32 s7, s7, 0"]
        if "load" in move:
            lines += [*code, "s_mov_b64 s[6:7], s[4:5]"]
    image = programs.assembled("\n".join([*lines, "s_endpgm"]), vgprs=256)
    card = Card(capacity=1 << 20)
    kernel = card.load(image).kernels["test"]

    def launched(registers):
        data = np.array([*registers.values()], np.uint32)
        (buffer,) = programs.put(card, data)
        card.launch(kernel, (1, 1, 1), (32, 1, 1), struct.pack("<Q", buffer))
        found = programs.held(buffer, data)
        card.memory.free(buffer)
        return dict(zip(registers, found, strict=True))

    return launched


ENGINES = pytest.mark.parametrize("engine", [reference, native])


@ENGINES
def test_recorded_sums(engine):
    """All instructions that add two products to an f32: the recorded cases, 32 a time."""
    code, registers, expected = [], {}, {}
    for table, number in (("dot2 f16", 0), ("dot2 bf16", 100)):
        kind = table.split()[1]
        for i in range(0, len(CARD[table]), 32):
            rows = np.resize(CARD[table][i:], (32, 4))
            a, b, c, d, e = (f"v{number + n}" for n in range(5))
            for reg, column in zip(range(number, number + 6), (0, 1, 2, 2, 2, 2), strict=True):
                registers[reg] = rows[:, column]
            accumulate = f"v_dual_dot2acc_f32_{kind} {c}, {a}, {b} :: v_dual_mov_b32 v251, {b}"
            code += [accumulate, f"v_dot2_f32_{kind} {e}, {a}, {b}, {e}"]
            if kind == "f16":
                code += [f"v_dot2acc_f32_f16 {d}, {a}, {b}"]
            for reg in (2, 4, *([3] if kind == "f16" else [])):
                expected[number + reg] = rows[:, 3]
            number += 6
    found = engine(code, registers)
    for number, row in expected.items():
        assert list(map(hex, found[number])) == list(map(hex, row))


# Recorded on a W7900 (rocjitsu, its test of inline sources): the constant, a pair (1, 2) on the other side, and the
# results for op_sel, op_sel_hi of the constant's side = (0, 0), (0, 1), (1, 0), (1, 1).
INLINE = {
    ("f16", "1"): (0x34400000, 0x33800000, 0x34000000, 0),
    ("f16", "1.0"): (0x40400000, 0x3F800000, 0x40000000, 0),
    ("f16", "0.15915494"): (0x3EF48000, 0x3E230000, 0x3EA30000, 0),
    ("bf16", "1"): (0, 0, 0, 0),
    ("bf16", "1.0"): (0x40400000,) * 4,
    ("bf16", "0.15915494"): (0x3EF30000,) * 4,
}


@ENGINES
def test_recorded_inline_sources(engine):
    code, expected = [], []
    for (kind, constant), results in INLINE.items():
        pair = {"f16": "v0", "bf16": "v1"}[kind]
        for first in (True, False):
            for select, result in enumerate(results):
                low, high = select >> 1, select & 1
                picks = [[low, 0], [high, 1]] if first else [[0, low], [1, high]]
                sources = (constant, pair) if first else (pair, constant)
                place = f"v{10 + len(expected)}"
                words = "op_sel:[{},{},0] op_sel_hi:[{},{},1]".format(*picks[0], *picks[1])
                code.append(f"v_dot2_f32_{kind} {place}, {sources[0]}, {sources[1]}, 0 {words}")
                expected.append(result)
        # In VOPD the constant stands in both halves; the VOP2 form has an f16 in the low one.
        place = f"v{10 + len(expected)}"
        code += [
            f"v_mov_b32 {place}, 0",
            f"v_dual_dot2acc_f32_{kind} {place}, {constant}, {pair} :: v_dual_mov_b32 v{3 - len(expected) % 2}, 0",
        ]
        expected.append(results[0])
        if kind == "f16":
            code += [f"v_mov_b32 v{10 + len(expected)}, 0", f"v_dot2acc_f32_f16 v{10 + len(expected)}, {constant}, v0"]
            expected.append(results[1])
    code += ["v_dot2_f16_f16 v4, 1.0, 1.0, 0", "v_dot2_bf16_bf16 v5, 1.0, 1.0, 0"]
    registers = {0: [0x40003C00] * 32, 1: [0x40003F80] * 32, 4: [0] * 32, 5: [0] * 32}
    registers |= {10 + i: [0] * 32 for i in range(len(expected))}
    found = engine(code, registers)
    assert [hex(found[10 + i][7]) for i in range(len(expected))] == list(map(hex, expected))
    assert found[4][0] == found[5][0] == 0x4000


def _integers(kind):
    """A, B and C of the recorded matrix product, as the fixture's test makes them."""

    def bits(number):
        word = np.array(number, np.float32)
        return (
            word.view(np.uint32) >> 16 if kind == "bf16" else word.astype(np.float16).view(np.uint16).astype(np.uint32)
        )

    index = np.arange(16)
    a = bits((index[:, None] * 16 + index) * 7 % 17 - 8)  # [row, k]
    b = bits((index[:, None] * 16 + index) * 11 % 17 - 8)  # [k, column]
    c = ((index[:, None] * 16 + index) * 13 % 129 - 64).astype(np.float32).view(np.uint32)
    lanes = np.arange(32)
    pairs = [a[lanes % 16, 2 * r] | a[lanes % 16, 2 * r + 1] << 16 for r in range(8)]
    pairs += [b[2 * r, lanes % 16] | b[2 * r + 1, lanes % 16] << 16 for r in range(8)]
    return dict(enumerate([*pairs, *(c[2 * r + lanes // 16, lanes % 16] for r in range(8))]))


@ENGINES
@pytest.mark.parametrize("kind", ["f16", "bf16"])
def test_recorded_matrix(engine, kind):
    found = engine([f"v_wmma_f32_16x16x16_{kind} v[16:23], v[0:7], v[8:15], v[16:23]"], _integers(kind))
    rows = np.array([found[16 + r] for r in range(8)]).reshape(16, 16)
    assert [[hex(x) for x in row] for row in rows] == [[hex(x) for x in row] for row in CARD["wmma"]]


@ENGINES
@pytest.mark.parametrize("number", [0, 1])
def test_recorded_packed_matrix(engine, number):
    """Two rows of an f16 product; the other rows of A and C are 0."""
    table = CARD["packed f16"][22 * number :][:22]
    a, b, c, d = (np.zeros((16, 16), np.uint32) for _ in range(4))
    a[:2], b[:], c[:2], d[:2] = table[:2], table[2:18], table[18:20], table[20:]
    lanes = np.arange(32)
    registers = [a[lanes % 16, 2 * r] | a[lanes % 16, 2 * r + 1] << 16 for r in range(8)]
    registers += [b[2 * r, lanes % 16] | b[2 * r + 1, lanes % 16] << 16 for r in range(8)]
    registers += [c[2 * r + lanes // 16, lanes % 16] for r in range(8)]
    found = engine(
        ["v_wmma_f16_16x16x16_f16 v[16:23], v[0:7], v[8:15], v[16:23] op_sel:[0,0,0]"], dict(enumerate(registers))
    )
    rows = np.array([found[16 + r] for r in range(8)]).reshape(16, 16)[:2]
    assert [[hex(x) for x in row] for row in rows] == [[hex(x) for x in row] for row in d[:2]]


# Recorded on a W7900 (rocjitsu's operand cases): all of A (1, 2), of B (3, 4), C = -5. Rows are those of neg_hi = 0, 1,
# 4 and 5, columns those of neg_lo = 0 to 7, in bits A, B, C.
SIGNS = {
    "f16": [
        "5530 5060 5060 5530 55d0 51a0 51a0 55d0", "d1a0 d5d0 d5d0 d1a0 d060 d530 d530 d060",
        "55d0 51a0 51a0 55d0 5530 5060 5060 5530", "d060 d530 d530 d060 d1a0 d5d0 d5d0 d1a0",
    ],
    "bf16": [
        "42a6 420c 420c 42a6 42ba 4234 4234 42ba", "c234 c2ba c2ba c234 c20c c2a6 c2a6 c20c",
        "42ba 4234 4234 42ba 42a6 420c 420c 42a6", "c20c c2a6 c2a6 c20c c234 c2ba c2ba c234",
    ],
}  # fmt: skip
CONSTANTS = {
    "f16": {"1": 1, "64": 64, "-1": 0xFFFF, "-16": 0xFFF0, "0.5": 0x3800, "-1.0": 0xBC00},
    "bf16": {"1": 0, "64": 0, "-1": 0xFFFF, "-16": 0xFFF0, "0.5": 0x3F00, "-1.0": 0xBF80},
}  # fmt: skip


@ENGINES
@pytest.mark.parametrize("kind", ["f16", "bf16"])
def test_recorded_modifiers(engine, kind):
    """D begins as 0x56781234: the half that is not picked stays."""
    code, expected, registers = [], [], {}
    words = {"f16": (0x40003C00, 0x44004200, 0xC500C500), "bf16": (0x40003F80, 0x40804040, 0xC0A0C0A0)}[kind]
    for first, word in zip((0, 8, 16), words, strict=True):
        registers |= {first + i: [word] * 32 for i in range(8)}
    registers |= {24 + i: [0x56781234] * 32 for i in range(8)} | {32 + i: [0] * 32 for i in range(8)}

    def ask(sources, modifiers, result):
        half, place = len(expected) % 2, 40 + len(expected)
        registers[place] = [0] * 32
        wmma = f"v_wmma_{kind}_16x16x16_{kind} v[24:31], {sources} op_sel:[0,0,{half}] {modifiers}"
        code.extend(["v_mov_b32 v24, 0x56781234", wmma, f"v_mov_b32 v{place}, v24"])
        expected.append(result << 16 | 0x1234 if half else 0x56780000 | result)

    for high, row in zip((0, 1, 4, 5), SIGNS[kind], strict=True):
        for low, result in enumerate(row.split()):
            bits = ["[{},{},{}]".format(*(x >> i & 1 for i in range(3))) for x in (low, high)]
            ask("v[0:7], v[8:15], v[16:23]", f"neg_lo:{bits[0]} neg_hi:{bits[1]}", int(result, 16))
    for constant, result in CONSTANTS[kind].items():
        ask(f"v[32:39], v[32:39], {constant}", "", result)
    found = engine(code, registers)
    assert [hex(found[40 + i][7]) for i in range(len(expected))] == list(map(hex, expected))


# Exponents of factors, as they are encoded, where all are alike; `isa.sim.ir.matrices_llvm` has a shorter way for
# moderate ones. Those of f16 are moved to where it has some.
FACTORS = {
    "any": (-127, 128), "near 1": (-1, 0), "middling": (-6, 6), "0": (-127, -127), "smallest": (-127, -125),
    "tiny": (-75, -65), "small": (-40, -36), "large": (43, 47), "huge": (58, 63), "top": (99, 126),
    "bottom": (-90, -60),
}  # fmt: skip
# Of accumulators.
SUMS = {
    "any": (-127, 128), "near 1": (-7, 7), "0": (-127, -127), "small": (-52, -20), "tiny": (-126, -79),
    "large": (99, 102), "largest": (125, 127),
}  # fmt: skip


def _drawn(rng, kind, exponents, count):
    """16-bit numbers, a part of them 0 or denormal, of fractions that carry, or special."""
    fraction, bias = (10, 15) if kind == "f16" else (7, 127)
    first, last = (np.clip(bias + e, 0, 2 * bias + (e == 128)) for e in exponents)
    exponent = rng.integers(first, last + 1, count)
    if rng.random() < 0.3:
        exponent = np.where(rng.random(count) < 0.3, 0, exponent)
    if rng.random() < 0.1:
        exponent = np.where(rng.random(count) < 0.1, 2 * bias + 1, exponent)
    some = rng.choice([0, 1, (1 << fraction) - 1], count)
    rest = np.where(rng.random(count) < 0.3, some, rng.integers(0, 1 << fraction, count))
    return rng.integers(0, 2, count) << 15 | exponent << fraction | np.where(exponents[1] == -127, 0, rest)


def _words(rng, kind, exponents):
    """Eight registers, two numbers a word; a part of the pairs cancels."""
    low, high = (_drawn(rng, kind, exponents, 256) for _ in range(2))
    high = np.where(rng.random(256) < 0.2, low ^ 0x8000, high)
    return (low | high << 16).astype(np.uint32).reshape(8, 32)


def _sums(rng, kind, exponents):
    """Eight registers of accumulators."""
    if kind != "f32":
        return _words(rng, kind, exponents)
    first, last = exponents
    exponent, some = rng.integers(127 + first, 128 + last, 256), rng.choice([0, 1, (1 << 23) - 1], 256)
    rest = np.where(rng.random(256) < 0.3, some, rng.integers(0, 1 << 23, 256))
    return (rng.integers(0, 2, 256) << 31 | exponent << 23 | rest).astype(np.uint32).reshape(8, 32)


@pytest.mark.parametrize("name", dots.KINDS)
def test_engines_agree(name):
    """Matrices of one kind of numbers after another; D goes on as C, A and B change places."""
    rng = np.random.default_rng(len(name))
    accumulator, factor = name.split()
    a, b, c, d, e = (f"v[{8 * n}:{8 * n + 7}]" for n in range(5))
    mnemonic = f"v_wmma_{accumulator}_16x16x16_{factor}"
    code = [f"{mnemonic} {d}, {a}, {b}, {c}", f"{mnemonic} {e}, {b}, {a}, {d}"]
    run = prepared(code, range(40))
    kinds = [(x, y, z) for x in FACTORS for y in FACTORS for z in SUMS]
    ends = [("top", "bottom", "0"), ("tiny", "tiny", "0"), ("huge", "huge", "0"), ("0", "near 1", "tiny")]
    ends += [("0", "0", "0")]
    for x, y, z in [*ends, *rng.permutation(kinds)[: examples(60)]]:
        matrices = [_words(rng, factor, FACTORS[x]), _words(rng, factor, FACTORS[y]), _sums(rng, accumulator, SUMS[z])]
        registers = dict(enumerate(np.concatenate([*matrices, matrices[2], matrices[2]])))
        mine, theirs = reference(code, registers), run(registers)
        assert all(np.array_equal(mine[n], theirs[n]) for n in registers), (x, y, z)


@pytest.mark.parametrize("name", ["f32 f16", "f32 bf16", "f16 f16", "bf16 bf16"])
def test_bounds_of_the_quick_way(name):
    """Products and accumulators on both sides of what `isa.sim.ir.matrices_llvm` calls moderate; accumulators of both
    zeros."""
    rng = np.random.default_rng(len(name))
    accumulator, factor = name.split()
    registers = [f"v[{8 * n}:{8 * n + 7}]" for n in range(3)]
    code = [f"v_wmma_{accumulator}_16x16x16_{factor} {registers[2]}, {', '.join(registers)}"]
    run = prepared(code, range(24))
    products = [(12, n) for n in range(10, 16)] + [(-14, -14)]
    if factor == "bf16":
        products += [(-40, n) for n in (-90, -63, -45, -38, -37, -36, -35)] + [(120, n) for n in (-100, -96, -95)]
        products += [pair for n in (62, 63, 64) for pair in ((n, -50), (-50, n))]
    for first, second in products:
        small, large = [(-110, -99), (-101, -101), (-82, -79), (-62, -62), (-61, -59)], [(34, 35), (36, 37), (41, 41)]
        for sums in [None, *small, *large, (99, 101), (126, 128), (first + second - 2, first + second + 3)]:
            a, b = (_words(rng, factor, (exponent, exponent)) for exponent in (first, second))
            a *= rng.random(a.shape) < rng.choice([0, 0.3, 1, 1])
            c = np.zeros((8, 32), np.uint32)
            if sums is not None:
                c = _words(rng, factor, (0, 0)) if accumulator != "f32" else _sums(rng, accumulator, sums)
            c = np.where(rng.random(c.shape) < 0.3, rng.choice([0, 1 << 31], c.shape), c).astype(np.uint32)
            values = dict(enumerate(np.concatenate([a, b, c])))
            mine, theirs = reference(code, values), run(values)
            assert all(np.array_equal(mine[n], theirs[n]) for n in values), (first, second, sums)


@ENGINES
@pytest.mark.parametrize(("exponent", "expected"), [(-40, 1), (-41, 0)])
def test_finest_grid_of_f16_sums(engine, exponent, expected):
    """2**-25, which lies between 0 and the smallest f16, and a product that is a unit of the grid, or half of one: the
    grid of an f16 accumulator ends at 2**-40."""
    first, second = (np.array(x, np.float16).view(np.uint16).astype(np.uint32) for x in ([2**-12, 2**-13], [2**-20, 0]))
    second[1] = np.float16(2.0 ** (exponent + 20)).view(np.uint16)
    a, b = (int(x) | int(y) << 16 for x, y in zip(first, second, strict=True))
    values = {n: np.zeros(32, np.uint32) for n in range(24)} | {0: np.full(32, a), 8: np.full(32, b)}
    found = engine(["v_wmma_f16_16x16x16_f16 v[16:23], v[0:7], v[8:15], v[16:23]"], values)
    assert (found[16] == expected).all()


@pytest.mark.parametrize("d", [0, 2, 12, 20, 24, *(pytest.param(d, marks=pytest.mark.slow) for d in (4, 8, 14))])
@pytest.mark.parametrize(("name", "size"), [("f32_16x16x16_f16", 8), ("i32_16x16x16_iu8", 4), ("i32_16x16x16_iu4", 2)])
def test_result_over_operands(name, size, d):
    """D stands where A, B or C stand, or a part of them; A is v0 and on, B v8 and on, C v16 and on."""
    values = {n: np.random.default_rng(n).integers(0, 1 << 14, 32) * 0x10001 for n in range(32)}
    a, b, c, d = (f"v[{first}:{first + count - 1}]" for first, count in ((0, size), (8, size), (16, 8), (d, 8)))
    code = [f"v_wmma_{name} {d}, {a}, {b}, {c}"]
    mine, theirs = reference(code, values), native(code, values)
    assert all(np.array_equal(mine[n], theirs[n]) for n in values)


WRITES = [
    "v_mov_b32 v{0}, v{1}",  # lane by lane
    "v_permlanex16_b32 v{0}, v{1}, 0, 0",  # all lanes at once
    "v_mov_b32_dpp v{0}, v{1} row_ror:1 row_mask:0x5 bank_mask:0xf",
    "v_dual_mov_b32 v{0}, v{1} :: v_dual_mov_b32 v{2}, v{3}",
]


@pytest.mark.parametrize("seed", range(4))
def test_factors_change_between_products(seed):
    """More factors in one block of code than there are tables for; registers of A and B written between products, sums
    made in place and elsewhere, also where C's registers are D's in part."""
    rng = np.random.default_rng(seed)
    starts = range(0, 176, 8)
    registers = {n: _words(rng, "f16", (-4, 4))[0] for n in range(192)}
    code = []
    for _ in range(60):
        a, b = (int(n) for n in rng.choice(starts[:4] if rng.random() < 0.5 else starts, 2))
        d = int(rng.choice([176, 184, 184, *starts[:1]]))
        c = int(rng.choice([d, d, d - 4, int(rng.integers(184))])) % 184
        a, b, c, d = (f"v[{n}:{n + 7}]" for n in (a, b, c, d))
        code.append(f"v_wmma_f32_16x16x16_f16 {d}, {a}, {b}, {'0' if rng.random() < 0.3 else c}")
        if rng.random() < 0.5:
            even, odd = (int(n) for n in rng.integers(0, 16, 2) * 2)
            code.append(rng.choice(WRITES).format(even, int(rng.integers(192)) & ~1, odd + 1, 2 * odd + 1))
    mine, theirs = reference(code, registers), native(code, registers)
    assert [n for n in registers if not np.array_equal(mine[n], theirs[n])] == []


@ENGINES
@pytest.mark.parametrize("clamp", ["", " clamp"])
@pytest.mark.parametrize("size", [8, 4])
def test_integer_matrices(engine, size, clamp):
    """Exact by Python's numbers, saturated at the end or wrapped."""
    rng = np.random.default_rng(size)
    count = size // 2
    a, b = (rng.integers(0, 1 << 32, (count, 32), np.uint32) for _ in range(2))
    for matrix in (a, b):
        matrix[:, 16:] = matrix[:, :16]
    c = rng.choice(np.array([0x7FFFFF00, 0x80000010, 5, 0xFFFFFF00], np.uint32), (8, 32))
    registers = dict(enumerate([*a, *b, *c]))
    text = "v[{}:{}]".format
    places = text(0, count - 1), text(count, 2 * count - 1), text(2 * count, 2 * count + 7)
    found = engine([f"v_wmma_i32_16x16x16_iu{size} v[{40}:{47}], {', '.join(places)} neg_lo:[1,0,0]{clamp}"],
                   registers | {40 + i: [0] * 32 for i in range(8)})  # fmt: skip

    def field(matrix, lane, k, signed):
        number = int(matrix[k * size // 32][lane]) >> k * size % 32 & (1 << size) - 1
        return number - (1 << size) if signed and number >> size - 1 else number

    for register in range(8):
        for lane in range(32):
            row = 2 * register + lane // 16
            total = int(np.int32(c[register][lane].view(np.int32)))
            total += sum(field(a, row, k, True) * field(b, lane, k, False) for k in range(16))
            total = max(min(total, 2**31 - 1), -(2**31)) if clamp else total
            assert found[40 + register][lane] == total & 0xFFFFFFFF
