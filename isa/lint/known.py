"""Known arguments: what a kernel knows as it begins -> the paths that this leaves.

In: what the descriptor preloads, the arguments, and bytes of them that somebody assumes. Out: `Sizes`, which says where
the kernel can read known bytes: those assumed, and the 16-bit sizes of its workgroup, which the hidden arguments and
the dispatch packet hold after pointers that SGPRs start with; and of a control flow what is left of it where branches
follow from assumed bytes (`left_by`): constants of SGPRs and SCC, followed over the paths that they leave (Wegman and
Zadeck, "Constant Propagation with Conditional Branches", 1991).

Limits: vector instructions, memory other than the arguments, and what lies after a call give nothing that is known; a
loop's counter is unknown from its second iteration on.

Sources: LLVM AMDGPUUsage, "Code Object V5 Metadata" (hidden_group_size_x) and "Initial Kernel Execution State"; HSA
Runtime Programmer's Reference Manual, hsa_kernel_dispatch_packet_t.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from types import MappingProxyType
from typing import Any

import numpy as np

from isa.analysis import dataflow
from isa.analysis.cfg import Block, Cfg
from isa.lint.lds.values import Numbers, constant, unknown
from isa.object.code_object import Argument
from isa.registers import Reg
from isa.semantics.engine import UNKNOWN, Request, Straight
from isa.semantics.execute import execute
from isa.semantics.instruction import Instruction

_PACKET = ((4, 0), (6, 1), (8, 2))
_SHIFT = 44
NOTHING: Mapping[int, int] = MappingProxyType({})
_Pointer = tuple[int, tuple[tuple[int, int], ...], tuple[tuple[int, int], ...]]


@dataclass(frozen=True, slots=True)
class Sizes:
    """pointers: (the SGPR where a pointer begins, (byte offset after it, axis) of each size of the workgroup, (byte
    offset, value) of each byte that is assumed)."""

    pointers: tuple[_Pointer, ...] = ()

    def bases(self) -> list[tuple[int, int]]:
        """(SGPR, the address that its pointer is taken to be)."""
        return [(sgpr, number << _SHIFT) for number, (sgpr, *_) in enumerate(self.pointers, start=1)]

    def word(self, address: int, workgroup: tuple[int, int, int] | None) -> tuple[int, int]:
        """(the dword at an address, a mask of its bits that are known). workgroup: None where it is not known."""
        number, offset = address >> _SHIFT, address & (1 << _SHIFT) - 1
        if not 1 <= number <= len(self.pointers):
            return 0, 0
        _, fields, assumed = self.pointers[number - 1]
        held = dict(assumed)
        for at, axis in fields if workgroup is not None else ():
            held |= {at + byte: workgroup[axis] >> 8 * byte & 0xFF for byte in range(2)}  # type: ignore[index]
        found = [(held[offset + k] << 8 * k, 0xFF << 8 * k) for k in range(4) if offset + k in held]
        return sum(value for value, _ in found), sum(mask for _, mask in found)

    def within(self, sgpr: int, offset: int, count: int) -> bool:
        """Whether some of `count` bytes at an offset after the pointer that begins in an SGPR is known."""
        fields, assumed = next(((f, a) for first, f, a in self.pointers if first == sgpr), ((), ()))
        sized = any(offset < at + 2 and at < offset + count for at, _ in fields)
        return sized or any(offset <= at < offset + count for at, _ in assumed)


NOWHERE = Sizes()
"""The kernel does not ask."""


def of(user: Mapping[str, Reg], arguments: Iterable[Argument], assumed: Mapping[int, int] = NOTHING) -> Sizes:
    """From what the descriptor preloads, the metadata's arguments, and bytes of these by offset."""
    prefix = "hidden_group_size_"
    axes = {f"{prefix}{axis}": number for number, axis in enumerate("xyz")}
    hidden = tuple((a.offset, axes[a.kind]) for a in arguments if a.kind in axes)
    after = {"dispatch_ptr": (_PACKET, ()), "kernarg_segment_ptr": (hidden, tuple(sorted(assumed.items())))}
    return Sizes(tuple((reg.index, *after[name]) for name, reg in user.items() if any(after.get(name, ()))))


# --- paths
_State = dict[tuple[str, int], Numbers]
"""("s", number) or ("scc", 0) -> a number that is the same on all paths; what is left out is not known."""


