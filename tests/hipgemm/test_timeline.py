"""`hipgemm timeline`: the page and the trace hold what the cycle model says, and can be read by everybody."""

import base64
import itertools
import json
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import browser
import colour
import numpy as np
import pytest
from verbs import invoked

from hipgemm.judge.inspection import inspect
from hipgemm.judge.predict import ready
from hipgemm.judge.timeline import ISSUED, Timeline, timeline
from hipgemm.kernels.build import build, readable
from hipgemm.kernels.ladder import rung
from hipgemm.report import inspection
from hipgemm.report.pages import render
from hipgemm.report.timeline import GROUPS
from isa import toolchain
from isa.timing.machine import cards
from isa.timing.model import run as model
from isa.timing.native import engine_abi
from isa.timing.native.engine_abi import CAUSES

pytestmark = pytest.mark.skipif(not list(toolchain.available()), reason="no compiler for gfx11 here")


def written(out: Path, *options: str) -> str:
    invoked(["timeline", "kernel5", "-n", "512", "-o", str(out), *options])
    return out.read_text()


@pytest.fixture(scope="module")
def page(tmp_path_factory: pytest.TempPathFactory) -> Path:
    out = tmp_path_factory.mktemp("timeline") / "t.html"
    written(out)
    return out


@pytest.fixture(scope="module")
def known() -> Timeline:
    """What stands on the page."""
    kernel = ready(build("kernel5").code_object(), rung("kernel5"), (512, 512, 512), cards.card("7900 XTX")).prepared
    return timeline(kernel, "kernel5", 2500)


def held(page: Path) -> dict[str, Any]:
    return dict(json.loads(page.read_text().partition('id="data">')[2].partition("</script>")[0]))


# -- what is shown --


def test_stalls_are_the_cycles_between_the_issues_of_a_wave() -> None:
    """Per instruction, what the engine says by cause sums to what its recorded issues leave between them; barriers,
    branches and what follows them apart, and the first instruction, before which there is no issue. The recorded waits
    are these stalls, one by one."""
    kernel = ready(build("kernel5").code_object(), rung("kernel5"), (256, 256, 256), cards.card("7900 XTX")).prepared
    events, waits = np.zeros((200_000, 5), np.int64), np.zeros((200_000, 6), np.int64)
    played = model.run(kernel, 2500, events=events, waits=waits)
    events, waits = events[: played.hits.sum()], waits[waits[:, 3] > 0]
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
    summed = np.zeros_like(played.stalls)
    np.add.at(summed, (waits[:, 4], waits[:, 5]), waits[:, 3])
    assert (summed == played.stalls).all()
    assert len(waits) < len(events)


def test_a_wave_does_one_thing_at_a_time_and_always_something(known: Timeline) -> None:
    assert known.issues > 5000
    begin, end = known.spans[:, 2], known.spans[:, 2] + known.spans[:, 3]
    same = (known.spans[1:, :2] == known.spans[:-1, :2]).all(axis=1)
    assert (begin[1:] == end[:-1])[same].all()
    assert (known.spans[known.spans[:, 5] == ISSUED, 3] == 1).all()
    assert begin.min() == known.start
    assert end.max() == known.end


def test_a_window_is_a_part_of_what_is_longer(tmp_path: Path, known: Timeline) -> None:
    first = known.start + 3001
    page = tmp_path / "part.html"
    written(page, "--from", str(first), "--window", "200")
    part = held(page)
    assert (part["start"], part["end"]) == (first, first + 200)
    whole = {(s, w): unpacked(text) for s, w, text in _lanes(held(_whole(tmp_path)))}
    for simd, wave, text in _lanes(part):
        cut = [
            (max(a, first), min(a + n, first + 200) - max(a, first), i, c)
            for a, n, i, c in whole[simd, wave] if a < first + 200 and a + n > first
        ]  # fmt: skip
        assert unpacked(text) == cut


