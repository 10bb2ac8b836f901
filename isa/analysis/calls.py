"""Call targets: a `Cfg` -> the function after each call, and after each jump through a register.

Code finds a function's address from where it stands (LLVM AMDGPUUsage, "Function Call Convention"):

    s_getpc_b64 s[0:1]
    s_sext_i32_i16 s1, s1                     only on RDNA4
    s_add_u32 s0, s0, f@rel32@lo+4            disassembled: a distance
    s_addc_u32 s1, s1, f@rel32@hi+12
    s_load_b64 s[0:1], s[0:1], 0x0            only where the symbols are f@gotpcrel32@..., a table of addresses
    s_swappc_b64 s[30:31], s[0:1]             or s_setpc_b64 s[0:1], a call at the end of a function

and s_call_b64 names its target. This is read back along the definitions of the register pair, so it does not matter
what stands between. A pair with more than one definition, from memory or from an argument is a pointer, and its target
is not known here. s_setpc_b64 of any such pair within a function is taken for its return.

`settled` tells what a caller may rely on: the counters that a function surely brings to 0 before it returns. LLVM's
functions begin with a wait for all; others need not.
"""

from __future__ import annotations

from collections.abc import Mapping

from isa.analysis import dataflow
from isa.analysis.cfg import Block, Cfg, is_call
from isa.analysis.defuse import ENTRY, DefUse
from isa.registers import Reg
from isa.semantics import own_place
from isa.semantics.branches import branch_target
from isa.semantics.instruction import Imm, Instruction
from isa.semantics.waits import parse_wait

Target = str | int
"""A function: its symbol in assembly, its address in a code object."""


def targets(cfg: Cfg, chains: DefUse) -> dict[int, Target | None]:
    """For each call and each jump through a register, by position, the function that it goes to; None if not known."""
    found: dict[int, Target | None] = {}
    for i in sorted({*cfg.calls, *cfg.indirect_jumps}):
        inst = cfg.instructions[i]
        last = inst.operands[-1]
        found[i] = behind(cfg, chains, i, last) if isinstance(last, Reg) and last.count == 2 else branch_target(inst)
    return found


def behind(cfg: Cfg, chains: DefUse, position: int, pair: Reg) -> Target | None:
    """The function whose address a pair of SGPRs holds when `position` reads it."""
    low, high = (_single(chains, position, unit) for unit in pair.units())
    if low is None or high is None:
        return None
    first, second = cfg.instructions[low], cfg.instructions[high]
    if low == high and first.desc.access is not None and isinstance(base := first.operands[1], Reg) and base.count == 2:
        found = behind(cfg, chains, low, base)
        return found if isinstance(found, str) and _offset(first) == 0 else None
    if (first.desc.name, second.desc.name) != ("s_add_u32", "s_addc_u32"):
        return None
    pc = {_source(chains, low, first), _source(chains, high, second)}
    start = cfg.instructions[next(iter(pc)) or 0] if len(pc) == 1 and None not in pc else None
    if start is None or start.desc.name != "s_getpc_b64":
        return None
    if counted := own_place.distance(first):
        return counted.symbol
    distance = (first.operands[2], second.operands[2])
    if all(isinstance(d, Imm) for d in distance) and start.address is not None:
        lower, upper = (int(d.value) & 0xFFFFFFFF for d in distance if isinstance(d, Imm))
        return start.address + start.size + (lower | upper << 32) & (1 << 64) - 1
    return None


def _single(chains: DefUse, position: int, unit: Reg) -> int | None:
    """The one definition that a read can see; None where there are several, where it comes from the function's start,
    and in code that control never reaches."""
    sites = chains.defs_of(position, unit)
    site = next(iter(sites), ENTRY)
    return site if len(sites) == 1 and site >= 0 and not is_call(chains.cfg.instructions[site]) else None


def _source(chains: DefUse, position: int, inst: Instruction) -> int | None:
    reg = inst.operands[1]
    site = _single(chains, position, reg) if isinstance(reg, Reg) and reg.count == 1 else None
    source = None if site is None else chains.cfg.instructions[site]
    return _source(chains, site or 0, source) if source and source.desc.name == own_place.EXTENDS else site


def _offset(inst: Instruction) -> int | None:
    last = inst.operands[-1]
    return int(last.value) if isinstance(last, Imm) else 0 if isinstance(last, Reg) and last.is_null else None


def settled(cfg: Cfg, callees: Mapping[int, frozenset[str]]) -> frozenset[str]:
    """The counters that a function brings to 0 at some point of every path from its entry to its end: what was in
    flight when it was called no longer is. callees: the same of the functions that it calls, by position."""
    everything = frozenset(cfg.family.counters)

    def through(block: Block, state: frozenset[str]) -> frozenset[str]:
        for i in block.range:
            state |= {counter for counter, number in parse_wait(cfg.instructions[i]).items() if number == 0}
            state |= callees.get(i, frozenset())
        return state

    entry = dataflow.forward(cfg, frozenset[str](), through, frozenset.intersection)
    ends = [through(cfg.blocks[b], state) for b, state in entry.items() if not cfg.blocks[b].successors]
    return everything.intersection(*ends)
