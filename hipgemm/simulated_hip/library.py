"""The C library that hip-python opens: its text, made from the declared calls, and its compilation.

`source` is shim.c followed by one exported function for each declared call, and by one that answers
hipErrorNotSupported (for hiprtc: its internal error) for each further call that hip-python knows. It is compiled once
by the system's C compiler or by zig's, and kept in the cache by content; it lies there as lib/libamdhip64.so, as under
a ROCm folder.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from pathlib import Path

from hipgemm.simulated_hip.abi import Call
from isa import native

FLAGS = ("-O1", "-fvisibility=hidden", "-Wl,-soname,libamdhip64.so")


def source(calls: Mapping[str, Call], known: Iterable[str]) -> str:
    """The library's C text. `known`: names of all the calls there are, declared or not.

    Call number i, in the order of `calls`, is what the dispatcher is given.
    """
    shim = Path(__file__).with_name("shim.c").read_text()
    forwarded = [_forwarding(i, c) for i, c in enumerate(calls.values())]
    absent = [_absent(name) for name in sorted(set(known) - set(calls))]
    return shim + "".join(forwarded) + "\n" + "".join(absent)


def _absent(name: str) -> str:
    code = "HIPRTC_INTERNAL_ERROR" if name.startswith("hiprtc") else "HIP_NOT_SUPPORTED"
    return f'EXPORT int {name}(void) {{ return missing("{name}", {code}); }}\n'


def _forwarding(number: int, call: Call) -> str:
    parameters = ", ".join(f"{c} a{i}" for i, c in enumerate(call.arguments)) or "void"
    words = ", ".join(f"{'POINTER' if '*' in c else 'NUMBER'}(a{i})" for i, c in enumerate(call.arguments)) or "0"
    forward = "forward_text" if "*" in call.answer else "forward"
    return (
        f"EXPORT {call.answer} {call.name}({parameters}) {{\n"
        f"    uint64_t words[] = {{{words}}};\n"
        f"    return ({call.answer}){forward}({number}, words);\n"
        "}\n"
    )


def build(text: str) -> Path:
    """The folder (as ROCM_PATH names one) whose lib/libamdhip64.so is compiled from this text.

    Raises isa.toolchain.ToolchainMissing where there is no C compiler, ToolError where it refuses.
    """
    return native.build("simulated_hip", text, FLAGS, "lib/libamdhip64.so")
