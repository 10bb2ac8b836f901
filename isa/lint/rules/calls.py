"""Calls: what is in flight when a function is called or returns, and whether it returns.

A caller may leave loads in flight at a call only where the function waits for them before it touches their registers;
LLVM's functions begin with `s_waitcnt vmcnt(0) expcnt(0) lgkmcnt(0)` (SIInsertWaitcnts.cpp), and wait again before they
return, so that a caller need not know what they load. A function that calls overwrites the pair with its own return
address and must have saved it. A call may be a function's last instruction only where what it calls never returns.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from isa.analysis import regset
from isa.analysis.calls import Target
from isa.analysis.cfg import Cfg
from isa.analysis.defuse import DefUse
from isa.analysis.waits import InFlight, filled
from isa.errors import Finding
from isa.lint import causes
from isa.lint.functions import LintedFunction
from isa.lint.names import place
from isa.lint.registry import RULES
from isa.registers import Reg
from isa.semantics.waits import parse_wait, wait_text

ENTRY = RULES["CALL001"]
RETURN = RULES["CALL002"]
LINK = RULES["CALL003"]
UNKNOWN = RULES["CALL004"]
ENDLESS = RULES["CALL005"]
_LOOK = "check the function separately: a file without a kernel is taken to be a function"


def findings(f: LintedFunction) -> Iterator[Finding]:
    """All of these rules, faults first."""
    yield from at_calls(f.flight, f.callees)
    yield from at_the_end(f.flow, f.callees, f.returns)
    if f.called:
        yield from at_returns(f.flight, f.values.chains, f.targets)
    yield from not_followed(f.flow, f.unknown)


def at_calls(flight: InFlight, callees: Mapping[int, Cfg]) -> Iterator[Finding]:
    """Loads in flight at a call, or at a jump to another function, that the function does not wait for in time."""
    for i, callee in sorted(callees.items()):
        for counter in sorted({c for _, c in flight.before[i]}):
            loads = [at for at, c in flight.before[i] if c == counter and filled(flight.cfg, at)]
            for load in sorted(loads):
                use = _touched_early(callee, filled(flight.cfg, load), counter)
                if use is not None:
                    inst, it = flight.cfg.instructions[load], callee.instructions[use]
                    yield ENTRY.broken(
                        flight.cfg.instructions[i],
                        f"{inst} ({place(inst, load)}) may still be in flight when {callee.name} reaches {it} "
                        f"({place(it, use)})",
                        expected=f"{wait_text(inst.family, {counter: 0})} before the call, or as the function begins",
                        hint="LLVM's functions begin with a wait for all loads",
                    )
                    break


def _touched_early(callee: Cfg, registers: int, counter: str) -> int | None:
    """The first position at which a function reads or writes one of these registers before it waits for the counter."""
    work, seen = [0], {0}
    while work:
        block = callee.blocks[work.pop()]
        for i in block.range:
            if parse_wait(callee.instructions[i]).get(counter) == 0 or i in callee.calls:
                break
            if registers & (callee.uses[i] | callee.defs[i]):
                return i
        else:
            work += [s for s in block.successors if s not in seen]
            seen.update(block.successors)
    return None


def at_returns(flight: InFlight, chains: DefUse, targets: Mapping[int, Target | None]) -> Iterator[Finding]:
    """What is wrong where a function returns."""
    cfg = flight.cfg
    for i in cfg.indirect_jumps:
        inst, pair = cfg.instructions[i], cfg.instructions[i].operands[-1]
        if targets.get(i) is not None or not isinstance(pair, Reg):
            continue
        loads = [
            RETURN.broken(
                inst,
                f"{cfg.instructions[load]} ({place(cfg.instructions[load], load)}) may still be in flight when the "
                "function returns",
                expected="a wait for it before the return",
                hint="the caller cannot know what to wait for",
            )
            for load in sorted({at for at, _ in flight.before[i] if filled(cfg, at)})
        ]
        if loads:
            yield causes.one(loads, "waits for all of them before the return")
        links = {
            at
            for unit in pair.units()
            for at in chains.defs_of(i, unit)
            if at in cfg.calls and regset.mask([unit]) & cfg.defs[at]
        }
        for call in sorted(links):
            yield LINK.broken(
                inst,
                f"{pair} holds the return address of {cfg.instructions[call]} ({place(cfg.instructions[call], call)})",
                expected="the address that the function was entered with",
                hint="save it before the call, in a register that calls preserve or in memory, and restore it",
            )


def at_the_end(cfg: Cfg, callees: Mapping[int, Cfg], returns: Mapping[int, bool]) -> Iterator[Finding]:
    """A call as the last instruction, of a function that can return: to whatever stands after this one."""
    last = len(cfg) - 1
    if last in callees and returns[last] and last in cfg.calls and cfg.block_of(last).index in cfg.order:
        yield ENDLESS.broken(
            cfg.instructions[last],
            f"{callees[last].name} can return, and there is no code after this call",
            expected="s_endpgm, s_branch or s_setpc_b64 after it",
            hint="end the function after the call, or jump there by s_setpc_b64 with the return address still set",
        )


def not_followed(cfg: Cfg, unknown: Mapping[int, str]) -> Iterator[Finding]:
    """Calls whose function is not looked into. unknown: position -> why."""
    for i, why in sorted(unknown.items()):
        yield UNKNOWN.broken(cfg.instructions[i], f"what this calls was not checked: {why}", hint=_LOOK)
