"""Parallel moves: a permutation of registers -> the swaps that perform it."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import permutations

from isa.errors import IsaError
from isa.outer_product.fma_order import BANKS
from isa.registers import Reg


def settle(old: Sequence[Reg], banks: Sequence[int], spare: Iterable[Reg]) -> list[Reg]:
    """A register on banks[i] for each value i that lies in old[i], so that as few values as possible must move.

    A value whose bank is right stays. The others change places in cycles as short as can be, since n values in a cycle
    are n - 1 exchanges; what is left takes a register that others leave, or one of `spare`. IsaError where the spare
    registers do not do.
    """
    result: dict[int, Reg] = {i: reg for i, reg in enumerate(old) if reg.bank == banks[i]}
    waiting: dict[tuple[int, int], list[int]] = {}
    for i, reg in enumerate(old):
        if i not in result:
            waiting.setdefault((reg.bank, banks[i]), []).append(i)
    for length in range(2, BANKS + 1):
        for ring in permutations(range(BANKS), length):
            edges = list(zip(ring, ring[1:] + ring[:1], strict=True))
            while all(waiting.get(edge) for edge in edges):
                members = [waiting[edge].pop(0) for edge in edges]
                # Each takes the place of the one that leaves the bank it must go to.
                for i, j in zip(members, members[1:] + members[:1], strict=True):
                    result[i] = old[j]
    rest = sorted(i for group in waiting.values() for i in group)
    left = [old[i] for i in rest] + list(spare)
    for i in rest:
        fitting = next((reg for reg in left if reg.bank == banks[i]), None)
        if fitting is None:
            raise IsaError(f"no free register on bank {banks[i]} for an accumulator")
        left.remove(fitting)
        result[i] = fitting
    return [result[i] for i in range(len(old))]


@dataclass(frozen=True, slots=True)
class Move:
    """`v_swap_b32 a, b` where `swap`, else `v_mov_b32 a, b`."""

    a: Reg
    b: Reg
    swap: bool = False


def parallel_moves(pairs: Iterable[tuple[Reg, Reg]]) -> list[Move]:
    """Instructions that put what is in `source` into `target` for each (target, source), as if all at once.

    Chains become moves from their free end; a cycle of n registers n - 1 exchanges. No register is needed in between.
    """
    source = {t: s for t, s in pairs if t != s}
    moves: list[Move] = []
    read = list(source.values())
    free = [t for t in source if t not in read]
    while free:
        t = free.pop(0)
        s = source.pop(t)
        moves.append(Move(t, s))
        if s in source and s not in source.values():
            free.append(s)
    while source:
        first = min(source)
        t = first
        while (s := source.pop(t)) != first:
            moves.append(Move(t, s, swap=True))
            t = s
    return moves
