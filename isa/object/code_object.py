"""Code objects: an ELF for gfx11, alone or wrapped (`isa.object.bundle`) -> kernels, descriptors, metadata, symbols.

In:  bytes, trusted in nothing: each read is checked against the length, so that damaged input ends in a CodeObjectError
     that names the place, never in a crash or a huge allocation.
Out: a CodeObject: its loadable segments with their addresses, its symbols, and each kernel with its decoded 64-byte
     descriptor and its metadata. `disassemble` turns bytes into LLVM's text.

How: the ELF64 program headers say what is loaded where; the section headers lead to the symbols; the AMDGPU note
(type 32, msgpack) lists the kernels; each kernel's `.symbol` is its descriptor, and that points at the code.

Sources: LLVM "User Guide for AMDGPU Backend": ELF Header, Relocation Records, Code Object Metadata V3 to V6.

Limits: little-endian ELF64, linked (ET_DYN), wave32 or wave64; where the code is to run, no relocations but 64-bit
addresses in the code object itself, as tables of functions and of variables have them.
"""

from __future__ import annotations

import re
import struct
from bisect import bisect_right
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import pairwise
from pathlib import Path
from typing import Any

from isa import mangling
from isa.asm.disassembler import disassemble
from isa.object import bundle
from isa.object.bundle import LARGEST_IMAGE, LONGEST_NAME, Image
from isa.object.descriptor import MACHINES, CodeObjectError, Descriptor, OtherTarget, decode_descriptor
from isa.targets import others, target

__all__ = [
    "Argument",
    "CodeObject",
    "CodeObjectError",
    "DescribedKernel",
    "Descriptor",
    "OtherTarget",
    "Segment",
    "Symbol",
    "disassemble",
    "image_size",
    "load",
]  # fmt: skip

_EM_AMDGPU, _ET_DYN = 224, 3
PT_LOAD, PT_DYNAMIC, PT_NOTE = 1, 2, 4
SHT_SYMTAB, SHT_DYNSYM = 2, 11
_NOTE_METADATA = 32  # NT_AMDGPU_METADATA
_RELOCATIONS = ("NONE ABS32_LO ABS32_HI ABS64 REL32 REL64 ABS32 GOTPCREL GOTPCREL32_LO GOTPCREL32_HI "
                "REL32_LO REL32_HI 12 RELATIVE64 REL16").split()  # fmt: skip
_ABS64, _RELATIVE64 = _RELOCATIONS.index("ABS64"), _RELOCATIONS.index("RELATIVE64")
CODE_END = bytes.fromhex("00009fbf")
PADDING = (bytes(4), CODE_END, bytes.fromhex("000080bf"))
"""What may stand between two functions: zeros, s_code_end, s_nop 0."""
_SHN_LORESERVE = 0xFF00  # SHN_ABS and its kind
NAMES_A_BYTE = 4
"""Characters of symbols' names for each byte of a file, at most: names may share their ends, and each is a text."""


@dataclass(frozen=True, slots=True)
class Argument:
    """One kernel argument in the metadata. kind: `by_value`, `global_buffer`, ... or `hidden_...`, which the runtime
    fills. offset and size in bytes within the kernel argument segment. type: in whatever words, "" where nothing says
    it, as of what HIP compilers write."""

    offset: int
    size: int
    kind: str
    name: str = ""
    address_space: str = ""
    type: str = ""

    @property
    def hidden(self) -> bool:
        return self.kind.startswith("hidden_")


@dataclass(frozen=True, slots=True)
class DescribedKernel:
    """One kernel: descriptor and metadata. `vgprs` and `sgprs` are the counts that the metadata states; `code_size` is
    the size of the code's symbol in bytes (what follows it up to the section's end is padding)."""

    name: str
    descriptor: Descriptor
    args: tuple[Argument, ...]
    vgprs: int
    sgprs: int
    vgpr_spills: int
    sgpr_spills: int
    max_workgroup: int
    code_size: int
    metadata: Mapping[str, Any] = field(repr=False, compare=False)

    @property
    def allocated(self) -> int:
        """The VGPRs that a wave takes: by the descriptor, which counts in granules; the metadata's within one."""
        most = self.descriptor.vgprs
        return self.vgprs if most - 8 < self.vgprs <= most else most


@dataclass(frozen=True, slots=True)
class Segment:
    """A PT_LOAD: `data` goes to `address`, followed by zeros up to `size` bytes. flags: 1 execute, 2 write, 4 read."""

    address: int
    size: int
    flags: int
    data: bytes = field(repr=False)


