"""Assembly text of generators: the pieces that all of them write."""

from __future__ import annotations

from collections.abc import Iterator

from isa.registers import Reg


def log2(n: int) -> int:
    """Of a power of two."""
    return n.bit_length() - 1


def is_power_of_two(n: int) -> bool:
    return n > 0 and n & (n - 1) == 0


def wide(target: Reg, a: object, b: object | None = None) -> Iterator[str]:
    """An SGPR pair gets a * b, or a alone."""
    low, high = target.units()
    yield f"s_mov_b32 {low}, {a}" if b is None else f"s_mul_i32 {low}, {a}, {b}"
    yield f"s_mov_b32 {high}, 0" if b is None else f"s_mul_hi_u32 {high}, {a}, {b}"


def begin(base: Reg, first: Reg, leading: Reg | None, bytes_: int, t: Reg) -> Iterator[str]:
    """A matrix's base goes on to a row or column. leading: elements from one to the next; None: they are neighbours.
    t: a pair that is free."""
    yield from wide(t, first, leading)
    yield f"s_lshl_b64 {t}, {t}, {log2(bytes_)}"
    yield from add64(base, *t.units())


def go_back(base: Reg, by: Reg) -> Iterator[str]:
    """Less an SGPR pair."""
    yield f"s_sub_u32 {base.sub(0)}, {base.sub(0)}, {by.sub(0)}"
    yield f"s_subb_u32 {base.sub(1)}, {base.sub(1)}, {by.sub(1)}"


def is_ragged(ragged: Reg, size: Reg, edge: tuple[int, int], last: Reg, bound: Reg, mine: Reg) -> Iterator[str]:
    """`ragged` is no longer 0 where a side makes it so. edge: its extent, and elements of a load across; size: of the
    matrix; bound: where the last load may begin, which is the last element of a ragged line, else a load before the
    end. mine: free."""
    extent, width = edge
    yield f"s_and_b32 {mine}, {size}, {width - 1}"
    yield f"s_cmp_lt_i32 {last}, {extent - 1}"
    yield f"s_cselect_b32 {mine}, {mine}, 0"
    yield f"s_or_b32 {ragged}, {ragged}, {mine}"
    yield f"s_cmp_eq_u32 {mine}, 0"
    yield f"s_cselect_b32 {mine}, {width - 1}, 0"
    yield f"s_sub_i32 {bound}, {last}, {mine}"


def add64(target: Reg, low: object, high: object = 0) -> Iterator[str]:
    """To an SGPR pair; SCC is lost."""
    yield f"s_add_u32 {target.sub(0)}, {target.sub(0)}, {low}"
    yield f"s_addc_u32 {target.sub(1)}, {target.sub(1)}, {high}"
