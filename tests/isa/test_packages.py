"""Which command installs what is missing: by names that an index has, whatever this project was installed from."""

import importlib.metadata
import shutil
import sys

import pytest

from isa import packages

REQUIRED = [
    "numpy>=1.26", 'here>=2; extra == "sim"', "away>=1.5; extra == 'sim'",
    'zig>=0.17; extra == "toolchain"', 'old>=2; python_version < "3.11" and extra == "zstd"',
]  # fmt: skip


@pytest.mark.parametrize(
    ("extra", "compiler", "bring"),
    [("sim", None, "'away>=1.5' 'zig>=0.17'"), ("sim", "/usr/bin/clang-19", "'away>=1.5'"), ("zstd", None, "'old>=2'")],
)
def test_what_is_missing_of_an_extra(
    monkeypatch: pytest.MonkeyPatch, extra: str, compiler: str | None, bring: str
) -> None:
    def version(name: str) -> str:
        if name != "here":
            raise importlib.metadata.PackageNotFoundError
        return "2"

    monkeypatch.setattr(importlib.metadata, "requires", lambda name: REQUIRED)
    monkeypatch.setattr(importlib.metadata, "version", version)
    monkeypatch.setattr(shutil, "which", lambda name: compiler if name == "clang-19" else None)
    assert packages.install(extra) == f"{sys.executable} -m pip install {bring}"
