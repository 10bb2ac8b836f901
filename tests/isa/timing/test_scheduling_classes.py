"""Every instruction has a scheduling class, every class a cost with a source, or nobody timed it and that is said."""

from __future__ import annotations

from collections import Counter

import pytest
from texts import texts

from isa.analysis import cfg as control_flow
from isa.asm.parse import parse, parse_instruction
from isa.errors import IsaError
from isa.instructions import table
from isa.semantics import scheduling
from isa.semantics.instruction import Role, inst
from isa.timing.machine import rdna3
from isa.timing.machine.scheduling_classes import COSTS, cost
from isa.timing.native import engine_abi
from isa.timing.native.engine_abi import Code
from isa.timing.trace.decode import decode

FORMS = {"vopd", "valu_dpp"}
NOT_TIMED = (
    "barrier_first barrier_state gws halt interpolate lds_nop pipeflush sad_wide scalar_cache tbuffer_load "
    "tbuffer_store trap wait_event"
)
# instruction | class | cycles of the VALU | latency
CASES = texts(__file__)[0].strip().splitlines()


def decoded(*lines: str) -> Code:
    return decode(control_flow.of_text(parse("\n".join((*lines, "s_endpgm")))), rdna3.values())


def test_every_class_is_of_some_entry_and_has_a_row() -> None:
    named = Counter(entry.sched for entry in table().values())
    assert named.keys() | FORMS == scheduling.CLASSES.keys() == COSTS.keys()
    assert not named.keys() & FORMS


def test_costs_name_machine_numbers_and_sources() -> None:
    for name, row in COSTS.items():
        if row is None:
            continue
        assert row.source, name
        assert (scheduling.CLASSES[name] == "valu") == (row.kind == engine_abi.VALU), name
        assert all(number in rdna3.NUMBERS for number in (row.passes, row.latency)) or row.kind != engine_abi.VALU, name
    assert sorted(name for name, row in COSTS.items() if row is None) == NOT_TIMED.split()


def test_an_entry_without_a_class_is_an_error() -> None:
    with pytest.raises(ValueError, match="no scheduling class 'valu128'"):
        inst("v_nothing_b128 =v.b128", sched="valu128")
    assert "v_nothing_b128" not in table()


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.split()[0])
def test_what_the_vector_alu_takes(case: str) -> None:
    text, name, passes, latency = (part.strip() for part in case.split("|"))
    assert parse_instruction(text).scheduling_class == name
    code = decoded(text)
    assert (code.kind[0], code.passes[0]) == (engine_abi.VALU, int(passes))
    assert code.latency[0] == int(latency) - int(passes) + 1


def test_a_matrix_product_whose_operands_begin_on_one_bank_takes_two_more() -> None:
    apart = "v_wmma_f32_16x16x16_f16 v[0:7], v[8:15], v[17:24], v[0:7]"
    together = "v_wmma_f32_16x16x16_f16 v[0:7], v[8:15], v[16:23], v[0:7]"
    zero = "v_wmma_f32_16x16x16_f16 v[0:7], v[8:15], v[16:23], 0"
    code = decoded(apart, together, zero)
    assert list(code.passes[:3] + code.bank_cold[:3]) == [32, 34, 32]
    assert list(code.bank_reuse[:3]) == [0, 2, 0]


@pytest.mark.parametrize("name", NOT_TIMED.split())
def test_what_nobody_timed_is_refused_by_name(name: str) -> None:
    entry = next(e for e in table().values() if e.sched == name)

    def operand(role: Role) -> str:
        file = "s" if role.kind == "s" else "v"
        words = int(role.type[1:]) // 32
        register = f"{file}0" if words < 2 else f"{file}[0:{words - 1}]"
        return {"f": "sendmsg(MSG_RTN_GET_TMA)", "i": "0"}.get(role.kind, register)

    text = f"{entry.name} {', '.join(map(operand, entry.roles))}"
    with pytest.raises(IsaError, match=f"the time of {entry.name} is not known") as error:
        decoded("v_mov_b32_e32 v0, 0", text)
    assert "2:1" in str(error.value)
    assert "isa/timing/machine/scheduling_classes.py" in str(error.value)


def test_each_entry_has_a_cost_or_is_refused_by_its_name() -> None:
    """Whatever the form: no class falls back on another."""
    for entry in table().values():
        made = parse_instruction(entry.name)
        if COSTS[entry.sched] is not None:
            assert cost(made) is COSTS[entry.sched]
        else:
            with pytest.raises(IsaError, match=entry.name):
                cost(made)
