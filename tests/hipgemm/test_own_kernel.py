"""A kernel of one's own through every verb: saxpy.hip, its assembly, its code object, and stdin; softmax.hip with a
launch file and a reference; what is not a kernel, or not its launch, is refused with one message.

Start here to learn how the commands are used.
"""

import ctypes
import dataclasses
import re
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from click.testing import CliRunner, Result
from verbs import invoked

import hipgemm
from hipgemm.cli import main
from hipgemm.kernels.build import linked, readable
from hipgemm.kernels.files import read_kernel
from hipgemm.kernels.ladder import rung
from hipgemm.launch.launch import words_for
from isa import toolchain
from isa.asm.emit import emit
from isa.asm.parse import parse
from isa.display import number_of
from isa.errors import IsaError

pytestmark = pytest.mark.skipif(not list(toolchain.available()), reason="no compiler for gfx11 here")
OWN = Path(__file__).parent / "own"
LAUNCH = ("--grid", "4", "--block", "256")
ARGUMENTS = ("--arg", "n=i32:1000", "--arg", "a=f32:2", "--arg", "x=arange:f32:1000", "--arg", "y=zeros:f32:1000")
SAXPY = (*LAUNCH, *ARGUMENTS)
MORE = {
    "build": "-o out",
    "audit": "-o page.html --jobs 1",
    "opt": "--passes vopd-interlock -o opt.s",
    "timeline": "-o t.json",
}
"""What a verb must be told beside its file."""
LAUNCHES = ("run", "check", "time", "timeline")
COLUMNS = (
    ("saxpy.hip", "saxpy.cpp", "HIP on stdin"), ("saxpy.s", "assembly on stdin"), ("saxpy.hsaco", "code on stdin"),
    ("recorded",), ("kernel5",),
)  # fmt: skip
"""What is brought, by the columns of the table in docs/own-kernel.md."""


def table() -> dict[str, list[str]]:
    """Command -> its cells."""
    page = (Path(__file__).parents[2] / "docs" / "own-kernel.md").read_text()
    rows = [[cell.strip() for cell in line.strip("|").split("|")] for line in page.splitlines() if line[:3] == "| `"]
    return {command: row[1:] for row in rows for command in re.findall("`([^`]*FILE[^`]*)`", row[0])}


CELLS = [(command, column) for command, cells in table().items() for column in range(len(cells))]


