"""`hipgemm lint`: what it takes and what it exits with."""

import json
from pathlib import Path

import pytest
from click.testing import CliRunner

from hipgemm.build import build
from hipgemm.cli import main
from hipgemm.kernels import LADDER
from isa import toolchain
from isa.check.lint import lint_code_object, lint_program
from isa.parse import parse

CASES = Path(__file__).parents[1] / "isa" / "check" / "cases" / "lint"


@pytest.fixture
def case(tmp_path: Path) -> Path:
    file = tmp_path / "waits.s"
    file.write_text((CASES / "waits.s").read_text().partition(";; expect\n")[0])
    return file


def test_faults_exit_with_1_and_name_their_place(case: Path) -> None:
    done = CliRunner().invoke(main, ["lint", str(case)])
    assert done.exit_code == 1
    assert f"{case}:" in done.stdout
    assert "^" in done.stdout


def test_json_is_one_object(case: Path) -> None:
    done = CliRunner().invoke(main, ["lint", str(case), "--json", "--faults-only"])
    told = json.loads(done.stdout)
    assert told["faults"] == len(told["findings"]) > 0
    assert {"severity", "rule", "source", "message", "place", "where", "next"} <= told["findings"][0].keys()


def test_stdin_and_a_clean_file() -> None:
    text = (CASES / "clean.s").read_text().partition(";; expect\n")[0]
    assert CliRunner().invoke(main, ["lint", "-"], input=text).exit_code == 0


def test_a_kernel_is_built_and_checked() -> None:
    assert CliRunner().invoke(main, ["lint", "kernel1"]).exit_code == 0


@pytest.mark.parametrize("tools", [t for t in toolchain.available() if t.kind != "hipcc"], ids=str)
def test_no_rung_has_a_fault_with_any_compiler(tools: toolchain.Toolchain) -> None:
    """What `hipgemm lint kernelN` looks at, and the code object that HIP loads."""
    for name in LADDER:
        made = build(name, tools=tools)
        assert lint_program(parse(made.assembly.read_text(), made.assembly.name), notes=False) == []
        assert lint_code_object(made.code_object(), name, notes=False) == []


def test_a_code_object_from_a_file_and_from_stdin(tmp_path: Path) -> None:
    made = build("kernel2")
    for what, data in ((str(made.hsaco), None), ("-", made.hsaco.read_bytes())):
        done = CliRunner().invoke(main, ["lint", what, "--json"], input=data)
        assert done.exit_code == 0
        assert json.loads(done.stdout)["faults"] == 0


@pytest.mark.parametrize("content", [None, b"", b"\xff\xfe\x00", b"\x7fELF and no more", b"%what is this\n"])
def test_what_cannot_be_read_exits_with_2(content: bytes | None, tmp_path: Path) -> None:
    file = tmp_path / "k.s"
    if content is not None:
        file.write_bytes(content)
    assert CliRunner().invoke(main, ["lint", str(file)]).exit_code == 2
