"""Microbenchmarks in assembly: workgroups that run a few instructions over and over, and what an iteration takes.

A kernel is a `Micro`: lines of assembly around which `kernels_hip/lab/micro.s.j2` puts everything else. It is launched
with two numbers of iterations; the difference of the two times is that of the iterations between them, without launch,
setup and the last store. On a card the cycles are those of its nominal clock (hipDeviceProp_t.clockRate), which it may
leave.
"""

from __future__ import annotations

import ctypes
import re
import struct
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from hipgemm.kernels.object import SOURCES
from isa import cache, toolchain
from isa.registers import s
from isa.semantics.waits import wait_texts
from isa.targets import target
from isa.targets.family import Family

if TYPE_CHECKING:
    import numpy as np

    from hipgemm.lab.bench import Bench
    from isa.timing.machine.cards import Card as CardFacts
    from isa.timing.model.predict import TimedLaunch

ITERATIONS = (50, 250)
REPEATS = 16  # on a card; the shortest counts
_TEMPLATE = SOURCES / "lab" / "micro.s.j2"
_WAITED = {"vmcnt": "global_load", "lgkmcnt": "lds_load"}
"""Counters that the text of a microbenchmark names -> what it waits for."""


def _written(family: Family, lines: Iterable[str]) -> Iterator[str]:
    """Lines with the family's waits and barriers in the place of gfx11's."""
    for line in lines:
        if found := re.fullmatch(r"s_waitcnt (\w+)\((\d+)\)", line):
            yield from wait_texts(family, dict.fromkeys(family.raised[_WAITED[found[1]]], int(found[2])))
        else:
            yield from family.barrier if line == "s_barrier" else [line]


@dataclass(frozen=True)
class Micro:
    """setup, body, finish: assembly, see the template. lds: bytes; vgprs: how many; block: work-items of each of `grid`
    workgroups; iterations: few and many, or those of one launch that is timed whole; memory: bytes of the arrays a and
    b, whose words count up from 0."""

    name: str
    setup: Sequence[str]
    body: Sequence[str]
    finish: Sequence[str]
    vgprs: int
    lds: int = 0
    block: int = 256
    grid: tuple[int, int] = (1, 1)
    cu_mode: bool = True
    iterations: tuple[int, ...] = ITERATIONS
    memory: tuple[int, int] = (0, 0)

    def text(self, arch: str) -> str:
        """The assembly."""
        from jinja2 import Environment, StrictUndefined

        made, family = Environment(undefined=StrictUndefined, trim_blocks=True, lstrip_blocks=True), target(arch).family
        parts = {name: [*_written(family, getattr(self, name))] for name in ("setup", "body", "finish")}
        parts["arguments"] = wait_texts(family, dict.fromkeys(family.raised["smem_load"], 0))
        numbers = [(to, family.group_ids[axis]) for to, axis in (("s2", "x"), ("s3", "y")) if axis in family.group_ids]
        parts["numbers"] = [f"s_bfe_u32 {to}, {s(at)}, 0x{bits << 16 | low:x}" for to, (at, low, bits) in numbers]
        return made.from_string(_TEMPLATE.read_text()).render(arch=arch, **vars(self) | parts)

    def image(self, arch: str, tools: toolchain.Toolchain) -> bytes:
        """The code object, kept by the assembly and what assembled it."""
        text, file = self.text(arch), f"{self.name}.hsaco"

        def fill(folder: Path) -> None:
            (folder / file).write_bytes(tools.code_object(text, arch=arch, name=f"{self.name}.s"))

        key = cache.key(text, arch, tools.identity)
        return (cache.make("lab", f"{self.name}-{key}", fill) / file).read_bytes()


@dataclass(frozen=True, slots=True)
class Iterations:
    """cycles of one iteration, None where the time is not known; time_kind as in a Result; correct: every launch's
    answer."""

    cycles: float | None
    time_kind: str
    correct: bool

    def row(self, count: int) -> dict[str, object]:
        """What a table says of so many instructions an iteration: cycles of one."""
        each = None if self.cycles is None else self.cycles / count
        return {"cycles": each, "time_kind": self.time_kind, "correct": self.correct}


