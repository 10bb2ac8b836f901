"""Kernel arguments in the metadata: are they all there, and do they lie in their segment as a runtime can fill them?

The runtime copies each argument to its offset; where two overlap, the later one destroys the earlier, and what lies
after the segment's size is not copied at all. Pointers and hidden arguments have the size of their kind and are aligned
to it, since kernels load them with scalar loads of that size; what is passed by value may have any type, of which the
metadata tells the size alone. Pointers alone have an address space. The segment is aligned as its arguments are.

An address that is passed by value with no address space is a number that the kernel takes for one: no fault.

Sources: LLVM AMDGPUUsage, "Code Object V5 Metadata" (.offset, .size, .value_kind, .address_space,
.kernarg_segment_size, .kernarg_segment_align); LLVM AMDGPUHSAMetadataStreamer.cpp, emitKernelArg and
emitHiddenKernelArgs (sizes).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from isa.asm.program import Kernel
from isa.display import number_of
from isa.errors import Finding, Span
from isa.lint.registry import RULES
from isa.object import metadata
from isa.object.code_object import Argument
from isa.object.code_object import DescribedKernel as Linked

LAYOUT = RULES["CNT003"]
_ANYTHING = "by_value"
_POINTERS = ("global_buffer", "dynamic_shared_pointer")
_SIZES = {
    **dict.fromkeys(("global_buffer", "image", "sampler", "pipe", "queue"), 8),
    "dynamic_shared_pointer": 4,
    "hidden_grid_dims": 2,
    **{f"hidden_{name}": 4 for name in ("dynamic_lds_size", "private_base", "shared_base")},
    **{f"hidden_{name}": 8 for name in ("printf_buffer", "hostcall_buffer", "multigrid_sync_arg", "heap_v1",
                                        "default_queue", "completion_action", "queue_ptr")},
    **{f"hidden_{name}_{axis}": size for axis in "xyz" for name, size in (
        ("block_count", 4), ("group_size", 2), ("remainder", 2), ("global_offset", 8))},
}  # fmt: skip
"""Kind -> bytes, where its kind says so."""
_HINT = "an argument begins where the one before it ends, aligned as its type asks"


def of_text(kernel: Kernel) -> Iterator[Finding]:
    """What is wrong with the arguments of a kernel in assembly."""
    for line, keys in metadata.incomplete(kernel):
        yield LAYOUT.found(
            f"an argument has no {' and no '.join('.' + key for key in keys)}", _span(kernel, line),
            hint="assemblers refuse such metadata, and no runtime knows where it goes",
            expected=", ".join(f".{key}" for key in metadata.REQUIRED),
        )  # fmt: skip
    rows = metadata.arguments(kernel)
    spans = {argument: _span(kernel, line) for line, argument in rows}
    sizes = {key: metadata.number(kernel, key) for key in (".kernarg_segment_size", ".kernarg_segment_align")}
    align = kernel.metadata.get(".kernarg_segment_align")
    yield from _faults([a for _, a in rows], spans, _span(kernel, align) if align is not None else None, sizes)


def of_code_object(kernel: Linked) -> Iterator[Finding]:
    """The same of a linked kernel."""
    values = {key: kernel.metadata.get(key) for key in (".kernarg_segment_size", ".kernarg_segment_align")}
    numbers = {key: value if isinstance(value, int) else None for key, value in values.items()}
    yield from _faults(kernel.args, {}, None, numbers)


def _span(kernel: Kernel, line: int) -> Span:
    text = kernel.program.lines[line].text
    return kernel.program.span(line, max(text.find(".offset"), len(text) - len(text.lstrip())) + 1)


def _faults(
    arguments: Sequence[Argument],
    spans: Mapping[Argument, Span],
    at_align: Span | None,
    sizes: Mapping[str, int | None],
) -> Iterator[Finding]:
    size, align = sizes[".kernarg_segment_size"], sizes[".kernarg_segment_align"]
    before: Argument | None = None
    for argument in sorted(arguments, key=lambda a: (a.offset, a.offset + a.size)):
        where = spans.get(argument)
        if before is not None and argument.offset < before.offset + before.size:
            yield LAYOUT.found(
                f"{_named(argument)} begins within {_named(before)}", where, hint=_HINT,
                expected=f"offset {before.offset + before.size} or more", got=str(argument.offset),
            )  # fmt: skip
        if size is not None and argument.offset + argument.size > size:
            yield LAYOUT.found(
                f"{_named(argument)} ends after the segment", where,
                hint="make .kernarg_segment_size and .amdhsa_kernarg_size larger, or move the argument",
                expected=f"within the {size} bytes of .kernarg_segment_size", got=str(argument.offset + argument.size),
            )  # fmt: skip
        if argument.size != _SIZES.get(argument.kind, argument.size):
            yield LAYOUT.found(
                f"{_named(argument)} has the wrong size for its kind", where,
                hint="correct .size, or .value_kind where the kernel takes a number",
                expected=f"{number_of(_SIZES[argument.kind], 'byte')} for {argument.kind}", got=str(argument.size),
            )  # fmt: skip
        if argument.address_space and argument.kind not in _POINTERS:
            yield LAYOUT.found(
                f"{_named(argument)} is not a pointer but has an address space", where,
                hint="correct .value_kind, or leave .address_space out",
                expected=" or ".join(_POINTERS), got=argument.kind,
            )  # fmt: skip
        if argument.offset % _alignment(argument):
            yield LAYOUT.found(
                f"{_named(argument)} is not aligned", where, hint=_HINT,
                expected=f"a multiple of {_alignment(argument)}", got=str(argument.offset),
            )  # fmt: skip
        if before is None or argument.offset + argument.size > before.offset + before.size:
            before = argument
    least = max(map(_alignment, arguments), default=1)
    if align is not None and (align & align - 1 or align < least):
        yield LAYOUT.found(
            "the segment is not aligned as its arguments require", at_align, hint="compilers write 8",
            expected=f"a power of two, {least} or more", got=str(align),
        )  # fmt: skip


def _alignment(argument: Argument) -> int:
    """What is sure: of a pointer or a hidden argument its size, of what is passed by value nothing."""
    powers = argument.size and not argument.size & argument.size - 1
    return 1 if argument.kind == _ANYTHING or not powers or argument.size > 8 else argument.size


def _named(argument: Argument) -> str:
    what = argument.name or argument.kind
    return f"argument {what} ({number_of(argument.size, 'byte')} at {argument.offset})"
