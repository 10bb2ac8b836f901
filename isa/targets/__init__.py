"""The GPUs that code is built for, and what differs between them: whoever must tell targets apart asks here.

`family` says what a target is; `gfx11` has the supported ones; `others` the names of those that are refused.
docs/targets.md says what another one needs.
"""

from __future__ import annotations

import re

from isa.errors import IsaError, Span
from isa.targets import gfx11
from isa.targets.family import Family, Target, version
from isa.targets.others import generation, who_has

__all__ = [
    "GFX1100", "TARGETS", "Family", "Target", "elsewhere", "named_in", "target", "unsupported", "version", "who_has",
]  # fmt: skip

TARGETS: dict[str, Target] = {target.name: target for target in gfx11.TARGETS}
GFX1100 = TARGETS["gfx1100"]
HELP = "build it for one of these (clang --offload-arch=gfx1100); docs/targets.md says what another target needs"


def target(name: str) -> Target:
    """The target called `name`; IsaError that lists them where there is none."""
    if name not in TARGETS:
        raise IsaError(f"no target {name!r}", expected=supported(), got=name)
    return TARGETS[name]


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
