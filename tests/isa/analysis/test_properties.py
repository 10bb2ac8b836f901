"""What must hold for any program: hypothesis makes small ones with loops, divergence and partial writes."""

from __future__ import annotations

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from plan import examples
from texts import texts

from isa.analysis import cfg, defuse, exec_mask, lane_graph, lane_view, liveness, regset, waits
from isa.analysis.cfg import Cfg
from isa.asm.parse import parse, parse_instruction
from isa.asm.program import Kernel
from isa.registers import EXEC_LO, SCC

VALUES, MEMORY = (text.splitlines() for text in texts(__file__))


def programs(lines: list[str], largest: int) -> st.SearchStrategy[list[tuple[str, list[int]]]]:
    numbers = st.lists(st.integers(0, largest), min_size=3, max_size=3)
    return st.lists(st.tuples(st.sampled_from(lines), numbers), min_size=3, max_size=20)


def flow(program: list[tuple[str, list[int]]]) -> Cfg:
    """The program with labels L0 to L3 spread over it and an end."""
    rows = [line.format(*numbers) for line, numbers in program]
    for k in range(4):
        rows.insert(len(rows) * (k + 1) // 5, f"L{k}:")
    read = parse("\n".join([*rows, "s_endpgm"]), "p.s")
    return cfg.of_kernel(Kernel(read, "p", 0, len(read.lines), {}, {}))


@given(programs(VALUES, 1))
@settings(max_examples=examples(400))
def test_a_value_is_live_just_where_somebody_may_read_it(program: list[tuple[str, list[int]]]) -> None:
    """Backward and forward analysis know nothing of each other, and agree."""
    c = flow(program)
    chains, live = defuse.analyse(c), liveness.analyse(c)
    for i in (i for b in c.order for i in c.blocks[b].range):
        for reg in c.instructions[i].writes() - {EXEC_LO}:
            read = live.read_later(i) >> regset.bit(reg) & 1
            assert bool(chains.uses_of(i, reg)) == bool(read), (i, str(c.instructions[i]), str(reg))
    from_entry = {reg for _, reg in chains.from_entry()}
    assert from_entry == live.live_in(0)


@given(programs([*VALUES[-2:], "s_branch L{2}", "s_nop 0", "s_endpgm"], 3))
@settings(max_examples=examples(100))
def test_dominators_are_what_paths_say(program: list[tuple[str, list[int]]]) -> None:
    """A block dominates another if leaving it out cuts the other off."""
    c = flow(program)

    def reached(without: int) -> set[int]:
        seen, work = {without}, [0]
        while work:
            b = work.pop()
            if b not in seen:
                seen.add(b)
                work.extend(c.blocks[b].successors)
        return seen - {without}

    for a in c.order:
        rest = reached(a)
        for b in c.order:
            assert c.dominates(a, b) == (a == b or b not in rest)
    for loop in c.loops:
        assert all(c.dominates(loop.header, b) for b in loop.blocks)


@given(programs(MEMORY, 3), st.lists(st.booleans(), min_size=60, max_size=60))
@settings(max_examples=examples(400))
def test_what_is_in_flight_on_a_path_is_in_flight_in_the_analysis(
    program: list[tuple[str, list[int]]], turns: list[bool]
) -> None:
    """A walk through the program with real counters: what may be pending there the analysis reports, or a later load
    of its order that fills all of its registers."""
    c = flow(program)
    flight = waits.analyse(c)
    queues: dict[str, list[tuple[int, str]]] = {"vmcnt": [], "lgkmcnt": []}
    at, choice = 0, iter(turns)
    for _ in range(60):
        for counter, queue in queues.items():
            reported = [load for load, _ in queue if (load, counter) in flight.before[at]]
            for n, (load, _) in enumerate(queue):
                after = {later for later, _ in queue[n:]} & set(reported)
                assert any(waits.filled(c, load) <= waits.filled(c, later) for later in after)
        inst = c.instructions[at]
        for counter, number in flight.waits[at].items():
            queue = queues[counter]
            while len(queue) > number:
                # The one that surely is done: the oldest of an ordered kind; of SMEM none, as long as others remain.
                sure = next((e for e in queue if e[1] != "smem"), None)
                smem = sum(e[1] == "smem" for e in queue)
                if number and (sure is None or len(queue) - smem <= number):
                    break
                queue.remove(sure if sure is not None and number else queue[0])
        for counter in inst.counters:
            queues[counter].append((at, inst.desc.unit))
        block = c.block_of(at)
        if at + 1 < block.end:
            at += 1
        elif not block.successors:
            break
        else:
            at = c.blocks[block.successors[next(choice, False) % len(block.successors)]].start


# What each line does to masks, on plain ints: (text, function of registers {"exec", 0, 1} and their numbers).
MASKS = {
    "s_and_saveexec_b32 s{0}, s{1}": lambda r, a, b: {a: r["exec"], "exec": r[b] & r["exec"]},
    "s_or_saveexec_b32 s{0}, s{1}": lambda r, a, b: {a: r["exec"], "exec": r[b] | r["exec"]},
    "s_or_b32 exec_lo, exec_lo, s{0}": lambda r, a, b: {"exec": r["exec"] | r[a]},
    "s_xor_b32 exec_lo, exec_lo, s{0}": lambda r, a, b: {"exec": r["exec"] ^ r[a]},
    "s_and_not1_b32 exec_lo, exec_lo, s{0}": lambda r, a, b: {"exec": r["exec"] & ~r[a]},
    "s_mov_b32 exec_lo, s{0}": lambda r, a, b: {"exec": r[a]},
    "s_mov_b32 s{0}, exec_lo": lambda r, a, b: {a: r["exec"]},
    "s_xor_b32 s{0}, exec_lo, s{1}": lambda r, a, b: {a: r["exec"] ^ r[b]},
    "s_or_b32 s{0}, s{0}, s{1}": lambda r, a, b: {a: r[a] | r[b]},
    "s_not_b32 s{0}, s{1}": lambda r, a, b: {a: ~r[b] & 7},
    "s_mov_b32 s{0}, -1": lambda r, a, b: {a: 7},
    "s_mov_b32 s{0}, 0": lambda r, a, b: {a: 0},
    "v_cmp_lt_u32_e64 s{0}, v0, v1": None,
    "v_cmpx_lt_u32_e32 v0, v1": None,
    "s_cbranch_scc1 L{0}": None,
}


@given(programs(list(MASKS), 1), st.lists(st.integers(0, 7), min_size=60, max_size=60))
@settings(max_examples=examples(500))
def test_exec_is_full_where_the_analysis_says_so(program: list[tuple[str, list[int]]], chance: list[int]) -> None:
    """A walk with masks of three lanes, all on at the start; comparisons and branches fall as chance has it."""
    c = flow(program)
    lanes = exec_mask.analyse(c)
    meaning = {parse_instruction(text.format(*n)): (effect, n) for text, n in program for effect in [MASKS[text]]}
    registers: dict[int | str, int] = {"exec": 7, 0: chance[0], 1: chance[1]}
    at = 0
    for luck in chance:
        inst, before = c.instructions[at], registers["exec"]
        assert before == 7 or not lanes.full[at]
        effect, numbers = meaning.get(inst, (None, [0, 0, 0]))
        if effect is not None:
            registers |= effect(registers, numbers[0], numbers[1])
        elif inst.mnemonic.startswith("v_cmp"):
            registers["exec" if "cmpx" in inst.mnemonic else numbers[0]] = luck & before
        if lanes.change[at] in ("", "narrows"):
            assert registers["exec"] & before == registers["exec"]
        if lanes.change[at] in ("", "widens"):
            assert registers["exec"] | before == registers["exec"]
        block = c.block_of(at)
        if at + 1 < block.end:
            at += 1
        elif not block.successors:
            break
        else:
            at = c.blocks[block.successors[luck % len(block.successors)]].start


# As MASKS, with SCC and VCC followed too: (new values, or None where chance decides).
WALKED = {
    **{text: effect for text, effect in MASKS.items() if effect is not None},
    "s_and_saveexec_b32 s{0}, vcc_lo": lambda r, a, b: {a: r["exec"], "exec": r["vcc"] & r["exec"]},
    "s_and_not1_saveexec_b32 s{0}, s{0}": lambda r, a, b: {a: r["exec"], "exec": r[a] & ~r["exec"]},
    "s_and_b32 vcc_lo, exec_lo, s{0}": lambda r, a, b: {"vcc": r["exec"] & r[a]},
    "s_cselect_b32 s{0}, -1, 0": lambda r, a, b: {a: 7 if r["scc"] else 0},
    "v_cmp_lt_u32_e32 vcc_lo, v{0}, v{1}": None,
    "v_cmp_lt_u32_e64 s{0}, v0, v{1}": None,
    "v_cmpx_lt_u32_e32 v0, v{1}": None,
    "s_cmp_lg_u32 s4, 0": None,
    "v_mov_b32_e32 v{0}, v{1}": None,
    "v_mov_b32_e32 v{0}, v{1} ; again": None,
    "v_writelane_b32 v{0}, s4, 0": None,
    **{f"s_cbranch_{what} L{{{k}}}": None for k, what in enumerate(("scc0", "scc1", "vccz"))},
    **{f"s_cbranch_{what} L{{{k}}}": None for k, what in enumerate(("vccnz", "execz", "execnz"))},
}
TAKEN = {
    "execz": lambda r: not r["exec"], "execnz": lambda r: r["exec"], "vccz": lambda r: not r["vcc"],
    "vccnz": lambda r: r["vcc"], "scc0": lambda r: not r["scc"], "scc1": lambda r: r["scc"],
}  # fmt: skip


@given(programs(list(WALKED), 1), st.lists(st.integers(0, 7), min_size=60, max_size=60))
@settings(max_examples=examples(500))
def test_a_lane_reads_what_the_view_says(program: list[tuple[str, list[int]]], chance: list[int]) -> None:
    """A walk with three lanes that takes its branches as the masks say: who wrote what a lane reads is in its view."""
    c = flow(program)
    chains = lane_view.narrowed(defuse.analyse(c), liveness.analyse(c))
    meaning = {parse_instruction(text.format(*n)): (effect, n) for text, n in program for effect in [WALKED[text]]}
    r: dict[int | str, int] = {"exec": 7, 0: chance[0], 1: chance[1], "vcc": chance[2], "scc": chance[3] & 1}
    writer = {(lane, v): defuse.ENTRY for lane in range(3) for v in range(2)}
    at = 0
    for luck in chance:
        inst = c.instructions[at]
        effect, numbers = meaning.get(inst, (None, [0, 0, 0]))
        on = [lane for lane in range(3) if r["exec"] >> lane & 1]
        for reg in (reg for reg in inst.reads() if reg.is_vgpr):
            for lane in range(3) if inst.desc.ignores_exec else on:
                assert writer[lane, reg.index] in chains.defs_of(at, reg), (at, str(inst), lane)
        if effect is not None:
            new = effect(r, numbers[0], numbers[1])
            if SCC in inst.writes():
                tested = new["exec"] if "saveexec" in inst.mnemonic or "exec" in new else next(iter(new.values()))
                new["scc"] = int(tested != 0)
            r |= new
        elif inst.mnemonic.startswith("v_cmp"):
            where = "exec" if "cmpx" in inst.mnemonic else "vcc" if "e32" in inst.mnemonic else numbers[0]
            r[where] = luck & r["exec"]
        elif inst.mnemonic.startswith("s_cmp"):
            r["scc"] = luck & 1
        for reg in (reg for reg in inst.writes() if reg.is_vgpr):
            writer |= {(lane, reg.index): at for lane in (range(3) if inst.desc.ignores_exec else on)}
        block = c.block_of(at)
        if at + 1 < block.end:
            at += 1
        elif not block.successors:
            break
        else:
            taken = inst.mnemonic.startswith("s_cbranch") and TAKEN[inst.mnemonic.removeprefix("s_cbranch_")](r)
            at = c.blocks[block.successors[-1 if taken else 0]].start


@given(programs(list(WALKED), 1))
@settings(max_examples=examples(100))
def test_a_search_shows_what_the_graph_shows_that_forgets_nothing(program: list[tuple[str, list[int]]]) -> None:
    """With one state a segment nearly all is left to the search; it sees what 64 states show, and no more."""
    c = flow(program)
    chains, live = defuse.analyse(c), liveness.analyse(c)
    with pytest.MonkeyPatch.context() as patch:
        whole = lane_view.narrowed(chains, live)
        assume(not whole.view.graph.forgets)
        patch.setattr(lane_graph, "LIMIT", 1)
        searched = lane_view.narrowed(chains, live)
        searched.view.graph.edges  # noqa: B018
        for (position, number), sites in chains.reaching.items():
            for site in sites:
                asked = position, regset.members(1 << number), (site,)
                assert searched.sees(*asked) == whole.sees(*asked), asked


def test_masks_that_hang_on_scc_do_not_multiply_within_a_segment() -> None:
    made = "".join(f"s_cmp_eq_u32 s{i}, 0\ns_cselect_b32 s{40 + i}, -1, 0\n" for i in range(40))
    used = "".join(f"s_and_b32 exec_lo, exec_lo, s{40 + i}\n" for i in range(40))
    c = cfg.of_text(parse(made + used + "v_mov_b32 v0, v1\ns_endpgm\n"))
    graph = lane_graph.LaneGraph(c, liveness.analyse(c))
    assert max(map(len, graph.edges.values())) == lane_graph.LIMIT
    assert graph.forgets
