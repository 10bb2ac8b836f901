"""The linter: text cases, and mutants of compiled kernels that the assembler takes."""

import dataclasses
import re
from collections.abc import Callable, Iterator
from importlib.resources import files
from pathlib import Path

import pytest

from isa import toolchain
from isa.analysis import cfg, regset, resources, waits
from isa.asm.parse import parse, parse_line
from isa.asm.program import Program
from isa.errors import Finding, IsaError
from isa.lint import known
from isa.lint.functions import LintedFunction, Start, Values
from isa.lint.lint import MODULES, UNANALYSED, lint_code_object, lint_program
from isa.lint.paths import Paths
from isa.lint.rules import arguments as argument_rules
from isa.lint.rules import calls as call_rules
from isa.lint.rules import counts
from isa.lint.rules import lds as lds_rules
from isa.lint.rules import waits as wait_rules
from isa.object import code_object, metadata
from isa.registers import s

CASES = Path(__file__).parent / "cases" / "lint"


def show(source: str) -> str:
    try:
        return "\n".join(map(str, lint_program(parse(source, "case.s")))) or "clean"
    except IsaError as e:
        return f"refused: {e}"


@pytest.mark.parametrize("path", sorted(CASES.glob("*.s")), ids=lambda p: p.stem)
def test_case(path: Path, text_case: Callable[[Path, Callable[[str], str]], None]) -> None:
    text_case(path, show)


@pytest.mark.parametrize("path", sorted(CASES.parent.glob("*/*.s")), ids=lambda p: f"{p.parent.name}-{p.stem}")
def test_each_finding_says_where_why_and_what_to_do(path: Path) -> None:
    try:
        found = lint_program(parse(path.read_text().partition(";; expect\n")[0], "case.s"))
    except IsaError as error:
        found = [Finding("refused", error.message, error.span, error.hint, error.expected, source="the reader")]
    for f in found:
        assert f.span is not None
        assert f.span.text[f.span.col - 1 :].strip()
        assert f.rule == UNANALYSED.name or f.source
        assert f.hint or f.expected, f


def faults(findings: list[Finding]) -> list[Finding]:
    return [f for f in findings if f.severity == "fault"]


def test_the_compiler_breaks_no_rule(compiled_rung: tuple[str, bytes]) -> None:
    assert faults(lint_program(parse(compiled_rung[0], "k.s"))) == []


def test_text_and_code_object_have_the_same_faults(compiled_rung: tuple[str, bytes]) -> None:
    text = lint_program(parse(compiled_rung[0], "k.s"))
    binary = lint_code_object(code_object.load(compiled_rung[1]), "k.hsaco")
    assert sorted(f.rule for f in text) == sorted(f.rule for f in binary)
    assert all(re.match(r"k\.hsaco:kernel\d:0x", f.where) for f in binary)


def test_counts_of_a_code_object(compiled_rung: tuple[str, bytes]) -> None:
    code = code_object.load(compiled_rung[1])
    kernel = next(iter(code.kernels.values()))
    flow = cfg.of_kernel(parse(compiled_rung[0], "k.s").kernel())
    assert list(counts.of_code_object(kernel, [flow])) == []
    used = resources.used(flow)
    wrong = dataclasses.replace(
        kernel, vgprs=used.vgprs - 1, sgprs=used.sgprs - 1, metadata={**kernel.metadata, ".kernarg_segment_size": 4},
        descriptor=dataclasses.replace(kernel.descriptor, vgprs=used.vgprs - 1),
    )  # fmt: skip
    found = [f.message for f in counts.of_code_object(wrong, [flow])]
    assert len(found) == 4
    assert found[0] == f"the code uses {used.vgprs} VGPRs, the descriptor gives {used.vgprs - 1}"


def test_arguments_of_a_code_object(compiled_rung: tuple[str, bytes]) -> None:
    """The same as the text tells, and the same rules."""
    linked = next(iter(code_object.load(compiled_rung[1]).kernels.values()))
    told = metadata.arguments(parse(compiled_rung[0], "k.s").kernel())
    assert tuple(argument for _, argument in told) == linked.args
    assert list(argument_rules.of_code_object(linked)) == []
    first, second, *others = linked.args
    moved = dataclasses.replace(linked, args=(first, dataclasses.replace(second, offset=first.offset + 4), *others))
    assert {f.id for f in argument_rules.of_code_object(moved)} == {"CNT003"}
    for at, argument in enumerate(a for a in linked.args if not a.hidden):
        kind = "by_value" if argument.kind == "global_buffer" else "global_buffer"
        another = (*linked.args[:at], dataclasses.replace(argument, kind=kind), *linked.args[at + 1 :])
        found = [f.message for f in argument_rules.of_code_object(dataclasses.replace(linked, args=another))]
        assert any("has an address space" in m or "has the wrong size for its kind" in m for m in found), argument


