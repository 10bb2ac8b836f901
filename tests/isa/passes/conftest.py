"""Kernel 5 as each compiler of this machine makes it, and what the passes make of that."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from importlib.resources import files
from pathlib import Path

import pytest

from isa import toolchain
from isa.analysis import cfg
from isa.analysis.cfg import Cfg
from isa.asm.emit import emit
from isa.asm.parse import parse, parse_disassembly
from isa.asm.program import Program
from isa.object import code_object
from isa.passes import run_pipeline
from isa.toolchain import Toolchain

PIPELINE = "bank-balance,unroll,batch-loads"
NAMES = ("kernel5", "kernel6", "kernel7", "kernel8")
SOURCES = Path(str(files("kernels_hip")))


def compile_source(tools: Toolchain, source: str, folder: Path, *flags: str) -> Program:
    out = folder / "compiled.s"
    tools.compile(
        SOURCES / source, out, arch="gfx1100", cu_mode=True, include=SOURCES / "include", flags=flags or ("-O3",)
    )
    return parse(out.read_text(), "compiled.s")


@pytest.fixture(scope="session")
def compiled(tmp_path_factory: pytest.TempPathFactory) -> Callable[..., Program]:
    """compiled(source, *flags): a HIP source of this project as the toolchain of this machine makes it."""
    done: dict[tuple[str, ...], Program] = {}

    def make(source: str, *flags: str) -> Program:
        key = (source, *flags)
        if key not in done:
            done[key] = compile_source(toolchain.find(), source, tmp_path_factory.mktemp("compiled"), *flags)
        return done[key]

    return make


@dataclass(frozen=True)
class Rung:
    """One kernel: its text, the tools that made its code object, and the control flow of what that disassembles to."""

    program: Program
    tools: Toolchain
    image: bytes
    linked: code_object.CodeObject
    machine_code: Cfg


@pytest.fixture(scope="session", params=list(toolchain.available()), ids=lambda t: t.compiler[0].rsplit("/", 1)[-1])
def ladder(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> dict[str, Rung]:
    """Kernels 5 to 8 of one compiler."""
    tools: Toolchain = request.param
    folder = tmp_path_factory.mktemp("ladder")
    first = compile_source(tools, "kernel5_lds.hip", folder)

    def programs() -> Iterator[Program]:
        yield first
        for _, program in run_pipeline(first, PIPELINE):
            yield program

    rungs = {}
    for name, program in zip(NAMES, programs(), strict=True):
        image = tools.code_object(emit(program))
        linked = code_object.load(image)
        entry = linked.kernel("kernel5").descriptor.entry
        rows = parse_disassembly(code_object.disassemble(linked.code("kernel5"), entry), name)
        rungs[name] = Rung(program, tools, image, linked, cfg.of_instructions(rows, name))
    return rungs
