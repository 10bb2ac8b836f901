"""From what a program hands to hipModuleLoadData, to the code object inside.

`hipModuleLoadData` passes an address and no length, so the length is read from the image's own headers. An image is

- an ELF file: it ends where its last segment, section or section table ends;
- an offload bundle as `hipcc --genco` writes it (LLVM docs, ClangOffloadBundler): the magic word, a count, then for
  each entry offset, size and the target's name. The entry for an amdgcn target that the card can run is taken;
- the 24-byte wrapper `__CudaFatBinaryWrapper` {0x48495046, version, address, ...} around either.

Bytes come through `Reader`, which reads from a `bytes` object or from memory that it first finds to be mapped, so that
a damaged header ends in an `ImageError`, never in a crash.
"""

from __future__ import annotations

import ctypes
import mmap
import struct
from collections.abc import Callable

from isa.errors import IsaError

ELF_MAGIC = b"\x7fELF"
BUNDLE_MAGIC = b"__CLANG_OFFLOAD_BUNDLE__"
COMPRESSED_MAGIC = b"CCOB"
WRAPPER_MAGIC = 0x48495046
MACHINE_AMDGPU = 224
# EF_AMDGPU_MACH values (llvm/include/llvm/BinaryFormat/ELF.h).
GFX_BY_MACH = {0x41: "gfx1100", 0x46: "gfx1101", 0x47: "gfx1102", 0x44: "gfx1103"}
LARGEST_IMAGE = 1 << 31
MOST_ENTRIES = 4096

Reader = Callable[[int, int], bytes]  # (offset, size) -> exactly that many bytes


class ImageError(IsaError):
    """An image that is no code object."""


class NoCodeForCard(ImageError):
    """A good image that holds nothing for this card."""


def is_mapped(address: int, size: int) -> bool:
    """Whether all pages of [address, address + size) exist in this process.

    msync(MS_ASYNC) does nothing on Linux but to fail with ENOMEM on a hole.
    """
    if size <= 0:
        return size == 0
    page = mmap.PAGESIZE
    first = address & -page
    if address <= 0 or address + size > 1 << 64:
        return False
    libc = ctypes.CDLL(None, use_errno=True)
    libc.msync.argtypes = (ctypes.c_void_p, ctypes.c_size_t, ctypes.c_int)
    return bool(libc.msync(first, address + size - first, 1) == 0)


def memory_reader(address: int) -> Reader:
    """Reads from this process's memory at `address`."""

    def read(offset: int, size: int) -> bytes:
        if not 0 <= offset <= LARGEST_IMAGE or not 0 <= size <= LARGEST_IMAGE:
            raise ImageError(f"the image's headers name {size} bytes at offset {offset}, beyond any code object")
        if not is_mapped(address + offset, size):
            raise ImageError(f"the image's headers name {size} bytes at offset {offset}, where no memory is")
        return ctypes.string_at(address + offset, size)

    return read


def bytes_reader(data: bytes) -> Reader:
    """Reads from `data`."""

    def read(offset: int, size: int) -> bytes:
        if offset < 0 or size < 0 or offset + size > len(data):
            raise ImageError(f"the image is cut short: {size} bytes at offset {offset} of {len(data)} are named")
        return data[offset : offset + size]

    return read


def code_object(read: Reader, arch: str) -> bytes:
    """The ELF code object for `arch` ("gfx1100") in an image.

    Raises ImageError for what is no image, NoCodeForCard where it holds none for this target.
    """
    magic = read(0, 4)
    if magic == ELF_MAGIC:
        return _elf(read, arch)
    if magic == COMPRESSED_MAGIC:
        raise ImageError(
            "the image is a compressed offload bundle (CCOB), which is not read here",
            hint="compile with --no-offload-compress",
        )
    if struct.unpack("<I", magic)[0] == WRAPPER_MAGIC:
        (address,) = struct.unpack("<Q", read(8, 8))
        return code_object(memory_reader(address), arch)
    if magic == BUNDLE_MAGIC[:4] and read(0, len(BUNDLE_MAGIC)) == BUNDLE_MAGIC:
        return _from_bundle(read, arch)
    raise ImageError("this is no code object", expected="ELF or __CLANG_OFFLOAD_BUNDLE__", got=repr(magic))


def _elf(read: Reader, arch: str) -> bytes:
    header = read(0, 64)
    if header[4:6] != b"\x02\x01":
        raise ImageError("the ELF image is not 64-bit little-endian")
    (machine,) = struct.unpack_from("<H", header, 18)
    phoff, shoff, flags, _ehsize, phentsize, phnum, shentsize, shnum = struct.unpack_from("<QQIHHHHH", header, 32)
    if machine != MACHINE_AMDGPU:
        raise NoCodeForCard("the ELF image is for another machine", expected="EM_AMDGPU, 224", got=str(machine))
    found = GFX_BY_MACH.get(flags & 0xFF, f"EF_AMDGPU_MACH 0x{flags & 0xFF:x}")
    if found != arch:
        raise NoCodeForCard("the code object is for another target", expected=arch, got=found)
    end = max(64, phoff + phnum * phentsize, shoff + shnum * shentsize)
    for i in range(phnum):
        offset, _, _, size = struct.unpack_from("<QQQQ", read(phoff + i * phentsize, 56), 8)
        end = max(end, offset + size)
    for i in range(shnum):
        section = read(shoff + i * shentsize, 64)
        kind, offset, size = struct.unpack_from("<I", section, 4)[0], *struct.unpack_from("<QQ", section, 24)
        if kind != 8:  # SHT_NOBITS takes no room in the file
            end = max(end, offset + size)
    return read(0, end)


def _from_bundle(read: Reader, arch: str) -> bytes:
    (count,) = struct.unpack("<Q", read(24, 8))
    if count > MOST_ENTRIES:
        raise ImageError(f"the offload bundle claims {count} entries")
    at, seen = 32, []
    for _ in range(count):
        offset, size, length = struct.unpack("<QQQ", read(at, 24))
        if length > MOST_ENTRIES:
            raise ImageError(f"an offload bundle entry's name claims {length} bytes")
        name = read(at + 24, length).decode("ascii", "replace")
        at += 24 + length
        seen.append(name)
        # "hipv4-amdgcn-amd-amdhsa--gfx1100:xnack-": the target stands after the double dash, features after a colon.
        if "amdgcn" in name and name.rpartition("--")[2].split(":")[0] == arch:
            return _elf(bytes_reader(read(offset, size)), arch)
    raise NoCodeForCard("the offload bundle holds no code for this card", expected=arch, got=", ".join(seen) or "none")
