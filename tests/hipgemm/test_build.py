"""The stages from source to code object, and what the compilers of this machine make of kernels 1 to 5."""

import json
import re
import shutil
from pathlib import Path

import pytest

from hipgemm.kernels import ladder as kernels
from hipgemm.kernels import object as kernel_object
from hipgemm.kernels.build import Build, build
from hipgemm.kernels.compiling import headers as hip_headers
from hipgemm.kernels.stages import Shape, Stage, shape
from isa import toolchain
from isa.analysis import cfg, inner
from isa.asm.parse import parse
from isa.errors import IsaError

TOOLCHAINS = list(toolchain.available())
COMPILED = ["kernel1", "kernel2", "kernel3", "kernel4", "kernel5"]


@pytest.fixture(autouse=True)
def own_cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))


@pytest.fixture(scope="module", params=TOOLCHAINS, ids=lambda t: t.compiler[0].rsplit("/", 1)[-1])
def built(request: pytest.FixtureRequest) -> dict[str, Build]:
    return {name: build(name, tools=request.param) for name in COMPILED}


def test_each_builds_without_scratch(built: dict[str, Build]) -> None:
    for name, made in built.items():
        first = made.stages[0].shape
        assert first is not None
        assert (first.scratch, first.spills) == (0, 0), name
        assert not made.warnings, name


def test_the_code_object_says_what_the_ladder_says(built: dict[str, Build]) -> None:
    for name, made in built.items():
        rung, found = kernels.LADDER[name], made.code_object()
        kernel = found.kernel(name)
        assert found.arch == "gfx1100"
        assert kernel.descriptor.wgp_mode is not rung.cu_mode
        assert kernel.descriptor.wave32
        assert kernel.max_workgroup == rung.block[0] * rung.block[1]
        visible = [(a.offset, a.size) for a in kernel.args if not a.hidden]
        assert visible == [(0, 8), (8, 8), (16, 8), (24, 4), (28, 4), (32, 4), (36, 4), (40, 4)]


def test_kernel5_has_the_inner_loop_of_the_published_study(built: dict[str, Build]) -> None:
    """One step of k a trip: 2 loads of A's column, 4 of B's row, 128 FMAs of which 4 stay single; no scratch, and few
    enough VGPRs for 6 waves a SIMD (240 at most)."""
    made = built["kernel5"]
    found = made.stages[0].shape
    assert found is not None
    assert (found.dual, found.single) == (62, 4)
    assert 170 <= found.vgprs <= 240
    assert found.lds == (128 + 4 + 128) * 8 * 4
    control = cfg.of_kernel(parse(made.assembly.read_text()).kernel("kernel5"))
    main = inner.main_loop(control)
    assert main is not None
    loop = [inst.mnemonic for inst in inner.body(control, main)]
    assert loop.count("ds_load_b128") == 6
    assert not [m for m in loop if m.startswith(("global_", "scratch_", "flat_", "buffer_", "s_barrier"))]


def test_kernel5_loads_the_next_tile_before_the_inner_loop_and_stores_it_after_a_barrier(
    built: dict[str, Build],
) -> None:
    events = re.findall(
        r"global_load_b32|s_barrier|Inner Loop Header|s_cbranch|ds_load_b128|ds_store\w+",
        built["kernel5"].assembly.read_text(),
    )
    names = {"global_load_b32": "g", "s_barrier": "|", "Inner Loop Header": "L", "s_cbranch": "?", "ds_load_b128": "l"}
    text = "".join(names.get(e, "s") for e in events)
    # First tile: 16 loads, stores, barrier. Then each tile: 16 loads, the inner loop, barrier, stores, barrier, branch.
    assert re.match(r"g{16}s+\|g{16}Ll{6}\?\|s+\|\?", re.sub(r"^([gs]+)\|", lambda m: _sorted(m[1]) + "|", text)), text


def _sorted(text: str) -> str:
    """The first loads and stores in one order: a compiler may store B before it loads A."""
    return "".join(sorted(text))


def test_kernel4_prefetches_before_its_inner_loop(built: dict[str, Build]) -> None:
    text = built["kernel4"].assembly.read_text()
    outer = text[text.index("Loop Header: Depth=1") :]
    before, after = outer[: outer.index("Inner Loop Header")], outer[outer.index("Inner Loop Header") :]
    assert before.count("global_load_b32") == 8
    assert "global_load_b32" not in after


