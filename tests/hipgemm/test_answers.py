"""Answers for programs: every verb's --json against its schema, and `hipgemm judge`.

Each --json that any test sees in its process is held against the schema of its verb (`tests/conftest.py`). Here: that
the schemas are ones, that they can say no, and what `judge` says of kernels that are right, wrong, and worse.
"""

import importlib
import json
from pathlib import Path

import click
import numpy as np
import pytest
from answer_schemas import check_answer
from click.testing import CliRunner
from jsonschema import Draft202012Validator, ValidationError
from verbs import invoked

from hipgemm.cli import VERBS, answers, main
from hipgemm.judge import judgement

SAXPY = """
extern "C" __global__ void saxpy(int n, float a, const float* x, float* y) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) y[i] = a * x[i] + y[i];
}
"""
LAUNCH = 'grid = 2\nblock = 64\nargs = ["n=i32:100", "a=f32:2.0", "x=random:f32:100", "y=random:f32:100"]\n'
REFERENCE = "def reference(a, x, y, **others):\n    return {'y': a * x + y}\n"


@pytest.mark.parametrize("verb", answers.schemas())
def test_each_schema_is_one(verb: str) -> None:
    Draft202012Validator.check_schema(answers.schema(verb))
    assert verb == "error" or verb in VERBS


def test_each_verb_that_answers_in_json_has_one() -> None:
    for verb in VERBS:
        command = importlib.import_module(f"hipgemm.cli.{verb}").command
        if any(isinstance(p, click.Option) and "--json" in p.opts for p in command.params):
            assert verb in answers.schemas()


@pytest.mark.parametrize("wrong", [
    {"folder": "x", "bytes": 1, "dropped": 0, "freed": 0, "kinds": None},
    {"folder": "x", "bytes": 1, "dropped": 0, "kinds": []},
    {"folder": "x", "bytes": 1, "dropped": 0, "freed": 0, "kinds": [], "more": 1},
    {"folder": "x", "bytes": 1, "dropped": 0, "freed": 0, "kinds": [{"kind": "a", "entries": "1", "bytes": 1,
                                                                    "under_way": 0}]},
])  # fmt: skip
def test_an_answer_of_another_form_is_refused(wrong: dict[str, object]) -> None:
    with pytest.raises(ValidationError):
        check_answer("cache", wrong)


def test_numbers_that_json_does_not_have_become_null() -> None:
    found = answers.finite({"a": [float("nan"), 1.5], "b": {"c": (float("-inf"),)}})
    assert found == {"a": [None, 1.5], "b": {"c": [None]}}


def test_the_schema_of_a_verb_is_printed_whole() -> None:
    found = json.loads(CliRunner().invoke(main, ["schema", "check"]).stdout)
    assert set(found["$defs"]) == {"finding", "place", "came_from"}
    assert "check" in invoked(["schema", "chek"], code=2).output


def _judged(folder: Path, source: str, *more: str, launch: str = LAUNCH, reference: str = REFERENCE, code: int = 0):
    """The answer of `hipgemm judge` on a kernel in a folder."""
    (folder / "k.hip").write_text(source)
    (folder / "k.toml").write_text(launch)
    (folder / "ref.py").write_text(reference)
    words = ["judge", str(folder / "k.hip"), "--reference", str(folder / "ref.py"), "--json", *more]
    done = CliRunner().invoke(main, words)
    assert isinstance(done.exception, (SystemExit, type(None))), done.exception
    assert done.exit_code == code, done.output
    return json.loads(done.stdout)


def test_a_right_kernel(tmp_path: Path) -> None:
    found = _judged(tmp_path, SAXPY, "--tolerance", "1e-6")
    assert (found["good"], found["right"], found["faults"]) == (True, True, 0)
    assert found["answer"]["compared"] == ["y"]
    assert found["resources"]["vgprs"] > 0 < found["time"]["low_ms"] <= found["time"]["time_ms"]
    assert found["guidance"][0].startswith("limited by")


def test_a_wrong_answer_has_its_first_element(tmp_path: Path) -> None:
    found = _judged(tmp_path, SAXPY.replace("i < n", "i < n - 1"), "--tolerance", "1e-6", code=1)
    assert (found["right"], found["answer"]["wrong"]) == (False, 1)
    assert found["answer"]["first_wrong"][0]["index"] == [99]


def test_a_race_is_a_fault_whatever_the_answer(tmp_path: Path) -> None:
    source = """
extern "C" __global__ void turn(const float* x, float* y) {
  __shared__ float s[64];
  s[threadIdx.x] = x[threadIdx.x];
  y[threadIdx.x] = s[63 - threadIdx.x];
}
"""
    launch = 'grid = 1\nblock = 64\nargs = ["x=random:f32:64", "y=unwritten:f32:64"]\n'
    found = _judged(tmp_path, source, launch=launch, reference="def reference(x, y):\n    return x[::-1]\n", code=1)
    assert not found["good"]
    assert {f["id"] for f in found["findings"]} >= {"LDS001", "LDS003"}


