"""Assembly of a kernel: a code object -> text that passes and provers read, and that an assembler takes.

In: a `CodeObject`, a kernel. Out: a `Program` of that kernel alone: LLVM's text of each instruction with labels where
branches go, its descriptor as directives, its metadata as LLVM writes them.

Whatever a file says stands in the text as a name, a number, or in quotes, so that none of it is a line of its own to an
assembler; what cannot be written so is rejected.

The descriptor is written as the directives that `isa.object.descriptor` decodes; VGPRs as the metadata count them,
since the descriptor holds them in granules. `isa.object.splice` puts what an assembler made of it back.

`whole_text` is for who only reads: the functions and data that the kernel reaches come along, under their symbols
(`isa.object.reached`), and each instruction has its address.

Limits, each rejected with an error that names it: waves of 64 lanes, bytes that are no instruction; but for readers
calls and jumps through registers, and what depends on where the code lies (s_getpc_b64): code that is rewritten may
move.
"""

from __future__ import annotations

import dataclasses
import json
import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from isa.analysis import cfg, resources
from isa.asm.parse import parse, parse_disassembly
from isa.asm.program import Line, Program
from isa.errors import IsaError
from isa.object import reached
from isa.object.code_object import CodeObject, DescribedKernel
from isa.object.descriptor import EXCEPTIONS
from isa.semantics import wave_start
from isa.semantics.branches import branch_target
from isa.semantics.instruction import Instruction

_NEVER = {"s_getpc_b64": "takes its own address", "s_call_b64": "calls", "s_swappc_b64": "calls",
          "s_setpc_b64": "jumps through a register"}  # fmt: skip
_NAME = re.compile(r"[A-Za-z_.$][\w.$@]*", re.ASCII)
_PLACE = re.compile(r"\{(\d+)\}")
_KEY = re.compile(r"[A-Za-z_.][\w.]*", re.ASCII)
_PLAIN = re.compile(r"[A-Za-z_]\w*", re.ASCII)
_USER = tuple(row for row in wave_start.USER_SGPRS if row[0] not in ("private_segment_buffer", "flat_scratch_init"))
"""gfx11's scratch memory has registers of its own."""
_ROUND = ("round_mode_32", "round_mode_16_64", "denorm_mode_32", "denorm_mode_16_64")


def text_of(code: CodeObject, name: str | None = None, file: str = "") -> Program:
    """The kernel as a program. file: what messages call it. IsaError for what the module's docstring excludes."""
    kernel = code.kernel(name, file or "this code object")
    rows = instructions(code, kernel.name)
    return parse("\n".join(_lines(code, kernel, rows)) + "\n", file or f"{kernel.name}.s")


def whole_text(code: CodeObject, name: str | None = None, file: str = "") -> Program:
    """The kernel with all that it may run and read. file: as of `text_of`. IsaError for what the module's docstring
    excludes, and for an address that cannot be followed to a symbol."""
    kernel = code.kernel(name, file or "this code object")
    first, *others = reached.of(code, kernel.name, _rows(code, kernel.name))
    assert isinstance(first, reached.Code)
    lines = [*_lines(code, kernel, first.rows, first.texts, [line for other in others for line in _reached(other)])]
    program = parse("\n".join(lines) + "\n", file or f"{kernel.name}.s")
    parts = [part for part in (first, *others) if isinstance(part, reached.Code)]
    rows = iter([(part.name, row) for part in parts for row in part.rows])
    return program.with_lines([_placed(line, rows, kernel.name) for line in program.lines])


def _placed(line: Line, rows: Iterator[tuple[str, Instruction]], kernel: str) -> Line:
    if (inst := line.instruction) is None:
        return dataclasses.replace(line, where=kernel)
    name, row = next(rows)
    where = f"{name}:{row.address:#x}"
    span = inst.span and dataclasses.replace(inst.span, where=where)
    pair = inst.pair and dataclasses.replace(inst.pair, span=span)
    inst = dataclasses.replace(inst, address=row.address, size=row.size, span=span, pair=pair)
    return dataclasses.replace(line, node=inst, where=where)


def instructions(code: CodeObject, name: str) -> list[Instruction]:
    """A kernel's instructions with their addresses, none of which the module's docstring excludes."""
    found = _rows(code, name)
    for inst in found:
        if inst.mnemonic in _NEVER:
            raise inst.error(f"{name} {_NEVER[inst.mnemonic]}, and code that is rewritten may move",
                             hint="rewrite the compiler's assembly instead (-S, or hipgemm cc)")  # fmt: skip
    return found


