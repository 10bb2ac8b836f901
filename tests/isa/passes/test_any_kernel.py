"""Passes for any kernel: text cases, and that what they leave computes the same, lint and provers being the judges."""

import random
from collections import Counter
from collections.abc import Callable
from pathlib import Path

import pytest
from texts import texts

from isa.analysis import cfg, sgpr_reads, webs
from isa.asm.emit import emit
from isa.asm.parse import parse
from isa.asm.program import Program
from isa.lint.lint import lint_program
from isa.lint.verify import verify
from isa.passes import run_pipeline
from isa.passes.general import rename_banks
from isa.passes.general.rename_banks import Colouring
from isa.prove.refine import validate

CASES = Path(__file__).parent / "cases" / "any"
HEAD = """k:
	s_load_b64 s[0:1], s[0:1], 0x0
	s_waitcnt lgkmcnt(0)
	s_branch .Lcase
.Lcase:
"""
FOOTER = (CASES.parents[1] / "footer.s").read_text()
EACH = ("rename-banks", "relax-waits", "pair", "schedule", "delay-alu", "clause")


def after(program: Program, pipeline: str) -> Program:
    """What a pipeline leaves, free of faults that were not there."""
    *_, (_, made) = run_pipeline(program, pipeline)
    for name in program.kernels:
        old, new = ([f.id for f in lint_program(p, name, notes=False)] for p in (program, made))
        assert not Counter(new) - Counter(old)
    return made


@pytest.mark.parametrize("path", sorted(CASES.glob("*.s")), ids=lambda p: p.stem)
def test_case(path: Path, text_case: Callable[[Path, Callable[[str], str]], None]) -> None:
    """The last line of each comment names the pipeline; the validator says that the same is computed."""

    def show(source: str) -> str:
        pipeline = [line for line in source.splitlines() if line.startswith(";")][-1].removeprefix("; ")
        program = parse(HEAD + source + FOOTER)
        made = after(program, pipeline)
        verify(made)
        proof = validate(program.kernel(), made.kernel())
        assert proof.proved, str(proof)
        return "\n".join(line.text for line in made.lines[5:] if line.instruction)

    text_case(path, show)


def on_gfx1201(lines: str) -> Program:
    """A kernel of these instructions, `;` between, which stores v2."""
    code = "".join(f"\t{line.strip()}\n" for line in lines.split(";"))
    end = "\tglobal_store_b32 v0, v2, s[0:1]\n\ts_endpgm\n"
    return parse(f'\t.amdgcn_target "amdgcn-amd-amdhsa--gfx1201"\nk:\n{code}{end}{FOOTER}')


def test_a_schedule_brings_no_early_read_of_an_sgpr() -> None:
    """Nothing but the scalar load keeps the last addition from reading s4 as it was; it could be issued first."""
    program = on_gfx1201(
        "v_add_f32_e32 v1, s4, v1; v_mul_f32_e32 v3, s4, v1; s_add_co_i32 s4, s6, s7; s_load_b32 s8, s[0:1], 0x0;"
        "v_add_f32_e32 v2, s4, v3; s_wait_kmcnt 0x0; v_add_f32_e32 v2, s8, v2"
    )
    for pipeline in ("pair", "schedule"):
        assert not list(sgpr_reads.strikes(cfg.of_kernel(after(program, pipeline).kernel()), False, False)), pipeline


def test_waits_for_sgprs_that_no_read_needs_go() -> None:
    """Of three the first waits for nothing, and nothing reads what the last waits for; one that is for more stays."""
    wait = "s_wait_alu depctr_sa_sdst(0)"
    program = on_gfx1201(
        f"v_add_f32_e32 v1, s4, v1; {wait}; s_mov_b32 s4, 5; {wait}; v_add_f32_e32 v2, s4, v1; s_mov_b32 s4, 6; {wait};"
        "s_wait_alu depctr_sa_sdst(0) depctr_va_vdst(0)"
    )
    made = after(program, "relax-sgpr-waits")
    assert [str(i) for _, i in made.kernel().instructions()][:-2] == [
        "v_add_f32_e32 v1, s4, v1", "s_mov_b32 s4, 5", wait, "v_add_f32_e32 v2, s4, v1", "s_mov_b32 s4, 6",
        "s_wait_alu depctr_sa_sdst(0) depctr_va_vdst(0)",
    ]  # fmt: skip
    assert validate(program.kernel(), made.kernel()).proved
    assert after(made, "relax-sgpr-waits") is made


