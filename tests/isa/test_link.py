"""The project's own assembler and linker against clang's and ld.lld: what is loaded is the same, byte for byte."""

import struct

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from plan import examples
from texts import texts

from isa import toolchain
from isa.asm.assemble import assemble
from isa.object.code_object import load
from isa.object.link import LinkError, link
from isa.toolchain import ToolError

HEAD = '\t.amdgcn_target "amdgcn-amd-amdhsa--gfx1100"\n\t.text\n'
(KERNEL,) = texts(__file__)
ADDRESS = "\ts_getpc_b64 s[0:1]\n\ts_add_u32 s0, s0, {0}@{1}@lo+4\n\ts_addc_u32 s1, s1, {0}@{1}@hi+12\n"
CASES = {
    "a kernel with metadata": HEAD + KERNEL,
    "nothing but a label": HEAD + "\t.globl only\nonly:\ts_endpgm\n",
    "addresses in code and data, slots for symbols of others, sections by the beginnings of their names": (
        HEAD + "\t.globl f\nf:\n" + ADDRESS.format("ext", "gotpcrel32") + ADDRESS.format("own", "gotpcrel32")
        + ADDRESS.format("prot", "rel32") + "\ts_endpgm\n"
        + '\t.section .text.second,"ax",@progbits\n\t.p2align 8\n\t.globl g\n\t.protected g\ng:\ts_endpgm\n'
        + "\t.data\n\t.globl own\nown:\t.quad ext\n\t.quad own+8\n\t.quad prot\n\t.quad loc\n"
        + "\t.globl prot\n\t.protected prot\nprot:\t.long 5\n"
        + '\t.section .data.more,"aw",@progbits\n\t.p2align 6\nloc:\t.quad f\n'
        + '\t.section .data.rel.ro,"aw",@progbits\n\t.globl ro\n\t.protected ro\nro:\t.quad g\n\t.quad own\n'
        + '\t.section .rodata.a,"a",@progbits\n\t.p2align 5\n\t.long 1\n\t.quad g-.\n'
        + '\t.comm com,100,32\n\t.section custom,"a",@progbits\n\t.long 3\n'
        + '\t.section .debug_x,"",@progbits\n\t.quad f\n\t.long g\n'
    ),
    "data alone, and zeros over a page": (
        HEAD + "\t.data\n\t.globl d\n\t.protected d\nd:\t.quad d\n\t.bss\n\t.globl b\nb:\t.zero 4097\n"
    ),
    "hidden, weak and undefined weak": (
        HEAD + "\t.hidden a\n\t.globl a\na:\ts_endpgm\n\t.weak b\nb:\ts_branch a\n\t.weak there\n"
        + ADDRESS.format("there", "gotpcrel32") + ADDRESS.format("a", "gotpcrel32")
    ),
    "so many symbols that the hash table has buckets": HEAD + "".join(
        f"\t.globl s{n}\n\t.protected s{n}\ns{n}:\ts_nop {n % 8}\n" for n in range(70)
    ),
}  # fmt: skip


@pytest.fixture(scope="module")
def lld() -> toolchain.Toolchain:
    found = toolchain.find()
    if found.kind == "llvm":
        pytest.skip("no ld.lld to compare with")
    return found


@pytest.fixture(scope="module")
def own() -> toolchain.Toolchain:
    found = toolchain.assembler()
    assert found is not None
    return found


def loaded(image: bytes) -> list[tuple[object, ...]]:
    """The program headers, with what they load. The header of the file, before them, names section headers."""
    (start,), (count,) = struct.unpack_from("<Q", image, 32), struct.unpack_from("<H", image, 56)
    rows = [struct.unpack_from("<IIQQQQQQ", image, start + 56 * k) for k in range(count)]
    return [(*row, image[max(row[2], 64) : row[2] + row[5]]) for row in rows]


@pytest.mark.parametrize("name", CASES)
def test_what_is_loaded_is_what_lld_writes(name: str, own: toolchain.Toolchain, lld: toolchain.Toolchain) -> None:
    mine, theirs = own.code_object(CASES[name]), lld.code_object(CASES[name])
    assert loaded(mine) == loaded(theirs)
    assert (mine[:16], mine[48:52]) == (theirs[:16], theirs[48:52])


def test_a_code_object_of_its_own_reads_like_lld_s(own: toolchain.Toolchain, lld: toolchain.Toolchain) -> None:
    mine, theirs = (load(tools.code_object(HEAD + KERNEL)) for tools in (own, lld))
    assert mine.kernels == theirs.kernels
    assert [a.name for a in mine.kernels["k"].args] == ["n"]
    assert mine.symbols == theirs.symbols


REFUSED = {
    "undefined hidden symbol: f": "\t.hidden f\n\t.quad f\n",
    "R_AMDGPU_ABS64 in .text": "\t.quad f\n\t.data\nf:\n",
    "may define": "\t.globl f\nf:\n" + ADDRESS.format("f", "rel32"),
}


@pytest.mark.parametrize("said", REFUSED)
def test_what_lld_refuses_is_refused(said: str, own: toolchain.Toolchain, lld: toolchain.Toolchain) -> None:
    with pytest.raises(ToolError, match=said):
        own.code_object(HEAD + REFUSED[said])
    with pytest.raises(ToolError, match="error"):
        lld.code_object(HEAD + REFUSED[said])


def test_constructors_are_refused_by_name(own: toolchain.Toolchain) -> None:
    with pytest.raises(ToolError, match=r"\.init_array"):
        own.code_object(HEAD + '\t.section .init_array,"aw",@init_array\n\t.quad 1\n')


def test_an_error_is_at_the_user_s_line_and_column(own: toolchain.Toolchain) -> None:
    with pytest.raises(ToolError, match=r"my\.s:3:2: error: invalid instruction"):
        own.code_object(HEAD + "\tv_foo v1\n", name="my.s")
    _, said = assemble((HEAD + '\t.warning "hey"\n').encode(), "gfx1100")
    assert [severity for severity, _ in said] == ["warning"]


def test_hip_is_refused_where_there_is_only_an_assembler(own: toolchain.Toolchain, tmp_path) -> None:
    with pytest.raises(toolchain.ToolchainMissing, match="no compiler for gfx11"):
        own.compile(tmp_path / "a.hip", tmp_path / "a.s", arch="gfx1100", cu_mode=False)


@pytest.fixture(scope="module")
def relocatable() -> bytes:
    return assemble(CASES["hidden, weak and undefined weak"].encode(), "gfx1100")[0]


@settings(max_examples=examples(60))
@given(st.lists(st.tuples(st.integers(0, 4000), st.integers(0, 255)), min_size=1, max_size=6))
def test_a_damaged_object_is_an_error_or_a_code_object(relocatable: bytes, changes: list[tuple[int, int]]) -> None:
    damaged = bytearray(relocatable)
    for at, value in changes:
        damaged[at % len(damaged)] = value
    try:
        link(bytes(damaged))
    except (LinkError, MemoryError):
        return
