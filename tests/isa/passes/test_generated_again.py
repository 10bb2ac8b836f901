"""The main loops of kernels 6 to 8, written by the generator of kernel 9: the code objects are the same, byte for byte.

Input: a kernel that the passes made of a compiler's, and what it is an instance of: `Parameters` and a `CompiledShape`.
Output: its main loop once more, from the functions that write the K blocks of generated kernels.

    kernel 6    one step in a loop; LDS addresses go on beside the loads
    kernel 7    all steps, one a group
    kernel 8    the same, two global loads beside each group

Read from the program is which register holds what, by its role: of an element of the column or the row, of an
accumulator, of what is fetched, of an address. Everything else follows from the numbers: which words of LDS a step
reads, in which order and where the loads, waits, FMAs, stores and barriers stand. What a K block does not have is
taken as it is and reported separately (`MainLoop.taken`): the compiler's control of its loop over K, and how the
addresses of global loads go on, in kernel 7 with the loads themselves.
"""

from __future__ import annotations

import dataclasses
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import pytest

from isa.analysis import cfg, inner
from isa.asm.emit import emit
from isa.asm.parse import parse_instruction
from isa.asm.program import Kernel, Program
from isa.errors import IsaError
from isa.gemm.vector.generate import steps
from isa.gemm.vector.parameters import Parameters
from isa.outer_product import fma_order, text
from isa.outer_product.text import Store
from isa.passes.edit import instruction_lines
from isa.passes.words import in_words
from isa.registers import Reg
from isa.semantics.instruction import Instruction
from isa.targets import GFX1100


@dataclass(frozen=True)
class CompiledShape:
    """How a compiled kernel's main loop differs from a generated one's.

    rolled:       a loop over the steps of a K block, instead of all of them.
    loads_beside: global loads beside the LDS loads of each group; 0: they stand before the first.
    """

    rolled: bool = False
    loads_beside: int = 0


PARAMETERS = Parameters(
    rows=128, columns=128, depth=8, thread_rows=8, thread_columns=16, lane_rows=4, group=1, stages=1
)
"""Of kernels 6 to 8."""
SHAPES = {"kernel6": CompiledShape(rolled=True), "kernel7": CompiledShape(), "kernel8": CompiledShape(loads_beside=2)}


@dataclass(frozen=True)
class MainLoop:
    """lines: the instructions of a main loop, in order; taken: those of them that come from the program.
    body: the loop that the program has, from instruction `first` to `last` of its kernel."""

    lines: tuple[str, ...]
    taken: tuple[Instruction, ...]
    body: tuple[Instruction, ...]
    first: int
    last: int

    @property
    def same(self) -> bool:
        """Whether the generator's loop is the program's."""
        return [str(parse_instruction(line)) for line in self.lines] == list(map(str, self.body))


@dataclass(frozen=True)
class _Operand:
    """Where a step's elements are read to. start: the offset that the address register does not hold."""

    pairs: tuple[tuple[Reg, ...], ...]
    read: Reg
    start: int


