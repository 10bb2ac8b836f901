"""Any kernel from Python: `hipgemm.kernel("softmax.hip")`, then launch it, check it, time it, lint it, prove it.

    >>> k = hipgemm.kernel("saxpy.hip")
    >>> k((16,), (256,), 4096, 2.0, x, y)          # y changes in place; the result has the time
    >>> k.check(16, 256, 4096, 2.0, x, y)          # findings
    >>> k.time(16, 256, 4096, 2.0, x, y)           # a prediction; nothing runs

Arguments are NumPy arrays and numbers: an `int` or a `float` becomes one of the size that the kernel wants, an `int` a
float where the kernel is known to take one, and a NumPy scalar stays what it is; a structure is bytes, a
ctypes.Structure, or an element of a NumPy array of records; words of `hipgemm.launch.words` ("random:f32:4096") do as
well. A kernel that is known to be a GEMM, or that has a launch file beside it, needs none:
`hipgemm.kernel("kernel8").time(n=4096)`.
"""

from __future__ import annotations

import ctypes
import dataclasses
import reprlib
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeAlias, cast

from hipgemm.kernels.build import Build, Linked, build, linked, readable, source_lines
from hipgemm.kernels.files import read_kernel
from hipgemm.kernels.ladder import Gemm
from hipgemm.kernels.object import Kernel
from hipgemm.kernels.source_lines import in_source, proof_with_origins
from hipgemm.launch.gemm import CUS
from hipgemm.launch.launch import (
    SCALARS,
    Argument,
    Array,
    BadLaunch,
    Launch,
    Reference,
    Scalar,
    Struct,
    Triple,
    explicit,
    number_kind,
    words_for,
)
from hipgemm.launch.problem import Problem
from hipgemm.launch.requests import LaunchRequest, launch_of
from hipgemm.launch.words import against, argument
from hipgemm.measure.device import Device
from isa.asm.program import Program
from isa.display import Shown
from isa.errors import Finding, IsaError

if TYPE_CHECKING:
    import numpy as np

    from hipgemm.judge.inspection import Inspection
    from hipgemm.judge.inspection.difference import KernelDifference
    from hipgemm.judge.predict import Prediction
    from hipgemm.judge.timeline import Timeline
    from hipgemm.measure.result import LaunchResult
    from isa.object import code_object
    from isa.prove.proof import Proof
    from isa.timing.machine.cards import Card

Size: TypeAlias = "int | Sequence[int]"


def kernel(
    what: str | Path, name: str | None = None, *, arch: str | None = None, flags: Sequence[str] = (),
    cu_mode: bool = False, hipcc: Path | str | None = None,
) -> RawKernel:  # fmt: skip
    """A kernel of HIP source, assembly or a code object, of the ladder, or of source text with several lines.

    name: of the kernel, where there are several. arch: as of `RawKernel`. flags: for the compiler of HIP source, in
    addition to -O3, such as "-DN=4"; cu_mode: compile with -mcumode. IsaError where there is no such file, or one for
    another target.
    """
    made = read_kernel(str(what), name, tuple(flags), cu_mode, arch)
    return RawKernel(made, arch, None if hipcc is None else Path(hipcc))


class Findings(Shown, list[Finding]):
    """A list of findings that shows itself as `hipgemm lint` and `hipgemm check` print them."""


