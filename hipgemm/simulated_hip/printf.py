"""Buffered printf: the buffer that clang's `-mprintf-kind=buffered` fills -> text.

The buffer begins with two dwords, bytes used and room. Each printf left a record after them (LLVM:
lib/Transforms/Utils/AMDGPUEmitPrintf.cpp): a dword of control (bit 0: stderr, bit 1: the format is one of the code
object's, the rest: bytes of the record), the format (its hash in 8 bytes, or itself), then the arguments: numbers and
pointers as 8 bytes each, strings as they are. Strings are padded to 8 bytes. The metadata's `amdhsa.printf` holds
"0:0:hash,format" for each constant format.
"""

from __future__ import annotations

import re
import struct
from collections.abc import Iterable, Iterator

HEADER = struct.Struct("<II")
ROOM = 1 << 26
"""Bytes of records of one launch."""
ARGUMENT = "hidden_printf_buffer"
WIDEST = 1024
"""Characters of one directive, at most: the width may be any number, which the device's memory does not pay for."""
_HASH = re.compile(r"[0-9a-fA-F]{1,16}")
_DIRECTIVE = re.compile(r"%([-+ #0]*)(\*|[0-9]{1,9})?(?:\.(\*|[0-9]{1,9})?)?(hh|h|ll|l|z|j|t)?([a-zA-Z%])")
_BITS = {"hh": 8, "h": 16, "l": 64, "ll": 64, "z": 64, "j": 64, "t": 64, "": 32}


def formats(entries: Iterable[str]) -> dict[int, str]:
    """Hash -> format, of the metadata's entries. One without a hash is as good as not there."""
    pairs = (entry.partition(",") for entry in entries)
    hashes = ((head.rpartition(":")[2], text) for head, _, text in pairs)
    return {int(number, 16): text for number, text in hashes if _HASH.fullmatch(number)}


def lines(buffer: bytes, known: dict[int, str]) -> Iterator[tuple[bool, str]]:
    """(whether for stderr, text) of each printf in a buffer, in its order."""
    used, room = HEADER.unpack_from(buffer)
    end = min(HEADER.size + min(used, room), len(buffer))  # a kernel may have written over the header
    at = HEADER.size
    while at + 4 <= end:
        (control,) = struct.unpack_from("<I", buffer, at)
        size = control >> 2
        if size < 4 or at + size > end:
            break  # the one that found no room any more
        record = Record(buffer[at + 4 : at + size])
        if control & 2:
            number = record.word("<Q")
            template = known.get(number, f"<printf format {number:#x}>\n")
        else:
            template = record.string()
        yield bool(control & 1), render(template, record)
        at += size
    if used > room:
        yield True, f"hipgemm: {used - room} bytes of printf output did not fit\n"


class Record:
    """The arguments of one printf, taken one by one; 0 and "" where there are no more."""

    def __init__(self, data: bytes) -> None:
        self._data, self._at = data, 0

    def word(self, form: str) -> int:
        piece = self._data[self._at : self._at + 8].ljust(8, b"\0")
        self._at += 8
        value: int = struct.unpack(form, piece)[0]
        return value

    def string(self) -> str:
        end = self._data.find(b"\0", self._at)
        text = self._data[self._at :] if end < 0 else self._data[self._at : end]
        self._at += (len(text) + 8) // 8 * 8
        return text.decode(errors="replace")


def render(template: str, record: Record) -> str:
    """C's printf: the template with its arguments in; cut off at ROOM characters, of which a few bytes of template with
    wide directives could make any number."""

    def directive(m: re.Match[str]) -> str:
        flags, width, precision, length, kind = m[1], m[2] or "", m[3], m[4] or "", m[5]
        if kind == "%":
            return "%"
        if width == "*":
            width = str(_signed(record.word("<Q"), 32))
        if precision == "*":
            precision = str(_signed(record.word("<Q"), 32))
        width = str(max(-WIDEST, min(int(width), WIDEST))) if width else ""
        exact = "." in m[0] and not (precision or "").startswith("-")  # a negative precision is none
        head = "%" + flags + width + ("." + str(min(int(precision or 0), WIDEST)) if exact else "")
        if kind in "di":
            return (head + "d") % _signed(record.word("<Q"), _BITS[length])
        if kind in "uoxX":
            return (head + kind.replace("u", "d")) % (record.word("<Q") & ((1 << _BITS[length]) - 1))
        if kind in "fFeEgG":
            return (head + kind) % record.word("<d")
        if kind in "aA":
            text = float(record.word("<d")).hex()
            return ("%" + flags + width + "s") % (text.upper() if kind == "A" else text)
        if kind == "c":
            return (head + "c") % chr(record.word("<Q") & 0xFF)
        if kind == "s":
            return (head + "s") % record.string()
        if kind == "p":
            return ("%" + flags + width + "s") % hex(record.word("<Q"))
        return m[0]

    pieces, size, at = list[str](), 0, 0
    for m in _DIRECTIVE.finditer(template):
        pieces += template[at : m.start()], directive(m)
        size, at = size + len(pieces[-2]) + len(pieces[-1]), m.end()
        if size > ROOM:
            return "".join(pieces)[:ROOM]
    return "".join((*pieces, template[at:]))


def _signed(value: int, bits: int) -> int:
    value &= (1 << bits) - 1
    return value - (1 << bits) if value >> (bits - 1) else value
