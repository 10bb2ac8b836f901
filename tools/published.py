"""Times that others published, each with the launch that it is of: what the cycle model is held against.

The kernels are those of two public repositories, which are not part of this one; `Checkouts` says where they lie:

    study       seb-v/fp32_sgemm_amd: kernels 1 to 8, on a Radeon RX 7900 XTX (the study's article) and, at 8192, on a
                Radeon RX 7600 XT (issue 1 there, by xoofx), and 5 to 8 on a Radeon RX 7900 GRE (README of
                adelj88/rocm_sgemm)
    rocm_sgemm  adelj88/rocm_sgemm at commit 21d04de, whose docs/square.md has 32 averages on the 7900 GRE
    queued      the same at commit 07c56b9, whose kernel of then was timed by the study's program: a minimum
    wmma        adelj88/rocm_wmma_gemm at commit ef1b647, f16 in and out, sums of 16 bits: the averages that its
                docs/gfx1100_square.md (7900 GRE) and docs/gfx1151_square.md (8060S) have, read there
    hipblaslt   AMD's own kernels for RDNA4, of hipBLASLt 7.2.4: torch's row-major products on a 9070 XT with ROCm 7.2,
                on another with 7.14 under WSL2 and on a 9060 XT with 7.13 (zzc0721/torch-performance-test-data, issues
                173, 201 and 165)

A minimum of 16 runs with B the identity is the lightest load that a kernel can be, an average with a B without zeros
the heaviest (the two benchmarks fill A and B with five values in turn). The study's program queues its 16 launches and
waits at their end, and its kernels on the GRE were timed by it; the benchmarks wait for each launch before they make
the next, so that there the transfer of a launch to the card lies between the events, too, under WSL2 (rocm_sgemm) or on
Linux (`PublishedFigure.waited`). The study's averages are of the same program with its minimum changed to an average;
nothing says of other data, so that "heavy" may be too much for them. Kernels 6 to 8 of the study are assembly and go
in as they are; all others are read by clang 19, of the LLVM of ROCm 6.2 to 6.4, which the study and rocm_sgemm were
measured with, and compiled by AMD's own LLVM of ROCm 6.4.2 where `Checkouts.llvm` says where it lies: rocm_sgemm's
kernels get other registers from it, the study's the same code. Of the 7600 XT's figures the size follows from the
TFLOP/s beside them; kernel 8 gave a wrong product there.

rocm_wmma_gemm was measured with ROCm 7.13, between the ROCm 7.2.2 and 10 whose LLVM AMD publishes. By 7.2.2's (and the
releases 19 and 22 of clang) three kernels of the 8060S, of 16 waves, spill 85 to 120 registers, and are predicted up to
five times too slow: a tuner does not choose such. `Checkouts.newer` is ROCm 10's, by which two spill none and one 5: in
the wheel rocm-bindings-compiler 10.0.0.0.1.2, rocm/bindings/llvm/libLLVM.so. It wants libraries of ROCm for compression
(librocm_sysdeps_z and _zstd), which are not called: empty functions of those names do. Between the two compilers single
kernels differ by up to 30 %, since their registers decide how many workgroups fit. The kernels bound their waves
(`amdgpu_waves_per_eu`), those with both operands along K to 4 of the 10 that would fit; compiled without this they are
predicted a third too fast.

hipBLASLt itself says which kernel it takes: a program that asks its heuristic for a product of two column-major N x N
matrices, with 32 MB of workspace, under `hipgemm simulate --card CARD --budget 1000 --record "FOLDER/CARD TYPE N"`. The
kernels are those that a trace of torch on a 9070 XT names (ROCm/rocm-libraries, issue 10861). They call a function for
an activation, which does nothing where there is none: calls are taken out, since the model follows none. "again" is the
same product with TF32 allowed, which no kernel uses: the first of all, of 1024, finds the card's clock low. 7.13 and
7.14 have another float32 kernel beyond 4096 (7.2.4's would take 8 times as long): these figures are left out. torch on
the 9060 XT took 80 us a product (`TORCH_HOST_MS`, fitted to f16 at 1024). With 7.13 and 7.14 products of 16 bits fall
at 8192 to 0.68 and 0.73 of what 4096 has, with 7.2 to 0.87: perhaps by another kernel there, too.

LLVM IR -> assembly by AMD's own LLVM, for kernels that were measured as ROCm compiled them.

AMD's LLVM differs from the release of the same number: of the 32 kernels of rocm_sgemm many get other registers, and
with them up to three times as many cycles in which operands wait for a bank. AMD publishes that library in the wheel
rocm-llvm-python, of which each version is a ROCm's (`pip download --no-deps rocm-llvm-python==6.4.2.555.43`; in it
rocm/llvm/librocmllvm.so, "roc-6.4.2 25224"). It has no clang: clang 19 reads the source, and its IR, not yet optimised,
goes through LLVM's C interface here.
"""

