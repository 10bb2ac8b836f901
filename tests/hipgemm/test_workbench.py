"""`hipgemm explore`: who may ask its server, what it says of a text, the steps of a wave, and the page in a browser."""

import http.client
import json
import os
import re
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest
from browser import browser, find

from hipgemm.workbench.stepping import Break, Walk, parsed
from hipgemm.workbench.view import Asked, Bench, shown
from isa.errors import IsaError

KERNEL = """
extern "C" __global__ void turn(const float* x, float* y) {
  __shared__ float s[64];
  s[threadIdx.x] = 2.0f * x[threadIdx.x];
  __syncthreads();
  y[threadIdx.x] = s[63 - threadIdx.x];
}
"""
LAUNCH = 'grid = 1\nblock = 64\nargs = ["x=arange:f32:2048", "y=zeros:f32:64"]\n'
LATE = '  float r;\n  asm volatile("global_load_b32 %0, %1, %2" : "=v"(r) : "v"(4 * threadIdx.x), "s"(x));\n'


# --- views
def test_a_view_has_live_registers_waits_and_lines_of_the_source(tmp_path: Path) -> None:
    found = shown(Bench(tmp_path).opened(Asked(KERNEL)))
    code = [row for row in found["instructions"] if "line" in row]
    assert {row["source"] for row in code if row["source"]} <= set(range(2, 9))
    load = next(row for row in code if row["text"].startswith("global_load"))
    wait = next(row for row in code if load["line"] in row.get("waits", ()))
    assert wait["text"].startswith("s_waitcnt")
    assert code[0]["vgprs"] == 1
    assert [row["offset"] for row in code] == sorted(row["offset"] for row in code)
    assert found["numbers"]["chart"]["VGPRs"][0] == (8, 96, 16)


@pytest.mark.parametrize(("asked", "launch", "seen"), [
    ("", "", "turn"),
    ("", "[twice]\ngrid = 1", "twice"),
    ("", '["nth<2>"]\ngrid = 1', "_Z3nthILi2EEvPf"),
    ("twice", "", "twice"),
    ("twice", "[turn]\ngrid = 1\nblock = 64\nargs = [", "twice"),
    ("gone", "", "turn"),
])  # fmt: skip
def test_of_several_kernels_one_is_looked_at(asked: str, launch: str, seen: str, tmp_path: Path) -> None:
    more = """
extern "C" __global__ void twice(float *y) { y[0] *= 2; }
template <int n> __global__ void nth(float *y) { y[0] /= n; }
template __global__ void nth<2>(float *y);
"""
    opened = Bench(tmp_path).opened(Asked(KERNEL + more, kernel=asked, launch=launch))
    assert (opened.made.name, opened.asked.kernel) == (seen, seen)
    if not launch:
        found = shown(opened)
        assert found["kernels"] == [["turn", "turn"], ["twice", "twice"], ["_Z3nthILi2EEvPf", "nth<2>"]]
        sources = {row["source"] for row in found["instructions"] if row.get("source")}
        assert sources <= ({9} if seen == "twice" else set(range(2, 9)))


@pytest.mark.parametrize(("given", "said"), [
    ({"text": 1}, "asked for with texts"),
    ({"text": "", "flags": ["-fplugin=x.so"]}, "flags of three kinds"),
    ({"text": "x" * (1 << 20) + "y"}, "too long"),
])  # fmt: skip
def test_a_view_that_is_none_is_refused(given: dict[str, object], said: str) -> None:
    with pytest.raises(IsaError, match=said):
        Asked.of(given)


def test_a_text_is_put_into_no_folder_but_its_own() -> None:
    assert Asked.of({"text": "", "name": "../../etc/x.hip"}).name == "x.hip"


# --- steps
@pytest.fixture(scope="module")
def walk(tmp_path_factory: pytest.TempPathFactory) -> Walk:
    opened = Bench(tmp_path_factory.mktemp("walk")).opened(Asked(KERNEL, launch=LAUNCH))
    return Walk(opened.made, opened.launch, (0, 0, 0), 1)


def _y(walk: Walk) -> list[float]:
    array, held = walk.arrays["y"]
    return np.frombuffer(bytes(held), array.dtype).tolist()


def test_a_wave_walked_to_its_end_leaves_the_answer(walk: Walk) -> None:
    walk.to(10**6)
    assert walk.state()["done"]
    assert _y(walk) == [2.0 * (63 - i) for i in range(64)]


def test_a_step_back_shows_the_registers_before(walk: Walk) -> None:
    states = []
    for number in range(8):
        walk.to(number)
        states.append(walk.state())
    for number in reversed(range(8)):
        walk.to(number)
        assert walk.state() == states[number]
    assert len({json.dumps(one["vgprs"]) for one in states}) > 2


def test_it_stops_where_a_condition_is_met(walk: Walk) -> None:
    walk.to(0)
    walk.until(Break(condition="v0[31] == 63"))  # the work-item's number from the beginning
    assert walk.state()["executed"] == 1
    barrier = next(i for i in walk.watched.code.instructions if i.mnemonic == "s_barrier")
    walk.until(Break(offset=barrier.address - walk.entry))
    assert walk.state()["offset"] == barrier.address - walk.entry
    walk.until(Break(condition="exec == 1"))
    assert walk.state()["done"]


