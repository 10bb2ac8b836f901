"""What two kernels name, and what is compared of it, beside `cases/edits/named.s`."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from isa.asm.data import ProgramData
from isa.asm.parse import parse
from isa.asm.program import Program
from isa.errors import IsaError
from isa.prove import named, settings

KERNEL = (Path(__file__).parent / "cases" / "edits" / "named.s").read_text().partition(";; ")[0]


@pytest.fixture(scope="module")
def original() -> Program:
    return parse(KERNEL, "original.s")


def test_all_differences(original: Program) -> None:
    edited = parse(KERNEL.replace("\t.long\t5\n", "\t.long\t6\n").replace("2, 4, 9", "2, 4, 8"), "edited.s")
    found = named.differences(original.kernel("look"), edited.kernel("look"))
    assert [d.what.split(" is")[0] for d in found] == ["byte 0 of table", "byte 0 of limits"]


def test_code_that_a_kernel_may_run(original: Program) -> None:
    assert [f.name for f in named.Names(original).functions("look")] == ["look", "twice"]


def test_what_no_file_has_is_an_assumption() -> None:
    program = parse(KERNEL.replace(".quad\ttwice", ".quad\telsewhere"), "original.s")
    kernel = program.kernel("look")
    assert any("elsewhere, which neither file defines" in text for text in named.assumed(kernel, kernel))


def test_the_descriptor_that_a_kernel_is_launched_by_is_its_own() -> None:
    text = """k:
	s_endpgm
.Lfunc_end0:
	.amdhsa_kernel k
		.amdhsa_next_free_vgpr 8
		.amdhsa_next_free_sgpr 8
	.end_amdhsa_kernel
	.amdgpu_metadata
---
amdhsa.kernels:
  - .name: k
    .symbol: k.kd
...
	.end_amdgpu_metadata
"""
    old = parse(text)
    renamed, other = (parse(re.sub(a, b, text)).kernel() for a, b in ((r"\bk\b", "own"), ("l: k", "l: x")))
    assert settings.of_start(old.kernel(), renamed) is None
    assert "another .symbol" in str(settings.of_start(old.kernel(), other))


def test_another_card_is_an_assumption(original: Program) -> None:
    other = parse(KERNEL.replace("gfx1100", "gfx1151"), "edited.s").kernel("look")
    assert "the kernels run on gfx1100 and gfx1151" in named.assumed(original.kernel("look"), other)


def test_contents() -> None:
    text = """\
	.section .rodata
a:	
	.string "x", "é"
	.octa 1
	.balign 8, 0xff
b:
	.quad 2, c-a
	.double -2
c:
	.comm shared, 32, 16
	.amdgpu_lds tile, 1024, 8
"""
    data = ProgramData(parse(text))
    a, b, tile = (data.contents(name) for name in ("a", "b", "tile"))
    assert a
    assert b
    assert tile
    assert [p.content for p in a.pieces][:4] == [b"x\0", b"\xc3\xa9\0", (1).to_bytes(16, "little"), b"\xff" * 3]
    assert [(p.at, p.content) for p in b.pieces] == [(0, b"\2" + bytes(7)), (8, "c-a"), (16, b"\0" * 7 + b"\xc0")]
    assert (b.align, tile.size, tile.align, tile.held) == (8, 1024, 8, False)


@pytest.mark.parametrize("directive", [".fill 0x3fffffff, 1, 7", ".zero 0x3fffffff, 7", ".byte 1\n\t.p2align 30, 7"])
def test_what_a_directive_repeats_has_a_limit(directive: str) -> None:
    data = ProgramData(parse(f"k:\n\ts_endpgm\n\t.data\nx:\n\t{directive}\n"))
    with pytest.raises(IsaError, match="data of more than 268435456 bytes"):
        data.contents("x")


@pytest.mark.parametrize("directive", [".comm", ".lcomm", ".amdgpu_lds"])
def test_a_size_that_is_not_known_is_no_size(directive: str) -> None:
    data = ProgramData(parse(f"k:\n\ts_endpgm\n.Lend:\n\t{directive} x, .Lend-k+64, 4\n"))
    with pytest.raises(IsaError, match="how much there is of x is not known"):
        data.contents("x")
