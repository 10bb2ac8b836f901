"""Code of a gfx1201 on both engines: what a wave begins with, waits and barriers in halves, sums as a card makes them,
NaNs of minimum and maximum, floats of 8 bits."""

import itertools

import numpy as np
import programs
import pytest
import reference_engine
from texts import texts

from isa.asm.parse import parse_instruction
from isa.errors import IsaError
from isa.object import code_object
from isa.semantics.execute import execute
from isa.sim.run.interpret import AddressedCode, Buffers, Wave
from isa.targets import target

GFX1201, GFX1100 = target("gfx1201"), target("gfx1100")
DOTS = """
f16 0x3c00bc00 0x3c003c00 0x3f800000 0x3f800000
f16 0x3c003c00 0x3c003c00 0xc0000000 0x00000000
f16 0x80000000 0x3c003c00 0x00800000 0x00800000
f16 0x00000001 0x3c000001 0x00000000 0x27800000
f16 0xf82e782e 0x6a286a28 0x00000000 0x00000000
bf16 0x00800000 0x3f808000 0x00000001 0x00800001
bf16 0xc395629b 0xd9633359 0xdc60025c 0x5d504184
bf16 0xf2ae73d7 0x02b0b502 0x7b678301 0x7b678301
bf16 0x37d6ba90 0x8901852c 0x80800007 0x81674c04
bf16 0x0364bc8c 0x3c468385 0x807ffffe 0x0069a402
""".split("\n")[1:-1]
"""Results of a Radeon AI PRO R9700 (ROCm/rocm-systems, rocjitsu, its fixtures float_dot/gfx1201_cases.h)."""


def ran(text, registers, chip=GFX1201, sgprs=()):
    """A wave of the reference engine after an instruction. registers: number -> a word, or one a lane."""
    wave = Wave(AddressedCode([], 0), Buffers(), bytearray(), sgprs=dict(sgprs))
    for number, words in registers.items():
        wave.vgprs[number] = words
    execute(wave, parse_instruction(text, target=chip))
    return wave


def launched(body, words, grid=(1, 1, 1), block=(32, 1, 1)):
    """What a kernel leaves in a buffer of zeros, on both engines, which agree."""
    image = programs.assembled(body, arch="gfx1201")
    native = programs.launched(image, np.zeros(words, np.uint32), grid, block)
    memory, address = Buffers(), 0x7000_0000_0000
    buffer = bytearray(4 * words)
    memory.add(address, buffer)
    reference_engine.launch(code_object.load(image), "test", memory, grid, block, address.to_bytes(8, "little"))
    assert (np.frombuffer(bytes(buffer), np.uint32) == native).all()
    return native


@pytest.mark.parametrize("row", DOTS)
def test_sums_are_those_of_a_card(row):
    kind, *numbers = row.split()
    a, b, c, result = (int(word, 16) for word in numbers)
    text = f"v_dot2_f32_{kind} v0, v1, v2, v3"
    assert ran(text, {1: a, 2: b, 3: c}).vgprs[0][0] == result


def test_a_gfx1100_adds_otherwise():
    row = [int(word, 16) for word in DOTS[0].split()[1:]]
    found = ran("v_dot2_f32_f16 v0, v1, v2, v3", dict(zip((1, 2, 3), row, strict=False)), GFX1100).vgprs[0][0]
    assert found == 0x3F7FFFFF


PLACE, EXCHANGE, NARROW, TRANSPOSED = texts(__file__)


def test_numbers_of_workgroups_and_waves_lie_in_trap_registers():
    found = launched(PLACE, 3 * 2 * 64, grid=(3, 2, 1), block=(64, 1, 1)).reshape(2, 3, 64)
    for y, x, item in np.ndindex(2, 3, 64):
        assert found[y, x, item] == item // 32 << 24 | item << 16 | x << 8 | y


def test_a_barrier_in_two_halves():
    """Each work-item gets what another wave stored; the second atomic gives back what the first one left."""
    assert (launched(EXCHANGE, 64, block=(64, 1, 1)) == 2 * (63 - np.arange(64)) ** 2).all()


