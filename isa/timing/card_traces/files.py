"""Files that hold instruction traces of a card -> `CardTrace`: the bytes of SQTT, and the code that ran if it is there.

    FILE.pkl   what tinygrad keeps (PROFILE=1, SQTT=1): events of its own classes, among them the code objects that ran
               (ProfileProgramEvent) and the traces of each shader engine (ProfileSQTTEvent)
    FILE.att   what rocprofv3 --att keeps of a shader engine: the bytes as the card wrote them; the code is another file

A pickle is a program. It is never run as one here; names outside of tinygrad but the
few of _HARMLESS are rejected with an error.

A pickle as data: bytes -> the lists, dictionaries and records of names and fields that it describes.

A pickle is a program for a machine with a stack and a memo. Python's own loader makes whatever the program asks for;
this one goes through the same operations (`pickletools.genops` tells them apart) and makes lists, tuples, dictionaries,
numbers, texts, bytes, and a `Record` wherever it is told to call something: nothing is imported and nothing is called.

Time and memory follow the length of the file: an operation takes as long as it has operands, nothing is copied that is
referred to twice, nothing is hashed but texts and numbers (entries of dictionaries under other keys are left out, of
sets nothing is kept), and a place of the memo is an entry, however high its number.

Limits: OPERATIONS of them; no references to outside of the pickle, no extension codes, no buffers beside it.
"""

from __future__ import annotations

import pickletools
import struct
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from isa.errors import IsaError, contents


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
    except (struct.error, IndexError, ValueError, OverflowError) as error:
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
        data = contents(path)
    except OSError as error:
        raise IsaError(f"{path}: {error.strerror}", expected="a trace: .pkl of tinygrad, .att of rocprofv3") from error
    if path.suffix != ".pkl":
        return [CardTrace(0, "", data)]
    try:
        events = load(data, _allowed)
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


OPERATIONS = 1 << 23
"""More than a profile of 100,000 events has; they take some seconds."""


@dataclass(eq=False, slots=True)
class Record:
    """Stands for an object of any class. state: what it was told to hold: a dictionary, or two of them in a tuple."""

    kind: str
    arguments: object = ()
    state: object = None

    def get(self, name: str) -> Any:
        """A field; None where it has none of that name."""
        parts = self.state if isinstance(self.state, tuple) and len(self.state) == 2 else (self.state,)
        return next((part[name] for part in parts if isinstance(part, dict) and name in part), None)


@dataclass(frozen=True, slots=True)
class _Name:
    """What a pickle would import."""

    text: str


_MARK = object()
_VALUES = (
    "INT BININT BININT1 BININT2 LONG LONG1 LONG4 STRING BINSTRING SHORT_BINSTRING BINBYTES SHORT_BINBYTES BINBYTES8 "
    "BYTEARRAY8 UNICODE SHORT_BINUNICODE BINUNICODE BINUNICODE8 FLOAT BINFLOAT"
).split()
_MADE: dict[str, Callable[[], object]] = {
    "NONE": lambda: None, "NEWTRUE": lambda: True, "NEWFALSE": lambda: False, "EMPTY_LIST": list, "EMPTY_TUPLE": tuple,
    "EMPTY_DICT": dict, "EMPTY_SET": lambda: Record("set"), "MARK": lambda: _MARK,
}  # fmt: skip
_LAST = {"TUPLE1": 1, "TUPLE2": 2, "TUPLE3": 3}


def load(data: bytes, allowed: Callable[[str, str], bool]) -> object:
    """What a pickle describes. allowed: whether it may ask for a name of a module. IsaError for what is no pickle, and
    for one that this module's docstring excludes."""
    try:
        return _Machine(allowed).run(data)
    except (ValueError, IndexError, KeyError, TypeError, AttributeError, ArithmeticError) as error:
        raise IsaError(f"this is no pickle that can be read: {error}") from error


