"""What a measurement stood on, in words: whoever reads a result later cannot ask the machine any more.

    os, python, hipgemm, hip_python    this program
    driver         version of the amdgpu module, or of the kernel that it is part of
    rocm           as the ROCm folder's .info/version says
    hip_runtime    what the opened HIP library says of itself
    card           marketing name and PCI address

What cannot be found out is left out. The compiler stands in `Result.made_by`: it may differ from kernel to kernel.
"""

from __future__ import annotations

import importlib.metadata
import os
import platform
from pathlib import Path

import hipgemm
from hipgemm.measure.device import Device

AMDGPU = Path("/sys/module/amdgpu")


def environment(device: Device) -> dict[str, str]:
    """All that can be said of this process and of the device."""
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
