"""Operands of one instruction as values: constants, registers, halves, input modifiers, DPP; and results written back.

What stands behind an operand depends on its role's type (`isa.semantics.describe`): an inline 1.0 is 0x3c00 for f16 and
0x3ff0... for f64; a 32-bit literal is the high half of an f64 and is extended for other 64-bit types (ISA guide 6.2,
7.1, LLVM's AMDGPUOperandSyntax). Negation and absolute value work on the sign bit, so they change no NaN and flush
nothing.

16-bit operands name their half (`v0.h`) or are picked by op_sel; without either it is the low one. op_sel counts the
sources as the encoding does, then the destination. Packed sources have op_sel for the low result, op_sel_hi for the
high one (1 unless given), neg_lo and neg_hi alike (ISA guide 7.8).

An inline constant as a packed source: an integer's 32 bits; an f16 in the low half, zeros above; for packed integers
the bits of the f32 (LLVM, getInlineEncodingV216). It stands in both halves for the types named `d` or bf16, whose
pattern is the upper half of the f32's, and in VOPD (recorded on a gfx1100: ROCm/rocm-systems, rocjitsu, its tests of
inline sources, where `v_dot2acc_f32_f16` has 1.0 twice in VOPD, once in VOP2).
"""

from __future__ import annotations

import struct
from collections.abc import Callable
from typing import Any

from isa.asm.program import Imm, Instruction, Modified, Operand, Special
from isa.registers import M0, Reg
from isa.semantics.describe import Description, Role, bit_width, width
from isa.semantics.dpp import Dpp
from isa.semantics.engine import Engine
from isa.semantics.values import Value, select

_FLOAT_FORMAT = {"f16": "<e", "f32": "<f", "f64": "<d"}
_UNSIGNED_FORMAT = {16: "<H", 32: "<I", 64: "<Q"}
_PACKED = {"pkf16": "f16", "pkf16d": "f16", "pkbf16": "u16", "pku16": "u16", "pki16": "i16"}
_INLINE = {"pkf16": "f16", "pkf16d": "f16"}
_SIGNED = frozenset({"pkf16", "pkf16d", "pkbf16"})
_DOUBLED = frozenset({"pkf16d", "pkbf16"})


def _register_bits(type_: str) -> int:
    """16, 32 or 64: how many bits of registers a value of this type is read from."""
    return {8: 16, 16: 16, 64: 64}.get(bit_width(type_), 32)


def value_type(type_: str) -> str:
    """The type a body sees: b32 as u32, bf16 as u16, f16h as f16."""
    return f"u{_register_bits(type_)}" if type_[0] == "b" else type_.rstrip("h")


def literal_bits(inst: Instruction, imm: Imm, type_: str) -> int:
    """The bits of a constant as an operand of `type_`."""
    size = _register_bits(type_)
    number = imm.value
    if isinstance(number, float):
        if type_ == "bf16":
            return literal_bits(inst, imm, "f32") >> 16
        of = _INLINE.get(type_, f"f{size}")
        try:
            bits: int = struct.unpack(_UNSIGNED_FORMAT[int(of[1:])], struct.pack(_FLOAT_FORMAT[of], number))[0]
        except OverflowError:
            raise inst.error(f"{imm} is beyond {of}") from None
        return bits
    if size == 64 and not _is_inline(imm):
        if type_ == "f64":
            return (number & 0xFFFFFFFF) << 32
        if type_[0] == "i" and number >> 31 & 1:
            number |= -1 << 32
    return number & ((1 << size) - 1)


def _is_inline(imm: Imm) -> bool:
    """Whether LLVM encodes this constant without a literal; floats that need one are printed as their bits."""
    return isinstance(imm.value, float) or -16 <= imm.value <= 64


def packed_bits(inst: Instruction, imm: Imm, type_: str) -> int:
    """The 32 bits of a constant as a packed source."""
    bits = literal_bits(inst, imm, type_)
    if not _is_inline(imm) or not (type_ in _DOUBLED or inst.mnemonic.startswith("v_dual_")):
        return bits
    half = bits >> 16 if type_ == "pkbf16" and isinstance(imm.value, float) else bits & 0xFFFF
    return half | half << 16


def immediate(inst: Instruction, operand: Operand, type_: str) -> int:
    """A 16-bit immediate as the Python int that its type says."""
    if not isinstance(operand, Imm) or not isinstance(operand.value, int):
        raise inst.error(f"{operand} is not an immediate number")
    value = operand.value & 0xFFFF
    return value - 0x10000 if type_[0] == "i" and value >> 15 else value


