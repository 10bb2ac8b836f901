"""Where EXEC becomes again what it was, and where that cannot be said."""

import pytest

from isa.analysis.cfg import of_text
from isa.asm.parse import parse
from isa.timing.trace.guards import restores

SAVED = "s_mov_b32 s2, exec_lo\nv_cmpx_gt_f32_e32 0, v1\n"
AT_ONCE = "v_cmp_gt_f32_e32 vcc_lo, 0, v1\ns_and_saveexec_b32 s2, vcc_lo\n"
END = "s_or_b32 exec_lo, exec_lo, s2\n"
INNER = "s_mov_b32 s3, exec_lo\nv_cmpx_gt_f32_e32 1.0, v1\nv_mov_b32 v2, v1\ns_or_b32 exec_lo, exec_lo, s3\n"
LEFT = "s_cbranch_scc1 .Lleft\n"


@pytest.mark.parametrize(
    ("text", "found"),
    [
        (SAVED + END, {2: 0}),
        (AT_ONCE + END, {2: 1}),
        (AT_ONCE + "s_mov_b32 exec_lo, s2\n", {2: 1}),
        (SAVED + "s_cbranch_execz .Lend\nv_mov_b32 v2, v1\n.Lend:\n" + END, {4: 0}),
        (SAVED + INNER + END, {5: 2, 6: 0}),
        (".Lagain:\n" + SAVED + END + "s_cbranch_scc1 .Lagain\n", {2: 0}),
        # Only the inner one, whose end is not known to be a part of what the outer one saved.
        (SAVED + "s_mov_b32 s2, 0\n" + INNER + END, {6: 3}),
        # EXEC may have come on elsewhere in between.
        (SAVED + "s_or_b32 exec_lo, exec_lo, s5\n" + END, {}),
        (SAVED + "s_mov_b32 exec_lo, -1\n" + END, {}),
        # Not on all paths, and not the only way out.
        ("s_cbranch_scc1 .Lend\n" + SAVED + ".Lend:\n" + END, {}),
        (SAVED + LEFT + END + ".Lleft:\n", {}),
        (".Lagain:\n" + SAVED + "s_cbranch_scc1 .Lagain\n" + END, {}),
        # The other part of the lanes.
        (AT_ONCE + "s_xor_b32 s2, exec_lo, s2\ns_or_saveexec_b32 s2, s2\n" + END, {}),
    ],
)
def test_ends_of_ifs(text: str, found: dict[int, int]) -> None:
    assert restores(of_text(parse(text + "s_endpgm\n"))) == found
