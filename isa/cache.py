"""Where made things are kept between runs: one folder a kind under the user's cache folder, named by content.

An entry is a folder whose name is a hash of everything that went into it. It appears by one rename, whole or not at
all, together with a checksum of each of its files; `find` believes an entry only if the sums still hold, so a damaged
entry is made again and two processes that make the same entry do not disturb each other.
"""

from __future__ import annotations

import hashlib
import os
import shutil
import tempfile
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import TypeVar

SUMS = "SHA256SUMS"
T = TypeVar("T")


def root() -> Path:
    """The project's folder in the user's cache folder (XDG base directory specification)."""
    base = os.environ.get("XDG_CACHE_HOME") or "~/.cache"
    return Path(base).expanduser() / "hipgemm"


def key(*parts: str | bytes) -> str:
    """A name for what these parts make."""
    digest = hashlib.sha256()
    for part in parts:
        data = part.encode() if isinstance(part, str) else part
        digest.update(len(data).to_bytes(8, "little") + data)
    return digest.hexdigest()[:32]


def find(kind: str, name: str) -> Path | None:
    """The entry's folder if it is there and its files are what was written."""
    folder = root() / kind / name
    try:
        recorded = (folder / SUMS).read_text().splitlines()
        whole = all(line == _sum(folder, line[66:]) for line in recorded)
    except (OSError, ValueError):
        return None
    return folder if whole and recorded else None


def make(kind: str, name: str, fill: Callable[[Path], None]) -> Path:
    """The entry's folder; `fill` writes its files into an empty folder first if there is no good one."""
    if (found := find(kind, name)) is not None:
        return found
    parent = root() / kind
    parent.mkdir(parents=True, exist_ok=True, mode=0o700)
    fresh = Path(tempfile.mkdtemp(prefix=f"{name}.", dir=parent))
    try:
        fill(fresh)
        files = sorted(str(p.relative_to(fresh)) for p in fresh.rglob("*") if p.is_file())
        (fresh / SUMS).write_text("".join(_sum(fresh, f) + "\n" for f in files))
        _swap_in(fresh, parent / name)
    finally:
        shutil.rmtree(fresh, ignore_errors=True)
    return parent / name


def find_or_make(
    kind: str,
    name: str,
    most: int,
    make_it: Callable[[], T],
    write: Callable[[Path, T], None],
    read: Callable[[Path], T],
) -> T:
    """What an entry holds, read from its folder, or made and written there. At most `most` of a kind are kept; where
    the disk takes nothing, what was made is used and not kept."""
    with suppress(OSError, LookupError):
        if (folder := find(kind, name)) is not None:
            held = read(folder)
            use(folder)
            return held
    made = make_it()
    with suppress(OSError):
        make(kind, name, lambda folder: write(folder, made))
        prune(kind, most)
    return made


def sources(*elsewhere: str) -> list[Path]:
    """The files that isa consists of, but for those in the folders and files called `elsewhere`: for the name of what
    the rest of isa makes."""
    root = Path(__file__).parent
    files = sorted(p for p in root.rglob("*") if p.suffix in (".py", ".j2", ".c", ".h"))
    return [p for p in files if p.relative_to(root).parts[0] not in elsewhere]


def prune(kind: str, most: int) -> None:
    """Drop the entries that were used longest ago (`use`), so that no more than `most` are left."""
    entries = []
    for folder in (root() / kind).iterdir():
        with suppress(OSError):  # another process drops it too
            entries.append((folder.stat().st_mtime, folder))
    for _, folder in sorted(entries, reverse=True)[most:]:
        shutil.rmtree(folder, ignore_errors=True)


def use(folder: Path) -> None:
    """Note that an entry was used now."""
    with suppress(OSError):
        os.utime(folder)


def _swap_in(fresh: Path, final: Path) -> None:
    """Rename `fresh` to `final`; where another process was first, its entry stays if it is whole."""
    try:
        fresh.rename(final)
    except OSError:
        if find(final.parent.name, final.name) is None:
            aside = Path(tempfile.mkdtemp(prefix=f"{final.name}.", dir=final.parent))
            final.rename(aside / "damaged")
            shutil.rmtree(aside, ignore_errors=True)
            fresh.rename(final)


def _sum(folder: Path, file: str) -> str:
    return f"{hashlib.sha256((folder / file).read_bytes()).hexdigest()}  {file}"
