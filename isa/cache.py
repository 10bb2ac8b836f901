"""Cache: things made between runs, one folder a kind under the user's cache folder, named by content.

An entry is a folder whose name is a hash of everything that went into it. It appears by one rename, whole or not at
all, together with a checksum of each of its files; `find` believes an entry only if the sums still hold, so a damaged
entry is made again and two processes that make the same entry do not disturb each other.

An entry in progress is a folder `NAME.XXXX` that its maker has locked. The lock ends with the process, however that
ends: what a killed one left half made is dropped when the next entry of its kind is made.

What lies here is believed, and some of it is run: so it is used only where nobody else may write. The project's folder,
the kind's and the entry's must be this user's own, and no group's or other's to write; so must all folders around them,
which may also be root's, a group's of this user alone, or sticky. The folders are made so that nobody else may read
them, either. Else nothing there is used, made or deleted, as where nothing can be written, and the message says why.

A folder that nothing can be written to is no error: what is there is used, what is made lies in a folder of this
process until it ends (`make`) or nowhere (`find_or_make`), and a message on stderr says so once.
"""

from __future__ import annotations

import atexit
import errno
import functools
import hashlib
import os
import shutil
import stat
import sys
import tempfile
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import TypeVar

from isa.errors import IsaError

try:
    import fcntl
except ImportError:  # Windows: nothing is locked, and nothing half made is dropped but by `clear`
    fcntl = None  # type: ignore[assignment]

SUMS = "SHA256SUMS"
_FULL = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG)
T = TypeVar("T")


def root() -> Path:
    """The project's folder in the user's cache folder (XDG base directory specification)."""
    base = os.path.expanduser(os.environ.get("XDG_CACHE_HOME") or "~/.cache")
    return Path(os.devnull if base[0] == "~" else base) / "hipgemm"  # a user without a home has no folder


@functools.cache
def _own() -> Path:
    """A folder of this process, for what cannot be kept; it ends with the process."""
    try:
        folder = Path(tempfile.mkdtemp(prefix="hipgemm."))
    except OSError as error:
        raise IsaError(
            "there is no folder for generated files",
            expected=f"a folder that can be written to: {root()} or {os.environ.get('TMPDIR', '/tmp')}",
            got=str(error),
            hint="$XDG_CACHE_HOME and $TMPDIR select others",
        ) from None
    maker = os.getpid()
    # A child that was forked leaves by the same door.
    atexit.register(lambda: shutil.rmtree(folder, ignore_errors=True) if os.getpid() == maker else None)
    return folder


@functools.cache
def _say(folder: Path, why: str) -> None:
    """That nothing is kept there."""
    print(
        f"hipgemm: nothing can be kept in the cache folder {folder} ({why}), so each run rebuilds everything; "
        "$XDG_CACHE_HOME selects another one",
        file=sys.stderr,
    )


def key(*parts: str | bytes) -> str:
    """A name for what these parts make."""
    digest = hashlib.sha256()
    for part in parts:
        data = part.encode(errors="surrogateescape") if isinstance(part, str) else part
        digest.update(len(data).to_bytes(8, "little") + data)
    return digest.hexdigest()[:32]


def find(kind: str, name: str) -> Path | None:
    """The entry's folder if it is there and its files are what was written."""
    made_here = [_own()] if _own.cache_info().currsize else []
    for place in (root(), *made_here):
        if _whole(folder := place / kind / name) and not any(map(_foreign, (place, place / kind, folder))):
            return folder
    return None


def _foreign(folder: Path) -> str:
    """Why a folder, and what is in it, may be somebody else's; "" where it is this user's, or is not there and all that
    lie around it are."""
    if not hasattr(os, "geteuid"):
        return ""
    with suppress(OSError):
        own = folder.stat()
        if own.st_uid != os.geteuid():
            return "it belongs to another user"
        if own.st_mode & (stat.S_IWGRP | stat.S_IWOTH):
            return "others may write to it: chmod go-w"
    return next(filter(None, map(_open_to_others, _around(folder))), "") if folder == root() else ""


def _own_only(folder: Path) -> None:
    """PermissionError where it is `_foreign`."""
    if why := _foreign(folder):
        raise PermissionError(errno.EPERM, why if folder == root() else f"{folder}: {why}")


def _around(folder: Path) -> list[Path]:
    """The folders that a folder lies in, by its name and where links lead."""
    return list(dict.fromkeys([*folder.absolute().parents, *Path(os.path.realpath(folder)).parents]))


