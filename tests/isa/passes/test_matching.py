"""Pairs chosen before the order, held against the most that a solver (CP-SAT of OR-tools) finds."""

import random
from collections.abc import Sequence

import pytest

from isa.analysis import dependences
from isa.analysis.dependences import Why
from isa.asm.parse import parse_instruction
from isa.passes.schedule import dual_issue
from isa.passes.schedule.list_schedule import matched
from isa.semantics.instruction import Instruction
from isa.targets import GFX1100

cp_model = pytest.importorskip(
    "ortools.sat.python.cp_model", reason="the solver CP-SAT is not installed (pip install ortools)"
)
OPS = ("v_mul_f32_e32", "v_add_f32_e32", "v_fmac_f32_e32", "v_max_f32_e32", "v_sub_f32_e32")
Edges = Sequence[dict[int, Why]]


def block(seed: int, length: int = 24, registers: int = 24) -> list[Instruction]:
    chance = random.Random(seed)

    def reg() -> str:
        return f"v{chance.randrange(registers)}"

    return [parse_instruction(f"{chance.choice(OPS)} {reg()}, {reg()}, {reg()}") for _ in range(length)]


def most(before: Edges, could: Sequence[tuple[int, int]], fixed: Sequence[tuple[int, int]] = ()) -> int:
    """The most pairs that some order has, `fixed` among them; -1 where none has these."""
    model, n = cp_model.CpModel(), len(before)
    at = [model.new_int_var(0, n - 1, f"at{i}") for i in range(n)]
    pair = {(i, j): model.new_bool_var(f"pair{i}_{j}") for i, j in could}
    for i in range(n):
        model.add_at_most_one(x for key, x in pair.items() if i in key)
    for (i, j), x in pair.items():
        model.add(at[i] == at[j]).only_enforce_if(x)
    for later, row in enumerate(before):
        for earlier, why in row.items():
            together = pair.get((earlier, later)) if why == Why.WAR else None
            model.add(at[later] >= at[earlier] + 1 - (0 if together is None else together))
    for key in fixed:
        model.add(pair[key] == 1)
    model.maximize(sum(pair.values()))
    solver = cp_model.CpSolver()
    solver.parameters.num_workers = 1
    solver.parameters.max_deterministic_time = 5
    status = solver.solve(model)
    assert status in (cp_model.OPTIMAL, cp_model.INFEASIBLE), solver.status_name(status)
    return round(solver.objective_value) if status == cp_model.OPTIMAL else -1


def suiting(rows: list[Instruction]) -> tuple[Edges, list[tuple[int, int]]]:
    """A block's dependences, and which two of its instructions a VOPD can hold."""
    halves = [dual_issue.facts(inst) for inst in rows]
    n = len(rows)
    could = [
        (i, j) for i in range(n) for j in range(i + 1, n)
        if any(dual_issue.pairs(halves[i], halves[j], GFX1100.family.vopd))
    ]  # fmt: skip
    return dependences.edges(rows), could


def test_nearly_as_many_as_there_can_be() -> None:
    """An order has each choice, and it has 9 of 10 pairs that a solver finds."""
    found = best = 0
    for seed in range(20):
        before, could = suiting(block(seed))
        chosen = matched(before, range(len(before)), lambda i, j, could=set(could): (i, j) in could)
        assert most(before, list(chosen.items()), list(chosen.items())) == len(chosen)
        found += len(chosen)
        best += most(before, could)
    assert best > 100
    assert 0.9 * best <= found <= best


def test_the_judge_says_no() -> None:
    """Two pairs that each wait for the other; and one whose second half reads what the first writes."""
    texts = (
        "v_mul_f32_e32 v1, v4, v8", "v_mul_f32_e32 v2, v6, v9", "v_add_f32_e32 v3, v2, v5", "v_add_f32_e32 v7, v1, v4",
    )  # fmt: skip
    before = dependences.edges([parse_instruction(text) for text in texts])
    assert most(before, [(0, 2), (1, 3)]) == 1
    assert most(before, [(0, 2), (1, 3)], [(0, 2), (1, 3)]) == -1
    assert most(before, [(0, 3)], [(0, 3)]) == -1
    assert matched(before, range(4), lambda i, j: (i, j) in {(0, 2), (1, 3)}) == {0: 2}
