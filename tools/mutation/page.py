"""The table as Markdown: a page with a section a study, so that kernels can be studied one after another.

`written` puts a study's section into a page: in place of the one of the same kernels, at the end where there is none;
those of some of the kernels go.
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

Made by `python tools/mutate.py`, a section a run. One thing at a time is changed in the assembly of a kernel after its
last pass, and three independent judges check the mutant:

- **lint** (`hipgemm lint`): a fault that the linter does not find in the original;
- **proof**: the one that the kernel's build ends with. For kernels 5 to 8 (`isa.check.equivalence`): a difference from
  what the compiler wrote for kernel 5, or more instructions on a path than the prover follows where the original has
  few. For generated kernels (`isa.check.spec_proof`): an element of C that differs from the definition, an access out
  of bounds, a race in LDS, or what the prover must reject although it follows the original. Where tiles are in pieces
  and nothing was found: also at the far end of a workspace of 8 GiB;
- **check** (`hipgemm check`): a fault in a sanitized launch, with beta = 0 and with beta = 0.5, M = 256, N = 384,
  K = 40 (generated kernels that pass: also 230, 266, 37), in two schedules; a wrong result is one of them. Kernels that
  compute tiles in pieces: K = 296 (293), on a card of 4 CUs, so that four tiles are whole and two in pieces. For
  kernels of the matrix units also a launch that takes 2 % longer by the cycle model, where nothing else is found or
  proved the same.

Where a judge checked only some mutants, its column gives the number, `a of b`. With `--first`, lint and proof run one
after another, the fastest first, until one finds the fault; with `--check missed`, those mutants are launched in which
neither finds a fault.

*Found*: a judge reports a fault. *Equivalent*: proved to be the same (kernels 5 to 8 at all sizes, with all waits in
place; generated kernels as each one's reason says). *Missed*: the rest. *Judged again*: mutants that were missed when
the section was made, checked again by better judges (`--again`); the section's numbers count their new results, and the
old results of the others. The changes are described at the top of `tools/mutation/mutants`.
"""
_HEAD = f"""\
| kernel | change | mutants | lint | proof | check | found | equivalent | missed |
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
        ("Equivalent mutants", listed([o for o in table.outcomes if o.verdict == "equivalent"])),
        ("Missed", listed(table.missed)),
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
    ends = (verdicts["found"], verdicts["equivalent"], verdicts["missed"])
    cells = (kernel, kind, len(some), *judges, *ends)
    return "| " + " | ".join(map(str, cells)) + " |"


def _found(said: Sequence[str | None]) -> str:
    """How many a judge found, and of how many where it was not asked about all."""
    asked = [s for s in said if s is not None]
    return f"{sum(map(bool, asked))}" + (f" of {len(asked)}" if len(asked) < len(said) else "")


def listed(some: Sequence[Outcome]) -> Iterator[str]:
    """A line for each, with its reason."""
    if not some:
        yield "None."
    for o in some:
        yield f"- {o.kernel}, line {o.line}, {o.kind}: `{o.what}`: {o.reason}"
