"""Memory through buffer descriptors: compiled HIP on both engines against NumPy, its time, and what is refused.
`test_instruction_vectors.py` and `test_pcode.py` have the instructions one by one."""

from pathlib import Path

import numpy as np
import programs
import pytest
from test_compiled import INCLUDE, run_card, run_numpy

from isa.asm.parse import parse_instruction
from isa.errors import IsaError
from isa.semantics.execute import bind

SOURCE = Path(__file__).parent / "compiled" / "buffers.hip"
A = np.random.default_rng(3).integers(0, 1 << 32, 256, np.uint32)
ENGINES = pytest.mark.parametrize("engine", [run_numpy, run_card], ids=["numpy", "card"])


@pytest.fixture(scope="module")
def image():
    try:
        return programs.compiled(SOURCE, ("-O3",), True, INCLUDE)
    except IsaError as error:
        if "__amdgpu_buffer_rsrc_t" in str(error) or "make_buffer_rsrc" in str(error):
            pytest.skip("this compiler has no buffer descriptors")
        raise


@ENGINES
@pytest.mark.parametrize("n", [0, 1, 2, 3, 4, 101, 254, 256])
def test_quads(image, engine, n):
    """The last quad may be in range in part."""
    out, _ = engine(image, "quads", [np.full(256, 7, np.uint32), A, n])
    want = np.where(np.arange(256) < n, A * 3 + np.arange(256, dtype=np.uint32) % 4, 7)
    np.testing.assert_array_equal(out, want)


@ENGINES
@pytest.mark.parametrize("n", [0, 1, 3])
def test_masked(image, engine, n):
    """Lanes that a compiler masks off ask for 0x80000000."""
    out, _ = engine(image, "masked", [np.zeros(64, np.uint32), A, n])
    on = np.arange(64) % 3 != n
    first = np.where(np.arange(64) < 3, A.view(np.uint8)[:64], 0)
    want = np.where(on, A[:64] + (A[2:66] & 0xFFFF), 0) + first
    np.testing.assert_array_equal(out, want.astype(np.uint32))


@ENGINES
@pytest.mark.parametrize("n", [0, 63, 64, 130, 255])
def test_columns(image, engine, n):
    """The range check of a raw buffer counts the scalar offset."""
    out, _ = engine(image, "columns", [np.full(256, 7, np.uint32), A, n])
    np.testing.assert_array_equal(out, np.where(np.arange(256) < n, A + 1, 7))


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("buffer_load_b32 v[0:1], off, s[4:7], 0 tfe", "tfe is not simulated"),
        ("buffer_load_b32 v0, v1, s[4:7], 0", "no idxen and no offen: 0 VGPRs of address"),
        ("buffer_load_b32 v0, v1, s[4:7], 0 idxen offen", "idxen and offen: 2 VGPRs of address"),
        ("buffer_load_b32 v0, off, s[4:5], 0", "a buffer descriptor is four SGPRs"),
    ],
)
def test_refused(text, said):
    with pytest.raises(IsaError, match=said):
        bind(parse_instruction(text))
