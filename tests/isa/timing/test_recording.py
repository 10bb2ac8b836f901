"""Recorded launches are what the tracer follows, where it can; and tell what it cannot."""

import struct

import numpy as np
import programs
import pytest
from texts import texts

from isa import toolchain
from isa.errors import IsaError
from isa.object import code_object
from isa.sim.run.card import Card
from isa.timing.model import predict
from isa.timing.trace import recording
from isa.timing.trace.trace import Trace
from isa.timing.trace.tracer import trace

pytestmark = pytest.mark.skipif(not list(toolchain.available()), reason="no compiler for gfx11 here")


THROUGH_MEMORY, START, IF_ELSE, ONE_PATH, SPACES = texts(__file__)


def recorded(body: str, grid: tuple[int, int, int], items: int, lanes: int = 32) -> tuple[Trace, Trace | None]:
    """The program's recording, and what the tracer says of it."""
    text = programs.source(body, lds=4096, scratch=64).replace("wavefront_size32 1", f"wavefront_size32 {32 // lanes}")
    image = code_object.load(programs.linked(text.replace("size: 32\n", f"size: {lanes}\n")))
    card = Card()
    kernel = card.load(image).kernels["test"]
    facts = image.kernel("test")
    cfg = predict.cfg_of(image, facts)
    arguments = struct.pack("<Q", card.memory.allocate(1 << 16))
    found = recording.Running(cfg, kernel, card.memory, card.target, grid, (items, 1, 1), arguments).traced()
    try:
        return found, trace(cfg, predict.launch_of(facts, grid, (items, 1, 1), arguments))
    except IsaError:
        return found, None


@pytest.mark.parametrize("lanes", [32, 64])
@pytest.mark.parametrize(("grid", "items"), [((1, 1, 1), 32), ((3, 2, 1), 64), ((2, 1, 1), 80)])
def test_the_recording_is_the_trace(grid: tuple[int, int, int], items: int, lanes: int) -> None:
    found, followed = recorded(SPACES, grid, items, lanes)
    assert followed is not None
    assert found.wave == followed.wave == (lanes, 2 if lanes == 64 and items > 32 else 1)
    for name, array in found.recorded._asdict().items():
        assert np.array_equal(array, getattr(followed.recorded, name)), name
    assert np.array_equal(found.shift, followed.shift)
    assert (found.exact, found.straight) == (followed.exact, followed.straight)
    assert found.spaces == {}


SWAPPED = IF_ELSE.replace("v_cmp_gt", "v_cmp_le").replace("global_load_b32 v5, v4,", "global_load_b32 v4, v4,")
AFTER = IF_ELSE + "global_load_b32 v5, v4, s[4:5]\n"
LOOP = f".Lagain:\n{IF_ELSE}s_add_u32 s9, s9, -1\ns_cmp_lg_u32 s9, 0\ns_cbranch_scc1 .Lagain\n"


@pytest.mark.parametrize(
    ("body", "known"),
    [(IF_ELSE, True), (ONE_PATH, True), (SWAPPED, True), (AFTER, False), (LOOP, True),
     (LOOP.replace("s_add_u32", "v_cmp_lt_u32 vcc_lo, 20, v0\ns_add_u32"), False)],
    ids=["the else reads", "another path", "both parts load", "after the join", "in a loop", "the parts change"],
)  # fmt: skip
def test_what_one_part_of_the_lanes_loads_is_no_address_of_the_other(body: str, known: bool) -> None:
    """The judge is what ran: the same path and addresses. Where an address is loaded, nothing is claimed."""
    found, followed = recorded(f"{START}{body}s_endpgm", (2, 1, 1), 64)
    assert (followed is not None) == known
    if followed is None:
        return
    for name, array in found.recorded._asdict().items():
        assert np.array_equal(array, getattr(followed.recorded, name)), name


def test_flat_accesses_go_where_their_addresses_point() -> None:
    found, followed = recorded(THROUGH_MEMORY, (1, 1, 1), 32)
    assert followed is None  # an address comes from memory
    assert list(found.spaces.values()) == ["scratch", "lds"]
    assert found.recorded.lds.tolist() == [1]
    assert np.diff(found.recorded.sector_at).tolist() == [4, 4, 4]


def test_a_flat_access_to_two_spaces_is_refused() -> None:
    body = THROUGH_MEMORY.replace("v_mov_b32 v5, s9", "v_mov_b32 v5, s9\nv_cmp_gt_u32 vcc_lo, 16, v0\n").replace(
        "flat_load_b32 v6", "s_mov_b64 s[8:9], src_private_base\nv_mov_b32 v7, s9\nv_cndmask_b32 v5, v7, v5, vcc_lo\n"
        "v_and_b32 v4, 28, v4\nflat_load_b32 v6"
    )  # fmt: skip
    with pytest.raises(IsaError, match="goes to lds and scratch"):
        recorded(body, (1, 1, 1), 32)
