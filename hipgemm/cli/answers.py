"""Answers as JSON: what a verb found -> one object a line on stdout, of the JSON Schema that is shipped for the verb.

schemas/VERB.json is the contract (draft 2020-12), with a description for each key; `_parts.json` has what several of
them share, and `hipgemm schema VERB` prints the whole. Any version may add keys: a schema does not forbid them. A
number that JSON does not have becomes null. What others have a format for, SARIF and Compiler Explorer's, is not ours.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from functools import cache
from importlib.resources import files
from typing import Any

import click

from isa.errors import IsaError, meant


def answer(verb: str, found: Mapping[str, object]) -> None:
    """Prints an object of `schema(verb)`."""
    click.echo(text(verb, found))


def text(verb: str, found: Mapping[str, object]) -> str:
    """An answer of the verb in a line."""
    return json.dumps(finite(found), allow_nan=False)


def finite(value: object) -> Any:
    """The value with null for each number that JSON does not have."""
    if isinstance(value, float):
        return value if value - value == 0 else None
    if isinstance(value, Mapping):
        return {key: finite(one) for key, one in value.items()}
    if isinstance(value, (list, tuple)):
        return [finite(one) for one in value]
    return value


@cache
def schemas() -> tuple[str, ...]:
    """The verbs that answer in JSON, and `error`, what any of them prints in place of an answer."""
    names = (f.name for f in _folder().iterdir())
    return tuple(sorted(name.removesuffix(".json") for name in names if name[0] != "_" and name.endswith(".json")))


@cache
def schema(verb: str) -> Any:
    """The schema of a verb's answers. Raises IsaError where there is none."""
    if verb not in schemas():
        known = ", ".join(schemas())
        raise IsaError(f"no schema of {verb!r}", expected=f"one of {known}", hint=meant(verb, schemas()))
    found, parts = (json.loads(_folder().joinpath(f"{n}.json").read_text(encoding="utf-8")) for n in (verb, "_parts"))
    wanted = _named(found)
    while more := {name for part in wanted for name in _named(parts["$defs"][part])} - wanted:
        wanted |= more
    return found | ({"$defs": {name: parts["$defs"][name] for name in sorted(wanted)}} if wanted else {})


def _named(schema: object) -> set[str]:
    """The parts that a schema refers to."""
    return set(re.findall(r"#/\$defs/(\w+)", json.dumps(schema)))


def _folder() -> Any:
    return files("hipgemm.cli").joinpath("schemas")
