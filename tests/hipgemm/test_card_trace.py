"""`hipgemm trace`: a card's instructions beside the model's. The card here is the model with another seed of cycles."""

from __future__ import annotations

from pathlib import Path

import pytest
from verbs import invoked

from hipgemm.judge.predict import timed
from hipgemm.kernels.build import linked
from hipgemm.kernels.ladder import rung
from hipgemm.launch.gemm import gemm
from hipgemm.launch.problem import Problem
from hipgemm.measure.card import trace as card_trace
from isa import toolchain
from isa.timing.card_traces import sqtt
from isa.timing.card_traces.sqtt import Issued
from isa.timing.machine.cards import card

pytestmark = pytest.mark.skipif(not list(toolchain.available()), reason="no compiler for gfx11 here")


def test_a_trace_of_the_model_agrees_with_the_model(tmp_path: Path) -> None:
    """Written as a card's, read again beside the code object, by the command."""
    row = rung("kernel1")
    made = linked(row)
    launch = gemm(row, Problem(128, 128, 128), 96)
    ready = timed(made.code_object, made.name, launch, card("7900 XTX")).prepared
    issued = card_trace.predicted(ready, 2500, 20_000)
    (tmp_path / "it.att").write_bytes(sqtt.encoded(issued, ready.cfg))
    (tmp_path / "it.hsaco").write_bytes(made.image)
    result = invoked(["trace", str(tmp_path / "it.att"), "--code", str(tmp_path / "it.hsaco")])
    assert f"{len(issued)} instructions" in result.output
    assert "v_fma" in result.output or "v_fmac" in result.output


def test_tinygrads_decoder_reads_what_is_written() -> None:
    """Each packet's cycle, wave and instruction, by a decoder that is not ours (tinygrad 0.14, if installed)."""
    decoder = pytest.importorskip("tinygrad.renderer.amd.sqtt")
    row = rung("kernel1")
    made = linked(row)
    ready = timed(made.code_object, made.name, gemm(row, Problem(128, 128, 128), 96), card("7900 XTX")).prepared
    issued = card_trace.predicted(ready, 2500, 20_000)
    data = sqtt.encoded(issued, ready.cfg)

    def read(data: bytes) -> list[tuple[int, int, int]]:
        found = [(p._time, info.wave, info.pc) for p, info in decoder.map_insts(data, made.image, "gfx1100") if info]
        start = min(pc for _, _, pc in found)
        return [(time, wave, pc - start) for time, wave, pc in found]

    insts = ready.cfg.instructions
    first = insts[0].address or 0
    told = [i for i in issued if insts[i.position].mnemonic != "s_delay_alu"]
    wanted = [(i.cycle, i.wave, (insts[i.position].address or 0) - first) for i in told]
    assert len(wanted) > 3000
    assert read(data) == wanted
    later = [Issued(i.cycle + (k > 500), i.wave, i.position, i.packet, i.op) for k, i in enumerate(issued)]
    assert read(sqtt.encoded(later, ready.cfg)) != wanted


def test_a_line_says_how_far_the_model_is_outside_of_the_card() -> None:
    from isa.analysis import cfg as control_flow
    from isa.asm.parse import parse

    cfg = control_flow.of_text(parse("v_mov_b32 v1, 0\nv_mov_b32 v2, 0\ns_nop 0\ns_endpgm\n"))
    times = {0: (0, 1, 5, 9), 1: (100, 103, 105, 109)}
    seen = [Issued(t, wave, at, "card") for wave, row in times.items() for at, t in enumerate(row)]
    played = [Issued(t, 0, at, "model") for at, t in enumerate((0, 2, 9, 12))]
    lines = {line.position: line for line in card_trace.compared(cfg, seen, played)}
    assert [(lines[k].gaps, lines[k].model, lines[k].apart) for k in (1, 2)] == [((1, 3), 2, 0), ((2, 4), 7, 3)]
    assert lines[3].memory
    assert "1 of 2 inside" in card_trace.text("it", list(lines.values()))


def test_a_trace_without_its_code_is_refused(tmp_path: Path) -> None:
    (tmp_path / "it.att").write_bytes(b"x")
    assert "does not contain the code that ran" in invoked(["trace", str(tmp_path / "it.att")], code=2).output
