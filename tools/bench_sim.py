"""Speed of the simulated card: this machine -> figures with the bars that they are held to.

    python tools/bench_sim.py [--quick] [PART ...]

Launches are reported as ratios to `numpy.matmul` in float32, or to memcpy, in the same process, by the processor time
of one thread each: both take turns after one warm-up of each, and the medians are compared, so that a machine that is
busy with something else slows both. Of what happens once in a process (imports, translation, a whole command, its
memory) each figure comes from processes of its own, with caches of their own where it is said to be cold.

`must` and `aim` are the bars that the engine is held to; a figure without them is shown for what it is.
"""

from __future__ import annotations

import ctypes
import dataclasses
import importlib.util
import json
import os
import resource
import statistics
import struct
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Collection, Iterator
from functools import partial
from pathlib import Path
from typing import Any

import click

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))  # runs from a checkout, installed or not
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")  # read when NumPy is imported

from hipgemm.cli import Reporting, options
from hipgemm.cli.progress import steps
from hipgemm.kernels.build import build
from hipgemm.kernels.files import read_kernel
from hipgemm.kernels.ladder import LADDER, NAMED, gemm_kernarg
from hipgemm.launch.gemm import launch_of
from isa.errors import IsaError
from isa.sim.ir.jit import NATIVE, HostTarget
from isa.sim.run.selfcheck import settled

ROOT = Path(__file__).resolve().parents[1]
MB = 1 << 20
# Kernel, size, ratio to numpy.matmul that must be reached, ratio aimed at.
LAUNCHES = (
    ("kernel8", 4096, 2.5, 2),
    *((f"kernel{i}", 1024, 3, 2.2) for i in (3, 4, 5, 6, 7, 9, 10)),
    ("kernel1", 512, 20, 10),
    ("kernel2", 512, 10, 5),
    ("kernel11", 4096, 6, 4),
)
STREAMED = 64 * MB
"""What the kernels that are bound by memory read, and write."""
COMMANDS = (
    ("run {saxpy} --grid 4 --block 256 --arg n=i32:9 --arg a=f32:2 --arg x=arange:f32:9 --arg y=zeros:f32:9", 1.5, 1),
    ("run kernel8 -n 1024", 2, 1),
    ("run kernel10 -n 1024", 4, 2),
    ("run kernel8 -n 4096", 15, 6),
    *((f"prove kernel{i}", must, must / 2) for i, must in ((8, 0.8), (9, 1.5), (10, 2), (11, 2))),
)
"""Words, processor seconds with cold caches that must be reached, those aimed at."""
_SAXPY = """
extern "C" __global__ void saxpy(int n, float a, const float *x, float *y) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) y[i] = a * x[i] + y[i];
}
"""
_STREAMS = """
extern "C" __global__ void copy(const float *from, float *to, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) to[i] = from[i];
}
extern "C" __global__ void softmax(const float *from, float *to, int n) {
    __shared__ float all[256];
    const float *row = from + (size_t)blockIdx.x * n;
    float *result = to + (size_t)blockIdx.x * n;
    int own = threadIdx.x;
    float most = -1e30f, sum = 0;
    for (int i = own; i < n; i += 256) most = fmaxf(most, row[i]);
    all[own] = most;
    __syncthreads();
    for (int d = 128; d; d >>= 1) {
        if (own < d) all[own] = fmaxf(all[own], all[own + d]);
        __syncthreads();
    }
    most = all[0];
    __syncthreads();
    for (int i = own; i < n; i += 256) sum += __expf(row[i] - most);
    all[own] = sum;
    __syncthreads();
    for (int d = 128; d; d >>= 1) {
        if (own < d) all[own] += all[own + d];
        __syncthreads();
    }
    sum = 1 / all[0];
    for (int i = own; i < n; i += 256) result[i] = __expf(row[i] - most) * sum;
}
"""
CHECKED = 1024
"""The size at which launches under the sanitizer are measured."""
GROWTH = (512, 1024, 2048, 4096, 8192)
QUICK = 1024
"""The largest size with `quick`; bars are those of the full sizes and are not applied to others."""
REPEATS = 5
_KERNEL = "kernel8"
_START = (0.15, 0.05)


