"""Findings point at lines of HIP beside those of assembly, and those of code objects into a listing."""

import dataclasses
import json
import re
import shutil
from pathlib import Path

import numpy as np
import pytest
from click.testing import CliRunner
from verbs import Run, invoked

import hipgemm
from hipgemm.cli import main
from hipgemm.kernels.build import lines_of, linked, readable
from hipgemm.kernels.files import read_kernel
from hipgemm.kernels.source_lines import source_of, together
from isa import toolchain
from isa.asm.emit import emit
from isa.asm.parse import parse
from isa.asm.program import Program
from isa.errors import Finding, SourceLine, Span
from isa.lint.registry import RULES
from isa.sim.run.faults import KernelFault
from isa.timing.model.predict import cfg_of

pytestmark = pytest.mark.skipif(not list(toolchain.available()), reason="no compiler for gfx11 here")
OWN = Path(__file__).parent / "own"
LAUNCH = "--grid 4 --block 256 --arg i32:1000 --arg f32:2 --arg zeros:f32:1000 --arg zeros:f32:1000".split()


@pytest.fixture(scope="module")
def files(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """saxpy.hip, and nowait: its assembly with lines of the source but without the wait for its loads."""
    folder = tmp_path_factory.mktemp("lines")
    shutil.copy(OWN / "saxpy.hip", folder)
    program = readable(read_kernel(str(folder / "saxpy.hip"), flags=("-gline-tables-only",)))
    assert isinstance(program, Program)
    (folder / "nowait.s").write_text(emit(program).replace("s_waitcnt vmcnt(0)", "s_nop 0"))
    (folder / "nowait.hsaco").write_bytes(linked(read_kernel(str(folder / "nowait.s"))).image)
    return folder


def body_line(files: Path) -> tuple[int, str]:
    """The line of saxpy.hip that computes, and its text."""
    lines = (files / "saxpy.hip").read_text().splitlines()
    number = next(i for i, line in enumerate(lines) if "y[i] = " in line)
    return number + 1, lines[number].strip()


def test_every_instruction_that_computes_has_a_line(files: Path) -> None:
    kernel = read_kernel(str(files / "nowait.s"))
    made = linked(kernel)
    instructions = cfg_of(made.code_object, made.facts).instructions
    found = made.places(instructions)
    assert [place and place.line for place in found] == [n + 1 for n, _ in made.program.kernel().instructions()]
    lines = {str(inst): place for place, inst in zip(found, instructions, strict=True)}
    place = next(place for text, place in lines.items() if text.startswith("v_fmac_f32"))
    assert place is not None
    assert place.source is not None
    assert (place.source.line, place.source.text) == body_line(files)
    assert source_of(readable(read_kernel(str(files / "saxpy.hip")))) == {}  # type: ignore[arg-type]


def test_a_fault_of_a_plain_launch_has_the_place_and_words_of_a_finding(
    files: Path, monkeypatch: pytest.MonkeyPatch, run_program: Run
) -> None:
    """`run` in a process of its own; y begins where what a lane reads or writes is outside."""
    monkeypatch.chdir(files)
    number, text = body_line(files)
    words = [word.replace("zeros:f32:1000", "zeros:f32:64").replace("i32:1000", "i32:256") for word in LAUNCH]
    words[1] = "1"
    for what in ("saxpy.hip", "nowait.s", "nowait.hsaco"):
        found = CliRunner().invoke(main, ["check", what, *words, "--schedules", "1"]).stdout
        head = next(line for line in found.splitlines() if "MEM004" in line)
        program = f"import os; os.chdir({str(files)!r})\nfrom hipgemm.cli import main\nmain()"
        told = run_program(program, "run", what, *words, "--device", "simulated", code=1).stderr
        assert f"hipgemm: {head}\n" in told, head
        assert "bytes after the end of " in told
        assert (f"saxpy.hip:{number}:" in told) == (text in told) == (what != "nowait.hsaco")
        assert (f"hipgemm: saxpy.hip:{number}: workgroup" in told) == (what == "saxpy.hip")
    answer = json.loads(run_program(program, "run", "saxpy.hip", *words, "--json", code=1).stdout)["error"]
    assert answer["from"] == {"file": str(files / "saxpy.hip"), "line": number, "text": text}
    assert answer["place"] == {"file": "saxpy.hip", "line": number, "col": 1, "text": text}
    assert answer["assembly"]["line"] > number


def test_a_fault_in_a_function_has_its_line(tmp_path: Path) -> None:
    file = tmp_path / "calls.hip"
    file.write_text(
        "#include <hip/hip_runtime.h>\n"
        "__device__ __attribute__((noinline)) float twice(const float* x, int i) {\n  return x[i] * 2;\n}\n"
        'extern "C" __global__ void calls(const float* x, float* y) { y[threadIdx.x] = twice(x, threadIdx.x); }\n'
    )
    words = ["--grid", "1", "--block", "32", "--arg", "zeros:f32:8", "--arg", "zeros:f32:32", "--schedules", "1"]
    found = CliRunner().invoke(main, ["check", str(file), *words]).stdout
    assert re.search(r"calls\.hip:3: workgroup .* lane 8: .* \[MEM004 .*\n    return x\[i\] \* 2;\n", found), found
    assert re.search(r"\n  assembly: .*calls\.0-compiled\.s:\d+:2: (flat|global)_load", found), found


def test_without_g_the_compiler_is_asked_again(files: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Findings of HIP source point at its lines, in SARIF first of all; the assembly is the same as ever. Instructions
    that a pass has put in have no line."""
    monkeypatch.chdir(files)
    number, text = body_line(files)
    short = [word.replace("zeros:f32:1000", "zeros:f32:900") for word in LAUNCH]
    words = ["check", "saxpy.hip", *short, "--schedules", "1"]
    told = CliRunner().invoke(main, words).stdout
    assert re.match(
        rf"saxpy\.hip:{number}: workgroup .*\n    {re.escape(text)}\n  assembly: .*\.s:\d+:2: global_", told
    )
    (result, *_) = json.loads(CliRunner().invoke(main, [*words, "--sarif"]).stdout)["runs"][0]["results"]
    place = result["locations"][0]["physicalLocation"]
    assert (place["artifactLocation"]["uri"], place["region"]["startLine"]) == ("saxpy.hip", number)
    place = result["relatedLocations"][0]["physicalLocation"]
    assert place["artifactLocation"]["uri"].endswith("saxpy.0-compiled.s")
    kernel = read_kernel("saxpy.hip")
    plain, with_g = readable(kernel), readable(read_kernel("saxpy.hip", flags=("-gline-tables-only",)))
    assert isinstance(plain, Program)
    assert isinstance(with_g, Program)
    own, theirs = ({n: (s.file, s.line) for n, s in m.items()} for m in (lines_of(kernel, plain), source_of(with_g)))
    numbers, others = (
        [n for n, inst in p.kernel().instructions() if inst.desc.access is None and inst.desc.name != "s_clause"]
        for p in (plain, with_g)
    )
    assert [own.get(n) for n in numbers] == [theirs.get(n) for n in others]
    rows = list(plain.lines)
    at = next(i for i, line in enumerate(rows) if line.instruction and "v_fmac_f32" in line.text)
    rows.insert(at, parse("\tv_nop\n", "x.s").lines[0])
    found = lines_of(kernel, plain.with_lines(rows))
    assert at not in found
    assert found[at + 1].line == number


@pytest.mark.parametrize("words", [["lint"], ["check", *LAUNCH, "--schedules", "1"]])
def test_a_finding_points_at_the_source(words: list[str], files: Path) -> None:
    number, text = body_line(files)
    done = invoked([words[0], str(files / "nowait.s"), *words[1:]], code=1)
    assert f"  source: saxpy.hip:{number}: {text}\n" in done.stdout
    done = CliRunner().invoke(main, [words[0], str(files / "nowait.s"), *words[1:], "--json"])
    told = json.loads(done.stdout)
    (finding, *_) = told["findings"] if words[0] == "lint" else told["checked"][0]["findings"]
    assert (finding["from"]["line"], finding["from"]["text"]) == (number, text)


def test_from_python_findings_are_those_of_the_command_line(files: Path, tmp_path: Path) -> None:
    """With the line of the source, and without what a comment ignores."""
    x = np.zeros(1000, np.float32)
    bad, source = hipgemm.kernel(files / "nowait.s"), "  source: saxpy.hip:{}: {}".format(*body_line(files))
    for found, words in ((bad.check(4, 256, 1000, 2.0, x, x), ["check", *LAUNCH]), (bad.lint(), ["lint"])):
        assert found
        assert source in repr(found)
        told = CliRunner().invoke(main, [words[0], str(files / "nowait.s"), *words[1:]]).stdout
        assert told == "".join(f"{finding}\n\n" for finding in found)
    (outside, *_) = hipgemm.kernel(files / "saxpy.hip").check(4, 256, 1001, 2.0, x, x)
    assert outside.id == "MEM004"
    assert (outside.origin and (outside.origin.line, outside.origin.text)) == body_line(files)
    (id,) = {f.id for f in bad.check(4, 256, 1000, 2.0, x, x)}
    lines = (files / "nowait.s").read_text().replace("v_fmac_f32", f"; hipgemm: ignore {id}\n\tv_fmac_f32")
    (tmp_path / "ignored.s").write_text(lines)
    assert hipgemm.kernel(tmp_path / "ignored.s").check(4, 256, 1000, 2.0, x, x) == []


@pytest.mark.parametrize("words", [["lint"], ["check", *LAUNCH, "--schedules", "1"]])
def test_a_finding_of_a_code_object_points_into_a_listing(words: list[str], files: Path, tmp_path: Path) -> None:
    listing = tmp_path / "nowait.lst"
    done = invoked([words[0], str(files / "nowait.hsaco"), *words[1:], "--listing", str(listing), "--json"], code=1)
    told = json.loads(done.stdout)
    (finding, *_) = told["findings"] if words[0] == "lint" else told["checked"][0]["findings"]
    place = finding["place"]
    assert place["file"] == str(listing)
    assert listing.read_text().splitlines()[place["line"] - 1] == place["text"]
    assert "v_fmac_f32" in place["text"]
    invoked([words[0], str(files / "nowait.s"), *words[1:], "--listing", str(listing)], code=2)


@pytest.mark.parametrize("file", ["saxpy.hip", "nowait.s", "nowait.hsaco"])
def test_compiler_explorers_object_is_what_the_code_says(file: str, files: Path) -> None:
    done = CliRunner().invoke(main, ["inspect", str(files / file), "--explorer"])
    told = json.loads(done.stdout)
    asm, defined = told["asm"], told["labelDefinitions"]
    assert defined["saxpy"] == 1
    assert {name: asm[number - 1]["text"] for name, number in defined.items()} == {name: f"{name}:" for name in defined}
    for line in asm:
        for label in line["labels"]:
            assert line["text"][label["range"]["startCol"] - 1 : label["range"]["endCol"] - 1] == label["name"]
            assert label["name"] in defined
    fma = next(line for line in asm if "v_fmac_f32" in line["text"])
    kernel = read_kernel(str(files / file))
    if file.endswith(".hsaco"):
        assert fma["source"] is None
        code = linked(kernel).code_object
        assert "".join(o for line in asm for o in line.get("opcodes", ())) == code.code("saxpy").hex()
        return
    program = readable(kernel)
    assert isinstance(program, Program)
    expected = [str(inst).split()[0] for _, inst in program.kernel().instructions()]
    assert [line["text"].split()[0] for line in asm if not line["text"].endswith(":")] == expected
    assert fma["source"]["line"] == body_line(files)[0]
    assert fma["source"]["mainsource"] is file.endswith(".hip")
    assert fma["source"]["file"] == str(files / "saxpy.hip")
    branch = next(line for line in asm if "s_cbranch" in line["text"])
    assert len(branch["labels"]) == 1


def test_assembly_without_a_source_is_its_own_in_compiler_explorers_object(files: Path) -> None:
    text = "\n".join(line for line in (files / "nowait.s").read_text().splitlines() if ".loc" not in line)
    (files / "plain.s").write_text(text)
    asm = json.loads(CliRunner().invoke(main, ["inspect", str(files / "plain.s"), "--explorer"]).stdout)["asm"]
    for line in asm:
        if line["source"] is not None:
            assert line["text"].strip() in text.splitlines()[line["source"]["line"] - 1].expandtabs()
    assert sum(line["source"] is not None for line in asm) > 5


PADDED = ["--grid", "1", "--block", "32"]
"""A launch of padded.s, which begins with 16 bytes of offset: a page of 18 floats has room for 2 lanes."""


@pytest.fixture(scope="module")
def padded(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return Path(shutil.copy(OWN / "padded.s", tmp_path_factory.mktemp("padded")))


def line(file: Path, text: str) -> int:
    return next(n for n, row in enumerate(file.read_text().splitlines(), 1) if row.strip().startswith(text))


def test_places_count_padding_data_and_encodings(padded: Path) -> None:
    """And nothing is said where the assembler makes other code of the text."""
    made = linked(read_kernel(str(padded)))
    found = {
        inst.address: span.line
        for inst in cfg_of(made.code_object, made.facts).instructions
        if (span := made.lines.of(inst)) is not None and inst.address is not None
    }
    rows = padded.read_text().splitlines()
    entry = made.facts.descriptor.entry
    assert {rows[n - 1].split()[0] for a, n in found.items()} >= {".long", ".p2align", ".balign", "ds_store_b32"}
    at = {n: a - entry for a, n in reversed(found.items())}
    assert at[line(padded, "s_mov_b32 s6")] == 128
    assert at[line(padded, "ds_store")] % 64 == 0
    assert at[line(padded, ".long 0xbf89fc07")] == at[line(padded, "ds_store")] + 8
    assert at[line(padded, "v_add_nc_u32")] % 32 == 0
    assert at[line(padded, "global_store")] % 64 == 0
    tools = toolchain.find()
    for old, new, known in (("s_mov_b32 s6, 8", "s_mov_b32 s6, 9", False), ("Lloop", "Lround", True)):
        other = dataclasses.replace(made.lines, assemble=lambda t, a=old, b=new: tools.code_object(t.replace(a, b)))
        assert (other.at(entry) is not None) == known


def test_check_names_the_lines_of_padded_code(padded: Path) -> None:
    done = CliRunner().invoke(main, ["check", str(padded), *PADDED, "--arg", "zeros:f32:18", "--sarif"])
    results = json.loads(done.stdout)["runs"][0]["results"]
    rows = {r["ruleId"]: r["locations"][0]["physicalLocation"]["region"]["startLine"] for r in results}
    assert rows == {"WAIT006": line(padded, "v_add_nc"), "MEM004": line(padded, "global_store")}
    assert f"(line {line(padded, 'ds_load')})" in done.stdout


def test_run_time_timeline_and_python_name_the_lines_of_padded_code(padded: Path, tmp_path: Path) -> None:
    kernel = hipgemm.kernel(padded)
    out = np.zeros(18, np.float32)
    found = {f.id: f.span.line for f in kernel.check(1, 32, out) if f.span}
    assert found["MEM004"] == line(padded, "global_store")
    with pytest.raises(KernelFault) as stopped:
        kernel(1, 32, out, device="simulated")
    assert stopped.value.span is not None
    assert stopped.value.span.line == line(padded, "global_store")
    use = kernel.time(1, 32, np.zeros(64, np.float32)).use
    assert use is not None
    assert use.loops[0].place == f"padded.s:{line(padded, 'ds_store')}"
    page = tmp_path / "t.json"
    invoked(["timeline", str(padded), *PADDED, "--arg", "zeros:f32:64", "-o", str(page)])
    named = {int(place) for place in re.findall(r'"line": ?"padded.s:(\d+)"', page.read_text())}
    ran = [n for n, row in enumerate(padded.read_text().splitlines(), 1) if re.match(r"\t([vsdg][_sl]\w*)\b", row)]
    assert named >= set(ran)


def test_data_that_control_comes_to_is_refused(padded: Path, tmp_path: Path) -> None:
    file = tmp_path / "into.s"
    file.write_text(padded.read_text().replace("\ts_branch .Lover\n", ""))
    for verb in ("check", "time"):
        assert "is not an instruction" in invoked([verb, str(file), *PADDED, "--arg", "zeros:f32:64"], code=2).output


HEADER = """#pragma once
template <int N> __device__ inline float pick(const float* x, int i) {
  return x[i + N];
}
"""
MINE = Path(__file__).with_name("sources").joinpath("source_lines_mine.hip").read_text()


@pytest.mark.parametrize("cache", ["beside", "elsewhere"])
def test_findings_of_hip_begin_with_the_users_own_place(
    tmp_path: Path, tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch, cache: str
) -> None:
    """What was inlined from the user's header names the header, and who calls it; from HIP's own, the call. A macro is
    where it is used, `#line` is believed, and lines of the assembly are called so. A cache that has a folder in common
    with the source makes the compiler shorten the names."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path if cache == "beside" else tmp_path_factory.mktemp("cache")))
    monkeypatch.chdir(tmp_path)
    (tmp_path / "sub").mkdir()
    (tmp_path / "sub" / "helpers.h").write_text(HEADER)
    (tmp_path / "my.hip").write_text(MINE)

    def check(name: str, *arrays: int) -> str:
        words = ["check", "my.hip", "--kernel", name, "--grid=1", "--schedules=1"]
        words += [f"--block={64 if name == 'second' else 32}", *(f"--arg=zeros:f32:{size}" for size in arrays)]
        return CliRunner().invoke(main, words).stdout

    assert check("first", 39, 32, 32) == ""
    assert re.match(
        r"sub/helpers\.h:3: workgroup .* MEM004 .*\n    return x\[i \+ N\];\n"
        r"  called from: my\.hip:9: float a = pick<7>\(x, threadIdx\.x\);\n  assembly: /.*\.s:\d+:2: global_load",
        re.sub(r"\[(?=MEM)", "", check("first", 38, 32, 32)),
    )
    told = check("first", 39, 31, 32)
    assert told.startswith("my.hip:6: workgroup"), told
    assert "  called from: my.hip:11: return a + inner(y, j);\n  called from: my.hip:13: " in told
    assert check("first", 39, 32, 31).startswith("my.hip:13: workgroup")
    told = check("second", 64)
    assert re.match(r"generated\.in:102: workgroup .* \(generated\.in:103, assembly line \d+\)", told), told
    assert re.search(r"  expected: a barrier before .* \(generated\.in:103, assembly line \d+\) fixes all", told)
    assert re.search(r"  also: generated\.in:103, assembly line \d+\n", told)
    assert "(line" not in told


def test_copies_of_an_unrolled_loop_are_one_finding_of_each_kernel() -> None:
    text = "".join(
        f"{name}:\n\ts_nop 0\n\ts_nop 1\n\ts_nop 2\n\ts_endpgm\n.Lfunc_end{n}:\n\t.rodata\n\t.amdhsa_kernel {name}\n"
        "\t\t.amdhsa_next_free_vgpr 1\n\t\t.amdhsa_next_free_sgpr 1\n\t.end_amdhsa_kernel\n\t.text\n"
        for n, name in enumerate(("a", "b"))
    )
    program = parse(text, "k.s")

    def found(line: int, of: int, rule: str = "LDS001", message: str = "races") -> Finding:
        origin = SourceLine("k.hip", of, "") if of > 0 else None
        return dataclasses.replace(RULES[rule].found(message, Span("k.s", line, 2, "")), origin=origin)

    copies = [found(2, 7), found(3, 7, message="races; 1 more with this cause"), found(4, 7), found(15, 7)]
    others = [found(2, 8), found(3, 7, "VOPD006"), found(4, 7, "VOPD006"), found(2, -1), found(3, -1)]
    first, in_b, *rest = together([*copies, *others], program)
    assert first.message == "races; 2 more with this cause"
    assert [r.span.line for r in first.related if r.span] == [3, 4]
    assert in_b == copies[3]
    assert rest == others


def test_what_an_assembler_repeats_is_one_finding(tmp_path: Path) -> None:
    """Several findings of one rule at one instruction stay apart."""
    (tmp_path / "my.s").write_text(
        ".rept 5\nv_add_f32 v9, v8, v8\nglobal_load_b32 v8, v0, s[0:1]\n.endr\ns_endpgm\n".join(
            ["f:\nv_mov_b32 v8, 0\n",
             ".amdhsa_kernel f\n.amdhsa_next_free_vgpr 10\n.amdhsa_next_free_sgpr 4\n.end_amdhsa_kernel\n"]
        )
    )  # fmt: skip
    told = json.loads(invoked(["lint", str(tmp_path / "my.s"), "--json"], code=1).stdout)["findings"]
    waits = [f["message"] for f in told if f["id"] == "WAIT001" and f["place"]["line"] == 4]
    assert [message.partition("; ")[2] for message in waits] == ["3 more with this cause"]

    def found(line: int, message: str) -> Finding:
        origin = SourceLine("my.s", 4, "", macro="")
        return dataclasses.replace(RULES["VAL001"].found(message, Span("my.s", line, 1, "")), origin=origin)

    program = parse("f:\n\ts_nop 0\n\ts_nop 0\n\ts_endpgm\n", "my.s")
    both = together([found(2, "v1"), found(2, "v2"), found(3, "v1"), found(3, "v2")], program)
    assert [f.message for f in both] == ["v1; 1 more with this cause", "v2; 1 more with this cause"]


def test_proofs_and_differences_of_hip_name_its_lines(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """And lint, of a lane beyond the wave."""
    monkeypatch.chdir(tmp_path)
    source = (OWN / "saxpy.hip").read_text()
    (tmp_path / "my.hip").write_text(source)
    (tmp_path / "other.hip").write_text(source.replace("+ y[i]", "- y[i]"))
    lane = 'asm volatile("v_readlane_b32 s20, v0, 40" ::: "s20");'
    (tmp_path / "lane.hip").write_text(source.replace("if (i", f"{lane}\n  if (i"))
    said = CliRunner().invoke(main, ["prove", "other.hip", "--against", "my.hip"]).stdout
    assert re.search(r"^ +original: my\.hip:6 \(/.*\.s:\d+\): ", said, re.M), said
    assert re.search(r"^ +rewritten: other\.hip:6 \(/.*\.s:\d+\): ", said, re.M), said
    assert "original: my.hip:6 (" in str(hipgemm.kernel("other.hip").prove_against(hipgemm.kernel("my.hip")))
    told = json.loads(CliRunner().invoke(main, ["lint", "lane.hip", "--json"]).stdout)["findings"]
    assert [(f["id"], f["where"], f["place"]["line"]) for f in told if f["severity"] == "fault"] == [
        ("LANE001", "lane.hip:6:1", 6)
    ]
    come = json.loads(CliRunner().invoke(main, ["diff", "my.hip", "lane.hip", "--json"]).stdout)["findings"]["come"]
    assert [text.startswith("lane.hip:6: ") for text in come if "LANE001" in text] == [True], come


@pytest.mark.parametrize(  # the second is for the headers that know HIP's host API
    ("argument", "x", "more"),
    [("int n", "n", ""), ("__half h", "__half2float(h)", "int main() { return hipDeviceSynchronize(); }\n")],
)
def test_what_was_inlined_from_the_headers_here_comes_from_the_line_that_calls_it(
    argument: str, x: str, more: str, tmp_path: Path
) -> None:
    file = tmp_path / "scale.hip"
    file.write_text(
        "#include <hip/hip_runtime.h>\n#include <hip/hip_fp16.h>\n"
        f'extern "C" __global__ void scale(float *to, {argument}) {{\n'
        f"    to[threadIdx.x] = rsqrtf(fmaf({x}, 2, to[threadIdx.x]));\n}}\n{more}"
    )
    kernel = read_kernel(str(file))
    program = readable(kernel)
    assert isinstance(program, Program)
    lines = {str(program.lines[n].instruction).split()[0]: place for n, place in lines_of(kernel, program).items()}
    assert {lines[name].line for name in lines if name.startswith(("v_fma", "v_rsq", "v_cvt"))} == {4}
