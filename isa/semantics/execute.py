"""One instruction on an engine: the one place that binds a description's body to operands.

`bind` works out what an instruction does, whatever the engine: how its operands are read as their roles say
(`isa.semantics.operands`), which body is called, how the results are written under EXEC; memory instructions go through
`isa.semantics.memory_access`. `execute` binds and runs; who runs an instruction again and again keeps what `bind` gave.
An engine only holds registers and memory: it may run (numbers), write code (LLVM IR) or follow what is known of values
(ranges, polynomials, terms). Nothing here looks at the content of a value, so the same steps serve all.

Both halves of a VOPD are computed before either writes (ISA guide 7.6). What an instruction asks for beyond its
description (a clamp on an integer that has none, a hardware register) is rejected with an error that names it.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

from isa.instructions.words import pack
from isa.registers import EXEC_LO, VCC_LO, Reg
from isa.semantics.dpp import Dpp
from isa.semantics.engine import Engine
from isa.semantics.float_mode import EXCP_EN, FloatMode
from isa.semantics.instruction import IMPLICIT, Description, Fields, Imm, Instruction, lookup, width
from isa.semantics.memory_access import memory
from isa.semantics.operands import Put, Sources, Writer, lane_mask, output, writer
from isa.semantics.values import Value

Bound = tuple[Callable[[Engine], Sequence[Put]], ...]
"""For each half what computes it, and gives back how to write the results."""
Body = Callable[..., Any]
_MASKS = (VCC_LO.index, EXEC_LO.index)


def execute(engine: Engine, inst: Instruction) -> None:
    """Run one instruction (both halves of a VOPD). IsaError where it is not described, or not fully."""
    run(engine, bind(inst))


def run(engine: Engine, bound: Bound) -> None:
    """The same with what `bind` gave."""
    puts = bound[0](engine) if len(bound) == 1 else [put for half in bound for put in half(engine)]
    for put in puts:
        put()


def bind(inst: Instruction, instead: Callable[[Description], Body | None] | None = None, half: int = 0) -> Bound:
    """What an instruction does on any engine. IsaError as for `execute`. instead: a body in the place of a
    description's own, where it gives one. half: of a wave of 64 lanes, whose word of VCC and EXEC is meant
    (`isa.semantics.wave64`)."""
    return tuple(_bound(part, lookup(part), instead, half) for part in inst.halves)


def _bound(
    inst: Instruction, desc: Description, instead: Callable[[Description], Body | None] | None, half: int
) -> Callable[[Engine], Sequence[Put]]:
    if desc.access is not None:
        return memory(inst, desc, desc.access)
    if desc.effect == "branch":
        return _branch(inst, desc)
    if desc.effect == "grid":
        return _grid_barrier(inst, desc)
    if desc.effect:
        return lambda engine: _effect(engine, inst, desc)
    body = (instead(desc) if instead is not None else None) or desc.body
    if body is not None:
        computed: Callable[[Engine], list[Put]] = _Computed(inst, desc, body, half)
        if any("f16" in role.type.replace("bf16", "") for role in desc.roles if role.written):
            computed = _overflowing(computed, inst)
        if desc.is_trans and desc.sched != "trans_f64":
            # It rounds to nearest (recorded on a gfx1100). Bodies drop denormals by themselves, at less cost.
            drops = desc.flushes and any(isinstance(inst.modifier(name), int) for name in ("mul", "div"))
            return _in_mode(computed, lambda mode: mode.of_unit(nearest=True, drops=drops))
        return _in_mode(computed, lambda mode: mode.of_unit(drops=True)) if desc.flushes else computed
    if desc.roles and not (desc.is_internal or desc.is_wait):
        raise inst.error(f"what {desc.name} computes is not described")
    return lambda engine: ()


def _overflowing(computed: Callable[[Engine], list[Put]], inst: Instruction) -> Callable[[Engine], list[Put]]:
    """The same, but refused where its result may be the greatest number and no infinity."""

    def run(engine: Engine) -> list[Put]:
        if engine.mode.overflow16:
            raise inst.error("results in f16 under FP16_OVFL (bit 23 of MODE) are not simulated")
        return computed(engine)

    return run


def _in_mode(
    computed: Callable[[Engine], list[Put]], of: Callable[[FloatMode], FloatMode]
) -> Callable[[Engine], list[Put]]:
    """The same in a mode of the instruction's own."""

    def run(engine: Engine) -> list[Put]:
        mode, own = engine.mode, of(engine.mode)
        if own == mode:
            return computed(engine)
        engine.mode = own
        try:
            return computed(engine)
        finally:
            engine.mode = mode

    return run


