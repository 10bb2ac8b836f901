"""`hipgemm diff`: each kind of change is seen, and nothing where nothing changed."""

import json
import re
import shutil
from pathlib import Path

import pytest
from click.testing import Result
from verbs import invoked

import hipgemm
from hipgemm.kernels.build import linked, readable
from hipgemm.kernels.files import read_kernel
from isa import toolchain
from isa.asm.emit import emit
from isa.object.code_object import load

pytestmark = pytest.mark.skipif(not list(toolchain.available()), reason="no compiler for gfx11 here")
OWN = Path(__file__).parent / "own"
LAUNCH = "--grid 4 --block 256 --arg i32:1000 --arg f32:2 --arg arange:f32:1000 --arg zeros:f32:1000".split()


@pytest.fixture(scope="module")
def files(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("files")
    shutil.copy(OWN / "saxpy.hip", folder)
    kernel = read_kernel(str(folder / "saxpy.hip"))
    text = emit(readable(kernel))
    (folder / "saxpy.s").write_text(text)
    (folder / "saxpy.hsaco").write_bytes(linked(kernel).image)
    last_wait = text.rindex("s_waitcnt vmcnt(0)")
    (folder / "nowait.s").write_text(f"{text[:last_wait]}s_nop 0{text[last_wait + len('s_waitcnt vmcnt(0)') :]}")
    (folder / "more.s").write_text(
        text.replace("v_mov", "v_nop\n\tv_mov").replace("s_endpgm", "s_nop 1\n\ts_endpgm", 1)
    )
    return folder


def diff(files: Path, old: str, new: str, *more: str, code: int = 0) -> Result:
    return invoked(["diff", str(files / old), str(files / new), *more], code=code)


@pytest.mark.parametrize("what", ["saxpy.hip", "saxpy.s", "saxpy.hsaco"])
def test_a_kernel_is_itself(what: str, files: Path) -> None:
    found = json.loads(diff(files, what, what, *LAUNCH, "--json").stdout)
    assert found["verdict"] == "proved"
    assert found["instructions"] == found["findings"]["come"] == found["findings"]["gone"] == []
    assert all(value["old"] == value["new"] for value in found["numbers"].values())
    assert found["time_ms"][0] == found["time_ms"][1] > 0


def test_a_mode_that_changed_is_named(files: Path) -> None:
    text = (files / "saxpy.s").read_text()
    (files / "cu.s").write_text(
        text.replace(".amdhsa_workgroup_processor_mode 1", ".amdhsa_workgroup_processor_mode 0")
    )
    assert "  mode           WGP -> CU\n" in diff(files, "saxpy.s", "cu.s", code=1).stdout
    assert json.loads(diff(files, "saxpy.s", "cu.s", "--json", code=1).stdout)["mode"] == {"old": "WGP", "new": "CU"}
    assert "  mode " not in diff(files, "saxpy.s", "more.s").stdout


def test_a_wait_that_is_gone(files: Path) -> None:
    """Is a fault, another count, and no proof; the other way round it is none of these."""
    done = diff(files, "saxpy.s", "nowait.s", code=1)
    assert "different: " in done.stdout or "unproven: " in done.stdout
    assert "new fault  " in done.stdout
    assert "WAIT001" in done.stdout
    assert "- s_waitcnt vmcnt(0)\n+ s_nop 0\n" in done.stdout
    assert "not predicted: the launch of saxpy is not known" in done.stdout
    found = json.loads(diff(files, "nowait.s", "saxpy.s", "--json").stdout)
    assert found["findings"]["come"] == []
    assert len(found["findings"]["gone"]) == 1
    assert found["numbers"]["wait instructions"]["new"] == found["numbers"]["wait instructions"]["old"] + 1


def test_what_does_the_same(files: Path) -> None:
    """With and without a change of EXEC."""
    plain = hipgemm.kernel("""#include <hip/hip_runtime.h>
        extern "C" __global__ void copy(const float *x, float *y) { y[threadIdx.x] = 2 * x[threadIdx.x]; }""")
    text = emit(readable(plain.kernel))
    (files / "copy.s").write_text(text)
    (files / "copy_more.s").write_text(text.replace("s_endpgm", "s_nop 1\n\ts_endpgm", 1))
    assert json.loads(diff(files, "copy.s", "copy_more.s", "--json").stdout)["verdict"] == "proved"
    found = json.loads(diff(files, "saxpy.s", "more.s", *LAUNCH, "--json").stdout)
    assert found["verdict"] == "proved"
    assert sum(len(hunk["come"]) for hunk in found["instructions"]) >= 1
    assert not any(hunk["gone"] for hunk in found["instructions"])


@pytest.mark.parametrize("kind", ["s", "hsaco"])
def test_code_for_two_targets_is_compared_and_no_time_is_predicted(kind: str, files: Path) -> None:
    ported = read_kernel(str(files / "saxpy.hip"))
    (files / "ported.s").write_text(emit(readable(ported, arch="gfx1201")))
    (files / "ported.hsaco").write_bytes(linked(ported, arch="gfx1201").image)
    said = diff(files, f"saxpy.{kind}", f"ported.{kind}", *LAUNCH, code=1).stdout
    assert "  time           not predicted: gfx1100 -> gfx1201, and no card runs both\n" in said
    assert "- s_waitcnt vmcnt(0)\n" in said
    assert "+ s_wait_loadcnt 0x0\n" in said


def test_a_code_object_that_differs_is_not_called_the_same(files: Path) -> None:
    (files / "nowait.hsaco").write_bytes(linked(read_kernel(str(files / "nowait.s"))).image)
    done = diff(files, "saxpy.hsaco", "nowait.hsaco", "--json", code=1)
    assert json.loads(done.stdout)["verdict"] in ("unproven", "different")


def test_a_code_object_is_proved_to_do_what_its_text_does(files: Path) -> None:
    assert "proved" in diff(files, "saxpy.s", "saxpy.hsaco").stdout


def test_from_python(files: Path) -> None:
    old, new = (hipgemm.kernel(files / name) for name in ("saxpy.s", "nowait.s"))
    found = new.difference_from(old)
    assert found.worse
    assert "WAIT001" in repr(found)
    assert not old.difference_from(old).worse


CALLS = """#include <hip/hip_runtime.h>
    __constant__ float table[4] = {0, HALF, 1, 2};
    __device__ int start[3] = {START, 5, 6};
    __device__ int *where[2] = {start + 1, start + MORE};
    __device__ __attribute__((noinline)) int shift(int v) { return v + ADD; }
    __device__ __attribute__((noinline)) int twice(int v) { return shift(v) * 2; }
    extern "C" __global__ void apply(const int *x, int *y) {
        y[threadIdx.x] = twice(x[threadIdx.x]) + (int)table[x[0] & 3] + *where[x[1] & 1] + start[x[2]];
    }"""
SETTINGS = {"HALF": ".5f", "START": "3", "MORE": "0", "ADD": "4"}
OTHERS = {"HALF": ".25f", "START": "259", "MORE": "2", "ADD": "5"}
SHOWN = {
    "HALF": "byte 6 of table is 0x00, 0x80", "START": "byte 1 of start is 0x00, 0x01",
    "MORE": "begins start, start+8 in the rewritten program", "ADD": "+ v_add_nc_u32_e32 v0, 5, v0",
}  # fmt: skip


@pytest.mark.parametrize("kind", ["s", "hsaco"])
def test_what_a_kernel_calls_and_reads_belongs_to_it(kind: str, tmp_path: Path) -> None:
    def written(name: str, **settings: str) -> Path:
        source = tmp_path / f"{name}.hip"
        source.write_text("".join(f"#define {k} {v}\n" for k, v in (SETTINGS | settings).items()) + CALLS)
        made = tmp_path / f"{name}.{kind}"
        kernel = read_kernel(str(source))
        made.write_bytes(emit(readable(kernel)).encode() if kind == "s" else linked(kernel).image)
        return made

    old = written("old")
    for name, value in OTHERS.items():
        done = diff(tmp_path, old.name, written(name, **{name: value}).name, code=1)
        assert SHOWN[name] in done.stdout, done.stdout
        assert "the same instructions" not in done.stdout
    found = json.loads(diff(tmp_path, old.name, old.name, "--json").stdout)
    assert found["verdict"] == "the same instructions"
    assert found["beside"] == []
    assert found["numbers"]["branch instructions"]["old"] >= 4  # two calls, two returns


def test_a_branch_that_goes_elsewhere_is_no_same_instruction(files: Path) -> None:
    text = (files / "saxpy.s").read_text()
    label = re.search(r"^\.LBB0_\d+:.*\n(?=\ts_endpgm)", text, re.M)
    assert label
    call = "\ts_swappc_b64 s[0:1], s[2:3]\n"
    for name, code in (("calls.s", f"{label[0]}{call}"), ("moved.s", f"{call}{label[0]}")):
        (files / name).write_text(text.replace(label[0], code))
    assert "(to instruction" in diff(files, "calls.s", "moved.s", code=1).stdout


@pytest.mark.parametrize("bit", [8 * 50 + 7, 8 * 50 + 4, 8 * 56, 8 * 30, 8 * 55 + 7], ids=str)
def test_each_bit_of_a_descriptor_counts(bit: int, files: Path) -> None:
    """IEEE mode; a privileged wave; SGPRs of a scratch buffer; reserved bits."""
    image = bytearray((files / "saxpy.hsaco").read_bytes())
    image[image.find(load(bytes(image)).kernel().descriptor.raw) + bit // 8] ^= 1 << bit % 8
    (files / "bit.hsaco").write_bytes(image)
    assert "proved" not in diff(files, "saxpy.hsaco", "bit.hsaco", code=1).stdout.replace("unproven", "")


def test_an_assumption_holds_for_proof_and_lint_and_is_told(tmp_path: Path) -> None:
    from tests.hipgemm.test_prove import BY_N

    (tmp_path / "any.hip").write_text(BY_N.replace("ROW", "n"))
    (tmp_path / "fixed.hip").write_text(BY_N.replace("ROW", "48"))
    launch = "--grid 2 --block 32 --arg zeros:f32:4096 --arg zeros:f32:64 --arg i32:48".split()
    for more, verdict in ((["--assume", "n=48"], "proved"), (["--assume", "n=32"], "different"), (launch, "proved")):
        found = json.loads(diff(tmp_path, "any.hip", "fixed.hip", *more, "--json", code=verdict != "proved").stdout)
        assert found["verdict"] == verdict
        assert more[-1][-2:] in found["assumed"][0]
    assert "n=i32:32" in found["proof"] or verdict == "proved"
    assert "  assuming       n is 48\n" in diff(tmp_path, "any.hip", "fixed.hip", "--assume", "n=48").stdout
    diff(tmp_path, "any.hip", "fixed.hip", "--assume", "m=48", code=2)


def test_an_edit_of_a_rung_is_known_as_one_and_a_size_holds_for_the_proof(tmp_path: Path) -> None:
    from hipgemm.kernels.build import build

    made = build("kernel6")
    stages = [made.folder / stage.file for stage in made.stages]
    for more in ([], ["-n", "256"]):
        found = json.loads(diff(Path(), str(stages[0]), str(stages[-1]), *more, "--json").stdout)
        assert found["verdict"] == "proved", found["proof"]
        assert any("N is 256" in text for text in found["assumed"]) == bool(more)
        assert not any("beta" in text for text in found["assumed"])
