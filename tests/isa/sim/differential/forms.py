"""The ways in which a described instruction can be written, made from its description alone.

In:  the table of descriptions.
Out: `Form`s: a few lines of assembly each, more than the assembler takes; `assembly.cases` keeps what LLVM knows. Each
     key of the table has at least its plain form: everything in registers.

Operand n of an instruction lies in v[16n...] or s[16n...], so that the widest (eight VGPRs) do not meet; forms named
`overlap` let them meet on purpose. What a role does not say in full (the constant of v_fmaak, the field of s_waitcnt)
stands in SPECIAL.
"""

from __future__ import annotations

import functools
from collections.abc import Iterator
from dataclasses import dataclass

from isa.instructions import table
from isa.semantics.formats import FORMATS
from isa.semantics.instruction import Description, Role, width
from isa.targets import TARGETS

GLOBAL_OFFSET, LDS_OFFSET, SCRATCH_OFFSET = 24, 40, 12
VOPD_ONLY = {"v_dot2acc_f32_bf16"}
FLOATS = {"f16", "f32", "f64", "bf16", "mix", "f16h"}
HALVES = {"f16", "u16", "i16", "b16", "f16h"}
SPECIAL: dict[str, tuple[str, ...]] = {
    "v_fmaak_f32": ("v0, v16, v32, 0x3fc00000", "v0, s16, v32, 0x7fc12345", "v0, 0xff812345, v32, 0xff812345"),
    "v_fmamk_f32": ("v0, v16, 0x3fc00000, v32", "v0, s16, 0x80000001, v32"),
    "s_fmaak_f32": ("s0, s16, s32, 0x3fc00000", "s0, s16, 1, 0x7fc12345"),
    "s_fmamk_f32": ("s0, s16, 0x3fc00000, s32", "s0, s16, 0x80000001, s32"),
    "v_fmaak_f16": ("v0.l, v16.l, v32.l, 0x3e00", "v0, v16, v32, 0x3e00"),
    "v_fmamk_f16": ("v0.l, v16.l, 0x3e00, v32.l", "v0, v16, 0x3e00, v32"),
    "ds_gws_barrier": ("v16 gds",),
    "s_waitcnt_depctr": ("depctr_va_vdst(0)",),
    "s_waitcnt": ("vmcnt(0)", "lgkmcnt(3)"),
    "s_sendmsg": ("sendmsg(MSG_DEALLOC_VGPRS)", "sendmsg(MSG_INTERRUPT)"),
    "s_sendmsg_rtn_b32": ("s0, sendmsg(MSG_RTN_GET_DOORBELL)",),
    "s_sendmsg_rtn_b64": ("s[0:1], sendmsg(MSG_RTN_GET_REALTIME)",),
    "s_delay_alu": ("instid0(VALU_DEP_1)",),
} | {f"s_waitcnt_{c}": ("null, 0",) for c in ("vmcnt", "vscnt", "lgkmcnt", "expcnt")}
# A change of MODE shows in what comes after it.
_SHOW_MODE = (
    "v_add_f32 v40, v41, v42\nv_add_f16 v43, v41, v42\nv_max_f32 v44, v41, v42\n"
    "v_add_f32_e64 v45, v41, v42 clamp\ns_getreg_b32 s60, hwreg(HW_REG_MODE, 0, 10)"
)
SEQUENCES: dict[str, tuple[str, ...]] = {
    "s_round_mode": tuple(f"s_round_mode {n:#x}\n{_SHOW_MODE}" for n in (0, 5, 10, 15, 6)),
    "s_denorm_mode": tuple(f"s_denorm_mode {n:#x}\n{_SHOW_MODE}" for n in (0, 3, 12, 15, 9)),
    "s_setreg_imm32_b32": tuple(
        f"s_setreg_imm32_b32 hwreg(HW_REG_MODE, {at}, {n}), {bits:#x}\n{_SHOW_MODE}"
        for at, n, bits in ((0, 10, 0), (0, 4, 9), (4, 4, 3), (8, 1, 0), (9, 1, 0), (2, 2, 3))
    ),
    "s_setreg_b32": (f"s_setreg_b32 hwreg(HW_REG_MODE, 0, 4), s0\n{_SHOW_MODE}",),
    "s_getreg_b32": ("s_getreg_b32 s0, hwreg(HW_REG_MODE)", "s_getreg_b32 s0, hwreg(HW_REG_MODE, 4, 4)"),
    "s_setpc_b64": ("s_setpc_b64 s[0:1]\ns_mov_b32 s50, 7\ns_endpgm\ns_mov_b32 s50, 9",),
    "s_swappc_b64": ("s_swappc_b64 s[0:1], s[16:17]\ns_mov_b32 s50, 7\ns_endpgm\ns_mov_b32 s50, 9",),
}