class _Scalars(Straight):
    """Runs scalar instructions on what is known of SGPRs and SCC."""

    def __init__(self, sizes: Sizes, state: _State) -> None:
        self._sizes, self.state = sizes, dict(state)
        self.taken: Numbers | None = None

    def run(self, inst: Instruction) -> None:
        scalar = inst.desc.is_salu or inst.desc.is_branch or (inst.desc.access and inst.desc.access.space == "scalar")
        before, self.taken = self.state, None
        if scalar and not inst.desc.relative:
            self.state = dict(before)
            engine: Any = self  # an instruction that asks for a vector register has no answer here
            try:
                execute(engine, inst)
                return
            except UNKNOWN:
                self.state, self.taken = before, None
        written = inst.writes()
        gone = {(r.file, r.index) if r.file == "s" else ("scc", 0) for r in written if r.file in ("s", "scc")}
        self.state = {} if inst.desc.relative else {at: n for at, n in before.items() if at not in gone}

    def constant(self, type_: str, number: float) -> Numbers:
        return constant(type_, number)

    def read_sgpr(self, index: int, relative: Any = None) -> Numbers:
        return self.state.get(("s", index), unknown("u32"))

    def write_sgpr(self, index: int, value: Numbers, relative: Any = None) -> None:
        self._write(("s", index), value)

    def read_scc(self) -> Numbers:
        return self.state.get(("scc", 0), unknown("b1"))

    def write_scc(self, value: Numbers) -> None:
        self._write(("scc", 0), value)

    def _write(self, at: tuple[str, int], value: Numbers) -> None:
        self.state.pop(at, None)
        if value.known is not False and value.either is None:
            self.state[at] = value

    def load(self, at: Request[Numbers]) -> tuple[Numbers, ...]:
        address = int(np.asarray(at.address.a).flat[0]) if at.address.known is True and at.mask is None else 0
        words = (self._sizes.word(address + 4 * k, None) for k in range(at.words))
        return tuple(Numbers.of("u32", np.uint32(value), np.asarray(np.uint32(known))) for value, known in words)

    def branch(self, inst: Instruction, condition: Numbers | None) -> None:
        self.taken = condition


def left_by(cfg: Cfg, sizes: Sizes) -> Cfg:
    """The blocks that a kernel comes to where the bytes are as assumed, as a control flow of their own."""
    if not any(assumed for *_, assumed in sizes.pointers):
        return cfg
    first = {("s", sgpr + k): constant("u32", base >> 32 * k & 0xFFFFFFFF) for sgpr, base in sizes.bases()
             for k in range(2)}  # fmt: skip
    leaves: dict[int, tuple[int, ...]] = {}

    def through(block: Block, state: _State) -> _State:
        machine = _Scalars(sizes, state)
        for i in block.range:
            machine.run(cfg.instructions[i])
            if i in cfg.calls:
                machine.state = {}
        out, taken = block.successors, machine.taken
        if len(out) == 2 and taken is not None and taken.known is True:
            out = out[1:] if np.all(taken.a) else out[:1]  # the fall-through is first
        leaves[block.index] = out
        return machine.state

    dataflow.forward(cfg, first, through, _joined, lambda block: leaves[block.index])
    return _part(cfg, leaves)


def _joined(a: _State, b: _State) -> _State:
    return {at: n for at, n in a.items() if at in b and n.content == b[at].content}


def _part(cfg: Cfg, leaves: Mapping[int, tuple[int, ...]]) -> Cfg:
    """The blocks of `leaves` alone, each with the successors that it says."""
    kept = [cfg.blocks[b] for b in sorted(leaves)]
    number = {block.index: k for k, block in enumerate(kept)}
    moved: dict[int, int] = {}
    blocks: list[Block] = []
    for block in kept:
        start = len(moved)
        moved |= {i: start + n for n, i in enumerate(block.range)}
        before = tuple(number[p] for p in block.predecessors if block.index in leaves.get(p, ()))
        after = tuple(number[s] for s in leaves[block.index])
        blocks.append(replace(block, index=len(blocks), start=start, end=len(moved), successors=after,
                              predecessors=before))  # fmt: skip
    lines = tuple(cfg.lines[i] for i in moved) if cfg.lines else ()
    labels = {name: moved[i] for name, i in cfg.labels.items() if i in moved}
    jumps = {moved[i]: tuple(moved[to] for to in goes if to in moved) for i, goes in cfg.jumps.items() if i in moved}
    return replace(cfg, instructions=tuple(cfg.instructions[i] for i in moved), blocks=tuple(blocks), lines=lines,
                   labels=labels, jumps=jumps)  # fmt: skip
