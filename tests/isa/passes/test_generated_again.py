"""Kernels 6 to 8 with main loops that the generator wrote: the code objects are the same, byte for byte."""

from __future__ import annotations

import dataclasses
from collections import Counter
from typing import Any

import pytest

from isa.analysis import cfg
from isa.asm.emit import emit
from isa.asm.program import Program
from isa.errors import IsaError
from isa.passes.edit import instruction_lines
from tools.dual_fma.compiled import PARAMETERS, SHAPES, MainLoop, main_loop


def with_loop(program: Program, loop: MainLoop) -> Program:
    """The program with its main loop's instructions exchanged. Comments and hints in between go."""
    at = cfg.of_kernel(program.kernel()).lines
    lines = list(program.lines)
    lines[at[loop.first] : at[loop.last] + 1] = instruction_lines(loop.lines)
    return program.with_lines(lines)


@pytest.mark.parametrize("name", SHAPES)
def test_the_generator_writes_the_same_bytes(ladder: dict[str, Any], name: str) -> None:
    """Of the whole kernel; `taken` says which instructions of the loop are not the generator's."""
    rung = ladder[name]
    loop = main_loop(rung.program.kernel(), SHAPES[name])
    assert loop.same
    assert rung.tools.code_object(emit(with_loop(rung.program, loop))) == rung.image
    kinds = Counter(inst.desc.unit for inst in loop.taken)
    mine = len(loop.lines) - len(loop.taken)
    if name == "kernel6":
        assert (len(loop.lines), mine) == (82, 79)
        assert kinds == {"salu": 2, "branch": 1}
    else:
        # 8 steps of 12 loads, a wait and 64 FMAs; the turn of the buffer: 8 stores, 2 waits, 2 barriers.
        assert mine == 8 * (12 + 1 + 64) + 12 + (16 if name == "kernel8" else 0)
    if name == "kernel8":
        # The compiler's loop over K, and the two offsets that the pass lets follow it.
        assert kinds["valu"] == 2
        assert set(kinds) - {"internal"} == {"salu", "branch", "valu"}
        assert len(loop.taken) <= 15


@pytest.mark.parametrize(
    "change",
    [{"lane_rows": 8}, {"thread_rows": 16, "thread_columns": 8}, {"rows": 64}],
    ids=str,
)
def test_the_numbers_are_not_taken_from_the_program(ladder: dict[str, Any], change: dict[str, int]) -> None:
    """With other parameters the loop is another, or none."""
    rung = ladder["kernel8"]
    try:
        loop = main_loop(rung.program.kernel(), SHAPES["kernel8"], dataclasses.replace(PARAMETERS, **change))
    except IsaError:
        return
    assert not loop.same
    assert rung.tools.code_object(emit(with_loop(rung.program, loop))) != rung.image


def test_a_loop_without_ds_load_b64_is_refused(ladder: dict[str, Any]) -> None:
    with pytest.raises(IsaError, match="does not begin with the LDS loads"):
        main_loop(ladder["kernel5"].program.kernel(), SHAPES["kernel6"])
