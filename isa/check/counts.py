"""Counts: a kernel's code, descriptor directives and metadata -> where they disagree.

A descriptor that gives a wave fewer registers than its code names lets it write those of another wave; metadata that
differs from the descriptor misleads the runtime, which reads LDS and scratch sizes from one and gives memory by the
other. Rules (LLVM AMDGPUUsage, "Code Object Kernel Descriptor" and "Code Object V5 Metadata"; AMDGPUAsmPrinter.cpp):

    VGPRs    .amdhsa_next_free_vgpr >= highest VGPR + 1, at most 256; .vgpr_count is the same number
    user     .amdhsa_user_sgpr_count, at most 16 SGPRs set before the first instruction
    SGPRs    .amdhsa_next_free_sgpr >= highest SGPR + 1, at most 106; .sgpr_count adds 2 where VCC is reserved
    LDS      .amdhsa_group_segment_fixed_size = .group_segment_fixed_size, at most 64 KB
    scratch  .amdhsa_private_segment_fixed_size = .private_segment_fixed_size; scratch instructions need some

A kernel that calls needs the registers of all functions that it reaches.

Limits: where a count is an expression (LLVM writes `max(totalnumvgprs(f), ...)` for a kernel that calls) only numbers
are compared, and lower bounds are not asked for where a call could not be followed.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from isa.analysis import resources
from isa.analysis.cfg import Cfg
from isa.check.rules import Rule
from isa.errors import Finding
from isa.program import Directive, Kernel
from isa.registers import SGPR_LIMIT, VGPR_LIMIT

_HINT = "set directive and metadata together; passes do it with isa.emit.set_directives"
USER_SGPRS = 16
COUNTS = Rule("counts", "LLVM AMDGPUUsage, Code Object Kernel Descriptor")


def check(kernel: Kernel, cfg: Cfg, callees: Sequence[Cfg] | None = None) -> Iterator[Finding]:
    """Disagreements between what a kernel uses, what its descriptor gives and what its metadata says. callees: the
    functions that it reaches; None where they are not all known."""
    found = resources.used(cfg, *callees or ())
    known = not cfg.calls or callees is not None
    vgprs, sgprs = directive(kernel, "next_free_vgpr"), directive(kernel, "next_free_sgpr")
    if vgprs is not None:
        yield from _enough(kernel, "next_free_vgpr", vgprs, found.vgprs if known else 0, VGPR_LIMIT, "VGPRs")
        yield from _same(kernel, ".vgpr_count", vgprs, f".amdhsa_next_free_vgpr {vgprs}")
    if sgprs is not None:
        yield from _enough(kernel, "next_free_sgpr", sgprs, found.sgprs if known else 0, SGPR_LIMIT, "SGPRs")
        vcc = directive(kernel, "reserve_vcc")
        if vcc == 0 and found.vcc:
            yield _at(kernel, "reserve_vcc", "the code uses VCC", expected=".amdhsa_reserve_vcc 1", got="0")
        extra = 2 if vcc != 0 else 0
        yield from _same(kernel, ".sgpr_count", sgprs + extra, f".amdhsa_next_free_sgpr {sgprs} + {extra} for VCC")
    user = directive(kernel, "user_sgpr_count")
    if user is not None and not 0 <= user <= USER_SGPRS:
        yield _at(kernel, "user_sgpr_count", "too many user SGPRs", expected=f"0 to {USER_SGPRS}", got=str(user))
    lds = directive(kernel, "group_segment_fixed_size")
    if lds is not None:
        if not 0 <= lds <= resources.LDS_PER_CU:
            yield _at(
                kernel,
                "group_segment_fixed_size",
                "a workgroup has 64 KB of LDS",
                expected="0 to 65536",
                got=str(lds),
            )
        yield from _same(kernel, ".group_segment_fixed_size", lds, f".amdhsa_group_segment_fixed_size {lds}")
    scratch = directive(kernel, "private_segment_fixed_size")
    if scratch is not None:
        yield from _same(
            kernel, ".private_segment_fixed_size", scratch, f".amdhsa_private_segment_fixed_size {scratch}"
        )
        if scratch == 0 and directive(kernel, "uses_dynamic_stack") != 1 and not cfg.calls:
            for inst in cfg.instructions:
                if inst.desc.unit == "scratch":
                    yield COUNTS.broken(
                        inst,
                        "the kernel has no scratch memory",
                        expected=".amdhsa_private_segment_fixed_size above 0",
                        got="0",
                    )
                    break


def directive(kernel: Kernel, name: str) -> int | None:
    """The value of `.amdhsa_<name>`; None where it is not given or is an expression."""
    number = kernel.descriptor.get(name)
    node = kernel.program.lines[number].node if number is not None else None
    if not isinstance(node, Directive):
        return None
    try:
        return int(node.args, 0)
    except ValueError:
        return None


def metadata(kernel: Kernel, key: str) -> int | None:
    """The value of a metadata entry such as `.vgpr_count`; None where it is not given as a number."""
    if key not in kernel.metadata:
        return None
    text = kernel.program.lines[kernel.metadata[key]].text.partition(":")[2].strip()
    try:
        return int(text, 0)
    except ValueError:
        return None


def _at(kernel: Kernel, name: str, message: str, *, expected: str, got: str, hint: str | None = None) -> Finding:
    line = kernel.metadata[name] if name.startswith(".") else kernel.descriptor[name]
    text = kernel.program.lines[line].text
    span = kernel.program.span(line, len(text) - len(text.lstrip()) + 1)
    return Finding(COUNTS.name, message, span, hint, expected, got, COUNTS.source)


def _enough(kernel: Kernel, name: str, given: int, used: int, limit: int, what: str) -> Iterator[Finding]:
    if given < used:
        yield _at(
            kernel,
            name,
            f"the code uses {used} {what}, the descriptor gives {given}",
            expected=f".amdhsa_{name} {used} or more",
            got=str(given),
            hint=_HINT,
        )
    elif given > limit or given < 0:
        yield _at(kernel, name, f"a wave has {limit} {what}", expected=f"0 to {limit}", got=str(given))


def _same(kernel: Kernel, key: str, value: int, because: str) -> Iterator[Finding]:
    says = metadata(kernel, key)
    if says is not None and says != value:
        yield _at(
            kernel,
            key,
            f"{key} disagrees with the descriptor",
            expected=f"{value} ({because})",
            got=str(says),
            hint=_HINT,
        )
