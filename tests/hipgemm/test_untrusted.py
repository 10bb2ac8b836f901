"""Files that nobody here wrote: what they say is escaped, quoted or refused, and what they claim is held against what
they have. Each is one error, with status 2, and never a traceback."""

import errno
import json
import os
import struct
import subprocess
import sys
import weakref
from pathlib import Path

import msgpack
import numpy as np
import pytest
from click.testing import CliRunner, Result
from verbs import invoked

from hipgemm.cli import Escaped, main
from hipgemm.kernels.build import build
from hipgemm.measure import records
from hipgemm.report import terminal
from hipgemm.tuning import table
from isa import errors, toolchain
from isa.display import printable
from isa.errors import IsaError
from isa.object import bundle, code_object, to_text
from isa.object.code_object import CodeObjectError
from isa.timing.card_traces.files import text_section
from tools.mutations import Notes

pytestmark = pytest.mark.skipif(not list(toolchain.available()), reason="no compiler for gfx11 here")
HOSTILE = "k\x1b[2J\x1b]0;x\x07\u202e"


@pytest.fixture(scope="module")
def elf() -> bytes:
    return build("kernel2").hsaco.read_bytes()


def run(*words: object, text: str | None = None) -> Result:
    done = CliRunner().invoke(main, [str(word) for word in words], input=text)
    assert done.exception is None or isinstance(done.exception, SystemExit), done.exception
    return done


def refused(*words: object) -> str:
    done = run(*words)
    assert done.exit_code == 2, done.output
    assert done.stderr.startswith(("hipgemm: ", "Usage: "))
    return done.stderr


# --- what is printed


def test_what_was_printed_is_not_kept() -> None:
    """click holds on to each stream that it can refer to weakly, for as long as the process lives."""
    with pytest.raises(TypeError):
        weakref.ref(Escaped(sys.stdout))


def test_a_terminal_gets_nothing_that_it_obeys() -> None:
    assert printable(HOSTILE) == "k\\x1b[2J\\x1b]0;x\\x07\\u202e"
    assert printable("a\tb\r\n\u00e9 \u2500\n") == "a\tb\n\u00e9 \u2500\n"
    assert printable("a\rb\x9b\udc80\u200b") == "a\\rb\\x9b\\udc80\\u200b"


def test_names_are_escaped_in_every_verb(elf: bytes, tmp_path: Path) -> None:
    file, other = tmp_path / "k.hsaco", tmp_path / "other.hsaco"
    file.write_bytes(elf.replace(b"kernel2", b"k\x1b[2J\x07\x07"))
    other.write_bytes(elf)
    launch = ("--grid", 1, "--block", 256)
    for words in (["inspect", file], ["lint", file], ["time", file, *launch], ["diff", file, other, "--kernel", "k"],
                  ["check", file, *launch], ["audit", file, "-o", tmp_path / "a.html"]):  # fmt: skip
        done = run(*words)
        assert "\x1b" not in done.output, words
        assert "\x07" not in done.output, words
    assert "\\x1b[2J" in run("inspect", file).output
    run("inspect", file, "--html", tmp_path / "k.html")
    for page in (tmp_path / "k.html", tmp_path / "a.html"):
        assert "\x1b" not in page.read_text()
    assert "\\x1b[2J" in (tmp_path / "k.html").read_text()


def test_tables_keep_their_colours_and_take_no_markup() -> None:
    made = terminal.plain(
        lambda on: on.print(f"[red]{HOSTILE}[/]", style="bold", highlight=False), 80, force_terminal=True
    )
    assert "[red]k\\x1b[2J" in made
    assert made.startswith("\x1b[1m")
    assert "\x07" not in made


def test_excerpts_are_escaped_and_code_for_a_program_is_not() -> None:
    text = build("kernel1").assembly.read_text().replace("s_endpgm", f"v_mov_b32_e32 v1, v2 ; {HOSTILE}\n\ts_endpgm", 1)
    assert "\x1b" not in run("lint", "-", text=text).output
    assert HOSTILE in run("opt", "-", "--passes", "clause", text=text).stdout