def test_a_stage_folder(tmp_path: Path) -> None:
    told: list[tuple[str, Shape | None]] = []
    made = build("kernel5", out=tmp_path / "out", on_stage=lambda stage, before: told.append((stage.name, before)))
    assert made.folder == tmp_path / "out" / "kernel5"
    names = {p.name for p in made.folder.iterdir()}
    assert {"kernel5.0-compiled.s", "kernel5.o", "kernel5.hsaco", "build.json"} <= names
    assert "kernel5.1-vopd-interlock.s" not in names  # a pass that changes nothing leaves no file
    assert any(name.endswith(".bc") for name in names)
    assert [name for name, _ in told] == ["compile", "vopd-interlock", "assemble", "link"]
    assert [before is None for _, before in told] == [True, False, False, False]
    assert json.loads((made.folder / "build.json").read_text())["arch"] == "gfx1100"


def test_the_second_build_is_found(tmp_path: Path) -> None:
    first, second = build("kernel1"), build("kernel1", out=tmp_path / "out")
    assert (first.cached, second.cached) == (False, True)
    assert first.stages == second.stages
    assert first.hsaco.read_bytes() == second.hsaco.read_bytes()


@pytest.mark.parametrize("change", [{"arch": "gfx1101"}, {"flags": ("-O1",)}, {"tools": TOOLCHAINS[-1]}])
def test_what_goes_in_decides_what_is_found(change: dict) -> None:
    build("kernel1", tools=TOOLCHAINS[0])
    differs = not (len(TOOLCHAINS) == 1 and "tools" in change)
    assert build("kernel1", **{"tools": TOOLCHAINS[0], **change}).cached is not differs


def test_a_changed_source_or_header_is_built_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    rung, include = kernels.rung("kernel1"), tmp_path / "include"
    shutil.copytree(hip_headers.INCLUDE, include)
    header = include / "hip" / "hip_runtime.h"
    monkeypatch.setattr(hip_headers, "INCLUDE", include)
    assert not build(rung).cached
    assert build(rung).cached
    header.write_text(header.read_text() + "// changed\n")
    assert not build(rung).cached