class Sources:
    """Reads the sources of one instruction (one half of a VOPD)."""

    def __init__(self, engine: Engine, inst: Instruction, desc: Description) -> None:
        self.engine, self.inst, self.desc = engine, inst, desc
        self.pairs = desc.roles_of(inst)
        self.dpp = Dpp.of(engine, inst)

    def read(self, half: int | None = None) -> list[Any]:
        """The values of all operands that are read, in order. half: of packed sources give this one only."""
        values = []
        position = 0
        for number, (role, operand) in enumerate(self.pairs):
            if not role.read or role.kind in ("l", "f"):
                continue
            # A destination that is read too (v_fmac) is not among the sources that modifiers count.
            values.append(self._value(number, role, operand, None if role.written else position, half))
            position += not role.written
        return values

    def _value(self, number: int, role: Role, operand: Operand, position: int | None, half: int | None) -> Any:
        if role.kind == "i":
            return immediate(self.inst, operand, role.type)
        if role.kind == "m":
            return self.raw(number, operand, "u32", None).lanes()
        if width(role.type) > 2:
            return self._wide(operand, role.type)
        modified = operand if isinstance(operand, Modified) else None
        if modified is not None:
            operand = modified.operand
        if role.type in _PACKED:
            both = [self._packed(number, role, operand, position, modified, h) for h in (0, 1)]
            return tuple(both) if half is None else both[half]
        if role.type == "mix":
            return self._mixed(number, operand, position, modified)
        bits = self.raw(number, operand, role.type, position)
        return _signed(bits, modified).bits(value_type(role.type))

    def raw(self, number: int, operand: Operand, type_: str, position: int | None) -> Value:
        """The bits of a source as u16, u32 or u64."""
        engine, size = self.engine, _register_bits(type_)
        if isinstance(operand, Imm):
            return engine.constant(f"u{size}", literal_bits(self.inst, operand, type_))
        if isinstance(operand, Special):
            return self._special(operand).to(f"u{size}")
        if not isinstance(operand, Reg):
            raise self.inst.error(f"{operand} cannot be read", expected="a register or a number")
        if operand.file == "scc":
            return engine.read_scc().to(f"u{size}")
        if operand.is_null:
            return engine.constant(f"u{size}", 0)
        low = self._register(number, operand, 0, position)
        if size == 64:
            return low.joined(self._register(number, operand, 1, position))
        if size == 16:
            high = operand.half == "h" or (not operand.half and self._flag("op_sel", position, 0))
            return (low >> 16 if high else low).to("u16")
        return low

    def _register(self, number: int, reg: Reg, part: int, position: int | None) -> Value:
        relative = relative_to(self.engine, self.desc, number)
        if not reg.is_vgpr:
            return self.engine.read_sgpr(reg.index + part, relative)
        value = self.engine.read_vgpr(reg.index + part, relative)
        return self.dpp.moved(value) if self.dpp is not None and position == 0 else value

    def _special(self, operand: Special) -> Value:
        if operand.name.endswith(("_base", "_limit")):
            return self.engine.special(operand.name)
        raise self.inst.error(f"{operand.name} is not simulated")

    def _flag(self, name: str, position: int | None, default: int) -> int:
        values = self.inst.modifier(name)
        given = position is not None and isinstance(values, tuple) and position < len(values)
        return values[position] if given else default  # type: ignore[index,return-value]

    def _wide(self, operand: Operand, type_: str) -> tuple[Value, ...]:
        count = width(type_)
        if isinstance(operand, Reg) and operand.is_vgpr:
            return tuple(self.engine.read_vgpr(operand.index + i) for i in range(count))
        if isinstance(operand, Imm):
            packed = {"f16x8": "pkf16d", "bf16x8": "pkbf16"}.get(type_)
            bits = packed_bits(self.inst, operand, packed) if packed else literal_bits(self.inst, operand, "u32")
            return (self.engine.constant("u32", bits),) * count
        raise self.inst.error(f"{operand} cannot be read", expected="a run of VGPRs")

    def _packed(
        self, number: int, role: Role, operand: Operand, position: int | None, modified: Modified | None, half: int
    ) -> Value:
        if isinstance(operand, Imm):
            bits = self.engine.constant("u32", packed_bits(self.inst, operand, role.type))
        else:
            bits = self.raw(number, operand, "u32", position)
        high = self._flag("op_sel_hi" if half else "op_sel", position, half) if position is not None else half
        value = (bits >> 16 if high else bits).to("u16")
        negated = self._flag("neg_hi" if half else "neg_lo", position, 0)
        if role.type in _SIGNED:
            value = value ^ 0x8000 if negated else _signed(value, modified)
        return value.bits(_PACKED[role.type])

    def _mixed(self, number: int, operand: Operand, position: int | None, modified: Modified | None) -> Value:
        if not self._flag("op_sel_hi", position, 0):
            value = self.raw(number, operand, "f32", position).bits("f32")
        else:
            if isinstance(operand, Imm):
                half = self.engine.constant("u16", literal_bits(self.inst, operand, "f16"))
            else:
                word = self.raw(number, operand, "u32", position)
                half = (word >> 16 if self._flag("op_sel", position, 0) else word).to("u16")
            value = half.bits("f16").to("f32")
        return _signed(value.bits("u32"), modified).bits("f32")