@dataclasses.dataclass(frozen=True)
class Figure:
    """One row. bar: what must be reached and what is aimed at, both at most, or at least where `more_is_better`."""

    part: str
    name: str
    value: float
    unit: str
    bar: tuple[float, float] | None = None
    more_is_better: bool = False
    detail: str = ""

    @property
    def met(self) -> bool | None:
        """Whether the bar is reached, None where there is none."""
        return None if self.bar is None else self._reaches(self.bar[0])

    @property
    def aim_met(self) -> bool | None:
        """Whether what is aimed at is reached, None where there is nothing."""
        return None if self.bar is None else self._reaches(self.bar[1])

    def _reaches(self, bound: float) -> bool:
        return self.value >= bound if self.more_is_better else self.value <= bound


def machine(cpu: str = NATIVE) -> str:
    """The processor that figures are of, in words."""
    target = settled(HostTarget(cpu))
    return f"{target.name}, {target.strip} lanes a vector, {_cores()} cores"


def figures(parts: Collection[str] = (), *, quick: bool = False, cpu: str = NATIVE) -> Iterator[Figure]:
    """Each figure as soon as it is known.

    parts: of PARTS; all if not given. cpu: the host processor that kernels are compiled for. IsaError for a part that
    is not there, and as in building and launching.
    """
    if unknown := sorted(set(parts) - set(PARTS)):
        raise IsaError(f"there is no part {', '.join(unknown)}", expected=", ".join(PARTS))
    HostTarget(cpu).check_host()
    for part, measure in PARTS.items():
        if part in parts or not parts:
            yield from measure(quick, cpu)


def _launches(quick: bool, cpu: str) -> Iterator[Figure]:
    for name, full, must, aim in LAUNCHES:
        n = min(full, QUICK) if quick else full
        problem = _Problem(name, n, cpu)
        ours, numpy = _alternating(problem.launch, problem.matmul, REPEATS)
        bar = (must, aim) if n == full else None
        detail = f"{ours:.3f} s, numpy {numpy:.3f} s"
        yield Figure("launches", f"{name}, n = {n}", ours / numpy, "x numpy", bar, detail=detail)