def test_what_a_source_includes_and_its_flags_go_into_the_key(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(kernel_object, "SOURCES", tmp_path)
    inner, outer = tmp_path / "inner.hip", tmp_path / "lab" / "outer.hip"
    outer.parent.mkdir()
    inner.write_text('#include <hip/hip_runtime.h>\nextern "C" __global__ void outer(float *p) { *p = VALUE; }\n')
    outer.write_text('# include "../inner.hip"\n')
    source = kernel_object.Kernel("outer", "included", "lab/outer.hip", "outer", False)
    assert not build(source, flags=["-O3", "-DVALUE=1"]).cached
    assert build(source, flags=["-O3", "-DVALUE=1"]).cached
    assert not build(source, flags=["-O3", "-DVALUE=2"]).cached
    inner.write_text(inner.read_text() + "// changed\n")
    assert not build(source, flags=["-O3", "-DVALUE=1"]).cached


def test_a_file_is_compiled_once_for_all_its_kernels(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Whatever the folder is called in which it lies; the stages are those of a build that compiles."""
    times: list[Path] = []
    compile_kernel = hip_headers.compile_kernel
    monkeypatch.setattr(
        hip_headers, "compile_kernel",
        lambda tools, source, *rest, **how: times.append(source) or compile_kernel(tools, source, *rest, **how),
    )  # fmt: skip
    text = "#include <hip/hip_runtime.h>\n#warning said\n" + "".join(
        f'extern "C" __global__ void k{i}(float* y) {{ y[threadIdx.x] = {i}; }}\n' for i in range(2)
    )

    def made(name: str, folder: str, text: str = text, flags: tuple[str, ...] = ("-O3",)) -> Build:
        source = tmp_path / folder / "two.hip"
        source.parent.mkdir(exist_ok=True)
        source.write_text(text)
        return build(kernel_object.Kernel(name, "two", str(source), "", False), flags=flags)

    first, second, third = made("k0", "here"), made("k1", "here"), made("k1", "there")
    assert (first.cached, second.cached, third.cached) == (False, False, True)
    assert len(times) == 1
    assert {p.name for p in first.folder.iterdir()} == {p.name for p in second.folder.iterdir()}
    assert (first.folder / "two.0-compiled.s").read_text() == (second.folder / "two.0-compiled.s").read_text()
    assert first.warnings == second.warnings
    assert "said" in second.warnings[0]
    for changes in ({"text": text + "//"}, {"flags": ("-O1",)}, {"flags": ("-O3", "-gline-tables-only")}):
        made("k1", "here", **changes)
        assert times.pop()
    assert len(times) == 1
    made("k0", "here", flags=("-O3", "-gline-tables-only"))
    assert len(times) == 1
    made("k0", "there", flags=("-O3", "-gline-tables-only"))
    assert len(times) == 2, "lines of the source name the file"


def test_a_damaged_entry_is_built_again() -> None:
    made = build("kernel1")
    good = made.hsaco.read_bytes()
    made.hsaco.write_bytes(good[:100])
    again = build("kernel1")
    assert not again.cached
    assert again.hsaco.read_bytes() == good


def test_a_build_that_spills_says_so(tmp_path: Path) -> None:
    cap = tmp_path / "cap.h"
    cap.write_text("""
        #include <hip/hip_runtime.h>
        #undef __launch_bounds__
        #define __launch_bounds__(n) __attribute__((amdgpu_flat_work_group_size(1, n), amdgpu_num_vgpr(128)))
    """)
    made = build("kernel5", flags=("-O3", "-include", str(cap)))
    found = made.stages[0].shape
    assert found is not None
    assert found.vgprs <= 128
    assert found.spills > 0
    assert f"{found.scratch} bytes of scratch memory a thread and spilled {found.spills} VGPRs" in made.warnings[0]


def test_a_compiler_error_reaches_the_user_and_leaves_the_temps(tmp_path: Path) -> None:
    source = tmp_path / "broken.hip"
    source.write_text("#error this source is broken\n")
    with pytest.raises(toolchain.ToolError, match="error: this source is broken"):
        build(kernel_object.Kernel("broken", "broken", str(source), "", False), out=tmp_path / "out")
    assert (tmp_path / "out" / "broken").is_dir()
    assert not list((tmp_path / "cache" / "hipgemm" / "build").iterdir())


def test_what_cannot_be_built_is_refused() -> None:
    with pytest.raises(toolchain.UnsupportedArch):
        build("kernel1", arch="gfx1030")
    with pytest.raises(kernels.UnknownKernel):
        build("kernel0")


def test_an_output_folder_that_cannot_be_written(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(IsaError, match="cannot write"):
        build("kernel1", out=tmp_path / "file")


def test_the_shape_is_that_of_the_inner_loop_with_the_most_fmas() -> None:
    text = """
k:
.LBB0_1:
    v_fma_f32 v0, v1, v2, v0
    s_cbranch_scc1 .LBB0_1
.LBB0_2:
    v_mov_b32_e32 v9, 0
.LBB0_3:
    v_dual_fmac_f32 v0, v1, v2 :: v_dual_fmac_f32 v3, v4, v5
    v_dual_mul_f32 v0, v1, v2 :: v_dual_fmac_f32 v3, v4, v5
    v_fmac_f32_e32 v6, v7, v8
    s_cbranch_scc1 .LBB0_3
    s_cbranch_vccnz .LBB0_2
    s_endpgm
.Lfunc_end0:
    .amdhsa_kernel k
        .amdhsa_group_segment_fixed_size 8
        .amdhsa_private_segment_fixed_size 4
        .amdhsa_next_free_vgpr 10
    .end_amdhsa_kernel
    .amdgpu_metadata
---
amdhsa.kernels:
  - .group_segment_fixed_size: 8
    .name: k
    .private_segment_fixed_size: 4
    .sgpr_count: 12
    .symbol: k.kd
    .vgpr_count: 10
    .vgpr_spill_count: 1
...
    .end_amdgpu_metadata
"""
    found = shape(parse(text), "k")
    assert found == Shape(vgprs=10, sgprs=12, lds=8, scratch=4, spills=1, loop=4, dual=1, single=2)
    stage = Stage("bank-balance", "k.s", 0.5, Shape(16, 12, 8, 0, 0, 4, 2, 0))
    assert stage.changes(found) == (
        "VGPRs 10 -> 16, B scratch 4 -> 0, VGPRs spilled 1 -> 0, dual FMAs 1 -> 2, single FMAs 2 -> 0"
    )
    assert Stage.from_json(json.loads(json.dumps(stage.as_json()))) == stage


def test_the_script(tmp_path: Path) -> None:
    from click.testing import CliRunner

    from tools import build_isa

    def run(*arguments: str) -> tuple[int, str]:
        result = CliRunner().invoke(build_isa.main, [*arguments, "-o", str(tmp_path / "out")])
        return result.exit_code, result.output

    code, text = run("kernel1", "kernel2")
    assert code == 0, text
    assert re.search(r"compile +\d+ ms  \d+ VGPRs, \d+ SGPRs", text)
    assert {p.name for p in (tmp_path / "out").iterdir()} == {"kernel1", "kernel2"}
    assert run()[0] == 2
    code, text = run("kernel99")
    assert code == 2
    assert "kernel99: No such file" in text
    code, text = run("kernel1", "--arch", "gfx90a")
    assert code == 2
    assert "no target 'gfx90a'" in text
    code, text = run("kernel1", "--print-after", "unroll")
    assert code == 2
    assert "expected: all, vopd-interlock" in text