def test_a_cycle_that_there_is_not(tmp_path: Path) -> None:
    result = invoked(["timeline", "kernel5", "-n", "128", "-o", f"{tmp_path}/t.html", "--from", "9999999"], code=2)
    assert "the unit finishes after" in result.output


def test_an_unknown_format_is_refused(tmp_path: Path) -> None:
    result = invoked(["timeline", "kernel5", "-o", str(tmp_path / "t.pdf")], code=2)
    assert "a name ending in .html or .json" in result.output


# -- the trace --


def _whole(folder: Path) -> Path:
    page = folder / "whole.html"
    written(page)
    return page


def _lanes(data: dict[str, Any]) -> list[tuple[int, int, str]]:
    return [(simd, wave, text) for simd, wave, text in data["lanes"]]


@pytest.fixture(scope="module")
def events(tmp_path_factory: pytest.TempPathFactory) -> list[dict[str, Any]]:
    trace = json.loads(written(tmp_path_factory.mktemp("trace") / "t.json"))
    assert trace["displayTimeUnit"] in ("ms", "ns")
    assert "1 cycle" in trace["otherData"]["time"]
    return list(trace["traceEvents"])


def test_the_trace_is_as_its_format_says(events: list[dict[str, Any]]) -> None:
    """Trace Event Format: phases and their fields; slices of a thread nest, a parent before what lies in it; metadata
    names each process and thread that there is."""
    needed = {
        "X": {"name", "ts", "dur", "pid", "tid"},
        "M": {"name", "pid", "args"},
        "C": {"name", "ts", "pid", "args"},
    }
    names: dict[tuple[str, int, int], str] = {}
    open_until: dict[tuple[int, int], list[int]] = {}
    for event in events:
        assert needed[event["ph"]] <= set(event)
        assert event["pid"] > 0
        if event["ph"] == "M":
            names[event["name"], event["pid"], event["tid"]] = str(event["args"])
        elif event["ph"] == "C":
            assert all(isinstance(value, float) for value in event["args"].values())
            assert ("process_name", event["pid"], 0) in names
        else:
            assert event["dur"] > 0
            assert ("thread_name", event["pid"], event["tid"]) in names
            assert event["tid"] > 0
            stack = open_until.setdefault((event["pid"], event["tid"]), [])
            while stack and stack[-1] <= event["ts"]:
                stack.pop()
            assert not stack or event["ts"] + event["dur"] <= stack[-1]
            stack.append(event["ts"] + event["dur"])
    assert len(open_until) > 1
    assert all("1 us = 1 cycle" in name for (kind, *_), name in names.items() if kind == "process_name")


def test_the_trace_holds_every_cycle_by_its_cause(events: list[dict[str, Any]], known: Timeline) -> None:
    said, wanted = Counter[str](), Counter[str]()
    for event in events:
        if event["ph"] == "X":
            said[event["name"] if event["cat"] == "wait" else "instructions"] += event["dur"]
    for *_, cycles, _, cause in known.spans.tolist():
        wanted["instructions"] += cycles
        if cause != ISSUED:
            wanted[CAUSES[cause]] += cycles
    assert said == wanted
    barriers = [e for e in events if e["name"] == "s_barrier"]
    assert barriers
    assert all(e["cat"] == "BARRIER" for e in barriers)
    counted = [e for e in events if e["ph"] == "C" and e["name"] == "waves"]
    waves = len({tuple(lane) for lane in known.spans[:, :2].tolist()})
    simds = len({e["pid"] for e in counted})
    assert sum(counted[0]["args"].values()) == pytest.approx(waves / simds, abs=0.01)


# -- the page --


