"""A generated kernel's name says its parameters, all of them."""

import dataclasses
import itertools
from contextlib import suppress

import pytest

from isa.errors import IsaError
from isa.gemm.names import is_name, name_of, parameters_of
from isa.gemm.vector.parameters import ParameterError, Parameters


def some() -> list[Parameters]:
    found = []
    for rows, columns, lanes, group, stages in itertools.product((64, 128), (64, 256), (4, 8), (1, 2), (1, 2)):
        with suppress(ParameterError):
            found.append(Parameters(rows, columns, lane_rows=lanes, group=group, stages=stages))
    return found


def test_the_default_kernel_by_name() -> None:
    assert name_of(Parameters()) == "gemm_128x128x8_8x16_l4_g2_s2_nn"


def test_a_flag_is_a_word_without_a_number() -> None:
    assert name_of(Parameters(stream_k=True, width_b=4)) == "gemm_128x128x8_8x16_l4_g2_s2_streamk_widthb4_nn"


def test_names_tell_kernels_apart_and_lead_back() -> None:
    names = [name_of(p) for p in some()]
    assert len(set(names)) == len(names) > 10
    assert [parameters_of(n) for n in names] == some()


def test_every_field_is_in_the_name() -> None:
    """Whatever field a kernel may differ in, its name differs."""
    for field in dataclasses.fields(Parameters):
        for value in (False, True, 1, 2, 4, 8, 16, 32, 64, 256):
            with suppress(ParameterError, TypeError):
                other = dataclasses.replace(Parameters(), **{field.name: type(field.default)(value)})
                assert (name_of(other) == name_of(Parameters())) == (other == Parameters())
                assert parameters_of(name_of(other)) == other


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("gemm_", "is not the name of a GEMM kernel"),
        ("gemm_128x128x8_8x16_nn", "is not the name of a GEMM kernel"),
        ("gemm_128x128x8_8x16_g2_s2_l4_nn", "is not the name of a GEMM kernel"),
        ("gemm_128x128x8_8x16_l4_g2_s2_z1_nn", "is not the name of a GEMM kernel"),
        ("gemm_128x128x8_8x16_l4_g2_s2_nn ", "is not the name of a GEMM kernel"),
        ("gemm_128x128x8_8x16_l4_g2_s2_n", "is not the name of a GEMM kernel"),
        ("gemm_128x128x8_8x16_l4_g2_s2_xn", "is not the name of a GEMM kernel"),
        ("gemm_128x128x8_8x16_l4_g2_s2_streamk1_nn", "is not the name of a GEMM kernel"),
        ("gemm_128x128x8_8x16_l4_g2_s2_streamk0_nn", "is not the name of a GEMM kernel"),
        ("gemm_128x128x8_8x16_l4_g2_s_nn", "is not the name of a GEMM kernel"),
        ("gemm_128x128x8_8x16_l4_g2_s2_widtha_nn", "is not the name of a GEMM kernel"),
        ("gemm_0128x128x8_8x16_l4_g2_s2_nn", "is not the name of a GEMM kernel"),
        ("gemm_128x128x8_8x16_l5_g2_s2_nn", "lane_rows"),
        ("gemm_128x128x8_8x16_l4_g2_s9_nn", "stages"),
    ],
)
def test_other_names_are_refused_with_the_reason(text: str, says: str) -> None:
    assert is_name(text)
    with pytest.raises(IsaError, match=says):
        parameters_of(text)
