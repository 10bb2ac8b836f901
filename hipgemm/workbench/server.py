"""Server of the workbench: requests of one page on 127.0.0.1 -> answers; nothing leaves the machine.

Who may ask: a browser that has the token (in the address that is printed; the page sends it back in a header), from the
server's own address. A request with another Host is refused, so that a name that somebody points at 127.0.0.1 is of no
use, and so is one with another Origin. The page has no inline script and loads nothing from elsewhere (its
Content-Security-Policy says so); texts are put in as text.

Kernels are compiled and judged in a thread, one at a time: a newer request of the same kind takes the place of one that
waits. The file that was opened is read again whenever it changes on disk.
"""

from __future__ import annotations

import asyncio
import base64
import hashlib
import hmac
import json
import secrets
from collections.abc import Awaitable, Callable
from importlib.resources import files
from pathlib import Path
from typing import TYPE_CHECKING, Any

from hipgemm.cli import error_object
from hipgemm.cli.answers import finite
from hipgemm.workbench import view
from hipgemm.workbench.stepping import Break, Walk
from isa.errors import IsaError
from isa.toolchain import ARCHS

if TYPE_CHECKING:
    from starlette.applications import Starlette
    from starlette.requests import Request
    from starlette.responses import Response

    from isa.timing.machine.cards import Card

HOST = "127.0.0.1"
_POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self' 'unsafe-inline'; img-src 'self' data:; "
    "connect-src 'self'; frame-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
)
"""Styles in place are the editor's: it makes rules as it goes."""
_FRAMED = (
    "sandbox allow-scripts; default-src 'none'; script-src 'sha256-{}'; style-src 'unsafe-inline'; img-src data:; "
    "base-uri 'none'; form-action 'none'; frame-ancestors 'self'"
)
"""Of a timeline: its own script alone."""
_TYPES = {".html": "text/html", ".js": "text/javascript", ".css": "text/css", ".txt": "text/plain"}