def test_a_name_of_several_lines_is_none(elf: bytes) -> None:
    with pytest.raises(CodeObjectError, match="several lines"):
        code_object.load(elf.replace(b"kernel2", b"k\n::x::"))


@pytest.mark.parametrize(
    ("redirected", "status", "said"),
    [
        (">/dev/full", 2, "hipgemm: cannot write the output: No space left on device\n"),
        (">&- 2>&- <&-", 0, ""),
        ("| head -c 1", 0, ""),
    ],
)
def test_streams_that_are_full_or_closed(redirected: str, status: int, said: str) -> None:
    words = [sys.executable, "-m", "hipgemm", "lint", "--rules"]
    done = subprocess.run(
        ["sh", "-c", f'"$@" {redirected}', "sh", *words], capture_output=True, text=True, check=False, cwd=Path.cwd()
    )
    assert (done.returncode, done.stderr) == (status, said)


def test_an_encoding_without_a_character_has_it_escaped() -> None:
    import io

    raw = io.BytesIO()
    stream = Escaped(io.TextIOWrapper(raw, encoding="ascii"))
    stream.write("\u00e9\udcff\n")
    stream.flush()
    assert raw.getvalue() == b"\\xe9\\udcff\n"


@pytest.mark.parametrize("name", ["a\nb.s", "\udcff\udcfe.s", "a\x1b[2J.s"])
def test_paths_of_any_bytes(name: str, tmp_path: Path) -> None:
    (tmp_path / name).write_bytes(build("kernel2").assembly.read_bytes())
    for words in (["lint", tmp_path / name], ["time", tmp_path / name, "-n", 256]):
        done = run(*words)
        assert "\x1b" not in done.output
        assert done.exit_code == 0, done.output
        assert "\\" in done.output or "\n" in name
        assert run(words[0], tmp_path / f"no{name}", *words[2:]).exit_code == 2


# --- what reaches an assembler

INJECTED = '.x: 1\n...\n\t.end_amdgpu_metadata\n\t.include "/etc/hostname"\n'

KEYS = [INJECTED, "a b", "", "x\ty", "\u2028", b"x", "x: y #"]


@pytest.mark.parametrize("key", KEYS)
@pytest.mark.parametrize("of", ["kernel", "argument"])
def test_keys_of_metadata_are_no_text_for_an_assembler(key: str | bytes, of: str, elf: bytes) -> None:
    notes = Notes(elf)
    kernel = notes.metadata["amdhsa.kernels"][0]
    (kernel if of == "kernel" else kernel[".args"][0])[key] = 1
    made = code_object.load(notes.with_packed(msgpack.packb(notes.metadata)))
    with pytest.raises(IsaError, match="is no key of metadata"):
        to_text.text_of(made)


@pytest.mark.parametrize("value", [b"\xff\xfe", float("nan"), [b"x"], {"a": {1.5: b""}}])
def test_values_that_assembly_cannot_hold(value: object, elf: bytes, tmp_path: Path) -> None:
    notes = Notes(elf)
    notes.metadata["amdhsa.kernels"][0][".language"] = value
    with pytest.raises(IsaError, match=r"no value of metadata|not valid msgpack"):
        to_text.text_of(code_object.load(notes.with_packed(msgpack.packb(notes.metadata))))


@pytest.mark.parametrize("value", ['"\n\t.include "/etc/hostname"', "'; .incbin", "x*/", "...", "\u2028\x85"])
def test_values_of_metadata_stand_in_quotes(value: str, elf: bytes) -> None:
    notes = Notes(elf)
    notes.metadata["amdhsa.kernels"][0][".language"] = value
    given = to_text.text_of(code_object.load(notes.with_packed(msgpack.packb(notes.metadata))))
    line = next(line.text for line in given.lines if ".language:" in line.text)
    assert json.loads(line.partition(": ")[2]) == value


# --- what a file claims to have


