"""Python's collection of garbage: put off while what is made lives on anyway and has few cycles.

A collection looks at all objects that it has not looked at before, so it costs the more the more are made at once.
"""

from __future__ import annotations

import gc
from collections.abc import Iterator
from contextlib import contextmanager


@contextmanager
def uncollected() -> Iterator[None]:
    """Collects what has cycles afterwards, not at once."""
    enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if enabled:
            gc.enable()
