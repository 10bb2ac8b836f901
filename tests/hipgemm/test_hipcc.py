"""ROCm's own compiler driver, for real: hipcc as the published study calls it, whatever clang it drives.

Debian's and Ubuntu's package `hipcc` (5.2.3) drives clang 15, which knows gfx1100 but spills kernel 5; `HIP_CLANG_PATH`
makes it drive another clang. It comes without device libraries for gfx11, so the freestanding header serves.
"""

import re
import shutil
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from hipgemm.kernels.build import build
from isa import toolchain
from isa.errors import IsaError
from isa.toolchain import Toolchain

HIPCC = shutil.which("hipcc")
pytestmark = pytest.mark.skipif(HIPCC is None, reason="there is no hipcc on $PATH (Debian, Ubuntu: apt install hipcc)")


@pytest.fixture(autouse=True)
def own_cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))


def hipcc() -> Toolchain:
    assert HIPCC is not None
    return next(toolchain.available(Path(HIPCC)))


def clang_of(tools: Toolchain) -> int:
    found = re.search(r"clang version (\d+)", tools.version)
    assert found, tools.version
    return int(found[1])


def test_the_command_line_is_the_studys(monkeypatch: pytest.MonkeyPatch) -> None:
    commands: list[Sequence[str]] = []
    run = toolchain._run

    def watched(command: Sequence[str], *rest: Any, **named: Any) -> str:
        commands.append(command)
        return run(command, *rest, **named)

    monkeypatch.setattr(toolchain, "_run", watched)
    build("kernel5", tools=hipcc())
    first = list(commands[0])
    assert first[0] == HIPCC
    for option in ("--genco", "--offload-arch=gfx1100", "-mcumode", "--save-temps"):
        assert option in first
    assert first[-1].endswith("kernel5_lds.hip"), "the source as it is"


def test_a_clang_that_spills_is_said_and_not_rewritten() -> None:
    tools = hipcc()
    if clang_of(tools) >= toolchain.OLDEST_CLANG:
        pytest.skip(f"this hipcc drives clang {clang_of(tools)}, which does not spill kernel 5")
    made = build("kernel5", tools=tools)
    assert made.toolchain.startswith("hipcc")
    kernel = made.code_object().kernel("kernel5")
    assert not kernel.descriptor.wgp_mode
    assert kernel.descriptor.scratch_bytes > 0
    assert any("bytes of scratch memory a thread and spilled" in warning for warning in made.warnings)
    for name in ("kernel6", "kernel7", "kernel8"):
        with pytest.raises(IsaError) as caught:
            build(name, tools=tools)
        text = str(caught.value)
        assert "the main loop keeps registers in scratch memory: the compiler spilled" in text
        assert "scratch_" in text, "the line"
        assert "clang 19 or newer" in text


@pytest.mark.parametrize("version", [19, 22])
def test_it_drives_another_clang(version: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    clang, clangxx = shutil.which(f"clang-{version}"), shutil.which(f"clang++-{version}")
    if clang is None or clangxx is None:
        pytest.skip(f"there is no clang-{version} on $PATH")
    # hipcc looks for the names of its own clang, whatever that is.
    for end in ("", "-15"):
        (tmp_path / f"clang{end}").symlink_to(clang)
        (tmp_path / f"clang++{end}").symlink_to(clangxx)
    monkeypatch.setenv("HIP_CLANG_PATH", str(tmp_path))
    tools = hipcc()
    assert clang_of(tools) == version
    first = build("kernel5", tools=tools).stages[0].shape
    assert first is not None
    assert (first.scratch, first.spills, first.dual, first.single) == (0, 0, 62, 4)
    last = build("kernel8", tools=tools).stages[3].shape
    assert last is not None
    assert (last.dual, last.single) == (512, 0)
