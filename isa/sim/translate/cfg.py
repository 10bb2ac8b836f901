"""Machine code -> blocks that native code is made of.

In:  the instructions of a kernel and of the functions that it may call (`addresses_taken`), with their addresses.
Out: blocks: runs of instructions that are entered only at their start. A block also ends where control cannot be seen
     through: at a barrier (the wave is left and later entered again), and after a write to EXEC (the fast version of
     the code holds only while all lanes are on, and tests again there).

Indirect jumps (s_setpc_b64, s_swappc_b64) may reach each block: their target is looked up by address at run time. Where
they stay inside a function (`isa.analysis.jumps`), blocks begin at their targets.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from isa.analysis import jumps
from isa.asm.parse import undecoded
from isa.errors import IsaError
from isa.registers import EXEC_HI, EXEC_LO
from isa.semantics.branches import branch_address
from isa.semantics.instruction import Imm, Instruction

ITERATIONS = 8
UNROLLED = 1200
"""Instructions that an unrolled loop may have."""


@dataclass(frozen=True)
class Block:
    """`number`: its index in the list of blocks. `next`: the number of the block after it in memory, -1 for none.
    `target`: the number of the block that its last instruction may branch to, -1 for none. jumps: the numbers of those
    that it may go to through a register, as far as they are known."""

    number: int
    instructions: tuple[Instruction, ...]
    next: int
    target: int
    jumps: tuple[int, ...] = ()

    @property
    def address(self) -> int:
        address = self.instructions[0].address
        assert address is not None
        return address

    @property
    def last(self) -> Instruction:
        return self.instructions[-1]


def writes_exec(inst: Instruction) -> bool:
    return not inst.writes().isdisjoint((EXEC_LO, EXEC_HI))


def jumps_indirectly(inst: Instruction) -> bool:
    return "pc" in inst.desc.implicit_writes


def addresses_taken(instructions: Sequence[Instruction]) -> set[int]:
    """Addresses that code computes from its own place, as compilers do for functions: s_getpc_b64, then a 64-bit
    constant added to what it gave."""
    found = set()
    for i, inst in enumerate(instructions):
        if inst.desc.name != "s_getpc_b64" or inst.address is None:
            continue
        parts = []
        for name in ("s_add_u32", "s_addc_u32"):
            at = next((j for j in range(i + 1, min(i + 6, len(instructions))) if instructions[j].desc.name == name), i)
            constants = [o.value for o in instructions[at].operands if isinstance(o, Imm) and isinstance(o.value, int)]
            parts += [constants[0] & 0xFFFFFFFF] if constants else []
        if len(parts) == 2:
            found.add(inst.address + inst.size + (parts[1] << 32 | parts[0]) & (1 << 64) - 1)
    return found


def blocks_of(
    functions: Iterable[Sequence[Instruction]],
    more_leaders: Iterable[int] = (),
    data: Mapping[int, str] = {},
) -> list[Block]:
    """The blocks of all functions; number 0 is the first function's entry. data: what lies between instructions, as
    `disassemble` has it. IsaError where control comes to something that is no instruction, where a branch leaves the
    code or lands inside an instruction, and where control runs off the end of a function."""
    whole = [list(f) for f in functions]
    by_address = {inst.address: inst for f in whole for inst in f}
    inside = {f[i].address: [f[k].address for k in to] for f in whole for i, to in _jumps(f).items()}
    more = (set(more_leaders) & set(by_address)).union(*inside.values())
    known = reached(whole, more, data)
    code = [[inst for inst in f if inst.address in known] for f in whole]
    leaders = {f[0].address for f in code} | more
    for f in code:
        for inst, following in zip(f, [*f[1:], None], strict=True):
            if inst.desc.effect == "branch":
                leaders.add(branch_address(inst))
            if inst.desc.effect == "grid":
                leaders.add(inst.address)  # a wave that waits there comes back to it
            if following is not None and (inst.desc.effect == "branch" or _ends_block(inst)):
                leaders.add(following.address)
    runs: list[list[Instruction]] = []
    falls: list[bool] = []
    for f in code:
        for inst in f:
            if inst.address in leaders:
                runs.append([])
                falls.append(True)
            runs[-1].append(inst)
        falls[-1] = False
    number_of = {run[0].address: n for n, run in enumerate(runs)}
    blocks = []
    for n, run in enumerate(runs):
        last = run[-1]
        follows = n + 1 if falls[n] else -1
        target = number_of[branch_address(last)] if last.desc.effect == "branch" else -1
        blocks.append(Block(n, tuple(run), follows, target, tuple(number_of[a] for a in inside.get(last.address, ()))))
    return blocks


def _jumps(function: Sequence[Instruction]) -> dict[int, tuple[int, ...]]:
    return jumps.inside(function, {inst.address: i for i, inst in enumerate(function)}, range(len(function)))


def reached(
    functions: Sequence[Sequence[Instruction]], more: Iterable[int | None], data: Mapping[int, str]
) -> set[int | None]:
    """Addresses of the instructions that control can come to from the functions' first ones and from `more`. data: what
    lies between instructions, which is never looked at; IsaError where control comes to it."""
    by_address = {inst.address: inst for f in functions for inst in f}
    reached: set[int | None] = set()
    work: list[int | None] = [f[0].address for f in functions] + list(more)
    while work:
        address = work.pop()
        if address in reached:
            continue
        inst = by_address.get(address)
        if inst is None:
            assert address is not None
            if address in data:
                raise undecoded(address, data[address])
            raise IsaError(f"control reaches {address:#x}, where this kernel has no instruction")
        reached.add(address)
        desc = inst.desc
        if desc.effect == "branch":
            work.append(branch_address(inst))
        if not desc.terminator and desc.effect != "trap":  # a trap ends the launch
            assert inst.address is not None
            work.append(inst.address + inst.size)
    return reached


def _ends_block(inst: Instruction) -> bool:
    leaves = inst.desc.terminator or inst.desc.effect in ("barrier", "end", "trap")
    return leaves or jumps_indirectly(inst) or writes_exec(inst)


def may_repeat(block: Block) -> bool:
    """Whether a block is a loop by itself whose iterations differ in registers only: vector memory is read, never
    written, and nothing else happens."""
    middle = block.instructions[:-1]
    return (
        block.target == block.number
        and block.next >= 0
        and all(not i.desc.effect or i.desc.effect == "wait" for i in middle)
        and all((a := i.desc.access) is None or (a.kind == "load" and a.space in ("lds", "global")) for i in middle)
    )


def iterations_at_once(block: Block) -> int:
    """How many iterations are written as one: eight where that stays of bearable size."""
    return max(2, min(ITERATIONS, UNROLLED // len(block.instructions)))


def in_loops(blocks: Sequence[Block]) -> set[int]:
    """Numbers of the blocks that lie between a branch backward and its target."""
    return {n for b in blocks for t in (b.target, *b.jumps) if 0 <= t <= b.number for n in range(t, b.number + 1)}


def loop_of(blocks: Sequence[Block], first: int, last: int) -> list[Instruction]:
    """The instructions of a loop, the blocks from one address to another, and, where it makes calls, of all functions
    beside the kernel."""
    inside = [b for b in blocks if first <= b.address <= last]
    if any(jumps_indirectly(i) for b in inside for i in b.instructions):
        inside += called(blocks)
    return [i for b in inside for i in b.instructions]


def called(blocks: Sequence[Block]) -> list[Block]:
    """The blocks to which no branch leads from the kernel's entry: those of functions that it calls."""
    reached, work = set[int](), [0] if blocks else []
    while work:
        if (number := work.pop()) >= 0 and number not in reached:
            reached.add(number)
            work += [blocks[number].next, blocks[number].target, *blocks[number].jumps]
    return [b for b in blocks if b.number not in reached]


def waits_for_others(blocks: Sequence[Block], first: int, last: int) -> bool:
    """Whether a loop, the blocks from one address to another, may wait for what another wave does: it sleeps, looks at
    memory again, or empties caches without a barrier, which is where others have their turn."""
    inside = loop_of(blocks, first, last)
    kinds = {i.desc.sched for i in inside}
    emptied = "cache_control" in kinds and not any(i.desc.is_barrier for i in inside)
    return emptied or "sleep" in kinds or any(i.sees_flags for i in inside)


def looks(blocks: Sequence[Block], first: int, last: int) -> list[Instruction]:
    """With what such a loop looks: its accesses that may read a flag. One that only sleeps, as between looks, has none,
    and leaves the digest of the loop around it alone."""
    return [i for i in loop_of(blocks, first, last) if i.sees_flags]


def loops(blocks: Sequence[Block]) -> list[tuple[int, int]]:
    """First and last block's address of each."""
    return [(blocks[b.target].address, b.address) for b in blocks if 0 <= b.target <= b.number]


def loops_that_wait(blocks: Sequence[Block]) -> list[tuple[int, int]]:
    """Those in which a wave may wait for what another does."""
    return [loop for loop in loops(blocks) if waits_for_others(blocks, *loop)]
