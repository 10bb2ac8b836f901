"""Which bytes of LDS an access can reach, told apart by the state in which it runs.

In: a `Cfg`, which lanes EXEC has on, how large a workgroup can be. Out: the same control flow once more as nodes, each
a block in one state of the registers that LDS addresses are computed from, and for each LDS access in a node the ranges
of bytes that all work-items together can reach there.

A kernel with two LDS buffers writes one while it reads the other and exchanges them from round to round. Joined over
the rounds each of its two addresses could be in either buffer; so states are not joined. A node is a block and the
spans (`isa.analysis.spans`) of the address registers as it is entered, and a loop that exchanges two buffers becomes
two rounds of nodes. Registers that no LDS address depends on are left out, loop counters among them mostly. A block
that has been entered in LIMIT states is entered in one more only, into which all others are widened.

Limits: what a work-item's two accesses have to do with each other is not seen, nor is a value that comes from memory or
from another lane; both give ranges that are too large.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from isa.analysis import regset
from isa.analysis.cfg import Cfg
from isa.analysis.defuse import DefUse
from isa.analysis.exec_mask import ExecMask
from isa.analysis.spans import Span, anything, constant, join, results, widen
from isa.program import Instruction, Modified, Operand
from isa.registers import Reg, v

LIMIT = 16
_LARGEST = 1024  # work-items of a workgroup

_State = tuple[tuple[int, Span], ...]


@dataclass(frozen=True, slots=True)
class Bytes:
    """Where one element of an access lies: its first byte is in `first`, in any of the work-items; `size` bytes."""

    first: Span
    size: int

    def apart(self, other: Bytes) -> bool:
        """Whether no work-item's bytes here can be those of any work-item there."""
        a, b = self.first, other.first
        if a.high + self.size <= b.low or b.high + other.size <= a.low:
            return True
        # Both within aligned blocks whose numbers differ in a bit that is fixed.
        block = max(self.size, other.size)
        aligned = not block & (block - 1) and all(s.fixed & ~s.bits_ & (block - 1) == block - 1 for s in (a, b))
        return aligned and bool(a.fixed & b.fixed & (a.bits_ ^ b.bits_) & ~(block - 1))

    def __str__(self) -> str:
        return f"{self.first.low} to {self.first.high + self.size - 1}"


@dataclass
class Node:
    """A block in one state. accesses: position -> the bytes that it reaches; None where nothing is known."""

    block: int
    successors: list[int] = field(default_factory=list)
    accesses: dict[int, tuple[Bytes, ...] | None] = field(default_factory=dict)


def analyse(cfg: Cfg, chains: DefUse, lanes: ExecMask, threads: int | None, dimensions: int = 1) -> list[Node]:
    """The nodes, the entry first. threads: the largest workgroup, None if not known; dimensions: how many numbers of
    the work-item v0 holds, ten bits each; 0 where it holds something else."""
    explorer = _Explorer(cfg, lanes, _relevant(cfg, chains))
    last = min(threads or _LARGEST, _LARGEST) - 1 if dimensions == 1 else (1 << 10 * dimensions) - 1
    explorer.enter(0, {regset.bit(v(0)): Span("u32", 0, last)} if dimensions else {})
    return explorer.run()


def accesses_lds(inst: Instruction) -> bool:
    """Whether an instruction reads or writes LDS memory."""
    return inst.desc.access is not None and inst.desc.access.space == "lds"


def _address(inst: Instruction) -> Reg | None:
    """The VGPR that holds an LDS access's address; None for the forms that go by M0."""
    for role, operand in inst.desc.roles_of(inst):
        if role.read and not role.written:
            return operand if isinstance(operand, Reg) and role.type == "u32" and "m0" not in _implicit(inst) else None
    return None


def _implicit(inst: Instruction) -> tuple[str, ...]:
    return inst.desc.implicit_reads


def _relevant(cfg: Cfg, chains: DefUse) -> int:
    """The registers that LDS addresses are computed from, directly or not (`regset` bits)."""
    work = [(i, reg) for i, inst in enumerate(cfg.instructions) if accesses_lds(inst) and (reg := _address(inst))]
    seen: set[tuple[int, Reg]] = set()
    found = 0
    while work:
        at, reg = work.pop()
        if (at, reg) in seen or (at, regset.bit(reg)) not in chains.reaching:
            continue
        seen.add((at, reg))
        found |= 1 << regset.bit(reg)
        for source in chains.defs_of(at, reg):
            inst = cfg.instructions[source] if source >= 0 else None
            if inst is not None and inst.desc.access is None and source not in cfg.calls:
                work += [(source, r) for r in inst.reads() if r.file == "v" or (r.file == "s" and r.index < 126)]
    return found


