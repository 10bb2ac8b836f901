"""ds_gws_barrier: one wave of each workgroup waits for those of all others, launch after launch, round after round."""

import numpy as np
import programs
import pytest

from isa.errors import IsaError
from isa.sim.run.card import Card

GROUPS, ROUNDS = 7, 5
# In each round a workgroup writes its place, all meet, and it adds its neighbour's place to a sum of its own.
BODY = f"""
s_load_b64 s[4:5], s[0:1], 0x0
s_add_u32 s6, s2, 1
s_cmp_eq_u32 s6, {GROUPS}
s_cselect_b32 s6, 0, s6
v_mov_b32 v1, s2
v_lshlrev_b32 v1, 2, v1
v_mov_b32 v2, s6
v_lshlrev_b32 v2, 2, v2
v_mov_b32 v3, 0
s_mov_b32 s7, 0
s_mov_b32 m0, 0
s_waitcnt lgkmcnt(0)
round:
s_add_u32 s8, s2, s7
v_mov_b32 v4, s8
global_store_b32 v1, v4, s[4:5]
s_waitcnt_vscnt null, 0x0
s_barrier
v_mov_b32 v5, {GROUPS - 1}
ds_gws_barrier v5 gds
s_waitcnt lgkmcnt(0)
s_barrier
global_load_b32 v4, v2, s[4:5] glc
s_waitcnt vmcnt(0)
v_add_nc_u32 v3, v3, v4
ds_gws_barrier v5 gds
s_waitcnt lgkmcnt(0)
s_add_u32 s7, s7, 1
s_cmp_lt_u32 s7, {ROUNDS}
s_cbranch_scc1 round
global_store_b32 v1, v3, s[4:5] offset:64
s_endpgm
"""


def launched(threads, cooperative=True):
    card, left = Card(capacity=1 << 24), np.zeros(32, np.uint32)
    for _ in range(2):
        left = programs.launched(programs.assembled(BODY), left, (GROUPS, 1, 1), card=card, threads=threads,
                                 cooperative=cooperative)  # fmt: skip
    return left[16 : 16 + GROUPS]


@pytest.mark.parametrize("threads", [1, 2, GROUPS])
def test_all_workgroups_meet_in_each_round(threads):
    neighbours = (np.arange(GROUPS) + 1) % GROUPS
    np.testing.assert_array_equal(launched(threads), neighbours * ROUNDS + sum(range(ROUNDS)))


def test_a_launch_that_is_not_cooperative_is_a_fault():
    with pytest.raises(IsaError, match="a barrier of the whole grid, in a launch whose workgroups are not all"):
        launched(2, cooperative=False)
