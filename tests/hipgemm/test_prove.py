"""`hipgemm prove`: what it takes, what it says, what it exits with."""

import json
import re
from pathlib import Path

import pytest
from click.testing import CliRunner, Result
from verbs import invoked

from hipgemm.cli import main
from hipgemm.kernels.build import build, linked
from hipgemm.kernels.files import read_kernel
from isa.asm.disassembler import disassemble


def test_a_size_of_ones_own() -> None:
    done = invoked(["prove", "kernel9", "-n", "40", "-k", "9", "--json"])
    said = json.loads(done.stdout)
    assert said["verdict"] == "proved"
    assert said["assumptions"][0] == "M x N x K is one of 40 x 40 x 9"
    assert said["counts"]["elements"] == 2 * 1600


def test_workgroups_that_stay() -> None:
    done = invoked(["prove", "kernel10", "-n", "40", "-k", "17", "--groups", "2"])
    assert "40 x 40 x 17 by 2 workgroups" in done.stdout
    assert "assuming workgroups run together\n" in done.stdout


def test_an_edited_kernel_that_is_wrong(tmp_path: Path) -> None:
    text = build("kernel9").assembly.read_text()
    edited = tmp_path / "edited.s"
    edited.write_text(text.replace("s_lshr_b32 s19, s19, 3", "s_lshr_b32 s19, s19, 2"))
    done = invoked(["prove", "kernel9", "--assembly", str(edited)], code=1)
    assert done.stdout.startswith("different: kernel9 does not compute alpha A B + beta C")
    assert f"{edited}:" in done.stdout


def test_what_only_the_induction_sees_is_not_proved(tmp_path: Path) -> None:
    """In the loop, one of the rows of B that a thread fetches is another one."""
    text = build("kernel9").assembly.read_text()
    first, last = "\tv_add_nc_u32_e32 v69, 3, v66\n", "v_add_nc_u32_e32 v69, 6, v66\n"
    assert text.count(first) == 2
    edited = tmp_path / "edited.s"
    edited.write_text("\t".join((text.rpartition(first)[0], last, text.rpartition(first)[2])))
    done = invoked(["prove", "kernel9", "--assembly", str(edited)], code=1)
    assert done.stdout.startswith("unproven: kernel9: for every K it cannot be shown: for some K it does not load what")


def test_instructions_without_operands_do_nothing_or_are_named(tmp_path: Path) -> None:
    text = build("kernel9").assembly.read_text()
    edited = tmp_path / "edited.s"
    for inst, code, says in (
        ("v_nop", 0, "proved: kernel9"), ("s_ttracedata", 1, "the proof by definition does not know s_ttracedata")
    ):  # fmt: skip
        edited.write_text(text.replace("\ts_barrier\n", f"\t{inst}\n\ts_barrier\n", 1))
        assert says in invoked(["prove", "kernel9", "--assembly", str(edited)], code=code).stdout


def test_a_rewritten_kernel() -> None:
    assert "bit for bit" in invoked(["prove", "kernel6"]).stdout


def test_what_it_does_not_take() -> None:
    runner = CliRunner()
    assert runner.invoke(main, ["prove", "kernel1", "-n", "128"]).exit_code == 2
    assert runner.invoke(main, ["prove", "kernel9", "-m", "128"]).exit_code == 2
    done = runner.invoke(main, ["prove", "kernel5"])
    assert done.exit_code == 0, done.output


def _invoke(*arguments: str, code: int = 0) -> Result:
    return invoked(["prove", *arguments], code=code)


def test_an_edited_file_of_another_compiler_is_told_what_it_was_held_against(tmp_path: Path) -> None:
    """Another compiler's registers and order are another program: the reference is named, and can be given."""
    made = build("kernel8")
    first, last = made.folder / made.stages[0].file, made.assembly
    other = tmp_path / "other.s"
    other.write_text(last.read_text().replace("v_add_nc_u32", "v_sub_nc_u32", 1))
    done = _invoke("kernel8", "--assembly", str(other), code=1)
    assert f"reference: {first.name}, made by {made.toolchain}" in done.stdout
    assert "help: an edited file of another compiler has another one: name it, --against FILE.s" in done.stdout
    done = _invoke("kernel8", "--assembly", str(last), "--against", str(first))
    assert "bit for bit" in done.stdout
    assert "M is a positive multiple of 128" in done.stdout
    done = _invoke("kernel8", "--assembly", str(other), "--against", str(last), "--json", code=1)
    assert json.loads(done.stdout)["reference"] == str(last)


ANY = Path(__file__).with_name("sources").joinpath("prove_any.s").read_text()


@pytest.mark.parametrize(
    ("old", "new", "code", "says"),
    [
        ("v_lshlrev_b32_e32 v1, 2, v0", "v_mul_u32_u24_e32 v1, 4, v0", 0, "proved: new.s computes what old.s does"),
        ("v_add_f32_e32 v2, 1.0, v2", "v_add_f32_e32 v2, 2.0, v2", 1, "different: new.s does not compute what old.s"),
        ("v_lshlrev_b32_e32 v1, 2, v0", "v_lshlrev_b32_e32 v1, 3, v0", 1, "different: new.s does not compute"),
        ("s_waitcnt vmcnt(0)", "s_nop 0", 1, "may still be in flight"),
    ],
)
def test_any_kernel_against_another(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, old: str, new: str, code: int,
                                    says: str) -> None:  # fmt: skip
    monkeypatch.chdir(tmp_path)
    Path("old.s").write_text(ANY)
    Path("new.s").write_text(ANY.replace(old, new))
    done = _invoke("new.s", "--against", "old.s", code=code)
    assert says in done.stdout
    assert ("witness: --grid" in done.stdout) == done.stdout.startswith("different")


