"""Machine code to LLVM's text: one call of LLVM's disassembler (llvm-c/Disassembler.h) for each instruction that
differs, 10 us each.

VOP3 and VOP3P encodings have three sources. LLVM wrote 0 into those that an instruction does not have until January
2026, and 0x80, the constant 0, since then (LLVM pull request 175753); the wheel's disassembler takes the former only.
So what it rejects is decoded again with such fields cleared. So are the VDST of a DS instruction that gives nothing
back and the second source of a move in a VOPD, which the hardware does not look at.
"""

from __future__ import annotations

import ctypes
import functools
import struct
from collections.abc import Callable, Iterator, Sequence
from typing import Any

from isa import llvm
from isa.errors import IsaError
from isa.object.descriptor import MACHINES
from isa.targets import features_of

_VOP3, _VOP3P, _UNUSED = 0b110101, 0b11001100, 0x80
_DS, _VOPD, _MOVE = 0b110110, 0b110010, 8
_MOST_KNOWN = 1 << 16
PADDING = 32  # bytes; the longest instruction, a MIMG with NSA words, has 20


@functools.cache
def _initialize() -> None:
    for part in ("TargetInfo", "TargetMC", "Disassembler"):
        llvm.function(f"LLVMInitializeAMDGPU{part}", None)()


@functools.cache
def _decode() -> Any:
    sizes = llvm.P, ctypes.c_uint64, ctypes.c_uint64, ctypes.c_char_p, ctypes.c_size_t
    return llvm.function("LLVMDisasmInstruction", ctypes.c_size_t, llvm.P, *sizes)


@functools.lru_cache(1)
def disassemble(
    code: bytes, address: int = 0, arch: str = "gfx1100", *, wave64: bool = False
) -> Sequence[tuple[int, int, str]]:
    """(address, size in bytes, text) of each instruction in `code`, whose first byte is at `address`. wave64: its waves
    have 64 lanes, so that lane masks are pairs.

    The text is LLVM's, as `llvm-objdump -d` prints it, without its comment. Four bytes that are no instruction come
    back as `.long 0x...`; a rest of under four bytes as `.byte`.
    """
    if arch not in MACHINES.values():
        raise IsaError(f"cannot disassemble for {arch!r}", expected=", ".join(MACHINES.values()))
    with llvm.lock:
        _initialize()
    name, number = ctypes.c_char_p, ctypes.c_int
    make = llvm.function("LLVMCreateDisasmCPUFeatures", llvm.P, name, name, name, llvm.P, number, llvm.P, llvm.P)
    decode = _decode()
    features = features_of(arch, wave64).encode()
    context = make(b"amdgcn-amd-amdhsa", arch.encode(), features, None, 0, None, None)
    known = _known(arch, wave64)
    # LLVM's disassembler crashes on an instruction whose literal is cut off, so it is shown zeros after the end,
    # and what it then reads beyond the end is no instruction.
    buffer = ctypes.create_string_buffer(code, len(code) + PADDING)
    start = ctypes.addressof(buffer)
    text = ctypes.create_string_buffer(512)
    found, at = list[tuple[int, int, str]](), 0

    def ask(at: int) -> int:
        """The size of the instruction there, its text in `text`; 0 where there is none."""
        left = len(code) + PADDING - at
        return int(decode(context, start + at, left, address + at, text, len(text)))

    def decoded(at: int) -> tuple[int, str]:
        left = len(code) - at
        if 0 < (size := ask(at) or _without_unused(buffer, at, ask)) <= left:
            words = text.value.decode("ascii", "replace").partition("//")[0].split()
            if len(known) >= _MOST_KNOWN:
                known.clear()
            known[code[at : at + size]] = said = size, " ".join(words)
            return said
        if left >= 4:
            return 4, f".long {int.from_bytes(code[at : at + 4], 'little'):#010x}"
        return left, ".byte " + ", ".join(f"{b:#04x}" for b in code[at:])

    try:
        while at < len(code):
            said = known.get(code[at : at + 4]) or known.get(code[at : at + 8]) or known.get(code[at : at + 12])
            size, words = said or decoded(at)
            found.append((address + at, size, words))
            at += size
    finally:
        llvm.function("LLVMDisasmDispose", None, llvm.P)(context)
    return found


@functools.cache
def _known(arch: str, wave64: bool) -> dict[bytes, tuple[int, str]]:
    """(size, text) by an instruction's bytes: code repeats itself, and no instruction begins with another one."""
    return {}


def _without_unused(buffer: ctypes.Array[ctypes.c_char], at: int, ask: Callable[[int], int]) -> int:
    """Asks again with unused fields cleared, step by step. A literal after the instruction stays where it is."""
    words = struct.unpack_from("<II", buffer, at)
    size = 0
    try:
        for cleared in _cleared(*words):
            struct.pack_into("<II", buffer, at, *cleared)
            size = ask(at)
            if size:
                break
    finally:
        struct.pack_into("<II", buffer, at, *words)
    return size


def _cleared(first: int, second: int) -> Iterator[tuple[int, int]]:
    """The two words with fields cleared that may be unused (RDNA3 ISA guide 15.3.4, 15.3.6, 15.3.7, 15.5)."""
    if first >> 26 == _VOP3 or first >> 24 == _VOP3P:
        for shift in (18, 9):  # SRC2, SRC1
            if second >> shift & 0x1FF != _UNUSED:
                return
            second &= ~(0x1FF << shift)
            yield first, second
    elif first >> 26 == _DS:
        yield first, second & 0xFFFFFF
    elif first >> 26 == _VOPD:
        x, y = first >> 22 & 15 == _MOVE, first >> 17 & 31 == _MOVE
        yield first & ~(0xFF << 9) if x else first, second & ~(0xFF << 9) if y else second
