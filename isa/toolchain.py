"""HIP source to assembly, assembly to object, object to code object: the one place that starts a process.

Three kinds of compiler can do it. ROCm's does where it is there, else the newest clang, of two alike the system's:

1. ROCm's `hipcc`, where `--hipcc PATH` names one or `$ROCM_PATH/bin/hipcc` exists (or /opt/rocm/bin/hipcc). It brings
   its own headers and device libraries, and is run as its users run it: `hipcc --genco --offload-arch=gfx1100
   -mcumode --save-temps`; the assembly is one of the temps.
2. A system clang 19 or newer with its own ld.lld. Older ones know gfx1100 but spill kernel 5.
3. clang and ld.lld inside the `ziglang` wheel, so that a machine with nothing but Python can build.

Where there is none of them, assembly is assembled and linked all the same, by the LLVM inside the rocm-llvm-python
wheel (`isa.asm.assemble`); HIP source is then refused.

2 and 3 compile with `-nogpulib -nogpuinc` against a freestanding `hip/hip_runtime.h` that the caller names, need no
ROCm, and save the same temps. All three then assemble and link the `.s` in the same two steps, because the `.s` is what
passes rewrite in between.

What a compiler says on stderr reaches the user unchanged, inside a ToolError.
"""

from __future__ import annotations

import functools
import importlib.util
import itertools
import os
import re
import shutil
import signal
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from pathlib import Path

from isa import cache, children, llvm, packages
from isa.children import Limits
from isa.errors import IsaError
from isa.targets import TARGETS

_KIND, _MOST = "compilers", 32
OLDEST_CLANG = 19
NEWEST_CLANG = 30  # how far up `clang-N` is looked for
ARCHS = tuple(target.name for target in TARGETS.values() if target.built)
"""What can be built for: RDNA3's cards and APUs, and RDNA3.5's."""

# Code object version 5: what ROCm 5.7 to 7 load; clang 22 by itself writes 6.
_CODE_OBJECT = "-mcode-object-version=5"
# Without this, clang puts a symbol whose name depends on the path of the source into each code object.
_NO_CUID = "-fuse-cuid=none"
_QUIET_CRASH = "-fno-crash-diagnostics"  # else clang leaves the source, preprocessed, in /tmp
_DEVICE = ("-x", "hip", "--cuda-device-only", "-nogpulib", _CODE_OBJECT, _NO_CUID)
# An object may name libraries, which the linker would open, whatever they are.
_LINK = ("-shared", "--no-dependent-libraries")
FREESTANDING = (*_DEVICE, "-nogpuinc")
"""A compiler's options for HIP C++ for the device alone, without ROCm."""

DEVICE_LIBRARIES = "apt install rocm-device-libs, or pip install triton"
"""How AMD's device libraries come without a ROCm."""


_REFUSED = "assembly may not read other files, nor forget macros"
_PIECE = rb"(?:i|in|inc|incl|inclu|includ|include|incb|incbi|incbin)"
_BEGINS = rb"(?:(?<![\w.$@])|\\\w+)"  # a name, or goes on after a macro's argument
_OTHER_FILES = re.compile(
    _BEGINS + rb"\." + _PIECE + rb"(?!\w)|" + _BEGINS + rb"\." + _PIECE + rb"?\\|\\\(\)\.?" + _PIECE + rb"(?!\w)"
    rb"|(?<![\w\\)])\\\w+\\[\w.]|\.altmacro\b",
    re.I,
)
"""What has an assembler read another file: `.include`, `.incbin`, and what macros may put together to one of them."""
_NO_CODE = re.compile(
    rb'^[ \t]*\.(?:asci[iz]|string|file|ident)[ \t].*$|^([^";/\n]*);(?![^\n]*\*/)[^\n]*', re.M
)  # texts, and comments that are no part of a longer one
"""What is looked over there."""


class ToolchainMissing(IsaError):
    """No compiler for gfx11 was found."""


class ToolError(IsaError):
    """A tool ran and rejected its input; the message ends with the tool's own text."""