def relative_to(engine: Engine, desc: Description, number: int) -> Value | None:
    """M0 where the number of this operand's register is relative to it."""
    return engine.read_sgpr(M0.index) if number in desc.relative else None


def pack(low: Value, high: Value) -> Value:
    """Two 16-bit values as a u32."""
    return low.bits("u16").to("u32") | (high.bits("u16").to("u32") << 16)


def _signed(bits: Value, modified: Modified | None) -> Value:
    """|x| and -x on the sign bit of unsigned bits."""
    if modified is None:
        return bits
    sign = 1 << (int(bits.type[1:]) - 1)
    if modified.abs:
        bits = bits & (sign - 1)
    return bits ^ sign if modified.neg else bits


# --- results


def output(engine: Engine, inst: Instruction, desc: Description, value: Value, type_: str) -> Value:
    """Output modifiers: omod (mul:2, mul:4, div:2), then clamp, of a float result (ISA guide 7.2.2, 7.2.3)."""
    is_float = type_ in ("f16", "f32", "f64", "f16h", "pkf16")
    mode = engine.mode
    factor = {"mul": 1.0, "div": 1.0}
    for name in factor:
        by = inst.modifier(name)
        if isinstance(by, int):
            factor[name] = float(by)
    scale = factor["mul"] / factor["div"]
    if scale != 1.0 and is_float and not mode.ieee and not mode.keeps(value.type) & 2:
        value = value * scale
        value = select(value == 0.0, (value.bits(f"u{value.type[1:]}") & 0).bits(value.type), value)
    if not inst.has("clamp") or "clamp" in desc.fields:
        return value
    if not is_float:
        raise inst.error(f"clamp of {desc.name} is not described")
    zero = (value.bits(f"u{value.type[1:]}") & 0).bits(value.type)
    low = select(value > 0.0, value, zero) if mode.dx10_clamp else select(value <= 0.0, zero, value)
    return select(value > 1.0, 1.0, low)


def write(
    engine: Engine,
    inst: Instruction,
    desc: Description,
    number: int,
    role: Role,
    operand: Operand,
    value: Any,
    mask: Value | None,
) -> Callable[[], None]:
    """How to write one result to its operand; call it to do so."""
    if not isinstance(operand, Reg):
        raise inst.error(f"{operand} cannot be written", operand=number, expected="a register")
    if operand.is_null:
        return lambda: None
    if operand.file == "scc":
        return lambda: engine.write_scc(value != 0)
    if role.kind == "m":
        bits = lane_mask(engine, value, mask)
        return lambda: engine.write_sgpr(operand.index, bits)
    if isinstance(value, int | float):
        value = engine.constant(value_type(role.type), value)
    relative = relative_to(engine, desc, number)
    if not operand.is_vgpr:
        scalars = words_of(value)

        def put_scalars() -> None:
            for i, word in enumerate(scalars):
                engine.write_sgpr(operand.index + i, word, relative)

        return put_scalars
    if isinstance(value, tuple):
        words = list(value)
        if role.type.endswith("x8"):
            high = _picked(inst, 2)
            words = [_replaced(engine.read_vgpr(operand.index + i), word, high) for i, word in enumerate(words)]
    elif _register_bits(role.type) == 16:
        words = [_merged(engine, inst, role, operand, value)]
    else:
        words = words_of(value)

    def put() -> None:
        for i, word in enumerate(words):
            engine.write_vgpr(operand.index + i, word, mask, relative)

    return put


def words_of(value: Value) -> list[Value]:
    """A value as u32, one a register."""
    size = int(value.type[1:])
    if size == 64:
        wide = value.bits("u64")
        return [wide.to("u32"), (wide >> 32).to("u32")]
    return [value.bits(f"u{size}").to("u32")]


def _picked(inst: Instruction, number: int) -> bool:
    op_sel = inst.modifier("op_sel")
    return isinstance(op_sel, tuple) and len(op_sel) > number and bool(op_sel[number])


def _merged(engine: Engine, inst: Instruction, role: Role, reg: Reg, value: Value) -> Value:
    """The register with one half replaced."""
    high = role.type == "f16h" or reg.half == "h" or (not reg.half and _picked(inst, len(inst.operands) - 1))
    return _replaced(engine.read_vgpr(reg.index), value.bits("u16").to("u32"), high)


def _replaced(old: Value, new: Value, high: bool) -> Value:
    """`new` has nothing in its upper half."""
    return (old & 0xFFFF) | (new << 16) if high else (old & 0xFFFF0000) | new


def lane_mask(engine: Engine, value: Value, mask: Value | None) -> Value:
    """A truth value a lane (or one for all lanes) -> the u32 mask, 0 where `mask` is off."""
    everywhere = engine.lane_ids() >= 0
    return (value & everywhere & mask if mask is not None else value & everywhere).mask()
