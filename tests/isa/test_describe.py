"""Entries of isa/instructions: operand roles, implicit registers, counters."""

import subprocess
import sys
from collections import Counter

import numpy as np
import pytest
from texts import texts

from isa.asm.parse import parse_instruction
from isa.errors import IsaError
from isa.instructions import table
from isa.semantics.float_mode import FloatMode
from isa.semantics.instruction import base_name, width
from isa.semantics.reference.values import NumpyValue

# instruction | reads | writes | counters
CASES = texts(__file__)[0].strip().splitlines()


@pytest.mark.parametrize("case", CASES, ids=lambda c: c.split("|")[0].strip())
def test_reads_and_writes(case):
    text, reads, writes, counters = (part.strip() for part in case.split("|"))
    inst = parse_instruction(text)
    assert sorted(map(str, inst.reads())) == reads.split()
    assert sorted(map(str, inst.writes())) == writes.split()
    assert list(inst.counters) == counters.split()


def test_relative_source_may_read_any_register_from_its_base():
    reads = {str(r) for r in parse_instruction("v_movrels_b32 v1, v250").reads()}
    assert {"m0", "v250", "v255"} <= reads
    assert "v249" not in reads


def test_whoever_reads_an_instruction_has_the_table():
    code = "from isa.asm.parse import parse_instruction; print(parse_instruction('v_mov_b32 v1, v2').desc.name)"
    assert subprocess.run([sys.executable, "-c", code], capture_output=True, text=True).stdout == "v_mov_b32\n"


def test_unknown_instruction_names_the_file():
    with pytest.raises(IsaError, match="v_mov_b128 is not described"):
        _ = parse_instruction("v_mov_b128 v0, v1").desc


def test_wrong_operand_count():
    with pytest.raises(IsaError, match="takes 3 operands"):
        parse_instruction("v_add_f32_e32 v0, v1").reads()


def test_copies_are_the_moves_whose_body_gives_back_its_source():
    given = object()

    def identity(entry):
        try:
            return entry.body(given) is given
        except (AttributeError, TypeError):
            return False

    one = [e for e in table().values() if [r.access for r in e.roles] == ["w", "r"] and not e.relative]
    same = {e.name for e in one if e.body is not None and e.roles[1].kind in "asv" and identity(e)}
    assert {e.name for e in table().values() if e.copies} == same
    assert {e.name: e.copies for e in one if e.copies} == {
        "s_mov_b32": 32, "s_mov_b64": 64, "v_mov_b32": 32, "v_mov_b16": 16
    }  # fmt: skip
    assert {e.name for e in table().values() if e.moves} - same == {"v_readfirstlane_b32"}


def test_every_entry_is_under_its_own_name():
    for key, entry in table().items():
        assert key.split()[0] == entry.name == base_name(entry.name)


class _Asked(Exception):
    """A body asked for another lane's value."""


def test_bodies_that_ask_other_lanes_say_so(monkeypatch):
    """Each vector body is called on values whose other lanes cannot be had."""

    def refused(*_, **__):
        raise _Asked

    for name in ("lane", "shuffle", "primitives"):
        monkeypatch.setattr(NumpyValue, name, refused)
    mode = FloatMode()

    def value(type_):
        if type_[:2] == "pk":
            return (value("u16" if "bf" in type_ else type_[2:5]),) * 2
        if type_ in ("mask", "mix"):
            return value("b1" if type_ == "mask" else "f32")
        if width(type_) > 2:
            return (value("u32"),) * width(type_)
        kind = {"b": "u", "bf": "u"}.get(type_.rstrip("0123456789h"), type_[0])
        kind = type_ if type_ == "b1" else kind + "".join(c for c in type_ if c.isdigit())
        return NumpyValue(kind, np.arange(32) % 2 if kind == "b1" else np.arange(32), mode)

    implicit = {name: NumpyValue.scalar("u32", 0xFFFF0000, mode) for name in ("vcc", "exec", "m0")}
    numbers = {"lane": NumpyValue("u32", np.arange(32), mode), "offset": 0, "clamp": False, "ieee": False}
    called = Counter()
    for entry in table().values():
        if entry.body is None or entry.relative or not (entry.is_valu or entry.sched == "lds_exchange"):
            continue
        packed = entry.roles and entry.roles[0].type[:2] == "pk"
        given = [
            NumpyValue.scalar(r.type if r.type[0] == "f" else "u32", 3, mode)
            if r.kind == "s"
            else value(r.type[2:5] if packed else r.type)
            for r in entry.roles
            if r.read
        ]
        given += [implicit[name] for name in entry.implicit_reads]
        given += [numbers.get(name, ()) for name in entry.fields]
        try:
            entry.body(*given)
        except _Asked:
            assert entry.crosses_lanes, entry.name
            called["across"] += 1
        else:
            assert not entry.crosses_lanes, entry.name
            called["alone"] += 1
    assert called["across"] == 33
    assert called["alone"] > 400
