"""Splicing: replaces the code of some kernels in a code object; all other bytes stay.

In: a linked code object's bytes, and for each kernel that changes the code object that an assembler made of its new
text. Out: bytes that load as the old ones did.

New code that fits where the old code was, up to the next function, goes there, and what is left is filled with
s_code_end. Code that does not fit goes after everything else, into a segment and a section of its own (.text.hipgemm),
with LLVM's 256 bytes of s_code_end after it, which instruction prefetch may read. The segment takes the place of
PT_GNU_STACK in the program headers, which loaders of code objects pass over and lld always writes. The kernel's
descriptor then points there, and so do its symbols in both tables. Of a descriptor the entry, the granules of VGPRs,
the bytes of LDS and the mode of its workgroups change, of the metadata `.vgpr_count`, `.sgpr_count`,
`.group_segment_fixed_size` and `.workgroup_processor_mode`; a note that becomes longer moves after everything, too.

Rejected with an error, since it cannot be kept: code that another section's relocation points into, other new settings,
and a file without PT_GNU_STACK where something has to move.

Sources: ELF-64 Object File Format 1.5; LLVM AMDGPUUsage, "Code Object V3 and above: Kernel Descriptor"; msgpack's
specification.
"""

from __future__ import annotations

import struct
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from isa.errors import IsaError
from isa.object.code_object import CODE_END, PADDING, PT_LOAD, PT_NOTE, SHT_DYNSYM, SHT_SYMTAB, CodeObject, load
from isa.object.descriptor import CodeObjectError, Descriptor

PREFETCHED = 256
"""Bytes after a function that the hardware may fetch (LLVM AMDGPUAsmPrinter: padding with s_code_end)."""
PAGE = 4096
SECTION = b".text.hipgemm"
_WGP = 1 << 29
_MODE = ".workgroup_processor_mode"
_COUNTS = (".vgpr_count", ".sgpr_count")
_LDS = ".group_segment_fixed_size"
_PT_GNU_STACK = 0x6474E551
_SHT_PROGBITS, _SHT_NOTE = 1, 7


@dataclass(frozen=True, slots=True)
class NewCode:
    """code: a kernel's instructions; vgprs: as its descriptor encodes them; counts: `.vgpr_count`, `.sgpr_count`;
    wgp_mode: how its workgroups lie; lds: bytes that it declares."""

    code: bytes
    vgprs: int
    counts: tuple[int, int]
    wgp_mode: bool
    lds: int

    @staticmethod
    def of(made: CodeObject, name: str, before: Descriptor) -> NewCode:
        """Of what an assembler made. IsaError where more than register counts, LDS and the mode is another than
        before."""
        kernel = made.kernel(name)
        after = kernel.descriptor
        for key in Descriptor.__dataclass_fields__:
            if key not in ("address", "entry", "vgprs", "raw", "prefetch_lines", "wgp_mode", "lds_bytes"):
                old, new = getattr(before, key), getattr(after, key)
                if old != new:
                    raise IsaError(f"{name} cannot be replaced: its {key} is another one", expected=str(old),
                                   got=str(new))  # fmt: skip
        return NewCode(made.code(name), after.vgprs, (kernel.vgprs, kernel.sgprs), after.wgp_mode, after.lds_bytes)


def splice(image: bytes, new: Mapping[str, NewCode]) -> bytes:
    """The code object with the new code of kernels, by their names."""
    if not new:
        return image
    code = load(image)
    try:
        file = _File(bytearray(image))
        file.counts(new)
        for name, made in new.items():
            file.exchange(code, name, made)
        return file.written()
    except (struct.error, IndexError) as error:
        raise CodeObjectError(f"the section headers of this code object are damaged: {error}") from error