def test_one_wait_for_an_sgpr_does_for_the_blocks_behind_it() -> None:
    """s4 is read in three blocks after it was written."""
    branch = "s_cmp_eq_u32 s4, {}; s_cbranch_scc1 end"
    program = on_gfx1201(
        "v_add_f32_e32 v1, s4, v1; s_mov_b32 s4, s6; " + "; ".join(map(branch.format, range(3))) + "; end:"
    )
    made = after(program, "sgpr-waits").kernel()
    assert [str(i) for _, i in made.instructions()][2] == "s_wait_alu depctr_sa_sdst(0)"
    assert sum(i.mnemonic == "s_wait_alu" for _, i in made.instructions()) == 1
    assert not list(sgpr_reads.strikes(cfg.of_kernel(made), False, False))


def test_what_passes_write_first_is_for_the_programs_target() -> None:
    loads = "\n".join(f"\tglobal_load_b32 v{n}, v0, s[0:1] offset:{4 * n}" for n in (1, 2))
    rest = "\ts_wait_loadcnt 0x0\n\tv_add_f32_e32 v1, v1, v2\n\tglobal_store_b32 v0, v1, s[0:1]\n\ts_endpgm\n"
    program = parse(f'\t.amdgcn_target "amdgcn-amd-amdhsa--gfx1201"\nk:\n{loads}\n{rest}{FOOTER}')
    made = after(program, "clause,schedule")
    assert next(str(inst) for _, inst in made.kernel().instructions()) == "s_clause 0x1"


@pytest.mark.slow
def test_the_same_is_computed(compiled: Callable[..., Program]) -> None:
    """One after the other on kernel 4, proved by those who know nothing of passes; the text cases are its fast form."""
    program = compiled("kernel4_gmem_double_buffer.hip")
    made = after(program, ",".join(EACH))
    assert made is not program
    assert validate(program.kernel(), made.kernel()).proved


def test_webs_may_lie_anywhere(compiled: Callable[..., Program]) -> None:
    """A random colouring, which has nothing to gain, computes the same: what webs say of lives is right."""
    program = compiled("kernel2_lds_tiling.hip")
    kernel = program.kernel()
    flow = cfg.of_kernel(kernel)
    colouring = Colouring(webs.analyse(flow), 200)
    chance = random.Random(4)
    for c, cluster in enumerate(colouring.webs.clusters):
        places = list(colouring.places(c))
        free = [s for s in chance.sample(places, min(30, len(places))) if colouring.fits(c, s)]
        if free and not cluster.pinned:
            colouring.put(c, free[0])
    made = parse(emit(rename_banks.written(kernel, flow, colouring)))
    verify(made)
    assert sum(map(bool, colouring.shift)) > 20
    assert validate(program.kernel(), made.kernel()).proved


def test_a_web_that_lives_is_not_overwritten(compiled: Callable[..., Program]) -> None:
    """The judge says no: a value moved to where another lives."""
    program = compiled("kernel2_lds_tiling.hip")
    kernel = program.kernel()
    flow = cfg.of_kernel(kernel)
    colouring = Colouring(webs.analyse(flow), 200)
    order = sorted(range(len(colouring.shift)), key=lambda c: -len(colouring.webs.clusters[c].positions))
    c = next(c for c in order if not colouring.webs.clusters[c].pinned and len(colouring.webs.clusters[c].webs) == 1)
    wrong = next(s for s in colouring.places(c) if s % 4 == 0 and s and not colouring.fits(c, s))
    colouring.put(c, wrong)
    made = parse(emit(rename_banks.written(kernel, flow, colouring)))
    assert not validate(program.kernel(), made.kernel()).proved


(COUNTED,) = texts(__file__)


@pytest.mark.parametrize("pipeline", [*EACH, "rename-pairs", "spread-loads,schedule"])
def test_nothing_comes_between_an_address_and_where_it_is_counted_from(pipeline: str) -> None:
    """The assembler would take it, and the address would be another."""
    program = parse(HEAD + COUNTED + FOOTER)
    made = after(program, pipeline)
    lines = [line.text for line in made.lines]
    at = lines.index("\ts_getpc_b64 s[4:5]")
    assert lines[at : at + 3] == COUNTED.splitlines()[1:4]
    assert validate(program.kernel(), made.kernel()).proved
