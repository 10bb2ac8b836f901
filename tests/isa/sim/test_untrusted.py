"""A code object is untrusted input: mutated ones end in results or errors, and never touch the host (`fuzz.py`)."""

import os
import subprocess
import sys
from pathlib import Path

import programs
import pytest
from texts import texts

HERE = Path(__file__).parent

SOURCE = HERE / "compiled" / "features.hip"
INCLUDE = HERE.parents[2] / "kernels_hip" / "include"
(MEMORY,) = texts(__file__)


def fuzz(seed, count, folder):
    images = [folder / "memory.hsaco", folder / "features.hsaco"]
    images[0].write_bytes(programs.assembled(MEMORY, scratch=64))
    images[1].write_bytes(programs.compiled(SOURCE, ("-O1",), True, INCLUDE))
    done = subprocess.run(
        [sys.executable, str(HERE / "fuzz.py"), str(seed), str(count), *map(str, [images[0]] * 3 + images[1:])],
        env={**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}, capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr[-3000:]
    return done.stdout


def test_mutated_code_objects(tmp_path):
    assert fuzz(1, 60, tmp_path).startswith("60 ")


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(2, 12))
def test_many_mutated_code_objects(seed, tmp_path):
    assert fuzz(seed, 500, tmp_path).startswith("500 ")
