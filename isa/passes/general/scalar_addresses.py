"""Scalar bases: a kernel -> the same with 64-bit addresses of each lane as a scalar base and 32 bits of the lane.

A global access takes its address from two VGPRs, or from two SGPRs and a VGPR whose 32 bits without sign are added.
Compilers make the first from the second where it is not needed: a pointer that all lanes share and a lane's offset,
added by two vector instructions and moved on by two more in each iteration of a loop:

    v_add_co_u32 v0, vcc_lo, s2, v2                     s_mov_b64 s[6:7], s[2:3]
    v_add_co_ci_u32_e64 v1, null, s3, 0, vcc_lo
    .Lloop:                                             .Lloop:
    global_load_b32 v4, v[0:1], off                     global_load_b32 v4, v2, s[6:7]
    v_add_co_u32 v0, vcc_lo, v0, s4                     s_add_u32 s6, s6, s4
    v_add_co_ci_u32_e64 v1, null, s5, v1, vcc_lo        s_addc_u32 s7, s7, s5

What such a pair of VGPRs holds is base + lane at all times: `lane` a VGPR without sign, `base` 64 bits that all lanes
share. So a pair of SGPRs follows the base: set where the sum begins, of something scalar and a VGPR (or of a VGPR and a
high word 0); moved on where something scalar is added to the pair. Sums of another such pair and something scalar begin
at its base. The sums themselves are then dead, and go. Nothing is assumed of sizes: both sides wrap at 2**64 alike.

All of a pair's values, by use-def chains, must be such sums, with one beginning; all its uses accesses or such sums;
between the beginning and the uses nothing else writes the lane's register (else it gets a copy). What the SALU does it
does for all lanes: so no instruction on a path from the beginning to the uses may write EXEC, unless the beginning
is passed once, and no sum that follows it follows a write of EXEC.

Limit: an index with a sign, which most C has, is not 32 bits without one; nothing is done to it. Sums of three parts,
`v_mad_u64_u32` and shifts of 64 bits are not read.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar

from isa.asm.emit import instruction_line
from isa.asm.program import Kernel, Program
from isa.passes.edit import Edit, each_kernel, instruction_lines, remove_dead
from isa.passes.general.rename_banks import most_vgprs
from isa.passes.general.scalar_sums import Addresses, Sum, Value, Web, Zero
from isa.passes.schedule.block_order import Function
from isa.passes.symbolic.scalar_code import take_pair
from isa.registers import SGPR_LIMIT, Reg
from isa.semantics.instruction import Operand, Special


@dataclass(frozen=True)
class ScalarAddresses:
    """Puts what all lanes share of an address into SGPRs.

    kernel: which one; none: all.

    Requires:   nothing; a kernel with calls or jumps through registers is left alone.
    Guarantees: the same accesses in the same order at the same addresses; no more VGPRs than leave the number of waves
                a SIMD what it was.
    Leaves alone: addresses that are not something scalar and 32 bits without sign by the text, or that anything but
                accesses reads, and those for which no SGPRs are free.
    """

    name: ClassVar[str] = "scalar-addresses"
    kernel: str = ""

    def run(self, program: Program) -> Program:
        return each_kernel(program, self.kernel, _made)


def _made(kernel: Kernel) -> Program:
    """The new program; the very one that there is where nothing can be done."""
    function = Function.of(kernel)
    if function.opaque:
        return kernel.program
    known = Addresses(kernel, function.cfg)
    webs = known.webs
    while webs:
        made = Rewriting(known, webs)
        if made.failed is None:
            return remove_dead(made.edit.apply().kernel(kernel.name))
        webs = known.whole([web for web in webs if web is not made.failed])
    return kernel.program


class Rewriting:
    """The new instructions. failed: a web for which there are no registers."""

    def __init__(self, known: Addresses, webs: list[Web]) -> None:
        self.known, self.cfg, self.paths, self.webs = known, known.cfg, known.paths, webs
        self.edit = Edit(known.kernel)
        self.gone = {p for w in webs for s in (w.start, *w.steps) if isinstance(s, Sum) for p in (s.low, s.high)}
        self.bases: dict[Value, Reg] = {}
        self.lanes: dict[Value, Reg] = {}
        self.taken: set[Reg] = set()  # what got a value of its own
        scalars = {o for w in webs for s in (w.start, *w.steps) if isinstance(s, Sum) for o in s.scalar}
        self.held = {o for o in scalars if isinstance(o, Reg)}  # what may have to keep its value for longer
        self.edit.remove(self.cfg.lines[p] for p in self.gone)
        self.failed = next((web for web in webs if not self._place(web)), None)

    def _place(self, web: Web) -> bool:
        """Gives a web its registers and rewrites what reads it."""
        parent = self.known.parent(web, self.webs) if web.parent is not None else None
        lane = self.lanes[parent.start] if parent is not None else self._lane(web)
        region = self._region(web)
        base = self._as_it_is(web, region) or self._pair(region)
        if lane is None or base is None:
            return False
        self.lanes[web.start], self.bases[web.start] = lane, base
        self._begin(web, base, parent)
        for s in web.steps:
            self._insert(s.high, self._moved(s, base, base))
        for i in web.accesses:
            inst = self.cfg.instructions[i]
            operands = tuple(self._operand(o, web.start.pair, lane, base) for o in inst.operands)
            self.edit.remove([self.cfg.lines[i]])
            self.edit.insert(self.cfg.lines[i], [instruction_line(dataclasses.replace(inst, operands=operands))])
        return True

    @staticmethod
    def _operand(operand: Operand, pair: tuple[Reg, Reg], lane: Reg, base: Reg) -> Operand:
        if isinstance(operand, Special):
            return base
        return lane if operand == Reg("v", pair[0].index, 2) else operand

    def _region(self, web: Web) -> set[int]:
        """The positions at which a base must be kept."""
        ends = [*web.accesses, *(s.high for s in (*web.steps, *web.sums))]
        first = web.start.low if isinstance(web.start, Sum) else web.start.high
        return self.paths.between(first, ends) | {first, web.start.high, *ends}

    def _pair(self, region: set[int]) -> Reg | None:
        """A pair of SGPRs that hold nothing there."""
        free = [r for r in self.known.live.free(region, "s", SGPR_LIMIT) if r not in self.taken | self.held]
        pair = take_pair(free)
        self.taken.update(pair.units() if pair is not None else ())
        return pair

    def _as_it_is(self, web: Web, region: set[int]) -> Reg | None:
        """The pair of SGPRs that a base lies in already, and stays in."""
        if not isinstance(web.start, Sum) or web.parent is not None or web.steps:
            return None
        pair = _aligned(web.start.scalar)
        if pair is None or self.taken & set(pair.units()):
            return None
        if any(self.known.written(u, region - self.gone) for u in pair.units()):
            return None
        self.held.update(pair.units())
        return pair

    def _lane(self, web: Web) -> Reg | None:
        """The VGPR of a lane's part: the one that it is in, or a copy."""
        start, readers = web.start, set(self._readers(web))
        zero = isinstance(start, Zero)
        reg = start.pair[0] if isinstance(start, Zero) else start.vector[0]
        if reg not in self.taken and self._kept(reg, start.low, start.low if zero else None, readers):
            self.held.add(reg)
            return reg
        if zero:
            return None
        region = self.paths.between(start.low, readers) | {start.low, *readers}
        limit = most_vgprs(self.known.kernel, self.cfg)
        free = [r for r in self.known.live.free(region, "v", limit) if r not in self.taken | self.held]
        if not free:
            return None
        self.taken.add(free[0])
        self._insert(start.low, [f"v_mov_b32_e32 {free[0]}, {reg}"])
        return free[0]

    def _readers(self, web: Web) -> Iterator[int]:
        """The accesses of a web, and of those that begin at it."""
        yield from web.accesses
        for s in web.sums:
            yield from self._readers(next(w for w in self.webs if w.start == s))

    def _kept(self, reg: Reg, stop: int, own: int | None, readers: set[int]) -> bool:
        """Whether a register's value reaches the readers: what else writes it comes to none of them, or to `stop`
        before."""
        for i, inst in enumerate(self.cfg.instructions):
            others = reg in inst.writes() and i != own and i not in self.gone
            if others and readers & self.paths.reachable(i, stop):
                return False
        return True

    def _begin(self, web: Web, base: Reg, parent: Web | None) -> None:
        """Sets a base where its sum begins."""
        start, low, high = web.start, *base.units()
        if isinstance(start, Zero):
            self._insert(start.high, [f"s_mov_b64 {base}, 0"])
        elif parent is not None:
            self._insert(start.high, self._moved(start, base, self.bases[parent.start]))
        elif (pair := _aligned(start.scalar)) == base:
            pass
        elif pair is not None and not self.known.written(start.scalar[0], range(start.low + 1, start.high)):
            self._insert(start.high, [f"s_mov_b64 {base}, {pair}"])
        else:
            self._insert(start.low, [f"s_mov_b32 {low}, {start.scalar[0]}"])
            self._insert(start.high, [f"s_mov_b32 {high}, {start.scalar[1]}"])

    def _moved(self, s: Sum, to: Reg, base: Reg) -> list[str]:
        """What the SALU adds."""
        rows = zip(("s_add_u32", "s_addc_u32"), to.units(), base.units(), s.scalar, strict=True)
        return [f"{add} {t}, {b}, {scalar}" for add, t, b, scalar in rows]

    def _insert(self, position: int, texts: list[str]) -> None:
        self.edit.insert(self.cfg.lines[position], instruction_lines(texts))


def _aligned(scalar: tuple[Operand, Operand]) -> Reg | None:
    """Two words as a pair of SGPRs, if they are one."""
    low, high = scalar
    if not isinstance(low, Reg) or not isinstance(high, Reg) or low.file != "s" or low.index >= SGPR_LIMIT:
        return None
    return Reg("s", low.index, 2) if low.index % 2 == 0 and high == Reg("s", low.index + 1) else None