def _open_to_others(around: Path) -> str:
    """Why somebody else may exchange what lies in a folder. Who owns `/` is believed: root, who may have another number
    in a name space of users."""
    try:
        found, top = around.stat(), Path("/").stat()
    except OSError:
        return ""
    if found.st_uid not in (0, os.geteuid(), top.st_uid):
        return f"{around} belongs to another user"
    if found.st_mode & stat.S_ISVTX:
        return ""
    if found.st_mode & stat.S_IWOTH or (found.st_mode & stat.S_IWGRP and not _private(found.st_gid)):
        return f"others may write to {around}"
    return ""


def _private(group: int) -> bool:
    """Whether it is the group of this user alone, as many systems give each."""
    import grp
    import pwd

    try:
        user, found = pwd.getpwuid(os.geteuid()), grp.getgrgid(group)
    except KeyError:
        return False
    return found.gr_gid == user.pw_gid and found.gr_name == user.pw_name and not set(found.gr_mem) - {user.pw_name}


def make(kind: str, name: str, fill: Callable[[Path], None]) -> Path:
    """The entry's folder; `fill` writes its files into an empty folder first if there is no good one. Where the cache
    takes nothing, it is a folder that is there until this process ends."""
    if (found := find(kind, name)) is not None:
        use(found)
        return found
    try:
        fresh = _fresh(root() / kind, name)
    except OSError as error:
        _say(root(), error.strerror or str(error))
    else:
        try:
            return _make(fresh, name, fill)
        except OSError as error:
            if error.errno not in _FULL:
                raise  # of what makes it
            _say(root(), error.strerror or str(error))
    return _make(_fresh(_own() / kind, name), name, fill)


@dataclass(frozen=True, slots=True)
class _Fresh:
    """A folder of this process alone. lock: the descriptor that says so; None where the file system has no locks."""

    folder: Path
    lock: int | None

    def drop(self) -> None:
        shutil.rmtree(self.folder, ignore_errors=True)
        if self.lock is not None:
            os.close(self.lock)


def _fresh(kind: Path, name: str) -> _Fresh:
    """An empty folder beside the entries of a kind."""
    assert "." not in name, name
    for part in (kind.parent, kind):
        _own_only(part)  # before anything is made in a folder of another
        part.mkdir(parents=True, exist_ok=True, mode=0o700)
        _own_only(part)
    _sweep(kind)
    while True:
        folder = Path(tempfile.mkdtemp(prefix=f"{name}.", dir=kind))
        with suppress(BlockingIOError, FileNotFoundError):  # another process swept it away before it was locked
            lock = _lock(folder)
            if folder.exists():
                return _Fresh(folder, lock)
            _Fresh(folder, lock).drop()


def lock(descriptor: int) -> None:
    """Locks an open file until it is closed, where there are locks. BlockingIOError where another has locked it."""
    if fcntl is not None:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)


def _lock(folder: Path) -> int | None:
    """Locks a folder until the descriptor is closed or this process ends; None where there are no locks.
    BlockingIOError where another has locked it."""
    if fcntl is None:
        return None
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        lock(descriptor)
    except OSError as error:
        os.close(descriptor)
        if isinstance(error, BlockingIOError):
            raise
        return None
    return descriptor


def _sweep(kind: Path) -> None:
    """Drop what was left half made: what is not locked."""
    for folder in _under_way(kind):
        with suppress(OSError):
            if (lock := _lock(folder)) is not None:
                _Fresh(folder, lock).drop()


def _under_way(kind: Path) -> list[Path]:
    return [folder for folder in kind.iterdir() if "." in folder.name]


def _entries(kind: Path) -> list[Path]:
    return [folder for folder in kind.iterdir() if "." not in folder.name]


def _make(fresh: _Fresh, name: str, fill: Callable[[Path], None]) -> Path:
    folder, final = fresh.folder, fresh.folder.parent / name
    try:
        fill(folder)
        files = sorted(str(p.relative_to(folder)) for p in folder.rglob("*") if p.is_file())
        (folder / SUMS).write_text("".join(_sum(folder, f) + "\n" for f in files))
        _swap_in(folder, final)
    finally:
        fresh.drop()
    return final


