"""`hipgemm lint`: what it takes and what it exits with."""

import json
from pathlib import Path

import pytest
from click.testing import CliRunner
from verbs import invoked

from hipgemm.cli import main
from hipgemm.kernels.build import build
from hipgemm.kernels.ladder import LADDER
from isa import toolchain
from isa.asm.parse import parse
from isa.lint.lint import lint_code_object, lint_program
from isa.lint.registry import RULES
from isa.object.code_object import CodeObject, load

CASES = Path(__file__).parents[1] / "isa" / "lint" / "cases" / "lint"


@pytest.fixture
def case(tmp_path: Path) -> Path:
    file = tmp_path / "waits.s"
    file.write_text((CASES / "waits.s").read_text().partition(";; expect\n")[0])
    return file


def test_faults_exit_with_1_and_name_their_place(case: Path) -> None:
    done = invoked(["lint", str(case)], code=1)
    assert f"{case}:" in done.stdout
    assert "^" in done.stdout


def test_json_is_one_object(case: Path) -> None:
    done = CliRunner().invoke(main, ["lint", str(case), "--json", "--faults-only"])
    told = json.loads(done.stdout)
    assert told["faults"] == len(told["findings"]) > 0
    assert {"severity", "rule", "source", "message", "place", "where", "help"} <= told["findings"][0].keys()


def test_rules_are_chosen_by_id_and_prefix(case: Path) -> None:
    def ids(*options: str) -> set[str]:
        done = CliRunner().invoke(main, ["lint", str(case), "--json", *options])
        return {f["id"] for f in json.loads(done.stdout)["findings"]}

    assert ids() >= {"WAIT001", "WAIT004"}
    assert ids("--select", "WAIT001") == {"WAIT001"}
    assert ids("--select", "WAIT", "--ignore", "WAIT001,WAIT002") == ids("--select", "WAIT") - {"WAIT001", "WAIT002"}
    invoked(["lint", str(case), "--ignore", "VAL,WAIT"])
    assert "there is no rule 'NOPE'" in invoked(["lint", str(case), "--ignore", "NOPE"], code=2).stderr


def test_the_rules_are_listed() -> None:
    assert [line.split()[0] for line in invoked(["lint", "--rules"]).stdout.splitlines()] == list(RULES)


def test_a_comment_ignores_a_rule(case: Path) -> None:
    before = json.loads(CliRunner().invoke(main, ["lint", str(case), "--json"]).stdout)["findings"]
    lines = case.read_text().splitlines()
    for line in {f["place"]["line"] for f in before if f["place"]}:
        lines[line - 1] += " ; hipgemm: ignore WAIT, VAL"
    case.write_text("\n".join(lines) + "\n")
    done = CliRunner().invoke(main, ["lint", str(case), "--faults-only"])
    assert (done.exit_code, done.stdout) == (0, "")


def test_sarif_is_what_its_schema_asks_for(case: Path) -> None:
    """The properties that SARIF 2.1.0 requires, and that numbers point where they say."""
    done = CliRunner().invoke(main, ["lint", str(case), "--sarif"])
    told = json.loads(done.stdout)
    assert done.exit_code == 1
    assert told["version"] == "2.1.0"
    (run,) = told["runs"]
    rules = run["tool"]["driver"]["rules"]
    assert run["tool"]["driver"]["name"] == "hipgemm lint"
    assert all(rule["defaultConfiguration"]["level"] in ("error", "note") for rule in rules)
    lines = case.read_text().splitlines()
    plain = json.loads(invoked(["lint", str(case), "--json"], code=1).stdout)
    assert len(run["results"]) == len(plain["findings"]) > 4
    for result in run["results"]:
        assert rules[result["ruleIndex"]]["id"] == result["ruleId"]
        assert result["level"] == rules[result["ruleIndex"]]["defaultConfiguration"]["level"]
        assert result["message"]["text"]
        assert result["occurrenceCount"] == 1 + len(result.get("relatedLocations", ()))
        for location in (*result["locations"], *result.get("relatedLocations", ())):
            region = location["physicalLocation"]["region"]
            assert lines[region["startLine"] - 1] == region["snippet"]["text"]
            assert region["startColumn"] >= 1


