"""Where made things are kept between runs: one folder a kind under the user's cache folder, named by content.

An entry is a folder whose name is a hash of everything that went into it. It appears by one rename, whole or not at
all, together with a checksum of each of its files; `find` believes an entry only if the sums still hold, so a damaged
entry is made again and two processes that make the same entry do not disturb each other.

A folder that nothing can be written to stops nobody: what is there is used, what is made lies in a folder of this
process until it ends (`make`) or nowhere (`find_or_make`), and stderr is told once.
"""

from __future__ import annotations

import atexit
import errno
import functools
import hashlib
import os
import shutil
import sys
import tempfile
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import TypeVar

from isa.errors import IsaError

SUMS = "SHA256SUMS"
_FULL = (errno.ENOSPC, errno.EDQUOT)
T = TypeVar("T")


def root() -> Path:
    """The project's folder in the user's cache folder (XDG base directory specification)."""
    base = os.path.expanduser(os.environ.get("XDG_CACHE_HOME") or "~/.cache")
    return Path(os.devnull if base[0] == "~" else base) / "hipgemm"  # nobody's home is no folder


@functools.cache
def _own() -> Path:
    """A folder of this process, for what cannot be kept; it ends with the process."""
    try:
        folder = Path(tempfile.mkdtemp(prefix="hipgemm."))
    except OSError as error:
        raise IsaError(
            "there is nowhere to put what is made",
            expected=f"a folder that can be written to: {root()} or {os.environ.get('TMPDIR', '/tmp')}",
            got=str(error),
            hint="$XDG_CACHE_HOME and $TMPDIR name others",
        ) from None
    maker = os.getpid()
    # A child that was forked leaves by the same door.
    atexit.register(lambda: shutil.rmtree(folder, ignore_errors=True) if os.getpid() == maker else None)
    return folder


@functools.cache
def _say(folder: Path, why: str) -> None:
    """That nothing is kept there."""
    print(
        f"hipgemm: nothing can be kept in the cache folder {folder} ({why}), so that each run makes all anew; "
        "$XDG_CACHE_HOME names another one",
        file=sys.stderr,
    )


def key(*parts: str | bytes) -> str:
    """A name for what these parts make."""
    digest = hashlib.sha256()
    for part in parts:
        data = part.encode() if isinstance(part, str) else part
        digest.update(len(data).to_bytes(8, "little") + data)
    return digest.hexdigest()[:32]


def find(kind: str, name: str) -> Path | None:
    """The entry's folder if it is there and its files are what was written."""
    made_here = [_own()] if _own.cache_info().currsize else []
    for place in (root(), *made_here):
        if _whole(folder := place / kind / name):
            return folder
    return None


def make(kind: str, name: str, fill: Callable[[Path], None]) -> Path:
    """The entry's folder; `fill` writes its files into an empty folder first if there is no good one. Where the cache
    takes nothing, it is a folder that is there until this process ends."""
    if (found := find(kind, name)) is not None:
        return found
    try:
        fresh = _fresh(root(), kind, name)
    except OSError as error:
        _say(root(), error.strerror or str(error))
    else:
        try:
            return _make(fresh, name, fill)
        except OSError as error:
            if error.errno not in _FULL:
                raise  # of what makes it
            _say(root(), error.strerror or str(error))
    return _make(_fresh(_own(), kind, name), name, fill)


def _fresh(place: Path, kind: str, name: str) -> Path:
    """An empty folder beside the entries of a kind."""
    parent = place / kind
    parent.mkdir(parents=True, exist_ok=True, mode=0o700)
    return Path(tempfile.mkdtemp(prefix=f"{name}.", dir=parent))


def _make(fresh: Path, name: str, fill: Callable[[Path], None]) -> Path:
    final = fresh.parent / name
    try:
        fill(fresh)
        files = sorted(str(p.relative_to(fresh)) for p in fresh.rglob("*") if p.is_file())
        (fresh / SUMS).write_text("".join(_sum(fresh, f) + "\n" for f in files))
        _swap_in(fresh, final)
    finally:
        shutil.rmtree(fresh, ignore_errors=True)
    return final


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
    try:
        _make(_fresh(root(), kind, name), name, lambda folder: write(folder, made))
        prune(kind, most)
    except OSError as error:
        _say(root(), error.strerror or str(error))
    return made


def sources(*elsewhere: str) -> list[Path]:
    """The files that isa consists of, but for the folders and files at the paths `elsewhere` (below isa): for the name
    of what the rest of isa makes."""
    root = Path(__file__).parent
    files = sorted(p for p in root.rglob("*") if p.suffix in (".py", ".j2", ".c", ".h"))
    return [p for p in files if not any(p.is_relative_to(root / path) for path in elsewhere)]


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
        if not _whole(final):
            aside = Path(tempfile.mkdtemp(prefix=f"{final.name}.", dir=final.parent))
            final.rename(aside / "damaged")
            shutil.rmtree(aside, ignore_errors=True)
            fresh.rename(final)


def _whole(folder: Path) -> bool:
    """Whether the files are what was written."""
    try:
        recorded = (folder / SUMS).read_text().splitlines()
        return bool(recorded) and all(line == _sum(folder, line[66:]) for line in recorded)
    except (OSError, ValueError):
        return False


def _sum(folder: Path, file: str) -> str:
    return f"{hashlib.sha256((folder / file).read_bytes()).hexdigest()}  {file}"
