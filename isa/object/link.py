"""Code object from a relocatable one: sections placed, relocations resolved, symbols exported, as ld.lld -shared does.

In:  an ELF64 of type ET_REL for AMDGPU, as LLVM's assembler writes it.
Out: one of type ET_DYN that HIP loads. What is loaded is what ld.lld writes, byte for byte; debug information and local
     symbols are kept, and the order of symbols that are not exported may differ.

How: input sections go to output sections by the beginnings of their names, in ld.lld's order (notes, symbols,
constants; code; what is constant after relocation; data; bss). Each run of sections with the same rights is a PT_LOAD,
whose address is the file's offset modulo a page. Addresses of 64 bits within the code object become
R_AMDGPU_RELATIVE64; of symbols of default visibility, which another module may define, R_AMDGPU_ABS64; GOTPCREL a slot
in `.got`. The hash tables are those of the ELF gABI and of GNU.

Sources: the ELF gABI; LLVM "User Guide for AMDGPU Backend", Relocation Records; lld's ELF/Writer.cpp for the order.

Limits: one object. No COMDAT groups to choose between, thread-local data, constructors, version scripts, or garbage
collection; a relocation of another kind is an error that names it.
"""

from __future__ import annotations

import struct
from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import groupby

from isa.errors import IsaError

_PAGE, _LARGEST = 0x1000, 1 << 30
_W, _A, _X, _EXCLUDE = 1, 2, 4, 1 << 31
_PROGBITS, _SYMTAB, _STRTAB, _RELA, _HASH, _DYNAMIC, _NOTE, _NOBITS, _REL, _DYNSYM, _GROUP = (
    1, 2, 3, 4, 5, 6, 7, 8, 9, 11, 17,
)  # fmt: skip
_GNU_HASH = 0x6FFFFFF6
_ARRAYS = (14, 15, 16)  # of constructors and destructors
_SHF_OF_OUTPUT = 0xFF7  # not of a group, compressed, or excluded
_LOCAL, _WEAK, _HIDDEN, _PROTECTED = 0, 2, 2, 3
_COMMON, _ABS = 0xFFF2, 0xFFF1
_, _, _ABS64, _REL32, _REL64, _ABS32, _GOT, _GOT_LO, _GOT_HI, _REL_LO, _REL_HI = range(1, 12)
_RELATIVE64, _REL16 = 13, 14
_RELRO = (".data.rel.ro", ".dynamic", ".got", ".relro_padding")
_NAMES = (".text", ".rodata", ".data.rel.ro", ".data", ".bss")
_HOW = {
    _ABS64: (8, 0, 0), _REL32: (4, 1, 0), _REL64: (8, 1, 0), _ABS32: (4, 0, 0), _GOT: (4, 1, 0), _GOT_LO: (4, 1, 0),
    _GOT_HI: (4, 1, 32), _REL_LO: (4, 1, 0), _REL_HI: (4, 1, 32), _REL16: (2, 1, 2),
}  # fmt: skip
"""For each relocation its bytes, whether it counts from its own place, and by how much it is shifted."""
_SYMBOL = struct.Struct("<IBBHQQ")


class LinkError(IsaError):
    """An object that cannot be linked."""


@dataclass(eq=False)
class _Section:
    """An output section: `parts` are the input sections that it holds, by their numbers."""

    name: str
    type: int
    flags: int
    align: int = 1
    size: int = 0
    entry: int = 0
    data: bytearray = field(default_factory=bytearray)
    parts: list[int] = field(default_factory=list)
    address: int = 0
    offset: int = 0
    link: str = ""

    @property
    def rights(self) -> int:
        return self.flags & (_W | _X)

    def rank(self) -> tuple[int, ...]:
        """Where ld.lld puts it."""
        if not self.flags & _A:
            return (9,)
        kinds = [_NOTE, _DYNSYM, _GNU_HASH, _HASH, _STRTAB, _RELA]
        first = kinds.index(self.type) if self.type in kinds else len(kinds)
        relro = _RELRO.index(self.name) if self.name in _RELRO else len(_RELRO)
        if self.flags & _W:
            return 2, relro, self.type == _NOBITS
        return int(bool(self.flags & _X)), first


