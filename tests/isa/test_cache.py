"""The cache: whole entries or none, damaged ones made again."""

import errno
import os
import subprocess
import sys
import tempfile
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest

from isa import cache
from isa.errors import IsaError


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    yield tmp_path / "hipgemm"
    cache._say.cache_clear()
    cache._own.cache_clear()


def fill(folder: Path) -> None:
    (folder / "lib").mkdir()
    (folder / "lib" / "text").write_text("made")


def refuse(folder: Path) -> None:
    raise AssertionError("made twice")


def test_made_once(folder: Path) -> None:
    made = cache.make("kind", "name", fill)
    assert made == folder / "kind" / "name"
    assert (made / "lib" / "text").read_text() == "made"
    assert cache.make("kind", "name", refuse) == made
    assert [p.name for p in made.parent.iterdir()] == ["name"]


@pytest.mark.parametrize("damage", ["changed", "cut", "gone", "no sums", "empty sums"])
def test_a_damaged_entry_is_made_again(damage: str) -> None:
    made = cache.make("kind", "name", fill)
    if damage == "changed":
        (made / "lib" / "text").write_text("mode")
    elif damage == "cut":
        (made / "lib" / "text").write_text("")
    elif damage == "gone":
        (made / "lib" / "text").unlink()
    elif damage == "no sums":
        (made / cache.SUMS).unlink()
    else:
        (made / cache.SUMS).write_text("")
    assert cache.find("kind", "name") is None
    assert (cache.make("kind", "name", fill) / "lib" / "text").read_text() == "made"
    assert [p.name for p in made.parent.iterdir()] == ["name"]


def test_what_fails_leaves_nothing(folder: Path) -> None:
    with pytest.raises(AssertionError, match="made twice"):
        cache.make("kind", "name", refuse)
    assert list((folder / "kind").iterdir()) == []


