"""Inspection: a kernel's code -> resources, occupancy, instruction mix, banks of its main loop.

In: a `Program` (text) or a `CodeObject`. Out: an `Inspection`, plain data that `hipgemm.report.inspection` shows.
Nothing is launched or predicted. Registers and LDS are as metadata and descriptor state them, since the hardware goes
by those.

The main loop is the one with the most fp32 multiply-adds (isa.analysis.inner), or, of a kernel that uses the matrix
units or has none in a loop, with the most floating-point operations. Its bank table is that of the published
study: which bank each source is read from, what the operand caches serve, which bank is written (isa.analysis.banks).

Limits: a kernel's callees are not counted in; wave64 is rejected with an error.
"""

from __future__ import annotations

import dataclasses
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from hipgemm.judge.operations import matrix_bits, operations
from isa.analysis import banks, inner
from isa.analysis import cfg as control_flow
from isa.analysis.cfg import Cfg
from isa.analysis.resources import Occupancy, chart, occupancy
from isa.asm.parse import parse_disassembly
from isa.asm.program import Program
from isa.display import Shown
from isa.errors import Finding, IsaError
from isa.lint import sound
from isa.object.code_object import CodeObject, DescribedKernel, disassemble
from isa.object.from_text import TextCode, described
from isa.semantics.instruction import Instruction, bit_width
from isa.targets import GFX1100, TARGETS, Target

KINDS = {
    "dual FMA": "VOPD of two fp32 multiply-adds",
    "single FMA": "one fp32 multiply-add, alone or paired",
    "matrix": "v_wmma_*: 16 x 16 x 16 multiply-adds of a wave",
    "other VOPD": "VOPD without a multiply-add",
    "other VALU": "vector arithmetic, moves, compares",
    "LDS": "ds_*",
    "global": "global_*, flat_*, buffer_*",
    "scratch": "scratch_*: spilled registers and arrays",
    "SMEM": "s_load_*",
    "SALU": "scalar arithmetic",
    "branch": "s_branch, s_cbranch_*, calls",
    "barrier": "a wave waits for the others of its workgroup",
    "wait": "for counters of what is in flight",
    "other": "s_delay_alu, s_clause, s_nop, s_endpgm and similar",
}
"""The kinds of the instruction mix, in the order in which they are shown."""
VALU = ("dual FMA", "single FMA", "matrix", "other VOPD", "other VALU")

_UNITS = {
    "lds": "LDS",
    "vmem": "global",
    "smem": "SMEM",
    "salu": "SALU",
    "branch": "branch",
    "barrier": "barrier",
    "wait": "wait",
    "internal": "other",
}


@dataclass(frozen=True)
class Mix:
    """How many instructions of each of KINDS; a VOPD counts once.

    dual_share: VOPDs among VALU instructions; fma_share: multiply-adds that are done in pairs. None where there is
    nothing to take a share of.
    """

    counts: Mapping[str, int]
    total: int
    dual_share: float | None
    fma_share: float | None


@dataclass(frozen=True)
class BankRow:
    """One instruction of the main loop. kind: one of KINDS. place: its line in the text, or its address. cells: see
    `isa.analysis.banks.COLUMNS`. clashes: reads beyond the first of one bank, caches apart, SRC0 and SRC1. faults: in
    words, where X and Y of a VOPD read one bank through a slot (forbidden), or one parity (can lose an interlock)."""

    place: str
    text: str
    kind: str
    cells: tuple[str, ...]
    clashes: int
    faults: tuple[str, ...]


@dataclass(frozen=True)
class LoopMix:
    """One loop with its inner ones. place: as of a BankRow, of its first instruction; depth: 1 for an outermost one;
    loaded, stored, lds: bytes that a lane asks for in an iteration, of global memory and of LDS; operations: of
    floating point."""

    place: str
    depth: int
    mix: Mix
    loaded: int
    stored: int
    lds: int
    operations: int


