"""The C library that HIP programs open: its text, made from the declared calls, and its compilation.

`source` is shim.c followed by where Python lies and how the connection is made in it (`attach.py`), by one exported
function for each declared call, and by one that answers hipErrorNotSupported (for hiprtc: its internal error) for each
further call that hip-python knows, and the like for ROCm's other libraries that programs are linked with (refused.txt).
It is compiled once by the system's C compiler or by zig's, and kept in the cache by content, in a folder as $ROCM_PATH
names one: lib/libamdhip64.so, and links to it by the other names that programs ask for. Programs that were linked with
ROCm's library ask for versions of its symbols (hip_4.2 and later): versions.map defines them all, and since no symbol
of this library belongs to one, each symbol answers for any version.
"""

from __future__ import annotations

import os
import re
import sys
import sysconfig
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path

from hipgemm.simulated_hip.abi import Call
from isa import cache, native

VERSIONS = Path(__file__).with_name("versions.map")
FLAGS = (
    "-O0",
    "-fvisibility=hidden",
    "-Wl,-soname,libamdhip64.so",
    f"-Wl,--version-script={VERSIONS}",
    "-ldl",
    "-pthread",
)
LIBRARY = "lib/libamdhip64.so"
REFUSED = Path(__file__).with_name("refused.txt")


AT_THE_END = {"hipGetDevice": 0, "hipGetDeviceCount": 1}
"""What questions are answered after Python's end, through their first argument."""
_CLEANS_UP = re.compile("Free|Unload|[Dd]estroy|Unregister|Release|Synchronize|Query|LastError|hipSetDevice$")
"""Calls that succeed after Python's end."""


def _refused() -> Iterator[tuple[str, list[str], int, list[str]]]:
    """(library, versions of its name, code, calls) by refused.txt."""
    text = re.sub(r"^#.*\n", "", REFUSED.read_text(), flags=re.M)
    for library, versions, code, calls in re.findall(r"^(\w+) ([\d ]+)= (\d+)\n((?: .*\n)*)", text, re.M):
        names = [_each(name) for name in calls.split()]
        yield library, versions.split(), int(code), [name for each in names for name in each]


def _each(pattern: str) -> list[str]:
    """The names of a pattern like a[SD]b."""
    before, bracket, rest = pattern.partition("[")
    letters, _, after = rest.partition("]")
    return [f"{before}{letter}{after}" for letter in letters] if bracket else [pattern]


def _links() -> Iterator[str]:
    for name, versions in (("libamdhip64", "567"), ("libhiprtc", "567"), *((name, v) for name, v, *_ in _refused())):
        if f"lib/{name}.so" != LIBRARY:
            yield f"lib/{name}.so"
        yield from (f"lib/{name}.so.{version}" for version in versions)


LINKS = tuple(_links())
"""The other names of the library. In ROCm they are libraries of their own; here the same one answers, or returns an
error."""
_DEFINED = re.compile(r"^EXPORT .*?(\w+)\(", re.M)


def source(calls: Mapping[str, Call], known: Iterable[str]) -> str:
    """The library's C text. `known`: names of all the calls there are, declared or not.

    Call number i, in the order of `calls`, is what the dispatcher is given.
    """
    shim = Path(__file__).with_name("shim.c").read_text()
    forwarded = [_forwarding(i, c) for i, c in enumerate(calls.values())]
    codes = dict.fromkeys(known, "HIP_NOT_SUPPORTED")
    codes |= {name: "HIPRTC_INTERNAL_ERROR" for name in codes if name.startswith("hiprtc")}
    codes |= {name: str(code) for *_, code, names in _refused() for name in names}
    defined = {*calls, *_DEFINED.findall(shim)}
    absent = [_absent(name, code) for name, code in sorted(codes.items()) if name not in defined]
    return "\n".join([_python(contract(calls)), shim, *forwarded, *absent])


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
    return f'EXPORT int {name}(void) {{ return missing("{name}", {code}); }}\n'


def _word(c_type: str) -> str:
    """The macro of shim.c that makes a 64-bit word of an argument."""
    return "TRIPLE" if c_type == "dim3" else "POINTER" if "*" in c_type else "NUMBER"


def _forwarding(number: int, call: Call) -> str:
    parameters = ", ".join(f"{c} a{i}" for i, c in enumerate(call.arguments)) or "void"
    words = ", ".join(f"{_word(c)}(a{i})" for i, c in enumerate(call.arguments))
    forward = f"forward_text({number}, words)" if "*" in call.answer else f"forward({number}, words)"
    if call.name in AT_THE_END:
        forward = f"forward_last({number}, words, a0, {AT_THE_END[call.name]})"
    elif _CLEANS_UP.search(call.name):
        forward = f"forward_last({number}, words, NULL, 0)"
    return (
        f"EXPORT {call.answer} {call.name}({parameters}) {{\n"
        f"    uint64_t words[] = {{{words or '0'}}};\n"
        f"    return ({call.answer}){forward};\n"
        "}\n"
    )


def build(text: str) -> Path:
    """The folder (as ROCM_PATH names one) whose library is compiled from this text.

    Raises isa.toolchain.ToolchainMissing where there is no C compiler, ToolError where it fails.
    """
    return native.build("simulated_hip", f"{text}/* {VERSIONS.read_text()} */", FLAGS, LIBRARY, LINKS)
