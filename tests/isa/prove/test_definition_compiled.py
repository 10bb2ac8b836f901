"""The proof by definition of what a compiler wrote: kernels 5 and 8 at sizes, and changes of them that it tells."""

from __future__ import annotations

import functools
import re

import pytest

from hipgemm.judge import proving
from hipgemm.kernels.build import build
from hipgemm.kernels.ladder import rung
from isa import toolchain
from isa.asm.parse import parse
from isa.errors import IsaError
from isa.prove.proof import Proof

from .edits import is_refused


@pytest.fixture(autouse=True)
def _compiler() -> None:
    try:
        toolchain.find()
    except IsaError as error:
        pytest.skip(str(error))


@functools.cache
def text(name: str) -> str:
    return build(name).assembly.read_text()


def proof_of(name: str, changed: str, size: tuple[int, int, int] = (128, 256, 24)) -> Proof:
    return proving.generated(rung(name), parse(changed, "compiled.s"), proving.launches_at(rung(name), *size, 1))


@pytest.mark.parametrize(
    "name", ["kernel5", *(pytest.param(f"kernel{i}", marks=pytest.mark.slow) for i in (3, 4, 6, 7, 8))]
)
def test_what_was_compiled_computes_the_product(name: str) -> None:
    proof = proof_of(name, text(name))
    assert proof.proved, str(proof)


FAULTS = {
    "a carry is lost": r"\tv_add_co_ci_u32\S* (v\d+), null, (s\d+), (v\d+), vcc_lo\n",
    "a low half is not added to": r"\tv_add_co_u32 (v\d+), vcc_lo, s\d+, \1\n",
    "a product less": r"\tv_dual_fmac_f32 .*\n",
    "beta is not looked at": r"\tv_cmp_(?:eq|neq)_f32.*\n",
}


@pytest.mark.parametrize("name", FAULTS)
def test_faults_are_found(name: str) -> None:
    changed, count = re.subn(FAULTS[name], "", text("kernel5"), count=1)
    assert count
    assert is_refused(lambda: proof_of("kernel5", changed))


def test_a_shift_by_less_is_another_address() -> None:
    changed = re.sub(r"(v_lshlrev_b64 v\[\d+:\d+\]), 2,", r"\1, 3,", text("kernel5"), count=1)
    assert proof_of("kernel5", changed).verdict == "different"


def test_kernels_with_rows_of_work_items_are_refused_by_name() -> None:
    with pytest.raises(IsaError, match="kernel1 cannot be proved"):
        proving.launches_at(rung("kernel1"), 16, 16, 1, 1)