class _Computed:
    """Runs a body. The writes are given back, not done."""

    __slots__ = ("body", "desc", "inst", "masked", "moves", "packed", "readers", "steps", "tail", "upper", "wide")

    def __init__(self, inst: Instruction, desc: Description, body: Body, half: int = 0) -> None:
        sources = Sources(inst, desc)
        targets = [(n, role, operand) for n, (role, operand) in enumerate(sources.pairs) if role.written]
        self.inst, self.desc, self.body = inst, desc, body
        self.packed = bool(targets) and targets[0][1].type.startswith("pk")
        self.wide = len(targets) == 1 and width(targets[0][1].type) > 2
        self.readers = sources.readers(0 if self.packed else None)
        self.upper = sources.readers(1) if self.packed else ()
        self.tail = [_read_implicit(name, half) for name in desc.implicit_reads if not (name == "m0" and desc.relative)]
        self.tail += [_field(inst, name) for name in desc.fields]
        self.steps = [(output(inst, desc, role), writer(inst, desc, n, role, operand)) for n, role, operand in targets]
        self.steps += [(None, _write_implicit(name, half)) for name in desc.implicit_writes]
        self.masked, self.moves = desc.exec_masked, sources.dpp

    def __call__(self, engine: Engine) -> list[Put]:
        dpp = Dpp.of(engine, self.inst) if self.moves else None
        mask = engine.exec_mask() if self.masked else None
        if dpp is not None:
            mask = dpp.mask(mask)
        tail = [read(engine) for read in self.tail]
        results: Sequence[Any]
        if self.packed:
            low, high = (self.body(*[r(engine, dpp) for r in half], *tail) for half in (self.readers, self.upper))
            change = self.steps[0][0]
            results = [pack(low, high) if change is None else pack(change(engine, low), change(engine, high))]
        else:
            result = self.body(*[read(engine, dpp) for read in self.readers], *tail)
            results = result if isinstance(result, tuple) and not self.wide else (result,)
        if len(results) != len(self.steps):
            raise self.inst.error(f"the body of {self.desc.name} gives {len(results)} values")
        puts = []
        for (change, write), value in zip(self.steps, results, strict=True):
            if change is not None and not self.packed and isinstance(value, Value) and value.type != "b1":
                value = change(engine, value)
            puts.append(write(engine, value, mask))
        return puts


def _read_implicit(name: str, half: int = 0) -> Callable[[Engine], Value]:
    if name == "scc":
        return lambda engine: engine.read_scc()
    reg = IMPLICIT[name]
    if reg.count == 1:
        word = reg.index + half * (reg.index in _MASKS)
        return lambda engine: engine.read_sgpr(word)
    return lambda engine: engine.read_sgpr(reg.index).joined(engine.read_sgpr(reg.index + 1))


def _write_implicit(name: str, half: int = 0) -> Writer:
    if name == "pc":
        return lambda engine, value, mask: partial(engine.jump, value)
    if name == "scc":
        return lambda engine, value, mask: partial(engine.write_scc, value)
    reg = IMPLICIT[name]

    def write(engine: Engine, value: Value, mask: Value | None) -> Put:
        if value.type == "b1":
            return partial(engine.write_sgpr, reg.index + half, lane_mask(engine, value, mask))

        def put() -> None:
            wide = value.bits("u" + value.type[1:])
            engine.write_sgpr(reg.index, wide.to("u32"))
            if reg.count == 2:
                engine.write_sgpr(reg.index + 1, (wide >> 32).to("u32"))

        return put

    return write


def _field(inst: Instruction, name: str) -> Callable[[Engine], Any]:
    """What else a body needs: see `isa.semantics.instruction`."""
    if name == "lane":
        return lambda engine: engine.lane_ids()
    if name == "next":
        return lambda engine: engine.next_address()
    if name == "ieee":
        return lambda engine: engine.mode.ieee
    if name == "overflow":
        return lambda engine: engine.mode.overflow16
    given = inst.has("clamp") if name == "clamp" else inst.modifier(name, 0 if name == "offset" else ())
    return lambda engine: given


# --- what is not a matter of registers


def _branch(inst: Instruction, desc: Description) -> Callable[[Engine], Sequence[Put]]:
    # s_call_b64 leaves the return address
    linked = _Computed(inst, desc, desc.body) if desc.fields and desc.body is not None else None
    asks = [_read_implicit(name) for name in desc.implicit_reads]
    body = None if desc.fields else desc.body

    def branch(engine: Engine) -> Sequence[Put]:
        for put in linked(engine) if linked is not None else ():
            put()
        engine.branch(inst, None if body is None else body(*[read(engine) for read in asks]))
        return ()

    return branch


def _grid_barrier(inst: Instruction, desc: Description) -> Callable[[Engine], Sequence[Put]]:
    explicit = Sources(inst, desc).readers()
    implicit = [_read_implicit(name) for name in desc.implicit_reads]
    body = desc.body
    assert body is not None

    def wait(engine: Engine) -> Sequence[Put]:
        engine.grid_barrier(body(*[read(engine, None) for read in explicit], *[read(engine) for read in implicit]))
        return ()

    return wait


