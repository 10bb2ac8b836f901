"""`hipgemm schema [VERB]`: the contract of a verb's --json."""

from __future__ import annotations

import json

import click

from hipgemm.cli import answers, say


@click.command("schema")
@click.argument("verb", required=False)
def command(verb: str | None) -> None:
    """Print the JSON Schema of what VERB prints with --json; without VERB, list those that have one. `error` is what
    any of them prints in place of its answer."""
    if verb is None:
        say([(name, answers.schema(name)["description"]) for name in answers.schemas()])
    else:
        click.echo(json.dumps(answers.schema(verb), indent=2))