@dataclass
class _File:
    """data: the file so far; tail: what comes after it, as (address, bytes)."""

    data: bytearray
    tail: bytearray = field(default_factory=bytearray)
    kept: int = 0

    def __post_init__(self) -> None:
        self.phoff, self.shoff = struct.unpack_from("<QQ", self.data, 32)
        self.phnum, _, self.shnum, self.names = struct.unpack_from("<HHHH", self.data, 56)
        self.headers = [
            list(struct.unpack_from("<IIQQQQQQ", self.data, self.phoff + 56 * i)) for i in range(self.phnum)
        ]
        self.sections = [
            list(struct.unpack_from("<IIQQQQIIQQ", self.data, self.shoff + 64 * i)) for i in range(self.shnum)
        ]
        end = max(h[3] + h[6] for h in self.headers if h[0] == PT_LOAD)
        self.base = -(-end // PAGE) * PAGE
        # The segment's place in the file is its address modulo a page.
        self.offset = -(-len(self.data) // PAGE) * PAGE

    def place(self, address: int, size: int) -> int:
        """Where bytes at an address stand in the file."""
        for kind, _, offset, start, _, filesz, _, _ in self.headers:
            if kind == PT_LOAD and start <= address and address + size <= start + filesz:
                return int(offset + address - start)
        raise CodeObjectError(f"no segment holds {size} bytes at {address:#x}")

    def append(self, data: bytes, align: int) -> int:
        """Puts bytes into the new segment; their address."""
        self.tail += CODE_END * (-len(self.tail) % align // 4)
        at: int = self.base + len(self.tail)
        self.tail += data
        return at

    def exchange(self, code: CodeObject, name: str, made: NewCode) -> None:
        kernel = code.kernel(name)
        old = kernel.descriptor
        start, size = old.entry, kernel.code_size
        room = self._room(code, start, size)
        for where, to in code.relative:
            if start < to < start + size or (to == start and len(made.code) > room):
                raise IsaError(f"{name} cannot be rewritten: an address at {where:#x} points into its code")
        if len(made.code) <= room:
            at, place = start, self.place(start, room)
            whole = max(size, len(made.code))
            self.data[place : place + whole] = made.code + CODE_END * ((whole - len(made.code)) // 4)
        else:
            at = self.append(made.code + CODE_END * (PREFETCHED // 4), 256)
        raw = bytearray(old.raw)
        struct.pack_into("<I", raw, 0, made.lds)
        struct.pack_into("<q", raw, 16, at - old.address)
        rsrc1 = struct.unpack_from("<I", raw, 48)[0]
        struct.pack_into("<I", raw, 48, rsrc1 & ~(0x3F | _WGP) | made.vgprs // 8 - 1 | _WGP * made.wgp_mode)
        place = self.place(old.address, 64)
        self.data[place : place + 64] = raw
        self._symbols(name, start, at, len(made.code))

    def _room(self, code: CodeObject, start: int, size: int) -> int:
        """Bytes up to the next symbol, of which those after the code are padding."""
        section = next((s for s in self.sections if s[3] <= start < s[3] + s[5] and s[1] == _SHT_PROGBITS), None)
        later = [s.address for s in code.symbols.values() if s.address > start and s.kind == "func"]
        if section is None or not later or min(later) > section[3] + section[5]:
            return size
        place, room = self.place(start, size), min(later) - start
        gap = self.data[place + size : place + room]
        padding = all(gap[i : i + 4] in PADDING for i in range(0, len(gap), 4))
        return room if padding else size

    def _symbols(self, name: str, start: int, at: int, size: int) -> None:
        wanted = name.encode()
        for section in self.sections:
            if section[1] not in (SHT_SYMTAB, SHT_DYNSYM):
                continue
            names = self.sections[section[6]]
            for entry in range(section[4], section[4] + section[5], 24):
                first, info, other, index, value, _ = struct.unpack_from("<IBBHQQ", self.data, entry)
                text = names[4] + first
                if value == start and self.data[text : text + len(wanted) + 1] == wanted + b"\0":
                    index = index if at == start else self.shnum
                    struct.pack_into("<IBBHQQ", self.data, entry, first, info, other, index, at, size)

    def counts(self, new: Mapping[str, NewCode]) -> None:
        """Register counts of the metadata, LDS and the mode."""
        import msgpack

        for header in self.headers:
            if header[0] != PT_NOTE:
                continue
            after, end = header[2], header[2] + header[5]
            while (at := after) + 12 <= end:
                owner, size, kind = struct.unpack_from("<III", self.data, at)
                start = at + 12 + (owner + 3 & ~3)
                after = start + (size + 3 & ~3)
                if kind != 32:
                    continue
                text = bytes(self.data[start : start + size])
                found: dict[str, Any] = msgpack.unpackb(text)
                if msgpack.packb(found) != text:
                    raise IsaError("the metadata is not encoded as LLVM encodes it, and could not be preserved")
                held = new.keys() & {kernel[".name"] for kernel in found["amdhsa.kernels"]}
                if not held:
                    continue
                if held != new.keys():
                    raise IsaError("the metadata of these kernels are in several notes, and are not rewritten")
                for kernel in found["amdhsa.kernels"]:
                    if (made := new.get(kernel[".name"])) is not None:
                        kernel.update(zip(_COUNTS, made.counts, strict=True))
                        kernel.update({_MODE: int(made.wgp_mode)} if _MODE in kernel else {})
                        kernel.update({_LDS: made.lds} if _LDS in kernel else {})
                self._note(header, at, start, size, msgpack.packb(found))
                return

    def _note(self, header: list[int], at: int, start: int, size: int, text: bytes) -> None:
        room = size + 3 & ~3
        if len(text) == size or len(text) + 3 & ~3 == room:
            self.data[start : start + room] = text.ljust(room, b"\0")
            struct.pack_into("<I", self.data, at + 4, len(text))
            return
        whole = bytearray(self.data[header[2] : header[2] + header[5]])
        first, after = start - header[2], start - header[2] + room
        whole[first:after] = text.ljust(len(text) + 3 & ~3, b"\0")
        struct.pack_into("<I", whole, at - header[2] + 4, len(text))
        address = self.append(bytes(whole), 4)
        for section in self.sections:
            if section[1] == _SHT_NOTE and section[4] == header[2]:
                section[3], section[4], section[5] = address, self.offset + address - self.base, len(whole)
        header[2:7] = [self.offset + address - self.base, address, address, len(whole), len(whole)]

    def written(self) -> bytes:
        if self.tail:
            self._grow()
        for i, header in enumerate(self.headers):
            struct.pack_into("<IIQQQQQQ", self.data, self.phoff + 56 * i, *header)
        return bytes(self.data)

    def _grow(self) -> None:
        """The new segment and section, and the section headers after them."""
        free = next((h for h in self.headers if h[0] == _PT_GNU_STACK), None)
        if free is None:
            raise IsaError(
                "the new code is longer, and this file has no spare program header",
                expected="PT_GNU_STACK, as lld writes it", hint="relink it from its assembly",
            )  # fmt: skip
        size = len(self.tail)
        free[:] = [PT_LOAD, 5, self.offset, self.base, self.base, size, size, PAGE]
        # Loaders want segments in the order of their addresses.
        loads = [i for i, h in enumerate(self.headers) if h[0] == PT_LOAD]
        for i, header in zip(loads, sorted((self.headers[i] for i in loads), key=lambda h: h[3]), strict=True):
            self.headers[i] = header
        strings = self.sections[self.names]
        names = bytes(self.data[strings[4] : strings[4] + strings[5]])
        self.data += bytes(self.offset - len(self.data)) + self.tail
        strings[4], strings[5] = len(self.data), len(names) + len(SECTION) + 1
        self.sections.append([len(names), _SHT_PROGBITS, 6, self.base, self.offset, size, 0, 0, 256, 0])
        self.data += names + SECTION + b"\0"
        self.data += bytes(-len(self.data) % 8)
        struct.pack_into("<Q", self.data, 40, len(self.data))
        struct.pack_into("<H", self.data, 60, len(self.sections))
        for section in self.sections:
            self.data += struct.pack("<IIQQQQIIQQ", *section)