ARCH = "gfx1150"
"""What forms are assembled for: it has all of gfx1100's instructions, and scalar comparisons of floats."""


FORM = {"gfx11": {"glc": "glc"}, "gfx12": {"glc": "th:TH_ATOMIC_RETURN"}}
"""How a family writes what the keys of some entries end with."""


def entries(arch: str = ARCH) -> dict[str, Description]:
    """The table as far as a target has it."""
    return {key: entry for key, entry in table().items() if entry.exists_on(TARGETS[arch])}


@dataclass(frozen=True)
class Form:
    """One way to write the instruction of a key. kind says what is special about it."""

    key: str
    kind: str
    text: str
    arch: str = ARCH


@functools.cache
def forms(arch: str = ARCH) -> tuple[Form, ...]:
    """All forms of all keys that a target has, then the pairs of VOPD halves."""
    return tuple(_all(arch))


def _all(arch: str) -> Iterator[Form]:
    for key, desc in entries(arch).items():
        seen = set()
        suffix = FORM[TARGETS[arch].family.name].get(key.partition(" ")[2], "")
        for kind, text in _forms(desc, suffix):
            if text not in seen:
                seen.add(text)
                yield Form(key, kind, text, arch)
    if arch == ARCH:
        yield from _pairs()


def _forms(desc: Description, suffix: str) -> Iterator[tuple[str, str]]:
    name = desc.name
    if name in SEQUENCES:
        yield from (("plain", text) for text in SEQUENCES[name])
        return
    if name in SPECIAL:
        yield from (("plain", f"{name} {operands}") for operands in SPECIAL[name])
        return
    if any(r.kind == "l" for r in desc.roles):
        operands = [_operand(i, r, name) for i, r in enumerate(desc.roles)]
        yield "plain", f"{name} {', '.join(operands)}\ns_mov_b32 s50, 7\ns_endpgm\n{{label}}:\ns_mov_b32 s50, 9"
        return
    if name in VOPD_ONLY:
        return
    plain = [_operand(i, r, name) for i, r in enumerate(desc.roles)]

    def line(operands: list[str], modifiers: str = "", encoding: str = "") -> str:
        return " ".join(filter(None, [name + encoding, ", ".join(operands), modifiers, suffix]))

    yield "plain", line(plain)
    if desc.access is not None:
        yield from (("memory", line(o, m)) for o, m in _memory(desc, plain))
        yield from (("format", line(o, m)) for o, m in _formats(desc, plain))
    if name.startswith("ds_") and desc.access is None and desc.body is not None:
        offsets = (
            ("offset:swizzle(BITMASK_PERM,\"01pip\")", "offset:swizzle(QUAD_PERM,3,1,0,2)", "offset:0xe00b",
             "offset:0xc060", "offset:0xc461", "offset:0x1fe0")
            if "swizzle" in name else ("offset:4", "offset:100")
        )  # fmt: skip
        yield from (("offset", line(plain, m)) for m in offsets)
    if (desc.is_salu or desc.is_valu) and desc.body is not None:
        yield from (("scalar", line(o)) for o in _other_sources(desc, plain))
        yield from (("overlap", line(o)) for o in _overlaps(desc, plain))
    if desc.is_valu and desc.body is not None:
        yield from (("vop3", line(o, m, "_e64")) for o, m in _modified(desc, plain))
        yield from (("halves", line(o, m, e)) for o, m, e in _half_forms(desc, plain))
        yield from (("packed", line(plain, m)) for m in _packed_modifiers(desc))
        yield from (("dpp", line(o, m, e)) for o, m, e in _dpp(desc, plain))