class Workbench:
    """What one page works on. file: the user's, None for a kernel of its own; on: None for the first card that runs the
    code; port: where it listens."""

    def __init__(self, file: Path | None, on: Card | None, port: int) -> None:
        self.file, self.on, self.port = file, on, port
        self.token = secrets.token_urlsafe(32)
        self.bench = view.Bench((file or Path("kernel.hip")).resolve().parent)
        self._one_at_a_time = asyncio.Lock()
        self._newest: dict[str, int] = {}
        self._opened: tuple[view.Asked, view.Opened] | None = None
        self._walk: tuple[Any, Walk] | None = None
        self._timeline_page = "", ""

    @property
    def address(self) -> str:
        return f"http://{HOST}:{self.port}/#token={self.token}"

    def app(self) -> Starlette:
        from starlette.applications import Starlette
        from starlette.routing import Route

        calls = self._file, self._view, self._time, self._timeline, self._judge, self._step
        names = [call.__name__.lstrip("_") for call in calls]
        routes = [
            Route(f"/api/{n}", self._guarded(n, call), methods=["POST"]) for n, call in zip(names, calls, strict=True)
        ]
        pages = Route("/timeline/{key}", self._played)
        return Starlette(routes=[*routes, pages, Route("/{name:path}", self._static)])

    # --- who may ask
    def _refused(self, request: Request) -> str:
        own = f"{HOST}:{self.port}"
        if request.headers.get("host") != own:
            return "another host"
        if request.headers.get("origin") not in (None, f"http://{own}"):
            return "another origin"
        return ""

    def _guarded(self, name: str, call: Callable[[dict[str, Any]], Any]) -> Callable[[Request], Awaitable[Response]]:
        async def answer(request: Request) -> Response:
            given = request.headers.get("x-token", "").encode()
            known = hmac.compare_digest(given, self.token.encode())
            if why := self._refused(request) or ("" if known else "no valid token"):
                return _json({"error": {"message": why}}, 403)
            try:
                asked = json.loads(await request.body() or b"{}")
            except (ValueError, RecursionError):
                asked = None
            if not isinstance(asked, dict):
                return _json({"error": {"message": "a request is a JSON object"}}, 400)
            number = self._newest[name] = self._newest.get(name, 0) + 1
            async with self._one_at_a_time:
                if number < self._newest[name]:
                    return _json({"stale": True})
                return _json(await asyncio.to_thread(_answered, call, asked))

        return answer

    async def _static(self, request: Request) -> Response:
        from starlette.responses import Response

        name = request.path_params["name"] or "index.html"
        found = files("hipgemm.workbench").joinpath("static").joinpath(name)
        if (why := self._refused(request)) or "/" in name or ".." in name or not found.is_file():
            return Response(why or "not found", 403 if why else 404, media_type="text/plain")
        return _page(found.read_bytes(), _TYPES[Path(name).suffix], _POLICY)

    async def _played(self, request: Request) -> Response:
        from starlette.responses import Response

        key, text = self._timeline_page
        asked = request.path_params["key"].encode(errors="replace")
        if (why := self._refused(request)) or not key or not hmac.compare_digest(key.encode(), asked):
            return Response(why or "not found", 403 if why else 404, media_type="text/plain")
        return _page(
            text.encode(),
            "text/html",
            _FRAMED.format(base64.b64encode(hashlib.sha256(_script(text)).digest()).decode()),
        )

    # --- answers
    def _file(self, asked: dict[str, Any]) -> dict[str, Any]:
        """The file as it is, and when it changed; only the latter where it is as the page knows it."""
        if self.file is None and asked.get("changed") == "0":
            return {"changed": "0"}
        targets = {"targets": ARCHS, "arch": self.on.arch if self.on else ARCHS[0]}
        if self.file is None:
            return {"name": "kernel.hip", "text": EXAMPLE, "launch": EXAMPLE_LAUNCH, "changed": "0", **targets}
        changed = str(self.file.stat().st_mtime_ns)  # more digits than a number of JavaScript has
        if asked.get("changed") == changed:
            return {"changed": changed}
        beside = self.file.with_suffix(".toml")
        launch = beside.read_text(encoding="utf-8") if beside.is_file() else ""
        return {"name": self.file.name, "text": self.file.read_text(encoding="utf-8"), "launch": launch,
                "changed": changed, **targets}  # fmt: skip

    def _open(self, asked: dict[str, Any]) -> view.Opened:
        wanted = view.Asked.of(asked)
        if self._opened is None or wanted not in (self._opened[0], self._opened[1].asked):
            self._opened = wanted, self.bench.opened(wanted)
        return self._opened[1]

    def _on_card(self, asked: dict[str, Any]) -> tuple[view.Opened, Card]:
        from isa.timing.machine.cards import of_target

        opened = self._open(asked)
        return opened, self.on or of_target(opened.made.arch)

    def _view(self, asked: dict[str, Any]) -> dict[str, Any]:
        return view.shown(self._open(asked))

    def _time(self, asked: dict[str, Any]) -> dict[str, Any]:
        return view.timed(*self._on_card(asked))

    def _timeline(self, asked: dict[str, Any]) -> dict[str, Any]:
        """Where the newest timeline is: an address of its own, since a frame cannot send the token."""
        self._timeline_page = secrets.token_urlsafe(32), view.played(*self._on_card(asked))
        return {"page": f"/timeline/{self._timeline_page[0]}"}

    def _judge(self, asked: dict[str, Any]) -> dict[str, Any]:
        return view.judged(*self._on_card(asked))

    def _step(self, asked: dict[str, Any]) -> dict[str, Any]:
        """The state before instruction `at` of a wave, or at the next `break`."""
        opened, (x, y, z) = self._open(asked), [*map(int, asked.get("workgroup", ())), 0, 0, 0][:3]
        key = opened.asked, (x, y, z), int(asked.get("wave", 0))
        if self._walk is None or self._walk[0] != key:
            self._walk = key, Walk(opened.made, opened.launch, (x, y, z), key[2])
        walk = self._walk[1]
        if (stop := asked.get("break")) is not None:
            walk.until(Break(stop.get("offset"), str(stop.get("condition", ""))))
        else:
            walk.to(int(asked.get("at", 0)))
        return walk.state()


_WRONG = ArithmeticError, AttributeError, LookupError, MemoryError, OSError, RecursionError, TypeError, ValueError
"""What a request may meet that no reader of kernels or launches has foreseen: it ends that request alone."""


def _answered(call: Callable[[dict[str, Any]], Any], asked: dict[str, Any]) -> dict[str, Any]:
    try:
        return finite(call(asked))
    except IsaError as error:
        return error_object(error)
    except _WRONG as error:
        return {"error": {"message": f"a request of another form: {error}"}}


def _script(page: str) -> bytes:
    return page.partition("<script>")[2].partition("</script>")[0].encode()


def _page(content: bytes, media_type: str, policy: str) -> Response:
    from starlette.responses import Response

    headers = {"Content-Security-Policy": policy, "X-Content-Type-Options": "nosniff",
               "Referrer-Policy": "no-referrer", "Cache-Control": "no-store"}  # fmt: skip
    return Response(content, media_type=media_type, headers=headers)


def _json(found: dict[str, Any], status: int = 200) -> Response:
    from starlette.responses import Response

    return Response(json.dumps(found, allow_nan=False), status, media_type="application/json")


EXAMPLE = """#include <hip/hip_runtime.h>

extern "C" __global__ void saxpy(int n, float a, const float* x, float* y) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) y[i] = a * x[i] + y[i];
}
"""
EXAMPLE_LAUNCH = (
    'grid = 16\nblock = 256\nargs = ["n=i32:4096", "a=f32:2.0", "x=random:f32:4096", "y=random:f32:4096"]\n'
)
