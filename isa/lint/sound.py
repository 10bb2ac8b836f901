"""Faults that no verdict passes over: of a kernel, where waits, hazards, encodings and counts break the rules of lint.

In: a kernel as text, or of a code object. Out: findings: what a proof of it must be free of (`faults`), and what a
launch of it must be free of before anybody says how long it takes (`of_start`): a descriptor that gives a wave fewer
VGPRs than it names, metadata that say other VGPRs, LDS, scratch or lanes than the descriptor, arguments that overlap.

Limits: where calls cannot be followed (`isa.analysis.joined`), `faults` looks at the kernel alone; nor does a prover.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from isa.analysis import cfg, joined, waits
from isa.analysis.cfg import Cfg
from isa.asm.parse import parse_disassembly
from isa.asm.program import Kernel, Program
from isa.errors import Finding, IsaError
from isa.lint import known, verify
from isa.lint.paths import Paths
from isa.lint.rules import arguments as argument_rules
from isa.lint.rules import counts
from isa.lint.rules import hazards as hazard_rules
from isa.lint.rules import waits as wait_rules
from isa.object import reached
from isa.object.code_object import CodeObject, DescribedKernel
from isa.object.from_text import TextCode
from isa.prove.named import names_in
from isa.semantics import wave_start
from isa.targets import TARGETS


def faults(kernel: Kernel, assumed: Mapping[int, int] = known.NOTHING) -> list[Finding]:
    """What waits, hazards, encodings and counts of a kernel break, over all paths that launches with these bytes of its
    arguments may take."""
    return [finding for finding in _findings(kernel, assumed) if _counts(finding)]


def at_risk(kernel: Kernel) -> list[Finding]:
    """VOPDs that can miss a VALU write: a note of any kernel, no part of one that is generated here."""
    return list(hazard_rules.parity(cfg.of_kernel(kernel), kernel.program.target))


def _counts(finding: Finding) -> bool:
    return finding.severity == "fault" or finding.binding


def _findings(kernel: Kernel, assumed: Mapping[int, int]) -> Iterator[Finding]:
    sizes = known.of(wave_start.of_kernel(kernel).user, (), assumed)
    flow, target = known.left_by(_whole(kernel), sizes), kernel.program.target
    wave64 = kernel.number("wavefront_size32") == 0
    yield from _started(kernel)
    flight = waits.analyse(flow)
    yield from wait_rules.faults(flight, None if wave64 else lambda: Paths(flow))
    yield from hazard_rules.faults(flight, target, wave64)
    yield from verify.instructions(flow.instructions, wave64)


def _whole(kernel: Kernel) -> Cfg:
    """With what it calls, where that can be followed."""
    try:
        return joined.of_kernel(kernel).flow
    except IsaError:
        return cfg.of_kernel(kernel)


def of_start(given: Program | CodeObject, name: str | None = None) -> list[Finding]:
    """What descriptor, metadata and the code that a kernel may run disagree in."""
    if isinstance(given, TextCode):
        given = given.program
    found = _started(given.kernel(name)) if isinstance(given, Program) else _linked(given, given.kernel(name).name)
    return [finding for finding in found if _counts(finding)]


def of_statements(kernel: DescribedKernel) -> list[Finding]:
    """Of these what needs no code: where descriptor and metadata disagree with each other."""
    found = [*counts.of_code_object(kernel, ()), *argument_rules.of_code_object(kernel)]
    return [finding for finding in found if _counts(finding)]


def checked(given: Program | CodeObject, name: str | None = None) -> None:
    """IsaError with the first of `of_start`."""
    for finding in of_start(given, name):
        raise finding.error()


def _started(kernel: Kernel) -> Iterator[Finding]:
    try:
        own, *others = names_in(kernel.program).functions(kernel.name)
        callees = None if any(f.goes_anywhere for f in (own, *others)) else [f.flow for f in others]
        yield from counts.check(kernel, own.flow, callees)
    except IsaError:  # numbers among instructions, macros
        yield from counts.check(kernel, cfg.of_kernel(kernel))
    yield from argument_rules.of_text(kernel)


def _linked(code: CodeObject, name: str) -> Iterator[Finding]:
    kernel = code.kernel(name)
    own = parse_disassembly(code.disassembled(name), name, code.arch, {})
    try:
        parts = reached.of(code, name, own)
    except IsaError:  # an address that cannot be followed
        parts = [reached.Code(name, own, {}, 0)]
    flows: list[Cfg] = [cfg.of_instructions(part.rows, part.name) for part in parts if isinstance(part, reached.Code)]
    yield from counts.of_code_object(kernel, flows, TARGETS.get(code.arch))
    yield from argument_rules.of_code_object(kernel)
