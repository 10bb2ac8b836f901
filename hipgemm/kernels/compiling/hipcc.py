"""Compiler driver: hipcc's command line -> the same build, with gfx11 device code optimised in between.

In: hipcc's words. Out: what hipcc makes of them, with each kernel for gfx11 rewritten that got faster and was proved
(`hipgemm.optimise.rewriting`), and a line a kernel that says so. What it does is what hipcc's own clang does in one go
(`clang -###`), with a step in between:

    for each target   hipcc WORDS --offload-arch=T --cuda-device-only -S      gfx11: optimised, assembled, linked
    fat binary        a bundle of the code objects
    object            hipcc WORDS --cuda-host-only -Xclang -fcuda-include-gpubinary -Xclang BUNDLE -c
    program           hipcc WORDS, with objects in the place of sources

Words that mean nothing here go to hipcc as they are. So does the whole command where there is nothing to do: no HIP
source, no gfx11 target, -E, -S, -M, -fsyntax-only, --version; and with -fgpu-rdc, where device code is compiled when it
is linked, which is said. hipcc's messages and its exit status are the command's.

Where there is no hipcc, the compiler that builds kernels does each of these steps: for the device with `headers`, for
the host by what the driver is given (`program.in_place_of_hipcc`).

Limits: targets that --offload-arch names, or gfx11's own where hipcc finds no card; nothing is read from files.
"""

from __future__ import annotations

import hashlib
import os
import shutil
import tempfile
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from hipgemm.kernels.compiling import command_line
from hipgemm.kernels.compiling import headers as hip_headers
from hipgemm.kernels.object import Kernel
from isa import targets, toolchain
from isa.asm.emit import emit
from isa.asm.parse import parse
from isa.children import attached
from isa.errors import IsaError, write
from isa.object import bundle
from isa.toolchain import Toolchain

if TYPE_CHECKING:
    from hipgemm.optimise.rewriting import Search

_HOST_ONLY = ("-MF", "-MT", "-MQ", "-MJ")
_QUIET = "-Wno-unused-command-line-argument"
"""A step is given words of all steps."""
HOST_TARGET = "host-x86_64-unknown-linux--"
Say = Callable[[str], None]


def compiler() -> list[str]:
    """hipcc's command: what $HIPGEMM_CC names, in $ROCM_PATH, on $PATH. Empty where there is none."""
    if named := os.environ.get("HIPGEMM_CC"):
        return named.split()
    roots = [root for root in (os.environ.get("ROCM_PATH"), "/opt/rocm") if root]
    found = [Path(root) / "bin/hipcc" for root in roots] + [Path(path) for path in [shutil.which("hipcc")] if path]
    return [str(path) for path in found if os.access(path, os.X_OK) and toolchain.is_installed(path)][:1]


