"""The estimate from a kernel's text beside the estimate of the code object that a build makes."""

import pytest

from hipgemm.tuning import trial
from hipgemm.tuning.shapes import Shape
from hipgemm.tuning.trial import TrialTarget
from isa import toolchain
from isa.timing.machine.cards import card

pytestmark = pytest.mark.skipif(not list(toolchain.available()), reason="no assembler for gfx11 here")

ON = card("7900 XTX")


@pytest.mark.parametrize(
    ("kernel", "shape"),
    [
        ("gemm_64x64x16_8x8_l4_g4_s1_widtha4_widthb4_nn", Shape(512, 768, 1100)),
        ("gemm_64x64x8_8x8_l4_g4_s2_widtha4_widthb4_nn", Shape(2048, 1408, 6144)),  # parts of a long launch
        ("gemm_128x128x8_16x8_l4_g2_s2_widtha4_widthb4_nt", Shape(1000, 768, 1100, "nt")),  # workgroups at edges
        ("gemm_64x64x8_8x8_l4_g4_s2_streamk_widtha4_widthb4_tt", Shape(256, 1408, 8192, "tt")),  # few tiles in pieces
        ("gemm_128x128x8_16x8_l4_g2_s2_streamk_widtha4_widthb4_tn", Shape(640, 1408, 1500, "tn")),
    ],
    ids=str,
)
def test_it_is_the_estimate_of_the_built_kernel(kernel: str, shape: Shape) -> None:
    whole = trial.launch(kernel, shape, TrialTarget(ON.name, ON.clock_mhz)).estimate().time_s
    assert trial.seconds(kernel, shape, ON, ON.clock_mhz) == pytest.approx(whole, rel=0.001)
    slower = trial.seconds(kernel, Shape(shape.m, shape.n, 2 * shape.k, shape.trans), ON, ON.clock_mhz)
    assert slower > 1.2 * whole
