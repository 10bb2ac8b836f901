"""What a compiler writes is clean, at each level, and computes under the sanitizer what it computes without."""

import numpy as np
import programs
import pytest
from test_compiled import INCLUDE, KERNELS, SOURCE, on_card

from isa.sanitize import observe
from isa.sim.run.card import Card


@pytest.mark.parametrize("level", ["-O0", pytest.param("-O1", marks=pytest.mark.slow), "-O3"])
@pytest.mark.parametrize("name", KERNELS)
def test_compiled_code_is_clean(name, level):
    image = programs.compiled(SOURCE, (level,), True, INCLUDE)
    results = []
    for checked in (False, True):
        card = Card(capacity=1 << 24, baseline=True)
        kernel = card.load(image).kernels[name]
        kernarg, buffers = on_card(card, kernel, KERNELS[name](np.random.default_rng(7))[0])
        if checked:
            assert observe(card, kernel, (1, 1, 1), (64, 1, 1), kernarg, schedules=2).findings == ()
        else:
            card.launch(kernel, (1, 1, 1), (64, 1, 1), kernarg)
        results.append([programs.held(*buffer).tobytes() for buffer in buffers])
    assert results[0] == results[1]