class UndefinedSymbols(ToolError):
    """A linker misses what objects use and none defines. said: its words."""

    def __init__(self, said: str) -> None:
        super().__init__(said)
        if any(name.startswith("__ockl_image_") for name in self.names):
            self.hint = "textures and surfaces are not supported, as instructions on images are not"
        elif any(name.startswith(("__ocml_", "__ockl_")) for name in self.names):
            self.hint = f"AMD's device libraries define it: {DEVICE_LIBRARIES}"

    @property
    def names(self) -> list[str]:
        return list(dict.fromkeys(re.findall(r"undefined (?:\w+ )?symbol: (.+)", self.message)))


class UnsupportedArch(IsaError):
    """A gfx target that no tool here can build for."""


def assembler_options(arch: str) -> list[str]:
    """What clang's assembler is asked for a target."""
    features = TARGETS[arch].family.features
    more = ["-Xclangas", "-target-feature", "-Xclangas", features] if features else []
    return ["-target", "amdgcn-amd-amdhsa", f"-mcpu={arch}", *more]


def _itself(arch: str, wave64: bool) -> list[str]:
    """clang's assembler without its driver, for a target."""
    features = filter(None, (TARGETS[arch].family.features, "+wavefrontsize64" if wave64 else ""))
    named = [word for feature in features for word in ("-target-feature", feature)]
    return ["-cc1as", "-triple", "amdgcn-amd-amdhsa", "-target-cpu", arch, *named]


def check_arch(arch: str) -> str:
    """`arch` itself, or UnsupportedArch."""
    if arch not in ARCHS:
        raise UnsupportedArch(f"cannot build for {arch!r}", expected=", ".join(ARCHS), got=arch)
    return arch


@dataclass(frozen=True, slots=True)
class Fact:
    """One line of `hipgemm doctor`: what was looked for, whether it is there, which it is, and what to do if not."""

    name: str
    found: bool
    detail: str
    hint: str = ""


