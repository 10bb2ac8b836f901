"""The C libraries that HIP programs open: their text, made from the declared calls, and their compilation.

`source` is shim.c followed by where Python lies and how the connection is made in it (`attach.py`), by one exported
function for each declared call of HIP and hiprtc, and by one that answers hipErrorNotSupported (for hiprtc: its
internal error) for each further call that hip-python knows. Programs that were linked with ROCm's library ask for
versions of its symbols (hip_4.2 and later): versions.map defines them all, and since no symbol of these libraries
belongs to one, each symbol answers for any version.

`stand_ins` is a library of its own for ROCm's others, such as comgr and rocBLAS: stand_ins.c, the calls that are
declared, and refusals of those of refused.txt. A program finds it only by names that the loader finds nowhere else:
where ROCm's own are installed, they run, on the simulated card, and it exports none of their calls.

Both are compiled once by the system's C compiler or by zig's, and kept in the cache by content. `build` gives a folder
as $ROCM_PATH names one, whose lib has links to them by the names that programs ask for.
"""

from __future__ import annotations

import fnmatch
import functools
import os
import re
import subprocess
import sys
import sysconfig
from collections.abc import Collection, Iterable, Iterator, Mapping
from pathlib import Path
from types import MappingProxyType
from typing import NamedTuple

from hipgemm.simulated_hip.abi import VERSION_NUMBER, Call
from isa import cache, native

VERSIONS = Path(__file__).with_name("versions.map")
FLAGS = (
    "-O0", "-fno-stack-protector", "-fvisibility=hidden", "-ldl", "-pthread", f"-Wl,--version-script={VERSIONS}",
)  # fmt: skip
LIBRARY = "lib/libamdhip64.so"
STAND_INS = "lib/libhipgemm_stand_ins.so"
FURTHER = "lib/libhipgemm_further_versions.so"
HIPS_OWN = ("libhsa-runtime64",)
"""Names of refused.txt whose calls HIP's library has."""
REFUSED = Path(__file__).with_name("refused.txt")
_OWN = Path(__file__).with_name("stand_ins.c")


_VERSIONS = ("hipRuntimeGetVersion", "hipDriverGetVersion")
_FIRST, _SECOND = "a0", "a1"
AT_THE_END = {
    "hipGetDevice": (_FIRST, 0),
    "hipDeviceGet": (_FIRST, 0),
    "hipGetDeviceCount": (_FIRST, 1),
    **dict.fromkeys(_VERSIONS, (_FIRST, VERSION_NUMBER)),
    **dict.fromkeys(("hipStreamGetFlags", "hipStreamGetPriority"), (_SECOND, 0)),
}
"""What questions are answered after Python's end, and through which argument."""
_CLEANS_UP = re.compile(
    "Free|Reset|Unload|[Dd]estroy|Unregister|Release|Synchronize|Query|LastError|ProfilerStop|hipSetDevice$"
)
"""Calls that succeed after Python's end."""


class _Library(NamedTuple):
    """One of ROCm's others by refused.txt. begins: a pattern of its calls' names; versions: of its own name."""

    name: str
    begins: str
    versions: tuple[str, ...]
    code: int
    calls: tuple[str, ...]


@functools.cache
def _others() -> tuple[_Library, ...]:
    text = re.sub(r"^#.*\n", "", REFUSED.read_text(), flags=re.M)
    heads = re.findall(r"^([\w-]+) (\S+) ([\d ]+)= (\d+)\n((?: .*\n)*)", text, re.M)
    return tuple(
        _Library(name, begins, tuple(versions.split()), int(code), tuple(n for c in calls.split() for n in _each(c)))
        for name, begins, versions, code, calls in heads
    )


def _calls_of(libraries: Iterable[_Library]) -> re.Pattern[str]:
    """The names of these libraries' calls."""
    return re.compile("|".join(fnmatch.translate(library.begins) for library in libraries) or "(?!)")


@functools.cache
def _of_others() -> re.Pattern[str]:
    """Names of calls that are no part of HIP or hiprtc."""
    return _calls_of(library for library in _others() if library.name not in HIPS_OWN)


def _each(pattern: str) -> list[str]:
    """The names of a pattern like a[SD]b."""
    before, bracket, rest = pattern.partition("[")
    letters, _, after = rest.partition("]")
    return [f"{before}{letter}{after}" for letter in letters] if bracket else [pattern]


