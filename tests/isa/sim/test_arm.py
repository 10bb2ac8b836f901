"""64-bit Arm: what the translator writes compiles for it. Object files only, since no Arm machine runs these tests."""

import struct

import programs
import pytest
import test_compiled
import test_versions

from isa.object import code_object
from isa.semantics.float_mode import FloatMode
from isa.sim.ir.runtime import runtime_text
from isa.sim.ir.translations import Facts
from isa.sim.run.compiled import CompiledKernel
from isa.sim.translate.translate import Translator

TRIPLE, EM_AARCH64 = "aarch64-unknown-linux-gnu", 183
STRIP, NATIVE_HALF = 4, True
"""What `isa.sim.ir.jit.HostTarget` says of an Arm host: vectors of 128 bits, f16 converted in hardware."""


@pytest.fixture(scope="module")
def machine():
    import llvmlite.binding as llvm

    llvm.initialize_all_targets()
    llvm.initialize_all_asmprinters()
    try:
        target = llvm.Target.from_triple(TRIPLE)
    except RuntimeError as error:
        pytest.skip(f"this llvmlite has no AArch64: {error}")
    return target.create_target_machine(cpu="generic", features="", opt=1)


def emitted(machine, image, name):
    """Object files of a kernel's two versions."""
    import llvmlite.binding as llvm

    loaded = code_object.load(image)
    kernel = CompiledKernel(loaded.kernels[name], loaded, 0)
    descriptor = kernel.facts.descriptor
    mode = FloatMode.of(descriptor.float_mode, descriptor.dx10_clamp, descriptor.ieee)
    facts = Facts(max(descriptor.vgprs, kernel.facts.vgprs), mode, STRIP, native_half=NATIVE_HALF)
    entries = frozenset(b.address for b in kernel.blocks)
    for fast in (True, False):
        translator = Translator(kernel.blocks, facts, fast=fast, entries=entries, drops=True)
        text = runtime_text(facts.strip, translator.zeroed) + translator.text()
        assert "x86" not in text
        module = llvm.parse_assembly(text)
        module.triple, module.data_layout = TRIPLE, str(machine.target_data)
        module.verify()
        yield machine.emit_object(module)


def check(objects):
    for data in objects:
        assert data[:4] == b"\x7fELF"
        assert struct.unpack_from("<H", data, 18) == (EM_AARCH64,)


@pytest.mark.parametrize("seed", range(3))
def test_programs_with_divergent_lanes(machine, seed):
    check(emitted(machine, programs.assembled(test_versions.random_program(seed), lds=2048, vgprs=48), "test"))


@pytest.mark.parametrize("name", test_compiled.KERNELS)
def test_compiled_hip(machine, name):
    check(emitted(machine, programs.compiled(test_compiled.SOURCE, ("-O3",), True, test_compiled.INCLUDE), name))