def _rows(code: CodeObject, name: str) -> list[Instruction]:
    kernel = code.kernel(name)
    if not kernel.descriptor.wave32:
        raise IsaError(f"{name} runs waves of 64 lanes", expected="a kernel for wave32")
    if not kernel.code_size:
        raise IsaError(f"{name} has no code", expected="a symbol with a size")
    return parse_disassembly(code.disassembled(name), name, code.arch)


def _reached(part: reached.Code | reached.Data) -> Iterator[str]:
    if not _NAME.fullmatch(part.name):
        raise IsaError(f"{part.name!r} is not a name that assembly accepts without quotes")
    if isinstance(part, reached.Code):
        yield from ("\t.text", f"\t.type\t{part.name},@function", f"{part.name}:")
        yield from _body(part.name, part.rows, part.texts, part.number)
        yield from (f".Lfunc_end{part.number}:", f"\t.size\t{part.name}, .Lfunc_end{part.number}-{part.name}")
        return
    yield from (f"\t.type\t{part.name},@object", f"\t.section\t.rodata.{part.name}", f"\t.p2align\t{part.power}")
    yield f"{part.name}:"
    for piece in part.pieces:
        if isinstance(piece, str):
            yield f"\t.quad\t{piece}"
        elif isinstance(piece, int):
            yield f"\t.zero\t{piece}"
        else:
            yield from (f"\t.byte\t{', '.join(map(str, piece[k : k + 16]))}" for k in range(0, len(piece), 16))
    yield f"\t.size\t{part.name}, {part.size}"


def _body(name: str, rows: Sequence[Instruction], texts: Mapping[int, str], number: int) -> Iterator[str]:
    """Instructions with labels where branches go. texts: of those that name symbols, by address."""
    far = {int(m[1]) for text in texts.values() for m in _PLACE.finditer(text)}
    targets = sorted(far | {at for i in rows if isinstance(at := branch_target(i), int) and i.address not in texts})
    labels = {at: f".LBB{number}_{n}" for n, at in enumerate(targets)}
    starts = {inst.address for inst in rows}
    for at in targets:
        if at not in starts:
            raise IsaError(f"{name} branches to {at:#x}, where no instruction begins")
    for inst in rows:
        if inst.address in labels:
            yield f"{labels[inst.address]}:"
        if (text := texts.get(inst.address or 0)) is not None:
            yield "\t" + _PLACE.sub(lambda m: labels[int(m[1])], text)
        else:
            at = branch_target(inst)
            yield f"\t{inst.mnemonic} {labels[at]}" if isinstance(at, int) else f"\t{inst}"


def _lines(
    code: CodeObject, kernel: DescribedKernel, rows: Sequence[Instruction], texts: Mapping[int, str] | None = None,
    others: Sequence[str] = (),
) -> Iterator[str]:  # fmt: skip
    name = kernel.name
    if not _NAME.fullmatch(name):
        raise IsaError(f"{name!r} is not a name that assembly accepts without quotes")
    yield f'\t.amdgcn_target "amdgcn-amd-amdhsa--{code.arch}"'
    yield f"\t.amdhsa_code_object_version {code.abi_version + 2}"
    yield from ("\t.text", f"\t.protected\t{name}", f"\t.globl\t{name}", "\t.p2align\t8")
    yield from (f"\t.type\t{name},@function", f"{name}:")
    yield from _body(name, rows, texts or {}, 0)
    yield from (".Lfunc_end0:", f"\t.size\t{name}, .Lfunc_end0-{name}")
    yield from ('\t.section\t.rodata,"a",@progbits', "\t.p2align\t6", f"\t.amdhsa_kernel {name}")
    flow = cfg.of_instructions(rows, kernel.name)
    yield from (f"\t\t.amdhsa_{key} {value}" for key, value in directives(kernel, resources.used(flow)).items())
    if texts is not None and (bits := _unsaid(kernel)):
        yield f"\t\t.amdhsa_bits_without_a_directive {bits:#x}"
    yield from ("\t.end_amdhsa_kernel", *others, "\t.text", "\t.amdgpu_metadata", "---", "amdhsa.kernels:")
    yield from _metadata(kernel.metadata)
    yield from (f"amdhsa.target:   amdgcn-amd-amdhsa--{code.arch}", "amdhsa.version:", "  - 1", "  - 2", "...")
    yield "\t.end_amdgpu_metadata"


