"""Damage for readers: sound inputs, and what chance makes of them.

Each input follows from (reader, seed, number) alone, so that any of them can be made again.
"""

from __future__ import annotations

import random
import re
import struct
from collections.abc import Callable, Sequence
from typing import Any

from isa.targets import FAMILIES

NUMBERS = (
    0,
    1,
    3,
    7,
    0x7F,
    0x80,
    0xFF,
    0x100,
    0x7FFF,
    0xFFFF,
    0x7FFFFFFF,
    0x80000000,
    0xFFFFFFFF,
    1 << 62,
    (1 << 64) - 1,
)
_TOKEN = re.compile(r"[\w.$]+|\s+|.", re.DOTALL)
_WORDS = (
    "v0", "v255", "v256", "v[0:3]", "v[3:0]", "v[254:257]", "s105", "s[0:1]", "s[1:2]", "vcc", "vcc_lo", "exec", "m0",
    "null", "off", "scc", "src_scc", "-v1", "|v1|", "-|v1|", "neg(v1)", "abs(-v1)", "lit(1)", "sext(v1)", "0x", "0x1g",
    "1.5e400", "-0.0", "99999999999999999999", "0b2", "1" * 5000, "v" + "1" * 400, "a" * 300, "(" * 200, "[" * 200,
    "neg(" * 60, "::", ";", "//", '"',
    "hwreg(HW_REG_MODE, 0, 99)", "offset:-1", "offset:65536", "offset:", "dpp8:[9,9]", "quad_perm:[0,1,2,3]",
    "op_sel:[2]", "clamp", "row_shl:99", "s_endpgm", "s_branch", "s_branch .LBB0_1",
    "s_cbranch_scc1 .nowhere", "s_setpc_b64 s[0:1]",
    "s_delay_alu", "instid0(VALU_DEP_9)", "instskip(NEXT)", "s_clause 0x3f", "v_dual_mov_b32",
    "v_dual_fmac_f32 v0, v1, v2 :: v_dual_fmac_f32 v3, v4, v5", "v_wmma_f32_16x16x16_f16", "ds_load_b128", ".LBB0_1:",
    ".amdhsa_next_free_vgpr", ".amdhsa_kernel", ".end_amdhsa_kernel", ".amdgpu_metadata", ".end_amdgpu_metadata", "\0",
    "\ufeff", "\u0663", "\t", "\r", "\n",
    *(
        word
        for family in FAMILIES
        for word in (
            *(f"{counter}{number}" for counter in family.counters for number in ("(0)", "(-1)", "(99999)", "()")),
            *family.packed_waits, *family.single_waits, *family.barrier, *family.acquire, *family.cache_bits,
        )
    ),
)  # fmt: skip


def text(chosen: random.Random, originals: Sequence[str]) -> str:
    """Assembly with lines lost, doubled or moved, words and characters exchanged."""
    original = chosen.choice(originals)
    if chosen.random() < 0.05:
        return original[: chosen.randrange(len(original) + 1)]
    lines = original.split("\n")
    for _ in range(chosen.choice((1, 1, 2, 4, 16))):
        at = chosen.randrange(len(lines))
        kind = chosen.randrange(8)
        if kind == 0 and len(lines) > 1:
            del lines[at]
        elif kind == 1:
            lines.insert(at, lines[chosen.randrange(len(lines))])
        elif kind == 2:
            other = chosen.choice(originals).split("\n")
            first = chosen.randrange(len(other))
            lines[at:at] = other[first : first + chosen.randrange(8)]
        elif kind == 3 and lines[at]:
            i = chosen.randrange(len(lines[at]))
            lines[at] = lines[at][:i] + chr(chosen.choice((*range(32, 127), 0, 9, 0xA0, 0x2028))) + lines[at][i + 1 :]
        else:
            lines[at] = _exchanged(chosen, lines, at)
    return "\n".join(lines)


