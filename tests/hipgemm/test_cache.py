"""`hipgemm cache`: what it shows and drops."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
from click.testing import CliRunner

from hipgemm.cli import main
from isa import cache
from isa.asm.emit import emit
from isa.gemm.vector.generate import generate
from isa.gemm.vector.parameters import Parameters


@pytest.fixture(autouse=True)
def two_entries(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    for name in ("first", "second"):
        cache.make("kind", name, lambda folder: (folder / "file").write_bytes(bytes(900_000)) and None)


def told(*arguments: str) -> dict:
    done = CliRunner().invoke(main, ["cache", *arguments, "--json"])
    assert done.exit_code == 0, done.output
    return json.loads(done.stdout)


def test_show_drops_nothing() -> None:
    assert "2 entries" in CliRunner().invoke(main, ["cache"]).stdout
    found = told("show")
    assert (found["dropped"], found["freed"]) == (0, 0)
    assert found["folder"] == str(cache.root())
    assert [(kind["kind"], kind["entries"]) for kind in found["kinds"]] == [("kind", 2)]
    assert found["bytes"] == found["kinds"][0]["bytes"] > 1_800_000


def test_limit_and_clear() -> None:
    assert told("limit", "2")["dropped"] == 0
    assert told("limit", "1")["dropped"] == 1
    assert told("clear")["dropped"] == 1
    assert told()["bytes"] == 0


@pytest.mark.parametrize("arguments", [["limit"], ["show", "5"], ["clear", "5"], ["limit", "-1"], ["burn"]])
def test_refusals(arguments: list[str]) -> None:
    assert CliRunner().invoke(main, ["cache", *arguments]).exit_code == 2
    assert told()["kinds"][0]["entries"] == 2


KERNEL = """
	.text
	.globl k
	.type k,@function
k:
	s_load_b64 s[0:1], s[0:1], 0x0
	v_lshlrev_b32_e32 v1, 2, v0
	v_mov_b32_e32 v2, 1.0
	s_waitcnt lgkmcnt(0)
	global_store_b32 v1, v2, s[0:1]
	s_endpgm
.Lfunc_end0:
	.size k, .Lfunc_end0-k
	.rodata
	.amdhsa_kernel k
		.amdhsa_user_sgpr_count 2
		.amdhsa_user_sgpr_kernarg_segment_ptr 1
		.amdhsa_kernarg_size 8
		.amdhsa_next_free_vgpr 3
		.amdhsa_next_free_sgpr 4
	.end_amdhsa_kernel
	.amdgpu_metadata
---
amdhsa.version: [1, 2]
amdhsa.kernels:
  - {.name: k, .symbol: k.kd, .kernarg_segment_size: 8, .kernarg_segment_align: 8, .group_segment_fixed_size: 0,
     .private_segment_fixed_size: 0, .wavefront_size: 32, .sgpr_count: 4, .vgpr_count: 3,
     .max_flat_workgroup_size: 32,
     .args: [{.offset: 0, .size: 8, .value_kind: global_buffer, .address_space: global, .name: x}]}
...
	.end_amdgpu_metadata
"""


VERBS = """
import sys
from hipgemm.cli import main
launch = ["k.s", "--grid", "1", "--block", "32", "--arg", "x=zeros:f32:32"]
for verb in (["run", *launch], ["check", *launch], ["time", *launch], ["prove", "k.s", "--against", "k.s"],
             ["prove", "kernel9", "--assembly", "kernel9.s", "-m", "1", "-n", "1", "-k", "1"],
             ["simulate", "script.py"]):
    try:
        main(verb)
    except SystemExit as end:
        print("exit", verb[0], end.code)
"""


def test_verbs_where_the_folder_takes_nothing(tmp_path: Path) -> None:
    """Each does without, and stderr is told once. Root may write anywhere, but not into a file."""
    (tmp_path / "cache").write_text("a file where the folder would be")
    (tmp_path / "k.s").write_text(KERNEL)
    (tmp_path / "kernel9.s").write_text(emit(generate(Parameters(), "kernel9")))
    (tmp_path / "script.py").write_text("print('ran')")
    environment = {"XDG_CACHE_HOME": str(tmp_path / "cache"), "PYTHONPATH": str(Path(__file__).parents[2])}
    done = subprocess.run(
        [sys.executable, "-c", VERBS], capture_output=True, text=True, cwd=tmp_path, env=os.environ | environment
    )
    ended = [line for line in done.stdout.splitlines() if line.startswith("exit ")]
    assert ended == [f"exit {verb} 0" for verb in ("run", "check", "time", "prove", "prove", "simulate")], done.stderr
    assert "ran" in done.stdout.splitlines()
    (said,) = [line for line in done.stderr.splitlines() if "can be kept" in line]
    assert f"nothing can be kept in the cache folder {tmp_path / 'cache' / 'hipgemm'} (" in said
    assert "Traceback" not in done.stderr
