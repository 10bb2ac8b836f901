"""Whole HIP programs without a ROCm: sources with kernels and host code -> an executable, or a library that has `main`.

What hipcc does in one go, with the compiler that builds kernels:

    for each source   code object   `headers.compile_kernel`, assembled and linked; with -fgpu-rdc, of all sources one
                      fat binary    a bundle of it
                      object        the host's part, by clang for HIP, which embeds the bundle and registers kernels and
                                    variables before `main`
    program           objects, C++'s library and libamdhip64.so

ziglang brings clang, and C's and C++'s libraries as sources; the first program that it links takes some 20 s, in which
these are compiled. A clang of the system takes the system's. hipcc does all of it itself.

`in_place_of_hipcc` does one of these steps, by the words that hipcc takes for it: for builds of many commands.

`words` reads a command line as hipcc's: options and sources. `run` starts a library's `main` in a process of Python,
which is where the simulated card's runtime lives (`hipgemm.simulated_hip.attach`): so no Python that is a library is
needed.

Limits: Linux.
"""

from __future__ import annotations

import itertools
import platform
import re
import sys
import tempfile
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path

from hipgemm.kernels.compiling import command_line, headers, hipcc, kept
from isa import cache, toolchain
from isa.errors import IsaError
from isa.object import bundle
from isa.toolchain import Toolchain

SUFFIXES = (*command_line.SUFFIXES, *command_line.CXX)
_ROCM = Path("/opt/rocm")
_RPATH, _LACKING = f"-Wl,-rpath,{_ROCM}/lib", "-Wl,--allow-shlib-undefined"
_LIBRARIES = ("-lamdhip64", "-lpthread", "-ldl", "-lm")
_ARCHIVE = "--emit-static-lib"
_CARRIED = re.compile(rb"device code of hipgemm's, bytes: (\d+)\n")
"""What bitcode in an object begins with."""
_OF_GCC = ("-lstdc++", "-lstdc++fs", "-lgcc_s", "-lgcc")
"""What commands for hipcc name, and the driver links its own of."""
_OF_DEVICE = re.compile(r"--offload-arch|-m(no-)?(wavefrontsize64|cumode)")
_OF_BLAS = re.compile(rb"\0(hipblas|rocblas)(?=[A-Z_])")
"""Symbols of libraries that a program is linked with where it calls them."""
_FAT = re.compile(rb"__hip_(?:fatbin|gpubin_handle)_\w+")
"""What the host's part of a source names where device code is one for all, each with the source's own ending."""
_MOST = 20
"""Programs that the cache keeps, of some 5 MB."""


@dataclass(frozen=True)
class Words:
    """flags: the compiler's; sources: HIP or C++; rest: what follows them, a program's arguments."""

    flags: tuple[str, ...]
    sources: tuple[Path, ...]
    rest: tuple[str, ...]


def words(given: Sequence[str]) -> Words:
    """Options and sources of a command, up to the first word that is neither. Files of options are absolute."""
    rest = list(given)
    flags: list[str] = []
    sources: list[Path] = []
    while rest:
        if rest[0].startswith("-") and not sources:
            word = rest.pop(0)
            flags += command_line.from_anywhere(word, rest.pop(0) if word in command_line.APART and rest else "")
        elif Path(rest[0]).suffix in SUFFIXES and Path(rest[0]).is_file():
            sources.append(Path(rest.pop(0)))
        else:
            break
    return Words(tuple(flags), tuple(sources), tuple(rest))


