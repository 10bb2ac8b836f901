"""LLVM's C API: the library inside the rocm-llvm-python wheel, opened by ctypes when it is first needed.

It has the code generators of the host and of AMDGPU, an assembler, a disassembler and a JIT linker. A function is given
its result and parameter types where it is used, by `function`. Strings that LLVM made are freed here. The library is
bound to its own symbols first, so that another LLVM in this process, which a simulated program may bring, is not
mistaken for it.
"""

from __future__ import annotations

import ctypes
import functools
import os
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from isa import packages

P = ctypes.c_void_p
_RELOC_DEFAULT, _CODE_MODEL_JIT, _OBJECT_FILE, _RETURN_STATUS = 0, 1, 1, 2
lock = threading.Lock()
"""Held by who initialises a target or adds code: LLVM's lists of those take one thread at a time."""


def library_path() -> Path:
    """Where the shared library lies. PackageMissing where the wheel is not installed."""
    return _opened[0] if _opened else packages.folder("rocm.llvm") / "librocmllvm.so"


_opened: list[Path] = []


def use(path: Path) -> None:
    """For a process that does not see the packages: where the library lies."""
    _opened[:] = [path]


@functools.cache
def library() -> ctypes.CDLL:
    """The shared library. PackageMissing where the wheel is not installed."""
    return ctypes.CDLL(str(library_path()), os.RTLD_NOW | getattr(os, "RTLD_DEEPBIND", 0))


@functools.cache
def function(name: str, result: Any, *parameters: Any) -> Any:
    """A function of the C API with its types."""
    found = library()[name]
    found.restype, found.argtypes = result, parameters
    return found


@functools.cache
def identity() -> str:
    """A text that changes when another library would answer. The library is not opened."""
    at = library_path().stat()
    return f"{at.st_size} {at.st_mtime_ns}"


def text(message: int | None) -> str:
    """A string that LLVM made, which is freed."""
    if not message:
        return ""
    said = ctypes.string_at(message).decode(errors="replace")
    function("LLVMDisposeMessage", None, P)(message)
    return said


@functools.cache
def version() -> tuple[int, int, int]:
    """LLVM's version, as (22, 0, 0)."""
    numbers = [ctypes.c_uint() for _ in range(3)]
    library().LLVMGetVersion(*map(ctypes.byref, numbers))
    major, minor, patch = (number.value for number in numbers)
    return major, minor, patch


def take(buffer: int) -> bytes:
    """What a memory buffer of LLVM's holds; the buffer is freed."""
    start, size = (
        function("LLVMGetBufferStart", P, P)(buffer),
        function("LLVMGetBufferSize", ctypes.c_size_t, P)(buffer),
    )
    held = ctypes.string_at(start, size)
    function("LLVMDisposeMemoryBuffer", None, P)(buffer)
    return held


def buffer(held: bytes) -> int:
    """A memory buffer of LLVM's with a copy of that."""
    make = function("LLVMCreateMemoryBufferWithMemoryRangeCopy", P, ctypes.c_char_p, ctypes.c_size_t, ctypes.c_char_p)
    made: int = make(held, len(held), b"")
    return made


@contextmanager
def context() -> Iterator[int]:
    """A context, which ends with all that was made in it."""
    made: int = function("LLVMContextCreate", P)()
    try:
        yield made
    finally:
        function("LLVMContextDispose", None, P)(made)


@functools.cache
def host_triple() -> bytes:
    """What this process runs on."""
    return text(function("LLVMGetDefaultTargetTriple", P)()).encode()


@contextmanager
def machine(triple: bytes, cpu: bytes, features: bytes, level: int) -> Iterator[int]:
    """A target machine of a target that is initialised. level: of optimisation, 0 to 3."""
    found, message, name, number = P(), P(), ctypes.c_char_p, ctypes.c_int
    if function("LLVMGetTargetFromTriple", number, name, P, P)(
        triple, ctypes.addressof(found), ctypes.addressof(message)
    ):
        raise RuntimeError(text(message.value))
    make = function("LLVMCreateTargetMachine", P, P, name, name, name, number, number, number)
    made = make(found, triple, cpu, features, level, _RELOC_DEFAULT, _CODE_MODEL_JIT)
    try:
        yield made
    finally:
        function("LLVMDisposeTargetMachine", None, P)(made)


def module(held: bytes, context: int, machine: int) -> int:
    """A module of a machine's target from IR as text. RuntimeError with LLVM's words where it is wrong: LLVM ends the
    process when it compiles what is not valid."""
    made, message = P(), P()
    parse = function("LLVMParseIRInContext", ctypes.c_int, P, P, P, P)
    if parse(context, buffer(held), ctypes.addressof(made), ctypes.addressof(message)):
        raise RuntimeError(text(message.value))
    assert made.value
    function("LLVMSetTarget", None, P, ctypes.c_char_p)(made.value, host_triple())
    set_layout(made.value, machine)
    wrong = function("LLVMVerifyModule", ctypes.c_int, P, ctypes.c_int, P)
    if wrong(made.value, _RETURN_STATUS, ctypes.addressof(message)):
        function("LLVMDisposeModule", None, P)(made.value)
        raise RuntimeError(text(message.value))
    return made.value


def set_layout(module: int, machine: int) -> None:
    """Gives a module the machine's layout of data."""
    layout = function("LLVMCreateTargetDataLayout", P, P)(machine)
    function("LLVMSetModuleDataLayout", None, P, P)(module, layout)
    function("LLVMDisposeTargetData", None, P)(layout)


def emit(machine: int, module: int) -> bytes:
    """The object file of a module, which is freed."""
    made, message = P(), P()
    write = function("LLVMTargetMachineEmitToMemoryBuffer", ctypes.c_int, P, P, ctypes.c_int, P, P)
    try:
        if write(machine, module, _OBJECT_FILE, ctypes.addressof(message), ctypes.addressof(made)):
            raise RuntimeError(text(message.value))
    finally:
        function("LLVMDisposeModule", None, P)(module)
    assert made.value
    return take(made.value)
