"""Random legal pipelines of passes: the kernel stores the same bits, and the prover agrees.

Legal is what no pass refuses: a pass that meets a program without the shape it needs says so, and that pipeline is
drawn anew. Kernel 5 itself is what all are compared with.
"""

import dataclasses
import functools
import struct

import numpy as np
import programs
import pytest
from hypothesis import HealthCheck, Phase, assume, event, given, settings
from hypothesis import strategies as st
from plan import examples

from hipgemm.judge import proving
from hipgemm.kernels.build import build
from hipgemm.kernels.ladder import rung
from isa import toolchain
from isa.asm.emit import emit
from isa.asm.parse import parse
from isa.errors import IsaError
from isa.passes import run_pipeline
from isa.sim.run.card import Card

M, N, K = 128, 256, 24
# A pass with its options; each may stand anywhere, any number of times.
PASSES = st.one_of(
    st.sampled_from(("bank-balance", "unroll", "batch-loads", "vopd-interlock")),
    st.builds("batch-loads{{per-step={}}}".format, st.integers(1, 8)),
    st.builds("unroll{{limit={}}}".format, st.sampled_from((8, 16, 64))),
    st.builds("bank-balance{{vgprs={}}}".format, st.sampled_from((208, 216, 232, 248))),
)
# And what is more often legal: passes in the order in which they build on one another, some left out.
ORDERED = st.builds(
    lambda balance, between, unroll, loads, last: ",".join(filter(None, (balance, between, unroll, loads, last))),
    st.sampled_from(("bank-balance", "bank-balance{vgprs=248}", "")),
    st.sampled_from(("", "vopd-interlock")),
    st.just("unroll"),
    st.one_of(st.just(""), st.builds("batch-loads{{per-step={}}}".format, st.integers(1, 8))),
    st.sampled_from(("", "vopd-interlock")),
)
PIPELINES = st.one_of(ORDERED, st.lists(PASSES, min_size=1, max_size=4).map(",".join))


@functools.cache
def compiled():
    return parse((build("kernel5").folder / "kernel5.0-compiled.s").read_text(), "kernel5.0-compiled.s")


@functools.cache
def card():
    return Card(capacity=1 << 24)


def stored(program, alpha, beta):
    """The bits of C after a launch of the kernel on data with a few special values."""
    module = card().load(toolchain.find().code_object(emit(program)))
    random = np.random.default_rng(11)
    a, b, c = (random.standard_normal(s, dtype=np.float32) for s in ((M, K), (K, N), (M, N)))
    a[3, 5], b[7, 9], a[100, 1], b[2, 200] = 1e-40, -0.0, np.inf, 3e38
    places = programs.put(card(), a, b, c)
    arguments = struct.pack("<QQQiiiff", *places, M, N, K, alpha, beta)
    (kernel,) = module.kernels.values()
    card().launch(kernel, (N // 128, M // 128, 1), (128, 1, 1), arguments)
    found = programs.held(places[2], c)
    for place in places:
        card().memory.free(place)
    card().unload(module)
    found[np.isnan(found)] = np.nan  # which NaN an infinity makes is not said
    return found.view(np.uint32)


@functools.cache
def expected():
    return stored(compiled(), 1.5, -0.5)


def check(pipeline):
    try:
        steps = list(run_pipeline(compiled(), pipeline))
    except IsaError as error:
        if "broke the program" in error.message:
            raise
        event(f"refused: {error.message[:50]}")
        assume(False)
    event(f"{len(steps)} passes")
    assert (stored(steps[-1][1], 1.5, -0.5) == expected()).all(), pipeline
    # Batched loads have offsets of 32 bits, for matrices of up to 2^30 elements: kernel 8 takes no larger ones.
    largest = rung("kernel8" if "batch-loads" in pipeline else "kernel5").max_elements
    proof = proving.check(dataclasses.replace(rung("kernel5"), max_elements=largest), compiled(), steps)
    assert proof.verdict == "proved", f"{pipeline}: {proof}"


QUICK = {"deadline": None, "suppress_health_check": list(HealthCheck), "phases": [Phase.generate]}


@settings(max_examples=4, derandomize=True, **QUICK)
@given(PIPELINES)
def test_random_pipelines_keep_the_result(pipeline):
    check(pipeline)


@pytest.mark.slow
@settings(max_examples=examples(60), derandomize=True, **QUICK)
@given(PIPELINES)
def test_many_random_pipelines_keep_the_result(pipeline):
    check(pipeline)