def _links(found: Collection[str]) -> Iterator[tuple[str, str]]:
    """(name, library that it leads to) of what programs ask for. found: names that the loader finds elsewhere."""
    for name in ("libamdhip64", "libhiprtc"):
        yield from ((f"lib/{name}.so{version}", LIBRARY) for version in ("", ".5", ".6", ".7"))
    for other in _others():
        names = [f"{other.name}.so.{version}" for version in other.versions]
        there = any(name.startswith(f"{other.name}.so") for name in found)
        if other.name in HIPS_OWN or not there:
            names.append(f"{other.name}.so")
        leads = LIBRARY if other.name in HIPS_OWN else FURTHER if there else STAND_INS
        yield from ((f"lib/{n}", leads) for n in names if leads == LIBRARY or n not in found)


def _showing(text: str, names: Collection[str]) -> str:
    """The text of a library that stands in for those of these names: it exports no other calls, so that none is found
    before that of a library that is installed."""
    shown = {other.begins for other in _others() if other.name in names}
    hide = _calls_of(other for other in _others() if other.begins not in shown).match
    return _DEFINED.sub(lambda line: line[0].removeprefix("EXPORT ") if hide(line[1]) else line[0], text)


def installed(environ: Mapping[str, str]) -> frozenset[str]:
    """Names of shared libraries that the loader finds, but for those of this module."""
    folders = [Path(f) for f in environ.get("LD_LIBRARY_PATH", "").split(os.pathsep) if f]
    folders += [
        Path(f)
        for f in ("/opt/rocm/lib", "/usr/lib64", "/usr/lib", f"/usr/lib/{sysconfig.get_config_var('MULTIARCH')}")
    ]
    theirs = [f for f in folders if f.is_dir() and not (f.parent / STAND_INS).exists()]
    try:
        words = ("/sbin/ldconfig", "-p")
        listed = subprocess.run(words, capture_output=True, text=True, check=False, timeout=20).stdout
    except (OSError, subprocess.TimeoutExpired):
        listed = ""
    return frozenset(
        {n.name for f in theirs for n in f.glob("lib*.so*")} | set(re.findall(r"^\s+(\S+) \(", listed, re.M))
    )


_DEFINED = re.compile(r"^EXPORT .*?(\w+)\(", re.M)


def source(calls: Mapping[str, Call], known: Iterable[str]) -> str:
    """The library's C text. `known`: names of all the calls there are, declared or not.

    Call number i, in the order of `calls`, is what the dispatcher is given.
    """
    shim = Path(__file__).with_name("shim.c").read_text()
    forwarded = [_forwarding(i, c) for i, c in enumerate(calls.values()) if not _of_others().match(c.name)]
    codes = {name: "HIP_NOT_SUPPORTED" for name in known if not _of_others().match(name)}
    codes |= {name: "HIPRTC_INTERNAL_ERROR" for name in codes if name.startswith("hiprtc")}
    codes |= {name: str(code) for name, code in _refusals().items() if not _of_others().match(name)}
    defined = {*calls, *_DEFINED.findall(shim)}
    absent = [_absent(name, code) for name, code in sorted(codes.items()) if name not in defined]
    return "\n".join([_python(contract(calls)), shim, *forwarded, *absent])


def stand_ins(calls: Mapping[str, Call]) -> str:
    """The C text of the other library."""
    forwarded = [_forwarding(i, c) for i, c in enumerate(calls.values()) if _of_others().match(c.name)]
    own = _OWN.read_text()
    defined = {*calls, *_DEFINED.findall(own)}
    names = {
        name: code for name, code in sorted(_refusals().items()) if _of_others().match(name) and name not in defined
    }
    return "\n".join([own, *forwarded, *(_absent(name, str(code)) for name, code in names.items())])


def _refusals() -> dict[str, int]:
    return {name: library.code for library in _others() for name in library.calls}


def contract(calls: Mapping[str, Call]) -> str:
    """What the library and the Python that answers it must agree on: which number is which call."""
    return cache.key(*(f"{c.name}{c.arguments}{c.answer}" for c in calls.values()))


_ATTACH = """\
import importlib.util, sys
def attach(*addresses):
    if sys.version_info[:2] == {version}:
        sys.path += [p for p in {paths} if p not in sys.path]
    elif importlib.util.find_spec("hipgemm") is None:
        print("hipgemm: this process is Python %d.%d, and hipgemm is installed for %d.%d: install it here, too"
              % (*sys.version_info[:2], *{version}), file=sys.stderr)
        return
    from hipgemm.simulated_hip.attach import attach
    attach({contract!r}, *addresses)
"""


