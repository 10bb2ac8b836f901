"""The space of generated kernels, and what bounds their times from below."""

import random

import pytest

from hipgemm.tuning import bounds, space, trial
from hipgemm.tuning.shapes import Shape
from hipgemm.tuning.trial import Job, TrialTarget
from isa import toolchain
from isa.gemm.names import name_of
from isa.timing.machine.cards import card

pytestmark = pytest.mark.skipif(not list(toolchain.available()), reason="no assembler for gfx11 here")

TARGET = TrialTarget("7900 XTX", 2500)


@pytest.mark.parametrize("trans", ["nn", "tt"])
def test_the_space_holds_hundreds_of_kernels_each_once(trans: str) -> None:
    names = [name_of(p) for p in space.kernels(trans)]
    assert len(set(names)) == len(names) > 300
    assert all(name.endswith(trans) for name in names)
    assert f"gemm_128x128x8_8x16_l4_g2_s2_{trans}" in names


@pytest.mark.parametrize("count", [4, pytest.param(16, marks=pytest.mark.slow)])
@pytest.mark.parametrize("shape", [Shape(512, 768, 160), Shape(64, 4096, 512), Shape(512, 4096, 16)], ids=str)
def test_no_prediction_is_below_its_bound(shape: Shape, count: int) -> None:
    some = random.Random(1).sample(space.kernels("nn"), 16)
    for p in some[:count]:
        vgprs = space.vgprs(p)
        bound = None if vgprs is None else bounds.bound(p, vgprs, shape, card("7900 XTX"), 2500)
        if bound is None:
            continue
        (outcome,) = trial.run(Job((name_of(p),), shape, "full", TARGET))
        assert outcome.low is not None
        assert bound.seconds <= outcome.low, f"{name_of(p)}: {bound.by}"