def test_scalar_loads_of_bytes_and_registers_of_the_wave():
    """Bytes and halves lie where their offset says, not at a dword, and end where the buffer of seven bytes does. The
    clock has a second word; MODE has no bits 8 and 9."""
    found = launched(NARROW, 10, block=(1, 1, 1))
    assert list(found[4:]) == [0xFFFFFFFF, 0xFF80, 0, 0xC0, 0xF0, 0]


def test_eight_lanes_exchange_what_they_loaded():
    """Element j of lane i of the eight is what lane j loaded as its element i; a lane that is off gets nothing, and is
    0 to the others."""
    found = launched(TRANSPOSED, 320)
    halves = found[:128].view(np.uint16).reshape(32, 8)[np.arange(32) ^ 1]
    bytes_ = found[2:66].view(np.uint8).reshape(32, 8)
    for loaded, result in ((halves, found[128:256]), (bytes_, found[256:])):
        loaded = loaded.copy()
        loaded[31] = 0
        expected = loaded.reshape(4, 8, 8).transpose(0, 2, 1).reshape(32, 8).copy()
        expected[31] = 0
        assert (result.view(loaded.dtype).reshape(32, 8) == expected).all()


def test_named_barriers_are_refused_by_name():
    for text in ("s_barrier_signal 3", "s_barrier_signal m0", "s_barrier_join 1", "s_barrier_wait 1"):
        with pytest.raises(IsaError, match="named barriers are not simulated"):
            ran(text, {})


def test_who_wins_of_numbers_and_nans():
    one, quiet, loud, zero, minus = 0x3F800000, 0x7FC00001, 0x7F800001, 0, 0x80000000
    for name, a, b, result in (
        ("min_num", quiet, one, one), ("min_num", loud, one, one), ("max_num", loud, quiet, loud | 0x400000),
        ("min_num", zero, minus, minus), ("max_num", minus, zero, zero),
        ("minimum", one, loud, loud | 0x400000), ("maximum", quiet, loud, quiet), ("maximum", minus, zero, zero),
    ):  # fmt: skip
        assert ran(f"v_{name}_f32 v0, v1, v2", {1: a, 2: b}).vgprs[0][0] == result, name
    # An older name means the new instruction there.
    assert parse_instruction("v_min_f32 v0, v1, v2", target=GFX1201).desc.name == "v_min_num_f32"
    with pytest.raises(IsaError, match="v_min_num_f32 is an instruction of gfx1200 and later"):
        _ = parse_instruction("v_min_num_f32 v0, v1, v2", target=GFX1100).desc


def small_floats(kind):
    """All 256 by their definition (OCP 8-bit floating point specification, E4M3 and E5M2)."""
    exponents, fraction, bias = (4, 3, 7) if kind == "fp8" else (5, 2, 15)
    for byte in range(256):
        field, rest = byte >> fraction & (1 << exponents) - 1, byte & (1 << fraction) - 1
        number = (rest / (1 << fraction) + (field > 0)) * 2.0 ** (max(field, 1) - bias)
        if kind == "fp8":
            number = float("nan") if byte & 0x7F == 0x7F else number
        elif field == 31:
            number = float("nan") if rest else float("inf")
        yield byte, -number if byte >> 7 else number


@pytest.mark.parametrize("kind", ["fp8", "bf8"])
def test_floats_of_eight_bits(kind):
    rows = list(small_floats(kind))
    for first in range(0, 256, 32):
        lanes = rows[first : first + 32]
        words = np.array([byte << 8 for byte, _ in lanes], np.uint32)
        found = ran(f"v_cvt_f32_{kind} v0, v1 byte_sel:1", {1: words}).vgprs[0].view(np.float32)
        exact = np.array([number for _, number in lanes], np.float32)
        assert np.array_equal(found, exact, equal_nan=True)
        back = ran(f"v_cvt_pk_{kind}_f32 v0, v1, v2", {1: exact.view(np.uint32), 2: exact.view(np.uint32)}).vgprs[0]
        for (byte, number), word in zip(lanes, back, strict=True):
            assert number != number or word & 0xFFFF == byte * 0x101
    # Between two neighbours: the nearer one, of two as near the even one; beyond the largest none of them.
    finite = sorted((number, byte) for byte, number in rows if byte < 0x80 and abs(number) < float("inf"))
    for (low, below), (high, above) in itertools.pairwise(finite):
        middle = (low + high) / 2
        beyond = np.nextafter(np.float32(middle), np.float32(1e9))
        for number, byte in ((middle, below if below % 2 == 0 else above), (beyond, above)):
            word = np.float32(number).view(np.uint32)
            assert ran(f"v_cvt_pk_{kind}_f32 v0, v1, v1", {1: word}).vgprs[0][0] & 0xFF == byte
    large = ran(f"v_cvt_pk_{kind}_f32 v0, v1, v1", {1: np.float32(1e6).view(np.uint32)}).vgprs[0][0] & 0xFF
    assert large == (0x7F if kind == "fp8" else 0x7C)


