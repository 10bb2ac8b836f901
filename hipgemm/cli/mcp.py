"""`hipgemm mcp`: the verbs as tools of the Model Context Protocol, over stdin and stdout, by its Python SDK.

In: the verbs' own commands and schemas. Out: a tool for each verb of TOOLS, whose input schema is made from the options
of the command and whose output schema is the one of its --json. A call is a process of its own, `hipgemm VERB --json`
with the options that were given: a fault, or a limit that it meets, ends the call alone. Exit status 2 is a tool error.

A client may name any file that the user may read, as on the command line. What would run a program that it names is
left out: --hipcc, and flags for the compiler. --reference runs Python, and is there: to judge is what it is for.
"""

from __future__ import annotations

import importlib
import json
import signal
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import click

from hipgemm.cli import SECTIONS, answers
from isa import packages
from isa.children import ENDING, obey, python
from isa.errors import IsaError

if TYPE_CHECKING:
    import mcp_types as types

TOOLS = (
    "judge",
    "lint",
    "check",
    "run",
    "inspect",
    "time",
    "prove",
    "diff",
    "explain",
    "lab",
    "list",
    "example",
    "doctor",
)
_LEFT_OUT = {
    "as_json",
    "sarif",
    "html",
    "listing",
    "explorer",
    "hipcc",
    "rules",
    "help",
    "device_libs",
    "out",
    "outs",
    "-o",
}
_VERB = python(
    "from isa.children import die_with_parent as d; d(); from hipgemm.cli import main; main(prog_name='hipgemm')"
)
STDIN = "stdin"
SECONDS = 600.0


@click.command("mcp")
def command() -> None:
    """Serve the verbs as tools of the Model Context Protocol on stdin and stdout, for agents that write kernels. In the
    client's settings: the command `hipgemm` with the argument `mcp`.

    A kernel is a file, or text in `stdin` with "-" for the file.
    """
    packages.load("mcp")
    import anyio
    import mcp_types as types
    from mcp.server.lowlevel import Server
    from mcp.server.stdio import stdio_server

    async def listed(_: Any, __: Any) -> types.ListToolsResult:
        return types.ListToolsResult(tools=[_tool(verb) for verb in TOOLS])

    async def called(_: Any, asked: types.CallToolRequestParams) -> types.CallToolResult:
        return await _call(asked.name, asked.arguments or {})

    async def serve() -> None:
        import hipgemm

        server: Server[Any] = Server("hipgemm", version=hipgemm.__version__, on_list_tools=listed, on_call_tool=called)
        async with stdio_server() as (reading, writing):
            await server.run(reading, writing, server.create_initialization_options())

    obey(signal.SIGINT, *ENDING)  # what waits for stdin hears nothing else
    anyio.run(serve)


def _tool(verb: str) -> types.Tool:
    import mcp_types as types

    what = next(verbs[verb] for verbs in SECTIONS.values() if verb in verbs)
    made = command_of(verb)
    lines = (made.help or "").replace("\b", "").split("\n\n")
    return types.Tool(
        name=verb, title=what, description="\n\n".join(" ".join(part.split()) for part in lines),
        input_schema=inputs_of(made), output_schema=answers.schema(verb),
    )  # fmt: skip


def command_of(verb: str) -> click.Command:
    """The command of a verb. IsaError for what is no tool."""
    if verb not in TOOLS:
        raise IsaError(f"no tool {verb!r}", expected=", ".join(TOOLS))
    found = importlib.import_module(f"hipgemm.cli.{verb}").command
    assert isinstance(found, click.Command)
    return found


def _taken(made: click.Command) -> dict[str, click.Parameter]:
    """The parameters that a tool takes, by the longest of their names without dashes."""
    found: dict[str, click.Parameter] = {}
    for parameter in made.params:
        if not {parameter.name, *parameter.opts} & _LEFT_OUT:
            name = (
                max(parameter.opts, key=len).lstrip("-").replace("-", "_") if _is_option(parameter) else parameter.name
            )
            found[name or ""] = parameter
    return found


