"""What decides what a kernel does beside its own instructions: settings of its descriptor, data, functions it calls."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import replace
from functools import partial

from isa.asm.parse import parse_line
from isa.asm.program import Directive, Kernel
from isa.errors import IsaError
from isa.prove.named import Names
from tools.mutation.mutants import numbers, operations, structure
from tools.mutation.mutants.edit import Mutant, mutant, plain

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