@dataclass(frozen=True, repr=False)
class Inspection(Shown):
    """Everything about one kernel. Sizes in bytes: lds of a workgroup, scratch of a thread. threads: of the workgroup
    that the occupancy is for. chart: waves over VGPRs, LDS and threads, as `isa.analysis.resources.chart`. rows, loop:
    the main loop, empty and None where no loop computes. misfits: where descriptor, metadata and code disagree, so that
    no launch of it is what the rest says."""

    kernel: str
    source: str
    mode: str
    wave: int
    vgprs: int
    sgprs: int
    lds: int
    scratch: int
    vgpr_spills: int
    sgpr_spills: int
    threads: int
    occupancy: Occupancy
    chart: Mapping[str, Sequence[tuple[int, int, float]]]
    mix: Mix
    loop: Mix | None
    rows: tuple[BankRow, ...]
    bank_reads: int
    cache_reads: int
    loops: tuple[LoopMix, ...] = ()
    misfits: tuple[str, ...] = ()

    def to_dict(self) -> dict[str, Any]:
        """All of it, as JSON can hold it."""
        return dataclasses.asdict(self)


@dataclass(frozen=True)
class Held:
    """What a kernel says of itself. lds: bytes of a workgroup, scratch: of a thread; threads: of the largest workgroup;
    waves: that then fit a SIMD, 0 where not even one workgroup does; bytes: of its code, 0 where that is text; wave: 32
    or 64; misfits: where descriptor and metadata, and code that is text, disagree."""

    kernel: str
    target: str
    vgprs: int
    sgprs: int
    vgpr_spills: int
    sgpr_spills: int
    lds: int
    scratch: int
    threads: int
    waves: float
    bytes: int
    wave: int
    misfits: tuple[str, ...] = ()


def contents(given: Program | CodeObject, name: str | None = None) -> list[Held]:
    """The kernels that a code object or a program holds, or the one of that name, by their metadata; nothing is
    disassembled. IsaError where directives do not say what a kernel takes."""
    if isinstance(given, Program):
        target = given.target or GFX1100
        given = TextCode.of(given, target.name)
    target = TARGETS.get(given.arch, GFX1100)
    if isinstance(given, TextCode):
        return [_held(k, target, sound.of_start(given, n)) for n, k in given.kernels.items() if name in (None, n)]
    kernels = given.kernels.values() if name is None else [given.kernel(name)]
    return [_held(kernel, target, sound.of_statements(kernel)) for kernel in kernels]


def _held(kernel: DescribedKernel, target: Target, misfits: Sequence[Finding]) -> Held:
    found = kernel.descriptor
    lanes = 32 if found.wave32 else 64
    try:
        fits = occupancy(kernel.allocated, found.lds_bytes, kernel.max_workgroup, cu_mode=not found.wgp_mode,
                         target=target, lanes=lanes).waves  # fmt: skip
    except IsaError:
        fits = 0
    return Held(
        kernel.name, target.name, kernel.vgprs, kernel.sgprs, kernel.vgpr_spills, kernel.sgpr_spills, found.lds_bytes,
        found.scratch_bytes, kernel.max_workgroup, fits, kernel.code_size, lanes, tuple(f.message for f in misfits),
    )  # fmt: skip