@dataclass(frozen=True, slots=True)
class Symbol:
    """A defined symbol. kind: "func", "object" or "" (others)."""

    name: str
    address: int
    size: int
    kind: str


@dataclass(frozen=True, slots=True)
class CodeObject:
    """A linked code object. Addresses are relative to where it is loaded."""

    arch: str
    abi_version: int
    kernels: Mapping[str, DescribedKernel]
    segments: tuple[Segment, ...]
    symbols: Mapping[str, Symbol]
    printf: tuple[str, ...] = ()
    """The formats of printf, as the metadata's amdhsa.printf has them."""
    relative: tuple[tuple[int, int], ...] = ()
    """R_AMDGPU_RELATIVE64 and R_AMDGPU_ABS64: (address of 64 bits, what they hold when it is loaded at 0)."""
    foreign: tuple[tuple[int, str], ...] = ()
    """(address, symbol) of what only other modules or another loader can fill in; none in code that is to run."""

    @property
    def extent(self) -> int:
        """Bytes from address 0 to the end of the last segment: what a loader must allocate."""
        return max(s.address + s.size for s in self.segments)

    def read(self, address: int, size: int) -> bytes:
        """`size` bytes at a load-relative address; CodeObjectError if the file does not hold them all."""
        for s in self.segments:
            if s.address <= address and address + size <= s.address + len(s.data):
                return s.data[address - s.address : address - s.address + size]
        raise CodeObjectError(f"no segment holds {size} bytes at {address:#x}")

    def kernel(self, name: str | None = None, file: str = "this code object") -> DescribedKernel:
        """The kernel `name`, by its symbol or as the source calls it, or the only one there is. CodeObjectError that
        lists the names otherwise. file: what to call the code object."""
        return mangling.chosen(
            name, self.kernels, file, "metadata of kernels, as a compiler writes it", CodeObjectError
        )

    def code(self, name: str) -> bytes:
        """The instructions of a kernel, from its entry to the end of its symbol."""
        kernel = self.kernel(name)
        return self.read(kernel.descriptor.entry, kernel.code_size)

    def disassembled(self, name: str) -> Sequence[tuple[int, int, str]]:
        """(address, bytes, text) of each instruction of a kernel."""
        descriptor = self.kernel(name).descriptor
        return disassemble(self.code(name), descriptor.entry, self.arch, wave64=not descriptor.wave32)


def load(source: bytes | str | Path, arch: str | None = None, *, runs: bool = True) -> CodeObject:
    """Reads a code object from bytes or a file. arch: which one of a bundle (`isa.object.bundle.unbundle`). runs:
    False to look at its code only; then it may have relocations to symbols of other modules."""
    data = source if isinstance(source, bytes) else Path(source).read_bytes()
    return _read_elf(bundle.unbundle(data, arch), runs)


def arch_of(image: bytes) -> str:
    """The target of a code object."""
    return _header(Image.of(image)).arch


def image_size(peek: Callable[[int, int], bytes]) -> int:
    """How many bytes a code object or bundle takes in memory that comes without a length, as hipModuleLoadData's does.

    peek(offset, size): that many bytes from there. Only headers are read.
    """
    image = Image(peek)
    if image.take(0, 4, "the magic") == b"\x7fELF":
        header = _header(image)
        ends = [header.shoff + header.shnum * 64, header.phoff + header.phnum * 56]
        ends += [offset + filesz for _, _, offset, _, filesz, _ in _program_headers(image, header)]
        return max(ends)
    return bundle.size_in_memory(peek)


@dataclass(frozen=True, slots=True)
class _Header:
    arch: str
    abi_version: int
    phoff: int
    phnum: int
    shoff: int
    shnum: int


def _header(image: Image) -> _Header:
    magic, bits, order, _, _, abi = image.unpack("4s5B", 0, "the ELF header")
    if magic != b"\x7fELF":
        raise CodeObjectError("neither an ELF nor an offload bundle", expected="\\x7fELF", got=repr(magic))
    if (bits, order) != (2, 1):
        raise CodeObjectError("not a little-endian 64-bit ELF")
    kind, machine, _, _, phoff, shoff, flags, _, phsize, phnum, shsize, shnum, _ = image.unpack(
        "HHIQQQIHHHHHH", 16, "the ELF header"
    )
    if machine != _EM_AMDGPU:
        raise OtherTarget("an ELF, but not for an AMD GPU", expected="e_machine 224", got=str(machine))
    if kind != _ET_DYN:
        raise CodeObjectError("not linked", expected="ET_DYN (3)", got=f"e_type {kind}", hint="ld.lld -shared")
    mach = flags & 0xFF
    if mach not in MACHINES:
        raise OtherTarget.of("a code object", others.MACHINES.get(mach, f"EF_AMDGPU_MACH {mach:#x}"))
    if phsize != 56 or (shnum and shsize != 64):
        raise CodeObjectError("the ELF header's table entries have the wrong size", expected="56 and 64 bytes")
    return _Header(MACHINES[mach], abi, phoff, phnum, shoff, shnum)