def _streams(quick: bool, cpu: str) -> Iterator[Figure]:
    """A row of softmax has 4096 columns."""
    count = STREAMED // 4
    for name, groups, number in (("copy", count // 256, count), ("softmax", count // 4096, 4096)):
        stream = _Stream(name, groups, number, cpu)
        ours, memcpy = _alternating(stream.launch, stream.memcpy, REPEATS)
        detail = f"{ours:.4f} s, memcpy {memcpy:.4f} s"
        yield Figure("streams", f"{name} of {STREAMED // MB} MB", ours / memcpy, "x memcpy", (5, 2), detail=detail)


def _triton(quick: bool, cpu: str) -> Iterator[Figure]:
    """Only where this interpreter has Triton."""
    if importlib.util.find_spec("triton") is None:
        click.echo("triton: not measured, as this interpreter has none", err=True)
        return
    client = str(ROOT / "tests/clients/triton_throughput.py")
    with tempfile.NamedTemporaryFile(suffix=".json") as out:
        simulate = ["-c", _HIPGEMM, "simulate", "--", sys.executable, "-W", "ignore"]
        _run([sys.executable, *simulate, client, "--json", out.name])
        rows = json.loads(Path(out.name).read_text())
    for row in rows:
        bar = (5, 4) if "product" in row["case"] else None
        yield Figure("triton", f"Triton, {row['case']}", row["times_numpy"], "x numpy", bar)


def _checks(quick: bool, cpu: str) -> Iterator[Figure]:
    for name in LADDER:
        n = CHECKED // 2 if quick else CHECKED
        problem = _Problem(name, n, cpu)
        checked, plain = _alternating(problem.check, problem.launch, REPEATS)
        bar = None if quick else (10, 7)
        detail = f"{checked:.3f} s, plain {plain:.3f} s"
        yield Figure("check", f"{name} sanitized, n = {n}", checked / plain, "x plain", bar, detail=detail)


def _translation(quick: bool, cpu: str) -> Iterator[Figure]:
    image = str(build(_KERNEL).hsaco)
    with tempfile.TemporaryDirectory() as folder:
        for tier, code in (("baseline", "baseline code"), ("", "good code")):
            cold, busy = _child(_TRANSLATE, image, cpu, "all", tier, XDG_CACHE_HOME=folder)
            name = f"{_KERNEL} translated and compiled, cold, {code}"
            yield Figure("translation", name, cold, "s", (3, 1), detail=f"with imports; {_processor(busy)}")
        for imports, detail in (("all", "new process, with imports"), ("", "in a process that runs")):
            arguments = image, cpu, imports, ""
            again, busy = _median(partial(_child, _TRANSLATE, *arguments, XDG_CACHE_HOME=folder))
            yield Figure(
                "translation",
                f"{_KERNEL} from the disk's cache",
                again,
                "s",
                _START,
                detail=f"{detail}; {_processor(busy)}",
            )


def _imports(quick: bool, cpu: str) -> Iterator[Figure]:
    seconds, busy = _median(lambda: _child(_IMPORT))
    yield Figure("import", "import hipgemm", seconds, "s", _START, detail=_processor(busy))


def _memory(quick: bool, cpu: str) -> Iterator[Figure]:
    n = QUICK if quick else 4096
    build(_KERNEL)
    peak, before = map(float, _run([sys.executable, "-c", _MEMORY, str(n), cpu]).split())
    bar = None if quick else (300, 100)
    detail = f"{before:.0f} MB of it Python and NumPy as imported"
    yield Figure("memory", f"memory of a launch above A, B, C, n = {n}", peak, "MB", bar, detail=detail)


def _two_cores(quick: bool, cpu: str) -> Iterator[Figure]:
    if _cores() < 2:
        return
    n = QUICK if quick else 4096
    problem = _Problem(_KERNEL, n, cpu)
    one, two = _alternating(lambda: problem.launch(1), lambda: problem.launch(2), REPEATS, _timed)
    bar = None if quick else (1.8, 1.95)
    work = [_processor_time(partial(problem.launch, threads)) for threads in (1, 2)]
    detail = f"{one:.3f} s, {two:.3f} s; by processor time {2 * work[0] / work[1]:.2f}"
    yield Figure("cores", f"{_KERNEL} on two cores, n = {n}", one / two, "x one core", bar, True, detail)
    ours, numpy = _child(_EVERY_CORE, str(n), cpu, OPENBLAS_NUM_THREADS=str(_cores()))
    detail = f"{ours:.3f} s, numpy {numpy:.3f} s, by the clock"
    bar = None if quick else (2.7, 2)
    yield Figure("cores", f"{_KERNEL} on all cores, n = {n}", ours / numpy, "x numpy", bar, detail=detail)


def _commands(quick: bool, cpu: str) -> Iterator[Figure]:
    """The compilers, and what they make, are cold as well."""
    for words, must, aim in COMMANDS:
        if quick and "4096" in words:
            continue
        with tempfile.TemporaryDirectory() as folder:
            saxpy = Path(folder) / "saxpy.hip"
            saxpy.write_text(_SAXPY)
            command = [sys.executable, "-c", _HIPGEMM, *words.format(saxpy=saxpy).split()]
            if command[3] == "run":
                command += ["--device", "simulated", "--cpu", cpu]
            bar: tuple[float, float] | None = must, aim
            for caches in ("cold", "again"):
                before = _children()
                seconds = _timed(partial(_run, command, XDG_CACHE_HOME=folder))
                name = " ".join(words.split("} ")[0].replace("{", "").split()[:4])
                yield Figure(
                    "commands",
                    f"{name}, {caches}",
                    _children() - before,
                    "s of processor",
                    bar,
                    detail=f"{seconds:.2f} s",
                )
                bar = (0.3, 0.2) if "prove" in words else None


def _growth(quick: bool, cpu: str) -> Iterator[Figure]:
    for n in GROWTH:
        if quick and n > QUICK:
            break
        problem = _Problem(_KERNEL, n, cpu)
        problem.launch()
        seconds = statistics.median(_timed(problem.launch) for _ in range(1 if n > 4096 else REPEATS))
        detail = f"{seconds:.3f} s"
        yield Figure("growth", f"{_KERNEL}, n = {n}", seconds / n**3 * 1e12, "ps a multiply-add", detail=detail)


PARTS: dict[str, Callable[[bool, str], Iterator[Figure]]] = {
    "launches": _launches,
    "triton": _triton,
    "streams": _streams,
    "check": _checks,
    "translation": _translation,
    "import": _imports,
    "memory": _memory,
    "cores": _two_cores,
    "commands": _commands,
    "growth": _growth,
}


class _Problem:
    """C = A B of size n on the simulated card, ready to launch, and by NumPy."""

    def __init__(self, name: str, n: int, cpu: str) -> None:
        import numpy as np

        from isa.sim.run.card import Card

        self.card, row = Card(cpu=cpu, baseline=False), NAMED[name]
        self.kernel = self.card.load(build(name).hsaco.read_bytes()).kernels[name]
        self.a, self.b = np.random.default_rng(0).random((2, n, n), dtype=np.float32)
        buffers = [self.card.memory.allocate(self.a.nbytes) for _ in range(3)]
        for address, matrix in zip(buffers, (self.a, self.b), strict=False):
            stored = matrix.astype(row.types.of_factor.dtype)
            ctypes.memmove(address, stored.ctypes.data, stored.nbytes)
        launch = launch_of(row, n, n, n)
        workspace = self.card.memory.allocate(max(1, launch.workspace_bytes))
        ctypes.memset(workspace, 0, launch.workspace_bytes)
        self.arguments = launch.kernarg(buffers, 1.0, 0.0, workspace)
        self.grid, self.block = launch.grid, launch.block

    def launch(self, threads: int = 1) -> None:
        self.card.launch(self.kernel, self.grid, self.block, self.arguments, threads=threads)

    def check(self) -> None:
        """One schedule."""
        from isa.sanitize import observe

        observe(self.card, self.kernel, self.grid, self.block, self.arguments, schedules=1)

    def matmul(self) -> None:
        _ = self.a @ self.b


class _Stream:
    """A kernel of (from, to, number) on the simulated card, ready to launch with 256 work-items a group, and memcpy."""

    def __init__(self, name: str, groups: int, number: int, cpu: str) -> None:
        import numpy as np

        from isa.sim.run.card import Card

        self.card = Card(cpu=cpu, baseline=False)
        self.kernel = self.card.load(build(read_kernel(_STREAMS, name)).hsaco.read_bytes()).kernels[name]
        self.given = np.random.default_rng(0).random(STREAMED // 4, dtype=np.float32)
        self.copied, self.grid = np.zeros_like(self.given), (groups, 1, 1)
        buffers = [self.card.memory.allocate(STREAMED) for _ in range(2)]
        for address in buffers:
            ctypes.memmove(address, self.given.ctypes.data, STREAMED)
        self.arguments = struct.pack("<QQi", *buffers, number)

    def launch(self) -> None:
        self.card.launch(self.kernel, self.grid, (256, 1, 1), self.arguments, threads=1)

    def memcpy(self) -> None:
        ctypes.memmove(self.copied.ctypes.data, self.given.ctypes.data, STREAMED)


def _cores() -> int:
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def _timed(work: Callable[[], Any]) -> float:
    start = time.perf_counter()
    work()
    return time.perf_counter() - start


def _median(measure: Callable[[], tuple[float, float]]) -> tuple[float, float]:
    """Of both."""
    pairs = [measure() for _ in range(REPEATS)]
    return statistics.median(p[0] for p in pairs), statistics.median(p[1] for p in pairs)


def _processor(seconds: float) -> str:
    return f"{seconds:.3f} s of processor time"


def _processor_time(work: Callable[[], Any]) -> float:
    start = time.process_time()
    work()
    return time.process_time() - start


def _alternating(
    one: Callable[[], Any],
    other: Callable[[], Any],
    repeats: int,
    timed: Callable[[Callable[[], Any]], float] = _processor_time,
) -> tuple[float, float]:
    """Median seconds of both, which take turns."""
    one(), other()
    pairs = [(timed(one), timed(other)) for _ in range(repeats)]
    return statistics.median(p[0] for p in pairs), statistics.median(p[1] for p in pairs)


_IMPORT = """
import time; start, busy = time.perf_counter(), time.process_time()
import hipgemm
print(time.perf_counter() - start, time.process_time() - busy)
"""
_TRANSLATE = """
import sys, time; start, busy = time.perf_counter(), time.process_time()
import pathlib
from isa.sim.run.card import Card
image = pathlib.Path(sys.argv[1]).read_bytes()
if not sys.argv[3]:
    Card(cpu=sys.argv[2]).load(image).kernels["kernel8"].code_object
    import isa.llvm
    isa.llvm.library()
    start, busy = time.perf_counter(), time.process_time()
card = Card(cpu=sys.argv[2], baseline=bool(sys.argv[4]))
card.load(image).kernels["kernel8"].tiers(card.target, switches=True).version(True)
print(time.perf_counter() - start, time.process_time() - busy)
"""
_HIPGEMM = "from hipgemm.cli import main; main()"
_EVERY_CORE = """
import os, sys, time
from tools import bench_sim
problem = bench_sim._Problem("kernel8", int(sys.argv[1]), sys.argv[2])
cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count()
print(*bench_sim._alternating(lambda: problem.launch(cores), problem.matmul, 5, bench_sim._timed))
"""
_MEMORY = """
import sys
import numpy
from tools import bench_sim
before = bench_sim.peak()
bench_sim.launch_once(int(sys.argv[1]), sys.argv[2])
print(bench_sim.peak() - 3 * 4 * int(sys.argv[1]) ** 2 / bench_sim.MB, before)
"""


def peak() -> float:
    """Megabytes that this process held at most, its interpreter included."""
    status = Path("/proc/self/status")
    if status.exists():  # what getrusage tells on Linux includes the parent's memory at the time of the fork
        return int(status.read_text().split("VmHWM:")[1].split()[0]) * 1024 / MB
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * (1 if sys.platform == "darwin" else 1024) / MB


def launch_once(n: int, cpu: str) -> None:
    """Kernel 8 on matrices of zeros that only the card has."""
    from isa.sim.run.card import Card

    card, row = Card(cpu=cpu, baseline=False), LADDER[_KERNEL]
    kernel = card.load(build(_KERNEL).hsaco.read_bytes()).kernels[_KERNEL]
    buffers = [card.memory.allocate(4 * n * n) for _ in range(3)]
    for address in buffers:
        ctypes.memset(address, 0, 4 * n * n)
    card.launch(kernel, row.grid(n, n), row.block, gemm_kernarg(buffers, n, n, n, 1.0, 0.0))


def _children() -> float:
    """Processor seconds of all processes that this one has waited for."""
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def _child(code: str, *arguments: str, **environment: str) -> tuple[float, float]:
    """Seconds on the clock, and of processor time, which other programs hardly change."""
    wall, busy = map(float, _run([sys.executable, "-c", code, *arguments], **environment).split())
    return wall, busy


def _run(command: list[str], **environment: str) -> str:
    done = subprocess.run(
        command, cwd=ROOT, capture_output=True, text=True, check=False, env={**os.environ, **environment}
    )
    if done.returncode:
        raise IsaError(f"a part of the benchmark failed: {' '.join(command[3:])}", got=done.stderr.strip()[-2000:])
    return done.stdout


@click.command("bench-sim", cls=Reporting, context_settings={"help_option_names": ["-h", "--help"]})
@click.argument("parts", nargs=-1)
@click.option("--quick", is_flag=True, help="Sizes up to 1024, to which most bars do not apply.")
@options.cpu
@click.option("--json", "as_json", is_flag=True, help="Print JSON lines instead of the table.")
def command(parts: tuple[str, ...], quick: bool, cpu: str, as_json: bool) -> None:
    """Measure the simulator itself: PARTS of launches and triton (against numpy.matmul), streams (against memcpy),
    check (under the sanitizer, against plain launches), translation, import, memory, cores (one against two, and all
    against numpy.matmul), commands (`hipgemm run` and `prove`, with cold caches and again) and growth (with n).
    Default: all.

    Exit status 1 if a figure misses its bar. On a busy machine times are longer; ratios hardly change.
    """
    missed = False
    with steps() as step:
        step("measuring")
        for number, figure in enumerate(figures(parts, quick=quick, cpu=cpu)):
            if not number and not as_json:
                click.echo(f"{machine(cpu)}\n")
            click.echo(_json(figure) if as_json else _row(figure))
            missed |= figure.met is False
    sys.exit(1 if missed else 0)


def _json(figure: Figure) -> str:
    return json.dumps({**dataclasses.asdict(figure), "met": figure.met, "aim_met": figure.aim_met})


def _row(figure: Figure) -> str:
    """Name, value, unit, bar and aim, whether they are met, detail."""
    bound = ""
    if figure.bar is not None:
        bound = f"{'>=' if figure.more_is_better else '<='} {figure.bar[0]:g}, {figure.bar[1]:g}"
    state = "" if figure.met is None else "MISSED" if not figure.met else "aim" if figure.aim_met else "ok"
    value = f"{figure.value:.3g}" if figure.value < 1000 else f"{figure.value:.0f}"
    return f"{figure.name:45}{value:>7} {figure.unit:18}{bound:14}{state:8}{figure.detail}".rstrip()


if __name__ == "__main__":
    command()