def mutants(program: Program) -> Iterator[tuple[str, Program]]:
    """Each wait and barrier left out, each wait made weaker by one."""
    for number, inst in program.kernel().instructions():
        text = program.lines[number].text
        changed = [""] if (inst.desc.is_wait or inst.desc.is_barrier) else []
        if inst.desc.is_wait:
            changed += [
                f"{text[: m.start()]}{int(m[0]) + 1}{text[m.end() :]}" for m in re.finditer(r"(?<=cnt\()\d+", text)
            ]
        for new in changed:
            lines = list(program.lines)
            lines[number] = parse_line(new, "k.s", number)
            yield f"{inst} -> {new.strip() or 'nothing'}", program.with_lines(lines)


def test_no_missing_or_weak_wait_and_no_missing_barrier_goes_unseen(compiled_rung: tuple[str, bytes]) -> None:
    """Only the rules that can see them are run, to keep the test short; the linter runs them all."""

    def lds(flow: cfg.Cfg) -> Iterator[Finding]:
        return lds_rules.findings(LintedFunction(flow, Start(regset.ALL, None, 1), Values.of(flow, regset.ALL), {}))

    def rules(p: Program) -> set[tuple[str, str]]:
        flow = cfg.of_kernel(p.kernel())
        return {(f.rule, f.message) for f in (*wait_rules.faults(waits.analyse(flow), lambda: Paths(flow)), *lds(flow))}

    program = parse(compiled_rung[0], "k.s")
    assert not rules(program)
    missed, count = [], 0
    for name, mutant in mutants(program):
        count += 1
        if not rules(mutant):
            missed.append(name)
    assert count > 3
    assert not missed


DIVIDES = """
#include <hip/hip_runtime.h>
extern "C" __global__ void divides(float *a, const float *b, int n, unsigned u) {
  unsigned i = blockIdx.x * 64 + threadIdx.x;
  if (i / u < n) {
    float s = 0;
    for (int k = 0; k < n; k++) if (b[k] > 1.0f / b[i]) s += b[k] / b[i];
    a[i] = s;
  }
}
"""


@pytest.mark.parametrize("wave", ["-mno-wavefrontsize64", "-mwavefrontsize64"])
def test_each_wait_that_the_compiler_inserts_against_a_hazard_is_missed(wave: str, tmp_path: Path) -> None:
    """LLVM as the judge: with its waits there is no hazard, without one of them there is. After a lane mask that is
    written LLVM waits whether it is read or not, and before LLVM 21 not after VALU's."""
    (tmp_path / "k.hip").write_text(DIVIDES)
    out, include = tmp_path / "k.s", Path(str(files("kernels_hip"))) / "include"
    toolchain.find().compile(
        tmp_path / "k.hip", out, arch="gfx1100", cu_mode=True, include=include, flags=("-O2", wave)
    )
    program = parse(out.read_text(), "k.s")

    def hazards(without: str) -> set[str]:
        left = program.with_lines([line for line in program.lines if not re.match(without, line.text)])
        return {f.id for f in lint_program(left, notes=False) if f.id.startswith(("HAZ", "OPD"))}

    masks = "depctr_va_vcc" in out.read_text() or "depctr_va_sdst" in out.read_text()
    assert hazards("never") - (set() if masks else {"HAZ006"}) == set()
    assert "HAZ001" in hazards(r"\ts_waitcnt_depctr depctr_va_vdst\(0\)")
    assert not masks or "HAZ006" in hazards(r"\ts_waitcnt_depctr depctr_(va_vcc|va_sdst)\(0\)")


FUNCTIONS = """
#include <hip/hip_runtime.h>
__device__ __attribute__((noinline)) int fib(int n) { return n < 2 ? n : fib(n - 1) + fib(n - 2); }
__device__ __attribute__((noinline)) static float leaf(float a, float b) { return a * b + 3.0f * a; }
__device__ __attribute__((noinline)) static float deep(const float *p, int i) { return leaf(p[i], p[i + 1]); }
extern "C" __global__ void calls(const float *p, float *q) {
  int i = threadIdx.x;
  q[i] = deep(p, i) + leaf(p[i], 1.0f) + fib(i);
}
"""


