"""Blocks in another order: taken apart into single instructions, put together with new pairs, waits and hints.
What `relax-waits`, `pair`, `schedule`, `delay-alu` and `clause` share.

`rows_of` takes a block apart: halves of pairs by themselves, hints and waits for counters left out (`strict` keeps the
waits, where `isa.analysis.dependences.by_memory` says so). `with_waits` says where waits must stand in a new
order. An access waits before

    the first instruction that reads or writes a register which it fills;
    a fence or barrier, scalar load or branch before which the old code had waited for it;
    the block's end, where the old code would have it done, or further back than it is now: the blocks that follow rely
    on that.

Which number to wait for follows from the new order (`isa.analysis.waits`, one instruction at a time), so a wait is as
late and as loose as correctness allows. Where the new order has results of transcendental instructions read too early
(`isa.analysis.trans_writes`), or leaves more of them in flight at the block's end than the old one, a wait for results
is added; those that the compiler wrote stay, and nothing passes them. `rewrite` puts the new blocks into the kernel and
looks at the whole again: a block for which a register is used too early, or the hardware's own hazards
(`isa.lint.hazards`) strike where they did not, in it or after it, stays what it was.
"""

from __future__ import annotations

import dataclasses
import re
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

from isa.analysis import cfg as control_flow
from isa.analysis import dependences, regset, sgpr_reads, trans_writes, valu_writes, waits
from isa.analysis.cfg import Block, Cfg
from isa.analysis.waits import InFlight
from isa.asm.emit import instruction_line
from isa.asm.parse import parse_instruction
from isa.asm.program import Directive, Kernel, Label, Program
from isa.errors import IsaError
from isa.lint import hazards
from isa.passes.edit import by_itself, recount
from isa.semantics.instruction import Description, Instruction
from isa.semantics.waits import results_text, wait_texts
from isa.targets import GFX1100


@dataclass(frozen=True)
class Row:
    """An instruction of a block by itself. position: where it stood, in a pair perhaps; half: it is a half of one.
    also: positions of other accesses that it stands for, all of which it does at once."""

    inst: Instruction
    position: int
    half: bool = False
    also: tuple[int, ...] = ()

    @property
    def desc(self) -> Description:
        return self.inst.desc


@dataclass(frozen=True)
class Function:
    """What is known of a kernel's code before a change."""

    kernel: Kernel
    cfg: Cfg
    flight: InFlight
    strict: bool

    @staticmethod
    def of(kernel: Kernel) -> Function:
        """What is known of a kernel; kept for the last few, since a search asks for many orders of one."""
        for at, known in enumerate(_KNOWN):
            if known.kernel.program is kernel.program and known.kernel.name == kernel.name:
                _KNOWN.append(_KNOWN.pop(at))
                return known
        cfg = control_flow.of_kernel(kernel)
        _KNOWN.append(Function(kernel, cfg, waits.analyse(cfg), dependences.by_memory(cfg)))
        del _KNOWN[:-_MOST_KNOWN]
        return _KNOWN[-1]

    @cached_property
    def valu(self) -> valu_writes.ValuWrites:
        """The VALU writes that may be in flight."""
        return valu_writes.analyse(self.cfg)

    @cached_property
    def trans(self) -> Mapping[int, trans_writes.State] | None:
        """By block, the results of transcendental instructions that may be read too early; None where the hardware
        waits for them."""
        target = self.cfg.instructions[0].target or GFX1100
        return trans_writes.entries(self.cfg) if "trans use" in target.hazards else None

    @cached_property
    def faults(self) -> Counter[tuple[int, str]]:
        """The hazards that strike in it as it is."""
        return faults(self.cfg)

    @property
    def opaque(self) -> bool:
        """Whether it calls, or jumps through registers: what is in flight there is not known."""
        return bool(self.cfg.calls or self.cfg.indirect_jumps)


_KNOWN: list[Function] = []
_MOST_KNOWN = 3
Slot = tuple[Row, ...]
"""What issues at once: a row, or two as X and Y of a VOPD."""
Reorder = Callable[[Function, Block], list[Slot] | None]
"""A block's rows in a new order; None where it stays what it is."""
Hinted = Callable[[list[Instruction]], list[Instruction]]
"""A block's instructions, with hints among them."""


def rows_of(function: Function, block: Block, apart: bool = True) -> list[Row]:
    """A block's instructions without hints and waits. apart: pairs as two rows."""
    rows: list[Row] = []
    for i in block.range:
        inst = function.cfg.instructions[i]
        if dependences.is_hint(inst) or (not function.strict and dependences.is_counter_wait(inst)):
            continue
        alone = [by_itself(half) for half in inst.halves] if apart and inst.pair is not None else []
        order = _order(inst) if alone and all(alone) else ()
        rows += [Row(half, i, True) for k in order if (half := alone[k]) is not None] or [Row(inst, i)]
    return rows


