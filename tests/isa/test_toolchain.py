"""The three kinds of toolchain: each that this machine has takes HIP to a code object and reports what it refuses."""

import os
from pathlib import Path

import pytest

from isa import toolchain
from isa.errors import IsaError

STORE_ONE = 'extern "C" __attribute__((global)) void store_one(int *out) { *out = 1; }\n'
TOOLCHAINS = list(toolchain.available())


@pytest.fixture(params=TOOLCHAINS, ids=lambda t: t.compiler[0].rsplit("/", 1)[-1])
def tools(request: pytest.FixtureRequest) -> toolchain.Toolchain:
    return request.param


def test_there_is_one() -> None:
    assert toolchain.find() == TOOLCHAINS[0]


def test_from_source_to_code_object(tools: toolchain.Toolchain, tmp_path: Path) -> None:
    source, s, o, hsaco = (tmp_path / name for name in ("one.hip", "one.s", "one.o", "one.hsaco"))
    source.write_text(STORE_ONE)
    tools.compile(source, s, arch="gfx1100", cu_mode=True)
    tools.assemble(s, o, arch="gfx1100")
    tools.link([o], hsaco)
    assert "global_store_b32" in s.read_text()
    assert hsaco.read_bytes()[:4] == b"\x7fELF"
    # The temps of the compiler stay beside the assembly.
    assert [p for p in tmp_path.iterdir() if p.suffix == ".bc"]


def test_halves_of_registers_are_assembled_for_rdna4(tools: toolchain.Toolchain, tmp_path: Path) -> None:
    if toolchain._major(tools.version) < toolchain.OLDEST_CLANG:
        pytest.skip("a compiler that does not know RDNA4")
    (tmp_path / "one.s").write_text("v_add_f16 v1.l, v2.h, v3.l\n")
    tools.assemble(tmp_path / "one.s", tmp_path / "one.o", arch="gfx1201")
    assert (tmp_path / "one.o").is_file()


@pytest.mark.parametrize(("cu_mode", "wgp"), [(True, 0), (False, 1)])
def test_the_mode_is_in_the_descriptor(tools: toolchain.Toolchain, tmp_path: Path, cu_mode: bool, wgp: int) -> None:
    (tmp_path / "one.hip").write_text(STORE_ONE)
    tools.compile(tmp_path / "one.hip", tmp_path / "one.s", arch="gfx1100", cu_mode=cu_mode)
    assert f".amdhsa_workgroup_processor_mode {wgp}" in (tmp_path / "one.s").read_text()


def test_the_same_source_elsewhere_gives_the_same_assembly(tools: toolchain.Toolchain, tmp_path: Path) -> None:
    texts = []
    for name in ("here", "there"):
        folder = tmp_path / name
        folder.mkdir()
        (folder / "one.hip").write_text(STORE_ONE)
        tools.compile(folder / "one.hip", folder / "one.s", arch="gfx1100", cu_mode=True)
        texts.append((folder / "one.s").read_text())
    assert texts[0] == texts[1]


def test_the_compiler_is_quoted(tools: toolchain.Toolchain, tmp_path: Path) -> None:
    (tmp_path / "bad.hip").write_text('extern "C" __attribute__((global)) void k() { undeclared(); }\n')
    with pytest.raises(toolchain.ToolError, match=r"bad\.hip:1:47: error: use of undeclared identifier 'undeclared'"):
        tools.compile(tmp_path / "bad.hip", tmp_path / "bad.s", arch="gfx1100", cu_mode=True)


def test_the_assembler_is_quoted(tools: toolchain.Toolchain, tmp_path: Path) -> None:
    (tmp_path / "bad.s").write_text("\tv_frobnicate v0, v1\n")
    with pytest.raises(toolchain.ToolError, match=r"bad\.s:1:2: error: invalid instruction"):
        tools.assemble(tmp_path / "bad.s", tmp_path / "bad.o", arch="gfx1100")


def test_an_older_assembler_takes_llvm_23s_hint_of_code_to_fetch(tools: toolchain.Toolchain, tmp_path: Path) -> None:
    (tmp_path / "k.s").write_text(
        "k:\n\ts_endpgm\n.Lend:\n\t.amdhsa_kernel k\n\t\t.amdhsa_next_free_vgpr 1\n\t\t.amdhsa_next_free_sgpr 1\n"
        "\t\t.amdhsa_inst_pref_size ((instprefsize(.Lend-k)<<4)&1008)>>4\n\t.end_amdhsa_kernel\n"
    )
    tools.assemble(tmp_path / "k.s", tmp_path / "k.o", arch="gfx1100")


