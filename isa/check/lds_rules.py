"""LDS shared between waves: a write and a read with no barrier between them on some path.

Waves of a workgroup run in any order, so what one writes to LDS another may read only behind a barrier that both pass,
and may overwrite only behind one that the reader has passed. Forward data flow: the LDS reads and writes since the last
barrier, over all paths through loops. A pair of one read and one write of them is a finding, once for each instruction.

What is left out, because the waves need no barrier: workgroups of one wave (at most 32 threads); atomics against each
other; and a pair in one block through one address register that nothing writes between, where the later range lies
within the earlier: each thread then comes back to its own bytes.

Limits: addresses are not compared otherwise. Waves that keep to parts of LDS of their own are reported too.
"""

from __future__ import annotations

from collections.abc import Iterator

from isa.analysis.cfg import Cfg
from isa.check.rules import Rule, register
from isa.errors import Finding
from isa.program import Instruction
from isa.registers import Reg

RACE = Rule("LDS access without a barrier", "RDNA3 ISA guide 12; LLVM AMDGPUUsage, memory model gfx11")


def faults(cfg: Cfg, threads: int | None) -> Iterator[Finding]:
    """LDS reads and writes of different waves that no barrier orders. `threads`: the largest workgroup, None if not
    known."""
    if threads is not None and threads <= 32:
        return
    kinds = [_kind(inst) for inst in cfg.instructions]
    if not {"load", "store"} <= set(kinds) and "atomic" not in kinds:
        return
    entry: dict[int, frozenset[int]] = {0: frozenset()}
    work = [0]
    while work:
        block = cfg.blocks[work.pop()]
        since = entry[block.index]
        for i in block.range:
            since = _step(cfg, kinds, i, since)
        for s in block.successors:
            new = entry.get(s, frozenset()) | since
            if s not in entry or new != entry[s]:
                entry[s] = new
                work.append(s)
    for index in sorted(entry):
        since = entry[index]
        for i in cfg.blocks[index].range:
            yield from _pairs(cfg, kinds, i, since)
            since = _step(cfg, kinds, i, since)


def _kind(inst: Instruction) -> str:
    access = inst.desc.access
    return access.kind if access is not None and access.space == "lds" else ""


def _step(cfg: Cfg, kinds: list[str], i: int, since: frozenset[int]) -> frozenset[int]:
    if cfg.instructions[i].desc.effect == "barrier":
        return frozenset()
    return since | {i} if kinds[i] else since


def _pairs(cfg: Cfg, kinds: list[str], i: int, since: frozenset[int]) -> Iterator[Finding]:
    if not kinds[i]:
        return
    for other in sorted(since):
        if kinds[other] == kinds[i] or _own_bytes(cfg, other, i):
            continue
        before, after = ("writes", "reads") if kinds[i] == "load" else ("reads", "writes")
        inst, first = cfg.instructions[i], cfg.instructions[other]
        line = f"line {first.span.line}" if first.span and first.address is None else f"{first.address or other:#x}"
        yield RACE.broken(
            inst,
            f"{first} ({line}) {before} LDS, this {after} it, and a path between them has no barrier",
            expected="s_barrier between what one wave writes and another reads",
            hint="nothing to do where each wave keeps to its own bytes",
        )
        return


def _own_bytes(cfg: Cfg, first: int, second: int) -> bool:
    """Whether the second access lies within the first, of the same thread: one register unchanged between them."""
    if first >= second or cfg.block_of(first).index != cfg.block_of(second).index:
        return False
    one, two = _range(cfg.instructions[first]), _range(cfg.instructions[second])
    if one is None or two is None or one[0] != two[0]:
        return False
    changed = any(one[0] in cfg.instructions[k].writes() for k in range(first, second))
    return not changed and one[1] <= two[1] and two[2] <= one[2]


def _range(inst: Instruction) -> tuple[Reg, int, int] | None:
    """(address register, first byte, byte behind the last) relative to it; None for the two-address forms."""
    access = inst.desc.access
    if access is None or access.pair:
        return None
    for role, operand in inst.desc.roles_of(inst):
        reg = register(operand)
        if role.read and not role.written and reg is not None:
            size = int("".join(filter(str.isdigit, access.element))) // 8
            return reg, inst.offset, inst.offset + size
    return None