def _exchanged(chosen: random.Random, lines: Sequence[str], at: int) -> str:
    tokens = _TOKEN.findall(lines[at]) or [""]
    i = chosen.randrange(len(tokens))
    kind = chosen.randrange(4)
    if kind == 0:
        tokens[i] = chosen.choice(_WORDS)
    elif kind == 1:
        tokens[i] = chosen.choice(_TOKEN.findall(chosen.choice(lines)) or [""])
    elif kind == 2 and (number := re.search(r"\d+", tokens[i])):
        tokens[i] = tokens[i][: number.start()] + str(chosen.choice(NUMBERS)) + tokens[i][number.end() :]
    else:
        tokens.insert(i, chosen.choice(_WORDS))
    return "".join(tokens)


def binary(chosen: random.Random, originals: Sequence[bytes]) -> bytes:
    """Bytes with bits, words and whole pieces changed, lost, doubled or taken from elsewhere; often in the headers."""
    data = bytearray(chosen.choice(originals))
    if chosen.random() < 0.1:
        return bytes(data[: chosen.randrange(len(data) + 1)])
    for _ in range(chosen.choice((1, 1, 2, 4, 8))):
        if not data:
            break
        at = chosen.randrange(min(len(data), chosen.choice((64, 512, 4096, 1 << 30))))
        kind = chosen.randrange(8)
        if kind == 0:
            data[at] ^= 1 << chosen.randrange(8)
        elif kind == 1:
            data[at] = chosen.randrange(256)
        elif kind < 5:
            size = chosen.choice((2, 4, 8))
            at -= at % size
            number = chosen.choice((*NUMBERS, len(data), len(data) - 1, chosen.getrandbits(64)))
            data[at : at + size] = (number & (1 << 8 * size) - 1).to_bytes(size, "little")
        elif kind == 5:
            del data[at : at + chosen.choice((1, 8, 64, 1024))]
        elif kind == 6:
            data[at:at] = data[at : at + chosen.choice((1, 8, 64, 1024))]
        else:
            other = chosen.choice(originals)
            first = chosen.randrange(len(other))
            data[at : at + 64] = other[first : first + 64]
    return bytes(data)


def _bundle(entries: Sequence[tuple[bytes, bytes]]) -> bytes:
    """An offload bundle, as clang-offload-bundler lays it out."""
    at = 32 + sum(24 + len(name) for name, _ in entries)
    head, body = struct.pack("<24sQ", b"__CLANG_OFFLOAD_BUNDLE__", len(entries)), b""
    for name, data in entries:
        padding = -(at + len(body)) % 4096
        body += bytes(padding) + data
        head += struct.pack("<QQQ", at + len(body) - len(data), len(data), len(name)) + name
    return head + body


def bundle(chosen: random.Random, elves: Sequence[bytes]) -> bytes:
    """An offload bundle of a few entries, damaged in its table, its names or what it holds."""
    hip = b"hipv4-amdgcn-amd-amdhsa--gfx"
    names = (b"host-x86_64-unknown-linux-gnu-", hip + b"1100", hip + b"1101", hip + b"90a:xnack+", b"", b"\xff" * 9)
    count = chosen.choice((0, 1, 2, 2, 3, 5))
    entries = [
        (chosen.choice(names), binary(chosen, elves) if chosen.random() < 0.3 else chosen.choice(elves))
        for _ in range(count)
    ]
    whole = bytearray(_bundle(entries))
    for _ in range(chosen.choice((0, 1, 1, 2, 4))):
        at = chosen.randrange(min(len(whole), 32 + 70 * count))
        size = chosen.choice((1, 2, 4, 8))
        number = chosen.choice((*NUMBERS, len(whole), chosen.getrandbits(64)))
        whole[at : at + size] = (number & (1 << 8 * size) - 1).to_bytes(size, "little")
    return bytes(whole[: chosen.randrange(len(whole))] if chosen.random() < 0.1 else whole)