def main_loop(kernel: Kernel, shape: CompiledShape, p: Parameters = PARAMETERS) -> MainLoop:
    """The main loop of `kernel`, generated. IsaError where it holds something that has no place there."""
    flow = cfg.of_kernel(kernel)
    loop = inner.main_loop(flow)
    if loop is None or len(loop.blocks) != 1:
        raise IsaError(f"kernel {kernel.name} has no main loop of one run of instructions")
    body = inner.body(flow, loop)
    block = flow.blocks[loop.header]
    reads = [i for i, inst in enumerate(body) if inst.mnemonic == "ds_load_b64"]
    fmas = [i for i, inst in enumerate(body) if inner.fmas(inst)]
    if not reads or not fmas or (n := (p.thread_rows + p.thread_columns) // 2) > len(reads):
        raise body[0].error("the main loop does not begin with the LDS loads of a step", expected="ds_load_b64")
    half = p.thread_rows // 2
    a, b = (_operand([body[i] for i in part]) for part in (reads[:half], reads[half:n]))
    pairs = fma_order.schedule(p.thread_rows, p.thread_columns)
    sums = _accumulators([body[i] for i in fmas[: len(pairs)]], a, b)
    tail = body[fmas[-1] + 1 :]

    def group(number: int, beside: Sequence[str]) -> list[str]:
        return list(text.group(steps(p, (a, b), (a.start, b.start), number), pairs, sums, beside))

    if shape.rolled:
        advance = [
            f"v_add_nc_u32_e32 {o.read}, {side.pitch:#x}, {o.read}" for side, o in zip(p.sides, (a, b), strict=True)
        ]
        control = [inst for inst in body[reads[n - 1] + 1 : fmas[0]] if inst.desc.is_salu]
        lines = [*group(0, [*advance, *map(str, control)]), *map(str, tail)]
        return MainLoop(tuple(in_words(GFX1100, lines)), (*control, *tail), tuple(body), block.start, block.end - 1)

    head, control = body[: reads[0]], [inst for inst in tail if inst.desc.is_salu or inst.desc.is_branch]
    stored = _stores(p, tail)
    loads = _loads(body, [s.value for s in stored]) if shape.loads_beside else []
    lines = list(map(str, head))
    for number in range(p.depth // p.group):
        at = number * shape.loads_beside
        lines += group(number, loads[at : at + shape.loads_beside])
    lines += map(str, control[:-1])
    lines += text.turn(text.stores(stored, paired=True), wait_first=True)
    lines += map(str, control[-1:])
    return MainLoop(tuple(in_words(GFX1100, lines)), (*head, *control), tuple(body), block.start, block.end - 1)


def _operand(loads: Sequence[Instruction]) -> _Operand:
    pairs, addresses = ([_register(inst, place) for inst in loads] for place in (0, 1))
    return _Operand((tuple(pairs),), addresses[0], loads[0].offset)


def _accumulators(fmas: Sequence[Instruction], a: _Operand, b: _Operand) -> dict[tuple[int, int], Reg]:
    columns, rows = (
        {unit: i for i, unit in enumerate(unit for pair in o.pairs[0] for unit in pair.units())} for o in (a, b)
    )
    found = {}
    for inst in fmas:
        for half in inst.halves:
            target, column, row = (_register(half, place) for place in range(3))
            if column not in columns or row not in rows:
                raise inst.error("an FMA whose factors are no elements of this step's column and row")
            found[columns[column], rows[row]] = target
    return found


def _stores(p: Parameters, tail: Sequence[Instruction]) -> list[Store]:
    """B's part of the next K block, then A's: the registers by what is stored where, the order by the parameters."""
    held: dict[Reg, dict[int, Reg]] = {}
    for inst in tail:
        if (access := inst.desc.access) is None or (access.space, access.kind) != ("lds", "store"):
            continue
        address, *parts = (_register(inst, place) for place in range(len(inst.operands)))
        for i, value in enumerate(parts):
            at = inst.modifier(f"offset{i}", 0) if access.pair else inst.offset
            assert isinstance(at, int)
            held.setdefault(address, {})[at * (4 * access.pair or 1)] = value
    if len(held) != 2:
        raise tail[0].error("the end of the main loop does not store A and B", got=f"{len(held)} addresses")
    found = []
    for side, (address, values) in zip(reversed(p.sides), held.items(), strict=True):
        for k, x in side.fetches:
            offset = k * side.pitch + 4 * x
            if offset not in values:
                raise tail[0].error(f"nothing is stored {offset} bytes into the part of {side.name}")
            found.append(Store(address, values[offset], offset))
    return found


def _loads(body: Sequence[Instruction], targets: Sequence[Reg]) -> list[str]:
    """The global loads of what is stored, in the same order."""
    held = {_register(i, 0): i for i in body if i.desc.access and i.desc.access.space == "global"}
    if set(held) != set(targets):
        raise body[0].error("the main loop does not fetch what it stores")
    return [f"global_load_b32 {t}, {_register(held[t], 1)}, {_register(held[t], 2)}" for t in targets]


def _register(inst: Instruction, place: int) -> Reg:
    found = inst.operands[place]
    if not isinstance(found, Reg):
        raise inst.error("an operand that is no register", got=str(found))
    return found


# --- the tests
def with_loop(program: Program, loop: MainLoop) -> Program:
    """The program with its main loop's instructions exchanged. Comments and hints in between go."""
    at = cfg.of_kernel(program.kernel()).lines
    lines = list(program.lines)
    lines[at[loop.first] : at[loop.last] + 1] = instruction_lines(loop.lines)
    return program.with_lines(lines)


@pytest.mark.parametrize("name", SHAPES)
def test_the_generator_writes_the_same_bytes(ladder: dict[str, Any], name: str) -> None:
    """Of the whole kernel; `taken` says which instructions of the loop are not the generator's."""
    rung = ladder[name]
    loop = main_loop(rung.program.kernel(), SHAPES[name])
    assert loop.same
    assert rung.tools.code_object(emit(with_loop(rung.program, loop))) == rung.image
    kinds = Counter(inst.desc.unit for inst in loop.taken)
    mine = len(loop.lines) - len(loop.taken)
    if name == "kernel6":
        assert (len(loop.lines), mine) == (82, 79)
        assert kinds == {"salu": 2, "branch": 1}
    else:
        # 8 steps of 12 loads, a wait and 64 FMAs; the turn of the buffer: 8 stores, 2 waits, 2 barriers.
        assert mine == 8 * (12 + 1 + 64) + 12 + (16 if name == "kernel8" else 0)
    if name == "kernel8":
        # The compiler's loop over K, and the two offsets that the pass lets follow it.
        assert kinds["valu"] == 2
        assert set(kinds) - {"internal"} == {"salu", "branch", "valu"}
        assert len(loop.taken) <= 15


@pytest.mark.parametrize(
    "change",
    [{"lane_rows": 8}, {"thread_rows": 16, "thread_columns": 8}, {"rows": 64}],
    ids=str,
)
def test_the_numbers_are_not_taken_from_the_program(ladder: dict[str, Any], change: dict[str, int]) -> None:
    """With other parameters the loop is another, or none."""
    rung = ladder["kernel8"]
    try:
        loop = main_loop(rung.program.kernel(), SHAPES["kernel8"], dataclasses.replace(PARAMETERS, **change))
    except IsaError:
        return
    assert not loop.same
    assert rung.tools.code_object(emit(with_loop(rung.program, loop))) != rung.image


def test_a_loop_without_ds_load_b64_is_refused(ladder: dict[str, Any]) -> None:
    with pytest.raises(IsaError, match="does not begin with the LDS loads"):
        main_loop(ladder["kernel5"].program.kernel(), SHAPES["kernel6"])
