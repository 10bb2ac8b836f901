"""Neighbouring loads and stores as one: dwords side by side, or two places of LDS.

In: a program. Out: the same with fewer accesses. Within a block the accesses of one root address (`neighbours`) are
looked through in their order; a load takes in later ones, which then issue where it stands, a store earlier ones, which
then issue where it stands:

    global, scratch    b64, b96, b128 of dwords side by side, at any address that is a multiple of 4: the driver runs
                       compute in unaligned mode
    LDS                b64 and b128 where the address is known to be a multiple of 8 and 16 (`isa.analysis.multiples`);
                       else ds_*_2addr, which takes two places up to 255 elements, or 64 times that, apart

What a wide access fills or stores is a run of registers: the values are moved there (`rename_banks.Colouring`), where
registers are free for as long as they then live, no more of them than the kernel's waves allow. Waits are made again
(`block_order.with_waits`): one access counts once, whatever it took in.

Limits: one block at a time (unroll first); functions in which waves speak through memory are left alone, as are
accesses that another one between may meet, and stores whose addresses fall.
"""

from __future__ import annotations

import dataclasses
import itertools
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import ClassVar

from isa.analysis import multiples, webs
from isa.analysis.cfg import Block, Cfg
from isa.analysis.multiples import Multiples
from isa.analysis.webs import Web
from isa.asm.program import Kernel, Program
from isa.errors import IsaError
from isa.passes.edit import each_kernel
from isa.passes.general import neighbours
from isa.passes.general.neighbours import Memory, Place
from isa.passes.general.rename_banks import Colouring, most_vgprs, written
from isa.passes.schedule import block_order, hints
from isa.passes.schedule.block_order import Function, Row, Slot
from isa.registers import Reg
from isa.semantics.instruction import Instruction

_WIDEST = 16
_FAR = 300
"""Instructions that an access may pass."""
_MOST = 12
"""Accesses that are looked at for one."""
_SPACES = ("lds", "global", "scratch")
_UNITS = range(256)


@dataclass(frozen=True)
class WidenLoads:
    """Makes one access of several.

    vgprs:  how many VGPRs the kernel may use; 0: as many as leave its waves a SIMD what they were.
    kernel: which one; none: all.

    Requires:   nothing; a kernel with calls, jumps through registers or registers chosen by M0 is left alone.
    Guarantees: the same dwords are loaded and stored, each load before all that reads it, no access before or after one
                that it may meet; every read sees the value that it saw.
    Leaves alone: atomics, coherent accesses, elements of less than a dword; functions that wait for other waves through
                memory; what would need more registers.
    """

    name: ClassVar[str] = "widen-loads"
    vgprs: int = 0
    kernel: str = ""

    def run(self, program: Program) -> Program:
        return each_kernel(program, self.kernel, lambda kernel: _widened(kernel, self.vgprs))


@dataclass(frozen=True)
class _Wide:
    """Accesses that become one, by address. anchor: where it issues; two: it is of the two-address form."""

    parts: tuple[Memory, ...]
    anchor: Memory
    mnemonic: str
    modifiers: tuple[tuple[str, int], ...]
    two: bool = False

    @property
    def run(self) -> bool:
        """Whether its data are a run of registers."""
        return self.anchor.load or not self.two

    @property
    def others(self) -> tuple[int, ...]:
        return tuple(m.position for m in self.parts if m is not self.anchor)


def _widened(kernel: Kernel, vgprs: int) -> Program:
    program = kernel.program
    function = Function.of(kernel)
    if function.opaque or function.strict or kernel.number("wavefront_size32") == 0:
        return program
    cfg = function.cfg
    rows = [neighbours.of_block(cfg, b) if neighbours.several(cfg, b, _SPACES) else {} for b in cfg.blocks]
    if not any(map(_promising, rows)):
        return program
    try:
        found = _Finder(function.cfg, vgprs or most_vgprs(kernel, function.cfg))
    except IsaError:
        return program
    wide = {
        w.anchor.position: w
        for block, there in zip(function.cfg.blocks, rows, strict=True)
        if _promising(there)
        for w in found.of_block(block, there)
    }
    if not wide:
        return program
    renamed = written(kernel, function.cfg, found.colouring) if any(found.colouring.shift) else program

    def reorder(now: Function, block: Block) -> list[Slot] | None:
        here = [wide[i] for i in block.range if i in wide]
        gone = {p for w in here for p in w.others}
        rows = [row for row in block_order.rows_of(now, block, apart=False) if row.position not in gone]
        return [(_row(now.cfg, wide, row),) for row in rows] if here else None

    made = block_order.rewrite(renamed.kernel(kernel.name), reorder, hints.hinted)
    return program if made is renamed else made


def _promising(rows: Mapping[int, Memory]) -> bool:
    """Whether two accesses of a block have one root, so that it is worth a closer look."""
    roots = [(m.load, m.places[0].space, m.places[0].base) for m in rows.values() if m.places[0].space in _SPACES]
    return len(set(roots)) < len(roots)


