"""An answer of a verb against its schema, which in tests leaves no room for other keys."""

import functools
from typing import Any

from hipgemm.cli import answers


def check_answer(verb: str, found: object) -> None:
    """Raises jsonschema.ValidationError where an answer is not as the verb's schema says."""
    _validator(verb).validate(found)


@functools.cache
def _validator(verb: str) -> Any:
    from jsonschema import Draft202012Validator

    return Draft202012Validator(closed(answers.schema(verb)))


def closed(schema: object) -> object:
    """The schema without room for keys that it does not name."""
    if isinstance(schema, list):
        return [closed(one) for one in schema]
    if not isinstance(schema, dict):
        return schema
    made = {key: closed(value) for key, value in schema.items()}
    return made | ({"additionalProperties": False} if isinstance(schema.get("properties"), dict) else {})