class Driver:
    """One command. search: how kernels are rewritten, None where they are not; say: takes a line a kernel; otherwise:
    does what hipcc does with words, where there is none; alone: as if there were none; native: this machine's card, for
    which it compiles then."""

    def __init__(
        self, words: Sequence[str], search: Search | None, say: Say, on_step: Say | None = None, *,
        otherwise: Callable[[Sequence[str]], None], alone: bool = False, native: str = toolchain.ARCHS[0],
    ) -> None:  # fmt: skip
        self.given, self.search, self.say, self.on_step = list(words), search, say, on_step
        self.otherwise = otherwise
        self.command = [] if alone else compiler()
        self.words = command_line.read(words, cxx=not self.command or "hipcc" in Path(self.command[0]).name)
        self.archs = list(dict.fromkeys(self.words.archs)) or [toolchain.ARCHS[0] if self.command else native]
        if not self.command:
            self.archs = [native if arch == "native" else arch for arch in self.archs]
            if not any(word.startswith("-O") for word in self.words.options):
                self.words.rest.insert(0, "-O3")  # as hipcc has it

    def run(self) -> int:
        """The exit status. IsaError where there is no compiler that can do it."""
        words = self.words
        mine = [arch for arch in self.archs if _plain(arch) in toolchain.ARCHS]
        if words.why == "-fgpu-rdc" and words.sources and self.command:
            self.say("-fgpu-rdc: device code is compiled at link time and stays unchanged")
        if words.why or not words.sources or not mine:
            return self._hipcc(self.given)
        if words.out is not None and len(words.sources) > 1 and (words.compile or words.device):
            return self._hipcc(self.given)  # which says that it cannot
        with tempfile.TemporaryDirectory(prefix="hipgemm-cc-") as folder:
            if words.device:
                return self._device_alone(Path(folder))
            objects: list[str] = []
            for number, source in enumerate(words.sources):
                status = self._object(source, number, Path(folder), objects)
                if status:
                    return status
            if words.compile:
                return 0
            return self._hipcc([*self._linked(objects), *self._out(words.out)])

    # --- stages
    def _device_alone(self, folder: Path) -> int:
        """--genco and its kind: bundles, or with --no-gpu-bundle-output code objects."""
        for number, source in enumerate(self.words.sources):
            made = self._code_objects(source, number, folder)
            if isinstance(made, int):
                return made
            name = self.words.out or Path(f"{source.stem}-hip-amdgcn-amd-amdhsa" + ("" if len(made) > 1 else ".o"))
            if self.words.plain and len(made) == 1:
                write(name, made[0][1])
            elif self.words.plain:
                for arch, image in made:
                    write(Path(f"{source.stem}-hip-amdgcn-amd-amdhsa-{arch}.o"), image)
            else:
                write(name, _fat(made))
        return 0

    def _object(self, source: Path, number: int, folder: Path, objects: list[str]) -> int:
        made = self._code_objects(source, number, folder)
        if isinstance(made, int):
            return made
        fat = folder / f"{number}.hipfb"
        fat.write_bytes(_fat(made))
        out = folder / f"{number}-{source.stem}.o"
        if self.words.compile:
            out = self.words.out or Path(f"{source.stem}.o")
        objects.append(str(out))
        host = ["--cuda-host-only", "-Xclang", "-fcuda-include-gpubinary", "-Xclang", str(fat)]
        return self._hipcc([*self.words.options, *self._archs(self.archs), *host, *self._one(source, out)])

    def _code_objects(self, source: Path, number: int, folder: Path) -> list[tuple[str, bytes]] | int:
        """(target, code object) of each; hipcc's exit status where it fails."""
        made = []
        for arch in self.archs:
            mine = _plain(arch) in toolchain.ARCHS
            out = folder / f"{number}-{arch.replace(':', '_')}.{'s' if mine else 'hsaco'}"
            status = self._compiled(source, arch, out, as_text=mine)
            if status:
                return status
            made.append((arch, self._optimised(source, arch, out) if mine else out.read_bytes()))
        return made

    def _compiled(self, source: Path, arch: str, out: Path, *, as_text: bool) -> int:
        options = list(_for_device(self.words.options))
        device = ["--cuda-device-only", "--no-gpu-bundle-output"]
        if not self.command:
            tools, text = self._tools(), out.with_suffix(".s")
            options = command_line.all_from_anywhere(options)
            said = hip_headers.compile_kernel(
                tools, source, text, arch=_plain(arch), cu_mode=False, flags=options, whole=not self.words.device
            )
            if said:
                self.say(said)
            return 0
        kind = ["-S"] if as_text else []
        return self._hipcc([*options, *self._archs([arch]), *device, *kind, *self._one(source, out)])

    def _one(self, source: Path, out: Path) -> list[str]:
        """The last words of a compilation. What names in device and host code agree by is said, since the driver would
        make it of all words, and leaves it empty with --cuda-host-only."""
        said = "\0".join([str(source.resolve()), *self.words.options])
        name = f"-cuid={hashlib.sha256(said.encode()).hexdigest()[:16]}"
        return ["-Xclang", name, _QUIET, "-c", "-x", "hip", str(source), "-o", str(out)]

    def _optimised(self, source: Path, arch: str, text: Path) -> bytes:
        """The code object; of the text as it is where nothing can be done."""
        tools = self._tools()
        given = made = text.read_text()
        if self.search is None:
            return tools.code_object(given, arch=_plain(arch), name=source.name)
        from hipgemm.optimise.rewriting import of_program

        try:
            program = parse(given, source.name)
            kernel = Kernel("", source.name, "", "", False, code=program)
            program, outcomes = of_program(program, list(program.kernels), self.search, kernel, self.on_step)
            made = emit(program)
            for outcome in outcomes:
                self.say(f"{source.name}: {arch}: {outcome.line}")
        except IsaError as error:
            self.say(f"{source.name}: {arch}: unchanged: {error.message}")
        if self.words.save:
            write(Path(f"{source.stem}-hip-amdgcn-amd-amdhsa-{arch}.s"), given.encode())
            write(Path(f"{source.stem}-hip-amdgcn-amd-amdhsa-{arch}.opt.s"), made.encode())
        return tools.code_object(made, arch=_plain(arch), name=source.name)

    def _tools(self) -> Toolchain:
        """What assembles and links."""
        if self.command and "hipcc" in Path(self.command[0]).name:
            return toolchain.find(Path(self.command[0]))
        return toolchain.find()

    # --- words
    def _linked(self, objects: Sequence[str]) -> Iterator[str]:
        """The words of the last step: objects in the place of sources."""
        for word in self.words.rest:
            yield objects[word] if isinstance(word, int) else word
        yield from self._archs(self.archs)

    def _archs(self, archs: Sequence[str]) -> list[str]:
        return [f"--offload-arch={arch}" for arch in archs]

    @staticmethod
    def _out(out: Path | None) -> list[str]:
        return [] if out is None else ["-o", str(out)]

    def _hipcc(self, words: Sequence[str]) -> int:
        if not self.command:
            self.otherwise(words)
            return 0
        try:
            # Where there is a CUDA compiler, too, hipcc takes the machine for NVIDIA's.
            environment = {"HIP_PLATFORM": "amd", **os.environ}
            return attached([*self.command, *words], environment)
        except OSError as error:
            raise IsaError(f"{self.command[0]} does not start: {error.strerror}") from error


def _plain(arch: str) -> str:
    """gfx1100 of `gfx1100:xnack-`."""
    return targets.named_in(arch) or arch


def _for_device(options: Sequence[str]) -> Iterator[str]:
    """Without what is about files of the host's compilation, or the linker's."""
    words = iter(options)
    for word in words:
        if word in (*_HOST_ONLY, *command_line.LINKED):
            next(words, None)
        elif not (
            word in ("-MD", "-MMD", "-MP", "--emit-static-lib")
            or word.startswith(("--save-temps", "-save-temps", *command_line.LINKED))
            or word.endswith(command_line.OBJECTS)
        ):
            yield word


def _fat(made: Sequence[tuple[str, bytes]]) -> bytes:
    return bundle.bundled([(HOST_TARGET, b""), *((f"hipv4-amdgcn-amd-amdhsa--{arch}", image) for arch, image in made)])