def predicted_cycles(micro: Micro, step: int, on: CardFacts, numbers: Mapping[str, float] | None = None) -> float:
    """Cycles of an iteration by the cycle model's estimate; nothing is run. numbers: of the machine, see
    `isa.timing.model.predict`."""
    times = [launch.estimate().time_s for launch in timed(micro, step, on, numbers)]
    return of_an_iteration(times, micro.iterations) * on.clock_mhz * 1e6


def timed(
    micro: Micro, step: int, on: CardFacts, numbers: Mapping[str, float] | None = None
) -> Iterator[TimedLaunch]:  # fmt: skip
    """Its launches, with few iterations and with many, to be timed."""
    from isa.object import code_object
    from isa.timing.model.predict import TimedLaunch

    code = code_object.load(micro.image(on.arch, toolchain.find()))
    for iterations in micro.iterations:
        kernarg = struct.pack("<QiiQQ", _ANYWHERE, iterations, step, 2 * _ANYWHERE, 3 * _ANYWHERE)
        shape = (*micro.grid, 1), (micro.block, 1, 1)
        yield TimedLaunch(code, micro.name, *shape, kernarg, on, numbers=numbers)


def of_an_iteration(times: Sequence[float], iterations: Sequence[int]) -> float:
    """The difference of two launches, or the whole of one."""
    if len(times) == 1:
        return times[0] / iterations[0]
    return (times[1] - times[0]) / (iterations[1] - iterations[0])


_ANYWHERE = 0x1000_0000_0000
Words = Callable[[int], "np.ndarray"]
"""iterations -> what an array must hold in the end."""


def run(bench: Bench, micro: Micro, step: int, expected: Words, written: Words | None = None) -> Iterations:
    """Launch with few iterations and with many. step: the kernel's third argument. expected: v1 of each work-item, as
    uint32 or float32; written: the array a, where the kernel writes it."""
    import numpy as np

    device = bench.device
    bench.step(f"running {micro.name}")
    tools = toolchain.find()
    bench.toolchain = str(tools)
    function = device.load(micro.image(device.arch, tools), micro.name)
    best: list[float | None] = []
    correct = True
    with ExitStack() as held:
        out = held.enter_context(device.buffer(4 * micro.grid[0] * micro.grid[1] * micro.block))
        arrays = [held.enter_context(device.buffer(size)) if size else None for size in micro.memory]
        for array, size in zip(arrays, micro.memory, strict=True):
            if array:
                array.upload(np.arange(size // 4, dtype=np.uint32))
        places = [ctypes.c_void_p(array.address if array else 0) for array in arrays]
        for iterations in micro.iterations:
            arguments = (ctypes.c_void_p(out.address), ctypes.c_int(iterations), ctypes.c_int(step), *places)

            def launch(_: int, stream: object, arguments: tuple[object, ...] = arguments) -> None:
                device.launch(function, (*micro.grid, 1), (micro.block, 1, 1), arguments, stream=stream)

            times = device.timings(launch, 1 if device.simulated else REPEATS)
            known = [t for t in times if t is not None]
            best.append(min(known, default=None))
            checked = [(out, expected)]
            if written and arrays[0]:
                checked.append((arrays[0], written))
            for buffer, words in checked:
                wanted = words(iterations)
                found = np.zeros_like(wanted)
                buffer.download(found)
                correct &= bool(np.array_equal(found, wanted))
    device.unload(function)
    known_times = [t for t in best if t is not None]
    if len(known_times) < len(best):
        return Iterations(None, "none", correct)
    cycles = of_an_iteration(known_times, micro.iterations) * device.clock_mhz * 1e6
    return Iterations(cycles, "predicted" if device.simulated else "measured", correct)
