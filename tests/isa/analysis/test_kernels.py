"""The analyses on what a compiler makes of the ladder: from its text and from the code object alike."""

import pytest

from isa.analysis import cfg, defuse, exec_mask, inner, liveness, regset, resources, waits
from isa.analysis.cfg import Cfg
from isa.asm.parse import parse, parse_disassembly
from isa.asm.program import Kernel
from isa.errors import IsaError
from isa.object import code_object
from isa.registers import EXEC_LO, v


@pytest.fixture(scope="module")
def both(compiled_rung: tuple[str, bytes]) -> tuple[Kernel, Cfg, Cfg]:
    """(kernel, its control flow from the text, the same from the code object)."""
    text, image = compiled_rung
    kernel, loaded = parse(text, "k.s").kernel(), code_object.load(image)
    entry = loaded.kernel(kernel.name).descriptor.entry
    rows = parse_disassembly(code_object.disassemble(loaded.code(kernel.name), entry), "k.hsaco")
    return kernel, cfg.of_kernel(kernel), cfg.of_instructions(rows, kernel.name)


def test_text_and_code_object_give_the_same_facts(both: tuple[Kernel, Cfg, Cfg]) -> None:
    """The assembler pads `.p2align` with s_nop, so the positions are compared without those."""

    def facts(c: Cfg) -> list[object]:
        rows = [i for i, inst in enumerate(c.instructions) if inst.mnemonic != "s_nop"]
        flight, live, lanes = waits.analyse(c), liveness.analyse(c), exec_mask.analyse(c)
        return [
            [(b.successors, b.predecessors) for b in c.blocks],
            c.loops,
            [(c.uses[i], c.defs[i], live.before[i], lanes.full[i], set(flight.registers(i))) for i in rows],
        ]

    assert facts(both[1]) == facts(both[2])


def test_compiled_code_waits_for_what_it_reads(both: tuple[Kernel, Cfg, Cfg]) -> None:
    assert list(waits.analyse(both[1]).hazards()) == []


def test_registers_are_those_of_the_directives(both: tuple[Kernel, Cfg, Cfg]) -> None:
    kernel, c, _ = both
    found = resources.used(c)
    assert found.vgprs == kernel.directive("next_free_vgpr")
    assert found.sgprs == kernel.directive("next_free_sgpr")
    live = liveness.analyse(c)
    assert max((live.occupied(i) & regset.VGPRS).bit_count() for i in range(len(c))) <= found.vgprs


def test_def_use_agrees_with_liveness(both: tuple[Kernel, Cfg, Cfg]) -> None:
    """A value is read somewhere just where its register is live after the write."""
    c = both[1]
    chains, live = defuse.analyse(c), liveness.analyse(c)
    for i, inst in enumerate(c.instructions):
        for reg in inst.writes() - {EXEC_LO}:
            assert bool(chains.uses_of(i, reg)) == (reg in live.live_out(i)), (i, str(inst), str(reg))


def test_exec_is_full_in_the_tiled_kernels(both: tuple[Kernel, Cfg, Cfg]) -> None:
    kernel, c, _ = both
    full = exec_mask.analyse(c).full
    assert all(full) or kernel.name == "kernel1"


def test_main_loop_of_kernel5_has_the_published_shape(both: tuple[Kernel, Cfg, Cfg]) -> None:
    kernel, text, binary = both
    if kernel.name != "kernel5":
        pytest.skip("the published study gives the loop of kernel 5")
    for c in (text, binary):
        loop = inner.main_loop(c)
        assert loop is not None
        body = inner.body(c, loop)
        kinds = [inner.fmas(inst) for inst in body]
        assert (kinds.count(2), kinds.count(1)) == (62, 4)
        assert [inst.mnemonic for inst in body if inst.desc.access is not None] == ["ds_load_b128"] * 6
        # 128 accumulators come around the loop, each from its own FMA.
        chains = defuse.analyse(c)
        inside = set(c.positions(loop))
        around = [
            reg
            for i in inside
            for reg in (v(n) for n in range(256))
            if inner.fmas(c.instructions[i]) and reg in c.instructions[i].writes()
            if i in chains.uses_of(i, reg)
        ]
        assert len(around) == len(set(around)) == 128