def test_a_kernel_that_stops_is_wrong_and_says_why(tmp_path: Path) -> None:
    found = _judged(tmp_path, SAXPY.replace("y[i] = a", "y[i + (1 << 28)] = a"), code=1)
    assert (found["right"], found["answer"]) == (False, None)
    assert found["faults"]


def test_nothing_expected_is_neither_right_nor_wrong(tmp_path: Path) -> None:
    (tmp_path / "k.hip").write_text(SAXPY)
    (tmp_path / "k.toml").write_text(LAUNCH)
    found = json.loads(CliRunner().invoke(main, ["judge", str(tmp_path / "k.hip"), "--json"]).stdout)
    assert (found["right"], found["good"]) == (None, True)
    assert "--reference" in found["why_not_compared"]


@pytest.mark.parametrize(("reference", "said"), [
    ("x = 1\n", "has no function reference"),
    ("def reference(b, **others):\n    return 1 / 0\n", "TypeError"),
    ("def reference(a, x, y):\n    return 1 / 0\n", "ZeroDivisionError"),
    ("def reference(aa, x):\n    return x\n", "asks for 'aa'"),
    ("def reference(x):\n    return x[:50]\n", "does not fit y"),
    ("def reference(x):\n    return {'z': x}\n", "no array 'z'"),
    ("def reference(x):\n    pass\n", "returned nothing"),
    ("import sys\nsys.exit(3)\n", "SystemExit"),
    ("def reference(x:\n", "SyntaxError"),
])  # fmt: skip
def test_a_reference_that_cannot_be_used_says_where(tmp_path: Path, reference: str, said: str) -> None:
    error = _judged(tmp_path, SAXPY, reference=reference, code=2)["error"]
    assert said in error["message"]
    if "Error" in said and "Type" not in said:
        assert error["place"]["line"] in (1, 2)


def test_a_launch_file_names_no_code(tmp_path: Path) -> None:
    error = _judged(tmp_path, SAXPY, launch=LAUNCH + 'reference = "evil.py"\n', code=2)["error"]
    assert "has no 'reference'" in error["message"]


def test_a_finding_in_a_macro_has_where_it_was_used(tmp_path: Path) -> None:
    lines = [".macro sum x", " v_add_f32 v\\x, v1, v2", ".endm", ".globl k", ".type k,@function", "k:"]
    lines += [" global_load_b32 v1, v0, s[0:1]", " sum 3", " s_endpgm", ""]
    (tmp_path / "k.s").write_text("\n".join(lines))
    done = CliRunner().invoke(main, ["lint", str(tmp_path / "k.s"), "--json"])
    finding = next(one for one in json.loads(done.stdout)["findings"] if one["id"] == "WAIT001")
    assert [(one["macro"], one["line"]) for one in finding["from"]["expansions"]] == [("sum", 8)]


def test_a_second_judgement_reads_what_is_kept(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The same answer from the cache; a launch of another size, or a comment's line more in the source, is asked anew,
    and each line stands where it is now."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    asked = []
    for name in ("_looked", "_predicted"):
        made = getattr(judgement, name)
        monkeypatch.setattr(judgement, name, lambda *given, of=made, name=name: asked.append(name) or of(*given))
    unused = SAXPY.replace("int i", 'asm volatile("v_mov_b32 v9, 0" ::: "v9");\n  int i')
    first = _judged(tmp_path, unused, "--tolerance", "1e-6")
    assert asked == ["_looked", "_predicted"]
    assert _judged(tmp_path, unused, "--tolerance", "1e-6") == first
    assert asked == ["_looked", "_predicted"]
    _judged(tmp_path, unused, "--tolerance", "1e-6", launch=LAUNCH.replace("grid = 2", "grid = 3"))
    assert asked == ["_looked", "_predicted", "_predicted"]
    lower = _judged(tmp_path, "// one more\n" + unused, "--tolerance", "1e-6")
    lines = [[f["place"]["line"] for f in answer["findings"] if f["place"]] for answer in (first, lower)]
    assert lines[1] == [line + 1 for line in lines[0]] != []


def test_a_time_that_data_decides_is_not_kept(tmp_path: Path) -> None:
    """The path of a loop whose length lies in memory is that of the arrays of this launch."""
    source = SAXPY.replace("y[i] = a * x[i] + y[i];", "for (int k = 0; k < (int)x[0]; k++) y[i] = sqrtf(y[i] * a);")
    launch = LAUNCH.replace("x=random:f32:100", "x=file:x.npy")
    times = []
    for rounds in (1, 400):
        np.save(tmp_path / "x.npy", np.full(100, rounds, np.float32))
        answer = _judged(
            tmp_path, source, launch=launch, reference="def reference(x, y, **others):\n    return y\n", code=1
        )
        times.append(answer["time"]["time_ms"])
    assert times[1] > 2 * times[0]
