"""Benchmarks for Triton: `triton.testing.do_bench`, autotuning and events, by the simulated clock.

The clock is the same in every run, and a launch costs the host far more than the card, so nothing is repeated.
"""

from __future__ import annotations

import ctypes
import math
import sys
from collections.abc import Callable
from typing import Any

from hipgemm_triton.arrays import hip


class Event:
    """As torch.cuda.Event."""

    def __init__(self, enable_timing: bool = False, blocking: bool = False, interprocess: bool = False) -> None:
        self._handle = ctypes.c_void_p()
        hip().hipEventCreate(ctypes.byref(self._handle))

    def record(self, stream: object = None) -> None:
        hip().hipEventRecord(self._handle, None)

    def synchronize(self) -> None:
        pass

    def elapsed_time(self, end: Event) -> float:
        """Milliseconds."""
        out = ctypes.c_float()
        if code := hip().hipEventElapsedTime(ctypes.byref(out), self._handle, end._handle):
            raise RuntimeError(f"hipEventElapsedTime returns {code}: was each event recorded?")
        return out.value


class DeviceInterface:
    """What Triton and its users ask of torch.cuda."""

    Event = Event

    @staticmethod
    def synchronize(device: object = None) -> None:
        pass

    @staticmethod
    def current_device() -> int:
        return 0


def milliseconds(fn: Callable[[], Any]) -> float:
    """What the card needs for the launches of a call; NaN, with words, where the model cannot tell."""
    from hipgemm import simulated_hip

    runtime = simulated_hip.runtime()
    Event().record()  # launches from here on are kept with their times
    before = len(runtime.timed)
    fn()
    total = 0.0
    for report in runtime.timed[before:]:
        if report.time_s is None:
            print("hipgemm: no time is known for a launch whose path depends on data", file=sys.stderr)
            return math.nan
        total += report.time_s
    return total * 1e3


def do_bench(
    fn: Callable[[], Any],
    warmup: int = 25,
    rep: int = 100,
    grad_to_none: Any = None,
    quantiles: list[float] | None = None,
    return_mode: str = "mean",
) -> Any:
    """In place of Triton's: milliseconds on the simulated clock, the same for every quantile."""
    took = milliseconds(fn)
    if quantiles is not None:
        return took if len(quantiles) == 1 else [took] * len(quantiles)
    return [took] if return_mode == "all" else took


def benchmark(fn: Callable[[], Any], *, quantiles: list[float], **ignored: Any) -> list[float]:
    """For autotuning: what has no time is slower than anything that has one."""
    took = milliseconds(fn)
    return [math.inf if math.isnan(took) else took] * len(quantiles)