def test_occupancy_as_the_study_states_it() -> None:
    """216 VGPRs let 7 waves a SIMD in; workgroups of 4 waves in CU mode leave 6."""
    assert resources.waves_by_vgprs(216) == 7
    got = resources.occupancy(216, 8320, 128, cu_mode=True)
    assert (got.workgroups, got.waves, got.binding) == (3, 6.0, ("VGPRs",))
    assert got.advice == ("at most 192 VGPRs (now 216) would let 4 workgroups in",)


@pytest.mark.parametrize(
    ("vgprs", "lds", "threads", "advice"),
    [
        (216, 20480, 128, ("at most 192 VGPRs (now 216) and at most 16384 bytes of LDS (now 20480)",)),
        (216, 17408, 128, ("at most 192 VGPRs (now 216) and at most 16384 bytes of LDS (now 17408)",)),
        (96, 20480, 128, ("at most 16384 bytes of LDS (now 20480)",)),
        (24, 1024, 1024, ()),  # two workgroups of 16 waves a SIMD: every wave slot of the CU is taken
    ],
)
def test_the_next_step_comes_down_on_each_limit(vgprs: int, lds: int, threads: int, advice: tuple[str, ...]) -> None:
    got = resources.occupancy(vgprs, lds, threads, cu_mode=True)
    assert got.advice == tuple(f"{text} would let {got.workgroups + 1} workgroups in" for text in advice)
    if "and" in str(advice):  # one of the two alone lets nobody in
        assert resources.occupancy(192, lds, threads, cu_mode=True).workgroups == got.workgroups
        assert resources.occupancy(192, 16384, threads, cu_mode=True).workgroups == got.workgroups + 1


@pytest.mark.parametrize(
    ("vgprs", "lds", "threads", "cu_mode", "expected"),
    [
        (192, 0, 128, True, (8.0, 4, ("VGPRs",))),
        (24, 0, 32, True, (16.0, 32, ("wave slots",))),
        (24, 0, 64, True, (16.0, 16, ("wave slots", "barriers"))),
        (64, 33 * 1024, 256, True, (4.0, 1, ("LDS",))),
        (64, 33 * 1024, 256, False, (6.0, 3, ("LDS",))),
    ],
)
def test_occupancy(vgprs: int, lds: int, threads: int, cu_mode: bool, expected: tuple[object, ...]) -> None:
    got = resources.occupancy(vgprs, lds, threads, cu_mode=cu_mode)
    assert (got.waves, got.workgroups, got.binding) == expected


def test_the_chart_is_the_occupancy_of_each_size() -> None:
    """By hand: granules of 24 of 1536 VGPRs; 64 KB of LDS; 256 VGPRs let 5 waves a SIMD in, 10 a CU."""
    found = resources.chart(96, 16384, 256, cu_mode=True)
    assert found["VGPRs"] == [(8, 96, 16.0), (104, 120, 12.0), (128, 192, 8.0), (200, 256, 4.0)]
    assert found["LDS"] == [(0, 16384, 16.0), (17408, 21504, 12.0), (22528, 32768, 8.0), (33792, 65536, 4.0)]
    assert found["threads"][:2] == [(32, 32, 2.0), (64, 64, 4.0)]
    assert resources.chart(256, 0, 32, cu_mode=True)["threads"][-1] == (352, 1024, 0.0)


def test_a_workgroup_that_cannot_run_is_refused() -> None:
    """256 VGPRs let 5 waves a SIMD in, 20 a WGP; 1024 threads are 32 waves."""
    with pytest.raises(IsaError, match="no workgroup of 1024 threads with 256 VGPRs fits 4 SIMDs"):
        resources.occupancy(256, 0, 1024, cu_mode=False)
