"""Workgroups whose addresses go in no straight line with the grid, against each of them followed by itself."""

import numpy as np
import pytest
from texts import texts

from isa.analysis.cfg import Cfg, of_text
from isa.asm.parse import parse
from isa.timing.trace import tracer
from isa.timing.trace.places import axes_of, fitted, in_grid, probes
from isa.timing.trace.tracer import TracedLaunch
from isa.timing.workgroups.unequal import dealt

(GROUPED,) = texts(__file__)
PLACE = (("x", 2), ("y", 3), ("z", 4))


def cfg_of(text: str) -> Cfg:
    return of_text(parse(text))


def first_sectors(text: str, launch: TracedLaunch) -> np.ndarray:
    """[workgroup, access]: of each workgroup followed by itself."""
    count = int(np.prod(launch.grid))
    found = tracer.follow(cfg_of(text), launch, range(count))
    return found.sectors[found.sector_at[:-1]].reshape(count, -1)


def predicted_sectors(text: str, launch: TracedLaunch) -> np.ndarray:
    """The same by one recording and the places of the others."""
    cfg = cfg_of(text)
    found = dealt(cfg, launch, tracer.trace(cfg, launch))
    assert found.exact
    own = found.recorded.sectors[found.recorded.sector_at[:-1]]
    accesses = [i for i, inst in enumerate(cfg.instructions) if inst.mnemonic.startswith("global")]
    return own + found.place(np.arange(found.workgroups)) @ found.shift[accesses].T


@pytest.mark.parametrize("text", [GROUPED, GROUPED.replace("s_and_b32 s6, s3, 3", "s_mov_b32 s6, 0", 1)])
def test_tiles_in_groups_of_rows(text: str) -> None:
    launch = TracedLaunch((10, 8, 1), (32, 1, 1), sgprs=((0, 0x8000),), workgroup_sgprs=PLACE)
    assert not tracer.trace(cfg_of(text), launch).straight
    assert np.array_equal(predicted_sectors(text, launch), first_sectors(text, launch))


def test_z_is_an_axis_of_its_own() -> None:
    text = """
    s_lshl_b32 s5, s2, 9
    s_lshl_b32 s6, s4, 14
    s_lshl_b32 s7, s3, 12
    s_add_i32 s5, s5, s6
    s_add_i32 s7, s7, s6
    v_lshl_add_u32 v1, v0, 2, s5
    v_lshl_add_u32 v2, v0, 2, s7
    global_load_b32 v4, v1, s[0:1]
    global_load_b32 v5, v2, s[0:1]
    s_endpgm
    """
    launch = TracedLaunch((3, 2, 5), (32, 1, 1), sgprs=((0, 0x8000),), workgroup_sgprs=PLACE)
    assert tracer.trace(cfg_of(text), launch).straight
    assert np.array_equal(predicted_sectors(text, launch), first_sectors(text, launch))


def test_what_no_three_axes_hold_stays_as_it_is() -> None:
    text = """
    s_mul_i32 s5, s2, s2
    s_mul_i32 s6, s5, s2
    s_mul_i32 s7, s6, s2
    s_lshl_b32 s5, s5, 7
    s_lshl_b32 s6, s6, 7
    s_lshl_b32 s7, s7, 7
    s_lshl_b32 s8, s2, 7
    global_load_b32 v4, v0, s[0:1]
    """ + "".join(f"v_add_nc_u32 v1, v0, s{n}\nglobal_load_b32 v4, v1, s[0:1]\n" for n in range(5, 9))  # fmt: skip
    cfg, launch = cfg_of(text + "s_endpgm\n"), TracedLaunch((64, 1, 1), (32, 1, 1), workgroup_sgprs=PLACE)
    found = tracer.trace(cfg, launch)
    assert not found.exact
    assert dealt(cfg, launch, found) is found


def test_axes() -> None:
    grid = (5, 4, 3)
    places = in_grid(grid, np.arange(60))
    rows, columns, both = places @ (0, 4096, 0), places @ (64, 0, 0), places @ (32, 640, 0)
    found = axes_of([both, rows, columns])
    assert found is not None
    assert sorted(map(tuple, found.T)) == sorted(map(tuple, np.stack([0 * rows, places[:, 0], places[:, 1]])))
    assert axes_of([0 * rows]) is None
    shift, straight, whole = fitted(places[probes(grid)], {1: both[probes(grid)]}, 2)
    assert (shift.tolist(), straight, whole) == ([[0, 0, 0], [1, 20, 0]], True, True)
    assert not fitted(places[probes(grid)], {0: (both**2)[probes(grid)]}, 1)[1]
    assert not fitted(places[probes(grid)], {0: (both // 2)[probes(grid)]}, 1)[2]


def test_a_last_workgroup_that_reads_other_rows_leaves_the_grid_as_it_is() -> None:
    """Of two loads one is held back at the edge: no line goes through both, and the others still move."""
    text = """
    s_lshl_b32 s5, s2, 9
    s_min_u32 s6, s5, 0x1500
    v_lshl_add_u32 v1, v0, 2, s5
    v_lshl_add_u32 v2, v0, 2, s6
    global_load_b32 v4, v1, s[0:1]
    global_load_b32 v5, v2, s[0:1]
    s_endpgm
    """
    cfg, launch = cfg_of(text), TracedLaunch((12, 1, 1), (32, 1, 1), workgroup_sgprs=PLACE)
    found = tracer.trace(cfg, launch)
    assert not found.straight
    assert dealt(cfg, launch, found) is found
    assert found.shift[[4, 5], 0].tolist() == [16, 16]
