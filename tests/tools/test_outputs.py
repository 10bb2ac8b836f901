"""The tool that writes all outputs: the same twice from one tree, caches and folders aside."""

from pathlib import Path

from tools.outputs import ROOT, Tree


def test_one_tree_gives_the_same_twice(tmp_path: Path) -> None:
    trees = [Tree(ROOT, tmp_path / name, tmp_path / f"cache-{name}") for name in ("a", "b")]
    for tree in trees:
        tree.tell("lint-kernel1", ("lint", "kernel1"))
        tree.translate("kernel1")
    for name, holds in (("told/lint-kernel1.json", "exit 0"), ("ir/kernel1.ll", "define ")):
        first, second = ((tree.out / name).read_text() for tree in trees)
        assert holds in first
        assert first == second