def build(
    sources: Sequence[Path], out: Path, *, arch: str = "gfx1100", hip: Path | None = None, library: bool = False,
    flags: Sequence[str] = ("-O3",), say: Callable[[str], None] | None = None,
) -> str:  # fmt: skip
    """Sources to the program `out`, linked with libamdhip64.so: of the folder `hip`, or ROCm's. library: a shared
    library, whose `main` a process may call. flags: for both sides. Returns what compilers said; ToolError where one
    rejects a source, IsaError for what is not supported. say: takes what takes long."""
    tools = toolchain.find()
    if tools.kind == "hipcc":
        shared = ["-shared", "-fPIC"] if library else []
        command = [*flags, f"--offload-arch={arch}", *shared, *map(str, sources), "-o", str(out)]
        return tools.clang(command, f"compile {out.name}", out.parent)
    said: list[str] = []
    objects: list[str] = []
    linked = [flag for flag in flags if flag.startswith(command_line.LINKED) or flag.endswith(command_line.OBJECTS)]
    one = ("-fgpu-rdc",) if any(flag in command_line.RDC for flag in flags) else ()
    flags = [flag for flag in flags if flag not in linked and flag not in command_line.RDC]
    flags, note = _without_openmp(tools, flags)
    said.append(note)
    parts = []
    for number, source in enumerate(sources):
        made = out.parent / f"{number}-{source.stem}"
        if one:
            said.append(_bitcode(tools, source, made, arch, [*flags, *one, f"-cuid={number}"]))
            parts.append(made.with_name(f"{made.name}.bc"))
        else:
            said.append(_device(tools, source, made, arch, flags))
        fat = one or ("-Xclang", "-fcuda-include-gpubinary", "-Xclang", f"{made}.hipfb")
        how = ("-x", "hip", "--cuda-host-only", "-nogpulib", "-nogpuinc", f"-cuid={number}", "-fPIC", *fat)
        how = (*how, "-c", str(source.resolve()), "-o", f"{made}.o")
        by = partial(_host, tools, how, f"compile {source.name} for the host", out.parent)
        said.append(headers.as_asked(by, [*flags, *headers.for_host(tools)]))
        objects.append(f"{made}.o")
    if one:
        others = [Path(flag) for flag in linked if flag.endswith(command_line.OBJECTS)]
        parts += _carried(others, out.parent)
        objects.append(str(_joined(tools, parts, [*map(Path, objects), *others], arch)))
    kind = ["-shared", "-Wl,-Bsymbolic,-z,defs"] if library else [_RPATH]
    called = {name.decode() for file in objects for name in _OF_BLAS.findall(Path(file).read_bytes())}
    libraries = [*(f"-l{name}" for name in sorted(called)), *_LIBRARIES]
    words = [*kind, _LACKING, *objects, *linked, f"-L{hip or _ROCM}/lib", *libraries, "-o", str(out)]
    said.append(_link(tools, words, f"link {out.name}", out.parent, say))
    for file in objects:
        Path(file).unlink()
    return "\n".join(dict.fromkeys(filter(None, said)))