@pytest.mark.parametrize("text", ["v", "v0[32] == 1", "s3[1] == 1", "v256 == 1", "v1 = 1", "v1 == x", "scc3 == 1"])
def test_what_is_no_condition_is_refused(text: str) -> None:
    with pytest.raises(IsaError):
        parsed(text)


def test_what_the_next_instruction_asks_of_memory_is_shown(walk: Walk) -> None:
    found: dict[tuple[str, str], dict[str, object]] = {}
    for number in range(40):
        walk.to(number)
        before = _y(walk)
        found |= {(one["name"], one["kind"]): one for one in walk.state()["accesses"]}
        assert _y(walk) == before
        if walk.state()["done"]:
            break
    assert [(name, kind, one["cost"]) for (name, kind), one in found.items()] == [
        ("x", "load", 4), ("LDS", "store", 1), ("LDS", "load", 1), ("y", "store", 4),
    ]  # fmt: skip
    assert found["x", "load"]["lanes"] == [[lane, 4 * (32 + lane)] for lane in range(32)]
    assert found["LDS", "load"]["lanes"] == [[lane, 4 * (31 - lane)] for lane in range(32)]


def test_a_fault_ends_the_walk_and_is_said(tmp_path: Path) -> None:
    opened = Bench(tmp_path).opened(
        Asked(KERNEL.replace("y[threadIdx.x]", "y[threadIdx.x + (1 << 20)]"), launch=LAUNCH)
    )
    walk = Walk(opened.made, opened.launch, (0, 0, 0), 0)
    walk.to(10**6)
    assert "outside every allocation" in walk.state()["fault"]
    walk.to(0)
    assert walk.state()["fault"] == ""


# --- the server
@pytest.fixture(scope="module")
def served(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Path, str, int, str]]:
    """(file, address, port, token) of a server."""
    folder = tmp_path_factory.mktemp("served")
    (folder / "turn.hip").write_text(KERNEL)
    (folder / "turn.toml").write_text(LAUNCH)
    command = [sys.executable, "-m", "hipgemm", "explore", str(folder / "turn.hip"), "--no-browser"]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
    assert process.stdout is not None
    address = process.stdout.readline().strip()
    found = re.fullmatch(r"http://127.0.0.1:(\d+)/#token=([\w-]+)", address)
    assert found is not None, address
    yield folder / "turn.hip", address, int(found[1]), found[2]
    process.terminate()
    process.wait(20)


def _post(port: int, call: str, body: str = "{}", **headers: str) -> tuple[int, dict[str, object]]:
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=120)
    connection.request("POST", f"/api/{call}", body, {name.replace("_", "-"): value for name, value in headers.items()})
    answer = connection.getresponse()
    return answer.status, json.loads(answer.read())


def test_who_lacks_the_token_or_comes_from_elsewhere_is_refused(served: tuple[Path, str, int, str]) -> None:
    _, _, port, token = served
    assert _post(port, "file", x_token=token)[0] == 200
    for wrong in (
        {}, {"x_token": "x"}, {"x_token": "\xe9"}, {"x_token": token, "Origin": "http://evil.example"},
        {"x_token": token, "Host": f"evil.example:{port}"}, {"x_token": token, "Host": f"localhost:{port}"},
    ):  # fmt: skip
        assert _post(port, "file", **wrong)[0] == 403
    assert _post(port, "view", "[", x_token=token)[0] == 400
    assert _post(port, "view", "[" * 100_000, x_token=token)[0] == 400
    long = json.dumps({"text": "", "name": "x" * 5000})
    for given in ('{"text": "", "workgroup": "a"}', '{"text": "", "workgroup": [1e999]}', long):
        status, found = _post(port, "step", given, x_token=token)
        assert (status, "error" in found) == (200, True)


def test_the_page_runs_no_script_but_its_own(served: tuple[Path, str, int, str]) -> None:
    connection = http.client.HTTPConnection("127.0.0.1", served[2], timeout=60)
    connection.request("GET", "/")
    answer = connection.getresponse()
    page = answer.read().decode()
    assert "script-src 'self';" in (answer.getheader("Content-Security-Policy") or "")
    assert not re.search(r"<script(?![^>]*src=)|\son\w+=|https?://", page)
    for path in ("/../server.py", "/%2e%2e/server.py", "/static/x"):
        connection.request("GET", path)
        answer = connection.getresponse()
        answer.read()
        assert answer.status == 404


