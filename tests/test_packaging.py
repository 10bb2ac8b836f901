"""A wheel holds everything that runs: HIP sources, the freestanding header, templates, C sources."""

import os
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]
PACKAGES = ("hipgemm", "isa", "kernels_hip")


@pytest.fixture(scope="module")
def wheel_file(tmp_path_factory: pytest.TempPathFactory) -> Path:
    pytest.importorskip("hatchling", reason="hatchling is part of the dev extra")
    folder = tmp_path_factory.mktemp("wheel")
    command = [sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", str(folder)]
    subprocess.run(command, cwd=ROOT, check=True, capture_output=True)
    return next(folder.glob("*.whl"))


@pytest.fixture(scope="module")
def wheel(wheel_file: Path) -> set[str]:
    return set(zipfile.ZipFile(wheel_file).namelist())


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


def test_installed_elsewhere_it_runs_kernel_8(wheel_file: Path, tmp_path: Path) -> None:
    """Away from the checkout, from what is in the wheel alone, with nothing cached."""
    zipfile.ZipFile(wheel_file).extractall(tmp_path / "site")
    program = "import hipgemm; print(hipgemm.__file__); r = hipgemm.run('kernel8', n=256); print(r); assert r.correct"
    environment = os.environ | {"PYTHONPATH": str(tmp_path / "site"), "XDG_CACHE_HOME": str(tmp_path / "cache")}
    done = subprocess.run(
        [sys.executable, "-c", program], cwd=tmp_path, env=environment, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout.startswith(str(tmp_path / "site"))
