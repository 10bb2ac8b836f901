"""Rates of units and memory: what the cycle model says of each against what is known, and that its kernels are right.

The predictions run nothing, so that all rates can be looked at; a few are run on the simulated card.
"""

from __future__ import annotations

import numpy as np
import pytest

from hipgemm.lab import micro
from hipgemm.lab.bench import Bench
from hipgemm.lab.rates import Rate, beyond, predicted, rates
from hipgemm.measure.device import Device
from isa import toolchain
from isa.timing.machine import rdna3
from isa.timing.machine.cards import CARDS, card

pytestmark = pytest.mark.skipif(not list(toolchain.available()), reason="no compiler for gfx11 here")
BY_NAME = {rate.what: rate for rate in rates()}
XTX = card("7900 XTX")
SLOW = [name for name in CARDS if name not in ("7900 XTX", "7600", "8060S")]
"""Cards between the largest, of which all rates are asked, and the two with the least memory."""


def test_there_are_rates_of_all_kinds() -> None:
    assert len(BY_NAME) == len(rates()) >= 35


@pytest.mark.parametrize("rate", rates(), ids=lambda rate: rate.what)
def test_a_rate_is_within_a_tenth_of_what_is_known_and_never_past_the_limit(rate: Rate) -> None:
    found = predicted(rate, XTX)
    assert found == pytest.approx(rate.known(XTX), rel=0.1)
    assert not beyond(rate, found, XTX)


@pytest.mark.parametrize(
    ("what", "number", "value"),
    [
        ("VRAM write", "vram_write_share", 1.1), ("copy", "vram_read_share", 1.4),
        ("32-bit product", "int_quarter_passes", 2), ("WMMA f16", "wmma_passes", 2), ("exp", "trans_unit_cycles", 1),
        ("f64 FMA", "f64_passes", 8), ("64-bit shift", "valu64_passes", 1),
    ],
)  # fmt: skip
def test_a_wrong_number_shows(what: str, number: str, value: float) -> None:
    """Each was an error of this model, or could be one: the limit or the known rate catches it."""
    rate = BY_NAME[what]
    found = predicted(rate, XTX, rdna3.values(**{number: value}))
    assert beyond(rate, found, XTX)


@pytest.mark.parametrize("name", ["8060S", "7600", *(pytest.param(c, marks=pytest.mark.slow) for c in SLOW)])
def test_no_card_writes_faster_than_its_memory(name: str) -> None:
    """A write of 256 MB took a fifth of the least time while stores cost L2 alone."""
    on = card(name)
    for what in ("VRAM write", "copy"):
        rate = BY_NAME[what]
        found = predicted(rate, on)
        assert not beyond(rate, found, on)
        assert found == pytest.approx(rate.known(on), rel=0.1)


def test_copy_and_triad_of_a_card_that_nothing_was_fitted_to() -> None:
    """gfx1151, measured: 210 and 226 GB/s of 256 (kroqueta-s/gfx1151-gemm)."""
    on = card("8060S")
    assert predicted(BY_NAME["copy"], on) == pytest.approx(210, rel=0.1)
    assert predicted(BY_NAME["a + b"], on) == pytest.approx(226, rel=0.1)


def test_waits_for_the_valu_hold_a_wave_for_what_they_name_and_no_other() -> None:
    """While a wave waits for va_vdst, others keep the unit of v_exp busy, 4 cycles each. VALU_DEP counts no
    transcendental instruction: the addition waits 5 cycles for the one before it, not for v_exp between them."""
    past = ["v_exp_f32_e32 v3, v4", "s_delay_alu instid0(VALU_DEP_1)", "v_add_f32_e32 v2, 1.0, v2"]
    landed = ["v_exp_f32_e32 v2, v2", "s_waitcnt_depctr depctr_va_vdst(0)", "v_add_f32_e32 v2, 1.0, v2", past[1]]
    for body, waves, cycles in (landed, 8, 4), (past, 1, 5):
        one = micro.Micro("held", [], 64 * body, [], vgprs=8, block=64 * waves)
        assert micro.predicted_cycles(one, 0, XTX) / 64 / waves == pytest.approx(cycles, rel=0.1)


def test_lanes_exchange_in_the_time_of_an_lds_load_without_conflicts() -> None:
    def cycles(name: str, body: str) -> float:
        setup = ["v_and_b32_e32 v1, 31, v0", "v_lshlrev_b32_e32 v1, 2, v1"]
        one = micro.Micro(name, setup, 16 * [body] + ["s_waitcnt lgkmcnt(0)"], [], vgprs=8, lds=128)
        return micro.predicted_cycles(one, 0, XTX)

    load = cycles("lab_load", "ds_load_b32 v2, v1")
    assert cycles("lab_bpermute", "ds_bpermute_b32 v2, v1, v0") == load
    assert cycles("lab_swizzle", "ds_swizzle_b32 v2, v0 offset:swizzle(SWAP,1)") == load
    assert cycles("lab_add", "v_add_f32_e32 v2, v0, v0") < load


RUN = ("dual FMA", "chain with s_delay_alu", "64-bit multiply-add", "exp with three adds", "DPP", "f16 dot product",
       "WMMA f16", "WMMA f16, operands on one bank", "WMMA iu4", "LDS b64, WGP mode", "L0", "L1", "L2")  # fmt: skip


@pytest.fixture(scope="module")
def simulated() -> Device:
    return Device.open("simulated")


@pytest.mark.parametrize("what", RUN)
def test_its_kernel_computes_what_it_says(what: str, simulated: Device, monkeypatch: pytest.MonkeyPatch) -> None:
    """Run without its time, and with an answer that is off by one, which must be seen."""
    case = BY_NAME[what].case(8)

    def launched(work, runs):  # type: ignore[no-untyped-def]
        work(0, None)
        simulated.synchronize()
        return [None]

    monkeypatch.setattr(simulated, "timings", launched)
    bench = Bench(simulated, lambda _: None)
    assert micro.run(bench, case.micro, case.step, case.expected, case.written).correct

    def off(iterations: int) -> np.ndarray:
        wanted = case.expected(iterations).copy()
        wanted[-1] += 1
        return wanted

    assert not micro.run(bench, case.micro, case.step, off, case.written).correct


@pytest.mark.slow
@pytest.mark.parametrize("what", ["VRAM write", "copy", "a + b", "transpose", "reduction"])
def test_the_kernels_of_large_arrays_compute_what_they_say(
    what: str, simulated: Device, monkeypatch: pytest.MonkeyPatch
) -> None:
    test_its_kernel_computes_what_it_says(what, simulated, monkeypatch)
