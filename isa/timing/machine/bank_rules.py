"""Bank rules: a VALU instruction's operand reads -> the cycles that they cost beyond one, by rules that can be
exchanged.

No document gives the rule of RDNA3. A rule maps (reads of the previous VALU instruction of the same wave, reads of this
one) to extra cycles; both are lists of `isa.analysis.banks.Source`. The previous list is empty where another wave came
between, or at the start of a basic block.

    previous-slot   SRC0 and SRC1: each bank serves one read a cycle; a register that the previous instruction read
                    through the same slot comes from the operand cache; SRC2 (the accumulator) has a port of its own.
                    The default.
    previous-place  as previous-slot, but X and Y of a VOPD have caches of their own
    previous-any    as previous-slot, but the cache serves a register whichever slot read it before
    with-src2       as previous-slot, and the accumulators' reads count too
    no-cache        as previous-slot without any reuse
    free            operand reads never cost anything

The observations: pairs that read four different banks take 1 cycle each (every rule but with-src2 says so); the
published kernel 5 with its FMAs repeated 32 times uses at most 75 % of the VALU's cycles, over a whole launch
(previous-slot: 78 %, previous-place: 71 %); and kernel 5 itself takes 4.10 ms (4.02 and 4.31; no-cache far too slow).
The truth seems to lie between the two. None of this identifies one rule: `hipgemm time --bank-rule` tells what another
would say. A rule of another form, SRC0 gathered in one cycle with SRC1 of the instruction before, explains the study as
well as the default does (docs/record/timing-studies.md).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from isa.analysis.banks import Source
from isa.registers import Reg
from isa.semantics.instruction import Instruction

Rule = Callable[[Sequence[Source], Sequence[Source]], int]


def _most(reads: set[int]) -> int:
    banks = [0, 0, 0, 0]
    for register in reads:
        banks[register % 4] += 1
    return max(1, *banks) - 1


def _previous_slot(before: Sequence[Source], now: Sequence[Source]) -> int:
    held = {(s.slot, s.reg.index) for s in before}
    return _most({s.reg.index for s in now if s.slot != 2 and (s.slot, s.reg.index) not in held})


def _previous_place(before: Sequence[Source], now: Sequence[Source]) -> int:
    held = {(s.half, s.slot, s.reg.index) for s in before}
    return _most({s.reg.index for s in now if s.slot != 2 and (s.half, s.slot, s.reg.index) not in held})


def _previous_any(before: Sequence[Source], now: Sequence[Source]) -> int:
    held = {s.reg.index for s in before if s.slot != 2}
    return _most({s.reg.index for s in now if s.slot != 2 and s.reg.index not in held})


def _with_src2(before: Sequence[Source], now: Sequence[Source]) -> int:
    held = {(s.slot, s.reg.index) for s in before}
    return _most({s.reg.index for s in now if (s.slot, s.reg.index) not in held})


def _no_cache(before: Sequence[Source], now: Sequence[Source]) -> int:
    return _most({s.reg.index for s in now if s.slot != 2})


def _free(before: Sequence[Source], now: Sequence[Source]) -> int:
    return 0


def matrix_on_one_bank(inst: Instruction) -> bool:
    """Whether A, B and C of a matrix product begin on one bank, which costs `wmma_bank_passes` under every rule: the
    rules above are about single registers."""
    firsts = [reg.index % 4 if isinstance(reg, Reg) and reg.is_vgpr else None for reg in inst.operands[1:4]]
    return inst.desc.is_matrix and None not in firsts and len(set(firsts)) == 1


RULES: dict[str, Rule] = {
    "previous-slot": _previous_slot,
    "previous-place": _previous_place,
    "previous-any": _previous_any,
    "with-src2": _with_src2,
    "no-cache": _no_cache,
    "free": _free,
}
DEFAULT = "previous-slot"
