"""The main loop of a GEMM kernel, in the numbers that its engineer looks at first.

In: a `Cfg`, from text or disassembly. Out: what each loop holds, and which loop is the main one: the shortest of those
with at least three quarters of the fp32 multiply-adds that any loop holds. So it is the inner one where an outer one
adds few of its own: none, or those of the epilogue where workgroups stay for another tile.

A VOPD of two FMAs is one dual FMA; any other instruction that holds one FMA is a single one.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from isa.analysis import banks
from isa.analysis.cfg import Cfg, Loop
from isa.asm.program import Instruction
from isa.semantics.describe import base_name

FMAS = frozenset({"v_fmac_f32", "v_fma_f32", "v_fmaak_f32", "v_fmamk_f32"})


@dataclass(frozen=True)
class Summary:
    """What a run of instructions holds.

    instructions: how many; a VOPD counts once.  dual, single: FMA instructions, see the module's docstring.
    memory:  mnemonic of each instruction that touches memory -> how many.
    waits, barriers: s_waitcnt and its kind; s_barrier.
    bank_reads, cache_reads: VGPR reads through SRC0 and SRC1 that go to a bank, that an operand cache serves.
    """

    instructions: int
    dual: int
    single: int
    memory: Mapping[str, int]
    waits: int
    barriers: int
    bank_reads: int
    cache_reads: int


def fmas(inst: Instruction) -> int:
    """fp32 multiply-adds a lane: 2 for a VOPD of two."""
    return sum(base_name(half.mnemonic) in FMAS for half in inst.halves)


def summarise(instructions: Iterable[Instruction]) -> Summary:
    """Counts over a run of instructions. The operand caches start empty."""
    row = list(instructions)
    count = Counter(map(fmas, row))
    reads, cached = banks.bank_reads(row)
    return Summary(
        len(row),
        count[2],
        count[1],
        dict(sorted(Counter(base_name(i.mnemonic) for i in row if i.desc.access is not None).items())),
        sum(i.desc.is_wait for i in row),
        sum(i.desc.is_barrier for i in row),
        reads,
        cached,
    )


def body(cfg: Cfg, loop: Loop) -> list[Instruction]:
    """The instructions of a loop in the order of the code."""
    return [cfg.instructions[i] for i in cfg.positions(loop)]


def main_loop(cfg: Cfg) -> Loop | None:
    """See above; None where no loop holds an FMA."""
    rows = [(loop, body(cfg, loop)) for loop in cfg.loops]
    weighed = [(sum(map(fmas, row)), len(row), loop) for loop, row in rows]
    most = max((weight for weight, _, _ in weighed), default=0)
    full = [(length, loop) for weight, length, loop in weighed if weight and 4 * weight >= 3 * most]
    return min(full, key=lambda found: found[0])[1] if full else None