@dataclass(frozen=True, repr=False)
class RawKernel:
    """A kernel of a file or of the ladder. arch: the target it is built for; None: its code's, else that of the
    card, gfx1100. hipcc: None for what `hipgemm doctor` finds."""

    kernel: Kernel
    arch: str | None = None
    hipcc: Path | None = None
    _linked: dict[str, Linked] = field(default_factory=dict, init=False, compare=False)

    def __repr__(self) -> str:
        return f"<hipgemm.kernel {self.kernel.called}, {self._target}>"

    @property
    def _target(self) -> str:
        return self.arch or self.kernel.arch or "gfx1100"

    def _card(self, name: str | None) -> Card:
        from isa.timing.machine import cards

        known = self.arch or self.kernel.arch
        return cards.fitting(self.kernel.called, known, None if name is None else cards.card(name))

    def build(self, out: Path | str | None = None, *, passes: str | None = None) -> Build:
        """Every stage from source to code object, into `out`. passes: rewrite the assembly. IsaError for a code
        object."""
        if isinstance(self.kernel.code, bytes):
            raise IsaError(
                f"{self.kernel.title} is a code object, which is built already", expected="HIP source or assembly"
            )
        kernel = self.kernel if passes is None else dataclasses.replace(self.kernel, pipeline=passes)
        return build(kernel, arch=self._target, hipcc=self.hipcc, out=None if out is None else Path(out))

    def linked(self, arch: str | None = None) -> Linked:
        """Its code object, made once for a target."""
        wanted = arch or self._target
        if wanted not in self._linked:
            self._linked[wanted] = linked(self.kernel, arch=wanted, hipcc=self.hipcc)
        return self._linked[wanted]

    def launch(
        self, grid: Size | None = None, block: Size | None = None, *arguments: Any, dynamic_lds: int = 0,
        n: int = 256, m: int | None = None, k: int | None = None, cus: int = CUS, arch: str | None = None,
        expect: np.ndarray | None = None, tolerance: float = 0.0,
    ) -> Launch:  # fmt: skip
        """A launch as an object. grid, block: workgroups and work-items, a number or up to three. arguments: arrays and
        numbers, as the kernel takes them. n, m, k: of a GEMM, where no grid is given. expect: what the last array must
        contain afterwards, within a tolerance that is relative for numbers above 1. BadLaunch where it does not fit
        the kernel."""
        if expect is not None:
            launch = self.launch(grid, block, *arguments, dynamic_lds=dynamic_lds, n=n, m=m, k=k, cus=cus, arch=arch)
            number = launch.array("")
            reference = Reference(number, against(expect.reshape(launch.arrays[number].shape), tolerance))
            return dataclasses.replace(launch, references=(reference,))
        made = self.linked(arch)
        problem = Problem.of(n, m, k)
        if grid is None and block is None:
            return launch_of(made, LaunchRequest(), problem, cus)
        if grid is None or block is None:
            raise BadLaunch("a launch needs both a grid and a block", hint=words_for(made.facts))
        wanted = explicit(made.facts)
        given = tuple(_argument(value, i, wanted[i] if i < len(wanted) else None) for i, value in enumerate(arguments))
        return Launch(_triple(grid), _triple(block), given, dynamic_lds).bound(made.facts)

    def __call__(self, *launch: Any, device: Device | str | None = None, **how: Any) -> LaunchResult:
        """Launch it on a card, or else on the simulated one. Arrays are changed in place. launch, how: as of `launch`,
        here and below."""
        from hipgemm.measure.measure import measure_launch

        opened = device if isinstance(device, Device) else Device.open(device, arch=self.arch or self.kernel.arch)
        launched = self.launch(*launch, cus=opened.cus, arch=opened.arch, **how)
        measured = measure_launch(self.linked(opened.arch), launched, opened, repeats=1)
        for number, array in enumerate(launched.arrays):
            mine = getattr(array, "source", None)
            now = measured.arrays.get(number)
            if mine is not None and now is not None and now.tobytes() != mine.tobytes():
                mine[...] = now
        return measured.result

    def time(
        self, *launch: Any, card: str | None = None, clock_mhz: float | None = None, n: int = 4096, **how: Any
    ) -> Prediction:
        """Its time by the cycle model; nothing runs. card: of `isa.timing.machine.cards`; None: one that runs it."""
        from hipgemm.judge.predict import predicted

        on = self._card(card)
        launched = self.launch(*launch, n=n, cus=on.cus, arch=on.arch, **how)
        return predicted(self.linked(on.arch), launched, on, clock_mhz)[1]

    def timeline(
        self, *launch: Any, card: str | None = None, clock_mhz: float | None = None, window: int | None = None,
        begin: int | None = None, n: int = 4096, **how: Any,
    ) -> Timeline:  # fmt: skip
        """Its waves over time, by the cycle model; a notebook shows the page."""
        from hipgemm.judge.predict import played

        on = self._card(card)
        launched = self.launch(*launch, n=n, cus=on.cus, arch=on.arch, **how)
        return played(self.linked(on.arch), launched, on, clock_mhz, window=window, begin=begin)[0]

    def opt(
        self, *launch: Any, passes: str | None = None, candidates: int | None = None, card: str | None = None,
        n: int = 4096, **how: Any,
    ) -> tuple[RawKernel, str]:  # fmt: skip
        """It rewritten, proved, and the gain; or itself, and why. As `hipgemm opt`."""
        from hipgemm.optimise import clock, rewriting

        on, launched = self._card(card), None
        try:
            launched = self.launch(*launch, n=n, cus=on.cus, arch=on.arch, **how)
        except BadLaunch:
            if launch or how:
                raise
        search = rewriting.Search(lambda p, name: clock.of_kernel(p, name, launched, on), None, passes, candidates)
        given = readable(self.kernel, arch=on.arch, hipcc=self.hipcc)
        name = given.kernel(None if isinstance(self.kernel, Gemm) else self.kernel.name or None).name
        code: Program | bytes
        if isinstance(given, Program):
            code, (outcome,) = rewriting.of_program(given, [name], search, self.kernel)
        else:
            assert isinstance(self.kernel.code, bytes)
            code, (outcome,) = rewriting.of_code_object(self.kernel.code, [name], search, self.kernel)
        if outcome.kept:
            return self, outcome.line
        return RawKernel(dataclasses.replace(self.kernel, code=code), on.arch, self.hipcc), outcome.line

    def check(self, *launch: Any, schedules: int = 3, **how: Any) -> Findings:
        """A launch under the sanitizer."""
        from hipgemm.judge.checking import Schedules, checked

        return Findings(checked(self.linked(), self.launch(*launch, **how), Schedules(schedules)))

    def lint(self) -> Findings:
        """Errors that an assembler does not report."""
        from hipgemm.judge.inspection.linting import kept_lint

        given = readable(self.kernel, arch=self._target, hipcc=self.hipcc)
        found = kept_lint(self.kernel, given, self.kernel.title, self.kernel.name or None)
        return Findings(in_source(found, given, source_lines(self.kernel, given, self._target, self.hipcc)))

    def inspect(self) -> Inspection:
        """Registers, occupancy, instruction mix, banks of the main loop."""
        from hipgemm.judge.inspection import inspect

        given = readable(self.kernel, arch=self._target, hipcc=self.hipcc)
        return inspect(given, self.kernel.title, self.kernel.name or None)

    def prove_against(self, other: RawKernel) -> Proof:
        """Whether it computes the same as the other, for all data; else what differs."""
        from hipgemm.judge import proving

        original, program = (
            proving.readable(readable(k.kernel, arch=k._target, hipcc=k.hipcc), k.kernel.name or None, k.kernel.title)
            for k in (other, self)
        )
        name = None if isinstance(self.kernel, Gemm) else self.kernel.name or None
        proof = proving.same(original, program, self.kernel, name)
        sides = (other, original), (self, program)
        return proof_with_origins(proof, *(source_lines(k.kernel, p, k._target, k.hipcc) for k, p in sides))

    def difference_from(self, older: RawKernel) -> KernelDifference:
        """What changed from an older kernel to this one, without times."""
        from hipgemm.judge.inspection.difference import difference

        before, now = (readable(k.kernel, arch=k._target, hipcc=k.hipcc) for k in (older, self))
        sources = [source_lines(k.kernel, p, k._target, k.hipcc) for k, p in ((older, before), (self, now))]
        titles = (older.kernel.title, self.kernel.title)
        return difference(before, now, titles, self.kernel, self.kernel.name or None, sources)


