"""The GEMM kernel of `kernels_hip/lab/gemm.hip` with its choices as an object: what experiments vary."""

from __future__ import annotations

from dataclasses import dataclass

from hipgemm.kernels.ladder import Gemm, rung
from hipgemm.lab.bench import Bench, Trial, lab_kernel
from hipgemm.measure.result import Result

SIDE = 16
_PAD = 4


@dataclass(frozen=True)
class Tiled:
    """tm, tn: elements of C of a thread. bk: depth of a tile. gw, lw: floats that a load from global memory, from LDS
    moves. guard: any M. pad: floats after each column of A in LDS."""

    tm: int = 4
    tn: int = 4
    bk: int = 16
    gw: int = 1
    lw: int = 1
    guard: bool = False
    pad: int = _PAD
    cu_mode: bool = True

    @property
    def name(self) -> str:
        return f"lab_{self.tm}x{self.tn}x{self.bk}_{self.gw}_{self.lw}{'_guard' * self.guard}{self._others}"

    @property
    def _others(self) -> str:
        return "_unpadded" * (not self.pad) + "_wgp" * (not self.cu_mode)

    @property
    def lds_bytes(self) -> int:
        """Of the tiles of A and B."""
        return 4 * self.bk * (SIDE * (self.tm + self.tn) + self.pad)

    @property
    def row(self) -> Gemm:
        rows, columns = SIDE * self.tm, SIDE * self.tn
        tile = (1, self.gw, self.gw) if self.guard else (rows, columns, self.bk)
        return lab_kernel(self.name, "gemm.hip", "lab_gemm", (rows, columns), tile, self.cu_mode)

    @property
    def flags(self) -> list[str]:
        values = {
            "TM": self.tm, "TN": self.tn, "BK": self.bk, "GW": self.gw, "LW": self.lw, "GUARD": int(self.guard),
            "PAD": self.pad,
        }  # fmt: skip
        return ["-O3", *(f"-D{name}={value}" for name, value in values.items())]

    def tried(self, bench: Bench, n: int) -> Trial:
        """Built, run, checked and timed at M = N = K = n."""
        return bench.gemm(self.row, self.flags, n, self.bk)


def library(bench: Bench, n: int) -> tuple[Gemm, Result]:
    """The kernel that this project's sgemm takes at M = N = K = n, and what it gives."""
    from hipgemm.measure.measure import run
    from hipgemm.tuning.choose import chosen
    from hipgemm.tuning.shapes import Shape

    row = rung(chosen(Shape(n, n, n, "nn"), bench.device.card).kernel)
    bench.step("running the library")
    return row, run(row, n, device=bench.device)