class Notes:
    """A code object whose metadata can be exchanged: the new note lies after the old end of the file."""

    def __init__(self, elf: bytes) -> None:
        import msgpack

        self.elf = elf
        at, _, size = self._header()
        name_size, length, _ = struct.unpack_from("<III", elf, at)
        start = at + 12 + (name_size + 3 & ~3)
        assert start + length <= at + size
        self.packed = elf[start : start + length]
        self.metadata = msgpack.unpackb(self.packed)

    def with_services(self) -> Notes:
        """The same with hidden arguments and formats of printf, which a kernel has that uses them."""
        import msgpack

        whole = msgpack.unpackb(self.packed)
        kernel = whole["amdhsa.kernels"][0]
        kinds = ("block_count_x", "group_size_y", "remainder_z", "grid_dims", "global_offset_x", "dynamic_lds_size",
                 "private_base", "printf_buffer", "heap_v1", "queue_ptr")  # fmt: skip
        for number, kind in enumerate(kinds):
            size = 2 if kind[:5] in ("group", "remai") or kind == "grid_dims" else 8 if "offset" in kind else 4
            kernel[".args"].append({".offset": 128 + 8 * number, ".size": size, ".value_kind": f"hidden_{kind}"})
        kernel[".kernarg_segment_size"] = 256
        whole["amdhsa.printf"] = ["0:0:8d7f1e2c40a31b77,%d of %s\n", "0:0:1,%-8.3f %*d|%x%%\n"]
        return Notes(self.with_packed(msgpack.packb(whole)))

    def _header(self) -> tuple[int, int, int]:
        """(offset of the notes, where their program header stands, their size)."""
        phoff, phnum = struct.unpack_from("<Q", self.elf, 32)[0], struct.unpack_from("<H", self.elf, 56)[0]
        for at in range(phoff, phoff + 56 * phnum, 56):
            kind, _, offset, _, _, size = struct.unpack_from("<IIQQQQ", self.elf, at)
            if kind == 4:
                return offset, at, size
        raise AssertionError("no notes")

    def with_packed(self, packed: bytes) -> bytes:
        note = struct.pack("<III", 7, len(packed), 32) + b"AMDGPU\0\0" + packed + bytes(-len(packed) % 4)
        elf = bytearray(self.elf + bytes(-len(self.elf) % 8))
        _, at, _ = self._header()
        struct.pack_into("<Q", elf, at + 8, len(elf))
        struct.pack_into("<Q", elf, at + 32, len(note))
        return bytes(elf + note)


def metadata(chosen: random.Random, originals: Sequence[Notes]) -> bytes:
    """A code object with damaged metadata: its msgpack as bytes, or its maps and lists before they are packed."""
    import msgpack

    notes = chosen.choice(originals)
    if chosen.random() < 0.4:
        return notes.with_packed(binary(chosen, [n.packed for n in originals]))
    whole = msgpack.unpackb(notes.packed)
    for _ in range(chosen.choice((1, 1, 2, 4))):
        holder, key = _place(chosen, whole)
        change = chosen.randrange(5)
        if change == 0:
            del holder[key]
        elif change == 1 and isinstance(holder, list):
            holder.insert(key, holder[key])
        elif change == 2 and isinstance(holder, dict):
            holder[chosen.choice((".name", ".symbol", ".args", ".size", b"\xff", 7, "amdhsa.printf"))] = holder[key]
        else:
            holder[key] = _value(chosen)
        if not whole:
            break
    return notes.with_packed(msgpack.packb(whole))


def _place(chosen: random.Random, whole: Any) -> tuple[Any, Any]:
    """A place in nested maps and lists, each level as likely as the next."""
    holder = whole
    while True:
        keys = list(holder) if isinstance(holder, dict) else list(range(len(holder)))
        key = chosen.choice(keys)
        if not isinstance(holder[key], dict | list) or not holder[key] or chosen.random() < 0.2:
            return holder, key
        holder = holder[key]