def test_sarif_of_a_code_object_names_places() -> None:
    """Code has no lines: a place is what was looked at and a name in it."""
    made = build("kernel2")
    told = json.loads(CliRunner().invoke(main, ["lint", str(made.hsaco), "--sarif"]).stdout)
    for result in told["runs"][0]["results"]:
        (location,) = result["locations"]
        assert location["physicalLocation"] == {"artifactLocation": {"uri": str(made.hsaco)}}
        assert location["logicalLocations"][0]["fullyQualifiedName"].startswith(f"{made.hsaco}:kernel2")


def test_stdin_and_a_clean_file() -> None:
    text = (CASES / "clean.s").read_text().partition(";; expect\n")[0]
    invoked(["lint", "-"], text)


def test_a_kernel_is_built_and_checked() -> None:
    invoked(["lint", "kernel1"])


@pytest.mark.parametrize("tools", [t for t in toolchain.available() if t.kind != "hipcc"], ids=str)
def test_no_compiled_rung_has_a_fault_with_any_compiler(tools: toolchain.Toolchain) -> None:
    """What `hipgemm lint kernelN` looks at, and the code object that HIP loads."""
    for name in (name for name, row in LADDER.items() if not row.parameters):
        made = build(name, tools=tools)
        assert lint_program(parse(made.assembly.read_text(), made.assembly.name), notes=False) == []
        assert lint_code_object(made.code_object(), name, notes=False) == []


@pytest.mark.parametrize("name", [name for name, row in LADDER.items() if row.parameters])
def test_no_generated_rung_has_a_fault(name: str) -> None:
    """Its text is nobody's but ours, so that each compiler only assembles it, to the same bytes."""
    made = build(name)
    text = made.assembly.read_text()
    assert lint_program(parse(text, made.assembly.name), notes=False) == []
    assert lint_code_object(made.code_object(), name, notes=False) == []

    def code(image: CodeObject) -> bytes:
        kernel = image.kernel(name)
        return image.read(kernel.descriptor.entry, kernel.code_size)

    for tools in toolchain.available():
        if tools.kind != "hipcc":
            assert code(load(tools.code_object(text))) == code(made.code_object()), str(tools)


def test_inline_assembly_of_a_source_says_what_it_declares(tmp_path: Path) -> None:
    """v0 holds an offset across the statement, s4 nothing."""
    source = tmp_path / "k.hip"
    statement = 'asm volatile("v_mov_b32 v0, 1.0\\n\\ts_mov_b32 s4, 1" ::: %s);'
    for declared, faults in (('"memory"', 1), ('"memory", "v0"', 0)):
        source.write_text(f"""#include <hip/hip_runtime.h>
__global__ void f(float* x) {{ float a = x[threadIdx.x]; {statement % declared}
asm("v_add_f32 %0, %0, 1.0" : "+v"(a)); x[threadIdx.x] = a; }}""")
        found = json.loads(CliRunner().invoke(main, ["lint", str(source), "--json", "--select", "ASM"]).stdout)
        assert [f["id"] for f in found["findings"] if f["severity"] == "fault"] == ["ASM001"] * faults


def test_a_code_object_from_a_file_and_from_stdin(tmp_path: Path) -> None:
    made = build("kernel2")
    for what, data in ((str(made.hsaco), None), ("-", made.hsaco.read_bytes())):
        assert json.loads(invoked(["lint", what, "--json"], data).stdout)["faults"] == 0


@pytest.mark.parametrize("content", [None, b"", b"\xff\xfe\x00", b"\x7fELF and no more", b"%what is this\n"])
def test_what_cannot_be_read_exits_with_2(content: bytes | None, tmp_path: Path) -> None:
    file = tmp_path / "k.s"
    if content is not None:
        file.write_bytes(content)
    invoked(["lint", str(file)], code=2)


