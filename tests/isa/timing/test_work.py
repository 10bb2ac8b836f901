"""Operations of the vector ALUs: counted by hand, and against the flops of a product, which its code has no say in."""

from __future__ import annotations

import pytest
from texts import texts

from hipgemm.judge import predict
from hipgemm.kernels import ladder as kernels
from hipgemm.kernels.build import build
from isa.analysis import cfg as control_flow
from isa.asm.parse import parse
from isa.timing.machine import families, rdna3
from isa.timing.machine.cards import card
from isa.timing.machine.wave64 import WAVE32, Wave
from isa.timing.model import ensemble, work
from isa.timing.model import run as model
from isa.timing.trace.decode import decode
from isa.timing.trace.tracer import TracedLaunch, trace

CASES, LOOP = texts(__file__)
LAUNCH = TracedLaunch((200, 1, 1), (256, 1, 1))


@pytest.mark.parametrize("row", CASES.strip().splitlines())
def test_operations_of_an_instruction(row: str) -> None:
    text, each = row.split("|")
    cfg = control_flow.of_text(parse(f"{text}\ns_endpgm"))
    for wave, times in ((WAVE32, 1), (Wave.of(64, 256), 2)):
        if wave is not WAVE32 and ("dual" in text or "wmma" in text):
            continue
        code = decode(cfg, rdna3.values(), wave=wave)
        assert work.operations(cfg, code, rdna3.values(), wave)[0] == pytest.approx(times * float(each))


def timing(text: str) -> ensemble.Timing:
    """Of 32 instructions in turn that use the VALU as long as another."""
    body = "\n".join(text.format(32 + x, 33 + x) for x in range(0, 64, 2))
    traced = trace(cfg := control_flow.of_text(parse(LOOP.format(trips=40, body=body))), LAUNCH)
    return ensemble.quick(model.prepare(cfg, traced, model.Resources(96, 0, True), card("7900 XTX")))


def test_two_fmas_in_a_cycle_are_twice_the_work_of_one() -> None:
    one, two = timing("v_fmac_f32 v{}, v0, v1"), timing("v_dual_fmac_f32 v{}, v0, v1 :: v_dual_fmac_f32 v{}, v2, v3")
    assert 2 * one.operations == two.operations == 3 * 8 * 40 * 32 * 2  # 3 of the 200 workgroups on the busiest CU
    assert one.valu_utilisation == pytest.approx(two.valu_utilisation, rel=0.02)
    assert 2 * one.valu_work == pytest.approx(two.valu_work, rel=0.02)
    assert two.valu_work == pytest.approx(two.valu_utilisation, rel=0.02)


def test_a_product_does_its_flops_and_not_much_more() -> None:
    """The table's kernel 9: all but some per cent of its operations are FMAs."""
    on = card("7900 XTX")
    ready = predict.ready(build("kernel9").code_object(), kernels.rung("kernel9"), (512, 512, 512), on)
    found = ready.timing()
    most = on.peak_flops() * found.time_s
    share = 2 * 512**3 / most
    assert share < found.valu_work < 1.15 * share


def test_a_matrix_product_takes_one_energy_on_both_families() -> None:
    """RDNA4's ends in half the cycles."""
    for work_of in ("wmma_work", "wmma_16bit_work"):
        old, new = (n[work_of] * n["wmma_passes"] for n in map(families.values, ("gfx1100", "gfx1201")))
        assert new == pytest.approx(old)