def _value(chosen: random.Random) -> Any:
    deep: Any = []
    for _ in range(chosen.choice((1, 5, 400))):
        deep = [deep]
    return chosen.choice(
        (*NUMBERS, -1, 1.5, float("nan"), None, True, "", "x", "two.kd", "hidden_printf_buffer", "hidden_block_count_x",
         "hidden_dynamic_lds_size", "a" * 70000, b"\xff\xfe", [], {}, deep, ["0:0:zz,%d"], ["0:0:1,%999999999d"], [1])
    )  # fmt: skip


def printf_buffer(chosen: random.Random, originals: Sequence[bytes]) -> bytes:
    """What a kernel left for printf, damaged; now and then a format of directives that are never written by hand."""
    data = binary(chosen, originals)
    if chosen.random() < 0.5:
        words = ("%d", "%s", "%5.2f", "%*.*f", "%c", "%p", "%a", "%hhx", "%lld", "%", "%%", "%.", "%-+ #0999999999d",
                 "%.999999999e", "%1$d", "%n", "%ls", "x", "\n", "%" + "9" * 5000 + "d", "%#.3c", "%05s")  # fmt: skip
        text = "".join(chosen.choice(words) for _ in range(chosen.randrange(12))).encode()
        record = text + bytes(8 - len(text) % 8) + chosen.randbytes(8 * chosen.randrange(8))
        data = data[:8] + struct.pack("<I", (len(record) + 4) << 2) + record + data[8:]
    return data


# --- files that are not code

_WORDS_OF_FILES: tuple[Any, ...] = (
    *NUMBERS, -1, 1.5, 1e308, 1e999, float("nan"), 10**400, "", "x", "\x1b[2J", "\u202e", "\ud800", "a" * 5000, True,
    None, [], {}, [[]], [1, 2], "predicted", "7900 XTX", "nan", "kernel1",
)  # fmt: skip


def json_text(chosen: random.Random, originals: Sequence[Any]) -> bytes:
    """JSON with entries lost, doubled or exchanged; lines of it for a list; now and then damaged as a text, or deep."""
    import copy
    import json

    whole = copy.deepcopy(chosen.choice(originals))
    for _ in range(chosen.choice((0, 1, 1, 2, 4))):
        holder, key = _place(chosen, whole)
        change = chosen.randrange(4)
        if change == 0 and len(holder) > 1:
            del holder[key]
        elif change == 1 and isinstance(holder, list):
            holder.insert(key, holder[key])
        else:
            holder[key] = copy.deepcopy(chosen.choice(_WORDS_OF_FILES))
    text = "\n".join(map(json.dumps, whole)) if isinstance(whole, list) else json.dumps(whole)
    if chosen.random() < 0.1:
        at = chosen.randrange(len(text))
        text = text[:at] + chosen.choice(("[" * 3000, '{"a":' * 3000, "9" * 5000, "\\ud800", '"', "}")) + text[at:]
    data = text.encode(errors="surrogatepass")
    return binary(chosen, [data]) if chosen.random() < 0.1 else data


_KEYS_OF_LAUNCHES = ("dynamic_lds", "expect", "tolerance", "tile", "block_tile", "x")
_ARGUMENTS = (
    "i32:1", "f32:1", "zeros:f32:4096", "random:i8:3x3", "arange:f64:0", "unwritten:f32:16", "file:x.npy", "buffer:64",
    "buffer:-1:zero", "zeros:f32:" + "9" * 30, "zeros:f32:-1", "struct:i32:1,f32:2", "struct:", "inside:x+1", "inside:",
    "x=zeros:f32:64", "i32:99999999999999", "i8:x", "file:/dev/zero", "\x1b", "=", ":::", "f16:1e999",
)  # fmt: skip