def test_text_is_called_by_the_name_that_is_given(tools: toolchain.Toolchain) -> None:
    with pytest.raises(toolchain.ToolError) as caught:
        tools.code_object("\tv_frobnicate v0, v1\n", name="here/bad.s")
    assert "could not assemble here/bad.s" in caught.value.message
    assert "\nhere/bad.s:1:2: error: invalid instruction" in caught.value.message


def test_the_linker_is_quoted(tools: toolchain.Toolchain, tmp_path: Path) -> None:
    (tmp_path / "bad.o").write_bytes(b"no object")
    with pytest.raises(toolchain.ToolError, match=r"bad\.o"):
        tools.link([tmp_path / "bad.o"], tmp_path / "bad.hsaco")


def test_another_arch_is_refused_by_name() -> None:
    with pytest.raises(toolchain.UnsupportedArch, match="gfx90a"):
        toolchain.check_arch("gfx90a")


def test_a_named_hipcc_is_that_one_or_an_error(tmp_path: Path) -> None:
    with pytest.raises(toolchain.ToolchainMissing, match="not a program that can be run"):
        toolchain.find(tmp_path / "hipcc")


def test_doctor_says_what_it_found_and_never_fails(tmp_path: Path) -> None:
    facts = {fact.name: fact for fact in toolchain.doctor(tmp_path / "hipcc")}
    assert not facts["hipcc"].found
    assert "hipcc" in facts["hipcc"].detail
    assert {"clang", "ziglang", "build with"} <= facts.keys()


def test_a_c_library_for_this_machine(tmp_path: Path) -> None:
    import ctypes

    (tmp_path / "lib.c").write_text("int forty_two(void) { return 42; }\n")
    toolchain.build_host_library(tmp_path / "lib.c", tmp_path / "lib.so")
    assert ctypes.CDLL(str(tmp_path / "lib.so")).forty_two() == 42
    (tmp_path / "lib.c").write_text("int forty_two(void) { return fourty_two; }\n")
    with pytest.raises(IsaError, match="fourty_two"):
        toolchain.build_host_library(tmp_path / "lib.c", tmp_path / "lib.so")


@pytest.mark.skipif(
    not Path("/proc/self/maps").exists(), reason="C's library is found in Linux's list of what is loaded"
)
def test_a_c_library_by_ziglang_needs_no_runtime_to_be_compiled(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    import ctypes

    if toolchain._zig() is None:
        pytest.skip("ziglang is not installed")
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.setenv("ZIG_GLOBAL_CACHE_DIR", str(tmp_path / "cache"))
    (tmp_path / "lib.c").write_text(
        "#include <math.h>\n#include <stdio.h>\n"
        'int root(char *to, double x) { return sprintf(to, "%g", sqrt(fmod(x, 1e3))); }\n'
    )
    toolchain.build_host_library(tmp_path / "lib.c", tmp_path / "lib.so", ["-O0", "-Wl,-soname,root.so", "-ldl"])
    text = ctypes.create_string_buffer(9)
    assert ctypes.CDLL(str(tmp_path / "lib.so")).root(text, ctypes.c_double(2025.0)) == 1
    assert text.value == b"5"
    assert not [*(tmp_path / "cache").rglob("*.a")]
    (tmp_path / "lib.c").write_text("int nowhere(void); int root(void) { return nowhere(); }\n")
    with pytest.raises(IsaError, match="nowhere"):
        toolchain.build_host_library(tmp_path / "lib.c", tmp_path / "lib.so")


def test_the_newest_clang_comes_first() -> None:
    versions = [toolchain._major(tools.version) for tools in TOOLCHAINS if tools.kind != "hipcc"]
    assert versions == sorted(versions, reverse=True)


@pytest.mark.skipif(os.name == "nt", reason="a compiler made of a shell's script")
def test_a_compiler_is_asked_for_its_version_once_a_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    program, asked = tmp_path / "clang", tmp_path / "asked"

    def ask(says: str) -> str:
        """As a new process does."""
        program.write_text(f"#!/bin/sh\necho asked >> {asked}\n{says}\n")
        program.chmod(0o755)
        toolchain._kept_version.cache_clear()
        os.utime(program, (1, 1))
        return toolchain._kept_version(toolchain._stamp(program), str(program))

    assert ask("exit 1") == ask("exit 1") == ""
    assert asked.read_text().count("asked") == 2, "what fails may be mended"
    assert (
        ask("echo clang version 31.0; echo more") == ask("echo clang version 31.0; echo more") == "clang version 31.0"
    )
    assert asked.read_text().count("asked") == 3
    assert ask("echo clang version 32.0.1; echo more") == "clang version 32.0.1"
    toolchain._kept_version.cache_clear()
