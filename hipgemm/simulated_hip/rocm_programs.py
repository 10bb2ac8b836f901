"""ROCm's programs on a machine whose card is simulated: scripts in the place of those that builds and programs call.

    hipcc                                   `hipgemm cc`, without a search for passes
    clang, clang++, ld.lld                  the compiler and linker that build kernels, in llvm/bin
    clang-offload-bundler                   bundles of code objects, made and taken apart
    rocminfo, rocm_agent_enumerator,        the card that the simulated one stands for
    amdgpu-arch, offload-arch, hipconfig
    rocm-smi, amd-smi                       refused: nothing is measured

`scripts` gives the text of each; those that answer run this module. A hipcc that is installed comes before
(`attach.environment`).

Limits: of what rocminfo and hipconfig print the lines that build systems look for; no folder of headers, which hipcc
finds by itself.
"""

from __future__ import annotations

import os
import shlex
import signal
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path

from hipgemm.simulated_hip.abi import VERSION_TEXT
from hipgemm.simulated_hip.card import CARD
from isa import toolchain
from isa.children import python
from isa.errors import IsaError, write
from isa.object import bundle
from isa.timing.machine import cards

_VERBS = "from hipgemm.cli import main; main(prog_name='hipgemm')"
_PROGRAMS = f"from {__name__} import main; main()"
_ANSWERED = {
    "bin": ("hipconfig", "rocminfo", "rocm_agent_enumerator", "rocm-smi", "amd-smi"),
    "llvm/bin": ("amdgpu-arch", "offload-arch", "clang-offload-bundler"),
}


def scripts() -> dict[str, str]:
    """Where each lies in the folder that $ROCM_PATH names -> its text."""
    card = f'--hipgemm-card="${{{CARD}:-{cards.DEFAULT}}}"'
    words = {"bin/hipcc": f"{shlex.join(python(_VERBS))} cc --hipgemm-budget=0 --hipgemm-alone {card}"}
    for folder, names in _ANSWERED.items():
        words |= {f"{folder}/{name}": f"{shlex.join(python(_PROGRAMS))} {name}" for name in names}
    try:
        tools = toolchain.find()
    except IsaError:
        tools = None
    if tools and tools.kind in ("clang", "ziglang"):
        clang = f'env PATH="$(dirname "$0"):$PATH" {shlex.join(tools.compiler)}'  # it looks for ld.lld there
        words |= {f"llvm/bin/{name}": clang for name in ("clang", "clang++")}
        words["llvm/bin/ld.lld"] = shlex.join(tools.linker)
    return {name: f'#!/bin/sh\n{toolchain.STANDS_IN}\nexec {text} "$@"\n' for name, text in words.items()}


def answer(name: str, words: Sequence[str], on: cards.Card, root: str) -> Iterator[str]:
    """What the program prints, line by line. on: the card; root: $ROCM_PATH. IsaError for what is not supported, and
    where it would have to make something up."""
    if name in ("amdgpu-arch", "offload-arch"):
        yield on.arch
    elif name == "rocm_agent_enumerator":
        yield from ("gfx000", on.arch)  # the processor is an agent, too
    elif name == "rocminfo":
        yield from _rocminfo(on)
    elif name == "hipconfig":
        yield from _hipconfig(words, root)
    elif name == "clang-offload-bundler":
        _bundler(words)
    else:
        raise IsaError(
            f"{name} is not there: the simulated card has nothing to measure", hint="rocminfo names the card"
        )


def _rocminfo(on: cards.Card) -> Iterator[str]:
    yield "ROCk module is loaded"
    for number, (agent, kind, rest) in enumerate((
        ("cpu", "CPU", {}),
        (on.arch, "GPU", {"Compute Unit": on.cus, "Wavefront Size": "32(0x20)", "Max Clock Freq. (MHz)": on.clock_mhz}),
    ), 1):  # fmt: skip
        yield from ("*******", f"Agent {number}", "*******")
        marketing = f"AMD {on.name}, simulated" if kind == "GPU" else "the host"
        facts = {"Name": agent, "Marketing Name": marketing, "Vendor Name": "AMD", "Device Type": kind, **rest}
        yield from (f"  {name + ':':<24} {value}" for name, value in facts.items())
    yield from (
        "  ISA Info:",
        "    ISA 1",
        f"      Name:                    amdgcn-amd-amdhsa--{on.arch}",
        "*** Done ***",
    )


def _hipconfig(words: Sequence[str], root: str) -> Iterator[str]:
    facts = {
        ("-v", "--version"): VERSION_TEXT,
        ("-P", "--platform"): "amd",
        ("-c", "--compiler"): "clang",
        ("-r", "--runtime"): "rocclr",
        ("-p", "--path"): root,
        ("-R", "--rocmpath"): root,
        ("-l", "--hipclangpath"): f"{root}/llvm/bin",
        ("-C", "--cpp_config"): "-D__HIP_PLATFORM_AMD__=",
    }
    asked = [facts[names] for names in facts if {*names} & {*words}]
    if asked or words not in ([], ["--full"], ["-f"]):
        if len(asked) != len(words):
            raise IsaError(
                f"hipconfig {' '.join(words)}", expected=", ".join(name for names in facts for name in names)
            )
        yield " ".join(asked)
        return
    yield from (f"{names[1][2:]:<16}: {value}" for names, value in facts.items())


def _bundler(words: Sequence[str]) -> None:
    """-targets=T,.. -input=FILE.. -output=FILE, -unbundle the other way: types of files are not told apart."""
    given: dict[str, list[str]] = {}
    for word in words:
        option, _, value = word.lstrip("-").partition("=")
        given.setdefault({"inputs": "input", "outputs": "output"}.get(option, option), []).extend(value.split(","))
    known = {"type", "targets", "input", "output", "unbundle", "allow-missing-bundles", "bundle-align"}
    if unknown := sorted({*given} - known):
        raise IsaError(f"clang-offload-bundler: -{unknown[0]} is not supported", expected=", ".join(sorted(known)))
    targets, inputs, outputs = (given.get(name, []) for name in ("targets", "input", "output"))
    if "unbundle" not in given:
        if len(targets) != len(inputs) or len(outputs) != 1:
            raise IsaError("clang-offload-bundler: as many -input as -targets, and one -output")
        images = [_read(file) for file in inputs]
        write(Path(outputs[0]), bundle.bundled([*zip(targets, images, strict=True)]))
        return
    if len(targets) != len(outputs) or len(inputs) != 1:
        raise IsaError("clang-offload-bundler: as many -output as -targets, and one -input")
    data = _read(inputs[0])
    for target, file in zip(targets, outputs, strict=True):
        write(Path(file), b"" if target.startswith("host") else bundle.unbundle(data, target.rpartition("-")[2]))


def _read(file: str) -> bytes:
    try:
        return Path(file).read_bytes()
    except OSError as error:
        raise IsaError(f"cannot read {file}: {error.strerror}") from error


def main() -> None:
    """A program by its name and its words."""
    signal.signal(signal.SIGPIPE, signal.SIG_DFL)  # builds ask `rocminfo | grep -m 1`, which does not read it all
    try:
        card = cards.card(os.environ.get(CARD) or cards.DEFAULT)
        for line in answer(sys.argv[1], sys.argv[2:], card, os.environ.get("ROCM_PATH", "")):
            print(line)
    except IsaError as error:
        sys.exit(f"{error}")
