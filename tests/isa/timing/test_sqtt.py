"""Instruction traces of cards: packets, what they say of a program, and the files that hold them."""

from __future__ import annotations

import pickle
import subprocess
import time
import tracemalloc
from pathlib import Path

import pytest
from texts import texts

from isa.analysis import cfg as control_flow
from isa.asm.parse import parse
from isa.errors import IsaError
from isa.timing.card_traces import att, sqtt
from isa.timing.card_traces import files as trace_files
from isa.timing.card_traces.sqtt import Issued

(LOOP,) = texts(__file__)
CFG = control_flow.of_text(parse(LOOP))
TRIP = (1, 3, 4, 5, 6, 7, 8)


def issues() -> list[Issued]:
    """Two waves, which begin 1 and 1000000 cycles in, and take the loop twice."""
    positions = (0, *TRIP, *TRIP, 9, 10, 11)
    rows = [(7 * k + begin, wave, at) for wave, begin in ((0, 1), (3, 1_000_000)) for k, at in enumerate(positions)]
    return [Issued(cycle, wave, at, "model") for cycle, wave, at in sorted(rows)]


def told(found: list[Issued]) -> list[tuple[int, int, int]]:
    return [(i.cycle, i.wave, i.position) for i in found]


def test_a_trace_says_again_what_was_written_into_it() -> None:
    data = sqtt.encoded(issues(), CFG)
    assert told(list(sqtt.instructions(sqtt.packets(data), CFG))) == told(issues())


def test_packets_are_those_of_the_format() -> None:
    """Byte by byte: a header of layout 3, a wave that begins, s_mov_b32 as an INST of operation 0, the end."""
    program = control_flow.of_text(parse("s_mov_b32 s0, 1\ns_endpgm\n"))
    data = sqtt.encoded([Issued(3, 1, 0, "model"), Issued(5, 1, 1, "model")], program)
    assert data[:8] == (0x11 | 3 << 7).to_bytes(8, "little")
    found = [(p.time, p.kind) for p in sqtt.packets(data) if p.kind != "NOP"]
    assert found == [(0, "LAYOUT_HEADER"), (3, "WAVESTART"), (3, "INST"), (5, "WAVEEND")]
    # INST: 010 in bits 0 to 2, the wave from bit 8, the operation from bit 13; behind 8 + 4 bytes
    assert int.from_bytes(data[12:15], "little") & 0xFFFFF == 0b010 | 1 << 8


@pytest.mark.parametrize(
    ("line", "other"),
    [("v_exp_f32_e32 v1, v0", "s_mov_b32 s1, 0"), ("ds_load_b32 v2, v1", "v_mov_b32 v2, v1"), ("s_barrier\n", "")],
)
def test_a_trace_of_other_code_is_refused_by_its_place(line: str, other: str) -> None:
    wrong = control_flow.of_text(parse(LOOP.replace(line, other)))
    with pytest.raises(IsaError, match=r"cycle \d+: the trace is not of this code: wave 0 is at"):
        list(sqtt.instructions(sqtt.packets(sqtt.encoded(issues(), CFG)), wrong))


@pytest.mark.parametrize("data", [b"", bytes(100), (0x11 | 4 << 7).to_bytes(8, "little") + bytes(90)])
def test_what_is_no_trace_of_rdna3_is_refused(data: bytes) -> None:
    with pytest.raises(IsaError, match="no SQTT trace of an RDNA3 card"):
        list(sqtt.packets(data))


def test_a_viewers_folder_says_the_same(tmp_path: Path) -> None:
    att.write(tmp_path, att.files("loop", CFG, issues()))
    code, found = att.read(tmp_path)
    assert [text for _, text in code] == [str(inst) for inst in CFG.instructions]
    assert [(i.cycle, i.position) for i in found] == [(i.cycle, i.position) for i in issues()]
    with pytest.raises(IsaError, match=r"code\.json"):
        att.read(tmp_path / "none")