def in_place_of_hipcc(given: Sequence[str], *, hip: Callable[[], Path]) -> None:
    """What hipcc does with words when it compiles for the host (HIP's host part, C) or links. What compilers say goes
    to stderr. hip: the folder of a libamdhip64 where ROCm's is not installed. ToolError where a compiler or linker
    rejects something, IsaError for what is not supported."""
    tools = toolchain.find()
    given, said = _without_openmp(tools, given)
    found = command_line.read(given, cxx=True)
    if said:
        print(said, file=sys.stderr)
    out, here = found.out or Path("a.out"), Path.cwd()
    reads = found.why in ("-E", "-M", "-MM", "-fsyntax-only")
    if found.why and not reads and found.why not in ("-fgpu-rdc", "--cuda-host-only"):
        raise IsaError(f"{found.why} needs hipcc, and there is none here", hint="--genco, -c and programs need none")
    elif found.why == "-fgpu-rdc":
        files = [str(Path(word).resolve()) for word in found.options if word.endswith(command_line.OBJECTS)]
        others = [
            word for word in found.options if not word.endswith(command_line.OBJECTS) and word not in command_line.RDC
        ]
        options = words(others).flags
        if found.compile:
            said = "\n".join(_carrying(tools, source, found.out, options) for source in found.sources)
        else:
            given = ["-fgpu-rdc", *options, *files]
            said = build(found.sources, out.resolve(), hip=_hips(hip), flags=given, say=_say)
    elif found.sources:
        how = ["--cuda-host-only", "-nogpulib", "-nogpuinc", "-fPIC", *(["-x", "hip"] if reads else []), *given]
        by = partial(_host, tools, how, f"compile {found.sources[0].name} for the host", here)
        said = headers.as_asked(by, headers.for_host(tools))
    elif found.compile or reads:
        said = _by_driver(tools, "c", given, "compile", here)
    elif _ARCHIVE in given:
        objects = [word for word in found.options if word.endswith(".o")]
        said = _archive(tools, out, objects, here)
    else:
        rpath = [] if "-shared" in given else [_RPATH]
        link = [*rpath, _LACKING, *(word for word in given if word not in _OF_GCC and not _OF_DEVICE.match(word))]
        said = _link(tools, [*link, f"-L{_hips(hip)}/lib", *_LIBRARIES], f"link {out.name}", here, _say)
    if said:
        print(said, file=sys.stdout if reads else sys.stderr)


def _say(text: str) -> None:
    print(f"hipgemm: {text}", file=sys.stderr)


def _without_openmp(tools: Toolchain, words: Sequence[str]) -> tuple[list[str], str]:
    """The words for a compiler that may have no library of OpenMP, and what is to be said of that."""
    if tools.kind != "ziglang" or "-fopenmp" not in words:
        return list(words), ""
    note = "note: ziglang has no OpenMP: -fopenmp is left out, and host code runs in one thread"
    return [word for word in words if word != "-fopenmp"], note


def _hips(otherwise: Callable[[], Path]) -> Path:
    """The folder in whose lib a libamdhip64 is."""
    return _ROCM if (_ROCM / "lib/libamdhip64.so").exists() else otherwise()


def _device(tools: Toolchain, source: Path, made: Path, arch: str, flags: Sequence[str]) -> str:
    assembly = made.with_name(f"{made.name}.s")
    said = headers.compile_kernel(tools, source, assembly, arch=arch, flags=flags, cu_mode=False, whole=True)
    try:
        image = tools.code_object(assembly.read_text(), arch=arch, name=source.name)
    except toolchain.ToolError as error:
        if error.hint or "undefined" not in error.message:
            raise
        hint = "device code is complete in each source, unless -fgpu-rdc is said: then that of all sources is linked"
        raise toolchain.ToolError(error.message, hint=hint) from error
    made.with_name(f"{made.name}.hipfb").write_bytes(_bundle(image, arch))
    return said


def _bundle(image: bytes, arch: str) -> bytes:
    return bundle.bundled([(hipcc.HOST_TARGET, b""), (f"hipv4-amdgcn-amd-amdhsa--{arch}", image)])


def _bitcode(tools: Toolchain, source: Path, made: Path, arch: str, flags: Sequence[str]) -> str:
    """The device's part of a source whose device code is linked with others': `made`.bc."""
    text = made.with_name(f"{made.name}.ll")
    given = [*flags, "-emit-llvm"]
    said = headers.compile_kernel(tools, source, text, arch=arch, flags=given, cu_mode=False, whole=True)
    tools.bitcode(text, text.with_suffix(".bc"), arch=arch)
    text.unlink()
    return said


