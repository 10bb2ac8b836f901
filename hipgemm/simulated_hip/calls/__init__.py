"""The HIP calls that the simulated runtime answers, by subject. Importing this package declares them all."""

from hipgemm.simulated_hip.abi import CALLS
from hipgemm.simulated_hip.calls import device, errors, memory, modules, occupancy, rtc, streams

__all__ = ["CALLS", "device", "errors", "memory", "modules", "occupancy", "rtc", "streams"]
