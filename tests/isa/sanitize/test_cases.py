"""The dynamic checker on the small kernels of cases.txt: each finding, its line, and nothing else."""

import re
import struct
from functools import partial
from pathlib import Path

import programs
import pytest
from texts import texts

from isa.asm.parse import parse
from isa.object.lines import Lines
from isa.sanitize import observe
from isa.sim.run.card import Card

TEXT = Path(__file__).with_name("cases.txt").read_text()
ARG = "s_load_b64 s[4:5], s[0:1], 0x0\n    s_waitcnt lgkmcnt(0)"
SIZE = 4096


def cases():
    """(body, launch options, expected lines) of each."""
    for chunk in TEXT.split("\n=== ")[1:]:
        head, _, rest = chunk.partition("\n")
        body, _, expected = rest.partition("->")
        name, _, launch = (
            head.rpartition(": ")
            if re.search(r": (grid|block|unwritten|budget|scratch|element|arch)", head)
            else (head, "", "")
        )
        options = dict(re.findall(r"(grid|block|budget|element) (\d+)", launch))
        options["scratch"] = 64 if "scratch 64" in launch else 0
        options["unwritten"] = "unwritten" in launch
        options["arch"] = "gfx1201" if "arch gfx1201" in launch else "gfx1100"
        yield pytest.param(body, options, [line for line in expected.strip().splitlines() if line], id=name)


def findings(body, options, threads=1):
    """`rule | line | message` of each, lines counted from the body's first."""
    arch = options.get("arch", "gfx1100")
    source = programs.source(body.strip("\n").replace("ARG", ARG), scratch=options["scratch"], arch=arch)
    first = source.splitlines().index("test:") + 1 + ("ARG" in body)  # it stands for two lines, the first ones
    card = Card(capacity=1 << 26)
    buffer = card.memory.allocate(SIZE)
    kernel = card.load(programs.linked(source, arch)).kernels["test"]
    grid, block = int(options.get("grid", 1)), int(options.get("block", 32))
    found = observe(
        card, kernel, (grid, 1, 1), (block, 1, 1), struct.pack("<Q", buffer), threads=threads,
        budget=int(options["budget"]) if "budget" in options else None, names={buffer: "the buffer"},
        lines=Lines(parse(source, "test.s"), kernel.code_object, partial(programs.linked, arch=arch)),
        unwritten=[(buffer, SIZE)] if options["unwritten"] else [],
        elements={buffer: int(options["element"])} if "element" in options else None,
    ).findings  # fmt: skip
    return first, found


@pytest.mark.parametrize(("body", "options", "expected"), list(cases()))
def test_case(body, options, expected):
    first, found = findings(body, options)
    said = []
    for f in found:
        line = f.span.line - first if f.span else 0
        message = re.sub(r"\(line (\d+)\)", lambda m: f"(line {int(m[1]) - first})", f.message)
        message = re.sub(r"^workgroup \(.*?\), wave \d+(, all lanes)?(, )?(: )?", "", message)
        message = re.sub(r"schedule [1-9]", "schedule N", message)
        if f.rule == "out-of-bounds access":
            message += f"; {f.got}"
        if f.rule == "instruction budget exhausted":
            assert re.search(r"wave 0 is in the loop at 0x\w+ `s_add_i32 s6, s6, 1`", message)
            message = "instructions were run and the loop goes on"
        said.append(f"{f.rule} | {line} | {message}")
    assert said == expected


CAUSES, LATE_FIRST, SLICES = texts(__file__)


def test_what_one_wait_or_barrier_would_settle_is_one_finding():
    """Lines count from the body's first, ARG's two apart. The loads come after the stores of their wave and before
    those of another one, or after them: one barrier between is missing, whichever wave was first."""
    first, found = findings(CAUSES, {"grid": 1, "block": 64, "scratch": 0, "unwritten": False})
    told = [(f.id, f.span.line - first, sorted(r.span.line - first for r in f.related), f.expected) for f in found]
    told = [
        (id, line, more, re.sub(r"line (\d+)", lambda m: f"line {int(m[1]) - first}", e or ""))
        for id, line, more, e in told
    ]
    assert told == [
        ("WAIT006", 5, [6, 7], "s_waitcnt vmcnt(0) before `v_add_f32_e32 v5, v2, v2` (line 5) fixes all"),
        ("LDS002", 12, [13, 15, 16], "a barrier before `ds_load_b32 v10, v8` (line 15) fixes all"),
        ("LDS003", 19, [], ""),
        ("LDS003", 20, [], ""),
    ]


def test_a_finding_names_the_workgroup_that_began_first_though_others_were_faster():
    _, (finding,) = findings(LATE_FIRST, {"grid": 16, "block": 32, "scratch": 0, "unwritten": False}, threads=4)
    assert finding.message.startswith("workgroup (0, 0, 0), wave 0"), finding.message


def test_schedules_do_not_depend_on_how_many_threads_there_are():
    """Which of two waves stores last depends on the time slices, which differ from schedule to schedule."""
    options = {"grid": 64, "block": 128, "scratch": 0, "unwritten": False}
    alone = [str(f) for f in findings(SLICES, options)[1]]
    assert any("gives different results from schedule 0" in told for told in alone)
    for threads in (2, 3, 7):
        assert [str(f) for f in findings(SLICES, options, threads)[1]] == alone