def test_many_make_the_same_entry_at_once() -> None:
    barrier = threading.Barrier(4)
    seen: list[Path | None] = []

    def together(folder: Path) -> None:
        fill(folder)
        barrier.wait(600)  # only what hangs is given up

    def work() -> None:
        cache.make("kind", "name", together)
        seen.append(cache.find("kind", "name"))

    threads = [threading.Thread(target=work) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(600)
    assert len(seen) == 4
    assert None not in seen


def test_keys_tell_parts_apart() -> None:
    assert cache.key("ab", "c") != cache.key("a", "bc")
    assert cache.key("ab") == cache.key(b"ab")


def test_found_or_made() -> None:
    def write(folder: Path, text: str) -> None:
        (folder / "text").write_text(text)

    def read(folder: Path) -> str:
        return (folder / "text").read_text()

    def find_or_make(name: str, made: str) -> str:
        return cache.find_or_make("kind", name, 2, lambda: made, write, read)

    assert find_or_make("a", "first") == "first"
    assert find_or_make("a", "second") == "first"
    assert [find_or_make(name, name) for name in "bcd"] == ["b", "c", "d"]
    assert len(list((cache.root() / "kind").iterdir())) == 2
    (cache.root() / "kind" / "d" / "text").write_text("damaged")
    assert find_or_make("d", "again") == "again"


def test_what_the_disk_refuses_is_made_and_not_kept(folder: Path) -> None:
    folder.parent.mkdir(exist_ok=True)
    folder.write_text("a file where the folder would be")

    def write(folder: Path, made: int) -> None:
        raise AssertionError("there is nowhere to write")

    assert cache.find_or_make("kind", "name", 1, lambda: 42, write, lambda folder: 0) == 42


def test_where_nothing_can_be_written_things_are_made_for_this_process(
    folder: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    folder.write_text("a file where the folder would be")
    made = cache.make("kind", "name", fill)
    assert (made / "lib" / "text").read_text() == "made"
    assert folder not in made.parents
    assert cache.make("kind", "name", refuse) == made == cache.find("kind", "name")
    cache.make("kind", "other", fill)
    assert cache.find_or_make("kind", "third", 1, lambda: 42, lambda folder, made: None, lambda folder: 0) == 42
    (said,) = capfd.readouterr().err.splitlines()
    assert said.startswith(f"hipgemm: nothing can be kept in the cache folder {folder} (")
    assert said.endswith("$XDG_CACHE_HOME selects another one")


def test_what_is_there_is_used_where_nothing_can_be_added(
    folder: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    made = cache.make("kind", "name", fill)
    monkeypatch.setattr(cache, "_fresh", lambda *a: (_ for _ in ()).throw(PermissionError(errno.EACCES, "no")))
    assert cache.make("kind", "name", refuse) == made
    assert capfd.readouterr().err == ""


def test_a_full_disk(folder: Path, capfd: pytest.CaptureFixture[str]) -> None:
    def full(fresh: Path) -> None:
        if folder in fresh.parents:
            raise OSError(errno.ENOSPC, "No space left on device")
        fill(fresh)

    made = cache.make("kind", "name", full)
    assert (made / "lib" / "text").read_text() == "made"
    assert list((folder / "kind").iterdir()) == []
    assert "(No space left on device)" in capfd.readouterr().err


def test_what_a_maker_lacks_is_no_matter_of_the_cache(capfd: pytest.CaptureFixture[str]) -> None:
    def lacks(fresh: Path) -> None:
        raise FileNotFoundError(errno.ENOENT, "no such compiler")

    with pytest.raises(FileNotFoundError, match="no such compiler"):
        cache.make("kind", "name", lacks)
    assert capfd.readouterr().err == ""


def test_neither_cache_nor_temporary_folder(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder.write_text("")
    monkeypatch.setattr(tempfile, "tempdir", str(folder))
    with pytest.raises(IsaError, match="there is no folder for generated files"):
        cache.make("kind", "name", fill)


def test_nobodys_home(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", "~nobody-of-that-name/cache")
    assert (cache.make("kind", "name", fill) / "lib" / "text").read_text() == "made"
    assert not Path("~nobody-of-that-name").exists()


def test_what_could_not_be_kept_ends_with_the_process(folder: Path) -> None:
    folder.write_text("")
    code = "from isa import cache; print(cache.make('kind', 'name', lambda f: (f / 'x').write_text('y')))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert not Path(done.stdout.strip()).parents[1].exists()
    assert done.stderr.count("\n") == 1


MAKER = """
import sys, time
from isa import cache
def fill(folder):
    (folder / "half").write_text("made")
    print(folder, flush=True)
    sys.stdin.read()
cache.make("kind", "name", fill)
"""


def test_what_a_killed_process_left_half_made_goes_and_what_is_being_made_stays(folder: Path) -> None:
    makers = [
        subprocess.Popen([sys.executable, "-c", MAKER], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        for _ in range(2)
    ]
    halves = [Path(maker.stdout.readline().strip()) for maker in makers if maker.stdout]
    cache.make("kind", "other", fill)
    assert all(half.is_dir() for half in halves)
    assert cache.kinds() == [cache.Kind("kind", 1, sum(map(cache._size, (folder / "kind").iterdir())), 2)]
    makers[0].kill()
    makers[0].wait()
    cache.make("kind", "third", fill)
    assert [half.is_dir() for half in halves] == [False, True]
    makers[1].communicate("")
    assert {p.name for p in (folder / "kind").iterdir()} == {"name", "other", "third"}


def test_a_limit_drops_what_was_used_longest_ago(folder: Path) -> None:
    made = [cache.make(kind, name, fill) for kind, name in (("a", "first"), ("b", "second"), ("a", "third"))]
    for seconds, entry in enumerate(made):
        os.utime(entry, (seconds, seconds))
    cache.make("a", "first", refuse)  # used
    one = cache._size(made[0])
    assert cache.limit(3 * one) == 0
    assert cache.limit(3 * one - 1) == 1
    assert cache.find("b", "second") is None
    (folder / "a" / "half.made").mkdir()
    assert [(kind.name, kind.entries, kind.under_way) for kind in cache.kinds()] == [("a", 2, 1), ("b", 0, 0)]
    assert cache.limit(one) == 1
    assert cache.find("a", "first")
    assert cache.limit(0) == 1
    assert not any(kind.size or kind.entries or kind.under_way for kind in cache.kinds())


def test_where_there_are_no_locks_nothing_is_swept(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(cache, "fcntl", None)
    cache.make("kind", "name", fill)
    (folder / "kind" / "half.made").mkdir()
    cache.make("kind", "other", fill)
    assert (folder / "kind" / "half.made").is_dir()


def test_sources_leave_out_what_is_elsewhere() -> None:
    names = {str(p.relative_to(Path(cache.__file__).parent)) for p in cache.sources("passes", "toolchain.py")}
    assert {"cache.py", "sim/ir/jit.py", "timing/native/run.c", "timing/native/engine.h"} <= names
    assert not {"toolchain.py", "passes/unroll.py"} & names


@pytest.mark.parametrize("part", ["", "kind", "kind/name"])
@pytest.mark.parametrize("mode", [0o777, 0o770, 0o702])
def test_what_others_may_write_is_not_used(
    part: str, mode: int, folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    made = cache.make("kind", "name", fill)
    (folder / part).chmod(mode)
    assert cache.find("kind", "name") is None
    again = cache.make("kind", "name", fill)
    assert (again / "lib" / "text").read_text() == "made"
    if part == "kind/name":  # exchanged for one's own
        assert again == made
        assert not made.stat().st_mode & 0o77
    else:
        assert not again.is_relative_to(folder)
        assert "others may write to it: chmod go-w" in capsys.readouterr().err


@pytest.mark.parametrize(("mode", "used"), [(0o777, False), (0o1777, True), (0o755, True), (0o703, False)])
def test_nor_what_lies_where_others_may_put_another(mode: int, used: bool, folder: Path) -> None:
    cache.make("kind", "name", fill)
    folder.parent.chmod(mode)
    assert (cache.find("kind", "name") is not None) == used


def test_nor_what_belongs_to_another(
    folder: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    cache.make("kind", "name", fill)
    user = os.geteuid()
    stat = Path.stat

    def of_another(path: Path, **options: bool) -> os.stat_result:
        found = stat(path, **options)
        return os.stat_result((*found[:4], user + 1, *found[5:])) if path == folder else found

    monkeypatch.setattr(Path, "stat", of_another)
    assert cache.find("kind", "name") is None
    assert not cache.make("kind", "name", fill).is_relative_to(folder)
    assert "belongs to another user" in capsys.readouterr().err


@pytest.mark.parametrize("mode", [0o777, 0o772])
def test_nothing_is_made_or_deleted_where_others_may_put_a_link(
    mode: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    theirs = tmp_path / "theirs"
    (theirs / "a").mkdir(parents=True)
    monkeypatch.setenv("XDG_CACHE_HOME", str(theirs / "a" / "b"))
    theirs.chmod(mode)  # two above the cache folder
    assert not cache.make("kind", "name", fill).is_relative_to(tmp_path)
    assert f"others may write to {theirs}" in capsys.readouterr().err
    assert list(theirs.rglob("*")) == [theirs / "a"]
    (theirs / "a" / "b").mkdir()
    valuable = tmp_path / "valuable" / "kind" / "name"
    valuable.mkdir(parents=True)
    (theirs / "a" / "b" / "hipgemm").symlink_to(tmp_path / "valuable")
    with pytest.raises(IsaError, match="is not used"):
        cache.limit(0)
    assert valuable.is_dir()


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can give a folder away")
def test_root_makes_nothing_in_the_folder_of_another(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "home" / ".cache"))
    (tmp_path / "home").mkdir()
    os.chown(tmp_path / "home", 12345, 12345)
    assert not cache.make("kind", "name", fill).is_relative_to(tmp_path)
    assert "home belongs to another user" in capsys.readouterr().err
    assert not list((tmp_path / "home").iterdir())


def test_folders_are_nobody_elses_to_read(folder: Path) -> None:
    made = cache.make("kind", "name", fill)
    assert [part.stat().st_mode & 0o777 for part in (folder, made.parent, made)] == [0o700] * 3