def _program_headers(image: Image, header: _Header) -> Iterator[tuple[int, int, int, int, int, int]]:
    """(type, flags, offset, address, size in the file, size in memory) of each."""
    for i in range(header.phnum):
        kind, flags, offset, vaddr, _, filesz, memsz, _ = image.unpack("IIQQQQQQ", header.phoff + 56 * i, "a segment")
        yield kind, flags, offset, vaddr, filesz, memsz


def _read_elf(data: bytes, runs: bool) -> CodeObject:
    image = Image.of(data)
    header = _header(image)
    segments, metadata = [], None
    relative: list[tuple[int, int]] = []
    foreign: list[tuple[int, str]] = []
    _bounded(image, header)
    for kind, flags, offset, address, filesz, memsz in _program_headers(image, header):
        if kind == PT_LOAD:
            if memsz < filesz or address + memsz > LARGEST_IMAGE:
                raise CodeObjectError(f"a segment of {memsz} bytes at {address:#x} cannot be loaded")
            segments.append(Segment(address, memsz, flags, image.take(offset, filesz, "a segment's content")))
        elif kind == PT_NOTE:
            metadata = metadata or _metadata(image.take(offset, filesz, "the notes"))
        elif kind == PT_DYNAMIC:
            for found in _relocations(image, offset, filesz):
                try:
                    relative.append((found.where, found.value()))
                except CodeObjectError:
                    if runs:
                        raise
                    foreign.append((found.where, found.name()))
    if not segments:
        raise CodeObjectError("this code object has no loadable segment")
    if metadata is None:
        raise CodeObjectError("this code object has no AMDGPU metadata note, so its kernels are unknown")
    symbols = _sized(dict(_symbols(image, header)), segments)
    whole = CodeObject(header.arch, header.abi_version, {}, tuple(segments), symbols)
    for s in symbols.values():
        if s.address + s.size > whole.extent:
            raise CodeObjectError(f"the symbol {s.name} lies outside of this code object",
                                  expected=f"within {whole.extent:#x} bytes",
                                  got=f"{s.size} bytes at {s.address:#x}")  # fmt: skip
    kernels = {k.name: k for k in (_kernel(whole, m) for m in _list(metadata, "amdhsa.kernels"))}
    formats = metadata.get("amdhsa.printf", [])
    if not isinstance(formats, list) or not all(isinstance(f, str) for f in formats):
        raise CodeObjectError("the metadata's amdhsa.printf is not a list of texts", got=repr(formats)[:80])
    if any(not 0 <= where <= whole.extent - 8 for where, _ in relative):
        raise CodeObjectError("a relocation of this code object is outside of it")
    return CodeObject(
        whole.arch, whole.abi_version, kernels, whole.segments, symbols, tuple(formats), tuple(relative), tuple(foreign)
    )


def _bounded(image: Image, header: _Header) -> None:
    """CodeObjectError where headers claim the file's bytes more than once: segments that overlap, in the file or in
    memory, and so many small ones would take far more memory than the file has."""
    rows = list(_program_headers(image, header))
    for wanted, called in ((PT_LOAD, "segments"), (PT_NOTE, "notes"), (PT_DYNAMIC, "dynamic sections")):
        if (claimed := sum(filesz for kind, _, _, _, filesz, _ in rows if kind == wanted)) > image.size:
            raise CodeObjectError(f"the {called} of this code object overlap, or it is truncated",
                                  expected=f"at most {image.size} bytes in all", got=f"{claimed} bytes")  # fmt: skip
    loaded = sorted((address, address + memsz) for kind, _, _, address, _, memsz in rows if kind == PT_LOAD and memsz)
    for (_, end), (start, _) in pairwise(loaded):
        if start < end:
            raise CodeObjectError(f"two segments of this code object lie at {start:#x}")