def _run(file: str, first: int, count: int) -> str:
    return f"{file}{first}" if count == 1 else f"{file}[{first}:{first + count - 1}]"


def _operand(number: int, role: Role, name: str, first: int | None = None) -> str:
    """The register of operand `number`, from `first` where that is given."""
    count = 1 if role.kind == "m" else width(role.type)
    first = 16 * number if first is None else first
    if role.kind in ("v", "a", "s"):
        return _run("s" if role.kind == "s" else "v", first, count)
    if role.kind == "sa" and "addtid" in name:
        return _run("s", first, 2)
    if role.kind == "va":
        return f"v{first}" if "scratch" in name else f"v[{first}:{first + 1}]"
    if role.kind == "rs":
        return _run("s", first, count)
    return {"m": "vcc_lo", "i": "1", "l": "{label}", "sa": "off", "vb": "off"}[role.kind]


def _replaced(operands: list[str], changes: dict[int, str]) -> list[str]:
    return [changes.get(i, o) for i, o in enumerate(operands)]


# --- sources that are no VGPRs


def _other_sources(desc: Description, plain: list[str]) -> Iterator[list[str]]:
    free = [i for i, r in enumerate(desc.roles) if r.kind in ("a", "s") and r.access == "r"]
    masks = [i for i, r in enumerate(desc.roles) if r.kind == "m"]
    targets = [i for i, r in enumerate(desc.roles) if r.kind == "s" and r.written]
    for i in free:
        role = desc.roles[i]
        count = width(role.type)
        if role.kind == "a":
            yield _replaced(plain, {i: _run("s", 16 * i, count)})
        special = ["vcc_lo", "exec_lo", "m0", "null", "src_scc", "src_shared_base"] if count == 1 else ["vcc", "exec"]
        constants = ["0", "-16", "64", "1.0", "-4.0", "0.15915494", _literal(role.type)]
        for text in special + constants:
            yield _replaced(plain, {i: text})
    if len(free) > 1:
        yield _replaced(plain, {i: _run("s", 16 * i, width(desc.roles[i].type)) for i in free})
        yield _replaced(plain, {i: _run("s", 16, width(desc.roles[i].type)) for i in free})
        yield _replaced(plain, {free[0]: _literal(desc.roles[free[0]].type), free[1]: "s32"})
    for i in masks:
        yield _replaced(plain, {i: "s70"})
        yield _replaced(plain, {i: "null"})
    if len(masks) > 1:
        yield _replaced(plain, dict(zip(masks, ("s70", "s71"), strict=False)))
    for i in targets:
        for text in ("vcc", "exec") if width(desc.roles[i].type) == 2 else ("vcc_lo", "exec_lo", "m0", "null"):
            yield _replaced(plain, {i: text})
    for i, role in enumerate(desc.roles):
        if role.kind == "i":
            yield from (_replaced(plain, {i: text}) for text in ("0", "0x7fff", "0x8000", "0xffff", "-1"))


def _literal(type_: str) -> str:
    return "0x7d01" if type_ in HALVES else {1: "0xff812345", 2: "0x80000001"}.get(width(type_), "0x1234")


