"""Pipelines as text."""

import dataclasses
import re
from collections.abc import Callable
from typing import ClassVar

import pytest

from isa.asm.emit import emit
from isa.asm.parse import parse
from isa.asm.program import Program
from isa.errors import IsaError
from isa.passes import PASSES, parse_pipeline, run_pipeline
from isa.passes.gemm.bank_balance import BankBalance
from isa.passes.gemm.batch_loads import BatchLoads
from isa.passes.gemm.unroll import Unroll


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("", []),
        ("bank-balance", [BankBalance()]),
        ("bank-balance,unroll,batch-loads", [BankBalance(), Unroll(), BatchLoads()]),
        (" bank-balance { rows=8 columns=8 } , unroll{}", [BankBalance(8, 8), Unroll()]),
        ("batch-loads{per-step=4}", [BatchLoads(per_step=4)]),
    ],
)
def test_text_to_passes(text: str, expected: list[object]) -> None:
    assert parse_pipeline(text) == expected


@pytest.mark.parametrize(
    ("text", "column", "message"),
    [
        ("unrol", 1, "there is no pass 'unrol'"),
        ("unroll,", 8, "a pass is missing"),
        ("unroll,,unroll", 8, "a pass is missing"),
        ("unroll{limit=x}", 8, "limit takes int"),
        ("unroll{limit}", 8, "limit takes int"),
        ("unroll{steps=8}", 8, "unroll has no option 'steps'"),
        ("unroll{limit=8", 1, "not a pipeline"),
        ("unroll unroll", 1, "not a pipeline"),
    ],
)
def test_what_is_wrong_is_shown_at_its_column(text: str, column: int, message: str) -> None:
    with pytest.raises(IsaError, match=message) as caught:
        parse_pipeline(text)
    assert caught.value.span is not None
    assert (caught.value.span.col, caught.value.span.text) == (column, text)


def test_an_empty_pipeline_yields_nothing() -> None:
    assert list(run_pipeline(parse("\ts_endpgm\n"), "")) == []


def test_a_fault_of_the_input_is_no_pass_s(compiled: Callable[..., Program]) -> None:
    text = emit(compiled("kernel1_naive.hip"))
    wrong = re.sub(r"\.amdhsa_next_free_vgpr \d+", ".amdhsa_next_free_vgpr 1", text)
    with pytest.raises(IsaError, match=r"^.*the pipeline's input is not legal: the code uses \d+ VGPRs") as caught:
        list(run_pipeline(parse(wrong, "k.s"), "vopd-interlock"))
    assert caught.value.span is not None
    assert caught.value.span.text.endswith(".amdhsa_next_free_vgpr 1")
    assert "no pass has run" in str(caught.value.hint)


@dataclasses.dataclass(frozen=True)
class Breaks:
    """A pass that takes registers from the descriptor."""

    name: ClassVar[str] = "breaks"

    def run(self, program: Program) -> Program:
        return parse(re.sub(r"\.amdhsa_next_free_vgpr \d+", ".amdhsa_next_free_vgpr 1", emit(program)))


def test_a_fault_of_a_pass_is_not_the_input_s(
    compiled: Callable[..., Program], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(PASSES, "breaks", Breaks)
    with pytest.raises(IsaError, match="the pass breaks broke the program: the code uses"):
        list(run_pipeline(compiled("kernel1_naive.hip"), "vopd-interlock,breaks"))
