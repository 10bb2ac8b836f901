"""Files that hold instruction traces of a card -> `CardTrace`: the bytes of SQTT, and the code that ran if it is there.

    FILE.pkl   what tinygrad keeps (PROFILE=1, SQTT=1): events of its own classes, among them the code objects that ran
               (ProfileProgramEvent) and the traces of each shader engine (ProfileSQTTEvent)
    FILE.att   what rocprofv3 --att keeps of a shader engine: the bytes as the card wrote them; the code is another file

A pickle is a program. It is never run as one here: `_Names` lets it build records that have names and fields and
nothing else, whatever class it asks for, so that no code is imported and none called; names outside of tinygrad but the
few of _HARMLESS are rejected with an error.
"""

from __future__ import annotations

import io
import pickle
import struct
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from isa.errors import IsaError


@dataclass(frozen=True)
class CardTrace:
    """A trace of one shader engine. kernel: its name where that is known; code: the code object that ran."""

    shader_engine: int
    kernel: str
    data: bytes
    code: bytes | None = None


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


class _Record:
    """Stands for an object of any class: its fields as they were pickled."""

    def __new__(cls, *arguments: object, **_: object) -> _Record:
        made = object.__new__(cls)
        made.__dict__["arguments"] = arguments
        return made

    def __init__(self, *_: object, **__: object) -> None:
        pass

    def __setstate__(self, state: object) -> None:
        if isinstance(state, tuple) and len(state) == 2 and isinstance(state[1], dict):  # with slots
            state = {**(state[0] or {}), **state[1]}
        self.__dict__.update(state if isinstance(state, dict) else {"state": state})

    def __hash__(self) -> int:
        return id(self)


_HARMLESS = {("decimal", "Decimal"), ("builtins", "set"), ("builtins", "frozenset"), ("collections", "OrderedDict")}
"""Names beside tinygrad's that its profiles hold; they become records, too."""


class _Names(pickle.Unpickler):
    def find_class(self, module: str, name: str) -> Any:
        if module.partition(".")[0] != "tinygrad" and (module, name) not in _HARMLESS:
            raise IsaError(
                f"this pickle asks for {module}.{name}, which no profile needs",
                expected="events of tinygrad",
                hint="it was not read; who made it?",
            )
        return type(name, (_Record,), {})

    def persistent_load(self, pid: object) -> Any:
        raise IsaError("this pickle refers to something outside of itself", expected="events of tinygrad")


def read(path: Path) -> list[CardTrace]:
    """The traces in a file. IsaError where there is none."""
    try:
        data = path.read_bytes()
    except OSError as error:
        raise IsaError(f"{path}: {error.strerror}", expected="a trace: .pkl of tinygrad, .att of rocprofv3") from error
    if path.suffix != ".pkl":
        return [CardTrace(0, "", data)]
    try:
        events = _Names(io.BytesIO(data)).load()
    except IsaError:
        raise
    except Exception as error:  # whatever a damaged pickle makes of itself
        raise IsaError(f"{path} is no pickle that can be read: {error}", expected="what tinygrad's PROFILE=1 keeps") \
            from error  # fmt: skip
    if not isinstance(events, list):
        raise IsaError(f"{path} holds no list of events", expected="what tinygrad's PROFILE=1 keeps")
    found = [vars(e) for e in events if isinstance(e, _Record) and type(e).__name__ == "ProfileSQTTEvent"]
    programs = {
        vars(e).get("tag"): vars(e)
        for e in events
        if isinstance(e, _Record) and type(e).__name__ == "ProfileProgramEvent"
    }
    traces = []
    for event in found:
        ran = programs.get(event.get("kern"), {})
        name, code, blob, engine = ran.get("name", ""), ran.get("lib"), event.get("blob"), event.get("se")
        if isinstance(blob, bytes) and isinstance(engine, int) and isinstance(name, str):
            traces.append(CardTrace(engine, name, blob, code if isinstance(code, bytes) else None))
    if not traces:
        raise IsaError(f"{path} holds no instruction trace", expected="a ProfileSQTTEvent", hint="run with SQTT=1")
    return traces