class _Machine:
    def __init__(self, allowed: Callable[[str, str], bool]) -> None:
        self.allowed = allowed
        self.stack: list[Any] = []
        self.marks: list[int] = []
        self.memo: dict[int, object] = {}

    def run(self, data: bytes) -> object:
        for count, (operation, operand, _) in enumerate(pickletools.genops(data)):
            if count == OPERATIONS:
                raise IsaError("this pickle is too long", expected=f"at most {OPERATIONS} operations")
            name = operation.name
            if name == "STOP":
                return self.pop()
            self.step(name, operand)
        raise ValueError("it does not stop")

    def pop(self) -> Any:
        if not self.stack or (found := self.stack.pop()) is _MARK:
            raise ValueError("it takes what is not there")
        return found

    def since_mark(self) -> list[Any]:
        at = self.marks.pop()
        found = self.stack[at + 1 :]
        del self.stack[at:]
        return found

    def top(self, kind: type) -> Any:
        """What the operands are put into."""
        if not isinstance(self.stack[-1], kind):
            raise ValueError(f"it puts something into what is no {kind.__name__.lower()}")
        return self.stack[-1]

    def name(self, module: str, name: str) -> _Name:
        if not self.allowed(module, name):
            raise IsaError(
                f"this pickle asks for {module}.{name}, which no profile needs",
                expected="events of tinygrad",
                hint="it was not read; who made it?",
            )
        return _Name(name)

    def step(self, name: str, operand: Any) -> None:
        push = self.stack.append
        if name in _VALUES:
            push(operand)
        elif name in _MADE:
            if name == "MARK":
                self.marks.append(len(self.stack))
            push(_MADE[name]())
        elif name in _LAST:
            push(tuple(reversed([self.pop() for _ in range(_LAST[name])])))
        elif name in ("TUPLE", "LIST"):
            push((tuple if name == "TUPLE" else list)(self.since_mark()))
        elif name in ("PUT", "BINPUT", "LONG_BINPUT", "MEMOIZE"):
            self.memo[len(self.memo) if name == "MEMOIZE" else operand] = self.stack[-1]
        elif name in ("GET", "BINGET", "LONG_BINGET"):
            push(self.memo[operand])
        elif name in ("APPEND", "APPENDS"):
            items = self.since_mark() if name == "APPENDS" else [self.pop()]
            self.top(list).extend(items)
        elif name in ("SETITEM", "SETITEMS", "DICT"):
            words = [self.pop(), self.pop()][::-1] if name == "SETITEM" else self.since_mark()
            if name == "DICT":
                push({})
            self.top(dict).update(_entries(words))
        elif name in ("ADDITEMS", "FROZENSET"):
            self.since_mark()
            if name == "FROZENSET":
                push(Record("frozenset"))
        elif name == "GLOBAL":
            push(self.name(*operand.split(" ", 1)))
        elif name == "STACK_GLOBAL":
            word, module = self.pop(), self.pop()
            push(self.name(str(module), str(word)))
        elif name in ("REDUCE", "NEWOBJ", "NEWOBJ_EX", "OBJ", "INST"):
            push(self.record(name, operand))
        elif name == "BUILD":
            state, record = self.pop(), self.top(Record)
            if record.state is not None:
                raise ValueError("it builds an object twice")
            record.state = state
        elif name == "POP":
            self.pop_any()
        elif name == "DUP":
            found = self.pop()
            self.stack.append(found)
            push(found)
        elif name == "POP_MARK":
            self.since_mark()
        elif name in ("PERSID", "BINPERSID"):
            raise IsaError("this pickle refers to something outside of itself", expected="events of tinygrad")
        elif name not in ("PROTO", "FRAME"):
            raise ValueError(f"{name} is no operation of a profile")

    def pop_any(self) -> None:
        if self.stack.pop() is _MARK:
            self.marks.pop()

    def record(self, operation: str, operand: Any) -> Record:
        if operation in ("OBJ", "INST"):
            arguments: Sequence[Any] = self.since_mark()
            if operation == "INST":
                arguments = [self.name(*operand.split(" ", 1)), *arguments]
            of = arguments[0]
        else:
            words = self.pop() if operation == "NEWOBJ_EX" else None
            arguments, of = (self.pop(), words), self.pop()
        return Record(of.text if isinstance(of, _Name) else "", arguments)


def _entries(words: Sequence[Any]) -> dict[Any, Any]:
    pairs = zip(words[::2], words[1::2], strict=True)
    return {key: value for key, value in pairs if isinstance(key, (str, bytes, int, float, type(None)))}
