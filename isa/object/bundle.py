"""Bundles: a file that compilers wrote -> the code objects in it: offload bundles, plain or compressed, in host
libraries.

In:  bytes, trusted in nothing: a code object, one bundle or several in a row, or an ELF for the host whose section
     .hip_fatbin holds such a row, one bundle for each source file.
Out: `images`: the code object of each bundle that fits a target, as bytes. Where nothing fits, an OtherTarget that
     lists what there is; for what is damaged, a CodeObjectError that names the place.

A plain bundle is a table of (target, offset, size) before the code objects. A compressed one (CCOB) is a header, then
the plain one through zlib or zstd. zstd is Python's own from 3.14 on, else the package zstandard, else the system's
libzstd.

Sources: clang "Offload Bundler: Bundled Code Object File Layout", "Compressed Bundle Format"; LLVM AMDGPUUsage,
"Generic Processor".

Limits: no .llvm.offloading (the new driver's linked images), no PE libraries, no compressed bundles of version 1, which
do not say how long they are (ROCm 6.0).
"""

from __future__ import annotations

import ctypes
import ctypes.util
import functools
import hashlib
import importlib
import re
import struct
import zlib
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from isa import targets
from isa.display import number_of
from isa.errors import IsaError
from isa.object.descriptor import CodeObjectError, OtherTarget
from isa.packages import PACKAGES, PackageMissing

MAGIC = b"__CLANG_OFFLOAD_BUNDLE__"
COMPRESSED = b"CCOB"
LARGEST_IMAGE = 1 << 28
"""Bytes that one code object may span: far above any real one, far below what would hurt the host."""
LARGEST_BUNDLE = 1 << 30
"""Bytes that one bundle may span, packed or not, and all code objects that are taken out of one file: room for the
largest libraries."""
LONGEST_NAME = 4096
_HEADERS = {2: "HHIIQ", 3: "HHQQQ"}
"""Of a compressed bundle by its version, after the magic: version, method, its own size, the size of what is in it, and
a hash."""
_ALIGN = 4096
"""Of code objects in a bundle."""
_ZLIB, _ZSTD = 0, 1
_BUNDLE = re.compile(MAGIC + b"|" + COMPRESSED)


class Image:
    """Bytes with checked reads. `peek` may be slow or partial; it returns fewer bytes at the end. size: how many there
    are, where that is known."""

    def __init__(self, peek: Callable[[int, int], bytes], size: int = LARGEST_BUNDLE) -> None:
        self.peek, self.size = peek, size

    @classmethod
    def of(cls, data: bytes | memoryview, start: int = 0) -> Image:
        """Of bytes in memory, from `start` on."""
        return cls(lambda offset, size: bytes(data[start + offset : start + offset + size]), len(data) - start)

    def take(self, offset: int, size: int, what: str) -> bytes:
        data = self.peek(offset, size) if 0 <= size <= self.size and 0 <= offset < 1 << 62 else b""
        if len(data) != size:
            raise CodeObjectError(
                f"{what} is outside the code object: is the file truncated?",
                expected=f"{size} bytes at offset {offset:#x}",
                got=f"{number_of(len(data), 'byte')}",
            )
        return data

    def unpack(self, form: str, offset: int, what: str) -> tuple[Any, ...]:
        form = "<" + form
        return struct.unpack(form, self.take(offset, struct.calcsize(form), what))


@dataclass(frozen=True, slots=True)
class BundleEntry:
    """A row of a plain bundle's table. target: `hipv4-amdgcn-amd-amdhsa--gfx1100`, for the host `host-...`."""

    target: str
    offset: int
    size: int

    @property
    def gfx(self) -> str:
        """gfx1100, without features; "" for the host."""
        return targets.named_in(self.target) if self.target.startswith("hip") else ""


def unbundle(data: bytes, arch: str | None = None) -> bytes:
    """The code object for `arch` (default: for gfx11) in the bundle or library that `data` begins with; a code object
    comes back as it is."""
    if data.startswith((MAGIC, COMPRESSED)):
        return _chosen(_plain(Image.of(data))[0], arch)
    return images(data, arch)[0] if _is_host(data) else data


def images(data: bytes, arch: str | None = None) -> list[bytes]:
    """The code object of each bundle, the same one once. arch: the target that they must run on; by default gfx1100,
    else what there is of gfx11. OtherTarget where no bundle has one."""
    if not _is_host(data) and not data.startswith((MAGIC, COMPRESSED)):
        return [data]
    found: dict[bytes, bytes] = {}
    refused: OtherTarget | None = None
    room = LARGEST_BUNDLE
    for row in _rows(data):
        for plain in _in_a_row(row):
            try:
                image = _chosen(plain, arch)
            except OtherTarget as error:
                refused = refused or error
                continue
            if (room := room - len(image)) < 0:
                raise CodeObjectError(f"the code objects in this file have more than {LARGEST_BUNDLE} bytes")
            found[hashlib.sha256(image).digest()] = image
    if found:
        return list(found.values())
    raise refused or OtherTarget("this library holds no offload bundle", expected=f"one that begins with {MAGIC!r}")