def as_it_is(function: Function, block: Block) -> list[Slot]:
    """A block's rows in their own order, pairs whole."""
    return [(row,) for row in rows_of(function, block, apart=False)]


def _order(pair: Instruction) -> tuple[int, ...]:
    """The halves in an order in which neither reads what the other wrote; () where there is none."""
    x, y = pair.halves
    if not x.writes() & y.reads():
        return (0, 1)
    return (1, 0) if not y.writes() & x.reads() else ()


def with_waits(function: Function, block: Block, slots: Sequence[Slot]) -> list[Instruction]:
    """The instructions of a block in a new order, waits among them."""
    cfg, flight = function.cfg, function.flight
    state = dict(flight.before[block.start])
    out: list[Instruction] = []
    last = block.end - 1
    left = flight.machine.step(last, dict(flight.before[last]))
    results = _Results(function, block)

    def wait(needed: dict[str, int]) -> None:
        nonlocal state
        if needed:
            largest = {c: (1 << bits) - 2 for c, bits in cfg.family.counters.items()}
            needed = {c: min(n, largest[c]) for c, n in needed.items()}
            out.extend(wait_instructions(cfg, needed))
            state = {e: n for e, n in state.items() if n < needed.get(e[1], 1 << 30)}

    def finish() -> None:
        """What the blocks after rely on."""
        if not block.successors:
            return
        wait(_least((e[1], n) for e, n in state.items() if e not in left or n < left[e]))
        out.extend(results.at_end())

    ends = cfg.instructions[last].desc.is_branch or cfg.instructions[last].desc.terminator
    for slot in slots:
        needed: list[tuple[str, int]] = []
        for row in slot:
            if ends and row.position == last:
                finish()
            needed += _needed(function, row, state)
        wait(_least(needed))
        inst = joined(slot)
        out.extend(results.before(inst))
        out.append(inst)
        for row in slot:
            if not row.half:
                state = flight.machine.step(row.position, state)
                state |= {(p, counter): 0 for p in row.also for counter, _ in flight.machine.raised[p]}
    if not ends:
        finish()
    return out


class _Results:
    """Waits for what transcendental instructions have yet to write, in a block's new order."""

    def __init__(self, function: Function, block: Block) -> None:
        self.cfg, known = function.cfg, function.trans
        self.has = known is not None
        self.state = known.get(block.index, trans_writes.NOTHING) if known else trans_writes.NOTHING
        self.old = trans_writes.through(self.cfg, block, self.state) if self.has else self.state

    def before(self, inst: Instruction) -> list[Instruction]:
        """What must stand before an instruction, which comes next."""
        if not self.has:
            return []
        early = inst.desc.is_valu and valu_writes.in_flight(self.state) & regset.uses(inst)
        waits = self._waited() if early else []
        self.state = trans_writes.after(inst, regset.defs(inst), self.state)
        return waits

    def at_end(self) -> list[Instruction]:
        return [] if trans_writes.covered(self.state, self.old) else self._waited()

    def _waited(self) -> list[Instruction]:
        self.state = trans_writes.NOTHING
        wait = parse_instruction(results_text(self.cfg.family, "va_vdst"))
        return [dataclasses.replace(wait, target=self.cfg.instructions[0].target)]


def _needed(function: Function, row: Row, state: Mapping[waits.Event, int]) -> list[tuple[str, int]]:
    """The accesses in flight that must be done before a row: (counter, how many came after it)."""
    if not state:
        return []
    cfg, before = function.cfg, function.flight.before[row.position]
    positions = () if row.half else (row.position, *row.also)
    touched = regset.uses(row.inst) | regset.defs(row.inst) if row.half else 0
    for p in positions:
        touched |= cfg.uses[p] | cfg.defs[p]
    stops = not row.half and (
        dependences.is_fence(row.inst) or dependences.guards_memory(row.inst) or row.desc.unit == "smem"
    )
    found, fills = [], function.flight.machine.filled
    for (load, counter), n in state.items():
        hit = fills[load] & touched
        if (
            (hit and (row.half or any(any(waits.too_early(cfg, load, p, counter)) for p in positions)))
            or (stops and load != row.position and (load, counter) not in before)
        ):  # fmt: skip
            found.append((counter, n))
    return found


def _least(needed: Iterable[tuple[str, int]]) -> dict[str, int]:
    found: dict[str, int] = {}
    for counter, number in needed:
        found[counter] = min(number, found.get(counter, number))
    return found


def wait_instructions(cfg: Cfg, needed: dict[str, int]) -> list[Instruction]:
    """Waits for these counters."""
    target = cfg.instructions[0].target
    return [dataclasses.replace(parse_instruction(text), target=target) for text in wait_texts(cfg.family, needed)]


def joined(slot: Slot) -> Instruction:
    """The instruction of a slot."""
    if len(slot) == 1:
        return slot[0].inst
    x, y = (dual(row.inst) for row in slot)
    return dataclasses.replace(x, pair=y)


