"""Targets: which instructions each has, what is refused by its name, and that names and numbers are LLVM's."""

from __future__ import annotations

import dataclasses
import re
import struct
from pathlib import Path

import pytest

from isa import toolchain
from isa.analysis import cfg, waits
from isa.asm.parse import parse, parse_instruction
from isa.errors import IsaError
from isa.instructions import table
from isa.lint.rules import hazards as hazard_rules
from isa.object import code_object
from isa.semantics import scheduling
from isa.targets import FAMILIES, GFX1100, TARGETS, family, named_in, others, target
from isa.toolchain import ToolError

needs_compiler = pytest.mark.skipif(not list(toolchain.available()), reason="no compiler for gfx11 here")
# instruction | a target that has it
ELSEWHERE = """
v_mfma_f32_32x32x1f32 a[0:31], v0, v1, a[0:31] | gfx908
v_accvgpr_read_b32 v0, a1                      | gfx908
v_pk_fma_f32 v[0:1], v[2:3], v[4:5], v[6:7]    | gfx90a
v_lshl_add_u64 v[0:1], v[2:3], 2, v[4:5]       | gfx942
v_mac_f32_e32 v0, v1, v2                       | gfx906
v_mad_f32 v0, v1, v2, v3                       | gfx906
s_memtime s[0:1]                               | gfx906
v_addc_co_u32_e32 v0, vcc, v1, v2, vcc         | gfx906
""".strip().splitlines()


def rows() -> list[tuple[str, str]]:
    return [(text.strip(), name.strip()) for text, name in (row.split("|") for row in ELSEWHERE)]


def assembles(text: str, arch: str, folder: Path) -> bool:
    """Whether LLVM's assembler takes an instruction for any target."""
    source = folder / "one.s"
    source.write_text(text + "\n")
    tools = toolchain.find()
    command = [*tools.compiler, "-target", "amdgcn-amd-amdhsa", f"-mcpu={arch}", "-c", "-x", "assembler"]
    try:
        toolchain._run([*command, str(source), "-o", str(folder / "one.o")], "assemble")
    except ToolError:
        return False
    return True


@pytest.mark.parametrize(("text", "name"), rows(), ids=lambda value: value.split()[0])
def test_an_instruction_of_another_target_is_refused_by_its_name(text: str, name: str) -> None:
    mnemonic = re.sub(r"_e32$", "", text.split()[0])
    with pytest.raises(IsaError, match=f"{mnemonic} is an instruction of gfx") as error:
        _ = parse_instruction(text).desc
    said = str(error.value)
    assert others.generation(name) in said or name in said
    assert "gfx1100, gfx1101" in said
    assert "docs/targets.md" in said
    assert "isa/instructions" not in said


@needs_compiler
@pytest.mark.parametrize(("text", "name"), rows(), ids=lambda value: value.split()[0])
def test_llvm_agrees_who_has_it(text: str, name: str, tmp_path: Path) -> None:
    assert assembles(text, name, tmp_path)
    assert not any(assembles(text, arch, tmp_path) for arch in ("gfx1100", "gfx1151"))


@pytest.mark.parametrize(
    ("name", "generation"), [("gfx906", "Vega"), ("gfx90a", "CDNA"), ("gfx1030", "RDNA2"), ("gfx1250", "after RDNA4")]
)
def test_text_of_another_target_is_refused_by_its_name(name: str, generation: str) -> None:
    text = f'\t.text\n\t.amdgcn_target "amdgcn-amd-amdhsa--{name}:xnack-"\n\tv_mov_b32_e32 v0, v1\n'
    with pytest.raises(IsaError, match=rf"assembly for {name} \({generation}\), which is not supported") as error:
        parse(text, "other.s")
    said = str(error.value)
    assert "other.s:2:2" in said
    assert "gfx1103, gfx1150" in said
    assert "help: build it for one of these" in said


def test_text_of_each_supported_target_reads_and_says_so() -> None:
    for name in TARGETS:
        program = parse(f'\t.amdgcn_target "amdgcn-amd-amdhsa--{name}"\n\tv_mov_b32_e32 v0, v1\n')
        inst = program.lines[1].instruction
        assert inst is not None
        assert inst.target is TARGETS[name]
        assert inst.desc.name == "v_mov_b32"
    assert parse_instruction("s_nop 0").target is None
    assert named_in('"amdgcn-amd-amdhsa-unknown-gfx11-generic"') == "gfx11-generic"