def size_in_memory(peek: Callable[[int, int], bytes]) -> int:
    """How many bytes the bundle takes that begins at 0. peek(offset, size): that many bytes from there. Only headers
    are read."""
    image = Image(peek)
    if image.take(0, 4, "the magic") == COMPRESSED:
        return _packed(image)[2]
    if image.take(0, len(MAGIC), "the magic") == MAGIC:
        return _end(list(_entries(image)))
    raise CodeObjectError("neither an ELF nor an offload bundle", got=repr(image.take(0, 4, "the magic")))


def _entries(image: Image) -> Iterator[BundleEntry]:
    (count,) = image.unpack("Q", len(MAGIC), "the bundle's header")
    at = len(MAGIC) + 8
    if count > 1024:
        raise CodeObjectError(f"an offload bundle cannot have {count} entries")
    for _ in range(count):
        offset, size, length = image.unpack("QQQ", at, "the bundle's table")
        target = image.take(at + 24, length if length <= LONGEST_NAME else -1, "a name in the bundle's table")
        yield BundleEntry(target.decode("ascii", "replace"), offset, size)
        at += 24 + length


def _end(entries: Sequence[BundleEntry]) -> int:
    """Where the table and all that it names have ended."""
    table = len(MAGIC) + 8 + sum(24 + len(e.target) for e in entries)
    return max([table, *(e.offset + e.size for e in entries)])


def _chosen(plain: Image, arch: str | None) -> bytes:
    """The code object that fits best: of the target itself, then of one that runs there."""
    entries = list(_entries(plain))
    wanted = targets.fitting([e.gfx for e in entries], arch)
    if wanted is None:
        found = ", ".join(e.target for e in entries)
        raise OtherTarget(
            "this offload bundle has no fitting entry", expected=arch or "a gfx11 target", got=found or "none"
        )
    entry = next(e for e in entries if e.gfx == wanted)
    if entry.size > LARGEST_IMAGE:
        raise CodeObjectError(f"the bundle's entry {entry.target} has {entry.size} bytes")
    return plain.take(entry.offset, entry.size, f"the bundle's entry {entry.target}")


def with_image(data: bytes, old: bytes, new: bytes) -> bytes | None:
    """A file that is one bundle, with another code object in the place of one of its; a compressed one comes out plain.
    None for what is no bundle, or several."""
    if not data.startswith((MAGIC, COMPRESSED)):
        return None
    plain, size = _plain(Image.of(data))
    if size > len(data) or _BUNDLE.search(data, size) is not None:
        return None
    entries = [(e.target, plain.take(e.offset, e.size, f"the entry {e.target}")) for e in _entries(plain)]
    return bundled([(target, new if image == old else image) for target, image in entries])