@dataclass(frozen=True, slots=True)
class Toolchain:
    """One compiler with its assembler and linker. Made by `find` or `available`, never by hand.

    kind:      "hipcc", "clang", "ziglang", or "llvm", which only assembles and links.
    version:   what it says of itself, in one line.
    compiler, linker: the beginnings of command lines.
    """

    kind: str
    version: str
    compiler: tuple[str, ...]
    linker: tuple[str, ...]
    stamp: str = field(default="", repr=False)

    def __str__(self) -> str:
        return f"{self.kind}: {self.version} ({self.compiler[0]})"

    @property
    def identity(self) -> str:
        """A text that changes when another compiler would answer: what a cache must ask for."""
        return "\n".join((self.kind, self.version, *self.compiler, *self.linker, self.stamp, _CODE_OBJECT, _NO_CUID))

    def _compiles(self) -> None:
        if self.kind == "llvm":
            raise _no_compiler()

    def compile(
        self,
        source: Path,
        out: Path,
        *,
        arch: str,
        cu_mode: bool,
        include: Path | None = None,
        flags: Sequence[str] = ("-O3",),
        keep: bool = True,
        rocm: bool = False,
    ) -> str:
        """HIP C++ `source` to assembly `out`; the compiler's temps stay beside `out`, if wanted. Returns what
        it said (warnings).

        include: the folder that holds hip/hip_runtime.h; hipcc uses ROCm's own instead, as a clang does with `rocm`.
        """
        mode = "-mcumode" if cu_mode else "-mno-cumode"
        self._compiles()
        target = [f"--offload-arch={check_arch(arch)}", mode, _QUIET_CRASH, *flags]
        source, out = source.resolve(), out.resolve()
        if self.kind == "hipcc":
            genco = ["--genco", *target, "--save-temps", "-o", f"{out.stem}.genco.hsaco", str(source)]
            doing = f"compile {source.name}"
            try:
                said = _compile([*self.compiler, *genco], doing, out.parent)
            except ToolError as e:
                if include is None or "cannot find ROCm device library" not in e.message:
                    raise
                # Distributions package hipcc without device libraries for gfx11; a freestanding source needs none.
                # The bundler that --genco ends with may be missing there too, and only the temps are wanted.
                genco += ["-nogpulib", "--no-gpu-bundle-output", f"-I{include.resolve()}"]
                said = _compile([*self.compiler, *genco], doing, out.parent)
                said = f"no ROCm device library for {arch}, so compiled with the freestanding header\n{said}".strip()
            temps = sorted(out.parent.glob(f"{source.stem}-hip-amdgcn-amd-amdhsa*{arch}.s"))
            if not temps:
                raise ToolError(
                    f"{self} wrote no assembly of {source.name} into {out.parent}",
                    expected=f"{source.stem}-hip-amdgcn-amd-amdhsa-{arch}.s from --save-temps",
                    got=", ".join(sorted(p.name for p in out.parent.iterdir())) or "nothing",
                )
            shutil.copyfile(temps[0], out)
            return said
        kept = ["-save-temps=obj"] if keep else []
        how = _DEVICE if rocm else _freestanding(include)
        command = [*self.compiler, *how, *target, *kept, "-S", str(source), "-o", str(out)]
        return _compile(command, f"compile {source.name}", out.parent)

    def assemble(self, source: Path, out: Path, *, arch: str, name: str | None = None) -> str:
        """Assembly to a relocatable object. Returns the assembler's warnings. name: what a ToolError calls `source`. A
        file is for waves of 64 lanes if a kernel descriptor in it says so."""
        text = source.read_bytes()
        guarded = _OTHER_FILES.search(_NO_CODE.sub(lambda found: found[1] or b"", text))
        wave64 = bool(re.search(rb"^\s*\.amdhsa_wavefront_size32\s+0\b", text, re.M))
        if (
            TARGETS[check_arch(arch)].family.features and self.kind != "llvm"
        ):  # clang 19's driver has no way to name them
            options = [*self._clang, *_itself(arch, wave64), "-filetype", "obj"]
        else:
            language = [] if self.kind == "hipcc" else ["-x", "assembler"]  # hipcc goes by the suffix
            options = [
                *self.compiler,
                *assembler_options(arch),
                *(["-mwavefrontsize64"] if wave64 else []),
                "-c",
                *language,
            ]
        with tempfile.TemporaryDirectory() as folder:
            read = Path(folder) / f"{out.stem}.guarded.s" if guarded else source
            if guarded:
                read.write_bytes(_guarded(text, name or out.stem))
            command = [*options, str(read), "-o", str(out)]
            try:
                seconds = min(ASSEMBLER.seconds, _AT_LEAST + len(text) // _A_SECOND)
                return _run(command, f"assemble {name or source.name}", limits=replace(ASSEMBLER, seconds=seconds))
            except ToolError as e:
                older = _FETCHED_AHEAD.sub(b"", text)
                if older != text:
                    read = Path(folder) / f"{out.stem}.older.s"
                    read.write_bytes(older)
                    return self.assemble(read, out, arch=arch, name=name or out.stem)
                if guarded:
                    _no_other_files(e.message, name or source.name, guarded)
                hint = e.hint or (_MIXED if _ALIGNED_DATA.search(text) and e.expected else None)
                message = e.message.replace(str(read), name or str(source))
                raise ToolError(message, expected=e.expected, hint=hint) from e

    @property
    def _clang(self) -> list[str]:
        return [str(Path(self.linker[0]).with_name("clang"))] if self.kind == "hipcc" else [*self.compiler]

    def expand(self, text: str, *, arch: str, wave64: bool = False) -> str:
        """Assembly as the assembler reads it, as text: without macros, repetitions, conditions and comments of their
        own, with numbers in the place of symbols in registers."""
        if self.kind == "llvm":
            raise _no_compiler()
        options = [*self._clang, *_itself(check_arch(arch), wave64), "-filetype", "asm"]
        with tempfile.TemporaryDirectory() as folder:
            source, out = Path(folder) / "given.s", Path(folder) / "expanded.s"
            source.write_bytes(_guarded(text.encode(), "given.s"))
            try:
                _run([*options, "-o", str(out), str(source)], "expand the assembly", Path(folder), EXPANDER)
            except ToolError as e:
                _no_other_files(e.message, "the assembly")
                raise
            return out.read_text()

    def clang(self, options: Sequence[str], doing: str, cwd: Path) -> str:
        """The compiler with options that are all the caller's. Returns what it said. doing: what a ToolError names."""
        self._compiles()
        return _run([*self.compiler, *options], doing, cwd)

    def bitcode(
        self, source: Path, out: Path, *, arch: str, include: Path | None = None, flags: Sequence[str] = ()
    ) -> str:
        """HIP C++, or LLVM's IR as text (`.ll`), to bitcode that `link_bitcode` takes. Returns what was said."""
        self._compiles()
        target = ["-target", "amdgcn-amd-amdhsa", f"-mcpu={check_arch(arch)}", "-nogpulib"]
        if source.suffix != ".ll":
            target = [*_freestanding(include), f"--offload-arch={arch}", "-fgpu-rdc"]
        command = [*self.compiler, *target, _QUIET_CRASH, *flags, "-emit-llvm", "-c", str(source), "-o", str(out)]
        return _run(command, f"compile {source.name}")

    def link_bitcode(self, parts: Sequence[Path], out: Path, *, arch: str) -> str:
        """Bitcode to a code object, all of it as one module: what only its own kernels call is inlined or dropped."""
        self._compiles()
        options = [*_LINK, "--no-undefined"]
        for option in (f"mcpu={check_arch(arch)}", "-amdgpu-internalize-symbols", "O3"):
            options.append(f"-plugin-opt={option}")
        return _run([*self.linker, *options, *map(str, parts), "-o", str(out)], f"link {out.name}")

    def link(self, objects: Sequence[Path], out: Path, *, lacking: bool = False) -> str:
        """Objects to a code object that hipModuleLoadData takes. Returns the linker's warnings; UndefinedSymbols where
        something is defined nowhere, unless the code object may lack it."""
        options = [*_LINK, *(["--noinhibit-exec"] if lacking else [])]
        try:
            return _run(
                [*self.linker, *options, *map(str, objects), "-o", str(out)], f"link {out.name}", limits=ASSEMBLER
            )
        except ToolError as e:
            missing = UndefinedSymbols(e.message)
            raise (missing if missing.names else e) from e.__cause__

    def code_object(self, text: str, *, arch: str = "gfx1100", name: str = "kernel.s", lacking: bool = False) -> bytes:
        """Assembly as text to a linked code object; no file stays. name: what messages call the text. lacking: as for
        `link`."""
        with tempfile.TemporaryDirectory() as folder:
            source, relocatable, linked = (Path(folder) / f"kernel.{end}" for end in ("s", "o", "hsaco"))
            source.write_text(text)
            self.assemble(source, relocatable, arch=arch, name=name)
            self.link([relocatable], linked, lacking=lacking)
            return linked.read_bytes()


@functools.cache
def _refusals() -> bytes:
    """Macros in the place of directives by which an assembler reads other files, or forgets macros, however they are
    spelled: macros come first, and directives know no case."""
    lines = []
    for word in ("include", "incbin", "purgem", "macros_off"):
        for letters in itertools.product(*({c, c.upper()} for c in word)):
            lines.append(f'.macro .{"".join(letters)} x:vararg\n.error "{_REFUSED}"\n.endm\n')
    return "".join(lines).encode()


def _guarded(text: bytes, name: str) -> bytes:
    """Assembly that reads no other file, whatever its macros put together. Its lines keep their numbers."""
    name = re.sub(r"[^\w.-]", "_", name)
    return _refusals() + f'# 1 "{name}"\n'.encode() + text


def _no_other_files(said: str, name: str, found: re.Match[bytes] | None = None) -> None:
    """Raises where an assembler said that it was to read one, or rejects what looks like it."""
    if _REFUSED not in said and not (found and b"." in found[0]):
        return
    rest = said[max(said.find(_REFUSED), 0) :]
    line = match[1] if (match := re.search(r":(\d+):\d+: (?:note: while in macro|error)", rest)) else "?"
    raise ToolError(f"{name}:{line}: {_REFUSED}", hint="put their contents into the file, and give macros other names")


def _freestanding(include: Path | None) -> list[str]:
    """HIP C++ for the device alone; include: the folder of a hip/hip_runtime.h that needs no ROCm."""
    return [*FREESTANDING, f"-I{include.resolve()}"] if include else [*FREESTANDING]


def _environment() -> dict[str, str]:
    """hipcc takes a machine with a CUDA compiler for an NVIDIA one unless it is told, and, where its command line names
    no --offload-arch, goes to look for cards."""
    return {**os.environ, "HIP_PLATFORM": "amd", "HCC_AMDGPU_TARGET": ARCHS[0]}


COMPILER = Limits(32 << 30, 3600, 4 << 30)
ASSEMBLER = Limits(3 << 30, 60, 1 << 30)
_CRASHES = (signal.SIGSEGV, signal.SIGABRT, signal.SIGBUS, signal.SIGILL)
EXPANDER = Limits(3 << 30, 10, 64 << 20)
"""What a tool may take. A line of assembly can stand for any number of instructions."""
_AT_LEAST, _A_SECOND = 10, 50_000
"""Seconds that assembling may take, and bytes of text for each of which it may take one more: LLVM needs a tenth."""
_FETCHED_AHEAD = re.compile(rb"^[ \t]*\.amdhsa_inst_pref_size\b.*\binstprefsize\(.*$", re.M)
"""How much code to fetch ahead, a hint, in words of LLVM 23 that an older assembler does not know."""
_ALIGNED_DATA = re.compile(rb"^\s*\.\w+\b.*\n\s*\.(b|p2)?align\b", re.M)
_MIXED = "LLVM takes very long where data and .balign or .p2align take turns: put data into .rodata, or align once"


def _run(command: Sequence[str], doing: str, cwd: Path | None = None, limits: Limits = COMPILER) -> str:
    name = "rocm-llvm-python" if command[0] == sys.executable else Path(command[0]).name
    try:
        done = children.run(command, limits, cwd, _environment())
    except OSError as e:
        raise ToolError(f"cannot {doing}: {command[0]} does not start: {e}") from e
    if done.beyond:
        raise ToolError(
            f"{name} could not {doing} within its limits", expected=f"at most {limits}, or what ulimit allows"
        )
    said = done.said.strip()
    if done.status - 128 in _CRASHES:
        raise ToolError(
            f"{name} could not {doing} (exit {done.status}): it crashed, and may have needed more than it has\n{said}",
            expected=f"at most {limits}",
        )
    if done.status:
        raise ToolError(f"{name} could not {doing} (exit {done.status})\n{said}")
    return said


def _compile(command: Sequence[str], doing: str, cwd: Path) -> str:
    """As `_run`. A compiler that keeps its temps reads what its preprocessor left, so where it rejects the source it is
    asked again without them: its words are then of the source, with the macros and the columns of that."""
    try:
        return _run(command, doing, cwd)
    except ToolError:
        plain = [word for word in command if not word.lstrip("-").startswith("save-temps")]
        if plain != [*command]:
            _run(plain, doing, cwd)
        raise


def _version(*command: str) -> str | None:
    """What a tool says when asked for its version; None if it cannot be asked."""
    try:
        done = subprocess.run(
            [*command, "--version"], env=_environment(), capture_output=True, text=True, errors="replace"
        )
    except OSError:
        return None
    return done.stdout.strip() if done.returncode == 0 else None


@functools.cache
def _kept_version(stamp: str, *command: str) -> str:
    """The first line of that, "" if there is none, of a program that speaks for itself. It is asked once a file: two
    compilers that start take as long as many a command."""

    def ask() -> str:
        if not (said := _version(*command)):
            raise LookupError
        return said.split("\n")[0]

    def write(folder: Path, version: str) -> None:
        (folder / "version").write_text(version)

    with suppress(LookupError):  # what fails may be mended
        name = cache.key(stamp, *command)
        return cache.find_or_make(_KIND, name, _MOST, ask, write, lambda folder: (folder / "version").read_text())
    return ""


def _stamp(path: str | Path) -> str:
    """Changes when a file of that name was exchanged for another."""
    at = os.stat(path)
    return f"{Path(path).resolve()} {at.st_size} {at.st_mtime_ns}"


STANDS_IN = "# hipgemm, in the place of a program of ROCm"
"""A line of the scripts that the simulated card has in the place of ROCm's programs."""


def is_installed(hipcc: Path) -> bool:
    """Whether this is a hipcc, and no script that leads to this project."""
    with suppress(OSError), open(hipcc, "rb") as file:
        return STANDS_IN.encode() not in file.read(200)
    return False


def _hipcc(named: Path | None) -> Toolchain | None:
    roots = [Path(r) for r in (os.environ.get("ROCM_PATH"), "/opt/rocm") if r]
    path = named or next(filter(is_installed, (root / "bin" / "hipcc" for root in roots)), None)
    if path is None:
        return None
    found = shutil.which(str(path))
    if found is None:
        raise ToolchainMissing(f"{path} is not a program that can be run", hint="name the hipcc itself with --hipcc")
    version = _version(found)
    if version is None:
        raise ToolchainMissing(f"{found} --version fails", hint="is this ROCm installation complete?")
    real = Path(found).resolve()
    # ROCm: <root>/bin/hipcc or <root>/lib/llvm/bin/hipcc, and <root>/llvm/bin/ld.lld.
    near = [real.parent, *(p / "llvm" / "bin" for p in real.parents), *(r / "llvm" / "bin" for r in roots)]
    linker = next((str(p / "ld.lld") for p in near if (p / "ld.lld").is_file()), None) or _any_lld()
    if linker is None:
        raise ToolchainMissing(f"no ld.lld near {found}", hint="install lld, or name a complete ROCm with $ROCM_PATH")
    lines = version.split("\n")  # hipcc's own version, then that of the clang that it drives
    return Toolchain("hipcc", ", ".join(lines[:2]), (found,), (linker,), _stamp(found) + _stamp(linker) + version)


def _major(version: str) -> int:
    """The number after "version" in what a clang says of itself; 0 where there is none."""
    number = re.search(r"version (\d+)", version)
    return int(number[1]) if number else 0


def _any_lld() -> str | None:
    names = ["ld.lld", *(f"ld.lld-{n}" for n in range(NEWEST_CLANG, OLDEST_CLANG - 1, -1))]
    return next((p for p in map(shutil.which, names) if p), None)


def _clangs() -> Iterator[Toolchain]:
    """Every system clang that is new enough and has its own ld.lld, newest first."""
    seen: set[Path] = set()
    for name in (*(f"clang-{n}" for n in range(NEWEST_CLANG, OLDEST_CLANG - 1, -1)), "clang"):
        path = shutil.which(name)
        if path is None or (real := Path(path).resolve()) in seen:
            continue
        seen.add(real)
        version = _kept_version(_stamp(path), path)
        linker = real.parent / "ld.lld"
        if _major(version) >= OLDEST_CLANG and linker.is_file():
            yield Toolchain("clang", version, (path,), (str(linker),), _stamp(path) + _stamp(linker))


def _zig() -> str | None:
    """The `zig` program inside the ziglang wheel, if that is installed."""
    spec = importlib.util.find_spec("ziglang")
    for folder in (spec and spec.submodule_search_locations) or ():
        zig = Path(folder) / ("zig.exe" if os.name == "nt" else "zig")
        if zig.is_file():
            return str(zig)
    return None


def _ziglang() -> Toolchain | None:
    zig = _zig()
    version = zig and _kept_version(_stamp(zig), zig, "clang")
    if not zig or not version:
        return None
    return Toolchain("ziglang", version, (zig, "clang"), (zig, "ld.lld"), _stamp(zig))


def available(hipcc: Path | None = None) -> Iterator[Toolchain]:
    """All toolchains of this machine, the preferred first."""
    if rocm := _hipcc(hipcc):
        yield rocm
    wheel = _ziglang()
    yield from sorted([*_clangs(), *([wheel] if wheel else [])], key=lambda tools: -_major(tools.version))


def find(hipcc: Path | None = None) -> Toolchain:
    """The toolchain to build with. hipcc: a path that the user named; it is then this one or an error."""
    return _find(hipcc, os.environ.get("ROCM_PATH"), os.environ.get("PATH"))


@functools.cache
def _find(hipcc: Path | None, rocm_path: str | None, path: str | None) -> Toolchain:
    for toolchain in available(hipcc):
        return toolchain
    if found := assembler():
        return found
    raise _no_compiler()


def _no_compiler() -> ToolchainMissing:
    return ToolchainMissing(
        "no compiler for gfx11 was found",
        expected=f"hipcc in $ROCM_PATH, or clang {OLDEST_CLANG} or newer with ld.lld, or the ziglang wheel",
        hint=packages.install("toolchain"),
    )


def assembler() -> Toolchain | None:
    """The assembler and linker of this project on the LLVM of the rocm-llvm-python wheel."""
    try:
        library = llvm.library_path()
    except IsaError:
        return None
    words = (*children.python("from isa.asm.assemble import main; sys.exit(main())", "-S", "-E"), str(library))
    return Toolchain("llvm", "rocm-llvm-python's LLVM", words, (*words, "link"), llvm.identity())


UNCHECKED = "-fno-sanitize=undefined"
"""zig's own flags of -O0 and -Og want a library of sanitizers."""


def build_host_library(source: Path, out: Path, flags: Sequence[str] = ("-O2",)) -> str:
    """C `source` to a shared library for this machine: by `cc`, `gcc`, `clang`, a clang that builds kernels, or zig.

    Returns the compiler's warnings; ToolchainMissing where there is no C compiler, ToolError where it rejects the
    source.
    """
    system = next((p for p in map(shutil.which, ("cc", "gcc", "clang")) if p), None)
    system = system or next((c.compiler[0] for c in _clangs()), None)
    zig = _zig()
    if system is None and zig is None:
        raise ToolchainMissing(
            f"no C compiler was found to build {source.name}",
            expected="cc, gcc or clang on $PATH, or the ziglang wheel",
            hint=packages.install("toolchain"),
        )
    compiler = [system] if system else [str(zig), "cc", UNCHECKED]
    shared, step = ["-shared", "-fPIC"], f"compile {source.name}"
    if system or not (libraries := _libraries_of_c()):
        return _run([*compiler, *shared, *flags, str(source), "-o", str(out)], step)
    made = [flag for flag in flags if flag.startswith("-") and not flag.startswith(_LINKERS)]
    linked = [flag for flag in flags if flag not in made and not flag.startswith("-l")]
    relocatable = str(out.with_suffix(".o"))
    given = ["-c", "-fPIC", UNCHECKED, *made, str(source), "-o", relocatable]
    said = _run([str(zig), "clang" if "-ffreestanding" in made else "cc", *given], step)  # cc takes -O1 as -O2
    linked = ["-nostdlib", "-Wl,-z,defs", relocatable, *linked, *libraries]
    return f"{said}\n{_run([*compiler, *shared, *linked, '-o', str(out)], f'link {out.name}')}".strip()


_LINKERS = ("-l", "-Wl,")


def _libraries_of_c() -> list[str]:
    """The files of C's library that this process has loaded, where the system lists them: a library for a process like
    it is linked with those. zig would compile a C library and a runtime of its own first, for half a minute."""
    with suppress(OSError):
        loaded = Path("/proc/self/maps").read_text()
        return sorted({*re.findall(r"/\S*/(?:libc|libm|libdl|libpthread|ld)\b[-.\w]*\.so[.\d]*$", loaded, re.M)})
    return []


def doctor(hipcc: Path | None = None) -> list[Fact]:
    """What was found of each kind of toolchain, and what is missing. Raises nothing: a broken tool is a fact too."""
    facts = []
    try:
        rocm = _hipcc(hipcc)
        facts.append(Fact("hipcc", bool(rocm), str(rocm) if rocm else "not found", "" if rocm else "set $ROCM_PATH"))
    except IsaError as e:
        facts.append(Fact("hipcc", False, str(e)))
    clangs = list(_clangs())
    hint = f"any package with clang {OLDEST_CLANG} or newer and lld; not needed beside ziglang"
    facts += [Fact("clang", True, f"{c.version} ({c.compiler[0]}, {c.linker[0]})") for c in clangs]
    facts += [] if clangs else [Fact("clang", False, f"none of version {OLDEST_CLANG} or newer", hint)]
    zig = _ziglang()
    hint = packages.install("toolchain")
    facts.append(Fact("ziglang", bool(zig), f"{zig.version} ({zig.compiler[0]})" if zig else "not installed", hint))
    try:
        facts.append(Fact("build with", True, str(find(hipcc))))
    except IsaError as e:
        facts.append(Fact("build with", False, e.message, e.hint or ""))
    return facts
