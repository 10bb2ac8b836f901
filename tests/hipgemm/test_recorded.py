"""Launches of a program, kept by `simulate --record` and replayed by every verb, with the recorded kernel and with an
edited one; paths that depend on data, from a run."""

import json
import re
import shutil
import struct
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from verbs import invoked

from hipgemm.kernels.build import linked, readable
from hipgemm.kernels.compiling import headers
from hipgemm.kernels.files import read_kernel
from hipgemm.simulated_hip.recorded import _Arguments
from isa import toolchain
from isa.asm.emit import emit
from isa.object.code_object import Argument
from isa.sim.run.memory import DeviceMemory

pytestmark = pytest.mark.skipif(not list(toolchain.available()), reason="no compiler for gfx11 here")
OWN = Path(__file__).parent / "own"
SCRIPT = """
import ctypes, sys
import numpy as np
from hip import hip
def ok(result):
    assert int(result[0]) == 0, result
    return result[1] if len(result) == 2 else result[1:]
kernel = ok(hip.hipModuleGetFunction(ok(hip.hipModuleLoadData(open("saxpy.hsaco", "rb").read())), b"saxpy"))
x = np.arange(1000, dtype=np.float32)
at = ok(hip.hipMalloc(8000))
both = int(at), int(at) + 4000
for address, array in zip(both, (x, np.ones_like(x))):
    ok(hip.hipMemcpy(address, array, 4000, hip.hipMemcpyKind.hipMemcpyHostToDevice))
for _ in range(2):
    given = (ctypes.c_int(1000), ctypes.c_float(2), ctypes.c_void_p(both[0]), ctypes.c_void_p(both[1]))
    ok(hip.hipModuleLaunchKernel(kernel, 4, 1, 1, 256, 1, 1, 0, None, None, given))
x *= np.float32(1e-30)  # in a buffer of its own; nothing but zeros is in y
both = [int(ok(hip.hipMalloc(4000))) for _ in range(2)]
for address, array in zip(both, (x, np.zeros_like(x))):
    ok(hip.hipMemcpy(address, array, 4000, hip.hipMemcpyKind.hipMemcpyHostToDevice))
given = (ctypes.c_int(1000), ctypes.c_float(2), ctypes.c_void_p(both[0]), ctypes.c_void_p(both[1]))
ok(hip.hipModuleLaunchKernel(kernel, 4, 1, 1, 256, 1, 1, 0, None, None, given))
"""


