"""Kernels for RDNA3, the ladder's or anyone's: build them, run them on a card or the simulated one, check, time.

    >>> import hipgemm
    >>> hipgemm.run("kernel8", n=4096)
    >>> hipgemm.kernel("saxpy.hip")(16, 256, 4096, 2.0, x, y)

Importing this package imports nothing heavy; what the names below need comes when they are first used.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from isa.display import register

if TYPE_CHECKING:
    from hipgemm.launch.weights import Weights as Weights
    from hipgemm.measure.measure import run as run
    from hipgemm.measure.result import LaunchResult as LaunchResult
    from hipgemm.measure.result import Result as Result
    from hipgemm.product.gemm import gemm as gemm
    from hipgemm.product.gemm import pack_int4 as pack_int4
    from hipgemm.product.sgemm import sgemm as sgemm
    from hipgemm.raw_kernel import RawKernel as RawKernel
    from hipgemm.raw_kernel import kernel as kernel
    from isa.errors import IsaError as IsaError

__all__ = ["IsaError", "LaunchResult", "RawKernel", "Result", "Weights", "gemm", "kernel", "pack_int4", "run", "sgemm"]
__version__ = "0.1.0"

_HOMES = {
    "IsaError": "isa.errors",
    "LaunchResult": "hipgemm.measure.result",
    "RawKernel": "hipgemm.raw_kernel",
    "Result": "hipgemm.measure.result",
    "Weights": "hipgemm.launch.weights",
    "gemm": "hipgemm.product.gemm",
    "kernel": "hipgemm.raw_kernel",
    "pack_int4": "hipgemm.product.gemm",
    "run": "hipgemm.measure.measure",
    "sgemm": "hipgemm.product.sgemm",
}

_REPORT = "hipgemm.report"
register("hipgemm.measure.result.Result", html=f"{_REPORT}.table:html")
register("hipgemm.measure.result.LaunchResult", html=f"{_REPORT}.table:html")
register(
    "hipgemm.judge.inspection.Inspection", text=f"{_REPORT}.inspection:text", html=f"{_REPORT}.inspection:fragment"
)
register(
    "hipgemm.judge.inspection.difference.KernelDifference",
    text=f"{_REPORT}.difference:text",
    html=f"{_REPORT}.difference:html",
)
register("hipgemm.raw_kernel.Findings", text=f"{_REPORT}.findings:text", html=f"{_REPORT}.findings:html")
register("isa.prove.proof.Proof", html=f"{_REPORT}.findings:proof")
register("hipgemm.judge.predict.Prediction", text=f"{_REPORT}.timing:text", html=f"{_REPORT}.timing:html")
register("hipgemm.judge.timeline.Timeline", html=f"{_REPORT}.timeline:html")
register("hipgemm.lab.frame.Study", text=f"{_REPORT}.lab:text", html=f"{_REPORT}.lab:fragment")
register("isa.timing.model.ensemble.Timing", html=f"{_REPORT}.timing:cycles")


if not TYPE_CHECKING:  # for a type checker every name would be there

    def __getattr__(name: str) -> Any:
        if name not in _HOMES:
            raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
        import importlib

        return getattr(importlib.import_module(_HOMES[name]), name)


def __dir__() -> list[str]:
    return sorted([*globals(), *_HOMES])