from __future__ import annotations

import ctypes
import functools
import json
import re
import subprocess
import tempfile
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

from hipgemm.kernels.files import RECORDED
from hipgemm.kernels.object import SOURCES
from isa import cache
from isa.errors import IsaError
from isa.object.code_object import CodeObject
from isa.timing.machine.cards import card

if TYPE_CHECKING:
    from isa.timing.model.predict import TimedLaunch

LIGHT, HEAVY = "minimum, identity B", "average"
_XTX, _GRE, _XT = "7900 XTX", "7900 GRE", "7600 XT"
_STUDY_MS = {1: 136.006, 2: 34.2059, 3: 6.0341, 4: 5.3772, 5: 4.0994, 6: 3.6368, 7: 3.3314, 8: 2.8032}
_XT_MS = {
    1: 3587.9, 2: 823.428, 3: 141.16, 4: 125.88, 5: 104.304, 6: 93.6232, 7: 87.5225, 8: 83.931,
}  # fmt: skip
_GRE_MS = {5: (5.39, 5.98), 6: (4.84, 5.48), 7: (4.59, 5.05), 8: (3.99, 4.54)}
SQUARE_MS = {
    1024: (0.1686, 0.1808, 0.2294, 0.2251, 0.1890, 0.1713, 0.1805, 0.1996),
    2048: (0.7834, 0.8256, 0.9109, 0.9885, 0.7619, 0.7632, 0.8743, 0.9784),
    4096: (5.1264, 5.1398, 6.2786, 6.3866, 4.7458, 5.0473, 5.4648, 6.0413),
    8192: (40.1721, 40.6624, 53.4522, 49.2613, 37.5260, 37.6803, 39.9242, 40.1282),
}
QUEUED_MS = {4096: {"rrr": 4.36}}
TORCH_SIZES = 1024, 2048, 4096, 8192, 10240
TORCH_TFLOPS = {
    ("9070 XT", "bf16"): (77.45, 116.55, 133.36, 116.63, 128.46),
    ("9070 XT", "f16"): (78.98, 116.70, 129.35, 112.83, 125.40),
    ("9070 XT", "f32"): (10.84, 12.94, 15.15, 1.25, 1.77),
    ("9070 XT", "f32 again"): (13.18, 12.60, 14.91, 1.23, 1.68),
    ("9070 XT under WSL2", "bf16"): (75.03, 113.00, 125.21, 91.17, 122.41),
    ("9070 XT under WSL2", "f16"): (77.23, 113.89, 124.64, 90.53, 117.91),
    ("9070 XT under WSL2", "f32"): (15.31, 14.71, 14.94),
    ("9060 XT", "bf16"): (27.02, 54.21, 66.14, 44.87, 62.47),
    ("9060 XT", "f16"): (26.72, 58.18, 65.59, 45.12, 59.30),
    ("9060 XT", "f32"): (7.23, 7.69, 8.01),
    ("9060 XT", "f32 again"): (7.31, 8.10, 7.99),
}
TORCH_HOST_MS = {"9060 XT": 0.080}
"""By the card of a machine, what its processor takes to queue a product: none takes less."""
_FITTED_TO_TORCH = {("9070 XT", "f32"): (2048, 4096), ("9060 XT", "f16"): (1024,)}
"""Sizes that LDS in WGP mode and `TORCH_HOST_MS` were fitted to."""
_NOT_SEEN = ("9070 XT", "f16"), *(("9070 XT under WSL2", of) for of in ("bf16", "f16", "f32"))
"""What was read after the last change to RDNA4's clock."""
LAYOUTS = ("rrr", "rrc", "rcr", "rcc", "crr", "crc", "ccr", "ccc")
"""Of A, B and C: r row-major, c column-major."""
_FILES = (
    "kernel1_naive.cpp", "kernel2_lds.cpp", "kernel3_registers.cpp", "kernel4_gmem_df.cpp", "kernel5_lds_optim.cpp",
    "kernel6_valu_optim.s", "kernel7_unroll.s", "kernel8_batched_gmem.s",
)  # fmt: skip
_PRELUDE = """#include <hip/hip_runtime.h>
namespace std {
template <bool B, class T = void> struct enable_if {};
template <class T> struct enable_if<true, T> { using type = T; };
template <class A, class B> struct is_same { static constexpr bool value = false; };
template <class A> struct is_same<A, A> { static constexpr bool value = true; };
}
"""
"""What rocm_sgemm takes of headers that the freestanding one does not have."""
_SEQUENCES = """
typedef decltype(sizeof(0)) size_t;
namespace std {
template <class T, T... I> struct integer_sequence {};
template <size_t... I> using index_sequence = integer_sequence<size_t, I...>;
template <size_t N> using make_index_sequence = __make_integer_seq<integer_sequence, size_t, N>;
}
"""
"""And rocm_wmma_gemm besides."""