def _triple(size: Size) -> Triple:
    found = [size] if isinstance(size, int) else list(size)
    if not 1 <= len(found) <= 3 or min(found) < 1:
        raise BadLaunch(f"{size!r} is not the size of a grid or block", expected="1 to 3 positive numbers")
    x, y, z = [*map(int, found), 1, 1][:3]
    return x, y, z


@dataclass(frozen=True, eq=False)
class _Given(Array):
    """An array that a caller has."""

    source: Any = None


def _argument(value: Any, position: int, wanted: code_object.Argument | None) -> Argument:
    """A Python value as an argument. wanted: what the kernel takes there."""
    import numpy as np

    if isinstance(value, (Scalar, Array)):
        return value
    if isinstance(value, str):
        return argument(value, position)
    if isinstance(value, (bytes, np.void, ctypes.Structure)):
        return Struct(tuple(Scalar("u8", byte) for byte in bytes(cast(Any, value))))
    if isinstance(value, np.ndarray):
        if value.dtype.kind not in "biufc" or not value.dtype.isnative:
            raise BadLaunch(
                f"argument {position} is an array of {value.dtype}", expected="numbers in this machine's order"
            )
        return _Given(value.dtype.str, value.shape, lambda: value, source=value)
    kind = ""
    if isinstance(value, np.generic):
        kind, value = f"{value.dtype.kind}{8 * value.dtype.itemsize}", value.item()
    elif isinstance(value, (bool, int, float)):
        kind = "f" if isinstance(value, float) or (wanted and number_kind(wanted) == "f") else "i"
        kind += str(8 * (wanted.size if wanted else 8))
    if kind in SCALARS:
        return Scalar(kind, value)
    raise BadLaunch(
        f"argument {position} cannot be {reprlib.repr(value)}",
        expected="a NumPy array, a number, a structure, or a string such as 'random:f32:64'",
    )
