"""Facts about programs, as text cases: `cases/<analysis>/*.s` hold assembly and below it what the analysis says."""

from collections.abc import Callable
from pathlib import Path

import pytest

from isa.analysis import banks, cfg, defuse, exec_mask, liveness, regset, waits
from isa.analysis.cfg import Cfg
from isa.asm.parse import parse
from isa.asm.program import Kernel
from isa.registers import EXEC_LO

CASES = Path(__file__).parent / "cases"


def control_flow(source: str) -> Cfg:
    program = parse(source, "case.s")
    return cfg.of_kernel(Kernel(program, "case", 0, len(program.lines), {}, {}))


def show_cfg(source: str) -> str:
    c = control_flow(source)
    lines = []
    for b in c.blocks:
        idom = "unreachable" if b.index in c.unreachable else f"idom {c.idom[b.index]}"
        lines.append(f"block {b.index}: {b.start}..{b.end - 1} -> {list(b.successors)} {idom}")
    lines += [
        f"loop at {loop.header}: blocks {sorted(loop.blocks)} latches {list(loop.latches)} exits {list(loop.exits)} "
        f"depth {loop.depth}"
        for loop in c.loops
    ]
    lines.append(f"calls {list(c.calls)} indirect jumps {list(c.indirect_jumps)}")
    lines += [f"jump at {i} -> {list(to)}" for i, to in sorted(c.jumps.items())]
    return "\n".join(lines)


def show_liveness(source: str) -> str:
    """Each instruction, whether EXEC is full before it, and what is live before it."""
    c = control_flow(source)
    live, lanes = liveness.analyse(c), exec_mask.analyse(c)
    hide = regset.mask([EXEC_LO])
    return "\n".join(
        f"{i:2} {'full' if lanes.full[i] else '    '} {inst!s:48} {regset.names(live.before[i] & ~hide)}".rstrip()
        for i, inst in enumerate(c.instructions)
    )


def show_defuse(source: str) -> str:
    """Each instruction and where the registers that it reads were written."""
    c = control_flow(source)
    chains = defuse.analyse(c)
    lines = []
    for i, inst in enumerate(c.instructions):
        reads = [
            f"{reg} <- {','.join('entry' if d == defuse.ENTRY else str(d) for d in sorted(chains.defs_of(i, reg)))}"
            for reg in sorted(inst.reads() - {EXEC_LO})
        ]
        lines.append(f"{i:2} {inst!s:40} {'; '.join(reads)}".rstrip())
    return "\n".join(lines)


def show_banks(source: str) -> str:
    c = [line.instruction for line in parse(source).lines if line.instruction]
    lines = [" ".join(f"{column:6}" for column in banks.COLUMNS) + " clashes same-bank same-parity"]
    for inst, row in zip(c, banks.cache_table(c), strict=True):
        facts = f"{banks.clashes(inst)} {banks.same_bank(inst)} {list(banks.same_parity(inst))}"
        lines.append(" ".join(f"{cell or '-':6}" for cell in row) + " " + facts)
    return "\n".join(lines)


def show_waits(source: str) -> str:
    """Each instruction; after a wait what it covers, after a use that comes too early what it needs."""
    c = control_flow(source)
    flight = waits.analyse(c)
    early: dict[int, list[str]] = {}
    for h in flight.hazards():
        early.setdefault(h.position, []).append(f"{h.access}s {h.reg} of {h.load}: needs {h.counter}({h.needed})")
    lines = []
    for i, inst in enumerate(c.instructions):
        covered = [f"{counter}: {sorted(at)}" for counter, at in flight.covered_by(i).items()]
        lines.append(f"{i:2} {inst!s:45} {'; '.join(early.get(i, []) + covered)}".rstrip())
    return "\n".join(lines)


SHOW = {
    "waits": show_waits, "cfg": show_cfg, "liveness": show_liveness, "defuse": show_defuse, "banks": show_banks,
}  # fmt: skip


@pytest.mark.parametrize("path", sorted(CASES.glob("*/*.s")), ids=lambda p: f"{p.parent.name}/{p.stem}")
def test_case(path: Path, text_case: Callable[[Path, Callable[[str], str]], None]) -> None:
    text_case(path, SHOW[path.parent.name])
