"""VOPDs at risk are taken apart: text cases, and what the kernels compute stays what it was."""

from collections.abc import Callable
from pathlib import Path

import pytest
from texts import texts

from isa.analysis import cfg, valu_writes
from isa.asm.emit import emit
from isa.asm.parse import parse
from isa.asm.program import Program
from isa.lint.verify import verify
from isa.passes.general.vopd_interlock import VopdInterlock
from isa.prove.refine import validate

CASES = Path(__file__).parent / "cases" / "interlock"
(FOOTER,) = texts(__file__)


def instructions(program: Program) -> list[str]:
    return [line.text for line in program.lines if line.instruction]


def instructions_of(program: Program, kernel: str) -> list[str]:
    return [line.text for line in program.kernel(kernel).lines if line.instruction]


@pytest.mark.parametrize("path", sorted(CASES.glob("*.s")), ids=lambda p: p.stem)
def test_case(path: Path, text_case: Callable[[Path, Callable[[str], str]], None]) -> None:
    def show(source: str) -> str:
        after = parse(emit(VopdInterlock().run(parse("k:\n" + source + FOOTER))))
        verify(after)
        assert not list(valu_writes.analyse(cfg.of_kernel(after.kernel())).risks())
        return "\n".join(instructions(after))

    text_case(path, show)


def test_a_kernel_without_a_pair_at_risk_is_left_as_it_is(compiled: Callable[..., Program]) -> None:
    program = compiled("kernel5_lds.hip")
    assert VopdInterlock().run(program) is program


def test_the_same_is_computed(compiled: Callable[..., Program]) -> None:
    """Kernel 3, whose epilogue multiplies accumulators just written, as clang 22 pairs them."""
    program = compiled("kernel3_register_tiling.hip")
    before = list(valu_writes.analyse(cfg.of_kernel(program.kernel())).risks())
    after = VopdInterlock().run(program)
    assert not list(valu_writes.analyse(cfg.of_kernel(after.kernel())).risks())
    assert validate(program.kernel(), after.kernel()).proved
    assert (after is program) == (not before)


def test_of_several_kernels_each_is_changed_where_it_is_at_risk_and_no_other() -> None:
    code = (CASES / "apart.s").read_text().split(";; expect")[0]
    texts = [code, code.replace("v_mul_f32_e32 v2, v0, v0", "v_nop"), code]
    footers = [FOOTER.replace(" k\n", f" k{n}\n") for n in range(3)]
    program = parse(
        "".join(f"k{n}:\n{text}{footer}" for n, (text, footer) in enumerate(zip(texts, footers, strict=True)))
    )
    after = VopdInterlock().run(program)
    changed = [k for k in program.kernels if instructions_of(after, k) != instructions_of(program, k)]
    assert changed == ["k0", "k2"]
