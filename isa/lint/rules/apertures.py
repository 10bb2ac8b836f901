"""Flat addresses out of their aperture: findings at flat accesses whose base lies below the aperture of LDS or scratch
that base and offset together reach.

The hardware decides by the base register alone whether an address is one of LDS, of scratch or of memory; the offset in
the instruction comes later (LLVM pull requests 132353 and 153001). A base below the aperture is one of memory where
nothing is mapped: the card faults or hangs. Compilers before the fix make such bases of `f[1 - i]`.

Bases that follow from the code and from the numbers of the work-items are known on each path of the first wave
(`isa.lint.lds`); others are not judged.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial

import numpy as np

from isa.analysis.cfg import Cfg
from isa.errors import Finding
from isa.lint.functions import LintedFunction
from isa.lint.lds import needed
from isa.lint.lds.explore import Explorer, Question
from isa.lint.lds.machine import Start, WorkgroupMachine
from isa.lint.registry import RULES
from isa.registers import LANES, NULL, Reg
from isa.semantics.instruction import Instruction
from isa.sim.ir.state import PRIVATE_APERTURE, SHARED_APERTURE

BELOW = RULES["ADDR002"]
_APERTURES = {SHARED_APERTURE: "LDS", PRIVATE_APERTURE: "scratch"}
_SOURCES = frozenset({"src_shared_base", "src_shared_limit", "src_private_base", "src_private_limit"})


def findings(f: LintedFunction) -> Iterator[Finding]:
    """The rule, of waves of 32 lanes."""
    cfg, dimensions = f.flow, f.start.dimensions
    if f.start.wave64 or cfg.specials.isdisjoint(_SOURCES):
        return
    flat = [i for i, inst in enumerate(cfg.instructions) if inst.desc.space == "flat" and inst.offset]
    asked = [i for i in flat if _base(cfg.instructions[i])[1].count == 2]
    if not asked:
        return
    counts = {i: needed.address(cfg, i) for i in asked}
    wanted = needed.of(cfg, f.values.chains, f.values.lanes, counts, f.hopeful)
    question, positions = Question.of(cfg, f.values.chains, wanted, asked, (), Start((LANES, 1, 1), dimensions > 1))
    found: dict[int, Finding] = {}
    Explorer(question, partial(_watch, cfg, positions, found)).run()
    yield from found.values()


def _base(inst: Instruction) -> tuple[int, Reg]:
    """The operand that holds the address, by number and as a pair of registers."""
    rows = inst.desc.roles_of(inst)
    given = ((n, o) for n, (r, o) in enumerate(rows) if r.read and not r.written and isinstance(o, Reg))
    return next(given, (0, NULL))


def _watch(cfg: Cfg, positions: list[int], found: dict[int, Finding], number: int, machine: WorkgroupMachine) -> None:
    position = positions[number]
    inst = cfg.instructions[position]
    if position in found:
        return
    operand, base = _base(inst)
    (low, low_known), (high, high_known) = (machine.operand(reg) for reg in base.units())
    known = machine.first_wave() & low_known & high_known
    start = high.astype(np.uint64) << np.uint64(32) | low
    aperture = start + np.uint64(inst.offset) >> np.uint64(32)
    out = known & (high != aperture) & np.isin(aperture, list(_APERTURES))
    if out.any():
        lane = int(np.argmax(out))
        what = _APERTURES[int(aperture[lane])]
        below = (int(aperture[lane]) << 32) - int(start[lane])
        found[position] = BELOW.broken(
            inst, f"the base lies {below} bytes below the aperture of {what}, and the offset brings it back",
            operand=operand, expected=f"a base within the aperture: the card does not count offset:{inst.offset}",
            got=f"base {int(start[lane]):#x} in lane {lane}", hint="add the offset to the base, and leave it out here",
        )  # fmt: skip
