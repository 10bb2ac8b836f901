"""Object file from assembly: LLVM's assembler, called through its C API, for machines without a compiler.

It is a program, since LLVM ends the process at some wrong input and has no bound on what a line may expand to; it is
started with limits (`isa.toolchain`) and takes the options of clang that are needed here. The second half links, by
`isa.object.link`.

The C API has no assembler, but a module may hold assembly at its top. What LLVM adds to a module of its own accord is
taken off again: s_code_end after the last instruction, whose place a section that no linker keeps tells, and a note
without kernels. Limits: a `.text` that is aligned at all is aligned to 128 bytes at least.
"""

from __future__ import annotations

import ctypes
import re
import struct
import sys
from pathlib import Path

from isa import llvm
from isa.targets import features_of

_TRIPLE = b"amdgcn-amd-amdhsa"
_HEAD = b"\t.text\n.L__hipgemm_begin:\n"
_TAIL = (
    b"\n\t.text\n.L__hipgemm_end:\n\t.section .hipgemm.end,\"e\",@progbits\n"
    b"\t.quad .L__hipgemm_end-.L__hipgemm_begin\n"
)  # fmt: skip
_WORD = re.compile(rb"^([ \t]*(?:- +)?\.name:[ \t]+)(y|n|yes|no|on|off|true|false)[ \t\r]*$", re.M | re.I)
"""A name in the metadata that LLVM 22.0 takes for a truth value."""
_ALIGNS = re.compile(rb"\.(?:p2align|balign|align)")
_VERSION = re.compile(rb"^[ \t]*\.amdhsa_code_object_version[ \t]+(\d+)", re.M)
_EMPTY_NOTE = b"\xaeamdhsa.kernels\x90"
_SEVERITIES = ("error", "warning", "remark", "note")
_SAYS = ctypes.CFUNCTYPE(None, llvm.P, llvm.P)


def assemble(text: bytes, arch: str, *, wave64: bool = False) -> tuple[bytes, list[tuple[str, str]]]:
    """An object file, empty where there was an error, and what LLVM said: ("error", "12:3: ..."), the place first."""
    for part in ("TargetInfo", "Target", "TargetMC", "AsmPrinter", "AsmParser"):
        llvm.function(f"LLVMInitializeAMDGPU{part}", None)()
    said: list[tuple[str, str]] = []

    def hear(told: int, _: int) -> None:
        severity = llvm.function("LLVMGetDiagInfoSeverity", ctypes.c_int, llvm.P)(told)
        words = llvm.text(llvm.function("LLVMGetDiagInfoDescription", llvm.P, llvm.P)(told))
        said.append((_SEVERITIES[severity], _in_the_users_lines(words)))

    handler, name = _SAYS(hear), ctypes.c_char_p
    features = features_of(arch, wave64).encode()
    with llvm.context() as context, llvm.machine(_TRIPLE, arch.encode(), features, 0) as machine:
        function = llvm.function("LLVMContextSetDiagnosticHandler", None, llvm.P, _SAYS, llvm.P)
        function(context, handler, None)
        module = llvm.function("LLVMModuleCreateWithNameInContext", llvm.P, name, llvm.P)(b"", context)
        llvm.function("LLVMSetTarget", None, llvm.P, name)(module, _TRIPLE)
        llvm.set_layout(module, machine)
        whole = _HEAD + _WORD.sub(rb"\1!str \2", text) + _TAIL
        llvm.function("LLVMSetModuleInlineAsm2", None, llvm.P, name, ctypes.c_size_t)(module, whole, len(whole))
        made = llvm.emit(machine, module)
    if any(severity == "error" for severity, _ in said):
        return b"", said
    image = _without_additions(made, aligned=bool(_ALIGNS.search(text)))
    if found := _VERSION.search(text):
        image[8] = int(found[1]) - 2  # EI_ABIVERSION: ELFABIVERSION_AMDGPU_HSA_V5 is 3
    return bytes(image), said


def _in_the_users_lines(words: str) -> str:
    """`<inline asm>:12:3: error: ...` with the place in the text that was given."""
    place, _, rest = words.partition(": ")
    start, _, column = place.rpartition(":")
    _, _, line = start.rpartition(":")
    if not (line.isdigit() and column.isdigit()):
        return words.strip()
    return f"{int(line) - _HEAD.count(bytes([10]))}:{column}: {rest.rstrip()}"


def _without_additions(made: bytes, *, aligned: bool) -> bytearray:
    image = bytearray(made)
    (start,), (count, names) = struct.unpack_from("<Q", made, 40), struct.unpack_from("<HH", made, 60)
    headers: dict[bytes, tuple[int, int, int]] = {}
    text_names = struct.unpack_from("<Q", made, start + 64 * names + 24)[0]
    for number in range(count):
        at = start + 64 * number
        (name,), (offset, size) = struct.unpack_from("<I", made, at), struct.unpack_from("<QQ", made, at + 24)
        begin = text_names + name
        headers.setdefault(made[begin : made.index(0, begin)], (at, offset, size))
    at, _, _ = headers[b".text"]
    struct.pack_into("<Q", image, at + 32, struct.unpack_from("<Q", made, headers[b".hipgemm.end"][1])[0])
    if not aligned:
        struct.pack_into("<Q", image, at + 48, 4)
    at, offset, size = headers[b".note"]
    end, last = offset, offset
    while end < offset + size:
        owner, held, _ = struct.unpack_from("<III", made, end)
        last, end = end, end + 12 + owner + -owner % 4 + held + -held % 4
    if _EMPTY_NOTE in made[last:end]:
        struct.pack_into("<Q", image, at + 32, last - offset)
    return image


def main() -> int:
    """`LIBRARY link OBJECT -o FILE`, or `LIBRARY -mcpu=... [-mwavefrontsize64] SOURCE -o FILE`: other options of
    clang's that say what holds here anyway are read over."""
    library, *words = sys.argv[1:]
    at = words.index("-o")
    out = Path(words[at + 1])
    del words[at : at + 2]
    if words[0] == "link":
        from isa.object.link import LinkError, link

        try:
            out.write_bytes(link(Path(words[-1]).read_bytes()))
        except LinkError as error:
            sys.stderr.write(f"error: {error}\n")
            return 1
        return 0
    llvm.use(Path(library))
    source = words[-1]
    arch = next(word for word in words if word.startswith("-mcpu=")).removeprefix("-mcpu=")
    made, said = assemble(Path(source).read_bytes(), arch, wave64="-mwavefrontsize64" in words)
    for severity, message in said:
        place, colon, rest = message.partition(": ")
        sys.stderr.write(f"{source}:{place}: {severity}: {rest}\n" if colon else f"{severity}: {message}\n")
    out.write_bytes(made)
    return 0 if made else 1