def find_or_make(
    kind: str,
    name: str,
    most: int,
    make_it: Callable[[], T],
    write: Callable[[Path, T], None],
    read: Callable[[Path], T],
    lasting: Callable[[T], bool] = lambda _: True,
) -> T:
    """What an entry holds, read from its folder, or made and written there, if it is `lasting`. At most `most` of a
    kind are kept; where the disk takes nothing, what was made is used and not kept."""
    with suppress(OSError, LookupError):
        if (folder := find(kind, name)) is not None:
            held = read(folder)
            use(folder)
            return held
    made = make_it()
    if not lasting(made):
        return made
    try:
        _make(_fresh(root() / kind, name), name, lambda folder: write(folder, made))
        prune(kind, most)
    except OSError as error:
        _say(root(), error.strerror or str(error))
    return made


def sources(*elsewhere: str) -> list[Path]:
    """The files that isa consists of, but for the folders and files at the paths `elsewhere` (below isa): for the name
    of what the rest of isa makes."""
    outside = tuple(str(Path(__file__).parent / path) for path in elsewhere)
    return [Path(file) for file in _files() if not file.startswith(outside) or not _below(file, outside)]


@functools.cache
def _files() -> list[str]:
    """All files of isa that say what it does."""
    found = os.walk(Path(__file__).parent)
    kinds = (".py", ".j2", ".c", ".h", ".ll")
    return sorted(os.path.join(folder, name) for folder, _, names in found for name in names if name.endswith(kinds))


def _below(file: str, places: tuple[str, ...]) -> bool:
    return any(file == place or file.startswith(place + os.sep) for place in places)


@functools.cache
def _digest(file: Path) -> bytes:
    return hashlib.sha256(file.read_bytes()).digest()


@functools.cache
def made_by(*elsewhere: str) -> str:
    """A name for what `sources` holds; a process reads each once."""
    return key(*map(_digest, sources(*elsewhere)))


def prune(kind: str, most: int) -> None:
    """Drop the entries that were used longest ago (`use`), so that no more than `most` are left."""
    for _, folder in sorted(_by_use(root() / kind), reverse=True)[most:]:
        shutil.rmtree(folder, ignore_errors=True)


def _by_use(kind: Path) -> Iterator[tuple[float, Path]]:
    """When each entry was used last."""
    for folder in _entries(kind):
        with suppress(OSError):  # another process drops it too
            yield folder.stat().st_mtime, folder


@dataclass(frozen=True, slots=True)
class Kind:
    """What lies in the cache of one kind. under_way: entries that are being made, or that a killed process left."""

    name: str
    entries: int
    size: int
    """Bytes, of those in progress too."""
    under_way: int


def kinds() -> list[Kind]:
    """All that the cache holds, by name. IsaError where it may be somebody else's, who may have put a link there."""
    if why := _foreign(root()):
        raise IsaError(f"the cache folder {root()} is not used: {why}", hint="$XDG_CACHE_HOME selects another one")
    folders = sorted(p for p in root().iterdir() if p.is_dir()) if root().is_dir() else []
    return [Kind(p.name, len(_entries(p)), sum(map(_size, p.iterdir())), len(_under_way(p))) for p in folders]


def limit(size: int) -> int:
    """Drop the entries that were used longest ago, of whatever kind, until no more than `size` bytes are left, and what
    was left half made. Returns how many entries went. What is being made stays."""
    for kind in kinds():
        _sweep(root() / kind.name)
    left = sum(kind.size for kind in kinds())
    entries = [entry for kind in kinds() for entry in _by_use(root() / kind.name)]
    for dropped, (_, folder) in enumerate(sorted(entries)):
        if left <= size:
            return dropped
        left -= _size(folder)
        shutil.rmtree(folder, ignore_errors=True)
    return len(entries)


def _size(folder: Path) -> int:
    size = 0
    for file in folder.rglob("*"):
        with suppress(OSError):  # another process drops it
            size += file.stat().st_size if file.is_file() else 0
    return size


def use(folder: Path) -> None:
    """Note that an entry was used now."""
    with suppress(OSError):
        os.utime(folder)


def _swap_in(fresh: Path, final: Path) -> None:
    """Rename `fresh` to `final`; where another process was first, its entry stays if it is whole."""
    try:
        fresh.rename(final)
    except OSError:
        if not _whole(final) or _foreign(final):
            aside = _fresh(final.parent, final.name)
            final.rename(aside.folder / "damaged")
            aside.drop()
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