def test_a_timeline_is_a_page_of_its_own(served: tuple[Path, str, int, str]) -> None:
    file, _, port, token = served
    asked = json.dumps({"text": file.read_text(), "name": file.name})
    page = str(_post(port, "timeline", asked, x_token=token)[1]["page"])
    for path, status in ((page, 200), (page + "x", 404), ("/timeline/", 404), ("/timeline/%C3%A9", 404)):
        connection = http.client.HTTPConnection("127.0.0.1", port, timeout=60)
        connection.request("GET", path)
        answer = connection.getresponse()
        answer.read()
        assert answer.status == status
        if status == 200:
            policy = answer.getheader("Content-Security-Policy") or ""
            assert re.search(r"^sandbox allow-scripts; default-src 'none'; script-src 'sha256-[\w+/=]+';", policy)


def test_it_ends_with_the_process_that_began_it(tmp_path: Path) -> None:
    program = (
        "import subprocess, sys, time\n"
        "p = subprocess.Popen([sys.executable, '-m', 'hipgemm', 'explore', '--no-browser'], stdout=subprocess.PIPE)\n"
        "p.stdout.readline(); print(p.pid, flush=True); time.sleep(60)\n"
    )
    parent = subprocess.Popen([sys.executable, "-c", program], stdout=subprocess.PIPE, text=True)
    assert parent.stdout is not None
    child = int(parent.stdout.readline())
    parent.kill()
    parent.wait()
    for _ in range(200):
        try:
            os.kill(child, 0)
        except ProcessLookupError:
            return
        if Path(f"/proc/{child}/stat").read_text().split()[2] == "Z":
            return
        time.sleep(0.1)
    os.kill(child, signal.SIGKILL)
    raise AssertionError("the server outlived its parent")


# --- the page
@pytest.mark.skipif(find() is None, reason="no Chromium")
def test_a_newcomer_sees_each_fault_where_it_is(served: tuple[Path, str, int, str], tmp_path: Path) -> None:
    file, address, _, _ = served
    with browser(tmp_path) as page:

        def shows(what: str, script: str) -> str:
            for _ in range(600):
                if found := page.run(script):
                    return str(found)
                time.sleep(0.1)
            raise AssertionError(f"{what} is not shown: {page.run('document.body.innerText')}")

        page.look(1280, 800)
        page.call("Page.navigate", url=address)
        shows("a time", "document.querySelectorAll('#time .cause').length")
        assert page.run("document.getElementById('findings').innerText") == "lint has nothing to say"
        assert page.run("document.querySelectorAll('#numbers svg').length") == 3  # over VGPRs, LDS, threads
        assert page.run("document.querySelectorAll('#numbers line.data').length") == 3  # what is achieved
        row = "x[threadIdx.x]"
        for planted, tab, said in (
            (KERNEL.replace("  __syncthreads();\n", ""), "findings", "LDS"),
            (
                KERNEL.replace("s[63", "__builtin_amdgcn_ds_bpermute(4 * (threadIdx.x % 32 + 32), *x) + s[63"),
                "findings",
                "LANE",
            ),
            (KERNEL.replace(row, "r").replace("  s[t", LATE + "  s[t"), "findings", "WAIT"),
            (KERNEL.replace("2.0f", "2.0f * <img src=x onerror=alert(1)>"), "findings", "error"),
            (KERNEL.replace(row, "x[threadIdx.x + (1 << 20)]"), "judged", "MEM004"),
            (
                KERNEL.replace("[64]", "[2048]").replace("s[t", "s[32 * t").replace("63 -", "2016 - 32 *"),
                "findings",
                "bank conflict",
            ),
            (KERNEL.replace(row, "x[32 * threadIdx.x]"), "findings", "not coalesced"),
        ):
            file.write_text(planted)  # by another editor: the page follows
            if tab == "judged":
                shows("the text", "document.querySelector('.cm-content').innerText.includes('1 << 20')")
                page.run("document.getElementById('run').click()")
            shows(said, f"document.getElementById('{tab}').textContent.includes('{said}')")
            shows("its place", "document.querySelectorAll('.cm-lintRange').length")
        file.write_text(KERNEL)
        shows("the good one", "document.getElementById('findings').textContent == 'lint has nothing to say'")
        page.run("document.getElementById('tab-timeline').click()")
        shows("a timeline", "document.querySelectorAll('#timeline iframe').length")
        page.key("F10")
        shows("values", "document.querySelectorAll('#registers td').length")
        at = "document.getElementById('where').textContent.startsWith"
        for number in range(1, 20):
            page.key("F10")
            shows(f"step {number}", f"{at}('{number} ')")
            if page.run("document.querySelectorAll('#accesses .asked').length"):
                break
        else:
            raise AssertionError("no access is shown")
        for _ in range(5):  # faster than the answers come: none is lost
            page.key("F10")
        shows("five steps on", f"{at}('{number + 5} ')")
        page.look(390, 844, phone=True)
        page.run("document.getElementById('registers').scrollIntoView()")
        stood = page.run("scrollY")
        page.key("F10")
        shows("a step", f"{at}('{number + 6} ')")
        assert page.run("scrollY") == stood > 0  # a step leaves the page where it was
        for width, phone in ((1440, False), (1280, False), (390, True)):
            page.look(width, 844, phone=phone)
            page.settle()
            assert page.run("document.documentElement.scrollWidth") <= width
        assert [said for said in page.faults() if "127.0.0.1" not in said] == []
