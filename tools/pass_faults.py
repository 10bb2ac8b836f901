"""Faults put into the passes on purpose: whether translation validation finds what they do to kernels.

    python tools/pass_faults.py FILE ... [--faults N] [--seed K] [--of KIND,KIND]

FILE: HIP source, assembly, kernels of the ladder. --of: faults of these kinds alone. A fault is one wrong answer of one
function that a pass asks, once in a run, at a place that chance chooses (`FAULTS`):

    dependence   one edge of a block's dependence graph is missing
    wait         a wait is for one access less than is needed, or is not there
    register     a value is put where another one lives
    life         a value is taken to be dead where it lives
    name         one instruction keeps its old registers where they are renamed
    half         a half of a pair reads the register beside the one that it must
    order        of a pair that is taken apart the second half goes first
    offset       an unrolled load is folded to the next word
    step         a step of an unrolled loop is left out, or done twice
    copy         the same, of four iterations of a loop that counts
    landing      where loads are in flight at barriers, a wait for one access less than is needed, or none
    neighbour    a wide access goes to the next dword
    passed       a load passes a store that it may meet, a fence or a change of EXEC
    changed      a store is late for what it stores, a load fills what is still read
    row          in longer rows of LDS an access has another offset
    base         there an access keeps its register
    code         something of what computes the new one is missing
    mask         code under a mask is taken to be under its complement
    outside      what a mask is in lanes that are off is taken for something else
    way          of a selection under a mask the wrong arm is taken
    copy-of      a scalar register is taken for a copy of EXEC
    arm          a selection is written the wrong way around
    source       an instruction that is rewritten reads the register beside
    room         a value is written over while it is still needed
    left-out     a register that is read later is not written
    lane         what is written over is taken to keep its value until it is added to a scalar base
    for-all      lanes that differ in what they have done are taken to be alike
    clobber      SCC is taken to be free, or a scalar to keep its value, where a base moves
    region       a base may lie where something else does
    moved        of a base one word is not moved on
    lane-of      an access with a base reads the VGPR beside

What the pipeline's own verification rejects is counted separately, as is what comes out unchanged. Of all else the
validator (`isa.prove.refine`) is asked. What it proves is the same (a wait that another one makes needless) if no
launch is found on which both were run and left different memory (`hipgemm.judge.witness`); or it is a fault that was
missed, and its text is printed.
"""

from __future__ import annotations

import argparse
import itertools
import random
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any
from unittest import mock

from hipgemm.judge import proving, witness
from hipgemm.kernels.build import readable
from hipgemm.kernels.files import read_kernels
from hipgemm.kernels.object import Kernel
from isa.analysis import dependences, webs
from isa.asm.emit import emit
from isa.asm.parse import parse_instruction
from isa.asm.program import Program
from isa.errors import IsaError
from isa.passes import run_pipeline
from isa.passes.gemm import unroll
from isa.passes.general import (
    if_convert,
    lane_values,
    neighbours,
    pad_lds,
    relax_barriers,
    rename_banks,
    scalar_addresses,
    scalar_sums,
    selections,
    unroll_by,
    widen_loads,
)
from isa.passes.schedule import block_order
from isa.prove.refine import validate
from isa.registers import Reg
from isa.semantics.instruction import Instruction, Modified
from isa.semantics.waits import parse_wait, wait_texts

Wrong = Callable[[random.Random, Any, tuple[Any, ...]], Any]
"""(chance, the right answer, what was asked) -> a wrong answer; the right one where nothing of it can be wrong."""


def _edge(chance: random.Random, edges: list[dict[int, Any]], _: tuple[Any, ...]) -> list[dict[int, Any]]:
    all_of_them = [(later, earlier) for later, row in enumerate(edges) for earlier in row]
    if all_of_them:
        later, earlier = chance.choice(all_of_them)
        del edges[later][earlier]
    return edges


def _wait(chance: random.Random, found: list[Instruction], _: tuple[Any, ...]) -> list[Instruction]:
    if not found or chance.random() < 0.5:
        return []
    wait = found[-1]
    needed = parse_wait(wait)
    counter = chance.choice(sorted(needed))
    texts = wait_texts(wait.family, {**needed, counter: needed[counter] + 1})
    return [*found[:-1], *(replace(parse_instruction(text), target=wait.target) for text in texts)]