def _overlaps(desc: Description, plain: list[str]) -> Iterator[list[str]]:
    """A destination that is a source too, whole or by half of a pair."""
    roles = desc.roles
    for i, target in enumerate(roles):
        if not target.written or target.kind not in ("v", "s"):
            continue
        for j, source in enumerate(roles):
            if j == i or source.kind not in ("v", "a", "s") or source.written:
                continue
            file = "s" if target.kind == "s" else "v"
            if (source.kind == "s") != (file == "s"):
                continue
            yield _replaced(plain, {i: _operand(i, target, desc.name, 16 * j)})
            if width(target.type) > 1 and file == "v":
                yield _replaced(plain, {i: _operand(i, target, desc.name, 16 * j + 1)})
                yield _replaced(plain, {j: _operand(j, source, desc.name, 16 * i + 1)})
    readers = [j for j, r in enumerate(roles) if r.kind in ("v", "a") and r.access == "r"]
    if len(readers) > 1 and len({width(roles[j].type) for j in readers}) == 1:
        yield _replaced(plain, dict.fromkeys(readers, plain[readers[0]]))


# --- modifiers of VOP3 and VOP3P


def _modified(desc: Description, plain: list[str]) -> Iterator[tuple[list[str], str]]:
    sources = [i for i, r in enumerate(desc.roles) if r.kind == "a" and r.access == "r" and r.type in FLOATS]
    yield plain, ""
    yield plain, "clamp"
    for i in sources:
        yield _replaced(plain, {i: f"-{plain[i]}"}), ""
        yield _replaced(plain, {i: f"|{plain[i]}|"}), ""
        yield _replaced(plain, {i: f"-|{plain[i]}|"}), ""
        count = width(desc.roles[i].type)
        yield _replaced(plain, {i: f"-|{_run('s', 16 * i, count)}|"}), ""
        yield _replaced(plain, {i: "-|v200|" if count == 1 else "-|v[200:201]|"}), "clamp"
    if any(r.type in FLOATS for r in desc.roles if r.written):
        yield plain, "mul:2"
        yield plain, "mul:4 clamp"
        yield plain, "div:2"
    if len(sources) > 1:
        yield _replaced(plain, {i: f"-|{plain[i]}|" for i in sources}), "clamp"


def _half_forms(desc: Description, plain: list[str]) -> Iterator[tuple[list[str], str, str]]:
    """16-bit operands by half, as `v0.h` and as op_sel: an instruction has one of the two spellings."""
    small = [i for i, r in enumerate(desc.roles) if r.kind in ("v", "a") and r.type in HALVES]
    if not small:
        if desc.name.startswith("v_permlane"):
            yield from ((plain, f"op_sel:[{a},{b}]", "") for a, b in ((0, 1), (1, 0), (1, 1)))
        return
    for choice in range(1 << min(len(small), 4)):
        halves = {i: plain[i] + (".h" if choice >> k & 1 else ".l") for k, i in enumerate(small)}
        for encoding in ("", "_e64"):
            yield _replaced(plain, halves), "", encoding
        yield _replaced(plain, halves | {small[-1]: f"-|{halves[small[-1]]}|"}), "clamp", "_e64"
    count = sum(1 for r in desc.roles if r.kind in ("v", "a") and r.access == "r")
    for bits in range(1, 1 << (count + 1)):
        yield plain, f"op_sel:[{','.join(str(bits >> k & 1) for k in range(count + 1))}]", ""


def _packed_modifiers(desc: Description) -> Iterator[str]:
    sources = [r for r in desc.roles if r.kind == "a" and r.access == "r"]
    if not any(r.type.startswith("pk") or r.type == "mix" for r in sources) and "neg_lo" not in desc.fields:
        return
    n = len(sources)
    for name, most in (("op_sel", 1 << n), ("op_sel_hi", 1 << n), ("neg_lo", 1 << n), ("neg_hi", 1 << n)):
        for bits in range(most):
            yield f"{name}:[{','.join(str(bits >> k & 1) for k in range(n))}]"
    yield "clamp"
    full, some = ",".join("1" * n), ",".join("10101"[:n])
    yield f"op_sel:[{full}] op_sel_hi:[{some}] neg_lo:[{some}] neg_hi:[{full}] clamp"
    yield f"op_sel:[{some}] op_sel_hi:[{full}]"
    yield f"neg_lo:[{full}] clamp"


