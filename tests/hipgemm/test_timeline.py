"""`hipgemm timeline`: the page stands alone, the trace is what Perfetto reads, and waves do one thing at a time."""

import itertools
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from click.testing import CliRunner

from hipgemm.build import build
from hipgemm.cli import main
from hipgemm.kernels import rung
from hipgemm.predict import ready
from isa import toolchain
from isa.timing import cards, engine_abi, model

pytestmark = pytest.mark.skipif(not list(toolchain.available()), reason="no compiler for gfx11 here")


def write(out: Path) -> str:
    result = CliRunner().invoke(main, ["timeline", "kernel5", "-n", "512", "-o", str(out)])
    assert result.exit_code == 0, result.output
    return out.read_text()


def test_trace_events_of_a_wave_do_not_overlap(tmp_path: Path) -> None:
    trace = json.loads(write(tmp_path / "t.json"))
    lanes: dict[tuple[int, int], list[tuple[int, int]]] = {}
    for event in trace["traceEvents"]:
        if event["ph"] == "X":
            lanes.setdefault((event["pid"], event["tid"]), []).append((event["ts"], event["ts"] + event["dur"]))
    assert len(lanes) > 1
    for spans in lanes.values():
        assert all(end <= begin for (_, end), (begin, _) in itertools.pairwise(spans))


def test_the_page_stands_alone_and_says_what_it_is(tmp_path: Path) -> None:
    html = write(tmp_path / "t.html")
    assert "not measured" in html
    assert "v_dual_fmac_f32" in html
    assert "src=" not in html
    assert "http" not in html


def test_stalls_are_the_cycles_between_the_issues_of_a_wave() -> None:
    """Per instruction, what the engine says by cause sums to what its recorded issues leave between them; barriers,
    branches and what follows them apart, and the first instruction, before which there is no issue."""
    kernel = ready(build("kernel5").code_object(), rung("kernel5"), (256, 256, 256), cards.card("7900 XTX")).prepared
    events = np.zeros((200_000, 5), np.int64)
    played = model.run(kernel, 2500, events=events)
    events = events[: played.hits.sum()]
    kind = kernel.code.kind
    between = np.zeros(len(kind))
    apart = np.isin(kind, (engine_abi.BARRIER, engine_abi.BRANCH))
    for wave in np.unique(events[:, 2]):
        at, _, _, position, _ = events[events[:, 2] == wave].T
        np.add.at(between, position[1:], at[1:] - at[:-1] - 1)
    apart[1:] |= apart[:-1]  # what stands after one
    targets = [kernel.cfg.blocks[s].start for b in kernel.cfg.blocks for s in b.successors]
    apart[[0, *targets]] = True
    assert (~apart).sum() > 500
    assert played.stalls.sum(axis=1)[~apart].tolist() == between[~apart].tolist()
    assert played.stalls[kind == engine_abi.BARRIER][:, engine_abi.BARRIER_WAIT].sum() > 0


def test_the_page_says_why_each_instruction_waits(tmp_path: Path, read_page: Callable[[str], Any]) -> None:
    page = read_page(write(tmp_path / "t.html"))
    assert page.requests == []
    assert {"barrier", "LDS wait"} & set(page.words)


def test_an_unknown_format_is_refused(tmp_path: Path) -> None:
    result = CliRunner().invoke(main, ["timeline", "kernel5", "-o", str(tmp_path / "t.pdf")])
    assert result.exit_code == 2
    assert "ends in .html or .json" in result.output
