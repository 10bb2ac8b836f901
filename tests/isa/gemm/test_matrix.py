"""GEMM kernels on the matrix units: what each computes, bit for bit as `isa.semantics.dots` says the card
adds, at odd sizes and in all layouts; that lint has nothing to say, and that the sanitizer has not either."""

from __future__ import annotations

import dataclasses
import itertools
import struct

import numpy as np
import pytest
from launching import NAME, image, launch, program

from isa.analysis import cfg as flow_graph
from isa.gemm.matrix.parameters import MatrixParameters
from isa.gemm.matrix.registers import MatrixRegisters
from isa.gemm.vector.parameters import ParameterError
from isa.lint import lint
from isa.object import code_object
from isa.registers import Reg
from isa.semantics.instruction import Instruction
from isa.semantics.reference.values import summed
from isa.semantics.values import RDNA4_SUMS
from isa.timing.model import predict
from isa.timing.trace import tracer

ARCHES = "gfx1100", "gfx1201"
SMALL = MatrixParameters(rows=64, columns=64, wave_rows=32, wave_columns=32)
"""One that the simulator translates in a second."""
BYTES = MatrixParameters(rows=64, columns=64, depth=32, factor="i8", result="i32")
VARIANTS = {
    "128 x 128": MatrixParameters(),
    "two buffers": MatrixParameters(stages=2),
    "depth 16": MatrixParameters(depth=16, trans_b=True),
    "depth 64": MatrixParameters(depth=64, wave_rows=32, trans_b=True),
    "waves 32 x 64": MatrixParameters(rows=64, wave_rows=32),
    "256 x 128": MatrixParameters(rows=256, trans_b=True),
    "64 x 32": MatrixParameters(rows=64, columns=32, depth=64, wave_rows=16, wave_columns=32),
    "bf16": dataclasses.replace(SMALL, factor="bf16"),
    "f16 C": dataclasses.replace(SMALL, result="f16", stages=2),
    "bf16 C": dataclasses.replace(SMALL, factor="bf16", result="bf16", trans_b=True),
    **{
        f"layout {'nt'[a]}{'nt'[b]}": dataclasses.replace(SMALL, trans_a=bool(a), trans_b=bool(b))
        for a, b in itertools.product((0, 1), repeat=2)
    },
    "rows of tiles in groups": dataclasses.replace(SMALL, trans_b=True, group=2),
    "priority": dataclasses.replace(SMALL, trans_a=True, stages=2, prio=True),
    "patches of two lanes": dataclasses.replace(SMALL, depth=64, trans_a=True),
    "i8 patches of two lanes": dataclasses.replace(BYTES, depth=64, wave_rows=32, wave_columns=32, trans_a=True),
    "f16 sums": dataclasses.replace(SMALL, trans_b=True, half_sums=True),
    "bf16 sums": dataclasses.replace(SMALL, factor="bf16", half_sums=True),
    "f16 sums, f16 C": dataclasses.replace(SMALL, result="f16", trans_a=True, half_sums=True),
    "f16 sums, 16 columns": MatrixParameters(32, 32, 32, 32, 16, half_sums=True),
    "f16 sums, waves 128 x 64": MatrixParameters(256, 256, 16, 128, 64, trans_b=True, half_sums=True),
    "i8 more than fragments hold": dataclasses.replace(BYTES, depth=128, wave_rows=32, wave_columns=32, trans_a=True),
    "i8 128 x 128": MatrixParameters(depth=64, factor="i8", result="i32", trans_a=True),
    "i8 bf16 C": dataclasses.replace(BYTES, depth=64, wave_rows=32, wave_columns=32, result="bf16", trans_a=True),
    **{
        f"i4 {'nt'[a]}{'nt'[b]}": dataclasses.replace(
            BYTES, depth=64, factor="i4", trans_a=bool(a), trans_b=bool(b), stages=1 + b
        )
        for a, b in itertools.product((0, 1), repeat=2)
    },
    "i4 f32 C": dataclasses.replace(BYTES, depth=128, wave_rows=32, wave_columns=32, factor="i4", result="f32"),
    **{
        f"i8 {'nt'[a]}{'nt'[b]}": dataclasses.replace(BYTES, trans_a=bool(a), trans_b=bool(b), stages=1 + a)
        for a, b in itertools.product((0, 1), repeat=2)
    },
}
OF_RDNA4 = {
    "fp8 nt": dataclasses.replace(BYTES, wave_rows=32, wave_columns=32, factor="fp8", result="f32", trans_b=True),
    "bf8 tn": dataclasses.replace(
        BYTES, depth=64, wave_rows=32, wave_columns=32, factor="bf8", result="bf16", trans_a=True, stages=2
    ),
    "fp8 nn": MatrixParameters(depth=64, factor="fp8", result="f16", group=2),
    "bf8 tt": dataclasses.replace(
        BYTES, depth=128, wave_rows=32, wave_columns=32, factor="bf8", result="f32", trans_a=True, trans_b=True
    ),
}
QUICK = [
    "layout nn", "layout tn", "layout tt", "f16 C", "bf16 C", "f16 sums", "bf16 sums", "f16 sums, 16 columns", "i8 tt",
    "i8 bf16 C", "i4 nt", "i4 tn", "rows of tiles in groups", "i8 patches of two lanes",
]  # fmt: skip
"""Each type, and layout of A or B, once or twice."""


