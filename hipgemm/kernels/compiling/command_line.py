"""Command line of a compiler, as clang and hipcc take it: words -> sources, targets, options with their values.

Limits: what stands in response files (`@file`) is not read.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from pathlib import Path

SUFFIXES = (".hip", ".cu")
CXX = (".cpp", ".cxx", ".cc", ".C", ".c++")
"""hipcc takes these for HIP, too."""
APART = frozenset(
    "-o -I -isystem -iquote -idirafter -include -imacros -isysroot -D -U -L -l -x -Xclang -Xlinker -Xassembler "
    "-Xpreprocessor -Xoffload-linker -Xarch_host -Xarch_device -mllvm -T -u -target -arch -MF -MT -MQ -MJ -z -e -rpath "
    "-F -framework --param --sysroot -B -resource-dir".split()
)
"""Options whose value is the next word."""
_JOINED = ("-I", "-D", "-L", "-isystem", "-iquote", "-idirafter")
"""Those whose value may also be a part of the same word."""
LINKED, OBJECTS = ("-l", "-L", "-Wl,"), (".o", ".a", ".so")
"""What words for the linker begin and end with."""
_PASSED_ON = frozenset(
    "-E -S -M -MM -fsyntax-only -### --cuda-host-only --offload-host-only -emit-llvm --analyze".split()
)
RDC = ("-fgpu-rdc", "-dc", "--hip-link")
_DEVICE = ("--genco", "--cuda-device-only", "--offload-device-only")


@dataclass
class Words:
    """A command as far as it matters here. rest: words in order, a source as its number in `sources`; archs: the
    targets; compile: -c; device: device code alone is wanted."""

    rest: list[str | int] = field(default_factory=list)
    sources: list[Path] = field(default_factory=list)
    archs: list[str] = field(default_factory=list)
    out: Path | None = None
    compile: bool = False
    device: bool = False
    plain: bool = False
    save: bool = False
    why: str = ""

    @property
    def options(self) -> list[str]:
        """Without sources, and what stands for how far to go."""
        return [word for word in self.rest if isinstance(word, str)]


def read(words: Sequence[str], *, cxx: bool) -> Words:
    """cxx: C++ sources are HIP where nothing else is said."""
    found = Words()
    language: str | None = None
    rest = iter(words)
    for word in rest:
        value = next(rest, "") if word in APART else None
        if word in _PASSED_ON:
            found.why = word
        elif word in RDC:
            found.why = "-fgpu-rdc" if word != "--hip-link" else found.why
        if word == "-c":
            found.compile = True
        elif word in _DEVICE:
            found.device = True
        elif word == "--no-gpu-bundle-output":
            found.plain = True
        elif word == "-o" and value is not None:
            found.out = Path(value)
        elif word.startswith(("--offload-arch=", "--amdgpu-target=")):
            found.archs += word.partition("=")[2].split(",")
        elif word == "-x" and value is not None:
            language = None if value == "none" else value
            found.rest += [] if value == "hip" else [word, value]
        elif not word.startswith("-") and _is_hip(Path(word), language, cxx):
            found.rest.append(len(found.sources))
            found.sources.append(Path(word))
        else:
            found.save |= word.startswith(("--save-temps", "-save-temps"))
            found.rest += [word] if value is None else [word, value]
    return found


def from_anywhere(word: str, value: str = "") -> list[str]:
    """An option as a compiler takes it that is started in another folder; -I, -D, -L and -l are one word with their
    value."""
    joined = next((option for option in _JOINED if word.startswith(option) and word != option), None)
    option, value = (joined, word.removeprefix(joined)) if joined else (word, value)
    if option.startswith(("-I", "-L", "-isys", "-iq", "-idir")) or (option.startswith("-i") and Path(value).exists()):
        value = str(Path(value).resolve())
    return [f"{option}{value}"] if option in ("-I", "-D", "-L", "-l") else [option, *filter(None, [value])]


def all_from_anywhere(words: Iterable[str]) -> list[str]:
    """Options with their values, as `from_anywhere` writes them."""
    rest = iter(words)
    return [made for word in rest for made in from_anywhere(word, next(rest, "") if word in APART else "")]


def _is_hip(file: Path, language: str | None, cxx: bool) -> bool:
    if language is not None:
        return language == "hip"
    return file.suffix in SUFFIXES or (cxx and file.suffix in CXX)
