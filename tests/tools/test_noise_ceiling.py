"""How well measured times repeat, on made-up measurements whose noise is known."""

from __future__ import annotations

import subprocess
from pathlib import Path

import numpy as np
import pytest

from isa.errors import IsaError
from tools import noise_ceiling

SIZES = (1024, 2048, 4096, 8192)


def page(rocm: str, rates: list[float], cross: str = "x") -> str:
    rows = [
        f"| {n}{cross}{n}{cross}{n} | (c,c) | 1.5 | {rate:.2f} | 1 | 2 | 3 |" for n in SIZES for rate in rates
    ]  # fmt: skip
    return f"On a card, ROCm {rocm} in TFLOPs.\n| Matrix Size | Input |\n|:---|:---|\n" + "\n".join(rows) + "\n"


def test_rates_are_read_of_both_forms_of_the_page() -> None:
    for cross in "x\N{MULTIPLICATION SIGN}":
        assert noise_ceiling.rates_of(page("6.4.1", [11.5, 11.25], cross))[2048] == (11.5, 11.25)


def test_what_all_kernels_of_a_repeat_share_is_no_noise() -> None:
    kernels, shared = np.array([1.0, 1.2, 1.1, 1.3]), np.array([1.0, 1.1, 0.9])
    assert np.allclose(noise_ceiling.residuals(shared[:, None] * kernels), 0)


def test_noise_is_found_as_wide_as_it_is() -> None:
    random = np.random.default_rng(1)
    found = [noise_ceiling.residuals(np.exp(random.normal(0, 0.03, (4, 4)))).std() for _ in range(500)]
    assert np.sqrt(np.mean(np.square(found))) == pytest.approx(0.03, rel=0.05)


def test_the_ceiling_falls_with_noise() -> None:
    measured = [1.0, 1.02, 1.04, 1.06]
    means = [noise_ceiling.ceiling(measured, np.linspace(-w, w, 101)).mean() for w in (0.0, 0.03, 5.0)]
    assert means[0] == 1
    assert 0.9 > means[1] > 0.3
    assert abs(means[2]) < 0.05


def commit(folder: Path, text: str) -> None:
    (folder / "docs").mkdir(exist_ok=True)
    (folder / "docs" / "square.md").write_text(text, encoding="utf-8")
    who = ["-c", "user.name=a", "-c", "user.email=a@b"]
    for words in (["add", "-A"], [*who, "commit", "-q", "--allow-empty", "-m", "x"]):
        subprocess.run(["git", "-C", str(folder), *words], check=True)


def test_a_column_that_was_copied_counts_once_and_another_rocm_not_at_all(tmp_path: Path) -> None:
    subprocess.run(["git", "init", "-q", str(tmp_path)], check=True)
    first, second, third = [11.0, 12.0, 13.0, 14.0], [11.5, 12.0, 13.0, 14.0], [11.0, 12.5, 13.0, 14.0]
    for rates in (first, second):
        commit(tmp_path, page("6.4.1", rates))
    with pytest.raises(IsaError, match="too few repeats"):
        noise_ceiling.repeats(tmp_path)
    for rocm, rates in (("6.4.1", third), ("6.4.1", second), ("6.4.2", [1.0, 2.0, 3.0, 4.0])):
        commit(tmp_path, page(rocm, rates))
    found = {row[1024] for row in noise_ceiling.repeats(tmp_path)}
    assert found == {tuple(first), tuple(second), tuple(third)}
    assert noise_ceiling.table(noise_ceiling.repeats(tmp_path)).count("\n") == 1 + len(SIZES)


def test_a_folder_without_history_is_refused(tmp_path: Path) -> None:
    with pytest.raises(IsaError, match="no clone"):
        noise_ceiling.repeats(tmp_path)