UNITS = {"f16": 2.0**-11, "bf16": 2.0**-7}


def bf16(values: np.ndarray) -> np.ndarray:
    """To nearest even, as 16-bit words."""
    bits = values.astype(np.float32).view(np.uint32)
    return ((bits + 0x7FFF + (bits >> 16 & 1)) >> 16).astype(np.uint16)


def words(type_: str, values: np.ndarray) -> np.ndarray:
    """As they lie in memory, f32 as it is."""
    if type_ in ("i4", "i8", "i32"):
        return np.floor(values * (8 if type_ == "i4" else 128)).astype(np.int32 if type_ == "i32" else np.int8)
    if type_ == "f32":
        return values.astype(np.float32)
    if type_ in ("fp8", "bf8"):  # cut: of E4M3 a 256th has the bits in f16
        cut = (values / (256 if type_ == "fp8" else 1)).astype(np.float16).view(np.uint16)
        return (cut >> 8 & 0x80 | cut >> (7 if type_ == "fp8" else 8) & 0x7F).astype(np.uint8)
    return bf16(values) if type_ == "bf16" else values.astype(np.float16).view(np.uint16)


def numbers(type_: str, stored: np.ndarray) -> np.ndarray:
    if type_ == "bf16":
        return (stored.astype(np.uint32) << 16).view(np.float32).astype(np.float64)
    if type_ in ("fp8", "bf8"):
        wide = stored.astype(np.uint16)
        up, scale = (7, 256) if type_ == "fp8" else (8, 1)
        return ((wide & 0x80) << 8 | (wide & 0x7F) << up).view(np.float16).astype(np.float64) * scale
    return (stored if type_ in ("f32", "i4", "i8", "i32") else stored.view(np.float16)).astype(np.float64)


def as_the_card_adds(p: MatrixParameters, a: np.ndarray, b: np.ndarray, arch: str = "gfx1100") -> np.ndarray:
    """Sums of words of A and B: RDNA3's of two k at a time, RDNA4's of four, of 16 the first quarter, the third, the
    second and the last. Zeros stand before what K leaves over. Sums of bytes are exact."""
    if p.integer:
        sums = a.astype(np.int32) @ b.astype(np.int32)
        return sums if p.result == "i32" else sums.astype(np.float32)
    kind, whole = f"{p.factor if p.half_sums else 'f32'} {p.factor}", 2 if arch == "gfx1100" else 32 // p.factor_bytes
    if p.factor_bytes == 1:  # of 32 both products in turn, added as the same numbers in f16
        kind, a, b = "f32 f16", *(numbers(p.factor, x).astype(np.float16).view(np.uint16) for x in (a, b))
    odd = -a.shape[1] % whole
    a, b = np.pad(a, ((0, 0), (odd, 0))).astype(np.uint32), np.pad(b, ((odd, 0), (0, 0))).astype(np.uint32)
    sums = np.zeros((a.shape[0], b.shape[1]), np.uint32)

    for k in range(0, a.shape[1], whole):
        sums = two(kind, a, b, k, sums) if whole == 2 else by_fours(kind, a, b, k, sums, whole)
    return numbers(p.factor, sums.astype(np.uint16)).astype(np.float32) if p.half_sums else sums.view(np.float32)