def _python(agreed: str) -> str:
    """C constants: Python as a library, its home, and an expression that is called with addresses in the library."""
    config = sysconfig.get_config_var
    names = [Path(str(config("LIBDIR"))) / str(config(name)) for name in ("INSTSONAME", "LDLIBRARY")]
    shared = next((str(path) for path in names if ".so" in path.name and path.is_file()), names[0].name)
    root = str(Path(__file__).resolve().parents[2])
    paths = [root, *(p for p in sys.path if p != root and Path(p).name in ("site-packages", "dist-packages"))]
    text = _ATTACH.format(version=tuple(sys.version_info[:2]), paths=paths, contract=agreed)
    attach = f"(lambda names: exec({text!r}, names) or names['attach'])({{}})"
    texts = {"library": shared, "home": sys.base_prefix, "attach": attach}
    return "".join(f'static const char python_{name}[] = "{_quoted(text)}";\n' for name, text in texts.items())


def _quoted(text: str) -> str:
    """As it stands between the quotes of a C string."""
    return "".join(chr(b) if 32 <= b < 127 and b not in b'"\\?' else f"\\{b:03o}" for b in os.fsencode(text))


def _absent(name: str, code: str) -> str:
    if code == "0":
        return f"EXPORT int {name}(void) {{ return 0; }}\n"
    return f'EXPORT int {name}(void) {{ return hipgemm_missing("{name}", {code}); }}\n'


def _word(c_type: str) -> str:
    """The macro of shim.c that makes a 64-bit word of an argument."""
    return "TRIPLE" if c_type == "dim3" else "POINTER" if "*" in c_type else "NUMBER"


def _forwarding(number: int, call: Call) -> str:
    parameters = ", ".join(f"{c} a{i}" for i, c in enumerate(call.arguments)) or "void"
    words = ", ".join(f"{_word(c)}(a{i})" for i, c in enumerate(call.arguments))
    forward = f"forward_text({number}, words)" if "*" in call.answer else f"hipgemm_forward({number}, words)"
    if call.name in AT_THE_END:
        out, value = AT_THE_END[call.name]
        forward = f"hipgemm_forward_last({number}, words, {out}, {value})"
    elif _CLEANS_UP.search(call.name):
        forward = f"hipgemm_forward_last({number}, words, NULL, 0)"
    return (
        f"EXPORT {call.answer} {call.name}({parameters}) {{\n"
        f"    uint64_t words[] = {{{words or '0'}}};\n"
        f"    return ({call.answer}){forward};\n"
        "}\n"
    )


def hips(text: str) -> Path:
    """The folder with HIP's library, compiled from its text. Raises as `build`."""
    flags = (*FLAGS, "-Wl,-soname,libamdhip64.so")
    return native.build("simulated_hip", f"{text}/* {VERSIONS.read_text()} */", flags, LIBRARY)


def build(
    hip: str, others: str, found: Collection[str] = (), programs: Mapping[str, str] = MappingProxyType({})
) -> Path:
    """The folder (as ROCM_PATH names one) whose libraries are compiled from these texts. found: names of libraries that
    are installed, for which nothing stands in; programs: text of each script in it, by where it lies.

    Raises isa.toolchain.ToolchainMissing where there is no C compiler, ToolError where it fails.
    """
    first = hips(hip)
    links = {LIBRARY: LIBRARY, STAND_INS: STAND_INS} | dict(_links(found))
    built = {LIBRARY: first / LIBRARY}
    for library in sorted({*links.values()} - {LIBRARY}):
        flags = (
            *FLAGS, f"-Wl,-soname,{Path(library).name}", "-Wl,--no-as-needed", str(first / LIBRARY),
            f"-Wl,-rpath,{(first / LIBRARY).parent}",
        )  # fmt: skip
        stands_for = {Path(name).name.partition(".so")[0] for name, leads in links.items() if leads == library}
        text = f"{_showing(others, stands_for)}/* {first} {VERSIONS.read_text()} */"
        built[library] = native.build("stand_ins", text, flags, library) / library
    where = {name: built[library] for name, library in links.items()}

    def fill(folder: Path) -> None:
        (folder / "lib").mkdir(exist_ok=True)
        for name, library in where.items():
            (folder / name).symlink_to(library)
        for name, text in programs.items():
            (folder / name).parent.mkdir(parents=True, exist_ok=True)
            (folder / name).write_text(text)
            (folder / name).chmod(0o755)

    return cache.make("rocm", cache.key(str(sorted(where.items())), str(sorted(programs.items()))), fill)