def _half(chance: random.Random, half: Instruction, _: tuple[Any, ...]) -> Instruction:
    """Another register for one that is read, in the same bank, so that the pair stays legal."""
    places = [i for i, o in enumerate(half.operands) if i and isinstance(o, Reg) and o.is_vgpr and o.index > 3]
    if not places:
        return half
    at, operands = chance.choice(places), list(half.operands)
    reg = operands[at]
    assert isinstance(reg, Reg)
    operands[at] = replace(reg, index=reg.index - 4)
    return replace(half, operands=tuple(operands))


def _offset(_: random.Random, inst: Instruction, __: tuple[Any, ...]) -> Instruction:
    offset = inst.modifier("offset")
    if inst.desc.space != "lds" or not isinstance(offset, int):
        return inst
    changed = tuple((name, offset + 4 if name == "offset" else value) for name, value in inst.modifiers)
    return replace(inst, modifiers=changed)


def _steps(chance: random.Random, steps: list[list[Instruction]], _: tuple[Any, ...]) -> list[list[Instruction]]:
    at = chance.randrange(len(steps))
    return [*steps[:at], *([steps[at]] * 2 if chance.random() < 0.5 else []), *steps[at + 1 :]]


def _life(chance: random.Random, found: webs.Webs, _: tuple[Any, ...]) -> webs.Webs:
    """A web's later half is forgotten."""
    web = chance.choice([web for cluster in found.clusters for web in cluster.webs])
    for _half_of_them in range(web.taken.bit_count() // 2):
        web.taken &= ~(1 << web.taken.bit_length() - 1)
    return found


def _one_row_off(chance: random.Random, right: tuple[int, int], asked: tuple[Any, ...]) -> tuple[int, int]:
    """Of what is added before the row is looked at, and the offset: another one, or the offset that was there."""
    key, offset = right
    return chance.choice(((key, asked[2]), (key, offset + 4), (0, offset), (key, max(offset - 4, 0))))


def _shorter(chance: random.Random, right: Iterator[str], _: tuple[Any, ...]) -> list[str]:
    code = list(right)
    del code[chance.randrange(len(code))]
    return code


@dataclass(frozen=True)
class Fault:
    """owner, name: the function that answers wrongly; wrong: how; pipelines: that ask it."""

    owner: Any
    name: str
    wrong: Wrong
    pipelines: tuple[str, ...]


def _beside(_: random.Random, row: block_order.Row, __: tuple[Any, ...]) -> block_order.Row:
    name = "offset1" if row.inst.has("offset1") else "offset"
    rest = tuple(m for m in row.inst.modifiers if m[0] != name)
    more = row.inst.number(name) + (1 if name == "offset1" else 4)
    wrong = replace(row.inst, modifiers=((name, more), *rest))
    return replace(row, inst=wrong) if row.also else row


def _other_way(chance: random.Random, right: lane_values.Value, asked: tuple[Any, ...]) -> lane_values.Value:
    value: lane_values.Value = asked[0]
    others = [arm for arm in (value.first, value.second, value) if arm is not None and arm is not right]
    return chance.choice(others) if others else right


def _taken(chance: random.Random, _: None, asked: tuple[Any, ...]) -> None:
    """A register whose value is still needed is among those that are free."""
    writer: selections.Writer = asked[0]
    needed = {need for item in writer.items for need in item.needs}
    if taken := [n for value, n in writer.where.items() if n >= 0 and value in needed]:
        writer.temps.insert(0, chance.choice(taken))


def _without_one(chance: random.Random, right: list[Any], _: tuple[Any, ...]) -> list[Any]:
    needed = {need for item in right for need in item.needs}
    ends = [k for k, item in enumerate(right) if item.to >= 0 and item.value not in needed]
    if ends:
        del right[chance.choice(ends)]
    return right


def _elsewhere(chance: random.Random, right: lane_values.Mask, _: tuple[Any, ...]) -> lane_values.Mask:
    return replace(right, outside=chance.choice([x for x in (0, 1, None) if x != right.outside]))


def _copy_of_exec(chance: random.Random, right: dict[int, lane_values.Mask], _: tuple[Any, ...]) -> Any:
    return right | {chance.randrange(16): lane_values.Mask(lane_values.ALL, 0)}


def _beside_it(reg: Reg) -> Reg:
    return replace(reg, index=reg.index ^ 1)


def _register_beside(_: random.Random, __: Any, asked: tuple[Any, ...]) -> Any:
    operand, reg = asked
    return replace(operand, operand=_beside_it(reg)) if isinstance(operand, Modified) else _beside_it(reg)


def _nothing(*_: Any) -> Any:
    return iter(())


def _yes(*_: Any) -> bool:
    return True


def _unchanged(_: random.Random, __: Any, asked: tuple[Any, ...]) -> Any:
    return asked[0]


_PAIRS = "rename-pairs"
_ROWS = ("pad-lds", "pad-lds{row=256}", "pad-lds,schedule")
_WIDE = ("widen-loads",)
_LANES = ("if-convert",)
_BASES = ("scalar-addresses", "scalar-addresses,schedule")
_MOVING = ("rename-banks", "spread-loads", "spread-loads,schedule", _PAIRS, "widen-loads")
_ORDERING = ("schedule", "pair", "spread-loads,schedule", _PAIRS)
FAULTS: dict[str, Fault] = {
    "dependence": Fault(dependences, "edges", _edge, _ORDERING),
    "wait": Fault(block_order, "wait_instructions", _wait, ("relax-waits", "schedule", *_WIDE)),
    "register": Fault(rename_banks.Colouring, "_in_the_way", _nothing, _MOVING),
    "life": Fault(webs, "analyse", _life, _MOVING),
    "name": Fault(rename_banks, "renamed", _unchanged, _MOVING),
    "half": Fault(block_order, "dual", _half, _ORDERING),
    "order": Fault(block_order, "_order", lambda _, right, __: right[::-1], _ORDERING),
    "offset": Fault(unroll, "_folded", _offset, ("unroll", "unroll,spread-loads,schedule")),
    "step": Fault(unroll.Unroll, "_steps", _steps, ("unroll",)),
    "copy": Fault(unroll_by, "_copies", _steps, ("unroll{by=4}", "unroll{by=4},schedule")),
    "landing": Fault(relax_barriers, "wait_instructions", _wait, ("relax-barriers", "relax-barriers,schedule")),
    "neighbour": Fault(widen_loads, "_row", _beside, _WIDE),
    "passed": Fault(neighbours, "may_move", _yes, _WIDE),
    "changed": Fault(widen_loads._Finder, "_still", _yes, _WIDE),
    "row": Fault(pad_lds._Padding, "_placed", _one_row_off, _ROWS),
    "base": Fault(pad_lds._Padding, "_base", lambda _, __, asked: (asked[1].base, []), _ROWS),
    "code": Fault(pad_lds._Padding, "_code", _shorter, _ROWS),
    "mask": Fault(lane_values.Run, "mask_of", lambda _, m, __: replace(m, table=lane_values.ALL & ~m.table), _LANES),
    "outside": Fault(lane_values, "_combined", _elsewhere, _LANES),
    "way": Fault(lane_values, "restricted", _other_way, _LANES),
    "copy-of": Fault(if_convert, "known_copies", _copy_of_exec, _LANES),
    "arm": Fault(selections.Writer, "_mask", lambda _, right, __: (right[0], not right[1]), _LANES),
    "source": Fault(selections, "_in_place", _register_beside, _LANES),
    "room": Fault(selections.Writer, "_free_temps", _taken, _LANES),
    "left-out": Fault(selections.Writer, "_items", _without_one, _LANES),
    "lane": Fault(scalar_addresses.Rewriting, "_kept", _yes, _BASES),
    "for-all": Fault(scalar_sums.Addresses, "_by_all_lanes", _yes, _BASES),
    "clobber": Fault(scalar_sums.Addresses, "_scalar_fits", _yes, _BASES),
    "region": Fault(scalar_addresses.Rewriting, "_region", lambda _, right, __: {min(right)}, _BASES),
    "moved": Fault(scalar_addresses.Rewriting, "_moved", lambda _, right, __: right[:-1], _BASES),
    "lane-of": Fault(scalar_addresses.Rewriting, "_lane", lambda _, right, __: _beside_it(right), _BASES),
}


def run(
    program: Program, pipeline: str, fault: Fault, at: int, chance: random.Random, kernel: str = ""
) -> tuple[Program, int]:
    """What a pipeline makes of one kernel, or of all, with a fault at the call of this number, at none for -1, and how
    many calls there were. IsaError where it breaks."""
    right, calls = getattr(fault.owner, fault.name), itertools.count()

    def answer(*asked: Any, **named: Any) -> Any:
        given = right(*asked, **named)
        return fault.wrong(chance, given, asked) if next(calls) == at else given

    with mock.patch.object(fault.owner, fault.name, answer):
        *_, (_, made) = run_pipeline(program, pipeline, kernel=kernel)
    return made, next(calls)


@dataclass(frozen=True)
class Outcome:
    """verdict: "refused" by the pipeline, "unchanged", "found", "same" (and no launch tells them apart), "missed"."""

    fault: str
    pipeline: str
    name: str
    verdict: str
    made: Program | None = None


def outcomes(
    kernels: Iterable[tuple[Kernel, Program]], seed: int, kinds: Sequence[str] = tuple(FAULTS)
) -> Iterator[Outcome]:
    """One after the other, without end, each of another kernel, fault and place."""
    chance = random.Random(seed)
    rows = [(kernel, program, name) for kernel, program in kernels for name in program.kernels]
    right: dict[tuple[int, str, str], tuple[str, int] | None] = {}
    while True:
        row = chance.randrange(len(rows))
        kernel, program, name = rows[row]
        kind = chance.choice(kinds)
        pipeline = chance.choice(FAULTS[kind].pipelines)
        key = (row, kind, pipeline)
        if key not in right:
            try:
                made, calls = run(program, pipeline, FAULTS[kind], -1, chance, name)
                right[key] = (emit(made), calls) if calls else None
            except IsaError:
                right[key] = None
        known = right[key]
        if known is not None:
            yield Outcome(kind, pipeline, name, *_judged(kernel, program, name, (kind, pipeline), known, chance))


def _judged(
    kernel: Kernel, program: Program, name: str, what: tuple[str, str], known: tuple[str, int], chance: random.Random
) -> tuple[str, Program | None]:
    kind, pipeline = what
    try:
        made, _ = run(program, pipeline, FAULTS[kind], chance.randrange(known[1]), chance, name)
    except IsaError:
        return "refused", None
    if emit(made) == known[0]:
        return "unchanged", None
    try:
        proof = validate(program.kernel(name), made.kernel(name), proving.facts(kernel))
    except IsaError:
        return "found", made
    if not proof.proved:
        return "found", made
    return ("missed" if witness.search(kernel, program, made, (name, name)) else "same"), made


def study(
    kernels: Iterable[tuple[Kernel, Program]],
    count: int,
    seed: int,
    say: Callable[[str], None] = print,
    kinds: Sequence[str] = tuple(FAULTS),
) -> Counter[tuple[str, str]]:
    """(fault, verdict) -> how often, until the validator was asked of `count`."""
    found: Counter[tuple[str, str]] = Counter()
    for number, outcome in enumerate(outcomes(kernels, seed, kinds)):
        found[outcome.fault, outcome.verdict] += 1
        if outcome.verdict == "missed":
            say(f"missed: {outcome.fault} in {outcome.pipeline} on {outcome.name} (number {number} of seed {seed})")
        if sum(n for (_, verdict), n in found.items() if verdict in ("found", "same", "missed")) >= count:
            break
    return found


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("files", nargs="+")
    parser.add_argument("--faults", type=int, default=500)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--of", default=",".join(FAULTS))
    given = parser.parse_args()
    kernels = [(k, p) for file in given.files for k in read_kernels(file) if isinstance(p := readable(k), Program)]
    found = study(kernels, given.faults, given.seed, kinds=given.of.split(","))
    verdicts = ("refused", "unchanged", "found", "same", "missed")
    print(f"{'fault':12}" + "".join(f"{v:>10}" for v in verdicts))
    for fault in (*given.of.split(","), "all"):
        counts = [sum(n for (f, w), n in found.items() if w == v and fault in (f, "all")) for v in verdicts]
        print(f"{fault:12}" + "".join(f"{n:10}" for n in counts))


if __name__ == "__main__":
    main()