@dataclass(frozen=True)
class Checkouts:
    """Where the repositories lie, and the compilers; None of one that is not there. llvm: AMD's library, newer:
    that for wmma; clang does all where there is none."""

    study: Path | None
    rocm_sgemm: Path | None
    clang: str = "clang-19"
    llvm: Path | None = None
    queued: Path | None = None
    wmma: Path | None = None
    newer: Path | None = None
    hipblaslt: Path | None = None

    def assembly(self, text: str, *flags: str, arch: str = "gfx1100") -> str:
        """What clang makes of HIP source, kept on disk."""

        def make() -> str:
            with tempfile.TemporaryDirectory() as folder:
                source, made = Path(folder, "kernel.hip"), Path(folder, "kernel")
                source.write_text(text, encoding="utf-8")
                command = [
                    self.clang, "-x", "hip", "--cuda-device-only", f"--offload-arch={arch}", "-O3", "-nogpulib",
                    "-nogpuinc", f"-I{SOURCES / 'include'}", *flags, *(FRONT_END if self.llvm else ("-S",)),
                    str(source), "-o", str(made),
                ]  # fmt: skip
                done = subprocess.run(command, capture_output=True, text=True, check=False)
                if done.returncode:
                    raise IsaError(f"{self.clang} could not compile a published kernel", got=done.stderr[-2000:])
                if self.llvm:
                    return assembly(self.llvm, made.read_bytes(), arch)
                return made.read_text(encoding="utf-8")

        def write(folder: Path, made: str) -> None:
            (folder / "kernel.s").write_text(made, encoding="utf-8")

        def read(folder: Path) -> str:
            return (folder / "kernel.s").read_text(encoding="utf-8")

        key = cache.key(text, repr(flags), arch, self.clang, str(self.llvm))
        return cache.find_or_make("published", key, 100, make, write, read)


@dataclass(frozen=True)
class PublishedFigure:
    """A published time. belongs: its set; load: LIGHT or HEAVY; size: M = N = K; code: assembly, or a recorded launch's
    folder; waited: what a launch takes besides, of `isa.timing.model.as_measured.WAITED_US`."""

    belongs: str
    name: str
    card: str
    load: str
    measured_ms: float
    size: int
    code: str
    grid: tuple[int, int, int]
    block: tuple[int, int, int]
    arguments: tuple[str, ...]
    waited: str = ""

    def launch(self) -> TimedLaunch:
        """To be timed on its card; all were launched many times, one after the other."""
        from hipgemm.judge.predict import timed
        from hipgemm.kernels.files import read_kernel
        from hipgemm.launch.problem import Problem
        from hipgemm.launch.requests import LaunchRequest, prepared

        request = LaunchRequest(self.grid, self.block, self.arguments)
        on = card(self.card)
        made, launch = prepared(read_kernel(self.code), request, Problem(1, 1, 1), cus=on.cus, runs=False)
        return timed(_without_calls(made.code_object), made.name, launch, on, warm=True)