class _Explorer:
    """Finds the nodes that can be reached."""

    def __init__(self, cfg: Cfg, lanes: ExecMask, relevant: int) -> None:
        self.cfg, self.lanes, self.relevant = cfg, lanes, relevant
        self.nodes: list[Node] = []
        self.states: list[dict[int, Span]] = []
        self.known: dict[tuple[int, tuple[object, ...]], int] = {}
        self.wide: dict[int, int] = {}
        self.entered: dict[int, int] = {}
        self.work: list[int] = []
        self.steps = {
            b.index: [
                i for i in b.range if cfg.defs[i] & relevant or accesses_lds(cfg.instructions[i]) or i in cfg.calls
            ]
            for b in cfg.blocks
        }

    def enter(self, block: int, state: Mapping[int, Span]) -> int:
        """The node for a block in a state."""
        state = {n: s for n, s in state.items() if self.relevant >> n & 1}
        key = (block, tuple((n, s.key) for n, s in sorted(state.items())))
        if key in self.known:
            return self.known[key]
        if block in self.wide:
            node = self.wide[block]
            old = self.states[node]
            new = {n: widen(old[n], state[n]) for n in old.keys() & state.keys()}
            if {n: s.key for n, s in new.items()} != {n: s.key for n, s in old.items()}:
                self.states[node] = new
                self.work.append(node)
            return node
        node = len(self.nodes)
        self.nodes.append(Node(block))
        self.states.append(state)
        self.entered[block] = self.entered.get(block, 0) + 1
        if self.entered[block] > LIMIT:
            self.wide[block] = node
        else:
            self.known[key] = node
        self.work.append(node)
        return node

    def run(self) -> list[Node]:
        while self.work:
            index = self.work.pop()
            node, state = self.nodes[index], dict(self.states[index])
            for i in self.steps[node.block]:
                inst = self.cfg.instructions[i]
                if accesses_lds(inst):
                    node.accesses[i] = _bytes(inst, state)
                self._step(i, inst, state)
            node.successors = [self.enter(s, state) for s in self.cfg.blocks[node.block].successors]
        return self.nodes

    def _step(self, i: int, inst: Instruction, state: dict[int, Span]) -> None:
        if i in self.cfg.calls:
            state.clear()
            return
        found: dict[int, Span] = {}
        for half in inst.halves:
            for operand, span in results(half, lambda operand, type_: _read(state, operand, type_)):
                if isinstance(operand, Reg):
                    for k, unit in enumerate(operand.units()):
                        found[regset.bit(unit)] = (span >> 32 * k).to("u32")
        masked = inst.desc.exec_masked and not self.lanes.full[i]
        for unit in regset.members(self.cfg.defs[i]):
            number = regset.bit(unit)
            new, old = found.get(number), state.pop(number, None)
            if new is not None and (not masked or unit.file != "v" or old is not None):
                state[number] = join(old, new) if masked and unit.file == "v" and old is not None else new


def _read(state: Mapping[int, Span], operand: Operand, type_: str) -> Span:
    if not isinstance(operand, Reg) or isinstance(operand, Modified):
        return anything(type_)
    if operand.is_null:
        return constant(type_, 0)
    units = [state.get(regset.bit(unit), anything("u32")) for unit in operand.units()]
    value = units[0].to(type_)
    for k, unit in enumerate(units[1:], start=1):
        value = value | unit.to(type_) << 32 * k
    return value


def _bytes(inst: Instruction, state: Mapping[int, Span]) -> tuple[Bytes, ...] | None:
    access, reg = inst.desc.access, _address(inst)
    if access is None or reg is None:
        return None
    base = state.get(regset.bit(reg), anything("u32"))
    size = int("".join(filter(str.isdigit, access.element))) // 8
    if access.pair:
        given = dict(inst.modifiers)
        offsets = [_number(given.get(name)) * access.pair * size for name in ("offset0", "offset1")]
    else:
        offsets = [inst.offset]
    return tuple(Bytes(base + offset, size) for offset in offsets)


def _number(value: object) -> int:
    return value if isinstance(value, int) else 0
