"""What the documents say is so."""

import importlib
import textwrap
from pathlib import Path

import pytest

from hipgemm.cli import VERBS
from hipgemm.lab import EXPERIMENTS, experiment
from hipgemm.simulated_hip import calls

DOCS = Path(__file__).resolve().parents[2] / "docs"
MARK = "<!-- calls -->\n"


def call_list() -> str:
    """Every declared call and its aliases, by the module that declares it."""
    sections = []
    for subject in calls.__all__:
        if subject == "CALLS":
            continue
        module = f"hipgemm.simulated_hip.calls.{subject}"
        names = sorted(name for name, call in calls.CALLS.items() if call.function.__module__ == module)
        text = importlib.import_module(module).__doc__
        assert text is not None
        assert names, f"{subject} declares no call"
        first = " ".join(text.split("\n\n")[0].split())
        listed = textwrap.fill(", ".join(f"`{name}`" for name in names), 120, break_on_hyphens=False)
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
    assert headings == list(EXPERIMENTS)
    for name in EXPERIMENTS:
        assert experiment(name).paragraph in words
        assert (DOCS / "lab" / f"{name}.svg").exists()
