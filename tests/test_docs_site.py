"""The documentation as a site: `make docs` builds it without a warning, and a broken link is one."""

import logging
import re
import shutil
import sys
from pathlib import Path

import pytest

from isa.semantics.instruction import TABLE
from tools import isa_by_example

ROOT = Path(__file__).resolve().parents[1]
QUICK = [str(ROOT / "tools" / "isa_by_example.py")]
"""Without the kernels of the ladder, which take a minute to compile and play."""
mkdocs = pytest.importorskip("mkdocs.commands.build", reason="mkdocs-material is not installed")


def built(folder: Path, docs: Path, **options: object) -> list[str]:
    """The warnings of a build of these pages into the folder. options: in place of the configuration's."""
    from mkdocs.config import load_config

    warnings: list[str] = []
    handler = logging.Handler(logging.WARNING)
    handler.emit = lambda record: warnings.append(record.getMessage())  # type: ignore[method-assign]
    logging.getLogger("mkdocs").addHandler(handler)
    try:
        mkdocs.build(load_config(str(ROOT / "mkdocs.yml"), docs_dir=str(docs), site_dir=str(folder), **options))
    finally:
        logging.getLogger("mkdocs").removeHandler(handler)
    return warnings


def test_every_page_is_built_and_every_link_leads_somewhere(tmp_path: Path) -> None:
    assert built(tmp_path, ROOT / "docs", hooks=QUICK) == []
    pages = {page.stem for page in (ROOT / "docs").glob("*.md")} - {"README"}
    assert all((tmp_path / f"{page}.html").exists() for page in pages)
    assert (tmp_path / "index.html").exists()
    pictures = re.findall('<(?:img|source)[^>]* src(?:set)?="([^":]+)"', (tmp_path / "explore.html").read_text())
    assert len(pictures) == 6
    assert all((tmp_path / picture).exists() for picture in pictures)
    rows = "".join(page.read_text() for page in (tmp_path / "isa").glob("*.html"))
    assert [name for name in TABLE if rows.count(f"<td>{name}</td>") != 1] == []
    one = "<td>+v.f32, a.f32, a.f32</td><td>d, a, b: fma(a, b, d)</td><td></td><td>valu</td><td>SQTT: "
    assert f"<td>v_fmac_f32</td>{one}" in rows
    assert "<td>a, b: a &lt; b</td>" in rows
    assert re.search("<td>v_exp_f32</td>.*<td>HAZ001</td>", rows)
    assert re.search("<td>ds_load_b32</td>.*<td>lgkmcnt</td>", rows)
    if sys.version_info >= (3, 11):  # before, code does not say in which column it begins
        assert [name for name, one in TABLE.items() if not isa_by_example.meaning(one)] == []


def test_a_broken_link_is_a_warning(tmp_path: Path) -> None:
    pages = tmp_path / "docs"
    pages.mkdir()
    shutil.copy(ROOT / "docs" / "glossary.md", pages / "README.md")
    (pages / "other.md").write_text("[gone](no-such-page.md)")
    assert any("no-such-page.md" in text for text in built(tmp_path / "site", pages, hooks=QUICK))


@pytest.mark.slow
def test_the_story_has_each_kernel_with_its_timeline(tmp_path: Path) -> None:
    assert built(tmp_path, ROOT / "docs") == []
    page = (tmp_path / "story.html").read_text()
    for number in range(1, 11):
        assert page.count(f'src="story/kernel{number}.html"') == 1
        assert "v_" in (tmp_path / "story" / f"kernel{number}.html").read_text()
    assert page.count('class="causes"') == 10
