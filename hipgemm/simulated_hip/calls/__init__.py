"""HIP calls: the functions that the simulated runtime answers, a module a subject. Importing this package declares them
all."""

import importlib

from hipgemm.simulated_hip.abi import CALLS

SUBJECTS = (
    "blas", "blas_more", "comgr", "contexts", "copies", "device", "errors", "functions", "graphs",
    "memory", "modules", "occupancy", "pools", "registered", "rtc", "rtc_link", "streams",
)  # fmt: skip
"""The modules of this package."""

for _subject in SUBJECTS:
    importlib.import_module(f"{__name__}.{_subject}")

__all__ = ["CALLS", "SUBJECTS"]
