"""The HIP calls that the simulated runtime answers, by subject. Importing this package declares them all."""

from hipgemm.simulated_hip.abi import CALLS
from hipgemm.simulated_hip.calls import (
    cooperative,
    copies,
    device,
    errors,
    memory,
    modules,
    occupancy,
    rtc,
    rtc_link,
    streams,
)

__all__ = [
    "CALLS",
    "cooperative",
    "copies",
    "device",
    "errors",
    "memory",
    "modules",
    "occupancy",
    "rtc",
    "rtc_link",
    "streams",
]
