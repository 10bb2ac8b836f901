"""Lint of whole programs: assembly or a code object -> findings of all rules, over any gfx11 code, not only our own.

In: a Program, or a CodeObject. Out: findings in the order of the code: faults (the program is wrong, or its text claims
what it does not do) and notes (it could be better). Each names its place, its rule and the rule's source.

    verify        operands, VOPD, counters, counts                    faults   isa.lint.verify
    parity        VOPDs that can miss a VALU write (GFX11 hazard)     notes    isa.lint.vopd
    hazards       what GFX11 leaves to whoever writes the code        faults   isa.lint.hazards
    waits         registers used before their load landed; LDS stores faults   isa.lint.rules.waits
                  in flight at a barrier; waits too strict            notes
    LDS           writes and reads of one byte, no barrier between    faults   isa.lint.rules.lds
    lanes         lanes that a wave of 32 does not have               faults   isa.lint.rules.lanes
    apertures     flat bases below the aperture that is meant         faults   isa.lint.rules.apertures
    values        reads of what was never written                     faults   isa.lint.rules.values
                  values never read; unreachable code               notes
    clobbers      addresses, sums, comparisons, EXEC overwritten      faults   isa.lint.rules.clobbers
    hints         s_clause                                            faults   isa.lint.rules.hints
                  s_delay_alu                                         notes

    inline        registers that asm statements do not declare        faults   isa.lint.inline
    calls         loads in flight across them, return addresses       faults   isa.lint.rules.calls
    places        addresses counted from s_getpc_b64                  faults   isa.lint.rules.places

The functions that a kernel calls are looked into where `isa.analysis.calls` finds them, by the same rules, and so are
those that nothing calls, each function once; a note names the calls that could not be followed. Where bytes of a
kernel's arguments are assumed, the rules see the paths alone that these leave (`isa.lint.known`).

Limits: what depends on data is not seen here (addresses out of bounds, which work-item reaches which byte). The LDS
accesses of a function are held against each other and not against its caller's.
"""

from __future__ import annotations

import dataclasses
import importlib
import pkgutil
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from types import MappingProxyType

from isa.analysis import cfg as control_flow
from isa.analysis import regset
from isa.analysis.calls import Target
from isa.analysis.cfg import Cfg
from isa.asm.disassembler import disassemble
from isa.asm.parse import parse_disassembly
from isa.asm.program import Directive, Kernel, Program
from isa.errors import Finding, IsaError
from isa.lint import functions, inline, known, rules, verify
from isa.lint.functions import CALLED, LintedFunction, Start
from isa.lint.registry import RULES
from isa.lint.rules import arguments as argument_rules
from isa.lint.rules import counts, lds, values
from isa.object import metadata
from isa.object.code_object import CodeObject
from isa.packages import PackageMissing
from isa.registers import SGPR_LIMIT, Reg
from isa.semantics import wave_start
from isa.targets import TARGETS

UNANALYSED = RULES["ANA001"]
NO_ASSUMPTION: Mapping[str, Mapping[int, int]] = MappingProxyType({})
_RULES = (importlib.import_module(found.name) for found in pkgutil.iter_modules(rules.__path__, f"{rules.__name__}."))
MODULES = [module for module in _RULES if hasattr(module, "findings")]
"""Those with rules about functions: all of `isa.lint.rules` that have some."""


@dataclass(frozen=True)
class Asked:
    """What is looked for: notes beside faults, and races of LDS, which take longest."""

    notes: bool = True
    races: bool = True


Assumed = Mapping[str, Mapping[int, int]]
"""Kernel -> the bytes of its arguments that are taken to be known, by offset."""


def lint_program(
    program: Program,
    name: str | None = None,
    *,
    notes: bool = True,
    races: bool = True,
    assumed: Assumed = NO_ASSUMPTION,
) -> list[Finding]:
    """Findings in kernel `name` of an assembly file and the functions that it calls, or in all kernels and functions;
    without `notes` faults only; without `races` those of LDS are left out, which take longest. assumed: what is
    left out holds for no launch with these arguments. A file without kernels or functions is taken for the code of one
    function. IsaError where there is no such kernel, or no code at all."""
    seen, asked = set[str](), Asked(notes, races)
    kernels = [program.kernel(name)] if name else list(program.kernels.values())
    found = [f for kernel in kernels for f in _by_place(_text_kernel(kernel, seen, asked, assumed.get(kernel.name)))]
    others = [] if name else [f for f in _declared(program) if f not in seen | program.kernels.keys()]
    for other in others or ([] if kernels else [program.file]):
        found += _by_place(_text_function(program, other, seen, asked))
    return [f for f in found if notes or f.severity == "fault"]


