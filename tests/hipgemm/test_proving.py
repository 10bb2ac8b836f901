"""The proof at the end of a build: kernels 6 to 8 by every compiler there is, and a pass that breaks its kernel."""

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from hipgemm.judge import proving
from hipgemm.kernels.build import build
from hipgemm.kernels.ladder import LADDER
from isa import passes, toolchain
from isa.asm.emit import emit
from isa.asm.parse import parse
from isa.asm.program import Program
from isa.gemm.vector.generate import generate

TOOLCHAINS = list(toolchain.available())


@pytest.fixture
def own_cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))


BUILDS = [*(("kernel8", t) for t in TOOLCHAINS), *((name, TOOLCHAINS[0]) for name in ("kernel6", "kernel7"))]


@pytest.mark.parametrize(("name", "tools"), BUILDS, ids=lambda x: str(x).split(":")[0])
def test_the_build_ends_with_a_proof(name: str, tools: toolchain.Toolchain) -> None:
    made = build(name, tools=tools)
    (stage,) = [s for s in made.stages if s.name == "prove"]
    assert stage.note.startswith(f"proved: {made.assembly.name} computes what {name} does, bit for bit")
    assert stage.note in (made.folder / stage.file).read_text()
    assert not made.warnings


@pytest.mark.parametrize("name", ["kernel9", "kernel10"])
def test_a_generated_kernel_is_proved_by_definition(name: str) -> None:
    made = build(name)
    (stage,) = [s for s in made.stages if s.name == "prove"]
    assert stage.note.startswith(f"proved: {name} computes C = alpha A B + beta C by definition, for all data")
    assert ", for every K from 1 to 8388607 at M x N of 129 x 131, " in stage.note
    assert ", 1 to 128 rows and 1 to 128 columns at the edges of C (" in stage.note
    assert stage.note in (made.folder / stage.file).read_text()
    assert not made.warnings


@pytest.mark.usefixtures("own_cache")
def test_a_generated_kernel_that_is_wrong_stops_the_build(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    def broken(*args: Any, **named: Any) -> Program:
        text = emit(generate(*args, **named))
        return parse(text.replace("s_lshr_b32 s19, s19, 3", "s_lshr_b32 s19, s19, 4"), named["file"])

    monkeypatch.setattr("isa.gemm.vector.generate.generate", broken)
    with pytest.raises(proving.Disproved, match=r"C\[0,0\] of 1 x 1 x 1, beta 0: 1 of 1 elements are wrong") as error:
        build("kernel9", out=tmp_path / "out")
    assert "expected: alpha * A[0,0] * B[0,0]" in str(error.value)
    assert str(error.value) in (tmp_path / "out" / "kernel9" / "kernel9.proof.txt").read_text()


@pytest.mark.usefixtures("own_cache")
def test_a_pass_that_breaks_its_kernel_stops_the_build(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    real = passes.run_pipeline

    def broken(
        first: Program, text: str, name_file: Callable[[int, str], str], kernel: str
    ) -> Iterator[tuple[str, Program]]:
        """The unroller reads one element of A from the wrong place."""
        wrong = None
        for name, program in real(first, text, name_file, kernel):
            if name == "unroll":
                source = "\n".join(line.text for line in program.lines)
                at = source.index("offset:", source.index("v_dual_fmac_f32"))
                wrong = parse(source[:at] + source[at:].replace("offset:", "offset:4", 1), program.file)
            yield name, wrong or program

    monkeypatch.setattr(passes, "run_pipeline", broken)
    with pytest.raises(proving.Disproved, match=r"kernel7: unroll changed what it computes: C\[\d+\]") as error:
        build("kernel7", out=tmp_path / "out")
    assert "kernel7.2-unroll.s:" in str(error.value)
    assert str(error.value) in (tmp_path / "out" / "kernel7" / "kernel7.proof.txt").read_text()


def test_facts_say_what_the_ladder_takes() -> None:
    assert proving.facts(LADDER["kernel8"]).sentences() == (
        "M is a positive multiple of 128, N is a positive multiple of 128, K is a positive multiple of 8",
        "workgroup x < N/128, workgroup y < M/128",
        "M*K <= 2^30, N*K <= 2^30, M*N <= 2^30",
        "all 128 work-items of a workgroup are active, in x",
    )


@pytest.mark.parametrize(("line", "proved"), [("v_mov_b32 v1, 0", ["a"]), ("v_mov_b32 v2, 0", ["b"]),
                                              ("v_mov_b32 v3, 0", ["a", "b"]), ("s_nop 0", [])])  # fmt: skip
def test_of_a_file_those_kernels_are_proved_that_were_changed(line: str, proved: list[str]) -> None:
    kernel = "{0}:\n\tv_mov_b32 v{1}, 0\n\ts_endpgm\n.Lfunc_end{1}:\n\t.amdhsa_kernel {0}\n\t.end_amdhsa_kernel\n"
    function = "f:\n\tv_mov_b32 v3, 0\n\ts_setpc_b64 s[30:31]\n"
    text = kernel.format("a", 1) + kernel.format("b", 2) + function
    old, new = parse(text), parse(text.replace(line, line.replace("0", "1")))
    assert proving._changed(old, new) == proved
