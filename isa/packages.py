"""Packages that are not always there: the core installs without them, and what needs one asks here.

    sim         rocm-llvm-python, hip-python   the simulated card; what reads machine code
    toolchain   ziglang                        clang and ld.lld where there is neither ROCm nor clang
    hip         hip-python                     a card, with a ROCm that is there
    zstd        zstandard                      compressed code objects, on systems without libzstd
    dask        dask.distributed               `tune` and `audit` on many machines

An extra is what `pip install 'hipgemm[sim]'` names. A package that is missing is a PackageMissing, which says what it
would do and how to install it.
"""

from __future__ import annotations

import importlib
import importlib.util
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from isa.errors import IsaError


class PackageMissing(IsaError):
    """A package that an extra of this project brings is not installed."""


@dataclass(frozen=True, slots=True)
class Package:
    """name: by which pip knows it. extra: which brings it. does: what it is for, after "to"."""

    name: str
    extra: str
    does: str

    @property
    def install(self) -> str:
        """The command that installs it."""
        return f"pip install 'hipgemm[{self.extra}]'"


PACKAGES = {
    "rocm.llvm": Package("rocm-llvm-python", "sim", "read machine code and compile for the simulated card"),
    "hip": Package("hip-python", "sim", "call HIP, on a card or on the simulated one"),
    "zstandard": Package("zstandard", "zstd", "unpack code objects that were compressed with zstd"),
    "distributed": Package("dask.distributed", "dask", "use several machines"),
}
"""By the module that is imported."""


def load(module: str) -> Any:
    """A module of one of PACKAGES, imported. PackageMissing where the package is not installed."""
    try:
        return importlib.import_module(module)
    except ModuleNotFoundError as error:
        if error.name is None or not f"{module}.".startswith(f"{error.name}."):
            raise  # of the package itself: something that it imports
        raise _missing(module) from error


def folder(module: str) -> Path:
    """Where one of PACKAGES lies; it is not imported. PackageMissing where it is not installed."""
    try:
        spec = importlib.util.find_spec(module)
    except ModuleNotFoundError:  # of what it is a part of
        spec = None
    if spec is None or not spec.submodule_search_locations:
        raise _missing(module)
    return Path(spec.submodule_search_locations[0])


def _missing(module: str) -> PackageMissing:
    package = next(package for name, package in PACKAGES.items() if f"{module}.".startswith(f"{name}."))
    return PackageMissing(f"{package.name} is not installed: it is needed to {package.does}", hint=package.install)
