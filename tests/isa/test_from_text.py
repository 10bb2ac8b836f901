"""What a kernel's text says of its code object is what LLVM's assembler makes of it."""

import dataclasses
from pathlib import Path

import pytest

from hipgemm.judge.predict import timed
from hipgemm.kernels.build import build, linked
from hipgemm.kernels.files import read_kernel
from hipgemm.launch.problem import Problem
from hipgemm.launch.requests import LaunchRequest, launch_of
from isa import toolchain
from isa.asm.parse import parse
from isa.errors import IsaError
from isa.object.from_text import TextCode
from isa.timing.machine import cards
from isa.timing.model import predict

PLACE = {"address", "entry", "raw", "prefetch_lines"}  # the last from the size of the code, by an expression
BUILT = ("kernel1", "kernel5", "kernel8", "kernel10")


@pytest.mark.parametrize("name", BUILT)
def test_facts_and_code_are_those_of_the_code_object(name: str) -> None:
    made = build(name)
    code, text = made.code_object(), TextCode.of(parse(made.assembly.read_text(), "k.s"), "gfx1100")
    want, got = code.kernel(name), text.kernel(name)
    for field in dataclasses.fields(want.descriptor):
        if field.name not in PLACE:
            assert getattr(got.descriptor, field.name) == getattr(want.descriptor, field.name), field.name
    assert dataclasses.replace(got, descriptor=want.descriptor, code_size=want.code_size, args=want.args) == want
    assert [(a.offset, a.size, a.kind) for a in got.args] == [(a.offset, a.size, a.kind) for a in want.args]
    assembled, laid_out = predict.cfg_of(code, want), predict.cfg_of(text, got)
    assert len(laid_out) <= len(assembled)  # which may end in padding
    for mine, theirs in zip(laid_out.instructions, assembled.instructions, strict=False):
        assert (mine.address, mine.size) == ((theirs.address or 0) - want.descriptor.entry, theirs.size)
        assert mine.desc is theirs.desc


def test_the_time_is_the_same(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "k.s").write_text(build("kernel8").assembly.read_text().replace("kernel8", "own"))
    kernel, on = read_kernel(str(tmp_path / "k.s")), cards.card("7900 XTX")
    request = LaunchRequest(tile=(128, 128, 8), block_tile=(128, 128))
    found = []
    for missing in (False, True):
        if missing:
            monkeypatch.setattr(toolchain, "find", lambda _: (_ for _ in ()).throw(toolchain.ToolchainMissing("none")))
        made = linked(kernel, runs=False)
        assert bool(made.image) is not missing
        launch = launch_of(made, request, Problem(1024, 1024, 1024))
        timing = timed(made.code_object, made.name, launch, on).timing()
        found.append((timing.time_s, timing.low_s, timing.high_s))
    assert found[0] == found[1]


@pytest.mark.parametrize(
    ("line", "what"),
    {
        ".long 0xbf800000": "data between instructions",
        ".value 1": "data between instructions",
        ".uleb128 1": "data between instructions",
        ".rept 3\n\ts_nop 0\n\t.endr": "what is assembled is not known, because of .rept",
        ".p2align -1": "no alignment",
    }.items(),
)
def test_what_only_an_assembler_knows(line: str, what: str) -> None:
    text = build("kernel9").assembly.read_text().replace("\ts_endpgm", f"\t{line}\n\ts_endpgm", 1)
    code = TextCode.of(parse(text, "k.s"), "gfx1100")
    with pytest.raises(IsaError, match=what):
        code.laid_out("kernel9")


@pytest.mark.parametrize(
    "directive", [".p2align 6", ".p2alignl 6, 0xbf800000", ".balign 64", ".balignl 64, 0xbf800000"]
)
def test_each_directive_of_alignment_moves_what_follows(directive: str) -> None:
    text = build("kernel9").assembly.read_text().replace("\ts_endpgm", f"\t{directive}\n\ts_endpgm", 1)
    kernel = TextCode.of(parse(text, "k.s"), "gfx1100").laid_out("kernel9")
    address = next(inst.address for _, inst in kernel.instructions() if inst.mnemonic == "s_endpgm")
    assert address is not None
    assert address % 64 == 0