_CONTROLS = (
    "quad_perm:[3,1,0,2]", "row_shl:3", "row_shr:1", "row_shr:15", "row_ror:5", "row_mirror", "row_half_mirror",
    "row_share:7", "row_xmask:9",
)  # fmt: skip
_DPP_MASKS = (
    "row_mask:0xf bank_mask:0xf", "row_mask:0xf bank_mask:0xf bound_ctrl:1", "row_mask:0x2 bank_mask:0x5",
    "row_mask:0xf bank_mask:0xf fi:1", "row_mask:0xd bank_mask:0xe bound_ctrl:1 fi:1",
)  # fmt: skip


def _dpp(desc: Description, plain: list[str]) -> Iterator[tuple[list[str], str, str]]:
    """A few controls an instruction, others the next: all together have all of them."""
    turn = sum(map(ord, desc.name))
    small = {i: plain[i] + ".l" for i, r in enumerate(desc.roles) if r.kind in ("v", "a") and r.type in HALVES}
    every = desc.name == "v_mov_b32"
    for n, control in enumerate(_CONTROLS):
        for k, masks in enumerate(_DPP_MASKS):
            if every or ((n + turn) % len(_CONTROLS) < 2 and (n + k + turn) % len(_DPP_MASKS) < 2):
                for encoding in ("_dpp", "_e64_dpp"):
                    yield plain, f"{control} {masks}", encoding
                    if small:
                        yield _replaced(plain, small), f"{control} {masks}", encoding
    for fi in ("", " fi:1"):
        yield plain, f"dpp8:[7,6,5,4,3,2,1,0]{fi}", "_dpp"
        yield plain, f"dpp8:[1,1,7,0,2,6,3,3]{fi}", "_e64_dpp"
    signed = {
        i: f"-|{plain[i]}|" for i, r in enumerate(desc.roles) if r.kind == "a" and r.access == "r" and r.type in FLOATS
    }
    if signed:
        yield _replaced(plain, signed), f"{_CONTROLS[turn % 9]} {_DPP_MASKS[turn % 5]}", "_dpp"
        yield _replaced(plain, signed), f"clamp {_CONTROLS[turn % 9]} {_DPP_MASKS[turn % 5]}", "_e64_dpp"


# --- memory


