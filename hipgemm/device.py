"""HIP through hip-python's Module API: one code path, on a card or on the simulated card.

Which of the two is decided once, before hip-python's first call: a card is looked for in the kernel driver's topology
(KFD, /sys/class/kfd), without opening a HIP library; where there is none, `hipgemm.simulated_hip` is installed and
everything below goes to the simulator.

Whatever HIP answers other than hipSuccess becomes a `DeviceError`, or, where the simulated card has a report of its own
(a fault with kernel, instruction, lane and address), that report as it is.
"""

from __future__ import annotations

import ctypes
from collections.abc import Callable, Sequence
from contextlib import nullcontext, suppress
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Any

from isa.errors import IsaError
from isa.toolchain import ARCHS

if TYPE_CHECKING:
    import numpy as np

    from hipgemm.simulated_hip.card import Card

KFD_NODES = Path("/sys/class/kfd/kfd/topology/nodes")
CHOICES = ("card", "simulated")
Dim = tuple[int, int, int]


class DeviceError(IsaError):
    """There is no such device, or HIP refused."""


@dataclass(frozen=True, slots=True)
class CardFound:
    """An AMD GPU that the kernel driver knows, by its node and gfx target."""

    node: int
    arch: str

    @property
    def supported(self) -> bool:
        """Whether the kernels of the ladder are made for it."""
        return self.arch in ARCHS


def cards_present(nodes: Path = KFD_NODES) -> list[CardFound]:
    """The AMD GPUs of this machine, read from KFD's topology: `gfx_target_version 110000` is gfx1100, 0 is a CPU."""
    found = []
    for file in sorted(nodes.glob("*/properties"), key=lambda f: int(f.parent.name) if f.parent.name.isdigit() else -1):
        try:
            properties = dict(line.split(maxsplit=1) for line in file.read_text().splitlines() if " " in line)
            version = int(properties.get("gfx_target_version", "0"))
        except (OSError, ValueError):
            continue
        if version:
            arch = f"gfx{version // 10000}{version // 100 % 100:x}{version % 100:x}"
            found.append(CardFound(int(file.parent.name), arch))
    return found


@dataclass(frozen=True, slots=True)
class Function:
    """A kernel of a loaded module; `handle` is hip-python's, `module` keeps the module alive."""

    name: str
    handle: Any
    module: Any


class Buffer:
    """Device memory. Free it, or use it in a `with`."""

    def __init__(self, device: Device, size: int) -> None:
        self.device, self.size = device, size
        self.pointer = device.call("hipMalloc", size)

    @property
    def address(self) -> int:
        return int(self.pointer)

    def upload(self, array: np.ndarray) -> None:
        """Copy a contiguous array to the start of the buffer."""
        self._check(array)
        self.device.call("hipMemcpy", self.pointer, array, array.nbytes, self.device.hip.hipMemcpyKind(1))

    def download(self, array: np.ndarray) -> None:
        """Fill a contiguous array from the start of the buffer."""
        self._check(array)
        self.device.call("hipMemcpy", array, self.pointer, array.nbytes, self.device.hip.hipMemcpyKind(2))

    def _check(self, array: np.ndarray) -> None:
        if not array.flags.c_contiguous or array.nbytes > self.size:
            raise DeviceError("the array and the buffer do not match", expected=f"{self.size} contiguous bytes")

    def free(self) -> None:
        if self.pointer is not None:
            pointer, self.pointer = self.pointer, None
            self.device.call("hipFree", pointer)

    def __enter__(self) -> Buffer:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        # A card that faulted refuses everything afterwards: the first error is the one to show.
        with suppress(DeviceError) if error else nullcontext():
            self.free()


