"""Kernels 6 to 8 add up the same products from the same places as kernel 5, told from their registers' polynomials."""

from typing import Any

from isa.analysis import cfg, inner
from isa.passes.gemm import outer_product
from isa.passes.gemm.batch_loads import _factored, _is_global_load, _parts
from isa.passes.symbolic import flow
from isa.passes.symbolic.poly import Poly
from isa.registers import Reg

TILE = (8, 16)


def test_accumulators_return_to_where_the_epilogue_reads_them(ladder: dict[str, Any]) -> None:
    """Kernel 6's accumulators, carried through the exchanges after the loop, are kernel 5's."""
    five, six = (outer_product.find(ladder[k].program.kernel(), TILE) for k in ("kernel5", "kernel6"))
    where = dict(six.accumulators)
    after = six.cfg.blocks[six.nest.exits[0][1]].start
    for inst in six.cfg.instructions[after : after + 200]:
        if inst.mnemonic == "v_swap_b32":
            a, b = inst.operands
            where = {k: b if r == a else a if r == b else r for k, r in where.items()}  # type: ignore[misc]
        elif inst.mnemonic == "v_mov_b32_e32" and inst.operands[1] in where.values():
            where = {k: inst.operands[0] if r == inst.operands[1] else r for k, r in where.items()}  # type: ignore[misc]
        else:
            break
    assert where == five.accumulators


def test_streams_stay(ladder: dict[str, Any]) -> None:
    """Column and row are read at the same places of LDS, and move on by the same bytes: the padded row of As, that of
    Bs."""
    five, six = (outer_product.find(ladder[k].program.kernel(), TILE) for k in ("kernel5", "kernel6"))
    assert (five.column.step, five.row.step) == (132 * 4, 128 * 4)
    for old, new in ((five.column, six.column), (five.row, six.row)):
        assert new.step == old.step
        assert len(new.offsets) == len(old.offsets)
        assert [o - new.offsets[0] for o in new.offsets] == [o - old.offsets[0] for o in old.offsets]


def lds_words(rung: Any, steps: int) -> list[str]:
    """The address of each LDS load of one turn of the outer loop, in order."""
    kernel = rung.program.kernel()
    code = cfg.of_kernel(kernel)
    main = inner.main_loop(code)
    assert main is not None
    before = code.blocks[main.header]
    machine = flow.leave(code, flow.entry(kernel), outer_product.entering(code, main).index)
    if steps == 1:
        machine = flow.arrive(code, flow.entry(kernel), main.header)
    found = []
    for _ in range(steps):
        for i in before.range:
            access = code.instructions[i].desc.access
            if access and (access.space, access.kind) == ("lds", "load"):
                found.append(str(machine.address(code.instructions[i])))
            machine.run(code.instructions[i])
    return found


def test_unrolled_steps_read_what_the_loop_read(ladder: dict[str, Any]) -> None:
    assert lds_words(ladder["kernel7"], 1) == lds_words(ladder["kernel6"], 8)
    assert lds_words(ladder["kernel8"], 1) == lds_words(ladder["kernel6"], 8)


def test_unrolled_steps_multiply_alike(ladder: dict[str, Any]) -> None:
    def fmas(name: str) -> list[str]:
        code = cfg.of_kernel(ladder[name].program.kernel())
        main = inner.main_loop(code)
        assert main is not None
        return [str(x) for x in inner.body(code, main) if inner.fmas(x)]

    assert fmas("kernel7") == fmas("kernel6") * 8
    assert fmas("kernel8") == fmas("kernel7")


def test_global_loads_go_where_they_went(ladder: dict[str, Any]) -> None:
    """Base and offset before the first iteration are the compiler's address without its moving part; and the offset
    moves on by that part's factor."""
    old, new = ladder["kernel7"].program.kernel(), ladder["kernel8"].program.kernel()
    expected: dict[Reg, tuple[str, Poly]] = {}
    code = cfg.of_kernel(old)
    main = inner.main_loop(code)
    assert main is not None
    machine = flow.arrive(code, flow.entry(old), main.header)
    for i in code.blocks[main.header].range:
        inst = code.instructions[i]
        if _is_global_load(inst):
            base, lane, moving = _parts(inst, machine.address(inst))
            expected[inst.operands[0]] = str(base + lane), moving  # type: ignore[index]
        machine.run(inst)
    assert len(expected) == 16

    code = cfg.of_kernel(new)
    main = inner.main_loop(code)
    assert main is not None
    entry = flow.entry(new)
    start = flow.leave(code, entry, outer_product.entering(code, main).index)
    machine, head = (flow.arrive(code, entry, main.header) for _ in range(2))
    for i in code.blocks[main.header].range:
        inst = code.instructions[i]
        if _is_global_load(inst):
            target, offset, base_pair = inst.operands
            assert isinstance(target, Reg)
            assert isinstance(offset, Reg)
            assert isinstance(base_pair, Reg)
            assert str(start[offset] + start.pair(base_pair)) == expected[target][0], inst
            # What the offset was at the head of the iteration, plus factor * (counter - previous counter).
            factor, counter = _factored(inst, expected[target][1])
            change = machine[offset] - head[offset]
            parts: dict[str, Poly] = {}
            for monomial, c in change.terms.items():
                (moving,) = (str(a) for a in monomial if a.owners)
                part = Poly({tuple(a for a in monomial if not a.owners): c})
                parts[moving] = parts.get(moving, Poly({})) + part
            assert str(parts.pop(str(counter))) == str(factor), inst
            (previous,) = parts.values()
            assert str(previous) == str(Poly({}) - factor), inst
        machine.run(inst)
