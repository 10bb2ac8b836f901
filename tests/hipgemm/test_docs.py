"""What the documents say is so."""

import importlib
import json
import os
import re
import shlex
import subprocess
import sys
import textwrap
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from hipgemm.cli import VERBS, main
from hipgemm.lab import EXPERIMENTS, experiment
from hipgemm.simulated_hip import calls
from isa import toolchain
from isa.asm.parse import parse
from isa.passes import pipeline
from tools import api

DOCS = Path(__file__).resolve().parents[2] / "docs"
MARK = "<!-- calls -->\n"


def call_list() -> str:
    """Every declared call and its aliases but those of per-thread streams, and rocBLAS's that are hipBLAS's, by the
    module that declares it."""
    sections = []
    for subject in calls.SUBJECTS:
        module = f"hipgemm.simulated_hip.calls.{subject}"
        names = sorted(name for name, call in calls.CALLS.items() if call.function.__module__ == module)
        text = importlib.import_module(module).__doc__
        assert text is not None
        assert names, f"{subject} declares no call"
        first = " ".join(text.split("\n\n")[0].split())
        plain = [name for name in names if name.removesuffix("_spt") == name or name.removesuffix("_spt") not in names]
        plain = [
            name for name in plain if not (name.startswith("rocblas_") or name.endswith("_v2")) or name[-3:] == "_ex"
        ]
        listed = textwrap.fill(", ".join(f"`{name}`" for name in plain), 120, break_on_hyphens=False)
        sections.append(f"### {subject}\n\n{first}\n\n{listed}\n")
    return "\n".join(sections)


def test_hip_runtime_lists_the_calls_that_are_there(request: pytest.FixtureRequest) -> None:
    file = DOCS / "hip-runtime.md"
    head, mark, listed = file.read_text().partition(MARK)
    if request.config.getoption("--bless"):
        file.write_text(f"{head}{MARK}\n{call_list()}")
        return
    assert mark
    assert listed.strip() == call_list().strip(), "run pytest --bless and read what it wrote"


@pytest.mark.parametrize("page", sorted(DOCS.glob("*.md")), ids=lambda p: p.stem)
def test_every_command_in_the_documents_is_there(page: Path) -> None:
    lines = [line.strip() for line in page.read_text().splitlines() if line.startswith("    ")]
    verbs = [words[i + 1] for words in map(str.split, lines) for i, w in enumerate(words[:-1]) if w.endswith("hipgemm")]
    assert not {v for v in verbs if not v.startswith("-")} - set(VERBS)


def test_the_lab_page_tells_of_every_experiment_in_its_own_words() -> None:
    page = (DOCS / "lab.md").read_text()
    words = " ".join(page.split())
    headings = [line.split(":")[0].removeprefix("## ") for line in page.splitlines() if line.startswith("## ")]
    assert headings == [*EXPERIMENTS, "The studies' experiments"]
    for name in EXPERIMENTS:
        assert experiment(name).paragraph in words
        assert (DOCS / "lab" / f"{name}.svg").exists()


def test_the_studies_experiments_are_counted_as_the_table_has_them() -> None:
    """And each row names experiments and verbs that are there."""
    text = (DOCS / "lab.md").read_text().partition("## The studies' experiments")[2]
    said = " ".join(text.split())
    rows = [[cell.strip() for cell in line.split("|")[1:-1]] for line in text.splitlines() if line.startswith("|")][2:]
    counts = [
        sum(len(list(filter(None, cell.split(";")))) for cell in column) for column in list(zip(*rows, strict=True))[1:]
    ]
    for command in re.findall(r"`([^`]+)`", " ".join(row[0] for row in rows)):
        verb, *names = command.split()
        assert verb in VERBS or verb.startswith("kernel"), command
        assert verb != "lab" or names[0] in EXPERIMENTS, command
    right, partly = counts
    assert f"{right} of {right + partly} are reproduced or better, {partly} partly." in said


def python_block(page: str) -> str:
    """The first block of Python on a page."""
    return (DOCS / page).read_text().partition("```python\n")[2].partition("```")[0]


