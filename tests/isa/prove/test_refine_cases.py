"""The validator on small pairs of programs: `cases/refine/*.s` hold the lines of two kernels, `original:` and
`rewritten:`, and below them the proof, or what differs.

All start with the argument pointer in s[0:1], workgroup x and y in s2 and s3, and 128 work-items, whose number is in
v0. The arguments are those of the GEMM kernels.
"""

import ast
from collections.abc import Callable
from pathlib import Path

import pytest

import isa
from isa.asm.parse import parse
from isa.asm.program import Program
from isa.prove.refine import validate

from .kernel5_facts import facts

CASES = Path(__file__).parent / "cases" / "refine"
FACTS = facts(elements=2**30)
DESCRIPTOR = """
.Lfunc_end_{0}:
	.amdhsa_kernel {0}
		.amdhsa_user_sgpr_count 2
		.amdhsa_user_sgpr_kernarg_segment_ptr 1
		.amdhsa_system_sgpr_workgroup_id_x 1
		.amdhsa_system_sgpr_workgroup_id_y 1
	.end_amdhsa_kernel
"""


def program(source: str) -> Program:
    return parse(source + DESCRIPTOR.format("original") + DESCRIPTOR.format("rewritten"), "case.s")


def show(source: str) -> str:
    both = program(source.replace("rewritten:", ".Lfunc_end_o:\nrewritten:"))
    proof = validate(both.kernel("original"), both.kernel("rewritten"), FACTS)
    return str(proof).split("\n  assuming")[0]


@pytest.mark.parametrize("path", sorted(CASES.glob("*.s")), ids=lambda p: p.stem)
def test_case(path: Path, text_case: Callable[[Path, Callable[[str], str]], None]) -> None:
    text_case(path, show)


def test_prover_and_passes_share_nothing() -> None:
    root = Path(isa.__file__).parent
    for package, other in (("prove/refine", "isa.passes"), ("algebra", "isa.passes"), ("passes", "isa.prove")):
        for path in (root / package).rglob("*.py"):
            for node in ast.walk(ast.parse(path.read_text())):
                names = [a.name for a in node.names] if isinstance(node, ast.Import) else []
                names += [node.module or ""] if isinstance(node, ast.ImportFrom) else []
                assert not any(name.startswith(other) for name in names), path
