"""Control flow: instructions in a row -> basic blocks, dominators, natural loops.

A `Cfg` names an instruction by its position, from 0, in `instructions`. It is made from a kernel of a `Program`
(`of_kernel`; then `lines` gives the line of each position, and branches find their targets by label) or from the
instructions of a disassembled function (`of_instructions`; then branches find their targets by address: LLVM prints
the raw 16-bit field, and the target is the next instruction's address + 4 * that field as a signed number, RDNA3 ISA
guide 16.5 "S_BRANCH").

A block ends at a branch, at a terminator, and before a branch target. What a branch does is read from its description:
an operand of kind `l` is its target; `terminator` says that the next instruction does not follow. An instruction of
unit "branch" without a target jumps through a register: `s_swappc_b64`, which comes back, is a call, and so is
`s_call_b64`, which stores the return address; `s_setpc_b64` is an indirect jump, after which anything may follow. Where
`isa.analysis.jumps` knows that one stays inside the function it is neither, but a branch to each place that it may go
to (`Cfg.jumps`).
A call's block goes on at the next instruction; what the callee does is not known here. A call after which there is
nothing does not come back: compilers end a function so where the callee is declared `noreturn`.

Dominators are those of Cooper, Harvey and Kennedy, "A Simple, Fast Dominance Algorithm" (2001). A back edge goes to a
block that dominates its source; the natural loop of a header is the header and all blocks that reach one of its back
edges without passing it. Loops nest by containment. A cycle with two entries has no header, hence no `Loop` here; the
data-flow analyses do not need loops and stay right.

Limits: blocks that cannot be reached from the entry have `idom` None and belong to no loop. Code that runs past the
last instruction, or branches out of the function, is an IsaError.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from itertools import chain
from typing import Any

from isa.analysis import jumps, regset
from isa.asm import encoding
from isa.asm.program import Kernel, Label, Line, Program
from isa.errors import IsaError
from isa.semantics.branches import branch_target
from isa.semantics.instruction import Description, Imm, Instruction, Special
from isa.targets import GFX1100, Family


@dataclass(frozen=True, slots=True)
class Block:
    """Positions start..end-1, entered only at the first and left only after the last.

    successors, predecessors: indices of blocks, each once, the fall-through first.
    """

    index: int
    start: int
    end: int
    successors: tuple[int, ...]
    predecessors: tuple[int, ...]

    @property
    def range(self) -> range:
        """The positions of the block."""
        return range(self.start, self.end)


@dataclass(frozen=True, slots=True)
class Loop:
    """A natural loop. `blocks` holds the header and those of inner loops too; `parent` is its index in `Cfg.loops`.

    latches: blocks with an edge back to the header.  exits: (from, to) edges that leave the loop.
    depth:   1 for an outermost loop.
    """

    header: int
    blocks: frozenset[int]
    latches: tuple[int, ...]
    exits: tuple[tuple[int, int], ...]
    parent: int | None
    depth: int


@dataclass(frozen=True)
class Cfg:
    """The control flow of one function. See the module's docstring.

    lines:  line number in the program of each position; empty where the code was disassembled.
    labels: label -> position of the instruction it stands before.
    jumps:  position of a jump through a register -> where it goes, for those that stay inside the function.
    """

    name: str
    instructions: tuple[Instruction, ...]
    blocks: tuple[Block, ...]
    lines: tuple[int, ...]
    labels: Mapping[str, int]
    jumps: Mapping[int, tuple[int, ...]] = field(default_factory=dict)

    @property
    def family(self) -> Family:
        """The generation of the target that it is for."""
        return self.instructions[0].family if self.instructions else GFX1100.family

    def __len__(self) -> int:
        return len(self.instructions)

    @cached_property
    def _starts(self) -> list[int]:
        return [b.start for b in self.blocks]

    def block_of(self, position: int) -> Block:
        """The block that holds a position."""
        return self.blocks[bisect_right(self._starts, position) - 1]

    @cached_property
    def order(self) -> tuple[int, ...]:
        """Reachable blocks in reverse postorder: a block before its successors, back edges apart."""
        seen, out = {0}, []
        stack = [(0, iter(self.blocks[0].successors))]
        while stack:
            index, rest = stack[-1]
            nxt = next((s for s in rest if s not in seen), None)
            if nxt is None:
                out.append(index)
                stack.pop()
            else:
                seen.add(nxt)
                stack.append((nxt, iter(self.blocks[nxt].successors)))
        return tuple(reversed(out))

    @cached_property
    def unreachable(self) -> tuple[int, ...]:
        """Blocks that no path from the entry reaches."""
        reached = set(self.order)
        return tuple(b.index for b in self.blocks if b.index not in reached)

    @cached_property
    def idom(self) -> Mapping[int, int | None]:
        """Immediate dominator of each reachable block; None for the entry."""
        rank = {b: k for k, b in enumerate(self.order)}
        idom: dict[int, int] = {0: 0}

        def meet(a: int, b: int) -> int:
            while a != b:
                while rank[a] > rank[b]:
                    a = idom[a]
                while rank[b] > rank[a]:
                    b = idom[b]
            return a

        changed = True
        while changed:
            changed = False
            for b in self.order[1:]:
                known = [p for p in self.blocks[b].predecessors if p in idom]
                new = known[0]
                for p in known[1:]:
                    new = meet(new, p)
                if idom.get(b) != new:
                    idom[b] = new
                    changed = True
        return {b: (None if b == 0 else d) for b, d in idom.items()}

    def dominates(self, a: int, b: int) -> bool:
        """Whether each path from the entry to block `b` passes block `a`. A block dominates itself."""
        at: int | None = b
        while at is not None:
            if at == a:
                return True
            at = self.idom.get(at)
        return False

    @cached_property
    def loops(self) -> tuple[Loop, ...]:
        """The natural loops, outer before inner, then in the order of their headers."""
        latches: dict[int, list[int]] = {}
        for b in self.order:
            for s in self.blocks[b].successors:
                if self.dominates(s, b):
                    latches.setdefault(s, []).append(b)
        bodies: list[tuple[int, frozenset[int]]] = []
        for header, sources in latches.items():
            body, work = {header}, list(sources)
            while work:
                b = work.pop()
                if b not in body:
                    body.add(b)
                    work.extend(p for p in self.blocks[b].predecessors if p in self.idom)
            bodies.append((header, frozenset(body)))
        bodies.sort(key=lambda item: (-len(item[1]), item[0]))
        loops: list[Loop] = []
        for header, blocks in bodies:
            around = [k for k, loop in enumerate(loops) if header in loop.blocks]
            parent = around[-1] if around else None
            exits = tuple((b, s) for b in sorted(blocks) for s in self.blocks[b].successors if s not in blocks)
            depth = loops[parent].depth + 1 if parent is not None else 1
            loops.append(Loop(header, blocks, tuple(sorted(latches[header])), exits, parent, depth))
        return tuple(loops)

    @cached_property
    def reached(self) -> frozenset[int]:
        """The positions that can be reached from the entry."""
        return frozenset(chain.from_iterable(self.blocks[b].range for b in self.order))

    @cached_property
    def _described(self) -> list[tuple[Description, list[int]]]:
        return _described(self.instructions)

    def where(self, holds: Callable[[Description], object]) -> list[int]:
        """The positions of instructions (of VOPDs whose X half) with such a description: asked once for each kind of
        instruction, which are few."""
        return sorted(i for desc, positions in self._described if holds(desc) for i in positions)

    def positions(self, loop: Loop) -> list[int]:
        """The positions of a loop in the order of the code."""
        return [i for b in sorted(loop.blocks) for i in self.blocks[b].range]

    @cached_property
    def uses(self) -> tuple[int, ...]:
        """What each position reads, as a `regset`."""
        return tuple(map(regset.uses, self.instructions))

    @cached_property
    def defs(self) -> tuple[int, ...]:
        """What each position writes, perhaps in some lanes only, as a `regset`."""
        return tuple(map(regset.defs, self.instructions))

    @cached_property
    def across_lanes(self) -> frozenset[int]:
        """Positions that may read VGPR lanes that are off."""
        ignores = self.where(lambda desc: desc.ignores_exec)
        return frozenset(ignores).union(
            i for i, inst in enumerate(self.instructions) if inst.modifiers and regset.across_lanes(inst)
        )

    @cached_property
    def specials(self) -> frozenset[str]:
        """The names of the special sources among the operands: `src_shared_base`, ..."""
        return frozenset(o.name for inst in self.instructions for o in inst.operands if type(o) is Special)

    @cached_property
    def calls(self) -> tuple[int, ...]:
        """Positions of calls."""
        branches = self.where(lambda desc: desc.is_branch)
        return tuple(i for i in branches if is_call(self.instructions[i]) and i not in self.jumps)

    @cached_property
    def indirect_jumps(self) -> tuple[int, ...]:
        """Positions of jumps through a register that may leave the function."""
        branches = self.where(lambda desc: desc.is_branch)
        return tuple(i for i in branches if is_indirect_jump(self.instructions[i]) and i not in self.jumps)


def is_branch(inst: Instruction) -> bool:
    """Whether an instruction may go elsewhere than to the next one, s_endpgm apart."""
    return inst.desc.is_branch


def is_call(inst: Instruction) -> bool:
    """A branch that stores where to come back to: it writes an SGPR pair and goes through a register or a label."""
    if not is_branch(inst):
        return False
    return any(role.written for role in inst.desc.roles)


def is_indirect_jump(inst: Instruction) -> bool:
    """A jump to the address in an SGPR pair that does not come back."""
    return is_branch(inst) and not is_call(inst) and not any(role.kind == "l" for role in inst.desc.roles)


def of_kernel(kernel: Kernel) -> Cfg:
    """The control flow of a kernel of a program that was read from text."""
    return of_text(kernel.program, kernel.name, kernel.start, kernel.end)


def of_text(program: Program, name: str = "", start: int = 0, end: int | None = None) -> Cfg:
    """The control flow of the lines from `start` to before `end` (all, if not given), which need be no kernel."""
    instructions: list[Instruction] = []
    lines: list[int] = []
    labels: dict[str, int] = {}
    end = len(program.lines) if end is None else end
    rows: Iterable[tuple[int, Line]] = enumerate(program.lines[start:end], start)
    if any(isinstance(line.node, Instruction) and _counts(line.node) for line in program.lines[start:end]):
        rows = encoding.placed(program, start, end)
    for number, line in rows:
        node = line.node
        if isinstance(node, Label):
            labels[node.name] = len(instructions)
        elif isinstance(node, Instruction):
            instructions.append(node)
            lines.append(number)
    return built(name or program.file, instructions, lines, labels)


def _counts(inst: Instruction) -> bool:
    """Whether a branch in text says how far it goes instead of a label."""
    return is_branch(inst) and inst.address is None and bool(inst.operands) and isinstance(inst.operands[-1], Imm)


def of_instructions(instructions: Sequence[Instruction], name: str = "") -> Cfg:
    """The control flow of one function's instructions as they were disassembled, each with its address and size."""
    return built(name, list(instructions), [], {})


