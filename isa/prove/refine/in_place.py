"""Rewrites in place: two programs with the same blocks -> whether each run of instructions in which they differ leaves
the same registers.

The relation is that both programs hold the same in all registers and in memory: it is there at the beginning, what is
the same line in both keeps it, and each run that differs is followed on terms from registers of which nothing is known.
So a few changed lines in a large kernel take no more than these lines. `None` where that does not do, which says
nothing: a run that differs and touches memory, waits or branches, code addresses, another MODE than the kernel's.
"""

from __future__ import annotations

from collections.abc import Iterator
from difflib import SequenceMatcher

from isa.algebra.terms import Terms
from isa.algebra.truth import TooLarge
from isa.analysis import waits
from isa.analysis.cfg import Cfg
from isa.analysis.dependences import is_hint
from isa.asm.program import Kernel
from isa.errors import IsaError
from isa.prove.refine.engine import FENCES, REGISTERS, SCC_AT, SGPR0, SegmentEngine
from isa.prove.refine.landed import more_findings
from isa.semantics.execute import asked
from isa.semantics.float_mode import FloatMode
from isa.semantics.instruction import Instruction
from isa.semantics.own_place import counts_from_itself, distance

_MODES = frozenset({"mode round", "mode denorm", "setreg"})
Run = tuple[range, range]


def _is_fence(inst: Instruction) -> bool:
    """Whether it is a fence of the general relation."""
    desc = inst.desc
    atomic = desc.access is not None and desc.access.kind == "atomic"
    return desc.is_barrier or desc.sched in FENCES or atomic or inst.coherent or asked(inst) is not None


def same(kernels: tuple[Kernel, Kernel], flows: tuple[Cfg, Cfg]) -> dict[str, int] | None:
    """What was counted where two kernels with equal descriptors, without calls, differ in nothing but runs that leave
    the same. So what is in flight in the second is so in the first, but for waits that the second has besides."""
    one, other = flows
    if [b.successors for b in one.blocks] != [b.successors for b in other.blocks]:
        return None
    if len({kernel.number("next_free_vgpr") for kernel in kernels}) > 1:  # beyond which M0 chooses none
        return None
    if any(inst.desc.effect in _MODES for inst in one.instructions) or not all(map(_addresses_of_symbols, flows)):
        return None
    texts = ([str(i) for i in one.instructions], [str(i) for i in other.instructions])
    runs = tuple(run for a, b in zip(one.blocks, other.blocks, strict=True) for run in _runs(texts, a.range, b.range))
    sides = [[[flow.instructions[i] for i in run[k]] for run in runs] for k, flow in enumerate(flows)]
    if not all(_moves_registers(inst, bool(k)) for k, side in enumerate(sides) for run in side for inst in run):
        return None
    mode = FloatMode.of_kernel(kernels[0])
    terms = 0
    try:
        for a, b in zip(*sides, strict=True):
            found = _leave_the_same(a, b, mode)
            if found is None:
                return None
            terms += found
    except (IsaError, TooLarge):  # what cannot be followed
        return None
    if more_findings(kernels, flows, [waits.analyse(flow) for flow in flows]) is not None:
        return None
    return {
        "instructions": sum(map(len, flows)),
        "pairs": len(one.blocks),
        "loops": len(one.loops),
        "executed": sum(len(run) for side in sides for run in side),
        "terms": terms,
        "stores": sum(i.desc.access is not None and i.desc.access.kind == "store" for i in other.instructions),
        "fences": sum(map(_is_fence, other.instructions)),
    }


def _addresses_of_symbols(flow: Cfg) -> bool:
    """Whether each s_getpc_b64 stands right before the two that make a symbol's address of it."""
    found = flow.instructions
    return all(
        len(found) > i + 2 and distance(found[i + 1]) is not None and distance(found[i + 2]) is not None
        for i, inst in enumerate(found)
        if inst.desc.name == "s_getpc_b64"
    )


def _moves_registers(inst: Instruction, rewritten: bool) -> bool:
    """Whether it does nothing but compute registers; the rewritten program may wait, too."""
    desc = inst.desc
    if desc.effect == "wait" or is_hint(inst):
        return rewritten or is_hint(inst)
    plain = (desc.is_valu or desc.is_salu) and desc.body is not None and not desc.effect and desc.access is None
    return plain and asked(inst) is None and not counts_from_itself(inst)


def _runs(texts: tuple[list[str], list[str]], a: range, b: range) -> Iterator[Run]:
    """Where the lines of two blocks differ."""
    one, other = texts[0][a.start : a.stop], texts[1][b.start : b.stop]
    if one == other:
        return
    for what, i, j, k, m in SequenceMatcher(None, one, other, autojunk=False).get_opcodes():
        if what != "equal":
            yield range(a.start + i, a.start + j), range(b.start + k, b.start + m)


def _leave_the_same(one: list[Instruction], other: list[Instruction], mode: FloatMode) -> int | None:
    """How many terms it takes that two runs leave the same in each register, from any registers and in all lanes; None
    where they may not."""
    terms = Terms()
    memory = terms.unknown("memory", 32, uniform=True)
    registers = [terms.unknown(f"r{i}", 1 if i == SCC_AT else 32, uniform=i >= SGPR0) for i in range(REGISTERS)]
    ends = []
    for run in (one, other):
        engine = SegmentEngine(terms, terms.true, 0)
        engine.start([*registers], memory, mode)
        for position, inst in enumerate(run):
            engine.step(position, inst)
        if engine.assumed or engine.mode != mode:
            return None
        ends.append(engine.registers)
    return len(terms) if all(a is b for a, b in zip(*ends, strict=True)) else None
