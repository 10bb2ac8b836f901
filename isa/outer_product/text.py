"""Instructions of an outer product: steps of k -> lines without indentation.

A *group* of steps is

    the LDS loads of all its steps
    what stands beside them: global loads, addresses that go on, the loop's control
    for each step: wait for its operands, its dual FMAs

Each turn from VALU to memory instructions makes a wave wait until its VALU pipeline is empty: so loads stand together.
LDS instructions return in order, so `lgkmcnt(n)` waits for all but the last n; global loads count in vmcnt.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from isa.outer_product.fma_order import Fma, Pair, Slot
from isa.registers import Reg

_LGKMCNT_LIMIT = 63


@dataclass(frozen=True)
class Words:
    """What one step reads of one side, the column of A or the row of B. pairs: two VGPRs each. offsets: for each pair,
    where it lies in LDS, in bytes after what the VGPR `address` holds."""

    pairs: Sequence[Reg]
    address: Reg
    offsets: Sequence[int]

    @property
    def elements(self) -> list[Reg]:
        """A register for each element."""
        return [unit for pair in self.pairs for unit in pair.units()]

    def loads(self) -> Iterator[str]:
        for pair, offset in zip(self.pairs, self.offsets, strict=True):
            yield f"ds_load_b64 {pair}, {self.address}{_at('offset', offset)}"


@dataclass(frozen=True)
class KStep:
    """The operands of one step of k."""

    column: Words
    row: Words


def group(
    steps: Sequence[KStep],
    pairs: Sequence[Pair],
    accumulators: Mapping[tuple[int, int], Reg],
    beside: Iterable[str] = (),
) -> Iterator[str]:
    """A group of steps: see the module's docstring. pairs: the order of the dual FMAs of each step."""
    loads = [[*step.column.loads(), *step.row.loads()] for step in steps]
    for of_step in loads:
        yield from of_step
    yield from beside
    waiting = sum(map(len, loads))
    for step, of_step in zip(steps, loads, strict=True):
        waiting -= len(of_step)
        yield f"wait lds_load {min(waiting, _LGKMCNT_LIMIT)}"
        yield from dual_fmas(pairs, step.column.elements, step.row.elements, accumulators)


def dual_fmas(
    fmas: Iterable[Fma], column: Sequence[Reg], row: Sequence[Reg], accumulators: Mapping[tuple[int, int], Reg]
) -> Iterator[str]:
    """One `v_dual_fmac_f32` a pair. What has no partner is a `v_fmac_f32`."""

    def operands(slot: Slot) -> str:
        factors = [column[slot.column], row[slot.row]]
        first, second = reversed(factors) if slot.crossed else factors
        return f"{accumulators[slot.column, slot.row]}, {first}, {second}"

    for fma in fmas:
        if len(fma) == 1:
            yield f"v_fmac_f32_e32 {operands(fma[0])}"
        else:
            yield " :: ".join(f"v_dual_fmac_f32 {operands(slot)}" for slot in fma)


@dataclass(frozen=True)
class Store:
    """A store to LDS: the VGPRs `value` to `offset` bytes after what the VGPR `address` holds."""

    address: Reg
    value: Reg
    offset: int


def stores(row: Sequence[Store], *, paired: bool) -> Iterator[str]:
    """Stores to LDS. paired: neighbours of one dword become one `ds_store_2addr`, where their offsets fit."""
    i = 0
    while i < len(row):
        first, second = row[i], row[i + 1] if i + 1 < len(row) else None
        both = _paired(first, second) if paired and second else ""
        yield both or f"ds_store_b{32 * first.value.count} {first.address}, {first.value}" + _at("offset", first.offset)
        i += 2 if both else 1


def _paired(x: Store, y: Store) -> str:
    """Offsets are 8 bits that count 64 dwords, or one: the larger unit goes first, as in LLVM
    (SILoadStoreOptimizer.cpp). Empty where they do not fit."""
    if x.address != y.address or x.value.count != 1 or y.value.count != 1:
        return ""
    for name, unit in (("_stride64", 256), ("", 4)):
        if all(s.offset % unit == 0 and s.offset // unit < 256 for s in (x, y)):
            offsets = _at("offset0", x.offset // unit) + _at("offset1", y.offset // unit)
            return f"ds_store_2addr{name}_b32 {x.address}, {x.value}, {y.value}{offsets}"
    return ""


def turn(stored: Iterable[str], *, wait_first: bool = False) -> Iterator[str]:
    """The end of a K block in one LDS buffer: once all waves have read it, what was fetched of the next is stored.
    wait_first: before the barrier, not after it, a wave waits for what it fetched."""
    yield from ["wait global_load 0", "barrier"] if wait_first else ["barrier", "wait global_load 0"]
    yield from stored
    yield "wait lds_load 0"
    yield "barrier"


def _at(name: str, offset: int) -> str:
    return f" {name}:{offset}" if offset else ""