@pytest.fixture(scope="module")
def recorded(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with the launches of SCRIPT, which adds 2 x to y: twice where both lie in one allocation, once where
    each has its own, and what it holds before looks like floats, and after does not."""
    folder = tmp_path_factory.mktemp("recorded")
    shutil.copy(OWN / "saxpy.hip", folder)
    kernel = read_kernel(str(folder / "saxpy.hip"))
    (folder / "saxpy.hsaco").write_bytes(linked(kernel).image)
    (folder / "saxpy.s").write_text(emit(readable(kernel)))
    (folder / "script.py").write_text(SCRIPT)
    words = [sys.executable, "-m", "hipgemm", "simulate", "--record", "launches", "script.py"]
    done = subprocess.run(words, cwd=folder, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return folder


VARIABLES = """
#include <hip/hip_runtime.h>
__constant__ float weights[3];
__device__ int calls = 7;
extern "C" __global__ void weigh(float *out) { out[threadIdx.x] = weights[threadIdx.x % 3] + calls; calls = 100; }
int main() {
    float *out, given[3] = {0.5f, 1.5f, 2.5f};
    if (hipMalloc(&out, 32 * sizeof *out) || hipMemcpyToSymbol(weights, given, sizeof given)) return 1;
    for (int i = 0; i < 2; ++i) weigh<<<1, 32>>>(out);
    return hipDeviceSynchronize();
}
"""


def test_variables_are_kept_as_a_launch_found_them(tmp_path: Path) -> None:
    if headers.amds_header() is None:
        pytest.skip("no rocm-llvm-python here, which has HIP's host part")
    (tmp_path / "weigh.hip").write_text(VARIABLES)
    words = [sys.executable, "-m", "hipgemm", "simulate", "--record", "launches", "weigh.hip"]
    done = subprocess.run(words, cwd=tmp_path, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    for number, calls in enumerate((7, 100)):
        folder = tmp_path / "launches" / str(number)
        kept = json.loads(invoke("run", str(folder), "--json").stdout)
        assert kept["correct"], kept
        (name,) = {p.name for p in (tmp_path / "launches" / "data").glob("*.npy")} & set(
            re.findall(r"expect = .*/(\w+\.npy)", (folder / "kernel.toml").read_text())
        )
        left = np.load(tmp_path / "launches" / "data" / name)
        assert left[:3].tolist() == [calls + 0.5, calls + 1.5, calls + 2.5]
    other, first = (tmp_path / "launches" / str(k) / "kernel.hsaco" for k in (1, 0))
    first.unlink()
    shutil.copy(other, first)  # the variables of another launch: another answer
    invoke("run", str(first.parent), code=1)


def invoke(*words: str, code: int = 0) -> Any:
    return invoked(words, code=code)


def test_what_is_kept(recorded: Path) -> None:
    launches = recorded / "launches"
    assert sorted(p.name for p in launches.iterdir()) == ["0", "1", "2", "data"]
    held = sorted(p.suffix for p in (launches / "data").iterdir())
    assert held == [".hsaco", *[".npy"] * 6], "one code object; before, between and after; x, and y before and after"
    text = (launches / "1" / "kernel.toml").read_text()
    assert "n=i32:1000" in text
    assert "a=f32:2.0" in text
    assert "y=inside:x+4000" in text
    begun, left = (line.split("data/")[1].split(".npy")[0] for line in text.splitlines() if "data/" in line)
    y = [np.load(launches / "data" / f"{name}.npy")[1000:] for name in (begun, left)]
    assert np.array_equal(y[0], 1 + 2 * np.arange(1000, dtype=np.float32))
    assert np.array_equal(y[1], 1 + 4 * np.arange(1000, dtype=np.float32))


def test_the_launches_of_a_command_are_kept_too(recorded: Path) -> None:
    words = [sys.executable, "-m", "hipgemm", "simulate", "--record", "others", "--", sys.executable, "script.py"]
    done = subprocess.run(words, cwd=recorded, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    files = [recorded / folder / "1" / "kernel.toml" for folder in ("launches", "others")]
    assert files[0].read_text() == files[1].read_text()


def test_every_verb_takes_it(recorded: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(recorded)
    for words in (["lint"], ["inspect"], ["check", "--schedules", "1"], ["time"], ["time", "--run"],
                  ["timeline", "-o", "t.html"], ["timeline", "--run", "-o", "t.json"]):  # fmt: skip
        invoke(words[0], "launches/1", *words[1:])
    invoke("diff", "launches/0", "launches/1")
    invoke("check", "launches/7", code=2)


def test_a_replay_is_held_against_what_was_recorded(recorded: Path, run_program: Callable[..., Any]) -> None:
    """The kernel itself, its assembly, and one that was edited and computes something else."""
    text = (recorded / "saxpy.s").read_text()
    (recorded / "edited.s").write_text(text.replace("v_fmac_f32", "v_mul_f32", 1))
    assert (recorded / "edited.s").read_text() != text
    program = f"""
import os, json
from click.testing import CliRunner
from hipgemm.cli import main
os.chdir({str(recorded)!r})
edited = "saxpy.s --launch launches/1", "edited.s --launch launches/1"
for words, code in ("launches/1", 0), ("launches/2", 0), (edited[0], 0), (edited[1], 1):
    done = CliRunner().invoke(main, ["run", *words.split(), "--device", "simulated", "--json"])
    assert done.exit_code == code, done.output
    assert json.loads(done.stdout)["correct"] is (code == 0)
"""
    run_program(program)


GATHER = """#include <hip/hip_runtime.h>
extern "C" __global__ void gather(const int *index, const float *x, float *y) {
    float sum = 0;
    for (int i = threadIdx.x; i >= 0; i = index[i]) sum += x[i];
    y[threadIdx.x] = sum;
}
"""


def test_a_path_that_depends_on_data(tmp_path: Path) -> None:
    """Is not followed, but run; the longer chain takes longer."""
    file = tmp_path / "gather.hip"
    file.write_text(GATHER)
    launch = f"--grid 1 --block 32 --arg file:{tmp_path}/index.npy --arg arange:f32:4096 --arg zeros:f32:32".split()
    times = []
    for step in (64, 512):
        index = np.arange(4096) - step
        index[index < 32] = -1
        index[:32] = np.arange(4064, 4096)
        np.save(tmp_path / "index.npy", index.astype(np.int32))
        assert "depend" in invoke("time", str(file), *launch, "--no-run", code=2).stderr
        times.append(json.loads(invoke("time", str(file), *launch, "--run", "--json").stdout)["time_ms"])
    assert times[0] > 3 * times[1] > 0


WHOLE = """
import ctypes, sys
from hip import hip
from hipgemm.simulated_hip import rocm_path
def ok(result):
    assert int(result[0]) == 0, result
    return result[1]
kernel = ok(hip.hipModuleGetFunction(ok(hip.hipModuleLoadData(open("put.hsaco", "rb").read())), b"put"))
out = ctypes.c_void_p(int(ok(hip.hipMalloc(400))))
given = (ctypes.c_void_p * 1)(ctypes.addressof(out))
library = ctypes.CDLL(str(rocm_path() / "lib" / "libamdhip64.so"))
shape = (100, 1, 1, 64, 1, 1, ctypes.c_size_t(0))
assert not library.hipExtModuleLaunchKernel(ctypes.c_void_p(int(kernel)), *shape, None, given, None, None, None, 0)
"""


def test_smaller_last_workgroups_are_recorded_and_replayed(tmp_path: Path) -> None:
    """Whole ones would store past the end of an array of 100."""
    (tmp_path / "put.hip").write_text(
        "#include <hip/hip_runtime.h>\n"
        'extern "C" __global__ void put(int *out) { out[blockIdx.x * 64 + threadIdx.x] = threadIdx.x + 1; }'
    )
    text = emit(readable(read_kernel(str(tmp_path / "put.hip"))))
    (tmp_path / "put.s").write_text(re.sub(r"\n *\.uniform_work_group_size:.*", "", text))
    (tmp_path / "put.hsaco").write_bytes(linked(read_kernel(str(tmp_path / "put.s"))).image)
    (tmp_path / "script.py").write_text(WHOLE)
    words = [sys.executable, "-m", "hipgemm", "simulate", "--record", "launches", "script.py"]
    done = subprocess.run(words, cwd=tmp_path, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    folder = tmp_path / "launches" / "0"
    said = (folder / "kernel.toml").read_text()
    assert "last = [36, 1, 1]" in said
    assert json.loads(invoke("run", str(folder), "--json").stdout)["correct"]
    for words in ("check",), ("time",), ("time", "--run"), ("judge",):
        invoke(words[0], str(folder), *words[1:])
    for last, status in (("[64, 1, 1]", 1), ("[65, 1, 1]", 2)):
        (folder / "kernel.toml").write_text(said.replace("[36, 1, 1]", last))
        invoke("check", str(folder), code=status)


def test_numbers_that_are_pointers_and_bits_that_are_no_float() -> None:
    """Tensile's metadata calls its pointers and scalars numbers, and a name of its has a space; a number that leads
    nowhere stays one."""
    memory = DeviceMemory(1 << 20)
    address = memory.allocate(64)
    wanted = [
        Argument(0, 8, "by_value", "A", type="u64"),
        Argument(8, 8, "by_value", "B", type="u64"),
        Argument(16, 8, "by_value", "Stride", type="u64"),
        Argument(24, 4, "by_value", "Alpha", type="u32"),
        Argument(28, 4, "by_value", "beta"),
        Argument(32, 4, "by_value", "Gemm info", type="u32"),
        Argument(36, 4, "by_value", "gamma", type="f32"),
    ]
    kernarg = struct.pack("<QQQffIf", address + 16, address, 1024, 1.0, 1.0, 7, 0.0)
    card: Any = SimpleNamespace(memory=memory)
    arguments = _Arguments(card, wanted, kernarg)
    assert {name: len(held) for name, held in arguments.buffers().items()} == {"B": 64}
    names, words = zip(*arguments.words({"B": "b.npy"}), strict=True)
    assert words == ("inside:B+16", "file:../data/b.npy", "i64:1024", "i32:1065353216", "f32:1.0", "i32:7", "f32:0.0")
    assert names == ("A", "B", "Stride", "Alpha", "beta", "", "gamma")
