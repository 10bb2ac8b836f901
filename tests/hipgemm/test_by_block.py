"""Each block in the order that suits it."""

import re
from pathlib import Path

import pytest

from hipgemm.optimise import clock as opt_clock
from hipgemm.optimise import search as optimise
from hipgemm.optimise.by_block import Mix
from isa.analysis import cfg
from isa.asm.parse import parse
from isa.asm.program import Program
from isa.errors import IsaError
from isa.passes import run_pipeline
from isa.prove.refine import validate

FOOTER = (Path(__file__).parents[1] / "isa" / "passes" / "footer.s").read_text()
PRODUCTS = "".join(f"\tv_mul_f32_e32 v{12 + i}, v{4 + i}, v{8 + i}\n" for i in range(4))
BODY = f"""k:
	s_load_b64 s[0:1], s[0:1], 0x0
	s_waitcnt lgkmcnt(0)
	global_load_b128 v[4:7], v0, s[0:1]
	global_load_b128 v[8:11], v0, s[0:1] offset:16
	s_waitcnt vmcnt(0)
	s_branch .Lone
.Lone:
{PRODUCTS}	global_store_b128 v0, v[12:15], s[0:1]
	s_branch .Ltwo
.Ltwo:
{PRODUCTS}	global_store_b128 v0, v[12:15], s[0:1] offset:16
	s_endpgm
"""


def pairs(program: Program) -> list[int]:
    """Of each block."""
    flow = cfg.of_kernel(program.kernel("k"))
    return [sum(flow.instructions[i].pair is not None for i in block.range) for block in flow.blocks]


def likes_the_last(program: Program) -> float:
    """A clock that a pair pleases in the last block and nowhere else."""
    *before, last = pairs(program)
    return 10.0 + sum(before) - last


def test_a_block_is_paired_where_that_gains_and_only_there(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(optimise, "REGISTERS", ())
    program = parse(BODY + FOOTER)
    found = optimise.optimise(program, "k", opt_clock.Clock("pairs", likes_the_last, likes_the_last))
    assert pairs(found.program) == [0, 0, 2]
    assert found.steps[1].passes == "pair{blocks=2}"
    *_, (_, again) = run_pipeline(program, found.steps[1].passes, kernel="k")
    assert pairs(again) == [0, 0, 2]
    assert validate(program.kernel("k"), found.program.kernel("k")).proved


def test_a_mix_that_is_left_half_way_is_whole() -> None:
    """The clock ends it; what had been chosen until then is what the pipeline says."""
    program = parse(BODY + FOOTER)
    *_, (_, paired) = run_pipeline(program, "pair", kernel="k")
    mix = Mix(program, "k", {"pair": paired}, "", likes_the_last(program))
    asked = 0

    def clock(changed: Program) -> float:
        nonlocal asked
        asked += 1
        if asked > 2:
            raise TimeoutError
        return 9.0 - asked

    with pytest.raises(TimeoutError):
        mix.improve(clock)
    assert mix.chosen.count("pair") == 2
    assert re.fullmatch(r"pair{blocks=\d\+\d}", mix.pipeline)
    assert mix.seconds == 7.0


def test_blocks_are_numbers() -> None:
    with pytest.raises(IsaError, match="there are no such blocks"):
        list(run_pipeline(parse(BODY + FOOTER), "pair{blocks=1-2}"))
