"""The reader of code objects: what it finds in what the compiler made, and that nothing can make it crash."""

import ctypes
import itertools
import random
import struct
from collections.abc import Callable
from pathlib import Path

import msgpack
import pytest
from texts import texts

from isa import toolchain
from isa.errors import IsaError
from isa.object import code_object
from isa.object.code_object import CodeObjectError
from isa.object.descriptor import decode_descriptor
from isa.sim.run.card import Card

Compile = Callable[..., tuple[str, bytes]]
SOURCE, TABLE, UNSIZED, DIRECTIVES = texts(__file__)
RELOCATED = """
__attribute__((device)) int x;
__attribute__((device)) int *table[2] = {&x, &x};
extern "C" __attribute__((global)) void k(int i, int **out) { *out = table[i]; }
"""


@pytest.fixture(scope="module")
def elf(compile_hip: Compile) -> bytes:
    return compile_hip(SOURCE)[1]


def bundle(*entries: tuple[str, bytes]) -> bytes:
    """What clang-offload-bundler writes: magic, count, (offset, size, length, name) each, then the aligned bodies."""
    table, bodies = b"", b""
    start = 4096
    for name, body in entries:
        at = start + len(bodies)
        table += struct.pack("<QQQ", at, len(body), len(name)) + name.encode()
        bodies += body.ljust(-(-len(body) // 4096) * 4096, b"\0")
    return (b"__CLANG_OFFLOAD_BUNDLE__" + struct.pack("<Q", len(entries)) + table).ljust(start, b"\0") + bodies


def test_kernels_and_their_arguments(elf: bytes) -> None:
    found = code_object.load(elf)
    assert found.arch == "gfx1100"
    assert set(found.kernels) == {"one", "two"}
    two = found.kernel("two")
    assert [(a.offset, a.size, a.kind) for a in two.args if not a.hidden] == [
        (0, 8, "global_buffer"),
        (8, 4, "by_value"),
        (12, 4, "by_value"),
    ]
    assert "hidden_group_size_y" in {a.kind for a in two.args if a.hidden}
    assert two.max_workgroup == 64


def test_the_descriptor(elf: bytes) -> None:
    found = code_object.load(elf)
    one, two = (found.kernel(name).descriptor for name in ("one", "two"))
    assert two.lds_bytes == 400
    assert one.scratch_bytes >= 64
    assert (one.enable_scratch, two.enable_scratch) == (True, False)
    assert two.workgroup_id[2]
    assert two.workitem_id == 1  # x and y
    assert two.kernarg_bytes == found.kernel("two").metadata[".kernarg_segment_size"]
    assert two.wave32
    assert not two.wgp_mode
    assert two.float_mode == 0xF0  # round to nearest even, all denormals kept: clang's default for HIP
    assert two.ieee
    assert two.dx10_clamp
    assert ("kernarg_segment_ptr", 2) in two.user_sgprs
    first = two.user_sgpr_count
    assert two.system_sgprs["workgroup_id_x"] == first
    assert two.system_sgprs["workgroup_id_z"] == first + sum(two.workgroup_id) - 1
    assert found.kernel("two").vgprs <= two.vgprs < found.kernel("two").vgprs + 8


def test_wgp_mode(compile_hip: Compile) -> None:
    assert code_object.load(compile_hip(SOURCE, cu_mode=False)[1]).kernel("one").descriptor.wgp_mode


def test_the_assembler_directives_come_back(tmp_path: Path) -> None:
    """Each field set to something unusual in assembly is read back from the descriptor."""
    (tmp_path / "k.s").write_text(DIRECTIVES)
    tools = toolchain.find()
    tools.assemble(tmp_path / "k.s", tmp_path / "k.o", arch="gfx1100")
    # The relocatable object holds the descriptor at the start of .rodata; only the entry offset awaits the linker.
    data = (tmp_path / "k.o").read_bytes()
    at = data.index(struct.pack("<III", 1234, 16, 40))
    d = decode_descriptor(data[at : at + 64])
    assert (d.lds_bytes, d.scratch_bytes, d.kernarg_bytes, d.vgprs) == (1234, 16, 40, 200)
    assert d.user_sgprs == (("dispatch_ptr", 2), ("kernarg_segment_ptr", 2))
    assert d.system_sgprs == {"workgroup_id_x": 7, "workgroup_id_z": 8, "workgroup_info": 9}
    assert d.workitem_id == 2
    assert d.float_mode == 0b1100_0001
    assert (d.dx10_clamp, d.ieee, d.fp16_overflow, d.wgp_mode) == (False, False, True, True)
    assert d.exceptions == 0b100


def test_code_is_disassembled_as_llvm_prints_it(elf: bytes) -> None:
    found = code_object.load(elf)
    two = found.kernel("two")
    listing = code_object.disassemble(found.code("two"), two.descriptor.entry)
    assert listing[0][0] == two.descriptor.entry
    assert all(b[0] == a[0] + a[1] for a, b in itertools.pairwise(listing))
    assert listing[-1][0] + listing[-1][1] == two.descriptor.entry + two.code_size
    texts = [text for _, _, text in listing]
    assert "s_barrier" in texts
    assert texts.count("s_endpgm") == 1


def test_disassembly_assembles_to_the_same_bytes(elf: bytes) -> None:
    found = code_object.load(elf)
    code = found.code("one") + found.code("two")
    text = "\n".join(text for _, _, text in code_object.disassemble(code)) + "\n"
    assert code in toolchain.find().code_object(text)


def test_what_is_no_instruction_is_shown_as_data() -> None:
    assert code_object.disassemble(b"\xff\xff\xff\xff\x01\x02", 16) == [
        (16, 4, ".long 0xffffffff"),
        (20, 2, ".byte 0x01, 0x02"),
    ]
    with pytest.raises(IsaError, match="gfx90a"):
        code_object.disassemble(b"", arch="gfx90a")


def test_an_instruction_whose_literal_is_cut_off_is_data() -> None:
    whole = bytes.fromhex("ff02047e78563412")
    (row,) = code_object.disassemble(whole)
    assert row[1] == 8
    assert "0x12345678" in row[2]
    assert code_object.disassemble(whole[:4]) == [(0, 4, ".long 0x7e0402ff")]


def test_any_bytes_are_disassembled() -> None:
    rng = random.Random(11)
    for _ in range(2000):
        code = rng.randbytes(rng.randrange(64))
        rows = code_object.disassemble(code, 64)
        assert [row[0] for row in rows] == [64 + sum(r[1] for r in rows[:i]) for i in range(len(rows))]
        assert sum(row[1] for row in rows) == len(code)


def test_a_bundle_is_opened(elf: bytes) -> None:
    whole = bundle(
        ("host-x86_64-unknown-linux-gnu-", b""),
        ("hipv4-amdgcn-amd-amdhsa--gfx90a:xnack-", b"other"),
        ("hipv4-amdgcn-amd-amdhsa--gfx1100", elf),
    )
    assert code_object.load(whole) == code_object.load(elf)
    with pytest.raises(CodeObjectError, match="gfx1101"):
        code_object.load(whole, arch="gfx1101")


def test_the_size_of_an_image_in_memory_is_read_from_its_headers(elf: bytes) -> None:
    for image in (elf, bundle(("host-", b""), ("hipv4-amdgcn-amd-amdhsa--gfx1100", elf))):
        followed = image + b"what follows in memory" * 100
        size = code_object.image_size(lambda offset, n, data=followed: data[offset : offset + n])
        assert code_object.load(followed[:size]) == code_object.load(elf)
        assert size <= -(-len(image) // 4096) * 4096


def test_tables_of_addresses_are_relocated(compile_hip: Compile) -> None:
    whole = code_object.load(compile_hip(RELOCATED)[1])
    at, x = whole.symbols["table"].address, whole.symbols["x"].address
    assert whole.relative == ((at, x), (at + 8, x))
    card = Card(capacity=1 << 20)
    base = card.load(whole).address
    assert [ctypes.c_uint64.from_address(base + at + i).value for i in (0, 8)] == [base + x] * 2


def test_other_relocations_are_refused_by_name(compile_hip: Compile) -> None:
    image = compile_hip(RELOCATED)[1]
    at, x = code_object.load(image).relative[1]
    absolute = image.replace(struct.pack("<QQQ", at, 13, x), struct.pack("<QQQ", at, 1, x))
    with pytest.raises(CodeObjectError, match=r"R_AMDGPU_ABS32_LO at 0x.*2 in all"):
        code_object.load(absolute)
    assert list(code_object.load(absolute, runs=False).kernels) == ["k"]
    outside = image.replace(struct.pack("<QQQ", at, 13, x), struct.pack("<QQQ", 1 << 40, 13, x))
    with pytest.raises(CodeObjectError, match="a relocation of this code object is outside"):
        code_object.load(outside)


def test_absolute_addresses_are_relocated(compile_hip: Compile) -> None:
    """What ld.lld writes for a symbol that other modules may replace."""
    tools = toolchain.find()
    image = tools.code_object(TABLE)
    found = code_object.load(image)
    at, x = found.symbols["table"].address, found.symbols["x"].address
    assert sorted(found.relative) == [(at, x), (at + 8, x + 8)]
    assert struct.pack("<QI", at + 8, 3) in image, "it is an R_AMDGPU_ABS64"
    with pytest.raises(CodeObjectError, match="needs absent, which is not in it"):
        code_object.load(tools.code_object(TABLE.replace("x+8", "absent")))


ENTRY = """\
  - {.name: NAME, .symbol: NAME.kd, .sgpr_count: 1, .vgpr_count: 1, .max_flat_workgroup_size: 64, .args: [],
     .kernarg_segment_size: 0, .kernarg_segment_align: 8, .group_segment_fixed_size: 0, .wavefront_size: 32,
     .private_segment_fixed_size: 0}
"""


def test_kernels_without_a_size_end_before_the_next_one() -> None:
    entries = "".join(ENTRY.replace("NAME", name) for name in ("first", "second", "empty"))
    text = UNSIZED + entries + "...\n.end_amdgpu_metadata\n"
    found = code_object.load(toolchain.find().code_object(text))
    assert {name: kernel.code_size for name, kernel in found.kernels.items()} == {"first": 8, "second": 8, "empty": 0}


def test_the_kernels_of_all_metadata_notes_are_read() -> None:
    def note(*names: str) -> bytes:
        text = msgpack.packb({"amdhsa.version": [1, 2], "amdhsa.kernels": [{".name": name} for name in names]})
        return struct.pack("<III", 7, len(text), 32) + b"AMDGPU\0\0" + text.ljust(len(text) + 3 & ~3, b"\0")

    found = code_object._metadata(note("a") + note("b", "c"))
    assert found is not None
    assert [kernel[".name"] for kernel in found["amdhsa.kernels"]] == ["a", "b", "c"]


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda b: b"", "the ELF header is outside"),
        (lambda b: b"\x7fELG" + b[4:], "neither an ELF nor an offload bundle"),
        (lambda b: b[:18] + b"\x3e\0" + b[20:], "not for an AMD GPU"),
        (lambda b: b[:16] + b"\x01\0" + b[18:], "not linked"),
        (lambda b: b[:48] + b"\x3f" + b[49:], r"for gfx90a \(CDNA\), which"),
        (lambda b: b[: len(b) // 2], "truncated"),
        (lambda b: b.replace(b"two.kd", b"owt.kd", 1), "kernel two has no descriptor"),
    ],
)
def test_what_is_wrong_is_named(elf: bytes, change, message: str) -> None:
    with pytest.raises(CodeObjectError, match=message):
        code_object.load(change(elf))


def test_damaged_input_ends_in_an_error_or_a_result(elf: bytes) -> None:
    """Bytes changed, cut, doubled and moved, in the ELF and in a bundle: an IsaError or a CodeObject, nothing else."""
    rng = random.Random(1100)
    originals = (elf, bundle(("host-", b""), ("hipv4-amdgcn-amd-amdhsa--gfx1100", elf)))
    for _ in range(3000):
        data = bytearray(rng.choice(originals))
        for _ in range(rng.choice((1, 2, 8))):
            at = rng.randrange(min(len(data), rng.choice((64, 1024, len(data)))))
            match rng.randrange(4):
                case 0:
                    data[at] = rng.randrange(256)
                case 1:
                    data[at : at + 8] = rng.choice((b"\xff" * 8, bytes(8), b"\x7f" * 8))
                case 2:
                    data[at:] = data[at : at + rng.randrange(1, 4096)]
                case 3:
                    data[at:at] = data[: rng.randrange(64)]
        try:
            found = code_object.load(bytes(data))
        except IsaError:
            continue
        for name in found.kernels:
            found.code(name)


@pytest.mark.parametrize(
    ("words", "texts"),
    [
        ((0xD73C0000, 0x02020482), ["v_lshlrev_b64 v[0:1], 2, v[2:3]"]),
        ((0xD7000009, 0x02020E04), ["v_add_co_u32 v9, s0, s4, v7"]),
        ((0xD7000009, 0x02020EFF, 0x12345678), ["v_add_co_u32 v9, s0, 0x12345678, v7"]),
        ((0xD58B0903, 0x02010104), ["v_cvt_f32_f16_e64 v3, |v4.h| op_sel:[1,0]"]),
        ((0xCC10401A, 0x1A023514), ["v_pk_mul_f16 v26, v20, v26"]),
        ((0xD6130000, 0x02020501), ["v_fma_f32 v0, v1, v2, 0"]),  # a source that is 0
        ((0xD7FF0009, 0x02020E04, 0xBF800000), [".long 0xd7ff0009", "v_cndmask_b32_e32 v1, s4, v7, vcc_lo", "s_nop 0"]),
    ],
)
def test_unused_sources_may_hold_0_or_0x80(words: tuple[int, ...], texts: list[str]) -> None:
    """As LLVM writes them since January 2026; the bytes are left as they are."""
    code = struct.pack(f"<{len(words)}I", *words)
    rows = code_object.disassemble(code)
    assert [text for _, _, text in rows] == texts
    assert sum(size for _, size, _ in rows) == len(code)
