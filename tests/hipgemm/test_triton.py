"""What makes the simulated card a backend of Triton. The kernels are a suite of their own: tools/clients.py."""

import json
import os
import subprocess
import sys
from importlib.metadata import Distribution
from pathlib import Path

from hipgemm.simulated_hip.attach import PLUGINS

ROOT = Path(__file__).parents[2]
ARRAYS = """
import ctypes, gc, json, os
import numpy as np
from hipgemm_triton import tensor
from hipgemm_triton.arrays import hip, reachable

def range_of(address):
    base, size = ctypes.c_void_p(), ctypes.c_size_t()
    code = hip().hipMemGetAddressRange(ctypes.byref(base), ctypes.byref(size), ctypes.c_void_p(address))
    return [code, base.value, size.value]

whole = np.zeros((6, 5), np.float32)
base = whole.ctypes.data
view = tensor(whole[2:, 1::2])
before = range_of(base)
at = view.data_ptr()
print(json.dumps([before[0], at - base, range_of(base) == [0, base, 120], view.stride(), view.ptr_range()]))
print(json.dumps([tensor(whole.T).data_ptr() == base, [type(x).__name__ for x in reachable((whole, 3, "a"))]]))
del view, whole
gc.collect()
print(json.dumps(range_of(base)[0]))
whole = np.zeros(4)
whole.flags.writeable = False
try:
    tensor(whole).data_ptr()
except ValueError as error:
    print(json.dumps(str(error)))
print(json.dumps([os.environ["TRITON_DEFAULT_BACKEND"], os.path.isfile(os.environ["TRITON_LIBHIP_PATH"])]))
"""


def test_arrays_are_the_cards_for_as_long_as_they_live(tmp_path: Path) -> None:
    script = tmp_path / "s.py"
    script.write_text(ARRAYS)
    command = [sys.executable, "-m", "hipgemm", "simulate", "--", sys.executable, str(script)]
    there = {**os.environ, "PYTHONPATH": str(ROOT)}
    done = subprocess.run(command, capture_output=True, text=True, env=there, timeout=600, check=False)
    assert done.returncode == 0, done.stderr
    unknown = 500  # hipErrorNotFound
    assert [json.loads(line) for line in done.stdout.splitlines()] == [
        [unknown, (2 * 5 + 1) * 4, True, [5, 2], 120], [True, ["HostTensor", "int", "str"]], unknown,
        "a kernel may write to its arguments, and this array is read-only: pass a copy", ["hipgemm", True],
    ]  # fmt: skip


def test_triton_finds_it_by_its_entry_point() -> None:
    (found,) = Distribution.discover(path=[str(PLUGINS)], name="hipgemm_triton")
    (point,) = found.entry_points
    assert (point.group, point.name, point.value) == ("triton.backends", "hipgemm", "hipgemm_triton")
    assert {p.stem for p in (PLUGINS / point.value).glob("*.py")} >= {"compiler", "driver"}
