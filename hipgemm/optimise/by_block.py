"""An order for each block: the one of several instruction orders that has the lowest predicted time.

A pass that orders a block (`ORDERS`) leaves registers and all other blocks alone, so one block may stand in the order
of one pass and the next in another's; what gains in a loop may lose before it. In: a program, and what each such pass
makes of it. One block after the other, those first that issue the most instructions, is given each of these orders,
and keeps the one for which the clock reads least. Out: a pipeline, `pair{blocks=2+5},schedule{blocks=3}`, which anybody
may run again.

Limits: a descent, so two blocks that gain only together are not found; blocks of less than `LEAST` of the instructions
that are issued where loops make 8 iterations stay in the order in which the descent began.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping

from isa.analysis import cfg
from isa.asm.program import Program
from isa.passes.general.rename_banks import weights
from isa.passes.schedule import block_order
from isa.semantics.instruction import Instruction

ORDERS = ("pair", "pair{first}", "schedule", "schedule{first}", "relax-waits")
LEAST = 0.05


class Mix:
    """One order for each block. chosen: "" for the block as it was, or one of `made`'s keys; always consistent, so that
    `improve` may be left at any time. seconds: what the clock reads for it."""

    def __init__(self, program: Program, name: str, made: Mapping[str, Program], begin: str, seconds: float) -> None:
        self.kernel, self.seconds = program.kernel(name), seconds
        self.cfg = cfg.of_kernel(self.kernel)
        self.rows = {"": _rows(self.cfg)} | {order: _rows(cfg.of_kernel(p.kernel(name))) for order, p in made.items()}
        self.chosen = [begin] * len(self.cfg.blocks)

    def improve(self, clock: Callable[[Program], float]) -> None:
        """Gives each block its order."""
        weight = weights(self.cfg)
        issued = {b.index: weight[b.start] * len(b.range) for b in self.cfg.blocks}
        for b in sorted(issued, key=lambda b: -issued[b]):
            if issued[b] < LEAST * sum(issued.values()):
                return
            tried = [self.rows[self.chosen[b]][b]]
            for order, rows in self.rows.items():
                if rows[b] not in tried:
                    tried.append(rows[b])
                    self._try(b, order, clock)

    def _try(self, b: int, order: str, clock: Callable[[Program], float]) -> None:
        chosen = [*self.chosen[:b], order, *self.chosen[b + 1 :]]
        changed = {i: self.rows[o][i] for i, o in enumerate(chosen) if o}
        if (seconds := clock(block_order.put(self.kernel, self.cfg, changed))) < self.seconds:
            self.chosen, self.seconds = chosen, seconds

    @property
    def pipeline(self) -> str:
        """The passes that leave this; "" where nothing is to be done."""
        steps = []
        for order in self.rows:
            changed = [b for b, rows in enumerate(self.rows[order]) if order and rows != self.rows[""][b]]
            mine = [b for b in changed if self.chosen[b] == order]
            if mine:
                steps.append(order if mine == changed else _only(order, mine))
        return ",".join(steps)


def _rows(flow: cfg.Cfg) -> list[list[Instruction]]:
    return [[flow.instructions[i] for i in block.range] for block in flow.blocks]


def _only(order: str, blocks: list[int]) -> str:
    """A pass for these blocks alone."""
    name, _, options = order.rstrip("}").partition("{")
    return f"{name}{{{f'{options} ' if options else ''}blocks={'+'.join(map(str, blocks))}}}"