def lint_code_object(
    code: CodeObject, file: str, name: str | None = None, *, notes: bool = True, assumed: Assumed = NO_ASSUMPTION
) -> list[Finding]:
    """Findings in kernel `name` of a code object and the functions that it calls, or in all kernels and functions;
    faults only where `notes` is false. assumed: as of `lint_program`. IsaError where it cannot be disassembled."""
    seen, asked = set[str](), Asked(notes)
    kernels = [code.kernel(name).name] if name else list(code.kernels)
    found = [f for kernel in kernels for f in _binary_kernel(code, kernel, file, seen, asked, assumed.get(kernel))]
    start = dataclasses.replace(CALLED, target=TARGETS.get(code.arch))
    for symbol in () if name else code.symbols.values():
        if symbol.kind == "func" and symbol.size and symbol.name not in seen | code.kernels.keys():
            flow = _disassembled(code, symbol.address, file)
            found += _reached(functions.reach(flow, start, lambda at: _disassembled(code, at, file)), seen, asked)
    return [_by_address(f, f"{file}:{unit}") for unit, f in found if notes or f.severity == "fault"]


def _by_place(findings: Iterable[Finding]) -> list[Finding]:
    return sorted(findings, key=lambda f: (*((f.span.line, f.span.col) if f.span else (0, 0)), f.severity != "fault"))


def _by_address(finding: Finding, unit: str) -> Finding:
    """A finding in a code object, with places by address, as a disassembler prints it, in `unit`."""
    return dataclasses.replace(
        finding,
        span=None,
        where=f"{unit}:{finding.where}" if finding.where else unit,
        related=tuple(dataclasses.replace(r, span=None, where=r.where.partition(":")[0]) for r in finding.related),
    )


def _unanalysed(error: IsaError) -> Finding:
    return UNANALYSED.found(error.message, error.span, hint=error.hint, expected=error.expected, got=error.got)


def _reached(
    reached: Iterable[LintedFunction], seen: set[str], asked: Asked, program: Program | None = None
) -> list[tuple[str, Finding]]:
    """(name, finding) in each function that was not seen yet, which is seen then. program: of assembly."""
    found = []
    for function in reached:
        if function.name not in seen:
            seen.add(function.name)
            said = inline.findings(program, function) if program is not None else ()
            found += [(function.name, finding) for finding in _by_place([*said, *_function(function, asked)])]
    return found


# --- code objects
def _binary_kernel(
    code: CodeObject, name: str, file: str, seen: set[str], asked: Asked, assumed: Mapping[int, int] | None
) -> Iterator[tuple[str, Finding]]:
    kernel = code.kernel(name)
    wave64 = not kernel.descriptor.wave32
    if not kernel.code_size:  # compiled from what cannot be reached; at its entry another function may begin
        return
    try:
        flow = _disassembled(code, kernel.descriptor.entry, file, wave64)
        yield from ((name, finding) for finding in verify.instructions(flow.instructions, wave64))
    except PackageMissing:
        raise  # nothing could be analysed
    except IsaError as error:
        yield name, _unanalysed(error)
        return
    dimensions, target = kernel.descriptor.workitem_id + 1, TARGETS.get(code.arch)
    given = known.of(kernel.descriptor.user, kernel.args, assumed or {})
    room = kernel.descriptor.lds_bytes
    start = Start(
        _given(kernel.descriptor.sgprs), _workgroup(kernel.max_workgroup), dimensions, wave64, target, given, room
    )
    reached = functions.reach(flow, start, lambda at: _disassembled(code, at, file, wave64))
    flows = [flow, *(f.flow for f in reached[1:])]
    yield from ((name, finding) for finding in counts.of_code_object(kernel, flows, target))
    yield from ((name, finding) for finding in argument_rules.of_code_object(kernel))
    yield from _reached(reached, seen, asked)


