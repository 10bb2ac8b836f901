"""LDS shared between waves: a write and a read of the same bytes with no barrier between them on some path.

Waves of a workgroup run in any order, so what one writes to LDS another may read only behind a barrier that both pass,
and may overwrite only behind one that the reader has passed. Forward data flow: the LDS reads and writes since the last
barrier, over all paths through loops. A pair of one read and one write of them that can reach the same bytes is a
finding, once for each instruction, those that one barrier would settle together.

Which bytes an access can reach is told by `isa.analysis.lds_ranges`, for each state of the address registers by itself:
so two buffers that are exchanged from round to round, one written while the other is read, need one barrier a round.

What is left out, because the waves need no barrier: workgroups of one wave (at most 32 threads); atomics against each
other; and a pair in one block through one address register that nothing writes between, where the later range lies
within the earlier: each thread then comes back to its own bytes.

Limits: ranges are those of all work-items together. Waves that keep to parts of their own within a range are reported.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial

from isa.analysis import lds_ranges
from isa.analysis.cfg import Cfg
from isa.analysis.defuse import DefUse
from isa.analysis.exec_mask import ExecMask
from isa.analysis.lds_ranges import Bytes, Node
from isa.check import causes
from isa.check.registry import RULES
from isa.check.rules import place, register
from isa.errors import Finding
from isa.program import Instruction
from isa.registers import Reg

RACE = RULES["LDS001"]

_Access = tuple[int, int]
"""An access in one state: (number of the node, position)."""


def faults(cfg: Cfg, chains: DefUse, lanes: ExecMask, threads: int | None, dimensions: int = 1) -> Iterator[Finding]:
    """LDS reads and writes of different waves that no barrier orders. threads: the largest workgroup, None if not
    known; dimensions: how many numbers of the work-item v0 holds."""
    if threads is not None and threads <= 32:
        return
    kinds = [_kind(inst) for inst in cfg.instructions]
    if not {"load", "store"} <= set(kinds) and "atomic" not in kinds:
        return
    nodes = lds_ranges.analyse(cfg, chains, lanes, threads, dimensions)
    stops = {
        b.index: [i for i in b.range if kinds[i] or cfg.instructions[i].desc.effect == "barrier"] for b in cfg.blocks
    }
    entry: dict[int, frozenset[_Access]] = {0: frozenset()}
    work = [0]
    while work:
        number = work.pop()
        node, since = nodes[number], entry[number]
        for i in stops[node.block]:
            since = since | {(number, i)} if kinds[i] else frozenset()
        for s in node.successors:
            new = entry.get(s, frozenset()) | since
            if s not in entry or new != entry[s]:
                entry[s] = new
                work.append(s)
    found: dict[causes.Pair, Finding] = {}
    seen: set[int] = set()
    for number in sorted(entry, key=lambda n: (nodes[n].block, n)):
        since = entry[number]
        for i in stops[nodes[number].block]:
            if kinds[i] and i not in seen and (other := _conflict(cfg, kinds, nodes, (number, i), since)):
                seen.add(i)
                found[other[1], i] = _finding(cfg, kinds, nodes, (number, i), other)
            since = since | {(number, i)} if kinds[i] else frozenset()
    yield from causes.joined(
        cfg, found, lambda _, i: cfg.instructions[i].desc.effect != "barrier", partial(_barrier, cfg)
    )


def _barrier(cfg: Cfg, pairs: list[causes.Pair]) -> str:
    """What settles a group: it stands before the first access."""
    _, first = pairs[0]
    return f"s_barrier before {place(cfg.instructions[first], first)}, each wave's accesses complete, settles all"


def _kind(inst: Instruction) -> str:
    access = inst.desc.access
    return access.kind if access is not None and access.space == "lds" else ""


def _conflict(
    cfg: Cfg, kinds: list[str], nodes: list[Node], access: _Access, since: frozenset[_Access]
) -> _Access | None:
    """The first access since the barrier that this one can collide with."""
    mine = nodes[access[0]].accesses[access[1]]
    for other in sorted(since, key=lambda a: (a[1], a[0])):
        if kinds[other[1]] == kinds[access[1]] or _own_bytes(cfg, other[1], access[1]):
            continue
        its = nodes[other[0]].accesses[other[1]]
        if mine is None or its is None or not all(a.apart(b) for a in mine for b in its):
            return other
    return None


def _finding(cfg: Cfg, kinds: list[str], nodes: list[Node], access: _Access, other: _Access) -> Finding:
    inst, first = cfg.instructions[access[1]], cfg.instructions[other[1]]
    before, after = ("writes", "reads") if kinds[access[1]] == "load" else ("reads", "writes")
    return RACE.broken(
        inst,
        f"{first} ({place(first, other[1])}) {before} LDS, this {after} it, and a path between them has no barrier",
        expected="s_barrier between what one wave writes and another reads",
        got=_told(nodes[other[0]].accesses[other[1]], nodes[access[0]].accesses[access[1]]),
        hint="nothing to do where each wave keeps to its own bytes",
    )


def _told(first: tuple[Bytes, ...] | None, second: tuple[Bytes, ...] | None) -> str | None:
    """Both ranges, where they are narrower than LDS is large."""
    if not all(a is not None and all(b.first.high < 1 << 16 for b in a) for a in (first, second)):
        return None
    texts = (" and ".join(map(str, a)) for a in (first, second) if a)
    return "bytes {}, then {}".format(*texts)


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
