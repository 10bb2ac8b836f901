"""The validator on edits of small kernels: `cases/edits/*.s` hold one or two each, and edits with a verdict.

Above the first `;; ` lies the kernel; below a line `;; rewritten`, where there is one, the text that it was rewritten
into. `;; proved: name`, `;; unproven: name`, `;; different: name` or `;; refused: name`, which is any verdict but
proved, begins a case; behind ` | ` stands a pattern of what the proof says. Its lines are edits of the rewritten text:
those that begin with `-`, wherever they stand, become those that begin with `+`. With `<` and `>` both texts are
edited. `;; facts` are those of the launch, of a case or of all of a file: `n` is a size at byte 16 of the arguments, at
most so large. A text without a descriptor has FOOTER.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path

import pytest

from isa.analysis import joined
from isa.asm.parse import parse
from isa.asm.program import Kernel
from isa.errors import IsaError
from isa.prove.proof import Argument, Facts, Proof
from isa.prove.refine import in_place, validate

CASES = Path(__file__).parent / "cases" / "edits"
FOOTER = """
.Lfunc_end0:
.amdhsa_kernel k
.amdhsa_group_segment_fixed_size 8192
.amdhsa_user_sgpr_count 2
.amdhsa_user_sgpr_kernarg_segment_ptr 1
.amdhsa_system_sgpr_workgroup_id_x 1
.amdhsa_next_free_vgpr 40
.amdhsa_next_free_sgpr 24
.end_amdhsa_kernel
"""
HEADER = re.compile(r"^;; (?=(?:proved|refused|unproven|different): )", re.MULTILINE)
EDIT = re.compile(r"((?:^[-<].*\n)+)((?:^[+>].*\n)*)", re.MULTILINE)


@dataclass(frozen=True)
class Case:
    """says: a pattern. facts: words, `name=value`."""

    name: str
    verdict: str
    says: str
    old: str
    new: str
    facts: str

    def kernels(self) -> tuple[Kernel, Kernel]:
        old, new = (
            parse(text if ".amdhsa_kernel" in text else text + FOOTER, f"{name}.s")
            for text, name in ((self.old, "old"), (self.new, "new"))
        )
        return old.kernel(), new.kernel()

    def proof(self) -> Proof:
        return validate(*self.kernels(), _facts(self.facts))


def _facts(words: str) -> Facts:
    given = dict(word.split("=") for word in words.split())
    arguments = [Argument("n", 16, multiple=1, minimum=1, maximum=int(n)) for n in [given.get("n")] if n]
    grid = given.get("grid")
    return Facts(
        arguments=tuple(arguments),
        block=int(given["block"]) if "block" in given else None,
        grid=(int(grid), 1, 1) if grid else None,
    )


def _facts_line(text: str) -> str:
    found = re.search(r"^;; facts(.*)$", text, re.MULTILINE)
    return found[1] if found else ""


def _edited(text: str, old: str, new: str) -> str:
    assert old in text, old
    return text.replace(old, new)


def cases(path: Path) -> Iterator[Case]:
    base, *rows = HEADER.split(path.read_text())
    old, _, new = re.sub(r"^;; facts.*\n|^; .*\n|^[ \t]+", "", base, flags=re.MULTILINE).partition(";; rewritten\n")
    whole = Case("", "", "", old, new or old, _facts_line(base))
    for row in rows:
        header, _, edits = row.partition("\n")
        (verdict, _, name), says = header.partition(" | ")[0].partition(": "), header.partition(" | ")[2]
        case = replace(whole, name=name, verdict=verdict, says=says, facts=_facts_line(edits) or whole.facts)
        for match in EDIT.finditer(edits):
            before, after = ("\n".join(line[1:].strip() for line in side.splitlines()) for side in match.groups())
            case = replace(case, new=_edited(case.new, before, after))
            if match[1][0] == "<":
                case = replace(case, old=_edited(case.old, before, after))
        yield case


ALL = [pytest.param(c, id=f"{path.stem}: {c.name}") for path in sorted(CASES.glob("*.s")) for c in cases(path)]


@pytest.mark.parametrize("case", ALL)
def test_edit(case: Case, monkeypatch: pytest.MonkeyPatch) -> None:
    """By the general relation, which also holds for what is rewritten in place."""
    monkeypatch.setattr(in_place, "same", lambda *_: None)
    proof = case.proof()
    assert proof.verdict == case.verdict or (case.verdict == "refused" and not proof.proved), str(proof)
    assert re.search(case.says, str(proof)), str(proof)


def test_what_is_proved_in_place_is_so() -> None:
    found = set()
    for param in ALL:
        case = param.values[0]
        assert isinstance(case, Case)
        kernels = case.kernels()
        try:
            same = in_place.same(kernels, (joined.of_kernel(kernels[0]).flow, joined.of_kernel(kernels[1]).flow))
        except IsaError:
            continue
        if same is not None and same["executed"]:
            assert case.verdict == case.proof().verdict == "proved", param.id
            found.add(case.name)
    assert "a dual instruction as it is, in halves" in found