def launch(chosen: random.Random, _: Sequence[Any]) -> bytes:
    """A launch file: lines of its keys, most of them with values that fit."""
    import json

    def value(key: str) -> str:
        if chosen.random() < 0.15:
            return chosen.choice(
                ("[" * 500, "1e999", "nan", "0x" + "f" * 40, "'a", '"\\u001b"', "{a=1}", "1979-05-27", "")
            )
        if key in ("args", "expect"):
            fitting = ["zeros:f32:4096"] * 3 + ["i32:64"] * 5
            for _ in range(chosen.choice((0, 1, 1, 2))):
                fitting[chosen.randrange(len(fitting))] = chosen.choice(_ARGUMENTS)
            return json.dumps(fitting if chosen.random() < 0.9 else fitting[: chosen.randrange(8)])
        fitting_or_not = (n for n in NUMBERS if not 1 << 12 < n < 1 << 62)  # the model plays a large launch for hours
        number = chosen.choice((1, 1, 2, 256, 1024, *fitting_or_not, -1, 10**400))
        return str(number if chosen.random() < 0.6 else [number, 1, chosen.choice((1, 2, 0))])

    keys = [*chosen.sample(_KEYS_OF_LAUNCHES, chosen.choice((0, 0, 1, 2)))]
    sizes = [f"{key} = {value(key) if chosen.random() < 0.2 else 1}" for key in ("grid", "block")]
    lines = [*sizes, *(f"{key} = {value(key)}" for key in ("args", *keys))]
    if chosen.random() < 0.3:
        lines[chosen.randrange(len(lines))] = chosen.choice(("[kernel2]", "[[x]]", "[a.b]", "\0", "# \x1b", '"a" = 1'))
    data = "\n".join(lines).encode()
    return binary(chosen, [data]) if chosen.random() < 0.1 else data


def saved(chosen: random.Random, _: Sequence[Any]) -> bytes:
    """An array as NumPy saves it, whose header may say anything."""

    def either(right: Any, *others: Any) -> Any:
        return right if chosen.random() < 0.8 else chosen.choice(others)

    sizes = tuple(chosen.choice((1, 2, 4096, *NUMBERS, -1)) for _ in range(chosen.randrange(4)))
    head: dict[str, Any] = {
        "descr": either("<f4", ">f4", "<f8", "|O", "|V0", "<U4", "f4" * 50, "[('a', '<f4')]", "|b1", "", None),
        "fortran_order": either(False, True, 7),
        "shape": either((4096,), sizes, sizes, "x", None),
    }
    if chosen.random() < 0.1:
        del head[chosen.choice(sorted(head))]
    text = either(repr(head), "(" * 120, "__import__('os')", "").encode().ljust(118)
    version = either(b"\x01\x00", b"\x02\x00", b"\x03\x00", b"\x09\x09")
    size = struct.pack("<H" if version[0] == 1 else "<I", either(len(text), 0, 0xFFFF))
    data = b"\x93NUMPY" + version + size + text + bytes(either(4 * 4096, 0, 4))
    return binary(chosen, [data]) if chosen.random() < 0.1 else data


def pickled(chosen: random.Random, originals: Sequence[bytes]) -> bytes:
    """A trace's pickle that is damaged, or a program of operations by chance."""
    import pickletools

    if chosen.random() < 0.5:
        return binary(chosen, originals)
    data = b"\x80\x04"
    for _ in range(chosen.choice((3, 20, 200))):
        operation = chosen.choice(pickletools.opcodes)
        operand = b"" if operation.arg is None else chosen.choice(
            (b"\x01", b"x\n", b"tinygrad.x\nProfileSQTTEvent\n", b"os\nsystem\n", b"\x02\0\0\0ab", b"\xff" * 8)
        )  # fmt: skip
        data += operation.code.encode("latin-1") + operand
        data += chosen.choice((b"", b"", b"N", b"(", b"K\x01", b"2", b"q\x01h\x01", b"]", b"}"))
    return data + b"."


MUTATE: dict[str, Callable[..., Any]] = {
    "assembly": text, "code object": binary, "bundle": bundle, "metadata": metadata, "printf": printf_buffer,
    "json": json_text, "launch": launch, "array": saved, "pickle": pickled,
}  # fmt: skip