class ProfileSQTTEvent:
    pass


def pickled(module: str, **fields: object) -> bytes:
    """An event as tinygrad's would be: of a class of that name in a module that is not there."""
    event = ProfileSQTTEvent()
    event.__dict__.update(fields)
    plain = pickle.dumps([event], 3)
    name = f"{__name__}\nProfileSQTTEvent\n".encode()
    assert name in plain
    return plain.replace(name, f"{module}\nProfileSQTTEvent\n".encode())


def test_tinygrads_events_are_read_without_tinygrad(tmp_path: Path) -> None:
    file = tmp_path / "profile.pkl"
    file.write_bytes(pickled("tinygrad.runtime.ops_amd", se=1, kern=0, blob=b"abc"))
    (found,) = trace_files.read(file)
    assert (found.shader_engine, found.data, found.code) == (1, b"abc", None)


class Calls:
    """What a pickle can do that is loaded as one."""

    def __reduce__(self) -> object:
        return subprocess.call, (["touch", "/tmp/it-ran"],)


@pytest.mark.parametrize(
    "data",
    [pickle.dumps([Calls()]), pickle.dumps([Calls()], 0), pickled("os"), b"cposix\nsystem\n(S'true'\ntR.",
     b"ctinygrad.x\nf\n(S'a'\ntR.", b"no pickle", b""],
)  # fmt: skip
def test_a_pickle_runs_nothing(data: bytes, tmp_path: Path) -> None:
    file = tmp_path / "profile.pkl"
    file.write_bytes(data)
    Path("/tmp/it-ran").unlink(missing_ok=True)
    with pytest.raises(IsaError):
        trace_files.read(file)
    assert not Path("/tmp/it-ran").exists()


def doubled(depth: int, last: bytes) -> bytes:
    """A tuple of two of a tuple of two ...: what is hashed or printed takes 2^depth steps."""
    made = b"\x80\x02}(N"
    for place in range(depth):
        made += b"q" + bytes([place]) + b"h" + bytes([place]) + b"\x86"
    return made + last


@pytest.mark.parametrize(
    "data",
    [
        b"\x80\x02Nr\xff\xff\xff\x7f.",  # a high place of the memo
        doubled(60, b"Ns."),
        doubled(60, b"N0]\x8f."),
        doubled(60, b"Nu]."),
        b"\x80\x04\x8e\xff\xff\xff\xff\xff\xff\xff\x7fx.",
        b"\x80\x02" + b"(" * 20_000 + b"t" * 20_000 + b".",
        b"\x80\x02]" + b"2a" * 3 + b".",
        b"\x80\x02" + b"0" * 10 + b".",
        b"(" * 10 + b"1" * 20 + b".",
        b"\x80\x02(2l.",
        b"\x80\x02ctinygrad.x\nProfileSQTTEvent\n)\x81}b}b.",
        b"\x80\x05\x97.",
        b"\x80\x02\x82\x01.",
        b"Px\n.",
        b"L" + b"9" * 100_000 + b"L\n.",
    ],
)
def test_a_pickle_takes_no_more_than_its_length(data: bytes, tmp_path: Path) -> None:
    file = tmp_path / "bad.pkl"
    file.write_bytes(data)
    tracemalloc.start()
    began = time.process_time()
    with pytest.raises(IsaError, match=r"no pickle that|no list of events|outside of itself|no instruction"):
        trace_files.read(file)
    assert time.process_time() - began < 60  # what grows faster than its input takes hours
    assert tracemalloc.get_traced_memory()[1] < 64 << 20
    tracemalloc.stop()


def test_operations_are_counted(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("isa.timing.card_traces.files.OPERATIONS", 100)
    (tmp_path / "long.pkl").write_bytes(b"N0" * 60 + b"N.")
    with pytest.raises(IsaError, match="too long"):
        trace_files.read(tmp_path / "long.pkl")