@dataclass(eq=False)
class _Symbol:
    name: str
    info: int
    other: int
    section: int
    value: int
    size: int
    dynamic: int = 0  # its number in .dynsym

    @property
    def is_local(self) -> bool:
        return self.info >> 4 == _LOCAL

    @property
    def visibility(self) -> int:
        return self.other & 3

    @property
    def preemptible(self) -> bool:
        return not self.is_local and self.visibility == 0 and self.section != _ABS


_Place = tuple[int, _Section, _Symbol, int]
"""An offset in a section, and the symbol and addend whose sum belongs there."""


class _Strings:
    """A string table: each text once, in the order in which they come."""

    def __init__(self) -> None:
        self.data, self._at = bytearray(1), {"": 0}

    def at(self, text: str) -> int:
        if text not in self._at:
            self._at[text] = len(self.data)
            self.data += text.encode("utf-8", "surrogateescape") + b"\0"
        return self._at[text]


class _Object:
    """The relocatable object as it was read."""

    def __init__(self, data: bytes) -> None:
        if data[:6] != b"\x7fELF\2\1" or len(data) < 64 or struct.unpack_from("<HH", data, 16) != (1, 224):
            raise LinkError("this is no relocatable object for AMDGPU", expected="what an assembler wrote")
        self.data, self.identity = data, data[:16]
        (self.flags,) = struct.unpack_from("<I", data, 48)
        (start,) = struct.unpack_from("<Q", data, 40)
        count, names = struct.unpack_from("<HH", data, 60)
        self.headers = [struct.unpack_from("<IIQQQQIIQQ", data, start + 64 * i) for i in range(count)]
        for header in self.headers:
            end = header[5] if header[1] == _NOBITS else header[4] + header[5]
            if header[1] and (end > (_LARGEST if header[1] == _NOBITS else len(data)) or header[8] > _PAGE):
                raise LinkError(
                    "the object has a section beyond its end, or one that is too large to be loaded",
                    expected=f"at most {_LARGEST >> 20} MiB, aligned to at most {_PAGE} bytes",
                )
        self.names = [self._text(names, header[0]) for header in self.headers]
        self.symbols: list[_Symbol] = []
        for header in self.headers:
            if header[1] == _SYMTAB:
                for name, info, other, section, value, size in _SYMBOL.iter_unpack(self._held(header)):
                    self.symbols.append(_Symbol(self._text(header[6], name), info, other, section, value, size))

    def _held(self, header: tuple[int, ...]) -> bytes:
        return self.data[header[4] : header[4] + header[5]]

    def _text(self, table: int, at: int) -> str:
        start = self.headers[table][4] + at
        return self.data[start : self.data.index(0, start)].decode("utf-8", "surrogateescape")

    def contents(self, number: int) -> bytes:
        header = self.headers[number]
        return bytes(header[5]) if header[1] == _NOBITS else self._held(header)

    def relocations(self) -> list[tuple[int, list[tuple[int, int, _Symbol, int]]]]:
        """For each section with relocations its number and their places, types, symbols and addends."""
        found = []
        for header in self.headers:
            if header[1] == _REL:
                raise LinkError("a relocation section without addends is not supported", expected="RELA")
            if header[1] == _RELA:
                rows = struct.iter_unpack("<QQq", self._held(header))
                found.append((header[7], [(at, info & 0xFFFFFFFF, self.symbols[info >> 32], add)
                                          for at, info, add in rows]))  # fmt: skip
        return found


def link(data: bytes) -> bytes:
    """The code object of a relocatable object. LinkError where it needs what is not supported, or where a symbol that
    no other module can define is not defined."""
    try:
        return _Link(_Object(data)).linked()
    except (struct.error, LookupError, ValueError, OverflowError) as error:
        raise LinkError("the object is damaged", hint="was it written to its end?") from error