def _is_option(parameter: click.Parameter) -> bool:
    return isinstance(parameter, click.Option)


def inputs_of(made: click.Command) -> dict[str, Any]:
    """The JSON Schema of a tool's arguments."""
    properties: dict[str, Any] = {}
    needed = []
    for name, parameter in _taken(made).items():
        one = _type(parameter)
        several = parameter.multiple or parameter.nargs == -1
        properties[name] = {"type": "array", "items": one} if several else one
        if said := getattr(parameter, "help", None) or (parameter.make_metavar(click.Context(made)) or ""):
            properties[name]["description"] = said
        if parameter.required:
            needed.append(name)
    properties[STDIN] = {"type": "string", "description": 'Text of HIP source or assembly, where the file is "-".'}
    return {"type": "object", "properties": properties, "required": needed, "additionalProperties": False}


def _type(parameter: click.Parameter) -> dict[str, Any]:
    kind = parameter.type
    if isinstance(parameter, click.Option) and parameter.is_flag:
        return {"type": "boolean"}
    if isinstance(kind, click.Choice):
        return {"enum": list(kind.choices)}
    if isinstance(kind, (click.IntRange, click.FloatRange)):
        ends = {"minimum": kind.min, "maximum": kind.max}
        whole = isinstance(kind, click.IntRange)
        return {"type": "integer" if whole else "number", **{k: v for k, v in ends.items() if v is not None}}
    if isinstance(kind, (click.types.IntParamType, click.types.FloatParamType)):
        return {"type": "integer" if isinstance(kind, click.types.IntParamType) else "number"}
    return {"type": "string"}


def words_of(verb: str, given: Mapping[str, Any]) -> list[str]:
    """The words of the command line for a tool's arguments. IsaError for what the verb does not take, and for a file's
    name that would be read as an option."""
    known = _taken(command_of(verb))
    options, files = [], []
    for name, value in given.items():
        if name == STDIN:
            continue
        if name not in known:
            raise IsaError(f"{verb} takes no {name!r}", expected=", ".join(known))
        parameter = known[name]
        for one in value if isinstance(value, list) else [value]:
            if not isinstance(one, (str, int, float)):
                raise IsaError(f"{name} cannot be {json.dumps(one)}", expected="text, a number, or true")
            if not isinstance(parameter, click.Option):
                if str(one).startswith("-") and one != "-":
                    raise IsaError(f"{one!r} is no file", expected="a name that does not begin with -")
                files.append(str(one))
            elif parameter.is_flag:
                no = parameter.secondary_opts
                options += [parameter.opts[-1]] if one else no[-1:]
            else:
                option = max(parameter.opts, key=len)
                options.append(f"{option}={one}" if option.startswith("--") else f"{option}{one}")
    return [verb, "--json", *options, *files]


async def _call(verb: str, given: Mapping[str, Any]) -> types.CallToolResult:
    import anyio
    import mcp_types as types

    def failed(said: str) -> types.CallToolResult:
        return types.CallToolResult(content=[types.TextContent(type="text", text=said)], is_error=True)

    try:
        words = words_of(verb, given)
    except IsaError as error:
        return failed(str(error))
    try:
        with anyio.fail_after(SECONDS):
            done = await anyio.run_process([*_VERB, *words], input=str(given.get(STDIN, "")).encode(), check=False)
    except TimeoutError:
        return failed(f"hipgemm {verb} took more than {SECONDS:g} s and was ended")
    except (OSError, ValueError) as error:  # words that no process takes: a null byte, too many
        return failed(f"hipgemm {verb} cannot be started: {error}")
    text, status = done.stdout.decode(), done.returncode
    try:
        found = json.loads(text)
    except ValueError:
        found = None
    if status not in (0, 1) or not isinstance(found, dict) or "error" in found:
        return failed(text or done.stderr.decode(errors="replace") or f"hipgemm {verb} ended with status {status}")
    return types.CallToolResult(content=[types.TextContent(type="text", text=text)], structured_content=found)