def _carrying(tools: Toolchain, source: Path, out: Path | None, flags: Sequence[str]) -> str:
    """An object of a source whose device code is linked later, with that in a section that no program gets."""
    out = (out or Path(f"{source.stem}.o")).resolve()
    with tempfile.TemporaryDirectory() as folder:
        made = Path(folder) / "made"
        own = [f"-cuid={cache.key(str(source.resolve()), *flags)}", "-fgpu-rdc"]
        said = _bitcode(tools, source, made, toolchain.ARCHS[0], [*flags, *own])
        how = ("-x", "hip", "--cuda-host-only", "-nogpulib", "-nogpuinc", "-fPIC", *own)
        how = (*how, "-c", str(source.resolve()), "-o", f"{made}.o")
        by = partial(_host, tools, how, f"compile {source.name} for the host", made.parent)
        said = f"{said}\n{headers.as_asked(by, [*flags, *headers.for_host(tools)])}".strip()
        code = made.with_suffix(".bc").read_bytes()
        made.with_suffix(".bc").write_bytes(b"device code of hipgemm's, bytes: %d\n" % len(code) + code)
        made.with_suffix(".s").write_text('.section .hipgemm,"e",@progbits\n.incbin "made.bc"\n')
        tools.clang(["-c", "made.s", "-o", "carried.o"], "assemble device code", made.parent)
        linker = replace(tools, compiler=tools.linker)
        linker.clang(["-r", "made.o", "carried.o", "-o", str(out)], f"put device code into {out.name}", made.parent)
    return said


def _carried(objects: Sequence[Path], folder: Path) -> list[Path]:
    """The device code in objects and archives, each a file in `folder`."""
    found: list[Path] = []
    for file in objects:
        held = file.read_bytes()
        for start in _CARRIED.finditer(held):
            found.append(folder / f"carried-{len(found)}.bc")
            found[-1].write_bytes(held[start.end() : start.end() + int(start[1])])
    return found


def _joined(tools: Toolchain, parts: Sequence[Path], objects: Sequence[Path], arch: str) -> Path:
    """An object of the host with the device code of all sources, under the names that each source's object has for it.
    What the first of them loads is kept in one handle for all."""
    fat, handle = parts[0].with_name("all.hipfb"), parts[0].with_name("all.s")
    tools.link_bitcode(parts, fat.with_suffix(".co"), arch=arch)
    fat.write_bytes(_bundle(fat.with_suffix(".co").read_bytes(), arch))
    names = sorted({name for file in objects for name in _FAT.findall(file.read_bytes())})
    named = [f".globl {name}\n.hidden {name}\n{name}:" for name in map(bytes.decode, names)]
    held, loaded = ([lines for lines in named if kind in lines] for kind in ("fatbin", "handle"))
    handle.write_text("\n".join([
        '.section .hip_fatbin,"a",@progbits', ".p2align 12", *held, f'.incbin "{fat.name}"',
        ".bss", ".p2align 3", *loaded, ".zero 8", '.section .note.GNU-stack,"",@progbits', "",
    ]))  # fmt: skip
    tools.clang(["-c", handle.name, "-o", "all.o"], "assemble the device code of all sources", handle.parent)
    return handle.with_suffix(".o")


def _host(tools: Toolchain, how: Sequence[str], step: str, folder: Path, flags: Sequence[str]) -> str:
    return tools.clang([*how, *flags], step, folder)


def _by_driver(tools: Toolchain, language: str, command: Sequence[str], doing: str, folder: Path) -> str:
    """The compiler as one of programs in `c` or `c++`, which knows the libraries that they are linked with."""
    if tools.kind == "ziglang":
        own = Toolchain("ziglang", tools.version, (tools.compiler[0], {"c": "cc"}.get(language, language)), ())
        return own.clang(["-target", f"{platform.machine()}-linux-gnu", *command], doing, folder)
    return tools.clang([*(["--driver-mode=g++"] if language == "c++" else []), *command], doing, folder)


def _link(
    tools: Toolchain, words: Sequence[str], step: str, folder: Path, say: Callable[[str], None] | None = None
) -> str:
    """With C++'s library. zig has one of its own for each level of optimization, so it is always asked for the same."""
    if tools.kind != "ziglang":
        return _by_driver(tools, "c++", words, step, folder)
    own = _library_of_cxx(tools, say)
    return _by_driver(tools, "c" if own else "c++", [*words, *own, "-O2"], step, folder)


