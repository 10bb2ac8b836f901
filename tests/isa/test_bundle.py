"""Bundles, plain and compressed, alone and in a host library: what they hold is found, damage ends in an error."""

import ctypes.util
import importlib.util
import random
import struct
import zlib
from collections.abc import Callable

import pytest

from isa.errors import IsaError
from isa.object import bundle, code_object
from isa.object.code_object import CodeObjectError
from isa.packages import PackageMissing

Compile = Callable[..., tuple[str, bytes]]
SOURCE = """
#include <hip/hip_runtime.h>
extern "C" __global__ void NAME(float *p) { p[threadIdx.x] *= 2.0f; }
"""
GFX1100, GENERIC = "hipv4-amdgcn-amd-amdhsa--gfx1100", "hipv4-amdgcn-amd-amdhsa--gfx11-generic"
has_zstd = pytest.mark.skipif(
    not (ctypes.util.find_library("zstd") or any(map(importlib.util.find_spec, ("zstandard",)))),
    reason="nothing here reads zstd: neither libzstd nor the package zstandard",
)


@pytest.fixture(scope="module")
def one(compile_hip: Compile) -> bytes:
    return compile_hip(SOURCE.replace("NAME", "one"))[1]


@pytest.fixture(scope="module")
def two(compile_hip: Compile) -> bytes:
    return compile_hip(SOURCE.replace("NAME", "two"))[1]


def plain(*entries: tuple[str, bytes]) -> bytes:
    """What clang-offload-bundler writes."""
    head, at = b"", 32 + sum(24 + len(name) for name, _ in entries)
    for name, body in entries:
        head += struct.pack("<QQQ", at, len(body), len(name)) + name.encode()
        at += len(body)
    return b"".join((bundle.MAGIC, struct.pack("<Q", len(entries)), head, *(body for _, body in entries)))


def stored(data: bytes) -> bytes:
    """A zstd frame of raw blocks (RFC 8878, 3.1.1): any decoder takes it, and no encoder is needed."""
    frame = struct.pack("<IBQ", 0xFD2FB528, 0xE0, len(data))
    for at in range(0, len(data), 1 << 17):
        block = data[at : at + (1 << 17)]
        frame += (len(block) << 3 | (at + len(block) == len(data))).to_bytes(3, "little") + block
    return frame


def compressed(data: bytes, version: int = 2, method: int = 0) -> bytes:
    body = (zlib.compress, stored)[method](data)
    start = 24 if version == 2 else 32
    form = "<HHIIQ" if version == 2 else "<HHQQQ"
    return b"CCOB" + struct.pack(form, version, method, start + len(body), len(data), 0) + body


def library(fat: bytes, section: bytes = b".hip_fatbin") -> bytes:
    """A host's ELF with one section besides that of names."""
    names = b"\0.shstrtab\0" + section + b"\0"
    head = b"\x7fELF\x02\x01\x01" + bytes(9)
    at = 64 + len(names)
    head += struct.pack("<HHIQQQIHHHHHH", 3, 62, 1, 0, 0, at + len(fat), 0, 64, 56, 0, 64, 3, 1)
    rows = [(0, 0, 0, 0), (1, 3, 64, len(names)), (11, 1, at, len(fat))]
    table = b"".join(
        struct.pack("<IIQQQQIIQQ", n, kind, 0, 0, start, size, 0, 0, 1, 0) for n, kind, start, size in rows
    )
    return head + names + fat + table


def names(data: bytes, arch: str | None = None) -> list[str]:
    return [name for image in bundle.images(data, arch) for name in code_object.load(image).kernels]