class _Link:
    def __init__(self, source: _Object) -> None:
        self.source = source
        self.sections: list[_Section] = []
        self.place: dict[int, tuple[_Section, int]] = {}  # input section -> output section, offset in it
        self.got: list[_Symbol] = []
        self.got_section = _Section(".got", _PROGBITS, _W | _A, 8)
        self._common()
        self._gather()

    def _common(self) -> None:
        """Symbols without a section get one in .bss."""
        common = [symbol for symbol in self.source.symbols if symbol.section == _COMMON]
        for symbol in common:
            align, size = symbol.value, symbol.size
            self.source.headers.append((0, _NOBITS, _W | _A, 0, 0, size, 0, 0, max(align, 1), 0))
            self.source.names.append(".bss")
            symbol.section, symbol.value = len(self.source.headers) - 1, 0

    def _gather(self) -> None:
        by_name: dict[tuple[str, int], _Section] = {}
        skipped = (_SYMTAB, _STRTAB, _RELA, _GROUP, 0)
        for number, header in enumerate(self.source.headers):
            name, type_, flags = self.source.names[number], header[1], header[2]
            if type_ in skipped or flags & _EXCLUDE or name == ".note.GNU-stack" or name == ".llvm_addrsig":
                continue
            if type_ == _NOTE and not header[5]:
                continue
            if type_ in _ARRAYS:
                raise LinkError(f"constructors are not supported: section {name}", hint="link with ld.lld")
            if flags & _A:
                name = next((n for n in _NAMES if name == n or name.startswith(n + ".")), name)
            held = by_name.setdefault((name, flags & _A), _Section(name, type_, 0))
            held.type = _PROGBITS if {held.type, type_} == {_PROGBITS, _NOBITS} else held.type
            held.flags |= flags & _SHF_OF_OUTPUT
            held.entry = header[9] if len(held.parts) == 0 or held.entry == header[9] else 0
            held.align = max(held.align, header[8])
            at = _up(held.size, header[8])
            held.parts.append(number)
            self.place[number] = held, at
            held.size = at + header[5]
        self.sections = list(by_name.values())
        for held in self.sections:
            if held.type != _NOBITS:
                held.data = bytearray(held.size)
                for number in held.parts:
                    _, at = self.place[number]
                    held.data[at : at + self.source.headers[number][5]] = self.source.contents(number)

    # --- symbols

    def _exported(self) -> list[_Symbol]:
        """Symbols of .dynsym in its order: by the buckets of GNU's hash table, what is not defined before."""
        found = [s for s in self.source.symbols if not s.is_local and s.name and s.visibility not in (1, _HIDDEN)]
        used = {id(symbol) for _, rows in self.source.relocations() for _, _, symbol, _ in rows}
        for symbol in self.source.symbols:
            wanted = not symbol.is_local and symbol.section == 0 and id(symbol) in used
            if wanted and symbol.visibility and symbol.info >> 4 != _WEAK:
                kind = {1: "internal", 2: "hidden", 3: "protected"}[symbol.visibility]
                raise LinkError(f"undefined {kind} symbol: {symbol.name}")
        for symbol in found:
            self.dynamic_names.at(symbol.name)
        absent = [s for s in found if s.section == 0]
        there = [s for s in found if s.section != 0]
        self.buckets = max(len(there) // 4, 1)
        there.sort(key=lambda s: _gnu_hash(s.name) % self.buckets)
        self.first_hashed = len(absent) + 1
        ordered = absent + there
        for number, symbol in enumerate(ordered, 1):
            symbol.dynamic = number
        return ordered

    def _gnu_hash_table(self, symbols: Sequence[_Symbol]) -> bytes:
        hashed = [(s, _gnu_hash(s.name)) for s in symbols[self.first_hashed - 1 :]]
        words = 1 << (len(hashed) * 12 // 64).bit_length() if hashed else 1
        bloom, starts, chain = [0] * words, [0] * self.buckets, []
        for k, (symbol, code) in enumerate(hashed):
            bloom[code // 64 % words] |= 1 << code % 64 | 1 << (code >> 26) % 64
            bucket = code % self.buckets
            starts[bucket] = starts[bucket] or symbol.dynamic
            last = k + 1 == len(hashed) or hashed[k + 1][1] % self.buckets != bucket
            chain.append(code & ~1 | last)
        head = struct.pack("<4I", self.buckets, self.first_hashed, words, 26)
        return head + struct.pack(f"<{words}Q{self.buckets}I{len(chain)}I", *bloom, *starts, *chain)

    # --- layout

    def linked(self) -> bytes:
        self.dynamic_names = _Strings()
        exported = self._exported()
        relative, symbolic = self._dynamic_relocations()
        count = len(exported) + 1
        made = [
            _Section(".dynsym", _DYNSYM, _A, 8, 24 * count, 24, link=".dynstr"),
            _Section(".gnu.hash", _GNU_HASH, _A, 8, link=".dynsym"),
            _Section(".hash", _HASH, _A, 4, 8 + 8 * count, 4, link=".dynsym"),
            _Section(".dynstr", _STRTAB, _A, 1),
            _Section(".dynamic", _DYNAMIC, _W | _A, 8, entry=16, link=".dynstr"),
            _Section(".relro_padding", _NOBITS, _W | _A),
        ]
        dynsym, gnu, hashes, dynstr, dynamic, padding = made
        gnu.data = bytearray(self._gnu_hash_table(exported))
        hashes.data = bytearray(_sysv_hash(["", *(s.name for s in exported)]))
        dynstr.data = self.dynamic_names.data
        relocated = len(relative) + len(symbolic)
        rela = _Section(".rela.dyn", _RELA, _A, 8, 24 * relocated, 24, link=".dynsym")
        if relocated:
            made.append(rela)
        if self.got:
            made.append(self.got_section)
        dynamic.size = 16 * (7 + (4 if relative else 3) * bool(relocated))
        for section in made:
            section.size = section.size or len(section.data)
        loaded = [s for s in [*made, *self.sections] if s.flags & _A and (s.size or s.parts or s is padding)]
        loaded.sort(key=_Section.rank)
        segments = self._segments(loaded)
        self._addresses(segments, padding, loaded)
        self._relocate()
        dynsym.data = bytearray(24)
        for symbol in exported:
            dynsym.data += self._row(symbol, self.dynamic_names, loaded)
        rela.data = bytearray()
        rows = [(s.address + at, _RELATIVE64, self._value(symbol, add)) for at, s, symbol, add in relative]
        others = [(s.address + at, symbol.dynamic << 32 | _ABS64, add) for at, s, symbol, add in symbolic]
        for row in (*sorted(rows), *sorted(others, key=lambda row: (row[1] >> 32, row[0]))):
            rela.data += struct.pack("<QQq", *row)
        dynamic.data = bytearray(self._tags(dynsym, dynstr, gnu, hashes, rela if relocated else None, len(relative)))
        return self._file(segments, loaded, padding)

    def _segments(self, loaded: Sequence[_Section]) -> list[list[_Section]]:
        """PT_LOADs: runs of the same rights, constants after relocation apart from data."""
        return [list(run) for _, run in groupby(loaded, lambda s: (s.rights, s.rank()[:1], _is_relro(s)))]

    def _addresses(self, segments: Sequence[Sequence[_Section]], padding: _Section, loaded: Sequence[_Section]) -> None:
        relro, others = any(map(_is_relro, loaded)), 5
        notes = any(s.type == _NOTE for s in loaded)
        self.headers = others - 1 + len(segments) + relro + notes - 1
        at = offset = 64 + 56 * self.headers
        for number, segment in enumerate(segments):
            if number:
                at = _up(at, _PAGE) + at % _PAGE
            for section in segment:
                if section is padding:
                    section.address, section.size = at, -at % _PAGE
                    section.offset = offset
                    continue
                moved = _up(at, section.align)
                if section.type != _NOBITS:
                    offset += (moved - offset) % _PAGE if section is segment[0] else moved - at
                elif section is segment[0]:
                    offset += (moved - offset) % _PAGE
                section.address, section.offset, at = moved, offset, moved + section.size
                if section.type != _NOBITS:
                    offset += section.size
        self.end = offset

    def _row(self, symbol: _Symbol, names: _Strings, loaded: Sequence[_Section]) -> bytes:
        number, value = symbol.section, symbol.value
        if number and number < 0xFF00:
            section, at = self.place[number]
            value = section.address + at + symbol.value
            number = loaded.index(section) + 1
        return _SYMBOL.pack(names.at(symbol.name), symbol.info, symbol.other, number, value, symbol.size)

    def _value(self, symbol: _Symbol, add: int) -> int:
        if symbol.section in (0, _ABS):
            return symbol.value + add
        section, at = self.place[symbol.section]
        return section.address + at + symbol.value + add

    # --- relocations

    def _dynamic_relocations(self) -> tuple[list[_Place], list[_Place]]:
        """What the loader fills in: 64 bits that hold an address, of the code object's own and of others' symbols."""
        wanted: list[_Place] = []
        slots: set[_Symbol] = set()
        for number, rows in self.source.relocations():
            section, base = self.place.get(number, (None, 0))
            if section is None or not section.flags & _A:
                continue
            for at, kind, symbol, add in rows:
                if kind in (_GOT, _GOT_LO, _GOT_HI):
                    slots.add(symbol)
                if kind == _ABS64 and symbol.section != _ABS:
                    if not section.flags & _W:
                        raise LinkError(
                            f"relocation R_AMDGPU_ABS64 in {section.name}, which cannot be written when it is loaded",
                            got=symbol.name, hint="put it into a section that can, as .data.rel.ro",
                        )  # fmt: skip
                    wanted.append((base + at, section, symbol, add))
        self.got = [symbol for symbol in self.source.symbols if symbol in slots]
        wanted += [(8 * k, self.got_section, symbol, 0) for k, symbol in enumerate(self.got)]
        self.got_section.data = bytearray(8 * len(self.got))
        return [w for w in wanted if not w[2].preemptible], [w for w in wanted if w[2].preemptible]

    def _relocate(self) -> None:
        for number, rows in self.source.relocations():
            if number not in self.place:
                continue
            section, base = self.place[number]
            for at, kind, symbol, add in rows:
                self._apply(section, base + at, kind, symbol, add)

    def _apply(self, section: _Section, at: int, kind: int, symbol: _Symbol, add: int) -> None:
        value = self._value(symbol, add)
        here = section.address + at if section.flags & _A else at
        loaded = bool(section.flags & _A)
        if kind in (_GOT, _GOT_LO, _GOT_HI):
            value = self.got_section.address + 8 * self.got.index(symbol) + add
        if loaded and kind in (_REL32, _REL64, _REL_LO, _REL_HI, _REL16) and symbol.preemptible:
            raise LinkError(
                f"a relocation relative to the code cannot name {symbol.name}, which another module may define",
                expected="a symbol that is .protected or .hidden", hint="or ask for its address by @gotpcrel32@lo",
            )  # fmt: skip
        if kind == 0:
            return
        if kind not in _HOW or (loaded and kind == _ABS32 and symbol.section != _ABS):
            raise LinkError(f"relocation {kind} of AMDGPU against {symbol.name} is not supported here")
        size, relative, shift = _HOW[kind]
        if kind == _ABS64 and loaded and symbol.section != _ABS:
            value = 0  # the loader's
        value = value - here * relative >> shift
        if kind == _REL16:
            value -= 1
        section.data[at : at + size] = (value & (1 << 8 * size) - 1).to_bytes(size, "little")

    # --- the file

    def _tags(
        self, dynsym: _Section, dynstr: _Section, gnu: _Section, hashes: _Section, rela: _Section | None, relative: int
    ) -> bytes:
        tags = []
        if rela:
            tags = [(7, rela.address), (8, rela.size), (9, 24)]
            if relative:
                tags.append((0x6FFFFFF9, relative))
        tags += [(6, dynsym.address), (11, 24), (5, dynstr.address), (10, dynstr.size)]
        tags += [(0x6FFFFEF5, gnu.address), (4, hashes.address), (0, 0)]
        return b"".join(struct.pack("<QQ", *tag) for tag in tags)

    def _file(self, segments: Sequence[Sequence[_Section]], loaded: Sequence[_Section], padding: _Section) -> bytes:
        names, strings = _Strings(), _Strings()
        others = [s for s in self.sections if not s.flags & _A]
        order = [*loaded, *others]
        symtab = _Section(".symtab", _SYMTAB, 0, 8, entry=24, link=".strtab")
        symtab.data = bytearray(24)
        dynamic = next(s for s in loaded if s.name == ".dynamic")
        local = [s for s in self.source.symbols if s.name and (s.is_local or s.visibility == _HIDDEN) and s.section]
        outside = [s for s in self.source.symbols if s.name and not (s.is_local or s.visibility == _HIDDEN)]
        for symbol in local:
            row = _SYMBOL.unpack(self._row(symbol, strings, order))
            symtab.data += _SYMBOL.pack(row[0], row[1] & 15, *row[2:])
        symtab.data += _SYMBOL.pack(strings.at("_DYNAMIC"), 0, _HIDDEN, order.index(dynamic) + 1, dynamic.address, 0)
        first_global = len(symtab.data) // 24
        for symbol in outside:
            symtab.data += self._row(symbol, strings, order)
        shstrtab, strtab = _Section(".shstrtab", _STRTAB, 0), _Section(".strtab", _STRTAB, 0)
        order += [symtab, shstrtab, strtab]
        for section in order:
            names.at(section.name)
        shstrtab.data, strtab.data = names.data, strings.data
        image = bytearray(self.end)
        for section in order:
            if section.flags & _A:
                if section.type != _NOBITS:
                    image[section.offset : section.offset + section.size] = section.data
            else:
                section.size = len(section.data)
                section.offset = _up(len(image), section.align)
                image += bytes(section.offset - len(image)) + section.data
        start = _up(len(image), 8)
        image += bytes(start - len(image)) + bytes(64)
        numbers = {section.name: k for k, section in enumerate(order, 1)}
        for section in order:
            extra = first_global if section is symtab else 1 if section.type == _DYNSYM else 0
            image += struct.pack(
                "<IIQQQQIIQQ", names.at(section.name), section.type, section.flags,
                section.address, section.offset, section.size, numbers.get(section.link, 0),
                extra, section.align, section.entry,
            )  # fmt: skip
        headers = self._program_headers(segments, loaded)
        image[:64] = self.source.identity + struct.pack(
            "<HHIQQQIHHHHHH", 3, 224, 1, 0, 64, start, self.source.flags, 64, 56, len(headers), 64, len(order) + 1,
            order.index(shstrtab) + 1,
        )  # fmt: skip
        image[64 : 64 + 56 * len(headers)] = b"".join(headers)
        return bytes(image)

    def _program_headers(self, segments: Sequence[Sequence[_Section]], loaded: Sequence[_Section]) -> list[bytes]:
        def header(kind: int, flags: int, run: Sequence[_Section], align: int) -> bytes:
            first, last = run[0], run[-1]
            held = [s for s in run if s.type != _NOBITS]
            size = held[-1].offset + held[-1].size - first.offset if held else 0
            memory = last.address + last.size - first.address
            return struct.pack(
                "<IIQQQQQQ", kind, flags, first.offset, first.address, first.address, size, memory, align
            )

        size = 56 * self.headers
        found = [struct.pack("<IIQQQQQQ", 6, 4, 64, 64, 64, size, size, 8)]
        for number, run in enumerate(segments):
            if run[-1].address + run[-1].size == run[0].address:  # nothing in it
                continue
            flags = 4 | (run[0].flags & _W and 2) | (run[0].flags & _X and 1)
            row = header(1, flags, run, _PAGE)
            if not number:
                end = run[-1].offset + run[-1].size
                row = struct.pack("<IIQQQQQQ", 1, flags, 0, 0, 0, end, end, _PAGE)
            found.append(row)
        dynamic = [s for s in loaded if s.type == _DYNAMIC]
        found.append(header(2, 6, dynamic, 8))
        relro = [s for s in loaded if _is_relro(s)]
        if relro:
            found.append(header(0x6474E552, 4, relro, 1))
        found.append(struct.pack("<IIQQQQQQ", 0x6474E551, 6, 0, 0, 0, 0, 0, 0))
        notes = [s for s in loaded if s.type == _NOTE]
        if notes:
            found.append(header(4, 4, notes, max(s.align for s in notes)))
        return found


def _is_relro(section: _Section) -> bool:
    return section.name in _RELRO


def _up(value: int, align: int) -> int:
    return value + -value % max(align, 1)


def _gnu_hash(name: str) -> int:
    code = 5381
    for byte in name.encode("utf-8", "surrogateescape"):
        code = code * 33 + byte & 0xFFFFFFFF
    return code


def _sysv_hash(names: Sequence[str]) -> bytes:
    """The table of the gABI, with as many buckets as names."""
    count = len(names)
    buckets, chains = [0] * count, [0] * count
    for number, name in enumerate(names[1:], 1):
        code = 0
        for byte in name.encode("utf-8", "surrogateescape"):
            code = (code << 4) + byte
            high = code & 0xF0000000
            code = (code ^ high >> 24) & ~high & 0xFFFFFFFF
        chains[number], buckets[code % count] = buckets[code % count], number
    return struct.pack(f"<{2 + 2 * count}I", count, count, *buckets, *chains)
