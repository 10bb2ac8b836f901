"""`hipgemm doctor`: what this machine has of everything that the project needs."""

from __future__ import annotations

import dataclasses
import importlib.metadata
import sys
from pathlib import Path

import click

from hipgemm.cli import options, say
from hipgemm.cli.answers import answer
from isa import packages
from isa.toolchain import Fact

PACKAGES = {p.name: p.install for p in packages.PACKAGES.values() if p.extra == "sim"} | {"numpy": "pip install numpy"}
S_ENDPGM = (0xBFB00000).to_bytes(4, "little")


@click.command("doctor")
@click.option(
    "--hipcc", default=None, type=click.Path(path_type=Path), help="The hipcc to use, instead of the one in $ROCM_PATH."
)
@options.as_json
def command(hipcc: Path | None, as_json: bool) -> None:
    """Show tools, device and libraries found, with versions, and what is missing.

    Exit status 1 if a kernel cannot be built or run on this machine.
    """
    from isa import toolchain

    facts = [
        *toolchain.doctor(hipcc),
        _libraries(),
        *_packages(),
        _disassembler(),
        _native_code(),
        _device(),
        *_beside_a_card(),
    ]
    needed = {"build with", "disassembler", "native code", "device", *PACKAGES}
    broken = [f for f in facts if not f.found and f.name in needed]
    if as_json:
        answer("doctor", {"ok": not broken, "facts": [dataclasses.asdict(f) for f in facts]})
    else:
        hints = [f"  ({fact.hint})" if fact.hint and not fact.found else "" for fact in facts]
        say([(f"{'ok' if f.found else '--'}  {f.name}", f.detail + hint) for f, hint in zip(facts, hints, strict=True)])
    sys.exit(1 if broken else 0)


def _libraries() -> Fact:
    """Where sinf and its like come from, without a ROCm."""
    from hipgemm.kernels.compiling import device_libraries

    return Fact("device libraries", True, str(device_libraries.folder() or "this project's"))


def _packages() -> list[Fact]:
    facts = [Fact("python", True, sys.version.split()[0])]
    for name, hint in PACKAGES.items():
        try:
            facts.append(Fact(name, True, importlib.metadata.version(name)))
        except importlib.metadata.PackageNotFoundError:
            facts.append(Fact(name, False, "not installed", hint))
    return facts


def _disassembler() -> Fact:
    """Whether LLVM's disassembler reads an instruction of the target."""
    try:
        from isa.asm.disassembler import disassemble

        ((_, _, text),) = disassemble(S_ENDPGM)
        if text.strip() != "s_endpgm":
            raise ValueError(f"it reads s_endpgm as {text!r}")
        return Fact("disassembler", True, "LLVM's, through rocm-llvm-python")
    except Exception as error:
        return Fact("disassembler", False, f"{type(error).__name__}: {error}", PACKAGES["rocm-llvm-python"])


def _native_code() -> Fact:
    """Whether the simulator's code computes the known answers on this machine's processor."""
    try:
        from isa.sim.ir.jit import HostTarget
        from isa.sim.run import selfcheck

        target = HostTarget()
        detail = f"{target.name}, {target.strip} lanes a vector"
        wrong = selfcheck.verdict(target)
        if not wrong:
            return Fact("native code", True, f"{detail}: all {len(selfcheck.GROUPS)} groups of known answers correct")
        used = selfcheck.settled(target)
        return Fact("native code", True, f"{detail}: wrong in {', '.join(wrong)}; {used.name} is compiled for instead")
    except Exception as error:
        return Fact("native code", False, f"{type(error).__name__}: {error}", PACKAGES["rocm-llvm-python"])


def _beside_a_card() -> list[Fact]:
    """What measurements on a card use besides."""
    from hipgemm.measure.card.environment import driver, rocm
    from hipgemm.product.blas import rocblas_file

    library = rocblas_file()
    try:
        smi = importlib.metadata.version("amdsmi")
    except importlib.metadata.PackageNotFoundError:
        smi = ""
    return [
        Fact("driver", bool(found := driver()), found or "no amdgpu in /sys/module", "only needed for a card"),
        Fact("ROCm", bool(found := rocm()), found or "none in $ROCM_PATH or /opt/rocm", "only needed for a card"),
        Fact("rocBLAS", library is not None, str(library or "not found"), "only needed for kernel 0 on a card"),
        Fact("amdsmi", bool(smi), smi or "not installed", "only needed for a card's clock and power"),
    ]


def _device() -> Fact:
    """Which device would answer. Cards are only looked up, not opened; the simulated one is."""
    from hipgemm.measure.device import Device, cards_present
    from isa.errors import IsaError

    cards = cards_present()
    usable = [c.arch for c in cards if c.supported]
    if usable:
        return Fact("device", True, f"card: {', '.join(usable)}")
    other = f"no card ({', '.join(c.arch for c in cards)} is not supported)" if cards else "no card"
    try:
        return Fact("device", True, f"{other}; {Device.open('simulated').name}")
    except IsaError as error:
        return Fact("device", False, f"{other}; {error}")
