"""Every tile of the matrix units that the parameters accept: its registers do not clash, and lint has nothing to
say of the kernel."""

from __future__ import annotations

import itertools
from contextlib import suppress
from functools import cache
from typing import Any

import pytest
from launching import program

from isa.gemm.matrix.parameters import MatrixParameters
from isa.gemm.matrix.registers import MatrixRegisters, SideRegisters
from isa.gemm.names import name_of
from isa.gemm.vector.parameters import ParameterError
from isa.lint import lint
from isa.registers import Reg

EDGES = 16, 32, 64, 128
TYPES = ("f16", "f32"), ("i8", "i32"), ("bf16", "f16"), ("i8", "bf16"), ("i4", "i32"), ("f16", "f16")
"""The last with sums of 16 bits."""
WAVES = (1, 1), (2, 2), (1, 2), (4, 1), (2, 1), (1, 4)
"""Down and across."""


@cache
def accepted(types: int, waves: int, stages: int) -> tuple[tuple[MatrixParameters, MatrixRegisters], ...]:
    """All of the first types and numbers of waves. Whoever refuses, does so with a ParameterError."""
    found = []
    some = itertools.product(TYPES[:types], WAVES[:waves], range(1, stages + 1))
    rest = itertools.product(EDGES, EDGES, (16, 32, 64, 128, 256), (False, True), (False, True))
    for ((factor, result), (down, across), stage), (a, b, depth, *trans) in itertools.product(some, rest):
        fields: dict[str, Any] = {"factor": factor, "result": result, "trans_a": trans[0], "trans_b": trans[1]}
        fields["half_sums"] = (factor, result) == TYPES[-1]
        with suppress(ParameterError):
            p = MatrixParameters(a * down, b * across, depth, a, b, stage, **fields)
            found.append((p, MatrixRegisters.of(p)))
    return tuple(found)


def units(*registers: Reg) -> list[Reg]:
    return [unit for register in registers for unit in register.units()]


def held(side: SideRegisters) -> list[Reg]:
    """What a side holds at one time or another; what it turns around may lie in its own fragments."""
    fragments = units(*side.fragments)
    turned = [] if side.pieces == side.fetched else units(*side.pieces)
    assert len(set(turned)) == len(turned)
    more = [unit for unit in turned if unit not in fragments]
    return [*fragments, *side.read, side.write, *side.offsets, *units(*side.fetched, *side.odd), *more]


def test_no_two_values_share_a_register() -> None:
    assert len(accepted(2, 2, 1)) > 200
    for p, r in accepted(2, 2, 1):
        sums = {reg for (_, j), reg in r.sums.items() if j < p.sums_across}
        used = [*units(*sums), *held(r.a), *held(r.b)]
        assert len(set(used)) == len(used), name_of(p)
        assert all(register.index < r.count for register in used), name_of(p)


def test_fragments_beside_what_was_turned_around_are_not_enough() -> None:
    """Where a thread turns around more than its side's fragments hold."""
    more = [p for p, r in accepted(2, 2, 1) if len(units(*r.a.pieces)) > len(units(*r.a.fragments)) and p.trans_a]
    assert MatrixParameters(64, 64, 128, 32, 32, factor="i8", result="i32", trans_a=True) in more


@pytest.mark.slow
def test_lint_has_nothing_to_say() -> None:
    for p, _ in accepted(6, 2, 1)[::5]:
        assert lint.lint_program(program.__wrapped__(p)) == [], name_of(p)
