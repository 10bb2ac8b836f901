"""Kernels of code objects as text, and put back: what stays is kept byte for byte, LLVM reads what comes out, and it
runs."""

import ctypes
import struct
from collections.abc import Callable, Iterator

import numpy as np
import pytest

from isa import packages, toolchain
from isa.asm.emit import emit, instruction_line, set_directives
from isa.asm.parse import parse, parse_instruction
from isa.errors import IsaError
from isa.object import bundle
from isa.object.code_object import load
from isa.object.splice import NewCode, splice
from isa.object.to_text import text_of
from isa.passes import run_pipeline
from isa.prove.refine import validate
from isa.sim.run.card import Card

Compile = Callable[..., tuple[str, bytes]]
SOURCE = """
#define GLOBAL extern "C" __attribute__((global))
#define X __builtin_amdgcn_workitem_id_x()
__attribute__((device)) int table[64] = {1, 2, 3};
__attribute__((device)) int *pointers[2] = {table, table + 1};
GLOBAL void first(float *a, int n) { float s = 0; for (int i = 0; i < n; i++) s += a[i] * s + a[i + X]; a[X] = s; }
GLOBAL void second(int *a, int i) { a[X] = table[X] + *pointers[i]; }
GLOBAL void third(float *a) {
    __attribute__((shared)) static float lds[64];
    lds[X] = a[X]; __builtin_amdgcn_s_barrier(); a[X] = lds[63 - X] * 3;
}
"""


@pytest.fixture(scope="module")
def image(compile_hip: Compile) -> bytes:
    return compile_hip(SOURCE)[1]


def assembled(text: str, image: bytes, name: str) -> NewCode:
    return NewCode.of(load(toolchain.find().code_object(text)), name, load(image).kernel(name).descriptor)


def longer(image: bytes, name: str, vgprs: int | None = None, nops: int = 300) -> NewCode:
    """The kernel after many s_nop."""
    program = text_of(load(image, runs=False), name)
    if vgprs:
        program = set_directives(program.kernel(name), {"next_free_vgpr": vgprs}, {".vgpr_count": vgprs})
    start = program.kernel(name).start + 1
    lines = [*program.lines[:start], *[instruction_line(parse_instruction("s_nop 0"))] * nops, *program.lines[start:]]
    return assembled(emit(program.with_lines(lines)), image, name)


def shorter(image: bytes, name: str) -> NewCode:
    """The kernel without s_delay_alu and s_clause."""
    lines = emit(text_of(load(image), name)).splitlines()
    return assembled("\n".join(x for x in lines if "s_delay_alu" not in x and "s_clause" not in x), image, name)


def as_llvm_reads(image: bytes) -> Iterator[tuple[str, str, int, bytes]]:
    """(section, symbol, address, the symbol's bytes) by LLVM's own reader, of functions and kernel descriptors."""
    llvm = ctypes.CDLL(str(packages.folder("rocm.llvm") / "librocmllvm.so"))
    pointer = ctypes.c_void_p
    for name in ("CreateMemoryBufferWithMemoryRange", "CreateBinary", "ObjectFileCopySectionIterator",
                 "ObjectFileCopySymbolIterator", "GetSectionContents"):  # fmt: skip
        getattr(llvm, f"LLVM{name}").restype = pointer
    for name in ("GetSectionName", "GetSymbolName"):
        getattr(llvm, f"LLVM{name}").restype = ctypes.c_char_p
    for name in ("GetSectionAddress", "GetSectionSize", "GetSymbolAddress", "GetSymbolSize"):
        getattr(llvm, f"LLVM{name}").restype = ctypes.c_uint64
    held, message = ctypes.create_string_buffer(image, len(image)), ctypes.c_char_p()
    buffer = llvm.LLVMCreateMemoryBufferWithMemoryRange(held, ctypes.c_size_t(len(image)), b"k", 0)
    binary = llvm.LLVMCreateBinary(pointer(buffer), None, ctypes.byref(message))
    assert binary, message.value
    binary, section = pointer(binary), pointer(llvm.LLVMObjectFileCopySectionIterator(pointer(binary)))
    symbol = pointer(llvm.LLVMObjectFileCopySymbolIterator(binary))
    while not llvm.LLVMObjectFileIsSymbolIteratorAtEnd(binary, symbol):
        name = (llvm.LLVMGetSymbolName(symbol) or b"").decode()
        size, address = llvm.LLVMGetSymbolSize(symbol), llvm.LLVMGetSymbolAddress(symbol)
        if size:
            llvm.LLVMMoveToContainingSection(section, symbol)
            start, whole = llvm.LLVMGetSectionAddress(section), llvm.LLVMGetSectionSize(section)
            contents = ctypes.string_at(llvm.LLVMGetSectionContents(section), whole)
            yield (llvm.LLVMGetSectionName(section).decode(), name, address,
                   contents[address - start : address - start + size])  # fmt: skip
        llvm.LLVMMoveToNextSymbol(symbol)