def test_the_api_page_is_what_the_docstrings_say(request: pytest.FixtureRequest) -> None:
    if request.config.getoption("--bless"):
        api.PAGE.write_text(api.page())
    assert api.PAGE.read_text() == api.page(), "run python tools/api.py --write"


def test_the_index_names_every_page_and_no_link_is_broken() -> None:
    pages = [*DOCS.glob("*.md"), *(DOCS.parent / name for name in ("README.md", "CONTRIBUTING.md", "CHANGELOG.md"))]
    for page in pages:
        for link in re.findall(r"\]\(([^)#:]+)(?:#[^)]*)?\)", page.read_text()):
            assert (page.parent / link).exists(), f"{page.name} links to {link}"
    index = (DOCS / "README.md").read_text()
    assert {f"]({page.name})" for page in DOCS.glob("*.md") if page.name != "README.md"} <= set(
        re.findall(r"\]\([^)]*\)", index)
    )


def test_the_pass_on_the_page_runs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    found: dict[str, Any] = {}
    exec(python_block("passes.md"), found)
    made = found["DropDelayHints"]
    monkeypatch.setitem(pipeline.PASSES, made.name, made)
    source = DOCS.parent / "kernels_hip" / "kernel1_naive.hip"
    include, out = source.parent / "include", tmp_path / "kernel1.s"
    toolchain.find().compile(source, out, arch="gfx1100", cu_mode=False, include=include)
    before = parse(out.read_text(), "kernel1.s")
    ((_, after),) = pipeline.run_pipeline(before, made.name)
    texts = [[str(inst) for _, inst in program.kernel().instructions()] for program in (before, after)]
    assert any(text.startswith("s_delay_alu") for text in texts[0])
    assert texts[1] == [text for text in texts[0] if not text.startswith("s_delay_alu")]


def test_the_entry_on_the_page_is_the_one_in_the_table() -> None:
    entry = python_block("instructions.md").strip()
    assert entry in (DOCS.parent / "isa" / "instructions" / "valu_float.py").read_text()


def _without_numbers(line: str) -> str:
    """Nor with the blanks that make up for their width."""
    return " ".join(re.sub(r"[\d.]+|#+", "N", line).split())


def _done(command: str, folder: Path, monkeypatch: pytest.MonkeyPatch) -> tuple[int, str]:
    """Exit status and all that a command printed. What opens no device runs in this process."""
    program, verb = command.split()[:2]
    if program == "hipgemm" and verb in ("example", "lint", "build", "prove", "opt"):
        monkeypatch.chdir(folder)
        monkeypatch.setenv("COLUMNS", "160")
        done = CliRunner().invoke(main, shlex.split(command)[1:])
        assert done.exception is None or isinstance(done.exception, SystemExit), command
        return done.exit_code, done.stdout + done.stderr
    words = {"hipgemm": f"{sys.executable} -m hipgemm", "python": sys.executable}.get(program, program)
    words += command.removeprefix(program)
    environment = {**os.environ, "PYTHONPATH": str(DOCS.parent), "COLUMNS": "160"}
    ran = subprocess.run(words, shell=True, cwd=folder, env=environment, capture_output=True, text=True)
    return ran.returncode, ran.stdout + ran.stderr