def _disassembled(code: CodeObject, target: Target, file: str, wave64: bool = False) -> Cfg:
    """The function at an address. IsaError where none is known there."""
    symbol = next((s for s in code.symbols.values() if s.address == target and s.kind == "func" and s.size), None)
    if symbol is None:
        raise IsaError(
            f"no function is known at {target:#x}" if isinstance(target, int) else f"{target} is not defined here"
        )
    rows = disassemble(code.read(symbol.address, symbol.size), symbol.address, code.arch, wave64=wave64)
    return control_flow.of_instructions(parse_disassembly(rows, file, code.arch), symbol.name)


# --- assembly
def _text_kernel(kernel: Kernel, seen: set[str], asked: Asked, assumed: Mapping[int, int] | None) -> Iterator[Finding]:
    wave32, target = kernel.number("wavefront_size32") != 0, kernel.program.target
    try:
        yield from verify.instructions((inst for _, inst in kernel.instructions()), not wave32)
        flow = control_flow.of_kernel(kernel)
    except IsaError as error:
        yield _unanalysed(error)
        return
    initial = wave_start.of_kernel(kernel)
    yield from counts.initialised(initial.sgprs, target, wave32=wave32, kernel=kernel)
    threads = _workgroup(metadata.number(kernel, ".max_flat_workgroup_size"))
    given = known.of(initial.user, (a for _, a in metadata.arguments(kernel)), assumed or {})
    room = kernel.number("group_segment_fixed_size") or 0
    start = Start(_given(initial.sgprs), threads, initial.workitem_id + 1, not wave32, target, given, room)
    reached = functions.reach(flow, start, lambda target: _labelled(kernel.program, target))
    yield from argument_rules.of_text(kernel)
    callees = None if any(f.unknown for f in reached) else [f.flow for f in reached[1:]]
    yield from counts.check(kernel, flow, callees)
    yield from (finding for _, finding in _reached(reached, seen, asked, kernel.program))


def _text_function(program: Program, name: str, seen: set[str], asked: Asked) -> Iterator[Finding]:
    """What no kernel calls, and a file that has none."""
    try:
        flow = _labelled(program, name) if name in program.labels else control_flow.of_text(program)
    except IsaError as error:
        if name not in program.labels:
            raise
        yield _unanalysed(error)
        return
    start = dataclasses.replace(CALLED, target=program.target)
    reached = functions.reach(flow, start, lambda target: _labelled(program, target))
    yield from (finding for _, finding in _reached(reached, seen, asked, program))


def _declared(program: Program) -> list[str]:
    """The labels that `.type f,@function` declares."""
    types = (line.node.args for line in program.lines if isinstance(line.node, Directive) and line.node.name == ".type")
    names = (args.partition(",")[0].strip() for args in types if args.endswith("@function"))
    return [name for name in names if name in program.labels]


def _labelled(program: Program, target: Target) -> Cfg:
    """The function after a label. IsaError where it is not there."""
    line = program.labels.get(str(target))
    if line is None:
        raise IsaError(f"{target} is not in this file")
    return control_flow.of_text(program, str(target), line, program.code_end(line))


def _workgroup(threads: int | None) -> int | None:
    """The largest workgroup that a kernel may have; None where its metadata says none that there is."""
    return threads if threads is not None and 1 <= threads <= counts.LARGEST_WORKGROUP else None


def _given(sgprs: int) -> int:
    """The registers that are set before a kernel's first instruction (`regset`)."""
    return values.ALWAYS_GIVEN | regset.mask([Reg("s", 0, sgprs)] if 0 < sgprs <= SGPR_LIMIT else [])


def _function(function: LintedFunction, asked: Asked) -> Iterator[Finding]:
    """The rules that text and code objects, kernels and the functions that they call share."""
    if function.called:
        yield from verify.instructions(function.flow.instructions, function.start.wave64)
    try:
        _ = function.flight
    except IsaError as error:
        yield _unanalysed(error)
        return
    for module in MODULES:
        if asked.races or module is not lds:
            yield from module.findings(function)
            if asked.notes and hasattr(module, "notes"):
                yield from module.notes(function)
