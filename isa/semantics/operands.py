"""Operands of one instruction as values: constants, registers, halves, input modifiers, DPP; and results written back.
What can be said of an operand without an engine is worked out once, when the instruction is bound.

What stands after an operand depends on its role's type (`isa.semantics.instruction`): an inline 1.0 is 0x3c00 for f16
and 0x3ff0... for f64; a 32-bit literal is the high half of an f64 and is extended for other 64-bit types (ISA guide
6.2, 7.1, LLVM's AMDGPUOperandSyntax). Negation and absolute value work on the sign bit, so they change no NaN and flush
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

from collections.abc import Callable
from functools import cache, partial
from typing import Any

from isa.registers import M0, Reg
from isa.semantics.dpp import Dpp, has_dpp
from isa.semantics.engine import Engine
from isa.semantics.halves import picked
from isa.semantics.instruction import Description, Imm, Instruction, Modified, Operand, Role, Special, bit_width, width
from isa.semantics.values import Value, float_bits, select

_PACKED = {"pkf16": "f16", "pkf16d": "f16", "pkbf16": "u16", "pku16": "u16", "pki16": "i16"}
_INLINE = {"pkf16": "f16", "pkf16d": "f16"}
_WORDS = ("u32", "i32", "f32")
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
            return float_bits(number, of)
        except OverflowError:
            raise inst.error(f"{imm} is beyond {of}") from None
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


Reader = Callable[[Engine, Dpp | None], Any]
"""What an operand holds on an engine. dpp: of the instruction, where it has one."""


class Sources:
    """The sources of one instruction (one half of a VOPD), bound to no engine."""

    def __init__(self, inst: Instruction, desc: Description) -> None:
        self.inst, self.desc = inst, desc
        self.pairs = desc.roles_of(inst)
        self.dpp = has_dpp(inst)

    def readers(self, half: int | None = None) -> list[Reader]:
        """All operands that are read, in order. half: of packed sources give this one only."""
        found = []
        position = 0
        for number, (role, operand) in enumerate(self.pairs):
            if not role.read or role.kind in ("l", "f"):
                continue
            # A destination that is read too (v_fmac) is not among the sources that modifiers count.
            found.append(self._value(number, role, operand, None if role.written else position, half))
            position += not role.written
        return found

    def _value(self, number: int, role: Role, operand: Operand, position: int | None, half: int | None) -> Reader:
        if role.kind == "i":
            given = immediate(self.inst, operand, role.type)
            return lambda e, d: given
        if role.kind == "m":
            mask = self.raw(number, operand, "u32")
            return lambda e, d: mask(e, d).lanes()
        if width(role.type) > 2:
            return self._wide(operand, role.type)
        modified = operand if isinstance(operand, Modified) else None
        if modified is not None:
            operand = modified.operand
        if role.type in _PACKED:
            if half is not None:
                return self._packed(number, role, operand, position, modified, half)
            low, high = (self._packed(number, role, operand, position, modified, h) for h in (0, 1))
            return lambda e, d: (low(e, d), high(e, d))
        if role.type == "mix":
            return self._mixed(number, operand, position, modified)
        type_ = value_type(role.type)
        plain = type_ in _WORDS and modified is None and not self.dpp and number not in self.desc.relative
        if plain and isinstance(operand, Reg) and operand.file in "vs" and not operand.is_null:
            return _word(operand.is_vgpr, operand.index, type_)
        raw = self.raw(number, operand, role.type, position)
        return raw if modified is None and type_ == f"u{_register_bits(role.type)}" else _typed(raw, modified, type_)

    def raw(self, number: int, operand: Operand, type_: str, position: int | None = None) -> Reader:
        """The bits of a source as u16, u32 or u64."""
        size = _register_bits(type_)
        if isinstance(operand, Imm):
            return _constant(size, literal_bits(self.inst, operand, type_))
        if isinstance(operand, Special):
            name = operand.name
            if not name.endswith(("_base", "_limit")):
                raise self.inst.error(f"{name} is not simulated")
            return lambda e, d: e.special(name).to(f"u{size}")
        if not isinstance(operand, Reg):
            raise self.inst.error(f"{operand} cannot be read", expected="a register or a number")
        if operand.file == "scc":
            return lambda e, d: e.read_scc().to(f"u{size}")
        if operand.is_null:
            return _constant(size, 0)
        low = self._register(number, operand, 0, position)
        if size == 64:
            high = self._register(number, operand, 1, position)
            return lambda e, d: low(e, d).joined(high(e, d))
        if size == 16:
            upper = operand.half == "h" or (not operand.half and self._flag("op_sel", position, 0))
            return lambda e, d: (low(e, d) >> 16 if upper else low(e, d)).to("u16")
        return low

    def _register(self, number: int, reg: Reg, part: int, position: int | None) -> Reader:
        plain = _register(reg.is_vgpr, reg.index + part)
        relative = relative_to(self.desc, number)
        if relative is not None:
            index, relative_read = reg.index + part, relative
            if not reg.is_vgpr:
                return lambda e, d: e.read_sgpr(index, relative_read(e))
            plain = lambda e, d: e.read_vgpr(index, relative_read(e))  # noqa: E731
        if self.dpp and position == 0 and reg.is_vgpr:
            unmoved = plain
            return lambda e, d: d.moved(unmoved(e, d))  # type: ignore[union-attr]
        return plain

    def _flag(self, name: str, position: int | None, default: int) -> int:
        values = self.inst.modifier(name)
        given = position is not None and isinstance(values, tuple) and position < len(values)
        return values[position] if given else default  # type: ignore[index,return-value]

    def _wide(self, operand: Operand, type_: str) -> Reader:
        count = width(type_)
        if isinstance(operand, Reg) and operand.is_vgpr:
            run = range(operand.index, operand.index + count)
            return lambda e, d: tuple(e.read_vgpr(i) for i in run)
        if isinstance(operand, Imm):
            packed = {"f16x8": "pkf16d", "bf16x8": "pkbf16", "f16q": "pkf16d", "bf16q": "pkbf16"}.get(type_)
            bits = packed_bits(self.inst, operand, packed) if packed else literal_bits(self.inst, operand, "u32")
            return lambda e, d: (e.constant("u32", bits),) * count
        raise self.inst.error(f"{operand} cannot be read", expected="consecutive VGPRs")

    def _packed(
        self, number: int, role: Role, operand: Operand, position: int | None, modified: Modified | None, half: int
    ) -> Reader:
        if isinstance(operand, Imm):
            word = _constant(32, packed_bits(self.inst, operand, role.type))
        else:
            word = self.raw(number, operand, "u32", position)
        high = self._flag("op_sel_hi" if half else "op_sel", position, half) if position is not None else half
        negated = self._flag("neg_hi" if half else "neg_lo", position, 0)
        signed, type_ = role.type in _SIGNED, _PACKED[role.type]

        def read(engine: Engine, dpp: Dpp | None) -> Value:
            bits: Value = word(engine, dpp)
            value = (bits >> 16 if high else bits).to("u16")
            if signed:
                value = value ^ 0x8000 if negated else _signed(value, modified)
            return value.bits(type_)

        return read

    def _mixed(self, number: int, operand: Operand, position: int | None, modified: Modified | None) -> Reader:
        if not self._flag("op_sel_hi", position, 0):
            return _typed(self.raw(number, operand, "f32", position), modified, "f32")
        if isinstance(operand, Imm):
            half = _constant(16, literal_bits(self.inst, operand, "f16"))
        else:
            word, high = self.raw(number, operand, "u32", position), self._flag("op_sel", position, 0)
            half = lambda e, d: (word(e, d) >> 16 if high else word(e, d)).to("u16")  # noqa: E731
        return lambda e, d: _signed(half(e, d).bits("f16").to("f32").bits("u32"), modified).bits("f32")


@cache
def _word(vector: bool, index: int, type_: str) -> Reader:
    """A register as it stands: what most sources are."""
    word = _register(vector, index)
    return word if type_ == "u32" else _typed(word, None, type_)


@cache
def _register(vector: bool, index: int) -> Reader:
    return (lambda e, d: e.read_vgpr(index)) if vector else (lambda e, d: e.read_sgpr(index))


def _constant(size: int, bits: int) -> Reader:
    type_ = f"u{size}"
    return lambda e, d: e.constant(type_, bits)


def _typed(raw: Reader, modified: Modified | None, type_: str) -> Reader:
    if modified is None:
        return lambda e, d: raw(e, d).bits(type_)
    return lambda e, d: _signed(raw(e, d), modified).bits(type_)


def relative_to(desc: Description, number: int) -> Callable[[Engine], Value] | None:
    """How to read what M0 adds to the number of this operand's register, if it does."""
    if number not in desc.relative:
        return None
    if desc.two_offsets:
        shift = 0 if number else 16
        return lambda engine: (engine.read_sgpr(M0.index) >> shift) & 0x3FF
    return lambda engine: engine.read_sgpr(M0.index)


