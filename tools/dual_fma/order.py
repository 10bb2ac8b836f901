"""The order of dual FMAs of a thread tile, or of a kernel's step of k: banks, stalls, and whether any order is better.

In: a tile, for which `isa.outer_product` has an order, or code, whose order is read from its main loop: the FMAs from
its first up to where an accumulator comes again. Out: a `DualOrder`, counted by `tools.dual_fma.cost` from the
instructions alone, whoever wrote them.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from hipgemm.inspection import BankRow, rows
from isa.analysis import banks, inner
from isa.analysis import cfg as control_flow
from isa.analysis.cfg import Cfg
from isa.asm.parse import parse_disassembly, parse_instruction
from isa.asm.program import Instruction, Program
from isa.errors import IsaError
from isa.gemm import names
from isa.object.code_object import CodeObject, disassemble
from isa.outer_product import fma_order, text
from isa.registers import VGPR_LIMIT, Reg
from tools.dual_fma import compiled, cost, odd_tiles
from tools.dual_fma.cost import Cost

DESTINATIONS = {"opposite": fma_order.opposite, "turning": fma_order.turning}
"""How the banks of accumulators are chosen: see `isa.outer_product.fma_order`."""


@dataclass(frozen=True)
class Written:
    """parameters: the name of a generated kernel. same: its main loop, in other registers, is this one. instructions:
    of the main loop; taken: those that stand in no generated loop, control and address arithmetic."""

    parameters: str
    same: bool
    instructions: int
    taken: int


@dataclass(frozen=True)
class DualOrder:
    """source: what it is the order of. rows: its instructions, as they read their banks when the pass before has filled
    the caches; cost: of one pass. written: of kernels 6 to 8, what the generator writes of their main loop."""

    source: str
    cost: Cost
    rows: tuple[BankRow, ...]
    written: Written | None = None

    def to_dict(self) -> dict[str, Any]:
        """All of it, as JSON can hold it; each count with `optimal`."""
        found = dataclasses.asdict(self)
        counts = found["cost"]
        counted = [*zip(counts["stalls"].values(), self.cost.stalls.values(), strict=True)]
        counted += [(counts[name], getattr(self.cost, name)) for name in ("instructions", "shared_reads", "own_reads")]
        for shown, count in counted:
            shown["optimal"] = count.optimal
        return found


def of_tile(columns: int, rows_: int, destinations: str = "opposite") -> DualOrder:
    """The order for `columns` elements of A's column times `rows_` of B's row. destinations: one of DESTINATIONS, where
    both sides are even.

    IsaError where the VGPRs do not do, and for a tile of fewer than two products.
    """
    if columns * rows_ > VGPR_LIMIT:
        raise _no_room(columns, rows_, columns * rows_)
    fmas: Sequence[fma_order.Fma]
    if columns % 2 or rows_ % 2 or columns * rows_ < 2:
        fmas = odd_tiles.schedule(columns, rows_)
        placed = odd_tiles.place(fmas)
    else:
        fmas = pairs = fma_order.schedule(columns, rows_)
        placed = fma_order.place(pairs, DESTINATIONS[destinations](pairs))
    if (highest := max(reg.index for reg in placed.accumulators.values())) >= VGPR_LIMIT:
        raise _no_room(columns, rows_, highest + 1)
    lines = text.dual_fmas(fmas, placed.column, placed.row, placed.accumulators)
    name = f"thread tile {columns} x {rows_}"
    return _order(name, [parse_instruction(line, name, i) for i, line in enumerate(lines)])


def _no_room(columns: int, rows_: int, needed: int) -> IsaError:
    return IsaError(
        f"a thread tile of {columns} x {rows_} has no room in the VGPRs",
        expected=f"at most {VGPR_LIMIT} for its accumulators and operands",
        got=str(needed),
    )


def of_rung(program: Program, rung: str) -> DualOrder:
    """The order of one step of k of a kernel of the ladder, and for kernels 6 to 8 what the generator writes of it."""
    found = of_code(program, rung)
    if rung not in compiled.SHAPES:
        return found
    loop = compiled.main_loop(program.kernel(), compiled.SHAPES[rung])
    written = Written(names.name_of(compiled.PARAMETERS), loop.same, len(loop.lines), len(loop.taken))
    return dataclasses.replace(found, written=written)


def of_code(given: Program | CodeObject, source: str, name: str | None = None) -> DualOrder:
    """The order of one step of k in the main loop of kernel `name`, or of the only one. source: what to call it.

    IsaError where there is no main loop, or its dual FMAs are no outer product.
    """
    flow = _flow(given, source, name)
    main = inner.main_loop(flow)
    body = list(inner.body(flow, main)) if main else []
    step: list[Instruction] = []
    sums: set[Reg] = set()
    for inst in body:
        if inner.fmas(inst):
            written = set(banks.destinations(inst))
            if sums & written:
                break
            sums |= written
            step.append(inst)
    if not step:
        raise IsaError(f"{source}: kernel {flow.name} has no main loop with FMAs", expected="v_dual_fmac_f32 in a loop")
    return _order(f"{source}, a step of its main loop", step)


def _flow(given: Program | CodeObject, source: str, name: str | None) -> Cfg:
    if isinstance(given, Program):
        return control_flow.of_kernel(given.kernel(name))
    kernel = given.kernel(name or next(iter(given.kernels)))
    found = disassemble(given.code(kernel.name), kernel.descriptor.entry, given.arch)
    return control_flow.of_instructions(parse_disassembly(found, source), kernel.name)


def _order(source: str, step: Sequence[Instruction]) -> DualOrder:
    return DualOrder(source, cost.measure(step), tuple(rows([*step, *step]))[len(step) :])
