"""What a compiler writes is clean, at each level, and computes under the sanitizer what it computes without."""

import ctypes

import numpy as np
import programs
import pytest
from test_compiled import INCLUDE, KERNELS, SOURCE, _kernarg

from isa.sanitize import observe
from isa.sim.run.card import Card


def _prepare(image, name):
    card = Card(capacity=1 << 24, baseline=True)
    kernel = card.load(image).kernels[name]
    arguments, _ = KERNELS[name](np.random.default_rng(7))
    values, sizes = [], []
    for argument in arguments:
        if isinstance(argument, np.ndarray):
            values.append(card.memory.allocate(argument.nbytes))
            ctypes.memmove(values[-1], argument.tobytes(), argument.nbytes)
            sizes.append((values[-1], argument.nbytes))
        else:
            values.append(argument)
    return card, kernel, _kernarg(kernel.facts, values), sizes


@pytest.mark.parametrize("level", ["-O0", pytest.param("-O1", marks=pytest.mark.slow), "-O3"])
@pytest.mark.parametrize("name", KERNELS)
def test_compiled_code_is_clean(name, level):
    image = programs.compiled(SOURCE, (level,), True, INCLUDE)
    results = []
    for checked in (False, True):
        card, kernel, kernarg, buffers = _prepare(image, name)
        if checked:
            assert observe(card, kernel, (1, 1, 1), (64, 1, 1), kernarg, schedules=2).findings == ()
        else:
            card.launch(kernel, (1, 1, 1), (64, 1, 1), kernarg)
        results.append([ctypes.string_at(*buffer) for buffer in buffers])
    assert results[0] == results[1]