def figures(where: Checkouts) -> Iterator[PublishedFigure]:
    """All whose kernels are there."""
    if where.study:
        for number, file in enumerate(_FILES, 1):
            path = where.study / "src" / file
            yield from _study(where, path, number, 4096, _XTX, (("study", LIGHT, _STUDY_MS[number]),))
            if number in _GRE_MS:
                least, average = _GRE_MS[number]
                times = ("GRE, minima", LIGHT, least), ("GRE, averages", HEAVY, average)
                yield from _study(where, path, number, 4096, _GRE, times)
            yield from _study(where, path, number, 8192, _XT, (("7600 XT, minima", LIGHT, _XT_MS[number]),))
    if where.rocm_sgemm:
        averages = {n: dict(zip(LAYOUTS, times, strict=True)) for n, times in SQUARE_MS.items()}
        yield from _rocm_sgemm(where, where.rocm_sgemm, "rocm_sgemm, averages", HEAVY, averages)
    if where.queued:
        yield from _rocm_sgemm(where, where.queued, "rocm_sgemm, minimum", LIGHT, QUEUED_MS)
    if where.wmma:
        yield from _rocm_wmma_gemm(replace(where, llvm=where.newer), where.wmma)
    if where.hipblaslt:
        yield from _hipblaslt(where.hipblaslt)


