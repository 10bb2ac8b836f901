"""A launch for a kernel of which none is known: loops of a fixed number of iterations, addresses side by side. It
compares two texts of one kernel, and is no time.

In: a kernel's control flow and what it takes of the machine. Out: a `Prepared` for `isa.timing.model.ensemble`. Every
wave walks through the blocks in the order of the code, both sides of each branch, each loop `ITERATIONS` times around
or, of large nests, less (`iterations_of`); each LDS access meets no conflicts, each memory access touches as many
sectors as its data fill, which L1 does not have and L2 has. As many workgroups run as fill the card twice.

Limits: whether branches are taken, how often loops run, conflicts of LDS and misses of caches are what they are here;
so what a change does to those is not seen.
"""

from __future__ import annotations

import numpy as np

from isa.analysis.cfg import Cfg
from isa.analysis.resources import occupancy
from isa.targets import target
from isa.timing.machine import bank_rules, rdna3
from isa.timing.machine.cards import Card
from isa.timing.model.run import Prepared, Resources
from isa.timing.native import engine_abi
from isa.timing.native.engine_abi import Recorded
from isa.timing.trace.decode import decode
from isa.timing.trace.places import AXES
from isa.timing.trace.trace import Trace

ITERATIONS = 12
_LONGEST = 40_000
"""Instructions of a wave's path; deeper nests make fewer iterations."""
_ACCESSES = (engine_abi.LDS_LOAD, engine_abi.LDS_STORE), (engine_abi.LOAD, engine_abi.STORE)


def iterations_of(cfg: Cfg) -> int:
    """How often each loop runs: ITERATIONS, less where loops in loops would make too long a path."""
    sizes = [block.end - block.start for block in cfg.blocks]
    return next(n for n in (ITERATIONS, 6, 3, 1) if n == 1 or sum(sizes[b] for b in _path(cfg, n)) <= _LONGEST)


def prepare(
    cfg: Cfg, resources: Resources, threads: int, on: Card, iterations: int | None = None,
    bank_rule: str = bank_rules.DEFAULT,
) -> Prepared:  # fmt: skip
    """What `isa.timing.model.run.prepare` gives for a launch. threads: of a workgroup; iterations: to compare two
    texts, those of the first. IsaError as there."""
    numbers = rdna3.values()
    code = decode(cfg, numbers, bank_rule)
    waves = -(-threads // 32)
    fits = occupancy(resources.vgprs, resources.lds, threads, cu_mode=resources.cu_mode, target=target(on.arch))
    units = on.cus if resources.cu_mode else on.wgps
    n = len(code.kind)
    recorded = _recorded(cfg, code, waves, iterations or iterations_of(cfg))
    trace = Trace(
        recorded, waves, (2 * units * fits.workgroups, 1, 1), np.zeros((n, AXES), np.int64), True,
    )  # fmt: skip
    level = np.tile([0.0, 1.0, 1.0], (n, 2, 1))
    return Prepared(cfg, code, trace, resources, numbers, on, fits, level, engine_abi.BROUGHT, np.zeros((2, n, 5)))


def _path(cfg: Cfg, iterations: int) -> list[int]:
    """The blocks in the order of the code, so many iterations of each loop."""
    heads = {loop.header: loop for loop in cfg.loops}

    def walk(blocks: list[int], inside: int | None) -> list[int]:
        out: list[int] = []
        done: set[int] = set()
        for b in blocks:
            if b in done:
                continue
            if b in heads and b != inside:
                body = [x for x in blocks if x in heads[b].blocks]
                done |= set(body)
                out += walk(body, b) * iterations
            else:
                out.append(b)
        return out

    return walk(sorted(cfg.order), None)


def _recorded(cfg: Cfg, code: engine_abi.Code, waves: int, iterations: int) -> Recorded:
    path = _path(cfg, iterations)
    rows = np.concatenate([np.arange(cfg.blocks[b].start, cfg.blocks[b].end) for b in path])
    lds, memory = (code.dwords[rows[np.isin(code.kind[rows], kinds)]] for kinds in _ACCESSES)
    counts = np.tile(4 * memory, waves)
    return Recorded(
        block_at=np.arange(waves + 1, dtype=np.int64) * len(path),
        blocks=np.tile(np.array(path, np.int64), waves),
        lds_at=np.arange(waves + 1, dtype=np.int64) * len(lds),
        lds=np.tile(lds, waves),
        mem_at=np.arange(waves + 1, dtype=np.int64) * len(memory),
        sector_at=np.concatenate([[0], np.cumsum(counts)]).astype(np.int64),
        sectors=np.arange(int(counts.sum()), dtype=np.int64),
    )
