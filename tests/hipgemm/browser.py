"""A page in headless Chromium, driven over the DevTools protocol on a pipe: real keys, a real pointer, any size, light
or dark. `find()` says where Chromium is; tests skip where it is not."""

import base64
import contextlib
import json
import os
import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any


def find() -> str | None:
    return next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None)


class Browser:
    """One tab. Messages are JSON with a zero byte behind each (--remote-debugging-pipe: in on 3, out on 4)."""

    def __init__(self, profile: Path) -> None:
        theirs_in, self.out = os.pipe()
        self.into, theirs_out = os.pipe()

        def adopt() -> None:
            low, high = os.dup(theirs_in), os.dup(theirs_out)
            os.dup2(low, 3)
            os.dup2(high, 4)

        flags = "--headless --no-sandbox --disable-gpu --hide-scrollbars --no-first-run --remote-debugging-pipe".split()
        self.process = subprocess.Popen(
            [find() or "chromium", *flags, f"--user-data-dir={profile}"],
            stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, close_fds=False, preexec_fn=adopt,
        )  # fmt: skip
        os.close(theirs_in)
        os.close(theirs_out)
        self.number, self.held, self.session, self.events = 0, b"", "", []
        target = self.call("Target.createTarget", url="about:blank")["targetId"]
        self.session = self.call("Target.attachToTarget", targetId=target, flatten=True)["sessionId"]
        for domain in ("Page", "Runtime", "Network", "Log"):
            self.call(f"{domain}.enable")

    def call(self, method: str, **params: Any) -> dict[str, Any]:
        self.number += 1
        session = {"sessionId": self.session} if self.session else {}
        message = {"id": self.number, "method": method, "params": params, **session}
        os.write(self.out, json.dumps(message).encode() + b"\0")
        while (said := self._next()).get("id") != self.number:
            self.events.append(said)
        assert "error" not in said, said["error"]
        return dict(said["result"])

    def _next(self) -> dict[str, Any]:
        while b"\0" not in self.held:
            got = os.read(self.into, 1 << 16)
            assert got, "Chromium has gone"
            self.held += got
        message, _, self.held = self.held.partition(b"\0")
        return dict(json.loads(message))

    def look(self, width: int, height: int, *, dark: bool = False, phone: bool = False) -> None:
        self.call("Emulation.setDeviceMetricsOverride", width=width, height=height, deviceScaleFactor=1, mobile=phone)
        scheme = {"name": "prefers-color-scheme", "value": "dark" if dark else "light"}
        self.call("Emulation.setEmulatedMedia", features=[scheme])

    def open(self, page: Path, hash: str = "") -> None:
        self.call("Page.navigate", url="about:blank")
        self.events.clear()
        self.call("Page.navigate", url=page.resolve().as_uri() + hash)
        while not any(said["method"] == "Page.loadEventFired" for said in self.events):
            self.events.append(self._next())
        self.settle()

    def settle(self) -> None:
        """Two frames later, what was asked for is drawn."""
        self.run("new Promise(done => requestAnimationFrame(() => requestAnimationFrame(done)))")

    def run(self, script: str) -> Any:
        said = self.call("Runtime.evaluate", expression=script, returnByValue=True, awaitPromise=True)
        assert "exceptionDetails" not in said, said["exceptionDetails"]
        return said["result"].get("value")

    def key(self, name: str) -> None:
        text = {"text": name} if len(name) == 1 else {"text": "\r"} if name == "Enter" else {}
        self.call("Input.dispatchKeyEvent", type="keyDown", key=name, **text)
        self.call("Input.dispatchKeyEvent", type="keyUp", key=name)
        self.settle()

    def mouse(self, kind: str, x: float, y: float, **more: Any) -> None:
        self.call("Input.dispatchMouseEvent", type=kind, x=x, y=y, **more)

    def click(self, x: float, y: float) -> None:
        for kind in ("mousePressed", "mouseReleased"):
            self.mouse(kind, x, y, button="left", clickCount=1)
        self.settle()

    def faults(self) -> list[str]:
        """Exceptions and errors in the console, and requests for anything but the page, since it was opened."""
        self.run("0")
        found = [str(e["params"]) for e in self.events if e["method"] in ("Runtime.exceptionThrown", "Log.entryAdded")]
        asked = [e["params"]["request"]["url"] for e in self.events if e["method"] == "Network.requestWillBeSent"]
        return found + [url for url in asked[1:] if not url.startswith("data:")]

    def picture(self, to: Path, *, whole: bool = False) -> None:
        shot = self.call("Page.captureScreenshot", format="png", captureBeyondViewport=whole)
        to.write_bytes(base64.b64decode(shot["data"]))

    def close(self) -> None:
        with contextlib.suppress(AssertionError, OSError):
            self.session = ""
            self.call("Browser.close")
        os.close(self.out)
        os.close(self.into)
        self.process.wait(20)


@contextlib.contextmanager
def browser(profile: Path) -> Iterator[Browser]:
    made = Browser(profile)
    try:
        yield made
    finally:
        made.close()