def bundled(entries: Sequence[tuple[str, bytes]]) -> bytes:
    """A plain bundle of (target, code object), as clang-offload-bundler writes it."""
    header = len(MAGIC) + 8 + sum(24 + len(target.encode()) for target, _ in entries)
    table, bodies, at = b"", b"", -(-header // _ALIGN) * _ALIGN
    start = at
    for target, image in entries:
        table += struct.pack("<QQQ", at, len(image), len(target.encode())) + target.encode()
        bodies += image + bytes(-len(image) % _ALIGN)
        at = start + len(bodies)
    end = bodies[: len(bodies) - (-len(entries[-1][1]) % _ALIGN)] if entries else b""
    return (MAGIC + struct.pack("<Q", len(entries)) + table).ljust(start, b"\0") + end


def _in_a_row(data: memoryview) -> Iterator[Image]:
    """Each bundle, unpacked, and whatever lies between them passed over."""
    at = 0
    while (found := _BUNDLE.search(data, at)) is not None:
        plain, size = _plain(Image.of(data, found.start()))
        if (at := found.start() + size) > len(data):
            raise CodeObjectError("an offload bundle is cut off: is the file truncated?", expected=f"{at} bytes",
                                  got=f"{len(data)} bytes")  # fmt: skip
        yield plain


def _rows(data: bytes) -> Iterator[memoryview]:
    view = memoryview(data)
    if not _is_host(data):
        yield view
        return
    image = Image.of(view)
    (shoff,) = image.unpack("Q", 40, "the ELF header")
    shsize, count, names = image.unpack("HHH", 58, "the ELF header")
    if count and shsize != 64:
        raise CodeObjectError("the ELF header's table entries have the wrong size", expected="64 bytes")
    headers = [image.unpack("IIQQQQ", shoff + 64 * i, "a section header") for i in range(count)]
    places = [h[4:6] for h in headers if names < count and _name(image, headers[names][4] + h[0]) == b".hip_fatbin"]
    if not places:
        raise OtherTarget("an ELF, but not for an AMD GPU", expected="e_machine 224, or a section .hip_fatbin")
    if sum(size for _, size in places) > len(data):
        raise CodeObjectError("the sections .hip_fatbin of this library overlap")
    for offset, size in places:
        image.take(offset + size, 0, "the section .hip_fatbin")
        yield view[offset : offset + size]


def _name(image: Image, offset: int) -> bytes:
    return image.peek(offset, len(b".hip_fatbin") + 1).partition(b"\0")[0] if offset < 1 << 62 else b""


def _is_host(data: bytes) -> bool:
    """Whether it is a little-endian 64-bit ELF for no AMD GPU."""
    return data[:6] == b"\x7fELF\x02\x01" and data[18:20] != b"\xe0\0"


def _plain(image: Image) -> tuple[Image, int]:
    """The bundle at 0, unpacked, and the bytes that it took."""
    if image.take(0, 4, "the magic") != COMPRESSED:
        return image, _end(list(_entries(image)))
    method, start, end, size = _packed(image)
    body = image.take(start, end - start, "a compressed bundle")
    try:
        data = _unpacked(body, method, size)
    except CodeObjectError:
        raise
    except Exception as error:  # each of the libraries has its own
        if isinstance(error, IsaError | MemoryError):
            raise
        raise CodeObjectError(f"a compressed bundle cannot be unpacked: {error}") from error
    if len(data) != size or not data.startswith(MAGIC):
        raise CodeObjectError(
            "the contents of a compressed bundle are not a bundle", expected=f"{size} bytes", got=repr(data[:8])
        )
    return Image.of(data), end


def _packed(image: Image) -> tuple[int, int, int, int]:
    """Of a compressed bundle: method, where what is packed begins and ends, the size of what is in it."""
    version, method = image.unpack("HH", 4, "a compressed bundle's header")
    if version not in _HEADERS or method not in (_ZLIB, _ZSTD):
        raise CodeObjectError(
            f"a compressed bundle of version {version}, method {method}",
            expected="version 2 or 3; method 0 (zlib) or 1 (zstd)",
            hint="build it with ROCm 6.1 or later, or with --no-offload-compress",
        )
    _, _, end, size, _ = image.unpack(_HEADERS[version], 4, "a compressed bundle's header")
    start = 4 + struct.calcsize("<" + _HEADERS[version])
    if not start <= end <= LARGEST_BUNDLE or not len(MAGIC) <= size <= LARGEST_BUNDLE:
        raise CodeObjectError(f"a compressed bundle of {end} bytes with {size} in it is none")
    return method, start, end, size


def _unpacked(data: bytes, method: int, size: int) -> bytes:
    """At most `size` bytes."""
    if method == _ZLIB:
        return zlib.decompressobj().decompress(data, size)
    return _zstd()(data, size)


@functools.cache
def _zstd() -> Callable[[bytes, int], bytes]:
    """(data, size of what is in it) -> that. PackageMissing where nothing here can do it."""
    for module, unpack in (
        ("compression.zstd", lambda m, data, size: m.ZstdDecompressor().decompress(data, size)),
        ("zstandard", lambda m, data, size: m.ZstdDecompressor().decompress(data, max_output_size=size)),
    ):
        try:
            return functools.partial(unpack, importlib.import_module(module))
        except ImportError:
            continue
    try:
        library = ctypes.CDLL(ctypes.util.find_library("zstd") or "libzstd.so.1")
        function = library.ZSTD_decompress
    except (OSError, AttributeError):
        package = PACKAGES["zstandard"]
        raise PackageMissing(
            "this bundle is compressed with zstd, and no zstd reader is installed",
            expected="Python 3.14, the package zstandard, or libzstd.so.1",
            hint=package.install,
        ) from None
    function.restype = ctypes.c_size_t
    function.argtypes = [ctypes.c_void_p, ctypes.c_size_t, ctypes.c_char_p, ctypes.c_size_t]

    def decompress(data: bytes, size: int) -> bytes:
        out = bytearray(size)
        into = (ctypes.c_char * size).from_buffer(out) if size else None
        written = function(into, size, data, len(data))
        if written != size:  # fewer, or an error: a negative number
            raise CodeObjectError("a compressed bundle cannot be unpacked: its zstd data is corrupt")
        del into
        return bytes(out)

    return decompress
