"""Products of other programs by this project's kernels: calls of rocBLAS, hipBLAS and hipBLASLt in the processes of a
command -> launches of generated kernels, and a count of each shape.

    the program -> preloaded.c (LD_PRELOAD) -> hipModuleLaunchKernel
                        | socket: which kernel?      | what no kernel does
                      Planner, here                the vendor's library

**Which kernel.** BLAS is column-major, the kernels row-major, so C^T = op(B)^T op(A)^T is computed, by the kernel that
`hipgemm.sgemm` and `hipgemm.gemm` take for it: `plan_of` says which, with its whole launch but for addresses, alpha and
beta. float32 matrices must lie dense, and be no batch. Sums are f32, also where f16 was asked for, or i32.

**Verified** is by the vendor's product of the same matrices. Either differs from the exact one by no more than `_bound`
has, so both by no more than twice that from each other; integers by nothing. What lies between columns must be what it
was. A bound of 16-bit floats grows with K (`hipgemm.launch.problem`): it finds what a wrong kernel does, not a single
lost product of thousands; where the vendor's sums are f16, too, only what is far off.

Limits: batches by arrays of pointers, alpha and beta on the device, epilogues, and C++'s hipblaslt_ext are passed on.
"""

from __future__ import annotations

import math
import mmap
import os
import socketserver
import struct
import tempfile
import threading
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from hipgemm.kernels.build import build
from hipgemm.kernels.ladder import Gemm, rung
from hipgemm.launch.batches import Batch
from hipgemm.launch.elements import PLAIN, Types
from hipgemm.launch.gemm import GemmGrid, launch_of
from hipgemm.launch.problem import Problem, U
from hipgemm.product.blas import NO_TRANSPOSE
from hipgemm.product.blas_of_types import HIP_TYPES, ROCBLAS_TYPES
from hipgemm.product.choice import kernel_for
from hipgemm.tuning.shapes import Shape
from isa import native
from isa.errors import IsaError

if TYPE_CHECKING:
    import numpy as np

SOURCE = Path(__file__).with_name("preloaded.c")
FLAGS = ("-std=gnu11", "-O2", "-fvisibility=hidden", "-ldl", "-pthread")
SHAPES = 1 << 16
_COUNTS = struct.Struct("<4Q")
_ELEMENT = {number: name for types in (ROCBLAS_TYPES, HIP_TYPES) for name, number in types.items()}
_SUMS = {
    150: "f16",
    151: "f32",
    162: "i32",
    0: "f16",
    1: "f16",
    **dict.fromkeys(range(2, 7), "f32"),
    9: "i32",
    10: "i32",
}
"""By rocblas_datatype and hipblasComputeType_t."""
_LIKELY = 10
"""lambda of `hipgemm.launch.problem`."""


@dataclass(frozen=True)
class Asked:
    """A product as the calls have it, column-major: C = alpha op(A) op(B) + beta C. operations, types, lines, strides:
    of A, B, and C where it has one; strides: elements from one matrix of a batch to the next."""

    operations: tuple[int, int]
    sizes: tuple[int, int, int]
    types: tuple[int, int, int]
    compute: int
    lines: tuple[int, int, int]
    count: int
    strides: tuple[int, int, int]

    @staticmethod
    def of(words: Sequence[str]) -> Asked:
        """In the order of preloaded.c."""
        n = [int(word) for word in words]
        return Asked((n[0], n[1]), (n[2], n[3], n[4]), (n[5], n[6], n[7]), n[8], (n[9], n[10], n[11]), n[12],
                     (n[13], n[14], n[15]))  # fmt: skip

    @property
    def stored(self) -> Iterator[tuple[int, int]]:
        """Rows and columns of A, of B and of C as they lie."""
        m, n, k = self.sizes
        for operation, shape in zip((*self.operations, NO_TRANSPOSE), ((m, k), (k, n), (m, n)), strict=True):
            yield shape if operation == NO_TRANSPOSE else shape[::-1]

    @property
    def elements(self) -> Types:
        """IsaError for what there is no kernel of."""
        first, second, result = (_ELEMENT.get(number, "") for number in self.types)
        sums = {"f32": ("f32",), "f16": ("f16", "f32"), "bf16": ("bf16", "f32"), "i8": ("i32",)}
        wanted = ("i32",) if first == "i8" else ("f32", "f16") if first == "f16" else ("f32",)
        if first != second or result not in sums.get(first, ()) or _SUMS.get(self.compute) not in wanted:
            raise IsaError("no kernel for these types", got=f"{self.types}, sums {self.compute}")
        return Types(first, result)

    def __str__(self) -> str:
        """As rocBLAS's and hipBLAS's logs have shapes."""
        letters = "".join("N" if operation == NO_TRANSPOSE else "T" for operation in self.operations)
        types = [_ELEMENT.get(number, f"type{number}") for number in (self.types[0], self.types[2])]
        batch = f" batch {self.count}" if self.count > 1 else ""
        return f"{letters} {' x '.join(map(str, self.sizes))} {'_'.join(dict.fromkeys(types))}{batch}"


