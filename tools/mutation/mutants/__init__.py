"""Faults on purpose: a kernel -> copies of it with one line changed, to see whether the checks find it.

    wait removed, wait weakened     each s_waitcnt; each of its counters allowed one more outstanding access
    barrier removed                 each s_barrier
    instruction removed             each other instruction that does something, on a target without its label
    opcode changed                  each instruction that has a near relative (`relatives`): add and sub, lt and le,
                                    shifts left and right, min and max, branches on 0 and on 1
    carry dropped, high half lost   add with carry in without it; the high half of a product, of a shift, of a sign is 0
    mask opened                     each lane mask, EXEC or in SGPRs, is all ones: of a comparison, of a conjunction
    registers exchanged             two sources that may not change places do; a lone source becomes its neighbour
    wrong immediate                 each integer of a vector or scalar operation, each offset of a global access, plus 1
    loop bound                      what decides whether a loop makes another iteration: its number, or its comparison
    VOPD sources swapped            in a sample of VOPDs: source 0, or source 1, between the halves, and the two
                                    sources of one half
    LDS offset                      each offset of each ds_load and ds_store, by one element
    global stride, LDS stride       each number in the instructions that compute a global (an LDS) address, by 1: all
                                    that the data flow leads back to from the addresses of loads and stores
    kernarg offset                  each load of arguments, 4 bytes further
    count shrunk                    each count and size in descriptor and metadata, by 1
    metadata                        each argument's offset 4 less, its size doubled, its kind another one
    setting changed                 the lowest bit of each mode and switch of the descriptor
    data changed                    each number, address and size of the objects that the kernel may read
    callee changed                  waits, instructions, opcodes and immediates of the functions that it may call
    order exchanged, cache bit, counter weakened, modifier, mode changed, statement, name exchanged, table: see
                                    `meaning`

A mutant keeps the line numbers of the original; it may be illegal. The same text may be a mutant of two kinds.

    edit        what a mutant is, and how one is made
    structure   waits, barriers, removals
    operations  opcodes, carries, masks, registers, VOPDs, loops
    numbers     immediates, offsets, strides, counts, metadata
    meaning     order of accesses, statements of descriptor and metadata, names, tables

What decides what a kernel does beside its own instructions: settings of its descriptor, data, functions it calls.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import replace
from functools import partial

from isa.asm.parse import parse_line
from isa.asm.program import Directive, Kernel, Program
from isa.errors import IsaError
from isa.prove.named import Names
from tools.mutation.mutants import meaning, numbers, operations, structure
from tools.mutation.mutants.edit import Mutant, mutant, plain

KINDS = (
    "wait removed",
    "wait weakened",
    "barrier removed",
    "instruction removed",
    "opcode changed",
    "carry dropped",
    "high half lost",
    "mask opened",
    "registers exchanged",
    "wrong immediate",
    "loop bound",
    "VOPD sources swapped",
    "LDS offset",
    "LDS stride",
    "global stride",
    "kernarg offset",
    "count shrunk",
    "metadata",
    "setting changed",
    "data changed",
    "callee changed",
    "order exchanged",
    "cache bit",
    "counter weakened",
    "modifier",
    "mode changed",
    "statement",
    "name exchanged",
    "table",
)


def mutants(program: Program, name: str | None = None, *, vopds: int = 16, seed: int = 1) -> Iterator[Mutant]:
    """All mutants of a kernel, kind by kind in the order of KINDS. `vopds`: how many VOPDs, and of what could
    be half of one (`v_fmac_f32`), are sampled where a kind would take each."""
    kernel = program.kernel(name)
    yield from structure.waits(kernel)
    yield from structure.barriers(kernel)
    yield from structure.removed(kernel, vopds, seed)
    yield from operations.opcodes(kernel)
    yield from operations.carries(kernel)
    yield from operations.high_halves(kernel)
    yield from operations.masks(kernel)
    yield from operations.exchanged(kernel, vopds, seed)
    yield from numbers.immediates(kernel)
    yield from operations.loop_bounds(kernel)
    yield from operations.vopds(kernel, vopds, seed)
    yield from numbers.lds_offsets(kernel)
    yield from numbers.strides(kernel, "lds", "LDS stride")
    yield from numbers.strides(kernel, "global", "global stride")
    yield from numbers.kernarg_offsets(kernel)
    yield from numbers.counts(kernel)
    yield from numbers.arguments(kernel)
    yield from settings(kernel)
    yield from data(kernel)
    yield from callees(kernel)
    for kind in meaning.ALL:
        yield from kind(kernel)


__all__ = ["KINDS", "Mutant", "mutants"]


_SETTING = re.compile(
    r"(float_|dx10_|ieee_|fp16_|workgroup_processor|memory_ordered|forward|wavefront|system_|uses_|enable_|exception_|"
    r"user_sgpr_(?!count))"
)
_LAST = re.compile(r"(0x[0-9a-fA-F]+|\d+)$")
_NUMBER = re.compile(r"(?<![\w.$+])(0x[0-9a-fA-F]+|\d+)(?!\w)")
_ADDRESS = re.compile(r"(?<![\w.$@])([A-Za-z_.$][\w.$]*)$")


def settings(kernel: Kernel) -> Iterator[Mutant]:
    """The lowest bit of each mode and switch."""
    for key, number in kernel.descriptor.items():
        text = plain(kernel, number)
        if _SETTING.match(key) and (found := _LAST.search(text)):
            changed = f"{text[: found.start()]}{int(found[0], 0) ^ 1}"
            yield mutant(kernel, "setting changed", number, parse_line(changed, kernel.program.file, number))


def data(kernel: Kernel) -> Iterator[Mutant]:
    """Each number, and each address, of the objects that the kernel may read, and their sizes."""
    for name in _reached(kernel):
        names = Names(kernel.program)
        contents = None if names.function(name) else names.data.contents(name)
        lines = {piece.line for piece in contents.pieces} if contents else set()
        if contents and contents.held:
            lines |= {n for n, line in enumerate(kernel.program.lines) if _sizes(line.node, name)}
        for number in sorted(lines):
            text = plain(kernel, number)
            head, directive, arguments = text.partition(text.split()[0])
            for found in _NUMBER.finditer(arguments):
                changed = f"{arguments[: found.start()]}{int(found[0], 0) ^ 1}{arguments[found.end() :]}"
                yield _line(kernel, number, head + directive + changed)
            if not directive.startswith(".size") and _ADDRESS.search(arguments):
                yield _line(kernel, number, f"{text}+8")


def callees(kernel: Kernel) -> Iterator[Mutant]:
    """What other kinds do to a kernel's instructions, done to those of the functions that it may call."""
    try:
        functions = Names(kernel.program).functions(kernel.name)[1:]
    except IsaError:
        return
    for lines, function in ((function.flow.lines, function) for function in functions):
        view = Kernel(kernel.program, function.name, lines[0], lines[-1] + 1, {}, {})
        for found in (
            structure.waits,
            partial(structure.removed, count=len(lines), seed=1),
            operations.opcodes,
            numbers.immediates,
        ):
            yield from (replace(change, kind="callee changed") for change in found(view))


def _reached(kernel: Kernel) -> list[str]:
    try:
        return Names(kernel.program).reached(kernel.name)
    except IsaError:
        return []


def _sizes(node: object, name: str) -> bool:
    return isinstance(node, Directive) and node.name == ".size" and node.args.partition(",")[0].strip() == name


def _line(kernel: Kernel, number: int, text: str) -> Mutant:
    return mutant(kernel, "data changed", number, parse_line(text, kernel.program.file, number))