def _row(cfg: Cfg, wide: dict[int, _Wide], row: Row) -> Row:
    if row.position not in wide:
        return row
    w = wide[row.position]
    data = [_data(cfg.instructions[m.position]) for m in w.parts]
    if w.run:
        if any(a.index + a.count != b.index for a, b in itertools.pairwise(data)):
            raise row.inst.error(
                f"the data of {w.mnemonic} is not in consecutive registers", got=", ".join(map(str, data))
            )
        words = sum(reg.count for reg in data)
        data = [Reg("v", data[0].index, words)]
    address = w.anchor.inst.desc.address_of(row.inst)
    before, after = ((), tuple(address)) if w.anchor.load else (tuple(address[:1]), tuple(address[1:]))
    rest = tuple(m for m in row.inst.modifiers if not m[0].startswith("offset"))
    modifiers = (*((n, v) for n, v in w.modifiers if v), *rest)
    inst = dataclasses.replace(
        row.inst, mnemonic=w.mnemonic, operands=(*before, *data, *after), modifiers=modifiers, size=0
    )
    return Row(inst, row.position, also=w.others)


def _data(inst: Instruction) -> Reg:
    """The registers that an access fills or stores, one run."""
    reg = inst.operands[0 if inst.desc.access and inst.desc.access.kind == "load" else 1]
    assert isinstance(reg, Reg)
    return reg


class _Finder:
    """What may become one, and where its registers lie then (`colouring`)."""

    def __init__(self, cfg: Cfg, limit: int) -> None:
        self.cfg = cfg
        self.webs = webs.analyse(cfg)
        self.colouring = Colouring(self.webs, limit)
        self._multiples: Multiples | None = None

    def of_block(self, block: Block, rows: Mapping[int, Memory]) -> list[_Wide]:
        touched: dict[int, list[Place]] = {p: list(m.places) for p, m in rows.items()}
        free = {p: m for p, m in rows.items() if self._plain(m, block)}
        found = []
        for loads in (True, False):
            order = [p for p in free if free[p].load == loads]
            for p in order if loads else order[::-1]:
                if p in free and (wide := self._best(free, touched, free[p])) is not None:
                    found.append(wide)
                    for m in wide.parts:
                        del free[m.position]
                        touched[m.position] = []
                    touched[p] = [place for m in wide.parts for place in m.places]
        return found

    def _plain(self, m: Memory, block: Block) -> bool:
        """Whether an access is one of dwords that no other one is like."""
        inst, access = m.inst, m.inst.desc.access
        assert access is not None
        plain = access.space in _SPACES and access.kind != "atomic" and access.element in ("b32", "b64", "b96")
        if not plain or access.half or inst.coherent or inst.has("gds"):
            return False
        if access.pair and not (m.load and m.places[0].high == m.places[1].low):
            return False
        if not m.load:
            return True
        before = 1 << m.position - 1 if m.position > block.start else 1 << len(self.cfg) + block.index
        return not any(web.taken & before for web in self._webs(m))  # else old lanes of it live on

    def _webs(self, m: Memory) -> list[Web]:
        table = self.webs.written if m.load else self.webs.read
        return [table[m.position, unit.index] for unit in _data(m.inst).units()]

    def _best(self, free: dict[int, Memory], touched: dict[int, list[Place]], anchor: Memory) -> _Wide | None:
        """The widest access in which one can issue, what fits the registers."""
        rows = [anchor]
        for p in free if anchor.load else reversed(free):
            m = free[p]
            ahead = p - anchor.position if anchor.load else anchor.position - p
            if ahead <= 0 or m.load != anchor.load or not _alike(m, anchor):
                continue
            if ahead > _FAR or len(rows) > _MOST:
                break
            first, last = sorted((p, anchor.position))
            if self._still(m, first, last) and all(
                neighbours.may_move(self.cfg, touched, first, last, place, not m.load) for place in m.places
            ):
                rows.append(m)
        if len(rows) == 1:
            return None
        return next((w for w in self._forms(rows, anchor) if self._placed(w)), None)

    def _still(self, m: Memory, first: int, last: int) -> bool:
        """Whether what an access stores is the same at both positions, and what it fills is not used between."""
        for web, unit in zip(self._webs(m), _data(m.inst).units(), strict=True):
            for p in range(first + (not m.load), last):
                if self.webs.written.get((p, unit.index)) is web or (
                    m.load and self.webs.read.get((p, unit.index)) is web
                ):
                    return False
        return True

    def _forms(self, rows: Sequence[Memory], anchor: Memory) -> Iterator[_Wide]:
        """Wide accesses of these and the anchor, the widest first; of one width those that move the least."""
        found = []
        for chain in _chains(rows, anchor):
            size = chain[-1].places[-1].high - chain[0].places[0].low
            far = max(abs(m.position - anchor.position) for m in chain)
            offset = anchor.offset + chain[0].places[0].low - anchor.places[0].low
            if (form := self._form(anchor, size, offset)) is not None:
                found.append((-size, 0, far, _Wide(tuple(chain), anchor, *form)))
        for m in rows[1:]:
            pair = sorted((anchor, m), key=lambda x: x.places[0].low)
            if (form := _two(pair, anchor)) is not None:
                size = sum(place.high - place.low for x in pair for place in x.places)
                found.append((-size, 1, abs(m.position - anchor.position), _Wide(tuple(pair), anchor, *form, two=True)))
        yield from (row[3] for row in sorted(found, key=lambda row: row[:3]) if _in_order(row[3]))

    def _form(self, anchor: Memory, size: int, offset: int) -> tuple[str, tuple[tuple[str, int], ...]] | None:
        """The mnemonic and modifiers of an access of so many bytes, if there is one and its address is right for it."""
        access = anchor.inst.desc.access
        assert access is not None
        if size not in (8, 12, 16) or offset not in anchor.inst.family.offsets[access.space]:
            return None
        if access.space == "lds":
            register = anchor.inst.desc.address_of(anchor.inst)[0]
            if self._multiples is None:
                self._multiples = multiples.analyse(self.cfg)
            zeros = self._multiples.zeros(anchor.position, register) if isinstance(register, Reg) else 0
            if size == 12 or (offset | 1 << zeros) & size - 1:
                return None
        stem = "ds" if access.space == "lds" else access.space
        return f"{stem}_{access.kind}_b{8 * size}", (("offset", offset),)

    def _placed(self, wide: _Wide) -> bool:
        """Gives what it fills or stores registers for as long as that now lives; False, and nothing changed, where
        there are none."""
        old = []
        for m in wide.parts:
            first, last = sorted((m.position, wide.anchor.position))
            for web in self._webs(m):
                old.append((web, web.taken))
                self.colouring.take(web, web.taken | (1 << last) - (1 << first))
        if any(self._twice(web) for web, _ in old):
            done = False
        elif wide.run:
            word, wanted = 0, []
            for m in wide.parts:
                wanted += [(web, word + k) for k, web in enumerate(self._webs(m))]
                word += _data(m.inst).count
            done = self.colouring.in_a_run(wanted)
        else:
            done = all(self.colouring.fits(web.cluster, self.colouring.shift[web.cluster]) for web, _ in old)
        if not done:
            for web, taken in reversed(old):
                self.colouring.take(web, taken)
        return done

    def _twice(self, web: Web) -> bool:
        """Whether another value that moves with it lies in its register while it lives."""
        others = self.webs.clusters[web.cluster].webs
        return any(o is not web and o.number == web.number and o.taken & web.taken for o in others)