def test_an_instruction_is_of_the_targets_that_have_it() -> None:
    text = '\t.amdgcn_target "amdgcn-amd-amdhsa--{}"\n\ts_cmp_lt_f32 s0, s1\n'
    there = parse(text.format("gfx1150")).lines[1].instruction
    assert there is not None
    assert there.desc.since == "gfx1150"
    missing = parse(text.format("gfx1103")).lines[1].instruction
    assert missing is not None
    with pytest.raises(IsaError, match="s_cmp_lt_f32 is an instruction of gfx1150 and later") as error:
        _ = missing.desc
    assert "expected: one of gfx1103" in str(error.value)
    assert parse_instruction("s_cmp_lt_f32 s0, s1").desc.exists_on(target("gfx1151"))
    old = dataclasses.replace(table()["s_nop"], until="gfx1150")
    assert old.exists_on(target("gfx1103"))
    assert not old.exists_on(target("gfx1150"))


@needs_compiler
@pytest.mark.parametrize("name", ["gfx906", "gfx90a", "gfx1030", "gfx1250"])
def test_a_code_object_of_another_target_is_refused_by_its_name(name: str, tmp_path: Path) -> None:
    assert assembles("s_nop 0", name, tmp_path)
    made = bytearray((tmp_path / "one.o").read_bytes())
    struct.pack_into("<H", made, 16, 3)  # ET_DYN
    with pytest.raises(code_object.OtherTarget, match=f"a code object for {name}") as error:
        code_object.load(bytes(made))
    assert "gfx1100" in str(error.value)


@needs_compiler
def test_machine_numbers_are_llvms(tmp_path: Path) -> None:
    """Of every target that this LLVM knows."""
    known = {**others.MACHINES, **{t.mach: t.name for t in TARGETS.values()}}
    assert len(known) == len(others.MACHINES) + len(TARGETS)
    seen = 0
    for mach, name in known.items():
        if assembles("s_nop 0", name, tmp_path):
            (flags,) = struct.unpack_from("<I", (tmp_path / "one.o").read_bytes(), 48)
            assert flags & 0xFF == mach, name
            seen += 1
    assert seen > 40


def test_a_family_speaks_of_classes_and_counters_that_there_are() -> None:
    for each in FAMILIES:
        assert each.raised.keys() | each.returning.keys() <= scheduling.CLASSES.keys()
        raised = {c for names in (*each.raised.values(), *each.returning.values()) for c in names}
        assert raised <= each.counters.keys()
        packed = {c for places in each.packed_waits.values() for c in places}
        assert packed | set(each.single_waits.values()) <= each.counters.keys()
        assert {name for name, _ in each.coherent | each.returns | each.misses.keys()} <= set(each.cache_bits)
        of_family = [t for t in TARGETS.values() if t.family is each]
        memory = {e.sched for e in table().values() if e.access is not None and any(map(e.exists_on, of_family))}
        assert memory <= each.raised.keys()


def test_hazards_are_those_that_are_looked_for() -> None:
    looked_for = {kind.name for kind in hazard_rules._KINDS} | {"dealloc", "vopd interlock", "sgpr"}
    assert {name for t in TARGETS.values() for name in t.hazards} == looked_for


def test_a_target_without_a_hazard_is_not_told_of_it() -> None:
    """gfx115x waits for a transcendental result."""
    trans = (
        '\t.amdgcn_target "amdgcn-amd-amdhsa--{}"\nf:\n\tv_exp_f32_e32 v0, v0\n\tv_add_f32_e32 v1, v0, v0\n\ts_endpgm\n'
    )
    for name, expected in (("gfx1100", 1), ("gfx1103", 1), ("gfx1150", 0)):
        flow = cfg.of_text(parse(trans.format(name)))
        assert len(list(hazard_rules.faults(waits.analyse(flow), TARGETS[name], wave64=False))) == expected, name
    none = dataclasses.replace(GFX1100, hazards=frozenset())
    assert (
        list(hazard_rules.faults(waits.analyse(cfg.of_text(parse(trans.format("gfx1100")))), none, wave64=True)) == []
    )


def test_versions_are_ordered_as_the_guides_are() -> None:
    names = "gfx906 gfx90a gfx1030 gfx1100 gfx1103 gfx1150 gfx1200 gfx1250".split()
    assert sorted(names, key=family.version) == names
    with pytest.raises(ValueError, match="is not a target"):
        family.version("gfx11-generics")
    assert family.version("gfx11-generic") == (11, 0, 0)
    assert GFX1100.version == (11, 0, 0)