@pytest.mark.parametrize("level", ["-O0", "-O3"])
def test_compiled_functions_are_clean(level: str, compile_hip: Callable[..., tuple[str, bytes]]) -> None:
    """Calls, calls at the end of a function (s_setpc_b64), recursion; loads in flight where a function is called."""
    text, image = compile_hip(FUNCTIONS, flags=(level,))
    program, code = parse(text, "k.s"), code_object.load(image)
    for found in (lint_program(program), lint_code_object(code, "k.hsaco")):
        assert not faults(found)
        assert level == "-O0" or not [f for f in found if f.rule == call_rules.UNKNOWN.name]
    waiting = "\ts_waitcnt vmcnt(0) expcnt(0) lgkmcnt(0)"
    first = next(i for i, line in enumerate(program.lines) if line.text.startswith(waiting))
    without = program.with_lines([line for i, line in enumerate(program.lines) if i != first])
    assert level == "-O0" or "register in flight at a call" in {f.rule for f in lint_program(without)}


TABLE = """
#include <hip/hip_runtime.h>
typedef float (*function)(float);
__device__ __attribute__((noinline)) float twice(float a) { return a + a; }
__device__ __attribute__((noinline)) float square(float a) { return a * a; }
__device__ function table[2] = {twice, square};
extern "C" __global__ void k(float *p, int i) { p[threadIdx.x] = table[i](p[threadIdx.x]); }
"""


def test_a_table_of_functions_hides_nothing_else(compile_hip: Callable[..., tuple[str, bytes]]) -> None:
    """Which function is called is not known; kernel and functions are looked at all the same."""
    text, image = compile_hip(TABLE, flags=("-O2",))
    code = code_object.load(image, runs=False)
    for found in (lint_program(parse(text, "k.s")), lint_code_object(code, "k.hsaco")):
        assert not faults(found)
        assert call_rules.UNKNOWN.id in {f.id for f in found}
    lines = parse(text, "k.s").lines
    loads = next(i for i, line in enumerate(lines) if line.text.startswith("\tglobal_load_b32"))
    after = next(i for i, line in enumerate(lines) if i > loads and "vmcnt(0)" in line.text)
    assert {
        f.id for f in faults(lint_program(parse("\n".join(line.text for i, line in enumerate(lines) if i != after))))
    }


def test_a_kernel_without_code_is_not_the_one_after_it(compile_hip: Callable[..., tuple[str, bytes]]) -> None:
    """Libraries hold kernels for other targets' settings, of which nothing is left: their entry is the next one's."""
    source = """
    #include <hip/hip_runtime.h>
    extern "C" __global__ void none() { __builtin_unreachable(); }
    extern "C" __global__ void busy(float *p) { p[threadIdx.x + 64 * blockIdx.x] *= 2.0f; }
    """
    code = code_object.load(compile_hip(source)[1])
    assert code.kernel("none").code_size == 0
    assert code.kernel("none").descriptor.entry == code.kernel("busy").descriptor.entry
    assert [f for f in lint_code_object(code, "k.hsaco") if f.severity == "fault"] == []


def test_notes_that_nobody_asks_for_are_not_computed(monkeypatch: pytest.MonkeyPatch) -> None:
    def computed(_: object) -> None:
        raise AssertionError("a note was computed")

    with_notes = [module for module in MODULES if hasattr(module, "notes")]
    assert len(with_notes) >= 3
    for module in with_notes:
        monkeypatch.setattr(module, "notes", computed)
    lint_program(parse("s_nop 0\ns_endpgm\n"), notes=False)
    with pytest.raises(AssertionError, match="a note was computed"):
        lint_program(parse("s_nop 0\ns_endpgm\n"))


@pytest.mark.parametrize("kind", ["hidden_group_size_", "hidden_group_size_w", "hidden_group_size_xx"])
def test_a_hidden_argument_of_no_axis_says_nothing(kind: str) -> None:
    given = [code_object.Argument(0, 2, kind)]
    assert known.of({"kernarg_segment_ptr": s(0, 2)}, given) == known.NOWHERE
