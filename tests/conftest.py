"""What all tests share: text cases, files in which an input stands above what is expected of it.

A case is a file with a line `;; expect` in it: above it the input, below it what the test makes of the input. After a
change that is meant, `pytest --bless` writes what came out into the files; read the diff before you commit it.
"""

import gc
import json
import os
from collections.abc import Callable, Mapping
from pathlib import Path

import plan
import pytest
from answer_schemas import check_answer
from hypothesis import HealthCheck, settings

from hipgemm.cli import FEW_COLLECTIONS, answers

settings.register_profile("any machine", deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("any machine")
"""How long an example takes, or is drawn, says how busy the machine is, and nothing of what is tested."""


gc.set_threshold(*FEW_COLLECTIONS)
"""As the command line has it."""


_CACHE = os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache"
os.environ.setdefault("ZIG_GLOBAL_CACHE_DIR", str(Path(_CACHE, "zig")))
"""Tests with a cache of their own do not make zig build the C library anew, which is 20 s."""


def pytest_collection_finish() -> None:
    """What collecting the tests made need not be looked through again."""
    gc.collect()
    gc.freeze()


MARK = ";; expect\n"


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--bless", action="store_true", help="write what came out into the text cases")
    parser.addoption("--times", action="store_true", help="print the processor time of each file beside its budget")


def pytest_configure(config: pytest.Config) -> None:
    config.pluginmanager.register(plan)
    if config.getoption("--times"):
        config.pluginmanager.register(plan.Clock())


@pytest.fixture(autouse=True)
def every_answer_fits_its_schema(monkeypatch: pytest.MonkeyPatch) -> None:
    """Whatever a verb prints with --json in this process is as `hipgemm schema` says, and has no key beside."""
    plain = answers.text

    def text(verb: str, found: Mapping[str, object]) -> str:
        said = plain(verb, found)
        check_answer(verb, json.loads(said))
        return said

    monkeypatch.setattr(answers, "text", text)


@pytest.fixture
def text_case(request: pytest.FixtureRequest) -> Callable[[Path, Callable[[str], str]], None]:
    """`text_case(path, show)` compares show(input) with what the file expects."""

    def check(path: Path, show: Callable[[str], str]) -> None:
        source, mark, expected = path.read_text().partition(MARK)
        actual = show(source).rstrip("\n") + "\n"
        if request.config.getoption("--bless"):
            path.write_text(source + MARK + actual)
            return
        assert mark, f"{path} has no line {MARK!r}: run pytest --bless and read what it wrote"
        assert actual == expected, f"{path}: run pytest --bless if the change is meant"

    return check