def header(elf: bytes, number: int, **fields: int) -> bytes:
    """With other fields in a program header."""
    made = bytearray(elf)
    places = {"kind": ("<I", 0), "offset": ("<Q", 8), "address": ("<Q", 16), "filesz": ("<Q", 32), "memsz": ("<Q", 40)}
    at = struct.unpack_from("<Q", elf, 32)[0] + 56 * number
    for name, value in fields.items():
        form, place = places[name]
        struct.pack_into(form, made, at + place, value)
    return bytes(made)


def test_segments_that_overlap(elf: bytes) -> None:
    loads = [i for i in range(8) if struct.unpack_from("<I", elf, 64 + 56 * i)[0] == 1]
    whole = {"offset": 0, "filesz": len(elf), "memsz": len(elf)}
    with pytest.raises(CodeObjectError, match="segments of this code object overlap"):
        code_object.load(header(header(elf, loads[0], **whole), loads[1], **whole))
    with pytest.raises(CodeObjectError, match="two segments"):
        code_object.load(header(elf, loads[1], address=0))


def test_sections_outside_of_the_code_of_a_trace(elf: bytes) -> None:
    assert text_section(elf)[1]
    for place in (len(elf), 1 << 63, (1 << 64) - 1):
        with pytest.raises(IsaError, match="the code of a trace is no ELF file"):
            text_section(elf[:0x28] + struct.pack("<Q", place) + elf[0x30:])


def test_symbols_outside_of_a_module(elf: bytes) -> None:
    made = elf.replace(struct.pack("<QQ", *_symbol(elf)), struct.pack("<QQ", _symbol(elf)[0], 1 << 40))
    with pytest.raises(CodeObjectError, match="outside of this code object"):
        code_object.load(made)


def _symbol(elf: bytes) -> tuple[int, int]:
    found = code_object.load(elf).symbols["kernel2"]
    return found.address, found.size


def bundled(*rows: tuple[int, int], more: bytes = b"") -> bytes:
    name = b"hipv4-amdgcn-amd-amdhsa--gfx1100"
    text = b"".join(struct.pack("<QQQ", *row, len(name)) + name for row in rows)
    return bundle.MAGIC + struct.pack("<Q", len(rows)) + text + more


@pytest.mark.parametrize("size", [1 << 63, (1 << 64) - 1, 1 << 32, 1 << 29])
def test_bundles_that_claim_more_than_they_have(size: int, tmp_path: Path) -> None:
    file = tmp_path / "b.hsaco"
    for offset in (0, 64, size):
        file.write_bytes(bundled((offset, size)))
        for words in (["inspect", file], ["lint", file], ["opt", file, "-o", tmp_path / "o"]):
            refused(*words)
    file.write_bytes(b"CCOB" + struct.pack("<HHIIQ", 2, 0, 28, size & 0xFFFFFFFF, 0) + b"x\x9c")
    refused("inspect", file)


