"""Which tests are asked when, and what they cost: `tests/plan.toml` and the clock of the whole run.

`make test` asks each kind of question once, and draws a fifth of the random examples (`examples`). `plan.toml` lists, a
table a file, what only `make test-all` asks: `more`, names of tests, all their sets of parameters but those in `keep`
(`name[parameters]`), or one such set. These have the marker `more`. What is not listed is asked by both.

A run with `--times` measures the processor time of each test, children included, and prints a table by file beside the
budgets of `plan.toml` (`seconds`). A file above its budget is named; time is shown and never judged, since
machines differ.
"""

from __future__ import annotations

import os
import sys
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import settings

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

ROOT = Path(__file__).resolve().parents[1]
FILE = Path(__file__).with_name("plan.toml")
KEY = "processor time"
PLAN: dict[str, dict[str, Any]] = tomllib.loads(FILE.read_text())


ASKED = {"all": False}
"""Whether this run asks all: `make test-all`, `make test-slow`."""


def pytest_configure(config: pytest.Config) -> None:
    ASKED["all"] = "not more" not in config.getoption("markexpr")
    settings.register_profile("quick", settings.default, max_examples=examples(100))
    settings.load_profile("quick")


def examples(full: int) -> int:
    """How many examples hypothesis draws for a test that `make test-all` gives so many."""
    return full if ASKED["all"] else max(full // 5, 10)


def file_of(nodeid: str) -> str:
    return nodeid.partition("::")[0].removeprefix("tests/")


def is_quick(nodeid: str) -> bool:
    """Whether `make test` asks it."""
    row = PLAN.get(file_of(nodeid), {})
    name = nodeid.partition("::")[2]
    return not {name, name.partition("[")[0]} & set(row.get("more", ())) or name in row.get("keep", ())


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    for item in items:
        if not is_quick(item.nodeid):
            item.add_marker("more")


def _processor_time() -> float:
    return sum(os.times()[:4])


class Clock:
    """Measures each test, and adds up what workers report."""

    def __init__(self) -> None:
        self.seconds: Counter[str] = Counter()
        self.last = _processor_time()

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_makereport(self) -> Iterator[None]:
        report: Any = yield
        now = _processor_time()
        report.user_properties.append((KEY, now - self.last))
        self.last = now
        return report

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        # Each phase repeats what the earlier ones of its test reported.
        found = [float(value) for key, value in report.user_properties if key == KEY]
        self.seconds[file_of(report.nodeid)] += found[-1] if found else 0.0

    def pytest_terminal_summary(self, terminalreporter: Any) -> None:
        write = terminalreporter.write_line
        terminalreporter.section("processor time by file, with its budget")
        for file, seconds in self.seconds.most_common():
            budget = PLAN.get(file, {}).get("seconds", 5)
            if seconds >= 1 or seconds > budget:
                write(f"{seconds:8.1f} s of {budget:4}  {file}" + ("  over its budget" if seconds > budget else ""))
        write(f"{sum(self.seconds.values()):8.1f} s in all")
