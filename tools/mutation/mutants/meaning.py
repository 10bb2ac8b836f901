"""Mutants of meaning beside instructions: the order of accesses, and what descriptor, metadata and names say.

order exchanged   two neighbours of a block: an access, and a wait, a barrier, an invalidation, or a store where that
                  is a load
cache bit         each glc, slc, dlc, th and scope left out
counter weakened  a wait for one counter, s_waitcnt_vscnt null, 0x0 and its kind, by one; waits for results left out;
                  an invalidation that empties other caches
modifier          each modifier of an operation left out, or with another first number; each sign of a source left out
mode changed      some hints become instructions that write MODE
statement         each number of the descriptor 1 more; each line of descriptor and metadata left out
name exchanged    each symbol that code or data name is another of the program; each addend of one 4 more
table             two entries exchanged; an alignment halved; an object in a section that may be written; an alias
                  that is set to its neighbour
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from itertools import pairwise

from isa.analysis import cfg as control_flow
from isa.asm.data import ALIGNS, MAKES_BYTES
from isa.asm.parse import parse_line
from isa.asm.program import Directive, Kernel, Label, Line
from isa.errors import IsaError
from isa.prove.named import Names
from isa.semantics.instruction import Instruction
from tools.mutation.mutants.edit import Mutant, legal, mutant, plain, removed, sample

_MODIFIER = re.compile(
    r" (?!offset|th:|scope:)([a-z]\w*:\[?)(0x[0-9a-f]+|\d+)([\d,]*\]?)(?=$| )| clamp$|(?<=, )-(?=[vs|])"
)
_MODES = ("s_round_mode 0x5", "s_denorm_mode 0x5", "s_setreg_imm32_b32 hwreg(HW_REG_MODE, 23, 1), 1")
_REQUIRED = re.compile(r"\.(symbol|name|wavefront_size|[sv]gpr_count|max_flat|kernarg_segment|\w+_segment_fixed_size)")
"""What an assembler asks for (LLVM AMDGPUUsage, "Code Object V3 Metadata")."""
_NAME = re.compile(r"(?<![\w.$@])([A-Za-z_.$][\w.$]*)(?=@|\+|-|,|\s*$)")
_ADDEND = re.compile(r"(?<=[+])(\d+)\b")


def _texts(kernel: Kernel, kind: str, number: int, texts: Sequence[str]) -> Iterator[Mutant]:
    """A line with each of these texts, where it can be read."""
    for text in texts:
        try:
            yield mutant(kernel, kind, number, parse_line(text, kernel.program.file, number))
        except IsaError:
            continue


def order(kernel: Kernel) -> Iterator[Mutant]:
    flow = control_flow.of_kernel(kernel)
    for block in flow.blocks:
        for i, j in pairwise(block.range):
            a, b = flow.instructions[i], flow.instructions[j]
            if (_ordered(a, b) or _ordered(b, a)) and not (b.desc.is_branch or b.desc.terminator):
                lines = list(kernel.program.lines)
                first, second = flow.lines[i], flow.lines[j]
                lines[first], lines[second] = lines[second], lines[first]
                what = f"{a} <-> {b}"
                yield Mutant("order exchanged", first, what, kernel.program.with_lines(lines))


def _ordered(access: Instruction, other: Instruction) -> bool:
    its, also = access.desc.access, other.desc.access
    if its is None:
        return False
    orders = bool(other.desc.is_wait or other.desc.effect or other.desc.sched == "cache_control")
    return orders or (also is not None and (its.kind == "load") != (also.kind == "load") and its.space == also.space)


def cache_bits(kernel: Kernel) -> Iterator[Mutant]:
    for number, inst in kernel.instructions():
        text = plain(kernel, number)
        for bit in inst.family.cache_bits:
            if inst.has(bit):
                yield from legal(kernel, "cache bit", number, re.sub(rf" {bit}(:\w+)?(?=$| )", "", text))


def counters(kernel: Kernel) -> Iterator[Mutant]:
    for number, inst in kernel.instructions():
        text, family = plain(kernel, number), inst.family
        head, _, last = text.rpartition(" ")
        if inst.mnemonic in (*family.single_waits, *family.packed_waits) and re.fullmatch(r"0x[0-9a-f]+|\d+", last):
            yield from legal(kernel, "counter weakened", number, f"{head} {int(last, 0) + 1}")
        if inst.mnemonic == family.results_wait:
            yield removed(kernel, "counter weakened", number)
        levels = family.empties.get(str(inst), ())
        for other, its in family.empties.items() if levels else ():
            if not set(its) >= set(levels):
                yield from legal(kernel, "counter weakened", number, text.replace(str(inst), other))


def modifiers(kernel: Kernel) -> Iterator[Mutant]:
    for number, _ in kernel.instructions():
        text = plain(kernel, number)
        for found in _MODIFIER.finditer(text):
            head, tail = text[: found.start()], text[found.end() :]
            if found[0].split(":")[-1] != "0xf":  # which a mask of rows or banks is where it is not said
                yield from legal(kernel, "modifier", number, head + tail)
            if found[1]:
                changed = f"{head} {found[1]}{int(found[2], 0) ^ 1}{found[3]}{tail}"
                yield from legal(kernel, "modifier", number, changed)


def modes(kernel: Kernel) -> Iterator[Mutant]:
    hints = [(number, inst) for number, inst in kernel.instructions() if inst.desc.is_hint]
    for number, _ in sample(hints, 4, 1):
        for text in _MODES:
            yield from legal(kernel, "mode changed", number, f"\t{text}")


def statements(kernel: Kernel) -> Iterator[Mutant]:
    for name, number in kernel.descriptor.items():
        head, _, value = plain(kernel, number).rpartition(" ")
        if re.fullmatch(r"0x[0-9a-f]+|\d+", value):
            yield from _texts(kernel, "statement", number, [f"{head} {int(value, 0) + 1}"])
        if not name.startswith("next_free"):
            yield removed(kernel, "statement", number)
    entries = [*kernel.metadata.values()]
    for number in range(min(entries), max(entries) + 1) if entries else ():
        text = kernel.program.lines[number].text
        if text.strip() and not _REQUIRED.search(text):
            yield removed(kernel, "statement", number)
    for key in (".max_flat_workgroup_size", ".kernarg_segment_align", ".uniform_work_group_size", ".wavefront_size"):
        if (number := kernel.metadata.get(key, -1)) >= 0 and (found := re.search(r"\d+$", plain(kernel, number))):
            text = plain(kernel, number)
            yield mutant(kernel, "statement", number, Line(f"{text[: found.start()]}{2 * int(found[0])}"))


def _own(kernel: Kernel) -> set[int]:
    """The lines of all that a kernel may reach: code, data with its alignment, aliases."""
    names, lines, found = Names(kernel.program), kernel.program.lines, set[int]()
    try:
        reached = names.reached(kernel.name)
    except IsaError:
        return set(range(kernel.start, kernel.end))
    for name in reached:
        if (function := names.function(name)) is not None:
            found |= set(function.flow.lines)
        elif (at := names.line_set(name)) is not None:
            found.add(at)
        elif contents := names.data.contents(name):
            found |= {piece.line for piece in contents.pieces}
            first = kernel.program.labels.get(name, 0)
            while first > 0 and isinstance(node := lines[first].node, Directive | Label):
                if isinstance(node, Directive) and (node.name in ALIGNS or node.name == ".section"):
                    found.add(first)
                if isinstance(node, Directive) and node.name in (".text", ".section", ".size"):
                    break
                first -= 1
    return found


def names(kernel: Kernel) -> Iterator[Mutant]:
    """Of instructions, data and aliases that the kernel reaches."""
    program, own = kernel.program, _own(kernel)
    declared = [n.args.partition(",")[0].strip() for line in program.lines
                if isinstance(n := line.node, Directive) and n.name == ".type"]  # fmt: skip
    known = [*declared, *program.symbols]
    for number in sorted(own):
        line = program.lines[number]
        node, text = line.node, plain(kernel, number)
        data = isinstance(node, Directive) and node.name in (*MAKES_BYTES, ".set", ".equ")
        if not data and line.instruction is None:
            continue
        start = len(text) - len(text.lstrip()) + len(text.split()[0]) if text.strip() else 0
        for found in _NAME.finditer(text, start):
            if found[1] in known and not (data and "set" in text.split()[0] and found.start() == start + 1):
                other = known[(known.index(found[1]) + 1) % len(known)]
                changed = f"{text[: found.start()]}{other}{text[found.end() :]}"
                yield from _texts(kernel, "name exchanged", number, [changed] if other != found[1] else [])
        if any(name in text for name in known) and (found_ := _ADDEND.search(text)):
            changed = f"{text[: found_.start()]}{int(found_[0]) + 4}{text[found_.end() :]}"
            yield from _texts(kernel, "name exchanged", number, [changed])


def tables(kernel: Kernel) -> Iterator[Mutant]:
    lines = kernel.program.lines
    nodes = [(n, node) for n in sorted(_own(kernel)) if isinstance(node := lines[n].node, Directive)]
    for (i, a), (j, b) in pairwise(nodes):
        if j == i + 1 and a.name == b.name and a.name in MAKES_BYTES and a.args != b.args:
            exchanged = list(lines)
            exchanged[i], exchanged[j] = lines[j], lines[i]
            yield Mutant("table", i, f"{a.args} <-> {b.args}", kernel.program.with_lines(exchanged))
    for n, node in nodes:
        text = plain(kernel, n)
        if node.name in ALIGNS and (found := re.match(r"\d+", node.args)) and int(found[0]) > 1:
            less = int(found[0]) - 1 if ALIGNS[node.name][0] else int(found[0]) // 2
            yield from _texts(kernel, "table", n, [text.replace(node.args, str(less) + node.args[found.end() :])])
        if node.name == ".section" and ".rodata" in node.args and '"a"' in node.args:
            yield from _texts(kernel, "table", n, [text.replace('"a"', '"aw"').replace(".rodata", ".data", 1)])
        if node.name in (".set", ".equ") and (found := re.search(r"(?<=, )(0x[0-9a-f]+|\d+)$", text)):
            yield from _texts(kernel, "table", n, [f"{text[: found.start()]}{int(found[0], 0) + 1}"])


ALL = (order, cache_bits, counters, modifiers, modes, statements, names, tables)