@pytest.mark.parametrize(
    ("page", "left_out"),
    [
        ("tutorial.md", ("run", "time")), pytest.param("tutorial.md", (), marks=pytest.mark.slow),
        ("four-kernels.md", ("run", "time", "check", "timeline", "opt")),
        pytest.param("four-kernels.md", (), marks=pytest.mark.slow),
        ("steps-by-hand.md", ("time",)), pytest.param("steps-by-hand.md", (), marks=pytest.mark.slow),
    ],
)  # fmt: skip
def test_the_tutorials_run(
    page: str, left_out: tuple[str, ...], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Their commands in their order; each line that they show is printed, numbers aside; `[1]` is an exit status. A
    script is named before it."""
    tools = toolchain.find()
    if "clang version 22" not in tools.version:
        pytest.skip(f"the page shows what clang 22 makes, and this is {tools}")
    text, script = (DOCS / page).read_text(), re.compile(r"`(\w+\.py)`:\n\n```python\n(.*?)```\n", re.S)
    for name, code in script.findall(text):
        (tmp_path / name).write_text(code)
    blocks = script.sub("", text).split("```\n")[1::2]
    ran = 0
    for one in "".join(blocks).split("$ ")[1:]:
        command, _, shown = one.partition("\n")
        program, verb = command.split()[:2]
        if (program == "hipgemm" and verb in left_out) or ("opt" in left_out and "balanced.s" in command):
            continue
        code, said = _done(command, tmp_path, monkeypatch)
        lines = shown.splitlines()
        status = 1 if lines[-1:] == ["[1]"] else 0
        assert code == status, command + said
        printed = {_without_numbers(line) for line in said.splitlines()}
        assert {_without_numbers(line) for line in lines if line != "[1]"} <= printed | {""}, command
        ran += 1
    assert ran > 7


def test_the_hook_and_the_action_lint_every_file(tmp_path: Path) -> None:
    """As pre-commit calls it, with more than one file at once, and as the Action does, for what a change touches; the
    matcher that it adds finds the place of each fault."""
    entry = re.search(r"^  entry: (.*)$", (DOCS.parent / ".pre-commit-hooks.yaml").read_text(), re.MULTILINE)
    assert entry is not None
    shim = tmp_path / "hipgemm"
    shim.write_text(f'#!/bin/sh\nexec {sys.executable} -m hipgemm "$@"\n')
    shim.chmod(0o755)
    head = "\t.text\n\t.globl k\n\t.type k,@function\nk:\n"
    tail = "\ts_endpgm\n\t.amdhsa_kernel k\n\t.amdhsa_next_free_vgpr 8\n\t.amdhsa_next_free_sgpr 8\n"
    tail += "\t.amdhsa_user_sgpr_kernarg_segment_ptr 1\n\t.end_amdhsa_kernel\n"
    load = "\ts_load_b64 s[0:1], s[0:1], 0x0\n"
    for name, body in (("bad", load + "\ts_mov_b32 s3, s0\n"), ("good", load + "\ts_waitcnt lgkmcnt(0)\n")):
        (tmp_path / f"{name}.s").write_text(head + body + tail)
    environment = {**os.environ, "PYTHONPATH": str(DOCS.parent), "PATH": f"{tmp_path}:{os.environ['PATH']}"}

    def called(*files: str) -> int:
        words = [*shlex.split(entry[1]), *files]
        return subprocess.run(words, cwd=tmp_path, env=environment, capture_output=True, check=False).returncode

    assert called("bad.s", "good.s") == 1
    assert called("good.s") == 0

    def git(*words: str) -> str:
        named = ("git", "-c", "user.name=a", "-c", "user.email=a@example.org", *words)
        return subprocess.run(named, cwd=tmp_path, capture_output=True, text=True, check=True).stdout.strip()

    git("init", "-q")
    git("add", "good.s")
    git("commit", "-qm", "before")
    base = git("rev-parse", "HEAD")
    odd = "-::error::\u00e9.s"
    (tmp_path / "bad.s").rename(tmp_path / odd)
    git("add", "--", odd)
    git("commit", "-qm", "after")
    script = textwrap.dedent((DOCS.parent / "action.yml").read_text().rpartition("run: |\n")[2])
    [pattern] = json.loads((DOCS / "ci/matcher.json").read_text())["problemMatcher"][0]["pattern"]
    for files, expected in (("", f"./{odd}"), ("good.s\n", ""), (f"good.s\n{odd}", f"./{odd}")):
        there = environment | {"FILES": files, "BASE": base, "MATCHER": "here"}
        done = subprocess.run(
            ["bash", "-c", script], cwd=tmp_path, env=there, capture_output=True, text=True, check=False
        )
        _, stop, *_, go = done.stdout.splitlines()
        assert stop == "::stop-commands::" + go.strip(":")
        found = [m for line in done.stdout.splitlines() if (m := re.match(pattern["regexp"], line))]
        assert [m[pattern["file"]] for m in found] == [expected] * bool(expected), done.stdout + done.stderr
        assert [m[pattern["line"]] for m in found] == ["6"] * bool(expected)
        assert done.returncode == bool(expected)
