"""Finding a card in the driver's topology, and refusing what is not there. No HIP library is opened here."""

from collections.abc import Callable
from pathlib import Path

import pytest

from hipgemm.measure import device
from hipgemm.measure.device import Device, DeviceError, cards_present
from isa.sim.ir import jit


@pytest.fixture
def topology(tmp_path: Path) -> Path:
    """A KFD topology with a CPU, a 7900 XTX and a Ryzen's graphics."""
    for node, version in (("0", 0), ("1", 110000), ("2", 100306)):
        (tmp_path / node).mkdir()
        (tmp_path / node / "properties").write_text(
            f"cpu_cores_count 0\nsimd_count 192\ngfx_target_version {version}\n"
        )
    return tmp_path


def test_cards_are_named_by_their_target(topology: Path) -> None:
    assert [(c.node, c.arch, c.supported) for c in cards_present(topology)] == [
        (1, "gfx1100", True),
        (2, "gfx1036", False),
    ]


def test_all_supported_targets(tmp_path: Path) -> None:
    for stepping in range(4):
        (tmp_path / str(stepping)).mkdir()
        (tmp_path / str(stepping) / "properties").write_text(f"gfx_target_version {110000 + stepping}\n")
    assert [c.arch for c in cards_present(tmp_path)] == ["gfx1100", "gfx1101", "gfx1102", "gfx1103"]
    assert all(c.supported for c in cards_present(tmp_path))


def test_unreadable_topology_is_no_card(tmp_path: Path) -> None:
    (tmp_path / "x").mkdir()
    (tmp_path / "x" / "properties").write_text("gfx_target_version many\n")
    assert cards_present(tmp_path) == []
    assert cards_present(tmp_path / "nowhere") == []


def test_a_card_that_is_not_there(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(device, "cards_present", lambda: [device.CardFound(1, "gfx1036")])
    with pytest.raises(DeviceError) as caught:
        Device.open("card")
    assert "gfx1036" in str(caught.value)
    assert "--device simulated" in str(caught.value)


@pytest.mark.parametrize("prefer", ["simulator", "simulated:1", "card:", "card:-1", "card:one", "", "0"])
def test_what_is_no_device(prefer: str) -> None:
    with pytest.raises(DeviceError, match="there is no device"):
        Device.open(prefer)


def test_the_number_of_a_card_is_looked_for(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(device, "cards_present", lambda: [device.CardFound(1, "gfx1101")])
    with pytest.raises(DeviceError) as caught:
        Device.open("card:1")
    assert "number 1" in str(caught.value)
    assert "gfx1101" in str(caught.value)


def test_no_card_stands_for_another(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(device, "cards_present", lambda: [device.CardFound(1, "gfx1100")])
    monkeypatch.setattr("hipgemm.simulated_hip.installed", lambda: False)
    with pytest.raises(DeviceError, match="only the simulated card can simulate another card"):
        Device.open(card="780M")


@pytest.mark.skipif(not jit.is_x86(), reason="levels of x86-64 are for such machines")
def test_a_host_processor_is_for_the_simulated_card(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(device, "cards_present", lambda: [device.CardFound(1, "gfx1100")])
    # Another test of this process may have opened the simulated card, which then stays the one that is open.
    monkeypatch.setattr("hipgemm.simulated_hip.installed", lambda: False)
    with pytest.raises(DeviceError, match="for the simulated card"):
        Device.open(cpu="x86-64")


@pytest.mark.skipif(not jit.is_x86(), reason="levels of x86-64 are for such machines")
def test_one_process_has_one_simulated_card(run_program: Callable[..., object]) -> None:
    run_program("""
from isa.sim.ir import jit
from hipgemm.measure.device import Device, DeviceError
import hipgemm
plain = Device.open("simulated", cpu="x86-64")
assert hipgemm.run("kernel1", 32, device=plain).correct
assert Device.open("simulated", cpu="x86-64").simulated
try:
    Device.open("simulated", cpu="x86-64-v2")
except DeviceError as error:
    assert "'x86-64-v2'" in str(error)
else:
    raise AssertionError
""")
