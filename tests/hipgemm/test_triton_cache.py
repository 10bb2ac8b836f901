"""`hipgemm opt --triton-cache`: overrides lie where Triton 3.9 looks, and none that would serve another launch.

The cache is laid out as Triton writes it; tools/clients.py runs Triton itself.
"""

import json
from pathlib import Path

import pytest
from click.testing import Result
from test_optimise import WMMA, linkable
from verbs import invoked

from hipgemm.kernels.stages import figures
from isa.asm.parse import parse


def kept(folder: Path, key: str, text: str, arch: str = "gfx1100", **options: int) -> None:
    """A kernel in a cache."""
    (folder / key).mkdir(parents=True)
    said = {"hash": "0", "target": {"backend": "hip", "arch": arch, "warp_size": 32}, "arch": arch, **options}
    (folder / key / "k.json").write_text(json.dumps(said))
    (folder / key / "__grp__k.json").write_text(json.dumps({"child_paths": {}}))
    (folder / key / "k.amdgcn").write_text(text)


def dumped(folder: Path, key: str, text: str) -> None:
    (folder / key).mkdir(parents=True)
    (folder / key / "k.amdgcn").write_text(text)


def opt(folder: Path, *, code: int = 0) -> Result:
    words = ["--triton-cache", "cache", "--triton-dump", "dump", "-o", "over", "--passes", "rename-banks"]
    return invoked(["opt", *(str(folder / w) if w in ("cache", "dump", "over") else w for w in words)], code=code)


def test_an_override_lies_under_the_dumps_key(tmp_path: Path) -> None:
    text = linkable(WMMA)
    kept(tmp_path / "cache", "FULL", text, num_warps=4)
    kept(tmp_path / "cache", "OTHER", "not assembly", arch="gfx90a")
    dumped(tmp_path / "dump", "SOURCE", text)
    done = opt(tmp_path)
    assert "k (num_warps 4): rewritten, proved" in done.stderr
    assert done.stdout.startswith("TRITON_KERNEL_OVERRIDE=1 TRITON_ALWAYS_COMPILE=1 TRITON_OVERRIDE_DIR=")
    assert [f.relative_to(tmp_path) for f in (tmp_path / "over").rglob("*.*")] == [Path("over/SOURCE/k.amdgcn")]
    assert figures(parse((tmp_path / "over/SOURCE/k.amdgcn").read_text()), "k").matrix == 0


def test_none_that_launches_with_other_options_would_get(tmp_path: Path) -> None:
    """The dump holds the last of two; Triton would give its override to both."""
    kept(tmp_path / "cache", "FOUR", linkable(WMMA), num_warps=4)
    kept(tmp_path / "cache", "EIGHT", linkable(WMMA.replace("0x100", "0x80")), num_warps=8)
    dumped(tmp_path / "dump", "SOURCE", linkable(WMMA))
    assert "its override would also apply to k (num_warps 8)" in opt(tmp_path).stderr
    assert not (tmp_path / "over").exists()


@pytest.mark.parametrize(("dump", "says"), [(False, "run the program with TRITON_KERNEL_DUMP=1"), (True, "unchanged")])
def test_what_cannot_be_done_is_said(dump: bool, says: str, tmp_path: Path) -> None:
    text = linkable(WMMA.replace("s_endpgm", "s_movrels_b32 s4, s5\n\ts_endpgm"))
    kept(tmp_path / "cache", "FULL", text)
    if dump:
        dumped(tmp_path / "dump", "SOURCE", text)
    done = opt(tmp_path)
    assert says in done.stderr
    assert "wrote 0 overrides" in done.stderr
    (tmp_path / "cache" / "FULL" / "__grp__k.json").unlink()
    assert "is not a Triton cache" in opt(tmp_path, code=2).stderr
