"""`hipgemm timeline`: the page stands alone, the trace is what Perfetto reads, and waves do one thing at a time."""

import itertools
import json
from pathlib import Path

import pytest
from click.testing import CliRunner

from hipgemm.cli import main
from isa import toolchain

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


def test_an_unknown_format_is_refused(tmp_path: Path) -> None:
    result = CliRunner().invoke(main, ["timeline", "kernel5", "-o", str(tmp_path / "t.pdf")])
    assert result.exit_code == 2
    assert "ends in .html or .json" in result.output
