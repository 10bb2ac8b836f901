"""Build stages and their statistics: registers, LDS and the instructions of the main loop after each step.

`made` does the steps: it reads, compiles or generates, runs the passes, proves, assembles and links. `shape` reads the
numbers from assembly: registers, LDS and scratch from directives and metadata, and the instructions of its main loop
(isa.analysis.inner: the loop with the most FMAs).

What is counted of a kernel's text: registers, dual instructions, reads that collide; in all, and within loops.
"""

from __future__ import annotations

import dataclasses
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from hipgemm.kernels.compiling.kept import compile_kept
from hipgemm.kernels.ladder import Gemm
from hipgemm.kernels.object import Kernel
from isa.analysis import banks, cfg, dependences, inner
from isa.analysis.cfg import Cfg
from isa.asm.emit import emit
from isa.asm.expand import text_of
from isa.asm.parse import aimed, parse, reread
from isa.asm.program import Program
from isa.errors import IsaError
from isa.object.from_text import described
from isa.targets import target
from isa.toolchain import Toolchain, UndefinedSymbols

if TYPE_CHECKING:
    from isa.prove.proof import Proof

LAST = {"vopd interlock": "vopd-interlock", "sgpr": "sgpr-waits"}
"""Hazard -> the pass that runs last where the target has it, after empty pipelines too: compilers emit such code."""


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
    it left no assembly), what the tool said, a note: what the step found, for people, and the linker's words about
    functions that it calls and nothing defines."""

    name: str
    file: str
    seconds: float
    shape: Shape | None = None
    said: str = ""
    note: str = ""
    lacks: str = ""

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


def made(kernel: Kernel, arch: str, tools: Toolchain, flags: Sequence[str], folder: Path) -> Iterator[Stage]:
    """Every step of a build, in order, each done when it is asked for. Passes and provers are imported here: what was
    built before needs none."""
    from hipgemm.judge import proving
    from isa.gemm.vector.generate import generate
    from isa.passes import run_pipeline

    name = kernel.stem
    object_file, hsaco = folder / f"{name}.o", folder / f"{name}.hsaco"

    start = time.perf_counter()
    if isinstance(kernel.code, Program):
        first = reread(aimed(kernel.code, target(arch)), f"{name}.0-given.s")
        (folder / first.file).write_text(text_of(first))
        yield _assembly_stage("read", first, kernel.name, start)
    elif kernel.parameters:
        first = generate(kernel.parameters, name, arch=arch, file=f"{name}.0-generated.s")
        (folder / first.file).write_text(emit(first))
        yield _assembly_stage("generate", first, name, start)
    else:
        said, first = compiled(kernel, arch, tools, flags, folder / f"{name}.0-compiled.s")
        yield _assembly_stage("compile", first, kernel.name, start, said)

    last = first
    steps = []
    start = time.perf_counter()
    chosen = kernel.name if len(first.kernels) > 1 else ""
    passes = run_pipeline(first, pipeline(kernel, arch), lambda k, after: f"{name}.{k}-{after}.s", chosen)
    for pass_name, program in passes:
        if program is last:
            yield Stage(pass_name, last.file, time.perf_counter() - start, note="nothing to do")
        else:
            last = program
            (folder / last.file).write_text(text_of(last))
            steps.append((pass_name, last))
            yield _assembly_stage(pass_name, last, kernel.name, start)
        start = time.perf_counter()
    proof = folder / f"{name}.proof.txt"
    if isinstance(kernel, Gemm) and kernel.parameters is not None and kernel.code is None:
        yield _proof_stage(lambda: proving.by_definition(kernel, last), proof)
    elif steps:
        yield _proof_stage(lambda: proving.check(kernel, first, steps), proof)

    start = time.perf_counter()
    said = tools.assemble(folder / last.file, object_file, arch=arch)
    yield Stage("assemble", object_file.name, time.perf_counter() - start, said=said)

    start = time.perf_counter()
    lacks = ""
    try:
        said = tools.link([object_file], hsaco)
    except UndefinedSymbols as error:
        tools.link([object_file], hsaco, lacking=True)
        said, lacks = "", error.message
    yield Stage("link", hsaco.name, time.perf_counter() - start, said=said, lacks=lacks)


def compiled(
    kernel: Kernel, arch: str, tools: Toolchain, flags: Sequence[str], file: Path, *, typed: bool = True
) -> tuple[str, Program]:
    """What the compiler said, and what it wrote. typed: as for `compile_kept`."""
    said = compile_kept(kernel, arch, tools, flags, file, typed=typed)
    program = dataclasses.replace(parse(file.read_text(), file.name), title=kernel.called)
    if not program.kernels:
        raise IsaError(f"{kernel.title} has no kernel", expected="a __global__ function")
    return said, program


def pipeline(kernel: Kernel, arch: str) -> str:
    """All passes that a build of `kernel` for a target runs."""
    last = (LAST[hazard] for hazard in LAST if hazard in target(arch).hazards)
    return ",".join(filter(None, (kernel.pipeline, *last)))


def _proof_stage(prove: Callable[[], Proof], file: Path) -> Stage:
    """Raises proving.Disproved where the kernel is wrong; says so where nothing could be proved."""
    from hipgemm.judge import proving

    start = time.perf_counter()
    try:
        proof = prove()
    except proving.Disproved as e:
        file.write_text(f"{e}\n")
        raise
    file.write_text(f"{proof}\n")
    said = "" if proof.proved else proof.statement
    return Stage("prove", file.name, time.perf_counter() - start, said=said, note=proof.statement)


def _assembly_stage(stage: str, program: Program, kernel: str, start: float, said: str = "") -> Stage:
    seconds = time.perf_counter() - start
    numbers = shape(program, kernel) if kernel or len(program.kernels) == 1 else None
    return Stage(stage, program.file, seconds, numbers, said)


@dataclass(frozen=True)
class Figures:
    """What is counted of a kernel. pairs: dual instructions; eligible: what a VOPD can hold, each half one; conflicts:
    cycles that operand reads cost beyond one; matrix: matrix products on one bank. `loop`: the same within loops."""

    vgprs: int
    instructions: int
    pairs: int
    eligible: int
    conflicts: int
    matrix: int
    loop: Mapping[str, int]


def fewer(new: Figures, old: Figures) -> bool:
    """Whether less collides in loops, and in all."""
    return (new.loop["matrix"], new.loop["conflicts"], new.matrix, new.conflicts) < (
        old.loop["matrix"], old.loop["conflicts"], old.matrix, old.conflicts,
    )  # fmt: skip


def figures(program: Program, name: str) -> Figures:
    """What is counted of a kernel."""
    flow = cfg.of_kernel(program.kernel(name))
    inside = {i for loop in flow.loops for i in flow.positions(loop)}
    whole, loop = _count(flow, set(range(len(flow)))), _count(flow, inside)
    vgprs = max(
        (r.index + 1 for inst in flow.instructions for r in inst.reads() | inst.writes() if r.is_vgpr), default=0
    )
    return Figures(vgprs=vgprs, loop=loop, **whole)


def _count(flow: Cfg, of: set[int]) -> dict[str, int]:
    from isa.passes.schedule import dual_issue  # with all passes, which few verbs need
    from isa.timing.machine import bank_rules

    rule = bank_rules.RULES[bank_rules.DEFAULT]
    found = dict.fromkeys(("instructions", "pairs", "eligible", "conflicts", "matrix"), 0)
    for block in flow.blocks:
        before: tuple[banks.Source, ...] = ()
        for i in block.range:
            inst = flow.instructions[i]
            if i not in of or dependences.is_hint(inst):
                continue
            found["instructions"] += 1
            if not inst.desc.is_valu:
                continue
            now = banks.sources(inst)
            found["conflicts"] += rule(before, now)
            before = now
            found["matrix"] += bank_rules.matrix_on_one_bank(inst)
            found["pairs"] += inst.pair is not None
            found["eligible"] += 2 if inst.pair is not None else bool(dual_issue.facts(inst))
    return found