@dataclass(frozen=True, slots=True)
class _Relocation:
    """One of `count` in its table. where: the address that it fills."""

    image: Image
    entries: Mapping[int, int]
    where: int
    info: int
    addend: int
    count: int

    def value(self) -> int:
        """The 64-bit address that it puts there when the code object is loaded at 0, such as those of a table of
        functions; CodeObjectError for any other relocation, and for symbols of other modules."""
        number = self.info & 0xFFFFFFFF
        value = 0
        if number == _ABS64:
            name, section, value = self._symbol()
            if not 0 < section < _SHN_LORESERVE:
                raise CodeObjectError(
                    f"this code object needs {name or f'symbol {self.info >> 32}'}, which is not in it",
                    expected="completely linked code",
                    hint="link the module that defines it (-fgpu-rdc with --hip-link)",
                )
        elif number != _RELATIVE64:
            raise CodeObjectError(
                f"this code object must be relocated when it is loaded, which is not supported: "
                f"R_AMDGPU_{self._kind()} at {self.where:#x}, {self.count} in all",
                hint="avoid symbols from other modules",
            )
        return value + self.addend & (1 << 64) - 1

    def name(self) -> str:
        """What it needs, as one word."""
        name, _, _ = self._symbol()
        kind = "" if self.info & 0xFFFFFFFF == _ABS64 else f".{self._kind()}"
        return re.sub(r"[^\w.$]", "_", name or f"symbol.{self.info >> 32}") + kind

    def _kind(self) -> str:
        number = self.info & 0xFFFFFFFF
        return _RELOCATIONS[number] if number < len(_RELOCATIONS) else str(number)

    def _symbol(self) -> tuple[str, int, int]:
        """Name, section and value of its dynamic symbol (DT_SYMTAB, DT_STRTAB)."""
        at = self.entries.get(6, 0) + 24 * (self.info >> 32)
        name, _, _, section, value, _ = self.image.unpack("IBBHQQ", at, "a relocation's symbol")
        start = self.entries.get(5, 0) + name
        text = self.image.peek(start, LONGEST_NAME).partition(b"\0")[0] if start < 1 << 62 else b""
        return text.decode("utf-8", "replace"), section, int(value)