def test_bundles_in_a_row_that_share_their_bytes(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(bundle, "LARGEST_BUNDLE", 5000)
    row = b"".join(bundled((0, 80 + n)).ljust(128, b"\0") for n in range(100))
    with pytest.raises(CodeObjectError, match="have more than 5000 bytes"):
        bundle.images(row)


# --- readers of other files

RECORD = {
    "record": 1, "kernel": "k", "m": 1, "n": 1, "k": 1, "alpha": 1.0, "beta": 0.0, "data": "random", "seed": 0,
    "arch": "gfx1100", "device": "x", "simulated": True, "correct": True, "max_abs_error": 0.0, "tolerance": 0.0,
    "time_ms": 1.0, "mean_ms": 1.0, "runs": 1, "time_kind": "predicted", "tflops": 1.0, "vgprs": 1, "sgprs": 1,
    "lds_bytes": 0, "scratch_bytes": 0, "host_ms": 1.0, "worst": [0, 0, 1.0, "nan"],
}  # fmt: skip


@pytest.mark.parametrize(
    "change", [{"worst": [0]}, {"worst": ["nan", 0, 1.0, 1.0]}, {"worst": [1.5, 2, 3]}, {"time_ms": 10**400},
               {"times_ms": ["nan"]}, {"m": True}]
)  # fmt: skip
def test_records_whose_fields_do_not_fit(change: dict[str, object]) -> None:
    assert records.read([json.dumps(RECORD)], "r.jsonl")
    with pytest.raises(IsaError, match=r"cannot be"):
        records.read([json.dumps(RECORD | change)], "r.jsonl")


DEEP = "[" * 100_000


@pytest.mark.parametrize(
    "words",
    [["report", "FILE"], ["explain", "--table", "FILE", 64, 64, 64], ["time", "kernel1", "--card-file", "FILE"]],
)
@pytest.mark.parametrize("text", [DEEP, '{"table": 1, "entries": ' + DEEP, '{"a":' * 100_000, "1" * 5000, "\ud800"])
def test_json_of_any_kind(words: list[object], text: str, tmp_path: Path) -> None:
    file = tmp_path / "file"
    file.write_bytes(text.encode(errors="surrogatepass"))
    refused(*(file if word == "FILE" else word for word in words))


@pytest.mark.skipif(not Path("/dev/zero").exists(), reason="no such device here")
@pytest.mark.parametrize(
    "words",
    [["report", "/dev/zero"], ["explain", "--table", "/dev/zero", 64, 64, 64], ["trace", "/dev/zero"],
     ["time", "kernel1", "--card-file", "/dev/zero"], ["tune", "--shapes", "/dev/zero", "-o", "OUT"],
     ["time", "KERNEL", "--launch", "/dev/zero"]],
)  # fmt: skip
def test_what_does_not_end_is_read_up_to_a_limit(
    words: list[object], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(errors.contents, "__defaults__", (1 << 16,))
    known = {"OUT": tmp_path / "out", "KERNEL": build("kernel2").hsaco}
    said = refused(*(known.get(str(word), word) for word in words))
    assert "does not end" in said
    assert "at most 65536 bytes" in said


def test_a_table_of_many_entries_is_read_in_one_pass(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    whole = table.shipped()
    file = tmp_path / "table.json"
    whole.save(file)
    monkeypatch.setattr(table.TuningTable, "with_", None)
    assert table.load(file) == whole


SAVED = b"\x93NUMPY\x01\x00"


def saved(header: str, data: bytes = bytes(16)) -> bytes:
    text = header.encode().ljust(118)
    return SAVED + struct.pack("<H", len(text)) + text + data


@pytest.mark.parametrize(
    "data",
    [
        saved("{'descr': '<f4', 'fortran_order': False, 'shape': (8000000000,), }"),
        saved("{'descr': '<f4', 'fortran_order': False, 'shape': (-1,), }"),
        saved("{'descr': '<f4', 'fortran_order': False, 'shape': (0, 10000000000000000000000), }"),
        saved("{'descr': '|O', 'fortran_order': False, 'shape': (1,), }"),
        saved("{'descr': '|V0', 'fortran_order': False, 'shape': (10,), }"),
        saved("{'descr': '<f4', 'fortran_order': False, 'shape': 4, }"),
        saved("(" * 110),
        saved("{'descr': []}"),
        b"PK\x03\x04",
        SAVED[:6] + b"\x09\x09",
        b"",
    ],
)
def test_arrays_whose_headers_lie(data: bytes, tmp_path: Path) -> None:
    file = tmp_path / "x.npy"
    file.write_bytes(data)
    said = refused("time", "kernel2", "--grid", 1, "--block", 256, "--arg", f"file:{file}")
    assert str(file) in said or "own launch" in said


def test_an_array_that_is_a_pipe_is_refused_and_not_waited_for(tmp_path: Path) -> None:
    from hipgemm.launch.words import argument

    os.mkfifo(tmp_path / "x.npy")
    with pytest.raises(IsaError, match="no regular file"):
        argument(f"file:{tmp_path / 'x.npy'}")


@pytest.mark.parametrize("shape", [(), (3,), (2, 3), (0, 2)])
@pytest.mark.parametrize("order", ["C", "F"])
def test_arrays_are_read_as_numpy_reads_them(shape: tuple[int, ...], order: str, tmp_path: Path) -> None:
    from hipgemm.launch.launch import Array
    from hipgemm.launch.words import argument

    wanted = np.asarray(np.arange(np.prod(shape, dtype=int)).reshape(shape).astype("<f8"), order=order)  # type: ignore[call-overload]
    np.save(tmp_path / "x.npy", wanted)
    made = argument(f"file:{tmp_path / 'x.npy'}")
    assert isinstance(made, Array)
    assert np.array_equal(made.contents().reshape(shape), wanted)


@pytest.mark.parametrize(
    "text",
    ["dynamic_lds = 9223372036854775807", "dynamic_lds = 65537", "x = " + "[" * 5000, "tolerance = 1e999", "grid = 1e5",
     'args = ["zeros:f32:99999999999999"]', 'args = ["zeros:f32:99999999999999999999999"]', 'args = ["f32:1e999"]'],
)  # fmt: skip
def test_launch_files_that_claim_too_much(text: str, elf: bytes, tmp_path: Path) -> None:
    (tmp_path / "k.hsaco").write_bytes(elf)
    words = [*("grid = 1\nblock = 256\n" if "grid" not in text else "block = 256\n").splitlines(), text]
    if "args" not in text:
        words.append(
            'args = ["i32:1", "i32:1", "i32:1", "f32:1", "f32:1", "zeros:f32:1", "zeros:f32:1", "zeros:f32:1"]'
        )
    (tmp_path / "k.toml").write_text("\n".join(words))
    refused("time", tmp_path / "k.hsaco")


# --- lines of sources


def located(file: Path, *named: str) -> str:
    """Assembly with a finding whose place is line 1 of a file."""
    words = " ".join(json.dumps(word) for word in named)
    text = build("kernel1").assembly.read_text()
    file.write_text(text.replace("\n; %bb.0:", f"\n\t.file\t1 {words}\n\t.loc\t1 1 0\n; %bb.0:", 1).replace(
        "\ts_endpgm", "\tv_mov_b32_e32 v1, v2\n\ts_endpgm", 1))  # fmt: skip
    return run("lint", file).output + run("lint", file, "--json").output + run("lint", file, "--sarif").output


def test_lines_are_shown_of_sources_below_the_input(tmp_path: Path) -> None:
    below = tmp_path / "in" / "src"
    below.mkdir(parents=True)
    (below / "a.hip").write_text("a line of the source\n")
    assert "a line of the source" in located(below.parent / "k.s", str(below), "a.hip")
    assert "a line of the source" in located(below / "k.s", str(below / "a.hip"))


def test_lines_of_other_files_are_not_shown(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    below = tmp_path / "in"
    below.mkdir()
    (tmp_path / "secret").write_text("hidden\n")
    (below / "link").symlink_to(tmp_path / "secret")
    (below / "folder").symlink_to(tmp_path)
    (below / "circle").symlink_to(below / "circle")
    (below / "large").write_bytes(b"hidden\n" + bytes(17 << 20))
    os.mkfifo(below / "fifo")
    monkeypatch.chdir(tmp_path)
    for named in ((str(tmp_path), "secret"), (str(below / "link"),), (str(below), "folder/secret"), ("secret",),
                  (str(below), "../secret"), (str(below / "large"),), (str(below / "fifo"),), (str(below / "circle"),),
                  ("/dev/zero",), ("/proc/self/environ",), ("/dev/stdin",), (str(below),), ("x" * 5000,)):  # fmt: skip
        said = located(below / "k.s", *named)
        assert "hidden" not in said, named
        assert Path(named[-1]).name[:200] in said or named == ("x" * 5000,)


# --- names of what is written


def test_no_link_is_followed_to_write_a_table(tmp_path: Path) -> None:
    other, file = tmp_path / "other", tmp_path / "table.json"
    other.write_text("mine")
    for name in ("table.json.new", ".table.json.new", ".tried"):
        (tmp_path / name).symlink_to(other)
    table.TuningTable().save(file)
    assert other.read_text() == "mine"
    assert table.load(file) == table.TuningTable()
    assert file.stat().st_mode & 0o777 == 0o666 & ~_mask()
    assert sorted(p.name for p in tmp_path.iterdir() if not p.is_symlink()) == ["other", "table.json"]


def test_nor_to_write_a_build(tmp_path: Path) -> None:
    other = tmp_path / "other"
    other.mkdir()
    out = tmp_path / "out"
    out.mkdir()
    (out / ".kernel2.new").symlink_to(other)
    (out / ".tried").symlink_to(tmp_path / "made")
    assert run("build", "kernel2", "-o", out).exit_code == 0
    assert (out / "kernel2" / "kernel2.hsaco").is_file()
    assert not list(other.iterdir())
    assert not (tmp_path / "made").exists()


def _mask() -> int:
    mask = os.umask(0)
    os.umask(mask)
    return mask


# --- limits of whoever started this


@pytest.mark.parametrize(
    ("mib", "words", "said"),
    [
        (130, "lint --rules", "the limit of address space is too low"),
        (1000, "run kernel1 -n 64 --device simulated", "the host has no address space for a simulated card"),
    ],
)
def test_too_little_address_space_is_one_error(mib: int, words: str, said: str) -> None:
    command = f'ulimit -v {mib << 10}; "$@"'
    hipgemm = [sys.executable, "-m", "hipgemm", *words.split()]
    done = subprocess.run(["sh", "-c", command, "sh", *hipgemm], capture_output=True, text=True, check=False)
    assert done.returncode == 2, done.stderr
    assert done.stderr.startswith(f"hipgemm: {said}")


@pytest.mark.parametrize("number", [errno.ENOSPC, errno.EFBIG, errno.EIO])
def test_what_stdout_does_not_take_is_said(number: int, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(*_: object) -> None:
        raise OSError(number, os.strerror(number))

    monkeypatch.setattr("hipgemm.cli.Escaped.write", full)
    invoked(["lint", "--rules"], code=2)


@pytest.mark.parametrize(
    ("error", "said"),
    [
        (OSError(errno.ENOMEM, "Cannot allocate memory"), "too little memory"),
        (OSError("libx.so: failed to map segment"), "libx.so: failed to map segment"),
        (ImportError("libx.so: failed to map segment"), "a library cannot be loaded: libx.so"),
        (PermissionError(errno.EACCES, "Permission denied", "x.s"), "x.s: Permission denied"),
        (RecursionError(), "nested too deeply"),
    ],
)
def test_what_the_machine_refuses(error: Exception, said: str, monkeypatch: pytest.MonkeyPatch) -> None:
    def failing(*_: object, **__: object) -> None:
        raise error

    monkeypatch.setattr("isa.asm.expand.read", failing)
    assert said in refused("lint", "-")


def test_a_file_that_cannot_be_written_is_as_it_was(tmp_path: Path) -> None:
    """A disk without room for the longer text: the only copy of the shorter one is there yet, and nothing beside it."""
    file = tmp_path / "k.s"
    text = (Path(__file__).parent / "own" / "padded.s").read_text()
    file.write_text(text)
    command = [sys.executable, "-m", "hipgemm", "opt", "k.s", "-o", "k.s", "--passes", "delay-alu"]
    limited = ["sh", "-c", 'ulimit -f 1; "$@"', "sh", *command]  # of 512 bytes
    done = subprocess.run(limited, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr.splitlines()[-1]) == (2, "hipgemm: cannot write k.s: File too large")
    assert file.read_text() == text
    assert [*tmp_path.iterdir()] == [file]


def test_what_is_written_keeps_its_mode_and_its_name(tmp_path: Path) -> None:
    kept, link, private = (tmp_path / name for name in ("kept", "link", "private"))
    kept.write_bytes(b"old")
    kept.chmod(0o640)
    link.symlink_to(kept)
    errors.write(link, b"new")
    errors.write(private, b"")
    errors.write(Path(os.devnull), b"nothing")
    assert link.is_symlink()
    assert kept.read_bytes() == b"new"
    assert kept.stat().st_mode & 0o777 == 0o640
    assert not Path(os.devnull).is_file()
    assert {*tmp_path.iterdir()} == {kept, link, private}