def _signed(bits: Value, modified: Modified | None) -> Value:
    """|x| and -x on the sign bit of unsigned bits."""
    if modified is None:
        return bits
    sign = 1 << (int(bits.type[1:]) - 1)
    if modified.abs:
        bits = bits & (sign - 1)
    return bits ^ sign if modified.neg else bits


# --- results


Put = Callable[[], None]
Writer = Callable[[Engine, Any, "Value | None"], Put]
"""(engine, result, lanes that may be written or None) -> how to write it."""


def output(inst: Instruction, desc: Description, role: Role) -> Callable[[Engine, Value], Value] | None:
    """Output modifiers: omod (mul:2, mul:4, div:2), then clamp, of a float result (ISA guide 7.2.2, 7.2.3). None where
    there are none."""
    is_float = role.type in ("f16", "f32", "f64", "f16h", "pkf16")
    factor = {"mul": 1.0, "div": 1.0}
    for name in factor:
        by = inst.modifier(name)
        if isinstance(by, int):
            factor[name] = float(by)
    scale = factor["mul"] / factor["div"]
    clamps = inst.has("clamp") and "clamp" not in desc.fields and role.kind != "m"
    if clamps and not is_float:
        raise inst.error(f"clamp of {desc.name} is not described")
    if not clamps and (scale == 1.0 or not is_float):
        return None

    def modify(engine: Engine, value: Value) -> Value:
        mode = engine.mode
        if scale != 1.0 and (mode.omod or not mode.ieee) and not mode.keeps(value.type) & 2:
            # The sign of a zero goes, but not of a number that scaling makes too small (recorded on a gfx1100).
            value = select(value == 0.0, (value.bits(f"u{value.type[1:]}") & 0).bits(value.type), value) * scale
        if not clamps:
            return value
        zero = (value.bits(f"u{value.type[1:]}") & 0).bits(value.type)
        low = select(value > 0.0, value, zero) if mode.dx10_clamp else select(value <= 0.0, zero, value)
        return select(value > 1.0, 1.0, low)

    return modify