def dual(inst: Instruction) -> Instruction:
    """An instruction as a half of a VOPD; it must be one that can be (`isa.passes.schedule.dual_issue`)."""
    desc = inst.desc
    operands = inst.operands
    name = desc.name
    if name == "v_fma_f32":
        name, operands = "v_fmac_f32", operands[:3]
    elif desc.roles[-1].kind == "m":
        operands = operands[:-1]
    return dataclasses.replace(
        inst, mnemonic=f"v_dual_{name.removeprefix('v_')}", operands=operands, modifiers=(), size=0
    )


def numbers_of(blocks: str) -> frozenset[int]:
    """Blocks by number, as an option of a pass names them: `2+5+7`. IsaError for other text."""
    if blocks and not re.fullmatch(r"\d+(\+\d+)*", blocks):
        raise IsaError(
            f"there are no such blocks: {blocks!r}", expected="block numbers, from 0 in the order of the code: 2+5+7"
        )
    return frozenset(map(int, blocks.split("+"))) if blocks else frozenset()


def rewrite(
    kernel: Kernel, reorder: Reorder, hinted: Hinted, anew: bool = True, only: frozenset[int] = frozenset()
) -> Program:
    """A kernel with the blocks that `reorder` changes; `hinted` puts hints into them. The very program where none.
    anew: whether waits are made again; else instructions stay in the order in which they stand. only: numbers of
    blocks; all, where none are given."""
    function = Function.of(kernel)
    if function.opaque or kernel.number("wavefront_size32") == 0:
        return kernel.program
    cfg = function.cfg
    made: dict[int, list[Instruction]] = {}
    for block in cfg.blocks:
        if (only and block.index not in only) or not _plain(kernel, cfg, block):
            continue
        old = [cfg.instructions[i] for i in block.range]
        if slots := reorder(function, block):
            rows = hinted(with_waits(function, block, slots) if anew else old)
            if rows != old:
                made[block.index] = rows
    while made:
        changed = put(kernel, cfg, made)
        left = faults(control_flow.of_kernel(changed.kernel(kernel.name)))
        worse = more(left, function.faults)
        if not worse:
            return changed
        blamed = set[int]().union(*(_blamed(cfg, b, made) for b in worse)) or set(made)
        made = {b: rows for b, rows in made.items() if b not in blamed}
    return kernel.program


def _blamed(cfg: Cfg, block: int, made: Mapping[int, object]) -> set[int]:
    """The changed blocks that made a fault in a block: itself, else the nearest on the paths that lead to it."""
    found, seen, work = set[int](), {block}, [block]
    while work:
        at = work.pop()
        if at in made:
            found.add(at)
            continue
        work += [p for p in cfg.blocks[at].predecessors if p not in seen]
        seen |= set(cfg.blocks[at].predecessors)
    return found


def _plain(kernel: Kernel, cfg: Cfg, block: Block) -> bool:
    """Whether nothing but instructions and notes for debuggers stands within a block."""
    first, last = cfg.lines[block.start], cfg.lines[block.end - 1]
    nodes = [line.node for line in kernel.program.lines[first : last + 1]]
    notes = (".loc", ".cfi", ".file")
    return block.index in cfg.idom and not any(
        isinstance(node, Label) or (isinstance(node, Directive) and not node.name.startswith(notes)) for node in nodes
    )


def put(kernel: Kernel, cfg: Cfg, made: Mapping[int, Sequence[Instruction]]) -> Program:
    """The program with these blocks, by number."""
    lines = list(kernel.program.lines)
    for index in sorted(made, reverse=True):
        block = cfg.blocks[index]
        first = cfg.lines[block.start]
        for i in reversed(block.range):
            del lines[cfg.lines[i]]
        lines[first:first] = [instruction_line(inst) for inst in made[index]]
    return recount(kernel.program.with_lines(lines).kernel(kernel.name))


def faults(cfg: Cfg) -> Counter[tuple[int, str]]:
    """(block, kind) -> how many hazards strike in it: of loads, transcendental and matrix instructions, v_cmpx, VOPD
    and SGPRs."""
    found = [("load", h.position) for h in waits.analyse(cfg).hazards()]
    for hazard in (hazards.trans_use, hazards.permlane, hazards.wmma):
        found += [(hazard.__name__, h.position) for h in hazard(cfg)]
    found += [("dealloc", position) for position in hazards.dealloc(cfg)]
    found += [("vopd", risk.position) for risk in valu_writes.analyse(cfg).risks()]
    if "sgpr" in (cfg.instructions[0].target or GFX1100).hazards:
        found += [("sgpr", position) for position, *_ in sgpr_reads.strikes(cfg, False, False)]
    return Counter((cfg.block_of(position).index, kind) for kind, position in found)


def more(new: Counter[tuple[int, str]], old: Counter[tuple[int, str]]) -> set[int]:
    """The blocks in which more hazards of a kind strike than did."""
    return {block for block, _ in new - old}
