"""Environment of a measurement: the machine -> versions, driver and card in words, since a result's reader cannot ask
the machine any more.

    os, python, hipgemm, hip_python    this program
    driver         version of the amdgpu module, or of the kernel that it is part of
    rocm           as the ROCm folder's .info/version says
    hip_runtime    what the opened HIP library says of itself
    card           marketing name and PCI address

What cannot be found out is left out. The compiler stands in `Result.made_by`: it may differ from kernel to kernel.

The card's clock and power while kernels run, read through AMD's `amdsmi` where that is installed.

A thread of its own asks every few milliseconds; a reading is kept if it is a number (amdsmi says "N/A" for what a card
does not report). The card is found among amdsmi's by its PCI address. Names of readings changed over the years
(https://rocm.docs.amd.com/projects/amdsmi), so each is asked under all of its names. Whatever goes wrong, there are no
readings, and the measurement goes on without.
"""

from __future__ import annotations

import os
import platform
import threading
from collections.abc import Callable
from pathlib import Path
from types import TracebackType
from typing import Any

import hipgemm
from hipgemm.measure.device import Device

AMDGPU = Path("/sys/module/amdgpu")


def environment(device: Device) -> dict[str, str]:
    """All that can be said of this process and of the device."""
    import importlib.metadata  # with all of email

    version = int(device.call("hipRuntimeGetVersion"))  # major * 10^7 + minor * 10^5 + patch
    runtime = f"{version // 10**7}.{version // 10**5 % 100}.{version % 10**5}"
    found = {
        "os": platform.platform(),
        "python": platform.python_version(),
        "hipgemm": hipgemm.__version__,
        "hip_python": importlib.metadata.version("hip-python"),
        "hip_runtime": f"simulated, as {runtime}" if device.simulated else runtime,
    }
    if not device.simulated:
        found["card"] = f"{device.name}, PCI {device.pci}"
        found |= {name: text for name, text in (("driver", driver()), ("rocm", rocm())) if text}
    return found


def driver(module: Path = AMDGPU) -> str | None:
    """Drivers from AMD's packages carry a version; the kernel's own has the kernel's."""
    if not module.is_dir():
        return None
    return _line(module / "version") or f"amdgpu of Linux {platform.release()}"


def rocm() -> str | None:
    """The version of the ROCm that $ROCM_PATH, $ROCM_HOME or /opt/rocm names."""
    roots = [os.environ.get("ROCM_PATH"), os.environ.get("ROCM_HOME"), "/opt/rocm"]
    return next((text for r in roots if r and (text := _line(Path(r) / ".info" / "version"))), None)


def _line(file: Path) -> str | None:
    try:
        return file.read_text().strip() or None
    except OSError:
        return None


INTERVAL_S = 0.005
CLOCK = ("clk", "cur_clk")  # of amdsmi_get_clock_info: MHz
POWER = ("current_socket_power", "socket_power", "average_socket_power")  # of amdsmi_get_power_info: W
Readings = tuple[float, float, float]


class Telemetry:
    """`with Telemetry(pci) as seen: ...`; afterwards `seen.clock_mhz` and `seen.power_w` are (lowest, mean, highest),
    or None where there was nothing to read. `pci`: the card's address, "0000:03:00.0"; None reads nothing."""

    def __init__(self, pci: str | None) -> None:
        self._pci = pci
        self._clock: list[float] = []
        self._power: list[float] = []
        self._stop = threading.Event()
        self._started = threading.Event()
        self._thread = threading.Thread(target=self._watch, daemon=True)

    @property
    def clock_mhz(self) -> Readings | None:
        return _summary(self._clock)

    @property
    def power_w(self) -> Readings | None:
        return _summary(self._power)

    def __enter__(self) -> Telemetry:
        if self._pci is not None:
            self._thread.start()
            self._started.wait(timeout=5)
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        self._stop.set()
        if self._pci is not None:
            self._thread.join(timeout=5)

    def _watch(self) -> None:
        try:
            import amdsmi

            amdsmi.amdsmi_init()
            try:
                self._read(amdsmi)
            finally:
                amdsmi.amdsmi_shut_down()
        except Exception:
            pass  # no amdsmi, no driver, no permission: no readings
        finally:
            self._started.set()

    def _read(self, amdsmi: Any) -> None:
        cards = amdsmi.amdsmi_get_processor_handles()
        card = next(h for h in cards if amdsmi.amdsmi_get_gpu_device_bdf(h).lower() == self._pci)
        clocks = amdsmi.AmdSmiClkType.GFX
        while True:
            _keep(self._clock, lambda: amdsmi.amdsmi_get_clock_info(card, clocks), CLOCK)
            _keep(self._power, lambda: amdsmi.amdsmi_get_power_info(card), POWER)
            self._started.set()
            if self._stop.wait(INTERVAL_S):
                return


def _keep(into: list[float], ask: Callable[[], dict[str, Any]], names: tuple[str, ...]) -> None:
    """Keep the first of the named values that is a positive number."""
    try:
        answer = ask()
    except Exception:
        return
    for name in names:
        value = answer.get(name)
        if isinstance(value, int | float) and value > 0:
            into.append(float(value))
            return


def _summary(readings: list[float]) -> Readings | None:
    return (min(readings), sum(readings) / len(readings), max(readings)) if readings else None
