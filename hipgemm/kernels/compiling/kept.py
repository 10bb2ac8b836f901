"""HIP source -> the compiler's assembly, kept in the cache by all that goes into it: a file's kernels are built one by
one, each with passes and a proof of its own, and the file is compiled once for all of them.

Limits: names of headers that the preprocessor would make are not seen, nor headers that lie elsewhere than beside the
file that names them or in a folder of -I or the like, or of $CPATH.
"""

from __future__ import annotations

import itertools
import os
import re
import shutil
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path

from hipgemm.kernels.compiling import device_libraries, headers, host_api, signatures
from hipgemm.kernels.object import Kernel
from isa import cache, toolchain
from isa.toolchain import Toolchain

_MOST = 300
"""Files whose assembly is kept, with the compiler's temps some 50 kB each."""
_SAID = "said.txt"
_FOLDERS = ("-I", "-isystem", "-iquote", "-idirafter", "--include-directory")


def compile_kept(
    kernel: Kernel, arch: str, tools: Toolchain, flags: Sequence[str], file: Path, *, typed: bool = True
) -> str:
    """Compiles a kernel's source to `file`, which lies in an empty folder, where the compiler's temps appear, too; or
    puts there what was compiled before. typed: with the types of its arguments (`signatures`). Returns what the
    compiler said, ToolError where it rejects the source."""

    def make() -> str:
        said = headers.compile_kernel(
            tools, kernel.path, file, arch=arch, cu_mode=kernel.cu_mode, flags=[*flags, *_renamed(kernel)]
        )
        if typed:
            signatures.write(tools, file.parent, arch)
        return said

    def write(entry: Path, said: str) -> None:
        shutil.copytree(file.parent, entry, dirs_exist_ok=True)
        (entry / _SAID).write_text(said)

    def read(entry: Path) -> str:
        shutil.copytree(entry, file.parent, dirs_exist_ok=True, ignore=shutil.ignore_patterns(cache.SUMS, _SAID))
        return (entry / _SAID).read_text()

    name = cache.key(key(kernel, arch, tools, flags), kernel.path.name, file.name, str(typed))
    return cache.find_or_make("compiled", name, _MOST, make, write, read)


def key(kernel: Kernel, arch: str, tools: Toolchain, flags: Sequence[str]) -> str:
    """A hash of everything that has a say in what the compiler writes."""
    named = [str(kernel.path)] if any(flag.startswith("-g") for flag in flags) else []  # -g names the file
    words = [kernel.mode, arch, tools.identity, headers.identity(), *flags, *_renamed(kernel), *named]
    own = [Path(str(module.__file__)) for module in (toolchain, headers, host_api, device_libraries, signatures)]
    return cache.key(*words, *(f.read_bytes() for f in (*with_includes(kernel.path, flags), *headers.files(), *own)))


def _renamed(kernel: Kernel) -> list[str]:
    """Kernels 6 to 8 are kernel5 under their own names from the start: the preprocessor sees to that."""
    return [] if kernel.function in ("", kernel.name) else [f"-D{kernel.function}={kernel.name}"]


def with_includes(source: Path, flags: Sequence[str] = ()) -> list[Path]:
    """A source and what it includes."""
    return [source, *included([(source.read_bytes(), source.parent)], flags)]


def included(texts: Iterable[tuple[bytes, Path | None]], flags: Sequence[str]) -> list[Path]:
    """What texts include, each with its folder if it has one, as far as that lies beside the file that names it or in a
    folder that options or $CPATH name; and what options include."""
    more = filter(None, os.environ.get("CPATH", "").split(os.pathsep))
    folders = [*map(Path, (*_of_options(_FOLDERS, flags), *more))]
    found = [file for file in map(Path, _of_options(("-include",), flags)) if file.is_file()]
    waiting = [*texts, *((file.read_bytes(), file.parent) for file in found)]
    for text, beside in waiting:
        for name in re.findall(rb'^\s*#\s*include\s+["<]([^">]+)[">]', text, re.M):
            places = ((folder / os.fsdecode(name)).resolve() for folder in ([beside, *folders] if beside else folders))
            new = [path for path in places if path.is_file()][:1]
            waiting += [(path.read_bytes(), path.parent) for path in new if path not in found]
            found += [path for path in new if path not in found]
    return found


def _of_options(names: tuple[str, ...], flags: Sequence[str]) -> Iterator[str]:
    """The values of options, each within the same word or in the next."""
    for word, value in itertools.zip_longest(flags, flags[1:], fillvalue=""):
        for name in names:
            if word.startswith(name):
                yield word[len(name) :].lstrip("=") or value
