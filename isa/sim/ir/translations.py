"""Translated kernels on disk, plain and with hooks: one entry of `isa.cache` each, with the object file and what goes
with it.

The key is everything that translation reads: the code and what calls may reach, the facts of the kernel's descriptor
that enter, the host processor with its features, and the translator itself, which is a hash of the sources it consists
of and LLVM's library. A damaged entry fails its checksum and is made again. Where the disk takes nothing, the
translation is used and not kept.
"""

from __future__ import annotations

import functools
import json
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from isa import cache, llvm
from isa.semantics.float_mode import FloatMode

if TYPE_CHECKING:
    from isa.sim.ir.jit import HostTarget

KIND = "simulator"
MOST = 400
"""Entries that are kept; kernel 8's has 0.3 MB."""
_ELSEWHERE = ("lint", "prove", "asm/emit.py", "passes", "timing", "toolchain.py")
"""What of isa has no say in a translation."""


@dataclass(frozen=True)
class Facts:
    """What the code was compiled for. strip: lanes of a strip; vgprs: registers of a wave; mode: at the start;
    patterns: addresses may be assumed to follow from work-item numbers; halves: of a wave, 32 lanes each; baseline: few
    lines count for more than quick code."""

    vgprs: int
    mode: FloatMode
    strip: int = 8
    patterns: bool = True
    native_half: bool = True
    native_nans: bool = False
    halves: int = 1
    baseline: bool = False

    @property
    def rows(self) -> int:
        """VGPRs in all."""
        return self.vgprs * self.halves

    @staticmethod
    def on(target: HostTarget, vgprs: int, mode: FloatMode, *, patterns: bool = True, halves: int = 1) -> Facts:
        """For a host's processor."""
        return Facts(
            vgprs, mode, target.strip, patterns, target.native_half, target.native_nans, halves, bool(target.baseline)
        )


@dataclass(frozen=True)
class Translated:
    """code: an object file; sites, bails: as in `isa.sim.run.tiers.Version`; size: lines of IR that good code has,
    about; 0 where that is not asked."""

    code: bytes
    sites: int
    bails: frozenset[int]
    size: int = 0


def key(facts: tuple[Any, ...], *parts: str | bytes) -> str:
    """The name of what translating `parts` under `facts` gives; facts are distinguished by their repr."""
    return cache.key(_engine(), repr(facts), *parts)


def find(name: str) -> Translated | None:
    """The translation called `name`, if it is on the disk."""
    folder = cache.find(KIND, name)
    if folder is None:
        return None
    cache.use(folder)
    return _read(folder)


def find_or_make(name: str, translate: Callable[[], Translated]) -> Translated:
    """The translation called `name`, from the disk or made."""
    return cache.find_or_make(KIND, name, MOST, translate, _write, _read)


def _read(folder: Path) -> Translated:
    facts = json.loads((folder / "facts.json").read_text())
    return Translated((folder / "code.o").read_bytes(), facts["sites"], frozenset(facts["bails"]), facts["size"])


def _write(folder: Path, made: Translated) -> None:
    (folder / "code.o").write_bytes(made.code)
    facts = {"sites": made.sites, "bails": sorted(made.bails), "size": made.size}
    (folder / "facts.json").write_text(json.dumps(facts))


@functools.cache
def _engine() -> str:
    """What the translator is made of."""
    return cache.key(llvm.identity(), cache.made_by(*_ELSEWHERE))
