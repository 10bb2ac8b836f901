"""What LLVM's own constant folder says that an instruction computes: an oracle that nobody here wrote.

LLVM folds float arithmetic on its software floats (APFloat), in any rounding mode, and the intrinsics of the AMDGPU
backend by what the backend's authors know of the hardware (llvm/lib/Analysis/ConstantFolding.cpp and
AMDGPUInstCombineIntrinsic.cpp). An entry pairs an instruction with an expression of LLVM IR; what LLVM does not fold it
says nothing about.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

_BITS = {"half": 16, "float": 32, "double": 64, "i16": 16, "i32": 32, "i64": 64, "<2 x half>": 32, "i1": 1}
ROUNDINGS = ("tonearest", "upward", "downward", "towardzero")
_TYPE = {"f16": "half", "f32": "float", "f64": "double"}


@dataclass(frozen=True)
class Entry:
    """An instruction whose result is in v0 (v[0:1]), vcc_lo or s0, and whose sources are the registers of operands 1, 2
    and 3. types: of the sources. expression: a call or an instruction with {0} to {2} for them and {round}."""

    text: str
    result: str
    types: tuple[str, ...]
    expression: str

    @property
    def rounds(self) -> bool:
        return "{round}" in self.expression

    @property
    def name(self) -> str:
        return self.text.split()[0]


def _constrained(name: str, type_: str) -> str:
    arguments = ", ".join(f"{type_} {{{i}}}" for i in range(3 if name == "fma" else 2))
    tail = 'metadata !"round.{round}", metadata !"fpexcept.ignore"'
    return f"call {type_} @llvm.experimental.constrained.{name}.{_short(type_)}({arguments}, {tail})"


def bits(type_: str) -> int:
    """Of a value of this LLVM type."""
    return _BITS[type_]


def _short(type_: str) -> str:
    return {"half": "f16", "float": "f32", "double": "f64"}.get(type_, type_)


def _call(name: str, result: str, *types: str) -> str:
    return f"call {result} @llvm.{name}(" + ", ".join(f"{t} {{{i}}}" for i, t in enumerate(types)) + ")"


def _registers(kind: str, *types: str) -> str:
    def one(n: int, type_: str) -> str:
        first = 16 * n
        wide = _BITS[type_] == 64
        return f"{kind}[{first}:{first + 1}]" if wide else f"{kind}{first}"

    return ", ".join(one(n, t) for n, t in enumerate(types))


def _vector(name: str, result: str, types: Sequence[str], expression: str) -> Entry:
    halves = "half" in types or result in ("half", "i16")
    text = f"{name} {_registers('v', result, *types)}"
    if halves:  # 16-bit registers are named by their half
        words = text.split(" ", 1)[1].split(", ")
        types_ = [result, *types]
        text = f"{name} " + ", ".join(w + (".l" if _BITS[t] == 16 else "") for w, t in zip(words, types_, strict=True))
    return Entry(text, result, tuple(types), expression)


def entries() -> Iterable[Entry]:
    """All that LLVM is asked about."""
    for kind, t in _TYPE.items():
        for op in ("add", "sub", "mul") if kind != "f64" else ("add", "mul"):
            yield _vector(f"v_{op}_{kind}", t, (t, t), _constrained(f"f{op}", t))
        yield _vector(f"v_fma_{kind}", t, (t, t, t), _constrained("fma", t))
        for op, name in (("trunc", "trunc"), ("ceil", "ceil"), ("floor", "floor"), ("rndne", "roundeven")):
            yield _vector(f"v_{op}_{kind}", t, (t,), _call(f"{name}.{kind}", t, t))
        yield _vector(f"v_fract_{kind}", t, (t,), _call(f"amdgcn.fract.{kind}", t, t))
        yield _vector(f"v_rcp_{kind}", t, (t,), _call(f"amdgcn.rcp.{kind}", t, t))
        yield _vector(f"v_sqrt_{kind}", t, (t,), _call(f"sqrt.{kind}", t, t))
        yield _vector(f"v_frexp_mant_{kind}", t, (t,), _call(f"amdgcn.frexp.mant.{kind}", t, t))
        exponent = "i16" if kind == "f16" else "i32"
        frexp = _call(f"amdgcn.frexp.exp.{exponent}.{kind}", exponent, t)
        yield _vector(f"v_frexp_exp_{exponent}_{kind}", exponent, (t,), frexp)
        yield _vector(f"v_ldexp_{kind}", t, (t, exponent), _call(f"ldexp.{kind}.{exponent}", t, t, exponent))
        for op in ("min", "max"):
            yield _vector(f"v_{op}_{kind}", t, (t, t), _call(f"{op}num.{kind}", t, t, t))
        for op, predicate in (("lt", "olt"), ("eq", "oeq"), ("le", "ole"), ("gt", "ogt"), ("lg", "one"), ("ge", "oge"),
                              ("o", "ord"), ("u", "uno"), ("nge", "ult"), ("nlg", "ueq"), ("ngt", "ule"),
                              ("nle", "ugt"), ("neq", "une"), ("nlt", "uge")):  # fmt: skip
            yield _compare(f"v_cmp_{op}_{kind}", (t, t), f"fcmp {predicate} {t} {{0}}, {{1}}")
        mask = f"call i1 @llvm.amdgcn.class.{kind}({t} {{0}}, i32 {{1}})"
        if kind != "f16":
            yield _compare(f"v_cmp_class_{kind}", (t, "i32"), mask)
    yield _vector("v_mul_dx9_zero_f32", "float", ("float",) * 2, _call("amdgcn.fmul.legacy", "float", *["float"] * 2))
    yield _vector("v_fma_dx9_zero_f32", "float", ("float",) * 3, _call("amdgcn.fma.legacy", "float", *["float"] * 3))
    yield _vector("v_med3_f32", "float", ("float",) * 3, _call("amdgcn.fmed3.f32", "float", *["float"] * 3))
    pair = _call("amdgcn.cvt.pkrtz", "<2 x half>", "float", "float")
    yield _vector("v_cvt_pk_rtz_f16_f32", "<2 x half>", ("float", "float"), pair)
    yield from _conversions()
    yield from _integers()


def _compare(name: str, types: tuple[str, ...], expression: str) -> Entry:
    text = f"{name} vcc_lo, {_registers('v', 'i32', *types).partition(', ')[2]}"
    if "half" in types:
        text = re.sub(r"(v\d+)", r"\1.l", text)
    return Entry(text, "i1", types, expression)


def _conversions() -> Iterable[Entry]:
    for target, source in (("half", "float"), ("float", "double"), ("float", "half"), ("double", "float")):
        op = "fptrunc" if _BITS[target] < _BITS[source] else "fpext"
        name = f"v_cvt_{_short(target)}_{_short(source)}"
        yield _vector(name, target, (source,), f"{op} {source} {{0}} to {target}")
    for sign, to_float, to_int in (("i", "sitofp", "fptosi"), ("u", "uitofp", "fptoui")):
        for target in ("float", "double"):
            name = f"v_cvt_{_short(target)}_{sign}32"
            yield _vector(name, target, ("i32",), f"{to_float} i32 {{0}} to {target}")
            back = _call(f"{to_int}.sat.i32.{_short(target)}", "i32", target)
            yield _vector(f"v_cvt_{sign}32_{_short(target)}", "i32", (target,), back)
        yield _vector(f"v_cvt_{sign}16_f16", "i16", ("half",), _call(f"{to_int}.sat.i16.f16", "i16", "half"))
        yield _vector(f"v_cvt_f16_{sign}16", "half", ("i16",), f"{to_float} i16 {{0}} to half")


def _integers() -> Iterable[Entry]:
    i = "i32"
    for name, intrinsic, count in (
        ("v_perm_b32", "amdgcn.perm", 3), ("v_bfe_u32", "amdgcn.ubfe.i32", 3), ("v_bfe_i32", "amdgcn.sbfe.i32", 3),
        ("v_bfrev_b32", "bitreverse.i32", 1), ("v_alignbit_b32", "fshr.i32", 3),
    ):  # fmt: skip
        yield _vector(name, i, (i,) * count, _call(intrinsic, i, *[i] * count))
    for op, predicate in (("lt_i32", "slt"), ("lt_u32", "ult"), ("ge_i32", "sge"), ("ge_u32", "uge"), ("ne_u32", "ne")):
        yield _compare(f"v_cmp_{op}", (i, i), f"icmp {predicate} i32 {{0}}, {{1}}")
    for size in (32, 64):
        t = f"i{size}"
        for name in ("wqm", "quadmask"):
            yield _scalar(f"s_{name}_b{size}", t, (t,), _call(f"amdgcn.s.{name}.{t}", t, t))
        yield _scalar(f"s_brev_b{size}", t, (t,), _call(f"bitreverse.{t}", t, t))
    yield _scalar("s_bitreplicate_b64_b32", "i64", (i,), _call("amdgcn.s.bitreplicate", "i64", i))
    for op in ("min", "max"):
        for sign in ("i", "u"):
            intrinsic = f"{'s' if sign == 'i' else 'u'}{op}.i32"
            yield _scalar(f"s_{op}_{sign}32", i, (i, i), _call(intrinsic, i, i, i))


def _scalar(name: str, result: str, types: Sequence[str], expression: str) -> Entry:
    return Entry(f"{name} {_registers('s', result, *types)}", result, tuple(types), expression)


# --- asking


def _literal(type_: str, bits: int) -> str:
    return str(bits) if type_[0] == "i" else f"bitcast (i{_BITS[type_]} {bits} to {type_})"


def fold(questions: Sequence[tuple[Entry, int, tuple[int, ...]]]) -> list[int | None]:
    """The result's bits for each (entry, rounding, bits of the sources); None where LLVM does not fold it."""
    import llvmlite.binding as llvm

    lines: list[str] = []
    declared: dict[str, str] = {}
    for number, (entry, rounding, values) in enumerate(questions):
        operands = [_literal(t, v) for t, v in zip(entry.types, values, strict=True)]
        call = entry.expression.format(*operands, round=ROUNDINGS[rounding])
        lines.append(f"%a{number} = {call}")
        size = _BITS[entry.result]
        if entry.result == "i1":
            lines.append(f"%b{number} = zext i1 %a{number} to i64")
        else:
            whole = "" if entry.result[0] == "i" else f"%c{number} = bitcast {entry.result} %a{number} to i{size}"
            lines += [whole] if whole else []
            source = f"%c{number}" if whole else f"%a{number}"
            lines.append(f"%b{number} = " + (f"zext i{size} {source} to i64" if size < 64 else f"add i64 {source}, 0"))
        lines.append(f"store volatile i64 %b{number}, ptr %p")
        if found := re.match(r"call (<2 x half>|\w+) (@[\w.]+)\((.*)\)$", entry.expression):
            types = [re.match(r"metadata|<2 x half>|\w+", a.strip())[0] for a in found[3].split(", ")]  # type: ignore[index]
            declared[found[2]] = f"declare {found[1]} {found[2]}({', '.join(types)})"
    text = 'target triple = "amdgcn-amd-amdhsa"\n' + "\n".join(declared.values())
    text += "\ndefine void @f(ptr %p) {\n" + "\n".join(lines) + "\nret void\n}\n"
    llvm.initialize_all_targets()
    llvm.initialize_all_asmprinters()
    machine = llvm.Target.from_triple("amdgcn-amd-amdhsa").create_target_machine(cpu="gfx1100")
    module = llvm.parse_assembly(text)
    builder = llvm.create_pass_builder(machine, llvm.create_pipeline_tuning_options(speed_level=1))
    builder.getModulePassManager().run(module, builder)
    stores = re.findall(r"store volatile i64 (\S+), ptr", str(module))
    assert len(stores) == len(questions)
    return [None if s.startswith("%") else int(s) & (1 << 64) - 1 for s in stores]
