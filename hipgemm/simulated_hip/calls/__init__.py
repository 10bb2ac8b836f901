"""The HIP calls that the simulated runtime answers, by subject. Importing this package declares them all."""

from hipgemm.simulated_hip.abi import CALLS
from hipgemm.simulated_hip.calls import (
    blas,
    comgr,
    contexts,
    cooperative,
    copies,
    device,
    errors,
    functions,
    graphs,
    memory,
    modules,
    occupancy,
    pools,
    registered,
    rtc,
    rtc_link,
    streams,
)

__all__ = [
    "CALLS",
    "blas",
    "comgr",
    "contexts",
    "cooperative",
    "copies",
    "device",
    "errors",
    "functions",
    "graphs",
    "memory",
    "modules",
    "occupancy",
    "pools",
    "registered",
    "rtc",
    "rtc_link",
    "streams",
]
