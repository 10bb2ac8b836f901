"""`hipgemm mcp`: its tools, and a client of the SDK that judges a kernel by it."""

import json
import sys
from pathlib import Path

import pytest
from jsonschema import Draft202012Validator

from hipgemm.cli import mcp as server
from isa.errors import IsaError

KERNEL = 'extern "C" __global__ void twice(float* y) { y[threadIdx.x] = 2.0f * y[threadIdx.x]; }\n'


@pytest.mark.parametrize("verb", server.TOOLS)
def test_each_tool_says_what_it_takes(verb: str) -> None:
    found = server.inputs_of(server.command_of(verb))
    Draft202012Validator.check_schema(found)
    assert not {"hipcc", "json", "sarif"} & set(found["properties"])


@pytest.mark.parametrize(("verb", "given", "words"), [
    ("lint", {"what": ["a.s", "b.s"], "faults_only": True}, "lint --json --faults-only a.s b.s"),
    ("judge", {"what": "k.hip", "grid": "2,1,1", "arg": ["i32:1", "y=zeros:f32:8"], "n": 64},
     "judge --json --grid=2,1,1 --arg=i32:1 --arg=y=zeros:f32:8 -n64 k.hip"),
    ("time", {"what": "-", "run": False}, "time --json --no-run -"),
])  # fmt: skip
def test_arguments_become_the_words_of_the_command_line(verb: str, given: dict[str, object], words: str) -> None:
    assert server.words_of(verb, given) == words.split()


@pytest.mark.parametrize(("verb", "given", "said"), [
    ("lint", {"what": ["--hipcc=/bin/sh"]}, "is no file"),
    ("judge", {"what": "k.hip", "hipcc": "/bin/sh"}, "takes no 'hipcc'"),
    ("judge", {"what": {"a": 1}}, "cannot be"),
    ("simulate", {}, "no tool"),
])  # fmt: skip
def test_what_would_be_another_command_is_refused(verb: str, given: dict[str, object], said: str) -> None:
    with pytest.raises(IsaError, match=said):
        server.words_of(verb, given)


@pytest.mark.parametrize("given", [{"what": "a\0b"}, {"what": "-", "stdin": "\ud800"}, {"what": ["x" * 100_000] * 100}])
def test_words_that_no_process_takes_are_an_error_of_the_tool(given: dict[str, object]) -> None:
    anyio = pytest.importorskip("anyio")
    pytest.importorskip("mcp_types")
    assert anyio.run(server._call, "lint", given).is_error


def test_a_client_judges_a_kernel(tmp_path: Path) -> None:
    import anyio
    from mcp import StdioServerParameters
    from mcp.client import ClientSession
    from mcp.client.stdio import stdio_client

    (tmp_path / "ref.py").write_text("def reference(y):\n    return 2 * y\n")
    launch = {"what": "-", "stdin": KERNEL, "grid": "1", "block": "32", "arg": ["y=random:f32:32"]}

    async def talk() -> tuple[set[str], object, object]:
        how = StdioServerParameters(command=sys.executable, args=["-m", "hipgemm", "mcp"], cwd=str(tmp_path))
        async with stdio_client(how) as (reading, writing), ClientSession(reading, writing) as session:
            await session.initialize()
            tools = {tool.name for tool in (await session.list_tools()).tools}
            right = await session.call_tool("judge", {**launch, "reference": "ref.py"})
            lacking = await session.call_tool("lint", {"what": ["none.s"]})
            return tools, right, lacking

    tools, right, lacking = anyio.run(talk)
    assert tools == set(server.TOOLS)
    assert right.structured_content["good"] is True, right
    assert right.structured_content == json.loads(right.content[0].text)
    assert lacking.is_error
    assert "none.s" in lacking.content[0].text