def _described(instructions: Sequence[Instruction]) -> list[tuple[Description, list[int]]]:
    """Each description that there is, and where."""
    found: dict[int, tuple[Description, list[int]]] = {}
    for i, inst in enumerate(instructions):
        desc = inst.desc
        if (row := found.get(id(desc))) is None:
            row = found[id(desc)] = desc, []
        row[1].append(i)
    return list(found.values())


def destination(inst: Instruction, places: Mapping[Any, int]) -> int | None:
    """The position that a branch goes to; None for an instruction with no target, and for a call of another function.
    places: of labels, or of addresses. IsaError where there is no such position."""
    target = branch_target(inst)
    found = places.get(target)
    if found is None and is_branch(inst) and not is_call(inst) and not is_indirect_jump(inst):
        raise inst.error(
            "the branch leaves the function",
            operand=len(inst.operands) - 1,
            expected="a label or an address inside it",
            got=str(inst.operands[-1]),
        )
    return found


def built(name: str, instructions: list[Instruction], lines: list[int], labels: dict[str, int]) -> Cfg:
    """The control flow of instructions in a row. lines, labels: as of `Cfg`."""
    while len(instructions) > 1 and instructions[-1].mnemonic == "s_code_end":  # for the prefetch of instructions
        del instructions[-1], lines[len(instructions) - 1 :]
    if not instructions:
        raise IsaError(f"{name or 'the function'} has no instructions", expected="at least s_endpgm")
    count = len(instructions)
    places: dict[Any, int] = {inst.address: i for i, inst in enumerate(instructions) if inst.address is not None}
    places.update(labels)
    leave = sorted(i for desc, at in _described(instructions) if desc.is_branch or desc.terminator for i in at)
    targets = {i: target for i in leave if (target := destination(instructions[i], places)) is not None}
    inside = jumps.inside(instructions, places, leave)
    for i, target in targets.items():
        if target >= count:
            raise instructions[i].error("the branch goes after the last instruction", operand=0)
    leaders = {0, *targets.values(), *(i + 1 for i in leave if i + 1 < count)}.union(*inside.values())
    starts = sorted(leaders)
    index_of = {start: k for k, start in enumerate(starts)}
    successors: list[tuple[int, ...]] = []
    for k, start in enumerate(starts):
        end = starts[k + 1] if k + 1 < len(starts) else count
        last, target = instructions[end - 1], targets.get(end - 1)
        out = [index_of[to] for to in inside.get(end - 1, ())]
        if not last.desc.terminator and end - 1 not in inside:
            if end < count:
                out.append(k + 1)
            elif not is_call(last) and last.desc.effect != "trap":
                raise last.error(
                    "the code runs on after its last instruction", expected="s_endpgm, s_branch or s_setpc_b64"
                )
        if target is not None and not is_call(last) and index_of[target] not in out:
            out.append(index_of[target])
        successors.append(tuple(out))
        assert start < end
    predecessors: list[list[int]] = [[] for _ in starts]
    for k, out_edges in enumerate(successors):
        for s in out_edges:
            predecessors[s].append(k)
    ends = [*starts[1:], count]
    blocks = tuple(
        Block(k, a, b, successors[k], tuple(predecessors[k])) for k, (a, b) in enumerate(zip(starts, ends, strict=True))
    )
    return Cfg(name, tuple(instructions), blocks, tuple(lines), labels, inside)
