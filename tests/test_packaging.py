"""A wheel holds everything that runs: HIP sources, the freestanding header, templates, C sources."""

import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]
PACKAGES = ("hipgemm", "isa", "kernels_hip")


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> set[str]:
    pytest.importorskip("hatchling", reason="hatchling is part of the dev extra")
    folder = tmp_path_factory.mktemp("wheel")
    command = [sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", str(folder)]
    subprocess.run(command, cwd=ROOT, check=True, capture_output=True)
    return set(zipfile.ZipFile(next(folder.glob("*.whl"))).namelist())


def test_everything_under_the_packages_is_in_it(wheel: set[str]) -> None:
    there = {
        str(path.relative_to(ROOT))
        for package in PACKAGES
        for path in (ROOT / package).rglob("*")
        if path.is_file() and "__pycache__" not in path.parts
    }
    assert there <= wheel


def test_the_kernels_are_in_it_and_tools_and_tests_are_not(wheel: set[str]) -> None:
    assert "kernels_hip/kernel5_lds.hip" in wheel
    assert "kernels_hip/include/hip/hip_runtime.h" in wheel
    assert not {name for name in wheel if name.startswith(("tools/", "tests/"))}