@pytest.mark.parametrize("kinds", ["fp8 bf8", "bf8 fp8"])
def test_products_of_floats_of_eight_bits_are_those_of_the_same_numbers_in_f16(kinds):
    """Assumed; special values among them."""
    rng = np.random.default_rng(8)
    registers, wide = {}, {}
    for side, kind in enumerate(kinds.split()):
        table = np.array([number for _, number in small_floats(kind)], np.float16)
        for register in range(2):
            codes = rng.integers(0, 256, (32, 4), np.uint8)
            if register:
                codes[:16] = 0x7F  # a NaN of both, in A's rows and in B's columns
                codes[4:] &= 0x77
            registers[8 + 2 * side + register] = codes.view(np.uint32)[:, 0]
            halves_ = table[codes].view(np.uint32)
            wide[8 + 4 * side + 2 * register], wide[9 + 4 * side + 2 * register] = halves_.T
    c = {register: rng.normal(size=32).astype(np.float32).view(np.uint32) for register in range(8)}
    name = f"v_wmma_f32_16x16x16_{kinds.replace(' ', '_')}"
    bytes_ = ran(f"{name} v[0:7], v[8:9], v[10:11], v[0:7] neg_lo:[0,0,1]", registers | c)
    of_f16 = ran("v_wmma_f32_16x16x16_f16 v[0:7], v[8:11], v[12:15], v[0:7] neg_lo:[0,0,1]", wide | c)
    for register in range(8):
        found, expected = (wave.vgprs[register].view(np.float32) for wave in (bytes_, of_f16))
        np.testing.assert_array_equal(found, expected)


def test_what_nobody_characterised_is_refused_by_name():
    with pytest.raises(IsaError, match="nobody has published how it rounds"):
        _ = parse_instruction("v_swmmac_f32_16x16x32_f16 v[0:7], v[8:11], v[12:19], v20", target=GFX1201).desc


def test_floats_of_eight_bits_overflow_as_mode_has_it():
    """Of 449 and 61,440, of -1e9 twice, and of a NaN beside 448."""
    wave = Wave(AddressedCode([], 0), Buffers(), bytearray())
    pairs = np.array([[449, 61440], [-1e9, -1e9], [np.nan, 448]], np.float32).view(np.uint32)
    wave.vgprs[1], wave.vgprs[2] = ([*map(int, column), *[0] * 29] for column in pairs.T)
    found = {}
    for overflows in (0, 1):
        execute(
            wave, parse_instruction(f"s_setreg_imm32_b32 hwreg(HW_REG_WAVE_MODE, 23, 1), {overflows}", target=GFX1201)
        )
        for kind in ("fp8", "bf8"):
            execute(wave, parse_instruction(f"v_cvt_pk_{kind}_f32 v0.l, v1, v2", target=GFX1201))
            found[kind, overflows] = [f"{word & 0xFFFF:04x}" for word in wave.vgprs[0][:3]]
    assert found == {
        ("fp8", 0): ["7f7e", "ffff", "7e7f"], ("bf8", 0): ["7c5f", "fcfc", "5f7f"],
        ("fp8", 1): ["7e7e", "fefe", "7e7f"], ("bf8", 1): ["7b5f", "fbfb", "5f7f"],
    }  # fmt: skip
    with pytest.raises(IsaError, match="FP16_OVFL"):
        execute(wave, parse_instruction("v_add_f16 v0.l, v1.l, v2.l", target=GFX1201))
