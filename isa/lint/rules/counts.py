"""Counts: a kernel's code, descriptor directives and metadata -> where they disagree.

A descriptor that gives a wave fewer VGPRs than its code names, or less LDS or scratch than the metadata say, lets it
write those of another wave: a fault. All else misleads tools and readers alone, and is a note: each wave of GFX10 and
later has all SGPRs, and the metadata's counts start nothing. Rules (LLVM AMDGPUUsage, "Code Object Kernel Descriptor"
and "Code Object V5 Metadata"; AMDGPUAsmPrinter.cpp):

    VGPRs    .amdhsa_next_free_vgpr >= highest VGPR + 1, at most 256; .vgpr_count is the same number, or lies between
             (the descriptor gives more where fewer waves are asked for: LLVM GCNSubtarget, getMinNumVGPRs), or is what
             the descriptor's field holds of it: the next multiple of 8, of 4 in wave64
    user     .amdhsa_user_sgpr_count, at most 16 SGPRs set before the first instruction; with those of the system 16 at
             least in wave32 on a target whose initialisation needs it (`isa.targets.Target.least_sgprs`)
    SGPRs    .amdhsa_next_free_sgpr >= highest SGPR + 1, at most 106; .sgpr_count adds 2 where VCC is reserved,
             and counts none where the descriptor gives the one that it must (LLVM AMDGPUAsmPrinter)
    LDS      .amdhsa_group_segment_fixed_size = .group_segment_fixed_size, at most 64 KB
    scratch  .amdhsa_private_segment_fixed_size = .private_segment_fixed_size; scratch instructions need some
    others   .amdhsa_kernarg_size = .kernarg_segment_size; .amdhsa_wavefront_size32 1 = .wavefront_size 32;
             .max_flat_workgroup_size from 1 to 1024

A kernel that calls needs the registers of all functions that it reaches.

Limits: where a count is an expression (LLVM writes `max(totalnumvgprs(f), ...)` for a kernel that calls) only numbers
are compared, and lower bounds are not asked for where a call could not be followed.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

from isa.analysis import resources
from isa.analysis.cfg import Cfg
from isa.asm.program import Kernel
from isa.errors import Finding
from isa.lint.names import Rule
from isa.lint.registry import RULES
from isa.object import metadata
from isa.object.code_object import DescribedKernel as Linked
from isa.registers import SGPR_LIMIT, VGPR_LIMIT
from isa.targets import Target

_HINT = "set directive and metadata together; passes do it with isa.asm.emit.set_directives"
USER_SGPRS = 16
LARGEST_WORKGROUP = 1024
COUNTS = RULES["CNT001"]
DIFFER = RULES["CNT004"]
TAKEN = replace(DIFFER, binding=True)
"""The same of what a runtime takes from the metadata."""
INITIALISED = RULES["CNT002"]
SIZES = {
    ".group_segment_fixed_size": "group_segment_fixed_size",
    ".kernarg_segment_size": "kernarg_size",
    ".private_segment_fixed_size": "private_segment_fixed_size",
}
"""Keys of the metadata -> the directives that say the same."""
_MEMORY = (".group_segment_fixed_size", ".private_segment_fixed_size")


def check(kernel: Kernel, cfg: Cfg, callees: Sequence[Cfg] | None = None) -> Iterator[Finding]:
    """Disagreements between what a kernel uses, what its descriptor gives and what its metadata says. callees: the
    functions that it reaches; None where they are not all known."""
    found = resources.used(cfg, *callees or ())
    known = not cfg.calls or callees is not None
    vgprs, sgprs = kernel.number("next_free_vgpr"), kernel.number("next_free_sgpr")
    if vgprs is not None:
        yield from _enough(kernel, "next_free_vgpr", vgprs, found.vgprs if known else 0, VGPR_LIMIT, "VGPRs")
        says = metadata.number(kernel, ".vgpr_count")
        granule = 4 if kernel.number("wavefront_size32") == 0 else 8
        if says is None or not known or not found.vgprs <= says <= -(-vgprs // granule) * granule:
            yield from _same(kernel, ".vgpr_count", vgprs, f".amdhsa_next_free_vgpr {vgprs}", TAKEN)
    if sgprs is not None:
        yield from _enough(kernel, "next_free_sgpr", sgprs, found.sgprs if known else 0, SGPR_LIMIT, "SGPRs")
        vcc = kernel.number("reserve_vcc")
        if vcc == 0 and found.vcc:
            yield _at(
                kernel, "reserve_vcc", "the code uses VCC", expected=".amdhsa_reserve_vcc 1", got="0", rule=DIFFER
            )
        extra = 2 if vcc != 0 else 0
        if sgprs != 1 or not known or found.sgprs or metadata.number(kernel, ".sgpr_count") != extra:
            yield from _same(kernel, ".sgpr_count", sgprs + extra, f".amdhsa_next_free_sgpr {sgprs} + {extra} for VCC")
    user = kernel.number("user_sgpr_count")
    if user is not None and not 0 <= user <= USER_SGPRS:
        yield _at(kernel, "user_sgpr_count", "too many user SGPRs", expected=f"0 to {USER_SGPRS}", got=str(user))
    lds = kernel.number("group_segment_fixed_size")
    if lds is not None and not 0 <= lds <= resources.LDS_PER_CU:
        message = f"a workgroup has {resources.LDS_PER_CU >> 10} KB of LDS"
        yield _at(kernel, "group_segment_fixed_size", message, expected=f"0 to {resources.LDS_PER_CU}", got=str(lds))
    for key, directive in SIZES.items():
        unsaid = 0 if key in _MEMORY and directive not in kernel.descriptor else None  # LLVM's default
        size = kernel.number(directive) if unsaid is None else unsaid
        if size is not None:
            rule = _of_size(key, metadata.number(kernel, key) or 0, size)
            yield from _same(kernel, key, size, f".amdhsa_{directive} {size}", rule)
    wave32 = kernel.number("wavefront_size32") if "wavefront_size32" in kernel.descriptor else 1
    if wave32 in (0, 1):
        yield from _same(kernel, ".wavefront_size", 32 if wave32 else 64, f".amdhsa_wavefront_size32 {wave32}", TAKEN)
    threads = metadata.number(kernel, ".max_flat_workgroup_size")
    if threads is not None and not 1 <= threads <= LARGEST_WORKGROUP:
        message = f"a workgroup has 1 to {LARGEST_WORKGROUP} work-items"
        yield _at(kernel, ".max_flat_workgroup_size", message, expected=f"1 to {LARGEST_WORKGROUP}", got=str(threads))
    none = kernel.number("private_segment_fixed_size") == 0 and kernel.number("uses_dynamic_stack") != 1
    reached = (inst for inst in cfg.instructions if inst.desc.space == "scratch")
    if none and not cfg.calls and (inst := next(reached, None)):
        yield COUNTS.broken(
            inst, "the kernel has no scratch memory", expected=".amdhsa_private_segment_fixed_size above 0", got="0"
        )


def initialised(sgprs: int, target: Target | None, *, wave32: bool, kernel: Kernel | None = None) -> Iterator[Finding]:
    """sgprs: user and system SGPRs that a kernel for `target` has enabled. kernel: where it stands as text."""
    if target and wave32 and sgprs < target.least_sgprs:
        yield INITIALISED.found(
            f"{target.name} initialises {sgprs} SGPRs incorrectly",
            kernel.program.span(kernel.descriptor.get("user_sgpr_count", kernel.start)) if kernel else None,
            hint="raise .amdhsa_user_sgpr_count; the system SGPRs then follow after",
            expected=f"at least {target.least_sgprs} user and system SGPRs",
            got=str(sgprs),
        )


def of_code_object(kernel: Linked, functions: Sequence[Cfg], target: Target | None = None) -> Iterator[Finding]:
    """The same of a linked kernel. functions: itself and what it calls, as far as that is known. Its descriptor holds
    VGPRs in granules and no SGPRs; the exact numbers stand in the metadata."""
    found, descriptor = resources.used(*functions), kernel.descriptor
    yield from initialised(descriptor.sgprs, target, wave32=descriptor.wave32)
    for what, uses, given, where, rule in (
        ("VGPRs", found.vgprs, descriptor.vgprs, "descriptor", COUNTS),
        ("VGPRs", found.vgprs, kernel.vgprs, "metadata", TAKEN),
        ("SGPRs", found.sgprs + 2 * found.vcc, kernel.sgprs, "metadata", DIFFER),
    ):
        if uses > given:
            yield _of(rule, f"the code uses {uses} {what}, the {where} gives {given}", f"{uses} or more", given)
    for key, given in (
        (".group_segment_fixed_size", descriptor.lds_bytes),
        (".private_segment_fixed_size", descriptor.scratch_bytes),
        (".kernarg_segment_size", descriptor.kernarg_bytes),
    ):
        says = kernel.metadata.get(key)
        if isinstance(says, int) and says != given:
            yield _of(
                _of_size(key, says, given), f"{key} of the metadata disagrees with the descriptor", str(given), says
            )
    if ".max_flat_workgroup_size" in kernel.metadata and not 1 <= kernel.max_workgroup <= LARGEST_WORKGROUP:
        message = f"a workgroup has 1 to {LARGEST_WORKGROUP} work-items"
        yield _of(COUNTS, message, f"1 to {LARGEST_WORKGROUP}", kernel.max_workgroup)


def _of_size(key: str, says: int, given: int) -> Rule:
    """The rule that sizes of metadata and descriptor break."""
    if key not in _MEMORY:
        return DIFFER
    return COUNTS if says > given else TAKEN


def _of(rule: Rule, message: str, expected: str, got: int) -> Finding:
    return rule.found(message, hint="link it again from the compiler's output", expected=expected, got=str(got))


def _at(
    kernel: Kernel, name: str, message: str, *, expected: str, got: str, hint: str | None = None, rule: Rule = COUNTS
) -> Finding:
    line = kernel.metadata[name] if name.startswith(".") else kernel.descriptor[name]
    text = kernel.program.lines[line].text
    span = kernel.program.span(line, len(text) - len(text.lstrip()) + 1)
    return rule.found(message, span, hint=hint, expected=expected, got=got)


def _enough(kernel: Kernel, name: str, given: int, used: int, limit: int, what: str) -> Iterator[Finding]:
    if given < used:
        yield _at(
            kernel,
            name,
            f"the code uses {used} {what}, the descriptor gives {given}",
            expected=f".amdhsa_{name} {used} or more",
            got=str(given),
            hint=_HINT,
            rule=COUNTS if name == "next_free_vgpr" else DIFFER,
        )
    elif given > limit or given < 0:
        yield _at(kernel, name, f"a wave has {limit} {what}", expected=f"0 to {limit}", got=str(given))


def _same(kernel: Kernel, key: str, value: int, because: str, rule: Rule = DIFFER) -> Iterator[Finding]:
    says = metadata.number(kernel, key)
    if says is not None and says != value:
        yield _at(
            kernel,
            key,
            f"{key} disagrees with the descriptor",
            expected=f"{value} ({because})",
            got=str(says),
            hint=_HINT,
            rule=rule,
        )