def directives(kernel: DescribedKernel, used: resources.Used) -> Mapping[str, int]:
    """The directives, without `.amdhsa_`, that stand for a kernel's descriptor. used: by its code."""
    d, older = kernel.descriptor, kernel.descriptor.family.mode_bits
    vcc = used.sgprs <= kernel.sgprs - 2
    granules = -(-max(kernel.vgprs, 1) // d.family.encoded_vgprs) * d.family.encoded_vgprs
    found = {
        "group_segment_fixed_size": d.lds_bytes,
        "private_segment_fixed_size": d.scratch_bytes,
        "kernarg_size": d.kernarg_bytes,
        "user_sgpr_count": d.user_sgpr_count,
        **{f"user_sgpr_{name}": name in d.user for name, _ in _USER},
        "wavefront_size32": 1,
        "uses_dynamic_stack": d.dynamic_stack,
        "enable_private_segment": d.enable_scratch,
        **dict(zip(wave_start.GROUP_IDS.values(), d.workgroup_id, strict=True)),
        "system_sgpr_workgroup_info": d.workgroup_info,
        "system_vgpr_workitem_id": d.workitem_id,
        "next_free_vgpr": kernel.vgprs if granules == d.vgprs else d.vgprs,
        "next_free_sgpr": max(kernel.sgprs - 2 * vcc, 0),
        "reserve_vcc": vcc,
        **{f"float_{key}": d.float_mode >> 2 * i & 3 for i, key in enumerate(_ROUND)},
        **({"dx10_clamp": d.dx10_clamp, "ieee_mode": d.ieee} if older else {"round_robin_scheduling": d.round_robin}),
        "fp16_overflow": d.fp16_overflow,
        "workgroup_processor_mode": d.wgp_mode,
        "memory_ordered": d.mem_ordered,
        "forward_progress": d.forward_progress,
        **({"shared_vgpr_count": d.shared_vgprs // 8} if older else {}),
        "inst_pref_size": d.prefetch_lines,
        **{f"exception_{key}": d.exceptions >> i & 1 for i, key in enumerate(EXCEPTIONS)},
    }
    return {key: int(value) for key, value in found.items()}


_SAID = {0: (1 << 96) - 1, 128: (1 << 64) - 1, 352: 0x3FF, 384: 0xE4AFF3FF, 416: 0x7F001FBF, 448: 0xC00}
"""Bit of the descriptor -> the mask, from there on, of what directives say, of the entry, of counts of registers."""
_SAID_WITHOUT_MODE_BITS = _SAID | {352: 0xFF0, 384: 0xE42FF3FF}


def _unsaid(kernel: DescribedKernel) -> int:
    """What a descriptor holds beside. An assembler sets none of it."""
    masks = _SAID if kernel.descriptor.family.mode_bits else _SAID_WITHOUT_MODE_BITS
    said = sum(mask << at for at, mask in masks.items())
    said |= sum(1 << 448 + i for i, row in enumerate(wave_start.USER_SGPRS) if row in _USER)
    return int.from_bytes(kernel.descriptor.raw, "little") & ~said


def _metadata(kernel: Mapping[str, Any]) -> Iterator[str]:
    """A kernel's map, as LLVM lays it out: keys in order, arguments first."""
    mark = "  - "
    for key in _keys(kernel):
        value = kernel[key]
        if key == ".args" and value:
            yield f"{mark}{key}:"
            for argument in value:
                inner = "      - "
                for word in _keys(argument):
                    yield f"{inner}{word}: {_yaml(argument[word])}"
                    inner = "        "
        else:
            yield f"{mark}{key}: {_yaml(value)}"
        mark = "    "


def _keys(entries: Mapping[str, Any]) -> list[str]:
    """In order. IsaError for what is no word."""
    for key in entries:
        if not isinstance(key, str) or not _KEY.fullmatch(key):
            raise IsaError(f"{key!r:.80} is no key of metadata that assembly can hold", expected="as .vgpr_count")
    return sorted(entries)


def _yaml(value: Any) -> str:
    """JSON is YAML; plain words stand as LLVM writes them."""
    if isinstance(value, str) and _PLAIN.fullmatch(value):
        return value
    try:
        return json.dumps(value, allow_nan=False)
    except (TypeError, ValueError, RecursionError) as error:
        raise IsaError(f"{value!r:.80} is no value of metadata that assembly can hold: {error}") from error
