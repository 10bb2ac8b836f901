"""HTML from `templates/`: self-contained pages, no request to any server, light or dark as the reader's system is.

`base.html.j2` is the frame, `parts.html.j2` holds the pieces that pages and notebooks share, `style.css` all looks.
"""

from __future__ import annotations

from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

from isa.display import printable

if TYPE_CHECKING:
    from jinja2 import Environment

TEMPLATES = Path(__file__).with_name("templates")


@cache
def _environment() -> Environment:
    from jinja2 import Environment, FileSystemLoader, StrictUndefined

    made = Environment(
        loader=FileSystemLoader(TEMPLATES, encoding="utf-8"),
        autoescape=True,
        undefined=StrictUndefined,
        finalize=lambda value: printable(value) if type(value) is str else value,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    made.filters["percent"] = percent
    return made


def percent(share: float | None, digits: int = 1) -> str:
    """0.5 -> "50.0 %"; a share that is not known says so."""
    return "not known" if share is None else f"{100 * share:.{digits}f} %"


def render(template: str, **values: Any) -> str:
    """`templates/<template>` with these values. What is not marked safe is escaped."""
    return _environment().get_template(template).render(**values)


def part(name: str, *arguments: Any) -> str:
    """A macro of `parts.html.j2` in a frame of its own, with its style: for notebooks."""
    return render("fragment.html.j2", name=name, arguments=arguments)
