"""A family's words: lines that generators and passes write alike for all families -> its instructions.

    wait CLASS N          until at most N instructions of a scheduling class are in flight, such as `global_load`
    barrier               a wave waits for the others of its workgroup
    acquire               it sees what other workgroups wrote
    group_id AXIS SGPR    the workgroup's number, where it does not begin in that SGPR
    trans_done            results of transcendentals are there
    ... shared            a load from where other workgroups write, or an atomic there that gives back the old value

and renamed instructions by the name that RDNA3 has for them. All other lines stay as they are.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

from isa.registers import s
from isa.semantics.names import RENAMED, RENAMED_SINCE
from isa.semantics.waits import wait_texts
from isa.targets import GFX1100, Target, version

_RENAMED = {old: new for new, old in RENAMED.items()}


def in_words(target: Target | None, lines: Iterable[str]) -> Iterator[str]:
    """The lines of a target's family, of gfx1100 where there is none; what stands before an instruction, such as a tab,
    stays."""
    for line in lines:
        text = line.lstrip()
        yield from (line[: len(line) - len(text)] + one for one in _words(target or GFX1100, text))


def text_in_words(target: Target | None, text: str) -> str:
    """The same of a whole text."""
    return "".join(f"{line}\n" for line in in_words(target, text.splitlines()))


def _words(target: Target, text: str) -> Iterable[str]:
    family = target.family
    name, _, rest = text.partition(" ")
    if name == "wait":
        sched, number = rest.split()
        return wait_texts(family, dict.fromkeys(family.raised[sched], int(number, 0)))
    if text == "barrier":
        return family.barrier
    if text == "acquire":
        return family.acquire
    if name == "group_id":
        return _group_id(target, *rest.split())
    if text == "trans_done":  # VALUTransUseHazard of LLVM's GCNHazardRecognizer: va_vdst is 0
        return [f"{family.results_wait} 0xfff"] if "trans use" in target.hazards else []
    if text.endswith(" shared"):
        modifiers = family.shared_atomic if "_atomic_" in name else family.shared_load
        return [f"{text.removesuffix('shared')}{modifiers}"]
    stem, suffix = re.fullmatch(r"(.*?)(_e\d+)?", name).groups("")  # type: ignore[union-attr]
    if stem in _RENAMED and version(target.name) >= version(RENAMED_SINCE):
        return [f"{_RENAMED[stem]}{suffix} {rest}"]
    return [text]


def _group_id(target: Target, axis: str, sgpr: str) -> list[str]:
    if axis not in target.family.group_ids:
        return []
    register, low, bits = target.family.group_ids[axis]
    source = s(register)
    return [f"s_mov_b32 {sgpr}, {source}" if bits == 32 else f"s_bfe_u32 {sgpr}, {source}, {bits << 16 | low:#x}"]
