"""Actions of AMD's code object manager (`hipgemm.simulated_hip.calls.comgr`): source, bitcode, assembly and objects,
each to the next, by the tools of `isa.toolchain`.

Sources: ROCm/llvm-project, amd/comgr/include/amd_comgr.h.in (numbers of version 3), src/comgr-compiler.cpp.
"""

from __future__ import annotations

import tempfile
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from enum import IntEnum
from pathlib import Path

from hipgemm.kernels.compiling import command_line, device_libraries, kept
from isa import cache, toolchain
from isa.errors import IsaError
from isa.toolchain import Toolchain

HIP, IR = 3, 4  # AMD_COMGR_LANGUAGE_
ASSEMBLE = 8  # AMD_COMGR_ACTION_ASSEMBLE_SOURCE_TO_RELOCATABLE


class Kind(IntEnum):
    """amd_comgr_data_kind_t, without AMD_COMGR_DATA_KIND_: those that are dealt with here."""

    SOURCE = 1
    INCLUDE = 2
    LOG = 5
    BC = 6
    RELOCATABLE = 7
    EXECUTABLE = 8
    BYTES = 9


@dataclass
class Data:
    """One object: its kind is a number that need not be one of Kind."""

    kind: int
    content: bytes = b""
    name: str = ""


@dataclass
class DataSet:
    objects: list[Data] = field(default_factory=list)

    def of(self, kind: int) -> list[Data]:
        return [data for data in self.objects if data.kind == kind]


@dataclass
class ActionInfo:
    """How an action is to be done. arch: "" before the ISA is named."""

    arch: str = ""
    language: int = 0
    options: list[str] = field(default_factory=list)
    logging: bool = False


@dataclass
class ActionUnderWay:
    """An action in progress. said: what tools said."""

    how: ActionInfo
    data: DataSet
    out: DataSet
    said: list[str]

    def clang(self, source: Data, kind: Kind, suffix: str, *options: str, includes: bool = False) -> Data:
        """What clang makes of one object, found in the cache if it was made before."""
        tools = toolchain.find()
        around = self.data.of(Kind.INCLUDE) if includes else []
        words = (*options, *command_line.all_from_anywhere(self.how.options))
        files = kept.included([(data.content, None) for data in (source, *around)], words) if includes else []
        texts = [part for other in around for part in (other.name, other.content)] + [f.read_bytes() for f in files]

        def fill(folder: Path) -> None:
            place(folder, source, *around)
            command = [*words, f"-I{folder}", "-c", source.name, "-o", "comgr-made"]
            (folder / "comgr-said").write_text(tools.clang(command, f"compile {source.name}", folder))

        folder = cache.make("comgr", cache.key(source.content, source.name, *texts, *words, tools.identity), fill)
        self.said.append((folder / "comgr-said").read_text())
        return Data(kind, (folder / "comgr-made").read_bytes(), source.name + suffix)

    @property
    def target(self) -> tuple[str, ...]:
        return ("-target", "amdgcn-amd-amdhsa", f"-mcpu={self.how.arch}", "-nogpulib")

    def source_options(self, tools: Toolchain, *, libraries: bool) -> list[str]:
        if self.how.language not in (HIP, IR):
            raise IsaError("comgr supports only HIP and LLVM IR here", got=f"language {self.how.language}")
        if self.how.language == IR:
            return ["-x", "ir", *self.target]
        linked = device_libraries.flags(tools, self.how.arch) if libraries else []
        return [*toolchain.FREESTANDING, f"--offload-arch={self.how.arch}", *linked]


def place(folder: Path, *objects: Data) -> None:
    """Data as files. IsaError for a name that leads out of the folder."""
    for data in objects:
        at = (folder / data.name).resolve()
        if not at.is_relative_to(folder.resolve()):
            raise IsaError(f"comgr: {data.name!r} is not the name of a file in a folder")
        at.parent.mkdir(parents=True, exist_ok=True)
        at.write_bytes(data.content)


def _sources_to_bitcode(libraries: bool) -> Callable[[ActionUnderWay], None]:
    def do(work: ActionUnderWay) -> None:
        options = [*work.source_options(toolchain.find(), libraries=libraries), "-emit-llvm"]
        for source in work.data.of(Kind.SOURCE):
            work.out.objects.append(work.clang(source, Kind.BC, ".bc", *options, includes=True))

    return do


def _sources_to_relocatable(work: ActionUnderWay) -> None:
    """Through assembly: a compiler of HIP links its objects by itself."""
    options = [*work.source_options(toolchain.find(), libraries=True), "-S"]
    made = [work.clang(source, Kind.SOURCE, ".s", *options, includes=True) for source in work.data.of(Kind.SOURCE)]
    ACTIONS[ASSEMBLE](ActionUnderWay(replace(work.how, options=[]), DataSet(made), work.out, work.said))


def _sources_to_executable(work: ActionUnderWay) -> None:
    between = DataSet()
    _sources_to_relocatable(ActionUnderWay(work.how, work.data, between, work.said))
    _link(ActionUnderWay(work.how, between, work.out, work.said))


def _each(of: Kind, kind: Kind, suffix: str, *options: str) -> Callable[[ActionUnderWay], None]:
    """Of each object of one kind one of another."""

    def do(work: ActionUnderWay) -> None:
        for source in work.data.of(of):
            work.out.objects.append(work.clang(source, kind, suffix, *options, *work.target))

    return do


def _link(work: ActionUnderWay) -> None:
    """All relocatables to one code object."""
    objects = work.data.of(Kind.RELOCATABLE)
    if not objects:
        return
    with tempfile.TemporaryDirectory() as made:
        folder = Path(made)
        files = [Data(data.kind, data.content, f"{i}.o") for i, data in enumerate(objects)]
        place(folder, *files)
        work.said.append(toolchain.find().link([folder / file.name for file in files], folder / "a.so"))
        work.out.objects.append(Data(Kind.EXECUTABLE, (folder / "a.so").read_bytes(), "a.so"))


ACTIONS: dict[int, Callable[[ActionUnderWay], None]] = {
    2: _sources_to_bitcode(libraries=False),
    4: _each(Kind.BC, Kind.RELOCATABLE, ".o", "-x", "ir"),
    5: _each(Kind.BC, Kind.SOURCE, ".s", "-S", "-x", "ir"),
    7: _link,
    ASSEMBLE: _each(Kind.SOURCE, Kind.RELOCATABLE, ".o", "-x", "assembler"),
    12: _sources_to_bitcode(libraries=True),
    13: _sources_to_relocatable,
    14: _sources_to_executable,
}
"""By numbers of amd_comgr_action_kind_t."""