def inspect(
    given: Program | CodeObject, source: str, name: str | None = None, threads: int | None = None
) -> Inspection:
    """Looks at kernel `name`, or the only one. source: what to call the input.

    threads: of a workgroup; by default the largest that the metadata allows. IsaError where there is no such kernel or
    where it cannot be analysed.
    """
    flow = flow_of(given, source, name)
    if isinstance(given, Program):
        kernel, target = described(given.kernel(flow.name)), given.target or GFX1100
    else:
        kernel, target = given.kernel(name, source), TARGETS.get(given.arch, GFX1100)
    found, threads = kernel.descriptor, threads or kernel.max_workgroup
    lanes = 32 if found.wave32 else 64
    held = kernel.allocated, found.lds_bytes, threads
    has_matrices = any(map(matrix_bits, flow.instructions))
    main = (None if has_matrices else inner.main_loop(flow)) or inner.main_loop(flow, operations)
    body = inner.body(flow, main) if main else []
    reads, cached = banks.bank_reads(body)
    return Inspection(
        kernel=flow.name,
        source=source,
        mode="WGP" if found.wgp_mode else "CU",
        wave=lanes,
        vgprs=kernel.vgprs,
        sgprs=kernel.sgprs,
        lds=found.lds_bytes,
        scratch=found.scratch_bytes,
        vgpr_spills=kernel.vgpr_spills,
        sgpr_spills=kernel.sgpr_spills,
        threads=threads,
        occupancy=occupancy(*held, cu_mode=not found.wgp_mode, target=target, lanes=lanes),
        chart=chart(*held, cu_mode=not found.wgp_mode, target=target, lanes=lanes),
        mix=mix(flow.instructions),
        loop=mix(body) if main else None,
        rows=tuple(rows(body)),
        bank_reads=reads,
        cache_reads=cached,
        loops=tuple(_loops(flow)),
        misfits=tuple(finding.message for finding in sound.of_start(given, flow.name)),
    )


def flow_of(given: Program | CodeObject, source: str, name: str | None = None) -> Cfg:
    """The control flow of kernel `name`, or the only one. IsaError as of `inspect`."""
    if isinstance(given, Program):
        return control_flow.of_kernel(given.kernel(name))
    held = given.kernel(name, source)
    rows = disassemble(given.code(held.name), held.descriptor.entry, given.arch)
    return control_flow.of_instructions(parse_disassembly(rows, source, given.arch), held.name)


def _loops(flow: Cfg) -> Iterable[LoopMix]:
    for loop in flow.loops:
        body = inner.body(flow, loop)
        bytes_ = Counter[tuple[str, str]]()
        for inst in body:
            if (access := inst.desc.access) is not None:
                size = max(1, bit_width(access.element) // 8) * (2 if access.pair else 1)
                bytes_["lds" if access.space == "lds" else "global", access.kind] += size * (access.space != "scalar")
        yield LoopMix(
            _place(flow.instructions[flow.blocks[loop.header].start]),
            loop.depth,
            mix(body),
            bytes_["global", "load"],
            bytes_["global", "store"] + bytes_["global", "atomic"],
            sum(size for (space, _), size in bytes_.items() if space == "lds"),
            sum(map(operations, body)),
        )


def _place(inst: Instruction) -> str:
    address = f"{inst.address:#x}" if inst.address is not None else ""
    return str(inst.span.line) if inst.span and inst.address is None else address


def kind(inst: Instruction) -> str:
    """Which of KINDS an instruction is."""
    if not inst.desc.is_valu:
        return "scratch" if inst.desc.space == "scratch" else _UNITS[inst.desc.unit]
    fmas = inner.fmas(inst)
    if fmas:
        return "dual FMA" if fmas == 2 else "single FMA"
    return "matrix" if matrix_bits(inst) else "other VOPD" if inst.pair else "other VALU"


def mix(instructions: Iterable[Instruction]) -> Mix:
    """The instruction mix of a run of code."""
    row = list(instructions)
    found = Counter(map(kind, row))
    valu = sum(found[name] for name in VALU)
    dual = sum(inst.pair is not None for inst in row)
    fmas = 2 * found["dual FMA"] + found["single FMA"]
    return Mix(
        {name: found[name] for name in KINDS},
        len(row),
        dual / valu if valu else None,
        2 * found["dual FMA"] / fmas if fmas else None,
    )


def rows(body: Sequence[Instruction]) -> Iterable[BankRow]:
    """The bank table of a run of instructions."""
    for inst, cells in zip(body, banks.cache_table(body), strict=True):
        faults = [f"SRC{slot}: one {'parity' if slot == 2 else 'bank'}" for slot in banks.same_bank(inst)]
        faults += [f"SRC{slot}: one parity" for slot in banks.same_parity(inst) if slot not in banks.same_bank(inst)]
        yield BankRow(
            _place(inst),
            str(inst),
            kind(inst),
            cells,
            banks.clashes(inst) if banks.sources(inst) else 0,
            tuple(faults),
        )