def test_a_file_needs_to_be_held_against_something(tmp_path: Path) -> None:
    file = tmp_path / "any.s"
    file.write_text(ANY)
    for arguments in ([str(file)], ["kernel8", "--kernel", "f"], [str(file), "--against", str(file), "-n", "4"],
                      [str(file), "--against", str(file), "--kernel", "g"]):  # fmt: skip
        _invoke(*arguments, code=2)


BY_N = """#include <hip/hip_runtime.h>
extern "C" __global__ void column(const float *a, float *c, int n) {
  int j = blockIdx.x * blockDim.x + threadIdx.x;
  float sum = 0;
  for (int i = 0; i < n; ++i) sum += a[i * ROW + j];
  c[j] = sum;
}"""


def test_sizes_that_are_written_into_the_code_are_proved_where_they_are_assumed(tmp_path: Path) -> None:
    """By a word, by a whole launch; without either, and with another number, there is a launch on which both differ."""
    (tmp_path / "any.hip").write_text(BY_N.replace("ROW", "n"))
    (tmp_path / "fixed.hip").write_text(BY_N.replace("ROW", "48"))
    files = [str(tmp_path / "fixed.hip"), "--against", str(tmp_path / "any.hip")]
    launch = "--grid 2 --block 32 --arg zeros:f32:4096 --arg zeros:f32:64 --arg i32:48".split()
    for more in (["--assume", "n=48"], ["--assume", "2=48"], launch):
        done = _invoke(*files, *more)
        assert "n is 48" in done.stdout or "2 is 48" in done.stdout
    for more in ([], ["--assume", "n=32"]):
        assert json.loads(_invoke(*files, *more, "--json", code=1).stdout)["verdict"] != "proved"
    assert json.loads(_invoke(*files, "--json", code=1).stdout)["witness"].startswith("witness: --grid 2,1,1 ")
    for wrong in ("m=48", "n", "n=many", "n=5000000000"):
        assert f"--assume {wrong}: " in _invoke(*files, "--assume", wrong, code=2).output
    _invoke(str(tmp_path / "any.hip"), "--assume", "n=48", code=2)


def test_a_witness_has_what_is_assumed(tmp_path: Path) -> None:
    """Where the prover cannot follow, launches that are tried are such that the assumption speaks of."""
    text = """#include <hip/hip_runtime.h>
extern "C" __global__ void f(float *c, unsigned n, float s) {
  unsigned x = n * n + 3 * n, y = VALUE;
  c[threadIdx.x] = x % 11 == y % 11 ? s : 2 * s;
}"""
    (tmp_path / "a.hip").write_text(text.replace("VALUE", "n * (n + 3)"))
    (tmp_path / "b.hip").write_text(text.replace("VALUE", "n * 7"))
    files = [str(tmp_path / "b.hip"), "--against", str(tmp_path / "a.hip"), "--json"]
    told = json.loads(_invoke(*files, "--assume", "n=4", "--assume", "s=2.5").stdout)
    assert told["verdict"] != "different"
    told = json.loads(_invoke(*files, "--assume", "n=5", "--assume", "s=2.5", code=1).stdout)
    assert told["verdict"] == "different"
    assert "n=i32:5" in told["witness"]
    assert f"s=i32:{0x40200000}" in told["witness"]


def test_the_places_of_both_sides_are_each_ones_own(tmp_path: Path) -> None:
    """Two files of one name: the lines that are shown are those of the side that is spoken of."""
    for folder, more, value in (("a", "", 1), ("b", "// another line\n", 2)):
        (tmp_path / folder).mkdir()
        body = f'extern "C" __global__ void f(float *x) {{ x[threadIdx.x] = {value}; }}\n'
        (tmp_path / folder / "k.hip").write_text(f"#include <hip/hip_runtime.h>\n{more}{body}")
    done = _invoke(str(tmp_path / "b" / "k.hip"), "--against", str(tmp_path / "a" / "k.hip"), code=1)
    assert f"original: {tmp_path}/a/k.hip:2 (" in done.stdout
    assert f"rewritten: {tmp_path}/b/k.hip:3 (" in done.stdout


def test_places_in_a_code_object_are_its_symbols_and_addresses(tmp_path: Path) -> None:
    """As lint's are: its text is nobody's, and has no lines."""
    sides = []
    for name, factor in (("a", "2.0f"), ("b", "3.0f")):
        (tmp_path / f"{name}.hip").write_text(f"""#include <hip/hip_runtime.h>
__device__ __attribute__((noinline)) float g(float x) {{ return x * {factor}; }}
extern "C" __global__ void f(float *x) {{ x[threadIdx.x] = g(x[threadIdx.x]) + 1.0f; }}""")
        sides.append(linked(read_kernel(str(tmp_path / f"{name}.hip"))))
        (tmp_path / f"{name}.hsaco").write_bytes(sides[-1].image)
    done = _invoke(str(tmp_path / "b.hsaco"), "--against", str(tmp_path / "a.hsaco"), code=1)
    places = re.findall(r"(original|rewritten): (\S+)\.hsaco:(\w+):(0x[0-9a-f]+): (.*)", done.stdout)
    assert [(who, Path(path).name) for who, path, *_ in places] == [("original", "a"), ("rewritten", "b")]
    for side, (_, _, symbol, address, instruction) in zip(sides, places, strict=True):
        code = side.code_object
        first = code.symbols[symbol]
        rows = disassemble(code.read(first.address, first.size), first.address, code.arch)
        assert {at: text.strip() for at, _, text in rows}[int(address, 16)] == instruction
