"""Where the reference engine answers otherwise than the text, and why: the rows of `excuses.txt`, each for its own
inputs only.

A row states what holds there instead, in the language of the texts, and the engine must give that: an excuse says what
is right, not that anything is. `test_every_excuse_is_needed` shows that the text alone differs. In the file a row
begins with its entries, and ` @ ` and a family where only that one is meant; of its other lines those with `# ` say
why, those with `? ` where, and the rest is the text.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True)
class Excuse:
    """entries: names, or beginnings of names with a `*`. why: the reason and its source. family: "" for any.

    where:   the inputs, as an expression of the pseudocode, asked lane by lane where the text runs so.
    instead: the text that holds there.
    In both {f} is the entry's last type (f32), {n} the one before it, {w} the width of {f}, {text} its own text.
    """

    entries: str
    where: str
    instead: str
    why: str
    family: str = ""

    def applies(self, name: str, family: str) -> bool:
        if self.family not in ("", family):
            return False
        return any(name == e or (e.endswith("*") and name.startswith(e[:-1])) for e in self.entries.split())

    def filled(self, template: str, name: str, text: str) -> str:
        types = name.split("_")
        rows = {"{f}": types[-1], "{n}": types[-2], "{w}": types[-1].lstrip("bfiu"), "{text}": text}
        for old, new in rows.items():
            template = template.replace(old, new)
        return template


ALWAYS = "true"
ULPS = dict.fromkeys(
    [f"v_{s}{f}_f32" for s in ("", "s_") for f in ("rcp", "rsq", "sqrt", "exp", "log")] + ["v_rcp_iflag_f32"], 1
) | dict.fromkeys(("v_sin_f32", "v_cos_f32"), 8)
"""Entries whose text names a function that the card approximates -> how many units in the last place a result may be
off. The prose of the ISA guide promises 1 for all but sine and cosine. Of these it says nothing: their slope at 0 is
0xc90fd5 on a card, and 2 pi is 0xc90fdb. Which bits are right is asked of captures (`test_transcendental.py`)."""


def _read() -> Iterator[Excuse]:
    for row in Path(__file__).with_suffix(".txt").read_text().split("\n\n"):
        entries, *lines = row.strip().splitlines()
        entries, _, family = entries.partition(" @ ")
        why, where = (" ".join(line[2:] for line in lines if line.startswith(mark)) for mark in ("# ", "? "))
        instead = "\n".join(line for line in lines if not line.startswith(("# ", "? ")))
        yield Excuse(entries, where or ALWAYS, instead, why, family)


EXCUSES = tuple(_read())
