"""What `hipgemm doctor` says of native code that computes wrong numbers (isa.sim.run.selfcheck)."""

import json

import pytest
from click.testing import CliRunner

from hipgemm.cli import main
from isa.sim.ir import jit
from isa.sim.ir.jit import NATIVE
from isa.sim.run import selfcheck


@pytest.fixture(autouse=True)
def unsettled():
    selfcheck.settled.cache_clear()
    yield
    selfcheck.settled.cache_clear()


def told():
    done = CliRunner().invoke(main, ["doctor", "--json"])
    (fact,) = [fact for fact in json.loads(done.stdout)["facts"] if fact["name"] == "native code"]
    return done.exit_code, fact["found"], fact["detail"]


def test_right_code(monkeypatch):
    monkeypatch.setattr(selfcheck, "verdict", lambda target: ())
    _, found, detail = told()
    assert found
    assert f"all {len(selfcheck.GROUPS)} groups of known answers correct" in detail


@pytest.mark.skipif(not jit.is_x86(), reason="levels of x86-64 are for such machines")
def test_another_level(monkeypatch):
    monkeypatch.setattr(selfcheck, "verdict", lambda target: () if target.cpu == "x86-64" else ("f32", "lanes"))
    _, found, detail = told()
    assert found
    assert detail.endswith("wrong in f32, lanes; x86-64 is compiled for instead")


def test_nothing_right(monkeypatch):
    monkeypatch.setattr(selfcheck, "verdict", lambda target: ("f32",))
    status, found, detail = told()
    assert (status, found) == (1, False)
    assert "native code computes wrong numbers on this machine: f32" in detail
    assert selfcheck.verdict(jit.HostTarget(NATIVE))