@pytest.mark.parametrize("method", [0, pytest.param(1, marks=has_zstd)], ids=["zlib", "zstd"])
@pytest.mark.parametrize("version", [2, 3])
def test_compressed_bundles_are_unpacked(one: bytes, version: int, method: int) -> None:
    packed = compressed(plain((GFX1100, one)), version, method)
    assert bundle.unbundle(packed) == one
    after = packed + b"what follows in memory" * 100
    assert code_object.image_size(lambda offset, n: after[offset : offset + n]) == len(packed)
    for damaged in (packed[:-9], packed[:40] + bytes([packed[40] ^ 0xFF]) + packed[41:]):
        with pytest.raises(CodeObjectError):
            bundle.unbundle(damaged)


def test_bundles_in_a_row_in_a_library(one: bytes, two: bytes) -> None:
    """Padded to pages, as linkers lay them, compressed or not, the same code object once."""
    row = b"".join(
        part + bytes(-len(part) % 4096)
        for part in (
            plain(("host-x86_64-unknown-linux-gnu-", b""), (GFX1100, one)),
            compressed(plain((GFX1100, two))),
            plain((GFX1100, one)),
            plain(("hipv4-amdgcn-amd-amdhsa--gfx90a:xnack-", b"other")),
        )
    )
    assert names(row) == names(library(row)) == ["one", "two"]
    assert bundle.unbundle(library(row)) == one
    with pytest.raises(code_object.OtherTarget, match=r"\.hip_fatbin"):
        bundle.images(library(row, b".rodata"))
    with pytest.raises(code_object.OtherTarget, match="holds no offload bundle"):
        bundle.images(library(b"nothing"))


def test_the_target_is_chosen(one: bytes, two: bytes) -> None:
    """The card's own, else the generic one of its family; without a card gfx1100, else another gfx11."""
    both = plain((GENERIC, one), ("hipv4-amdgcn-amd-amdhsa-unknown-gfx1101:xnack-", two))
    assert bundle.unbundle(both) == bundle.unbundle(both, "gfx1101") == two
    assert bundle.unbundle(both, "gfx1151") == one
    third = plain(("hipv4-amdgcn-amd-amdhsa--gfx1103", one), (GFX1100, two))
    assert bundle.unbundle(third) == two
    with pytest.raises(code_object.OtherTarget, match=r"this offload bundle has no fitting entry(.|\n)*gfx1103"):
        bundle.unbundle(third, "gfx1102")


def test_what_is_not_read_is_named(one: bytes, monkeypatch: pytest.MonkeyPatch) -> None:
    packed = compressed(plain((GFX1100, one)))
    with pytest.raises(CodeObjectError, match=r"version 1, method 0(.|\n)*no-offload-compress"):
        bundle.unbundle(packed[:4] + b"\x01\0" + packed[6:])
    with pytest.raises(CodeObjectError, match="not a bundle"):
        bundle.unbundle(compressed(one))
    bundle._zstd.cache_clear()
    monkeypatch.setattr(bundle.importlib, "import_module", _absent)
    monkeypatch.setattr(bundle.ctypes, "CDLL", _absent)
    with pytest.raises(PackageMissing, match=r"zstd(.|\n)*pip install"):
        bundle.unbundle(compressed(plain((GFX1100, one)), method=1))
    bundle._zstd.cache_clear()


def _absent(name: str) -> None:
    raise (ImportError if "zstd" in name.partition(".")[2] or name == "zstandard" else OSError)(name)


def test_damage_ends_in_an_error_or_a_result(one: bytes, two: bytes) -> None:
    rng = random.Random(1101)
    originals = (
        library(plain((GFX1100, one)) + compressed(plain((GFX1100, two)), 3)),
        compressed(plain((GFX1100, one))),
    )
    for _ in range(1500):
        data = bytearray(rng.choice(originals))
        for _ in range(rng.choice((1, 2, 8))):
            at = rng.randrange(min(len(data), rng.choice((80, 1024, len(data)))))
            data[at : at + 4] = rng.choice((bytes([rng.randrange(256)]), b"\xff" * 4, bytes(8)))
        try:
            found = names(bytes(data))
        except IsaError:
            continue
        assert len(found) < 3
