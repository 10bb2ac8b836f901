"""One instruction on an engine: the one place that binds a description's body to operands.

`execute(engine, instruction)` reads the operands as their roles say (`isa.semantics.operands`), calls the body, and
writes the results under EXEC; memory instructions go through `isa.semantics.memory_access`. An engine only holds
registers and memory: it may run (`isa.sim.interpret`) or write code (LLVM IR). Nothing here looks at the content of a
value, so the same steps serve both.

Both halves of a VOPD are computed before either writes (ISA guide 7.6). What an instruction asks for and nobody
described (a clamp on an integer that has none, a hardware register) is refused by name.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from isa.asm.program import Fields, Imm, Instruction
from isa.instructions import lookup
from isa.registers import Reg
from isa.semantics.describe import IMPLICIT, Description, width
from isa.semantics.engine import Engine
from isa.semantics.memory_access import memory
from isa.semantics.operands import Sources, lane_mask, output, pack, write
from isa.semantics.values import Value


def execute(engine: Engine, inst: Instruction) -> None:
    """Run one instruction (both halves of a VOPD). IsaError where it is not described, or not fully."""
    writes: list[Callable[[], None]] = []
    for half in inst.halves:
        desc = lookup(half)
        if desc.access is not None:
            writes += memory(engine, half, desc, desc.access)
        elif desc.effect == "branch":
            _branch(engine, half, desc)
        elif desc.effect:
            _effect(engine, half, desc)
        elif desc.body is not None:
            writes += _compute(engine, half, desc)
        elif desc.roles and not (desc.is_internal or desc.is_wait):
            raise half.error(f"what {desc.name} computes is not described")
    for put in writes:
        put()


def _compute(engine: Engine, inst: Instruction, desc: Description) -> list[Callable[[], None]]:
    """Run the body. The writes are given back, not done."""
    assert desc.body is not None
    sources = Sources(engine, inst, desc)
    targets = [(n, role, operand) for n, (role, operand) in enumerate(sources.pairs) if role.written]
    mask = engine.exec_mask() if desc.exec_masked else None
    if sources.dpp is not None:
        mask = sources.dpp.mask(mask)
    tail = [_read_implicit(engine, name) for name in desc.implicit_reads if not (name == "m0" and desc.relative)]
    tail += [_field(engine, inst, name) for name in desc.fields]
    results: Sequence[Any]
    if targets and targets[0][1].type.startswith("pk"):
        low, high = (desc.body(*sources.read(half), *tail) for half in (0, 1))
        results = [pack(*(output(engine, inst, desc, x, targets[0][1].type) for x in (low, high)))]
    else:
        result = desc.body(*sources.read(), *tail)
        wide = len(targets) == 1 and width(targets[0][1].type) > 2
        results = result if isinstance(result, tuple) and not wide else (result,)
    if len(results) != len(targets) + len(desc.implicit_writes):
        raise inst.error(f"the body of {desc.name} gives {len(results)} values")
    puts = []
    for (number, role, operand), value in zip(targets, results, strict=False):
        if isinstance(value, Value) and value.type != "b1" and not role.type.startswith("pk"):
            value = output(engine, inst, desc, value, role.type)
        puts.append(write(engine, inst, desc, number, role, operand, value, mask))
    for name, value in zip(desc.implicit_writes, results[len(targets) :], strict=True):
        puts.append(_write_implicit(engine, name, value, mask))
    return puts


def _read_implicit(engine: Engine, name: str) -> Value:
    if name == "scc":
        return engine.read_scc()
    reg = IMPLICIT[name]
    low = engine.read_sgpr(reg.index)
    return low if reg.count == 1 else low.joined(engine.read_sgpr(reg.index + 1))


def _write_implicit(engine: Engine, name: str, value: Value, mask: Value | None) -> Callable[[], None]:
    if name == "pc":
        return lambda: engine.jump(value)
    if name == "scc":
        return lambda: engine.write_scc(value)
    reg = IMPLICIT[name]
    if value.type == "b1":
        bits = lane_mask(engine, value, mask)
        return lambda: engine.write_sgpr(reg.index, bits)

    def put() -> None:
        wide = value.bits("u" + value.type[1:])
        engine.write_sgpr(reg.index, wide.to("u32"))
        if reg.count == 2:
            engine.write_sgpr(reg.index + 1, (wide >> 32).to("u32"))

    return put


def _field(engine: Engine, inst: Instruction, name: str) -> Any:
    """What else a body needs: see `isa.semantics.describe`."""
    if name == "lane":
        return engine.lane_ids()
    if name == "next":
        return engine.next_address()
    if name == "ieee":
        return engine.mode.ieee
    if name == "clamp":
        return inst.has("clamp")
    return inst.modifier(name, 0 if name == "offset" else ())


# --- what is not a matter of registers


def _branch(engine: Engine, inst: Instruction, desc: Description) -> None:
    if desc.fields:  # s_call_b64 leaves the return address
        for put in _compute(engine, inst, desc):
            put()
        engine.branch(inst, None)
    elif desc.body is None:
        engine.branch(inst, None)
    else:
        engine.branch(inst, desc.body(*(_read_implicit(engine, name) for name in desc.implicit_reads)))


def _effect(engine: Engine, inst: Instruction, desc: Description) -> None:
    if desc.effect == "end":
        engine.end()
    elif desc.effect == "barrier":
        engine.barrier()
    elif desc.effect in ("mode round", "mode denorm"):
        bits = inst.operands[0]
        assert isinstance(bits, Imm)
        mode, value = engine.mode, int(bits.value)
        engine.mode = mode.with_rounding(value) if desc.effect == "mode round" else mode.with_denormals(value)
    elif desc.effect in ("setreg", "getreg"):
        _hardware_register(engine, inst, desc.effect)
    else:
        assert desc.effect == "wait", desc.effect


def _hardware_register(engine: Engine, inst: Instruction, effect: str) -> None:
    number = 0 if effect == "setreg" else 1
    field, other = inst.operands[number], inst.operands[1 - number]
    arguments = field.get("hwreg") if isinstance(field, Fields) else None
    if arguments is None or arguments[0] not in ("HW_REG_MODE", "1"):
        raise inst.error("this hardware register is not simulated", operand=number, expected="HW_REG_MODE")
    first, count = (int(a, 0) for a in arguments[1:3]) if len(arguments) == 3 else (0, 32)
    if effect == "getreg":
        assert isinstance(other, Reg)
        engine.write_sgpr(other.index, engine.constant("u32", engine.mode.register >> first & ((1 << count) - 1)))
    elif isinstance(other, Imm) and isinstance(other.value, int):
        engine.mode = engine.mode.with_register(first, count, other.value)
    else:
        raise inst.error("MODE from an SGPR is not simulated", operand=1, expected="a number", got=str(other))
