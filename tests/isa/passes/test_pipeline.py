"""Pipelines as text."""

import pytest

from isa.errors import IsaError
from isa.parse import parse
from isa.passes import parse_pipeline, run_pipeline
from isa.passes.bank_balance import BankBalance
from isa.passes.batch_loads import BatchLoads
from isa.passes.unroll import Unroll


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