def _memory(desc: Description, plain: list[str]) -> Iterator[tuple[list[str], str]]:
    access = desc.access
    assert access is not None
    if access.by_lane or access.by_wave:
        yield plain, f"offset:{LDS_OFFSET}"
        return
    if access.space == "lds":
        if access.pair:
            yield plain, "offset0:3 offset1:1"
            yield plain, "offset1:2"
        else:
            yield plain, f"offset:{LDS_OFFSET}"
    elif access.space == "flat":
        yield plain, f"offset:{GLOBAL_OFFSET}"
    elif access.buffer and access.space == "scalar":
        for text, more in (("0x18", ""), ("null", ""), ("s32", "offset:0x10"), ("m0", "")):
            yield _replaced(plain, {2: text}), more
    elif access.buffer:
        at = next(i for i, r in enumerate(desc.roles) if r.kind == "vb")
        for address, more in (
            (f"v{16 * at}", "offen"),
            (f"v{16 * at}", "idxen"),
            (f"v[{16 * at}:{16 * at + 1}]", "idxen offen"),
        ):
            for scalar, offset in ((plain[-1], ""), ("0", f" offset:{GLOBAL_OFFSET}")):
                yield [*_replaced(plain, {at: address})[:-1], scalar], more + offset
        yield [*plain[:-1], "null"], "offset:8 slc"
    elif access.space == "scalar":
        number = next(i for i, r in enumerate(desc.roles) if r.type == "u32" and r.access == "r")
        for text, more in (("null", ""), ("0x18", ""), ("-8", ""), (f"s{16 * number}", "offset:0x10"), ("m0", "")):
            yield _replaced(plain, {number: text}), more
    else:
        va = next(i for i, r in enumerate(desc.roles) if r.kind == "va")
        sa = next(i for i, r in enumerate(desc.roles) if r.kind == "sa")
        if access.space == "global":
            saddr = {va: f"v{16 * va}", sa: f"s[{16 * sa}:{16 * sa + 1}]"}
            for operands in (plain, _replaced(plain, saddr)):
                for offset in (GLOBAL_OFFSET, -GLOBAL_OFFSET):
                    yield operands, f"offset:{offset}"
            yield _replaced(plain, saddr), ""
        else:
            scalar = f"s{16 * sa}"
            for changes in ({}, {sa: scalar}, {va: "off", sa: scalar}, {va: "off"}):
                yield _replaced(plain, changes), f"offset:{SCRATCH_OFFSET}"
                yield _replaced(plain, changes), ""
    data = next((i for i, r in enumerate(desc.roles) if r.kind == "v" and r.written), None)
    address = next((i for i, r in enumerate(desc.roles) if r.kind in ("v", "va") and not r.written), None)
    if data is not None and address is not None:  # what is loaded goes where the address was
        yield _replaced(plain, {data: _operand(data, desc.roles[data], desc.name, 16 * address)}), ""


def _formats(desc: Description, plain: list[str]) -> Iterator[tuple[list[str], str]]:
    """Of a typed buffer, but for the stores that no engine takes."""
    access = desc.access
    assert access is not None
    at = next((i for i, r in enumerate(desc.roles) if r.kind == "vb"), 0)
    for name in FORMATS[1:] if access.components else ():
        *sizes, kind = name.split("_")
        part = access.components < len(sizes) and any(int(n) % 8 for n in sizes)
        if access.kind == "load" or not (part or kind.endswith("SCALED")):
            yield _replaced(plain, {at: f"v{16 * at}"}), f"format:[BUF_FMT_{name}] offen"


# --- VOPD


def _pairs() -> Iterator[Form]:
    """Every X half with every Y half; then other sources and the old value of a register that the other half writes."""
    halves = [(key, desc) for key, desc in entries().items() if desc.vopd]
    for _, (x, dx) in enumerate(halves):
        for y, dy in halves:
            if "x" not in dx.vopd or "y" not in dy.vopd:
                continue
            first, second = _half(dx, 0), _half(dy, 1)
            yield Form(x, "vopd", f"{first} :: {second}")
            yield Form(y, "vopd", f"{_half(dx, 0, target=9)} :: {_half(dy, 1, target=4)}")
            yield Form(y, "vopd", f"{_half(dx, 0, 's20')} :: {_half(dy, 1, 's21')}")
            yield Form(x, "vopd", f"{_half(dx, 0, '0x40490fdb')} :: {_half(dy, 1, '0x40490fdb')}")


def _half(desc: Description, which: int, source: str = "", target: int | None = None) -> str:
    """X on v0, v4, v6, v8; Y on v1, v5, v9, v11: no two in one bank."""
    numbers = ((0, 4, 6, 8), (1, 5, 9, 11))[which]
    words = [f"v{n}" for n in numbers]
    if target is not None:
        words[0] = f"v{target}"
    if source:
        words[1] = source
    count = sum(1 for r in desc.roles if r.kind != "m")
    words = words[:count]
    constant = "0x40490fdb"
    if desc.name == "v_fmaak_f32":
        words[3] = constant
    elif desc.name == "v_fmamk_f32":
        words[2], words[3] = constant, f"v{numbers[2]}"
    return f"v_dual_{desc.name[2:]} {', '.join(words)}"
