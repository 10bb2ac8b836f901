"""A kernel as its engineer looks at it: registers, occupancy and what would raise it, instruction mix, bank table.

`of_build`, `of_code_object` and `of_program` read the same facts from a rung, an ELF file and assembly text.
"""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import dataclass

from hipgemm.build import Build
from hipgemm.kernels import Rung
from isa.analysis import banks, cfg, inner
from isa.analysis.cfg import Cfg
from isa.analysis.resources import Occupancy, occupancy
from isa.code_object import CodeObject
from isa.errors import IsaError
from isa.program import Kernel, Program

UNITS = {
    "valu": "VALU", "valu64": "VALU, 64 bit", "trans": "VALU, transcendental", "salu": "SALU", "smem": "scalar memory",
    "lds": "LDS", "vmem": "global memory", "flat": "flat memory", "scratch": "scratch", "branch": "branches",
    "barrier": "barriers", "wait": "waits", "internal": "hints and others",
}  # fmt: skip


@dataclass(frozen=True)
class Inspection:
    """What a kernel is made of.

    threads: of a workgroup.  mix: unit -> instructions in the main loop (in the whole kernel where it has no loop).
    table: (instruction, six cells as `isa.analysis.banks.COLUMNS`) of the VALU instructions of the main loop.
    """

    name: str
    vgprs: int
    sgprs: int
    lds: int
    scratch: int
    cu_mode: bool
    threads: int
    occupancy: Occupancy
    instructions: int
    loop: inner.Summary
    mix: dict[str, int]
    table: tuple[tuple[str, tuple[str, ...]], ...]

    def _repr_html_(self) -> str:
        from hipgemm.report.inspection import fragment

        return fragment(self)

    def __repr__(self) -> str:
        from hipgemm.report.inspection import text

        return text(self)


def of_build(built: Build) -> Inspection:
    """A rung of the ladder, launched as the ladder launches it."""
    rung = built.rung
    threads = rung.block[0] * rung.block[1] * rung.block[2] if isinstance(rung, Rung) else None
    return of_code_object(built.code_object(), rung.name, threads)


def of_code_object(code: CodeObject, name: str | None = None, threads: int | None = None) -> Inspection:
    """A kernel of a code object, the only one if `name` is not given. threads: the most it takes, if not given."""
    from isa.timing.predict import cfg_of

    if name is None and len(code.kernels) == 1:
        name = next(iter(code.kernels))
    kernel = code.kernel(name or "")
    d = kernel.descriptor
    return _inspect(
        kernel.name,
        cfg_of(code, kernel),
        (kernel.vgprs, kernel.sgprs, d.lds_bytes, d.scratch_bytes),
        not d.wgp_mode,
        threads or kernel.max_workgroup,
    )


def of_program(program: Program, name: str | None = None, threads: int | None = None) -> Inspection:
    """A kernel of an assembly text. threads: the most it takes by its metadata, if not given."""
    kernel = program.kernel(name)
    mode = "workgroup_processor_mode"
    return _inspect(
        kernel.name,
        cfg.of_kernel(kernel),
        tuple(
            kernel.directive(n)
            for n in ("next_free_vgpr", "next_free_sgpr", "group_segment_fixed_size", "private_segment_fixed_size")
        ),
        mode in kernel.descriptor and kernel.directive(mode) == 0,
        threads or _most_threads(kernel),
    )


def _most_threads(kernel: Kernel) -> int:
    """`.max_flat_workgroup_size` of the metadata; IsaError where it does not say."""
    line = kernel.metadata.get(".max_flat_workgroup_size")
    found = re.search(r"\d+\s*$", kernel.program.lines[line].text) if line is not None else None
    if found is None:
        raise IsaError(f"kernel {kernel.name} does not say how many threads a workgroup has", hint="give --threads")
    return int(found[0])


def _inspect(name: str, graph: Cfg, uses: tuple[int, ...], cu_mode: bool, threads: int) -> Inspection:
    vgprs, sgprs, lds, scratch = uses
    loop = inner.main_loop(graph)
    body = inner.body(graph, loop) if loop is not None else list(graph.instructions)
    valu = [inst for inst in body if inst.desc.unit in ("valu", "valu64", "trans")]
    return Inspection(
        name=name,
        vgprs=vgprs,
        sgprs=sgprs,
        lds=lds,
        scratch=scratch,
        cu_mode=cu_mode,
        threads=threads,
        occupancy=occupancy(vgprs, lds, threads, cu_mode=cu_mode),
        instructions=len(graph),
        loop=inner.summarise(body),
        mix=dict(Counter(UNITS[inst.desc.unit] for inst in body).most_common()),
        table=tuple(zip((str(inst) for inst in valu), banks.cache_table(valu), strict=True)),
    )
