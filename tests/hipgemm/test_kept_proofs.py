"""Which proofs and findings are found again, and which questions are other questions."""

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace

import pytest
from verbs import invoked

from hipgemm.judge import kept, proving
from hipgemm.judge.assumed import NOTHING, Assumed
from hipgemm.judge.inspection import linting
from hipgemm.kernels.build import build
from hipgemm.kernels.ladder import rung
from isa import cache
from isa.asm.parse import aimed, parse
from isa.prove.proof import Proof
from isa.targets import target

PROVED = Proof("proved", "proved: f computes what g does", ("N is positive",), counts={"stores": 3}, judge="j")
SIDES = (("g.s", "g: s_endpgm\n"), ("f.s", "f: s_endpgm\n"))


@pytest.fixture(autouse=True)
def own_cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    return tmp_path / "cache" / "hipgemm" / "proofs"


class Prover:
    """Says always the same, and counts how often it was asked."""

    def __init__(self, says: Proof = PROVED) -> None:
        self.says, self.asked = says, 0

    def __call__(self) -> Proof:
        self.asked += 1
        return self.says


def test_a_proof_is_found_again() -> None:
    prover = Prover()
    assert [kept.rewriting(rung("kernel8"), SIDES, "f", prover) for _ in range(3)] == [PROVED] * 3
    assert prover.asked == 1


def _ask(prover: Prover, **other: object) -> Proof:
    given: dict[str, object] = {"kernel": rung("kernel8"), "sides": SIDES, "name": "f", "assumed": NOTHING, **other}
    return kept.rewriting(given["kernel"], given["sides"], given["name"], prover, given["assumed"])  # type: ignore


@pytest.mark.parametrize(
    "other",
    [
        {"kernel": rung("kernel7")}, {"kernel": replace(rung("kernel8"), max_elements=5)},
        {"sides": (SIDES[0], ("f.s", "f: s_endpgm \n"))}, {"sides": (("g.s", "g: s_endpgm\nf.s"), ("", SIDES[1][1]))},
        {"sides": SIDES[::-1]}, {"name": "g"}, {"assumed": Assumed({24: 1})}, {"assumed": Assumed({24: 2})},
    ],
)  # fmt: skip
def test_another_question_is_asked(other: dict[str, object]) -> None:
    prover = Prover()
    _ask(prover)
    _ask(prover, **other)
    assert prover.asked == 2


def test_of_a_product_each_option_counts() -> None:
    prover = Prover()
    for text, how in (("a", ()), ("b", ()), ("a", ("thorough",)), ("a", ((1, 2, 3), 4)), ("a", ((1, 2, 3), 5))):
        kept.product(rung("kernel9"), text, prover, *how)
    assert prover.asked == 5


def test_another_version_asks_again(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    prover = Prover()
    (tmp_path / "version.py").write_text("9.9")
    other = SimpleNamespace(origin=str(tmp_path / "__init__.py"))
    _ask(prover)
    for change in ("isa", "numpy"):
        kept._prover.cache_clear()
        with monkeypatch.context() as patch:
            if change == "isa":
                patch.setattr(cache, "made_by", lambda: "another isa")
            else:
                patch.setattr(kept.importlib.util, "find_spec", lambda name: other)
            _ask(prover)
    kept._prover.cache_clear()
    assert prover.asked == 3
    _ask(prover)
    assert prover.asked == 3


def test_what_proves_is_read_of_the_package(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """A byte of any module of hipgemm makes it another one."""
    (tmp_path / "judge").mkdir()
    monkeypatch.setattr(kept, "__file__", str(tmp_path / "judge" / "kept.py"))
    names = set()
    for text in ("a = 1\n", "a = 2\n"):
        (tmp_path / "launch.py").write_text(text)
        kept._prover.cache_clear()
        names.add(kept._prover())
    kept._prover.cache_clear()
    assert len(names) == 2


@pytest.mark.parametrize("verdict", ["unproven", "different"])
def test_nothing_else_is_kept(verdict: str) -> None:
    prover = Prover(replace(PROVED, verdict=verdict))
    assert [_ask(prover).verdict for _ in range(2)] == [verdict] * 2
    assert prover.asked == 2


def _flip(file: Path) -> None:
    data = file.read_bytes()
    file.write_bytes(data.replace(b"g does", b"h does"))


def _cut(file: Path) -> None:
    file.write_bytes(file.read_bytes()[:20])


def _others(file: Path) -> None:
    file.parent.chmod(0o777)


@pytest.mark.parametrize("damage", [_flip, _cut, Path.unlink, _others])
def test_a_damaged_entry_is_made_again(damage: Callable[[Path], None], own_cache: Path) -> None:
    prover = Prover()
    _ask(prover)
    (file,) = own_cache.glob("*/proof.json")
    damage(file)
    assert _ask(prover) == PROVED
    assert prover.asked == 2


def test_an_entry_of_another_form_is_made_again(own_cache: Path) -> None:
    """Its sums are right, and it is no proof."""
    prover = Prover()
    _ask(prover)
    (folder,) = own_cache.iterdir()
    for text in ("[]", "{}", "null", '{"statement": 1}', "\x00"):
        cache.limit(0)
        cache.make("proofs", folder.name, lambda new, text=text: (new / "proof.json").write_text(text) and None)
        assert _ask(prover) == PROVED
    assert prover.asked == 6


def test_a_file_that_it_includes_counts(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    prover = Prover()
    monkeypatch.setattr(proving, "same", lambda *_: prover())
    with monkeypatch.context() as usual:
        usual.delenv("XDG_CACHE_HOME")
        text = build("kernel1").assembly.read_text()
    end = "\ts_endpgm\n"
    (tmp_path / "main.s").write_text(text.replace(end, '\t.include "end.s"\n', 1))
    (tmp_path / "before.s").write_text(text)
    for included in (end, end, "\ts_nop 0\n" + end):
        (tmp_path / "end.s").write_text(included)
        invoked(["prove", str(tmp_path / "main.s"), "--against", str(tmp_path / "before.s"), "--kernel", "kernel1"])
    assert prover.asked == 2


@pytest.mark.parametrize(
    "other",
    [
        {},
        {"text": "    s_waitcnt vmcnt(1)\n"},
        {"file": "g.s"},
        {"notes": False},
        {"assumed": {"test": {0: 1}}},
        {"arch": "gfx1201"},
    ],
)
def test_what_lint_says_is_found_again(other: dict[str, object], monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[object] = []
    monkeypatch.setattr(linting, "lint", lambda *given, **how: asked.append(given) or [linting.Finding("r", "m")])
    how = {"text": "    s_waitcnt vmcnt(0)\n", "file": "f.s", "notes": True, "assumed": {}, "arch": "gfx1100"}
    for said in (how, how, {**how, **other}):
        program = aimed(parse(str(said["text"]), str(said["file"])), target(str(said["arch"])))
        kernel = replace(rung("kernel8"), code=program)
        found = linting.kept_lint(kernel, program, "k", notes=bool(said["notes"]), assumed=said["assumed"])  # type: ignore
        assert found == [linting.Finding("r", "m")]
    assert len(asked) == (2 if other else 1)
