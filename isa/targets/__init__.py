"""The GPUs that code is built for, and what differs between them: whoever must tell targets apart asks here.

`family` says what a target is; `gfx11` and `gfx12` have the supported ones; `others` the names of those that are not.
docs/targets.md says what another one needs.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from isa.errors import IsaError, Span
from isa.targets import gfx11, gfx12
from isa.targets.family import Family, Target, version
from isa.targets.others import generation, who_has

__all__ = [
    "FAMILIES", "GFX1100", "TARGETS", "Family", "Target", "elsewhere", "features_of", "fitting", "named_in", "runs_on",
    "target", "unsupported", "version", "who_has",
]  # fmt: skip

TARGETS: dict[str, Target] = {target.name: target for target in (*gfx11.TARGETS, *gfx12.TARGETS)}
FAMILIES: tuple[Family, ...] = tuple(dict.fromkeys(target.family for target in TARGETS.values()))
GFX1100 = TARGETS["gfx1100"]
HELP = "build it for one of these (clang --offload-arch=gfx1100); docs/targets.md describes what another target needs"


def target(name: str) -> Target:
    """The target called `name`; IsaError that lists them where there is none."""
    if name not in TARGETS:
        raise IsaError(f"no target {name!r}", expected=supported(), got=name)
    return TARGETS[name]


def fitting(names: Sequence[str], arch: str | None = None) -> str | None:
    """Of the targets that there is code for, the one to take for a card of `arch`: itself, or the generic one of its
    family. By default gfx1100, else the first supported one, a generic one last. None where none fits."""
    there = [TARGETS[name] for name in names if name in TARGETS]
    if arch is not None:
        there = [t for t in there if runs_on(t.name, arch)]
    return min(there, key=lambda t: (t.generic, t is not GFX1100)).name if there else None


def runs_on(code: str, card: str) -> bool:
    """Whether code for one target runs on a card of another."""
    return code == card or (TARGETS[code].generic and TARGETS[code].family is target(card).family)


def features_of(arch: str, wave64: bool) -> str:
    """What LLVM is asked for beside a target, as its -mattr has it. wave64: for waves of 64 lanes."""
    wide = "+wavefrontsize64,-wavefrontsize32" if wave64 else ""
    return ",".join(filter(None, (target(arch).family.features, wide)))


def supported() -> str:
    """The names of the supported targets, for messages."""
    return ", ".join(TARGETS)


def named_in(directive: str) -> str:
    """The target that the text of an `.amdgcn_target` names: `"amdgcn-amd-amdhsa--gfx90a:xnack-"` -> gfx90a; "" where
    there is none."""
    m = re.search(r"-(gfx[\w-]+)", directive)
    return m[1] if m else ""


def elsewhere(mnemonic: str, who: str, span: Span | None) -> IsaError:
    """The error for an instruction that only unsupported targets have; who: these."""
    message = f"{mnemonic} is an instruction of {who}"
    return IsaError(message, span=span, expected=f"one of {supported()}", got=mnemonic, hint=HELP)


def unsupported(what: str, name: str, span: Span | None = None) -> IsaError:
    """The error for code of a target that is not supported. what: `assembly`, `a code object`."""
    known = generation(name)
    return IsaError(
        f"{what} for {name}{f' ({known})' if known else ''}, which is not supported",
        span=span,
        expected=supported(),
        got=name,
        hint=HELP,
    )
