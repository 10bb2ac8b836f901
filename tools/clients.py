"""Programs of others on the simulated card, from where they are published: `make clients`.

    python tools/clients.py [NAME ...] [--folder DIR] [--update]

Each client gets a virtual environment of its own, with the packages that are named here, and a fresh cache; what it
does and how it is judged is in tests/clients. The result is a table, which --update writes into docs/clients.md. Exit
status 1 where a client gives a wrong answer, 2 where it could not be made to run.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import subprocess
import sys
import tempfile
from collections import Counter
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[1]
SUITES = ROOT / "tests" / "clients"
PAGE = ROOT / "docs" / "clients.md"
PACKAGES = {"triton": ("triton==3.9.0", "numpy==2.4.6", "ml_dtypes")}


def environment(folder: Path, packages: tuple[str, ...]) -> Path:
    """The Python of a virtual environment with these packages, made where it is not there yet."""
    python = folder / "bin" / "python"
    if not python.exists():
        subprocess.run([sys.executable, "-m", "venv", folder], check=True)
        subprocess.run([python, "-m", "pip", "install", "--quiet", *packages], check=True)
    return python


def simulated(*words: str | Path, check: bool = False, **variables: str) -> int:
    """The exit status of a command under `hipgemm simulate`."""
    options = ["--check"] if check else []
    command = [sys.executable, "-m", "hipgemm", "simulate", *options, "--", *map(str, words)]
    return subprocess.run(command, env={**os.environ, "PYTHONPATH": str(ROOT), **variables}, check=False).returncode


def triton(folder: Path) -> tuple[str, bool]:
    """The kernels of tests/clients/triton_kernels.py, plain and under the sanitizer."""
    python = environment(folder / "triton", PACKAGES["triton"])
    found: list[dict[str, Any]] = []
    with tempfile.TemporaryDirectory() as cache:
        for check in (False, True):
            out = folder / f"triton-{'check' if check else 'run'}.json"
            out.unlink(missing_ok=True)
            words = (python, "-W", "ignore", SUITES / "triton_kernels.py", "--json", out)
            simulated(*words, check=check, TRITON_CACHE_DIR=cache)
            if not out.exists():
                raise SystemExit(2)
            found.append(json.loads(out.read_text()))
    return triton_table(*found), all(row["right"] is True for row in found[0]["cases"])


def triton_table(run: dict[str, Any], checked: dict[str, Any]) -> str:
    """Markdown: the sums, then a row for each case."""
    faults = {row["case"]: row["faults"] for row in checked["cases"]}
    rows, rules = run["cases"], Counter(r for f in run["lint"] for r in f["faults"])
    right = sum(row["right"] is True for row in rows)
    timed = sum(row["microseconds"] is not None for row in rows)
    clean = sum(not n for n in faults.values())
    said = ", ".join(f"{rule} {n} times" for rule, n in sorted(rules.items())) or "nothing"
    head = [
        f"Triton {run['triton']}, {len(rows)} cases: {right} right, {timed} with a predicted time, {clean} clean under "
        f"`--check`. Lint, in {len(run['lint'])} code objects: {said}.",
        "",
        "| case | | launches | predicted, us | faults under `--check` |",
        "|---|---|---|---|---|",
    ]
    for row in rows:
        took = "not known" if row["microseconds"] is None else f"{row['microseconds']:.1f}"
        answer = "right" if row["right"] is True else row["right"]
        head.append(f"| {row['case']} | {answer} | {row['launches']} | {took} | {faults.get(row['case'], '')} |")
    return "\n".join(head) + "\n"


CLIENTS = {"triton": triton}


def write(name: str, table: str) -> None:
    """Put a client's table into the page, between its marks."""
    text = PAGE.read_text()
    mark = re.compile(rf"(<!-- {name} -->\n).*?(<!-- end -->\n)", re.S)
    PAGE.write_text(mark.sub(lambda found: f"{found[1]}\n{table}\n{found[2]}", text))


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("names", nargs="*", choices=[*CLIENTS, []], help="all, if none is named")
    parser.add_argument("--folder", type=Path, default=ROOT / "build" / "clients")
    parser.add_argument("--update", action="store_true", help="write the tables into docs/clients.md")
    asked = parser.parse_args()
    asked.folder.mkdir(parents=True, exist_ok=True)
    wrong = False
    for name in asked.names or CLIENTS:
        table, right = CLIENTS[name](asked.folder)
        print(table)
        wrong |= not right
        if asked.update:
            write(name, table)
    return int(wrong)


if __name__ == "__main__":
    sys.exit(main())