def _effect(engine: Engine, inst: Instruction, desc: Description) -> Sequence[Put]:
    if desc.effect == "end":
        engine.end()
    elif desc.effect == "trap":
        engine.trap()
    elif desc.effect in ("barrier", "signal", "named barrier"):
        if desc.effect == "named barrier" and inst.of_workgroup:
            raise inst.error("which wave comes first is not simulated", expected=inst.family.barrier[0])
        if desc.effect == "named barrier" or not inst.of_workgroup:
            raise inst.error("named barriers are not simulated", expected=" and ".join(inst.family.barrier))
        if desc.effect == "barrier":  # a signal changes nothing: waves wait until all have come here
            engine.barrier()
    elif desc.effect in ("mode round", "mode denorm"):
        bits = inst.operands[0]
        assert isinstance(bits, Imm)
        mode, value = engine.mode, int(bits.value)
        engine.mode = mode.with_rounding(value) if desc.effect == "mode round" else mode.with_denormals(value)
    elif desc.effect in ("setreg", "getreg"):
        _hardware_register(engine, inst, desc.effect)
    elif desc.effect == "ask":
        _answer(engine, inst)
    else:
        assert desc.effect == "wait", desc.effect
    return ()


_MODE = ("HW_REG_MODE", "HW_REG_WAVE_MODE", "1")
_REGISTERS = {
    **dict.fromkeys(("HW_REG_SHADER_CYCLES", "29"), ("cycles", 0, 20)), "HW_REG_SHADER_CYCLES_LO": ("cycles", 0, 32),
    "HW_REG_SHADER_CYCLES_HI": ("cycles", 32, 32),
    **dict.fromkeys(("HW_REG_HW_ID1", "HW_REG_WAVE_HW_ID1", "23"), ("place", 0, 32)),
    **dict.fromkeys(("HW_REG_HW_ID2", "HW_REG_WAVE_HW_ID2", "24"), ("queue", 0, 32)),
}  # fmt: skip
"""Register -> what it shows of what the hardware knows, first bit and bits: LLVM's llvm.readcyclecounter."""
_MESSAGES = {"MSG_RTN_GET_REALTIME": "realtime", "131": "realtime"}


def asked(inst: Instruction) -> str | None:
    """What an instruction asks the hardware for that is another number each time, or on each run, as
    `Engine.hardware` names it; None for other instructions, and for what is not simulated."""
    if inst.desc.effect not in ("getreg", "ask") or len(inst.operands) < 2:
        return None
    field = inst.operands[1]
    if not isinstance(field, Fields):
        return None
    register, message = field.get("hwreg"), field.get("sendmsg")
    return _REGISTERS.get(register[0], (None,))[0] if register else _MESSAGES.get(message[0]) if message else None


def _answer(engine: Engine, inst: Instruction) -> None:
    """What a message returns."""
    to, name = inst.operands[0], asked(inst)
    if name is None or not isinstance(to, Reg):
        raise inst.error("what this message returns is not simulated", operand=1, expected="MSG_RTN_GET_REALTIME")
    value = engine.hardware(name)
    engine.write_sgpr(to.index, value.to("u32"))
    if to.count == 2:
        engine.write_sgpr(to.index + 1, (value >> 32).to("u32"))


def _hardware_register(engine: Engine, inst: Instruction, effect: str) -> None:
    number = 0 if effect == "setreg" else 1
    field, other = inst.operands[number], inst.operands[1 - number]
    arguments = field.get("hwreg") if isinstance(field, Fields) else None
    name = asked(inst) if effect == "getreg" else None
    if arguments is None or (arguments[0] not in _MODE and name is None):
        known = ("HW_REG_MODE", *(r for r in _REGISTERS if not r.isdigit()))
        raise inst.error("this hardware register is not simulated", operand=number,
                         expected=", ".join(known if effect == "getreg" else known[:1]))  # fmt: skip
    first, count = (int(a, 0) for a in arguments[1:3]) if len(arguments) == 3 else (0, 32)
    if name is not None:
        assert isinstance(other, Reg)
        _, lowest, bits = _REGISTERS[arguments[0]]
        value = engine.hardware(name) >> lowest + first
        engine.write_sgpr(other.index, value.to("u32") & (1 << max(min(count, bits - first), 0)) - 1)
    elif effect == "getreg":
        assert isinstance(other, Reg)
        engine.write_sgpr(other.index, engine.constant("u32", engine.mode.register >> first & ((1 << count) - 1)))
    elif isinstance(other, Imm) and isinstance(other.value, int):
        if (other.value & (1 << count) - 1) << first & EXCP_EN:
            raise inst.error("EXCP_EN (bits 12 to 21 of MODE) is not simulated", operand=1, expected="0 there")
        engine.mode = engine.mode.with_register(first, count, other.value)
    else:
        raise inst.error("MODE from an SGPR is not simulated", operand=1, expected="a number", got=str(other))