@dataclass(frozen=True)
class Card:
    """What kernels are chosen and built for. name: as tables of tuned kernels have it."""

    name: str
    arch: str
    cus: int


@dataclass
class Seen:
    """What became of a shape. why: it is passed on; wrong: of how many verified products."""

    asked: Asked
    why: str = ""
    kernel: str = ""
    calls: int = 0
    done: int = 0
    ours_s: float = 0
    theirs_s: float = 0
    verified: int = 0
    wrong: list[str] = field(default_factory=list)


def plan_of(asked: Asked, card: Card) -> tuple[Gemm, GemmGrid]:
    """The kernel and its launch. IsaError where there is none."""
    types = asked.elements
    m, n, k = asked.sizes
    if min(*asked.sizes, asked.count) < 1:
        raise IsaError("nothing to multiply")
    flips = (asked.operations[1] != NO_TRANSPOSE, asked.operations[0] != NO_TRANSPOSE)
    swapped = (1, 0, 2)
    gaps = any(line != rows for line, (rows, _) in zip(asked.lines, asked.stored, strict=True))
    if types.factor == "f32":
        if gaps or asked.count > 1:
            raise IsaError("float32 kernels take one product of dense matrices")
        from hipgemm.tuning.choose import chosen

        row = rung(chosen(Shape(n, m, k, "".join("nt"[flip] for flip in flips)), card.name).kernel)
        return row, launch_of(row, n, m, k, card.cus)
    strided = gaps or asked.count > 1
    row = rung(kernel_for((n, m, k), card.cus, types, flips, PLAIN, card.name, batch=asked.count, strided=strided))
    batch: Batch | int = 1
    if row.strided:
        lines, strides = (tuple(of[i] for i in swapped) for of in (asked.lines, asked.strides))
        batch = Batch(asked.count, lines, strides)  # type: ignore[arg-type]
    return row, launch_of(row, n, m, k, card.cus, batch)


class Planner:
    """Answers preloaded.c. table: the file of counts."""

    def __init__(self, card: Card, table: Path) -> None:
        self._card, self._lock = card, threading.Lock()
        self._seen: dict[Asked, Seen] = {}
        self._table = table
        table.write_bytes(b"")
        os.truncate(table, SHAPES * _COUNTS.size)

    def answer(self, line: str) -> str:
        verb, _, rest = line.rstrip("\n").partition(" ")
        with self._lock:
            return self._plan(Asked.of(rest.split())) if verb == "plan" else self._verify(*rest.split(" ", 3))

    def seen(self) -> list[Seen]:
        """Each shape, in the order in which they were asked for, with its counts."""
        with self._table.open("rb") as file, mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as counts:
            for index, seen in enumerate(self._seen.values()):
                seen.calls, seen.done, ours, theirs = _COUNTS.unpack_from(counts, index * _COUNTS.size)
                seen.ours_s, seen.theirs_s = ours / 1e9, theirs / 1e9
        return list(self._seen.values())

    def _plan(self, asked: Asked) -> str:
        seen = self._seen.setdefault(asked, Seen(asked))
        index = list(self._seen).index(asked)
        try:
            row, made = plan_of(asked, self._card)
            image = build(row, arch=self._card.arch).hsaco
        except IsaError as error:
            seen.why = error.message
            return f"{index}"
        seen.kernel = row.name
        types = asked.elements
        scalar = "i" if types.integer_scales else "h" if _SUMS[asked.compute] == "f16" else "f"
        sizes = (types.of_factor.bytes, types.of_result.bytes, made.workspace_bytes)
        numbers = " ".join(map(str, (*sizes, *made.grid, *made.block)))
        return f"{index} {scalar} {numbers} {row.function} {made.kernarg((0, 0, 0), 0, 0).hex()} {image}"

    def _verify(self, index: str, alpha: str, beta: str, file: str) -> str:
        seen = list(self._seen.values())[int(index)]
        if not file:
            seen.wrong.append("the vendor's library failed, or there was no room to compare")
            return "no"
        seen.verified += 1
        if said := compared(seen.asked, float(alpha), float(beta), Path(file).read_bytes()):
            seen.wrong.append(said)
        return "yes"


