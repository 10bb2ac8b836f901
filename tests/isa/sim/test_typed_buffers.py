"""Typed buffers on the reference engine: every format against exact fractions. That native code does the same says
`test_instruction_vectors.py`; here LLVM's assembler says which format has which number."""

import struct
from fractions import Fraction

import assembly
import numpy as np
import pytest
from descriptors import STRUCTURED, UNCHECKED, Buffer
from forms import Form

from isa.asm.parse import parse_instruction
from isa.errors import IsaError
from isa.semantics.execute import bind, run
from isa.semantics.float_mode import FloatMode
from isa.semantics.formats import FORMATS
from isa.sim.run.interpret import AddressedCode, Buffers, Wave

BASE, SIZE = 0x7000_0000_0000, 16
NAMES = ("x", "xy", "xyz", "xyzw")


def wave_on(data, buffer):
    memory = Buffers()
    memory.add(BASE, data)
    words = dict(enumerate(buffer.words(), 4))
    code = AddressedCode([], 0)
    return Wave(code, memory, bytearray(0), sgprs=words, vgprs={20: range(32)}, mode=FloatMode(denormal32=0))


def execute(wave, text):
    run(wave, bind(parse_instruction(text)))


def sizes_of(name):
    *sizes, kind = name.split("_")
    return [int(n) for n in reversed(sizes)], kind


def fields(element, sizes):
    """The components of an element, as integers."""
    whole, found = int.from_bytes(element, "little"), []
    for n in sizes:
        found.append(whole & (1 << n) - 1)
        whole >>= n
    return found


def nearest(exact, dtype):
    """An exact number in a float type: to nearest, ties to even."""
    about = dtype(float(exact))
    near = [dtype(np.nextafter(about, dtype(s))) for s in (-np.inf, np.inf)] + [about]
    bits = {np.float16: np.uint16, np.float32: np.uint32}[dtype]
    return min(near, key=lambda f: (abs(Fraction(float(f)) - exact), int(f.view(bits)) & 1))


def loaded(field, n, kind, d16):
    """What a load gives of one component, as 32 or 16 bits."""
    dtype, bits = (np.float16, np.uint16) if d16 else (np.float32, np.uint32)
    signed = field - (1 << n) if field >> n - 1 else field
    if kind in ("UINT", "SINT"):
        return (signed if kind == "SINT" else field) & (0xFFFF if d16 else 0xFFFFFFFF)
    if kind == "FLOAT" and n == 32:
        number = np.uint32(field).view(np.float32)
        if not d16 or np.isnan(number):
            return field if not d16 else None
        with np.errstate(over="ignore"):
            half = np.float16(number)
        if abs(float(half)) > abs(float(number)):
            half = np.nextafter(half, np.float16(0))
        return int(half.view(np.uint16))
    if kind == "FLOAT":
        half = np.uint16(field << {16: 0, 11: 4, 10: 5}[n]).view(np.float16)
        if np.isnan(half):
            return None
        return int(dtype(half).view(bits))
    exact = {
        "UNORM": Fraction(field, (1 << n) - 1),
        "SNORM": max(Fraction(signed, (1 << max(n - 1, 1)) - 1), Fraction(-1)),
        "USCALED": Fraction(field),
        "SSCALED": Fraction(signed),
    }[kind]
    with np.errstate(over="ignore"):
        return int(nearest(exact, dtype).view(bits)) if abs(exact) < 65504 or not d16 else None