def ran(image: bytes, name: str) -> bytes:
    card = Card(capacity=1 << 20)
    module = card.load(image)
    at = card.memory.allocate(1024)
    data = np.linspace(0, 1, 256, dtype=np.float32)
    ctypes.memmove(at, data.ctypes.data, 1024)
    card.launch(module.kernels[name], (1, 1, 1), (64, 1, 1), struct.pack("<Qi", at, 1))
    return ctypes.string_at(at, 1024)


@pytest.mark.parametrize("arch", ["gfx1100", "gfx1201"])
@pytest.mark.parametrize("name", ["first", "third"])
def test_text_assembles_to_the_same_kernel(compile_hip: Compile, name: str, arch: str) -> None:
    image = compile_hip(SOURCE, arch=arch)[1]
    code = load(image)
    program = text_of(code, name)
    made = load(toolchain.find().code_object(emit(program), arch=arch))
    old, new = code.kernel(name), made.kernel(name)
    assert made.code(name) == code.code(name)
    assert old.descriptor.raw[:16] + old.descriptor.raw[24:] == new.descriptor.raw[:16] + new.descriptor.raw[24:]
    assert old.metadata == new.metadata
    assert splice(image, {name: NewCode.of(made, name, old.descriptor)}) == image


@pytest.mark.parametrize("arch", ["gfx1100", "gfx1201"])
def test_text_is_what_the_compiler_wrote(compile_hip: Compile, arch: str) -> None:
    """Another reader's text: the compiler's own. The validator says they are one kernel."""
    text, image = compile_hip(SOURCE, arch=arch)
    written, code = parse(text), load(image)
    for name in ("first", "third"):
        assert validate(written.kernel(name), text_of(code, name).kernel(name)).proved


def test_more_lds_is_said_by_descriptor_and_metadata(image: bytes) -> None:
    """Longer rows, put back: the same bits come out, and what a runtime asks for is what the code needs."""
    *_, (_, program) = run_pipeline(text_of(load(image), "third"), "pad-lds")
    made = splice(image, {"third": assembled(emit(program), image, "third")})
    old, new = (load(x).kernel("third") for x in (image, made))
    assert (old.descriptor.lds_bytes, new.descriptor.lds_bytes) == (256, 260)
    assert new.metadata[".group_segment_fixed_size"] == 260
    assert ran(made, "third") == ran(image, "third")


def test_code_that_fits_stays_where_it_is(image: bytes) -> None:
    old, new = load(image), shorter(image, "first")
    made = splice(image, {"first": new})
    assert len(made) == len(image)
    assert len(new.code) < old.kernel("first").code_size
    known = {(name, address): data for _, name, address, data in as_llvm_reads(image)}
    for section, name, address, data in as_llvm_reads(made):
        if name == "first":
            assert (section, data) == (".text", new.code)
        elif name != "first.kd":
            assert known[name, address] == data
    changed = {i for i, (a, b) in enumerate(zip(image, made, strict=True)) if a != b}
    entry = old.kernel("first").descriptor.entry
    place = image.index(old.code("first"))
    symbols = [i for i in changed if not place <= i < place + old.kernel("first").code_size]
    assert len(symbols) <= 4, f"two sizes of one symbol, at {symbols}, entry {entry:#x}"
    assert ran(made, "first") == ran(image, "first")


