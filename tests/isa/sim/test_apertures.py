"""Whose space a flat access goes to: its register alone says so, and the offset leads neither in nor out; in native
code of both tiers, under the sanitizer and in the reference engine."""

import struct
from itertools import product

import programs
import pytest
from texts import texts

from isa.asm.parse import parse_instruction
from isa.errors import IsaError
from isa.sanitize import observe
from isa.semantics.execute import execute
from isa.semantics.float_mode import FloatMode
from isa.sim.ir.state import PRIVATE_APERTURE, SHARED_APERTURE
from isa.sim.run.card import Card
from isa.sim.run.faults import KernelFault, LdsFault, MemoryFault
from isa.sim.run.interpret import AddressedCode, Buffers, Wave

ACCESSES = {
    "load": "flat_load_b32 v6, v[4:5]",
    "store": "flat_store_b32 v[4:5], v6",
    "atomic": "flat_atomic_add_u32 v[4:5], v6",
    "wide": "flat_load_b128 v[8:11], v[4:5]",
}
(BODY,) = texts(__file__)
# offset -> (register from the aperture's base, what comes of it)
PLACES = {
    0: [(0, None), (0x1000, KernelFault), (1 << 32, MemoryFault)],
    # In the aperture, and the sum beyond it: not at its beginning again.
    8: [(8, None), (-8, MemoryFault), (-4, MemoryFault), (0xFFFFFFFC, KernelFault)],
    48: [(0, None), (-48, MemoryFault), (1 << 32, MemoryFault)],
}
APERTURES = {"lds": SHARED_APERTURE, "scratch": PRIVATE_APERTURE}


@pytest.mark.parametrize("kind", ACCESSES)
@pytest.mark.parametrize("baseline", [True, False])
def test_the_register_alone_says_whose_space_it_is(kind, baseline):
    card = Card(capacity=1 << 24, baseline=baseline)
    for offset, places in PLACES.items():
        text = BODY.replace("ACCESS", f"{ACCESSES[kind]} offset:{offset}")
        kernel = card.load(programs.assembled(text, lds=64, scratch=64)).kernels["test"]
        for (space, aperture), (register, fault) in product(APERTURES.items(), places):
            kernarg = struct.pack("<Q", (aperture << 32) + register)
            observed = kind != "wide" and not baseline
            seen = observe(card, kernel, (1, 1, 1), (32, 1, 1), kernarg, schedules=1).stopped if observed else None
            if fault is None:
                card.launch(kernel, (1, 1, 1), (32, 1, 1), kernarg)
                assert seen is None
                continue
            with pytest.raises(fault) as met:
                card.launch(kernel, (1, 1, 1), (32, 1, 1), kernarg)
            expected = LdsFault if fault is KernelFault and space == "lds" else fault
            assert type(met.value) is expected
            assert not observed or type(seen) is expected
            if register + offset == 0:
                assert f"is no address of {'LDS' if space == 'lds' else space}" in met.value.hint


@pytest.mark.parametrize(
    ("register", "offset", "good"),
    [(0, 4, True), (8, -4, True), (-4, 4, False), (0, -4, False), (0xFFFFFFFC, 8, False)],
)
@pytest.mark.parametrize("space", ["shared", "private"])
def test_the_reference_engine_knows_it_too(space, register, offset, good):
    wave = Wave(AddressedCode([], 0), Buffers(), bytearray(64), scratch_bytes=64, mode=FloatMode.of(0xF0, True, True))
    base = int(wave.special(f"src_{space}_base").a) + register
    wave.vgprs[4], wave.vgprs[5] = base & 0xFFFFFFFF, base >> 32
    inst = parse_instruction(f"flat_load_b32 v6, v[4:5] offset:{offset}")
    if good:
        execute(wave, inst)
    else:
        with pytest.raises(IsaError, match="is outside every allocation"):
            execute(wave, inst)
