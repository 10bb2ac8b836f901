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
from functools import partial
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Any, TypeVar

from isa import packages
from isa.errors import IsaError, meant
from isa.sim.ir.jit import NATIVE, HostTarget
from isa.targets import runs_on
from isa.timing.machine.cards import DEFAULT, of_target
from isa.toolchain import ARCHS

if TYPE_CHECKING:
    import numpy as np

    from hipgemm.simulated_hip.card import HipCard
    from hipgemm.simulated_hip.runtime import Runtime

KFD_NODES = Path("/sys/class/kfd/kfd/topology/nodes")
CHOICES = ("card", "card:N", "simulated")
"""What `Device.open` and `--device` take; N counts from 0."""
Dim = tuple[int, int, int]
T = TypeVar("T")


class DeviceError(IsaError):
    """There is no such device, or HIP returned an error."""


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
class LoadedKernel:
    """A kernel of a loaded module; `handle` is hip-python's, `module` keeps the module alive."""

    name: str
    handle: Any
    module: Any


class Buffer:
    """Device memory. Free it, or use it in a `with`."""

    def __init__(self, device: Device, size: int) -> None:
        self.device, self.size = device, size
        try:
            self.pointer = device.call("hipMalloc", size)
        except DeviceError as error:
            if "OutOfMemory" not in (error.got or ""):
                raise
            raise DeviceError(f"{device.name} has no room for {size} bytes more", got=error.got) from error

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
        # A card that faulted answers everything afterwards with an error: the first error is the one to show.
        with suppress(DeviceError) if error else nullcontext():
            self.free()


def require_card(which: str, otherwise: str = "--device simulated") -> None:
    """DeviceError if there is no such card; which: "card" or "card:N"; otherwise: what to do without. Opens nothing."""
    index, present = _index(which), cards_present()
    if index >= sum(c.supported for c in present):
        raise DeviceError(
            "there is no such card",
            expected=f"an AMD GPU of {', '.join(ARCHS)}, number {index}",
            got=", ".join(c.arch for c in present) or "no AMD GPU in /sys/class/kfd",
            hint=otherwise,
        )