@pytest.fixture(scope="module")
def files(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """saxpy in every form, and what y must be in the end."""
    folder = tmp_path_factory.mktemp("files")
    for name in ("saxpy.hip", "saxpy.cpp"):
        shutil.copy(OWN / "saxpy.hip", folder / name)
    kernel = read_kernel(str(folder / "saxpy.hip"))
    (folder / "saxpy.s").write_text(emit(readable(kernel)))
    (folder / "saxpy.hsaco").write_bytes(linked(kernel).image)
    np.save(folder / "y.npy", 2 * np.arange(1000, dtype=np.float32))
    (folder / "recorded").mkdir()
    shutil.copy(folder / "saxpy.hsaco", folder / "recorded" / "kernel.hsaco")
    (folder / "recorded" / "kernel.toml").write_text(
        '["saxpy"]\ngrid = 4\nblock = 256\nargs = ["i32:1000", "f32:2", "arange:f32:1000", "zeros:f32:1000"]\n'
        'expect = ["y=../y.npy"]\n'
    )
    return folder


def invoke(folder: Path, monkeypatch: pytest.MonkeyPatch, what: str, words: list[str]) -> Result:
    """A verb on what is brought: FILE is one of COLUMNS."""
    monkeypatch.chdir(folder)
    suffix = {"HIP": "hip", "assembly": "s", "code": "hsaco"}.get(what.split()[0])
    text = (folder / f"saxpy.{suffix}").read_bytes() if suffix else None
    named = {"FILE": "-" if text else what, "OTHER": f"saxpy.{suffix}" if text else what}
    return CliRunner().invoke(main, [named.get(word, word) for word in words], text)


def walked(command: str, column: int) -> list[tuple[str, list[str], str]]:
    """(what is brought, words, what the cell says) of a cell of the table."""
    says = table()[command][column]
    out = []
    for what in COLUMNS[column]:
        verb, *words = command.split()
        own = what in ("kernel5", "recorded") or verb not in LAUNCHES
        size = ["-n", "128"] if what == "kernel5" and verb in LAUNCHES else []
        where = ["--device", "simulated"] if verb == "run" else []
        out.append((what, [verb, *words, *MORE.get(verb, "").split(), *size, *(() if own else SAXPY), *where], says))
    return out


@pytest.mark.parametrize(("command", "column"), [cell for cell in CELLS if not cell[0].startswith("run")])
def test_the_table_of_verbs_and_inputs(command: str, column: int, files: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Every cell does what it says: status 0, or 2 with its words."""
    for what, words, says in walked(command, column):
        done = invoke(files, monkeypatch, what, words)
        taken = (0, 1) if words[0] == "prove" and what != "kernel5" else (0,)  # the prover does not follow saxpy's EXEC
        assert done.exit_code in (taken if says == "yes" else (2,)), done.output
        assert says == "yes" or says.removeprefix("no: ") in done.stderr


def test_the_table_has_every_verb() -> None:
    assert {command.split()[0] for command in table()} == {"run", "build", "opt", "timeline", "time", "inspect", "lint",
                                                          "prove", "diff", "check", "audit"}  # fmt: skip


def test_the_table_of_run(files: Path, run_program: Callable[..., Any]) -> None:
    """In one process of its own, since it opens a device."""
    words = [(what, w) for column in range(len(COLUMNS)) for what, w, _ in walked("run FILE", column)]
    words = [(what, [what if w == "FILE" else w for w in row]) for what, row in words if "stdin" not in what]
    assert all(cell == "yes" for cell in table()["run FILE"])
    run_program(
        f"""
import os
from click.testing import CliRunner
from hipgemm.cli import main
os.chdir({str(files)!r})
for what, words in {words!r}:
    done = CliRunner().invoke(main, words)
    assert done.exit_code == 0, done.output
"""
    )


def test_run_takes_every_input(files: Path, run_program: Callable[..., Any]) -> None:
    """In one process of its own: the same answer from all of them, held against y.npy, and kept."""
    forms = ("saxpy.hip", "saxpy.s", "saxpy.hsaco")
    run_program(
        f"""
import json, os
import numpy as np
from click.testing import CliRunner
from hipgemm.cli import main
os.chdir({str(files)!r})
for what in {forms}:
    words = ["run", what, *{SAXPY}, "--device", "simulated", "--out", "y=now.npy"]
    done = CliRunner().invoke(main, [*words, "--expect", "y=y.npy", "--json"])
    assert done.exit_code == 0, done.output
    told = json.loads(done.stdout)
    assert told["correct"] and told["changed"] == {{"x": 0, "y": 999}} and told["time_kind"] == "predicted", told
    assert np.array_equal(np.load("now.npy"), np.load("y.npy"))
    wrong = CliRunner().invoke(main, [*words, "--expect", "y=now.npy", "--arg", "unused=i32:1"])
    assert wrong.exit_code == 2, wrong.output
done = CliRunner().invoke(main, ["run", "saxpy.hip", *{SAXPY[:-1]}, "y=arange:f32:1000", "--expect", "y.npy"])
assert done.exit_code == 1 and "WRONG in 999 of 1000 elements" in done.output, done.output
"""
    )


def test_a_launch_file_and_a_reference(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """softmax.toml says how softmax.hip is launched and what must come out; a wrong kernel is found by it."""
    for name in ("softmax.hip", "softmax.toml"):
        shutil.copy(OWN / name, tmp_path / name)
    rows = np.random.default_rng(0).standard_normal((4, 500)).astype(np.float32)
    powers = np.exp(rows.astype(np.float64) - rows.max(axis=1, keepdims=True))
    np.save(tmp_path / "in.npy", rows)
    np.save(tmp_path / "out.npy", (powers / powers.sum(axis=1, keepdims=True)).astype(np.float32))
    file = str(tmp_path / "softmax.hip")
    for words in (["check", file], ["lint", file], ["time", file], ["timeline", file, "-o", str(tmp_path / "t.html")]):
        invoked(words)
    source = Path(file)
    source.write_text(source.read_text().replace("/ shared[0]", "/ shared[1]"))
    done = invoked(["check", file, "--schedules", "1"], code=1)
    assert "elements of out are wrong, most of all out[" in done.stdout
    source.write_text(source.read_text().replace("__syncthreads();", "", 1))
    assert "LDS race" in CliRunner().invoke(main, ["check", file, "--schedules", "1"]).stdout


def test_passes_and_proofs(files: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """An edited kernel against the one that it was; a kernel that is called like a rung, against what that computes."""
    monkeypatch.chdir(files)
    invoked(["prove", "saxpy.hip"], code=2)
    assert "proved: " in invoked(["opt", "kernel5", "--passes", "bank-balance", "--prove", "-o", "kernel5.s"]).stderr
    invoked(["prove", "kernel5.s"])
    edited = Path("kernel5.s").read_text().replace("s_waitcnt vmcnt(0)", "s_nop 0", 1)
    Path("edited.s").write_text(edited)
    assert not invoked(["prove", "edited.s", "--against", "kernel5.s"], code=1).stdout.startswith("proved")
    invoked(["build", "kernel5", "--passes", "bank-balance,unroll", "-o", "rewritten"])
    assert Path("rewritten/kernel5/kernel5.2-unroll.s").exists()


GEMM = """
#include <hip/hip_runtime.h>
extern "C" __global__ void __launch_bounds__(256)
mine(const float *a, const float *b, float *c, int m, int n, int k, float alpha, float beta) {
    int row = blockIdx.y * 16 + threadIdx.x / 16, column = blockIdx.x * 16 + threadIdx.x % 16;
    if (row >= m || column >= n) return;
    float sum = 0;
    for (int i = 0; i < k; ++i) sum += a[row * k + i] * b[i * n + column];
    c[row * n + column] = alpha * sum + (beta ? beta * c[row * n + column] : 0);
}
"""


def test_a_gemm_is_known_by_its_signature(tmp_path: Path) -> None:
    """Its tile is not in the code object; once it is said, it gets the ladder's launch and its reference."""
    file = tmp_path / "mine.hip"
    file.write_text(GEMM)
    done = invoked(["check", str(file), "-n", "40"], code=2)
    assert "mine has the signature of a GEMM" in done.stderr
    assert "--block-tile ROWS,COLUMNS" in done.stderr
    words = ["check", str(file), "-n", "40", "-k", "24", "--beta", "0.5", "--block-tile", "16,16", "--schedules", "1"]
    invoked(words)
    file.write_text(GEMM.replace("i < k", "i < k - 1"))
    assert "elements of C are wrong" in invoked(words, code=1).stdout
    assert (
        "tflops" in CliRunner().invoke(main, ["time", str(file), "-n", "64", "--block-tile", "16,16", "--json"]).stdout
    )


def test_macros_folders_and_flags_reach_the_compiler(tmp_path: Path) -> None:
    (tmp_path / "include").mkdir()
    (tmp_path / "include" / "value.h").write_text("#define VALUE 2\n")
    file = tmp_path / "store.hip"
    file.write_text('#include <value.h>\nextern "C" __global__ void store(float *p) { *p = VALUE * SCALE + MORE; }\n')
    np.save(tmp_path / "p.npy", np.float32([7]))
    words = ["check", str(file), "--grid", "1", "--block", "1", "--arg", "zeros:f32:1", "--expect", f"{tmp_path}/p.npy"]
    words += ["-I", str(tmp_path / "include"), "-DSCALE=3", "-O1", "--arch", "gfx1102", "--", "-DMORE=1"]
    header = ["-include", "hip/hip_runtime.h"]
    invoked([*words, *header])
    (tmp_path / "include" / "value.h").write_text("#define VALUE 3\n")
    assert CliRunner().invoke(main, [*words, *header]).exit_code == 1, "an included file is part of the source"


def test_a_users_own_header_comes_before_the_one_here(tmp_path: Path) -> None:
    (tmp_path / "inc" / "hip").mkdir(parents=True)
    (tmp_path / "inc" / "hip" / "hip_fp16.h").write_text("#define VALUE 2\n")
    file = tmp_path / "store.hip"
    file.write_text(
        "#include <hip/hip_fp16.h>\n#include <hip/hip_runtime.h>\n__global__ void store(float *p) { *p = VALUE; }\n"
    )
    assert CliRunner().invoke(main, ["lint", str(file), "-I", str(tmp_path / "inc")]).exit_code == 0
    assert "VALUE" in CliRunner().invoke(main, ["lint", str(file)]).stderr


def test_lds_that_the_launch_should_have_given_is_asked_for(tmp_path: Path) -> None:
    file = tmp_path / "shared.hip"
    file.write_text(
        "#include <hip/hip_runtime.h>\nextern __shared__ float s[];\n__global__ void shared(float *p) {\n"
        "    s[threadIdx.x] = p[threadIdx.x];\n    __syncthreads();\n    p[threadIdx.x] = s[63 - threadIdx.x];\n}\n"
    )
    words = ["check", str(file), "--grid", "1", "--block", "64", "--arg", "random:f32:64"]
    assert "--dynamic-lds" in invoked(words, code=1).output
    assert CliRunner().invoke(main, [*words, "--dynamic-lds", "256"]).exit_code == 0


@pytest.mark.parametrize("width", [20, 47, 80, 200])
@pytest.mark.parametrize("words", ["inspect FILE", "lint FILE", "list", "time -h"])
def test_a_narrow_terminal_loses_no_words(words: str, width: int, files: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Letters and digits, as lines break at other places."""
    shown = []
    for columns in (160, width):
        monkeypatch.setenv("COLUMNS", str(columns))
        done = CliRunner().invoke(main, words.replace("FILE", str(files / "saxpy.hip")).split())
        assert done.exit_code == 0, done.output
        shown.append("".join(filter(str.isalnum, done.output)))
    assert sorted(shown[0]) == sorted(shown[1])


def test_the_line_to_fill_in_is_a_launch(files: Path) -> None:
    """What the error for a missing launch proposes is taken as it stands."""
    words = words_for(linked(read_kernel(str(files / "saxpy.hip"))).facts)
    assert words == "--grid 1 --block 256 --arg n=i32:1 --arg a=f32:1 --arg x=random:f32:1024 --arg y=random:f32:1024"
    invoked(["check", str(files / "saxpy.hip"), *words.split()])


def test_from_python(files: Path) -> None:
    """Without a launch on a device, which is test_from_python_on_a_device."""
    k = hipgemm.kernel(files / "saxpy.hip")
    x, y = np.arange(1000, dtype=np.float32), np.zeros(1000, np.float32)
    assert k.check(4, 256, 1000, 2.0, x, y, expect=2 * x) == []
    (wrong,) = k.check(4, 256, 1000, 2.0, x, y, expect=2 * x + 1, schedules=1)
    assert (wrong.id, wrong.got) == ("RUN003", "0")
    assert [f.id for f in k.check(5, 256, 1200, 2.0, x, y, schedules=1)][:1] == ["MEM004"]
    assert k.time(4, 256, 1000, 2.0, x, y).timing.time_s > 0
    assert k.lint() == []
    assert k.inspect().kernel == "saxpy"
    assert k.build().hsaco.exists()
    edited = hipgemm.kernel((files / "saxpy.s").read_text())
    assert edited.linked().name == "saxpy"
    assert hipgemm.kernel("kernel6").prove_against(hipgemm.kernel("kernel5")).verdict == "proved"
    assert hipgemm.kernel("kernel1").check(n=32) == []
    for arguments in ((4, 256, 1000, 2.0, x), (4, None, 1000, 2.0, x, y), (0, 256, 1000, 2.0, x, y),
                      (4, 256, "i32:x", 2.0, x, y), (4, 256, 1000, 2.0, x, [1.0])):  # fmt: skip
        with pytest.raises(IsaError):
            k.launch(*arguments)


def test_results_show_themselves_in_a_notebook(files: Path, read_page: Callable[[str], Any]) -> None:
    k = hipgemm.kernel(files / "saxpy.hip")
    text = (files / "saxpy.s").read_text()
    bad = hipgemm.kernel(text.replace("s_waitcnt vmcnt(0)", "s_nop 0 ; <&"))
    found = bad.lint()
    assert repr(found).endswith(f"{number_of(len(found), 'fault')}, 0 notes")
    assert all(str(finding) in repr(found) for finding in found)
    page = read_page(found._repr_html_() or "")
    words = " ".join(page.words)
    assert page.requests == []
    assert "s_nop 0 ; <&" not in (found._repr_html_() or "")
    assert found[0].id in words
    assert str(found[0].span) in words
    assert "bad" in page.classes
    clean = read_page(k.lint()._repr_html_() or "")
    assert "0 faults, 0 notes" in " ".join(clean.words)
    assert "bad" not in clean.classes
    other = hipgemm.kernel(text.replace("v_fmac_f32", "v_mul_f32"))
    proof = other.prove_against(hipgemm.kernel(text))
    assert proof.verdict == "different"
    shown = read_page(proof._repr_html_() or "")
    assert "different" in shown.words
    assert "bad" in shown.classes
    assert "bad" not in read_page(dataclasses.replace(proof, verdict="unproven")._repr_html_() or "").classes
    difference = read_page(other.difference_from(hipgemm.kernel(text))._repr_html_() or "")
    assert "v_mul_f32" in " ".join(difference.words)


def test_an_inspection_shows_itself_once(files: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    k = hipgemm.kernel(files / "saxpy.s")
    outside = repr(k.inspect())
    displayed: list[object] = []
    monkeypatch.setattr("rich.console._is_jupyter", lambda: True)
    monkeypatch.setattr("rich.jupyter.display", lambda *what: displayed.append(what))
    assert repr(k.inspect()) == outside
    assert outside.startswith("saxpy")
    assert displayed == []


def test_timeline_opt_and_expect_from_python(files: Path, read_page: Callable[[str], Any]) -> None:
    k = hipgemm.kernel(files / "saxpy.s")
    assert len(repr(k)) < 200
    x, y = np.arange(1000, dtype=np.float32), np.zeros(1000, np.float32)
    launch = (4, 256, 1000, 2.0, x, y)
    waves = k.timeline(*launch)
    assert repr(waves).startswith("saxpy, 7900 XTX: cycles 0 to ")
    assert "<iframe" in (waves._repr_html_() or "")
    assert waves.issues > 0
    for given in (k, hipgemm.kernel(files / "saxpy.hsaco")):
        made, why = given.opt(*launch, passes="vopd-interlock")
        assert (made, why) == (given, "saxpy: unchanged: nothing to do")
    slow = hipgemm.kernel((files / "saxpy.s").read_text().replace("v_fmac_f32", "s_nop 0\ns_nop 0\nv_fmac_f32"))
    made, why = slow.opt(passes="pair")
    assert why == "saxpy: rewritten, proved"
    assert made.kernel.code != slow.kernel.code
    assert made(*launch, device="simulated", expect=2 * x).correct is True
    assert made(*launch, device="simulated", expect=2 * x).correct is False  # y has 4x now
    with pytest.raises(IsaError) as error:
        k.launch(4, 256, 1000, 2.0, x, [0.5] * 10_000)
    assert len(str(error.value)) < 300


def test_python_takes_a_card_that_runs_the_code(files: Path, run_program: Callable[..., Any]) -> None:
    run_program(
        f"""
import numpy as np
import hipgemm
x = np.arange(1000, dtype=np.float32)
launch = 4, 256, np.int32(1000), np.float32(2), x
source = hipgemm.kernel({str(files / "saxpy.hip")!r}, arch="gfx1201")
held = hipgemm.kernel("\\n".join(line.text for line in source.linked().program.lines))
assert "gfx1201" in repr(held)
for k in source, held:
    y = np.ones(1000, np.float32)
    assert "card        9070 XT" in repr(k.time(*launch, y)) and "9070 XT" in repr(k.timeline(*launch, y))
    assert k(*launch, y, device="simulated").arch == "gfx1201" and np.array_equal(y, 2 * x + 1)
    try:
        k.time(*launch, y, card="7900 XTX")
    except hipgemm.measure.measure.IsaError as error:
        assert "is no code for the 7900 XTX" in str(error)
    else:
        raise SystemExit("taken")
"""
    )


def test_from_python_on_a_device(files: Path, run_program: Callable[..., Any]) -> None:
    run_program(
        f"""
import numpy as np
import hipgemm
k = hipgemm.kernel({str(files / "saxpy.hip")!r}, "saxpy")
x, y = np.arange(1000, dtype=np.float32), np.ones((2, 500), np.float32)[::-1]
result = k((4,), (256,), np.int32(1000), np.float32(2), x, y, device="simulated")
assert np.array_equal(y.reshape(-1), 2 * x + 1)
assert result.correct is None and result.changed == {{"x": 0, "y": 999}}, result
assert "not compared with anything" in repr(result) and "y" in result._repr_html_()
assert hipgemm.run(hipgemm.kernel("kernel1"), n=16, device="simulated").correct
try:
    hipgemm.run(k)
except hipgemm.measure.measure.IsaError as error:
    assert "not known to be a GEMM" in str(error)
else:
    raise SystemExit("taken")
"""
    )


def test_a_structure_by_value(tmp_path: Path) -> None:
    """Its members at their alignments: a byte, then a float at 4."""
    file = tmp_path / "pair.hip"
    file.write_text(
        "#include <hip/hip_runtime.h>\nstruct Pair { signed char n; float x; };\n"
        'extern "C" __global__ void pair(Pair p, float *out) { *out = p.n * p.x; }\n'
    )
    np.save(tmp_path / "out.npy", np.float32([-3]))
    words = ["check", str(file), "--grid", "1", "--block", "1", "--arg", "struct:i8:-2,f32:1.5", "--arg", "zeros:f32:1"]
    invoked([*words, "--expect", str(tmp_path / "out.npy")])
    record = np.zeros(1, np.dtype([("n", "i1"), ("x", "f4")], align=True))
    record[0] = -2, 1.5
    k, out = hipgemm.kernel(file), np.zeros(1, np.float32)
    pair = type("Pair", (ctypes.Structure,), {"_fields_": [("n", ctypes.c_int8), ("x", ctypes.c_float)]})(-2, 1.5)
    for given in (record[0], record.tobytes(), pair):
        assert k.check(1, 1, given, out, expect=np.float32([-3]), schedules=1) == []
    with pytest.raises(hipgemm.IsaError, match="another size"):
        k.launch(1, 1, b"1234", out)


CPP = """
#include "value.h"
#include <hip/hip_runtime.h>
struct Params { unsigned char mode; double scale; };
namespace mine {
template <class T> __global__ void scaled(const T *x, Params p, T *y) {
    y[threadIdx.x] = x[threadIdx.x] * p.scale + ADDED;
}
__global__ void other(float *y) { *y = 1; }
}
template __global__ void mine::scaled<float>(const float *, Params, float *);
template __global__ void mine::scaled<double>(const double *, Params, double *);
"""


def test_kernels_of_cpp_are_called_as_the_source_calls_them(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Several, in a namespace, templates, with a structure, which has no name in the metadata; flags with paths from
    here; a launch file that says which."""
    monkeypatch.chdir(tmp_path)
    Path("include").mkdir()
    Path("include/value.h").write_text("#define ADDED 1\n")
    Path("mine.cpp").write_text(CPP)
    np.save("y.npy", np.arange(32) * 2.5 + 1)
    by_position = "--arg arange:f64:32 --arg struct:u8:1,f64:2.5 --arg zeros:f64:32".split()
    by_name = "--arg y=zeros:f64:32 --arg what=struct:u8:1,f64:2.5 --arg x=arange:f64:32".split()
    for name, arguments in (("mine::scaled<double>", by_name), ("scaled<double>", by_position)):
        words = ["check", "mine.cpp", "--kernel", name, "--grid", "1", "--block", "32", *arguments, "--expect", "y.npy"]
        invoked([*words, "--schedules", "1", "--", "-I", "include"])
    Path("mine.toml").write_text('["scaled<float>"]\ngrid = 1\nblock = 32\nargs = '
                                 '["arange:f32:32", "struct:u8:1,f64:2.5", "zeros:f32:32"]\n')  # fmt: skip
    done = invoked(["time", "mine.cpp", "--", "-Iinclude"])
    assert done.stdout.startswith("mine::scaled<float>, 1 x 1 x 1 workgroups")
    shown = CliRunner().invoke(main, ["inspect", "mine.cpp", "-Iinclude"]).stdout
    names = ["mine::other", "mine::scaled<float>", "mine::scaled<double>"]
    assert [line.split()[0] for line in shown.splitlines()[1:4]] == names
    done = invoked(["lint", "mine.cpp", "--kernel", "scaled", "-Iinclude"], code=2)
    assert f"one of {', '.join(names)}" in done.stderr
    done = CliRunner().invoke(main, ["prove", "mine.cpp", "--against", "mine.cpp", "--kernel", "other", "-Iinclude"])
    assert done.stdout.startswith("proved: mine.cpp computes what mine.cpp does"), done.output
    done = CliRunner().invoke(main, ["check", "-", "--grid", "1", "--block", "1", "--arg", "zeros:f32:1"],
                              f"{KERNEL_OF_ONE}\n")  # fmt: skip
    assert done.stderr.endswith("<stdin>: 0 faults, 0 notes\n")


KERNEL_OF_ONE = "#include <hip/hip_runtime.h>\n__global__ void one(float *y) { *y = 1; }"


def test_a_file_with_dots_and_spaces_in_its_name(tmp_path: Path) -> None:
    """Assembly as --save-temps calls it."""
    (file := tmp_path / "one two.v1-gfx1100.s").write_text(emit(readable(rung("kernel1"))))
    invoked(["build", str(file), "-o", str(tmp_path / "out")])
    assert (tmp_path / "out" / file.stem / f"{file.stem}.hsaco").is_file()


def test_passes_rewrite_the_kernel_that_is_named(tmp_path: Path) -> None:
    """Of several in a file; the others stay as they are."""
    text = emit(readable(rung("kernel5")))
    more = emit(readable(rung("kernel1")))
    code, _, metadata = text.partition("\t.amdgpu_metadata\n")
    own_code, _, own = more.partition("\t.amdgpu_metadata\n")
    entries = own.partition("amdhsa.kernels:\n")[2].partition("amdhsa.target")[0]
    both = f"{code}{own_code.replace('.LBB0', '.LBB9').replace('func_end0', 'func_end9')}\t.amdgpu_metadata\n"
    both += metadata.replace("amdhsa.kernels:\n", f"amdhsa.kernels:\n{entries}")
    file, out = tmp_path / "two.s", tmp_path / "out.s"
    file.write_text(both)
    assert "has several kernels" in invoked(["opt", str(file), "--passes", "bank-balance"], code=2).stderr
    words = ["opt", str(file), "--passes", "bank-balance", "--kernel", "kernel5", "-o", str(out)]
    invoked(words)
    for name, same in (("kernel5", False), ("kernel1", True)):
        was, now = ([str(i) for _, i in parse(f.read_text(), "x.s").kernel(name).instructions()] for f in (file, out))
        assert (was == now) is same
