"""Study of translation validation: pairs of kernels -> how many it proves, and whether it can be fooled.

    python tools/validation_study.py FILE.s ... [--faults N] [--seed K]

Each kernel of each file is held against itself and against copies that do the same by construction:

    renamed      each run of VGPRs that instructions name together stands elsewhere, v0 apart
    reordered    instructions of a block in another order that keeps dependences, memory accesses and waits
    split        dual instructions as two
    commuted     the first two sources of float sums and products exchanged

and against N mutants of each kind of `tools.mutation` of it, which are faults on purpose, by all that `prove --against`
asks, and by what `diff` says of the same instructions. What is "proved" of those is printed to be looked at: some
mutants do the same (operands that may be exchanged, bits that are 0).

None of this is code of `isa.passes`.
"""

from __future__ import annotations

import argparse
import random
import re
import sys
import time
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path

from hipgemm.judge import proving
from hipgemm.judge.inspection.difference import beside
from hipgemm.kernels import files as kernel_files
from isa.analysis import cfg, regset, waits
from isa.asm.emit import instruction_line
from isa.asm.parse import parse
from isa.asm.program import Kernel, Line, Program
from isa.errors import IsaError
from isa.prove.named import Names
from isa.prove.refine import validate
from isa.registers import Reg
from isa.semantics.instruction import Instruction, Modified, Operand, base_name
from isa.semantics.waits import results_text
from tools.mutation.mutants import Mutant, mutants

_HINTS = ("s_delay_alu", "s_clause")
_COMMUTING = frozenset(f"v_{op}_{kind}" for op in ("add", "mul", "fma") for kind in ("f32", "f16", "f64"))


def _written(program: Program, lines: list[Line]) -> Program:
    """The program of other lines, read again."""
    return parse("\n".join(line.text for line in lines) + "\n", program.file)


def _with(kernel: Kernel, change: Callable[[Instruction], list[Instruction]]) -> Program:
    """Each instruction of a kernel replaced."""
    program = kernel.program
    lines: list[Line] = []
    for number, line in enumerate(program.lines):
        if line.instruction is None or not kernel.start <= number < kernel.end:
            lines.append(line)
        else:
            lines += [instruction_line(inst) for inst in change(line.instruction)]
    return _written(program, lines)


def renamed(kernel: Kernel, seed: int) -> Program:
    """Runs of VGPRs that stand together keep their order and their place modulo 4, so that pairs stay legal and tuples
    stay whole; v0 stays."""
    pick = random.Random(seed)
    joined = [False] * 257  # whether v[i] and v[i + 1] are named together
    highest = 0
    for _, inst in kernel.instructions():
        for reg in _named(inst):
            highest = max(highest, reg.index + reg.count - 1)
            for i in range(reg.index, reg.index + reg.count - 1):
                joined[i] = True
    runs = [[0]]
    for i in range(1, highest + 1):
        if joined[i - 1]:
            runs[-1].append(i)
        else:
            runs.append([i])
    places: dict[int, int] = {}
    by_size: dict[tuple[int, int], list[int]] = {}
    for run in runs[1:]:
        by_size.setdefault((len(run), run[0] % 4), []).append(run[0])
    for (size, _), firsts in by_size.items():
        shuffled = firsts[:]
        pick.shuffle(shuffled)
        for a, b in zip(firsts, shuffled, strict=True):
            places.update({a + k: b + k for k in range(size)})

    def operand(o: Operand) -> Operand:
        if isinstance(o, Modified):
            return replace(o, operand=operand(o.operand))  # type: ignore[arg-type]
        if isinstance(o, Reg) and o.is_vgpr:
            return replace(o, index=places.get(o.index, o.index))
        return o

    def change(inst: Instruction) -> list[Instruction]:
        pair = None if inst.pair is None else change(inst.pair)[0]
        return [replace(inst, operands=tuple(operand(o) for o in inst.operands), pair=pair)]

    return _with(kernel, change)


def _named(inst: Instruction) -> Iterator[Reg]:
    for half in inst.halves:
        for o in half.operands:
            reg = getattr(o, "operand", o)
            if isinstance(reg, Reg) and reg.is_vgpr:
                yield reg


def split(kernel: Kernel, seed: int) -> Program:
    """Dual instructions as two, where neither order reads what the other wrote, or one does not."""

    def single(half: Instruction) -> Instruction:
        return replace(half, mnemonic=base_name(half.mnemonic), operands=tuple(o for _, o in half.desc.roles_of(half)))

    def change(inst: Instruction) -> list[Instruction]:
        if inst.pair is None:
            return [inst]
        x, y = inst.halves
        if not x.writes() & y.reads():
            return [single(x), single(y)]
        return [single(y), single(x)] if not y.writes() & x.reads() else [inst]

    return _with(kernel, change)


def commuted(kernel: Kernel, seed: int) -> Program:
    """The first two sources of float sums and products, each exchanged by chance."""
    pick = random.Random(seed)

    def change(inst: Instruction) -> list[Instruction]:
        plain = inst.pair is None and not inst.modifiers and base_name(inst.mnemonic) in _COMMUTING
        registers = len(inst.operands) > 2 and all(isinstance(o, Reg) and o.is_vgpr for o in inst.operands[:3])
        if not plain or not registers or pick.random() < 0.5:
            return [inst]
        d, a, b, *rest = inst.operands
        return [replace(inst, operands=(d, b, a, *rest))]

    return _with(kernel, change)