def compared(asked: Asked, alpha: float, beta: float, data: bytes) -> str:
    """What is wrong with a product, "" for nothing. data: A, B, C before, ours and the vendor's, one after the other,
    as they lie."""
    import numpy as np

    types, stored = asked.elements, list(asked.stored)
    spans, at = [], 0
    for i in (0, 1, 2, 2, 2):
        (rows, columns), element = stored[i], types.of_factor if i < 2 else types.of_result
        size = asked.lines[i] * (columns - 1) + rows + (asked.count - 1) * asked.strides[i]
        spans.append(np.frombuffer(data, element.dtype, size, at))
        at += size * element.bytes
    between = np.ones(spans[2].size, bool)
    for j in range(asked.count):
        _columns(asked, between, 2, j)[...] = False
    if spans[3][between].tobytes() != spans[2][between].tobytes():
        return "bytes between the columns of C changed"
    for j in range(asked.count):
        a, b = (types.of_factor.numbers(_columns(asked, spans[i], i, j)) for i in (0, 1))
        before, ours, theirs = (types.of_result.numbers(_columns(asked, x, 2, j)).astype(np.float64) for x in spans[2:])
        left = a if asked.operations[0] == NO_TRANSPOSE else a.T
        right = b if asked.operations[1] == NO_TRANSPOSE else b.T
        bound = 2 * _bound(asked, left, right, alpha, beta, before, theirs)
        with np.errstate(invalid="ignore"):
            good = np.abs(ours - theirs) <= bound
        good |= (ours == theirs) | (np.isnan(ours) & np.isnan(theirs))
        if not good.all():
            row, column = (int(x) for x in np.argwhere(~good)[0])
            return (
                f"{int(good.size - good.sum())} of {good.size} elements differ, first ({row}, {column}): "
                f"{ours[row, column]:g}, the vendor's {theirs[row, column]:g}"
            )
    return ""


def _columns(asked: Asked, span: np.ndarray, i: int, which: int) -> np.ndarray:
    """A matrix of a batch as it lies: rows x columns, over the memory of all."""
    import numpy as np

    rows, columns = list(asked.stored)[i]
    first, size = span[which * asked.strides[i] :], span.itemsize
    return np.lib.stride_tricks.as_strided(first, (rows, columns), (size, asked.lines[i] * size))


def _bound(
    asked: Asked, a: np.ndarray, b: np.ndarray, alpha: float, beta: float, before: np.ndarray, c: np.ndarray
) -> np.ndarray:
    """How far each element of a right answer near c may be from the exact one: `hipgemm.launch.problem`, with the
    largest intermediate sum by Cauchy and Schwarz."""
    import numpy as np

    types = asked.elements
    if types.result == "i32":
        return np.zeros(c.shape)
    m, n, k = asked.sizes
    of_product, of_c = Problem(m, n, k).unit_bounds()
    if types.factor != "f32":
        of_product = (9 / 8 * k + 7) * U
    if _SUMS[asked.compute] == "f16":  # the vendor's are rounded at each step
        of_product, of_c = min(k + 2, _LIKELY * math.sqrt(k + 2)) * 2.0**-11, 2 * 2.0**-11
    rows, columns = (np.sqrt(np.einsum(how, x, x, dtype=np.float64)) for how, x in (("ik,ik->i", a), ("kj,kj->j", b)))
    bound: np.ndarray = abs(alpha) * of_product * np.outer(rows, columns) + types.of_result.smallest
    if beta:
        bound += abs(beta) * of_c * np.abs(before)
    return bound + (types.of_result.roundoff * (np.abs(c) + bound) if types.result != "f32" else 0)


def library() -> Path:
    """libhipgemm_blas.so, compiled where it lies in no cache. Raises as `isa.toolchain.build_host_library`."""
    return native.build("blas", SOURCE.read_text(), FLAGS, "libhipgemm_blas.so") / "libhipgemm_blas.so"


@contextmanager
def listening(card: Card, before: Mapping[str, str], verify: bool) -> Iterator[tuple[Planner, dict[str, str]]]:
    """A planner, and the environment of a command whose products it plans, for as long as the context lasts."""
    preloaded = library()
    with tempfile.TemporaryDirectory(prefix="hipgemm-") as folder:
        planner = Planner(card, Path(folder) / "counts")
        environment = {
            **before,
            "LD_PRELOAD": " ".join(filter(None, (str(preloaded), before.get("LD_PRELOAD")))),
            "HIPGEMM_BLAS": f"{folder}/socket",
            "HIPGEMM_BLAS_TABLE": f"{folder}/counts",
        }
        if verify:
            environment["HIPGEMM_BLAS_VERIFY"] = f"{folder}/product"
        with socketserver.ThreadingUnixStreamServer(
            environment["HIPGEMM_BLAS"], partial(_Answering, planner)
        ) as server:
            server.daemon_threads = True
            server.block_on_close = False
            threading.Thread(target=server.serve_forever, daemon=True).start()
            try:
                yield planner, environment
            finally:
                server.shutdown()


class _Answering(socketserver.StreamRequestHandler):
    def __init__(self, planner: Planner, *more: object) -> None:
        self._planner = planner
        super().__init__(*more)  # type: ignore[arg-type]

    def handle(self) -> None:
        for line in self.rfile:
            self.wfile.write(self._planner.answer(line.decode(errors="surrogateescape")).encode() + b"\n")
