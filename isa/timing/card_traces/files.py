"""Files that hold instruction traces of a card -> `CardTrace`: the bytes of SQTT, and the code that ran if it is there.

    FILE.pkl   what tinygrad keeps (PROFILE=1, SQTT=1): events of its own classes, among them the code objects that ran
               (ProfileProgramEvent) and the traces of each shader engine (ProfileSQTTEvent)
    FILE.att   what rocprofv3 --att keeps of a shader engine: the bytes as the card wrote them; the code is another file

A pickle is a program. It is never run as one here (`isa.timing.card_traces.pickles`); names outside of tinygrad but the
few of _HARMLESS are rejected with an error.
"""

from __future__ import annotations

import struct
from dataclasses import dataclass
from pathlib import Path

from isa.errors import IsaError
from isa.timing.card_traces import pickles
from isa.timing.card_traces.pickles import Record


@dataclass(frozen=True)
class CardTrace:
    """A trace of one shader engine. kernel: its name where that is known; code: the code object that ran."""

    shader_engine: int
    kernel: str
    data: bytes
    code: bytes | None = None


LARGEST = 1 << 30
_CODE_END = bytes.fromhex("00009fbf")
"""s_code_end, which stands after a kernel so that fetching ahead finds something."""


def text_section(image: bytes) -> tuple[int, bytes]:
    """(address, code) of the .text of an ELF file, of which nothing else has to be right: tinygrad's assembler writes
    a header with hardly more than that."""
    try:
        (sections,) = struct.unpack_from("<Q", image, 0x28)
        count, names = struct.unpack_from("<HH", image, 0x3C)
        rows = [struct.unpack_from("<IIQQQQ", image, sections + 64 * k) for k in range(count)]
        for name, _, _, address, offset, length in rows:
            start = rows[names][4] + name
            if image[start : image.index(0, start)] == b".text" and offset + length <= len(image):
                code = image[offset : offset + length]
                while code.endswith(_CODE_END):
                    code = code[:-4]
                return address, code
    except (struct.error, IndexError, ValueError) as error:
        raise IsaError("the code of a trace is no ELF file", got=str(error)) from error
    raise IsaError("the code of a trace has no .text")


_HARMLESS = {("decimal", "Decimal"), ("builtins", "set"), ("builtins", "frozenset"), ("collections", "OrderedDict")}
"""Names beside tinygrad's that its profiles hold; they become records, too."""


def _allowed(module: str, name: str) -> bool:
    return module.partition(".")[0] == "tinygrad" or (module, name) in _HARMLESS


def _tag(record: Record, field: str) -> int | str | bytes | None:
    """What a program and its traces have in common; None for what cannot be looked up."""
    tag = record.get(field)
    return tag if isinstance(tag, (int, str, bytes)) else None


def read(path: Path) -> list[CardTrace]:
    """The traces in a file. IsaError where there is none."""
    try:
        if path.stat().st_size > LARGEST:
            raise IsaError(f"{path} is too large for a trace", expected=f"at most {LARGEST} bytes")
        data = path.read_bytes()
    except OSError as error:
        raise IsaError(f"{path}: {error.strerror}", expected="a trace: .pkl of tinygrad, .att of rocprofv3") from error
    if path.suffix != ".pkl":
        return [CardTrace(0, "", data)]
    try:
        events = pickles.load(data, _allowed)
    except IsaError as error:
        error.message = f"{path}: {error.message}"
        raise
    if not isinstance(events, list):
        raise IsaError(f"{path} holds no list of events", expected="what tinygrad's PROFILE=1 keeps")
    records = list({id(e): e for e in events if isinstance(e, Record)}.values())
    programs = {_tag(record, "tag"): record for record in records if record.kind == "ProfileProgramEvent"}
    traces = []
    for event in (record for record in records if record.kind == "ProfileSQTTEvent"):
        tag = _tag(event, "kern")
        ran = programs.get(tag) if tag is not None else None
        name, code = (ran.get("name") or "", ran.get("lib")) if ran else ("", None)
        blob, engine = event.get("blob"), event.get("se")
        if isinstance(blob, bytes) and isinstance(engine, int) and isinstance(name, str):
            traces.append(CardTrace(engine, name, blob, code if isinstance(code, bytes) else None))
    if not traces:
        raise IsaError(f"{path} holds no instruction trace", expected="a ProfileSQTTEvent", hint="run with SQTT=1")
    return traces