def test_code_that_is_longer_goes_behind_everything(image: bytes) -> None:
    old = load(image)
    new = {"first": longer(image, "first"), "third": longer(image, "third")}
    made = splice(image, new)
    loaded = load(made)
    assert loaded.relative == old.relative
    assert loaded.kernel("second") == old.kernel("second")
    known = {name: (section, address, data) for section, name, address, data in as_llvm_reads(image)}
    found = {name: (section, address, data) for section, name, address, data in as_llvm_reads(made)}
    assert known.keys() == found.keys()
    for name in known.keys() - {"first", "third", "first.kd", "third.kd"}:
        assert found[name] == known[name], name
    for name in new:
        section, address, data = found[name]
        assert (section, data, address % 256) == (".text.hipgemm", new[name].code, 0)
        assert address == loaded.kernel(name).descriptor.entry
        assert ran(made, name) == ran(image, name)
        assert validate(text_of(old, name).kernel(), text_of(loaded, name).kernel()).proved
    # All that the old file holds beside headers, symbols and those two kernels' descriptors is where it was.
    end = len(image) - 64 * struct.unpack_from("<H", image, 60)[0]
    changed = {i for i, (a, b) in enumerate(zip(image[:end], made[:end], strict=True)) if a != b}
    headers = range(struct.unpack_from("<H", image, 56)[0] * 56 + 64)
    tables = {x for i in headers for x in [i]}
    for name in new:
        at = image.index(old.kernel(name).descriptor.raw)
        tables |= set(range(at + 16, at + 24))
    left = sorted(changed - tables)
    symbols = [struct.pack("<QQ", old.kernel(n).descriptor.entry, old.kernel(n).code_size) for n in new]
    places = [i for s in symbols for i in range(len(image)) if image.startswith(s, i)]
    assert all(any(p - 2 <= i < p + 16 for p in places) for i in left), left


def test_more_registers(image: bytes) -> None:
    """The descriptor's granules and the metadata, also where the note becomes longer (127 takes one byte, 128 two)."""
    for vgprs in (40, 127, 128, 200):
        new = longer(image, "first", vgprs, nops=0)
        made = load(splice(image, {"first": new}))
        kernel, old = made.kernel("first"), load(image).kernel("first")
        assert (kernel.vgprs, kernel.descriptor.vgprs) == (vgprs, -(-vgprs // 8) * 8)
        assert kernel.metadata == {**old.metadata, ".vgpr_count": vgprs}
        assert made.kernel("second") == load(image).kernel("second")
        assert ran(splice(image, {"first": new}), "first") == ran(image, "first")


def test_what_cannot_be_kept_is_refused_by_name(image: bytes) -> None:
    code = load(image)
    with pytest.raises(IsaError, match="second takes its own address"):
        text_of(code, "second")
    text = emit(text_of(code, "third"))
    with pytest.raises(IsaError, match="scratch_bytes") as caught:
        assembled(text.replace("private_segment_fixed_size 0", "private_segment_fixed_size 64"), image, "third")
    assert (caught.value.expected, caught.value.got) == ("0", "64")
    stackless = image.replace(struct.pack("<I", 0x6474E551), struct.pack("<I", 0x6474E550 + 5), 1)
    with pytest.raises(IsaError, match="no spare program header"):
        splice(stackless, {"first": longer(image, "first")})
    entry = code.kernel("first").descriptor.entry
    where, to = code.relative[0]
    for offset, new in ((4, shorter(image, "first")), (0, longer(image, "first"))):
        pointed = image.replace(struct.pack("<QQQ", where, 13, to), struct.pack("<QQQ", where, 13, entry + offset))
        with pytest.raises(IsaError, match="points into its code"):
            splice(pointed, {"first": new})


def test_a_bundle_comes_out_as_one(image: bytes) -> None:
    host, other = ("host-x86_64-unknown-linux--", b""), ("hipv4-amdgcn-amd-amdhsa--gfx906", b"other")
    whole = bundle.bundled([host, other, ("hipv4-amdgcn-amd-amdhsa--gfx1100", image)])
    assert bundle.unbundle(whole) == image
    new = splice(image, {"first": longer(image, "first")})
    made = bundle.with_image(whole, image, new)
    assert made is not None
    assert bundle.unbundle(made) == new
    assert bundle.with_image(made, new, image) == whole
    assert bundle.with_image(whole + whole, image, new) is None
    assert bundle.with_image(image, image, new) is None