class Device:
    """An open device. Made by `Device.open`.

    name:      as the device says it.
    card:      the card that it is, or that it stands for: what tables of tuned kernels know it by.
    arch:      its gfx target.
    simulated: whether it is the simulated card.
    cus:       its CUs.
    clock_mhz: the highest shader clock that the device states.
    hip:       hip-python's module.
    band_s:    of the simulated card, the ends of the band of what `timings` timed last, for one run; None where there
               is none.
    """

    def __init__(self, hip: Any, index: int, simulated: bool) -> None:
        self.hip, self.index, self.simulated = hip, index, simulated
        self.band_s: tuple[float, float] | None = None
        self.call("hipSetDevice", index)
        properties = self._properties()
        self.name = _text(properties.name)
        self.card = self._runtime().stands_for.name if simulated else self.name
        self.arch = _text(properties.gcnArchName).split(":")[0]
        # On gfx11 HIP counts WGPs, of two CUs each (ROCclr, maxComputeUnits with WGP mode).
        self.cus = 2 * properties.multiProcessorCount
        self.clock_mhz = properties.clockRate / 1e3
        self.pci = f"{properties.pciDomainID:04x}:{properties.pciBusID:02x}:{properties.pciDeviceID:02x}.0"

    def _properties(self) -> Any:
        return self._filled("hipGetDeviceProperties", self.hip.hipDeviceProp_t, self.index)

    def _filled(self, name: str, structure: Callable[[], T], *arguments: Any) -> T:
        """A structure that HIP fills. hip-python returns it since 7.14, and filled one that it was given before."""
        try:
            filled: T = self.call(name, *arguments)
        except TypeError:
            filled = structure()
            self.call(name, filled, *arguments)
        return filled

    @staticmethod
    def open(
        prefer: str | None = None,
        *,
        cpu: str = NATIVE,
        card: str | None = None,
        arch: str | None = None,
        make_card: Callable[[], HipCard] | None = None,
    ) -> Device:
        """Open a device.

        prefer: "card" or "card:N" for a card that the ladder is made for (gfx1100 to gfx1103; N counts them from 0),
                "simulated", or None for a card where there is one and else the simulated one.
        cpu:    the host processor that the simulated card compiles kernels for: "native" or a level of x86-64.
        card:   the card that the simulated one stands for, one of `isa.timing.machine.cards`; a 7900 XTX if not given.
        arch:   the target of the code, where it is known: without `card` a simulated card that runs it.
        make_card: another card after the simulated runtime, for tests.

        Raises DeviceError where it is not there, IsaError for a processor that is not known or cannot run here, for a
        card that is not known, or where the simulated card stands for another one already.
        """
        from hipgemm import simulated_hip

        index = _index(prefer)
        if prefer is None and (simulated_hip.installed() or not any(c.supported for c in cards_present())):
            prefer = "simulated"
        if prefer == "simulated":
            there = simulated_hip.installed() and simulated_hip.runtime().arch
            if card is None and arch and not (there and runs_on(arch, there)):
                card = of_target(arch).name
            if cpu != NATIVE:
                HostTarget(cpu).check_host()
                make_card = make_card or partial(simulated_hip.simulator, cpu, card or DEFAULT)
            runtime = simulated_hip.install(make_card, stands_for=card)
            if cpu != NATIVE and getattr(runtime.card, "cpu", None) != cpu:
                raise DeviceError(
                    f"this process already has a simulated card, which does not compile for {cpu!r}",
                    hint="open it in a separate process",
                )
            return Device(_hip(), 0, simulated=True)
        if cpu != NATIVE:
            raise DeviceError(
                "a host processor can be chosen only for the simulated card", got=cpu, hint="--device simulated"
            )
        if card is not None:
            raise DeviceError("only the simulated card can simulate another card", got=card, hint="--device simulated")
        require_card(prefer or "card")
        if simulated_hip.installed():
            raise DeviceError(
                "this process already uses the simulated card", hint="open the card first, or in a separate process"
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
            report = self._runtime().take_report()
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

    def load(self, image: bytes, kernel: str) -> LoadedKernel:
        """A kernel of a code object."""
        module = self.call("hipModuleLoadData", image)
        return LoadedKernel(kernel, self.call("hipModuleGetFunction", module, kernel.encode()), module)

    def unload(self, function: LoadedKernel) -> None:
        """Unload the module that the function came from."""
        self.call("hipModuleUnload", function.module)

    def launch(
        self, function: LoadedKernel, grid: Dim, block: Dim, arguments: Sequence[Any], *, stream: Any = None,
        dynamic_lds: int = 0, last: Dim | None = None,
    ) -> None:  # fmt: skip
        """Start a kernel. `arguments`: ctypes values in the kernel's order. stream: None for the default one.
        dynamic_lds: bytes of LDS after the static ones. last: the last workgroup along each axis, if it is smaller:
        IsaError for a card, since hip-python lacks hipExtModuleLaunchKernel."""
        if last is not None:
            return self._launch_with_smaller(function, grid, block, arguments, int(stream or 0), dynamic_lds, last)
        self.call("hipModuleLaunchKernel", function.handle, *grid, *block, dynamic_lds, stream, None, tuple(arguments))

    def _launch_with_smaller(
        self, function: LoadedKernel, grid: Dim, block: Dim, arguments: Sequence[Any], stream: int, lds: int, last: Dim
    ) -> None:
        if not self.simulated:
            raise IsaError(
                "a launch whose last workgroups are smaller", expected="the simulated card: --device simulated"
            )
        from hipgemm.simulated_hip.abi import HipError
        from hipgemm.simulated_hip.calls import modules

        places = (ctypes.c_void_p * len(arguments))(*map(ctypes.addressof, arguments))
        try:
            modules.launch(
                self._runtime(), int(function.handle), grid, block, lds, stream, ctypes.addressof(places), 0, last=last
            )
        except HipError as error:
            raise error.report or DeviceError("the launch failed", got=error.code.name) from error

    def limit(self, budget: int) -> None:
        """So many instructions may a workgroup of a launch run. IsaError for a card, which has no such limit."""
        if not self.simulated:
            raise DeviceError("a card has no budget of instructions", hint="--device simulated")
        self._runtime().budget = budget

    def synchronize(self) -> None:
        """Wait until the device is idle."""
        self.call("hipDeviceSynchronize")

    def timings(self, work: Callable[[int, Any], None], runs: int) -> list[float | None]:
        """Seconds of each of `runs` calls of `work(run, stream)`, which puts something on that stream.

        Each stands between two events of its own; no wait comes before the last one is queued, so that the device
        does not idle in between. On the simulated card the clock is the prediction's. None where the clock stood still:
        no prediction, or work too short for a card's events. No runs time nothing, and leave `band_s` as it is.
        """
        if runs < 1:
            return []
        stream = self.call("hipStreamCreate")
        events: list[Any] = []
        before = self._predicted(0)
        try:
            for run in range(runs):
                pair = self.call("hipEventCreate"), self.call("hipEventCreate")
                events += pair
                self.call("hipEventRecord", pair[0], stream)
                work(run, stream)
                self.call("hipEventRecord", pair[1], stream)
            self.call("hipStreamSynchronize", stream)
            spans = zip(events[::2], events[1::2], strict=True)
            seconds = [float(self.call("hipEventElapsedTime", *pair)) / 1e3 for pair in spans]
        finally:
            for event in events:
                self.hip.hipEventDestroy(event)
            self.hip.hipStreamDestroy(stream)
        bands = [getattr(launch, "band_s", None) for launch in self._predicted(len(before))]
        known = [band for band in bands if band is not None]
        self.band_s = None
        if known and len(known) == len(bands):
            self.band_s = sum(low for low, _ in known) / runs, sum(high for _, high in known) / runs
        return [s if s > 0 else None for s in seconds]

    @staticmethod
    def _runtime() -> Runtime:
        """The simulated card's."""
        from hipgemm import simulated_hip

        return simulated_hip.runtime()

    def _predicted(self, first: int) -> list[Any]:
        """The simulated card's launches whose times events ask for, from this one on."""
        if not self.simulated:
            return []
        return list(self._runtime().timed[first:])

    def holds(self, address: int) -> bool:
        """Whether this HIP runtime knows the address as memory of this device."""
        try:
            found = self._filled("hipPointerGetAttributes", self.hip.hipPointerAttribute_t, address)
        except DeviceError:  # before ROCm 6, memory that HIP does not know was an error
            return False
        # hipMemoryType (hip_runtime_api.h): 0 is memory that HIP does not know, 1 the host's, 2 the device's, 3 managed
        return int(found.type) in (2, 3) and found.device == self.index


def _index(prefer: str | None) -> int:
    """N of "card:N", 0 of whatever else there is to choose."""
    kind, colon, number = ("card" if prefer is None else prefer).partition(":")
    if kind not in ("card", "simulated") or (colon and (kind != "card" or not number.isdecimal())):
        raise DeviceError(f"there is no device {prefer!r}", expected=" or ".join(CHOICES), hint=meant(kind, CHOICES))
    return int(number or 0)


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
    packages.load("hip")
    from hip import hip

    return hip


def _text(value: str | bytes) -> str:
    return value.decode() if isinstance(value, bytes) else str(value)