def _relocations(image: Image, offset: int, size: int) -> Iterator[_Relocation]:
    entries = dict(image.unpack("QQ", offset + 16 * i, "the dynamic section") for i in range(min(size // 16, 256)))
    # DT_RELA with DT_RELASZ, DT_JMPREL with DT_PLTRELSZ. In code objects the first segment's addresses are offsets.
    for table, length in ((entries.get(7), entries.get(8)), (entries.get(23), entries.get(2))):
        if table is not None and length:
            for i in range(length // 24):
                where, info, addend = image.unpack("QQQ", table + 24 * i, "a relocation")
                yield _Relocation(image, entries, where, info, addend, length // 24)


def _symbols(image: Image, header: _Header) -> Iterator[tuple[str, Symbol]]:
    def section(i: int) -> tuple[int, int, int, int]:
        """Type, offset, size and link of section i."""
        at = header.shoff + 64 * i
        _, kind, _, _, offset, size, link = image.unpack("IIQQQQI", at, "a section header")
        return kind, offset, size, link

    room = NAMES_A_BYTE * image.size
    wanted = {SHT_SYMTAB, SHT_DYNSYM}  # at most one of each, says the ELF specification
    for i in range(header.shnum):
        kind, offset, size, link = section(i)
        if kind not in wanted:
            continue
        wanted.remove(kind)
        _, names_at, names_size, _ = section(link)
        names = image.take(names_at, names_size, "symbol names")
        table = image.take(offset, size - size % 24, "the symbol table")
        for name, info, _, index, value, length in struct.iter_unpack("<IBBHQQ", table):
            text = names[name : name + LONGEST_NAME].partition(b"\0")[0].decode("utf-8", "replace")
            if (room := room - len(text)) < 0:
                raise CodeObjectError("the names of this code object's symbols overlap too often",
                                      expected=f"at most {NAMES_A_BYTE} characters a byte of the file")  # fmt: skip
            if text and 0 < index < _SHN_LORESERVE:  # defined
                yield text, Symbol(text, value, length, {1: "object", 2: "func"}.get(info & 15, ""))


def _sized(symbols: dict[str, Symbol], segments: list[Segment]) -> dict[str, Symbol]:
    """With sizes for kernels whose symbols have none, as hand-written assembly without `.size` leaves them (Tensile's):
    up to the next function or object, or the end of the segment, without padding. A kernel that compilers have emptied
    keeps its 0: another function begins where it does, or padding follows."""
    sized = [s for s in symbols.values() if s.kind in ("func", "object")]
    starts = sorted({s.address for s in sized})
    taken = {s.address for s in sized if s.size}
    for s in sized:
        if s.kind != "func" or s.size or s.address in taken or f"{s.name}.kd" not in symbols:
            continue
        segment = next((g for g in segments if g.address <= s.address < g.address + len(g.data)), None)
        if segment is None:
            continue
        after = bisect_right(starts, s.address)
        end = min([*starts[after : after + 1], segment.address + len(segment.data)])
        code = segment.data[s.address - segment.address : end - segment.address]
        size = len(code) // 4 * 4
        while size and code[size - 4 : size] in PADDING:
            size -= 4
        symbols[s.name] = replace(s, size=size)
    return symbols


def _metadata(notes: bytes) -> dict[str, Any] | None:
    """The AMDGPU metadata map among the notes of one segment; where code objects were linked together (Tensile's), each
    has its own, and the kernels of all belong to it."""
    import msgpack

    at, whole = 0, None
    while at + 12 <= len(notes):
        name_size, size, kind = struct.unpack_from("<III", notes, at)
        start = at + 12 + (name_size + 3 & ~3)
        name, text = notes[at + 12 : at + 12 + name_size], notes[start : start + size]
        at = start + (size + 3 & ~3)
        if kind != _NOTE_METADATA or name != b"AMDGPU\0":
            continue
        try:
            found = msgpack.unpackb(text)
        except (ValueError, TypeError, ArithmeticError, RecursionError, msgpack.exceptions.UnpackException) as e:
            raise CodeObjectError(f"the metadata is not valid msgpack: {e}") from e
        if not isinstance(found, dict):
            raise CodeObjectError("the metadata is not a map", got=type(found).__name__)
        if whole is None:
            whole = found
            continue
        for key in ("amdhsa.kernels", "amdhsa.printf"):
            if isinstance(found.get(key), list) and isinstance(whole.setdefault(key, []), list):
                whole[key] += found[key]
    return whole


def _list(metadata: Mapping[str, Any], key: str) -> list[Mapping[str, Any]]:
    found = metadata.get(key, [])
    if not isinstance(found, list) or not all(isinstance(m, dict) for m in found):
        raise CodeObjectError(f"the metadata's {key} is not a list of maps", got=repr(found)[:80])
    return found


def _number(metadata: Mapping[str, Any], key: str, default: int | None = None) -> int:
    found = metadata.get(key, default)
    if not isinstance(found, int) or not 0 <= found < 1 << 32:
        raise CodeObjectError(f"the metadata's {key} is not a number of 32 bits", got=repr(found)[:80])
    return found


def _text(metadata: Mapping[str, Any], key: str, default: str | None = None) -> str:
    found = metadata.get(key, default)
    if not isinstance(found, str):
        raise CodeObjectError(f"the metadata's {key} is not text", got=repr(found)[:80])
    return found


def _kernel(code_object: CodeObject, m: Mapping[str, Any]) -> DescribedKernel:
    name = _text(m, ".name")
    if len(name.splitlines()) > 1:
        raise CodeObjectError("a kernel's name has several lines", got=repr(name)[:80])
    sizes = m.get(".reqd_workgroup_size") or []
    if not isinstance(sizes, list) or len(sizes) not in (0, 3) or not all(isinstance(n, int) for n in sizes):
        raise CodeObjectError(f"kernel {name}'s .reqd_workgroup_size is not three numbers", got=repr(sizes)[:80])
    symbol = code_object.symbols.get(_text(m, ".symbol"))
    if symbol is None:
        raise CodeObjectError(f"kernel {name} has no descriptor", expected=f"a symbol {m['.symbol']}")
    descriptor = decode_descriptor(
        code_object.read(symbol.address, 64), symbol.address, target(code_object.arch).family
    )
    code = code_object.symbols.get(name)
    if code is None or code.address != descriptor.entry:
        raise CodeObjectError(f"kernel {name}'s descriptor points at {descriptor.entry:#x}, where no symbol {name} is")
    code_object.read(code.address, code.size)
    args = tuple(
        Argument(
            _number(a, ".offset"),
            _number(a, ".size"),
            _text(a, ".value_kind"),
            _text(a, ".name", ""),
            _text(a, ".address_space", ""),
            _text(a, ".type_name", "") or _text(a, ".value_type", ""),
        )
        for a in _list(m, ".args")
    )
    return DescribedKernel(
        name,
        descriptor,
        args,
        vgprs=_number(m, ".vgpr_count"),
        sgprs=_number(m, ".sgpr_count"),
        vgpr_spills=_number(m, ".vgpr_spill_count", 0),
        sgpr_spills=_number(m, ".sgpr_spill_count", 0),
        max_workgroup=_number(m, ".max_flat_workgroup_size"),
        code_size=code.size,
        metadata=m,
    )
