"""The ladder on a real card: `pytest -m gpu`. Where there is none, all of it is skipped with the reason."""

import numpy as np
import pytest

import hipgemm
from hipgemm.kernels.ladder import LADDER
from hipgemm.launch.problem import Problem
from hipgemm.measure.bench import KERNELS, Refusal, bench
from hipgemm.measure.device import KFD_NODES, Device, cards_present
from hipgemm.measure.result import Result

_others = ", ".join(card.arch for card in cards_present())
pytestmark = [
    pytest.mark.gpu,
    pytest.mark.skipif(
        not any(card.supported for card in cards_present()),
        reason=f"no AMD card of gfx1100 to gfx1103 in {KFD_NODES}" + (f", only {_others}" if _others else ""),
    ),
]


@pytest.fixture(scope="module")
def device() -> Device:
    return Device.open("card")


@pytest.mark.parametrize("scalars", [(1.0, 0.0), (1.5, -0.5), (0.0, 1.0)])
@pytest.mark.parametrize("kernel", LADDER)
def test_a_rung_is_right_and_measured(device: Device, kernel: str, scalars: tuple[float, float]) -> None:
    result = hipgemm.run(kernel, n=256, m=384, k=128, alpha=scalars[0], beta=scalars[1], device=device)
    assert result.correct, result
    assert not result.simulated
    assert result.time_kind == "measured"
    assert result.runs == len(result.times_ms) == 16
    assert result.environment["driver"]


@pytest.mark.parametrize("data", ["random", "identity"])
def test_the_published_size(device: Device, data: str) -> None:
    """Kernel 0 is right too where there is a library; kernel 8 is the fastest rung."""
    entries = {e.kernel: e for e in bench(KERNELS, Problem(4096, 4096, 4096, data=data), device)}
    results = {name: e for name, e in entries.items() if isinstance(e, Result)}
    assert results.keys() >= LADDER.keys(), [e.why for e in entries.values() if isinstance(e, Refusal)]
    assert all(r.correct for r in results.values())
    times = {name: results[name].time_ms or 0.0 for name in LADDER}
    assert min(times, key=times.__getitem__) == "kernel8", times


def test_cold_caches(device: Device) -> None:
    result = hipgemm.run("kernel8", n=1024, device=device, cold=True)
    assert result.correct, result


def test_any_matrix(device: Device) -> None:
    rng = np.random.default_rng(0)
    a, b, c = (rng.standard_normal(s, dtype=np.float32) for s in ((300, 77), (201, 77), (300, 201)))
    wanted = 1.5 * (a @ b.T) - 0.5 * c
    hipgemm.sgemm(a, b.T, c, 1.5, -0.5, device=device)
    np.testing.assert_allclose(c, wanted, rtol=1e-4, atol=1e-4)


def test_torch_shares_the_card(device: Device) -> None:
    torch = pytest.importorskip("torch")
    if not torch.version.hip or not torch.cuda.is_available():
        pytest.skip("this PyTorch is not one for ROCm")
    a, b = torch.randn(256, 64, device="cuda"), torch.randn(300, 64, device="cuda")
    if not device.holds(a.data_ptr()):
        pytest.skip("PyTorch and hip-python opened different HIP libraries")
    c = hipgemm.sgemm(a, b.T, device=device)
    assert isinstance(c, torch.Tensor)
    torch.testing.assert_close(c, a @ b.T, rtol=1e-4, atol=1e-4)