_LIBRARY_OF_CXX = (
    "-D_LIBCPP_BUILDING_LIBRARY", "-DLIBCXX_BUILDING_LIBCXXABI", "-D_LIBCXXABI_BUILDING_LIBRARY",
    "-DHAVE___CXA_THREAD_ATEXIT_IMPL", "-std=c++23", "-O1", "-g0", "-fPIC", "-fvisibility=hidden",
    "-fno-sanitize=undefined", "-w",
)  # fmt: skip
_APART = ("condition_variable_destructor", "error_category", "memory", "mutex_destructor")
"""Sources that declare what they define in a way of their own."""
_LEFT_OUT = ("int128_builtins", "cxa_noexception")
"""Those of other systems."""


def _library_of_cxx(tools: Toolchain, say: Callable[[str], None] | None) -> list[str]:
    """What links ziglang's library of C++, compiled here: nearly all sources as one text, in a fifth of the time that
    zig takes for each by itself. Nothing where they do not compile so: then zig has to."""
    root = Path(tools.compiler[0]).parent / "lib"

    def fill(folder: Path) -> None:
        if say:
            say("compiling C++'s library for the first program: about 20 seconds")
        texts: dict[str, list[Path]] = {}
        for source in sorted(root.glob("libcxx*/src/**/*.cpp")):
            library, within = source.parts[len(root.parts)], source.parts[-2]
            if within in ("src", "filesystem", "ryu") and source.stem not in _LEFT_OUT:
                texts.setdefault(source.stem if source.stem in _APART else library, []).append(source)
        inside = [f"-I{root}/{name}" for name in ("libcxx/src", "libcxx/libc", "libcxxabi/include")]
        for name, sources in texts.items():
            (folder / f"{name}.cpp").write_text("".join(f'#include "{source}"\n' for source in sources))
            words = ["-c", f"{name}.cpp", "-o", f"{name}.o", *_LIBRARY_OF_CXX, *inside]
            _by_driver(tools, "c++", words, "compile C++'s library", folder)
        _archive(tools, folder / "libc++.a", [f"{name}.o" for name in texts], folder)

    try:
        made = cache.make("cxx-library", cache.key(tools.identity, *_LIBRARY_OF_CXX), fill)
        return [str(made / "libc++.a"), "-lunwind"]
    except toolchain.ToolError:
        return []


def _archive(tools: Toolchain, out: Path, objects: Sequence[str], folder: Path) -> str:
    archiver = (tools.compiler[0], "ar") if tools.kind == "ziglang" else ("ar",)
    return Toolchain(tools.kind, tools.version, archiver, ()).clang(["rcs", str(out), *objects], f"make {out}", folder)


def library(found: Words, arch: str, hip: Path, say: Callable[[str], None] | None = None) -> tuple[Path, str]:
    """The library of a program, built or of the cache, and what compilers said. hip, say: as of `build`."""
    flags = found.flags if any(flag.startswith("-O") for flag in found.flags) else ("-O3", *found.flags)
    tools = toolchain.find()
    given = itertools.chain.from_iterable(kept.with_includes(source.resolve(), flags) for source in found.sources)
    texts = [part for file in given for part in (str(file), file.read_bytes())]
    own = [file.read_bytes() for file in (*headers.files(), Path(__file__), Path(headers.__file__))]
    name = cache.key(*texts, *own, *flags, arch, str(hip), tools.identity, headers.identity())

    def fill(folder: Path) -> None:
        said = build(found.sources, folder / "program.so", arch=arch, hip=hip, library=True, flags=flags, say=say)
        (folder / "said.txt").write_text(said)

    made = cache.make("programs", name, fill)
    cache.prune("programs", _MOST)
    return made / "program.so", (made / "said.txt").read_text()