ASSUMED = CASES.parent / "assumed.s"


@pytest.mark.parametrize(("value", "lines"), [("", [22]), ("4096", []), ("15", [22]), ("0x10", [])])
@pytest.mark.parametrize("form", ["text", "object"])
def test_an_assumption_leaves_the_paths_of_its_launches(
    value: str, lines: list[int], form: str, tmp_path: Path
) -> None:
    """A wait that only the loop has: without an iteration the load is in flight after it."""
    file = str(ASSUMED)
    if form == "object":
        file = str(tmp_path / "assumed.hsaco")
        Path(file).write_bytes(toolchain.find().code_object(ASSUMED.read_text()))
    more = ["--assume", f"K={value}"] if value else []
    done = CliRunner().invoke(main, ["lint", file, "--json", *more])
    told = json.loads(done.stdout)
    assert told["assumed"] == ([f"K is {value}"] if value else [])
    places = [f["place"]["line"] if f["place"] else 22 for f in told["findings"]]
    assert (places, done.exit_code) == (lines, bool(lines))
    shown = CliRunner().invoke(main, ["lint", file, *more]).stdout
    assert (f"{file}: assuming that K is {value}\n" in shown) == bool(value)


def test_an_assumption_of_no_kernel_is_refused_and_one_of_some_names_them(tmp_path: Path) -> None:
    for wrong in ("N=1", "K", "K=x"):
        assert f"--assume {wrong}: " in invoked(["lint", str(ASSUMED), "--assume", wrong], code=2).stderr
    both = tmp_path / "two.hip"
    both.write_text(
        '#include <hip/hip_runtime.h>\nextern "C" __global__ void f(float *x, int n) { x[threadIdx.x] = n; }\n'
        'extern "C" __global__ void g(float *x) { x[threadIdx.x] = 1; }\n'
    )
    done = CliRunner().invoke(main, ["lint", str(both), "--assume", "n=3", "--json"])
    assert json.loads(done.stdout)["assumed"] == ["in f, n is 3"]


def test_a_folder_of_stages_can_be_read(tmp_path: Path) -> None:
    """What guards the text is no file there, and the assembler's output, which is not linked, holds no kernel."""
    text = (CASES.parents[2] / "cases_expand" / "macros.s").read_text().partition(";; expect\n")[0]
    (tmp_path / "mine.s").write_text(text)
    invoked(["build", str(tmp_path / "mine.s"), "-o", str(tmp_path / "stages")])
    assert [p.name for p in (tmp_path / "stages").rglob("*.s")] == ["mine.0-given.s"]
    told = json.loads(invoked(["lint", str(tmp_path / "stages"), "--json"]).stdout)
    assert [Path(one["input"]).name for one in told["inputs"]] == ["mine.0-given.s", "mine.hsaco"]


def test_several_files_and_folders(case: Path, tmp_path: Path) -> None:
    """Each with its own findings; what cannot be read is told, does not stop the others, and is the exit status."""
    (tmp_path / "more").mkdir()
    (tmp_path / "more" / "text.txt").write_text("no kernel\n")
    (tmp_path / "more" / "plain.s").write_text(case.read_text())
    done = CliRunner().invoke(main, ["lint", str(case), str(tmp_path / "more"), "--json"])
    told = json.loads(done.stdout)
    assert (done.exit_code, told["unread"], len(told["inputs"])) == (1, 0, 2)
    assert told["faults"] == sum(one["faults"] for one in told["inputs"]) == 2 * told["inputs"][0]["faults"] > 0
    done = invoked(["lint", str(case), str(tmp_path / "more"), str(tmp_path / "none.s")], code=2)
    assert "none.s" in done.stderr
    assert f"{case}:" in done.stdout
    (tmp_path / "empty").mkdir()
    assert "no kernels in" in invoked(["lint", str(tmp_path / "empty")], code=2).stderr
