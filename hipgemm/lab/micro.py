"""Microbenchmarks in assembly: one workgroup that runs a few instructions over and over, and what a round takes.

A kernel is a `Micro`: lines of assembly around which `kernels_hip/lab/micro.s.j2` puts everything else. It is launched
with two numbers of rounds; the difference of the two times is that of the rounds between them, without launch, setup
and the last store. On a card the cycles are those of its nominal clock (hipDeviceProp_t.clockRate), which it may leave.
"""

from __future__ import annotations

import ctypes
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from hipgemm.kernel_object import SOURCES
from isa import cache, toolchain

if TYPE_CHECKING:
    import numpy as np

    from hipgemm.lab.bench import Bench

ROUNDS = (50, 250)
REPEATS = 16  # on a card; the shortest counts
_TEMPLATE = SOURCES / "lab" / "micro.s.j2"


@dataclass(frozen=True)
class Micro:
    """setup, body, finish: assembly, see the template. lds: bytes; vgprs: how many; block: work-items, of one
    workgroup."""

    name: str
    setup: Sequence[str]
    body: Sequence[str]
    finish: Sequence[str]
    vgprs: int
    lds: int = 0
    block: int = 256

    def text(self, arch: str) -> str:
        """The assembly."""
        from jinja2 import Environment, StrictUndefined

        made = Environment(undefined=StrictUndefined, trim_blocks=True, lstrip_blocks=True)
        return made.from_string(_TEMPLATE.read_text()).render(arch=arch, **vars(self))

    def image(self, arch: str, tools: toolchain.Toolchain) -> bytes:
        """The code object, kept by the assembly and what assembled it."""
        text, file = self.text(arch), f"{self.name}.hsaco"

        def fill(folder: Path) -> None:
            (folder / file).write_bytes(tools.code_object(text, arch=arch, name=f"{self.name}.s"))

        key = cache.key(text, arch, tools.identity)
        return (cache.make("lab", f"{self.name}-{key}", fill) / file).read_bytes()


@dataclass(frozen=True, slots=True)
class Rounds:
    """cycles of one round, None where the time is not known; time_kind as in a Result; correct: every launch's
    answer."""

    cycles: float | None
    time_kind: str
    correct: bool


def run(bench: Bench, micro: Micro, step: int, expected: Callable[[int], np.ndarray]) -> Rounds:
    """Launch with few rounds and with many. step: the kernel's third argument. expected: rounds -> what v1 of each
    work-item must hold in the end, as a uint32 or float32 array."""
    import numpy as np

    device = bench.device
    bench.step(f"running {micro.name}")
    tools = toolchain.find()
    bench.toolchain = str(tools)
    function = device.load(micro.image(device.arch, tools), micro.name)
    best: list[float | None] = []
    correct = True
    with device.buffer(4 * micro.block) as out:
        for rounds in ROUNDS:
            arguments = (ctypes.c_void_p(out.address), ctypes.c_int(rounds), ctypes.c_int(step))

            def launch(_: int, stream: object, arguments: tuple[object, ...] = arguments) -> None:
                device.launch(function, (1, 1, 1), (micro.block, 1, 1), arguments, stream=stream)

            times = device.timings(launch, 1 if device.simulated else REPEATS)
            known = [t for t in times if t is not None]
            best.append(min(known, default=None))
            wanted = expected(rounds)
            found = np.zeros(micro.block, wanted.dtype)
            out.download(found)
            correct &= bool(np.array_equal(found, wanted))
    device.unload(function)
    few, many = best
    if few is None or many is None:
        return Rounds(None, "none", correct)
    cycles = (many - few) * device.clock_mhz * 1e6 / (ROUNDS[1] - ROUNDS[0])
    return Rounds(cycles, "predicted" if device.simulated else "measured", correct)