@pytest.mark.parametrize("d16", [False, True], ids=["", "d16"])
@pytest.mark.parametrize("name", FORMATS[1:])
def test_loads(name, d16):
    """Random elements and edges; a component that is None may be any NaN."""
    sizes, kind = sizes_of(name)
    size = sum(sizes) // 8
    random = np.random.default_rng(len(name) + d16)
    data = bytearray(random.integers(0, 256, SIZE * 32, np.uint8).tobytes())
    data[: 2 * SIZE] = bytes(SIZE) + b"\xff" * SIZE
    data[2 * SIZE : 3 * SIZE] = b"\x80\x00" * (SIZE // 2)
    data[3 * SIZE : 4 * SIZE] = struct.pack("<4f", 1.0, -3e-6, 70000.0, float("-inf"))
    for count, parts in enumerate(NAMES, 1):
        wave = wave_on(data, Buffer(BASE, SIZE, 32, STRUCTURED))
        wave.vgprs[:4] = 0xABCDABCD
        registers = (count + 1) // 2 if d16 else count
        text = f"tbuffer_load_{'d16_' * d16}format_{parts} v[0:{registers - 1}], v20, s[4:7], 0 idxen"
        execute(wave, f"{text} format:[BUF_FMT_{name}]")
        for lane in range(32):
            given = fields(data[lane * SIZE : lane * SIZE + size], sizes)
            want = [loaded(f, n, kind, d16) for f, n in zip(given, sizes, strict=True)] + [0] * 4
            got = [int(w) for w in wave.vgprs[:4, lane]]
            if d16:
                got = [half for word in got for half in (word & 0xFFFF, word >> 16)]
            for place in range(count):
                if want[place] is not None:
                    assert got[place] == want[place], (lane, place, given)
            assert set(got[count:]) <= ({0xABCD} if d16 else {0xABCDABCD}), "more was written than asked for"


def stored(number, n, kind):
    """What a store writes for an f32, or for an integer of 32 bits."""
    if kind == "UINT":
        return min(number, (1 << n) - 1)
    if kind == "SINT":
        signed = number - (1 << 32) if number >> 31 else number
        return min(max(signed, -(1 << n - 1)), (1 << n - 1) - 1) & (1 << n) - 1
    value = np.uint32(number).view(np.float32)
    if kind == "FLOAT":
        if n == 32:
            return number
        if np.isnan(value):
            return None
        if n < 16 and number >> 31:
            return 0
        low = {16: 0, 11: 4, 10: 5}[n]  # the largest that is not beyond it
        with np.errstate(over="ignore"):
            half = int(np.float16(abs(value)).view(np.uint16))
        half -= float(np.uint16(half).view(np.float16)) > abs(float(value))
        return (half | (number >> 16 & 0x8000)) >> low
    if np.isnan(value):
        return 0
    most = (1 << n) - 1 if kind == "UNORM" else (1 << max(n - 1, 1)) - 1
    exact = Fraction(1 if value > 0 else -1) if np.isinf(value) else Fraction(float(value))
    exact = min(max(exact, Fraction(0 if kind == "UNORM" else -1)), Fraction(1)) * most
    sign = -1 if exact < 0 else 1
    return sign * int(abs(exact) + Fraction(1, 2)) & (1 << n) - 1


EDGES = (0, 1 << 31, 0x3F800000, 0xBF800000, 0x7F800000, 0xFF800000, 0x7FC00001, 1, 0x33800000, 0x477FF000, 0x477FE000)


@pytest.mark.parametrize("name", [n for n in FORMATS[1:] if "SCALED" not in n])
def test_stores(name):
    sizes, kind = sizes_of(name)
    size = sum(sizes) // 8
    random = np.random.default_rng(len(name))
    values = random.integers(0, 1 << 32, (4, 32), np.uint32)
    if kind not in ("UINT", "SINT"):
        values[:, 16:] = random.uniform(-1.2, 1.2, (4, 16)).astype(np.float32).view(np.uint32)
    else:
        values[:, 16:] = random.integers(-300, 300, (4, 16)).astype(np.int32).view(np.uint32)
    for k, edge in enumerate(EDGES):
        values[k % 4, k] = edge
    for count, parts in enumerate(NAMES, 1):
        text = f"tbuffer_store_format_{parts} v[0:{count - 1}], v20, s[4:7], 0 idxen format:[BUF_FMT_{name}]"
        data = bytearray(b"\x5a" * (SIZE * 32))
        wave = wave_on(data, Buffer(BASE, SIZE, 31, STRUCTURED))
        wave.vgprs[:4] = values
        if count < len(sizes) and any(n % 8 for n in sizes):
            with pytest.raises(IsaError, match="a part of a packed element"):
                execute(wave, text)
            continue
        execute(wave, text)
        for lane in range(32):
            there = fields(data[lane * SIZE : lane * SIZE + size], sizes)
            before = fields(b"\x5a" * size, sizes)
            for place, n in enumerate(sizes):
                want = stored(int(values[place, lane]), n, kind) if place < count and lane < 31 else before[place]
                if want is not None:
                    assert there[place] == want, (lane, place, hex(values[place, lane]))
            assert data[lane * SIZE + size : (lane + 1) * SIZE] == b"\x5a" * (SIZE - size)


def test_halves_are_stored():
    """d16: what lies in registers is f16."""
    data, given = bytearray(8 * 32), np.linspace(-2, 2, 128).astype(np.float16).reshape(32, 4)
    wave = wave_on(data, Buffer(BASE, 8, 32, STRUCTURED))
    wave.vgprs[:2] = given.view(np.uint32).T
    execute(wave, "tbuffer_store_d16_format_xyzw v[0:1], v20, s[4:7], 0 idxen format:[BUF_FMT_16_16_16_16_FLOAT]")
    np.testing.assert_array_equal(np.frombuffer(data, np.float16).reshape(32, 4), given)
    execute(wave, "tbuffer_store_d16_format_xyzw v[0:1], v20, s[4:7], 0 idxen format:[BUF_FMT_8_8_8_8_UNORM]")
    want = np.floor(np.clip(given.astype(np.float64), 0, 1) * 255 + 0.5).astype(np.uint8)
    np.testing.assert_array_equal(np.frombuffer(data, np.uint8).reshape(32, 8)[:, :4], want)


def test_an_element_is_in_range_as_a_whole():
    """Two dwords of three would be in range: nothing is read, as the guide says of typed loads."""
    data = bytearray(b"\x01" * 64)
    wave = wave_on(data, Buffer(BASE, 8, 4, STRUCTURED))
    execute(wave, "tbuffer_load_format_xyz v[0:2], v20, s[4:7], 0 idxen format:[BUF_FMT_32_32_32_UINT]")
    assert not wave.vgprs[:3].any()
    wave = wave_on(data, Buffer(BASE, 4, 1, UNCHECKED))
    wave.sgprs[126] = 0xF
    execute(wave, "tbuffer_load_format_xyz v[0:2], v20, s[4:7], 0 idxen format:[BUF_FMT_32_32_32_UINT]")
    assert (wave.vgprs[:3, :4] == 0x01010101).all()


def test_numbers_are_llvms(tmp_path):
    """[BUF_FMT_...] and format:N are one encoding, and so is no format and the first one."""
    text = "tbuffer_load_format_x v0, off, s[4:7], 0 {}"

    def encoded(modifiers):
        return assembly.code([Form("", "", text.format(m)) for m in modifiers], tmp_path)

    names = [f"format:[BUF_FMT_{name}]" for name in FORMATS]
    assert encoded(names) == encoded([f"format:{n}" for n in range(len(FORMATS))])
    assert encoded([""]) == encoded(["format:1"])


@pytest.mark.parametrize("given", ["format:0", "format:64", "format:[BUF_FMT_8_8_8_UNORM]"])
def test_other_formats_are_refused(given):
    with pytest.raises(IsaError, match="this format of a buffer is not described"):
        bind(parse_instruction(f"tbuffer_load_format_x v0, off, s[4:7], 0 {given}"))


def test_scaled_stores_are_refused():
    with pytest.raises(IsaError, match="scaled"):
        bind(parse_instruction("tbuffer_store_format_x v0, v20, s[4:7], 0 idxen format:[BUF_FMT_8_USCALED]"))
