"""What the tests of isa share: HIP, compiled."""

import functools
from collections.abc import Callable
from importlib.resources import files
from pathlib import Path

import pytest

from isa import toolchain

HIP = Path(str(files("kernels_hip")))
LADDER = {
    HIP / "kernel1_naive.hip": False, HIP / "kernel2_lds_tiling.hip": False, HIP / "kernel3_register_tiling.hip": False,
    HIP / "kernel4_gmem_double_buffer.hip": False, HIP / "kernel5_lds.hip": True,
}  # fmt: skip
"""The ladder's sources, and which of them are for CU mode."""
Compile = Callable[..., tuple[str, bytes]]


@pytest.fixture(scope="session")
def compile_hip(tmp_path_factory: pytest.TempPathFactory) -> Compile:
    """`compile_hip(source, cu_mode=True, flags=("-O3",), arch="gfx1100")` gives (assembly, its code object) of a file,
    or of text."""

    @functools.cache
    def made(
        source: Path | str, cu_mode: bool = True, flags: tuple[str, ...] = ("-O3",), arch: str = "gfx1100"
    ) -> tuple[str, bytes]:
        tools, folder = toolchain.find(), tmp_path_factory.mktemp("hip")
        if isinstance(source, str):
            (folder / "k.hip").write_text(source)
            source = folder / "k.hip"
        out = folder / "k.s"
        tools.compile(source, out, arch=arch, cu_mode=cu_mode, include=HIP / "include", flags=flags)
        text = out.read_text()
        return text, tools.code_object(text, arch=arch)

    return made


@pytest.fixture(scope="session", params=LADDER, ids=lambda path: path.stem)
def compiled_rung(request: pytest.FixtureRequest, compile_hip: Compile) -> tuple[str, bytes]:
    """(assembly, its code object) of each source of the ladder."""
    return compile_hip(request.param, LADDER[request.param])
