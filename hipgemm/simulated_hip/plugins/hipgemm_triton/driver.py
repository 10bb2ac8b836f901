"""Driver for Triton: HIP without torch.

Triton's own launches, measures and asks torch for the device; a kernel's launch takes what has a `data_ptr`. So here
are the device, the stream and the clock, and arguments become reachable before Triton looks at them. Its functions are
replaced as `triton.testing`, the last of its modules that are needed, has been loaded: this module is loaded before.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from importlib.machinery import ModuleSpec, PathFinder
from typing import Any

from triton.backends.amd import driver as amd

from hipgemm_triton import arrays, bench


class SimulatedDriver(amd.HIPDriver):
    """The simulated card."""

    def __init__(self) -> None:
        self.utils = amd.HIPUtils()
        self.launcher_cls = amd.HIPLauncher

    @staticmethod
    def is_active() -> bool:
        return True

    def get_current_device(self) -> int:
        return 0

    def set_current_device(self, device: int) -> None:
        pass

    def get_current_stream(self, device: int) -> int:
        """torch's, where it has the card."""
        torch = getattr(sys.modules.get("torch"), "_C", None)
        current: Callable[[int], int] | None = getattr(torch, "_cuda_getCurrentRawStream", None)
        return current(device) if current else 0

    def get_device_capability(self, device: int = 0) -> tuple[int, int]:
        arch = self.get_current_target().arch.removeprefix("gfx")
        return int(arch[:-2]), int(arch[-2], 16)

    def get_device_interface(self) -> type[bench.DeviceInterface]:
        return bench.DeviceInterface

    def get_active_torch_device(self) -> Any:
        """Tensors of the CPU stand for the card's where torch has none (hipgemm_torch)."""
        import torch

        return torch.device("cuda", 0) if torch.cuda.is_available() else torch.device("cpu")

    def get_benchmarker(self) -> Any:
        return bench.benchmark

    def get_empty_cache_for_benchmark(self) -> None:
        return None

    def clear_cache(self, cache: None) -> None:
        pass


class _AfterTesting:
    """Replaces Triton's functions once `triton.testing` has been loaded."""

    def find_spec(self, name: str, path: Any = None, target: Any = None) -> ModuleSpec | None:
        if name != "triton.testing":
            return None
        sys.meta_path.remove(self)
        spec = PathFinder.find_spec(name, path)
        assert spec is not None
        assert spec.loader is not None
        load = spec.loader.exec_module

        def exec_module(module: Any) -> None:
            load(module)
            module.do_bench = module.do_bench_cudagraph = bench.do_bench
            _launch_arrays()

        spec.loader.exec_module = exec_module  # type: ignore[method-assign]
        return spec


def _launch_arrays() -> None:
    from triton.runtime.autotuner import Autotuner
    from triton.runtime.jit import JITFunction

    for kind in (JITFunction, Autotuner):
        _take_arrays(kind)


def _take_arrays(kind: Any) -> None:
    run = kind.run

    def launch(self: Any, *values: Any, **named: Any) -> Any:
        arrays.teach_torch()
        return run(self, *map(arrays.reachable, values), **{k: arrays.reachable(v) for k, v in named.items()})

    kind.run = launch


sys.meta_path.insert(0, _AfterTesting())