def writer(inst: Instruction, desc: Description, number: int, role: Role, operand: Operand) -> Writer:
    """How to write one result to its operand."""
    if not isinstance(operand, Reg):
        raise inst.error(f"{operand} cannot be written", operand=number, expected="a register")
    if operand.is_null:
        return lambda e, value, mask: lambda: None
    if operand.file == "scc":
        return lambda e, value, mask: partial(e.write_scc, value != 0)
    first = operand.index
    if role.kind == "m":
        return lambda e, value, mask: partial(e.write_sgpr, first, lane_mask(e, value, mask))
    type_, vector, relative = value_type(role.type), operand.is_vgpr, relative_to(desc, number)
    if type_ in _WORDS and width(role.type) == 1 and relative is None:
        return _put_word(vector, first, type_)
    half = _register_bits(role.type) == 16
    high = role.type == "f16h" or operand.half == "h" or (not operand.half and picked(inst, len(inst.operands) - 1))
    upper = picked(inst, 2) if role.type.endswith("x8") else None

    def write(engine: Engine, value: Any, mask: Value | None) -> Put:
        if isinstance(value, int | float):
            value = engine.constant(type_, value)
        at = relative(engine) if relative is not None else None
        if not vector:
            words = words_of(value)
        elif isinstance(value, tuple):
            words = list(value)
            if upper is not None:
                words = [_replaced(engine.read_vgpr(first + i), word, upper) for i, word in enumerate(words)]
        elif half:
            words = [_replaced(engine.read_vgpr(first), value.bits("u16").to("u32"), high)]
        else:
            words = words_of(value)

        def put() -> None:
            for i, word in enumerate(words):
                if vector:
                    engine.write_vgpr(first + i, word, mask, at)
                else:
                    engine.write_sgpr(first + i, word, at)

        return put

    return write


@cache
def _put_word(vector: bool, index: int, type_: str) -> Writer:
    """A result of 32 bits into one register: what most are."""

    def write(engine: Engine, value: Any, mask: Value | None) -> Put:
        if isinstance(value, int | float):
            value = engine.constant(type_, value)
        (word,) = words_of(value)
        return partial(engine.write_vgpr, index, word, mask) if vector else partial(engine.write_sgpr, index, word)

    return write


def words_of(value: Value) -> list[Value]:
    """A value as u32, one a register."""
    if value.type == "u32":
        return [value]
    size = int(value.type[1:])
    if size == 64:
        return list(value.bits("u64").halves())
    return [value.bits(f"u{size}").to("u32")]


def put_words(engine: Engine, reg: Operand, words: list[Value], mask: Value | None) -> Put:
    """How to write what a load found, one word a register."""
    assert isinstance(reg, Reg)

    def put() -> None:
        for i, word in enumerate(words):
            if reg.is_vgpr:
                engine.write_vgpr(reg.index + i, word, mask)
            else:
                engine.write_sgpr(reg.index + i, word)

    return put


def _replaced(old: Value, new: Value, high: bool) -> Value:
    """`new` has nothing in its upper half."""
    return (old & 0xFFFF) | (new << 16) if high else (old & 0xFFFF0000) | new


def lane_mask(engine: Engine, value: Value, mask: Value | None) -> Value:
    """A truth value a lane (or one for all lanes) -> the u32 mask, 0 where `mask` is off."""
    everywhere = engine.lane_ids() >= 0
    return (value & everywhere & mask if mask is not None else value & everywhere).mask()
