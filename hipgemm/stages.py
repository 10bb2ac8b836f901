"""What one step of a build made, in the numbers that a kernel engineer looks at first.

`shape` reads them from assembly: registers, LDS and scratch from directives and metadata, and the instructions of its
main loop (isa.analysis.inner: the loop with the most FMAs).
"""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any

from isa.analysis import cfg, inner
from isa.asm.program import Program
from isa.object.from_text import described


@dataclass(frozen=True, slots=True)
class Shape:
    """vgprs, sgprs: as the metadata counts them. lds, scratch: bytes of a workgroup, of a thread. spills: VGPRs.
    loop: instructions of the main loop; dual, single: its FMA instructions that do two, and one."""

    vgprs: int
    sgprs: int
    lds: int
    scratch: int
    spills: int
    loop: int
    dual: int
    single: int


WORDS = {
    "vgprs": "VGPRs",
    "sgprs": "SGPRs",
    "lds": "B LDS",
    "scratch": "B scratch",
    "spills": "VGPRs spilled",
    "loop": "in the main loop",
    "dual": "dual FMAs",
    "single": "single FMAs",
}
"""How each number of a Shape is called after its value."""


@dataclass(frozen=True, slots=True)
class Stage:
    """One step: what it is called, the file that it left, how long it took, what the code is like after it (None where
    it left no assembly), what the tool said, and a note: what the step found, for people."""

    name: str
    file: str
    seconds: float
    shape: Shape | None = None
    said: str = ""
    note: str = ""

    def line(self, before: Shape | None) -> str:
        """One line for people: all numbers of the first shape, then only what changed."""
        return f"{self.name:<14}{self.seconds * 1000:>7.0f} ms  {self.changes(before)}".rstrip()

    def changes(self, before: Shape | None) -> str:
        if self.shape is None:
            return self.note or self.file
        now = asdict(self.shape)
        if before is None:
            return ", ".join(f"{now[key]} {WORDS[key]}" for key in WORDS if now[key] or key in ("dual", "single"))
        was = asdict(before)
        changed = [f"{WORDS[key]} {was[key]} -> {now[key]}" for key in WORDS if was[key] != now[key]]
        return ", ".join(changed) or "no change in these numbers"

    def as_json(self) -> dict[str, Any]:
        return asdict(self)

    @staticmethod
    def from_json(data: dict[str, Any]) -> Stage:
        return Stage(**{**data, "shape": data["shape"] and Shape(**data["shape"])})


def shape(program: Program, kernel: str) -> Shape:
    """The numbers of `kernel`, or of the only one for "". IsaError where it cannot be analysed."""
    view = program.kernel(kernel)
    control = cfg.of_kernel(view)
    main = inner.main_loop(control)
    loop = inner.body(control, main) if main else []
    kinds = [inner.fmas(inst) for inst in loop]
    facts = described(view)
    return Shape(
        vgprs=facts.vgprs,
        sgprs=facts.sgprs,
        lds=facts.descriptor.lds_bytes,
        scratch=facts.descriptor.scratch_bytes,
        spills=facts.vgpr_spills,
        loop=len(loop),
        dual=kinds.count(2),
        single=kinds.count(1),
    )
