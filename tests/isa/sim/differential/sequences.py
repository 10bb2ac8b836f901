"""Random straight programs of many instructions on few registers, so that results become operands, and what a masked
write keeps is an operand as well.

Each is one `Form`, which runs as any other: from registers that are drawn by the roles of its operands, under every
pattern of EXEC. EXEC is also set to other patterns on the way. All keys of the units that compute stand in one program
of a round or another; instructions of memory stand at the front, since their addresses are drawn for there.
"""

from __future__ import annotations

import random
import re
from collections.abc import Iterator, Sequence

import assembly
from forms import Form, entries, forms

from isa.instructions import table
from isa.semantics.instruction import Description

KINDS = ("plain", "scalar", "overlap", "vop3", "packed", "dpp", "memory")
EXECS = ("0xffff", "0xffff0000", "0x0ff0f00f", "0x55555555", "1", "0x7fffffff", "-1")
_REGISTER = re.compile(r"\b([vs])(?:(\d+)\b|\[(\d+):(\d+)\])")
_BASES = tuple(range(0, 48, 8))


def programs(keys: Sequence[str], seed: int, length: int = 10) -> list[Form]:
    """Programs in which each of these keys stands once (and others, if `length` asks for more)."""
    chosen = random.Random(seed)
    texts = _texts(set(keys))
    front = [key for key in texts if table()[key].access is not None]
    rest = [key for key in texts if key not in set(front)]
    chosen.shuffle(front)
    chosen.shuffle(rest)
    drawn: list[Form] = []
    while front or rest:
        rows = [chosen.choice(texts[front.pop()])] if front else []
        for _ in range(min(length, len(rest))):
            if chosen.random() < 0.2 or not rows:
                rows.append(f"s_mov_b32 exec_lo, {chosen.choice(EXECS)}" if rows else "s_nop 0")
            rows.append(_moved(chosen.choice(texts[rest.pop()]), chosen))
        drawn.append(Form(f"sequence {seed}.{len(drawn)}", "sequence", "\n".join(rows)))
    return drawn


def cases(keys: Sequence[str], seed: int) -> list[assembly.Case]:
    """The same as cases."""
    found, refused = assembly.cases(programs(keys, seed))
    assert not refused, refused[:3]
    return found


def computing() -> Iterator[str]:
    """The keys that can stand in such a program."""
    for key, desc in entries().items():
        if _computes(desc):
            yield key


def _computes(desc: Description) -> bool:
    if desc.body is None or desc.relative or "pc" in desc.implicit_writes or desc.effect:
        return desc.access is not None and "addtid" not in desc.name
    return desc.unit in ("valu", "salu", "lds")


def _texts(keys: set[str]) -> dict[str, list[str]]:
    """Each key's forms that the assembler takes, with registers moved and as they are."""
    wanted = [f for f in forms() if f.key in keys and f.kind in KINDS and "\n" not in f.text and "{" not in f.text]
    taken, _ = assembly.cases(wanted)
    texts: dict[str, list[str]] = {}
    for case in taken:
        desc = table()[case.form.key]
        # What no engine takes: the assembler knows a clamp of integers that the guide gives no meaning.
        odd = "clamp" in case.form.text and "clamp" not in desc.fields and re.match(r"(pk)?[biu]\d", desc.roles[0].type)
        if not odd and not re.search(r"\bexec(_lo)?,|hwreg", case.form.text):
            texts.setdefault(case.form.key, []).append(case.form.text)
    return texts


def _moved(text: str, chosen: random.Random) -> str:
    """Each operand among a few registers, the first one often where another lies."""
    places: dict[int, int] = {}

    def one(m: re.Match[str]) -> str:
        first, last = int(m[2] or m[3]), int(m[2] or m[4])
        if first % 16 > 7 or first > 80:
            return m[0]
        base = places.setdefault(first // 16, chosen.choice(_BASES[: 2 + chosen.randrange(4)]))
        first, last = base + first % 16, base + first % 16 + last - first
        return f"{m[1]}{first}" if m[2] else f"{m[1]}[{first}:{last}]"

    return _REGISTER.sub(one, text)