def _study(
    where: Checkouts, path: Path, number: int, n: int, on: str, times: tuple[tuple[str, str, float], ...]
) -> Iterator[PublishedFigure]:
    """A kernel of the study at one size on one card. times: (set, load, ms) of each time that was published of it."""
    arch = card(on).arch
    text = path.read_text(encoding="utf-8").replace("gfx1100", arch)
    text = re.sub(r"(\.vgpr_count: *)214\b", r"\g<1>216", text)  # kernel 6 uses v214; its descriptor says 216
    if path.suffix == ".cpp":
        device = text[: text.index(f"void Kernel{number}")]
        device = "\n".join(line for line in device.splitlines() if not line.startswith('#include "'))
        if number > 3:
            name = {4: "kernel4_gmem_db", 5: "kernel5_lds_optim"}[number]
            device += f"\ntemplate __global__ void {name}<1>(float*, float*, float*, int, float, float);\n"
        text = where.assembly(device, *(["-mcumode"] if number == 5 else []), arch=arch)
    arrays = (f"buffer:{4 * n * n}",) * 3
    numbers = {1: (f"i32:{n}",) * 3 + ("f32:1", "f32:0"), 2: (f"i32:{n}",)}
    grid, block = {1: ((n // 16, n // 16, 1), (16, 16, 1)), 2: ((n // 32, n // 32, 1), (32, 32, 1))}.get(
        number, ((n // 128, n // 128, 1), (256 if number < 5 else 128, 1, 1))
    )
    arguments = (*arrays, *numbers.get(number, (f"i32:{n}", "f32:1", "f32:0")))
    for belongs, load, ms in times:
        yield PublishedFigure(belongs, f"kernel {number}", on, load, ms, n, text, grid, block, arguments)


def _rocm_sgemm(
    where: Checkouts, folder: Path, belongs: str, load: str, by_size: Mapping[int, Mapping[str, float]]
) -> Iterator[PublishedFigure]:
    """by_size: ms by size and layout. Its benchmark's launches were waited for, those of the study's program were
    not."""
    held = json.loads((folder / "rocm_sgemm/config/gemm_config.json").read_text(encoding="utf-8"))
    configurations = {}
    for row in held["configurations"]:
        layout = "".join(row["layout"][matrix][0] for matrix in "ABC")
        configurations[row["range"]["M"], layout] = tuple(row["config"].values())
    for n, times in by_size.items():
        for layout, ms in times.items():
            shape = configurations[n, layout]
            a, b, c = (f"m_layout::{'row' if x == 'r' else 'col'}_major" for x in layout)
            constants = ", ".join(map(str, shape))
            text = (
                f'{_PRELUDE}#include "rocm_sgemm/kernel/kernel.hpp"\nusing namespace rocm_sgemm;\n'
                f"template __global__ void rocm_sgemm::kernel_gemm<float, {c}, {a}, {b}, {constants}, 1>"
                "(float*, const float*, const float*, int, int, int);\n"
            )
            made = where.assembly(text, "-mcumode", "-ffast-math", f"-I{folder / 'rocm_sgemm/include'}")
            threads, rows, columns = shape[:3]
            arguments = (f"buffer:{4 * n * n}",) * 3 + (f"i32:{n}",) * 3
            grid = (n // rows * (n // columns), 1, 1)
            yield PublishedFigure(
                belongs, f"{n} {layout}", _GRE, load, ms, n, made, grid, (threads, 1, 1), arguments,
                waited="WSL2" if load == HEAVY else "",
            )  # fmt: skip


def _rocm_wmma_gemm(where: Checkouts, folder: Path) -> Iterator[PublishedFigure]:
    for on in (_GRE, "8060S"):
        arch = card(on).arch
        held = json.loads((folder / f"rocm_wmma_gemm/config/gemm_config_{arch}_f16.json").read_text(encoding="utf-8"))
        shapes = {
            (row["range"]["M"], "".join(row["layout"][matrix][0] for matrix in "ABC")): tuple(row["config"].values())
            for row in held["configurations"]
            if len(set(row["range"].values())) == 1
        }
        for n, layout, tflops in _averages((folder / f"docs/{arch}_square.md").read_text(encoding="utf-8")):
            a, b, c = (f"m_layout::{'row' if x == 'r' else 'col'}_major" for x in layout)
            constants = ", ".join(map(str, shapes[n, layout]))
            text = (
                f'{_PRELUDE}{_SEQUENCES}#include "rocm_wmma_gemm/kernel/kernel.hpp"\nusing namespace rocm_wmma_gemm;\n'
                f"template struct rocm_wmma_gemm::kernel_gemm_impl<half, half, {c}, {a}, {b}, {constants}, 1>;\n"
            )
            flags = "-mcumode", "-ffast-math", "-std=c++20", f"-I{folder / 'rocm_wmma_gemm/include'}"
            made = where.assembly(text, *flags, arch=arch)
            down, across, rows, columns = shapes[n, layout][:4]
            grid = (n // (16 * down * rows) * (n // (16 * across * columns)), 1, 1)
            arguments = (f"buffer:{2 * n * n}",) * 3 + (f"i32:{n}",) * 3
            belongs = f"rocm_wmma_gemm, {on}" + ", other sizes" * (on == _GRE and n != 2048)
            yield PublishedFigure(
                belongs, f"{n} {layout}", on, HEAVY, 2e-9 * n**3 / tflops, n, made, grid, (32 * down * across, 1, 1),
                arguments, waited="Linux",
            )  # fmt: skip


def _averages(page: str) -> Iterator[tuple[int, str, float]]:
    """(M = N = K, layout, TFLOP/s) of a table of rocm_wmma_gemm's: its sixth column is of a C in rows, its third of one
    in columns."""
    for found in re.finditer(r"^\| (\d+)x\1x\1 \|(.*)\|$", page, re.M):
        layout, by_column, _, _, by_row, _ = found[2].split("|")
        of = "".join(word.strip()[0] for word in layout.split(","))
        yield int(found[1]), f"{of}r", float(by_row)
        yield int(found[1]), f"{of}c", float(by_column)


def _hipblaslt(folder: Path) -> Iterator[PublishedFigure]:
    for (machine, of), row in TORCH_TFLOPS.items():
        kind, on = of.split()[0], machine.removesuffix(" under WSL2")
        for n, tflops in zip(TORCH_SIZES, row, strict=False):
            recorded = folder / f"{on} {kind} {n}" / "0"
            if not (recorded / RECORDED).exists():
                continue
            text = (recorded / RECORDED).read_text(encoding="utf-8")
            grid, block, words = (json.loads(re.findall(f"^{key} = (.*)", text, re.M)[0]) for key in _SAID)
            buffer = f"buffer:{(4 if kind == 'f32' else 2) * n * n}"
            arguments = tuple(re.sub(r"\b(file|inside):.*", buffer, word) for word in words)
            fitted = n in _FITTED_TO_TORCH.get((machine, kind), ())
            how = "fitted" if fitted else "held out" if (machine, kind) in _NOT_SEEN else "seen"
            yield PublishedFigure(
                f"hipBLASLt, {machine}, {how}", f"{of} {n}", on, HEAVY, 2e-9 * n**3 / tflops, n, str(recorded),
                tuple(grid), tuple(block), arguments, waited="queued",
            )  # fmt: skip


def _without_calls(code: CodeObject) -> CodeObject:
    return replace(code, segments=tuple(replace(s, data=s.data.replace(_CALL, _NOTHING)) for s in code.segments))


_SAID = "grid", "block", "args"
_CALL, _NOTHING = bytes.fromhex("0c499ebe"), bytes.fromhex("000080bf")
"""s_swappc_b64 s[30:31], s[12:13]; s_nop 0."""
_TRIPLE = b"amdgcn-amd-amdhsa"
_AGGRESSIVE, _PIC, _ASSEMBLY = 3, 2, 0
_POINTERS = (
    "LLVMContextCreate", "LLVMCreateMemoryBufferWithMemoryRangeCopy", "LLVMCreateTargetMachine",
    "LLVMCreatePassBuilderOptions", "LLVMRunPasses",
)  # fmt: skip
FRONT_END = ("-Xclang", "-disable-llvm-passes", "-emit-llvm", "-c")
"""The options with which clang leaves IR as the passes of -O3 want it."""


@functools.cache
def _library(path: Path) -> ctypes.CDLL:
    found = ctypes.CDLL(str(path))
    for what in ("TargetInfos", "Targets", "TargetMCs", "AsmPrinters", "AsmParsers"):
        getattr(found, f"LLVMInitializeAll{what}")()
    for name in _POINTERS:
        getattr(found, name).restype = ctypes.c_void_p
    found.LLVMGetErrorMessage.restype = ctypes.c_char_p
    return found


def assembly(library: Path, ir: bytes, arch: str) -> str:
    """What the library makes of bitcode at -O3. IsaError with its words where it does not take it."""
    llvm, said = _library(library), ctypes.c_char_p()
    module, target = ctypes.c_void_p(), ctypes.c_void_p()

    def done(failed: int) -> None:
        if failed:
            raise IsaError(f"{library} could not compile a published kernel", got=(said.value or b"").decode())

    context = ctypes.c_void_p(llvm.LLVMContextCreate())
    text = ctypes.c_void_p(llvm.LLVMCreateMemoryBufferWithMemoryRangeCopy(ir, ctypes.c_size_t(len(ir)), b"kernel"))
    done(llvm.LLVMParseIRInContext(context, text, ctypes.byref(module), ctypes.byref(said)))
    done(llvm.LLVMGetTargetFromTriple(_TRIPLE, ctypes.byref(target), ctypes.byref(said)))
    machine = ctypes.c_void_p(llvm.LLVMCreateTargetMachine(target, _TRIPLE, arch.encode(), b"", _AGGRESSIVE, _PIC, 0))
    options = ctypes.c_void_p(llvm.LLVMCreatePassBuilderOptions())
    if failed := llvm.LLVMRunPasses(module, b"default<O3>", machine, options):
        said = ctypes.c_char_p(llvm.LLVMGetErrorMessage(ctypes.c_void_p(failed)))
        done(1)
    with tempfile.TemporaryDirectory() as folder:
        made = Path(folder, "kernel.s")
        done(llvm.LLVMTargetMachineEmitToFile(machine, module, str(made).encode(), _ASSEMBLY, ctypes.byref(said)))
        return made.read_text(encoding="utf-8")
