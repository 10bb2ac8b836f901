"""The ladder on a real card: `pytest -m gpu`."""

import pytest

import hipgemm
from hipgemm.device import cards_present
from hipgemm.kernels import LADDER

pytestmark = [
    pytest.mark.gpu,
    pytest.mark.skipif(
        not any(card.supported for card in cards_present()),
        reason="no AMD card of gfx1100 to gfx1103 in /sys/class/kfd/kfd/topology/nodes",
    ),
]


@pytest.mark.parametrize("scalars", [(1.0, 0.0), (1.5, -0.5), (0.0, 1.0)])
@pytest.mark.parametrize("kernel", LADDER)
def test_a_rung_is_right_and_measured(kernel: str, scalars: tuple[float, float]) -> None:
    result = hipgemm.run(kernel, n=256, m=384, k=128, alpha=scalars[0], beta=scalars[1], device="card")
    assert result.correct, result
    assert not result.simulated
    assert result.time_kind == "measured"
    assert result.time_ms is not None
