"""The study as Markdown: a page with a section a study, so that kernels can be studied one after another.

`written` puts a study's section into a page: in place of the one of the same kernels, at the end where there is none.
The sum at the top of the page is read from the sections.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence

from isa.errors import IsaError
from tools.mutation.mutants import KINDS
from tools.mutation.outcome import Outcome, Table

INTRODUCTION = """\
# The mutation table

Made by `python tools/mutate.py`, a section a run; docs/mutations.md says how to read it. A cell `a of b`: the judge was
asked about b of them.
"""
SAMPLE = 20
"""So many survivors of a section are listed, spread over all of them."""
_HEAD = f"""\
| kernel | change | mutants | lint | proof | check | found | equivalent | survived |
{"|---" * 9}|"""
_SUM = re.compile(r"^\| \*\*(\w+)\*\* \| \*\*all\*\* \|.*$", re.MULTILINE)
_SECTION = re.compile(r"^## (kernel\w+(?:, kernel\w+)*)\n", re.MULTILINE)


def written(page: str, table: Table, command: str) -> str:
    """The page with this study's section; page: as it was, "" for none; command: what made it. IsaError where a section
    of the page has some of the kernels, and others."""
    mine = ", ".join(table.faults)
    sections = sections_of(page)
    for names in list(sections):
        theirs, ours = set(names.split(", ")), set(table.faults)
        if theirs & ours and not theirs <= ours:
            raise IsaError(
                f"the page has a section of {names}", expected="a study of all of them, or of others", got=mine,
                hint="study all of them, or write another page",
            )  # fmt: skip
        if theirs < ours:
            del sections[names]
    sections[mine] = "\n".join(_section(table, command))
    return page_of(sections)


def sections_of(page: str) -> dict[str, str]:
    """Kernels -> the text of their section."""
    parts = _SECTION.split(page)[1:]
    return dict(zip(parts[::2], (text.strip("\n") for text in parts[1::2]), strict=True))


def page_of(sections: Mapping[str, str]) -> str:
    """The whole page."""
    rows = [row for text in sections.values() for row in (m[0] for m in _SUM.finditer(text))]
    bodies = [f"## {names}\n\n{text.strip()}\n" for names, text in sections.items()]
    return "\n".join((INTRODUCTION, _HEAD, *(r.replace("**", "") for r in rows), "", *bodies))


def _section(table: Table, command: str) -> Iterator[str]:
    yield f"`{command}`"
    yield ""
    yield _HEAD
    for kernel in table.faults:
        mine = [o for o in table.outcomes if o.kernel == kernel]
        for kind in KINDS:
            if some := [o for o in mine if o.kind == kind]:
                yield _row(kernel, kind, some)
        yield _row(f"**{kernel}**", "**all**", mine)
    if len(table.faults) > 1:
        yield _row("**all**", "", table.outcomes)
    for title, lines in (
        ("The originals", _originals(table)),
        ("What a launch finds", _launches(table)),
        ("Survivors", _survivors(table)),
    ):
        yield from ("", f"### {title}", "")
        yield from lines


def _originals(table: Table) -> Iterator[str]:
    for kernel, found in table.faults.items():
        rules = ", ".join(f"{n} x {rule}" for rule, n in found.items()) or "none"
        launched = table.checks.get(kernel)
        said = "not launched" if launched is None else f"in a launch: {launched or 'none'}"
        yield f"- {kernel}: faults that the linter finds: {rules}; {said}; {table.proofs[kernel]}"


def _launches(table: Table) -> Iterator[str]:
    if all(o.check is None for o in table.outcomes):
        yield "None was launched."
        return
    yield "| change | launched | the first fault |"
    yield "|---|---|---|"
    for kind in KINDS:
        checks = [o.check for o in table.outcomes if o.kind == kind and o.check is not None]
        if checks:
            counts = Counter(c.partition(":")[0] or "nothing" for c in checks).most_common()
            yield f"| {kind} | {len(checks)} | {', '.join(f'{n} x {rule}' for rule, n in counts)} |"


def _row(kernel: str, kind: str, some: Sequence[Outcome]) -> str:
    verdicts = Counter(o.verdict for o in some)
    judges = [_found([getattr(o, judge) for o in some]) for judge in ("lint", "proof", "check")]
    ends = (verdicts["found"], verdicts["equivalent"], verdicts["survived"])
    cells = (kernel, kind, len(some), *judges, *ends)
    return "| " + " | ".join(map(str, cells)) + " |"


def _found(said: Sequence[str | None]) -> str:
    """How many a judge found, and of how many where it was not asked about all."""
    asked = [s for s in said if s is not None]
    return f"{sum(map(bool, asked))}" + (f" of {len(asked)}" if len(asked) < len(said) else "")


def _survivors(table: Table) -> Iterator[str]:
    """Their rate, and a line for each of a sample with what the proof says."""
    some = table.survivors
    shown = some[:: max(1, -(-len(some) // SAMPLE))]
    yield f"{len(some)} of {len(table.outcomes)}" + (f"; {len(shown)} of them:" if shown else ".")
    if shown:
        yield ""
    for o in shown:
        yield f"- {o.kernel}, line {o.line}, {o.kind}: `{o.what}`: {o.reason}"