def _in_order(wide: _Wide) -> bool:
    """Whether stores stand in the order of their addresses: where lanes meet, one dword of a wide store goes after the
    other, lowest first."""
    if wide.anchor.load or wide.anchor.places[0].space == "scratch":
        return True
    return all(a.position < b.position for a, b in itertools.pairwise(wide.parts))


def _alike(m: Memory, anchor: Memory) -> bool:
    """Whether two accesses differ in their numbers only."""
    a, b = m.inst.desc.access, anchor.inst.desc.access
    bare = [tuple(x for x in inst.modifiers if not x[0].startswith("offset")) for inst in (m.inst, anchor.inst)]
    same = a is not None and b is not None and a.space == b.space and m.places[0].base == anchor.places[0].base
    return same and bare[0] == bare[1]


def _chains(rows: Sequence[Memory], anchor: Memory) -> Iterator[list[Memory]]:
    """Accesses side by side, the anchor among them, by address."""
    starts = {m.places[0].low: m for m in reversed(rows)}
    starts[anchor.places[0].low] = anchor
    for first in starts.values():
        chain = [first]
        while (m := starts.get(chain[-1].places[-1].high)) is not None:
            chain.append(m)
            if chain[-1].places[-1].high - first.places[0].low > _WIDEST:
                break
            if anchor in chain:
                yield list(chain)


def _two(pair: Sequence[Memory], anchor: Memory) -> tuple[str, tuple[tuple[str, int], ...]] | None:
    """The two-address form of two accesses of LDS, if there is one."""
    access = anchor.inst.desc.access
    assert access is not None
    elements = {m.inst.desc.access.element for m in pair if m.inst.desc.access is not None}
    if access.space != "lds" or len(elements) > 1 or access.element == "b96" or any(len(m.places) > 1 for m in pair):
        return None
    size = int(access.element[1:]) // 8
    offsets = [anchor.offset + m.places[0].low - anchor.places[0].low for m in pair]
    if offsets[0] == offsets[1]:
        return None
    for unit, infix in ((size, ""), (64 * size, "_stride64")):
        counts = [o // unit for o in offsets]
        if all(n * unit == o and n in _UNITS for n, o in zip(counts, offsets, strict=True)):
            name = f"ds_{access.kind}_2addr{infix}_{access.element}"
            return name, (("offset0", counts[0]), ("offset1", counts[1]))
    return None
