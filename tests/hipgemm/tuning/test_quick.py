"""The quick look at a kernel beside the estimate of the whole launch, from the code object that a build makes."""

import pytest

from hipgemm.tuning import quick, trial
from hipgemm.tuning.shapes import Shape
from hipgemm.tuning.trial import TrialTarget
from isa import toolchain
from isa.timing.cards import card

pytestmark = pytest.mark.skipif(not list(toolchain.available()), reason="no assembler for gfx11 here")

ON = card("7900 XTX")


@pytest.mark.parametrize(
    ("kernel", "shape", "off"),
    [
        ("gemm_64x64x16_8x8_l4_g4_s1_widtha4_widthb4_nn", Shape(512, 512, 200), 0.01),  # K is not cut
        ("gemm_64x64x16_8x8_l4_g4_s1_widtha4_widthb4_nn", Shape(512, 768, 1100), 0.03),
        ("gemm_128x128x8_16x8_l4_g2_s2_widtha4_widthb4_nt", Shape(1000, 768, 1100, "nt"), 0.03),
        ("gemm_64x64x16_8x8_l4_g4_s1_streamk_widtha4_widthb4_nn", Shape(512, 384, 300), 0.01),
        ("gemm_128x128x8_16x8_l4_g2_s2_streamk_widtha4_widthb4_tn", Shape(640, 1408, 1500, "tn"), 0.03),
    ],
    ids=str,
)
def test_it_is_near_the_estimate_of_the_whole(kernel: str, shape: Shape, off: float) -> None:
    whole = trial.launch(kernel, shape, TrialTarget(ON.name, ON.clock_mhz)).estimate().time_s
    assert quick.seconds(kernel, shape, ON, ON.clock_mhz) == pytest.approx(whole, rel=off)