def reordered(kernel: Kernel, seed: int) -> Program:
    """The instructions of each block in another order: a random one that keeps dependences of registers, the order of
    memory accesses, waits, and all that is no plain computation. Hints go."""
    pick = random.Random(seed)
    flow = cfg.of_kernel(kernel)
    flight = waits.analyse(flow)
    lines = list(kernel.program.lines)
    for block in flow.blocks:
        # A block's lines lie together but for labels, which begin blocks, and directives.
        mine = [i for i in block.range if flow.instructions[i].mnemonic not in _HINTS]
        order = _order(flow, flight, mine, pick)
        texts = [_line(flow.instructions[i]) for i in order]
        for place in block.range:
            lines[flow.lines[place]] = Line("")
        for place, line in zip(mine, texts, strict=True):
            lines[flow.lines[place]] = line
    return _written(kernel.program, lines)


def _line(inst: Instruction) -> Line:
    """A transcendental result is waited for, as there may now be too little between it and its use."""
    text = instruction_line(inst).text
    return Line(f"{text}\n\t{results_text(inst.family, 'va_vdst')}" if inst.desc.is_trans else text)


def _order(flow: cfg.Cfg, flight: waits.InFlight, mine: list[int], pick: random.Random) -> list[int]:
    after: dict[int, set[int]] = {i: set() for i in mine}
    for n, j in enumerate(mine):
        second = flow.instructions[j]
        for i in mine[:n]:
            first = flow.instructions[i]
            if _fixed(first) and _fixed(second):
                bound = True
            elif first.desc.is_wait or second.desc.is_wait:
                wait, other = (i, j) if first.desc.is_wait else (j, i)
                loading = regset.mask(flight.registers(wait))
                bound = bool(loading & (flow.uses[other] | flow.defs[other]))
            else:
                a, b = (i, j)
                bound = bool(flow.defs[a] & (flow.uses[b] | flow.defs[b]) or flow.uses[a] & flow.defs[b])
                bound = bound or _masked(first, second) or _masked(second, first)
            if bound:
                after[j].add(i)
    if mine and flow.instructions[mine[-1]].desc.is_branch | flow.instructions[mine[-1]].desc.terminator:
        after[mine[-1]] = set(mine[:-1])
    done: list[int] = []
    ready = [i for i in mine if not after[i]]
    left = set(mine)
    while left:
        i = pick.choice(ready)
        done.append(i)
        left.discard(i)
        ready = [j for j in mine if j in left and not after[j] & left]
    return done


def _fixed(inst: Instruction) -> bool:
    """What keeps its place among its like: memory, waits, barriers, messages, modes."""
    desc = inst.desc
    return desc.access is not None or bool(desc.effect) or not (desc.is_valu or desc.is_salu) or bool(inst.counters)


def _masked(first: Instruction, second: Instruction) -> bool:
    """Whether one writes EXEC and the other works under it."""
    return first.desc.exec_masked and any(r in second.writes() for r in (Reg("s", 126), Reg("s", 127)))


KINDS: dict[str, Callable[[Kernel, int], Program]] = {
    "itself": lambda kernel, seed: kernel.program,
    "renamed": renamed,
    "reordered": reordered,
    "split": split,
    "commuted": commuted,
}


def study(
    programs: list[Program], faults: int, seed: int, say: Callable[[str], None] = print
) -> Counter[tuple[str, str]]:
    """(kind, verdict) -> how often; of mutants (kind of mutant, verdict)."""
    found: Counter[tuple[str, str]] = Counter()
    for program in programs:
        for name, kernel in program.kernels.items():
            for kind, change in KINDS.items():
                try:
                    proof = validate(kernel, change(kernel, seed).kernel(name))
                except IsaError as error:
                    say(f"{program.file}: {name}, {kind}: {error.message}")
                    found[kind, "refused"] += 1
                    continue
                found[kind, proof.verdict] += 1
                if not proof.proved:
                    say(f"{program.file}: {name}, {kind}: {proof}")
            if faults:
                _faults(program, kernel, faults, seed, found, say)
    return found


def _faults(
    program: Program, kernel: Kernel, count: int, seed: int, found: Counter[tuple[str, str]], say: Callable[[str], None]
) -> None:
    by_kind: dict[str, list[Mutant]] = {}
    for row in mutants(program, kernel.name):
        by_kind.setdefault(row.kind, []).append(row)
    given = kernel_files.read_kernel("\n".join(line.text for line in program.lines), kernel.name)
    pick = random.Random(seed)
    for row in (row for rows in by_kind.values() for row in pick.sample(rows, min(count, len(rows)))):
        try:
            verdict: str = proving.held(given, program, row.program, kernel.name, kernel.name).verdict
            if verdict == "unproven" and _alike(kernel, row.program.kernel(kernel.name)):
                verdict = "the same instructions"
        except IsaError:
            verdict = "refused"
        found[f"mutant: {row.kind}", verdict] += 1
        if verdict not in ("refused", "unproven", "different"):
            say(f"{program.file}:{row.line + 1}: {kernel.name}, {row.kind}: {row.what}: {verdict}")


def _alike(a: Kernel, b: Kernel) -> bool:
    """Whether `diff` finds nothing that differs."""
    texts = [[(f.name, f.texts, f.names) for f in Names(k.program).functions(k.name)] for k in (a, b)]
    return texts[0] == texts[1] and next(beside(a, b), None) is None


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("files", nargs="+", type=Path)
    parser.add_argument("--faults", type=int, default=0)
    parser.add_argument("--seed", type=int, default=1)
    given = parser.parse_args()
    began = time.process_time()
    programs = [parse(re.sub(r"\r\n?", "\n", path.read_text()), path.name) for path in given.files]
    found = study(programs, given.faults, given.seed)
    for (kind, verdict), number in sorted(found.items()):
        print(f"{kind:30} {verdict:10} {number:6}")
    print(f"{time.process_time() - began:.1f} s of processor time", file=sys.stderr)


if __name__ == "__main__":
    main()
