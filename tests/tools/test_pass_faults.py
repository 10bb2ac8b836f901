"""Faults put into passes: the validator finds those of a sample, and one that proves everything is noticed. Of
`if-convert`, what is proved must leave the same on the reference engine.
"""

import random
from collections import Counter
from itertools import islice
from pathlib import Path
from unittest import mock

import programs
import pytest

from hipgemm.kernels.object import Kernel
from isa.asm.parse import parse
from tests.isa.passes.test_if_convert import left, source
from tools import pass_faults

FOOTER = (Path(__file__).parents[1] / "isa" / "passes" / "footer.s").read_text()
CODE = Path(__file__).with_name("sources").joinpath("pass_faults_code.s").read_text()
CLEAN = CODE.replace("ds_load_b32 v5, v1\n", "global_load_b32 v5, v1, s[0:1] offset:8\n")
CLEAN = CLEAN.replace("ds_load_b32 v5, v1 offset:4\n", "global_load_b32 v5, v1, s[0:1] offset:12\n")
CLEAN = CLEAN.replace(
    "\tv_lshlrev_b32_e32 v1, 2, v0\n\tv_add",
    "\tv_lshlrev_b32_e32 v1, 3, v0\n\ts_add_u32 s0, s0, 0x8000\n\ts_addc_u32 s1, s1, 0\n\tv_add",
)
"""It can be launched: no work-item touches what another one writes."""
KERNEL = (Kernel("k", "k.s", "", "", False), parse(CODE + FOOTER, "k.s"))


def test_a_sample_is_found() -> None:
    found = pass_faults.study([KERNEL], 30, 6, pytest.fail)
    verdicts = {verdict for _, verdict in found}
    assert "missed" not in verdicts
    assert sum(n for (_, verdict), n in found.items() if verdict == "found") >= 15
    assert len({fault for fault, verdict in found if verdict == "found"}) >= 4


def test_a_validator_that_proves_everything_is_noticed() -> None:
    said: list[str] = []
    clean = (Kernel("test", "test.s", "", "", False), parse(programs.source(CLEAN.removeprefix("k:\n")), "test.s"))
    itself = clean[1].kernel()
    everything = pass_faults.validate(itself, itself)
    with mock.patch.object(pass_faults, "validate", return_value=everything):
        found = pass_faults.study([clean], 8, 3, said.append)
    assert sum(n for (_, verdict), n in found.items() if verdict == "missed") == len(said) > 2


def test_faults_of_if_convert_are_found_or_change_nothing() -> None:
    words = [range(32), [random.Random(7).getrandbits(32) for _ in range(32)]]
    kernels = [(Kernel("k", f"k{n}.s", "", "", False), parse(source(n), f"k{n}.s")) for n in range(8)]
    kinds = ("mask", "outside", "way", "copy-of", "arm", "source", "room", "left-out")
    seen: Counter[tuple[str, bool]] = Counter()
    for outcome in islice(pass_faults.outcomes(kernels, 3, kinds), 60):
        if (made := outcome.made) is not None:
            before = next(program for _, program in kernels if program.file == made.file.split()[0])
            same = all(
                (left(before, lanes, v0)[0] == left(made, lanes, v0)[0]).all()
                for lanes in (0xFFFFFFFF, 0x00FF3333)
                for v0 in words
            )
            seen["found" if outcome.verdict == "found" else "proved", same] += 1
    assert not seen["proved", False]
    assert seen["found", False] > 4