def pair(a: np.ndarray, b: np.ndarray, k: int) -> list[np.ndarray]:
    """Words of two steps of k, for each element of C."""
    return np.broadcast_arrays((a[:, k] | a[:, k + 1] << 16)[:, None], (b[k] | b[k + 1] << 16)[None, :])


def two(kind: str, a: np.ndarray, b: np.ndarray, k: int, sums: np.ndarray) -> np.ndarray:
    """With two steps of k as RDNA3 adds them."""
    return summed(kind, *([word] for word in pair(a, b, k)), sums)


def by_fours(kind: str, a: np.ndarray, b: np.ndarray, k: int, sums: np.ndarray, whole: int) -> np.ndarray:
    """With so many steps of k as RDNA4 adds them: of each half in turn."""
    for quarter in (first + half for first in range(0, whole // 2, 4) for half in (0, whole // 2)):
        left, right = zip(pair(a, b, k + quarter), pair(a, b, k + quarter + 2), strict=True)
        sums = summed(kind + RDNA4_SUMS, left, right, sums)
    return sums


def draw(p: MatrixParameters, m: int, n: int, k: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    rng = np.random.default_rng(m * 1009 + n * 31 + k)
    a, b, c = (rng.uniform(-1, 1, shape) for shape in ((m, k), (k, n), (m, n)))
    return words(p.factor, a), words(p.factor, b), words(p.result, c)


def memory(p: MatrixParameters, a: np.ndarray, b: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """A and B as the kernel takes them: i4 in pairs along k, a zero behind an odd K."""
    if p.pack == 1:
        return a, b
    odd = a.shape[1] % 2
    a, b = np.pad(a, ((0, 0), (0, odd))), np.pad(b, ((0, odd), (0, 0)))
    return (a[:, ::2] & 15) + 16 * a[:, 1::2], (b[::2] & 15) + 16 * b[1::2]


def assert_right(p: MatrixParameters, m: int, n: int, k: int, alpha: float, beta: float, arch: str = "gfx1100") -> None:
    """Bit for bit, and so near to float64 as such sums can be. Without beta, C begins as NaNs."""
    a, b, c = draw(p, m, n, k)
    if p.result == "i32":
        alpha, beta = int(4 * alpha), int(4 * beta)
    started = c if beta else np.full_like(c, np.nan if p.result == "f32" else 0x7FFF)
    got = launch(p, *memory(p, a, b), started, alpha, beta, arch=arch)
    what = f"{p} at {m} x {n} x {k}, alpha {alpha}, beta {beta}"
    sums, before = as_the_card_adds(p, a, b, arch), numbers(p.result, c).astype(np.float32)
    if p.result == "i32":
        np.testing.assert_array_equal(got, alpha * sums + beta * c, err_msg=what)
        return
    first, second = np.float32(alpha) * sums, np.float64(np.float32(beta)) * before
    if not beta:
        expected = words(p.result, np.float64(np.float32(alpha)) * sums)
    elif p.result == "f32":  # beta * C is rounded, then an FMA
        expected = (np.float64(np.float32(alpha)) * sums + second.astype(np.float32)).astype(np.float32)
    elif p.result == "f16":  # alpha * sum is rounded, then an FMA that rounds to f16
        expected = words("f16", second + first)
    else:  # the same, to f32 and then to bf16
        expected = bf16((second + first).astype(np.float32))
    np.testing.assert_array_equal(got, expected, err_msg=what)
    left, right = numbers(p.factor, a), numbers(p.factor, b)
    exact = alpha * (left @ right) + beta * before
    bound = 2.0**-23 * (k + 8) * (abs(alpha) * (np.abs(left) @ np.abs(right)) + abs(beta))
    bound += {"f32": 0, "f16": 2.0**-11, "bf16": 2.0**-8}[p.result] * np.abs(exact) + 2.0**-25
    if p.half_sums:  # of each step, nearest or cut
        bound += abs(alpha) * (k + 1) / 2 * (UNITS[p.factor] * (np.abs(left) @ np.abs(right)) + 2.0**-25)
    assert np.all(np.abs(numbers(p.result, got) - exact) <= bound), what


SOME = [n if n in QUICK else pytest.param(n, marks=pytest.mark.slow) for n in VARIANTS]


@pytest.mark.parametrize("name", SOME)
@pytest.mark.parametrize("arch", ARCHES)
def test_it_is_right_at_any_size(name: str, arch: str) -> None:
    p = VARIANTS[name]
    sizes = (1, 1, 1), (p.rows + 2, p.columns - 1, 2 * p.depth + 1), (17, 33, 7), (p.rows - 3, 5, 0)
    for size, (alpha, beta) in itertools.product(sizes, ((1.0, 0.0), (1.5, -0.5))):
        assert_right(p, *size, alpha, beta, arch)
    assert_right(p, 2 * p.rows + 8, p.columns, 3 * p.depth, 1.0, 0.0, arch)


@pytest.mark.parametrize("name", OF_RDNA4)
def test_floats_of_8_bits(name: str) -> None:
    p = OF_RDNA4[name]
    assert_right(p, 17, 33, 7, 1.0, 0.0, "gfx1201")
    assert_right(p, p.rows + 2, p.columns - 1, 161, 1.5, -0.5, "gfx1201")
    assert lint.lint_program(program(p, "gfx1201")) == []


def test_floats_of_8_bits_are_of_rdna4() -> None:
    with pytest.raises(ParameterError, match="the matrix units of gfx1100 do not multiply fp8"):
        program(OF_RDNA4["fp8 nt"])


def test_groups_of_rows_of_tiles_with_a_row_left() -> None:
    for size in ((5 * 64, 3 * 64, 20), (3 * 64 - 5, 4 * 64 - 3, 35)):
        assert_right(VARIANTS["rows of tiles in groups"], *size, 1.5, -0.5)


@pytest.mark.parametrize("stages", [1, 2])
def test_priority_changes_nothing_else(stages: int) -> None:
    """Raised before each wait for what was fetched, lowered before the first product behind it."""
    p = dataclasses.replace(SMALL, stages=stages)
    plain, first = (texts(dataclasses.replace(p, prio=prio)) for prio in (False, True))
    assert [text for text in first if not text.startswith("s_setprio")] == plain
    level = 0
    last = max(i for i, text in enumerate(first) if text.startswith("v_wmma"))
    for text in first[: last + 1]:
        if text.startswith("s_setprio"):
            level = int(text.split()[1])
        elif text.startswith(("v_wmma", "s_waitcnt vmcnt(0)")):
            assert level == (0 if text.startswith("v_wmma") else 3), text


def test_sums_of_16_bits_take_half_the_registers() -> None:
    """Two fragments that follow each other share none: the second would wait for the first."""
    wide, half = (MatrixRegisters.of(dataclasses.replace(MatrixParameters(), half_sums=x)) for x in (False, True))
    assert wide.count - half.count == 64
    order = [half.sums[i, j] for j in range(4) for i in range(4)]
    assert all(first != second for first, second in itertools.pairwise(order))


def texts(p: MatrixParameters) -> list[str]:
    return [line.text.strip() for line in program(p).lines if isinstance(line.node, Instruction)]


def tile_order(down: int, across: int, group: int) -> list[tuple[int, int]]:
    """Row and column of the tile of each workgroup, as the order is meant."""
    whole = down - down % group
    grouped = [(g + row, column) for g in range(0, whole, group) for column in range(across) for row in range(group)]
    return grouped + list(itertools.product(range(whole, down), range(across)))


@pytest.mark.parametrize(("down", "across"), [(8, 5), (11, 6), (3, 7), (4, 1), (1, 1)])
def test_workgroups_have_the_tiles_of_their_order(down: int, across: int) -> None:
    """By the addresses from which their first waves load A and B."""
    p = dataclasses.replace(SMALL, trans_b=True, group=4)
    m, n, k = p.rows * down, p.columns * across, 64
    kernarg = struct.pack("<QQQiiiff", 1 << 40, 2 << 40, 3 << 40, m, n, k, 1.0, 0.0)
    code = code_object.load(image(p))
    started = predict.launch_of(code.kernel(NAME), (across, down, 1), (p.threads, 1, 1), kernarg)
    cfg = predict.cfg_of(code, code.kernel(NAME))
    first = np.stack([*tracer.first_addresses(cfg, started, range(down * across), 4).values()])
    rows, columns = (first[first[:, 0] >> 40 == side][0] - (side << 40) for side in (1, 2))
    found = list(zip(rows // (2 * k * p.rows), columns // (2 * k * p.columns), strict=True))
    assert found == tile_order(down, across, p.group)


@pytest.mark.parametrize("name", SOME)
@pytest.mark.parametrize("arch", ARCHES)
def test_lint_finds_nothing(name: str, arch: str) -> None:
    assert lint.lint_program(program(VARIANTS[name], arch)) == []


@pytest.mark.parametrize("name", VARIANTS)
@pytest.mark.parametrize("arch", ARCHES)
def test_the_main_loop_multiplies_each_fragment_once_and_its_operands_lie_on_three_banks(name: str, arch: str) -> None:
    p = VARIANTS[name]
    control = flow_graph.of_kernel(program(p, arch).kernel("gemm"))
    products = [inst for inst in control.instructions if inst.mnemonic.startswith("v_wmma")]
    rows, columns = p.fragments
    each = 32 if "16x16x32" in products[0].mnemonic else 16
    assert len(products) == rows * columns * p.depth // each * p.stages
    for inst in products:
        banks = {reg.bank for reg in inst.operands[:3] if isinstance(reg, Reg)}
        assert len(banks) == 3 or ((p.pack > 1 or arch == "gfx1201") and len(banks) == 2)  # not all on one


@pytest.mark.parametrize("name", [pytest.param("layout nn", marks=pytest.mark.slow), "layout tn"])
@pytest.mark.parametrize("arch", ARCHES)
def test_the_sanitizer_finds_nothing(name: str, arch: str) -> None:
    p = VARIANTS[name]
    a, b, c = draw(p, 70, 66, 40)
    launch(p, a, b, c, 1.5, -0.5, check=True, arch=arch)


EPILOGUES = {
    "bias and gelu": dataclasses.replace(SMALL, trans_b=True, bias=True, activation="gelu"),
    "scales, bias and silu, bf16 C": MatrixParameters(64, 64, 32, 32, 32, factor="i8", result="bf16", trans_b=True,
                                                      scales=True, bias=True, activation="silu"),
    "relu, f16 C": dataclasses.replace(SMALL, trans_b=True, result="f16", activation="relu"),
    "silu and gate, f16 C": dataclasses.replace(SMALL, trans_b=True, result="f16", activation="silu", gate=True),
    "bias, gelu and gate": dataclasses.replace(SMALL, bias=True, activation="gelu", gate=True),
}  # fmt: skip


@pytest.mark.parametrize("name", EPILOGUES)
@pytest.mark.parametrize("arch", ARCHES)
def test_epilogues(name: str, arch: str) -> None:
    """Against float64; the steps before are exact enough in f32 that the type of C is what counts."""
    p = EPILOGUES[name]
    for m, n, k, beta in ((70, 61, 40, 0.0), (70, 61, 40, -0.5), (128, 64, 32, 0.0), (128, 64, 32, 0.5)):
        a, b, c = draw(p, m, n, k)
        rng = np.random.default_rng(n)
        extra = {"bias": rng.normal(size=n), "row_scale": rng.uniform(0.5, 1, m), "column_scale": rng.uniform(0, 1, n)}
        extra = {key: extra[key].astype(np.float32) for key in p.vectors}
        alpha = 2.0**-14 if p.factor == "i8" else 1.0
        got = numbers(p.result, launch(p, a, b, c, alpha, beta, vectors=list(extra.values()), arch=arch))
        x = alpha * (numbers(p.factor, a) @ numbers(p.factor, b))
        if p.scales:
            x = x * extra["row_scale"][:, None] * extra["column_scale"]
        x = x + (0 if p.gate else beta) * numbers(p.result, c) + extra.get("bias", 0)
        u = np.sqrt(2 / np.pi) * (x + 0.044715 * x**3)
        right = {"relu": np.maximum(x, 0), "silu": x / (1 + np.exp(-x)), "gelu": 0.5 * x * (1 + np.tanh(u))}
        right = {name: value * numbers(p.result, c) if p.gate else value for name, value in right.items()}
        unit = {"f32": 2.0**-19, "f16": 2.0**-11, "bf16": 2.0**-8}[p.result]
        np.testing.assert_allclose(got, right[p.activation], rtol=unit, atol=2.0**-17, err_msg=f"{name}, {m}, {beta}")


@pytest.mark.parametrize("name", EPILOGUES)
@pytest.mark.parametrize("arch", ARCHES)
def test_lint_finds_nothing_in_epilogues(name: str, arch: str) -> None:
    assert lint.lint_program(program(EPILOGUES[name], arch)) == []


def test_relu_lets_a_nan_through() -> None:
    p = EPILOGUES["relu, f16 C"]
    a, b, c = draw(p, 70, 61, 40)
    a[3, 7] = 0x7E00
    got = numbers("f16", launch(p, a, b, c, 1.0, 0.0))
    assert np.flatnonzero(np.isnan(got).any(axis=1)).tolist() == [3]


def test_a_nan_stays_one_in_a_bf16_c() -> None:
    p = VARIANTS["bf16 C"]
    a, b, c = draw(p, 70, 66, 40)
    a[3, 7], a[5, 0], b[0] = 0x7FFF, 0x7F80, 0x3F80
    got = numbers("bf16", launch(p, a, b, c, 1.0, 0.0))
    assert np.isnan(got[3]).all()
    assert np.isposinf(got[5]).all()
    assert np.isfinite(np.delete(got, (3, 5), axis=0)).all()


def test_special_values_go_where_they_belong() -> None:
    """An infinity and a NaN in one row of A reach this row of C, and no other."""
    a, b, c = draw(SMALL, 70, 66, 40)
    a[3, 7], a[65, 0] = 0x7C00, 0x7E00
    got = launch(SMALL, a, b, c, 1.0, 0.0)
    wild = ~np.isfinite(got).all(axis=1)
    assert np.flatnonzero(wild).tolist() == [3, 65]


@pytest.mark.parametrize(
    ("change", "expected"),
    [
        ({"factor": "i4", "depth": 16}, "one of [32, 64, 128, 256]"),
        ({"depth": 24}, "one of [16, 32, 64]"),
        ({"depth": 256, "factor": "i8"}, "one of [16, 32, 64, 128]"),
        ({"rows": 16, "wave_rows": 16, "wave_columns": 128, "factor": "i8"}, "at least 32 with 128 columns"),
        ({"stages": 3}, "1 or 2"),
        ({"wave_rows": 48}, "one of"),
        ({"rows": 96}, "wave_rows times a power of two"),
        ({"factor": "f32"}, "f16, bf16, i8, i4, fp8, bf8"),
        ({"result": "f64"}, "f32, f16, bf16"),
        ({"result": "i32"}, "f32, f16, bf16"),
        ({"activation": "tanh"}, "relu, silu, gelu"),
        ({"factor": "i8", "result": "i32", "bias": True}, "none where C is i32"),
        ({"result": "f16", "wave_columns": 16}, "at least 32"),
        ({"factor": "i8", "half_sums": True}, "none of bytes"),
        ({"stream_k": True, "half_sums": True}, "none of a stream-K one"),
        ({"rows": 256, "columns": 256, "depth": 64, "stages": 2, "trans_b": True}, "65536 bytes"),
    ],
)
def test_what_cannot_be_is_refused_with_a_reason(change: dict[str, object], expected: str) -> None:
    with pytest.raises(ParameterError, match="no GEMM kernel has such") as refused:
        MatrixParameters(**change)  # type: ignore[arg-type]
    assert expected in str(refused.value)


def test_registers_that_do_not_do_are_refused() -> None:
    p = MatrixParameters(wave_rows=128, rows=128, trans_b=True)
    with pytest.raises(ParameterError, match="VGPRs"):
        MatrixRegisters.of(p)
