"""Packages that are not always there: the core installs without them, and what needs one asks here.

    sim         rocm-llvm-python, hip-python   the simulated card; what reads machine code
    toolchain   ziglang                        clang and ld.lld where there is neither ROCm nor clang
    hip         hip-python                     a card, with a ROCm that is there
    zstd        zstandard                      compressed code objects, on systems without libzstd
    dask        dask.distributed               `tune` and `audit` on many machines
    mcp         mcp                            `hipgemm mcp`
    explore     starlette, uvicorn             `hipgemm explore`

An extra is what `pip install '.[sim]'` names in the project's folder. A package that is missing is a PackageMissing,
which says what it would do and how to install it.
"""

from __future__ import annotations

import importlib
import importlib.util
import re
import shutil
import sys
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
        """The command that installs it, with what else is missing of its extra."""
        return install(self.extra)


PACKAGES = {
    "rocm.llvm": Package("rocm-llvm-python", "sim", "read machine code and compile for the simulated card"),
    "hip": Package("hip-python", "sim", "call HIP, on a card or on the simulated one"),
    "zstandard": Package("zstandard", "zstd", "unpack code objects that were compressed with zstd"),
    "distributed": Package("dask.distributed", "dask", "use several machines"),
    "starlette": Package("starlette", "explore", "serve the workbench"),
    "uvicorn": Package("uvicorn", "explore", "serve the workbench"),
    "mcp": Package("mcp", "mcp", "serve the verbs as tools of the Model Context Protocol"),
}
"""By the module that is imported."""
_COMPILERS = ("hipcc", "clang", "/opt/rocm/bin/hipcc", *(f"clang-{n}" for n in range(19, 31)))


def install(extra: str) -> str:
    """A command that installs what an extra brings and is not there, by the packages' own names: that works wherever
    this project came from. What runs kernels needs a compiler, too: where there is none, its wheel comes with `sim`."""
    from importlib import metadata

    try:
        required = metadata.requires("hipgemm") or []
    except metadata.PackageNotFoundError:
        required = []
    extras = [extra, *(["toolchain"] if extra == "sim" and not any(map(shutil.which, _COMPILERS)) else [])]
    found = []
    for line in required:
        name, _, marker = line.partition(";")
        if any(re.search(rf"extra == ['\"]{one}['\"]", marker) for one in extras) and not _is_there(name):
            found.append(f"'{name.strip()}'")
    what = " ".join(found) if found else f"'.[{','.join(extras)}]' in the project's folder"
    return f"{sys.executable} -m pip install {what}"


def _is_there(requirement: str) -> bool:
    from importlib import metadata

    name = re.match(r"[\w.-]+", requirement)
    try:
        metadata.version(name[0] if name else "")
    except metadata.PackageNotFoundError:
        return False
    return True


def load(module: str) -> Any:
    """A module of one of PACKAGES, imported. PackageMissing where the package is not installed."""
    try:
        return importlib.import_module(module)
    except ModuleNotFoundError as error:
        if error.name is None or not f"{module}.".startswith(f"{error.name}."):
            raise  # of the package itself: something that it imports
        raise _missing(module) from error


def found(module: str) -> Path | None:
    """Where a module's folder is; it is not imported. None where it is not installed."""
    try:
        spec = importlib.util.find_spec(module)
    except ModuleNotFoundError:  # of what it is a part of
        spec = None
    return Path(spec.submodule_search_locations[0]) if spec is not None and spec.submodule_search_locations else None


def folder(module: str) -> Path:
    """The same of one of PACKAGES. PackageMissing where it is not installed."""
    if (at := found(module)) is None:
        raise _missing(module)
    return at


def _missing(module: str) -> PackageMissing:
    package = next(package for name, package in PACKAGES.items() if f"{module}.".startswith(f"{name}."))
    return PackageMissing(f"{package.name} is not installed: it is needed to {package.does}", hint=package.install)