class Device:
    """An open device. Made by `Device.open`.

    name:      as the device says it.
    arch:      its gfx target.
    simulated: whether it is the simulated card.
    hip:       hip-python's module.
    """

    def __init__(self, hip: Any, index: int, simulated: bool) -> None:
        self.hip, self.index, self.simulated = hip, index, simulated
        self.call("hipSetDevice", index)
        properties = self._properties()
        self.name = _text(properties.name)
        self.arch = _text(properties.gcnArchName).split(":")[0]

    def _properties(self) -> Any:
        """The device's hipDeviceProp_t. hip-python returns it since 7.14, and filled one before."""
        try:
            return self.call("hipGetDeviceProperties", self.index)
        except TypeError:
            properties = self.hip.hipDeviceProp_t()
            self.call("hipGetDeviceProperties", properties, self.index)
            return properties

    @staticmethod
    def open(prefer: str | None = None, index: int = 0, *, make_card: Callable[[], Card] | None = None) -> Device:
        """Open a device.

        prefer: "card", "simulated", or None for a card where there is one and else the simulated one.
        index:  which of the cards that the ladder is made for (gfx1100 to gfx1103).
        make_card: another card behind the simulated runtime, for tests.

        Raises DeviceError where it is not there.
        """
        from hipgemm import simulated_hip

        if prefer not in (None, *CHOICES):
            raise DeviceError(f"there is no device {prefer!r}", expected=" or ".join(CHOICES))
        present = cards_present()
        supported = [c for c in present if c.supported]
        if prefer == "simulated" or (prefer is None and (simulated_hip.installed() or not supported)):
            if index:
                raise DeviceError("there is one simulated card", expected="index 0", got=str(index))
            simulated_hip.install(make_card)
            return Device(_hip(), 0, simulated=True)
        if simulated_hip.installed():
            raise DeviceError(
                "this process already uses the simulated card", hint="open the card first, or in a process of its own"
            )
        if index >= len(supported):
            raise DeviceError(
                "there is no such card",
                expected=f"an AMD GPU of {', '.join(ARCHS)}, number {index}",
                got=", ".join(c.arch for c in present) or "no AMD GPU in /sys/class/kfd",
                hint="--device simulated",
            )
        return _open_card(index)

    def call(self, name: str, *arguments: Any) -> Any:
        """Call HIP; its answer without the code. Raises DeviceError or the simulated card's report."""
        code, *answer = getattr(self.hip, name)(*arguments)
        if int(code) != 0:
            raise self._error(name, code)
        return answer[0] if len(answer) == 1 else tuple(answer)

    def _error(self, name: str, code: Any) -> BaseException:
        if self.simulated:
            from hipgemm import simulated_hip

            report = simulated_hip.runtime().take_report()
            if isinstance(report, IsaError):
                return report
            if report is not None:
                error = DeviceError(f"{name} failed within the simulator: {type(report).__name__}: {report}")
                error.__cause__ = report
                return error
        return DeviceError(f"{name} failed on {getattr(self, 'name', 'the device')}", got=code.name)

    def buffer(self, size: int) -> Buffer:
        """`size` bytes of device memory, not initialised."""
        return Buffer(self, size)

    def load(self, image: bytes, kernel: str) -> Function:
        """A kernel of a code object."""
        module = self.call("hipModuleLoadData", image)
        return Function(kernel, self.call("hipModuleGetFunction", module, kernel.encode()), module)

    def unload(self, function: Function) -> None:
        """Unload the module that the function came from."""
        self.call("hipModuleUnload", function.module)

    def launch(self, function: Function, grid: Dim, block: Dim, arguments: Sequence[Any], dynamic_lds: int = 0) -> None:
        """Start a kernel on the default stream. `arguments`: ctypes values in the kernel's order."""
        self.call("hipModuleLaunchKernel", function.handle, *grid, *block, dynamic_lds, None, None, tuple(arguments))

    def synchronize(self) -> None:
        """Wait until the device is idle."""
        self.call("hipDeviceSynchronize")

    def timed(self, work: Callable[[], None]) -> float | None:
        """Do `work` and wait for it; seconds on the device's clock between two events around it.

        On the simulated card that clock is the prediction's; None where its launches come without one.
        """
        start, stop = self.call("hipEventCreate"), self.call("hipEventCreate")
        try:
            self.call("hipEventRecord", start, None)
            work()
            self.call("hipEventRecord", stop, None)
            self.call("hipEventSynchronize", stop)
            seconds = float(self.call("hipEventElapsedTime", start, stop)) / 1e3
        finally:
            for event in (start, stop):
                self.hip.hipEventDestroy(event)
        return None if self.simulated and seconds == 0 else seconds


def gemm_arguments(
    matrices: Sequence[Buffer], sizes: tuple[int, int, int], alpha: float, beta: float
) -> tuple[Any, ...]:
    """The ladder's shared signature: A, B, C; M, N, K; alpha, beta."""
    pointers = (ctypes.c_void_p(x.address) for x in matrices)
    return (*pointers, *map(ctypes.c_int, sizes), ctypes.c_float(alpha), ctypes.c_float(beta))


def _open_card(index: int) -> Device:
    """The card with this number among those the ladder is made for, by HIP's own numbering and names."""
    hip = _hip()
    try:
        code, count = hip.hipGetDeviceCount()
    except RuntimeError as error:
        raise DeviceError(
            f"there is an AMD card, but no HIP runtime: {error}",
            hint="install ROCm or set ROCM_PATH, or use --device simulated",
        ) from error
    opened = [Device(hip, i, simulated=False) for i in range(count if int(code) == 0 else 0)]
    usable = [d for d in opened if d.arch in ARCHS]
    if index >= len(usable):
        raise DeviceError(
            "HIP does not show the card that the kernel driver has",
            expected=", ".join(ARCHS),
            got=", ".join(d.arch for d in opened) or "no device",
            hint="check permissions on /dev/kfd and HIP_VISIBLE_DEVICES",
        )
    usable[index].call("hipSetDevice", usable[index].index)
    return usable[index]


def _hip() -> Any:
    from hip import hip

    return hip


def _text(value: str | bytes) -> str:
    return value.decode() if isinstance(value, bytes) else str(value)
