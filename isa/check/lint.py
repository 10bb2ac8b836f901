"""Can a program be believed? Over any gfx11 assembly or code object, not only our own.

In: a Program, or a CodeObject. Out: findings in the order of the code: faults (the program is wrong, or its text claims
what it does not do) and notes (it could be better). Each names its place, its rule and the rule's source.

    verify        operands, VOPD, counters, counts                    faults   isa.check.verify
    parity        VOPDs that can miss a VALU write (GFX11 hazard)     faults   isa.check.vopd
    waits         registers used before their load landed; LDS stores faults   isa.check.wait_rules
                  in flight at a barrier; waits too strict            notes
    LDS           writes and reads of one byte, no barrier between    faults   isa.check.lds_rules
    values        reads of what nobody wrote                          faults   isa.check.value_rules
                  values nobody reads; unreachable code               notes
    hints         s_clause                                            faults   isa.check.hint_rules
                  s_delay_alu                                         notes

Limits: what depends on data is not seen here (addresses out of bounds, which work-item reaches which byte);
functions that a kernel calls are not looked into.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator

from isa.analysis import cfg as control_flow
from isa.analysis import regset, resources, valu_writes, waits
from isa.analysis.cfg import Cfg
from isa.check import counts, hint_rules, lds_rules, value_rules, verify, vopd, wait_rules
from isa.check.rules import Rule
from isa.code_object import CodeObject
from isa.disassembler import disassemble
from isa.errors import Finding, IsaError
from isa.parse import parse_disassembly
from isa.program import Kernel, Program
from isa.registers import SGPR_LIMIT, Reg

UNANALYSED = Rule("cannot be analysed", "")
_SIZES = {
    "private_segment_buffer": 4,
    "dispatch_ptr": 2,
    "queue_ptr": 2,
    "kernarg_segment_ptr": 2,
    "dispatch_id": 2,
    "private_segment_size": 1,
}
# What the assembler assumes where a directive is missing (LLVM AMDGPUUsage, "AMDHSA Kernel Assembler Directives").
_SYSTEM = {
    "system_sgpr_workgroup_id_x": 1,
    "system_sgpr_workgroup_id_y": 0,
    "system_sgpr_workgroup_id_z": 0,
    "system_sgpr_workgroup_info": 0,
}


def lint_program(program: Program, name: str | None = None, *, notes: bool = True) -> list[Finding]:
    """Findings in kernel `name` of an assembly file, or in all its kernels; faults only where `notes` is false.
    IsaError where there is no kernel."""
    kernels = [program.kernel(name)] if name else list(program.kernels.values())
    if not kernels:
        program.kernel()
    found: list[Finding] = []
    for kernel in kernels:
        found += _by_place(_text_findings(kernel, notes))
    return found


def lint_code_object(code: CodeObject, file: str, name: str | None = None, *, notes: bool = True) -> list[Finding]:
    """Findings in kernel `name` of a code object, or in all its kernels; faults only where `notes` is false.
    IsaError where it cannot be disassembled."""
    found: list[Finding] = []
    for kernel_name in [code.kernel(name).name] if name else code.kernels:
        where = f"{file}:{kernel_name}"
        found += [
            dataclasses.replace(f, span=None, where=f"{where}+{f.where}" if f.where else where)
            for f in _binary_findings(code, kernel_name, file, notes)
        ]
    return found


def _binary_findings(code: CodeObject, name: str, file: str, notes: bool) -> Iterator[Finding]:
    kernel = code.kernel(name)
    rows = parse_disassembly(disassemble(code.code(name), kernel.descriptor.entry), file)
    try:
        for inst in rows:
            yield from verify.instruction(inst)
        flow = control_flow.of_instructions(rows, name)
    except IsaError as error:
        yield Finding(UNANALYSED.name, error.message, None, error.hint, error.expected, error.got)
        return
    used = resources.used(flow)
    if kernel.descriptor.vgprs < used.vgprs and not flow.calls:
        message = f"the code uses {used.vgprs} VGPRs, the descriptor gives {kernel.descriptor.vgprs}"
        yield Finding(counts.COUNTS.name, message, source=counts.COUNTS.source)
    sgprs = kernel.descriptor.user_sgpr_count + len(kernel.descriptor.system_sgprs)
    yield from _common(flow, sgprs, kernel.max_workgroup or None, kernel.descriptor.workitem_id + 1, notes)


def _text_findings(kernel: Kernel, notes: bool) -> Iterator[Finding]:
    try:
        for _, inst in kernel.instructions():
            yield from verify.instruction(inst)
        flow = control_flow.of_kernel(kernel)
    except IsaError as error:
        yield Finding(UNANALYSED.name, error.message, error.span, error.hint, error.expected, error.got)
        return
    yield from counts.check(kernel, flow)
    user = counts.directive(kernel, "user_sgpr_count")
    if user is None:
        user = sum(n for name, n in _SIZES.items() if counts.directive(kernel, f"user_sgpr_{name}"))
    for name, default in _SYSTEM.items():
        value = counts.directive(kernel, name)
        user += default if value is None else value
    threads = counts.metadata(kernel, ".max_flat_workgroup_size")
    yield from _common(flow, user, threads, (counts.directive(kernel, "system_vgpr_workitem_id") or 0) + 1, notes)


def _common(flow: Cfg, sgprs: int, threads: int | None, dimensions: int, notes: bool) -> Iterator[Finding]:
    """The rules that text and code objects share. sgprs: how many the hardware sets; threads: the largest workgroup,
    None if not known; dimensions: how many numbers of the work-item v0 holds."""
    given = value_rules.ALWAYS_GIVEN | regset.mask([Reg("s", 0, sgprs)] if 0 < sgprs <= SGPR_LIMIT else [])
    flight, values = waits.analyse(flow), value_rules.Values.of(flow, given)
    yield from vopd.parity(valu_writes.analyse(flow))
    yield from wait_rules.faults(flight)
    yield from lds_rules.faults(flow, values.chains, values.lanes, threads, dimensions)
    yield from value_rules.faults(values)
    yield from hint_rules.faults(flow)
    if not notes:
        return
    yield from wait_rules.notes(flight)
    yield from value_rules.notes(values)
    yield from hint_rules.notes(flow)


def _by_place(findings: Iterator[Finding]) -> list[Finding]:
    return sorted(findings, key=lambda f: (f.span.line, f.span.col) if f.span else (0, 0))