def unpacked(text: str) -> list[tuple[int, int, int, int]]:
    """(first cycle, cycles, instruction, cause) of a lane, read by what `_packed` says it writes."""
    data = iter(base64.b64decode(text))

    def number() -> int:
        digits = []
        for byte in data:
            digits.append(byte % 128)
            if byte < 128:
                break
        return sum(d * 128**k for k, d in enumerate(digits))

    found: list[tuple[int, int, int, int]] = []
    now = follows = 0
    for head in data:
        now += number() if head // 16 % 2 else 0
        cause = head % 16 - 1
        cycles = number() if cause >= 0 else 1
        off = number() if head // 32 % 2 else 0
        position = follows + (-(off // 2) if off % 2 else off // 2)
        found.append((now, cycles, position, cause))
        now, follows = now + cycles, position + (cause < 0)
    return found


def test_the_page_holds_the_spans(page: Path, known: Timeline) -> None:
    spans = [(simd, wave, *span) for simd, wave, text in _lanes(held(page)) for span in unpacked(text)]
    assert spans == [tuple(span) for span in known.spans.tolist()]


def test_the_page_stands_alone_and_says_what_it_is(page: Path, read_page: Callable[[str], Any]) -> None:
    text = page.read_text()
    assert len(text) < 2_000_000
    read = read_page(text)
    assert read.requests == []
    assert "not measured" in text
    assert {"barrier", "LDS"} <= set(read.words)
    data = held(page)
    assert any("v_dual_fmac_f32" in line[0] for line in data["lines"])
    assert all(
        data["group"][k] > 0 for k, cause in enumerate(CAUSES) if cause not in ("bank stalls", "launch and tail")
    )


def test_source_lines_stand_beside_the_instructions(tmp_path: Path) -> None:
    source = Path(__file__).parent / "own" / "saxpy.hip"
    words = "--grid 4 --block 256 --arg n=i32:1000 --arg a=f32:2 --arg x=zeros:f32:1000 --arg y=zeros:f32:1000".split()
    out = tmp_path / "t.html"
    invoked(["timeline", str(source), *words, "-g", "-o", str(out)])
    data = held(out)
    load = next(line for line in data["lines"] if line[0].startswith("global_load"))
    assert load[2].startswith("saxpy.hip:")
    assert data["start"] == 0  # all of a short kernel


# -- colours --


@pytest.mark.parametrize(
    ("one", "other", "apart"),
    [
        ((50, 2.6772, -79.7751), (50, 0, -82.7485), 2.0425), ((50, 3.1571, -77.2803), (50, 0, -82.7485), 2.8615),
        ((50, -1.3802, -84.2814), (50, 0, -82.7485), 1.0), ((50, 2.5, 0), (50, 0, -2.5), 4.3065),
        ((50, 2.5, 0), (73, 25, -18), 27.1492), ((50, 2.5, 0), (61, -5, 29), 22.8977),
        ((50, 2.5, 0), (56, -27, -3), 31.9030), ((50, 2.5, 0), (58, 24, 15), 19.4535),
        ((60.2574, -34.0099, 36.2677), (60.4626, -34.1751, 39.4387), 1.2644),
        ((2.0776, 0.0795, -1.1350), (0.9033, -0.0636, -0.5514), 0.9082),
    ],
)  # fmt: skip
def test_the_judge_of_colours_agrees_with_published_pairs(
    one: colour.Colour, other: colour.Colour, apart: float
) -> None:
    """Sharma, Wu and Dalal, "The CIEDE2000 color-difference formula", table 1."""
    assert colour.ciede2000(one, other) == pytest.approx(apart, abs=5e-5)


def test_the_judge_of_colours_can_say_no() -> None:
    red, green = "#c0392b", "#6b7a1e"
    assert colour.difference(red, green, "full") > 40
    assert colour.difference(red, green, "deuteranopia") < 20
    assert colour.difference("#6fa8ff", "#6fd0c0", "tritanopia") < 10 < colour.difference("#6fa8ff", "#6fd0c0", "full")
    for vision in colour.VISION:
        assert colour.difference("#808080", "#808080", vision) == 0
        assert colour.lab("#808080", vision)[1:] == pytest.approx((0, 0), abs=0.01)  # greys stay grey
    assert colour.contrast("#000000", "#ffffff") == pytest.approx(21)


@pytest.mark.parametrize("dark", [False, True], ids=["light", "dark"])
@pytest.mark.parametrize("vision", colour.VISION)
def test_any_two_causes_can_be_told_apart(page: Path, dark: bool, vision: str) -> None:
    found = colour.variables(page.read_text(), dark=dark)
    causes = [found[f"--t{k}"] for k in range(len(GROUPS))]
    for one, other in itertools.combinations(causes, 2):
        assert colour.difference(one, other, vision) >= 20, (one, other)


@pytest.mark.parametrize("dark", [False, True], ids=["light", "dark"])
def test_everything_has_the_contrast_of_level_aa(page: Path, dark: bool) -> None:
    """WCAG 2.2: 4.5 : 1 for text (1.4.3), 3 : 1 for what is drawn and for controls (1.4.11)."""
    found = colour.variables(page.read_text(), dark=dark)
    assert found["--bg"] != colour.variables(page.read_text(), dark=not dark)["--bg"]
    for behind in ("--bg", "--panel"):
        for text in ("--fg", "--muted", "--predicted", "--bad", "--mark", "--accent"):
            assert colour.contrast(found[text], found[behind]) >= 4.5, (text, behind)
        for drawn in ("--border", *(f"--t{k}" for k in range(len(GROUPS)))):
            assert colour.contrast(found[drawn], found[behind]) >= 3, (drawn, behind)
    for k in range(len(GROUPS)):  # the script writes on it in black or white, whichever is further
        assert max(colour.contrast(found[f"--t{k}"], on) for on in ("#000000", "#ffffff")) >= 4.5


# -- in a browser --


@pytest.fixture(scope="module")
def tab(tmp_path_factory: pytest.TempPathFactory) -> Iterator[browser.Browser]:
    if browser.find() is None:
        pytest.skip("no Chromium here")
    with browser.browser(tmp_path_factory.mktemp("profile")) as made:
        yield made


CHOSEN = "document.querySelector('[aria-current] .code')?.textContent"
WINDOW = "[Number(document.getElementById('from').value), Number(document.getElementById('to').value)]"


def opened(tab: browser.Browser, page: Path, hash: str = "") -> None:
    """The frame is painted before it is filled."""
    tab.open(page, hash)
    tab.run("new Promise(done => { const look = () => document.querySelector('.rows .row') ? done() : "
            "requestAnimationFrame(look); look(); })")  # fmt: skip
    tab.settle()


def test_the_lanes_zoom_pan_and_lead_to_the_list(tab: browser.Browser, page: Path, known: Timeline) -> None:
    tab.look(1280, 1000)
    opened(tab, page)
    a, b = tab.run(WINDOW)
    assert known.start < a < b < known.end
    x, y, wide = tab.run("(() => { const r = lanes.getBoundingClientRect(); return [r.left, r.top, r.width] })()")
    tab.mouse("mouseMoved", x + 400, y + 12)
    tab.settle()
    assert "wave 0" in tab.run("tip.innerText")
    tab.click(x + 400, y + 12)
    chosen = tab.run(CHOSEN)
    assert chosen in tab.run("tip.innerText")
    assert chosen in tab.run("said.textContent")
    assert tab.run("wave.value") == "0"
    tab.run("lanes.focus()")
    tab.key("]")
    following = tab.run(CHOSEN)
    tab.key("[")
    assert following != chosen
    assert tab.run(CHOSEN) == chosen
    tab.key("ArrowRight")
    assert tab.run(WINDOW)[0] > a
    tab.key("+")
    near = tab.run(WINDOW)
    assert near[1] - near[0] < b - a
    tab.key("0")
    assert tab.run(WINDOW) == [known.start, known.end]
    tab.mouse("mouseWheel", x + wide / 2, y + 12, deltaX=0, deltaY=-800, modifiers=2)
    tab.settle()
    assert tab.run(WINDOW)[0] > known.start
    middle = tab.run(WINDOW)
    tab.mouse("mousePressed", x + 600, y + 12, button="left", clickCount=1)
    tab.mouse("mouseMoved", x + 500, y + 12, button="left", buttons=1)
    tab.mouse("mouseReleased", x + 500, y + 12, button="left", clickCount=1)
    tab.settle()
    assert tab.run(WINDOW)[0] > middle[0]
    assert tab.faults() == []


def test_the_list_leads_to_the_lanes(tab: browser.Browser, page: Path, known: Timeline) -> None:
    position = next(
        line.position for line in known.lines if line.text.startswith("s_barrier") and line.loop is not None
    )
    tab.look(1280, 1000)
    opened(tab, page, f"#from={known.start}&to={known.start + 100}&line={position}")
    assert tab.run(CHOSEN).startswith("s_barrier")
    tab.run("rows.focus()")
    tab.key("Enter")  # its next issue
    a, b = tab.run(WINDOW)
    issues = known.spans[(known.spans[:, 4] == position) & (known.spans[:, 5] == ISSUED), 2]
    assert a <= min(i for i in issues.tolist() if i >= known.start + 99) <= b
    tab.run("rows.focus()")
    tab.key("ArrowDown")
    assert tab.run(CHOSEN) == known.lines[position + 1].text
    tab.key("Escape")
    assert tab.run(CHOSEN) is None


def _shown(tab: browser.Browser) -> list[list[str]]:
    return list(
        tab.run("[...document.querySelectorAll('.rows .row')].map(r => [...r.children].map(c => c.textContent))")
    )


def test_the_figures_of_the_cycles_shown(tab: browser.Browser, page: Path, known: Timeline) -> None:
    """What the script makes of a window is what the spans say; sorted, filtered, of one wave."""
    start, end = known.start + 1000, known.start + 4000
    tab.look(1280, 1000)
    opened(tab, page, f"#from={start}&to={end}")
    tab.run("scope.value = 'shown'; scope.onchange(); filter.value = 'S_WAITCNT'; filter.oninput()")
    tab.run("document.querySelector('[data-sort=stall]').click()")
    tab.settle()
    hits, stalls = Counter[int](), Counter[int]()
    for *_, begin, cycles, position, cause in known.spans.tolist():
        if cause == ISSUED:
            hits[position] += start <= begin < end
        else:
            stalls[position] += max(0, min(end, begin + cycles) - max(start, begin))
    waits = [line.position for line in known.lines if "s_waitcnt" in line.text]
    wanted = Counter(f"{hits[i]} {stalls[i] / max(1, hits[i]):.1f}" for i in waits if hits[i])
    found = _shown(tab)  # rows out of sight are not there; those that stall most come first
    assert len(wanted) > 3
    assert Counter(f"{h} {s}" for _, h, _, s, *_ in found if h != "0") == wanted
    assert [float(row[3] or 0) for row in found] == sorted((float(row[3] or 0) for row in found), reverse=True)
    tab.run("wave.value = '0'; wave.onchange()")
    tab.settle()
    assert sum(int(row[1]) for row in _shown(tab)) < sum(int(row[1]) for row in found)


def test_a_barrier_does_not_dwarf_the_bars(tab: browser.Browser, page: Path) -> None:
    """Bars are as long as their column at most; those of most instructions are longer than on a linear scale."""
    tab.look(1280, 1000)
    opened(tab, page)
    lengths = """[...document.querySelectorAll('.rows .latency')].map(bar => {
        const wide = e => e.getBoundingClientRect().width;
        return [...bar.children].reduce((sum, i) => sum + wide(i), 0) / wide(bar);
    })"""
    middle = {}
    for scale in ("linear", "loop", "log"):
        tab.run(f"scale.value = '{scale}'; scale.onchange()")
        tab.settle()
        found = [n for n in tab.run(lengths) if n]
        assert max(found) <= 1.1
        middle[scale] = sorted(found)[len(found) // 2]
    assert middle["linear"] < 0.6 * middle["loop"]
    assert middle["linear"] < 0.2 * middle["log"]


@pytest.mark.parametrize("dark", [False, True], ids=["light", "dark"])
@pytest.mark.parametrize("width", [360, 768, 1280])
def test_nothing_is_cut_off(tab: browser.Browser, page: Path, width: int, dark: bool) -> None:
    tab.look(width, 800, dark=dark, phone=width < 500)
    opened(tab, page, "#line=300")
    assert tab.run("document.scrollingElement.scrollWidth") == width
    over = tab.run("""[...document.querySelectorAll('body *')].filter(e => {
        const r = e.getBoundingClientRect();
        return r.width && getComputedStyle(e).visibility === 'visible' && (r.right > innerWidth + 1 || r.left < -1);
    }).map(e => e.outerHTML.slice(0, 80))""")
    assert over == []
    cut = tab.run("""[...document.querySelectorAll('.rows .row > .code, .rows .row > .number')].filter(e =>
        e.offsetParent && (e.scrollWidth > e.clientWidth + 1 || e.scrollHeight > e.clientHeight + 1)
    ).map(e => e.textContent)""")
    assert cut == []
    assert tab.faults() == []


def test_the_page_is_painted_at_once(tab: browser.Browser, page: Path, tmp_path: Path) -> None:
    """Not three times as late as a page without a script. By turns, and the least of several tries, since others use
    this machine too. A script that stood in the way would be seen."""
    tab.look(1280, 1000)
    busy = "<script>for (const end = performance.now() + 3000; performance.now() < end;);</script>"
    head, body, rest = page.read_text().partition("<body")
    pages = {"empty": '<p class="rows"><i class="row">x</i></p>', "slow": head + busy + body + rest}
    for name, html in pages.items():
        (tmp_path / f"{name}.html").write_text(html)

    def painted(file: Path) -> float:
        opened(tab, file)
        first = "list => done(list.getEntries()[0].startTime)"  # on a busy machine it comes after the load
        entry = f"new PerformanceObserver({first}).observe({{type: 'paint', buffered: true}})"
        return float(tab.run(f"new Promise(done => {entry})"))

    empty, ours = [], []
    for _ in range(8):
        empty.append(painted(tmp_path / "empty.html"))
        ours.append(painted(page))
        if min(ours) < 3 * min(empty):
            break
    assert min(ours) < 3 * min(empty)
    assert painted(tmp_path / "slow.html") > 3 * min(empty)


def test_other_pages_fit_a_phone(tab: browser.Browser, tmp_path: Path) -> None:
    """No row is squeezed: no cell of the instruction mix is taller than four lines, no row of the bank table than
    one."""
    mix, banks = (inspect(readable(rung(name)), name) for name in ("kernel1", "kernel5"))
    row = SimpleNamespace(number="valu_to_vmem", table=10, value=10.25, low=9.125, high=11.5, at_end=True,
                          measured=320.5, predicted=320.5)  # fmt: skip
    pages = {
        "inspection": inspection.page(mix),
        "banks": inspection.page(banks),
        "calibration": render("calibration.html.j2", title="t", found=[row], units={row.number: "cycles"}),
    }
    tab.look(390, 800, phone=True)
    for name, text in pages.items():
        (tmp_path / f"{name}.html").write_text(text)
        tab.open(tmp_path / f"{name}.html")
        assert tab.run("document.documentElement.scrollWidth") <= 390, name
        assert (
            tab.run("Math.max(...[...document.querySelectorAll('.mix td, .mix th')].map(c => c.clientHeight), 0)") < 100
        )
        rows = tab.run("[...document.querySelectorAll('.banks tbody tr')].map(r => r.clientHeight)")
        assert max(rows, default=0) < 30
        assert tab.faults() == []
